@ Ascon-p[12] and Ascon-p[8] (NIST SP 800-232 section 3) for ARMv7-M, AAPCS.
@   void kemqtt_ascon_p12(uint32_t state[10]);  void kemqtt_ascon_p8(uint32_t state[10]);
@ State: word 2i has the even bits of lane i, word 2i + 1 the odd ones.  A rotation by 2k is then one of both halves by k; by
@ 2k + 1 it also exchanges them.  Constant time: no branch or address depends on the state.
@ Registers: r0-r9 halves of the lanes, r10-r12 and lr work; the pointer waits on the stack.
    .syntax unified
    .thumb

@ One half of the substitution layer.
.macro ascon_sbox x0, x1, x2, x3, x4
    eor.w \x0, \x0, \x4
    eor.w \x4, \x4, \x3
    eor.w \x2, \x2, \x1
    bic.w r10, \x1, \x0
    bic.w r11, \x0, \x4
    bic.w r12, \x2, \x1
    bic.w lr, \x3, \x2
    eor.w \x0, \x0, r12
    eor.w \x1, \x1, lr
    bic.w r12, \x4, \x3
    eor.w \x3, \x3, r11
    eor.w \x2, \x2, r12
    eor.w \x4, \x4, r10
    eor.w \x1, \x1, \x0
    eor.w \x3, \x3, \x2
    eor.w \x0, \x0, \x4
    mvn.w \x2, \x2
.endm

.macro ascon_round even, odd
    eor.w r4, r4, #\even
    eor.w r5, r5, #\odd
    ascon_sbox r0, r2, r4, r6, r8
    ascon_sbox r1, r3, r5, r7, r9
    @ lane 0: 19, 28
    eor.w r10, r0, r1, ror #9
    eor.w r11, r1, r0, ror #10
    eor.w r0, r10, r0, ror #14
    eor.w r1, r11, r1, ror #14
    @ lane 1: 61, 39
    eor.w r10, r2, r3, ror #30
    eor.w r11, r3, r2, ror #31
    eor.w r12, r10, r3, ror #19
    eor.w r3, r11, r2, ror #20
    mov.w r2, r12
    @ lane 2: 1, 6
    eor.w r10, r4, r5
    eor.w r11, r5, r4, ror #1
    eor.w r4, r10, r4, ror #3
    eor.w r5, r11, r5, ror #3
    @ lane 3: 10, 17
    eor.w r10, r6, r7, ror #8
    eor.w r11, r7, r6, ror #9
    eor.w r6, r10, r6, ror #5
    eor.w r7, r11, r7, ror #5
    @ lane 4: 7, 41
    eor.w r10, r8, r9, ror #3
    eor.w r11, r9, r8, ror #4
    eor.w r12, r10, r9, ror #20
    eor.w r9, r11, r8, ror #21
    mov.w r8, r12
.endm

.macro ascon_begin name
    .section .text.\name,"ax",%progbits
    .align 2
    .global \name
    .type \name, %function
    .thumb_func
\name:
    push {r0, r4-r11, lr}
    mov lr, r0
    ldm lr, {r0-r9}
.endm

.macro ascon_end name
    ldr lr, [sp], #4
    stm lr, {r0-r9}
    pop {r4-r11, pc}
    .size \name, . - \name
.endm

.macro ascon_last_eight
    ascon_round 0x6, 0xc
    ascon_round 0x3, 0xc
    ascon_round 0x6, 0x9
    ascon_round 0x3, 0x9
    ascon_round 0xc, 0x6
    ascon_round 0x9, 0x6
    ascon_round 0xc, 0x3
    ascon_round 0x9, 0x3
.endm

ascon_begin kemqtt_ascon_p12
    ascon_round 0xc, 0xc
    ascon_round 0x9, 0xc
    ascon_round 0xc, 0x9
    ascon_round 0x9, 0x9
    ascon_last_eight
ascon_end kemqtt_ascon_p12

ascon_begin kemqtt_ascon_p8
    ascon_last_eight
ascon_end kemqtt_ascon_p8
