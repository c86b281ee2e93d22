#!/usr/bin/env python3
"""Generate sha256_compress.S: the compression of SHA-256 (FIPS 180-4 section 6.2.2) for a Cortex-M4 with an FPU.

Run: python3 sha256_compress.py > sha256_compress.S

The sixteen words of the message schedule that are in use lie in s0-s15. Four times: sixteen rounds, then (but for the last
time) sixteen steps of the schedule in place, for which most of the eight state words move to the stack.

UMAAL with a factor 1 adds three words at once. It also adds what choice and majority are made of, as their terms have no
bit in common: Ch(e, f, g) = (e & f) + (~e & g), Maj(a, b, c) = (a & b) + (c & (a ^ b)). The next round's Maj(a', a, b) is
(a & b) + (a' & (a ^ b)) and takes both terms over, so rounds come in pairs.
No branch or address depends on the state or on the block.
"""
from math import isqrt

OUT = []
STATE = [f'r{i}' for i in range(4, 12)]
T, U, P, Q, ONE, K = 'r0', 'r1', 'r2', 'r3', 'r12', 'lr'


def e(line):
    # the 32-bit form of each instruction: aligned code does not stall the fetch unit
    name, space, rest = line.partition(' ')
    if name not in ('umaal', 'vmov'):
        name += '.w'
    OUT.append('    ' + name + space + rest)


def constants():
    """The first 32 bits of the fractions of the cube roots of the first 64 primes"""
    primes = [n for n in range(2, 312) if all(n % q for q in range(2, isqrt(n) + 1))]
    words = []
    for prime in primes:
        root = 0
        for bit in reversed(range(36)):
            if (root | 1 << bit) ** 3 <= prime << 96:
                root |= 1 << bit
        words.append(root & 0xffffffff)
    assert len(words) == 64 and words[0] == 0x428a2f98 and words[63] == 0xc67178f2
    return words


def load():
    """The block at r1 into s0-s15; it may lie at any address"""
    registers = [f'r{i}' for i in range(2, 10)]
    for half in (0, 8):
        for i, register in enumerate(registers):
            e(f'ldr {register}, [r1, #{4 * (half + i)}]')
        for register in registers:
            e(f'rev {register}, {register}')
        for i, register in enumerate(registers):
            e(f'vmov s{half + i}, {register}')


def choice(x):
    e(f'and {T}, {x[4]}, {x[5]}')
    e(f'bic {U}, {x[6]}, {x[4]}')
    e(f'umaal {x[7]}, {T}, {ONE}, {U}')


def sums(x):
    """h += Sigma1(e), d += h, h += Sigma0(a)"""
    e(f'eor {T}, {x[4]}, {x[4]}, ror #5')
    e(f'eor {T}, {T}, {x[4]}, ror #19')
    e(f'add {x[7]}, {x[7]}, {T}, ror #6')
    e(f'add {x[3]}, {x[3]}, {x[7]}')
    e(f'eor {T}, {x[0]}, {x[0]}, ror #11')
    e(f'eor {T}, {T}, {x[0]}, ror #20')
    e(f'add {x[7]}, {x[7]}, {T}, ror #2')


def two_rounds(i):
    x = STATE[-i % 8:] + STATE[:-i % 8]
    e(f'ldm {K}!, {{{T}, {P}}}')
    e(f'vmov {U}, s{i}')
    e(f'umaal {x[7]}, {T}, {ONE}, {U}')
    choice(x)
    # the next round's h
    e(f'vmov {T}, s{i + 1}')
    e(f'umaal {x[6]}, {P}, {ONE}, {T}')
    sums(x)
    e(f'and {P}, {x[0]}, {x[1]}')
    e(f'eor {Q}, {x[0]}, {x[1]}')
    e(f'and {T}, {x[2]}, {Q}')
    e(f'umaal {x[7]}, {T}, {ONE}, {P}')
    x = x[7:] + x[:7]
    choice(x)
    sums(x)
    e(f'and {T}, {x[0]}, {Q}')
    e(f'umaal {x[7]}, {T}, {ONE}, {P}')


