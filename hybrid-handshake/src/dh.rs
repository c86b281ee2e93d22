//! Diffie-Hellman over the caller's slices.

#[cfg(feature = "lab")]
mod none;
#[cfg(feature = "p256")]
mod p256;
mod x25519;

use kem_core::SharedSecret;
use zeroize::{Zeroize, ZeroizeOnDrop};

#[cfg(feature = "lab")]
pub use none::NoDh;
#[cfg(feature = "p256")]
pub use p256::P256;
pub use x25519::X25519;

use crate::{Error, drbg::Drbg, suite::Group};

/// A group as a value: zero-sized when it is fixed at build time, [`Group`] when the suite is chosen at run time.
///
/// Shares have [`Group::share_len`] bytes.
pub trait Dh: Copy {
    /// Which group it is.
    fn group(self) -> Group;

    /// Draws a secret: 32 bytes, and again while the group has no such scalar.
    ///
    /// # Errors
    /// [`Error::Generator`] if 64 draws gave none.
    fn draw(self, rng: &mut Drbg, secret: &mut DhSecret) -> Result<(), Error>;

    /// Writes the share that belongs to `secret`.
    ///
    /// # Errors
    /// [`Error::Misuse`] if `out` has a wrong length or `secret` is no scalar of the group.
    fn share(self, secret: &DhSecret, out: &mut [u8]) -> Result<(), Error>;

    /// Checks a share from a peer without a secret.
    ///
    /// # Errors
    /// [`Error::Rejected`] for a share whose results carry no secret, or that is no point of the group.
    fn check(self, share: &[u8]) -> Result<(), Error>;

    /// The shared secret with the owner of `share`.
    ///
    /// # Errors
    /// [`Error::Rejected`] as [`Dh::check`]; [`Error::Misuse`] if `secret` is no scalar of the group.
    fn agree(self, secret: &DhSecret, share: &[u8], ss: &mut SharedSecret) -> Result<(), Error>;
}

/// A [`Dh`] fixed at build time.
pub trait FixedDh: Dh + Default {
    /// Which group it is.
    const GROUP: Group;
}

/// A Diffie-Hellman secret: 32 bytes as drawn. Wiped on drop.
#[derive(Zeroize, ZeroizeOnDrop)]
pub struct DhSecret([u8; Self::LEN]);

impl DhSecret {
    /// Length in bytes, the same for every group.
    pub const LEN: usize = 32;

    /// A place for a secret.
    pub const fn zeroed() -> Self {
        Self([0; Self::LEN])
    }

    /// A stored secret.
    pub const fn from_bytes(bytes: [u8; Self::LEN]) -> Self {
        Self(bytes)
    }

    /// The secret bytes, for storage.
    pub const fn expose(&self) -> &[u8; Self::LEN] {
        &self.0
    }
}

/// Length of the longest share in bytes.
pub const MAX_SHARE_LEN: usize = Group::P256.share_len();

/// Draws that may fail before a generator counts as dead; a P-256 scalar fails with probability 2^-32.
#[cfg(feature = "p256")]
const DRAWS: usize = 64;

/// Makes the run-time group from the groups compiled in.
macro_rules! dispatch {
    ($($method:ident($($arg:ident: $type:ty),*);)*) => {
        $(fn $method(self, $($arg: $type),*) -> Result<(), Error> {
            match self {
                Self::X25519 => X25519.$method($($arg),*),
                #[cfg(feature = "p256")]
                Self::P256 => P256.$method($($arg),*),
                #[cfg(feature = "lab")]
                Self::None => NoDh.$method($($arg),*),
                #[allow(unreachable_patterns)]
                _ => Err(Error::Unsupported),
            }
        })*
    };
}

impl Dh for Group {
    fn group(self) -> Group {
        self
    }

    dispatch! {
        draw(rng: &mut Drbg, secret: &mut DhSecret);
        share(secret: &DhSecret, out: &mut [u8]);
        check(share: &[u8]);
        agree(secret: &DhSecret, share: &[u8], ss: &mut SharedSecret);
    }
}

#[cfg(test)]
mod tests;
