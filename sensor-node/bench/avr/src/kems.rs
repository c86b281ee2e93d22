//! The three operations of a KEM, measured and checked.

use core::hint::black_box;

use kem_core::hash::Sha3_256;
use kem_core::{Bytes, Ek, Kem, SharedSecret};

use crate::known::Answer;
use crate::{Draw, measure, require};

/// Marks of the measured operations.
pub mod mark {
    /// Key generation.
    pub const KEYGEN: u8 = 1;
    /// Encapsulation.
    pub const ENCAPS: u8 = 2;
    /// Decapsulation of what encapsulation made.
    pub const DECAPS: u8 = 3;
    /// Decapsulation of a damaged ciphertext.
    pub const REJECT: u8 = 4;
}

/// A known answer first, then [`RUNS`] runs with other coins.
#[inline(never)]
pub fn run<K: Kem>(answer: &Answer) {
    let (mut ek, mut dk, mut ct) = (K::EkBytes::ZERO, K::DkBytes::ZERO, K::CtBytes::ZERO);
    let (mut ss, mut again) = (SharedSecret::zeroed(), SharedSecret::zeroed());
    let mut draw = Draw::new(0x0bad_cafe);
    for number in 0..=RUNS {
        let (mut keygen, mut encaps) = (K::KeygenCoins::ZERO, K::EncapsCoins::ZERO);
        if number == 0 {
            keygen.as_mut().copy_from_slice(answer.keygen);
            encaps.as_mut().copy_from_slice(answer.encaps);
        } else {
            draw.fill(99, keygen.as_mut());
            draw.fill(99, encaps.as_mut());
        }
        let made = measure(mark::KEYGEN, || K::keygen_from(&keygen, &mut ek, &mut dk));
        require(made.is_ok(), 1);
        if let Ok(ek) = Ek::<K>::parse(black_box(ek.as_ref())) {
            measure(mark::ENCAPS, || K::encaps_from(&encaps, &ek, &mut ct, &mut ss));
        }
        let done = measure(mark::DECAPS, || K::decaps(&dk, &ct, &mut again));
        require(done.is_ok() && again.expose() == ss.expose(), 2);
        if number == 0 {
            let mut digest = [0; 32];
            let parts = [ek.as_ref(), dk.as_ref(), ct.as_ref(), ss.expose()];
            Sha3_256::digest(&parts, &mut digest);
            require(digest == answer.digest, 3);
        }
        let at = usize::from(number) * 7;
        ct.as_mut()[at] ^= 1 << number;
        let done = measure(mark::REJECT, || K::decaps(&dk, &ct, &mut again));
        require(done.is_err() || again.expose() != ss.expose(), 4);
    }
}

/// Runs after the known answer.
const RUNS: u8 = 3;
