#!/usr/bin/env python3
"""Generates inverse.S, the inverses of all blocks in the transform domain: python3 inverse.py > inverse.S

A block x^8 - w^2 splits once more into quartics modulo x^4 - w and x^4 + w.  Norms take a quartic to a scalar, and one
exponentiation inverts the product of eight scalars (four blocks), from which each inverse is split off.

Products carry a factor K.  Sums of products are collected in 24 bits above a bias of 2^23 and reduced once.  The generator
carries an interval for every register pair and asserts that no sum leaves its range.  No branch but on counts, no address
but by position."""
from tree import ROOT
Q, K, BIAS = 769, 27, 128 << 16
def o(s): print('    ' + s)
def com(s): print('    ; ' + s)

ZERO, NINE, THREE = 2, 3, 4
A = (6, 8, 10, 12)                              # a quartic
W, N0, N1, T = 14, 16, 22, 24                   # N0 and N1 become M0 and M1, W becomes M1 w
SUM = 18                                        # r18-r20, with T as scratch of the reduction
COUNT = 21
RANGE = {}                                      # of a register pair
QUARTIC, SCALAR, LIFTED, UNIT = (197, 1798), (0, 778), (210, 990), (0, 768)
DOMAIN = (206, 1020)
FACTOR = (0, 1020)                             # of `times`

def mac(a, b, sign=1, first=False):
    """SUM +-= a b"""
    global total
    (alo, ahi), (blo, bhi) = RANGE[a], RANGE[b]
    assert alo >= 0 and blo >= 0, (a, b)
    product = (alo*blo, ahi*bhi) if sign > 0 else (-ahi*bhi, -alo*blo)
    total = product if first else (total[0] + product[0], total[1] + product[1])
    assert -BIAS <= total[0] and total[1] < BIAS, total
    add, adc = ('add', 'adc') if sign > 0 else ('sub', 'sbc')
    o(f'mul r{a}, r{b}')
    if first:
        assert sign > 0
        o(f'movw r{SUM}, r0'); o(f'mul r{a + 1}, r{b + 1}'); o(f'mov r{SUM + 2}, r0'); o(f'subi r{SUM + 2}, {BIAS >> 16}')
    else:
        o(f'{add} r{SUM}, r0'); o(f'{adc} r{SUM + 1}, r1'); o(f'{adc} r{SUM + 2}, r{ZERO}')
        o(f'mul r{a + 1}, r{b + 1}'); o(f'{add} r{SUM + 2}, r0')
    if a == b:
        o(f'mul r{a}, r{a + 1}')
        for _ in range(2): o(f'{add} r{SUM + 1}, r0'); o(f'{adc} r{SUM + 2}, r1')
    else:
        for x, y in ((a, b + 1), (a + 1, b)): o(f'mul r{x}, r{y}'); o(f'{add} r{SUM + 1}, r0'); o(f'{adc} r{SUM + 2}, r1')

def reduce(final=False):
    """T = K SUM modulo Q, in 0..778, or in 210..990"""
    RANGE[T] = LIFTED if final else SCALAR
    o(f"rcall .Lctru_light_{'lift_sum' if final else 'reduce'}")

def reduction(final):
    """`reduce`, by three steps by 3 * 256 = -1: v = 9 c0 - 3 c1 + c2 + lift, then 3 v0 - v1 + end, and
    3 (lift + 128) + end = 0 modulo Q takes the bias away."""
    lift, end = (1335, 225) if final else (893, 13)
    v = (lift - 765, lift + 2550)
    assert v[0] >= 0 and (3*(lift + 128) + end) % Q == 0
    assert (end - (v[1] >> 8), end + 765) == (LIFTED if final else SCALAR)
    o(f'mul r{SUM}, r{NINE}'); o(f'movw r{T}, r0'); o(f'mul r{SUM + 1}, r{THREE}'); o(f'sub r{T}, r0'); o(f'sbc r{T + 1}, r1')
    o(f'add r{T}, r{SUM + 2}'); o(f'adc r{T + 1}, r{ZERO}')
    add(T, lift)
    o(f'mul r{T}, r{THREE}'); o(f'sub r0, r{T + 1}'); o(f'sbc r1, r{ZERO}'); o(f'movw r{T}, r0')
    add(T, end); o('ret')

