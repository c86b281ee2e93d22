//! Key generation and encapsulation of the submission, and the hardened decapsulation.

#[cfg(test)]
mod tests;

use core::convert::Infallible;
use core::marker::PhantomData;

use kem_core::ct::{Emit, declassify};
use kem_core::hash::XofReader;
use kem_core::rand_core::CryptoRng;
use kem_core::{Bytes, Ek, InvalidKey, Kem, NotInvertible, SharedSecret};
use subtle::{Choice, ConditionallySelectable, ConstantTimeEq};
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use crate::lab::encoding::{decode, encode, is_canonical, poly_len, put_short};
use crate::lab::params::Params;
use crate::lab::symmetric::{Iccs, Symmetric};
use crate::lab::{leaf, ntt, sample};

/// The scheme over a parameter set and its hash functions, with secrets of the length that the submission gives them.
///
/// Where that is 32 bytes the type implements [`Kem`] as well; the secrets of [`N2592`](crate::N2592) have 64 and are not cut.
///
/// Decapsulation differs from the submission's, which is broken:
/// * fields of a ciphertext or a key that are q or more are refused;
/// * s has to be what hashing e gives, which makes the ciphertext the only one for its e (and the message of the underlying
///   encryption mode zero);
/// * all checks are folded into one mask without a branch, and a ciphertext that fails any gives XOF(0x0a, z, ct) instead of
///   its secret: rejection is implicit, and z is a part of the decapsulation key that the submission does not have.
pub struct OaepNtru<P, H = Iccs>(PhantomData<(P, H)>);

impl<P: Params, H: Symmetric> OaepNtru<P, H> {
    /// Length of an encapsulation key in bytes.
    pub const EK_LEN: usize = P::Ek::LEN;
    /// Length of a decapsulation key in bytes: the submission's and 32 more.
    pub const DK_LEN: usize = P::Dk::LEN;
    /// Length of a ciphertext in bytes.
    pub const CT_LEN: usize = P::Ct::LEN;

    /// Makes a key pair with randomness from `rng`: f until it is invertible, then g until it is, then z.
    ///
    /// # Errors
    /// After 64 draws of one of them, which no working generator comes near; the outputs are zeroed.
    pub fn generate(rng: &mut impl CryptoRng, ek: &mut P::Ek, dk: &mut P::Dk) -> Result<(), NotInvertible> {
        let mut coins = Zeroizing::new(P::KeygenCoins::ZERO);
        let (f, rest) = coins.as_mut().split_at_mut(P::Short::LEN);
        let (g, z) = rest.split_at_mut(P::Short::LEN);
        if draw::<P>(rng, f, 1) && draw::<P>(rng, g, 0) {
            rng.fill_bytes(z);
        }
        // Fails if a draw did.
        Self::generate_from(&coins, ek, dk)
    }

    /// Makes a key pair from `coins`: the draws of f, g and z.
    ///
    /// # Errors
    /// If f or g is not invertible; the outputs are zeroed.
    pub fn generate_from(coins: &P::KeygenCoins, ek: &mut P::Ek, dk: &mut P::Dk) -> Result<(), NotInvertible> {
        let (f_coins, rest) = coins.as_ref().split_at(P::Short::LEN);
        let (g_coins, z) = rest.split_at(P::Short::LEN);
        let (mut f, mut g) = (Zeroizing::new(P::ZERO), Zeroizing::new(P::ZERO));
        let (f, g) = (f.as_mut(), g.as_mut());
        let invertible = key_polynomial::<P>(f_coins, 1, f) & key_polynomial::<P>(g_coins, 0, g);
        if !declassify(invertible) {
            ek.zeroize();
            dk.zeroize();
            return Err(NotInvertible);
        }
        let (f_bytes, rest) = dk.as_mut().split_at_mut(poly_len::<P>());
        let (h_inverse, rest) = rest.split_at_mut(poly_len::<P>());
        let (ek_digest, z_bytes) = rest.split_at_mut(P::Tag::LEN);
        encode::<P>(f, f_bytes);
        for c in f.iter_mut().chain(g.iter_mut()) {
            *c = P::to_montgomery(*c);
        }
        // h = g / f and its inverse stay in the Montgomery domain: the format says so.
        P::pack(leaf::quotients::<P>(g, f), &mut Emit::new(ek.as_mut()));
        P::pack(leaf::quotients::<P>(f, g), &mut Emit::new(h_inverse));
        H::digest(&[&[KEY], ek.as_ref()], ek_digest);
        z_bytes.copy_from_slice(z);
        Ok(())
    }

    /// Encapsulates to `ek` with randomness from `rng`.
    pub fn encapsulate(rng: &mut impl CryptoRng, ek: &EncapsulationKey<'_, P>, ct: &mut P::Ct, ss: &mut Secret<P>) {
        let mut coins = Zeroizing::new(P::Short::ZERO);
        rng.fill_bytes(coins.as_mut());
        Self::encapsulate_from(&coins, ek, ct, ss);
    }

