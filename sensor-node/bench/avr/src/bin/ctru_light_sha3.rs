//! CTRU-Light with SHA-3.
#![no_std]
#![no_main]

bench_avr::kem_program!(ctru_light::CtruLight<ctru_light::Sha3>, CTRU_LIGHT_SHA3);
