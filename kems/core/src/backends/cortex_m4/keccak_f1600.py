#!/usr/bin/env python3
"""Generate keccak_f1600.S: Keccak-f[1600] for ARMv7-M/ARMv7E-M (Cortex-M3/M4), bit-interleaved.

With the argument --integer it writes keccak_f1600_integer.S, which needs no FPU.

State: 50 words; lane (x,y) is words 2*(x+5y) (its even bits) and 2*(x+5y)+1 (its odd bits).

Design
------
* In place with period 4: in round i (mod 4) lane (x,y) lies at N^i(x,y), N(x,y) = (x, x+2y);
  a plane's outputs go where its inputs were.  Four rounds are unrolled, the loop runs six times.
* Rotations are lazy: every word in memory or in a register has a "frame" f, its true value being
  rol(word, f).  rho only changes the frame, and every eor/bic aligns its second operand with the
  barrel shifter.  The fourth round must end with frame 0: at most 3 explicit ror a half plane
  (each output can take the frame of either of two inputs).
* Theta is fused into chi: while the five half planes of one parity (even/odd words) are made, five
  registers collect the column parities of the next round.
* s0-s15 are a scratchpad for D, the even parities and the constants' pointer.
* The five loads of a half plane come in one group closed by a store of the half plane before, which
  hides in the loads' bubble; no load directly follows a store; at most three instructions
  lie between the last store and the next loads (so that no bus grant is lost).
No branch or address depends on data.
"""
import itertools, re, sys

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

RHO = rho_offsets()
ACC = ['r7', 'r8', 'r9', 'r10', 'r11']          # column parities of the half in work
POOL = ['r1', 'r2', 'r3', 'r4', 'r5', 'r6', 'r12', 'lr']
# single precision registers as a scratchpad (vmov takes one cycle and never waits for the bus):
DS = lambda x, h: f's{2 * x + h}'                # D[x][h]
CS = lambda x: f's{10 + x}'                      # even parities
RCP, RCEND = 's15', '[sp]'                       # pointer to the round constants, its last value + 32
OUT = []
def e(s, c=''):
    # every instruction of the loop in its 32-bit form: aligned, the fetch unit then keeps up
    o, _, rest = s.partition(' ')
    if o in ('ldr', 'str', 'cmp', 'mov'): s = f'{o}.w {rest}'
    OUT.append('    ' + (f'{s:<36}@ {c}' if c else s))
def note(s): OUT.append('    @ ' + s)

def op(o, dst, a, fa, b, fb):
    """dst = a o b in the frame of a"""
    n = (fa - fb) % 32
    e(f'{o} {dst}, {a}, {b}' + (f', ror #{n}' if n else ''))
    return fa

def d_used(y, h):
    """the five D[x][h] that half h of plane y (after pi) needs"""
    return frozenset((((x + 3 * y) % 5), h ^ (RHO[(x + 3 * y) % 5, x] & 1)) for x in range(5))

# order of the half planes in a round: this one has the fewest D to fetch of all with plane 0 first
SEQ = [(0, 0), (2, 0), (1, 0), (3, 0), (4, 0), (0, 1), (1, 1), (2, 1), (4, 1), (3, 1)]

def keep_plan(cap=2):
    """Which (at most two) D stay in registers after each half plane: dynamic programming.
    After the first one only D[1][0], D[0][0], D[4][0] can (theta leaves them in POOL registers)."""
    st = {frozenset(): (0, ())}
    for n, yh in enumerate(SEQ):
        need, rest, nx = d_used(*yh), set().union(*[d_used(*q) for q in SEQ[n + 1:]]), {}
        for k, (c, p) in st.items():
            cand = [d for d in need | k if d in rest and (n or d in ((1, 0), (0, 0), (4, 0)))]
            for keep in itertools.combinations(sorted(cand), min(cap, len(cand))):
                keep = frozenset(keep); v = (c + (len(need - k) if n else 0), p + (keep,))
                if keep not in nx or v[0] < nx[keep][0]: nx[keep] = v
        st = nx
    return min(st.values(), key=lambda v: v[0])[1]

