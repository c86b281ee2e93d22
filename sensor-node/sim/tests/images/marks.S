; Marks, a stack of known depth, UART and exit code, for the tests of the meter.
#include <avr/io.h>
.global main
main:
    ldi r24, 1                      ; an empty region
    out _SFR_IO_ADDR(GPIOR0), r24
    out _SFR_IO_ADDR(GPIOR0), r1
    ldi r24, 2                      ; rcall 3, nop 1, push 2, pop 2, ret 4
    out _SFR_IO_ADDR(GPIOR0), r24
    rcall work
    out _SFR_IO_ADDR(GPIOR0), r1
    ldi r24, 1                      ; 32 cycles a bit
    sts UBRR0L, r24
    ldi r24, (1 << RXEN0) | (1 << TXEN0)
    sts UCSR0B, r24
echo:
    lds r24, UCSR0A
    sbrs r24, RXC0
    rjmp echo
    lds r24, UDR0
    sts UDR0, r24
    cpi r24, '!'
    brne echo
    ldi r25, 0x5a                   ; EEPROM byte 1 becomes 0x5a
    out _SFR_IO_ADDR(EEARH), r1
    ldi r24, 1
    out _SFR_IO_ADDR(EEARL), r24
    out _SFR_IO_ADDR(EEDR), r25
    sbi _SFR_IO_ADDR(EECR), EEMPE
    sbi _SFR_IO_ADDR(EECR), EEPE
    ldi r24, 9
    out _SFR_IO_ADDR(GPIOR1), r24
    ldi r24, (1 << SE)
    out _SFR_IO_ADDR(SMCR), r24
    cli
    sleep
work:
    nop
    push r24
    pop r24
    ret
