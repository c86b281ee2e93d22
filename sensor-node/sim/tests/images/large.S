; More code than a small chip has room for.
.global main
main:
    .zero 2048
    ret
