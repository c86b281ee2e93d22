#!/usr/bin/env python3
"""Generates encoding.S, conversions between bytes and coefficients: python3 encoding.py > encoding.S

Straight code in loops over groups of coefficients; no branch but on lengths and on the public matrix, no address but by position.
The constants of `compress` are checked for every canonical coefficient here."""
from modq import Q, o, com, lab, begin as begin_saved, end


def begin(name, what, saved=()):
    begin_saved(name, saved, what)
    o('movw r30, r22'); o('movw r26, r24')


def loop(label=1):
    o('dec r25'); o(f'breq {label + 1}f'); o(f'rjmp {label}b'); lab(str(label + 1))


def pack12():
    name = 'kyber_pack12'
    begin(name, 'void (uint8_t out[12], const int16_t c[8]), canonical')
    o('ldi r25, 4'); lab('1')
    for r in (18, 19, 20, 21): o(f'ld r{r}, Z+')
    o('st X+, r18'); o('swap r20'); o('mov r18, r20'); o('andi r18, 0xf0'); o('or r19, r18'); o('st X+, r19')
    o('swap r21'); o('andi r20, 15'); o('or r21, r20'); o('st X+, r21')
    loop(); end(name)


def triple():
    """r18 r19 r20 to r18:r19 and r20:r21; r22 is lost"""
    o('mov r22, r19'); o('swap r22'); o('andi r22, 15'); o('andi r19, 15'); o('swap r20'); o('mov r21, r20'); o('andi r21, 15')
    o('andi r20, 0xf0'); o('or r20, r22')


def unpack12():
    name = 'kyber_unpack12'
    begin(name, 'void (int16_t out[32], const uint8_t bytes[48])')
    o('ldi r25, 16'); lab('1')
    for r in (18, 19, 20): o(f'ld r{r}, Z+')
    triple()
    for r in (18, 19, 20, 21): o(f'st X+, r{r}')
    loop(); end(name)


def uniform():
    name = 'kyber_uniform'
    begin(name, 'uint8_t (int16_t out[16], const uint8_t bytes[24]): 12-bit values below q, and how many.  Public')
    o('ldi r25, 8'); o(f'ldi r23, {Q >> 8}'); o('clr r24'); lab('1')
    for r in (18, 19, 20): o(f'ld r{r}, Z+')
    triple()
    for lo in (18, 20):
        o(f'cpi r{lo}, {Q & 255}'); o(f'cpc r{lo + 1}, r23'); o('brcc 3f')
        o(f'st X+, r{lo}'); o(f'st X+, r{lo + 1}'); o('inc r24'); lab('3')
    loop(); end(name)


def cbd(eta):
    name = f'kyber_add_cbd{eta}'
    size = 8*eta
    begin(name, f'void (int16_t c[32], const uint8_t bytes[{size}]): adds the weight of {eta} bits less that of the next {eta}', (28, 29))
    o('movw r28, r24'); o('ldi r25, 8'); lab('1')
    for i in range(eta): o(f'ld r{18 + i}, Z+')
    o('ldi r26, 4'); lab('3'); o('clr r21')
    for bit in range(2*eta):
        for i in range(eta - 1, -1, -1): o(f"{'lsr' if i == eta - 1 else 'ror'} r{18 + i}")
        o(f"{'adc' if bit < eta else 'sbc'} r21, r1")
    o('mov r22, r21'); o('lsl r22'); o('sbc r22, r22')
    o('ldd r23, Y+0'); o('ldd r24, Y+1'); o('add r23, r21'); o('adc r24, r22'); o('st Y+, r23'); o('st Y+, r24')
    o('dec r26'); o('brne 3b')
    loop(); end(name, (28, 29))


