#!/usr/bin/env python3
"""Generates x25519.S: constant-time X25519 for AVRe+ (ATmega1284P, ATmega2560), avr-gcc ABI.

Field elements are 32 little-endian bytes, any value below 2^256, understood
modulo p = 2^255-19 (2^256 = 38).  Every routine accepts any such value and
returns one, so nothing ever needs a second carry pass:  the top part of a
result is estimated FIRST, its bits >= 2^255 are folded back as 19*q into the
start of the carry chain, and the bound given at each routine shows that the
chain cannot run out of byte 31.

No branch, no skip and no flash address depends on secret data; loop counters
are public.  SRAM addresses do not depend on secrets either.
"""
import sys
o = []
def e(s): o.append(" " + s)
def lab(s): o.append(s + ":")
def cm(s): o.append("; " + s)
def fn(name, glob=False):
    o.append("")
    if glob: o.append(f".global {name}")
    o.append(f".type {name},@function"); o.append(name + ":")
def R(n): return f"r{n}"

# ---------------------------------------------------------------- frame
# Offsets in the frame of x25519; the frame starts at SP+1.
T, M, DA, DB = 0, 64, 96, 112            # scratch of fe_mul / fe_sqr
X1, X2, Z2, X3, Z3, T1, T2 = [128 + 32*i for i in range(7)]
K = 128 + 32*7                           # clamped scalar
CUR, BITS, IDX, PREV, CNT, OUT, BASE = K+32, K+33, K+34, K+35, K+36, K+37, K+39
FRAME = K + 40
def ptr(reg, off, pushed=None):
    """reg:reg+1 = frame + off.  In a called routine the return address (X25519_PC bytes, a symbol of
    the includer) and `pushed` bytes lie on the stack below the frame."""
    e(f"in r{reg},0x3d"); e(f"in r{reg+1},0x3e")
    if pushed is None:
        addp(reg, off + 1)
    else:
        d = f"-({off + 1 + pushed}+X25519_PC)"
        e(f"subi r{reg},lo8({d})"); e(f"sbci r{reg+1},hi8({d})")
def ptrs(x, y, z):
    """X, Y, Z = frame + x, y, z (None: leave)"""
    e("in r30,0x3d"); e("in r31,0x3e"); e("movw r26,r30")
    if y is not None: e("movw r28,r30")
    for r, off in ((26, x), (28, y), (30, z)):
        if off is not None:
            d = (-(off + 1)) & 0xffff
            e(f"subi r{r},{d & 255}"); e(f"sbci r{r+1},{d >> 8}")
def addp(reg, d):
    d = (-d) & 0xffff
    e(f"subi r{reg},{d & 255}"); e(f"sbci r{reg+1},{d >> 8}")

# ---------------------------------------------------------------- chains
def chain(dst, src, first="add"):
    op = first
    for d, s in zip(dst, src):
        e(f"{op} r{d},r{s}")
        op = {"add": "adc", "sub": "sbc"}.get(op, op)

# ---------------------------------------------------------------- 16x16
B = list(range(2, 10))                   # second operand, 8 bytes
RING = [10, 11, 12, 13, 14, 15, 16, 17, 18]   # rolling accumulator, 9 bytes
AR = 19                                  # current byte of the first operand
TT = [20, 21, 22, 23, 24, 25]            # three waiting products

def row(base, fresh):
    """acc[0..8] += AR * B.  acc[j] = RING[(base+j)%9]; acc[8] is a new byte.
    8 bytes + 1x8 bytes never exceeds 9 bytes.  Even products are contiguous
    4x2 bytes, odd products likewise one byte higher."""
    c = [RING[(base+j) % 9] for j in range(9)]
    if fresh:
        for j in range(0, 8, 2):
            e(f"mul r{AR},r{B[j]}"); e(f"movw r{c[j]},r0")
    else:
        for j in range(0, 6, 2):
            e(f"mul r{AR},r{B[j]}"); e(f"movw r{TT[j]},r0")
        e(f"mul r{AR},r{B[6]}")
        chain(c[0:8], TT + [0, 1])
        e(f"clr r{c[8]}"); e(f"rol r{c[8]}")
    for j in range(1, 7, 2):
        e(f"mul r{AR},r{B[j]}"); e(f"movw r{TT[j-1]},r0")
    e(f"mul r{AR},r{B[7]}")
    if fresh: e(f"clr r{c[8]}")
    chain(c[1:9], TT + [0, 1])
    return c[0]

def mul16():
    fn("x25519_mul16")
    cm("32-byte product of two 16-byte numbers: X = a, Y = b, Z = out (no overlap), but the")
    cm("caller must add r19 (signed, -1..2) to out[24..31]; nothing carries out of out[31].")
    cm("Keeps Y and Z, clobbers r0-r27.  One Karatsuba level over 8x8 bytes:")
    cm("  S = L1+H0, V = S+L0, U = S+H1; middle = V|U -+ |aH-aL||bH-bL|.")
    cm("r2-r9 b, r10-r18 rolling accumulator, r19 byte of a, r20-r25 products.")
    for k in range(8): e(f"ldd r{B[k]},Y+{k}")
    cm("entry with b[0..7] already in r2-r9")
    lab("x25519_mul16_b")
    for i in range(8):
        e(f"ld r{AR},X+"); c = row(i, i == 0); e(f"std Z+{i},r{c}")
    cm("H + L1: the accumulator simply goes on; low half is S, high half H1'")
    for k in range(8): e(f"ldd r{B[k]},Y+{8+k}")
    for i in range(8):
        e(f"ld r{AR},X+"); c = row(8+i, False); e(f"std Z+{16+i},r{c}")
    h = [RING[(16+k) % 9] for k in range(8)]
    free = RING[(16+8) % 9]
    assert free == RING[6]
    for k in range(8): e(f"std Z+{24+k},r{h[k]}")
    v = TT + [free, AR]
    cm("V in r20-r25, r16, r19")
    for k in range(8): e(f"ldd r{v[k]},Z+{k}")
    for k in range(8):
        e(f"ldd r0,Z+{16+k}"); e(f"{'add' if k == 0 else 'adc'} r{v[k]},r0")
    e("clr r1"); e("rol r1"); e("push r1")
    cm("|aL-aH| to the stack (byte 0 to r1), mask to r27")
    d = h
    e("sbiw r26,16")
    for k in range(8): e(f"ld r{d[k]},X+")
    for k in range(8):
        e("ld r0,X+"); e(f"{'sub' if k == 0 else 'sbc'} r{d[k]},r0")
    e("sbc r27,r27")
    for k in range(8): e(f"eor r{d[k]},r27")
    for k in range(8): e(f"{'sub' if k == 0 else 'sbc'} r{d[k]},r27")
    for k in reversed(range(1, 8)): e(f"push r{d[k]}")
    e(f"mov r1,r{d[0]}")
    assert d[0] == RING[7] and v[:6] == TT and v[6] == RING[6] and v[7] == AR
    cm("|bH-bL| in r2-r9; r26 = 0xff if the middle product is subtracted")
    for k in range(8):
        e(f"ldd r0,Y+{k}"); e(f"{'sub' if k == 0 else 'sbc'} r{B[k]},r0")
    e("sbc r26,r26")
    for k in range(8): e(f"eor r{B[k]},r26")
    for k in range(8): e(f"{'sub' if k == 0 else 'sbc'} r{B[k]},r26")
    e("eor r26,r27")
    cm("P - M = ~(~P + M): complement, accumulate, complement")
    for k in (0, 2, 4): e(f"movw r{RING[k]},r{v[k]}")
    e(f"mov r{RING[7]},r{v[7]}")
    for k in range(8): e(f"eor r{RING[k]},r26")
    for i in range(8):
        e(f"pop r{AR}" if i else f"mov r{AR},r1"); c = row(i, False)
        e(f"eor r{c},r26"); e(f"std Z+{8+i},r{c}")
    hi = [RING[(8+k) % 9] for k in range(8)]
    cm("U = S + H1' + carry of V in r2-r9, its carry in r19")
    for k in range(8): e(f"ldd r{B[k]},Z+{24+k}")
    e(f"pop r{AR}"); e(f"lsr r{AR}")
    for k in range(8): e(f"ldd r0,Z+{16+k}"); e(f"adc r{B[k]},r0")
    e(f"rol r{AR}")
    for k in range(8): e(f"eor r{B[k]},r26"); e(f"{'adc' if k else 'add'} r{hi[k]},r{B[k]}")
    cm("r19 = byte 16 of (V|U) -+ M, -1..2, still to be added (signed) to out[24..31]")
    e("clr r1"); e("rol r1")
    e(f"eor r{AR},r26"); e(f"add r{AR},r1"); e(f"eor r{AR},r26")
    for k in range(8):
        e(f"eor r{hi[k]},r26"); e(f"std Z+{16+k},r{hi[k]}")
    e("ret")

