#!/usr/bin/env python3
"""Generate ctru_light.S: constant-time AVR (AVRe+, hardware MUL) arithmetic for
Z_769[x]/(x^512+1).  The generator carries an interval for every register pair and
asserts that no 16-bit value leaves its range, so the bounds in the comments are proved
for every input inside the stated contract.

Multiplication by a constant c (result in r1:r0, never larger than about 1100):
    value v = lo + 256*hi, unsigned;  z0 = +-c/3 mod q = x0 + 256*y0,
    z1 = 256*z0 mod q = x1 + 256*y1, with bytes x and digits y in {-1, 0, 1, (2)}
    T  = lo*x0 + hi*x1                      two 8x8 multiplications, fits 16 bits
    r  = 3*T0 - T1 - y0*lo - y1*hi          one K-RED step: 3*(T + 256*Y) = 3*T0 - T1 - Y
so r = +-c*v mod q.  The sign is chosen freely; the butterfly swaps add and subtract."""
import re
import sys
from tree import ROOT, digits, factor
Q = 769
INV3 = pow(3, -1, Q)
out = []
def o(s):
    """one instruction; LLVM's assembler takes lo8 and hi8 of symbols only"""
    s = re.sub(r'(lo|hi)8\((-?\d+)\)', lambda m: str(int(m[2]) >> (0 if m[1] == 'lo' else 8) & 255), s)
    out.append('    ' + s)
def lab(s): out.append(s + ':')
def com(s): out.append('    ; ' + s)

C = [(2*i + 2, 2*i + 3) for i in range(8)]     # eight coefficients: r2..r17
T0, T1 = 18, 19                                # product
XA, XB = 22, 23                                # constants x0, x1 of the current zeta
THREE, ZERO = 24, 25
Y0, Y1 = 26, 27                                # digits y0, y1 where a loop loads them
D0 = (20, 21)                                  # difference, or product

class Mul:
    """Best (sign, x0, y0, x1, y1) for the constant c and high bytes up to hmax."""
    def __init__(self, c, hmax):
        best = None
        for s in (1, -1):
            z0 = s*c*INV3 % Q
            for y0 in (0, 1, -1, 2, -2):
                x0 = (z0 - 256*y0) % Q
                if x0 > 255: continue
                z1 = 256*z0 % Q
                for y1 in (0, 1, -1, 2, -2):
                    x1 = (z1 - 256*y1) % Q
                    if x1 > 255 or 255*x0 + hmax*x1 > 65535: continue
                    cost = 2*(abs(y0) + abs(y1))
                    tmax = (255*x0 + hmax*x1) >> 8
                    rlo = -tmax - max(0, 255*y0) - max(0, hmax*y1)
                    rhi = 765 + max(0, -255*y0) + max(0, -hmax*y1)
                    key = (cost, rhi - rlo)
                    if best is None or key < best[0]:
                        best = (key, s, x0, y0, x1, y1, rlo, rhi)
        assert best, (c, hmax)
        _, self.s, self.x0, self.y0, self.x1, self.y1, self.rlo, self.rhi = best
        assert (self.s*3*(self.x0 + 256*self.y0) - c) % Q == 0
        assert (self.x1 + 256*self.y1 - 256*(self.x0 + 256*self.y0)) % Q == 0
    def load(self):
        o(f'ldi r{XA}, {self.x0}'); o(f'ldi r{XB}, {self.x1}')
    def mul(self, v):
        """r1:r0 = s*c*v mod q, range [rlo, rhi]"""
        lo, hi = v
        o(f'mul r{lo}, r{XA}'); o(f'movw r{T0}, r0')
        o(f'mul r{hi}, r{XB}'); o(f'add r{T0}, r0'); o(f'adc r{T1}, r1')
        o(f'mul r{T0}, r{THREE}')
        o(f'sub r0, r{T1}'); o(f'sbc r1, r{ZERO}')
        for y, r in ((self.y0, lo), (self.y1, hi)):
            for _ in range(abs(y)):
                o(f"{'sub' if y > 0 else 'add'} r0, r{r}"); o(f"{'sbc' if y > 0 else 'adc'} r1, r{ZERO}")

