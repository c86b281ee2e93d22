//! x86-64 with AVX2, found at run time: Keccak-f\[1600\] on four states at once, and on one with the bit instructions that came
//! with AVX2. A processor without them takes the portable code.
#![allow(unsafe_code)]

mod keccak;

use super::portable;
pub(crate) use portable::{ascon_lane_in, ascon_lane_out, ascon_p8, ascon_p12, keccak_lane_in, keccak_lane_out};

cpufeatures::new!(detected, "avx2", "bmi1", "bmi2", "popcnt");

/// Proof that this processor, and the system on it, have AVX2, BMI1, BMI2 and POPCNT: only [`Avx2::detect`] makes one.
#[derive(Clone, Copy, Debug)]
pub struct Avx2(());

impl Avx2 {
    /// Asks the processor at the first call; every later one is a load and a comparison.
    #[inline(always)]
    pub fn detect() -> Option<Self> {
        detected::get().then_some(Self(()))
    }
}

pub(crate) fn keccak_f1600(lanes: &mut [u64; 25]) {
    match Avx2::detect() {
        // SAFETY: the token proves BMI1 and BMI2. Twin: `portable::keccak_f1600`.
        Some(Avx2(())) => unsafe { keccak::one(lanes) },
        None => portable::keccak_f1600(lanes),
    }
}

pub(crate) fn keccak_f1600_x4(lanes: &mut [[u64; 4]; 25]) {
    match Avx2::detect() {
        // SAFETY: the token proves AVX2. Twin: `one_by_one`.
        Some(Avx2(())) => unsafe { keccak::four(lanes) },
        None => super::one_by_one(lanes),
    }
}