# ---------------------------------------------------------------- sqr 8 / 16
SA = list(range(2, 10))
SC = [25] + list(range(10, 24)) + [24]   # c0..c15; (c1,c2),(c3,c4).. are pairs
ST = [26, 27, 28, 29]

def sqr8():
    fn("x25519_sqr8")
    cm("c0..c15 = a^2, a in r2-r9 (destroyed).  Uses all but Z.")
    a, c, t = SA, SC, ST
    z = c[0]
    e(f"clr r{z}"); e(f"clr r{c[15]}")
    for k in (9, 11, 13): e(f"movw r{c[k]},r24")
    def prods(i, js):
        """leave products a_i*a_j (contiguous) as a list of byte registers"""
        r = []
        for n, j in enumerate(js):
            e(f"mul r{a[i]},r{a[j]}")
            if n < len(js)-1:
                e(f"movw r{t[2*n]},r0"); r += [t[2*n], t[2*n+1]]
        return r + [0, 1]
    for n, j in enumerate((1, 3, 5, 7)):
        e(f"mul r{a[0]},r{a[j]}"); e(f"movw r{c[j]},r0")
    p = prods(0, (2, 4, 6)); chain(c[2:8], p); e(f"adc r{c[8]},r{z}")
    for i in range(1, 7):
        # near chain starts at column 2i+1, far chain one higher; new top i+8
        near = list(range(i+1, 8, 2)); far = list(range(i+2, 8, 2))
        top = i + 8
        # the chain which contains a_i*a_7 ends in the new top byte
        withtop, other = (near, far) if near[-1] == 7 else (far, near)
        # first the other chain (carry makes the new top), then withtop adds into it
        if other:
            s = i + other[0]; p = prods(i, other); chain(c[s:s+len(p)], p)
            # carry goes to column s+len(p) == top
            assert s + len(p) == top, (i, s, len(p))
            e(f"adc r{c[top]},r{z}")
        s = i + withtop[0]; p = prods(i, withtop); assert s + len(p) == top + 1
        chain(c[s:s+len(p)], p)
    e(f"lsl r{c[1]}")
    for k in range(2, 16): e(f"rol r{c[k]}")
    def sq(i, d):
        e(f"mul r{a[i]},r{a[i]}")
        if d is not None: e(f"movw r{d},r0")
    sq(0, t[0]); sq(1, a[0]); sq(2, t[2]); sq(3, None)
    e(f"mov r{c[0]},r{t[0]}")
    chain(c[1:8], [t[1], a[0], a[1], t[2], t[3], 0, 1])
    e(f"clr r{a[2]}"); e(f"rol r{a[2]}")
    sq(4, t[0]); sq(5, a[4]); sq(6, t[2]); sq(7, None)
    e(f"lsr r{a[2]}")
    chain(c[8:16], [t[0], t[1], a[4], a[5], t[2], t[3], 0, 1], "adc")
    e("ret")

def sqr16():
    fn("x25519_sqr16")
    cm("32-byte square of 16 bytes: X = a, Z = out (no overlap).  Keeps Z, clobbers r0-r29.")
    cm("r2-r9 operand, r25 r10-r23 r24 = c0..c15, r26-r29 waiting products.")
    a, c = SA, SC
    e("push r27"); e("push r26")
    for k in range(8): e(f"ld r{a[k]},X+")
    for k in range(8):
        e("ld r0,X+"); e(f"{'sub' if k == 0 else 'sbc'} r{a[k]},r0")
    e("rjmp 1f")
    cm("entry with the operand at X and also in r2-r17")
    lab("x25519_sqr16_r"); e("push r27"); e("push r26")
    chain(a, range(10, 18), "sub")
    lab("1"); e("sbc r0,r0")
    for k in range(8): e(f"eor r{a[k]},r0")
    for k in range(8): e(f"{'sub' if k == 0 else 'sbc'} r{a[k]},r0")
    cm("M = (aL-aH)^2, parked in out[16..31]")
    e("rcall x25519_sqr8")
    for k in range(16): e(f"std Z+{16+k},r{c[k]}")
    e("pop r26"); e("pop r27")
    for k in range(8): e(f"ld r{a[k]},X+")
    e("push r27"); e("push r26")
    cm("L")
    e("rcall x25519_sqr8")
    for k in range(16): e(f"std Z+{k},r{c[k]}")
    e("pop r26"); e("pop r27")
    for k in range(8): e(f"ld r{a[k]},X+")
    cm("H stays in registers")
    e("rcall x25519_sqr8")
    e("clr r26")
    for k in range(8):
        e(f"ldd r0,Z+{8+k}"); e(f"{'add' if k == 0 else 'adc'} r{c[k]},r0")
    for k in range(8, 16): e(f"adc r{c[k]},r26")
    for k in range(8):
        e(f"ldd r{a[k]},Z+{k}"); e(f"{'add' if k == 0 else 'adc'} r{a[k]},r{c[k]}")
    for k in range(8): e(f"adc r{c[k]},r{c[8+k]}")
    for k in range(8, 16): e(f"adc r{c[k]},r26")
    for k in range(8):
        e(f"ldd r0,Z+{16+k}"); e(f"{'sub' if k == 0 else 'sbc'} r{a[k]},r0")
    for k in range(8):
        e(f"ldd r0,Z+{24+k}"); e(f"sbc r{c[k]},r0")
    for k in range(8, 16): e(f"sbc r{c[k]},r26")
    for k in range(8): e(f"std Z+{8+k},r{a[k]}")
    for k in range(16): e(f"std Z+{16+k},r{c[k]}")
    e("ret")

