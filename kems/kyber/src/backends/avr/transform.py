#!/usr/bin/env python3
"""Generates transform.S, the transform modulo 3329 and its inverse: python3 transform.py > transform.S

Every register pair carries an interval, and assertions prove that no 16-bit value leaves its range, for all inputs inside the contract."""
import sys

from modq import *

C = [(2*i + 2, 2*i + 3) for i in range(8)]     # eight coefficients: r2..r17
SAVED = (*range(2, 18), 28, 29)
CNT = 30


def brv7(k): return int(f'{k:07b}'[::-1], 2)
ZETA = [pow(17, brv7(k), Q) for k in range(128)]


def multiplied(iv, a, b, m):
    """(a, b) = (a + s r, a - s r) for r = r1:r0, the product of b"""
    plus, minus = (C[a], C[b]) if m.s > 0 else (C[b], C[a])
    o(f'movw r{C[b][0]}, r{C[a][0]}')
    o(f'add r{plus[0]}, r0'); o(f'adc r{plus[1]}, r1')
    o(f'sub r{minus[0]}, r0'); o(f'sbc r{minus[1]}, r1')
    lo, hi = iv[a]
    up, down = (lo + m.lo, hi + m.hi), (lo - m.hi, hi - m.lo)
    iv[a], iv[b] = (up, down) if m.s > 0 else (down, up)
    checked(iv, a, b)


def checked(iv, *places):
    for i in places: assert -32768 <= iv[i][0] and iv[i][1] - iv[i][0] < 65536 and iv[i][1] < 65536, iv


def butterflies(iv, z, pairs):
    """Cooley-Tukey butterflies with one constant"""
    if z == 1:
        for a, b in pairs:
            o(f'movw r{T0}, r{C[a][0]}')
            o(f'add r{C[a][0]}, r{C[b][0]}'); o(f'adc r{C[a][1]}, r{C[b][1]}')
            o(f'sub r{T0}, r{C[b][0]}'); o(f'sbc r{T1}, r{C[b][1]}'); o(f'movw r{C[b][0]}, r{T0}')
            (al, ah), (bl, bh) = iv[a], iv[b]
            iv[a], iv[b] = (al + bl, ah + bh), (al - bh, ah - bl)
            checked(iv, a, b)
        return
    com(f'zeta = {z}')
    for _, b in pairs:
        if iv[b][0] < 0: lift(iv, b)
    m = Mul(z, max(iv[b][1] for _, b in pairs))
    m.load()
    for a, b in pairs:
        m.mul(C[b]); multiplied(iv, a, b, m)


def any_butterflies(pairs, k):
    """the same with the constant in the registers k"""
    for a, b in pairs:
        mul_any(C[b], k)
        o(f'movw r{C[b][0]}, r{C[a][0]}')
        o(f'add r{C[a][0]}, r0'); o(f'adc r{C[a][1]}, r1'); o(f'sub r{C[b][0]}, r0'); o(f'sbc r{C[b][1]}, r1')


def bounded(iv, turns):
    """intervals after butterflies (row, pairs), and that they are nonnegative 16-bit numbers all the way"""
    iv = list(iv)
    for row, pairs in turns:
        for a, b in pairs:
            lo, hi = any_range([row], iv[b][1])
            iv[a], iv[b] = (iv[a][0] + lo, iv[a][1] + hi), (iv[a][0] - hi, iv[a][1] - lo)
            for i in (a, b): assert 0 <= iv[i][0] and iv[i][1] < 65536, iv
    return iv


def lift(iv, i):
    """makes element i nonnegative"""
    k = up(iv[i][0])
    o(f'ldi r{T0}, {k & 255}'); o(f'ldi r{T1}, {k >> 8}'); o(f'add r{C[i][0]}, r{T0}'); o(f'adc r{C[i][1]}, r{T1}')
    iv[i] = (iv[i][0] + k, iv[i][1] + k)
    checked(iv, i)


def hull(ivs): return min(i[0] for i in ivs), max(i[1] for i in ivs)