    /// Encapsulates to `ek` with the given draw of e.
    pub fn encapsulate_from(coins: &P::Short, ek: &EncapsulationKey<'_, P>, ct: &mut P::Ct, ss: &mut Secret<P>) {
        encapsulate::<P, H>(coins, ek.0, ct, ss.0.as_mut());
    }

    /// Decapsulates. What was not made for this key by [`OaepNtru::encapsulate`] gives an unrelated secret.
    pub fn decapsulate(dk: &P::Dk, ct: &P::Ct, ss: &mut Secret<P>) {
        decapsulate::<P, H>(dk, ct, ss.0.as_mut());
    }

    /// Refuses a stored decapsulation key with a field of q or more. [`OaepNtru::decapsulate`] works on any bytes.
    ///
    /// # Errors
    /// [`InvalidKey`] for such a key.
    pub fn check_decapsulation_key(dk: &P::Dk) -> Result<(), InvalidKey> {
        checked(is_canonical::<P>(&dk.as_ref()[..2 * poly_len::<P>()]))
    }
}

/// An encapsulation key all of whose fields are below q. Borrows its bytes.
pub struct EncapsulationKey<'a, P: Params>(&'a P::Ek);

impl<'a, P: Params> EncapsulationKey<'a, P> {
    /// Checks the length and every field.
    ///
    /// # Errors
    /// [`InvalidKey`] if one of them is wrong.
    pub fn parse(wire: &'a [u8]) -> Result<Self, InvalidKey> {
        let ek = P::Ek::from_slice(wire).ok_or(InvalidKey)?;
        checked(is_canonical::<P>(wire)).map(|()| Self(ek))
    }
}

/// A shared secret in the submission's length. Wiped on drop.
pub struct Secret<P: Params>(P::Ss);

impl<P: Params> Secret<P> {
    /// A place for a secret; all zero until an operation fills it.
    pub const fn zeroed() -> Self {
        Self(P::Ss::ZERO)
    }

    /// The secret bytes, for a key derivation function.
    pub fn expose(&self) -> &P::Ss {
        &self.0
    }
}

impl<P: Params> Drop for Secret<P> {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

impl<P: Params> ZeroizeOnDrop for Secret<P> {}

impl<P: Params<Ss = [u8; 32]>, H: Symmetric> Kem for OaepNtru<P, H> {
    type EkBytes = P::Ek;
    type DkBytes = P::Dk;
    type CtBytes = P::Ct;
    type KeygenCoins = P::KeygenCoins;
    type EncapsCoins = P::Short;
    type Rejection = Infallible;

    fn check_ek(ek: &P::Ek) -> Result<(), InvalidKey> {
        checked(is_canonical::<P>(ek.as_ref()))
    }

    fn check_dk(dk: &P::Dk) -> Result<(), InvalidKey> {
        Self::check_decapsulation_key(dk)
    }

    fn keygen(rng: &mut impl CryptoRng, ek: &mut P::Ek, dk: &mut P::Dk) -> Result<(), NotInvertible> {
        Self::generate(rng, ek, dk)
    }

    fn keygen_from(coins: &P::KeygenCoins, ek: &mut P::Ek, dk: &mut P::Dk) -> Result<(), NotInvertible> {
        Self::generate_from(coins, ek, dk)
    }

    fn encaps_from(coins: &P::Short, ek: &Ek<'_, Self>, ct: &mut P::Ct, ss: &mut SharedSecret) {
        encapsulate::<P, H>(coins, ek.as_bytes(), ct, ss.expose_mut());
    }

