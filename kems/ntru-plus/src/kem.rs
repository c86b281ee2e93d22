//! Key generation, encapsulation and decapsulation (specification, algorithms of the KEM).
//!
//! One polynomial buffer serves each operation. What else is needed lies packed in the caller's buffers and is unpacked
//! a piece at a time.

use core::ops::Range;

use kem_core::{
    Bytes, Ek, InvalidKey, Kem, NotInvertible, Rejected, SharedSecret,
    ct::declassify,
    hash::{KeccakReader, Shake256, XofReader},
    rand_core::CryptoRng,
};
use subtle::{Choice, ConstantTimeEq};
use zeroize::{Zeroize, Zeroizing};

use crate::{
    NtruPlus,
    backends::{Arith, Native},
    encoding::{is_canonical, pack, unpack},
    field::{F, invert, mod3},
    params::{Params, sealed::Zeroed},
    profile::Profile,
    sotp::{cbd1, cbd1_bytes, decode, encode, is_cbd1, split_trits},
};

impl<P: Params, V: Profile> Kem for NtruPlus<P, V> {
    type EkBytes = P::Packed;
    type DkBytes = P::Dk;
    type CtBytes = P::Packed;
    /// Seed of f, seed of g.
    type KeygenCoins = [u8; 2 * SEED_LEN];
    /// The message m.
    type EncapsCoins = P::Message;
    type Rejection = Rejected;

    fn check_ek(ek: &P::Packed) -> Result<(), InvalidKey> {
        if is_canonical::<V>(ek.as_ref()).into() {
            Ok(())
        } else {
            Err(InvalidKey)
        }
    }

    /// Coefficients are canonical, and the stored hash is that of the encapsulation key that the stored 1/h belongs to.
    fn check_dk(dk: &P::Dk) -> Result<(), InvalidKey> {
        if check_dk::<P, V>(Native, dk).into() {
            Ok(())
        } else {
            Err(InvalidKey)
        }
    }

    /// Draws 32 bytes for f until they give an invertible polynomial, then 32 bytes for g until they do.
    fn keygen(rng: &mut impl CryptoRng, ek: &mut P::Packed, dk: &mut P::Dk) -> Result<(), NotInvertible> {
        let mut seed = Zeroizing::new([0; SEED_LEN]);
        let f = draw(rng, &mut seed, |seed| begin_key::<P, V>(Native, seed, dk));
        let made = f.and_then(|()| draw(rng, &mut seed, |seed| finish_key::<P, V>(Native, seed, ek, dk)));
        made.inspect(|()| hash_key::<P, V>(ek, dk))
            .inspect_err(|_| erase(ek, dk))
    }

    fn keygen_from(coins: &[u8; 2 * SEED_LEN], ek: &mut P::Packed, dk: &mut P::Dk) -> Result<(), NotInvertible> {
        let (f, g) = coins.split_at(SEED_LEN);
        let made = begin_key::<P, V>(Native, f, dk).and_then(|()| finish_key::<P, V>(Native, g, ek, dk));
        made.inspect(|()| hash_key::<P, V>(ek, dk))
            .inspect_err(|_| erase(ek, dk))
    }

    fn encaps_from(m: &P::Message, ek: &Ek<'_, Self>, ct: &mut P::Packed, ss: &mut SharedSecret) {
        encaps::<P, V>(Native, m, ek.as_bytes(), ct, ss);
    }

    fn decaps(dk: &P::Dk, ct: &P::Packed, ss: &mut SharedSecret) -> Result<(), Rejected> {
        if declassify(decaps::<P, V>(Native, dk, ct, ss)) {
            Ok(())
        } else {
            Err(Rejected)
        }
    }
}

/// Bytes from which f is expanded, and again for g.
const SEED_LEN: usize = 32;

