#!/usr/bin/env python3
"""Generate keccak_f1600.S: Keccak-f[1600] for AVRe+ (ATmega1284P and relatives).

Design
------
S  the caller's 200-byte state, lane (x,y) at 8*(x+5y), little-endian, as in FIPS 202.
T  200 bytes on the stack: the lanes after theta, rho (pi is only a renaming), laid out so that
   one 16-bit "pair" p (bytes 2p, 2p+1) of all 25 lanes lies in one 64-byte ldd window:
   byte k of slot i is at 50*(k//2) + 2*i + k%2.
C  40 bytes on the stack behind T: column parities, byte k of column x at 10*(k//2) + 2*x + k%2.

A round is two passes over the state:
  pass B (S -> T): column by column; D[x] lies in eight registers, each lane is read with ld X+,
         gets D, is rotated by at most 4 single-bit shifts and is stored at its byte offset
         (the whole-byte part of rho costs nothing).  Columns in the order 0,2,4,1,3, so that
         the parity C[x+1] used for D[x] is also the C[x'-1] of the next column.
  pass A (T -> S): four times, once a byte pair: chi on five planes, iota, and the column parities
         for the next round accumulate in ten registers.
Chi uses the lane complement representation (the lanes in MASK are kept inverted between
entry and exit), so that most NOTs vanish; the few that stay are found by a search below.
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
MASK = {0, 1, 5, 9, 14, 16, 20, 21}              # complemented lanes, x + 5y: the cheapest of all 2^25 masks
COLS = [0, 2, 4, 1, 3]                          # order of pass B
SLOT = {(x, y): 5 * g + y for g, x in enumerate(COLS) for y in range(5)}
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

def far(leave, target):
    """loop end out of branch range: jump to target unless the branch `leave` is taken"""
    e(f'{leave} {target}_end'); e(f'rjmp {target}'); lab(target + '_end')

class Win:
    """Z as a moving window on the state: emits the adjustment when an offset is out of reach."""
    def __init__(s): s.base = 0
    def at(s, off, low=None):
        if not 0 <= off - s.base <= 63:
            low = off if low is None else low
            addp('Z', 30, low - s.base); s.base = low
        return off - s.base

# ---- rotations of the 64-bit value in eight registers r[0..7]
def rol1(r):
    e(f'lsl r{r[0]}')
    for i in range(1, 8): e(f'rol r{r[i]}')
    e(f'adc r{r[0]}, r1')
def ror_n(r, n):                                 # 9n+1 cycles: r0 hands out the low bits
    e(f'mov r0, r{r[0]}')
    for _ in range(n):
        e('ror r0')
        for i in range(7, -1, -1): e(f'ror r{r[i]}')

def pass_b():
    bank = [list(range(2, 10)), list(range(10, 18))]
    L = list(range(18, 26))
    com('---- pass B: X -> S, Y -> T.  r2-r9, r10-r17: D of this column and C[x+1], taking turns')
    com('     r18-r25: the lane; r1 = 0; Z -> C or T+100')
    e('movw r30, r28'); addp('Z', 30, 200, 'Z -> C')
    def load_c(regs, x):
        for k in range(8): e(f'ldd r{regs[k]}, Z+{10*(k//2)+2*x+k%2}', f'C[{x}]' if k == 0 else '')
    load_c(bank[0], 4)
    xp = 0                                       # X - S
    for g, x in enumerate(COLS):
        d, cn = bank[g % 2], bank[1 - g % 2]
        if g:
            e('adiw r28, 10'); addp('Z', 30, 200 - (100 + 10 * (g - 1)), 'Z -> C')
        load_c(cn, (x + 1) % 5)
        for i in range(0, 8, 2): e(f'movw r{L[i]}, r{cn[i]}')
        rol1(L)
        for i in range(8): e(f'eor r{d[i]}, r{L[i]}', f'D[{x}]' if i == 0 else '')
        addp('Z', 30, 100 + 10 * g - 200, 'Z -> upper half of T')
        for y in range(5):
            n = RHO[x, y]
            com(f'lane ({x},{y}) <<< {n}')
            addp('X', 26, 8 * (x + 5 * y) - xp); xp = 8 * (x + 5 * y) + 8
            for i in range(8): e(f'ld r{L[i]}, X+')
            for i in range(8): e(f'eor r{L[i]}, r{d[i]}')
            q, s = divmod(n, 8)
            if s <= 4:
                for _ in range(s): rol1(L)
            else:
                ror_n(L, 8 - s); q += 1
            for i in range(8):
                k = (i + q) % 8; off = 50 * (k // 2) + 2 * y + k % 2
                e(f'std {"Y" if off < 100 else "Z"}+{off % 100}, r{L[i]}')
    return xp

# ---- chi with the fewest complements
def chi_plan(fin, fout):
    """fin/fout: inverted? of the five lanes of a plane at input and output.
    Returns (inputs to invert at once, per-term 'and'/'or', per-term inversion of the first operand,
    outputs to invert)."""
    best = None
    for m in range(32):
        f = [fin[i] ^ (m >> i & 1) for i in range(5)]
        cost, ops = bin(m).count('1'), {}
        for i in range(5):                       # out[i] = a[i] ^ (~a[i+1] & a[i+2])
            fb, fc = f[(i + 1) % 5], f[(i + 2) % 5]
            opts = []
            for inv in (0, 1):
                # the destroyed operand (which may be inverted alone): b for i=4,1,0,2 and c for i=3
                b, c = (fb ^ inv, fc) if i != 3 else (fb, fc ^ inv)
                if b != c:
                    op = 'and' if b else 'or'    # b inverted: plain and; c inverted: ~(b | ~c)
                    o = f[i] ^ (0 if b else 1) ^ fout[i]
                    opts.append((inv + o, op, inv, o))
            k = min(opts); cost += k[0]; ops[i] = k[1:]
        if best is None or cost < best[0]: best = (cost, m, ops)
    return best

COMS = 0
def pass_a():
    global COMS
    A = [2, 4, 6, 8, 10]                         # a[x]: pairs
    ACC = [12, 14, 16, 18, 20]; t = 22
    pin = {(x, y): (x + 5 * y) in MASK for x in range(5) for y in range(5)}
    par = [sum(pin[x, y] for y in range(5)) & 1 for x in range(5)]
    D = [par[(x + 4) % 5] ^ par[(x + 1) % 5] for x in range(5)]
    z = Win()
    for y in range(5):
        src = [((3 * y + x) % 5, x) for x in range(5)]          # pi: lane before pi
        fin = [int(pin[s]) ^ D[s[0]] for s in src]
        fout = [int(pin[x, y]) for x in range(5)]
        cost, m, ops = chi_plan(fin, fout); COMS += cost
        com(f'plane {y}')
        for x in range(5):
            for b in (0, 1): e(f'ldd r{A[x]+b}, Y+{2*SLOT[src[x]]+b}')
            if m >> x & 1:
                for b in (0, 1): e(f'com r{A[x]+b}')
        def term(i, dst, other):
            op, inv, oc = ops[i]
            for b in (0, 1):
                if inv: e(f'com r{dst+b}')
                e(f'{op} r{dst+b}, r{other+b}')
                e(f'eor r{dst+b}, r{A[i]+b}')
                if oc: e(f'com r{dst+b}')
            if y == 0 and i == 0:
                com('iota: low byte in r24 (pair 0 only), then the next bit of r25 into bit 7 of the high byte')
                e(f'eor r{dst}, r24'); e('clr r24'); e('lsl r25'); e('ror r24')
                e(f'eor r{dst+1}, r24'); e('clr r24')
            if y == 0: e(f'movw r{ACC[i]}, r{dst}')
            else:
                for b in (0, 1): e(f'eor r{ACC[i]+b}, r{dst+b}')
            for b in (0, 1):
                off = 8 * (5 * y + i) + b
                e(f'std Z+{z.at(off, ZLOW[y, i])}, r{dst+b}')
        e(f'movw r{t}, r{A[0]}'); term(4, t, A[1])
        e(f'movw r{t}, r{A[2]}'); term(1, t, A[3])
        term(0, A[1], A[2])
        term(3, A[0], A[4])
        term(2, A[3], A[4])
    com('parities of this pair')
    for x in range(5):
        for b in (0, 1): e(f'st X+, r{ACC[x]+b}')
    addp('Z', 30, 2 - z.base)
    e('adiw r28, 50')

# lowest state offset still to be written when (y,i) is written, for the Z window
ORDER = [(y, i) for y in range(5) for i in (4, 1, 0, 3, 2)]
ZLOW = {o: min(8 * (5 * y + i) for y, i in ORDER[n:]) for n, o in enumerate(ORDER)}

def complement_pass():
    z = Win()
    for l in sorted(MASK):
        for b in (0, 1):
            o = z.at(8 * l + b, 8 * l)
            e(f'ldd r18, Z+{o}'); e('com r18'); e(f'std Z+{o}, r18')
    addp('Z', 30, 2 - z.base)

def main():
    L = LINES
    L.append('''; Keccak-f[1600] for AVRe+, generated by keccak_f1600.py.  void keccak_f1600(uint8_t state[200]);
; In: r24:r25 = state.  AVR C ABI: r2-r17, r28, r29 kept, r1 = 0 at entry and exit.
; Stack: 18 saved registers, 240 bytes T and C, 1 byte round index, plus the return address.
; Constant time: no branch, address or instruction timing depends on the state.
    .section .progmem.data.keccak_f1600_rc,"a",@progbits
keccak_rc:  ; per round: RC bits 0,1,3,7 in place, bit 6 = last round; then bits 15, 31, 47, 63 and a sentinel
''')
    for i, rc in enumerate(RC):
        lo = rc & 0xff
        assert lo & 0x40 == 0 and rc & ~0x800000008000808b == 0
        hi = sum((rc >> b & 1) << (7 - j) for j, b in enumerate((15, 31, 47, 63))) | 8
        L.append(f'    .byte 0x{lo | (0x40 if i == 23 else 0):02x}, 0x{hi:02x}')
    L.append('    .section .text.keccak_f1600,"ax",@progbits\n    .global keccak_f1600\n    .type keccak_f1600, @function')
    lab('keccak_f1600')
    for r in list(range(2, 18)) + [28, 29]: e(f'push r{r}')
    e('movw r30, r24', 'Z -> S')
    e('in r28, 0x3d', 'SP (0x3d, 0x3e); 0x3f is SREG'); e('in r29, 0x3e'); e('subi r28, 240'); e('sbci r29, 0')
    e('in r0, 0x3f'); e('cli'); e('out 0x3e, r29'); e('out 0x3f, r0'); e('out 0x3d, r28')
    e('adiw r28, 1', 'Y -> T')
    e('push r1', 'round index * 2')
    com('---- first column parities (r2-r11); the lanes of MASK are inverted on the way')
    e('movw r26, r28'); addp('X', 26, 200); e('ldi r24, 4')
    lab('.Lk_init')
    z = Win()
    for y in range(5):
        for x in range(5):
            l = x + 5 * y
            for b in (0, 1):
                o = z.at(8 * l + b, 8 * l); r = 2 + 2 * x + b if y == 0 else 12 + b
                e(f'ldd r{r}, Z+{o}')
                if l in MASK: e(f'com r{r}'); e(f'std Z+{o}, r{r}')
                if y: e(f'eor r{2+2*x+b}, r{r}')
    for r in range(2, 12): e(f'st X+, r{r}')
    addp('Z', 30, 2 - z.base)
    e('dec r24'); far('breq', '.Lk_init')
    lab('.Lk_round')
    e('movw r26, r30'); e('sbiw r26, 8', 'X -> S')
    xp = pass_b()
    com('---- pass A: Y -> T of the pair, Z -> S of the pair, X -> C of the pair.')
    com('     r2-r11: five lane pairs; r12-r21: parities; r22:r23: temporary; r24, r25: iota')
    e('sbiw r28, 40', 'Y -> T')
    e('pop r0'); e('ldi r30, lo8(keccak_rc)'); e('ldi r31, hi8(keccak_rc)')
    e('add r30, r0'); e('adc r31, r1'); e('inc r0'); e('inc r0'); e('push r0')
    e('lpm r24, Z+'); e('lpm r25, Z')
    e('bst r24, 6', 'T = last round'); e('andi r24, 0xbf')
    e('movw r30, r26'); addp('Z', 30, -xp, 'Z -> S')
    e('movw r26, r28'); addp('X', 26, 200, 'X -> C')
    lab('.Lk_pair')
    pass_a()
    e('cpi r25, 0x80', 'the sentinel has arrived after four pairs'); far('breq', '.Lk_pair')
    addp('Y', 28, -200, 'Y -> T'); far('brts', '.Lk_round')
    com('---- take the lanes of MASK back, free the frame')
    e('sbiw r30, 8'); e('ldi r24, 4')
    lab('.Lk_out')
    complement_pass()
    e('dec r24'); e('brne .Lk_out')
    e('pop r0')
    addp('Y', 28, 239); e('in r0, 0x3f'); e('cli'); e('out 0x3e, r29'); e('out 0x3f, r0'); e('out 0x3d, r28')
    for r in [29, 28] + list(range(17, 1, -1)): e(f'pop r{r}')
    e('ret')
    L.append('    .size keccak_f1600, . - keccak_f1600')
    sys.stdout.write('\n'.join(L) + '\n')
    sys.stderr.write(f'complements in chi: {COMS} of 25\n')
main()
