//! X25519 (RFC 7748).

use kem_core::{SharedSecret, ct::declassify, rand_core::Rng};
use subtle::ConstantTimeEq;

use super::{Dh, DhSecret, FixedDh};
use crate::{
    Error,
    backends::{x25519, x25519_base},
    drbg::Drbg,
    suite::Group,
};

/// X25519 (RFC 7748 section 5): the top bit of a share is masked, a non-canonical u is reduced, and a result of all
/// zeros is refused (section 6.1).
#[derive(Clone, Copy, Debug, Default)]
pub struct X25519;

impl FixedDh for X25519 {
    const GROUP: Group = Group::X25519;
}

impl Dh for X25519 {
    fn group(self) -> Group {
        Group::X25519
    }

    fn draw(self, rng: &mut Drbg, secret: &mut DhSecret) -> Result<(), Error> {
        rng.fill_bytes(&mut secret.0);
        Ok(())
    }

    fn share(self, secret: &DhSecret, out: &mut [u8]) -> Result<(), Error> {
        let out: &mut [u8; 32] = out.try_into().map_err(|_| Error::Misuse)?;
        x25519_base(out, &secret.0);
        Ok(())
    }

    fn check(self, share: &[u8]) -> Result<(), Error> {
        let mut u: [u8; 32] = share.try_into().map_err(|_| Error::Rejected)?;
        u[31] &= 0x7f;
        if SMALL_ORDER.contains(&u) {
            Err(Error::Rejected)
        } else {
            Ok(())
        }
    }

    fn agree(self, secret: &DhSecret, share: &[u8], ss: &mut SharedSecret) -> Result<(), Error> {
        let share = share.try_into().map_err(|_| Error::Rejected)?;
        x25519(ss.expose_mut(), &secret.0, share);
        if declassify(ss.expose().ct_eq(&[0; 32])) {
            Err(Error::Rejected)
        } else {
            Ok(())
        }
    }
}

/// Every encoding, top bit masked, of a point whose order divides 8 on the curve or its twist: exactly the shares that
/// give an all-zero result with every secret. u = 0, 1, p - 1, the two of order 8, and the non-canonical p and p + 1.
const SMALL_ORDER: [[u8; 32]; 7] = [
    little(0, 0),
    little(1, 0),
    ends(0xec, 0x7f),
    ends(0xed, 0x7f),
    ends(0xee, 0x7f),
    [
        0xe0, 0xeb, 0x7a, 0x7c, 0x3b, 0x41, 0xb8, 0xae, 0x16, 0x56, 0xe3, 0xfa, 0xf1, 0x9f, 0xc4, 0x6a, 0xda, 0x09,
        0x8d, 0xeb, 0x9c, 0x32, 0xb1, 0xfd, 0x86, 0x62, 0x05, 0x16, 0x5f, 0x49, 0xb8, 0x00,
    ],
    [
        0x5f, 0x9c, 0x95, 0xbc, 0xa3, 0x50, 0x8c, 0x24, 0xb1, 0xd0, 0xb1, 0x55, 0x9c, 0x83, 0xef, 0x5b, 0x04, 0x44,
        0x5c, 0xc4, 0x58, 0x1c, 0x8e, 0x86, 0xd8, 0x22, 0x4e, 0xdd, 0xd0, 0x9f, 0x11, 0x57,
    ],
];

const fn little(first: u8, rest: u8) -> [u8; 32] {
    let mut u = [rest; 32];
    u[0] = first;
    u
}

const fn ends(first: u8, last: u8) -> [u8; 32] {
    let mut u = little(first, 0xff);
    u[31] = last;
    u
}
