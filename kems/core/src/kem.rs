use core::fmt;

use rand_core::CryptoRng;
use subtle::{Choice, ConditionallySelectable};
use zeroize::{Zeroize, ZeroizeOnDrop};

/// A key encapsulation mechanism over fixed-size byte arrays that the caller owns.
///
/// The core is deterministic: `keygen_from` and `encaps_from` take every random byte as `coins`. Nothing is returned by
/// value, so that a machine with a few kilobytes of RAM decides where the bytes lie.
pub trait Kem: Sized {
    /// Encapsulation key as it goes over the wire.
    type EkBytes: Bytes;
    /// Decapsulation key as its specification stores it.
    type DkBytes: Bytes;
    /// Ciphertext.
    type CtBytes: Bytes;
    /// All randomness of one key generation attempt.
    type KeygenCoins: Bytes;
    /// All randomness of one encapsulation.
    type EncapsCoins: Bytes;
    /// [`core::convert::Infallible`] where rejection is implicit, [`Rejected`] where it is explicit.
    type Rejection: core::error::Error;

    /// Length of an encapsulation key in bytes.
    const EK_LEN: usize = Self::EkBytes::LEN;
    /// Length of a decapsulation key in bytes.
    const DK_LEN: usize = Self::DkBytes::LEN;
    /// Length of a ciphertext in bytes.
    const CT_LEN: usize = Self::CtBytes::LEN;

    /// Checks an encapsulation key from a peer (canonical coefficients). [`Ek::parse`] is the only caller that matters.
    fn check_ek(ek: &Self::EkBytes) -> Result<(), InvalidKey>;

    /// Checks a stored decapsulation key when it is loaded. By default any bytes are a key.
    fn check_dk(_dk: &Self::DkBytes) -> Result<(), InvalidKey> {
        Ok(())
    }

    /// Makes a key pair from `coins`. On failure both outputs are zeroed and the caller draws again.
    fn keygen_from(
        coins: &Self::KeygenCoins,
        ek: &mut Self::EkBytes,
        dk: &mut Self::DkBytes,
    ) -> Result<(), NotInvertible>;

    /// Encapsulates to `ek`: `ct` goes to the owner of the key, `ss` stays.
    fn encaps_from(coins: &Self::EncapsCoins, ek: &Ek<'_, Self>, ct: &mut Self::CtBytes, ss: &mut SharedSecret);

    /// Decapsulates. With implicit rejection a forged `ct` gives an unrelated `ss`; with explicit rejection it gives an
    /// error and an all-zero `ss`, which must not be used.
    fn decaps(dk: &Self::DkBytes, ct: &Self::CtBytes, ss: &mut SharedSecret) -> Result<(), Self::Rejection>;

    /// [`Kem::keygen_from`] with coins from `rng`, in the order in which the specification draws them.
    ///
    /// Gives up after 64 non-invertible draws: no working generator gets there.
    fn keygen(rng: &mut impl CryptoRng, ek: &mut Self::EkBytes, dk: &mut Self::DkBytes) -> Result<(), NotInvertible> {
        let mut coins = Self::KeygenCoins::ZERO;
        let made = (0..64).any(|_| {
            rng.fill_bytes(coins.as_mut());
            Self::keygen_from(&coins, ek, dk).is_ok()
        });
        coins.zeroize();
        if made { Ok(()) } else { Err(NotInvertible) }
    }

    /// [`Kem::encaps_from`] with coins from `rng`.
    fn encaps(rng: &mut impl CryptoRng, ek: &Ek<'_, Self>, ct: &mut Self::CtBytes, ss: &mut SharedSecret) {
        let mut coins = Self::EncapsCoins::ZERO;
        rng.fill_bytes(coins.as_mut());
        Self::encaps_from(&coins, ek, ct, ss);
        coins.zeroize();
    }
}

/// A byte array whose length is part of its type. One implementation covers every `[u8; N]`.
pub trait Bytes: AsRef<[u8]> + AsMut<[u8]> + Zeroize {
    /// Length in bytes.
    const LEN: usize;
    /// All zero; where buffers start.
    const ZERO: Self;

    /// `None` unless `bytes` has exactly [`Self::LEN`] bytes.
    fn from_slice(bytes: &[u8]) -> Option<&Self>;
    /// `None` unless `bytes` has exactly [`Self::LEN`] bytes.
    fn from_mut_slice(bytes: &mut [u8]) -> Option<&mut Self>;
}

impl<const N: usize> Bytes for [u8; N] {
    const LEN: usize = N;
    const ZERO: Self = [0; N];

    fn from_slice(bytes: &[u8]) -> Option<&Self> {
        bytes.try_into().ok()
    }

    fn from_mut_slice(bytes: &mut [u8]) -> Option<&mut Self> {
        bytes.try_into().ok()
    }
}

/// An encapsulation key that passed [`Kem::check_ek`]. Borrows the receive buffer: the check costs no RAM.
pub struct Ek<'a, K: Kem>(&'a K::EkBytes);

impl<'a, K: Kem> Ek<'a, K> {
    /// Checks the length and then the coefficients of an encoded key.
    pub fn parse(wire: &'a [u8]) -> Result<Self, InvalidKey> {
        let ek = K::EkBytes::from_slice(wire).ok_or(InvalidKey)?;
        K::check_ek(ek).map(|()| Self(ek))
    }

    /// The encoded key.
    pub fn as_bytes(&self) -> &'a K::EkBytes {
        self.0
    }
}

/// 32 secret bytes: no `Debug`, `Clone` or `PartialEq`; wiped on drop.
#[derive(Zeroize, ZeroizeOnDrop)]
pub struct SharedSecret([u8; 32]);

impl SharedSecret {
    /// Length in bytes, the same for every KEM here.
    pub const LEN: usize = 32;

    /// A place for a shared secret; all zero until an operation fills it.
    pub const fn zeroed() -> Self {
        Self([0; 32])
    }

    /// The secret bytes, for a key derivation function.
    pub const fn expose(&self) -> &[u8; 32] {
        &self.0
    }

    /// Where a KEM writes the secret.
    pub const fn expose_mut(&mut self) -> &mut [u8; 32] {
        &mut self.0
    }

    /// Takes `other` where `choice` is 1 and keeps its value otherwise; the same work either way.
    pub fn conditional_assign(&mut self, other: &[u8; 32], choice: Choice) {
        for (mine, theirs) in self.0.iter_mut().zip(other) {
            mine.conditional_assign(theirs, choice);
        }
    }
}

/// A key of the wrong length, with non-canonical coefficients, or damaged in storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidKey;

impl fmt::Display for InvalidKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("invalid KEM key")
    }
}

impl core::error::Error for InvalidKey {}

/// These coins give no key pair; draw new ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotInvertible;

impl fmt::Display for NotInvertible {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no invertible secret polynomial from this randomness")
    }
}

impl core::error::Error for NotInvertible {}

/// Explicit rejection: the ciphertext was not made for this key. The shared secret is all zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rejected;

impl fmt::Display for Rejected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ciphertext rejected")
    }
}

impl core::error::Error for Rejected {}