def quotient(d, bits):
    """M, S and H with (x M + H) >> S = round(2^d x / q) for every canonical x, M below 2^bits"""
    for s in range(8, 32):
        m = (1 << d + s)//Q
        if m >= 1 << bits: break
        for m in (m, m + 1):
            lo = max((((2*x << d) + Q)//(2*Q) << s) - x*m for x in range(Q))
            hi = min(((((2*x << d) + Q)//(2*Q) + 1) << s) - 1 - x*m for x in range(Q))
            if lo <= hi and (lo & ~255) + 256 <= hi: return m, s, (lo & ~255) + 256
            if lo <= hi: return m, s, hi
    raise AssertionError(d)


def compress(d):
    bits = 24 if d == 10 else 16
    m, s, h = quotient(d, bits)
    assert s >= 16 and 0 <= h < 1 << 24 and 3328*m + h < 1 << 32
    size = bits//8
    name = f'kyber_compress{d}'
    begin(name, f'void (uint8_t out[{d}], const int16_t c[8]), canonical: (x * {m} + {h}) >> {s}, {d} bits each', (14, 15, 16, 17, 28, 29))
    com('r18:r19 x, r20-r23 product, r14-r16 factor, r17 = 0, r28 bits that wait')
    for i in range(size): o(f'ldi r29, {m >> 8*i & 255}'); o(f'mov r{14 + i}, r29')
    o('clr r17'); o(f'ldi r25, {2 if d == 10 else 4}'); lab('1')
    one = f'rcall .L{name}_one'
    if d == 10:
        o(one); o('st X+, r22'); o('mov r28, r23'); o('andi r28, 3')
        for shift in (4, 16, 64):
            o(one); o('andi r23, 3'); o(f'ldi r29, {shift}')
            o('mul r22, r29'); o('or r0, r28'); o('st X+, r0'); o('mov r28, r1'); o('mul r23, r29'); o('or r28, r0')
        o('st X+, r28')
    else:
        o(one); o('mov r28, r22'); o('andi r28, 15'); o(one); o('swap r22'); o('andi r22, 0xf0'); o('or r28, r22'); o('st X+, r28')
    loop(); end(name, (14, 15, 16, 17, 28, 29), lambda: quotient_of_next(name, m, s, h, size))


def quotient_of_next(name, m, s, h, size):
    lab(f'.L{name}_one'); com('the quotient of the next coefficient in r22:r23, with higher bits')
    o('ld r18, Z+'); o('ld r19, Z+')
    for i in range(4): o(f'ldi r{20 + i}, {h >> 8*i & 255}')
    for j, x in enumerate((18, 19)):
        for i in range(size):
            o(f'mul r{x}, r{14 + i}')
            at = 20 + i + j
            o(f'add r{at}, r0')
            if at < 23: o(f'adc r{at + 1}, r1')
            for r in range(at + 2, 24): o(f'adc r{r}, r17')
    for _ in range(s - 16): o('lsr r23'); o('ror r22')
    o('ret')


def decompress10():
    name = 'kyber_decompress10'
    begin(name, 'void (int16_t out[8], const uint8_t bytes[10]): (y q + 512) >> 10 = (13 y * 256 + y + 512) >> 10', (28, 29))
    com('r18-r22 bytes, r18 and r28 y, r23 and r24 result')
    o('ldi r29, 13'); o('ldi r25, 2'); lab('1')
    for i in range(5): o(f'ld r{18 + i}, Z+')
    def one():
        o('mul r18, r29'); o('mov r23, r0'); o('mov r24, r1'); o('mul r28, r29'); o('add r24, r0')
        o('clr r1'); o('add r23, r28'); o('adc r24, r1'); o('subi r23, 254'); o('sbci r24, 255')
        for _ in range(2): o('lsr r24'); o('ror r23')
        o('st X+, r23'); o('st X+, r24')
    def high(): o('mov r28, r1'); o('andi r28, 3')
    o('mov r28, r19'); o('andi r28, 3'); one()
    o('ldi r28, 64'); o('mul r20, r28'); o('mov r18, r0'); o('lsr r19'); o('lsr r19'); o('or r18, r19'); high(); one()
    o('ldi r28, 16'); o('mul r21, r28'); o('mov r18, r0'); o('swap r20'); o('andi r20, 15'); o('or r18, r20'); high(); one()
    o('ldi r28, 4'); o('mul r21, r28'); o('mov r18, r1'); o('mul r22, r28'); o('or r18, r0'); o('mov r28, r1'); one()
    loop(); end(name, (28, 29))


def decompress4():
    name = 'kyber_decompress4'
    begin(name, 'void (int16_t out[8], const uint8_t bytes[4]): (y q + 8) >> 4 = (13 y * 256 + y + 8) >> 4')
    o('ldi r24, 13'); o('ldi r25, 4'); lab('1')
    o('ld r18, Z+'); o('mov r20, r18'); o('swap r20'); o('andi r18, 15'); o('andi r20, 15')
    for y in (18, 20):
        o(f'mul r{y}, r24'); o('mov r22, r0'); o(f'subi r{y}, 248'); o(f'swap r{y}'); o(f'andi r{y}, 15')
        o('swap r22'); o('mov r23, r22'); o('andi r22, 0xf0'); o(f'or r22, r{y}'); o('andi r23, 15'); o('st X+, r22'); o('st X+, r23')
    loop(); end(name)


def message():
    name = 'kyber_message'
    begin(name, 'void (uint8_t m[32], const int16_t c[256]), canonical: 1 from 833 to 2496')
    o('ldi r25, 32'); lab('1')
    for _ in range(8):
        o('ld r18, Z+'); o('ld r19, Z+')
        for k in (833, 1664): o(f'subi r18, {k & 255}'); o(f'sbci r19, {k >> 8}')
        o('ror r20')
    o('st X+, r20'); loop(); end(name)
    name = 'kyber_add_message'
    begin(name, f'void (int16_t c[256], const uint8_t m[32]): adds {(Q + 1)//2} or 0', (28, 29))
    o('movw r28, r24'); o('ldi r25, 32'); lab('1'); o('ld r18, Z+'); o('ldi r24, 8'); lab('3')
    k = (Q + 1)//2
    o('lsr r18'); o('sbc r19, r19'); o('mov r20, r19'); o(f'andi r19, {k & 255}'); o(f'andi r20, {k >> 8}')
    o('ldd r21, Y+0'); o('ldd r22, Y+1'); o('add r21, r19'); o('adc r22, r20'); o('st Y+, r21'); o('st Y+, r22')
    o('dec r24'); o('brne 3b')
    loop(); end(name, (28, 29))


print('    ; generated by encoding.py; do not edit.  Interface and figures: README.md')
pack12(); unpack12(); uniform(); cbd(2); cbd(3); compress(10); compress(4); decompress10(); decompress4(); message()
