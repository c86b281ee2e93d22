#!/usr/bin/env python3
"""Generate toeplitz.S: products of Toeplitz matrices and vectors modulo 2^16 for ARMv7E-M with an FPU.

Design
------
* A tile is eight rows (four at the end of 44 and 52): their sums stay in r0-r7, and step c adds columns 2 c and 2 c + 1.
* Word W[k] of the matrix holds the diagonals 2 k and 2 k + 1. Row 2 p takes W[C - 1 + p - c] crossed with the vector's word
  V[c]; row 2 p + 1 takes W[C + p - c] with the pair (V[c].low, V[c - 1].high). A tile's window is four words in r8-r11,
  and each step brings one new word.
* A step is eight dual products, one pkhbt and two vmov: the whole vector waits in s0.., the words of the matrix come in chunks
  through the rest of the registers of the FPU. At 32 rows these hold the 16 words below the window all the time, and the tiles
  are written out because the registers take turns.
No branch or address depends on data.
"""
from columns import wipe

TOP, CHUNK, OUT, ROWS, LEFT = (f'[sp, #{4 * i}]' for i in range(5))
SLOTS = 24


def chunks(c, room):
    """Nearly equal chunks of c words."""
    n = -(-c // room)
    return [c // n + (i < c % n) for i in range(n)]


def ring(t, emit):
    """The opening of tile t of 32 rows: word k waits in s16 + k % 16. Returns the words' registers in the order of their use."""
    emit(f'ldr lr, {TOP}')
    if t:
        first = 16 + 4 * (t - 1)
        emit(f'vldmia lr!, {{s{first}-s{first + 3}}}')
        emit(f'str lr, {TOP}')
    emit('ldm lr, {r8-r11}')
    return [f's{16 + k % 16}' for k in reversed(range(4 * t, 4 * t + 16))]


def tile(c, pairs, emit, t=None):
    """2 * pairs rows. r12 and lr take turns with V[c] and the pair that odd rows need."""
    window = lambda k: f'r{8 + (k - c) % pairs}'
    sizes = chunks(c, 32 - c)
    v, s = 'r12', 'lr'
    waiting = []

    def refill(pointer):
        size = sizes.pop(0)
        waiting.extend(f's{c + i}' for i in reversed(range(size)))
        emit(f'vldmdb {pointer}!, {{s{c}-s{c + size - 1}}}')
        if sizes:
            emit(f'str {pointer}, {CHUNK}')

    if t is None:
        emit(f'ldr {s}, {TOP}')
        emit(f'ldm {s}, {{r8-r{7 + pairs}}}')
        refill(s)
    else:
        waiting = ring(t, emit)
    for step in range(c):
        if not waiting:
            emit(f'ldr {s}, {CHUNK}')
            refill(s)
        if step == 0:
            emit(f'vmov {v}, s0')
        else:
            v, s = s, v
            emit(f'vmov {v}, s{step}')
            emit(f'pkhbt {s}, {v}, {s}')
        for p in reversed(range(pairs)):
            w = window(c + p - step)
            if step == 0:
                emit(f'smulbb r{2 * p + 1}, {v}, {w}')
            else:
                emit(f'smlad r{2 * p + 1}, {s}, {w}, r{2 * p + 1}')
        emit(f'vmov {window(c - 1 - step)}, {waiting.pop(0)}')
        for p in reversed(range(pairs)):
            w = window(c - 1 + p - step)
            if step == 0:
                emit(f'smuadx r{2 * p}, {v}, {w}')
            else:
                emit(f'smladx r{2 * p}, {v}, {w}, r{2 * p}')
    emit(f'ldr {s}, {OUT}')
    for p in range(pairs):
        emit(f'smlatt r{2 * p + 1}, {v}, {window(p)}, r{2 * p + 1}')
        emit(f'pkhbt r{2 * p}, r{2 * p}, r{2 * p + 1}, lsl #16')
    emit(f'stm {s}!, {{{", ".join(f"r{2 * p}" for p in range(pairs))}}}')
    emit(f'str {s}, {OUT}')


def small_tiles(emit):
    """32 rows."""
    emit('sub r1, #64')
    emit('vldmia r1!, {s16-s31}')
    for t in range(4):
        tile(16, 4, emit, t)
    emit(f'ldr r0, {TOP}')


def tiles_in_loop(c, tiles, rest, lines, emit):
    emit(f'add r1, #{16 * tiles}')
    emit(f'str r1, {ROWS}')
    lines.append('2:')
    tile(c, 4, emit)
    emit(f'ldr r0, {TOP}')
    emit(f'ldr r1, {ROWS}')
    emit('add r0, #16')
    emit(f'str r0, {TOP}')
    emit('cmp r0, r1')
    emit('bne.w 2b')
    if rest:
        tile(c, rest, emit)
        emit(f'ldr r0, {TOP}')


def function(m):
    c, tiles, rest = m // 2, m // 8, m % 8 // 2
    name = f'kemqtt_ntru_toeplitz_{m}'
    lines = [f'    .section .text.{name},"ax",%progbits', '    .align 2', f'    .global {name}', f'    .type {name}, %function',
             '    .thumb_func', f'{name}:']
    emit = lambda text: lines.append('    ' + text)
    emit('push {r4-r11, lr}')
    emit('vpush {s16-s31}')
    emit(f'sub sp, #{SLOTS}')
    emit(f'str r0, {OUT}')
    emit(f'add r1, #{4 * c}')
    emit(f'str r1, {TOP}')
    emit(f'str r2, {LEFT}')
    lines.append('1:')
    emit(f'ldr r0, {OUT}')
    emit(f'vldm r0, {{s0-s{c - 1}}}')
    emit(f'ldr r1, {TOP}')
    if m == 32:
        small_tiles(emit)
        passed = 48
    else:
        tiles_in_loop(c, tiles, rest, lines, emit)
        passed = 16 * tiles
    emit(f'ldr r2, {LEFT}')
    emit(f'add r0, #{8 * c - passed}')
    emit(f'str r0, {TOP}')
    emit('subs r2, #1')
    emit(f'str r2, {LEFT}')
    emit('bne.w 1b')
    emit(f'add sp, #{SLOTS}')
    emit('vpop {s16-s31}')
    lines += wipe(f's{i}' for i in range(16))
    emit('pop {r4-r11, pc}')
    lines.append(f'    .size {name}, . - {name}')
    return lines


HEADER = f"""\
@ Toeplitz matrices times vectors modulo 2^16, generated by toeplitz.py.
@ void kemqtt_ntru_toeplitz_m(uint32_t vectors[count][m / 2], const uint32_t matrices[count][m], uint32_t count)
@ Each vector becomes the product. Entry (i, j) of a matrix is the 16-bit value m - 1 + i - j of its words.
@ AAPCS with an FPU; stack {36 + 64 + SLOTS} bytes. Constant time: no branch or address depends on a value.
    .syntax unified
    .thumb
    .fpu fpv4-sp-d16"""

if __name__ == '__main__':
    text = [HEADER] + [line for m in (32, 44, 52) for line in function(m)]
    with open(__file__.replace('.py', '.S'), 'w') as out:
        out.write('\n'.join(text) + '\n')