# Free choices of frames (which operand of an eor is the one to be shifted), in program order.
# keccak_frames.py found them: they minimise the explicit ror of the fourth round.
CHOICES = 0xf376111c4a3f730ffb8e5a711e29058046a07e5527e055fe9afaa365d6427d72f8173af6a8c84195c0bddf680e0c3b81a21bd1773b3191e7fd8f6393cb72bdba1c02aa42189a0104050882
class Bits:
    def __init__(s, v): s.v, s.n = v, 0
    def __call__(s):
        s.n += 1
        return s.v >> (s.n - 1) & 1

class Gen:
    def __init__(s, choices):
        s.bit = Bits(choices)
        s.free = POOL[:]; s.pending = []
        s.frame = {(x, y, h): 0 for x in range(5) for y in range(5) for h in (0, 1)}  # per lane half
        s.flip = {(x, y): 0 for x in range(5) for y in range(5)}   # halves exchanged in memory?
        s.loc = {(x, y): (x, y) for x in range(5) for y in range(5)}
        s.cf = {(x, h): 0 for x in range(5) for h in (0, 1)}       # frames of parities
        s.df = {}
    def addr(s, x, y, h):
        lx, ly = s.loc[x, y]
        return f'[r0, #{4 * (2 * (lx + 5 * ly) + (h ^ s.flip[x, y]))}]'
    def get(s): return s.free.pop(0)
    def put(s, r):
        if r in POOL: s.free.insert(0, r)
    def drain(s, n=99):
        while s.pending and n:
            r, a = s.pending.pop(0); e(f'str {r}, {a}'); s.put(r); n -= 1

    def theta(s):
        """ACC: odd parities.  All D go to s0-s9; the five D of the first half plane also stay in registers."""
        note('theta: D[x][0] = C[x-1][0] ^ rol(C[x+1][1], 1), D[x][1] = C[x-1][1] ^ C[x+1][0]')
        c = {(x, 1): ACC[x] for x in range(5)}
        for x in (0, 4, 3, 2, 1):
            c[x, 0] = s.get(); e(f'vmov {c[x,0]}, {CS(x)}', f'C[{x}][0]')
        keep, dead = {}, None
        # the ten D are a cycle through the ten C: each D may overwrite the C that has just died
        for n, (x, h) in enumerate([(1, 0), (3, 1), (0, 0), (2, 1), (4, 0), (1, 1), (3, 0), (0, 1), (2, 0), (4, 1)]):
            a, b = ((x - 1) % 5, h), ((x + 1) % 5, 1 - h)
            dst = s.get() if n == 0 else c[0, 0] if n == 9 else c[dead]
            p, q = (c[a], s.cf[a]), (c[b], s.cf[b] + (1 - h))
            if s.bit(): p, q = q, p
            s.df[x, h] = op('eor', dst, *p, *q) % 32
            if n == 9: e(f'vmov {ACC[3]}, {RCP}')   # just freed; early, its load comes soon
            e(f'vmov {DS(x, h)}, {dst}', f'D[{x}][{h}]')
            if n < 5: keep[x, h] = dst
            else: s.put(dst)
            dead = b if dead is None else ({a, b} - {dead}).pop()
        s.d = keep

    def half_plane(s, rnd, n, new, last):
        y, h = SEQ[n]; stay = PLAN[n]
        first = n in (0, 5)                       # of its half: ACC is set, not updated
        note(f'round {rnd}, half {h}, plane {y}')
        src = [((x + 3 * y) % 5, x) for x in range(5)]
        info = []
        for x in range(5):
            sx, sy = src[x]; r = RHO[sx, sy]; hin = h ^ (r & 1)
            info.append((sx, sy, hin, r // 2 + (1 if (r & 1 and h == 0) else 0)))
        a, f = [None] * 5, [None] * 5
        want0 = set()
        if last:                                  # cheapest set of inputs to bring to frame 0
            def cost(x):
                sx, sy, hin, k = info[x]
                return 0 if 0 in ((s.frame[sx, sy, hin] + k) % 32, (s.df[sx, hin] + k) % 32) else 1
            m = min((sum(cost(x) for x in range(5) if m >> x & 1), m) for m in range(32)
                    if all((m >> i | m >> (i + 2) % 5) & 1 for i in range(5)))[1]
            want0 = {x for x in range(5) if m >> x & 1}
        rc = ACC[3]
        # loads, closed by the pending store; the round constant comes first (flash and RAM don't pipeline)
        if y == 0: e(f'ldr {rc}, [{rc}, #{8 * rnd + 4 * h}]')
        for x in range(5):
            a[x] = ACC[0] if n == 0 and x == 1 else s.get()
            e(f'ldr {a[x]}, {s.addr(*info[x][:3])}')
        s.drain()
        if n == 5:                                # even parities to the scratchpad
            for x in (4, 1, 0, 2): e(f'vmov {CS(x)}, {ACC[x]}')
        # theta's D; first those that can go afterwards
        order = sorted(range(5), key=lambda x: (info[x][0::2][:2] not in s.d, info[x][0::2][:2] in stay))
        for dd in [q for q in s.d if q not in stay and q not in d_used(y, h)]: s.put(s.d.pop(dd))
        for x in order:
            sx, sy, hin, k = info[x]; key = (sx, hin)
            d = s.d.pop(key, None)
            if d is None: d = s.get(); e(f'vmov {d}, {DS(sx, hin)}')
            fs, fd = s.frame[sx, sy, hin], s.df[key]
            swap = s.bit()
            if x in want0 and 0 in ((fs + k) % 32, (fd + k) % 32): swap = (fs + k) % 32 != 0
            if swap: ff = op('eor', a[x], d, fd, a[x], fs)
            else: ff = op('eor', a[x], a[x], fs, d, fd)
            f[x] = (ff + k) % 32
            if x in want0 and f[x]:
                e(f'ror {a[x]}, {a[x]}, #{(-f[x]) % 32}'); f[x] = 0
            if key in stay: s.d[key] = d
            else: s.put(d)
        # out x goes into the place of input x + 2y
        dest = {x: s.addr(*info[(x + 2 * y) % 5][:3]) for x in range(5)}
        tail = []
        for m, i in enumerate((4, 1, 0, 3, 2)):
            b, c = (i + 1) % 5, (i + 2) % 5
            t = s.get() if m < 2 else a[{0: 1, 3: 0, 2: 3}[i]]
            ft = op('bic', t, a[c], f[c], a[b], f[b])
            if first and i == 2: tail_first()
            dst = ACC[i] if first else t
            swap = s.bit()
            if last: swap = f[i] != 0
            if swap: fo = op('eor', dst, t, ft, a[i], f[i])
            else: fo = op('eor', dst, a[i], f[i], t, ft)
            assert not last or fo == 0
            if first and t != dst: s.put(t)
            if y == 0 and i == 0: op('eor', dst, dst, fo, rc, 0)
            def acc(i=i, dst=dst, fo=fo):
                if first: s.cf[i, h] = fo
                elif s.bit(): s.cf[i, h] = op('eor', ACC[i], dst, fo, ACC[i], s.cf[i, h])
                else: op('eor', ACC[i], ACC[i], s.cf[i, h], dst, fo)
            new['frame'][i, y, h] = fo
            ib = info[(i + 2 * y) % 5]
            new['flip'][i, y] = h ^ ib[2] ^ s.flip[ib[0], ib[1]]
            new['loc'][i, y] = s.loc[ib[0], ib[1]]
            if i in (4, 1, 0):
                e(f'str {dst}, {dest[i]}'); s.put(dst); acc()
            elif i == 3:
                out3, acc3 = dst, acc
                def tail_first(): e(f'str {out3}, {dest[3]}'); acc3()
            else:
                # the last store before the next loads: one or two instructions before them
                if not first:
                    if n == 4:                    # before plane 0 of the odd half
                        acc3(); e(f'vmov {CS(3)}, {rc}'); e(f'vmov {rc}, {RCP}')
                        e(f'str {out3}, {dest[3]}'); acc()
                    else:
                        e(f'str {out3}, {dest[3]}'); acc3(); acc()
                    s.put(out3)
                else: acc()
                s.pending.append((dst, dest[2]))
        s.put(a[2]); s.put(a[4])

    def round(s, rnd, last):
        s.theta()
        new = {'frame': {}, 'flip': {}, 'loc': {}}
        for n in range(10): s.half_plane(rnd, n, new, last)
        assert not s.d
        s.frame, s.flip, s.loc = new['frame'], new['flip'], new['loc']

def integer(text):
    """The same code with the stack in the place of s0-s15: a little slower, and no FPU."""
    text = re.sub(r'vmov (\w+), s(\d+)', lambda m: f'ldr.w {m[1]}, [sp, #{4 + 4 * int(m[2])}]', text)
    text = re.sub(r'vmov s(\d+), (\w+)', lambda m: f'str.w {m[2]}, [sp, #{4 + 4 * int(m[1])}]', text)
    text = text.replace('sub sp, sp, #4', 'sub sp, sp, #68').replace('add sp, sp, #4', 'add sp, sp, #68')
    text = text.replace('    .fpu fpv4-sp-d16\n', '').replace('stack 40 bytes; s0-s15 are used', 'stack 104 bytes, 64 of them used')
    return text.replace('r0: state; s0-s15: D, C, pointer', 'r0: state; stack: D, C, pointer')

PLAN = keep_plan()

def main():
    OUT.append('''@ Keccak-f[1600] for ARMv7-M, generated by keccak_f1600.py.  void kemqtt_keccak_f1600(uint32_t state[50]);
@ In: r0 = bit-interleaved state (lane (x,y): even bits in word 2*(x+5y), odd bits in the next word).
@ AAPCS; stack 40 bytes; s0-s15 are used, and zero at the end.  r7-r11: column parities; r1-r6, r12, lr: work; r0: state; s0-s15: D, C, pointer.
@ Constant time: no branch or address depends on the state.
    .syntax unified
    .thumb
    .fpu fpv4-sp-d16
    .section .text.kemqtt_keccak_f1600,"ax",%progbits''')
    OUT.append('    .align 2\nkemqtt_keccak_rc:                                @ even bits, odd bits')
    for rc in round_constants():
        ev = sum((rc >> (2 * i) & 1) << i for i in range(32)); od = sum((rc >> (2 * i + 1) & 1) << i for i in range(32))
        OUT.append(f'    .word 0x{ev:08x}, 0x{od:08x}')
    OUT.append('''    .align 3
    .global kemqtt_keccak_f1600
    .type kemqtt_keccak_f1600, %function
    .thumb_func
kemqtt_keccak_f1600:''')
    e('push {r4-r11, lr}'); e('sub sp, sp, #4')
    e('adr.w r1, kemqtt_keccak_rc'); e('add.w r2, r1, #192'); e(f'vmov {RCP}, r1'); e(f'str r2, {RCEND}')
    for h in (0, 1):
        note(f'first column parities, half {h}')
        for y in range(5):
            regs = ACC if y == 0 else POOL[:5]
            for x in range(5): e(f'ldr {regs[x]}, [r0, #{4 * (2 * (x + 5 * y) + h)}]')
            if y == 0 and h == 1: pass
            if y:
                for x in range(5): e(f'eor {ACC[x]}, {ACC[x]}, {regs[x]}')
        if h == 0:
            for x in range(5): e(f'vmov {CS(x)}, {ACC[x]}')
    e('b.w .Lk_loop')
    OUT.append('    .align 3\n.Lk_loop:')
    g = Gen(CHOICES)
    for rnd in range(4): g.round(rnd, rnd == 3)
    assert all(v == 0 for v in g.frame.values()) and all(v == 0 for v in g.cf.values())
    assert all(g.loc[p] == p for p in g.loc), 'location'
    assert not any(g.flip.values()), 'halves exchanged after four rounds'
    # next round constants
    p, q = g.get(), g.get()
    e(f'ldr {q}, {RCEND}'); g.drain(); e(f'vmov {p}, {RCP}')
    e(f'add.w {p}, {p}, #32'); e(f'vmov {RCP}, {p}'); e(f'cmp {p}, {q}')
    e('bne.w .Lk_loop')
    note('nothing of the state stays behind in the scratchpad')
    e('mov r1, #0')
    for i in range(16): e(f'vmov s{i}, r1')
    e('add sp, sp, #4'); e('pop {r4-r11, pc}')
    OUT.append('    .size kemqtt_keccak_f1600, . - kemqtt_keccak_f1600')
    text = '\n'.join(OUT) + '\n'
    sys.stdout.write(integer(text) if '--integer' in sys.argv else text)
if __name__ == '__main__': main()
