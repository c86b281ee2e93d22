#!/usr/bin/env python3
"""Generate sha256_compress.S: the compression of SHA-256 (FIPS 180-4 section 6.2.2) for a Cortex-M4 with an FPU.

Run: python3 sha256_compress.py > sha256_compress.S

All 64 rounds are unrolled, in pairs, so that the round constants are literals and no register points to them. From round 16
on a pair starts with two steps of the message schedule. The last fifteen words of the schedule lie in s0-s14, where
moving one costs a cycle and no address. A word is written once and read twice, seven and fifteen steps later: as W[t - 2] and
as W[t - 16] it never leaves the core registers, since a pair ends with

    BASE = W[t - 16] + sigma1(W[t - 2]) and LAST = W[t - 1] for the next pair's t.

UMAAL with a factor 1 adds three words at once. It also adds what choice and majority are made of, as their terms have no
bit in common: Ch(e, f, g) = (e & f) + (~e & g), Maj(a, b, c) = (a & b) + (c & (a ^ b)). The next round's Maj(a', a, b) is
(a & b) + (a' & (a ^ b)) and takes both terms over. Majorities come last in a pair, when the fewest registers are needed.
No branch or address depends on the state or on the block.
"""
from math import isqrt

OUT = []
STATE = [f'r{i}' for i in range(4, 12)]
ONE, BLOCK = 'r12', 'r1'
WINDOW = 15


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


def literals(label, words):
    OUT.append('    .align 2')
    OUT.append(f'{label}:')
    for i in range(0, len(words), 8):
        OUT.append('    .word ' + ', '.join(f'{word:#010x}' for word in words[i:i + 8]))


def literal(i):
    # a literal lies within 4 KB of its load: half of them before the routine, half behind it
    label, i = ('3b', i) if i < 32 else ('4f', i - 32)
    return f'{label} + {4 * i}'


def window(t):
    """Where W[t] lies, in the place of W[t - 15]"""
    return f's{t % WINDOW}'


def keep(t, word):
    # the first step that reads it back
    if t + 7 < 64:
        e(f'vmov {window(t)}, {word}')


def sigma(out, word, rotations, shift):
    e(f'ror {out}, {word}, #{rotations[0]}')
    e(f'eor {out}, {out}, {word}, ror #{rotations[1]}')
    e(f'eor {out}, {out}, {word}, lsr #{shift}')


def sigma0(out, word):
    sigma(out, word, (7, 18), 3)


def add_sigma1(total, word, t):
    sigma(t, word, (17, 19), 10)
    e(f'add {total}, {total}, {t}')


def choice(h, x, y, z, t, u):
    """h += Ch(x, y, z)"""
    e(f'and {t}, {x}, {y}')
    e(f'bic {u}, {z}, {x}')
    e(f'umaal {h}, {t}, {ONE}, {u}')


def add_sum(h, word, rotations, t):
    """h += the exclusive or of three rotations"""
    first, second, third = rotations
    e(f'eor {t}, {word}, {word}, ror #{second - first}')
    e(f'eor {t}, {t}, {word}, ror #{third - first}')
    e(f'add {h}, {h}, {t}, ror #{first}')


def add_constants_and_words(i, h, g, words, t, u):
    e(f'ldr {t}, {literal(i)}')
    e(f'ldr {u}, {literal(i + 1)}')
    e(f'umaal {h}, {t}, {ONE}, {words[0]}')
    e(f'umaal {g}, {u}, {ONE}, {words[1]}')


def finish_pair(state, t, p, q):
    """The two rounds but for the first choice, the constants and the words"""
    a, b, c, d, e_, f, g, h = state
    add_sum(h, e_, (6, 11, 25), t)
    e(f'add {d}, {d}, {h}')
    choice(g, d, e_, f, t, p)
    add_sum(g, d, (6, 11, 25), t)
    e(f'and {p}, {a}, {b}')
    e(f'eor {q}, {a}, {b}')
    e(f'and {t}, {c}, {q}')
    e(f'umaal {h}, {t}, {ONE}, {p}')
    e(f'add {c}, {c}, {g}')
    add_sum(h, a, (2, 13, 22), t)
    e(f'and {q}, {q}, {h}')
    e(f'umaal {g}, {q}, {ONE}, {p}')
    add_sum(g, h, (2, 13, 22), t)


