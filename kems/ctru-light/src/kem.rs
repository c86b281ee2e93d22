use core::convert::Infallible;
use core::marker::PhantomData;

use kem_core::ct::{Compare, Emit};
use kem_core::hash::{HashSuite, XofReader};
use kem_core::rand_core::CryptoRng;
use kem_core::{Ek, InvalidKey, Kem, NotInvertible, SharedSecret};
use subtle::Choice;
use zeroize::{Zeroize, Zeroizing};

use crate::backends::{Arith, Native};
use crate::encoding::{COINS_LEN, CT_LEN, EK_LEN, F_LEN, ek_is_canonical};
use crate::pke;
use crate::ring::Poly;

/// CTRU-Light with the hash suite `H` (specification section 8).
///
/// Keys are 640 and 864 bytes, ciphertexts 512. Key generation coins are `d || z`, encapsulation coins the message `m`.
pub struct CtruLight<H>(PhantomData<H>);

impl<H: HashSuite> Kem for CtruLight<H> {
    type EkBytes = [u8; EK_LEN];
    type DkBytes = [u8; DK_LEN];
    type CtBytes = [u8; CT_LEN];
    type KeygenCoins = [u8; 64];
    type EncapsCoins = [u8; 32];
    type Rejection = Infallible;

    /// Refuses coefficients of 769 and more.
    fn check_ek(ek: &Self::EkBytes) -> Result<(), InvalidKey> {
        if ek_is_canonical(ek) { Ok(()) } else { Err(InvalidKey) }
    }

    /// Refuses invalid codes in f, a non-canonical encapsulation key, and one that does not belong to f.
    fn check_dk(dk: &Self::DkBytes) -> Result<(), InvalidKey> {
        let Dk { f, ek, .. } = Dk::split(dk);
        Self::check_ek(ek)?;
        if pke::belong_together(Native, f, ek).into() {
            Ok(())
        } else {
            Err(InvalidKey)
        }
    }

    fn keygen_from(
        coins: &Self::KeygenCoins,
        ek: &mut Self::EkBytes,
        dk: &mut Self::DkBytes,
    ) -> Result<(), NotInvertible> {
        let (d, z) = coins.split_at(32);
        attempt::<H>(Native, d, ek, dk)?;
        dk[DK_LEN - Z_LEN..].copy_from_slice(z);
        Ok(())
    }

    /// Draws d until it gives a key, then z.
    fn keygen(rng: &mut impl CryptoRng, ek: &mut Self::EkBytes, dk: &mut Self::DkBytes) -> Result<(), NotInvertible> {
        let mut d = Zeroizing::new([0; 32]);
        let made = (0..64).any(|_| {
            rng.fill_bytes(d.as_mut());
            attempt::<H>(Native, d.as_ref(), ek, dk).is_ok()
        });
        if !made {
            return Err(NotInvertible);
        }
        rng.fill_bytes(&mut dk[DK_LEN - Z_LEN..]);
        Ok(())
    }

    fn encaps_from(m: &Self::EncapsCoins, ek: &Ek<'_, Self>, ct: &mut Self::CtBytes, ss: &mut SharedSecret) {
        encaps::<H>(Native, m, ek.as_bytes(), ct, ss);
    }

    fn decaps(dk: &Self::DkBytes, ct: &Self::CtBytes, ss: &mut SharedSecret) -> Result<(), Infallible> {
        decaps::<H>(Native, dk, ct, ss);
        Ok(())
    }
}

/// Length of a decapsulation key `f || ek || z` in bytes.
const DK_LEN: usize = F_LEN + EK_LEN + Z_LEN;
/// Length of the implicit-rejection secret in bytes.
const Z_LEN: usize = 32;
/// How much of the encapsulation key enters the key hash: ID(pk), literally its first bytes.
const ID_LEN: usize = 33;

