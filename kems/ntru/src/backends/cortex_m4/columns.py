#!/usr/bin/env python3
"""Generate columns.S: the sums and differences that split factors and join products, a column of words at a time.

Each routine is a list of steps on named values, in the order in which they run. A value lives in a core register; when those
run out, the one needed last waits in s0-s15, which costs a cycle each way; at the end those are zero again. No branch or
address depends on data.

Arrays are named by the register that points to their first one and their number; the pointers move on by two words, because
the loop takes two columns at a time.
"""
import re

SPILL = [f's{i}' for i in range(16)]


def wipe(registers):
    """At the end of a routine: zero for registers of the FPU that its caller does not get back as they were."""
    scratch = sorted({int(register[1:]) for register in registers} & set(range(16)))
    return ['    movs r0, #0'] * bool(scratch) + [f'    vmov s{i}, r0' for i in scratch]


class Column:
    """A routine for arrays of `count` words. `strides` are the words of an array for each pointer."""

    def __init__(self, name, pointers, count, constants=None):
        self.name, self.pointers, self.count, self.constants = name, pointers, count, constants
        self.steps, self.fresh = [], 0
        # Registers of the FPU: where values may wait, and where some wait from the beginning.
        self.spill, self.homes, self.spilled = SPILL, {}, set()

    def value(self):
        self.fresh += 1
        return self.fresh

    def step(self, text, inputs, changed=(), results=1):
        """`text` with {d} (and {e}) for the results and {0}, {1}, .. for the inputs, of which it changes those in `changed`."""
        made = [self.value() for _ in range(results)]
        self.steps.append((text, made, inputs, changed))
        return made[0] if results == 1 else made

    def load(self, pointer, word):
        return self.step(f'ldr {{d}}, [{pointer}, #{4 * word}]', [])

    def store(self, pointer, word, a):
        self.step(f'str {{0}}, [{pointer}, #{4 * word}]', [a], results=0)

    def add(self, a, b):
        return self.step('uadd16 {d}, {0}, {1}', [a, b])

    def sub(self, a, b):
        return self.step('usub16 {d}, {0}, {1}', [a, b])

    def twice(self, a):
        return self.add(a, a)

    def four_times(self, a):
        return self.twice(self.twice(a))

    def three_times(self, a):
        return self.add(self.twice(a), a)

    def less_3(self, a, b):
        return self.sub(self.sub(a, self.twice(b)), b)

    def scale(self, a, half):
        """Times the bottom (b) or top (t) half of the constants."""
        low = self.step(f'smulb{half} {{d}}, {{0}}, {self.constants[0]}', [a])
        high = self.step(f'smult{half} {{d}}, {{0}}, {self.constants[0]}', [a])
        return self.step('pkhbt {d}, {0}, {1}, lsl #16', [low, high])

    def write(self):
        name = f'kemqtt_ntru_{self.name}'
        counter = f'r{len(self.pointers)}'
        reserved = {*self.pointers, counter}
        lines = [f'    .section .text.{name},"ax",%progbits', '    .align 2', f'    .global {name}',
                 f'    .type {name}, %function', '    .thumb_func', f'{name}:', '    push {r4-r11, lr}']
        if self.constants:
            register, number = self.constants
            reserved.add(register)
            lines.append(f'    movw {register}, #{number & 0xffff}')
            lines.append(f'    movt {register}, #{number >> 16}')
        lines.append(f'    movs {counter}, #{self.count // 2}')
        lines.append('1:')
        column = self.body([r for r in [f'r{i}' for i in range(13)] + ['lr'] if r not in reserved])
        lines += column
        lines += [re.sub(r'#(\d+)\]', lambda offset: f'#{int(offset[1]) + 4}]', line) for line in column]
        lines += [f'    adds {pointer}, #8' for pointer in self.pointers]
        lines += [f'    subs {counter}, #1', '    bne.w 1b', *wipe(self.spilled)]
        lines += ['    pop {r4-r11, pc}', f'    .size {name}, . - {name}']
        return lines

    def body(self, free):
        """Belady's rule: the value whose next use is furthest away leaves, to where a copy of it waits if there is one."""
        uses = {}
        for at, (_, _, inputs, _) in enumerate(self.steps):
            for value in inputs:
                uses.setdefault(value, []).append(at)
        place, waiting, spare, lines = {}, dict(self.homes), [s for s in self.spill if s not in self.homes.values()], []

        def room(busy):
            if free:
                return free.pop(0)
            victim = max((v for v in place if v not in busy), key=lambda v: uses[v][0])
            if victim not in waiting:
                waiting[victim] = spare.pop(0)
                self.spilled.add(waiting[victim])
                lines.append(f'    vmov {waiting[victim]}, {place[victim]}')
            return place.pop(victim)

        def forget(value):
            if value in waiting and value not in self.homes:
                spare.append(waiting.pop(value))

        for at, (text, results, inputs, changed) in enumerate(self.steps):
            for value in dict.fromkeys(inputs):
                if value not in place:
                    place[value] = room(inputs)
                    lines.append(f'    vmov {place[value]}, {waiting[value]}')
            names = [place[value] for value in inputs]
            for value in dict.fromkeys(inputs):
                uses[value] = [use for use in uses[value] if use > at]
                if not uses[value]:
                    free.insert(0, place.pop(value))
                if value in changed or not uses[value]:
                    forget(value)
            made = {}
            for name, value in zip('de', results):
                place[value] = made[name] = room([*inputs, *results])
                # A result that nobody wants, such as the low half of a product.
                if not uses.get(value):
                    uses[value] = [at + 1]
            lines.append('    ' + text.format(*names, **made))
            for value in results:
                if uses[value] == [at + 1] and (at + 1 == len(self.steps) or value not in self.steps[at + 1][2]):
                    free.insert(0, place.pop(value))
        return lines


