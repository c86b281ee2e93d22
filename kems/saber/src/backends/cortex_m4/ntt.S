@ Transforms and products modulo Q = 94 908 929 in 32-bit words. AAPCS; s0-s15 are used; stack 36 bytes, 44 in the inverse
@ transform.
@ Constant time: no branch or address depends on a coefficient.
@
@ Products with a constant z are Barrett's: z b - round(b z' / 2^32) Q with z' = round(2^32 z / Q), a signed value below
@ Q / 2 + |b| Q / 2^33. A butterfly adds it while it is made and gets the difference from the sum.
    .syntax unified
    .thumb
    .fpu fpv4-sp-d16

@ z and z' from two neighbouring floating-point registers, which hold the constants of a pass.
.macro factor z, reciprocal
    vmov r3, \z
    vmov lr, \reciprocal
.endm

@ b <- a + z b, a <- a - z b: the two change places.
.macro butterfly a, b
    smmulr r2, \b, lr
    mla \b, \b, r3, \a
    mls \b, r2, r12, \b
    rsb \a, \b, \a, lsl #1
.endm

@ Three layers on r4-r11, which come out in reverse order.
.macro forward3
    factor s0, s1
    butterfly r4, r8
    butterfly r5, r9
    butterfly r6, r10
    butterfly r7, r11
    factor s2, s3
    butterfly r8, r10
    butterfly r9, r11
    factor s4, s5
    butterfly r4, r6
    butterfly r5, r7
    factor s6, s7
    butterfly r10, r11
    factor s8, s9
    butterfly r8, r9
    factor s10, s11
    butterfly r6, r7
    factor s12, s13
    butterfly r4, r5
.endm

@ z times a.
.macro multiply a
    smmulr r2, \a, lr
    mul \a, \a, r3
    mls \a, r2, r12, \a
.endm

@ (a, b) <- (a + b, z (a - b)).
.macro inverse_butterfly a, b
    add \a, \a, \b
    sub \b, \a, \b, lsl #1
    multiply \b
.endm

@ a modulo Q, at most 0.73 Q; r3 = round(2^32 / Q).
.macro reduce a
    smmulr r2, \a, r3
    mls \a, r2, r12, \a
.endm

@ Two layers on r4-r11.
.macro inverse2
    factor s0, s1
    inverse_butterfly r4, r5
    factor s2, s3
    inverse_butterfly r6, r7
    factor s4, s5
    inverse_butterfly r8, r9
    factor s6, s7
    inverse_butterfly r10, r11
    factor s8, s9
    inverse_butterfly r4, r6
    inverse_butterfly r5, r7
    factor s10, s11
    inverse_butterfly r8, r10
    inverse_butterfly r9, r11
.endm

.macro inverse_last
    factor s12, s13
    inverse_butterfly r4, r8
    inverse_butterfly r5, r9
    inverse_butterfly r6, r10
    inverse_butterfly r7, r11
.endm

.macro function name
    .section .text.\name,"ax",%progbits
    .align 2
    .global \name
    .type \name, %function
    .thumb_func
\name:
.endm

@ void kemqtt_saber_forward(const int16_t p[256], int32_t hat[256], const int32_t factors[9][14], int32_t q)
@ Layers 1 to 3 from `p` to `hat`, layers 4 to 6 in `hat`.
function kemqtt_saber_forward
    push {r4-r11, lr}
    mov r12, r3
    vldm r2!, {s0-s13}
    vmov s15, r2
    add r3, r0, #64
    vmov s14, r3
