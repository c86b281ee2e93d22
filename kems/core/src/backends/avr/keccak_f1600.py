#!/usr/bin/env python3
"""Generate keccak_f1600.S: Keccak-f[1600] for AVRe+ (ATmega1284P and relatives), small before fast.

Design
------
S  the caller's 200-byte state, lane (x,y) at 8*(x+5y), little-endian, as in FIPS 202.
T  200 bytes on the stack: the lanes after theta, rho and pi, in the same order.
C  40 bytes on the stack behind T: column parities, byte k of column x at 10*(k//2) + 2*x + k%2.

A round is two passes over the state:
  pass B (S -> T): column by column; D[x] lies in eight registers, each lane gets D, is rotated by at most 4 single-bit shifts
         and is stored at its byte offset (the whole-byte part of rho costs nothing).  Load, shifts and stores are routines;
         only their calls are written out.  Columns in the order 0,2,4,1,3, so that the parity C[x+1] used for D[x] is also
         the C[x'-1] of the next column.
  pass A (T -> S): four times, once a byte pair: chi in a loop of five planes, while the parities for the next round
         accumulate in ten registers; iota at the end.
No branch or address depends on data.
"""
import sys

# ---- Keccak constants from their definition
def rho_offsets():
    r, x, y = {(0, 0): 0}, 1, 0
    for t in range(24):
        r[x, y] = (t + 1) * (t + 2) // 2 % 64
        x, y = y, (2 * x + 3 * y) % 5
    return r

def round_constants():
    s, out = 1, []
    for _ in range(24):
        rc = 0
        for j in range(7):
            if s & 1: rc |= 1 << ((1 << j) - 1)
            s = (s << 1) ^ (0x171 if s & 0x80 else 0)
        out.append(rc)
    return out

RHO, RC = rho_offsets(), round_constants()
RC_BYTES = (0, 1, 3, 7)                         # of a round constant; the others are 0
COLS = [0, 2, 4, 1, 3]                          # order of pass B
LINES = []
def e(s, c=''): LINES.append('    ' + (f'{s:<24}; {c}' if c else s))
def lab(s): LINES.append(s + ':')
def com(s): LINES.append('    ; ' + s)

def addp(reg, lo, d, c=''):
    """pointer += d in two cycles (nothing for 0)"""
    if d == 0: return
    if 0 < d < 64: e(f'adiw r{lo}, {d}', c)
    elif -64 < d < 0: e(f'sbiw r{lo}, {-d}', c)
    else:
        e(f'subi r{lo}, {-d & 255}', c); e(f'sbci r{lo+1}, {(-d >> 8) & 255}')