def constants():
    o(f'ldi r{K13}, 13'); o(f'ldi r{ZERO}, 0')


def loop(label):
    o(f'dec r{CNT}'); o('breq 1f'); o(f'rjmp {label}'); lab('1')


# ---- forward

IN = 3328                                       # |c| of an input
OFFSET = 10*Q                                   # keeps every value nonnegative
D = -255*INV13 % Q
D -= Q if D > Q//2 else 0                       # cancels the 255 of the last step


def forward_layers(iv, k):
    """three layers; k is the index of the first zeta"""
    for layer in range(3):
        step = 4 >> layer
        for g in range(1 << layer):
            butterflies(iv, ZETA[(k << layer) + g], [(2*step*g + j, 2*step*g + j + step) for j in range(step)])


# Coefficients 64 bytes apart: Y moves as little as possible.
def far(access, e, at):
    """coefficient e with Y 64 (e & ~1) past its column, or 2 bytes more"""
    lo, hi = C[e]
    if at == 62:
        for r, d in ((lo, 62), (hi, 63)): o(f'ldd r{r}, Y+{d}' if access == 'ld' else f'std Y+{d}, r{r}')
    elif at == '+':
        for r in (lo, hi): o(f'ld r{r}, Y+' if access == 'ld' else f'st Y+, r{r}')
    else:
        for r in (hi, lo): o(f'ld r{r}, -Y' if access == 'ld' else f'st -Y, r{r}')


def far_all(access):
    """The load ends 130 bytes on, where the store starts; that one ends at the next column."""
    if access == 'ld':
        far('ld', 0, '+'); far('ld', 1, 62); o('inc r29'); far('ld', 5, 62); far('ld', 4, '-')
        add_constant(28, 130); far('ld', 7, 62); far('ld', 6, '-'); o('dec r29'); far('ld', 2, '+'); far('ld', 3, 62)
    else:
        far('st', 3, 62); far('st', 2, '-'); o('inc r29'); far('st', 6, '+'); far('st', 7, 62)
        add_constant(28, -128); far('st', 5, 62); far('st', 4, '-'); o('dec r29'); far('st', 0, '+'); far('st', 1, 62)