1:
    ldrsh r4, [r0]
    ldrsh r5, [r0, #64]
    ldrsh r6, [r0, #128]
    ldrsh r7, [r0, #192]
    ldrsh.w r8, [r0, #256]
    ldrsh.w r9, [r0, #320]
    ldrsh.w r10, [r0, #384]
    ldrsh.w r11, [r0, #448]
    forward3
    str r10, [r1, #128]
    str.w r9, [r1, #256]
    str.w r8, [r1, #384]
    str.w r7, [r1, #512]
    str.w r6, [r1, #640]
    str.w r5, [r1, #768]
    str.w r4, [r1, #896]
    str r11, [r1], #4
    add r0, r0, #2
    vmov r2, s14
    cmp r0, r2
    bne 1b
    sub r1, r1, #128
    add r3, r1, #1024
    vmov s14, r3
2:
    vmov r2, s15
    vldm r2!, {s0-s13}
    vmov s15, r2
    add r0, r1, #16
3:
    ldr r4, [r1]
    ldr r5, [r1, #16]
    ldr r6, [r1, #32]
    ldr r7, [r1, #48]
    ldr r8, [r1, #64]
    ldr r9, [r1, #80]
    ldr r10, [r1, #96]
    ldr r11, [r1, #112]
    forward3
    str r10, [r1, #16]
    str r9, [r1, #32]
    str r8, [r1, #48]
    str r7, [r1, #64]
    str r6, [r1, #80]
    str r5, [r1, #96]
    str r4, [r1, #112]
    str r11, [r1], #4
    cmp r1, r0
    bne 3b
    add r1, r1, #112
    vmov r2, s14
    cmp r1, r2
    bne 2b
    pop {r4-r11, pc}
    .size kemqtt_saber_forward, . - kemqtt_saber_forward

@ void kemqtt_saber_inverse(int32_t hat[256], int16_t p[256], const int32_t factors[129], int32_t q)
@ `factors`: round(2^32 / Q), eight times the seven of layers 6 to 4, those of layers 3 to 1, the factor of the sums of layer 1.
@ `hat` is zero afterwards.
function kemqtt_saber_inverse
    push {r4-r11, lr}
    vpush {s16, s17}
    mov r12, r3
    vmov s17, r1
    vldm r2!, {s16}
    add r3, r0, #1024
    vmov s14, r3
1:
    vldm r2!, {s0-s13}
    vmov s15, r2
    add r1, r0, #16
2:
    ldr r4, [r0]
    ldr r5, [r0, #16]
    ldr r6, [r0, #32]
    ldr r7, [r0, #48]
    ldr r8, [r0, #64]
    ldr r9, [r0, #80]
    ldr r10, [r0, #96]
    ldr r11, [r0, #112]
    inverse2
    vmov r3, s16
    reduce r4
    reduce r8
    inverse_last
    vmov r3, s16
    reduce r4
    reduce r5
    str r5, [r0, #16]
    str r6, [r0, #32]
    str r7, [r0, #48]
    str r8, [r0, #64]
    str r9, [r0, #80]
    str r10, [r0, #96]
    str r11, [r0, #112]
    str r4, [r0], #4
    cmp r0, r1
    bne 2b
    add r0, r0, #112
    vmov r2, s15
    vmov r3, s14
    cmp r0, r3
    bne 1b
    vldm r2!, {s0-s15}
    sub r0, r0, #1024
    vmov r1, s17
    add r3, r1, #64
    vmov s16, r3
3:
    ldr r4, [r0]
    ldr r5, [r0, #128]
    ldr r6, [r0, #256]
    ldr r7, [r0, #384]
    ldr r8, [r0, #512]
    ldr r9, [r0, #640]
    ldr r10, [r0, #768]
    ldr r11, [r0, #896]
    mov r2, #0
    str r2, [r0, #128]
    str r2, [r0, #256]
    str r2, [r0, #384]
    str r2, [r0, #512]
    str r2, [r0, #640]
    str r2, [r0, #768]
    str r2, [r0, #896]
    str r2, [r0], #4
    inverse2
    inverse_last
    factor s14, s15
    multiply r4
    multiply r5
    multiply r6
    multiply r7
    strh r5, [r1, #64]
    strh r6, [r1, #128]
    strh r7, [r1, #192]
    strh.w r8, [r1, #256]
    strh.w r9, [r1, #320]
    strh.w r10, [r1, #384]
    strh.w r11, [r1, #448]
    strh r4, [r1], #2
    vmov r2, s16
    cmp r1, r2
    bne 3b
    vpop {s16, s17}
    pop {r4-r11, pc}
    .size kemqtt_saber_inverse, . - kemqtt_saber_inverse

@ lo:hi modulo Q and divided by 2^32, to hi (Montgomery). r10 = -1 / Q.
.macro montgomery lo, hi
    mul r12, \lo, r10
    smlal \lo, \hi, r12, r9
.endm

@ hi += (the sum in lo:hi) zeta; hi is the reduced sum. Then lo:hi is the product.
.macro times_zeta lo, hi, zeta
    montgomery \lo, \hi
    vmov \lo, \zeta
    smull \lo, \hi, \lo, \hi
.endm

@ Adds lo:hi / 2^32 to the next word of the sum.
.macro accumulate lo, hi
    montgomery \lo, \hi
    ldr r12, [lr]
    add r12, r12, \hi
    str r12, [lr], #4
.endm

@ One product modulo x^4 - zeta; a in r0-r3, b in r4-r7.
.macro block zeta
    vmov r12, s2
    ldm r12!, {r0-r3}
    vmov s2, r12
    vmov r12, s3
    ldm r12!, {r4-r7}
    vmov s3, r12
    smull r8, r11, r1, r7
    smlal r8, r11, r2, r6
    smlal r8, r11, r3, r5
    times_zeta r8, r11, \zeta
    smlal r8, r11, r0, r4
    accumulate r8, r11
    smull r8, r11, r2, r7
    smlal r8, r11, r3, r6
    times_zeta r8, r11, \zeta
    smlal r8, r11, r0, r5
    smlal r8, r11, r1, r4
    accumulate r8, r11
    smull r8, r11, r3, r7
    times_zeta r8, r11, \zeta
    smlal r8, r11, r0, r6
    smlal r8, r11, r1, r5
    smlal r8, r11, r2, r4
    accumulate r8, r11
    smull r8, r11, r0, r7
    smlal r8, r11, r1, r6
    smlal r8, r11, r2, r5
    smlal r8, r11, r3, r4
    accumulate r8, r11
.endm

@ void kemqtt_saber_accumulate(const int32_t a[256], const int32_t b[256], int32_t sum[256], const int32_t zetas[66])
@ sum += a b / 2^32. `zetas`: Q, -1 / Q modulo 2^32, then zeta and -zeta for each pair of blocks, times 2^32.
function kemqtt_saber_accumulate
    push {r4-r11, lr}
    vmov s2, r0
    vmov s3, r1
    mov lr, r2
    add r2, r2, #1024
    vmov s5, r2
    ldm r3!, {r9, r10}
    vmov s4, r3
1:
    vmov r12, s4
    vldm r12!, {s0, s1}
    vmov s4, r12
    block s0
    block s1
    vmov r12, s5
    cmp lr, r12
    bne 1b
    pop {r4-r11, pc}
    .size kemqtt_saber_accumulate, . - kemqtt_saber_accumulate
