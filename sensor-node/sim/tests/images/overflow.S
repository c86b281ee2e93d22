; Fills the memory with a variable and then with return addresses.
.global main
main:
    rcall main
.section .bss
filler:
    .zero 16100
.section .data
initialised:
    .byte 1, 2, 3
.global __do_copy_data
.global __do_clear_bss
