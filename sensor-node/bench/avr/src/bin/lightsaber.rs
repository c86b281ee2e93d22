//! LightSaber.
#![no_std]
#![no_main]

bench_avr::kem_program!(saber::LightSaber, LIGHTSABER);