# ---------------------------------------------------------------- 32x32 mod p
def combine_reduce(signed):
    cm("Y = T with L at 0 and H at 32, Z = M.  S = L1+H0 mod 2^128, V = S+L0 -+ M0,")
    cm("U = S+H1 -+ M1 + carry; product = L0 | V | U | H1 and the carries: cs of S at")
    cm("columns 32 and 48, the others at column 48 (0..3 in total, never negative).")
    cm("By 2^256 = 38 they enter the reduction at columns 0 and 16.")
    cm("r2-r17 S then U, r18-r25 V batch, r27 carry of the sum, r1 carry of the M chain" + (", r26 mask." if signed else "."))
    S = list(range(2, 18)); v = list(range(18, 26))
    for k in range(16): e(f"ldd r{S[k]},Y+{16+k}")
    for k in range(16):
        e(f"ldd r0,Y+{32+k}"); e(f"{'adc' if k else 'add'} r{S[k]},r0")
    e("clr r0"); e("rol r0")
    if signed:
        cm("r18: what mul16 left to be added to L1[8..15]")
        e("mov r19,r18"); e("lsl r19"); e("sbc r19,r19")
        chain(S[8:16], [18] + [19]*7); e("adc r0,r19")
    e("push r0")
    if signed: e("mov r1,r26")               # bit 0 is the +1 of the complement
    for b in range(2):
        for k in range(8): e(f"ldd r{v[k]},Y+{8*b+k}")
        if b: e("lsr r27")
        chain(v, S[8*b:8*b+8], "adc" if b else "add")
        e("clr r27"); e("rol r27")
        if b or signed: e("lsr r1")
        for k in range(8):
            e(f"ldd r0,Z+{8*b+k}")
            if signed: e("eor r0,r26")
            e(f"{'adc' if signed else 'sbc' if b or k else 'sub'} r{v[k]},r0")
        e("clr r1"); e("rol r1")
        for k in range(8): e(f"std Y+{16+8*b+k},r{v[k]}")
    cm("U over S")
    e("lsr r27")
    for k in range(16): e(f"ldd r0,Y+{48+k}"); e(f"adc r{S[k]},r0")
    e("clr r27"); e("rol r27"); e("lsr r1")
    for k in range(16):
        e(f"ldd r0,Z+{16+k}")
        if signed: e("eor r0,r26")
        e(f"{'adc' if signed else 'sbc'} r{S[k]},r0")
    e("clr r1"); e("rol r1")
    e("pop r0"); e("add r27,r0")
    if signed:
        cm("what mul16 left to be added to M1[8..15], with the sign of M")
        e("pop r19"); e("eor r19,r26"); e("sub r19,r26"); e("mov r18,r19"); e("lsl r18"); e("sbc r18,r18")
        chain(S[8:16], [19] + [18]*7); e("adc r1,r18")
    if signed: e("add r27,r1"); e("add r27,r26")
    else: e("sub r27,r1")
    if not signed: e("rjmp x25519_reduce"); return
    cm("reduction: r24 = 38, r25 = 0, Z = destination, r23 = 38*(carry into column 48), r20 = 38*cs")
    lab("x25519_reduce")
    e("ldi r24,38"); e("clr r25")
    e("mul r0,r24"); e("mov r20,r0"); e("mul r27,r24"); e("mov r23,r0")
    e("pop r30"); e("pop r31"); e("push r23")
    cm("t = V[15] + 38*H1[15]; top = t mod 128 (pushed), q = t >> 7 <= 77, r26:r27 = 19*q + 38*cs.")
    cm("The rest is < 39*2^248 + small, so the chain ends below (127+40)*2^248.")
    e("ldd r18,Y+63"); e("mul r18,r24"); e("ldd r18,Y+31"); e("add r0,r18")
    e("adc r1,r25"); e("lsl r0"); e("rol r1"); e("lsr r0"); e("push r0")
    e("ldi r18,19"); e("mul r1,r18"); e("add r0,r20"); e("adc r1,r25"); e("movw r26,r0")
    cm("L0 + 38*U, four bytes at a time: r18-r21, product r22 r23, carry byte r26")
    l = [18, 19, 20, 21]
    for b in range(4):
        u = S[4*b:4*b+4]
        for k in range(4): e(f"ldd r{l[k]},Y+{4*b+k}")
        e(f"mul r{u[0]},r24"); e("add r0,r26"); e("adc r1,r27" if b == 0 else "adc r1,r25"); e("movw r22,r0")
        e(f"mul r{u[2]},r24"); chain(l, [22, 23, 0, 1]); e("clr r26"); e("rol r26")
        e(f"mul r{u[1]},r24"); e("movw r22,r0"); e(f"mul r{u[3]},r24")
        chain(l[1:] + [26], [22, 23, 0, 1])
        for k in range(4): e(f"std Z+{4*b+k},r{l[k]}")
    cm("V + 38*H1, eight and seven bytes")
    e("pop r17"); e("pop r16")
    l = list(range(2, 10)); t = list(range(10, 16))
    for b in (2, 3):
        n = 8 if b < 3 else 7
        for k in range(n): e(f"ldd r{l[k]},Y+{8*b+k}")
        if n == 7: e(f"mov r{l[7]},r17")
        def prod(k, d):
            e(f"ldd r18,Y+{32+8*b+k}"); e("mul r18,r24")
            if k == 0:
                if b == 2: e("add r0,r16"); e("adc r1,r25")
                e("add r0,r26"); e("adc r1,r25")
            if d is not None: e(f"movw r{d},r0")
        prod(0, t[0]); prod(2, t[2]); prod(4, t[4]); prod(6, None)
        chain(l, t + [0, 1])
        if n == 8: e("clr r26"); e("rol r26")
        prod(1, t[0]); prod(3, t[2])
        if n == 8:
            prod(5, t[4]); prod(7, None)
            chain(l[1:] + [26], t + [0, 1])
        else:
            prod(5, None); chain(l[1:7], t[:4] + [0, 1]); e(f"adc r{l[7]},r25")
        for k in range(8): e(f"std Z+{8*b+k},r{l[k]}")
    e("ret")

def absdiff():
    fn("x25519_absdiff")
    cm("r2-r17 and Z[0..15] = |Y[0..15] - Y[16..31]|, r19 = 0xff where the difference is negative, else 0.  Keeps r18, r20-r31.")
    v = list(range(2, 18))
    for k in range(16): e(f"ldd r{v[k]},Y+{k}")
    for k in range(16):
        e(f"ldd r0,Y+{16+k}"); e(f"{'sbc' if k else 'sub'} r{v[k]},r0")
    e("sbc r19,r19")
    for k in range(16): e(f"eor r{v[k]},r19")
    for k in range(16):
        e(f"{'sbc' if k else 'sub'} r{v[k]},r19"); e(f"std Z+{k},r{v[k]}")
    e("ret")

def fe_mul():
    fn("x25519_fe_mul")
    cm("Z[0..31] = X * Y mod p (any overlap).  Scratch: the caller's frame.  Clobbers all.")
    e("push r31"); e("push r30"); e("push r27"); e("push r26")
    ptr(30, T, 4)
    e("rcall x25519_mul16")
    e("pop r26"); e("pop r27"); e("push r19"); e("push r27"); e("push r26")
    e("adiw r26,16"); e("adiw r28,16"); e("adiw r30,32")
    e("rcall x25519_mul16")
    cm("finish H")
    e("mov r1,r19"); e("lsl r1"); e("sbc r1,r1")
    for k in range(8):
        e(f"ldd r0,Z+{24+k}"); e(f"{'adc' if k else 'add'} r0,r{1 if k else 19}"); e(f"std Z+{24+k},r0")
    cm("|aL-aH| and |bL-bH|, the latter also stays in r2-r17; Z = M")
    e("movw r24,r28"); e("sbiw r24,16"); addp(30, 64)
    e("pop r28"); e("pop r29")
    e("rcall x25519_absdiff"); e("mov r18,r19")
    e("movw r28,r24"); e("movw r26,r30"); e("adiw r30,16")
    e("rcall x25519_absdiff")
    e("eor r18,r19"); e("com r18"); e("push r18")
    e("movw r28,r30"); e("sbiw r30,48")
    e("rcall x25519_mul16_b")
    e("pop r26"); e("pop r18"); e("push r19"); e("movw r28,r30"); addp(28, -64)
    combine_reduce(True)

