//! Polynomials as bytes: 12 bits per coefficient, in the order of the profile (specification, Pack and Unpack).

mod pairs;

use subtle::{Choice, ConstantTimeEq};

use crate::{
    field::{F, Q},
    profile::Profile,
};

/// Writes `coeffs`, |c| < q, canonically. `packed` is 3/2 times as long.
///
/// A group of 4w coefficients goes into w pairs of bytes, three times. Lane i holds coefficients i, w + i, 2w + i and
/// 3w + i of the group as one 48-bit number, 16 bits in each third.
pub(crate) fn pack<V: Profile>(coeffs: &[i16], packed: &mut [u8]) {
    if V::LANES == 1 {
        for (group, bytes) in coeffs.as_chunks().0.iter().zip(packed.as_chunks_mut::<6>().0) {
            let [[a, b], [c, d], [e, f]] = join(*group).map(u16::to_le_bytes);
            *bytes = [a, b, c, d, e, f];
        }
        return;
    }
    for (group, bytes) in coeffs.chunks(4 * V::LANES).zip(packed.chunks_mut(6 * V::LANES)) {
        let lanes = group.len() / 4;
        if IN_PAIRS {
            pairs::join_group(group, bytes);
            continue;
        }
        let bytes = bytes.as_chunks_mut().0;
        for lane in 0..lanes {
            let words = join([0, 1, 2, 3].map(|k| group[k * lanes + lane]));
            for (k, word) in words.into_iter().enumerate() {
                bytes[k * lanes + lane] = word.to_le_bytes();
            }
        }
    }
}

/// Reads coefficients in 0..4096; 1 if all of them are below q. `packed` is 3/2 times as long as `coeffs`.
pub(crate) fn unpack<V: Profile>(packed: &[u8], coeffs: &mut [i16]) -> Choice {
    if V::LANES == 1 {
        for (group, bytes) in coeffs.as_chunks_mut().0.iter_mut().zip(packed.as_chunks().0) {
            let [a, b, c, d, e, f] = *bytes;
            *group = split([[a, b], [c, d], [e, f]].map(u16::from_le_bytes));
        }
    } else {
        if IN_PAIRS {
            let groups = coeffs.chunks_mut(4 * V::LANES).zip(packed.chunks(6 * V::LANES));
            let above = groups.fold(0, |above, (group, bytes)| above | pairs::split_group(bytes, group));
            return above.ct_eq(&0);
        }
        for (group, bytes) in coeffs.chunks_mut(4 * V::LANES).zip(packed.chunks(6 * V::LANES)) {
            let lanes = group.len() / 4;
            let bytes = bytes.as_chunks().0;
            for lane in 0..lanes {
                let parts = split([0, 1, 2].map(|k| u16::from_le_bytes(bytes[k * lanes + lane])));
                for (k, part) in parts.into_iter().enumerate() {
                    group[k * lanes + lane] = part;
                }
            }
        }
    }
    // Negative as long as all are below q.
    let below = coeffs.iter().fold(-1, |below, c| below & (c - Q));
    (below >> 15).ct_eq(&-1)
}

/// Whether two lanes go through a register at a time: where there are no vectors, but 32 bits.
const IN_PAIRS: bool = cfg!(target_pointer_width = "32");

/// Four coefficients, |c| < q, as a 48-bit number.
#[inline(always)]
fn join(coeffs: [i16; 4]) -> [u16; 3] {
    let [t0, t1, t2, t3] = coeffs.map(|c| F::add_q_if_negative(c) as u16);
    [t0 | t1 << 12, t1 >> 4 | t2 << 8, t2 >> 8 | t3 << 4]
}

/// The four 12-bit parts of a 48-bit number.
#[inline(always)]
fn split([w0, w1, w2]: [u16; 3]) -> [i16; 4] {
    [
        w0 & 0xfff,
        w0 >> 12 | (w1 & 0xff) << 4,
        w1 >> 8 | (w2 & 0xf) << 8,
        w2 >> 4,
    ]
    .map(|part| part as i16)
}

