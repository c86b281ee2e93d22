#!/usr/bin/env python3
"""Generates encoding.S, LightSaber's conversions between coefficients and bytes: python3 encoding.py > encoding.S

Straight lines for eight coefficients in a loop over a length.  No other branch, no address but by position."""
def o(s): print('    ' + s)
def com(s): print('    ; ' + s)
X, Y, Z = 26, 28, 30

def routine(name, what, body, saved=(), step=None):
    """`body` for every eight coefficients, counted in r20; X = second argument, Z = first argument."""
    print(f'\n    .section .text.{name}, "ax", @progbits\n    .global {name}\n    .type {name}, @function\n{name}:')
    for line in what: com(line)
    for r in saved: o(f'push r{r}')
    o(f'movw r{Z}, r24'); o(f'movw r{X}, r22')
    if step: step()
    print('1:'); body(); o('dec r20'); o('breq 2f'); o('rjmp 1b'); print('2:')
    for r in reversed(saved): o(f'pop r{r}')
    o('clr r1'); o('ret'); print(f'    .size {name}, .-{name}')

def load(*registers):
    for r in registers: o(f'ld r{r}, X+')
def store(*registers):
    for r in registers: o(f'st Z+, r{r}')

def field(bytes, k, width):
    """r18:r19 = the 16 bits from bit `width` * k of `bytes`, those beyond `width` arbitrary."""
    at, shift = width * k // 8, width * k % 8
    low, middle = bytes[at:at + 2]
    high = bytes[at + 2] if shift + width > 16 else None
    if shift <= 2:
        o(f'mov r18, r{low}'); o(f'mov r19, r{middle}')
        for _ in range(shift): o('lsr r19'); o('ror r18')
    else:
        com(f'times {1 << (8 - shift)} over 256')
        o(f'ldi r21, {1 << (8 - shift)}'); o(f'mul r{middle}, r21'); o('movw r18, r0'); o(f'mul r{low}, r21'); o('or r18, r1')
        if high: o(f'mul r{high}, r21'); o('or r19, r0')

def unpack(width):
    bytes = list(range(2, 2 + width))
    sign = 1 << (width - 9)
    def body():
        load(*bytes)
        for k in range(8):
            field(bytes, k, width)
            com('sign'); o(f'andi r19, {2 * sign - 1}'); o(f'eor r19, r22'); o(f'sub r19, r22'); store(18, 19)
    routine(f'saber_unpack{width}', [f'void (int16_t out[8 n], const uint8_t bytes[{width} n], uint8_t n): {width}-bit coefficients, centred'],
            body, [r for r in bytes], lambda: o(f'ldi r22, {sign}'))

def unpack_secret():
    bytes = list(range(2, 15))
    def body():
        load(*bytes)
        for k in range(8):
            at, shift = 13 * k // 8, 13 * k % 8
            low, high = bytes[at:at + 2]
            com('four bits')
            o(f'mov r18, r{low}')
            if shift == 4: o('swap r18')
            elif shift <= 4:
                for _ in range(shift): o('lsr r18')
            else:
                o(f'mov r19, r{high}')
                for _ in range(8 - shift): o('lsl r18'); o('rol r19')
                o('mov r18, r19')
            o('andi r18, 15'); o('subi r18, 8'); o('andi r18, 15'); o('subi r18, 8')
            o('mov r19, r18'); o('lsl r19'); o('sbc r19, r19'); store(18, 19)
    routine('saber_unpack_secret', ['void (int16_t out[8 n], const uint8_t bytes[13 n], uint8_t n): 13-bit coefficients in -8..8'], body, bytes)

