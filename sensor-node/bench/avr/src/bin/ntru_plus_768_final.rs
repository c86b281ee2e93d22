//! NTRU+768, final profile.
#![no_std]
#![no_main]

bench_avr::kem_program!(ntru_plus::NtruPlus<ntru_plus::P768, ntru_plus::Final>, NTRU_PLUS_768_FINAL);
