@ uint32_t bench_call(const void *function, const uint32_t arguments[4], uint32_t left[16 + 256])
@ Calls with known values in r4-r11 and s16-s31, and zero in s0-s15 and in the 1024 bytes below the stack pointer. Gives back the
@ differences that the call left in what it has to keep, and in `left` what it left in s0-s15 and below the stack pointer.
    .syntax unified
    .thumb
    .fpu fpv4-sp-d16
    .section .text.bench_call,"ax",%progbits
    .align 2
    .global bench_call
    .type bench_call, %function
    .thumb_func
bench_call:
    push {r2, r4-r11, lr}
    vpush {s16-s31}
    movw r4, #:lower16:bench_sp
    movt r4, #:upper16:bench_sp
    str sp, [r4]
    mov r12, r0
    mov lr, r1
    mov r0, sp
    mov r1, #256
    mov r2, #0
1:  str r2, [r0, #-4]!
    subs r1, #1
    bne 1b
    .irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
    vmov s\n, r2
    .endr
    .irp n, 16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
    mov r2, #(0xc0 + \n) * 0x1010101
    vmov s\n, r2
    .endr
    .irp n, 4,5,6,7,8,9,10,11
    mov r\n, #(0xc0 + \n) * 0x1010101
    .endr
    ldm lr, {r0-r3}
    blx r12
    movw r2, #:lower16:bench_sp
    movt r2, #:upper16:bench_sp
    ldr r2, [r2]
    mov r3, sp
    mov sp, r2
    eor r0, r2, r3
    .irp n, 4,5,6,7,8,9,10,11
    eor r1, r\n, #(0xc0 + \n) * 0x1010101
    orr r0, r1
    .endr
    .irp n, 16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
    vmov r1, s\n
    eor r1, #(0xc0 + \n) * 0x1010101
    orr r0, r1
    .endr
    vpop {s16-s31}
    ldr r3, [sp]
    vstm r3!, {s0-s15}
    sub r2, sp, #64
    mov r1, #256
2:  ldr r12, [r2, #-4]!
    str r12, [r3], #4
    subs r1, #1
    bne 2b
    pop {r2, r4-r11, pc}
    .size bench_call, . - bench_call

    .section .bss.bench_sp,"aw",%nobits
    .align 2
bench_sp:
    .zero 4
