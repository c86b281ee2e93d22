#!/usr/bin/env python3
"""Generates product.S, byte polynomials modulo 256 for the product ct * f: python3 product.py > product.S

Three routines under Karatsuba's rule: sums, the join of three half products, and products of 16 coefficients.
No branch but on lengths, no address but by position."""
def o(s): print('    ' + s)
def com(s): print('    ; ' + s)
def begin(name, saved):
    print(f'\n    .section .text.{name}, "ax", @progbits\n    .global {name}\n    .type {name}, @function\n{name}:')
    for r in saved: o(f'push r{r}')
def end(name, saved):
    for r in reversed(saved): o(f'pop r{r}')
    o('clr r1'); o('ret'); print(f'    .size {name}, .-{name}')

def add():
    name, saved = 'ctru_light_sum', [28, 29]
    begin(name, saved)
    com('void (r, a, b, n): n bytes r = a + b; n is a multiple of 8.  X = a, Y = b, Z = r')
    o('movw r26, r22'); o('movw r28, r20'); o('movw r30, r24'); print('1:')
    for i in range(8):
        o('ld r24, X+'); o(f'ldd r25, Y+{i}'); o('add r24, r25'); o(f'std Z+{i}, r24')
    o('adiw r28, 8'); o('adiw r30, 8'); o('subi r18, 8'); o('brne 1b')
    end(name, saved)

def join():
    name, saved = 'ctru_light_join', list(range(2, 18)) + [28, 29]
    begin(name, saved)
    com('void (r, m, h): r = l0 l1 h0 h1 and m = m0 m1 of h bytes each, h a multiple of 8.  r = l0, l1 + m0 - l0 - h0,')
    com('h0 + m1 - l1 - h1, h1.  r2-r9 l0, r10-r17 t = l1 - h0, r24:r25 = l0, r22:r23 = l1, r18:r19 = h0, r20 = h, r21 = count')
    o('movw r28, r22'); o('mov r21, r20'); print('1:'); o('clr r1'); o('movw r30, r24')
    for i in range(8): o(f'ldd r{2 + i}, Z+{i}')
    step = lambda r: (o(f'add r{r}, r20'), o(f'adc r{r + 1}, r1'))
    step(30); o('movw r22, r30')
    for i in range(8): o(f'ldd r{10 + i}, Z+{i}')
    step(30); o('movw r18, r30')
    for i in range(8): o(f'ldd r0, Z+{i}'); o(f'sub r{10 + i}, r0')
    o('movw r26, r22')
    for i in range(8): o(f'ldd r0, Y+{i}'); o(f'add r0, r{10 + i}'); o(f'sub r0, r{2 + i}'); o('st X+, r0')
    step(30); step(28); o('movw r26, r18')
    for i in range(8): o(f'ldd r0, Y+{i}'); o(f'sub r0, r{10 + i}'); o(f'ldd r1, Z+{i}'); o('sub r0, r1'); o('st X+, r0')
    o('clr r1'); o('sub r28, r20'); o('sbc r29, r1'); o('adiw r28, 8'); o('adiw r24, 8')
    o('subi r21, 8'); o('breq 2f'); o('rjmp 1b'); print('2:')
    end(name, saved)

def leaf():
    name, saved = 'ctru_light_product16', list(range(2, 10)) + [28, 29]
    begin(name, saved)
    com('void (r, a, b): 32 bytes r = a * b of 16 coefficients each.  Y = b, Z = r; r2-r9 half of a, r18-r25 sliding sums, r26 b_j')
    o('movw r26, r22'); o('movw r28, r20'); o('movw r30, r24')
    acc = list(range(18, 26))
    for half in range(2):
        base = 8*half
        com(f'a_{base}..a_{base + 7}')
        for i in range(8): o(f'ld r{2 + i}, X+')
        if half == 0: o('push r27'); o('push r26')
        else:
            for i in range(8): o(f'ldd r{acc[i]}, Z+{base + i}')
        for j in range(16):
            o(f'ldd r26, Y+{j}')
            top = base + j + 7                   # first seen in this step
            if half and 0 < j and top <= 22: o(f'ldd r{acc[(j + 7) % 8]}, Z+{top}')
            for i in range(8):
                a = acc[(i + j) % 8]
                o(f'mul r{2 + i}, r26')
                fresh = (half == 0 and (j == 0 or i == 7)) or (half and i == 7 and top > 22)
                o(f"{'mov' if fresh else 'add'} r{a}, r0")
            o(f'std Z+{base + j}, r{acc[j % 8]}')
        for i in range(7): o(f'std Z+{base + 16 + i}, r{acc[i]}')
        if half == 0: o('pop r26'); o('pop r27')
    o('clr r1'); o('std Z+31, r1')
    end(name, saved)

def node():
    """one level of Karatsuba over `leaf`"""
    name, saved = 'ctru_light_product32', list(range(10, 18)) + [28, 29]
    begin(name, saved)
    com('void (r, a, b, scratch): 64 bytes r = a * b of 32 coefficients each; scratch has 32 bytes, and the sums wait in r.')
    com('r10:r11 = r, r12:r13 = a, r14:r15 = b, r16:r17 = scratch')
    for d, r in ((10, 24), (12, 22), (14, 20), (16, 18)): o(f'movw r{d}, r{r}')
    def sums(src, off):
        o(f'movw r28, r{src}'); o('movw r30, r10')
        for i in range(16): o(f'ldd r18, Y+{i}'); o(f'ldd r19, Y+{16 + i}'); o('add r18, r19'); o(f'std Z+{off + i}, r18')
    sums(12, 0); sums(14, 16)
    def call(r, roff, a, aoff, b, boff):
        for d, src, off in ((24, r, roff), (22, a, aoff), (20, b, boff)):
            o(f'movw r{d}, r{src}')
            if off: o(f'subi r{d}, {-off & 255}'); o(f'sbci r{d + 1}, {(-off >> 8) & 255}')
        o('call ctru_light_product16')
    call(16, 0, 10, 0, 10, 16); call(10, 0, 12, 0, 14, 0); call(10, 32, 12, 16, 14, 16)
    com('the join, as above, with Z = r and Y = scratch')
    o('movw r30, r10'); o('movw r28, r16')
    for i in range(16):
        o(f'ldd r18, Z+{16 + i}'); o(f'ldd r19, Z+{32 + i}'); o('sub r18, r19')
        o(f'ldd r19, Y+{i}'); o('add r19, r18'); o(f'ldd r20, Z+{i}'); o('sub r19, r20'); o(f'std Z+{16 + i}, r19')
        o(f'ldd r19, Y+{16 + i}'); o('sub r19, r18'); o(f'ldd r20, Z+{48 + i}'); o('sub r19, r20'); o(f'std Z+{32 + i}, r19')
    end(name, saved)

print('    ; generated by product.py; do not edit.  Interface and figures: README.md')
add(); join(); leaf(); node()
