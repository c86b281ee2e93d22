//! The permutations that have an assembly twin on small targets, one file for each architecture.
//!
//! A backend may keep 64-bit lanes in a form of its own between permutations, for instance with even and odd bits apart. The
//! form is linear in the bits and all-zero lanes are zero in it; `*_lane_in` and `*_lane_out` translate a single lane.
//!
//! * Cortex-M4: `cfg(cortex_m4)`, which the build script sets for `thumbv7em-*`, and `cfg(cortex_m4_fpu)` for `-eabihf`: code
//!   that uses floating-point registers as a scratchpad.
//! * AVR: `cfg(target_arch = "avr")`.
//! * x86-64: code for AVX2 is built in, and taken where the processor has it.
//! * Everything else, or with `--cfg kemqtt_portable` in `RUSTFLAGS`: portable code.

#[cfg(all(target_arch = "avr", not(kemqtt_portable)))]
pub(crate) mod avr;
#[cfg(all(target_arch = "x86_64", not(kemqtt_portable)))]
pub(crate) mod avx2;
#[cfg(all(cortex_m4, not(kemqtt_portable)))]
pub(crate) mod cortex_m4;
#[cfg(any(feature = "self-check", kemqtt_portable, not(any(cortex_m4, target_arch = "avr"))))]
pub(crate) mod portable;
#[cfg(test)]
mod tests;

use zeroize::Zeroizing;

#[cfg(all(target_arch = "avr", not(kemqtt_portable)))]
pub(crate) use avr as native;
#[cfg(all(target_arch = "x86_64", not(kemqtt_portable)))]
pub(crate) use avx2 as native;
#[cfg(all(target_arch = "x86_64", not(kemqtt_portable)))]
pub(crate) use avx2::keccak_f1600_x4;
#[cfg(all(cortex_m4, not(kemqtt_portable)))]
pub(crate) use cortex_m4 as native;
#[cfg(any(kemqtt_portable, not(target_arch = "x86_64")))]
pub(crate) use one_by_one as keccak_f1600_x4;
#[cfg(any(kemqtt_portable, not(any(cortex_m4, target_arch = "avr", target_arch = "x86_64"))))]
pub(crate) use portable as native;

/// Keccak-f\[1600\] on four states; `lanes[i]` holds lane i of each.
pub(crate) fn one_by_one(lanes: &mut [[u64; 4]; 25]) {
    for i in 0..4 {
        let mut state = Zeroizing::new(lanes.map(|lane| lane[i]));
        native::keccak_f1600(&mut state);
        for (lane, state) in lanes.iter_mut().zip(*state) {
            lane[i] = state;
        }
    }
}