/// Tries seeds from `rng`. 64 failures in a row mean a dead generator: the largest set gets there once in 2^116 keys.
fn draw(
    rng: &mut impl CryptoRng,
    seed: &mut [u8; SEED_LEN],
    mut attempt: impl FnMut(&[u8]) -> Result<(), NotInvertible>,
) -> Result<(), NotInvertible> {
    (0..64)
        .find_map(|_| {
            rng.fill_bytes(seed);
            attempt(seed).ok()
        })
        .ok_or(NotInvertible)
}

fn erase(ek: &mut impl Zeroize, dk: &mut impl Zeroize) {
    ek.zeroize();
    dk.zeroize();
}

/// The last field of `dk`, when no polynomial is on the stack any more.
fn hash_key<P: Params, V: Profile>(ek: &P::Packed, dk: &mut P::Dk) {
    let (_, _, hash) = split_dk_mut::<P>(dk);
    hash.copy_from_slice(&V::hash_ek(ek.as_ref()));
}

/// KeyGen step 1. Puts f in its place in `dk`, and 1/f where 1/h will be.
#[inline(never)] // As `derive_r`.
fn begin_key<P: Params, V: Profile>(arith: impl Arith, seed: &[u8], dk: &mut P::Dk) -> Result<(), NotInvertible> {
    let mut poly = Zeroizing::new(P::Poly::ZERO);
    let (f, f_inverse, _) = split_dk_mut::<P>(dk);
    three_times_binomial::<P, V>(seed, f, &mut poly);
    poly.as_mut()[0] += 1;
    arith.ntt::<P>(&mut poly);
    pack::<V>(poly.as_ref(), f);
    let invertible = arith.invert::<P>(&mut poly, 1);
    pack::<V>(poly.as_ref(), f_inverse);
    if declassify(invertible) {
        Ok(())
    } else {
        Err(NotInvertible)
    }
}

/// KeyGen steps 2 and 3. If it fails, `dk` is still what [`begin_key`] made of it.
#[inline(never)] // As `derive_r`.
fn finish_key<P: Params, V: Profile>(
    arith: impl Arith,
    seed: &[u8],
    ek: &mut P::Packed,
    dk: &mut P::Dk,
) -> Result<(), NotInvertible> {
    let mut poly = Zeroizing::new(P::Poly::ZERO);
    three_times_binomial::<P, V>(seed, ek.as_mut(), &mut poly);
    arith.ntt::<P>(&mut poly);
    let (_, inverse, _) = split_dk_mut::<P>(dk);
    multiply_packed::<P, V>(arith, &mut poly, inverse, Scale::<V>::NEW_KEY);
    pack::<V>(poly.as_ref(), ek.as_mut());
    // As 1/f has an inverse, h has one exactly if g has.
    if !declassify(arith.invert::<P>(&mut poly, Scale::<V>::INVERSE_KEY)) {
        return Err(NotInvertible);
    }
    pack::<V>(poly.as_ref(), inverse);
    Ok(())
}

fn check_dk<P: Params, V: Profile>(arith: impl Arith, dk: &P::Dk) -> Choice {
    let (f, h_inverse, hash) = split_dk::<P>(dk);
    let mut poly = Zeroizing::new(P::Poly::ZERO);
    let canonical = is_canonical::<V>(f) & unpack::<V>(h_inverse, poly.as_mut());
    poly.as_mut().iter_mut().for_each(|c| *c = F::barrett(*c));
    let invertible = arith.invert::<P>(&mut poly, Scale::<V>::INVERSE_KEY);
    let mut ek = P::Packed::ZERO;
    pack::<V>(poly.as_ref(), ek.as_mut());
    canonical & invertible & V::hash_ek(ek.as_ref()).ct_eq(hash)
}