def forward():
    name = 'kyber_ntt'
    begin(name, SAVED, f'void (int16_t p[256]).  In: |c| <= {IN}.  Y the column, r30 count')
    o('movw r28, r24'); o('movw r30, r24')
    com(f'{D} goes into every output once: it cancels the 255 of the last step')
    for i in range(2):
        o('ld r18, Z+'); o('ld r19, Z'); add_constant(18, D); o('st Z, r19'); o('st -Z, r18')
        if i == 0: o('adiw r30, 2')
    constants()
    com('layers 1 to 3')
    o(f'ldi r{CNT}, 32'); lab('.Lkyber_ntt_1')
    far_all('ld')
    o(f'ldi r{T0}, {OFFSET & 255}'); o(f'ldi r{T1}, {OFFSET >> 8}')
    for lo, hi in C[:4]: o(f'add r{lo}, r{T0}'); o(f'adc r{hi}, r{T1}')
    KB = up(-IN)                                # what is multiplied first needs less
    o(f'ldi r{T0}, {KB & 255}'); o(f'ldi r{T1}, {KB >> 8}')
    for lo, hi in C[4:]: o(f'add r{lo}, r{T0}'); o(f'adc r{hi}, r{T1}')
    iv = [(OFFSET - IN + min(D, 0)*(e == 0), OFFSET + IN + max(D, 0)*(e == 0)) for e in range(4)] + [(KB - IN, KB + IN)]*4
    forward_layers(iv, 1)
    com(f'in [{hull(iv)[0]}, {hull(iv)[1]}]')
    far_all('st'); loop('.Lkyber_ntt_1')
    com('layers 4 and 5 on four coefficients; the three constants of a block of 32 are in registers')
    o('subi r28, 64'); o('sbci r29, 0')
    o('ldi r30, lo8(kyber_zetas_4)'); o('ldi r31, hi8(kyber_zetas_4)')
    K = ((10, 11, 12, 13), (14, 15, 16, 17), (X0, X1, Y0, Y1))
    PAIRS = ((0, 2), (1, 3)), ((0, 1),), ((2, 3),)
    def two_layers():
        for pairs, k in zip(PAIRS, K): any_butterflies(pairs, k)
    def three(k): return [row(ZETA[i]) for i in (k, 2*k, 2*k + 1)]
    upper = [three(k) for k in range(8, 16)]
    lab('.Lkyber_ntt_2')
    for k in K:
        for r in k: o(f'lpm r{r}, Z+')
    o('push r30'); o('push r31'); o(f'ldi r{CNT}, 8'); lab('.Lkyber_ntt_3')
    for e in range(4): o(f'ldd r{C[e][0]}, Y+{16*e}'); o(f'ldd r{C[e][1]}, Y+{16*e + 1}')
    two_layers()
    iv = [v for g in range(8) for v in bounded([iv[g]]*4, zip(upper[g], PAIRS))]
    com(f'in [{hull(iv)[0]}, {hull(iv)[1]}]')
    for e in range(3, 0, -1): o(f'std Y+{16*e}, r{C[e][0]}'); o(f'std Y+{16*e + 1}, r{C[e][1]}')
    o(f'st Y+, r{C[0][0]}'); o(f'st Y+, r{C[0][1]}')
    loop('.Lkyber_ntt_3')
    o('adiw r28, 48'); o('pop r31'); o('pop r30')
    o('cpi r30, lo8(kyber_zetas_4_end)'); o('breq 1f'); o('rjmp .Lkyber_ntt_2'); lab('1')
    com('layers 6 and 7, twice for each block of 8, and 13 lo + (255 - hi) = 13 v + 255 of each result.  T is set in the first turn')
    o('subi r28, 0'); o('sbci r29, 2')
    o('ldi r30, lo8(kyber_zetas_6)'); o('ldi r31, hi8(kyber_zetas_6)')
    lower = [three(k) for k in range(32, 64)]
    assert [12*i % 256 for i in range(1, 33)].index(12*32 % 256) == 31  # the low byte of the end decides
    lab('.Lkyber_ntt_4')
    for k in K:
        for r in k: o(f'lpm r{r}, Z+')
    o('set'); lab('.Lkyber_ntt_5')
    for e in range(4): o(f'ldd r{C[e][0]}, Y+{4*e}'); o(f'ldd r{C[e][1]}, Y+{4*e + 1}')
    two_layers()
    last = hull([v for g in range(32) for v in bounded([iv[g]]*4, zip(lower[g], PAIRS))])
    for e in range(3, -1, -1):
        lo, hi = C[e]
        o(f'mul r{lo}, r{K13}'); o(f'com r{hi}'); o(f'add r0, r{hi}'); o(f'adc r1, r{ZERO}')
        if e: o(f'std Y+{4*e}, r0'); o(f'std Y+{4*e + 1}, r1')
        else: o('st Y+, r0'); o('st Y+, r1')
    o('brtc 1f'); o('clt'); o('rjmp .Lkyber_ntt_5'); lab('1')
    o('adiw r28, 12')
    o('cpi r30, lo8(kyber_zetas_6_end)'); o('breq 1f'); o('rjmp .Lkyber_ntt_4'); lab('1')
    out = 255 - (last[1] >> 8), 3570
    com(f'the last values were in {last}; output in [{out[0]}, {out[1]}]')
    end(name, SAVED)
    table('kyber_zetas_4', [sum(r, ()) for r in upper])
    table('kyber_zetas_6', [sum(r, ()) for r in lower])
    return out


# ---- inverse

SUM = (-4*638, 4*3328)                          # contract: sums of four products
OMEGA = pow(17*17, -1, Q)