def mul(a, b, final=False): mac(a, b, first=True); reduce(final)
def times_n1(): within(T, FACTOR); within(N1, FACTOR); o('rcall .Lctru_light_times'); RANGE[T] = SCALAR
def times_w(): within(T, FACTOR); within(W, UNIT); o('rcall .Lctru_light_times_w'); RANGE[T] = SCALAR; RANGE.pop(N1, None)
def add(r, n): o(f'subi r{r}, {-n & 255}'); o(f'sbci r{r + 1}, {(-n >> 8) & 255}')
def move(d, s): o(f'movw r{d}, r{s}'); RANGE[d] = RANGE[s]
def constant(r, n): o(f'ldi r{r}, {n & 255}'); o(f'ldi r{r + 1}, {n >> 8}'); RANGE[r] = (n, n)
def combine(d, s, sign, lift=0):
    """d += s or d -= s, then d += lift"""
    o(f"{'add' if sign > 0 else 'sub'} r{d}, r{s}"); o(f"{'adc' if sign > 0 else 'sbc'} r{d + 1}, r{s + 1}")
    if lift: add(d, lift)
    (dlo, dhi), (slo, shi) = RANGE[d], RANGE[s]
    RANGE[d] = (dlo + slo + lift, dhi + shi + lift) if sign > 0 else (dlo - shi + lift, dhi - slo + lift)
    assert 0 <= RANGE[d][0] and RANGE[d][1] < 65536
def double(d, s): move(d, s); o(f'lsl r{d}'); o(f'rol r{d + 1}'); RANGE[d] = tuple(2*x for x in RANGE[s])
def within(r, bound): assert bound[0] <= RANGE[r][0] and RANGE[r][1] <= bound[1], (r, RANGE[r], bound)
def load(r, at, bound): o(f'ldd r{r}, Y+{at}'); o(f'ldd r{r + 1}, Y+{at + 1}'); RANGE[r] = bound
def store(r, at, bound): within(r, bound); o(f'std Y+{at}, r{r}'); o(f'std Y+{at + 1}, r{r + 1}')
def load_next(r, bound): o(f'ld r{r}, X+'); o(f'ld r{r + 1}, X+'); RANGE[r] = bound
def store_next(r, bound): within(r, bound); o(f'st X+, r{r}'); o(f'st X+, r{r + 1}')
def root(r): o(f'lpm r{r}, Z+'); o(f'lpm r{r + 1}, Z+'); RANGE[r] = UNIT
def negate_w():
    move(T, W); constant(N1, Q); move(W, N1)
    o(f'sub r{W}, r{T}'); o(f'sbc r{W + 1}, r{T + 1}'); RANGE[W] = (1, Q)

# A quartic's slot in the frame: P (the product of the scalars before it, later the inverse of the product up to the one before
# it), its norm to degree 2, its scalar.  Behind the eight slots: P once more, the result, the count of batches.
P, NORM0, NORM1, S, SLOT = 0, 2, 4, 6, 8
BATCH = 4                                       # blocks
SLOTS = 2*BATCH*SLOT
OK, BATCHES, FRAME = 2, 3, SLOTS + 4
NAME = 'ctru_light_baseinv'
SAVED = [2, 3, 4] + list(range(6, 18)) + [28, 29]

def norms():
    print('.Lctru_light_norms:')
    com('norms of the quartic, its scalar and the next P; Y moves on.  n0 = a0^2 + w (a2^2 - 2 a1 a3)')
    for r in A: RANGE[r] = QUARTIC
    RANGE[W] = (0, Q)
    mac(A[2], A[2], first=True); double(N1, A[1]); mac(N1, A[3], -1); reduce()
    mac(A[0], A[0], first=True); mac(W, T); reduce(); move(N0, T); store(N0, NORM0, SCALAR)
    com('n1 = 2 a0 a2 - a1^2 - w a3^2')
    mul(A[3], A[3]); double(N1, A[0])
    mac(N1, A[2], first=True); mac(A[1], A[1], -1); mac(W, T, -1); reduce(); move(N1, T); store(N1, NORM1, SCALAR)
    com('s = n0^2 - w n1^2')
    mul(N1, N1); mac(N0, N0, first=True); mac(W, T, -1); reduce(); store(T, S, SCALAR)
    load(N1, P, SCALAR); times_n1(); store(T, P + SLOT, SCALAR); o(f'adiw r28, {SLOT}'); o('ret')

