; int16_t kem_montgomery(int16_t a, int16_t b, int16_t q, int16_t qinv): a b / 2^16 mod q as `Zq::mul`, for q > 0.
; In: a r24:r25, b r22:r23, q r20:r21, 1 / q mod 2^16 r18:r19.  r17 = 0, r25:r24:r19:r18 product, r21:r20 t, r31:r30 t q / 2^16.
    .section .text.kem_montgomery, "ax", @progbits
    .global kem_montgomery
    .type kem_montgomery, @function
kem_montgomery:
    push r17
    clr r17
    movw r26, r20
    movw r30, r18
    movw r20, r24
    muls r21, r23
    movw r24, r0
    mul r20, r22
    movw r18, r0
    mulsu r21, r22
    sbc r25, r17
    add r19, r0
    adc r24, r1
    adc r25, r17
    mulsu r23, r20
    sbc r25, r17
    add r19, r0
    adc r24, r1
    adc r25, r17
    ; t = low half / q mod 2^16; then t q has the same low half
    mul r18, r30
    movw r20, r0
    mul r18, r31
    add r21, r0
    mul r19, r30
    add r21, r0
    movw r22, r26
    mul r20, r22
    mov r18, r1
    muls r21, r23
    movw r30, r0
    mulsu r21, r22
    sbc r31, r17
    add r18, r0
    adc r30, r1
    adc r31, r17
    mul r20, r23
    add r18, r0
    adc r30, r1
    adc r31, r17
    sub r24, r30
    sbc r25, r31
    clr r1
    pop r17
    ret
    .size kem_montgomery, .-kem_montgomery