def omega(half, i):
    """twiddle of element i in the lower half of a block"""
    return pow(OMEGA, i*64//half, Q)


def inverse_turns(step): return [[(g + i, g + i + step) for g in range(0, 8, 2*step)] for i in range(step)]


def near_2(access):
    """eight coefficients 32 bytes apart; loads end where stores start"""
    def one(e, at):
        for r, d in zip(C[e], (0, 1)): o(f'ldd r{r}, Y+{at + d}' if access == 'ld' else f'std Y+{at + d}, r{r}')
    if access == 'ld':
        far('ld', 0, '+'); one(1, 30); one(2, 62); add_constant(28, 94)
        far('ld', 3, '+'); one(4, 30); one(5, 62); add_constant(28, 94)
        one(6, 0); one(7, 32)
    else:
        one(6, 0); one(7, 32); add_constant(28, -94)
        one(4, 30); one(5, 62); far('st', 3, '-'); add_constant(28, -94)
        one(1, 30); one(2, 62); far('st', 0, '-'); o('adiw r28, 2')


BIG = 8*Q                                       # keeps what layers 4 to 7 multiply nonnegative
RAISED = BIG + 3*Q                              # the same for what was only a sum


def k_red(e, k):
    """element e = 13 T0 - T1 + k"""
    o(f'mul r{T0}, r{K13}'); o(f'sub r0, r{T1}'); o(f'sbc r1, r{ZERO}')
    if k: o(f'movw r{T0}, r0'); add_constant(T0, k)
    o(f'movw r{C[e][0]}, r{T0 if k else 0}')


def inverse(factor):
    """`factor` goes into every coefficient, 1/128 not included"""
    name = 'kyber_inverse_ntt'
    begin(name, SAVED, f'void (int16_t p[256]).  In: {SUM[0]}..={SUM[1]}.  Y the column, r30 count')
    o('movw r28, r24'); constants()
    com('layers 1 to 3 on eight neighbours, after v = 13 lo - hi')
    o(f'ldi r{CNT}, 32'); lab('.Lkyber_inverse_1')
    for e in range(8):
        o(f'ldd r{T0}, Y+{4*e}'); o(f'ldd r{T1}, Y+{4*e + 1}'); add_constant(T0, up(SUM[0])); k_red(e, BIG if e == 0 else 0)
    reduced = (-(SUM[1] + up(SUM[0]) >> 8), 3315)
    iv = [(reduced[0] + BIG, reduced[1] + BIG)] + [reduced]*7
    for step in (1, 2, 4):
        for i, pairs in enumerate(inverse_turns(step)): butterflies(iv, omega(step, i), pairs)
    com('the first result is only a sum: 13 lo - hi once more; the scale makes up for it')
    k = up(iv[0][0]); assert iv[0][1] + k < 65536
    o(f'movw r{T0}, r{C[0][0]}'); add_constant(T0, k); k_red(0, RAISED)
    iv[0] = (RAISED - (iv[0][1] + k >> 8), RAISED + 3315)
    com(f'in [{hull(iv)[0]}, {hull(iv)[1]}]')
    for e in range(7, 0, -1): o(f'std Y+{4*e}, r{C[e][0]}'); o(f'std Y+{4*e + 1}, r{C[e][1]}')
    o(f'st Y+, r{C[0][0]}'); o(f'st Y+, r{C[0][1]}')
    o(f'dec r{CNT}'); o('breq 1f'); o(f'sbrs r{CNT}, 0'); o('adiw r28, 28'); o('rjmp .Lkyber_inverse_1'); lab('1')
    com('layers 4 to 6 on eight coefficients 32 bytes apart; the seven constants of a position are read for each column')
    o('subi r28, 228'); o('sbci r29, 1')        # 4 + 480 bytes back
    o('ldi r30, lo8(kyber_omegas)'); o('ldi r31, hi8(kyber_omegas)'); o(f'ldi r{T0}, 32')
    slots = [[row(omega(8*step, j + 8*i)) for step in (1, 2, 4) for i in range(step)] for j in range(8)]
    turns = [pairs for step in (1, 2, 4) for pairs in inverse_turns(step)]
    lab('.Lkyber_inverse_2')
    o(f'push r{T0}')
    near_2('ld')
    for pairs in turns:
        for r in (X0, X1, Y0, Y1): o(f'lpm r{r}, Z+')
        any_butterflies(pairs, (X0, X1, Y0, Y1))
    iv = [v for j in range(8) for v in bounded([iv[j]]*8, zip(slots[j], turns))]
    near_2('st')
    o(f'pop r{T0}'); o(f'dec r{T0}'); o('breq 1f')
    com('the second half follows 256 bytes on, the next position 4 bytes on')
    o(f'sbrc r{T0}, 0'); o('rjmp 3f'); o('inc r29'); o('sbiw r28, 4'); o(f'sbrc r{T0}, 1'); o('rjmp 3f')
    o('subi r28, 252'); o('sbci r29, 1'); o('rjmp .Lkyber_inverse_2')
    lab('3'); o('sbiw r30, 28'); o('rjmp .Lkyber_inverse_2'); lab('1')
    o('dec r29')
    com('layer 7: (a s + b t, (a s - b t) c) with the scale in s and t')
    o('sbiw r28, 32')
    scale = factor*pow(128, -1, Q) % Q
    z = pow(17, -1, Q)
    extra = [INV13 if j % 8 == 0 else 1 for j in range(64)]
    srows = [row(scale*extra[j]*pow(z, j, Q) % Q) for j in range(64)]
    trows = [row(scale*extra[j]*pow(z, 3*j, Q) % Q) for j in range(64)]
    lo, hi = hull(iv); assert lo >= 0 and hi < 65536, (lo, hi)
    com(f'a and b in [{lo}, {hi}]')
    rlo, rhi = any_range(srows + trows, hi)
    kd = up(rlo - rhi)
    m = Mul(pow(z, 64, Q), rhi - rlo + kd)
    m.load()
    o('ldi r30, lo8(kyber_scales)'); o('ldi r31, hi8(kyber_scales)'); lab('.Lkyber_inverse_3')
    S, T = (10, 11, 12, 13), (14, 15, 16, 17)
    for r in (*S, *T): o(f'lpm r{r}, Z+')
    a, b = C[:2], C[2:4]
    for i, (l, h) in enumerate(a): o(f'ldd r{l}, Y+{2*i}'); o(f'ldd r{h}, Y+{2*i + 1}')
    o('inc r29')
    for i, (l, h) in enumerate(b): o(f'ldd r{l}, Y+{2*i}'); o(f'ldd r{h}, Y+{2*i + 1}')
    for i in range(2):
        mul_any(a[i], S); o(f'movw r{a[i][0]}, r0')
        mul_any(b[i], T)
        o(f'movw r{T0}, r{a[i][0]}'); o(f'add r{a[i][0]}, r0'); o(f'adc r{a[i][1]}, r1')
        if m.s > 0:
            o(f'sub r{T0}, r0'); o(f'sbc r{T1}, r1')
        else:
            o(f'sub r0, r{T0}'); o(f'sbc r1, r{T1}'); o(f'movw r{T0}, r0')
        add_constant(T0, kd)
        o(f'movw r{b[i][0]}, r{T0}')
        m.mul(b[i]); o(f'std Y+{2*i}, r0'); o(f'std Y+{2*i + 1}, r1')
    o('dec r29')
    for l, h in a: o(f'st Y+, r{l}'); o(f'st Y+, r{h}')
    o('cpi r30, lo8(kyber_scales_end)'); o('breq 1f'); lab('2'); o('rjmp .Lkyber_inverse_3'); lab('1')
    o('ldi r16, hi8(kyber_scales_end)'); o('cpse r31, r16'); o('rjmp 2b')
    end(name, SAVED)
    table('kyber_omegas', [sum(s, ()) for s in slots])
    table('kyber_scales', [s + t for s, t in zip(srows, trows)])
    return min(2*rlo, m.lo), max(2*rhi, m.hi)


print('    ; generated by transform.py; do not edit.  Interface and figures: README.md')
f_out = forward()
i_out = inverse(pow(13*-169*13, -1, Q))
print(f'ntt gives {f_out}; inverse takes {SUM} and gives {i_out}', file=sys.stderr)