fn encaps<P: Params, V: Profile>(
    arith: impl Arith,
    m: &P::Message,
    ek: &P::Packed,
    ct: &mut P::Packed,
    ss: &mut SharedSecret,
) {
    let mut poly = Zeroizing::new(P::Poly::ZERO);
    derive_r::<P, V>(m, ek, ss.expose_mut(), &mut poly);
    arith.ntt::<P>(&mut poly);
    // r waits in `ct` while the message polynomial is made in its place.
    pack::<V>(poly.as_ref(), ct.as_mut());
    hide_message::<P, V>(m, ct, &mut poly);
    arith.ntt::<P>(&mut poly);

    encrypt::<P, V>(arith, &mut poly, ek, ct);
}

/// The shared secret, and r from its hash.
#[inline(never)] // Hashes and polynomials: frames of their own keep the deepest one small.
fn derive_r<P: Params, V: Profile>(
    m: &P::Message,
    ek: &P::Packed,
    key: &mut [u8; SharedSecret::LEN],
    poly: &mut P::Poly,
) {
    let ek_hash = V::hash_ek(ek.as_ref());
    hash_message::<P, _>(m, &ek_hash, key, |bits| cbd1::<P, V>(bits, poly));
}

/// SOTP.Encode of the message under the hash of the packed r.
#[inline(never)] // As `derive_r`.
fn hide_message<P: Params, V: Profile>(m: &P::Message, r: &P::Packed, poly: &mut P::Poly) {
    Shake256::read_with(&[&[1], r.as_ref()], |pad| encode::<P, V>(m, pad, poly));
}

/// Turns the message polynomial into c = h r + m. `ct` holds r before, and c after.
#[inline(never)] // As `derive_r`.
fn encrypt<P: Params, V: Profile>(arith: impl Arith, poly: &mut P::Poly, ek: &P::Packed, ct: &mut P::Packed) {
    let (mut r, mut h) = (Zeroizing::new(P::Piece::ZERO), P::Piece::ZERO);
    let (poly, ek, ct) = (poly.as_mut(), ek.as_ref(), ct.as_mut());
    let (r, h) = (r.as_mut(), h.as_mut());
    for step in steps::<P>() {
        unpack::<V>(&ct[packed(&step.group)], step.place_in(r));
        unpack::<V>(&ek[packed(&step.group)], step.place_in(h));
        let hr = step.whole_in(r);
        arith.multiply::<P>(hr, step.whole_in(h), step.whole.start, Scale::<V>::USED_KEY);
        let coefficients = poly[step.whole.clone()].iter_mut();
        coefficients.zip(hr).for_each(|(c, hr)| *c = F::barrett(*c + *hr));
        step.keep_rest(r);
        step.keep_rest(h);
        pack::<V>(&poly[step.finished.clone()], &mut ct[packed(&step.finished)]);
    }
}

/// 1 if `ct` is accepted; otherwise `ss` is all zero. The same work is done either way.
fn decaps<P: Params, V: Profile>(arith: impl Arith, dk: &P::Dk, ct: &P::Packed, ss: &mut SharedSecret) -> Choice {
    let (f, h_inverse, ek_hash) = split_dk::<P>(dk);
    let mut poly = Zeroizing::new(P::Poly::ZERO);

    // y = c f modulo q, then modulo 3
    let mut good = unpack::<V>(ct.as_ref(), poly.as_mut());
    good &= multiply_packed::<P, V>(arith, &mut poly, f, F::R2);
    arith.inverse_ntt::<P>(&mut poly);
    poly.as_mut().iter_mut().for_each(|c| *c = mod3(*c));
    let (mut m, mut negative) = (Zeroizing::new(P::Message::ZERO), Zeroizing::new(P::Message::ZERO));
    split_trits::<P, V>(&poly, &mut m, &mut negative);

    arith.ntt::<P>(&mut poly);
    good &= open_message::<P, V>(arith, &mut poly, ct, h_inverse, &mut m, &negative);

    // The transform is one-to-one: comparing r is comparing the ciphertext, and needs no second polynomial.
    arith.inverse_ntt::<P>(&mut poly);
    good &= check_r::<P, V>(&m, ek_hash, ss.expose_mut(), &mut poly);

    ss.conditional_assign(&[0; SharedSecret::LEN], !good);
    good
}

