//! X25519 and SHA-256, which have an assembly twin on small targets. `--cfg kemqtt_portable` in `RUSTFLAGS` forces portable
//! code, as in `kem-core`.

#[cfg(all(target_arch = "avr", not(kemqtt_portable)))]
mod avr;
#[cfg(any(kemqtt_portable, not(target_arch = "avr")))]
mod portable;

#[cfg(all(target_arch = "avr", not(kemqtt_portable)))]
use avr as native;
#[cfg(any(kemqtt_portable, not(target_arch = "avr")))]
use portable as native;

pub(crate) use native::{Sha256, x25519, x25519_base};
pub(crate) use sha2::Digest;
