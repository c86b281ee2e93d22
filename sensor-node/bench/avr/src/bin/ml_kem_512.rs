//! ML-KEM-512.
#![no_std]
#![no_main]

bench_avr::kem_program!(kyber::MlKem512, ML_KEM_512);