def rotated(i):
    return STATE[-i % 8:] + STATE[:-i % 8]


def first_rounds():
    """Sixteen rounds on the words of the block; the registers of BASE and LAST and three free ones"""
    t, p, q, w = 'r0', 'r2', 'r3', 'lr'
    for i in range(0, 16, 2):
        a, b, c, d, e_, f, g, h = rotated(i)
        # the block may lie at any address
        for j, word in ((i, q), (i + 1, w)):
            e(f'ldr {word}, [{BLOCK}, #{4 * j}]')
        choice(h, e_, f, g, t, p)
        for word in (q, w):
            e(f'rev {word}, {word}')
        add_constants_and_words(i, h, g, (q, w), t, p)
        if i == 14:
            # W[0], before W[15] takes its place
            e(f'vmov {BLOCK}, {window(0)}')
            add_sigma1(BLOCK, q, t)
        for j, word in ((i, q), (i + 1, w)):
            keep(j, word)
        finish_pair(rotated(i), t, p, q)
    return BLOCK, w, t, p, q


def later_rounds(base, last, t, u, v):
    """The other rounds; the register with the address of the state"""
    for i in range(16, 64, 2):
        a, b, c, d, e_, f, g, h = rotated(i)
        choice(h, e_, f, g, t, u)

        # BASE becomes W[i]
        e(f'vmov {t}, {window(i - 15)}')
        sigma0(u, t)
        e(f'vmov {v}, {window(i - 7)}')
        e(f'umaal {base}, {u}, {ONE}, {v}')
        keep(i, base)
        # W[i - 15] becomes W[i + 1]
        add_sigma1(t, last, u)
        e(f'vmov {last}, {window(i - 14)}')
        sigma0(u, last)
        e(f'vmov {v}, {window(i - 6)}')
        e(f'umaal {t}, {u}, {ONE}, {v}')
        keep(i + 1, t)
        if i == 62:
            # early: an address that was made just before its use costs a cycle
            address = last
            e(f'vmov {address}, s15')
        else:
            # W[i - 14] becomes the next BASE
            add_sigma1(last, base, u)

        add_constants_and_words(i, h, g, (base, t), u, v)
        finish_pair(rotated(i), u, v, base)
        base, last, t = last, t, base
    return address


def compress():
    e(f'mov {ONE}, #1')
    e('push {r4-r11, lr}')
    e('vmov s15, r0')
    e('ldm r0, {r4-r11}')
    address = later_rounds(*first_rounds())
    olds = [name for name in ('r0', 'r1', 'r2', 'r3', 'r12') if name != address]
    for half in (STATE[:4], STATE[4:]):
        e(f'ldm {address}!, {{' + ', '.join(olds) + '}')
        for word, old in zip(half, olds):
            e(f'add {word}, {word}, {old}')
    e(f'stmdb {address}, {{r4-r11}}')
    # nothing of the message stays behind
    e('mov r0, #0')
    for i in range(WINDOW):
        e(f'vmov s{i}, r0')
    e('pop {r4-r11, pc}')


NAME = 'kemqtt_sha256_compress'
OUT += [
    '@ Generated by sha256_compress.py. AAPCS; s0-s15 are used, s0-s14 zero at the end; stack 36 bytes.',
    f'@   void {NAME}(uint32_t state[8], const uint8_t block[64]);',
    '@ Constant time: no branch or address depends on the state or on the block.',
    '    .syntax unified',
    '    .thumb',
    '    .fpu fpv4-sp-d16',
    f'    .section .text.{NAME},"ax",%progbits',
]
literals('3', constants()[:32])
OUT += [
    f'    .global {NAME}',
    f'    .type {NAME}, %function',
    '    .thumb_func',
    f'{NAME}:',
]
compress()
literals('4', constants()[32:])
OUT.append(f'    .size {NAME}, . - {NAME}')
print('\n'.join(OUT))