def fe_sqr():
    fn("x25519_fe_sqr")
    cm("Z[0..31] = X * X mod p (any overlap).  Scratch: the caller's frame.  Clobbers all.")
    e("push r31"); e("push r30"); e("push r27"); e("push r26")
    ptr(30, T, 4)
    e("rcall x25519_sqr16")
    e("pop r26"); e("pop r27"); e("push r27"); e("push r26")
    e("adiw r26,16"); e("adiw r30,32")
    e("rcall x25519_sqr16")
    e("pop r28"); e("pop r29"); addp(30, 64)
    e("rcall x25519_absdiff")
    e("movw r26,r30"); e("sbiw r30,32")
    e("rcall x25519_sqr16_r")
    e("movw r28,r30"); addp(28, -64)
    combine_reduce(False)

# ---------------------------------------------------------------- add, sub
def addsub():
    fn("x25519_fe_addsub")
    cm("Y, Z = Y+Z, Y-Z in place.  Clobbers all but X.")
    cm("r2-r8 a and a-b, r9-r15 b, r16-r22 a+b; r23 r24 sum and fold carry of a+b,")
    cm("r25 r26 those of a-b, r27 sign of the fold of a-b, r1 = 0.")
    a = list(range(2, 9)); b = list(range(9, 16)); s = list(range(16, 23))
    e("ldd r2,Y+31"); e("ldd r3,Z+31"); e("clr r1")
    cm("sum: t = a31+b31, q = t>>7 <= 3, fold 19*q, top t mod 128")
    e("mov r16,r2"); e("clr r17"); e("add r16,r3"); e("rol r17")
    e("mov r24,r16"); e("lsl r24"); e("rol r17"); e("lsr r24"); e("std Y+31,r24")
    e("ldi r18,19"); e("mul r17,r18"); e("mov r24,r0")
    sub_top(2, 3)
    e("mov r26,r0")
    def bytes_(n, first):
        for k in range(n):
            e(f"ldd r{a[k]},Y+{k}"); e(f"ldd r{b[k]},Z+{k}"); e(f"mov r{s[k]},r{a[k]}")
        if not first: e("lsr r23")
        chain(s[:n], b[:n], "add" if first else "adc")
        e("clr r23"); e("rol r23")
        if first:
            e(f"add r{s[0]},r24"); rest = s[1:n]
        else:
            e("lsr r24"); rest = s[:n]
        for r in rest: e(f"adc r{r},r1")
        e("clr r24"); e("rol r24")
        for k in range(n): e(f"st Y+,r{s[k]}")
        if not first: e("lsr r25")
        chain(a[:n], b[:n], "sub" if first else "sbc")
        e("clr r25"); e("rol r25")
        if first:
            e(f"add r{a[0]},r26"); rest = a[1:n]
        else:
            e("lsr r26"); rest = a[:n]
        for r in rest: e(f"adc r{r},r27")
        e("clr r26"); e("rol r26")
        for k in range(n): e(f"st Z+,r{a[k]}")
    bytes_(7, True)
    e(f"ldi r{s[6]},4"); lab("1"); bytes_(6, False); e(f"dec r{s[6]}"); e("breq 2f"); e("rjmp 1b"); lab("2")
    e("ld r2,Y"); e("add r2,r23"); e("add r2,r24"); e("st Y,r2")
    e("ld r2,Z"); e("sub r2,r25"); e("add r2,r26"); e("add r2,r27"); e("st Z,r2")
    e("ret")

def sub_top(ra, rb):
    """a-b: t = a31 + (255-b31) + 255 = 255..765, q = t>>7 = 1..5, r0 = 19*q-76 with sign
    in r27, Z+31 = t mod 128 + 2.  (2^257 - 76 was added; 2 units pay for the borrow
    of the low 31 bytes and for the negative fold, so the result is 0..131*2^248.)"""
    cm("difference: t = a31-b31+510, q = t>>7 = 1..5, fold 19*q-76 (signed), top t mod 128 + 2")
    e(f"com r{rb}"); e("clr r17"); e(f"add r{ra},r{rb}"); e("rol r17")
    e("ldi r18,255"); e(f"add r{ra},r18"); e("adc r17,r1") 
    e(f"lsl r{ra}"); e("rol r17"); e(f"lsr r{ra}"); e(f"ldi r18,2"); e(f"add r{ra},r18"); e(f"std Z+31,r{ra}")
    e("ldi r18,19"); e("mul r17,r18"); e("mov r18,r0"); e("subi r18,76"); e("sbc r27,r27"); e("mov r0,r18"); e("clr r1")

def fe_sub():
    fn("x25519_fe_sub")
    cm("X[0..31] = Y - Z (X distinct).  Z[31] is used as scratch and restored.  Same bounds as addsub.")
    a = list(range(2, 10))
    e("ldd r2,Y+31"); e("ldd r3,Z+31"); e("clr r1"); e("push r3")
    e("push r27")
    sub_top(2, 3)
    e("mov r24,r27"); e("pop r27"); e("mov r25,r0")
    def bytes_(n, first):
        for k in range(n): e(f"ld r{a[k]},Y+")
        if not first: e("lsr r22")
        for k in range(n): e("ld r0,Z+"); e(f"{'sub' if first and k == 0 else 'sbc'} r{a[k]},r0")
        e("clr r22"); e("rol r22")
        if first: e(f"add r{a[0]},r25"); rest = a[1:n]
        else: e("lsr r23"); rest = a[:n]
        for r in rest: e(f"adc r{r},r24")
        e("clr r23"); e("rol r23")
        for k in range(n): e(f"st X+,r{a[k]}")
    bytes_(7, True)
    e("ldi r20,3"); lab("1"); bytes_(8, False); e("dec r20"); e("brne 1b")
    e("ld r2,Z"); e("sub r2,r22"); e("add r2,r23"); e("add r2,r24"); e("st X,r2")
    e("pop r3"); e("st Z,r3"); e("ret")

