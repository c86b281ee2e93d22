//! Kyber-512 of round 3.
#![no_std]
#![no_main]

bench_avr::kem_program!(kyber::Kyber512, KYBER512);
