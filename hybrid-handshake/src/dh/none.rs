//! No Diffie-Hellman at all: profile P0, for measurements.

use kem_core::SharedSecret;

use super::{Dh, DhSecret, FixedDh};
use crate::{Error, drbg::Drbg, suite::Group};

/// The absent group: shares are empty and results are zero. Every machine leaves the results out by the profile.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoDh;

impl FixedDh for NoDh {
    const GROUP: Group = Group::None;
}

impl Dh for NoDh {
    fn group(self) -> Group {
        Group::None
    }

    fn draw(self, _: &mut Drbg, _: &mut DhSecret) -> Result<(), Error> {
        Ok(())
    }

    fn share(self, _: &DhSecret, out: &mut [u8]) -> Result<(), Error> {
        if out.is_empty() { Ok(()) } else { Err(Error::Misuse) }
    }

    fn check(self, share: &[u8]) -> Result<(), Error> {
        if share.is_empty() { Ok(()) } else { Err(Error::Rejected) }
    }

    fn agree(self, _: &DhSecret, share: &[u8], ss: &mut SharedSecret) -> Result<(), Error> {
        *ss = SharedSecret::zeroed();
        self.check(share)
    }
}
