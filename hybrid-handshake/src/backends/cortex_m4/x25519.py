#!/usr/bin/env python3
"""Generate x25519.S: the Montgomery ladder of X25519 (RFC 7748 section 5) for a Cortex-M4 with an FPU.

Elements are 8 little-endian words, any value below 2^256 modulo p = 2^255 - 19; 2^256 = 38 modulo p.

A product takes four words of the first operand at a time, held in registers, through the eight words of the second, held in
s0-s7: UMAAL adds a partial result and a carry to each product for nothing, so a step of four products costs one move for
the factor, one for the incoming word and one for the outgoing word. The first half of the low result waits in s8-s15.
A square goes through the columns of the 28 products of different words, all of whose operands are in registers; UMAAL with a
factor 2 doubles a column's sum and adds the squares of the words.
No branch or address depends on an element or on the scalar.
"""

OUT = []


def e(line):
    # the 32-bit form of each instruction: aligned code does not stall the fetch unit
    name, space, rest = line.partition(' ')
    if name in ('push', 'pop', 'ldm', 'stm', 'mov'):
        name += '.w'
    OUT.append('    ' + name + space + rest)


def function(name, *body):
    e(f'.section .text.{name},"ax",%progbits')
    e('.align 2')
    e(f'.type {name}, %function')
    e('.thumb_func')
    OUT.append(f'{name}:')
    for part in body:
        part()
    e(f'.size {name}, . - {name}')


A = ['r0', 'r1', 'r2', 'r3']
B = 'r12'
RESULT = [f'r{i}' for i in range(3, 11)]


def step(window, carry, first):
    """window[0] and carry of a column, then the next three columns; carry becomes the new top"""
    for i in range(4):
        if first:
            # the window above its lowest word starts empty
            e(f'mov.w {window[i + 1]}, #0')
            e(f'umaal {window[i]}, {window[i + 1]}, {A[i]}, {B}')
        else:
            e(f'umaal {window[i]}, {carry}, {A[i]}, {B}')


def product(names):
    """a b; names: the physical register of each virtual one. Returns the virtual registers of the words 8..15."""
    r = lambda v: names[v] if names else v
    virtual = [f'v{i}' for i in range(9)]
    # first half of a
    e('ldm lr!, {r0-r3}')
    window = virtual[:5]
    e(f'vmov {B}, s0')
    e(f'umull {r(window[0])}, {r(window[1])}, {A[0]}, {B}')
    for i in range(1, 4):
        e(f'mov.w {r(window[i + 1])}, #0')
        e(f'umaal {r(window[i])}, {r(window[i + 1])}, {A[i]}, {B}')
    for j in range(8):
        if j:
            e(f'vmov {B}, s{j}')
            carry = window.pop()
            e(f'mov.w {r(carry)}, #0')
            step([r(w) for w in window], r(carry), False)
            window.append(carry)
        e(f'vmov s{8 + j}, {r(window[0])}')
        window = window[1:] + [window[0]]
    free = window.pop()
    partial = window
    # second half of a: the partial words 4..7 come from s12-s15, 8..11 from registers
    e('ldm lr, {r0-r3}')
    window = [free] + virtual[5:]
    e(f'vmov {B}, s0')
    e(f'vmov {r(window[0])}, s12')
    step([r(w) for w in window], None, True)
    high = []
    for j in range(8):
        if j:
            e(f'vmov {B}, s{j}')
            if j < 4:
                carry = window.pop()
                e(f'vmov {r(carry)}, s{12 + j}')
            else:
                if j == 4:
                    window.pop()
                carry = partial[j - 4]
            step([r(w) for w in window], r(carry), False)
            window.append(carry)
        if j < 4:
            e(f'vmov s{12 + j}, {r(window[0])}')
            window = window[1:] + [window[0]]
        else:
            high.append(window.pop(0))
    return high + window


def physical():
    """Word 8 + i lies where word i of the result goes next: word 8 + i in RESULT[i + 1], the last one in r11 or lr."""
    high = product(None)
    OUT.clear()
    names = {v: RESULT[i + 1] for i, v in enumerate(high[:7])}
    rest = [v for v in (f'v{i}' for i in range(9)) if v not in names]
    # lr still points to a while v0..v4 are in use
    late = [v for v in rest if v in ('v5', 'v6', 'v7', 'v8')][0]
    names[late] = 'lr'
    names[[v for v in rest if v != late][0]] = 'r11'
    return names, high


