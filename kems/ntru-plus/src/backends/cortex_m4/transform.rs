//! As the portable transform, in passes: the special and the first radix-3 layer, the second radix-3 layer where there is one,
//! three radix-2 layers, and what is left.

use kem_core::packed::{
    add, butterfly, factor, factor_of_montgomery, forward3, inverse_butterfly, inverse3, multiply, pack_bb, pack_tt,
    sub,
};

use crate::{backends::constants::Constants, field::Q, params::Params};

/// In: |c| < q. The first two layers bring that to 3.5 q, each further one adds at most q, in radix 2 q / 2: below 6.5 q.
#[inline(always)]
pub(super) fn forward<P: Params>(p: &mut [u32]) {
    let f = P::FACTORS;
    columns::<6>(p, |[w0, w1, w2, w3, w4, w5]| {
        for (low, high) in [(&mut *w0, &mut *w3), (&mut *w1, &mut *w4), (&mut *w2, &mut *w5)] {
            let t = multiply::<Q>(*high, f[1]);
            *high = sub(add(*low, *high), t);
            *low = add(*low, t);
        }
        radix3::<P>([w0, w1, w2], [f[2], f[3]]);
        radix3::<P>([w3, w4, w5], [f[4], f[5]]);
    });
    let mut nodes = 6;
    if P::RADIX3_LAYERS == 2 {
        let node_len = p.len() / nodes;
        for (node, f) in p.chunks_exact_mut(node_len).zip(f[6..18].as_chunks().0) {
            columns::<3>(node, |[w0, w1, w2]| radix3::<P>([w0, w1, w2], *f));
        }
        nodes = 18;
    }
    let node_len = p.len() / nodes;
    for (i, node) in p.chunks_exact_mut(node_len).enumerate() {
        let f = of_node(f, nodes, i);
        match node_len / 8 {
            8 => forward3::<Q, 8>(node, &f),
            4 => forward3::<Q, 4>(node, &f),
            _ => forward3::<Q, 3>(node, &f),
        }
    }
    let nodes = 8 * nodes;
    if P::LEAF == 3 {
        for (block, &f) in p.as_chunks_mut::<3>().0.iter_mut().zip(&f[nodes..]) {
            odd_layer(block, |low, high| butterfly::<Q>(low, high, f));
            block.iter_mut().for_each(|w| *w = multiply::<Q>(*w, ONE));
        }
    } else if nodes == P::N / 16 {
        for (i, block) in p.as_chunks_mut::<8>().0.iter_mut().enumerate() {
            let [w0, w1, w2, w3, w4, w5, w6, w7] = block;
            for (low, high) in [(&mut *w0, &mut *w4), (w1, w5), (&mut *w2, &mut *w6), (w3, w7)] {
                butterfly::<Q>(low, high, f[nodes + i]);
            }
            for (half, &f) in block.as_chunks_mut::<4>().0.iter_mut().zip(&f[2 * (nodes + i)..]) {
                last_layer(half, f);
            }
        }
    } else {
        for (block, &f) in p.as_chunks_mut::<4>().0.iter_mut().zip(&f[nodes..]) {
            last_layer(block, f);
        }
    }
}

#[inline(always)]
fn last_layer([w0, w1, w2, w3]: &mut [u32; 4], f: u32) {
    for (low, high) in [(w0, w2), (w1, w3)] {
        butterfly::<Q>(low, high, f);
        *low = multiply::<Q>(*low, ONE);
        *high = multiply::<Q>(*high, ONE);
    }
}

/// In: |c| < q. Sums double in a radix-2 layer and triple in a radix-3 layer; they are reduced before they leave 16 bits.
#[inline(always)]
pub(super) fn inverse<P: Params>(p: &mut [u32]) {
    let f = P::FACTORS;
    let mut nodes = P::N / P::LEAF / 2;
    if P::LEAF == 3 {
        for (i, block) in p.as_chunks_mut::<3>().0.iter_mut().enumerate() {
            odd_layer(block, |low, high| {
                inverse_butterfly::<Q>(low, high, mirrored(f, nodes, i));
            });
            block.iter_mut().for_each(|w| *w = multiply::<Q>(*w, ONE));
        }
    } else if P::RADIX3_LAYERS == 1 {
        for (i, block) in p.as_chunks_mut::<8>().0.iter_mut().enumerate() {
            for (k, half) in block.as_chunks_mut::<4>().0.iter_mut().enumerate() {
                first_layer(half, mirrored(f, nodes, 2 * i + k));
            }
            let [w0, w1, w2, w3, w4, w5, w6, w7] = block;
            for (low, high) in [(&mut *w0, w4), (&mut *w1, w5), (w2, w6), (w3, w7)] {
                inverse_butterfly::<Q>(low, high, mirrored(f, nodes / 2, i));
            }
            // Below 4 q; the others are below q.
            *w0 = multiply::<Q>(*w0, ONE);
            *w1 = multiply::<Q>(*w1, ONE);
        }
        nodes /= 2;
    } else {
        for (i, block) in p.as_chunks_mut::<4>().0.iter_mut().enumerate() {
            first_layer(block, mirrored(f, nodes, i));
            block[..2].iter_mut().for_each(|w| *w = multiply::<Q>(*w, ONE));
        }
    }
    nodes /= 8;
    let node_len = p.len() / nodes;
    for (i, node) in p.chunks_exact_mut(node_len).enumerate() {
        let f = mirrored_of_node(f, nodes, i);
        // From q to 8 q; word 1 is below 2 q.
        let reduce = |w: &mut [u32; 8]| w[0] = multiply::<Q>(w[0], ONE);
        match node_len / 8 {
            8 => inverse3::<Q, 8>(node, &f, reduce),
            4 => inverse3::<Q, 4>(node, &f, reduce),
            _ => inverse3::<Q, 3>(node, &f, reduce),
        }
    }
    if P::RADIX3_LAYERS == 2 {
        let node_len = p.len() / 6;
        for (node, f) in p.chunks_exact_mut(node_len).zip(f[6..18].as_chunks().0.iter().rev()) {
            columns::<3>(node, |[w0, w1, w2]| inverse_radix3::<P>([w0, w1, w2], *f));
        }
    }
    columns::<6>(p, |[w0, w1, w2, w3, w4, w5]| {
        inverse_radix3::<P>([w0, w1, w2], [f[4], f[5]]);
        inverse_radix3::<P>([w3, w4, w5], [f[2], f[3]]);
        for (low, high) in [(w0, w3), (w1, w4), (w2, w5)] {
            let t = multiply::<Q>(
                sub(*low, *high),
                const { factor_of_montgomery::<Q>(Constants::<P>::SPECIAL) },
            );
            let scale = const { factor_of_montgomery::<Q>(Constants::<P>::SCALE) };
            *low = multiply::<Q>(sub(add(*low, *high), t), scale);
            *high = multiply::<Q>(add(t, t), scale);
        }
    });
}

