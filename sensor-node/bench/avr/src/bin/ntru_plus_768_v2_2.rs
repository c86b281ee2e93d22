//! NTRU+768, profile V2_2.
#![no_std]
#![no_main]

bench_avr::kem_program!(ntru_plus::NtruPlus<ntru_plus::P768, ntru_plus::V2_2>, NTRU_PLUS_768_V2_2);