def multiply():
    e('push {r0, lr}')
    e('vldm r2, {s0-s7}')
    e('mov lr, r1')
    names, _ = NAMES
    high = [names[v] for v in product(names)]
    # low + 38 high
    e('mov.w r0, #38')
    e('mov.w r1, #0')
    e('vmov r12, s15')
    e(f'umaal r12, r1, {high[7]}, r0')
    from_the_top('r12', 'r1', 'r2')
    for i, word in enumerate(high[:7]):
        e(f'vmov {RESULT[i]}, s{8 + i}')
        e(f'umaal {RESULT[i]}, r1, {word}, r0')
    e(f'add.w {RESULT[7]}, r1, r12, lsr #1')
    e('pop {r1, lr}')
    e('stm r1, {r3-r10}')
    e('bx lr')


class Code:
    """A sequence of instructions on any number of values, for registers as a cache of s0-s15"""

    def __init__(self):
        self.steps = []
        self.count = 0
        self.constants = {}

    def value(self):
        self.count += 1
        return self.count

    def constant(self, number):
        value = self.value()
        self.constants[value] = number
        return value

    def step(self, text, reads, writes):
        """text has a {} for each of the writes, then for each of the reads which are not written"""
        self.steps.append((text, reads, writes))

    def emit(self, placed, free):
        """placed: a register for each value that there is from the start"""
        place = {register: None for register in free} | {register: value for value, register in placed.items()}
        slots, saved = [f's{i}' for i in range(16)], {}
        constants = dict(self.constants)

        def next_use(value, now):
            return next((i for i, (_, reads, _) in enumerate(self.steps) if i >= now and value in reads), None)

        def register(value, now, needed, load):
            for name, held in place.items():
                if held == value:
                    return name
            names = [name for name, held in place.items() if held not in needed or held is None]
            dead = [name for name in names if place[name] is None or next_use(place[name], now) is None]
            if dead:
                name = dead[0]
            else:
                name = max(names, key=lambda name: next_use(place[name], now))
                old = place[name]
                if old not in saved and old not in constants:
                    saved[old] = slots.pop(0)
                    e(f'vmov {saved[old]}, {name}')
            place[name] = value
            if load and value in constants:
                e(f'mov {name}, #{constants[value]}')
            elif load:
                e(f'vmov {name}, {saved[value]}')
            return name

        for now, (text, reads, writes) in enumerate(self.steps):
            names = {value: register(value, now, reads, True) for value in reads}
            for value in writes:
                if value not in reads:
                    # not yet in any register: operands that are not used again make room
                    still = [v for v in reads if v in writes or next_use(v, now + 1) is not None]
                    others = [v for v in writes if v in names]
                    names[value] = register(value, now + 1, still + others, False)
                elif value in saved:
                    slots.insert(0, saved.pop(value))
                constants.pop(value, None)
            order = writes + [value for value in reads if value not in writes]
            e(text.format(*(names[value] for value in order)))
            for value in list(saved):
                if next_use(value, now + 1) is None:
                    slots.insert(0, saved.pop(value))


