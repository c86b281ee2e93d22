#!/usr/bin/env python3
"""Generates product.S, products in Z_2^16[x]/(x^256 + 1) by secrets of a byte each: python3 product.py > product.S

Karatsuba's rule from 256 coefficients down to 8; sums of secrets stay below 2^8 but in one of the 81 products of 16
coefficients, which is taken without it.  No branch but on lengths and positions, no address but by position."""
def o(s): print('    ' + s)
def com(s): print('    ; ' + s)
def label(name): print(name + ':')
X, Y, Z, S = 26, 28, 30, 24                     # pointers to a, to s, to the product, to scratch
A = [2 + 2 * i for i in range(8)]               # eight coefficients of a, low bytes
B = list(range(18, 26))                         # eight of s
ACC = 26

def ldd(r, p, d): o(f'ldd r{r}, {p}+{d}'); o(f'ldd r{r + 1}, {p}+{d + 1}')
def std(p, d, r): o(f'std {p}+{d}, r{r}'); o(f'std {p}+{d + 1}, r{r + 1}')
def ldx(r): o(f'ld r{r}, X+'); o(f'ld r{r + 1}, X+')
def add(r, s): o(f'add r{r}, r{s}'); o(f'adc r{r + 1}, r{s + 1}')
def sub(r, s): o(f'sub r{r}, r{s}'); o(f'sbc r{r + 1}, r{s + 1}')
def move(r, s): o(f'movw r{r}, r{s}')
def push(r): o(f'push r{r}'); o(f'push r{r + 1}')
def pop(r): o(f'pop r{r + 1}'); o(f'pop r{r}')
def forward(r, n):
    if n % 256 == 0: o(f'subi r{r + 1}, {256 - n // 256}')
    elif n < 64 and r >= 24: o(f'adiw r{r}, {n}')
    else: o(f'subi r{r}, {-n & 255}'); o(f'sbci r{r + 1}, {-n >> 8 & 255}')
def back(r, n):
    if n % 256 == 0: o(f'subi r{r + 1}, {n // 256}')
    elif n < 64 and r >= 24: o(f'sbiw r{r}, {n}')
    else: o(f'subi r{r}, {n & 255}'); o(f'sbci r{r + 1}, {n >> 8}')

def begin(name, saved):
    print(f'\n    .section .text.{name}, "ax", @progbits\n    .global {name}\n    .type {name}, @function\n{name}:')
    for r in saved: o(f'push r{r}')
def end(saved):
    for r in reversed(saved): o(f'pop r{r}')
    o('clr r1'); o('ret')
def size(name): print(f'    .size {name}, .-{name}')

def column(k, first='movw', op=('add', 'adc')):
    """ACC = or += or -= coefficient k of the product of A and B."""
    for i in range(max(0, k - 7), min(8, k + 1)):
        a, b = A[i], B[k - i]
        o(f'mul r{a}, r{b}')
        if first == 'movw': move(ACC, 0); first = None
        else: o(f'{op[0]} r{ACC}, r0'); o(f'{op[1]} r{ACC + 1}, r1')
        o(f'mul r{a + 1}, r{b}'); o(f'{op[0]} r{ACC + 1}, r0')