/// Turns y into r = (c - y) / h, which is hashed on the way, and the bits of y into the message. 1 if 1/h and y are good.
#[inline(never)] // As `derive_r`.
fn open_message<P: Params, V: Profile>(
    arith: impl Arith,
    poly: &mut P::Poly,
    ct: &P::Packed,
    h_inverse: &[u8],
    m: &mut P::Message,
    negative: &P::Message,
) -> Choice {
    let mut hash = Shake256::new();
    hash.update(&[1]);
    let good = recover_r::<P, V>(arith, poly, ct, h_inverse, |packed| hash.update(packed));
    good & decode::<P>(m, negative, &mut hash.finalize_in_place())
}

/// The shared secret, and 1 if `poly` is the r that belongs to it.
#[inline(never)] // As `derive_r`.
fn check_r<P: Params, V: Profile>(
    m: &P::Message,
    ek_hash: &[u8],
    key: &mut [u8; SharedSecret::LEN],
    poly: &mut P::Poly,
) -> Choice {
    hash_message::<P, _>(m, ek_hash, key, |bits| is_cbd1::<P, V>(bits, poly))
}

/// Turns y into r = (c - y) / h and passes on the packed pieces of r. 1 if 1/h is canonical.
#[inline(never)] // As `derive_r`.
fn recover_r<P: Params, V: Profile>(
    arith: impl Arith,
    poly: &mut P::Poly,
    ct: &P::Packed,
    h_inverse: &[u8],
    mut absorb: impl FnMut(&[u8]),
) -> Choice {
    let mut piece = Zeroizing::new(P::Piece::ZERO);
    let mut bytes = Zeroizing::new([0; GROUP * 3 / 2]);
    let mut canonical = Choice::from(1);
    let (poly, ct, piece) = (poly.as_mut(), ct.as_ref(), piece.as_mut());
    for step in steps::<P>() {
        let place = step.place_in(piece);
        unpack::<V>(&ct[packed(&step.group)], place);
        let coefficients = poly[step.group.clone()].iter_mut();
        coefficients.zip(&*place).for_each(|(y, c)| *y = c - *y);
        canonical &= unpack::<V>(&h_inverse[packed(&step.group)], place);
        let y = &mut poly[step.whole.clone()];
        arith.multiply::<P>(y, step.whole_in(piece), step.whole.start, Scale::<V>::USED_KEY);
        step.keep_rest(piece);
        for r in poly[step.finished].chunks(GROUP) {
            let bytes = &mut bytes[..r.len() * 3 / 2];
            pack::<V>(r, bytes);
            absorb(bytes);
        }
    }
    canonical
}

/// Multiplies by a packed polynomial, a piece at a time. 1 if that one is canonical.
#[inline(never)] // As `derive_r`.
fn multiply_packed<P: Params, V: Profile>(arith: impl Arith, poly: &mut P::Poly, factor: &[u8], scale: i16) -> Choice {
    let mut piece = Zeroizing::new(P::Piece::ZERO);
    let mut canonical = Choice::from(1);
    let (poly, piece) = (poly.as_mut(), piece.as_mut());
    for step in steps::<P>() {
        canonical &= unpack::<V>(&factor[packed(&step.group)], step.place_in(piece));
        let coefficients = &mut poly[step.whole.clone()];
        arith.multiply::<P>(coefficients, step.whole_in(piece), step.whole.start, scale);
        step.keep_rest(piece);
    }
    canonical
}

/// A piece of a packed polynomial: a group of coefficients, behind those of the last group that are not eight residues.
struct Step {
    group: Range<usize>,
    /// The residues, in eights, that are complete with this group, and were not before.
    whole: Range<usize>,
    /// The groups, none to two of them, that have no other coefficients than that.
    finished: Range<usize>,
}

