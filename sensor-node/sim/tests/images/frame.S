; Takes a frame of 9,000 bytes and calls with it.
#include <avr/io.h>
.global main
main:
    in r28, _SFR_IO_ADDR(SPL)
    in r29, _SFR_IO_ADDR(SPH)
    subi r28, lo8(9000)
    sbci r29, hi8(9000)
    in r0, _SFR_IO_ADDR(SREG)
    cli
    out _SFR_IO_ADDR(SPH), r29
    out _SFR_IO_ADDR(SREG), r0
    out _SFR_IO_ADDR(SPL), r28
    rcall main