#[inline(always)]
fn first_layer([w0, w1, w2, w3]: &mut [u32; 4], f: u32) {
    inverse_butterfly::<Q>(w0, w2, f);
    inverse_butterfly::<Q>(w1, w3, f);
}

#[inline(always)]
fn radix3<P: Params>([a, b, c]: [&mut u32; 3], [alpha, alpha2]: [u32; 2]) {
    let t1 = multiply::<Q>(*b, alpha);
    let t2 = multiply::<Q>(*c, alpha2);
    let t3 = multiply::<Q>(sub(t1, t2), const { factor_of_montgomery::<Q>(Constants::<P>::OMEGA) });
    *b = add(sub(*a, t2), t3);
    *c = sub(sub(*a, t1), t3);
    *a = add(add(*a, t1), t2);
}

/// The factors are those of the mirrored node. In: |c| < 3 q. Out: |c| <= q / 2.
#[inline(always)]
fn inverse_radix3<P: Params>([u, v, w]: [&mut u32; 3], [alpha, alpha2]: [u32; 2]) {
    let t = multiply::<Q>(sub(*v, *u), const { factor_of_montgomery::<Q>(Constants::<P>::OMEGA) });
    let (second, third) = (add(sub(*w, *u), t), sub(sub(*w, *v), t));
    *u = multiply::<Q>(add(add(*u, *v), *w), ONE);
    *v = multiply::<Q>(second, alpha);
    *w = multiply::<Q>(third, alpha2);
}

/// A layer between the halves of six coefficients, in two pairs: the second has an unused half.
#[inline(always)]
fn odd_layer([w0, w1, w2]: &mut [u32; 3], layer: impl Fn(&mut u32, &mut u32)) {
    let (mut high01, mut low2, mut high2) = (pack_tt(*w1, *w2 << 16), *w1 & 0xffff, *w2 >> 16);
    layer(w0, &mut high01);
    layer(&mut low2, &mut high2);
    *w1 = pack_bb(low2, high01);
    *w2 = high01 >> 16 | high2 << 16;
}

/// Calls `work` for words a `K`-th of `p` apart.
#[inline(always)]
fn columns<const K: usize>(p: &mut [u32], work: impl Fn(&mut [u32; K])) {
    let stride = p.len() / K;
    for i in 0..stride {
        // SAFETY: i + (K - 1) stride < p.len().
        let first = unsafe { p.as_mut_ptr().add(i) };
        let mut w = [0; K];
        for (k, w) in w.iter_mut().enumerate() {
            // SAFETY: as above.
            *w = unsafe { first.add(k * stride).read() };
        }
        work(&mut w);
        for (k, w) in w.into_iter().enumerate() {
            // SAFETY: as above.
            unsafe { first.add(k * stride).write(w) };
        }
    }
}

/// The factors of three layers below node `i` of `nodes`.
#[inline(always)]
fn of_node(f: &[u32], nodes: usize, i: usize) -> [u32; 7] {
    let (l1, l2, l3) = (nodes + i, 2 * (nodes + i), 4 * (nodes + i));
    [f[l1], f[l2], f[l2 + 1], f[l3], f[l3 + 1], f[l3 + 2], f[l3 + 3]]
}

/// The inverse factors of three layers above the eight children of node `i`.
#[inline(always)]
fn mirrored_of_node(f: &[u32], nodes: usize, i: usize) -> [u32; 7] {
    [
        mirrored(f, 4 * nodes, 4 * i),
        mirrored(f, 4 * nodes, 4 * i + 1),
        mirrored(f, 4 * nodes, 4 * i + 2),
        mirrored(f, 4 * nodes, 4 * i + 3),
        mirrored(f, 2 * nodes, 2 * i),
        mirrored(f, 2 * nodes, 2 * i + 1),
        mirrored(f, nodes, i),
    ]
}

/// 1 / zeta of node `i` of `nodes` is -zeta of the mirrored node; 1 - f is the factor of -zeta.
#[inline(always)]
fn mirrored(f: &[u32], nodes: usize, i: usize) -> u32 {
    1u32.wrapping_sub(f[2 * nodes - 1 - i])
}

/// The factor of a reduction.
const ONE: u32 = factor::<Q>(1);
