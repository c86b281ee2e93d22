use core::convert::Infallible;

use crate::testkit::KatDrbg;
use crate::{Bytes, Ek, Kem, SharedSecret};

/// A key pair and a ciphertext for it, for a KEM with implicit rejection. Tests damage one of them.
pub struct Pair<K: Kem> {
    /// Encapsulation key.
    pub ek: K::EkBytes,
    /// Decapsulation key.
    pub dk: K::DkBytes,
    /// Ciphertext.
    pub ct: K::CtBytes,
    /// What is in it.
    pub ss: SharedSecret,
}

impl<K: Kem<Rejection = Infallible>> Pair<K> {
    /// From the first output of the KAT generator.
    pub fn new() -> Self {
        let mut pair = Self {
            ek: K::EkBytes::ZERO,
            dk: K::DkBytes::ZERO,
            ct: K::CtBytes::ZERO,
            ss: SharedSecret::zeroed(),
        };
        let mut rng = KatDrbg::master();
        K::keygen(&mut rng, &mut pair.ek, &mut pair.dk).expect("a working generator");
        let ek = Ek::<K>::parse(pair.ek.as_ref()).expect("an own key");
        K::encaps(&mut rng, &ek, &mut pair.ct, &mut pair.ss);
        pair
    }

    /// What the decapsulation key makes of the ciphertext, as both are now.
    pub fn decaps(&self) -> [u8; 32] {
        let mut ss = SharedSecret::zeroed();
        let Ok(()) = K::decaps(&self.dk, &self.ct, &mut ss);
        *ss.expose()
    }
}

impl<K: Kem<Rejection = Infallible>> Default for Pair<K> {
    fn default() -> Self {
        Self::new()
    }
}