def parity(x, k): return 10 * (k // 2) + 2 * x + k % 2

D, CN, L = list(range(2, 10)), list(range(10, 18)), list(range(18, 26))

def rol1():
    e(f'lsl r{L[0]}')
    for i in range(1, 8): e(f'rol r{L[i]}')
    e(f'adc r{L[0]}, r1')
def ror1():
    e(f'mov r0, r{L[0]}'); e('ror r0')
    for i in range(7, -1, -1): e(f'ror r{L[i]}')

def turn(n):
    """rho's offset as whole bytes and single-bit steps, to the right where negative"""
    q, s = divmod(n, 8)
    return (q, s) if s <= 4 else ((q + 1) % 8, s - 8)

def pass_b():
    """X = S, Y = T and Z = C at the start; gives X - S and Y - T at the end."""
    com('---- pass B: r2-r9 D of this column, r10-r17 C[x+1], r18-r25 the lane; r1 = 0; X -> S, Y -> T, Z -> C')
    for k in range(8): e(f'ldd r{CN[k]}, Z+{parity(4, k)}', 'C[4]' if k == 0 else '')
    xp = yp = zp = 0
    for x in COLS:
        com(f'column {x}')
        c = parity((x + 1) % 5, 0)
        addp('Z', 30, c - zp); zp = c
        addp('X', 26, 8 * x - xp); xp = 8 * x + 200
        e('clt'); e('rcall .Lk_column')
        for y in range(5):
            q, s = turn(RHO[x, y])
            if s: e(f"rcall .Lk_{'left' if s > 0 else 'right'}{abs(s)}", f'lane ({x},{y}) <<< {RHO[x, y]}')
            to = 8 * (y + 5 * ((2 * x + 3 * y) % 5))
            addp('Y', 28, to - yp); yp = to
            if y == 4: e('set', 'no lane of this column is left')
            e(f'rcall .Lk_store{q}')
    return xp, yp

def routines_b():
    for word, steps, step in (('left', 4, rol1), ('right', 3, ror1)):
        for n in range(steps, 0, -1): lab(f'.Lk_{word}{n}'); step()
        e('ret')
    for q in range(8):
        lab(f'.Lk_store{q}')
        for i in range(8): e(f'std Y+{(i + q) % 8}, r{L[i]}')
        if q < 7: e('rjmp .Lk_next')
    lab('.Lk_next'); e('brtc .Lk_lane'); e('ret')
    lab('.Lk_column')
    com('D = C[x-1] ^ (C[x+1] <<< 1), then the first lane')
    for i in range(0, 8, 2): e(f'movw r{D[i]}, r{CN[i]}')
    for k in range(8): e(f'ldd r{CN[k]}, Z+{parity(0, k)}')
    for i in range(0, 8, 2): e(f'movw r{L[i]}, r{CN[i]}')
    rol1()
    for i in range(8): e(f'eor r{D[i]}, r{L[i]}')
    lab('.Lk_lane')
    for i in range(8): e(f'ld r{L[i]}, X+')
    e('adiw r26, 32', 'the next of the column')
    for i in range(8): e(f'eor r{L[i]}, r{D[i]}')
    e('ret')

def pass_a():
    """X = C, Y = T, Z = S at the start; Y and Z are 8 on at the end, X is 40."""
    com('---- pass A: Y -> T of the pair, Z -> S of the pair, X -> C of the pair.')
    com('     r2-r11: five lane pairs; r12-r21: parities; r22:r23: temporary; r24, r25: planes and pairs left')
    a, acc, t = [2, 4, 6, 8, 10], [12, 14, 16, 18, 20], 22
    e('ldi r25, 4'); lab('.Lk_pair')
    e('clr r0')
    for x in range(5): e(f'movw r{acc[x]}, r0')
    e('ldi r24, 5'); lab('.Lk_plane')
    for x in range(5):
        for b in (0, 1): e(f'ldd r{a[x]+b}, Y+{8*x+b}')
    e('adiw r28, 40')
    def both(op, d, *s):
        for b in (0, 1): e(f"{op} r{d+b}" + ''.join(f', r{r+b}' for r in s))
    def give(i, d):
        """output i = d ^ a[i]"""
        both('eor', d, a[i]); both('eor', acc[i], d)
        for b in (0, 1): e(f'std Z+{8*i+b}, r{d+b}')
    com('a1 and a3 complemented: a or complement(c) = complement(complement(a) and c)')
    both('com', a[1]); both('com', a[3])
    e(f'movw r{t}, r{a[0]}'); both('or', t, a[1]); both('com', t); give(4, t)
    e(f'movw r{t}, r{a[2]}'); both('or', t, a[3]); give(1, t)
    both('and', a[1], a[2]); give(0, a[1])
    both('com', a[0]); both('or', a[0], a[4]); give(3, a[0])
    both('and', a[3], a[4]); give(2, a[3])
    e('adiw r30, 40')
    e('dec r24'); e('brne .Lk_plane')
    com('parities of this pair')
    for x in range(5):
        for b in (0, 1): e(f'st X+, r{acc[x]+b}')
    addp('Y', 28, -198); addp('Z', 30, -198)
    e('dec r25'); e('breq .Lk_pairs_end'); e('rjmp .Lk_pair'); lab('.Lk_pairs_end')

def main():
    LINES.append('''; Keccak-f[1600] for AVRe+, generated by keccak_f1600.py.  void keccak_f1600(uint8_t state[200]);
; In: r24:r25 = state.  AVR C ABI: r2-r17, r28, r29 kept, r1 = 0 at entry and exit.
; Stack: 18 saved registers, 240 bytes T and C, 2 bytes pointer to the constants, plus two return addresses.
; Constant time: no branch, address or instruction timing depends on the state.
    .section .progmem.data.keccak_f1600_rc,"a",@progbits
keccak_rc:  ; bytes 0, 1, 3 and 7 of each round's
''')
    for rc in RC:
        assert rc & ~sum(255 << 8 * k for k in RC_BYTES) == 0
        LINES.append('    .byte ' + ', '.join(f'0x{rc >> 8 * k & 255:02x}' for k in RC_BYTES))
    lab('keccak_rc_end')
    LINES.append('    .section .text.keccak_f1600,"ax",@progbits\n    .global keccak_f1600\n    .type keccak_f1600, @function')
    lab('keccak_f1600')
    for r in list(range(2, 18)) + [28, 29]: e(f'push r{r}')
    e('movw r30, r24', 'Z -> S')
    e('in r28, 0x3d', 'SP (0x3d, 0x3e); 0x3f is SREG'); e('in r29, 0x3e'); e('subi r28, 240'); e('sbci r29, 0')
    e('in r0, 0x3f'); e('cli'); e('out 0x3e, r29'); e('out 0x3f, r0'); e('out 0x3d, r28')
    e('adiw r28, 1', 'Y -> T')
    e('ldi r18, lo8(keccak_rc)'); e('ldi r19, hi8(keccak_rc)'); e('push r18'); e('push r19')
    com('---- first column parities')
    e('movw r26, r28'); addp('X', 26, 200); e('ldi r25, 4')
    lab('.Lk_init'); e('ldi r24, 5')
    lab('.Lk_init_pair'); e('ldi r23, 2')
    lab('.Lk_init_byte')
    e('ld r18, Z'); e('ldd r0, Z+40'); e('eor r18, r0')
    addp('Z', 30, 80); e('ld r0, Z'); e('eor r18, r0'); e('ldd r0, Z+40'); e('eor r18, r0')
    addp('Z', 30, 80); e('ld r0, Z'); e('eor r18, r0')
    addp('Z', 30, -159); e('st X+, r18'); e('dec r23'); e('brne .Lk_init_byte')
    e('adiw r30, 6'); e('dec r24'); e('brne .Lk_init_pair')
    e('sbiw r30, 38'); e('dec r25'); e('brne .Lk_init')
    e('movw r18, r30'); e('movw r30, r26'); e('movw r26, r18'); e('sbiw r26, 8'); e('sbiw r30, 40')
    lab('.Lk_round')
    xp, yp = pass_b()
    e('movw r30, r26'); addp('Z', 30, -xp, 'Z -> S')
    addp('Y', 28, -yp, 'Y -> T'); e('movw r26, r28'); addp('X', 26, 200, 'X -> C')
    pass_a()
    com('---- iota on S (Y) and C (Z); then X -> S, Y -> T, Z -> C')
    e('sbiw r30, 8'); e('movw r28, r30'); e('pop r31'); e('pop r30')
    for r in range(4): e(f'lpm r{18 + r}, Z+')
    e('push r30'); e('push r31'); e('mov r24, r30'); e('movw r30, r26'); e('sbiw r30, 40')
    for r, k in enumerate(RC_BYTES):
        for at in (f'Y+{k}', f'Z+{parity(0, k)}'): e(f'ldd r0, {at}'); e(f'eor r0, r{18 + r}'); e(f'std {at}, r0')
    e('movw r26, r28'); e('movw r28, r30'); addp('Y', 28, -200)
    e('cpi r24, lo8(keccak_rc_end)', 'public'); e('breq .Lk_end'); e('rjmp .Lk_round'); lab('.Lk_end')
    com('---- wipe T and C, free the frame')
    e('pop r0'); e('pop r0')
    e('movw r26, r28'); e('ldi r24, 10'); lab('.Lk_wipe')
    for _ in range(24): e('st X+, r1')
    e('dec r24'); e('brne .Lk_wipe')
    addp('Y', 28, 239); e('in r0, 0x3f'); e('cli'); e('out 0x3e, r29'); e('out 0x3f, r0'); e('out 0x3d, r28')
    for r in [29, 28] + list(range(17, 1, -1)): e(f'pop r{r}')
    e('ret')
    routines_b()
    LINES.append('    .size keccak_f1600, . - keccak_f1600')
    sys.stdout.write('\n'.join(LINES) + '\n')
main()