def fe_a24():
    fn("x25519_fe_a24add")
    cm("X[0..31] = Y + 121665*Z.  121665 = 0x1db41.  Clobbers r0-r25, Y, Z.")
    cm("r2-r7 t = (Y + 121665*Z)[29..31], 41 bits; q = t>>23 < 2^18; fold 19*q < 2^23;")
    cm("the lower 29 bytes give < 121667*2^232 < 2^249: no overflow.")
    e("clr r20"); e("ldi r18,0x41"); e("ldi r19,0xdb")
    p = list(range(2, 8))
    for k in range(3): e(f"ldd r{p[k]},Y+{29+k}")
    for k in range(3): e(f"ldd r{8+k},Z+{29+k}")
    for k in range(3, 6): e(f"clr r{p[k]}")
    chain(p[2:5], [8, 9, 10]); e(f"adc r{p[5]},r20")
    for k in range(3):
        for j, c in ((0, 18), (1, 19)):
            e(f"mul r{8+k},r{c}"); e(f"add r{p[k+j]},r0"); e(f"adc r{p[k+j+1]},r1")
            for m in range(k+j+2, 6): e(f"adc r{p[m]},r20")
    e("mov r21,r4"); e("lsl r21"); e("rol r5"); e("rol r6"); e("rol r7")
    e("ldi r21,0x7f"); e("and r4,r21")
    e("ldi r21,19"); e("mul r5,r21"); e("movw r10,r0"); e("clr r12")
    e("mul r6,r21"); e("add r11,r0"); e("adc r12,r1"); e("mul r7,r21"); e("add r12,r0")
    cm("r10-r13 rotating accumulator")
    acc = [10, 11, 12, 13]
    def byte():
        nonlocal acc
        e("ld r8,Z+"); e("ld r9,Y+"); e(f"clr r{acc[3]}")
        e("mul r8,r18"); chain(acc[:4], [0, 1, 8, 20])
        e("mul r8,r19"); chain(acc[:4], [9, 0, 1, 20])
        e(f"st X+,r{acc[0]}"); acc = acc[1:] + acc[:1]
    e("ldi r21,7"); lab("1")
    for _ in range(4): byte()
    e("dec r21"); e("brne 1b"); byte()
    chain(p[:3], acc[:3])
    for k in range(3): e(f"st X+,r{p[k]}")
    e("ret")

def fe_mul9():
    fn("x25519_fe_mul9")
    cm("Y = 9*Y in place.  t = 9*Y[31], q = t>>7 <= 17, fold 19*q <= 323; the rest is")
    cm("< 9*2^248, so the result is < 137*2^248.  Clobbers r0-r15, r18-r23, Y.")
    l = list(range(2, 11)); t = list(range(12, 16))
    e("ldi r18,9"); e("clr r19")
    e("ldd r20,Y+31"); e("mul r20,r18"); e("lsl r0"); e("rol r1"); e("lsr r0"); e("mov r22,r0")
    e("ldi r20,19"); e("mul r1,r20"); e("movw r20,r0")
    def bytes_(n):
        c = l[:n+1]                      # c[n] is the byte carried on
        for k in range(0, n - n % 2, 2):
            e(f"ldd r0,Y+{k}"); e("mul r0,r18")
            if k == 0: e("add r0,r20"); e("adc r1,r21")
            e(f"movw r{c[k]},r0")
        if n == 7:
            e("ldd r0,Y+6"); e("mul r0,r18"); e(f"movw r{c[6]},r0")
        p = []
        odd = list(range(1, n, 2))
        for i, k in enumerate(odd):
            e(f"ldd r0,Y+{k}"); e("mul r0,r18")
            if i < len(odd) - 1: e(f"movw r{t[2*i]},r0"); p += [t[2*i], t[2*i+1]]
        p += [0, 1]
        if n == 6:
            e("clr r20"); chain(c[1:6] + [20], p); e("clr r21")
        else:
            chain(c[1:7], p); e(f"adc r{l[7]},r19"); e(f"add r{l[7]},r22")
        for k in range(n): e(f"st Y+,r{c[k]}")
        if n == 7: e(f"st Y,r{l[7]}")
    e("ldi r23,4"); lab("1"); bytes_(6); e("dec r23"); e("brne 1b")
    bytes_(7)
    e("ret")