def at_points(c, a):
    """See `pairs::points::at_points`."""
    four_a3, four_a2 = c.four_times(a[3]), c.four_times(a[2])
    even_2, odd_2 = c.add(a[0], four_a2), c.twice(c.add(a[1], four_a3))
    at_2, at_minus_2 = c.add(even_2, odd_2), c.sub(even_2, odd_2)
    at_3 = a[3]
    for part in (a[2], a[1], a[0]):
        at_3 = c.add(c.three_times(at_3), part)
    even, odd = c.add(a[0], a[2]), c.add(a[1], a[3])
    return [a[0], c.add(even, odd), c.sub(even, odd), at_2, at_minus_2, at_3, a[3]]


def scaled_at_points(c, a):
    """See `pairs::points::scaled_at_points`."""
    highest = c.twice(c.four_times(a[3]))
    values = at_points(c, [c.scale(part, 'b') for part in a])
    return [c.twice(values[0]), c.twice(values[1]), values[2], values[3], c.scale(values[4], 't'), c.scale(values[5], 't'), highest]


FIFTH_THIRD = 0xcccd_aaab


def toeplitz_matrices(u):
    """See `pairs::toeplitz::portable::prepare`. r0: matrices, r1: their array 8."""
    c, u4 = Column(f'toeplitz_matrices_{u}', ['r0', 'r1'], 4 * u), 4 * u

    def put(array, value):
        c.store('r0' if array < 8 else 'r1', array % 8 * u4, value)

    z = [c.load('r0', i * u4) for i in range(8)]
    by_1, by_4 = [], []
    for i in range(6):
        by_1.append(c.sub(z[i + 2], z[i]))
        if 1 <= i < 5:
            by_4.append(c.sub(z[i + 2], c.four_times(z[i])))
    for i in range(3):
        put(4 + i, c.less_3(by_4[i + 1], by_4[i]))
    for i in range(3):
        put(7 + i, c.less_3(by_1[i + 2], by_1[i + 1]))
    for i in range(4):
        put(i, c.sub(by_1[i + 2], c.four_times(by_1[i])))
    return c


def toeplitz_outer(u):
    """See `pairs::toeplitz::portable::zero_and_infinity`. r0: matrices."""
    c, u4 = Column(f'toeplitz_outer_{u}', ['r0'], 4 * u), 4 * u
    both = [c.load('r0', i * u4) for i in range(4)]
    for i in range(3):
        c.store('r0', i * u4, c.less_3(both[i + 1], both[i]))
    return c


def toeplitz_pair(u, point):
    """See `pairs::toeplitz::portable::plus_and_minus`. r0: matrices, r1: the three that they are made of."""
    c, u4 = Column(f'toeplitz_pair{point}_{u}', ['r0', 'r1'], 4 * u), 4 * u
    parts = [c.load('r1', i * u4) for i in range(3)]
    for i in range(2):
        odd = parts[i] if point == 1 else c.twice(parts[i])
        c.store('r0', i * u4, c.add(parts[i + 1], odd))
        c.store('r0', (2 + i) * u4, c.sub(parts[i + 1], odd))
    return c


def toeplitz_pair1(u):
    return toeplitz_pair(u, 1)


def toeplitz_pair2(u):
    return toeplitz_pair(u, 2)