/// From the first group to the last.
fn steps<P: Params>() -> impl Iterator<Item = Step> {
    let (mut whole, mut finished) = (0..0, 0..0);
    (0..P::N).step_by(GROUP).map(move |start| {
        let group = start..P::N.min(start + GROUP);
        whole = whole.end..group.end - group.end % (8 * P::LEAF);
        finished = finished.end..if whole.end == group.end { group.end } else { start };
        Step {
            group,
            whole: whole.clone(),
            finished: finished.clone(),
        }
    })
}

impl Step {
    /// Where the group goes.
    fn place_in<'a>(&self, piece: &'a mut [i16]) -> &'a mut [i16] {
        &mut piece[self.group.start - self.whole.start..][..self.group.len()]
    }

    fn whole_in<'a>(&self, piece: &'a mut [i16]) -> &'a mut [i16] {
        &mut piece[..self.whole.len()]
    }

    /// To the start of the piece.
    fn keep_rest(&self, piece: &mut [i16]) {
        piece.copy_within(self.whole.len()..self.group.end - self.whole.start, 0);
    }
}

/// Coefficients that are packed together, in the larger layout; the last group of a polynomial may be half as long.
const GROUP: usize = 64;

/// The bytes of packed coefficients.
fn packed(coefficients: &Range<usize>) -> Range<usize> {
    coefficients.start * 3 / 2..coefficients.end * 3 / 2
}

/// f' or g, from SHAKE256 of a seed and then CBD1, times 3. The bits wait in `place`, where something secret or longer comes
/// next.
#[inline(always)]
fn three_times_binomial<P: Params, V: Profile>(seed: &[u8], place: &mut [u8], poly: &mut P::Poly) {
    let bits = &mut place[..2 * P::Message::LEN];
    expand(seed, bits);
    cbd1_bytes::<P, V>(bits, poly);
    poly.as_mut().iter_mut().for_each(|c| *c *= 3);
}

#[inline(never)] // As `derive_r`.
fn expand(seed: &[u8], bits: &mut [u8]) {
    Shake256::digest(&[seed], bits);
}

/// H(m, F(pk)): gives the shared secret, and then the bits of r.
#[inline(always)]
fn hash_message<P: Params, T>(
    m: &P::Message,
    ek_hash: &[u8],
    key: &mut [u8; SharedSecret::LEN],
    bits_of_r: impl FnOnce(&mut KeccakReader<136>) -> T,
) -> T {
    Shake256::read_with(&[&[2], m.as_ref(), ek_hash], |reader| {
        reader.read(key);
        bits_of_r(reader)
    })
}

/// f, 1/h and F(pk).
fn split_dk<P: Params>(dk: &P::Dk) -> (&[u8], &[u8], &[u8]) {
    let (f, rest) = dk.as_ref().split_at(P::Packed::LEN);
    let (h_inverse, hash) = rest.split_at(P::Packed::LEN);
    (f, h_inverse, hash)
}

fn split_dk_mut<P: Params>(dk: &mut P::Dk) -> (&mut [u8], &mut [u8], &mut [u8]) {
    let (f, rest) = dk.as_mut().split_at_mut(P::Packed::LEN);
    let (h_inverse, hash) = rest.split_at_mut(P::Packed::LEN);
    (f, h_inverse, hash)
}

/// Factors for products and inverses with stored keys, which carry the factor k = `V::KEY_FACTOR`. A product takes its
/// factor times 2^32.
struct Scale<V>(core::marker::PhantomData<V>);

impl<V: Profile> Scale<V> {
    /// k h = k * g / f
    const NEW_KEY: i16 = F::barrett(F::mul(F::mul(V::KEY_FACTOR, F::R2), F::R2));
    /// k / h = k^2 / (k h)
    const INVERSE_KEY: i16 = F::barrett(F::mul(F::mul(V::KEY_FACTOR, V::KEY_FACTOR), F::R2));
    /// h r = 1/k * (k h) r
    const USED_KEY: i16 = F::barrett(F::mul(invert(F::to_montgomery(V::KEY_FACTOR)), F::R2));
}
