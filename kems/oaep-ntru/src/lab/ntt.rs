//! The transform: X^n - X^(n/2) + 1 is split into leaves X^DEG - L, by one step of its own kind, radix-3 layers and radix-2
//! layers. The order of the leaves is part of the format.
//!
//! All coefficients are centred between steps, so that a sum of two fits in an `i16` even for q = 28513.

use crate::lab::params::Params;

/// In: centred. Out: centred, leaf i at DEG i .. DEG (i + 1), lowest degree first.
pub(crate) fn forward<P: Params>(p: &mut [i16]) {
    let (low, high) = p.split_at_mut(P::N / 2);
    for (a, b) in low.iter_mut().zip(high) {
        let zb = P::mul(P::ZETA6, *b);
        let sum = P::centre(*a + *b);
        (*a, *b) = (P::centre(*a + zb), P::centre(sum - zb));
    }
    let omega = P::centre(P::ZETA6 - P::ONE);
    let mut roots = P::ROOTS;
    for layer in 0..P::RADIX3 + P::RADIX2 {
        let nodes = take_layer::<P>(&mut roots, layer);
        for (node, &root) in p.chunks_exact_mut(P::N / nodes.len()).zip(nodes) {
            if layer < P::RADIX3 {
                split_in_three::<P>(node, root, omega);
            } else {
                split_in_two::<P>(node, root);
            }
        }
    }
}

/// Undoes [`forward`] and multiplies by `factor`, which is in the Montgomery domain. In and out centred.
pub(crate) fn inverse<P: Params>(p: &mut [i16], factor: i16) {
    let omega = P::centre(P::ZETA6 - P::ONE);
    let (mut roots, mut grown) = (P::ROOTS, P::ONE);
    for layer in (0..P::RADIX3 + P::RADIX2).rev() {
        let radix: i16 = if layer < P::RADIX3 { 3 } else { 2 };
        grown = P::mul(grown, P::to_montgomery(radix));
        let nodes = take_last_layer::<P>(&mut roots, layer);
        // The inverse of a root is the root of the mirrored node, up to the sign or a power of omega.
        for (node, &mirrored) in p.chunks_exact_mut(P::N / nodes.len()).zip(nodes.iter().rev()) {
            if radix == 3 {
                join_three::<P>(node, mirrored, omega);
            } else {
                join_two::<P>(node, mirrored);
            }
        }
    }
    let scale = P::mul(P::invert(grown), factor);
    // 1 / (2 zeta6 - 1), where omega is zeta6 - 1.
    let difference = P::mul(P::invert(P::centre(P::ZETA6 + omega)), scale);
    let (low, high) = p.split_at_mut(P::N / 2);
    for (a, b) in low.iter_mut().zip(high) {
        let x = P::mul(*a, scale);
        let y = P::mul(P::centre(*a - *b), difference);
        (*a, *b) = (P::centre(x - P::mul(P::ZETA6, y)), y);
    }
}

/// X^(3m) - A^3 -> X^m - A, X^m - A omega, X^m - A omega^2.
fn split_in_three<P: Params>(node: &mut [i16], root: i16, omega: i16) {
    let square = P::mul(root, root);
    let (first, rest) = node.split_at_mut(node.len() / 3);
    let (second, third) = rest.split_at_mut(first.len());
    for ((a, b), c) in first.iter_mut().zip(second).zip(third) {
        let (t1, t2) = (P::mul(*b, root), P::mul(*c, square));
        let d = P::mul(P::centre(t1 - t2), omega);
        let (x, y, z) = (P::centre(*a + t1), P::centre(*a - t2), P::centre(*a - t1));
        (*a, *b, *c) = (P::centre(x + t2), P::centre(y + d), P::centre(z - d));
    }
}

/// Undoes [`split_in_three`] up to a factor of 3. `mirrored` = omega / A.
///
/// 3 b = (y0 + omega^2 y1 + omega y2) / A and 3 c = (y0 + omega y1 + omega^2 y2) / A^2 with 1 / A = omega^2 `mirrored`.
fn join_three<P: Params>(node: &mut [i16], mirrored: i16, omega: i16) {
    let square = P::mul(mirrored, mirrored);
    let (first, rest) = node.split_at_mut(node.len() / 3);
    let (second, third) = rest.split_at_mut(first.len());
    for ((a, b), c) in first.iter_mut().zip(second).zip(third) {
        let d = P::mul(P::centre(*b - *a), omega);
        let x = P::centre(P::centre(*a + *b) + *c);
        let y = P::centre(P::centre(*c - *a) + d);
        let z = P::centre(P::centre(*c - *b) - d);
        (*a, *b, *c) = (x, P::mul(y, mirrored), P::mul(z, square));
    }
}