    fn decaps(dk: &P::Dk, ct: &P::Ct, ss: &mut SharedSecret) -> Result<(), Infallible> {
        decapsulate::<P, H>(dk, ct, ss.expose_mut());
        Ok(())
    }
}

/// Fills `coins` until they give an invertible polynomial; false after 64 draws.
fn draw<P: Params>(rng: &mut impl CryptoRng, coins: &mut [u8], constant: i16) -> bool {
    let mut p = Zeroizing::new(P::ZERO);
    (0..DRAWS).any(|_| {
        rng.fill_bytes(coins);
        key_polynomial::<P>(coins, constant, p.as_mut()).into()
    })
}

/// The transform of 3 CBD1(`coins`) + `constant`, and whether it is invertible.
fn key_polynomial<P: Params>(coins: &[u8], constant: i16, p: &mut [i16]) -> Choice {
    sample::short::<P>(coins, |at, c| p[at] = 3 * c);
    p[0] += constant;
    ntt::forward::<P>(p);
    leaf::is_invertible::<P>(p)
}

fn encapsulate<P: Params, H: Symmetric>(coins: &P::Short, ek: &P::Ek, ct: &mut P::Ct, ss: &mut [u8]) {
    let (mut e, mut s) = (Zeroizing::new(P::ZERO), Zeroizing::new(P::ZERO));
    let (e, s) = (e.as_mut(), s.as_mut());
    let (mut e_short, mut s_short) = (Zeroizing::new(P::Short::ZERO), Zeroizing::new(P::Short::ZERO));
    sample::short::<P>(coins.as_ref(), |at, c| {
        e[at] = c;
        put_short(e_short.as_mut(), at, c);
    });
    let mut r = Zeroizing::new(P::Short::ZERO);
    H::xof(&[&[MASK], e_short.as_ref()]).read(r.as_mut());
    sample::short::<P>(r.as_ref(), |at, c| {
        s[at] = c;
        put_short(s_short.as_mut(), at, c);
    });
    let (c_bytes, tag) = ct.as_mut().split_at_mut(poly_len::<P>());
    let mut ek_digest = P::Tag::ZERO;
    H::digest(&[&[KEY], ek.as_ref()], ek_digest.as_mut());
    let mut hash = H::xof(&[&[SECRET], ek_digest.as_ref(), s_short.as_ref(), e_short.as_ref()]);
    hash.read(tag);
    hash.read(ss);
    // c = h s + e.
    ntt::forward::<P>(e);
    ntt::forward::<P>(s);
    leaf::multiply::<P>(s, decode::<P>(ek.as_ref()));
    for (c, e) in s.iter_mut().zip(e) {
        *c = P::centre(*c + *e);
    }
    encode::<P>(s, c_bytes);
}

fn decapsulate<P: Params, H: Symmetric>(dk: &P::Dk, ct: &P::Ct, ss: &mut [u8]) {
    let (f, rest) = dk.as_ref().split_at(poly_len::<P>());
    let (h_inverse, rest) = rest.split_at(poly_len::<P>());
    let (ek_digest, z) = rest.split_at(P::Tag::LEN);
    let (c_bytes, tag) = ct.as_ref().split_at(poly_len::<P>());
    let (mut c, mut e) = (Zeroizing::new(P::ZERO), Zeroizing::new(P::ZERO));
    let (c, e) = (c.as_mut(), e.as_mut());
    for ((c, e), field) in c.iter_mut().zip(e.iter_mut()).zip(decode::<P>(c_bytes)) {
        (*c, *e) = (field, field);
    }

    // c f = g s + f e is e modulo 3. The factor R is what the product with f lost.
    leaf::multiply::<P>(e, decode::<P>(f));
    ntt::inverse::<P>(e, P::to_montgomery(P::ONE));
    let mut e_short = Zeroizing::new(P::Short::ZERO);
    for (at, e) in e.iter_mut().enumerate() {
        *e = modulo_3(smallest::<P>(*e));
        put_short(e_short.as_mut(), at, *e);
    }

    // s = (c - e) / h, so that h s + e = c holds whatever c was.
    ntt::forward::<P>(e);
    for (c, e) in c.iter_mut().zip(e) {
        *c = P::centre(*c - *e);
    }
    leaf::multiply::<P>(c, decode::<P>(h_inverse));
    ntt::inverse::<P>(c, P::ONE);

    // If s also is what e hashes to, encapsulation with this e gives this c.
    let mut r = Zeroizing::new(P::Short::ZERO);
    H::xof(&[&[MASK], e_short.as_ref()]).read(r.as_mut());
    let (mut s_short, mut difference) = (Zeroizing::new(P::Short::ZERO), 0);
    sample::short::<P>(r.as_ref(), |at, s| {
        difference |= P::freeze(c[at] - s);
        put_short(s_short.as_mut(), at, s);
    });

    let mut hash = H::xof(&[&[SECRET], ek_digest, s_short.as_ref(), e_short.as_ref()]);
    let (mut expected, mut rejected) = (Zeroizing::new(P::Tag::ZERO), Zeroizing::new(P::Ss::ZERO));
    hash.read(expected.as_mut());
    hash.read(ss);
    H::xof(&[&[REJECTED], z, ct.as_ref()]).read(rejected.as_mut());
    // A canonical encoding is the only one of its c.
    let accepted = is_canonical::<P>(c_bytes) & difference.ct_eq(&0) & expected.as_ref().ct_eq(tag);
    for (k, r) in ss.iter_mut().zip(rejected.as_ref()) {
        k.conditional_assign(r, !accepted);
    }
}

/// The representative of smallest absolute value.
fn smallest<P: Params>(c: i16) -> i16 {
    let c = P::freeze(c);
    // Negative if c is in the upper half.
    let upper = ((P::Q - 1) / 2 - c) >> 15;
    c - (upper & P::Q)
}

/// The representative modulo 3 in -1..=1. In: |c| < 2^14.
fn modulo_3(c: i16) -> i16 {
    // 21846 / 2^16 is 1 / 3 and 1 / 98304: too little to round to another third.
    let third = (i32::from(c) * 21846 + (1 << 15)) >> 16;
    c - 3 * third as i16
}

fn checked(valid: Choice) -> Result<(), InvalidKey> {
    if valid.into() { Ok(()) } else { Err(InvalidKey) }
}

const DRAWS: usize = 64;

/// Domain tags: digest of an encapsulation key, mask G, tag and secret H. The last one is not the submission's.
const KEY: u8 = 0x00;
const MASK: u8 = 0x01;
const SECRET: u8 = 0x05;
const REJECTED: u8 = 0x0a;
