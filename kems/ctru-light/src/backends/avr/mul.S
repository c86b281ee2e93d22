; int16_t ctru_light_mul(int16_t a, int16_t b): 27 a b modulo 769, in 210..990.  In: a, b >= 0, a b < 2^24.
; Three reduction steps by 3 * 256 = -1: 9 c0 - 3 c1 + c2, in -765..2550, lifted by 1463 to v = v0 + 256 v1; then 3 v0 - v1
; in -15..765, lifted by 225, and 3 * 1463 + 225 = 0 modulo 769.  Clobbers r0, r18-r25.
    .section .text.ctru_light_mul, "ax", @progbits
    .global ctru_light_mul
    .type ctru_light_mul, @function
ctru_light_mul:
    mul r24, r22
    movw r18, r0
    mul r25, r23
    mov r20, r0
    mul r24, r23
    add r19, r0
    adc r20, r1
    mul r25, r22
    add r19, r0
    adc r20, r1
    ldi r21, 9
    mul r18, r21
    movw r24, r0
    ldi r21, 3
    mul r19, r21
    sub r24, r0
    sbc r25, r1
    clr r1
    add r24, r20
    adc r25, r1
    subi r24, lo8(-(1463))
    sbci r25, hi8(-(1463))
    mul r24, r21
    sub r0, r25
    movw r24, r0
    clr r1
    sbc r25, r1
    subi r24, lo8(-(225))
    sbci r25, hi8(-(225))
    ret
    .size ctru_light_mul, .-ctru_light_mul