def leaf():
    label('.Lsaber_product16')
    com('32 words Z = X * Y of 16 coefficients each; Y and Z stay.  T set: sums of two bytes at Y may exceed a byte.')
    com('r2-r17 half of a, r18-r25 half of s, r26:r27 one coefficient.')
    o('brtc 1f'); o('rjmp .Lsaber_schoolbook16'); label('1')
    com('With products L and H of the halves, M of their sums, D = L1 - H0: L0, D - L0 + M0, M1 - D - H1, H1')
    for a in A: ldx(a)
    push(X)
    for i, b in enumerate(B): o(f'ldd r{b}, Y+{i}')
    for k in range(15): column(k); std('Z', 2 * k, ACC)
    pop(X)
    for a in A: ldx(a)
    push(X)
    for i, b in enumerate(B): o(f'ldd r{b}, Y+{8 + i}')
    com('D in place of the third quarter')
    for k in range(8):
        if k < 7: ldd(ACC, 'Z', 16 + 2 * k)
        else: o(f'ldi r{ACC}, 0'); o(f'ldi r{ACC + 1}, 0')
        column(k, None, ('sub', 'sbc')); std('Z', 32 + 2 * k, ACC)
    for k in range(8, 15): column(k); std('Z', 32 + 2 * k, ACC)
    pop(X); back(X, 32)
    for a in A: ldx(0); add(a, 0)
    for i, b in enumerate(B): o(f'ldd r0, Y+{i}'); o(f'add r{b}, r0')
    for k in range(8):
        ldd(ACC, 'Z', 32 + 2 * k); ldd(0, 'Z', 2 * k); sub(ACC, 0); column(k, None); std('Z', 16 + 2 * k, ACC)
    for k in range(8, 15):
        column(k)
        for at in (16, 32): ldd(0, 'Z', at + 2 * k); sub(ACC, 0)
        std('Z', 16 + 2 * k, ACC)
    o('clr r0'); o('clr r1'); ldd(ACC, 'Z', 46); sub(0, ACC); std('Z', 46, 0)
    o('clr r0'); std('Z', 62, 0); o('std Z+63, r0'); o('ret')

def schoolbook():
    label('.Lsaber_schoolbook16')
    com('The same by four products of 8 coefficients')
    o('clt'); o('clr r0')
    for i in range(64): o(f'std Z+{i}, r0')
    def load(a=None, b=None):
        if a:
            if a == 2: pop(X)
            for r in A: ldx(r)
            if a == 1: push(X)
        if b is not None:
            for i, r in enumerate(B): o(f'ldd r{r}, Y+{b + i}')
        o('rcall .Lsaber_add8')
    load(1, 0); forward(Z, 16); load(None, 8); forward(Z, 16); load(2); back(Z, 16); load(None, 0)
    back(Z, 16); o('ret')
    label('.Lsaber_add8')
    com('15 words Z += r2-r17 * r18-r25')
    for k in range(15): ldd(ACC, 'Z', 2 * k); column(k, None); std('Z', 2 * k, ACC)
    o('ret')

def sums():
    label('.Lsaber_sums16')
    com('r21 words Z = X + Y, a multiple of 8; the pointers move on')
    for i in range(16): o('ld r0, X+'); o(f'ldd r20, Y+{i}'); o(f"{'adc' if i % 2 else 'add'} r20, r0"); o(f'std Z+{i}, r20')
    forward(Y, 16); forward(Z, 16); o('subi r21, 8'); o('breq 1f'); o('rjmp .Lsaber_sums16'); label('1'); o('ret')
    label('.Lsaber_sums8')
    com('r21 bytes Z = X + Y, a multiple of 8; the pointers move on')
    for i in range(8): o('ld r0, X+'); o(f'ldd r20, Y+{i}'); o('add r20, r0'); o(f'std Z+{i}, r20')
    forward(Y, 8); forward(Z, 8); o('subi r21, 8'); o('brne .Lsaber_sums8'); o('ret')

def sums_of_halves(h):
    """Z = sums of the halves at X, words, and then of those at Y, bytes; pointers are lost."""
    if h == 16:
        move(0, Y); move(Y, X)
        for i in range(h): ldd(18, 'Y', 2 * i); ldd(20, 'Y', 2 * (h + i)); add(18, 20); std('Z', 2 * i, 18)
        move(Y, 0)
        for i in range(h): o(f'ldd r18, Y+{i}'); o(f'ldd r19, Y+{h + i}'); o('add r18, r19'); o(f'std Z+{2 * h + i}, r18')
    else:
        move(2, Y); move(Y, X); forward(Y, 2 * h); o(f'ldi r21, {h}'); o('rcall .Lsaber_sums16')
        move(X, 2); move(Y, 2); forward(Y, h); o(f'ldi r21, {h}'); o('rcall .Lsaber_sums8')