def pack_secret():
    bytes = list(range(2, 15))
    def body():
        for k in range(8):
            at, shift = 13 * k // 8, 13 * k % 8
            load(18, 19); o('andi r19, 31')
            if shift == 0: o(f'mov r{bytes[at]}, r18'); o(f'mov r{bytes[at + 1]}, r19'); continue
            o(f'ldi r21, {1 << shift}'); o('mul r18, r21'); o(f'or r{bytes[at]}, r0'); o(f'mov r{bytes[at + 1]}, r1')
            o('mul r19, r21'); o(f'or r{bytes[at + 1]}, r0')
            if at + 2 < 13: o(f'mov r{bytes[at + 2]}, r1')
        store(*bytes)
    routine('saber_pack_secret', ['void (uint8_t bytes[13 n], const int16_t p[8 n], uint8_t n): coefficients modulo 2^13'], body, bytes)

def pack_rounded():
    def body():
        for half in range(2):
            for k, shifts in enumerate((-3, -1, 1, 3)):
                low, high = (18, 19) if k == 0 else (22, 23)
                load(low, high); o(f'subi r{low}, 252'); o(f'sbci r{high}, 255'); o(f'andi r{low}, 248'); o(f'andi r{high}, 31')
                for _ in range(abs(shifts)):
                    if shifts < 0: o(f'lsr r{high}'); o(f'ror r{low}')
                    else: o(f'lsl r{low}'); o(f'rol r{high}')
                if k == 0: store(18)
                else: o('or r19, r22'); store(19); o('mov r19, r23')
            store(19)
    routine('saber_pack_rounded', ['void (uint8_t bytes[10 n], const int16_t p[8 n], uint8_t n): ((c + 4) mod 2^13) >> 3',
            'Four numbers of 10 bits begin at bits 0, 2, 4 and 6 of the bytes 0 to 3.'], body)

def sample():
    def body():
        for half in range(2):
            load(18, 19, 22, 23, 24)
            bit = 0
            for k in range(4):
                o('clr r21')
                for i in range(10):
                    o(f'lsr r{(18, 19, 22, 23, 24)[bit // 8]}'); o('adc r21, r1' if i < 5 else 'sbc r21, r1'); bit += 1
                o('mov r25, r21'); o('lsl r25'); o('sbc r25, r25'); store(21, 25)
    routine('saber_sample', ['void (int16_t out[8 n], const uint8_t bytes[10 n], uint8_t n): weight of five bits minus weight of the next five'], body)

def pack_message():
    def body():
        o('ld r21, Y+')
        com('r22-r24 three bytes, bits from above')
        for k in range(8):
            load(18, 19); o('subi r18, 252'); o('sbci r19, 255'); o('lsl r18'); o('rol r19')
            com('2^9 m modulo 2^10 is the highest bit'); o('lsr r21'); o('sbc r25, r25'); o('andi r25, 4'); o('eor r19, r25')
            for bit in range(3): o('lsr r19'); o(f'ror r{22 + (3 * k + bit) // 8}')
        store(22, 23, 24)
    routine('saber_pack_message', ['void (uint8_t bytes[3 n], const int16_t v[8 n], uint8_t n, const uint8_t m[n]): ((v - 2^9 m + 4) mod 2^10) >> 7'],
            body, (28, 29), lambda: o('movw r28, r18'))

def unpack_message():
    def body():
        for r in (22, 23, 24): o(f'ld r{r}, Y+')
        com('h2 = 196; r21 eight bits of the message')
        for k in range(8):
            load(18, 19); o(f'subi r18, {256 - 196}'); o('sbci r19, 255')
            o('mov r25, r22'); o('andi r25, 7'); o('clr r0'); o('lsr r25'); o('ror r0'); o('sub r18, r0'); o('sbc r19, r25')
            o('lsr r19'); o('lsr r19'); o('ror r21')
            if k < 7:
                for _ in range(3): o('lsr r24'); o('ror r23'); o('ror r22')
        store(21)
    routine('saber_unpack_message', ['void (uint8_t m[n], const int16_t v[8 n], uint8_t n, const uint8_t bytes[3 n]): ((v + 196 - 2^7 c) mod 2^10) >> 9'],
            body, (28, 29), lambda: o('movw r28, r18'))

print('    ; generated by encoding.py; do not edit.  Interface and figures: README.md')
unpack(13); unpack(10); unpack_secret(); pack_secret(); pack_rounded(); sample(); pack_message(); unpack_message()