# ---------------------------------------------------------------- ladder
def X25519():
    e(".if X25519_COMB")
    fn("x25519_comb_avr", True)
    cm("void x25519_comb_avr(uint8_t out[32], const uint8_t scalar[32], const uint8_t table[1600]): the base")
    cm("point, by the table in the low 64 KB of flash.  T tells the comb (public) from the ladder.")
    e("set"); e("rjmp x25519_start")
    e(".else")
    fn("x25519_base_avr", True)
    cm("void x25519_base_avr(uint8_t out[32], const uint8_t scalar[32]): the point u = 9")
    e("clr r20"); e("clr r21")
    e(".endif")
    fn("x25519_avr", True)
    cm("void x25519_avr(uint8_t out[32], const uint8_t scalar[32], const uint8_t point[32])")
    cm("Without the comb a null point means u = 9 (public: it selects the cheap multiplication by 9).")
    e(".if X25519_COMB"); e("clt"); lab("x25519_start"); e(".endif")
    for r in list(range(2, 18)) + [28, 29]: e(f"push r{r}")
    e("movw r26,r22"); e("movw r30,r20"); e("movw r2,r24")
    e("in r28,0x3d"); e("in r29,0x3e"); addp(28, -FRAME)
    e("in r0,0x3f"); e("cli"); e("out 0x3e,r29"); e("out 0x3f,r0"); e("out 0x3d,r28")
    addp(28, K + 1)
    cm("scalar, clamped; bit 254 is 1 and is done by the start values, so CUR starts at bit 253")
    e("clr r1")
    e("ldi r19,32"); lab("1"); e("ld r18,X+"); e("st Y+,r18"); e("dec r19"); e("brne 1b")
    e("andi r18,0x7f"); e("ori r18,0x40"); e("sbiw r28,32"); e("std Y+31,r18")
    e("ld r18,Y"); e("andi r18,0xf8"); e("st Y,r18")
    e(f"std Y+{OUT-K},r2"); e(f"std Y+{OUT-K+1},r3")
    e(".if X25519_COMB"); e("brtc 1f"); e("jmp x25519_comb"); lab("1"); e(".endif")
    e("ldd r18,Y+31"); e("lsl r18"); e("lsl r18"); e(f"std Y+{CUR-K},r18")
    e(".if !X25519_COMB"); e("mov r18,r30"); e("or r18,r31"); e(f"std Y+{BASE-K},r18"); e(".endif")
    e("ldi r18,6"); e(f"std Y+{BITS-K},r18"); e("ldi r18,31"); e(f"std Y+{IDX-K},r18"); e(f"std Y+{PREV-K},r1")
    e("ldi r18,1"); e(f"std Y+{CNT-K},r18")
    cm("X1 = u without its top bit; point 2 is doubled and becomes point 3")
    ptr(26, X1)
    e(".if !X25519_COMB")
    e("mov r18,r30"); e("or r18,r31"); e("brne 2f")
    e("ldi r18,9"); e("st X+,r18"); e("ldi r19,31"); lab("1"); e("st X+,r1"); e("dec r19"); e("brne 1b"); e("rjmp 3f")
    e(".endif")
    lab("2"); e("ldi r19,32"); lab("1"); e("ld r18,Z+"); e("st X+,r18"); e("dec r19"); e("brne 1b")
    e("andi r18,0x7f"); e("sbiw r26,1"); e("st X+,r18")
    lab("3")
    lab("x25519_point_2")
    cm("X2 = X1, Z2 = 1, for the doubling and for the steps")
    ptr(28, X1); ptr(26, X2); e("call x25519_copy")
    e("ldi r18,1"); e("ldi r19,32"); lab("1"); e("st X+,r18"); e("clr r18"); e("dec r19"); e("brne 1b")
    ptr(28, K); e(f"ldd r18,Y+{CNT-K}"); e("tst r18"); e("breq x25519_step"); e("jmp x25519_dbl")
    def addsub(a, b): ptr(28, a); ptr(30, b); e("call x25519_fe_addsub")
    def mul(d, a, b): ptrs(a, b, d); e("call x25519_fe_mul")
    def sqr(d, a): ptrs(a, None, d); e("call x25519_fe_sqr")
    lab("x25519_step")
    e("clt")
    ptr(26, K); e("movw r28,r26")
    e(f"ldd r18,Y+{CUR-K}"); e("lsl r18"); e(f"std Y+{CUR-K},r18")
    e("sbc r19,r19"); e(f"ldd r18,Y+{PREV-K}"); e(f"std Y+{PREV-K},r19"); e("eor r18,r19")
    e(f"std Y+{CNT-K},r18")
    addsub(X2, Z2); addsub(X3, Z3)
    cm("DA and CB only trade places when the points are swapped, and (DA-CB)^2 does not")
    cm("see it: so only the operands of the doubling are chosen, T1|T2 = A|B or C|D")
    ptr(28, K); e(f"ldd r18,Y+{CNT-K}"); ptr(26, X2); ptr(28, X3); ptr(30, T1); e("ldi r19,16"); lab("1")
    for k in range(4):
        e("ld r20,X+"); e("ld r21,Y+"); e("eor r21,r20"); e("and r21,r18"); e("eor r20,r21"); e("st Z+,r20")
    e("dec r19"); e("brne 1b")
    mul(Z3, Z3, X2); mul(X3, X3, Z2)
    addsub(X3, Z3); sqr(X3, X3); sqr(Z3, Z3)
    e(".if X25519_COMB")
    mul(Z3, Z3, X1)
    e(".else")
    ptr(28, K); e(f"ldd r18,Y+{BASE-K}"); e("tst r18"); e("breq 1f")
    mul(Z3, Z3, X1); e("rjmp 2f")
    lab("1"); ptr(28, Z3); e("call x25519_fe_mul9"); lab("2")
    e(".endif")
    sqr(X2, T1); sqr(Z2, T2)
    lab("x25519_dbl_tail")
    cm("X2 = AA BB, Z2 = E (AA + a24 E) with E = AA - BB; then T tells a step from a doubling (public)")
    ptrs(T1, X2, Z2); e("call x25519_fe_sub")
    ptrs(T2, X2, T1); e("call x25519_fe_a24add")
    mul(X2, X2, Z2); mul(Z2, T1, T2)
    e("brtc 1f"); e("rjmp x25519_dbl_next"); lab("1")
    cm("next bit; index and count are public")
    ptr(28, K)
    e(f"ldd r18,Y+{BITS-K}"); e("dec r18"); e(f"std Y+{BITS-K},r18"); e("breq 1f"); e("jmp x25519_step")
    lab("1"); e(f"ldd r18,Y+{IDX-K}"); e("subi r18,1"); e("brcs 2f"); e(f"std Y+{IDX-K},r18")
    cm("eight bits of a byte, but five of byte 0: the low three bits are clamped to 0")
    e("ldi r19,8"); e("tst r18"); e("brne 3f"); e("ldi r19,5"); lab("3"); e(f"std Y+{BITS-K},r19")
    e("movw r30,r28"); e("clr r1"); e("add r30,r18"); e("adc r31,r1"); e("ld r18,Z"); e(f"std Y+{CUR-K},r18")
    e("jmp x25519_step")
    lab("2"); e(f"ldd r18,Y+{PREV-K}"); ptr(28, X2); ptr(30, X3); e("ldi r19,64"); e("call x25519_cswap")
    cm("bits 2..0: only doublings of point 2 are left")
    ptr(28, K); e("ldi r18,3"); e(f"std Y+{CNT-K},r18")
    lab("x25519_dbl")
    e("set"); addsub(X2, Z2); sqr(X2, X2); sqr(Z2, Z2); e("rjmp x25519_dbl_tail")
    lab("x25519_dbl_next")
    ptr(28, K); e(f"ldd r18,Y+{CNT-K}"); e("dec r18"); e(f"std Y+{CNT-K},r18"); e("brne x25519_dbl")
    cm("index 31: before the first step")
    e(f"ldd r18,Y+{IDX-K}"); e("tst r18"); e("breq x25519_quotient")
    ptr(28, X2); ptr(26, X3); e("call x25519_copy"); e("call x25519_copy"); e("jmp x25519_point_2")
    lab("x25519_quotient")
    cm("out = X2/Z2, 0 if Z2 is")
    ptr(28, Z2); e("call x25519_freeze")
    inverse()
    mul(X2, X2, T1)
    ptr(28, X2); e("call x25519_freeze")
    ptr(28, K); e(f"ldd r26,Y+{OUT-K}"); e(f"ldd r27,Y+{OUT-K+1}")
    ptr(28, X2)
    e("call x25519_copy")
    cm("wipe the frame and the 24 bytes below it (calls went at most 18 deep), give it back")
    ptr(28, -24); e("clr r1"); e(f"ldi r26,{(FRAME + 24) & 255}"); e(f"ldi r27,{(FRAME + 24) >> 8}")
    lab("1"); e("st Y+,r1"); e("sbiw r26,1"); e("brne 1b")
    e("sbiw r28,1")
    e("in r0,0x3f"); e("cli"); e("out 0x3e,r29"); e("out 0x3f,r0"); e("out 0x3d,r28")
    for r in [29, 28] + list(range(17, 1, -1)): e(f"pop r{r}")
    e("ret")

    fn("x25519_freeze")
    cm("32 bytes at Y to 0..p-1: twice fold bit 255, then add 19 if x+19 >= 2^255 and drop bit 255")
    for _ in range(2):
        e("ldd r18,Y+31"); e("mov r19,r18"); e("andi r19,0x7f"); e("std Y+31,r19")
        e("lsl r18"); e("sbc r18,r18"); e("andi r18,19"); e("rcall x25519_addk")
    cm("the top byte of x+19")
    e("ldi r18,19"); e("ld r0,Y+"); e("add r0,r18"); e("ldi r19,31"); lab("1"); e("ld r0,Y+"); e("adc r0,r1"); e("dec r19"); e("brne 1b")
    e("lsl r0"); e("sbc r18,r18"); e("andi r18,19"); e("sbiw r28,32"); e("rcall x25519_addk")
    e("ldd r18,Y+31"); e("andi r18,0x7f"); e("std Y+31,r18"); e("ret")

    fn("x25519_addk")
    cm("32 bytes at Y += r18")
    e("clr r1"); e("ld r0,Y"); e("add r0,r18"); e("st Y+,r0"); e("ldi r19,31")
    lab("1"); e("ld r0,Y"); e("adc r0,r1"); e("st Y+,r0"); e("dec r19"); e("brne 1b"); e("sbiw r28,32"); e("ret")

    fn("x25519_copy")
    cm("32 bytes from Y to X")
    e("ldi r19,32"); lab("1"); e("ld r18,Y+"); e("st X+,r18"); e("dec r19"); e("brne 1b"); e("ret")

    fn("x25519_cswap")
    cm("swap r19 bytes at Y and Z where r18 = 0xff, not where 0")
    lab("1")
    e("ld r20,Y"); e("ld r21,Z"); e("mov r22,r20"); e("eor r22,r21"); e("and r22,r18")
    e("eor r20,r22"); e("eor r21,r22"); e("st Y+,r20"); e("st Z+,r21")
    e("dec r19"); e("brne 1b"); e("ret")

    e(".if X25519_COMB"); comb(addsub, mul, sqr); e(".endif")

