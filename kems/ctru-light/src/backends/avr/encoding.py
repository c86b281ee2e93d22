#!/usr/bin/env python3
"""Generates encoding.S, conversions between bytes and the 512 coefficients: python3 encoding.py > encoding.S

Straight code in loops over groups of coefficients; no branch but on lengths, no address but by position."""
def o(s): print('    ' + s)
def com(s): print('    ; ' + s)
def begin(name, what, saved=()):
    print(f'\n    .section .text.{name}, "ax", @progbits\n    .global {name}\n    .type {name}, @function\n{name}:')
    com(what)
    for r in saved: o(f'push r{r}')
    o('movw r30, r22'); o('movw r26, r24')
def end(name, saved=()):
    for r in reversed(saved): o(f'pop r{r}')
    o('clr r1'); o('ret'); print(f'    .size {name}, .-{name}')

def sample():
    name = 'ctru_light_sample'
    begin(name, 'void (int16_t out[512], const uint8_t coins[128]): even bit - odd bit')
    o('ldi r24, 128'); print('1:'); o('ld r18, Z+')
    for _ in range(4):
        o('mov r20, r1'); o('lsr r18'); o('adc r20, r1'); o('lsr r18'); o('sbc r20, r1'); o('sbc r21, r21')
        o('st X+, r20'); o('st X+, r21')
    o('dec r24'); o('brne 1b')
    end(name)

def unpack_h():
    name = 'ctru_light_unpack_h'
    begin(name, 'void (int16_t out[512], const uint8_t ek[640]): ten bits each.  r18-r22 five bytes')
    o('ldi r25, 128'); print('1:')
    for i in range(5): o(f'ld r{18 + i}, Z+')
    o('st X+, r18'); o('mov r24, r19'); o('andi r24, 3'); o('st X+, r24')
    com('b1 >> 2 and b2 << 6')
    o('lsr r19'); o('lsr r19'); o('ldi r24, 64'); o('mul r20, r24'); o('or r0, r19'); o('st X+, r0')
    o('mov r24, r1'); o('andi r24, 3'); o('st X+, r24')
    com('b2 >> 4 and b3 << 4')
    o('swap r20'); o('andi r20, 15'); o('ldi r24, 16'); o('mul r21, r24'); o('or r0, r20'); o('st X+, r0')
    o('mov r24, r1'); o('andi r24, 3'); o('st X+, r24')
    com('b3 >> 6 and b4 << 2')
    o('ldi r24, 4'); o('mul r21, r24'); o('mov r20, r1'); o('mul r22, r24'); o('or r0, r20'); o('st X+, r0'); o('st X+, r1')
    o('dec r25'); o('breq 2f'); o('rjmp 1b'); print('2:')
    end(name)

def pack_h():
    name = 'ctru_light_pack_h'
    begin(name, 'void (uint8_t ek[640], const int16_t h[512]): ten bits each, canonical.  r18:r19 coefficient, r20 bits that wait')
    o('ldi r25, 128'); print('1:')
    o('ld r18, Z+'); o('ld r20, Z+'); o('st X+, r18')
    for shift in (4, 16, 64):
        o('ld r18, Z+'); o('ld r19, Z+'); o(f'ldi r24, {shift}')
        o('mul r18, r24'); o('or r0, r20'); o('st X+, r0'); o('mov r20, r1'); o('mul r19, r24'); o('or r20, r0')
    o('st X+, r20')
    o('dec r25'); o('brne 1b')
    end(name)

def pack_f():
    name = 'ctru_light_pack_f'
    begin(name, 'void (uint8_t bytes[192], const int16_t f[512]): 3 - f in three bits each')
    o('ldi r25, 64'); print('1:'); o('ldi r22, 8'); print('2:')
    o('ld r24, Z'); o('adiw r30, 2'); o('ldi r21, 3'); o('sub r21, r24')
    for _ in range(3): o('lsr r21'); o('ror r20'); o('ror r19'); o('ror r18')
    o('dec r22'); o('brne 2b')
    for r in (18, 19, 20): o(f'st X+, r{r}')
    o('dec r25'); o('brne 1b')
    end(name)

def unpack_f():
    name = 'ctru_light_unpack_f'
    begin(name, 'void (uint8_t out[256], const uint8_t bytes[96]): (3 - code) >> 1, half of f\' modulo 256')
    o('ldi r25, 32'); print('1:')
    for r in (18, 19, 20): o(f'ld r{r}, Z+')
    for i in range(8):
        o('mov r24, r18'); o('andi r24, 7'); o('ldi r21, 3'); o('sub r21, r24'); o('asr r21'); o('st X+, r21')
        if i < 7:
            for _ in range(3): o('lsr r20'); o('ror r19'); o('ror r18')
    o('dec r25'); o('breq 2f'); o('rjmp 1b'); print('2:')
    end(name)

