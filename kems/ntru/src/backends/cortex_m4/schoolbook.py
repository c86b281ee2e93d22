#!/usr/bin/env python3
"""Generate schoolbook.S: products of polynomials modulo 2^16 for ARMv7E-M with an FPU.

Design
------
* A tile is eight coefficients of the product: their sums stay in r0-r7, and step c adds the terms of a[2 c] and a[2 c + 1].
* Coefficient 2 p + 1 takes word B[p - c] of b crossed with A[c], and coefficient 2 p the same word with the pair
  (A[c].low, A[c - 1].high). A tile's window is four words in r8-r11, and each step brings one new word.
* All of a waits in s0.., and so does b if both fit; otherwise b comes in chunks through the rest of the registers of the FPU.
No branch or address depends on data.
"""
from columns import wipe

PRODUCTS = 9
A, B, OUT, LEFT = (f'[sp, #{4 * i}]' for i in range(4))
SLOTS = 16
PAIRS = 4


class Tile:
    """Words 4 t to 4 t + 3 of the product."""

    def __init__(self, c, t, emit):
        self.c, self.t, self.emit = c, t, emit
        self.started = set()
        self.inside = {}

    def window(self, k):
        return f'r{8 + k % PAIRS}'

    def sum(self, register, first, following, x, y):
        """register += ..., or = in its first step."""
        if register in self.started:
            self.emit(f'{following} {register}, {x}, {y}, {register}')
        else:
            self.emit(f'{first} {register}, {x}, {y}')
            self.started.add(register)

    def bring(self, k, last, free):
        """Word k of b into the window; `last` is the lowest word that the tile will need."""
        if self.c <= 16:
            self.emit(f'vmov {self.window(k)}, s{self.c + k}')
            return
        if k not in self.inside:
            room = 32 - self.c
            count = k - last + 1
            n = -(-count // room)
            size = -(-count // n)
            first = k - size + 1
            self.emit(f'ldr {free}, {B}')
            if first:
                self.emit(f'add {free}, #{4 * first}')
            self.emit(f'vldm {free}, {{s{self.c}-s{self.c + size - 1}}}')
            self.inside = {first + i: f's{self.c + i}' for i in range(size)}
        self.emit(f'vmov {self.window(k)}, {self.inside[k]}')

    def write(self):
        c, top, emit = self.c, PAIRS * self.t, self.emit
        begin, end = max(0, top - c + 1), min(c, top + PAIRS - 1)
        v, s = 'r12', 'lr'
        last = max(0, top - end)
        opening = [k for k in range(top - begin, top + PAIRS - begin) if 0 <= k < c]
        if c <= 16:
            for k in opening:
                self.bring(k, 0, s)
        else:
            emit(f'ldr {s}, {B}')
            for k in opening:
                emit(f'ldr {self.window(k)}, [{s}, #{4 * k}]')
        if begin:
            emit(f'vmov {v}, s{begin - 1}')
        for step in range(begin, end + 1):
            if step > begin and top - step >= 0:
                self.bring(top - step, last, s)
            if step < c:
                if step:
                    v, s = s, v
                emit(f'vmov {v}, s{step}')
                if step:
                    emit(f'pkhbt {s}, {v}, {s}')
            for p in range(PAIRS):
                k = top + p - step
                if not 0 <= k < c:
                    continue
                even, odd, w = f'r{2 * p}', f'r{2 * p + 1}', self.window(k)
                if step == 0:
                    self.sum(even, 'smulbb', 'smlabb', v, w)
                elif step < c:
                    self.sum(even, 'smuad', 'smlad', s, w)
                else:
                    self.sum(even, 'smultt', 'smlatt', v, w)
                if step < c:
                    self.sum(odd, 'smuadx', 'smladx', v, w)
        emit(f'ldr {s}, {OUT}')
        for p in range(PAIRS):
            even, odd = f'r{2 * p}', f'r{2 * p + 1}'
            emit(f'pkhbt {even}, {even}, {odd}, lsl #16' if odd in self.started else f'uxth {even}, {even}')
        emit(f'stm {s}!, {{r0, r2, r4, r6}}')
        emit(f'str {s}, {OUT}')


def function(m):
    c = m // 2
    name = f'kemqtt_ntru_schoolbook_{m}'
    lines = [f'    .section .text.{name},"ax",%progbits', '    .align 2', f'    .global {name}', f'    .type {name}, %function',
             '    .thumb_func', f'{name}:']
    emit = lambda text: lines.append('    ' + text)
    emit('push {r4-r11, lr}')
    emit('vpush {s16-s31}')
    emit(f'sub sp, #{SLOTS}')
    emit(f'str r0, {OUT}')
    emit(f'str r1, {A}')
    emit(f'str r2, {B}')
    emit(f'movs r3, #{PRODUCTS}')
    emit(f'str r3, {LEFT}')
    lines.append('1:')
    emit(f'ldr r1, {A}')
    emit(f'vldm r1!, {{s0-s{c - 1}}}')
    emit(f'str r1, {A}')
    if c <= 16:
        emit(f'ldr r2, {B}')
        emit(f'vldm r2, {{s{c}-s{2 * c - 1}}}')
    for t in range(2 * c // PAIRS):
        Tile(c, t, emit).write()
    emit(f'ldr r2, {B}')
    emit(f'ldr r3, {LEFT}')
    emit(f'add r2, #{4 * c}')
    emit(f'str r2, {B}')
    emit('subs r3, #1')
    emit(f'str r3, {LEFT}')
    emit('bne.w 1b')
    emit(f'add sp, #{SLOTS}')
    emit('vpop {s16-s31}')
    lines += wipe(f's{i}' for i in range(16))
    emit('pop {r4-r11, pc}')
    lines.append(f'    .size {name}, . - {name}')
    return lines


HEADER = f"""\
@ Products of polynomials modulo 2^16, generated by schoolbook.py.
@ void kemqtt_ntru_schoolbook_m(uint32_t products[{PRODUCTS}][m], const uint32_t a[{PRODUCTS}][m / 2], const uint32_t b[{PRODUCTS}][m / 2])
@ AAPCS with an FPU; stack {36 + 64 + SLOTS} bytes. Constant time: no branch or address depends on a value.
    .syntax unified
    .thumb
    .fpu fpv4-sp-d16"""

if __name__ == '__main__':
    text = [HEADER] + [line for m in (32, 44, 52) for line in function(m)]
    with open(__file__.replace('.py', '.S'), 'w') as out:
        out.write('\n'.join(text) + '\n')
