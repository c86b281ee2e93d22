#!/usr/bin/env python3
"""Generate ntt.S: the transforms of `ntt`, with the register allocation of columns.py.

Values, bounds and steps are those of `ntt::transform::portable` and `ntt::residue`; a Montgomery product is three instructions.
Constants that do not fit wait in registers of the FPU. No branch or address depends on data.
"""
import os
from columns import Column, wipe

P = 367_537_153
NEGATIVE_INVERSE = -pow(P, -1, 1 << 32) % (1 << 32)


def montgomery(a):
    c = (a << 32) % P
    return c - P if c > P // 2 else c


def generator():
    g = 2
    while pow(g, (P - 1) // 2, P) != P - 1:
        g += 1
    return g


PSI = pow(generator(), (P - 1) // 128, P)
ONE = montgomery(1)
SCALE = montgomery(pow(128, -1, P) * (1 << 32) % P)


def zeta(i, inverse=False):
    power = int(f'{i:06b}'[::-1], 2)
    return montgomery(pow(PSI, -power if inverse else power, P))


class Routine(Column):
    def __init__(self, name):
        super().__init__(name, [], 0)
        self.lines = []
        self.held = {}

    def emit(self, text):
        self.lines.append('    ' + text)

    def number(self, register, value):
        self.emit(f'movw {register}, #{value & 0xffff}')
        self.emit(f'movt {register}, #{value >> 16 & 0xffff}')

    def hold(self, name, register, value=None):
        """A constant that stays in a core register."""
        self.held[name] = register
        if value is not None:
            self.number(register, value)

    def wait(self, name, register, value=None):
        """A constant that waits in a register of the FPU."""
        constant = self.value()
        self.homes[constant] = register
        self.held[name] = constant
        if value is not None:
            self.number('r12', value)
            self.emit(f'vmov {register}, r12')

    def with_constants(self, text, inputs, names, **more):
        """A step in which {name} is a constant."""
        values = list(inputs)
        for name in names:
            where = self.held[name]
            if isinstance(where, str):
                text = text.replace(f'{{{name}}}', where)
            else:
                text = text.replace(f'{{{name}}}', f'{{{len(values)}}}')
                values.append(where)
        return self.step(text, values, **more)

    def plus(self, a, b):
        return self.step('add {d}, {0}, {1}', [a, b])

    def minus(self, a, b):
        return self.step('sub {d}, {0}, {1}', [a, b])

    def reduce(self, low, high):
        factor = self.with_constants('mul {d}, {0}, {inverse}', [low], ['inverse'])
        self.with_constants('smlal {0}, {1}, {2}, {p}', [low, high, factor], ['p'], changed=(low, high), results=0)
        return high

    def product(self, a, constant):
        low, high = self.with_constants('smull {d}, {e}, {0}, {z}'.replace('{z}', f'{{{constant}}}'), [a], [constant], results=2)
        return self.reduce(low, high)

    def read(self, pointer, word):
        return self.load(pointer, word)

    def reserved(self):
        return {where for where in self.held.values() if isinstance(where, str)}

    def finish(self, taken):
        """The body, without the registers `taken` and those that hold constants."""
        taken = self.reserved() | set(taken)
        self.lines += self.body([r for r in [f'r{i}' for i in range(13)] + ['lr'] if r not in taken])

    def begin(self):
        name = f'kemqtt_ntru_{self.name}'
        self.lines = [f'    .section .text.{name},"ax",%progbits', '    .align 2', f'    .global {name}',
                      f'    .type {name}, %function', '    .thumb_func', f'{name}:', '    push {r4-r11, lr}']

    def end(self):
        name = f'kemqtt_ntru_{self.name}'
        self.lines += wipe(self.spilled)
        self.emit('pop {r4-r11, pc}')
        self.lines.append(f'    .size {name}, . - {name}')
        return self.lines

    def modulus(self, p, inverse):
        self.hold('p', p, P)
        self.hold('inverse', inverse, NEGATIVE_INVERSE)


def quarters(n, groups, inverse):
    """Two layers. r0: values, r1: three factors for each group."""
    stride = n // groups // 4
    c = Routine(f'ntt_{"inverse" if inverse else "forward"}_{n}_{groups}')
    c.begin()
    c.modulus('r4', 'r5')
    for name, register in (('z0', 'r6'), ('z1', 'r7'), ('z2', 'r8')):
        c.hold(name, register)
    if inverse:
        c.hold('one', 'r9', ONE)
    c.emit(f'movs r2, #{groups}')
    c.emit('vmov s0, s1, r1, r2')
    c.lines.append('1:')
    c.emit('vmov r1, r2, s0, s1')
    c.emit('ldm r1!, {r6-r8}')
    c.emit('subs r2, #1')
    c.emit('vmov s0, s1, r1, r2')
    c.emit(f'movs r3, #{stride}')
    c.lines.append('2:')
    c.spill = [f's{i}' for i in range(2, 16)]
    values = [c.read('r0', i * stride) for i in range(4)]
    if inverse:
        sums = []
        for i in range(2):
            x, y = values[2 * i], values[2 * i + 1]
            sums += [c.plus(x, y), c.product(c.minus(x, y), f'z{i + 1}')]
        for i in range(2):
            x, y = sums[i], sums[2 + i]
            c.store('r0', i * stride, c.product(c.plus(x, y), 'one'))
            c.store('r0', (2 + i) * stride, c.product(c.minus(x, y), 'z0'))
    else:
        t = [c.product(values[2 + i], 'z0') for i in range(2)]
        halves = [[c.plus(values[i], t[i]) for i in range(2)], [c.minus(values[i], t[i]) for i in range(2)]]
        for i, (x, y) in enumerate(halves):
            t = c.product(y, f'z{i + 1}')
            c.store('r0', 2 * i * stride, c.plus(x, t))
            c.store('r0', (2 * i + 1) * stride, c.minus(x, t))
    c.finish(['r0', 'r3'])
    c.emit('adds r0, #4')
    c.emit('subs r3, #1')
    c.emit('bne.w 2b')
    c.emit('vmov r2, s1')
    c.emit(f'add r0, #{12 * stride}')
    c.emit('cmp r2, #0')
    c.emit('bne.w 1b')
    return c.end()


def first(n):
    """Layers 1 to 3 of values whose upper half is zero. r0: values, r1: their middle."""
    eighth = n // 8
    c = Routine(f'ntt_first_{n}')
    c.begin()
    c.modulus('r4', 'r5')
    for i in (1, 2, 3):
        c.hold(f'z{i}', f'r{5 + i}', zeta(i))
    c.emit(f'movs r2, #{eighth}')
    c.lines.append('1:')
    x = [c.read('r0', i * eighth) for i in range(4)]

    def put(group, a, b):
        pointer = 'r0' if group < 2 else 'r1'
        t = b if group == 0 else c.product(b, f'z{group}')
        c.store(pointer, 2 * (group % 2) * eighth, c.plus(a, t))
        c.store(pointer, (2 * (group % 2) + 1) * eighth, c.minus(a, t))

    t = [c.product(x[2 + i], 'z1') for i in range(2)]
    put(2, c.plus(x[0], t[0]), c.plus(x[1], t[1]))
    put(3, c.minus(x[0], t[0]), c.minus(x[1], t[1]))
    put(0, c.plus(x[0], x[2]), c.plus(x[1], x[3]))
    put(1, c.minus(x[0], x[2]), c.minus(x[1], x[3]))
    c.finish(['r0', 'r1', 'r2'])
    c.emit('adds r0, #4')
    c.emit('adds r1, #4')
    c.emit('subs r2, #1')
    c.emit('bne.w 1b')
    return c.end()


def last(n):
    """Layers 3 to 1 of the inverse. r0: values, r1: their middle."""
    eighth = n // 8
    c = Routine(f'ntt_last_{n}')
    c.begin()
    c.modulus('r4', 'r5')
    c.hold('one', 'r3', ONE)
    for i in (1, 2, 3):
        c.wait(f'z{i}', f's{12 + i}', zeta(i, True))
    c.emit(f'movs r2, #{eighth}')
    c.lines.append('1:')
    groups = []
    for i in range(4):
        pointer = 'r0' if i < 2 else 'r1'
        a, b = (c.read(pointer, (2 * (i % 2) + j) * eighth) for j in range(2))
        groups.append([c.product(c.plus(a, b), 'one'), c.product(c.minus(a, b), f'z{i}' if i else 'one')])
    for k in range(2):
        a, b, x, y = (group[k] for group in groups)
        odd, odd_i = c.minus(a, b), c.product(c.minus(x, y), 'z1')
        c.store('r0', (2 + k) * eighth, c.plus(odd, odd_i))
        c.store('r1', (2 + k) * eighth, c.minus(odd, odd_i))
        even, even_i = c.plus(a, b), c.plus(x, y)
        c.store('r0', k * eighth, c.plus(even, even_i))
        c.store('r1', k * eighth, c.minus(even, even_i))
    c.finish(['r0', 'r1', 'r2'])
    c.emit('adds r0, #4')
    c.emit('adds r1, #4')
    c.emit('subs r2, #1')
    c.emit('bne.w 1b')
    return c.end()


def fold():
    """r0: halfwords for the coefficients, r1: values, r2: values that are added, r3: how many."""
    c = Routine('ntt_fold')
    c.begin()
    c.modulus('r4', 'r5')
    c.hold('one', 'r6', ONE)
    c.hold('half', 'r7', P // 2)
    c.lines.append('1:')
    x = c.plus(c.step('ldr {d}, [r1], #4', []), c.step('ldr {d}, [r2], #4', []))
    x = c.product(x, 'one')
    above = c.with_constants('sub {d}, {half}, {0}', [x], ['half'])
    below = c.with_constants('add {d}, {half}, {0}', [x], ['half'])
    below = c.step('asr {d}, {0}, #31', [below])
    wraps = c.step('rsb {d}, {0}, {1}, asr #31', [below, above])
    x = c.with_constants('mla {d}, {1}, {p}, {0}', [x, wraps], ['p'])
    c.step('strh {0}, [r0], #2', [x], results=0)
    c.finish(['r0', 'r1', 'r2', 'r3'])
    c.emit('subs r3, #1')
    c.emit('bne.w 1b')
    return c.end()


def residues(d):
    """Products modulo x^d - w. r0: values that become the product, r1: the other ones, r2: w of each residue."""
    c = Routine(f'ntt_residues_{d}')
    c.begin()
    c.emit('vpush {s16-s31}')
    c.wait('p', 's31', P)
    c.wait('inverse', 's30', NEGATIVE_INVERSE)
    c.wait('one', 's29', ONE)
    c.wait('scale', 's28', SCALE)
    c.spill = [f's{i}' for i in range(28)]
    c.emit('add lr, r2, #512')
    c.emit('vmov s27, lr')
    c.homes[c.value()] = 's27'
    c.lines.append('1:')
    w = c.step('ldr {d}, [r2], #4', [])
    c.held['w'] = w
    b = [c.read('r1', i) for i in range(d)]
    extended = [c.product(b[i], 'w') for i in range(1, d)] + [c.product(x, 'one') for x in b]
    stores = []
    for k in range(0, d, 4):
        count = min(4, d - k)
        sums = [None] * count
        for i in range(d):
            a = c.read('r0', i)
            for j in range(count):
                factor = extended[d - 1 + k + j - i]
                if sums[j] is None:
                    sums[j] = c.step('smull {d}, {e}, {0}, {1}', [a, factor], results=2)
                else:
                    low, high = sums[j]
                    c.step('smlal {0}, {1}, {2}, {3}', [low, high, a, factor], changed=(low, high), results=0)
        for j, (low, high) in enumerate(sums):
            stores.append((k + j, c.product(c.reduce(low, high), 'scale')))
    for k, value in stores:
        c.store('r0', k, value)
    c.finish(['r0', 'r1', 'r2'])
    c.emit(f'adds r0, #{4 * d}')
    c.emit(f'adds r1, #{4 * d}')
    c.emit('vmov r3, s27')
    c.emit('cmp r2, r3')
    c.emit('bne.w 1b')
    c.emit('vpop {s16-s31}')
    return c.end()


HEADER = """\
@ Number theoretic transforms modulo 367537153, generated by ntt.py, which says what is where.
@ Constant time: no branch or address depends on a value.
    .syntax unified
    .thumb
    .fpu fpv4-sp-d16"""

if __name__ == '__main__':
    text = [HEADER] + fold()
    for d in (8, 11, 13):
        n = 128 * d
        text += first(n) + quarters(n, 8, False) + quarters(n, 32, False) + residues(d)
        text += quarters(n, 32, True) + quarters(n, 8, True) + last(n)
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), 'ntt.S'), 'w') as out:
        out.write('\n'.join(text) + '\n')