def toeplitz_vectors(u):
    """The last part of the vector is the lowest. r0: vectors."""
    c = Column(f'toeplitz_vectors_{u}', ['r0'], 4 * u, ('r2', FIFTH_THIRD))
    a = [c.load('r0', (3 - i) * 4 * u) for i in range(4)]
    for i, value in enumerate(scaled_at_points(c, a)):
        c.store('r0', i * 4 * u, value)
    return c


def toeplitz_join(u):
    """See `pairs::toeplitz::from_points`. r0: vectors."""
    c, u4 = Column(f'toeplitz_join_{u}', ['r0'], 4 * u), 4 * u
    y = [c.load('r0', i * u4) for i in range(7)]
    even, odd = c.add(y[1], y[2]), c.sub(y[1], y[2])
    even_2, odd_2 = c.add(y[3], y[4]), c.twice(c.sub(y[3], y[4]))
    c.store('r0', 0, c.sub(c.add(c.sub(even, even_2), y[5]), y[0]))
    y3 = c.three_times(y[5])
    c.store('r0', u4, c.add(c.sub(odd, odd_2), y3))
    y9 = c.three_times(y3)
    c.store('r0', 2 * u4, c.add(c.sub(even, c.four_times(even_2)), y9))
    y27 = c.three_times(y9)
    c.store('r0', 3 * u4, c.add(c.add(c.sub(odd, c.four_times(odd_2)), y27), y[6]))
    return c


def three_matrices(c, u, first, b):
    """See `pairs::toeplitz::portable::three`. r1: small matrices."""
    c.store('r1', (first + 3) * u, c.sub(b[1], b[2]))
    c.store('r1', first * u, b[1])
    c.store('r1', (first + 1) * u, b[2])
    c.store('r1', (first + 2) * u, c.sub(b[0], b[1]))
    c.store('r1', (first + 4) * u, c.sub(b[2], b[1]))
    c.store('r1', (first + 5) * u, c.sub(b[3], b[2]))


def toeplitz_shared(u):
    """See `pairs::toeplitz::portable::shared_matrices`. r0: diagonals, r1: small matrices."""
    c = Column(f'toeplitz_shared_{u}', ['r0', 'r1'], u)
    three_matrices(c, u, 0, [c.load('r0', (2 + i) * u) for i in range(4)])
    return c


def toeplitz_halves(u):
    """See `pairs::toeplitz::portable::other_matrices`. r0: diagonals, r1: small matrices."""
    c = Column(f'toeplitz_halves_{u}', ['r0', 'r1'], u)
    a = [c.load('r0', i * u) for i in range(8)]
    three_matrices(c, u, 0, [c.sub(a[i], a[i + 2]) for i in range(4)])
    three_matrices(c, u, 6, [c.sub(a[i + 4], a[i + 2]) for i in range(4)])
    return c


def toeplitz_sums(u):
    """Vectors of `pairs::toeplitz::quarter`. r0: a vector, r1: small vectors."""
    c = Column(f'toeplitz_sums_{u}', ['r0', 'r1'], u)
    v = [c.load('r0', i * u) for i in range(4)]
    for i, (v0, v1) in enumerate([(v[0], v[1]), (v[2], v[3]), (None, None)]):
        if i == 2:
            v0, v1 = c.add(v[0], v[2]), c.add(v[1], v[3])
        at = {0: 6, 1: 3, 2: 0}[i]
        c.store('r1', (at + 2) * u, v0)
        c.store('r1', (at + 1) * u, v1)
        c.store('r1', at * u, c.add(v0, v1))
    return c


def toeplitz_add(u):
    """The end of `pairs::toeplitz::quarter`. r0: a vector, r1: small products."""
    c = Column(f'toeplitz_add_{u}', ['r0', 'r1'], u)
    p = [c.load('r1', i * u) for i in range(9)]
    shared, above, below = ([c.add(p[3 * i], p[3 * i + 1]), c.add(p[3 * i], p[3 * i + 2])] for i in range(3))
    for i, parts in enumerate((above, below)):
        for j in range(2):
            c.store('r0', (2 * i + j) * u, c.add(shared[j], parts[j]))
    return c


def toom_evaluate(u):
    """See `pairs::toom::Scratch::evaluate`. r0: points, r1: their array 8."""
    c, u4 = Column(f'toom_evaluate_{u}', ['r0', 'r1'], 4 * u, ('r3', FIFTH_THIRD)), 4 * u
    a, b = ([c.load('r0', (4 * i + j) * u4) for j in range(4)] for i in range(2))
    for which, values in ((0, scaled_at_points(c, a)), (1, at_points(c, b))):
        for i, value in enumerate(values):
            c.store('r0' if i < 4 else 'r1', (2 * i + which) % 8 * u4, value)
    return c


