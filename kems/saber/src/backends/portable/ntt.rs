//! A transform of 256 coefficients modulo a 14-bit prime, shaped for vector units.
//!
//! A polynomial is sixteen rows of sixteen coefficients. The first four layers of butterflies pair whole rows; the square is
//! transposed, and the other four layers pair whole rows again, now with a twiddle of its own for every lane. Two layers go
//! in one pass. `i16` has room for all of it, see [`Bounds`].

use core::array;
use core::borrow::Borrow;

use kem_core::modular::Zq;
use kem_core::ntt::twiddles;

use crate::poly::N;

/// Coefficients of one row, adjacent in a polynomial.
pub(super) const ROW: usize = 16;
type Row = [i16; ROW];
/// A polynomial, or its transform.
pub(super) type Square = [Row; ROW];

/// The transform, in an order of its own. In: |c| <= 4096. Out: |c| <= [`Bounds::FORWARD`].
pub(super) fn forward<const Q: i16>(p: &mut Square, scratch: &mut Square) {
    let ([root, outer @ ..], [lane_root, inner @ ..]) = (&Twiddles::<Q>::OUTER, &Twiddles::<Q>::INNER);
    far::<Q>(p, &every_lane(root));
    near::<Q>(p, outer.iter().map(every_lane));
    transpose(p, scratch);
    reduce::<Q>(p);
    far::<Q>(p, lane_root);
    near::<Q>(p, inner.iter());
}

/// Undoes [`forward`] and the Montgomery factor of a product. In: any c. Out: |c| < Q.
pub(super) fn inverse<const Q: i16>(p: &mut Square, scratch: &mut Square) {
    let ([root, outer @ ..], [lane_root, inner @ ..]) = (&Twiddles::<Q>::OUTER, &Twiddles::<Q>::INNER);
    reduce::<Q>(p);
    inverse_near::<Q>(p, inner.iter().rev().map(mirrored));
    inverse_far::<Q>(p, &mirrored(lane_root));
    transpose(p, scratch);
    inverse_near::<Q>(p, outer.iter().rev().map(every_lane).map(|node| mirrored(&node)));
    inverse_far::<Q>(p, &mirrored(&every_lane(root)));
    // Evaluated so that a bound that does not hold cannot be overlooked.
    const { Bounds::<Q>::INVERSE };
    for c in p.as_flattened_mut() {
        *c = Zq::<Q>::mul(*c, Twiddles::<Q>::SCALE);
    }
}

/// In: any c. Out: |c| <= [`Bounds::REDUCED`].
pub(super) fn reduce<const Q: i16>(p: &mut Square) {
    for c in p.as_flattened_mut() {
        *c = Zq::<Q>::barrett(*c);
    }
}

/// A node of the tree of butterflies and its two children, each with a twiddle per lane.
type Node = [Row; 3];

/// Spans of 8 and 4 rows.
fn far<const Q: i16>(p: &mut Square, node: &Node) {
    let [first, second, third, fourth] = quarters(p);
    for (((a, b), c), d) in first.iter_mut().zip(second).zip(third).zip(fourth) {
        butterflies::<Q>(a, b, c, d, node);
    }
}

/// Spans of 2 and 1 rows; a node for every quarter.
fn near<const Q: i16>(p: &mut Square, nodes: impl Iterator<Item: Borrow<Node>>) {
    for ([a, b, c, d], node) in quarters(p).into_iter().zip(nodes) {
        butterflies::<Q>(a, b, c, d, node.borrow());
    }
}

fn inverse_near<const Q: i16>(p: &mut Square, nodes: impl Iterator<Item = Node>) {
    for ([a, b, c, d], node) in quarters(p).into_iter().zip(nodes) {
        inverse_butterflies::<Q>(a, b, c, d, &node);
    }
}

fn inverse_far<const Q: i16>(p: &mut Square, node: &Node) {
    let [first, second, third, fourth] = quarters(p);
    for (((a, b), c), d) in first.iter_mut().zip(second).zip(third).zip(fourth) {
        inverse_butterflies::<Q>(a, b, c, d, node);
    }
}

/// Two layers, lane by lane: (x, y) -> (x + z y, x - z y).
///
/// Not inlined: in a loop, the compiler would widen the twiddles once and for all, and then has to multiply in 32 bits.
#[inline(never)]
fn butterflies<const Q: i16>(a: &mut Row, b: &mut Row, c: &mut Row, d: &mut Row, [parent, left, right]: &Node) {
    for i in 0..ROW {
        let (zc, zd) = (Zq::<Q>::mul(c[i], parent[i]), Zq::<Q>::mul(d[i], parent[i]));
        let (x, y) = (a[i] + zc, b[i] + zd);
        let (u, v) = (a[i] - zc, b[i] - zd);
        let (zy, zv) = (Zq::<Q>::mul(y, left[i]), Zq::<Q>::mul(v, right[i]));
        (a[i], b[i]) = (x + zy, x - zy);
        (c[i], d[i]) = (u + zv, u - zv);
    }
}

/// Two layers, lane by lane: (x, y) -> (x + y, z (y - x)), the last sums reduced.
#[inline(never)]
fn inverse_butterflies<const Q: i16>(a: &mut Row, b: &mut Row, c: &mut Row, d: &mut Row, [parent, left, right]: &Node) {
    for i in 0..ROW {
        let (x, y) = (a[i] + b[i], Zq::<Q>::mul(b[i] - a[i], left[i]));
        let (u, v) = (c[i] + d[i], Zq::<Q>::mul(d[i] - c[i], right[i]));
        (a[i], c[i]) = (Zq::<Q>::barrett(x + u), Zq::<Q>::mul(u - x, parent[i]));
        (b[i], d[i]) = (Zq::<Q>::barrett(y + v), Zq::<Q>::mul(v - y, parent[i]));
    }
}