def next_use(word, step):
    """The first step after this one which reads the word"""
    later = [word + distance for distance in (2, 7, 15, 16) if step < word + distance < 16]
    return min(later, default=99)


def schedule(kept):
    """Words 0..15 stand for W[t]..W[t + 15]. Registers are a cache of s0-s15, which is always up to date."""
    cache = dict.fromkeys([U, P, Q] + STATE[:8 - kept])

    def register(word, step, needed):
        for name, held in cache.items():
            if held == word:
                return name
        free = [name for name, held in cache.items() if held not in needed]
        name = max(free, key=lambda name: 100 if cache[name] is None else next_use(cache[name], step - 1))
        e(f'vmov {name}, s{word % 16}')
        cache[name] = word
        return name

    for step in range(16):
        # words are numbered from -16, so that the new one is `step`
        needed = [step - distance for distance in (16, 15, 7, 2)]
        new, w15, w7, w2 = (register(word, step, needed) for word in needed)
        e(f'ror {T}, {w15}, #7')
        e(f'eor {T}, {T}, {w15}, ror #18')
        e(f'eor {T}, {T}, {w15}, lsr #3')
        e(f'umaal {new}, {T}, {ONE}, {w7}')
        e(f'ror {T}, {w2}, #17')
        e(f'eor {T}, {T}, {w2}, ror #19')
        e(f'eor {T}, {T}, {w2}, lsr #10')
        e(f'add {new}, {new}, {T}')
        e(f'vmov s{step}, {new}')
        cache[new] = step


def moved(kept):
    return f'{{{STATE[0]}-{STATE[7 - kept]}}}'


def compress():
    # state words that stay in registers while the schedule advances
    kept = 3
    e('push {r0, r4-r11, lr}')
    e(f'sub sp, sp, #{4 * (8 - kept)}')
    load()
    e('ldm r0, {r4-r11}')
    e(f'mov {ONE}, #1')
    e(f'adr {K}, 3f')
    OUT.append('1:')
    for i in range(0, 16, 2):
        two_rounds(i)
    e(f'adr {T}, 4f')
    e(f'cmp {K}, {T}')
    e('beq 2f')
    e(f'stm sp, {moved(kept)}')
    schedule(kept)
    e(f'ldm sp, {moved(kept)}')
    e('b 1b')
    OUT.append('2:')
    e(f'add sp, sp, #{4 * (8 - kept)}')
    e(f'pop {{{T}}}')
    for half in (STATE[:4], STATE[4:]):
        e(f'ldm {T}, {{{U}, {P}, {Q}, {ONE}}}')
        for word, old in zip(half, (U, P, Q, ONE)):
            e(f'add {word}, {word}, {old}')
        e(f'stm {T}!, {{{half[0]}-{half[3]}}}')
    e('pop {r4-r11, pc}')
    OUT.append('    .align 2')
    OUT.append('3:')
    words = constants()
    for i in range(0, 64, 8):
        OUT.append('    .word ' + ', '.join(f'{word:#010x}' for word in words[i:i + 8]))
    OUT.append('4:')


NAME = 'kemqtt_sha256_compress'
OUT += [
    '@ Generated by sha256_compress.py. AAPCS; s0-s15 are used; stack 60 bytes.',
    f'@   void {NAME}(uint32_t state[8], const uint8_t block[64]);',
    '@ Constant time: no branch or address depends on the state or on the block.',
    '    .syntax unified',
    '    .thumb',
    '    .fpu fpv4-sp-d16',
    f'    .section .text.{NAME},"ax",%progbits',
    '    .align 2',
    f'    .global {NAME}',
    f'    .type {NAME}, %function',
    '    .thumb_func',
    f'{NAME}:',
]
compress()
OUT.append(f'    .size {NAME}, . - {NAME}')
print('\n'.join(OUT))