class Slot:
    """The constants of one place in a rolled body, with digits of 0 and more in registers:
    r = 3*T0 - T1 - y0*lo - y1*hi, for high bytes up to hmax"""
    def __init__(self, nodes, hmax):
        self.bytes, self.rlo, self.rhi = [], 0, 765
        for k in nodes:
            (x0, y0, x1, y1), lo = digits(factor(k), hmax)
            self.bytes.append((x0, x1, y0, y1)); self.rlo = min(self.rlo, lo)
    def load(self):
        for r in (XA, XB, Y0, Y1): o(f'lpm r{r}, Z+')
    def mul(self, v, to):
        """to = c*v mod q, range [rlo, rhi]"""
        lo, hi = v
        o(f'mul r{lo}, r{XA}'); o(f'movw r{T0}, r0')
        o(f'mul r{hi}, r{XB}'); o(f'add r{T0}, r0'); o(f'adc r{T1}, r1')
        o(f'mul r{T0}, r{THREE}'); o(f'sub r0, r{T1}'); o(f'sbc r1, r{ZERO}'); o(f'movw r{to[0]}, r0')
        for y, r in ((Y0, lo), (Y1, hi)): o(f'mul r{r}, r{y}'); o(f'sub r{to[0]}, r0'); o(f'sbc r{to[1]}, r1')

def prologue(name):
    out.append(f'\n    .section .text.{name}, "ax", @progbits\n    .global {name}\n    .type {name}, @function'); lab(name)
    for r in list(range(2, 18)) + [28, 29]: o(f'push r{r}')
def restore():
    """the end of every routine, in the first one"""
    lab('.Lctru_light_restore')
    for r in [29, 28] + list(range(17, 1, -1)): o(f'pop r{r}')
    o('clr r1'); o('ret')
def end(name): out.append(f'    .size {name}, .-{name}')

def ct(iv, a, b, m):
    lo, hi = iv[b]; assert lo >= 0, (a, b, iv)
    m.mul(C[b])
    o(f'movw r{C[b][0]}, r{C[a][0]}')
    plus, minus = (C[a], C[b]) if m.s > 0 else (C[b], C[a])
    o(f'add r{plus[0]}, r0'); o(f'adc r{plus[1]}, r1')
    o(f'sub r{minus[0]}, r0'); o(f'sbc r{minus[1]}, r1')
    al, ah = iv[a]
    P, M = (al + m.rlo, ah + m.rhi), (al - m.rhi, ah - m.rlo)
    iv[a], iv[b] = (P, M) if m.s > 0 else (M, P)
    for i in (a, b): assert 0 <= iv[i][0] and iv[i][1] < 65536, iv

def ct3(iv, k):
    """three Cooley-Tukey layers on eight coefficients; k = index of the first zeta"""
    for layer in range(3):
        step = 4 >> layer
        for g in range(1 << layer):
            z = ROOT[(k << layer) + g]
            bs = [2*step*g + j + step for j in range(step)]
            m = Mul(z, max(iv[b][1] for b in bs) >> 8)
            com(f'layer {layer}, zeta = {z} = {m.s}*3*({m.x0} + 256*{m.y0}); 256*zeta/3 ~ {m.x1} + 256*{m.y1}; r in [{m.rlo}, {m.rhi}]')
            m.load()
            for b in bs: ct(iv, b - step, b, m)

# ---- pass with stride 64 coefficients: Y = p, Z = p + 128 bytes; y/z high bytes step 256
def p1_load(f):
    for i in range(0, 8, 2):
        for ptr, e in (('Y', i), ('Z', i + 1)):
            o(f'ldd r{C[e][0]}, {ptr}+0'); o(f'ldd r{C[e][1]}, {ptr}+1'); f(e)
        if i < 6: o('inc r29'); o('inc r31')
def p1_store(get):
    """get(e) emits what is needed and returns the registers to store; descending order"""
    for i in range(6, -1, -2):
        for ptr, e in (('Z', i + 1), ('Y', i)):
            lo, hi = get(e)
            if i: o(f'std {ptr}+0, r{lo}'); o(f'std {ptr}+1, r{hi}')
            else: o(f'st {ptr}+, r{lo}'); o(f'st {ptr}+, r{hi}')
        if i: o('dec r29'); o('dec r31')
