//! CTRU-Light with Ascon.
#![no_std]
#![no_main]

bench_avr::kem_program!(ctru_light::CtruLight<ctru_light::AsconXof>, CTRU_LIGHT_ASCON);
