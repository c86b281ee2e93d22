"""Products modulo q = 3329 = 13 * 256 + 1 for the generators beside this file, with intervals that prove their bounds.

A value v = lo + 256 hi, 0 <= v < 2^16, times a constant c: with z0 = +-c/13 = x0 + 256 y0 and z1 = 256 z0 = x1 + 256 y1 (mod q), bytes x
and digits |y| <= 13,
    T = lo x0 + hi x1,  Y = lo y0 + hi y1,  13 (T + 256 Y) = 13 T0 - T1 - Y = +-c v (mod q),
because 256 * 13 = -1. The sign is free: a butterfly swaps its sum and difference. One of the signs has x0 + x1 <= 256, so that T fits in 16 bits."""
Q = 3329
INV13 = pow(13, -1, Q)
T0, T1 = 18, 19                    # T
X0, X1, Y0, Y1 = 20, 21, 22, 23    # the constant
A0, A1 = 24, 25                    # Y
K13, ZERO = 26, 27


def o(s): print('    ' + s)
def lab(s): print(s + ':')
def com(s): print('    ; ' + s)


def begin(name, saved=(), what=None):
    print(f'\n    .section .text.{name}, "ax", @progbits\n    .global {name}\n    .type {name}, @function')
    lab(name)
    if what: com(what)
    for r in saved: o(f'push r{r}')


def end(name, saved=(), more=lambda: None):
    """`more` makes what the routine calls"""
    for r in reversed(saved): o(f'pop r{r}')
    o('clr r1'); o('ret'); more(); print(f'    .size {name}, .-{name}')


def table(name, rows):
    print(f'\n    .section .progmem.data.{name}, "a", @progbits\n    .global {name}')
    lab(name)
    for row in rows: o('.byte ' + ', '.join(map(str, row)))
    lab(name + '_end')


def add_constant(r, k):
    """r+1:r += k, upper registers only"""
    if k: o(f'subi r{r}, {-k & 255}'); o(f'sbci r{r + 1}, {-k >> 8 & 255}')


def up(lo):
    """the smallest multiple of q that lifts lo to 0 or more"""
    return 0 if lo >= 0 else -(lo // Q)*Q


class Mul:
    """The cheapest (s, x0, y0, x1, y1) for s c and values up to vmax."""
    def __init__(self, c, vmax, signs=(1, -1)):
        assert 0 <= vmax < 65536
        hmax, lmax = vmax >> 8, min(vmax, 255)
        found = []
        def digits(z):
            return [((z - 256*y) % Q, y) for y in range(-13, 14) if (z - 256*y) % Q < 256]
        for s in signs:
            z0 = s*c*INV13 % Q
            for x0, y0 in digits(z0):
                for x1, y1 in digits(256*z0 % Q):
                    if lmax*x0 + hmax*x1 > 65535: continue
                    cost = sum(0 if y == 0 else 2 if abs(y) == 1 else 4 for y in (y0, y1))
                    lo = -(lmax*x0 + hmax*x1 >> 8) - max(0, lmax*y0) - max(0, hmax*y1)
                    hi = 3315 + max(0, -lmax*y0) + max(0, -hmax*y1)
                    found.append(((cost, max(-lo, hi)), s, x0, y0, x1, y1, lo, hi))
        _, self.s, self.x0, self.y0, self.x1, self.y1, self.lo, self.hi = min(found)
        assert (self.s*13*(self.x0 + 256*self.y0) - c) % Q == 0
        assert (self.x1 + 256*self.y1 - 256*(self.x0 + 256*self.y0)) % Q == 0

    def load(self):
        com(f's = {self.s}, 13 ({self.x0} + 256 * {self.y0}), 256 z0 = {self.x1} + 256 * {self.y1}; product in [{self.lo}, {self.hi}]')
        o(f'ldi r{X0}, {self.x0}'); o(f'ldi r{X1}, {self.x1}')
        for y, r in ((self.y0, Y0), (self.y1, Y1)):
            if abs(y) > 1: o(f'ldi r{r}, {abs(y)}')

    def mul(self, v):
        """r1:r0 = s c v in [lo, hi]; v is kept"""
        lo, hi = v
        o(f'mul r{lo}, r{X0}'); o(f'movw r{T0}, r0')
        o(f'mul r{hi}, r{X1}'); o(f'add r{T0}, r0'); o(f'adc r{T1}, r1')
        far = [(y, r, k) for y, r, k in ((self.y0, lo, Y0), (self.y1, hi, Y1)) if abs(y) > 1]
        near = [(y, r) for y, r in ((self.y0, lo), (self.y1, hi)) if abs(y) == 1]
        if not far:
            o(f'mul r{T0}, r{K13}'); o(f'sub r0, r{T1}'); o(f'sbc r1, r{ZERO}')
        else:
            (y, r, k), sign = far[0], 1 if far[0][0] > 0 else -1
            o(f'mul r{r}, r{k}'); o(f'movw r{A0}, r0')
            for y, r, k in far[1:]:
                o(f'mul r{r}, r{k}')
                op = ('add', 'adc') if y*sign > 0 else ('sub', 'sbc')
                o(f'{op[0]} r{A0}, r0'); o(f'{op[1]} r{A1}, r1')
            op = ('add', 'adc') if sign > 0 else ('sub', 'sbc')
            o(f'{op[0]} r{A0}, r{T1}'); o(f'{op[1]} r{A1}, r{ZERO}')
            o(f'mul r{T0}, r{K13}')
            op = ('sub', 'sbc') if sign > 0 else ('add', 'adc')
            o(f'{op[0]} r0, r{A0}'); o(f'{op[1]} r1, r{A1}')
        for y, r in near:
            op = ('sub', 'sbc') if y > 0 else ('add', 'adc')
            o(f'{op[0]} r0, r{r}'); o(f'{op[1]} r1, r{ZERO}')


def row(c):
    """x0, x1, y0, y1 of the constant c for `mul_any`, digits 0..13"""
    z0 = c*INV13 % Q
    z1 = 256*z0 % Q
    return z0 & 255, z1 & 255, z0 >> 8, z1 >> 8


def any_range(rows, vmax):
    h, l = vmax >> 8, min(vmax, 255)
    return min(-(l*x0 + h*x1 >> 8) - l*y0 - h*y1 for x0, x1, y0, y1 in rows), 3315


def mul_any(v, k):
    """r1:r0 = c v, with the row of c in the registers k; v is kept"""
    (lo, hi), (x0, x1, y0, y1) = v, k
    o(f'mul r{lo}, r{y0}'); o(f'movw r{A0}, r0'); o(f'mul r{hi}, r{y1}'); o(f'add r{A0}, r0'); o(f'adc r{A1}, r1')
    o(f'mul r{lo}, r{x0}'); o(f'movw r{T0}, r0'); o(f'mul r{hi}, r{x1}'); o(f'add r{T0}, r0'); o(f'adc r{T1}, r1')
    o(f'adc r{A1}, r{ZERO}'); o(f'add r{A0}, r{T1}'); o(f'adc r{A1}, r{ZERO}')
    o(f'mul r{T0}, r{K13}'); o(f'sub r0, r{A0}'); o(f'sbc r1, r{A1}')