def lift():
    print('.Lctru_light_lift:')
    com('the inverse of the quartic that ends at X in its place, with a factor of the exponentiation; Y moves back')
    RANGE[W] = (0, Q)
    o(f'sbiw r28, {SLOT}'); o('sbiw r26, 8')
    for r in A: load_next(r, QUARTIC)
    o('sbiw r26, 8')
    load(N1, P + SLOT, (0, 990)); load(T, P, SCALAR); times_n1(); move(N0, T)
    load(T, S, SCALAR); times_n1(); store(T, P, SCALAR)
    move(N1, N0); load(T, NORM0, SCALAR); times_n1(); move(N0, T)
    load(T, NORM1, SCALAR); times_n1(); move(N1, W); move(W, T)
    times_n1(); move(N1, W); move(W, T)
    com('(a0 - a1 x + a2 x^2 - a3 x^3) (m0 - m1 x^2)')
    for (a, m), (b, n) in (((0, N0), (2, W)), ((3, W), (1, N0)), ((2, N0), (0, N1)), ((1, N1), (3, N0))):
        mac(A[a], m, first=True); mac(A[b], n, -1); reduce(); store_next(T, SCALAR)
    o('ret')

def times():
    print('.Lctru_light_times_w:'); o(f'movw r{N1}, r{W}')
    print('.Lctru_light_times:')
    RANGE[T] = RANGE[N1] = FACTOR
    mac(T, N1, first=True)
    print('.Lctru_light_reduce:'); reduction(False)
    print('.Lctru_light_lift_sum:'); reduction(True)

def exponentiate():
    com('x^767 K^766 = 1 / (K^2 x) for x = P, by 2 3 6 12 15 30 60 120 240 255 510 765 767')
    def by(r): o(f'movw r{N1}, r{r}'); o('rcall .Lctru_light_times')
    def square(): by(T)
    def keep(r): o(f'movw r{r}, r{T}')
    load(T, P, SCALAR); keep(A[0]); square(); keep(A[1]); by(A[0]); keep(A[2]); square(); square(); by(A[2]); keep(A[3])
    for _ in range(4): square()
    by(A[3]); keep(A[3]); square(); by(A[3]); by(A[1])
    com('9 / 2 for the join and K^2 for `lift`, a K less for this product; in 210..=990, zero is 769 and nothing else')
    RANGE[T] = SCALAR
    constant(N1, 9*K*pow(2, -1, Q) % Q); mul(T, N1, final=True); store(T, P, LIFTED)
    add(T, -Q); o(f'or r{T}, r{T + 1}'); o(f'cp r{ZERO}, r{T}'); o(f'sbc r{T}, r{T}')
    o(f'ldd r{T + 1}, Y+{OK}'); o(f'and r{T}, r{T + 1}'); o(f'std Y+{OK}, r{T}')

def split():
    com('low + w high and low - w high')
    for r in A: load_next(r, DOMAIN)
    root(W); o('adiw r30, 2')
    for r in A:
        load_next(T, DOMAIN); times_w()
        move(N1, r); combine(N1, T, -1, Q); combine(r, T, 1)
        within(N1, QUARTIC); within(r, QUARTIC)
        o(f'st -X, r{N1 + 1}'); o(f'st -X, r{N1}'); o('adiw r26, 2')
    o('sbiw r26, 16')
    for r in A: store_next(r, QUARTIC)
    o('rcall .Lctru_light_norms')
    for r in A: o(f'ld r{r}, X+'); o(f'ld r{r + 1}, X+')
    negate_w(); o('rcall .Lctru_light_norms')

def join():
    com('low = plus + minus, high = (plus - minus) / w; 57 = 1 / K')
    root(W); o('sbiw r30, 4')
    o('push r28'); o('push r29'); o('movw r28, r26')
    inverse_k = pow(K, -1, Q)
    assert inverse_k < 256
    o(f'ldi r{N0}, {inverse_k}'); o(f'ldi r{T}, 4'); o(f'mov r{A[1]}, r{T}'); print('6:')
    load(T, 0, SCALAR); load(N1, 8, SCALAR)
    move(A[0], T); combine(T, N1, 1)
    # a sum by a byte: no more than 17 bits
    assert RANGE[T][1]*inverse_k < BIAS
    o(f'mul r{T}, r{N0}'); o(f'movw r{SUM}, r0'); o(f'mul r{T + 1}, r{N0}'); o(f'add r{SUM + 1}, r0')
    o(f'ldi r{SUM + 2}, {BIAS >> 16}'); o(f'adc r{SUM + 2}, r1')
    reduce(final=True); store(T, 0, DOMAIN)
    o(f'sub r{A[0]}, r{N1}'); o(f'sbc r{A[0] + 1}, r{N1 + 1}')
    move(T, A[0]); add(T, 2*Q); RANGE[T] = (2*Q - 778, 2*Q + 778)
    mul(T, W, final=True); store(T, 8, DOMAIN)
    o('adiw r28, 2'); o(f'dec r{A[1]}'); o('brne 6b')
    o('pop r29'); o('pop r28')