# ---------------------------------------------------------------- inversion
# Bernstein and Yang's divsteps ("Fast constant-time gcd computation and modular inversion"), started with delta = 1/2, for which 590
# are enough for numbers below 2^256; here 85 times 7.  f, g, d, e: 33 bytes each, signed, little-endian, in fe_mul's scratch and
# X1, with a byte before each of them that may be written.  d Z2 = f and e Z2 = g modulo p at every time.
A, D, NEXT = 0, 68, 34                  # base of f and of d, each one byte early; from one of a pair to the other
U, V, Q, R = 16, 17, 18, 19             # -u, -v, q, r of 2^-7 (u v / q r), signed bytes
MF, MG, LEFT_B, ZETA = 11, 12, 13, 14   # multiples of p, batches left, zeta = -(delta + 1/2) in r14:r15

def inverse():
    """T1 = 1/Z2 for a canonical Z2, 0 if that is 0."""
    cm("f = p, g = Z2, d = 0, e = 1")
    ptr(30, Z2); ptr(26, A + 1)
    def fill(n): e(f"ldi r19,{n}"); lab("1"); e("st X+,r18"); e("dec r19"); e("brne 1b")
    e("ldi r18,0xed"); e("st X+,r18"); e("ldi r18,0xff"); fill(30); e("ldi r18,0x7f"); e("st X+,r18")
    e("clr r18"); e("st X+,r18"); e("st X+,r18")
    e("ldi r19,32"); lab("1"); e("ld r0,Z+"); e("st X+,r0"); e("dec r19"); e("brne 1b")
    fill(36); e("ldi r18,1"); e("st X+,r18"); e("clr r18"); fill(32)
    e(f"clr r{ZETA}"); e(f"dec r{ZETA}"); e(f"mov r{ZETA+1},r{ZETA}"); e("ldi r18,85"); e(f"mov r{LEFT_B},r18")
    lab("x25519_batch")
    ptr(28, A); divsteps(); e(f"clr r{MF}"); e(f"clr r{MG}"); e("call x25519_apply")
    cm("m p with m = row / 19 makes the row of d and e a multiple of 2^7: p = -19, 1/19 = 27 modulo 2^7")
    ptr(28, D); e("ldd r20,Y+1"); e(f"ldd r21,Y+{1+NEXT}"); e("ldi r22,27")
    for m, x, y in ((MF, U, V), (MG, Q, R)):
        e(f"mul r{x},r20"); e("mov r2,r0"); e(f"mul r{y},r21"); e("add r2,r0")
        if m == MF: e("neg r2")
        e("mul r2,r22"); e("mov r23,r0"); e("andi r23,0x7f"); e(f"mov r{m},r23")
    e("call x25519_apply")
    e(f"dec r{LEFT_B}"); e("breq 1f"); e("jmp x25519_batch"); lab("1")
    cm("d times the sign of f = +-1")
    ptr(28, A + 33); e("ld r18,Y"); ptr(28, D + 1); e("ldi r19,33"); e("clc"); lab("1")
    e("ld r0,Y"); e("eor r0,r18"); e("sbc r0,r18"); e("st Y+,r0"); e("dec r19"); e("brne 1b"); e("sbiw r28,33")
    cm("byte 32, -44..43, comes back as 38 times itself, and what that carries or borrows once more")
    e("mov r20,r0"); e("ldi r21,38"); e("clr r25"); e("ldi r24,2"); lab("2")
    e("muls r20,r21"); e("movw r22,r0"); e("mov r20,r23"); e("lsl r20"); e("sbc r20,r20")
    e("ld r0,Y"); e("add r0,r22"); e("st Y+,r0"); e("ld r0,Y"); e("adc r0,r23"); e("st Y+,r0")
    e("ldi r19,30"); lab("1"); e("ld r0,Y"); e("adc r0,r20"); e("st Y+,r0"); e("dec r19"); e("brne 1b")
    e("adc r20,r25"); e("sbiw r28,32"); e("dec r24"); e("brne 2b")
    ptr(26, T1); e("call x25519_copy")

def divsteps():
    """Seven of them on the lowest bytes of f and g: r16-r19 = the matrix."""
    f, g, c1, c2, t = 20, 21, 22, 23, 2
    e(f"ldd r{f},Y+1"); e(f"ldd r{g},Y+{1+NEXT}"); e(f"movw r24,r{ZETA}")
    e(f"ldi r{U},1"); e(f"clr r{V}"); e(f"clr r{Q}"); e(f"ldi r{R},1"); e("ldi r26,7")
    lab("1")
    cm("c1 where delta > 0, c2 where g is odd; g += c2 & (c1 ? -f : f), f += g and delta = -delta where both")
    e(f"mov r{c1},r25"); e(f"lsl r{c1}"); e(f"sbc r{c1},r{c1}"); e(f"mov r{c2},r{g}"); e(f"lsr r{c2}"); e(f"sbc r{c2},r{c2}")
    for x, y in ((f, g), (U, Q), (V, R)):
        e(f"mov r{t},r{x}"); e(f"eor r{t},r{c1}"); e(f"sub r{t},r{c1}"); e(f"and r{t},r{c2}"); e(f"add r{y},r{t}")
    e(f"and r{c1},r{c2}"); e(f"eor r24,r{c1}"); e(f"eor r25,r{c1}"); e("sbiw r24,1")
    for x, y in ((f, g), (U, Q), (V, R)):
        e(f"mov r{t},r{y}"); e(f"and r{t},r{c1}"); e(f"add r{x},r{t}")
    e(f"lsr r{g}"); e(f"lsl r{U}"); e(f"lsl r{V}"); e("dec r26"); e("brne 1b")
    cm("u or v may be +128, but neither -128: their negatives are signed bytes.  |q|, |r| < 128")
    e(f"neg r{U}"); e(f"neg r{V}"); e(f"movw r{ZETA},r24")

def apply():
    fn("x25519_apply")
    cm("The pair at Y+1 and at Y+35 times the matrix of r16-r19, plus r11 and r12 times p, over 2^7.  Absolute values grow by p at most.")
    cm("r2-r4, r5-r7 sums, r8, r9 the bytes before, r10 sign, r27 = 0")
    e("clr r27"); e("ldi r26,19")
    for m, s in ((MF, 2), (MG, 5)):
        for k in range(3): e(f"clr r{s+k}")
        e(f"mul r{m},r26"); e(f"sub r{s},r0"); e(f"sbc r{s+1},r1"); e(f"sbc r{s+2},r27")
    def byte(mul):
        e("ldd r20,Y+1"); e(f"ldd r21,Y+{1+NEXT}")
        for ent, x, s, op in ((U, 20, 2, "sub"), (V, 21, 2, "sub"), (Q, 20, 5, "add"), (R, 21, 5, "add")):
            e(f"{mul} r{ent},r{x}"); e("sbc r10,r10"); chain([s, s+1, s+2], [0, 1, 10], op)
        for s, before, at in ((2, 8, 0), (5, 9, NEXT)):
            e(f"lsl r{before}"); e(f"mov r10,r{s}"); e("rol r10"); e(f"std Y+{at},r10" if at else "st Y,r10")
            e(f"mov r{before},r{s}"); e(f"mov r{s},r{s+1}"); e(f"mov r{s+1},r{s+2}"); e(f"lsl r{s+2}"); e(f"sbc r{s+2},r{s+2}")
        e("adiw r28,1")
    e("clt"); e("ldi r26,31"); lab("1"); byte("mulsu"); e("dec r26"); e("brne 1b"); e("brts 2f")
    cm("m 2^255, and a 32nd")
    for m, s in ((MF, 2), (MG, 5)):
        e(f"mov r10,r{m}"); e("clr r0"); e("lsr r10"); e("ror r0"); chain([s, s+1, s+2], [0, 10, 27])
    e("set"); e("ldi r26,1"); e("rjmp 1b"); lab("2")
    cm("the byte with the sign")
    byte("muls")
    for s, before, at in ((2, 8, 0), (5, 9, NEXT)):
        e(f"lsl r{before}"); e(f"rol r{s}"); e(f"std Y+{at},r{s}" if at else f"st Y,r{s}")
    e("ret")