def node(n):
    h = n // 2
    label(f'.Lsaber_product{n}')
    com(f'{2 * n} words Z = X * Y of {n} coefficients each, with {4 * n - 64} bytes of scratch at r24:r25; Y and Z stay')
    child = f'rcall .Lsaber_product{h}' if h > 16 else 'call .Lsaber_product16'
    def deeper():
        if h > 16: forward(S, 4 * h)
    push(X); push(Y)
    if h == 16: sums_of_halves(h)
    else: push(Z); sums_of_halves(h); pop(Z)
    com('the product of the sums in scratch, and more scratch behind it')
    move(X, Z); move(Y, Z); forward(Y, 2 * h); move(Z, S); deeper(); o(child)
    com('the low halves')
    move(S, Z); move(Z, Y); back(Z, 2 * h); pop(Y); pop(X)
    push(S); push(X); deeper(); o(child)
    com('the high halves')
    pop(X); pop(S); push(S); push(Y); forward(X, 2 * h); forward(Y, h); forward(Z, 4 * h); deeper(); o(child)
    back(Z, 4 * h); pop(X); pop(Y); push(X)
    if h == 16: join16()
    else: o(f'ldi r22, {2 * h}'); o(f'ldi r24, {h}'); o('rcall .Lsaber_join')
    pop(Y); o('ret')

def join16():
    com('Z = l0, l1 + m0 - l0 - h0, h0 + m1 - l1 - h1, h1, with l1 - h0 in r2-r17; X = m, Y = h')
    move(X, Y); move(Y, Z); forward(Y, 64)
    for half in (0, 16):
        at = lambda i: half + 2 * i
        for i, t in enumerate(A):
            ldd(t, 'Z', 32 + at(i)); ldd(18, 'Y', at(i)); sub(t, 18)
            ldx(18); add(18, t); ldd(20, 'Z', at(i)); sub(18, 20); std('Z', 32 + at(i), 18)
        forward(X, 16)
        for i, t in enumerate(A): ldx(18); sub(18, t); ldd(20, 'Y', 32 + at(i)); sub(18, 20); std('Y', at(i), 18)
        if not half: back(X, 32)

def join():
    label('.Lsaber_join')
    com('Z = l0 l1 h0 h1 and Y = m0 m1 of r24 words or r22 bytes each, a multiple of 8 words.')
    com('Z = l0, l1 + m0 - l0 - h0, h0 + m1 - l1 - h1, h1, with l1 - h0 in r2-r17; Z stays')
    far = lambda r: (o(f'add r{r}, r22'), o(f'adc r{r + 1}, r23'))
    near = lambda r: (o(f'sub r{r}, r22'), o(f'sbc r{r + 1}, r23'))
    push(Z); o('clr r23'); move(X, Y)
    label('1'); move(Y, Z); far(Z); far(Z)
    for i, t in enumerate(A): ldd(t, 'Z', 2 * i)
    near(Z)
    for i, t in enumerate(A):
        ldd(18, 'Z', 2 * i); sub(18, t); move(t, 18); ldx(20); add(18, 20); ldd(20, 'Y', 2 * i); sub(18, 20); std('Z', 2 * i, 18)
    far(X); back(X, 16); far(Z); far(Y); far(Y); far(Y)
    for i, t in enumerate(A): ldx(18); sub(18, t); ldd(20, 'Y', 2 * i); sub(18, 20); std('Z', 2 * i, 18)
    near(X); near(Z); near(Z); forward(Z, 16)
    o('subi r24, 8'); o('breq 2f'); o('rjmp 1b'); label('2'); pop(Z); o('ret')

def fold():
    com_p = 'with p = p0 + x^128 p1 at Y and c = c0 + x^128 c1 at Z; Y stays'
    def routine(name, what, first, second):
        label(name); com(what + ', ' + com_p)
        o('ldi r24, 16'); label('1')
        for i, t in enumerate(A): ldd(t, 'Y', 2 * i)
        o('inc r29')
        for i, t in enumerate(A): ldd(18, 'Y', 2 * i); ldd(22, 'Z', 2 * i); first(t); std('Z', 2 * i, 22)
        o('inc r31')
        for i, t in enumerate(A): ldd(22, 'Z', 2 * i); second(t); std('Z', 2 * i, 22)
        o('dec r31'); o('dec r29'); forward(Y, 16); forward(Z, 16)
        o('dec r24'); o('breq 2f'); o('rjmp 1b'); label('2'); back(Y, 256); back(Z, 256); o('ret')
    def low(t): add(22, t); add(22, 18); sub(18, t); move(t, 18)
    def high(t): sub(22, t); add(22, 18); add(t, 18)
    routine('.Lsaber_fold_low', 'c += (p0 + p1) + x^128 (p1 - p0)', low, lambda t: add(22, t))
    routine('.Lsaber_fold_high', 'c += (p1 - p0) - x^128 (p0 + p1)', high, lambda t: sub(22, t))
    routine('.Lsaber_fold_sums', 'c += - p1 + x^128 p0', lambda t: sub(22, 18), lambda t: add(22, t))

