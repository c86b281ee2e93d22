; Calls r24:r25 with r22.., r20.., r18.. moved up by one argument, register n holding n + 0x40 and the 512 bytes below the
; stack pointer zero. Gives back a sum over those bytes in r22:r23, and in r24 the differences that the call left in registers or
; in the low byte of the stack pointer.
.section .text.bench_call,"ax",@progbits
.global bench_call
bench_call:
    .irp r,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,28,29
    push r\r
    .endr
    movw r30, r24
    movw r24, r22
    movw r22, r20
    movw r20, r18
    in r0, 0x3d
    sts bench_sp, r0
    in r26, 0x3d
    in r27, 0x3e
    adiw r26, 1
    ldi r18, 0
1:  st -X, r1
    st -X, r1
    dec r18
    brne 1b
    .irp r,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,28,29
    ldi r18, 0x40 + \r
    mov r\r, r18
    .endr
    icall
    mov r18, r1
    clr r1
    in r0, 0x3d
    lds r19, bench_sp
    eor r0, r19
    or r18, r0
    .irp r,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,28,29
    ldi r19, 0x40 + \r
    eor r19, r\r
    or r18, r19
    .endr
    in r26, 0x3d
    in r27, 0x3e
    adiw r26, 1
    ldi r19, 0
    clr r22
    clr r23
1:  .rept 2
    lsl r22
    rol r23
    adc r22, r1
    ld r0, -X
    eor r22, r0
    .endr
    dec r19
    brne 1b
    .irp r,29,28,17,16,15,14,13,12,11,10,9,8,7,6,5,4,3,2
    pop r\r
    .endr
    mov r24, r18
    clr r25
    ret
.section .bss.bench_sp,"aw",@nobits
bench_sp:
    .zero 1
