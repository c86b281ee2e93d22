//! X25519, SHA-256 and the check of texts, which have a twin on small targets, in assembly or of a smaller size: AVR by architecture, the Cortex-M4 (here only with its FPU)
//! by what the build script says. ChaCha20, which has a twin for AVX2, found at run time. `--cfg kemqtt_portable` in `RUSTFLAGS` forces portable code, as in `kem-core`.

#[cfg(all(target_arch = "avr", not(kemqtt_portable)))]
mod avr;
#[cfg(target_pointer_width = "64")]
pub(crate) mod chacha20;
#[cfg(all(cortex_m4_fpu, not(kemqtt_portable)))]
mod cortex_m4;
#[cfg(any(
    kemqtt_portable,
    not(any(target_arch = "avr", cortex_m4_fpu)),
    all(feature = "self-check", cortex_m4_fpu)
))]
mod portable;
#[cfg(all(feature = "self-check", not(target_arch = "avr")))]
pub mod self_check;
#[cfg(all(any(target_arch = "avr", cortex_m4_fpu), not(kemqtt_portable)))]
mod sha256;
mod text;
#[cfg(any(test, all(target_arch = "avr", feature = "x25519-comb", not(kemqtt_portable))))]
mod x25519_comb;

#[cfg(all(target_arch = "avr", not(kemqtt_portable)))]
use avr as native;
#[cfg(all(cortex_m4_fpu, not(kemqtt_portable)))]
use cortex_m4 as native;
#[cfg(any(kemqtt_portable, not(any(target_arch = "avr", cortex_m4_fpu))))]
use portable as native;

#[cfg(all(target_arch = "avr", not(kemqtt_portable)))]
pub(crate) use avr::text;
pub(crate) use native::{Sha256, x25519, x25519_base};
pub(crate) use sha2::Digest;
#[cfg(not(all(target_arch = "avr", not(kemqtt_portable))))]
pub(crate) use text::text;
