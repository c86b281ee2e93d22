//! Diffie-Hellman on NIST P-256 (NIST SP 800-56A section 5.7.1.2).

use kem_core::{SharedSecret, ct::declassify, rand_core::Rng};
use p256::{
    AffinePoint, ProjectivePoint, Scalar, Sec1Point,
    elliptic_curve::{
        Group as _,
        ff::{Field as _, PrimeField as _},
        point::AffineCoordinates,
        sec1::FromSec1Point,
    },
};

use super::{DRAWS, Dh, DhSecret, FixedDh};
use crate::{Error, drbg::Drbg, suite::Group};

/// NIST P-256. A share is a point in SEC1 uncompressed form (04 | X | Y), a result the X coordinate.
#[derive(Clone, Copy, Debug, Default)]
pub struct P256;

impl FixedDh for P256 {
    const GROUP: Group = Group::P256;
}

impl Dh for P256 {
    fn group(self) -> Group {
        Group::P256
    }

    fn draw(self, rng: &mut Drbg, secret: &mut DhSecret) -> Result<(), Error> {
        let found = (0..DRAWS).any(|_| {
            rng.fill_bytes(&mut secret.0);
            scalar(secret).is_ok()
        });
        if found { Ok(()) } else { Err(Error::Generator) }
    }

    fn share(self, secret: &DhSecret, out: &mut [u8]) -> Result<(), Error> {
        let scalar = scalar(secret)?;
        let point = ProjectivePoint::mul_by_generator(&scalar).to_affine();
        let out: &mut [u8; 65] = out.try_into().map_err(|_| Error::Misuse)?;
        // By hand: the crate's encoder asks first, and branches, whether the point is the one at infinity. It never is.
        let [form, coordinates @ ..] = out;
        *form = 4;
        let (x, y) = coordinates.split_at_mut(32);
        x.copy_from_slice(&point.x());
        y.copy_from_slice(&point.y());
        Ok(())
    }

    fn check(self, share: &[u8]) -> Result<(), Error> {
        point(share).map(|_| ())
    }

    fn agree(self, secret: &DhSecret, share: &[u8], ss: &mut SharedSecret) -> Result<(), Error> {
        // The order is prime and neither factor is zero: the result is never the point at infinity.
        let shared = (point(share)? * scalar(secret)?).to_affine();
        ss.expose_mut().copy_from_slice(&shared.x());
        Ok(())
    }
}

/// Neither zero nor beyond the order.
fn scalar(secret: &DhSecret) -> Result<Scalar, Error> {
    let scalar = Scalar::from_repr(secret.0.into());
    let reduced = scalar.is_some();
    let scalar = scalar.unwrap_or(Scalar::ZERO);
    // Whether these 32 bytes are a scalar shows anyway, in a second draw.
    if declassify(reduced & !scalar.is_zero()) {
        Ok(scalar)
    } else {
        Err(Error::Misuse)
    }
}

/// Only the uncompressed form; checks that the point is on the curve.
fn point(share: &[u8]) -> Result<ProjectivePoint, Error> {
    match share {
        [4, ..] if share.len() == 65 => {}
        _ => return Err(Error::Rejected),
    }
    let encoded = Sec1Point::from_bytes(share).map_err(|_| Error::Rejected)?;
    let point: Option<AffinePoint> = AffinePoint::from_sec1_point(&encoded).into();
    point.map(Into::into).ok_or(Error::Rejected)
}