/// X^(2m) - A^2 -> X^m - A, X^m + A.
fn split_in_two<P: Params>(node: &mut [i16], root: i16) {
    let (low, high) = node.split_at_mut(node.len() / 2);
    for (a, b) in low.iter_mut().zip(high) {
        let t = P::mul(*b, root);
        (*a, *b) = (P::centre(*a + t), P::centre(*a - t));
    }
}

/// Undoes [`split_in_two`] up to a factor of 2. `mirrored` = -1 / A.
fn join_two<P: Params>(node: &mut [i16], mirrored: i16) {
    let (low, high) = node.split_at_mut(node.len() / 2);
    for (a, b) in low.iter_mut().zip(high) {
        let difference = P::centre(*b - *a);
        (*a, *b) = (P::centre(*a + *b), P::mul(difference, mirrored));
    }
}

/// Nodes of a layer.
const fn nodes<P: Params>(layer: usize) -> usize {
    if layer < P::RADIX3 {
        2 * 3usize.pow(layer as u32)
    } else {
        (2 * 3usize.pow(P::RADIX3 as u32)) << (layer - P::RADIX3)
    }
}

/// The roots of the layer, which is the first in `roots`.
fn take_layer<P: Params>(roots: &mut &'static [i16], layer: usize) -> &'static [i16] {
    let (nodes, rest) = roots.split_at(nodes::<P>(layer));
    *roots = rest;
    nodes
}

/// The roots of the layer, which is the last in `roots`.
fn take_last_layer<P: Params>(roots: &mut &'static [i16], layer: usize) -> &'static [i16] {
    let (rest, nodes) = roots.split_at(roots.len() - nodes::<P>(layer));
    *roots = rest;
    nodes
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;
    use std::vec;
    use std::vec::Vec;

    use kem_core::testkit::Hex;
    use serde::Deserialize;

    use super::*;
    use crate::lab::encoding::encode;
    use crate::lab::leaf;
    use crate::lab::{N648, N1296, N2592};

    #[derive(Deserialize)]
    struct Transform {
        q: i16,
        leaf_degree: usize,
        layers: Vec<Layer>,
        leaves: Vec<i16>,
        ntt_of_ramp_encoded: Hex,
        ramp_squared_encoded: Hex,
    }

    #[derive(Deserialize)]
    struct Layer {
        radix: usize,
        alphas: Vec<i16>,
    }

    fn transform(set: &str) -> Transform {
        #[derive(Deserialize)]
        struct Primitives {
            ntt: HashMap<std::string::String, Transform>,
        }
        let json = include_str!("../../tests/vectors/primitives.json");
        serde_json::from_str::<Primitives>(json)
            .expect("vector file parses")
            .ntt
            .remove(set)
            .expect("all three sets")
    }

    /// The polynomial whose coefficient i is i^2 + 3 i + 1.
    fn ramp<P: Params>() -> Vec<i16> {
        (0..P::N as i64)
            .map(|i| ((i * i + 3 * i + 1) % i64::from(P::Q)) as i16)
            .map(P::centre)
            .collect()
    }

    fn encoded<P: Params>(p: &[i16]) -> Vec<u8> {
        let mut bytes = vec![0; P::N * P::CB / 8];
        encode::<P>(p, &mut bytes);
        bytes
    }

    fn check<P: Params>(set: &str) {
        let theirs = transform(set);
        assert_eq!((P::Q, P::DEG), (theirs.q, theirs.leaf_degree));
        let radices: Vec<_> = (0..P::RADIX3 + P::RADIX2)
            .map(|layer| if layer < P::RADIX3 { 3 } else { 2 })
            .collect();
        assert_eq!(
            radices,
            theirs.layers.iter().map(|layer| layer.radix).collect::<Vec<_>>()
        );

        let plain = |root: i16| P::freeze(P::reduce(root.into()));
        let roots: Vec<_> = P::ROOTS.iter().map(|&root| plain(root)).collect();
        assert_eq!(
            roots,
            theirs
                .layers
                .iter()
                .flat_map(|layer| layer.alphas.clone())
                .collect::<Vec<_>>()
        );
        let leaves: Vec<_> = leaf::roots::<P>().map(plain).collect();
        assert_eq!(leaves, theirs.leaves);

        let mut p = ramp::<P>();
        forward::<P>(&mut p);
        assert_eq!(encoded::<P>(&p), theirs.ntt_of_ramp_encoded[..]);
        let mut square = p.clone();
        leaf::multiply::<P>(&mut square, p.iter().copied());
        inverse::<P>(&mut square, P::to_montgomery(P::ONE));
        assert_eq!(encoded::<P>(&square), theirs.ramp_squared_encoded[..]);
        inverse::<P>(&mut p, P::ONE);
        assert_eq!(p, ramp::<P>());
    }

    #[test]
    fn set_648() {
        check::<N648>("OAEP-NTRU-648");
    }

    #[test]
    fn set_1296() {
        check::<N1296>("OAEP-NTRU-1296");
    }

    #[test]
    fn set_2592() {
        check::<N2592>("OAEP-NTRU-2592");
    }
}