def frame(sign):
    """SP moves by the frame, Y = SP + 1 below it; an interrupt never sees half of a stack pointer"""
    if sign < 0: o('in r28, 0x3d'); o('in r29, 0x3e'); add(28, -FRAME)
    else: o('sbiw r28, 1'); add(28, FRAME)
    o('in r0, 0x3f'); o('cli'); o('out 0x3e, r29'); o('out 0x3f, r0'); o('out 0x3d, r28')
    if sign < 0: o('adiw r28, 1')

def routine():
    print(f'\n    .section .text.{NAME}, "ax", @progbits\n    .global {NAME}\n    .type {NAME}, @function\n{NAME}:')
    com('uint8_t (int16_t p[512]): p = 9 / p in each block; 0 if a block has no inverse, else 255.  In: 206..1020.  Out: 210..990.')
    com('X = p, Y = slots, Z = roots; r2 = 0, r3 = 9, r4 = 3, r6-r13 a quartic, r18-r20 a sum, r21 = count')
    for r in SAVED: o(f'push r{r}')
    frame(-1)
    o('movw r26, r24'); o('ldi r30, lo8(ctru_light_roots)'); o('ldi r31, hi8(ctru_light_roots)')
    o('ldi r24, 9'); o(f'mov r{NINE}, r24'); o('ldi r24, 3'); o(f'mov r{THREE}, r24'); o(f'clr r{ZERO}')
    add(28, SLOTS)
    o('ldi r24, 255'); o(f'std Y+{OK}, r24'); o(f'ldi r24, {64 // BATCH}'); o(f'std Y+{BATCHES}, r24')
    print('1:'); add(28, -SLOTS)
    constant(T, pow(K, -1, Q)); store(T, P, SCALAR)
    o(f'ldi r{COUNT}, {BATCH}'); print('2:'); split(); o(f'dec r{COUNT}'); o('breq 3f'); o('rjmp 2b'); print('3:')
    exponentiate()
    o('sbiw r30, 4'); o(f'ldi r{COUNT}, {BATCH}'); print('4:')
    root(W); negate_w(); o('rcall .Lctru_light_lift'); o('sbiw r26, 8'); o('sbiw r30, 2'); root(W); o('rcall .Lctru_light_lift')
    o('sbiw r26, 8'); join()
    o('sbiw r30, 4'); o(f'dec r{COUNT}'); o('breq 5f'); o('rjmp 4b'); print('5:')
    add(26, 16*BATCH); add(30, 4*BATCH + 4); add(28, SLOTS)
    o(f'ldd r24, Y+{BATCHES}'); o('dec r24'); o(f'std Y+{BATCHES}, r24'); o('breq 7f'); o('rjmp 1b'); print('7:')
    o(f'ldd r24, Y+{OK}'); com('the frame is secret'); add(28, -SLOTS); o('movw r26, r28'); o(f'ldi r{COUNT}, {FRAME}')
    print('8:'); o(f'st X+, r{ZERO}'); o(f'dec r{COUNT}'); o('brne 8b')
    frame(1)
    for r in reversed(SAVED): o(f'pop r{r}')
    o('clr r1'); o('ret')
    norms(); lift(); times()
    print(f'    .size {NAME}, .-{NAME}')

def roots():
    """for each block w / K, and 1 / (K w) for the join"""
    print('\n    .section .progmem.data.ctru_light_roots, "a", @progbits\nctru_light_roots:')
    for i in range(64):
        z = (1 if i % 2 == 0 else -1)*ROOT[32 + i//2] % Q
        w = next(w for w in range(Q) if w*w % Q == z)
        o(f'.word {w*pow(K, -1, Q) % Q}, {pow(K*w, -1, Q)}')

print('    ; generated by inverse.py; do not edit.  Interface and figures: README.md')
routine(); roots()