fn quarters(p: &mut Square) -> [&mut [Row; 4]; 4] {
    let (quarters, _) = p.as_chunks_mut();
    let [first, second, third, fourth] = quarters else {
        unreachable!("sixteen rows")
    };
    [first, second, third, fourth]
}

fn every_lane(node: &[i16; 3]) -> Node {
    node.map(|twiddle| [twiddle; ROW])
}

/// The negative inverses of the twiddles of a node, found at the mirrored place of each layer, as psi^256 = -1. The caller
/// takes the mirrored node; this mirrors lanes and children.
fn mirrored([parent, left, right]: &Node) -> Node {
    [parent, right, left].map(|row| array::from_fn(|lane| row[ROW - 1 - lane]))
}

/// Four perfect shuffles turn the eight bits of an index by four, which exchanges rows and columns.
fn transpose(p: &mut Square, scratch: &mut Square) {
    for _ in 0..2 {
        shuffle(p.as_flattened(), scratch.as_flattened_mut());
        shuffle(scratch.as_flattened(), p.as_flattened_mut());
    }
}

/// Interleaves the halves.
#[inline(never)]
fn shuffle(from: &[i16], to: &mut [i16]) {
    let (low, high) = from.split_at(N / 2);
    for (pair, (&even, &odd)) in to.as_chunks_mut().0.iter_mut().zip(low.iter().zip(high)) {
        *pair = [even, odd];
    }
}

/// Nodes of a pass of two layers, then of the four passes of two layers below it.
const NODES: usize = 5;

/// Twiddles in the Montgomery domain, centred. Over all eight layers they are psi^brv(k), k = 1..256, psi of order 512, and
/// node k has the children 2k and 2k + 1.
enum Twiddles<const Q: i16> {}

impl<const Q: i16> Twiddles<Q> {
    /// The layers before the transposition: the same twiddle in every lane.
    const OUTER: [[i16; 3]; NODES] = {
        let mut outer = [[0; 3]; NODES];
        let mut node = 0;
        while node < NODES {
            outer[node] = Self::family(1, node);
            node += 1;
        }
        outer
    };

    /// The layers after it: lane r is the subtree below k = 16 + r.
    const INNER: [Node; NODES] = {
        let mut inner = [[[0; ROW]; 3]; NODES];
        let mut node = 0;
        while node < NODES {
            let mut lane = 0;
            while lane < ROW {
                let family = Self::family(ROW + lane, node);
                (inner[node][0][lane], inner[node][1][lane], inner[node][2][lane]) = (family[0], family[1], family[2]);
                lane += 1;
            }
            node += 1;
        }
        inner
    };

    /// R^2 / 256: undoes the growth of eight layers, and the factor 1 / R of a product.
    const SCALE: i16 = {
        let inverse = Zq::<Q>::pow(Zq::<Q>::to_montgomery(N as i16), Q as u16 - 2);
        Zq::<Q>::barrett(Zq::<Q>::to_montgomery(inverse))
    };

    const PSI: i16 = match Q {
        7681 => 62,
        10753 => 10,
        _ => panic!("no root for this modulus"),
    };

    /// The twiddles of `root` itself for node 0, of its grandchildren for nodes 1 to 4; with their children.
    const fn family(root: usize, node: usize) -> [i16; 3] {
        let k = if node == 0 { root } else { 4 * root + node - 1 };
        let roots = twiddles::<Q, N>(Self::PSI);
        [
            Zq::<Q>::barrett(roots[k]),
            Zq::<Q>::barrett(roots[2 * k]),
            Zq::<Q>::barrett(roots[2 * k + 1]),
        ]
    }
}

/// What absolute values do not exceed, worked out by the compiler, which refuses to build if one does not fit in an `i16`.
pub(super) enum Bounds<const Q: i16> {}

impl<const Q: i16> Bounds<Q> {
    /// A reduced coefficient, or a twiddle.
    pub(super) const REDUCED: i32 = (Q as i32 + 1) / 2;

    /// A coefficient after [`forward`].
    pub(super) const FORWARD: i32 = Self::four_layers({
        Self::four_layers(1 << 12);
        Self::REDUCED
    });

    /// A coefficient before the scaling in [`inverse`], whose result is then below Q.
    pub(super) const INVERSE: i32 = {
        let mut c = Self::REDUCED;
        let mut pass = 0;
        while pass < 4 {
            // Differences of sums are the largest ones, before their product with a twiddle and after it.
            assert!(Self::product(2 * c, Self::REDUCED) <= 2 * c);
            c = Self::product(fits(4 * c), Self::REDUCED);
            assert!(c >= Self::REDUCED);
            pass += 1;
        }
        assert!(Self::product(c, Self::REDUCED) < Q as i32);
        c
    };

    /// The Montgomery product of factors up to `a` and `b`: (a b - l Q) / 2^16 with some |l| <= 2^15.
    pub(super) const fn product(a: i32, b: i32) -> i32 {
        (a * b + (1 << 15) * Q as i32) >> 16
    }

    const fn four_layers(mut c: i32) -> i32 {
        let mut layer = 0;
        while layer < 4 {
            c = fits(c + Self::product(c, Self::REDUCED));
            layer += 1;
        }
        c
    }
}

/// `bound`, if an `i16` holds it.
pub(super) const fn fits(bound: i32) -> i32 {
    assert!(bound <= i16::MAX as i32);
    bound
}
