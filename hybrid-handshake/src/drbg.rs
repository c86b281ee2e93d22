//! The generator that every random byte of a handshake comes from, and the seed that a device keeps for it.

mod crc32;
mod seed;

use core::convert::Infallible;

use kem_core::rand_core::{TryCryptoRng, TryRng};
use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::{
    backends::{Digest, Sha256},
    identity::DeviceId,
    schedule::{Prk, expand},
};

pub use crc32::Crc32;
pub use seed::{SLOT_LEN, SeedError, SeedStore, Slot, boot, provision};

/// A generator of 32 bytes of state that forgets the past: each draw replaces the state by a one-way successor.
#[derive(Zeroize, ZeroizeOnDrop)]
pub struct Drbg([u8; 32]);

impl Drbg {
    /// For one connection of a broker or a host's client, from 32 bytes of the operating system's generator.
    pub fn broker(os_bytes: &[u8; 32]) -> Self {
        Self(
            Sha256::new()
                .chain_update("HKM1 drbg")
                .chain_update(os_bytes)
                .finalize()
                .into(),
        )
    }

    /// For a device, from the seed of this boot and 32 bytes of whatever generator it has. [`boot`] calls it with a seed
    /// that no other boot used.
    pub fn device(seed: &[u8; 32], id: &DeviceId, rng_bytes: &[u8; 32]) -> Self {
        let key = Sha256::new()
            .chain_update("HKM1 drbg")
            .chain_update(seed)
            .chain_update(id.padded());
        Self(key.chain_update(rng_bytes).finalize().into())
    }

    /// Mixes in bytes that need not be random: a verified transcript hash, or fresh noise.
    pub fn stir(&mut self, bytes: &[u8]) {
        self.0 = Sha256::new()
            .chain_update("HKM1 stir")
            .chain_update(self.0)
            .chain_update(bytes)
            .finalize()
            .into();
    }

    /// The generator as it stands, to make the same draws once more.
    pub(crate) fn fork(&self) -> Self {
        Self(self.0)
    }

    /// The z that stands beside a decapsulation key made from this generator's next draws.
    pub(crate) fn reject_secret(&self) -> [u8; 32] {
        let mut z = [0; 32];
        expand(&self.0, b"reject", b"", &mut z);
        z
    }

    fn draw(&mut self, out: &mut [u8]) {
        let state = Prk::new(&self.0);
        state.expand(b"draw", b"", out);
        let mut next = [0; 32];
        state.expand(b"next", b"", &mut next);
        self.0 = next;
        next.zeroize();
    }
}

/// HKDF-Expand gives no more than 255 blocks at a time.
const MAX_DRAW: usize = 255 * 32;

impl TryRng for Drbg {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        let mut bytes = [0; 4];
        self.draw(&mut bytes);
        Ok(u32::from_be_bytes(bytes))
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        let mut bytes = [0; 8];
        self.draw(&mut bytes);
        Ok(u64::from_be_bytes(bytes))
    }

    fn try_fill_bytes(&mut self, out: &mut [u8]) -> Result<(), Infallible> {
        out.chunks_mut(MAX_DRAW).for_each(|chunk| self.draw(chunk));
        Ok(())
    }
}

impl TryCryptoRng for Drbg {}

#[cfg(test)]
mod tests;