def square():
    e('push {r0, lr}')
    code = Code()
    a = [code.value() for _ in range(8)]
    two = code.constant(2)

    def product(text, low, high, x, y):
        reads = ([low, high] if text == 'umaal' else []) + [x] + ([y] if y != x else [])
        code.step(text + (' {}, {}, {}, {}' if y != x else ' {0}, {1}, {2}, {2}'), reads, [low, high])

    words, pending, carry, above = [], [], None, None
    for column in range(16):
        pairs = [(i, column - i) for i in range(8) if i < column - i < 8]
        # each product leaves a word here and one in the next column, and UMAAL takes two away
        sums, odd = divmod(len(pending) + len(pairs) - 1, 2) if pairs else (0, 0)
        if odd:
            sums += 1
        following = []
        for n, (i, j) in enumerate(pairs):
            if n < len(pairs) - sums:
                low, high = code.value(), code.value()
                product('umull', low, high, a[i], a[j])
            else:
                if len(pending) < 2:
                    pending.append(code.constant(0))
                low, high = pending.pop(0), pending.pop(0)
                product('umaal', low, high, a[i], a[j])
            pending.append(low)
            following.append(high)
        assert len(pending) == (1 if 0 < column < 15 else 0), column
        if column % 2 == 0:
            word, above = code.value(), code.value()
            product('umull', word, above, a[column // 2], a[column // 2])
        else:
            word = above
        if column == 1:
            carry = code.constant(0)
        if column == 15:
            code.step('add.w {0}, {0}, {1}', [word, carry], [word])
        elif column:
            product('umaal', word, carry, pending[0], two)
        words.append(word)
        pending = following
    # low + 38 high
    factor, over, free, out = code.constant(38), code.constant(0), code.value(), code.value()
    product('umaal', words[7], over, words[15], factor)
    code.step('lsls.w {0}, {0}, #1', [words[7]], [words[7]])
    code.step('adc.w {0}, {0}, {0}', [over], [over])
    code.step('add.w {0}, {1}, {1}, lsl #1', [over], [free])
    code.step('add.w {0}, {1}, {0}, lsl #4', [over, free], [over])
    code.step('ldr.w {0}, [sp], #4', [], [out])
    for i in range(7):
        product('umaal', words[i], over, words[8 + i], factor)
        code.step(f'str.w {{0}}, [{{1}}, #{4 * i}]', [words[i], out], [])
    code.step('add.w {0}, {0}, {1}, lsr #1', [over, words[7]], [over])
    code.step('str.w {0}, [{1}, #28]', [over, out], [])
    e('ldm r1, {r2-r9}')
    code.emit({value: f'r{2 + i}' for i, value in enumerate(a)}, ['r0', 'r1', 'r10', 'r11', 'r12', 'lr'])
    e('pop {pc}')


def from_the_top(word, above, free):
    """Folds what a result has from 2^255 up, so that it enters with the first carry and the last carry finds room: the result
    is `bounded`, below 2^255 + 2^242. `word` is left at twice the rest; `above`, what lies over it, becomes the carry."""
    e(f'lsls.w {word}, {word}, #1')
    e(f'adc.w {above}, {above}, {above}')
    # 2^255 = 19
    e(f'add.w {free}, {above}, {above}, lsl #1')
    e(f'add.w {above}, {free}, {above}, lsl #4')


# the ladder's frame
X1, X2, Z2, X3, Z3, T0, T1, T2 = range(0, 256, 32)
SCALAR, BIT, SWAP, RESULT_PLACE, FRAME = 256, 260, 264, 268, 272


def add_subtract(total, difference, a, b):
    """Sum and difference of two bounded elements of the frame, the sum by UMAAL with a factor 1, which leaves the flags alone.
    Where the sum is beyond 2^256, the 38 for it find room in the rest; where the difference borrows 2^256, 38 can be taken
    from what is there then."""
    e(f'add.w r0, sp, #{a}')
    e('ldm r0, {r3-r10}')
    e(f'add.w r2, sp, #{b}')
    e('mov r1, #1')
    e('mov r0, #0')
    for i in range(0, 8, 2):
        e('ldm r2!, {r11, r12}')
        for k, word in ((i, 'r11'), (i + 1, 'r12')):
            e(f'{"sbcs" if k else "subs"}.w lr, {RESULT[k]}, {word}')
            e(f'umaal {RESULT[k]}, r0, r1, {word}')
            e(f'vmov s{k}, lr')
    e('sbc.w lr, lr, lr')
    e('and.w lr, lr, #38')
    e('rsb.w r0, r0, #0')
    e('and.w r0, r0, #38')
    e('adds.w r3, r3, r0')
    for word in RESULT[1:]:
        e(f'adcs {word}, {word}, #0')
    e(f'add.w r1, sp, #{total}')
    e('stm r1, {r3-r10}')
    for i, word in enumerate(RESULT):
        e(f'vmov {word}, s{i}')
    e('subs.w r3, r3, lr')
    for word in RESULT[1:]:
        e(f'sbcs {word}, {word}, #0')
    e(f'add.w r1, sp, #{difference}')
    e('stm r1, {r3-r10}')


def subtract_multiply_add(t, u):
    """u = t - u of bounded elements, t = t + 121665 u"""
    e(f'add.w r0, sp, #{t}')
    e('ldm r0, {r3-r10}')
    e(f'add.w r2, sp, #{u}')
    e('mov r1, r2')
    for i in range(0, 8, 2):
        e('ldm r2!, {r11, r12}')
        e(f'{"sbcs" if i else "subs"}.w {RESULT[i]}, {RESULT[i]}, r11')
        e(f'sbcs.w {RESULT[i + 1]}, {RESULT[i + 1]}, r12')
    e('sbc.w r2, r2, r2')
    e('and.w r2, r2, #38')
    e('subs.w r3, r3, r2')
    for word in RESULT[1:]:
        e(f'sbcs {word}, {word}, #0')
    e('stm r1, {r3-r10}')
    e('movw r1, #0xdb41')
    e('movt r1, #1')
    e('mov r0, #0')
    e(f'ldr.w r11, [sp, #{t + 28}]')
    e('umaal r11, r0, r10, r1')
    from_the_top('r11', 'r0', 'r12')
    for i in range(0, 7, 2):
        loaded = ('r2', 'r12')[:7 - i]
        e(f'ldrd r2, r12, [sp, #{t + 4 * i}]' if i < 6 else f'ldr.w r2, [sp, #{t + 4 * i}]')
        for k, word in enumerate(loaded):
            e(f'umaal {word}, r0, {RESULT[i + k]}, r1')
            e(f'str.w {word}, [sp, #{t + 4 * (i + k)}]')
    e('add.w r0, r0, r11, lsr #1')
    e(f'str.w r0, [sp, #{t + 28}]')


def call(name, out, a, b):
    e(f'add.w r0, sp, #{out}')
    e(f'add.w r1, sp, #{a}')
    e(f'add.w r2, sp, #{b}')
    e(f'bl {name}')


def call_square(out, a):
    e(f'add.w r0, sp, #{out}')
    e(f'add.w r1, sp, #{a}')
    e('bl fe_square')


def exchange():
    """x2, z2 with x3, z3 under the mask r2, by which SEL takes one of two words"""
    e('mvn.w r2, r2')
    e('uadd8 r3, r2, r2')
    e(f'add.w r0, sp, #{X2}')
    e(f'add.w r1, sp, #{X3}')
    for _ in range(4):
        e('ldm r0, {r3-r6}')
        e('ldm r1, {r7-r10}')
        for i in range(4):
            # each first result goes where the word before it was
            e(f'sel r{2 + i}, r{3 + i}, r{7 + i}')
            e(f'sel r{7 + i}, r{7 + i}, r{3 + i}')
        e('stm r0!, {r2-r5}')
        e('stm r1!, {r7-r10}')


def wipe(zero):
    for i in range(16):
        e(f'vmov s{i}, {zero}')


def ladder():
    e('push {r4-r11, lr}')
    e(f'sub.w sp, sp, #{FRAME}')
    e(f'str.w r0, [sp, #{RESULT_PLACE}]')
    e(f'str.w r1, [sp, #{SCALAR}]')
    e('ldm r2, {r3-r10}')
    for place in (X1, X3):
        e(f'add.w r0, sp, #{place}')
        e('stm r0, {r3-r10}')
    for place, value in ((X2, 1), (Z2, 0), (Z3, 1)):
        e(f'add.w r0, sp, #{place}')
        e(f'mov.w r3, #{value}')
        e('mov.w r4, #0')
        e('str.w r3, [r0], #4')
        for _ in range(7):
            e('str.w r4, [r0], #4')
    e('mov.w r3, #254')
    e(f'str.w r3, [sp, #{BIT}]')
    e('mov.w r3, #0')
    e(f'str.w r3, [sp, #{SWAP}]')
    OUT.append('1:')
    e(f'ldr.w r0, [sp, #{BIT}]')
    e(f'ldr.w r1, [sp, #{SCALAR}]')
    e(f'ldr.w r3, [sp, #{SWAP}]')
    e('lsr.w r2, r0, #3')
    e('ldrb.w r1, [r1, r2]')
    e('and.w r2, r0, #7')
    e('lsr.w r1, r1, r2')
    e('and.w r1, r1, #1')
    e(f'str.w r1, [sp, #{SWAP}]')
    e('eor.w r2, r3, r1')
    e('rsb.w r2, r2, #0')
    exchange()
    add_subtract(T0, T1, X2, Z2)
    add_subtract(T2, X3, X3, Z3)
    call('fe_mul', X3, X3, T0)
    call('fe_mul', T2, T2, T1)
    call_square(T0, T0)
    call_square(T1, T1)
    add_subtract(X3, Z3, X3, T2)
    call_square(X3, X3)
    call_square(Z3, Z3)
    call('fe_mul', Z3, Z3, X1)
    call('fe_mul', X2, T0, T1)
    subtract_multiply_add(T0, T1)
    call('fe_mul', Z2, T1, T0)
    e(f'ldr.w r0, [sp, #{BIT}]')
    e('subs.w r0, r0, #1')
    e(f'str.w r0, [sp, #{BIT}]')
    e('bpl.w 1b')
    e(f'ldr.w r1, [sp, #{SWAP}]')
    e('rsb.w r2, r1, #0')
    exchange()
    e(f'ldr.w r0, [sp, #{RESULT_PLACE}]')
    for place in (X2, Z2):
        e(f'add.w r1, sp, #{place}')
        e('ldm r1, {r3-r10}')
        e('stm r0!, {r3-r10}')
    # nothing of the secret stays in the frame or in the scratchpad
    e('mov.w r3, #0')
    e('mov.w r0, sp')
    e(f'mov.w r1, #{FRAME // 4}')
    OUT.append('2:')
    e('str.w r3, [r0], #4')
    e('subs.w r1, r1, #1')
    e('bne.w 2b')
    wipe('r3')
    e(f'add.w sp, sp, #{FRAME}')
    e('pop {r4-r11, pc}')


def exported(name, *body):
    OUT.append(f'    .global {name}')
    function(name, *body)


def multiply_for_c():
    e('push {r4-r11, lr}')
    e('bl fe_mul')
    e('mov r0, #0')
    wipe('r0')
    e('pop {r4-r11, pc}')


def square_for_c():
    """r0 = r0^(2^r1)"""
    e('push {r4-r11, lr}')
    e('push {r0, r1}')
    OUT.append('1:')
    e('ldr.w r0, [sp]')
    e('mov r1, r0')
    e('bl fe_square')
    e('ldr.w r1, [sp, #4]')
    e('subs.w r1, r1, #1')
    e('str.w r1, [sp, #4]')
    e('bne.w 1b')
    wipe('r1')
    e('add.w sp, sp, #8')
    e('pop {r4-r11, pc}')


NAMES = physical()

OUT += [
    '@ Generated by x25519.py. AAPCS; s0-s15 are used, and zero at the end. Elements modulo 2^255 - 19: 8 little-endian words, any value.',
    '@   void kemqtt_x25519_ladder(uint32_t xz[16], const uint8_t scalar[32], const uint32_t u[8]);  stack 316 bytes',
    '@   void kemqtt_fe25519_mul(uint32_t out[8], const uint32_t a[8], const uint32_t b[8]);',
    '@   void kemqtt_fe25519_square_n(uint32_t a[8], uint32_t n);  n >= 1 squarings',
    '@ Constant time: no branch or address depends on an element or on the scalar.',
    '    .syntax unified',
    '    .thumb',
    '    .fpu fpv4-sp-d16',
]
function('fe_mul', multiply)
function('fe_square', square)
exported('kemqtt_x25519_ladder', ladder)
exported('kemqtt_fe25519_mul', multiply_for_c)
exported('kemqtt_fe25519_square_n', square_for_c)
text = '\n'.join(OUT) + '\n'
# one name space for all assembly of an image
print(text.replace(' fe_', ' kemqtt_fe25519_i').replace('.fe_', '.kemqtt_fe25519_i').replace('\nfe_', '\nkemqtt_fe25519_i'), end='')
