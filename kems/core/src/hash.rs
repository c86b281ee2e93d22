//! Sponges over Keccak-f\[1600\] and Ascon-p, and the suites that a KEM takes as a type parameter.

mod ascon;
mod sha3;
mod shake_x4;
mod sponge;

use zeroize::Zeroizing;

pub use ascon::{AsconReader, AsconXof, AsconXof128};
pub use sha3::{KeccakBorrowed, KeccakReader, KeccakSponge, Sha3, Sha3_256, Sha3_512, Shake128, Shake256};
pub use shake_x4::{Shake128x4, Shake256x4, ShakeX4};

/// The two hash roles of a KEM: a 64-byte hash and an extendable-output function. A suite is a type, never a cfg.
pub trait HashSuite {
    /// Reads the output of [`HashSuite::xof`] piece by piece.
    type Reader: XofReader;

    /// 64-byte hash of the concatenation of `parts`.
    fn hash64(parts: &[&[u8]], out: &mut [u8; 64]);

    /// The first 32 bytes of [`HashSuite::hash64`], without the work for the others where they need some.
    fn hash64_head(parts: &[&[u8]], out: &mut [u8; 32]) {
        let mut hash = Zeroizing::new([0; 64]);
        Self::hash64(parts, &mut hash);
        if let [head, _] = hash.as_chunks().0 {
            *out = *head;
        }
    }

    /// Absorbs the concatenation of `parts`; as many bytes as wanted are read from the result.
    fn xof(parts: &[&[u8]]) -> Self::Reader;
}

/// The output side of an extendable-output function. Wiped on drop.
pub trait XofReader {
    /// The next `out.len()` bytes. Many short reads give the same bytes as one long read.
    fn read(&mut self, out: &mut [u8]);
}
