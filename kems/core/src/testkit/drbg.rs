use core::convert::Infallible;

use aes::Aes256;
use aes::cipher::{BlockCipherEncrypt, KeyInit};
use rand_core::{TryCryptoRng, TryRng};

/// The generator of the NIST KAT programs: AES-256 CTR_DRBG of SP 800-90A without derivation function or reseeding.
///
/// Every request ends with a state update, so two requests of 32 bytes differ from one of 64: a KEM has to ask for its
/// randomness in the pieces that its specification names.
#[derive(Clone)]
pub struct KatDrbg {
    key: [u8; 32],
    counter: u128,
}

impl KatDrbg {
    /// Instantiates from 48 bytes of entropy, no personalisation string.
    pub fn new(entropy: &[u8; 48]) -> Self {
        let mut drbg = Self {
            key: [0; 32],
            counter: 0,
        };
        drbg.update(entropy);
        drbg
    }

    /// The generator that draws the seeds of a KAT file: entropy 00 01 .. 2f.
    pub fn master() -> Self {
        Self::new(&core::array::from_fn(|i| i as u8))
    }

    fn update(&mut self, provided: &[u8; 48]) {
        let mut state = [0; 48];
        self.keystream(&mut state);
        for (byte, mask) in state.iter_mut().zip(provided) {
            *byte ^= mask;
        }
        let (key, counter) = state.split_at(32);
        self.key.copy_from_slice(key);
        self.counter = counter.iter().fold(0, |value, &byte| value << 8 | u128::from(byte));
    }

    fn keystream(&mut self, out: &mut [u8]) {
        let aes = Aes256::new(&self.key.into());
        for chunk in out.chunks_mut(16) {
            self.counter = self.counter.wrapping_add(1);
            let mut block = self.counter.to_be_bytes().into();
            aes.encrypt_block(&mut block);
            chunk.copy_from_slice(&block[..chunk.len()]);
        }
    }
}

impl TryRng for KatDrbg {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        let mut bytes = [0; 4];
        self.try_fill_bytes(&mut bytes).map(|()| u32::from_le_bytes(bytes))
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        let mut bytes = [0; 8];
        self.try_fill_bytes(&mut bytes).map(|()| u64::from_le_bytes(bytes))
    }

    fn try_fill_bytes(&mut self, out: &mut [u8]) -> Result<(), Infallible> {
        self.keystream(out);
        self.update(&[0; 48]);
        Ok(())
    }
}

impl TryCryptoRng for KatDrbg {}

#[cfg(test)]
mod tests {
    use rand_core::Rng;

    use super::*;

    #[test]
    fn first_seed_of_every_nist_kat_file() {
        let mut seed = [0; 48];
        KatDrbg::master().fill_bytes(&mut seed);
        assert_eq!(
            hex::encode(seed),
            "061550234d158c5ec95595fe04ef7a25767f2e24cc2bc479d09d86dc9abcfde7056a8c266f9ef97ed08541dbd2e1ffa1"
        );
    }

    /// The two layouts of Kyber keygen randomness (64 bytes at once, and twice 32) share their first half only.
    #[test]
    fn request_boundaries_matter() {
        let mut seed = [0; 48];
        KatDrbg::master().fill_bytes(&mut seed);
        let (mut once, mut twice) = ([0; 64], [0; 64]);
        KatDrbg::new(&seed).fill_bytes(&mut once);
        let mut drbg = KatDrbg::new(&seed);
        drbg.fill_bytes(&mut twice[..32]);
        drbg.fill_bytes(&mut twice[32..]);
        let first = "7c9935a0b07694aa0c6d10e4db6b1add2fd81a25ccb148032dcd739936737f2d";
        assert_eq!(hex::encode(&once[..32]), first);
        assert_eq!(hex::encode(&twice[..32]), first);
        assert_eq!(
            hex::encode(&once[32..]),
            "b505d7cfad1b497499323c8686325e4792f267aafa3f87ca60d01cb54f29202a"
        );
        assert_eq!(
            hex::encode(&twice[32..]),
            "8626ed79d451140800e03b59b956f8210e556067407d13dc90fa9e8b872bfb8f"
        );
    }
}