# ---- pass with stride 8 coefficients: Y = p, 64 bytes on for the upper half
def rolled(name, slots, load, body, store):
    """a pass over 64 blocks, eight of them for each set of constants; the count waits on the stack"""
    out.append(f'\n    .section .progmem.data.{name}, "a", @progbits'); lab(name); com('x0, x1, y0, y1')
    for g in range(8):
        for slot in slots: o('.byte ' + ', '.join(map(str, slot.bytes[g])))
    out.append(f'    .section .text.{name[:name.rindex("_")]}')
    size = 4*len(slots)
    o(f'ldi r30, lo8({name})'); o(f'ldi r31, hi8({name})'); o('ldi r20, 64'); o('push r20')
    lab('1')
    load(); body(); store()
    o('pop r20'); o('dec r20'); o('breq 3f'); o('push r20'); o('andi r20, 7'); o('breq 2f')
    o(f'sbiw r30, {size}'); o('adiw r28, 2'); o('rjmp 1b')
    lab('2'); o('subi r28, lo8(-114)'); o('sbci r29, hi8(-114)'); o('rjmp 1b')
    lab('3'); com('back to the first block'); o('subi r28, lo8(910)'); o('sbci r29, hi8(910)')
def far(n): o(f'subi r28, lo8({-n})'); o(f'sbci r29, hi8({-n})')
def p2_load():
    for e in range(8):
        if e == 4: far(64)
        o(f'ldd r{C[e][0]}, Y+{16*(e & 3)}'); o(f'ldd r{C[e][1]}, Y+{16*(e & 3) + 1}')
def p2_store(get):
    for e in range(7, -1, -1):
        if e == 3: far(-64)
        lo, hi = get(e); o(f'std Y+{16*(e & 3)}, r{lo}'); o(f'std Y+{16*(e & 3) + 1}, r{hi}')
CANON = True                      # inverse NTT: reduce the output to 0..768 (6 cycles each)
IN_LO, IN_HI = -769, 1024         # forward NTT input contract
def ntt():
    K = 8*Q                       # offset that keeps every value nonnegative
    CNT, KL, KH = 20, 26, 27
    D = (-255*INV3) % Q           # the final step adds 255; cancelled by adding D to x[0..7]
    prologue('ctru_light_ntt')
    o('movw r28, r24'); o('movw r30, r24')
    com(f'x[0..7] += {D}: reaches every output once, cancels the +255 of the last step')
    for i in range(8):
        o('ld r18, Z+'); o('ld r19, Z'); o(f'subi r18, lo8(-{D})'); o(f'sbci r19, hi8(-{D})')
        o('st Z, r19') ; o('st -Z, r18')
        if i < 7: o('adiw r30, 2')
    o('movw r30, r28'); o('subi r30, lo8(-128)'); o('sbci r31, hi8(-128)')
    o(f'ldi r{THREE}, 3'); o(f'ldi r{ZERO}, 0'); o(f'ldi r{KL}, lo8({K})'); o(f'ldi r{KH}, hi8({K})')
    o(f'ldi r{CNT}, 64')
    lab('.Lntt1')
    p1_load(lambda e: (o(f'add r{C[e][0]}, r{KL}'), o(f'adc r{C[e][1]}, r{KH}')))
    iv = [(IN_LO + K, IN_HI + K + (D if e == 0 else 0)) for e in range(8)]
    ct3(iv, 1)
    com(f'pass 1 values in [{min(i[0] for i in iv)}, {max(i[1] for i in iv)}]')
    p1_store(lambda e: C[e])
    o(f'dec r{CNT}'); o('breq 1f'); o('rjmp .Lntt1'); lab('1')
    o('subi r28, 128'); o('sbci r29, 0')
    worst = 0
    def get(e):
        lo, hi = C[e]
        o(f'mul r{lo}, r{THREE}'); o(f'com r{hi}'); o(f'add r0, r{hi}'); o(f'adc r1, r{ZERO}')
        return 0, 1
    for g in range(8):
        o(f'ldi r{CNT}, 8'); lab(f'.Lntt2_{g}')
        p2_load()
        jv = [iv[g]]*8
        ct3(jv, 8 + g)
        worst = max(worst, max(i[1] for i in jv))
        com('3*v = 3*lo - hi; stored as 3*lo + (255 - hi)')
        p2_store(get); o('adiw r28, 2')
        o(f'dec r{CNT}'); o('breq 1f'); o(f'rjmp .Lntt2_{g}'); lab('1')
        if g < 7: far(112)
    olo, ohi = 255 - (worst >> 8), 765 + 255
    com(f'values before the last step at most {worst}; output in [{olo}, {ohi}]')
    restore(); end('ctru_light_ntt')
    return olo, ohi