def toom_from_points(c, w):
    """See `pairs::toom::from_points`."""
    even, odd = c.add(w[1], w[2]), c.sub(w[1], w[2])
    even_2, odd_2 = c.add(w[3], w[4]), c.twice(c.sub(w[3], w[4]))
    p = [c.three_times(w[0]), c.less_3(c.sub(w[5], w[0]), w[6]), w[6]]
    r = [c.sub(odd_2, c.four_times(odd)), c.sub(even_2, c.four_times(even)), c.sub(odd, odd_2), c.sub(even, even_2)]
    four_p0 = c.four_times(p[0])
    five_p0 = c.add(four_p0, p[0])
    four_p1 = c.four_times(p[1])
    c1 = c.less_3(four_p1, r[0])
    five_p1 = c.add(four_p1, p[1])
    c3 = c.less_3(c.sub(r[1], five_p1), r[2])
    c5 = c.add(p[1], r[3])
    four_p2 = c.four_times(p[2])
    c2 = c.less_3(c.add(c.sub(four_p2, five_p0), r[0]), r[1])
    five_p2 = c.add(four_p2, p[2])
    c4 = c.less_3(c.add(c.sub(p[0], five_p2), r[2]), r[3])
    return [four_p0, c1, c2, c3, c4, c5, p[2]]


def toom_interpolate(u):
    """See `pairs::toom::Scratch::interpolate`. r0: points, r1: their array 8."""
    c, u4 = Column(f'toom_interpolate_{u}', ['r0', 'r1'], 4 * u), 4 * u
    halves = []
    for half in range(2):
        w = [c.load('r0' if i < 4 else 'r1', (2 * i + half) % 8 * u4) for i in range(7)]
        halves.append(toom_from_points(c, w))
    low, high = halves
    for i in range(8):
        c.store('r0', i * u4, low[0] if i == 0 else high[6] if i == 7 else c.add(low[i], high[i - 1]))
    return c


def toom_sums(u):
    """Factors of `pairs::toom::quarter`. r0: a factor, r1: small factors."""
    c = Column(f'toom_sums_{u}', ['r0', 'r1'], u)
    p = [c.load('r0', i * u) for i in range(4)]
    for i, (low, high) in enumerate([(p[0], p[1]), (p[2], p[3]), (None, None)]):
        if i == 2:
            low, high = c.add(p[0], p[2]), c.add(p[1], p[3])
        c.store('r1', 3 * i * u, low)
        c.store('r1', (3 * i + 1) * u, high)
        c.store('r1', (3 * i + 2) * u, c.add(low, high))
    return c


def toom_add(u):
    """The end of `pairs::toom::quarter`. r0: the product, r1: small products."""
    c = Column(f'toom_add_{u}', ['r0', 'r1'], u)

    def karatsuba(i):
        low, high, whole = ([c.load('r1', (2 * (3 * i + j) + k) * u) for k in range(2)] for j in range(3))
        d = c.sub(low[1], high[0])
        return [low[0], c.add(c.sub(d, low[0]), whole[0]), c.sub(c.sub(whole[1], d), high[1]), high[1]]

    low, high = karatsuba(0), karatsuba(1)
    c.store('r0', 0, low[0])
    c.store('r0', u, low[1])
    c.store('r0', 6 * u, high[2])
    c.store('r0', 7 * u, high[3])
    d = [c.sub(low[2 + i], high[i]) for i in range(2)]
    below = [c.sub(d[i], low[i]) for i in range(2)]
    beyond = [c.add(d[i], high[2 + i]) for i in range(2)]
    whole = karatsuba(2)
    for i in range(2):
        c.store('r0', (2 + i) * u, c.add(below[i], whole[i]))
        c.store('r0', (4 + i) * u, c.sub(whole[2 + i], beyond[i]))
    return c


ROUTINES = [toeplitz_matrices, toeplitz_outer, toeplitz_pair1, toeplitz_pair2, toeplitz_vectors, toeplitz_join, toeplitz_shared,
            toeplitz_halves, toeplitz_sums, toeplitz_add,
            toom_evaluate, toom_interpolate, toom_sums, toom_add]

HEADER = """\
@ Columns of words that split factors and join products, generated by columns.py, which says what is where.
@ Constant time: no branch or address depends on a value.
    .syntax unified
    .thumb
    .fpu fpv4-sp-d16"""

if __name__ == '__main__':
    text = [HEADER] + [line for routine in ROUTINES for u in (16, 22, 26) for line in routine(u).write()]
    with open(__file__.replace('.py', '.S'), 'w') as out:
        out.write('\n'.join(text) + '\n')