# ---------------------------------------------------------------- comb
# Extended coordinates x = X/Z, y = Y/Z, T = XY/Z on -x^2 + y^2 = 1 + d x^2 y^2, and what is read of an entry of the
# table: (y+x)/2, (y-x)/2, dxy.  The ladder's slots; Z2 and X2 so that the quotient at the end is the Montgomery u.
AX, AZ, AY, AT, YP, YM, TD = X1, X2, Z2, X3, Z3, T1, T2
TABLE, SIGN, LEFT, BLOCK = CUR, PREV, IDX, BASE     # TABLE: two bytes; BLOCK: 4 * (which table)

def comb(addsub, mul, sqr):
    """k B = sum of s_i 2^i (B/2) + (2^256-1) (B/2), with s_i = 1 where bit i of k is set and -1 where not: so that
    every digit of four bits, 64 apart, is an entry or its negative.  Two tables, 32 bits apart: 32 doublings and 64
    additions, complete ones.  x25519_comb.py makes the tables and the point to start from, (2^256-1) 2^-32 (B/2)."""
    def sub(d, a, b): ptrs(d, a, b); e("call x25519_fe_sub")
    def copy(d, a): ptrs(d, a, None); e("call x25519_copy")
    lab("x25519_comb")
    cm("Z = table: x and y of the start, Z = 1")
    ptr(26, AX); e("call x25519_copy_p")
    e("ldi r18,1"); e("st X+,r18"); e("ldi r19,31"); lab("1"); e("st X+,r1"); e("dec r19"); e("brne 1b")
    e("call x25519_copy_p")
    e(f"std Y+{TABLE-K},r30"); e(f"std Y+{TABLE-K+1},r31"); e("ldi r18,32"); e(f"std Y+{LEFT-K},r18")

    lab("x25519_comb_step")
    cm("double: H = X^2+Y^2, G = Y^2-X^2, E = H-(X-Y)^2, F = 2Z^2-G; X, Y, Z, T = EF, GH, FG, EH")
    W = YP
    sub(W, AX, AY); sqr(W, W); sqr(AX, AX); sqr(AY, AY)
    addsub(AY, AX); sub(AT, AY, W)
    sqr(AZ, AZ); sub(W, AZ, AX); addsub(AZ, W)
    mul(AX, AT, AZ); mul(AZ, AZ, W); mul(W, W, AY); mul(AT, AT, AY); copy(AY, W)
    e("clr r18"); lab("x25519_comb_add"); e("clr r1"); ptr(28, K); e(f"std Y+{BLOCK-K},r18")
    cm("digit of four bits, one from each eight bytes, which move up; SIGN = 0xff where the entry is subtracted")
    e("mov r19,r18"); e("adiw r28,24"); e("add r28,r19"); e("adc r29,r1")
    e("clr r20"); e("ldi r21,4"); lab("1")
    for k in range(4): e(f"ldd r18,Y+{k}"); e("rol r18" if k else "lsl r18"); e(f"std Y+{k},r18")
    e("rol r20"); e("sbiw r28,8"); e("dec r21"); e("brne 1b")
    e("mov r21,r20"); e("andi r21,8"); e("subi r21,1"); e("sbc r21,r21"); e("eor r20,r21"); e("andi r20,7")
    ptr(28, K); e(f"std Y+{SIGN-K},r21")
    cm("read all eight entries, whose bytes alternate, and keep one by masks")
    mask = list(range(8, 16))
    for j, r in enumerate(mask): e(f"ldi r18,{j}"); e("eor r18,r20"); e("subi r18,1"); e(f"sbc r{r},r{r}")
    e(f"ldd r30,Y+{TABLE-K}"); e(f"ldd r31,Y+{TABLE-K+1}")
    e("add r31,r19"); e("lsr r19"); e("lsr r19"); e("sub r31,r19")
    ptr(26, YP); e("ldi r20,96"); lab("1")
    for j, r in enumerate(mask):
        e(f"lpm r{19 if j else 18},Z+"); e(f"and r{19 if j else 18},r{r}")
        if j: e("or r18,r19")
    e("st X+,r18"); e("dec r20"); e("brne 1b")
    cm("A = (Y-X)(y-x)/2, B = (Y+X)(y+x)/2, C = T dxy; E = B-A, F = Z-C, G = Z+C, H = B+A, for the negative F = Z+C, G = Z-C")
    def swap(a, b): e(f"ldd r18,Y+{SIGN-K}"); ptr(28, a); ptr(30, b); e("ldi r19,32"); e("call x25519_cswap")
    swap(YP, YM)
    addsub(AY, AX); mul(AY, AY, YP); mul(AX, AX, YM); addsub(AY, AX)
    mul(AT, AT, TD); addsub(AZ, AT)
    ptr(28, K); swap(AZ, AT)
    cm("T is not needed for the doubling that follows the second table")
    ptr(28, K); e(f"ldd r18,Y+{BLOCK-K}"); e("tst r18"); e("brne 1f")
    mul(TD, AX, AY); lab("1")
    mul(AX, AX, AT); mul(AY, AY, AZ); mul(AZ, AZ, AT); copy(AT, TD)
    ptr(28, K); e(f"ldd r18,Y+{BLOCK-K}"); e("tst r18"); e("brne 1f")
    e("ldi r18,4"); e("jmp x25519_comb_add")
    lab("1"); e(f"ldd r18,Y+{LEFT-K}"); e("dec r18"); e(f"std Y+{LEFT-K},r18"); e("breq 1f"); e("jmp x25519_comb_step")
    lab("1")
    cm("u = (Z+Y)/(Z-Y)")
    addsub(AZ, AY); e("jmp x25519_quotient")

    fn("x25519_copy_p")
    cm("32 bytes from Z in flash to X")
    e("ldi r19,32"); lab("1"); e("lpm r18,Z+"); e("st X+,r18"); e("dec r19"); e("brne 1b"); e("ret")

o.append("; Generated by x25519.py - constant-time X25519 for AVRe+ (mul, movw)")
o.append('.section .text.x25519,"ax",@progbits')
mul16(); fe_mul(); absdiff(); sqr8(); sqr16(); fe_sqr(); addsub(); fe_sub(); fe_a24(); apply()
e(".if !X25519_COMB"); fe_mul9(); e(".endif")
X25519()
open(sys.argv[1] if len(sys.argv) > 1 else "x25519.S", "w").write("\n".join(o) + "\n")