def gs(iv, a, b, m, K):
    """a' = a + b;  b' = +-(a - b)*c.  m.s = +1: d = a - b, else d = b - a"""
    p, n = (C[a], C[b]) if m.s > 0 else (C[b], C[a])
    o(f'movw r20, r{p[0]}'); o(f'sub r20, r{n[0]}'); o(f'sbc r21, r{n[1]}')
    if K: o(f'subi r20, lo8(-{K})'); o(f'sbci r21, hi8(-{K})')
    o(f'add r{C[a][0]}, r{C[b][0]}'); o(f'adc r{C[a][1]}, r{C[b][1]}')
    m.mul((20, 21))
    o(f'movw r{C[b][0]}, r0')
    iv[a] = (iv[a][0] + iv[b][0], iv[a][1] + iv[b][1]); iv[b] = (m.rlo, m.rhi)
    assert -32768 <= iv[a][0] and iv[a][1] < 65536 and iv[a][1] - iv[a][0] < 65536
def up(lo): return 0 if lo >= 0 else -(lo // Q)*Q
def gs3(iv, k, f):
    """three Gentleman-Sande layers; zeta indices follow ct3 backwards; f = factor of the last layer"""
    for layer in (2, 1, 0):
        step = 4 >> layer
        for g in range(1 << layer):
            z = pow(ROOT[(k << layer) + g], -1, Q)*(f if layer == 0 else 1) % Q
            aa = [2*step*g + j for j in range(step)]
            def plan(s):
                r = []
                for a in aa:
                    p, n = (a, a + step) if s > 0 else (a + step, a)
                    lo, hi = iv[p][0] - iv[n][1], iv[p][1] - iv[n][0]
                    K = up(lo); r.append((a, K, hi + K))
                return r
            hm = max(max(h for _, _, h in plan(s)) for s in (1, -1)) >> 8
            m = Mul(z, hm); pl = plan(m.s)
            assert max(h for _, _, h in pl) < 65536
            com(f'layer {layer}, factor {z}; r in [{m.rlo}, {m.rhi}]'); m.load()
            for a, K, _ in pl: gs(iv, a, a + step, m, K)

def inv(inl, inh, factor):
    """factor: total constant applied to the result (includes 1/64)"""
    CNT = 26
    prologue('ctru_light_invntt')
    o('movw r28, r24')
    o(f'ldi r{THREE}, 3'); o(f'ldi r{ZERO}, 0')
    iv = [(inl, inh)]*8
    plan = []
    for layer, g in ((layer, g) for layer in (2, 1, 0) for g in range(1 << layer)):
        step = 4 >> layer
        pairs = []
        for x in (2*step*g + j for j in range(step)):
            y = x + step
            lift = up(iv[x][0] - iv[y][1]); pairs.append((x, y, lift, iv[x][1] - iv[y][0] + lift))
        slot = Slot([(8 + i << layer) + g for i in range(8)], max(high for *_, high in pairs) >> 8)
        plan.append((layer, slot, pairs))
        for x, y, *_ in pairs:
            iv[x], iv[y] = (iv[x][0] + iv[y][0], iv[x][1] + iv[y][1]), (slot.rlo, slot.rhi)
            assert -32768 <= iv[x][0] and iv[x][1] < 32768
    def body():
        for layer, slot, pairs in plan:
            com(f'layer {layer}; r in [{slot.rlo}, {slot.rhi}]'); slot.load()
            for x, y, lift, _ in pairs:
                o(f'movw r20, r{C[x][0]}'); o(f'sub r20, r{C[y][0]}'); o(f'sbc r21, r{C[y][1]}')
                if lift: o(f'subi r20, lo8(-{lift})'); o(f'sbci r21, hi8(-{lift})')
                o(f'add r{C[x][0]}, r{C[y][0]}'); o(f'adc r{C[x][1]}, r{C[y][1]}')
                slot.mul(D0, C[y])
        com('elements 0..3: K-RED (factor 3), the others had the factor in their constant')
    res = list(iv)
    def get(e):
        if e >= 4: return C[e]
        lo, hi = C[e]; K = up(iv[e][0])
        if K:
            o(f'movw r20, r{lo}'); o(f'subi r20, lo8(-{K})'); o(f'sbci r21, hi8(-{K})'); lo, hi = 20, 21
        o(f'mul r{lo}, r{THREE}'); o(f'sub r0, r{hi}'); o(f'sbc r1, r{ZERO}')
        assert iv[e][1] + K < 65536
        res[e] = (-((iv[e][1] + K) >> 8), 765)
        return 0, 1
    rolled('ctru_light_invntt_constants', [slot for _, slot, _ in plan], p2_load, body, lambda: p2_store(get))
    ends = [(min(r[0] for r in res), max(r[1] for r in res))]*8
    o('movw r30, r28'); o('subi r30, lo8(-128)'); o('sbci r31, hi8(-128)')
    o(f'ldi r{CNT}, 64'); lab('.Linv2')
    p1_load(lambda e: None)
    iv = list(ends)
    c = factor*INV3 % Q
    gs3(iv, 1, c)
    com(f'elements 0..3 times {c}')
    hm = max(max(iv[e][1] + up(iv[e][0]), up(-iv[e][1]) - iv[e][0]) for e in range(4)) >> 8
    m = Mul(c, hm); m.load()
    fin = list(iv)
    def get(e):
        if e >= 4: return C[e]
        lo, hi = C[e]
        K = up(iv[e][0]) if m.s > 0 else up(-iv[e][1])
        if m.s < 0:                      # the constant is negative: multiply K - v
            o(f'ldi r20, lo8({K})'); o(f'ldi r21, hi8({K})'); o(f'sub r20, r{lo}'); o(f'sbc r21, r{hi}'); lo, hi = 20, 21
        elif K:
            o(f'movw r20, r{lo}'); o(f'subi r20, lo8(-{K})'); o(f'sbci r21, hi8(-{K})'); lo, hi = 20, 21
        m.mul((lo, hi)); fin[e] = (m.rlo, m.rhi)
        return 0, 1
    def canon(e):
        """add 769 = 0x301 when negative: lo - t, hi - (t & 0xfc) - borrow, t = 0 or 0xff"""
        lo, hi = get(e)
        if CANON:
            o(f'mov r20, r{hi}'); o('lsl r20'); o('sbc r20, r20')
            o(f'sub r{lo}, r20'); o('andi r20, 0xfc'); o(f'sbc r{hi}, r20')
            assert -Q <= fin[e][0] and fin[e][1] < Q
            fin[e] = (0, Q - 1)
        return lo, hi
    p1_store(canon)
    o(f'dec r{CNT}'); o('breq 1f'); o('rjmp .Linv2'); lab('1')
    lohi = (min(f[0] for f in fin), max(f[1] for f in fin))
    com(f'output in [{lohi[0]}, {lohi[1]}]')
    o('jmp .Lctru_light_restore'); end('ctru_light_invntt')
    return lohi

# ---- base multiplication
BM = -54                           # its factor
def basemul(inl, inh):
    """64 blocks modulo x^8 - z, c_k = -54*(sum a_i b_(k-i) + z sum a_i b_(8+k-i)).  Every block splits once
    more, x^8 - z = (x^4 - w)(x^4 + w), w^2 = z:  a+- = a_lo +- w*a_hi, two products modulo
    x^4 -+ w, then c_lo = c+ + c-, c_hi = (c+ - c-)/w (both carry the factor 2).
    r2..r9 a, r10..r17 b, r18:r19 and r24 accumulator or operand, r21:r20 current constant,
    r22 = 3, r23 = 0, r25:r24 product bytes 2 and 1, X = a or b, Y = result, Z = constants."""
    A = [(2*i + 2, 2*i + 3) for i in range(4)]
    B = [(2*i + 10, 2*i + 11) for i in range(4)]
    V = 'ctru_bma_vars'
    SP = V + '+4'                               # spilled a-, b-: 16 bytes
    D = (-255*INV3) % Q                         # cancels the +255 of com
    out.append('''
    .section .bss.ctru_bma_vars, "aw", @nobits
ctru_bma_vars:
    .skip 20                       ; a - r, b - r (addresses), 16 bytes for a- and b-
    .section .progmem.data.ctru_bma_z, "a", @progbits
    .balign 2
ctru_bma_z:                        ; per block: -w/3 (at most 384), w/-9, 1/(-9w) (at least 346) mod 769''')
    WI = 346                                    # least representative used for 1/(-9w)
    root = {}
    for w in range(1, Q): root.setdefault(w*w % Q, []).append(w)
    for i in range(64):
        z = ROOT[32 + i//2]*(1 if i % 2 == 0 else -1) % Q
        w, = [w for w in root[z] if -w*INV3 % Q <= 384]
        i9 = pow(-9, -1, Q)
        o('.word ' + ', '.join(map(str, (-w*INV3 % Q, w*i9 % Q, WI + (pow(w, -1, Q)*i9 - WI) % Q))))
    lab('ctru_bma_zend')
    def m1(lo, hi, zl=20, zh=21, neg=False):
        """C = v*constant, C0 in r0, C2:C1 in r25:r24, then r25:r24 = n = C>>8 - 3*C0 = -3*C;
        with neg r25:r24 = -n"""
        o(f'mul r{lo}, r{zh}'); o('movw r24, r0'); o(f'mul r{hi}, r{zh}'); o('add r25, r0')
        o(f'mul r{hi}, r{zl}'); o('add r24, r0'); o('adc r25, r1'); o(f'mul r{lo}, r{zl}')
        o('add r24, r1'); o('adc r25, r23'); o('mul r0, r22')
        if neg: o('sub r0, r24'); o('sbc r1, r25'); o('movw r24, r0')
        else: o('sub r24, r0'); o('sbc r25, r1')
    def addk(r, k):
        if k: o(f'subi r{r}, lo8(-{k})'); o(f'sbci r{r + 1}, hi8(-{k})')
    def red(lo, hi):
        """r1:r0 = 3*v + 255"""
        o(f'mul r{lo}, r22'); o(f'com r{hi}'); o(f'add r0, r{hi}'); o('adc r1, r23')
    const = lambda: (o('lpm r20, Z+'), o('lpm r21, Z+'))
    prologue('ctru_light_basemul')
    com('a - r and b - r, so that only Y advances')
    for i, r in enumerate((22, 20)):
        o(f'sub r{r}, r24'); o(f'sbc r{r + 1}, r25'); o(f'sts {V}+{2*i}, r{r}'); o(f'sts {V}+{2*i + 1}, r{r + 1}')
    o('movw r28, r24'); o('ldi r30, lo8(ctru_bma_z)'); o('ldi r31, hi8(ctru_bma_z)'); o('ldi r22, 3'); o('ldi r23, 0')
    lab('.Lbma'); const()
    nmin, nmax = -765, inh*384 >> 8             # n of the splitting layer
    rng = []
    for v, (R, isb) in enumerate(((A, 0), (B, 1))):
        com(f"{'ab'[v]}+ in registers, {'ab'[v]}- spilled")
        o('movw r26, r28'); o(f'lds r24, {V}+{2*v}'); o(f'lds r25, {V}+{2*v + 1}'); o('add r26, r24'); o('adc r27, r25')
        for lo, hi in R: o(f'ld r{lo}, X+'); o(f'ld r{hi}, X+')
        K = (D if isb else 0) + Q               # n + K >= 0
        t = 2*D if isb else 0                   # a- gets n + K subtracted, so add a K2 = t mod q
        K2 = t % Q + -(-(nmax + K - inl - t % Q) // Q)*Q
        assert nmin + K >= 0 and inl - nmax - K + K2 >= 0
        plus = (inl + nmin + K, inh + nmax + K); minus = (inl - nmax - K + K2, inh - nmin - K + K2)
        com(f'n + {K}; plus in {list(plus)}, minus in {list(minus)}')
        for j, (lo, hi) in enumerate(R):
            o('ld r18, X+'); o('ld r19, X+'); m1(18, 19); addk(24, K)
            o(f'movw r18, r{lo}'); o('sub r18, r24'); o('sbc r19, r25'); addk(18, K2)
            if isb: red(18, 19)
            d = (0, 1) if isb else (18, 19)
            o(f'sts {SP}+{8*v + 2*j}, r{d[0]}'); o(f'sts {SP}+{8*v + 2*j + 1}, r{d[1]}')
            if isb: o(f'add r24, r{lo}'); o(f'adc r25, r{hi}'); red(24, 25); o(f'movw r{lo}, r0')
            else: o(f'add r{lo}, r24'); o(f'adc r{hi}, r25')
        mx = max(plus[1], minus[1])
        rng.append((255 - (mx >> 8), 1020) if isb else (min(plus[0], minus[0]), mx))
    (al, ah), (bl, bh) = rng
    KC = Q + D
    bl = min(bl, 255 - ((1020*(Q - 1) >> 8) + KC >> 8))
    assert 4*ah*bh < 1 << 24 and 4*al*bl >> 8 >= 765
    outlo = -(4*ah*bh >> 16)
    NC = 1020*(Q - 1) >> 8                      # largest n in b_j *= w
    KN = D + -(-(NC - D) // Q)*Q                # for -n
    assert KN >= NC and 255 - ((KN + 765) >> 8) >= 0
    bl = min(bl, 255 - ((KN + 765) >> 8))
    assert 4*al*bl >> 8 >= 765
    def product(store, neg):
        for k in range(3, -1, -1):
            if k < 3:
                lo, hi = B[k + 1]; com(f"b_{k + 1} *= {'-' if neg else ''}w")
                m1(lo, hi, neg=neg); addk(24, KN if neg else KC); red(24, 25); o(f'movw r{lo}, r0')
            com(f'c_{k}')
            for i in range(4):
                (xl, xh), (yl, yh) = A[i], B[(k - i) % 4]
                if i == 0:
                    o(f'mul r{xh}, r{yh}'); o('mov r24, r0'); o(f'mul r{xl}, r{yl}'); o('movw r18, r0')
                else:
                    o(f'mul r{xh}, r{yh}'); o('add r24, r0'); o(f'mul r{xl}, r{yl}'); o('add r18, r0'); o('adc r19, r1'); o('adc r24, r23')
                for x, y in ((xl, yh), (xh, yl)): o(f'mul r{x}, r{y}'); o('add r19, r0'); o('adc r24, r1')
            com(f'n = C>>8 - 3*C0 >= 0; r1:r0 = 3*n0 - n1 = -9*C in [{outlo}, 765]')
            o('mul r18, r22'); o('sub r19, r0'); o('sbc r24, r1')
            o('mul r19, r22'); o('sub r0, r24'); o('sbc r1, r23')
            store(k)
    com('product modulo x^4 - w')
    const()
    product(lambda k: (o(f'std Y+{2*k}, r0'), o(f'std Y+{2*k + 1}, r1')), False)
    com('product modulo x^4 + w')
    for v, R in enumerate((A, B)):
        for j, (lo, hi) in enumerate(R): o(f'lds r{lo}, {SP}+{8*v + 2*j}'); o(f'lds r{hi}, {SP}+{8*v + 2*j + 1}')
    KD = up(outlo - 765)
    def fin(k):
        o(f'ldd r24, Y+{2*k}'); o(f'ldd r25, Y+{2*k + 1}'); o('movw r18, r24')
        o('add r24, r0'); o('adc r25, r1'); o(f'std Y+{2*k}, r24'); o(f'std Y+{2*k + 1}, r25')
        o('sub r18, r0'); o('sbc r19, r1'); addk(18, KD)
        com(f'd = c+ - c- + {KD} in [{dmin}, {dmax}]; c_hi = d/w')
        m1(18, 19, 26, 27)
        o('mul r24, r22'); o('sub r0, r25'); o('sbc r1, r23'); o(f'std Y+{2*k + 8}, r0'); o(f'std Y+{2*k + 9}, r1')
    dmin, dmax = outlo - 765 + KD, 765 - outlo + KD
    assert dmin*WI >> 8 >= 765                  # n >= 0
    o('lpm r26, Z+'); o('lpm r27, Z+')          # 1/(-9w); X is free here
    product(fin, True)
    hi2 = dmax*(WI + Q - 1) >> 8; assert hi2 < 65536
    o('adiw r28, 16')
    assert [6*i % 256 for i in range(1, 65)].index(6*64 % 256) == 63   # low byte decides
    o('cpi r30, lo8(ctru_bma_zend)'); o('breq 1f'); o('rjmp .Lbma'); lab('1')
    com('what is left of the last block')
    for i in range(16): o(f'sts {SP}+{i}, r23')
    o('jmp .Lctru_light_restore'); end('ctru_light_basemul')
    return min(2*outlo, -(hi2 >> 8)), 1530

out.append('    ; generated by ctru_light.py; do not edit.  Interface, bounds and scaling: README.md')
nlo, nhi = ntt()
mlo, mhi = basemul(nlo, nhi)
flo, fhi = inv(mlo, mhi, pow(64*9*BM, -1, Q))
print(f'ntt input [{IN_LO}, {IN_HI}], output [{nlo}, {nhi}]; basemul output [{mlo}, {mhi}]; inverse output [{flo}, {fhi}]', file=sys.stderr)
open('ctru_light.S', 'w').write('\n'.join(out) + '\n')
