#!/usr/bin/env python3
"""Generates product.S, products of byte polynomials modulo 256 for ct * f: python3 product.py > product.S

Karatsuba's rule from 256 coefficients down to 8, in three routines: a node in loops, a node of 32 coefficients in straight
lines, and 16 coefficients in registers.  No branch but on lengths, no address but by position."""
def o(s): print('    ' + s)
def com(s): print('    ; ' + s)
def label(name): print(name + ':')
def begin(name, saved):
    print(f'\n    .section .text.{name}, "ax", @progbits\n    .global {name}\n    .type {name}, @function\n{name}:')
    for r in saved: o(f'push r{r}')
def end(name, saved):
    for r in reversed(saved): o(f'pop r{r}')
    o('clr r1'); o('ret'); print(f'    .size {name}, .-{name}')
def push(*pairs):
    for r in pairs: o(f'push r{r}'); o(f'push r{r + 1}')
def pop(*pairs):
    for r in pairs: o(f'pop r{r + 1}'); o(f'pop r{r}')
X, Y, Z = 26, 28, 30
H = 22                                          # half of a node's coefficients
S = 24                                          # scratch

def sums():
    label('.Lctru_light_sums')
    com('r21 bytes at Z, X and Y, a multiple of 8 and 0 for 256: Z = X + Y; the pointers move on')
    for i in range(8): o('ld r0, X+'); o('ld r20, Y+'); o('add r20, r0'); o('st Z+, r20')
    o('subi r21, 8'); o('brne .Lctru_light_sums'); o('ret')

def join():
    label('.Lctru_light_join')
    com('Z = l0 l1 h0 h1 and Y = m0 m1 of h bytes each, h a multiple of 8.  Z = l0, l1 + m0 - l0 - h0, h0 + m1 - l1 - h1, h1.')
    com('r2-r9 l0, r10-r17 t = l1 - h0, r24:r25 = l0, r18:r19 = h0, r20 = h, r21 = count, r1 = 0')
    o(f'movw r24, r{Z}'); o(f'mov r20, r{H}'); o('mov r21, r20'); o('clr r1')
    label('1'); o('movw r30, r24')
    for i in range(8): o(f'ldd r{2 + i}, Z+{i}')
    step = lambda r: (o(f'add r{r}, r20'), o(f'adc r{r + 1}, r1'))
    step(30); o('movw r26, r30')
    for i in range(8): o(f'ldd r{10 + i}, Z+{i}')
    step(30); o('movw r18, r30')
    for i in range(8): o(f'ldd r0, Z+{i}'); o(f'sub r{10 + i}, r0')
    for i in range(8): o(f'ldd r0, Y+{i}'); o(f'add r0, r{10 + i}'); o(f'sub r0, r{2 + i}'); o('st X+, r0')
    step(30); step(28); o('movw r26, r18')
    for i in range(8): o(f'ldd r0, Y+{i}'); o(f'sub r0, r{10 + i}'); o(f'ldd r2, Z+{i}'); o('sub r0, r2'); o('st X+, r0')
    o('sub r28, r20'); o('sbc r29, r1'); o('adiw r28, 8'); o('adiw r24, 8')
    o('subi r21, 8'); o('breq 2f'); o('rjmp 1b'); label('2'); o('ret')

def leaf():
    label('.Lctru_light_product16')
    com('32 bytes Z = X * Y of 16 coefficients each; Y and Z stay, X moves by 8.  r2-r9 half of a, r10-r17 half of b,')
    com('r18-r25 sliding sums.  With products L and H of the halves, U = L + x^8 H and M = (a1 - a0) (b1 - b0), it is')
    com('U + x^8 U - x^8 M')
    a, b, acc = list(range(2, 10)), list(range(10, 18)), list(range(18, 26))
    for i in range(8): o(f'ld r{a[i]}, X+')
    for i in range(8): o(f'ldd r{b[i]}, Y+{i}')
    for j in range(8):
        for i in range(8):
            o(f'mul r{a[i]}, r{b[j]}'); o(f"{'mov' if j == 0 or i == 7 else 'add'} r{acc[(i + j) % 8]}, r0")
        o(f'std Z+{j}, r{acc[j]}')
    com('U')
    for i in range(8): o(f'ld r{a[i]}, X+')
    for i in range(8): o(f'ldd r{b[i]}, Y+{8 + i}')
    for j in range(8):
        for i in range(8):
            o(f'mul r{a[i]}, r{b[j]}'); o(f"{'mov' if i == 7 else 'add'} r{acc[(i + j) % 8]}, r0")
        o(f'std Z+{8 + j}, r{acc[j]}')
    for i in range(7): o(f'std Z+{24 + i}, r{acc[i]}')
    o('clr r0'); o('std Z+31, r0')
    com('differences, and - M on top of U + x^8 U')
    o('sbiw r26, 16')
    for i in range(8): o('ld r0, X+'); o(f'sub r{a[i]}, r0')
    for i in range(8): o(f'ldd r0, Y+{i}'); o(f'sub r{b[i]}, r0')
    for i in range(8): o(f'ldd r{acc[i]}, Z+{8 + i}'); o(f'ldd r0, Z+{i}'); o(f'add r{acc[i]}, r0')
    for j in range(8):
        for i in range(8): o(f'mul r{a[i]}, r{b[j]}'); o(f'sub r{acc[(i + j) % 8]}, r0')
        o(f'ldd r0, Z+{8 + j}'); o(f'std Z+{8 + j}, r{acc[j]}'); o(f'ldd r{acc[j]}, Z+{24 + j}'); o(f'add r{acc[j]}, r0')
    for i in range(8): o(f'std Z+{16 + i}, r{acc[i]}')
    o('ret')