def compress():
    name = 'ctru_light_compress'
    begin(name, 'void (uint8_t out[8], const int16_t sigma[8], uint8_t word): (((2 sigma + 3) * 43634) >> 18) ^ 128 * bit of word')
    com('which is (21817 sigma + 32725) >> 16; sigma canonical.  r18:r19 sigma, r22:r23 bits 8 to 23, r24:r25 = 21817, r21 count')
    for sigma in range(769): assert (2*sigma + 3)*43634 >> 18 == 21817*sigma + 32725 >> 16
    low, high = 21817 & 255, 21817 >> 8
    o(f'ldi r24, {low}'); o(f'ldi r25, {high}'); o('ldi r21, 8')
    print('1:'); o('ld r18, Z+'); o('ld r19, Z+')
    o('mul r18, r25'); o('movw r22, r0'); o(f'subi r22, {-(32725 >> 8) & 255}'); o('sbci r23, 255')
    o('mul r19, r24'); o('add r22, r0'); o('adc r23, r1')
    com('the lowest byte only carries')
    o('mul r18, r24'); o(f'ldi r18, {32725 & 255}'); o('add r0, r18'); o('adc r22, r1'); o('ldi r18, 0'); o('adc r23, r18')
    o('mul r19, r25'); o('add r23, r0')
    o('lsr r20'); o('sbc r18, r18'); o('andi r18, 128'); o('eor r23, r18'); o('st X+, r23')
    o('dec r21'); o('brne 1b')
    end(name)

def fold():
    com_b = 'Y = p, with its upper half 256 bytes on; Z = v, with its upper half 256 bytes on; two coefficients at a time'
    TWO = ((18, 19, 20, 21), (22, 23, 25, 0))           # p0, p1, v0, v1
    def routine(name, what, body, ct=False):
        print(f'\n    .section .text.{name}, "ax", @progbits\n    .global {name}\n    .type {name}, @function\n{name}:')
        com(what); com(com_b)
        o('push r28'); o('push r29'); o('movw r28, r22'); o('movw r30, r24')
        if ct: o('movw r26, r20')
        o('ldi r24, 128'); print('1:'); body(); o('dec r24'); o('brne 1b'); o('pop r29'); o('pop r28'); o('ret')
        print(f'    .size {name}, .-{name}')
    def load_p():
        for i in (0, 1): o(f'ldd r{TWO[i][0]}, Y+{i}')
        o('inc r29')
        for i in (0, 1): o(f'ld r{TWO[i][1]}, Y+')
        o('dec r29')
    def load_v():
        for i in (0, 1): o(f'ldd r{TWO[i][2]}, Z+{i}')
        o('inc r31')
        for i in (0, 1): o(f'ldd r{TWO[i][3]}, Z+{i}')
    def store():
        for i in (0, 1): o(f'std Z+{i}, r{TWO[i][3]}')
        o('dec r31')
        for i in (0, 1): o(f'st Z+, r{TWO[i][2]}')
    def low():
        load_p()
        for p0, p1, v0, v1 in TWO: o(f'mov r{v0}, r{p0}'); o(f'add r{v0}, r{p1}'); o(f'mov r{v1}, r{p1}'); o(f'sub r{v1}, r{p0}')
        o('inc r31'); store()
    def high():
        load_p(); load_v()
        for p0, p1, v0, v1 in TWO: o(f'add r{v0}, r{p1}'); o(f'sub r{v0}, r{p0}'); o(f'sub r{v1}, r{p1}'); o(f'sub r{v1}, r{p0}')
        store()
    def both():
        load_p(); load_v()
        for p0, p1, v0, v1 in TWO: o(f'sub r{v0}, r{p1}'); o(f'add r{v1}, r{p0}'); o(f'lsl r{v0}'); o(f'lsl r{v1}')
        for i in (0, 1): o(f'ld r{TWO[i][0]}, X+')
        o('subi r26, 2'); o('sbci r27, 255')
        for i in (0, 1): o(f'ld r{TWO[i][1]}, X+')
        o('dec r27')
        for p0, p1, v0, v1 in TWO: o(f'add r{v0}, r{p0}'); o(f'add r{v1}, r{p1}')
        store()
    routine('ctru_light_fold_low', 'void (v[512], p[512]): v = p0 + p1, p1 - p0', low)
    routine('ctru_light_fold_high', 'void (v[512], p[512]): v += p1 - p0, - p1 - p0', high)
    routine('ctru_light_fold_both', 'void (v[512], p[512], ct[512]): v = 2 (v + (- p1, p0)) + ct', both, True)

print('    ; generated by encoding.py; do not edit.  Interface and figures: README.md')
sample(); unpack_h(); pack_h(); pack_f(); unpack_f(); compress(); fold()