def centre():
    label('.Lsaber_centre')
    com('c -= 8 a (1 + x + ... + x^255) with a at Y and c at Z: the sum s of all, 8 s - 16 a[0] and so on')
    o('ldi r24, 32'); o('clr r18'); o('clr r19'); label('1')
    for i in range(8): ldd(20, 'Y', 2 * i); add(18, 20)
    forward(Y, 16); o('dec r24'); o('brne 1b'); back(Y, 512)
    for _ in range(3): o('lsl r18'); o('rol r19')
    o('ldi r24, 32'); o('ldi r25, 16'); label('1')
    for i in range(8):
        o(f'ldd r20, Y+{2 * i}'); o(f'mul r20, r25'); sub(18, 0); o(f'ldd r20, Y+{2 * i + 1}'); o('mul r20, r25'); o('sub r19, r0')
        ldd(22, 'Z', 2 * i); add(22, 18); std('Z', 2 * i, 22)
    forward(Y, 16); forward(Z, 16); o('dec r24'); o('breq 2f'); o('rjmp 1b'); label('2'); o('ret')

def product():
    name, saved = 'saber_product', list(range(2, 18)) + [28, 29]
    begin(name, saved)
    com('void (c, a, s, scratch): c += a (s - 8 (1 + x + ... + x^255)), c and a of 256 words, s of 256 bytes below 16;')
    com('scratch: 512 bytes product, 448 deeper scratch, 256 + 128 sums of halves')
    push(S); move(X, 22); move(Y, 20); move(Z, 18)
    push(X); push(Y); push(Z)
    def half(fold, what):
        com(what)
        move(S, Z); forward(S, 512); o('call .Lsaber_product128')
        com('the frame holds c, a, s, scratch'); o(f'in r{S}, 0x3d'); o(f'in r{S + 1}, 0x3e')
        move(Y, Z); move(X, S); forward(X, 7); o('ld r31, X+'); o('ld r30, X+'); o(f'call {fold}')
    def frame():
        com('X = a, Y = s, Z = scratch')
        o(f'in r{Y}, 0x3d'); o(f'in r{Y + 1}, 0x3e'); o('ldd r31, Y+1'); o('ldd r30, Y+2'); o('ldd r27, Y+5'); o('ldd r26, Y+6')
        o('ldd r0, Y+3'); o('ldd r28, Y+4'); o('mov r29, r0')
    o('clt'); half('.Lsaber_fold_low', 'low halves')
    frame(); forward(X, 256); forward(Y, 128); half('.Lsaber_fold_high', 'high halves')
    frame(); com('sums of halves'); forward(Z, 960); push(Z); sums_of_halves(128); pop(Z)
    move(X, Z); move(Y, Z); forward(Y, 256); back(Z, 960); o('set'); half('.Lsaber_fold_sums', 'their product')
    frame(); move(Y, X); pop(0); pop(0); pop(0); pop(Z); o('call .Lsaber_centre')
    end(saved)
    for n in (128, 64, 32): node(n)
    join(); sums(); fold(); centre(); leaf(); schoolbook(); size(name)

def clear():
    name = 'saber_clear'
    begin(name, [])
    com('void (p, n): n bytes 0; n is a multiple of 32')
    move(Z, S); label('1')
    for i in range(32): o(f'std Z+{i}, r1')
    forward(Z, 32); o('subi r22, 32'); o('sbci r23, 0'); o('brne 1b'); o('ret'); size(name)

print('    ; generated by product.py; do not edit.  Interface and figures: README.md')
product(); clear()
