//! The target's multiplication against the portable one, for test firmware, which is where both can run.

use super::{Arith, NATIVE, decode, portable::Portable};
use crate::poly::{N, Poly};

/// Whether sums of up to four products agree, twice in a row. In: each (a, s) with a in -2^12..2^12 and s in -8..8 (8 too,
/// but on AVR).
pub fn sums_agree(terms: &[([i16; N], [i16; N])]) -> bool {
    let (mut ours, mut theirs) = (sums(NATIVE, terms), sums(Portable, terms));
    // `finish` has to leave an empty sum.
    (0..2).all(|_| ours() == theirs())
}

/// Whether packed coefficients come out the same.
pub fn decoders_agree(bytes: &[u8; 416]) -> bool {
    let mut outs = [[0; N]; 6];
    let [ours, theirs, ours10, theirs10, our_secret, their_secret] = &mut outs;
    super::decode_centred::<13>(bytes, ours);
    decode::decode_centred::<13>(bytes, theirs);
    super::decode_centred::<10>(&bytes[1..], ours10);
    decode::decode_centred::<10>(&bytes[1..], theirs10);
    super::decode_secret(bytes, our_secret);
    decode::decode_secret(bytes, their_secret);
    ours == theirs && ours10 == theirs10 && our_secret == their_secret
}

/// One product, for a cycle counter.
pub fn product(a: &[i16; N], s: &mut [i16; N]) {
    *s = sums(NATIVE, &[(*a, *s)])();
}

fn sums<M: Arith>(arith: M, terms: &[(Poly, Poly)]) -> impl FnMut() -> Poly {
    let (mut sum, mut hat) = (M::SUM, M::SECRET);
    move || {
        let mut out = [0; N];
        for (a, s) in terms {
            arith.secret(s, &mut hat);
            arith.mul_acc(&mut sum, a, &hat);
        }
        arith.finish(&mut sum, &mut out);
        out
    }
}
