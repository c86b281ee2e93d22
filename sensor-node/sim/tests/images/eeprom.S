; Writes 0x5a to byte 1 of the EEPROM and waits for it in region 1.
#include <avr/io.h>
.global main
main:
    ldi r24, 1
    out _SFR_IO_ADDR(GPIOR0), r24
    out _SFR_IO_ADDR(EEARH), r1
    out _SFR_IO_ADDR(EEARL), r24
    ldi r25, 0x5a
    out _SFR_IO_ADDR(EEDR), r25
    sbi _SFR_IO_ADDR(EECR), EEMPE
    sbi _SFR_IO_ADDR(EECR), EEPE
wait:
    sbic _SFR_IO_ADDR(EECR), EEPE
    rjmp wait
    out _SFR_IO_ADDR(GPIOR0), r1
    ldi r24, 9
    out _SFR_IO_ADDR(GPIOR1), r24
    cli
    sleep