def node32():
    label('.Lctru_light_product32')
    com('64 bytes Z = X * Y of 32 coefficients each, with 32 bytes of scratch at r24:r25; the sums wait in Z')
    push(S, Y, X)
    for off, src in ((16, None), (0, X)):
        if src: o('movw r28, r26')
        for i in range(16): o(f'ldd r18, Y+{i}'); o(f'ldd r19, Y+{16 + i}'); o('add r18, r19'); o(f'std Z+{off + i}, r18')
    o('movw r26, r30'); o('movw r28, r30'); o('adiw r28, 16'); o('movw r30, r24'); o('rcall .Lctru_light_product16')
    o('movw r30, r28'); o('sbiw r30, 16'); pop(X, Y); o('rcall .Lctru_light_product16')
    o('adiw r30, 32'); o('adiw r26, 8'); o('adiw r28, 16'); o('rcall .Lctru_light_product16')
    com('the join as above, with Y = scratch')
    o('sbiw r30, 32'); pop(Y)
    for i in range(16):
        o(f'ldd r18, Z+{16 + i}'); o(f'ldd r19, Z+{32 + i}'); o('sub r18, r19')
        o(f'ldd r19, Y+{i}'); o('add r19, r18'); o(f'ldd r20, Z+{i}'); o('sub r19, r20'); o(f'std Z+{16 + i}, r19')
        o(f'ldd r19, Y+{16 + i}'); o('sub r19, r18'); o(f'ldd r20, Z+{48 + i}'); o('sub r19, r20'); o(f'std Z+{32 + i}, r19')
    o('ret')

def node():
    label('.Lctru_light_product')
    com('4 h bytes Z = X * Y of 2 h coefficients each, h = r22 = 16, 32, 64 or 128, with 4 h bytes of scratch at r24:r25')
    o(f'cpi r{H}, 16'); o('brne 1f'); o('rjmp .Lctru_light_product32'); label('1')
    add = lambda r: (o(f'add r{r}, r{H}'), o(f'adc r{r + 1}, r1'))
    sub = lambda r: (o(f'sub r{r}, r{H}'), o(f'sbc r{r + 1}, r1'))
    def child():
        com('a half, with the scratch behind the middle product')
        add(S); add(S); o(f'lsr r{H}'); o('rcall .Lctru_light_product')
    o('clr r1'); o(f'push r{H}'); push(Z, S, Y, X)
    com('sums of the halves in Z')
    o('movw r2, r28'); o('movw r28, r26'); add(Y); o(f'mov r21, r{H}'); o('rcall .Lctru_light_sums')
    o('movw r26, r2'); o('movw r28, r2'); add(Y); o(f'mov r21, r{H}'); o('rcall .Lctru_light_sums')
    o('movw r28, r30'); sub(Y); o('movw r26, r28'); sub(X); o('movw r30, r24'); child()
    com('the low halves')
    pop(X, Y, S, Z); o(f'pop r{H}'); o('clr r1'); o(f'push r{H}'); push(Z, S)
    o('movw r2, r28'); o('movw r4, r26'); add(2); add(4); push(2, 4); child()
    com('the high halves')
    pop(X, Y, S, Z); o(f'pop r{H}'); o('clr r1'); o(f'push r{H}'); push(Z, S); add(Z); add(Z); child()
    pop(Y, Z); o(f'pop r{H}'); o('rjmp .Lctru_light_join')

def product():
    name, saved = 'ctru_light_product256', list(range(2, 18)) + [28, 29]
    begin(name, saved)
    com('void (r, a, b, scratch): 512 bytes r = a * b of 256 coefficients each; scratch has 512 bytes')
    o('movw r30, r24'); o('movw r26, r22'); o('movw r28, r20'); o('movw r24, r18'); o(f'ldi r{H}, 128')
    o('rcall .Lctru_light_product')
    for r in reversed(saved): o(f'pop r{r}')
    o('clr r1'); o('ret')
    node(); node32(); leaf(); join(); sums()
    print(f'    .size {name}, .-{name}')

def add():
    name = 'ctru_light_sum'
    begin(name, [28, 29])
    com('void (r, a, b, n): n bytes r = a + b; n is a multiple of 8, and 0 for 256')
    o('movw r26, r22'); o('movw r28, r20'); o('movw r30, r24'); o('mov r21, r18'); o('call .Lctru_light_sums')
    end(name, [28, 29])

def clear():
    name = 'ctru_light_clear'
    begin(name, [])
    com('void (p, n): n bytes 0; n is a multiple of 16')
    o('movw r30, r24'); label('1')
    for i in range(16): o(f'std Z+{i}, r1')
    o('adiw r30, 16'); o('subi r22, 16'); o('sbci r23, 0'); o('brne 1b')
    end(name, [])

print('    ; generated by product.py; do not edit.  Interface and figures: README.md')
product(); add(); clear()