/// The parts of a decapsulation key.
struct Dk<'a> {
    f: &'a [u8; F_LEN],
    ek: &'a [u8; EK_LEN],
    z: &'a [u8; Z_LEN],
}

impl<'a> Dk<'a> {
    fn split(dk: &'a [u8; DK_LEN]) -> Self {
        let (f, rest) = dk.split_first_chunk().expect("DK_LEN is the sum of its parts");
        let (ek, rest) = rest.split_first_chunk().expect("DK_LEN is the sum of its parts");
        let z = rest.try_into().expect("DK_LEN is the sum of its parts");
        Self { f, ek, z }
    }
}

/// One attempt at a key pair, all but z. On failure both outputs are zero.
fn attempt<H: HashSuite>(
    arith: impl Arith,
    d: &[u8],
    ek: &mut [u8; EK_LEN],
    dk: &mut [u8; DK_LEN],
) -> Result<(), NotInvertible> {
    let (f, rest) = dk.split_first_chunk_mut().expect("DK_LEN is the sum of its parts");
    match pke::keygen(arith, H::xof(&[d]), f, ek) {
        Ok(()) => rest[..EK_LEN].copy_from_slice(ek),
        Err(NotInvertible) => {
            ek.zeroize();
            dk.zeroize();
            return Err(NotInvertible);
        }
    }
    Ok(())
}

fn encaps<H: HashSuite>(
    arith: impl Arith,
    m: &[u8; 32],
    ek: &[u8; EK_LEN],
    ct: &mut [u8; CT_LEN],
    ss: &mut SharedSecret,
) {
    let mut r = Poly::zeroed();
    derive::<H>(m, ek, ss, &mut r);
    pke::encrypt(arith, ek, m, &mut r, &mut Emit::new(ct));
}

fn decaps<H: HashSuite>(arith: impl Arith, dk: &[u8; DK_LEN], ct: &[u8; CT_LEN], ss: &mut SharedSecret) {
    let Dk { f, ek, z } = Dk::split(dk);
    let mut m = Zeroizing::new([0; 32]);
    arith.decrypt(f, ct, &mut m);
    let matched = reencrypt::<H>(arith, ek, &m, ct, ss);
    reject::<H>(ct, z, ss, !matched);
}

/// K of the decrypted message, and whether it encrypts to `ct`.
#[inline(never)]
fn reencrypt<H: HashSuite>(
    arith: impl Arith,
    ek: &[u8; EK_LEN],
    m: &[u8; 32],
    ct: &[u8; CT_LEN],
    ss: &mut SharedSecret,
) -> Choice {
    let mut r = Poly::zeroed();
    derive::<H>(m, ek, ss, &mut r);
    let mut compare = Compare::new(ct);
    pke::encrypt(arith, ek, m, &mut r, &mut compare);
    compare.matched()
}

/// K and r from the message: `K || rho = H512(ek[0..33] || m)`, r from the XOF of rho.
#[inline(never)]
fn derive<H: HashSuite>(m: &[u8; 32], ek: &[u8; EK_LEN], ss: &mut SharedSecret, r: &mut Poly) {
    let mut k_rho = Zeroizing::new([0; 64]);
    H::hash64(&[&ek[..ID_LEN], m], &mut k_rho);
    let (k, rho) = k_rho.split_at(32);
    ss.expose_mut().copy_from_slice(k);
    let mut coins = Zeroizing::new([0; COINS_LEN]);
    H::xof(&[rho]).read(coins.as_mut());
    r.sample_b1(&coins);
}

/// Replaces K by `H512(ct || z)[0..32]` where `rejected` is 1; the same work either way.
#[inline(never)]
fn reject<H: HashSuite>(ct: &[u8; CT_LEN], z: &[u8; Z_LEN], ss: &mut SharedSecret, rejected: Choice) {
    let mut other = Zeroizing::new([0; 32]);
    H::hash64_head(&[ct, z], &mut other);
    ss.conditional_assign(&other, rejected);
}