/// 1 if every coefficient of a packed polynomial is below q.
pub(crate) fn is_canonical<V: Profile>(packed: &[u8]) -> Choice {
    let mut piece = [0; 192];
    packed.chunks(192 * 3 / 2).fold(Choice::from(1), |all, bytes| {
        // All sets leave a last piece of a multiple of 32 coefficients.
        all & unpack::<V>(bytes, &mut piece[..bytes.len() * 2 / 3])
    })
}

#[cfg(test)]
mod tests {
    use std::{vec, vec::Vec};

    use sha2::{Digest, Sha256};

    use super::*;
    use crate::{
        Final, P768, P864, P1152, V2_2,
        backends::{Arith, Native},
        params::{Params, sealed::Zeroed},
    };

    #[test]
    fn transform_and_layout_of_the_known_polynomial() {
        let sets: Vec<serde_json::Value> =
            serde_json::from_str(include_str!("../tests/vectors/transform.json")).expect("vector file parses");
        known_polynomial::<P768>(&sets[0]);
        known_polynomial::<P864>(&sets[1]);
        known_polynomial::<P1152>(&sets[2]);
        assert_eq!(sets.len(), 3);
    }

    /// a_i = i mod q
    fn known_polynomial<P: Params>(set: &serde_json::Value) {
        assert_eq!(set["set"], P::N);
        let mut poly = P::Poly::ZERO;
        poly.as_mut().iter_mut().zip(0..).for_each(|(c, i)| *c = i);
        Native.ntt::<P>(&mut poly);
        let residues = poly.as_ref().iter().map(|c| F::freeze(*c)).collect::<Vec<_>>();
        assert_eq!(serde_json::json!(residues[..16]), set["output_first16"]);
        assert_eq!(serde_json::json!(residues[P::N - 8..]), set["output_last8"]);
        let bytes = residues.iter().flat_map(|c| c.to_le_bytes()).collect::<Vec<_>>();
        assert_eq!(sha256(&bytes), set["output_u16le_sha256"]);
        let mut packed = vec![0; P::N * 3 / 2];
        pack::<Final>(poly.as_ref(), &mut packed);
        assert_eq!(sha256(&packed), set["packed_sha256"]["final"]);
        pack::<V2_2>(poly.as_ref(), &mut packed);
        assert_eq!(sha256(&packed), set["packed_sha256"]["v2_2"]);

        let zeta: i64 = if P::N == 768 { 22 } else { 9 };
        let exponents = set["leaf_exponents"].as_array().expect("a list");
        assert_eq!(exponents.len(), P::N / P::LEAF);
        for (leaf, exponent) in exponents.iter().enumerate() {
            let constant = P::ZETAS[(exponents.len() + leaf) / 2];
            let constant = F::freeze(F::mul(constant, 1)) * if leaf % 2 == 0 { 1 } else { -1 };
            let expected = (0..exponent.as_u64().expect("an exponent")).fold(1, |power, _| power * zeta % i64::from(Q));
            assert_eq!(i64::from(constant).rem_euclid(Q.into()), expected, "leaf {leaf}");
        }
    }

    #[test]
    fn only_coefficients_below_q_are_canonical() {
        below_q::<Final>();
        below_q::<V2_2>();
    }

    fn below_q<V: Profile>() {
        // 864: one group of another size at the end.
        let mut coeffs = (0..864).map(|i| i * 4).collect::<Vec<i16>>();
        let mut packed = vec![0; 864 * 3 / 2];
        let mut again = vec![0; 864];
        pack::<V>(&coeffs, &mut packed);
        assert!(bool::from(unpack::<V>(&packed, &mut again)));
        assert_eq!(coeffs, again);
        for place in 0..864 {
            let before = coeffs[place];
            for (c, below) in [(0, true), (Q - 1, true), (Q, false), (4095, false)] {
                coeffs[place] = c;
                pack::<V>(&coeffs, &mut packed);
                assert_eq!(bool::from(unpack::<V>(&packed, &mut again)), below, "{c} at {place}");
                assert_eq!(bool::from(is_canonical::<V>(&packed)), below, "{c} at {place}");
                assert_eq!(coeffs, again);
            }
            coeffs[place] = before;
        }
    }

    fn sha256(bytes: &[u8]) -> std::string::String {
        hex::encode(Sha256::digest(bytes))
    }
}
