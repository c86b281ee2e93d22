//! The target's arithmetic and conversions against the portable ones, for test firmware, which is where both can run.
//!
//! Words stand for values of the range that the contract allows: -32767 for the least and 32767 for the greatest one.

use core::ops::RangeInclusive;

use kem_core::hash::Shake128;

use super::portable::Portable;
use super::{Arith, Native, convert as native};
use crate::convert as portable;
use crate::poly::{N, PIECE, Poly, Q};

/// Whether the transforms agree, and keep their bounds.
pub fn ntt_agrees(p: &[i16; N]) -> bool {
    let mut ours = within(p, 1 - Q..=Q - 1);
    let mut theirs = ours.clone();
    Native.ntt(&mut ours);
    let bounded = keeps(&ours, Native::FACTOR);
    Native.standard(&mut ours);
    Portable.ntt(&mut theirs);
    Portable.standard(&mut theirs);
    bounded && ours.0 == theirs.0
}

/// The same of the inverse transform of a sum of four products: transformed again, it is that sum without the factors.
pub fn inverse_ntt_agrees(p: &[i16; N]) -> bool {
    let mut sum = within(p, summands(4));
    let mut back = sum.clone();
    Native.inverse_ntt(&mut back);
    let bounded = keeps(&back, 1 - 4 * Q..=4 * Q - 1);
    Portable.freeze(&mut back);
    Portable.ntt(&mut back);
    Portable.standard(&mut back);
    Native.standard_sum(&mut sum);
    Native.standard(&mut sum);
    bounded && back.0 == sum.0
}

/// The same of the product in T_q. In: 0 <= a < 4096.
pub fn basemul_agrees(a: &[i16; N], b: &[i16; N]) -> bool {
    let mut b = within(b, Native::FACTOR);
    let mut ours = Poly([3 * Q; N]);
    let (low, high) = a.split_at(PIECE);
    Native.basemul_acc(&mut ours, low, &b, 0);
    Native.basemul_acc(&mut ours, high, &b, PIECE);
    ours.0.iter_mut().for_each(|c| *c -= 3 * Q);
    let bounded = keeps(&ours, Native::SUMMAND);
    Native.standard_sum(&mut ours);
    Portable.freeze(&mut b);
    let mut theirs = Poly::ZERO;
    Portable.basemul_acc(&mut theirs, a, &b, 0);
    Portable.standard_sum(&mut theirs);
    bounded && ours.0 == theirs.0
}

/// Whether the changes of form do, each over all of its range.
pub fn forms_agree(p: &[i16; N]) -> bool {
    let mut lifted = within(p, Native::FACTOR);
    let mut standard = lifted.clone();
    Native.lift(&mut lifted);
    let bounded = keeps(&lifted, Native::SUMMAND);
    Native.standard_sum(&mut lifted);
    Native.standard(&mut standard);
    let mut frozen = within(p, 1 - 8 * Q..=8 * Q - 1);
    let mut expected = frozen.clone();
    Native.freeze(&mut frozen);
    Portable.freeze(&mut expected);
    bounded
        && frozen.0 == expected.0
        && lifted.0 == standard.0
        && is_linear(|p| Native.standard(p), &within(p, Native::FACTOR))
        && is_linear(|p| Native.standard_sum(p), &within(p, summands(5)))
}

/// Whether conversions do. In: 0 <= p < Q.
pub fn conversions_agree(p: &[i16; N], bytes: &[u8; 48]) -> bool {
    let (chunks, _) = bytes.as_chunks::<32>();
    let (twos, _) = bytes.as_chunks::<2>();
    let (threes, _) = bytes.as_chunks::<3>();
    let (mut ours, mut theirs) = (Poly(*p), Poly(*p));
    let mut messages = [[0; 32]; 2];
    native::message_of(&ours.0, &mut messages[0]);
    portable::message_of(&theirs.0, &mut messages[1]);
    native::add_message(&mut ours.0, &chunks[0]);
    portable::add_message(&mut theirs.0, &chunks[0]);
    for (ours, theirs) in ours.0.as_chunks_mut().0.iter_mut().zip(theirs.0.as_chunks_mut().0) {
        for (twos, threes) in twos.as_chunks().0.iter().zip(threes.as_chunks().0) {
            native::add_noise::<2>(ours, twos);
            native::add_noise::<3>(ours, threes);
            portable::add_noise::<2>(theirs, twos);
            portable::add_noise::<3>(theirs, threes);
        }
    }
    let mut pieces = [[0; PIECE]; 2];
    native::unpack12(bytes, &mut pieces[0]);
    portable::unpack12(bytes, &mut pieces[1]);
    messages[0] == messages[1]
        && ours.0 == theirs.0
        && pieces[0] == pieces[1]
        && p.as_chunks().0.iter().all(packing_agrees)
        && decompression_agrees::<4>(bytes)
        && decompression_agrees::<5>(bytes)
        && decompression_agrees::<10>(bytes)
        && decompression_agrees::<11>(bytes)
        && streams_agree(bytes)
}

/// Forward and back, for a cycle counter.
pub fn transform(p: &mut [i16; N]) {
    let mut poly = Poly(*p);
    Native.ntt(&mut poly);
    Native.lift(&mut poly);
    Native.inverse_ntt(&mut poly);
    *p = poly.0;
}

/// Operands of the arithmetic, for a cycle counter. Its operations come in the order in which they stand here.
pub struct Operands {
    a: [i16; N],
    b: Poly,
    sum: Poly,
}

impl Operands {
    /// Words of `draw` as everywhere here.
    pub fn new(mut draw: impl FnMut() -> i16) -> Self {
        Self {
            a: within(&core::array::from_fn(|_| draw()), 0..=4095).0,
            b: within(&core::array::from_fn(|_| draw()), 1 - Q..=Q - 1),
            sum: Poly::ZERO,
        }
    }

    /// The NTT of one of them.
    pub fn ntt(&mut self) {
        Native.ntt(&mut self.b);
    }

    /// Its product with the other one, in T_q.
    pub fn multiply(&mut self) {
        Native.basemul_acc(&mut self.sum, &self.a, &self.b, 0);
    }

    /// The inverse NTT of that.
    pub fn inverse_ntt(&mut self) {
        Native.inverse_ntt(&mut self.sum);
    }
}

fn within(p: &[i16; N], range: RangeInclusive<i16>) -> Poly {
    let (least, most) = (i32::from(*range.start()), i32::from(*range.end()));
    Poly(p.map(|word| match word {
        ..=-32767 => least as i16,
        i16::MAX => most as i16,
        _ => ((i32::from(word) - least).rem_euclid(most - least + 1) + least) as i16,
    }))
}

fn keeps(p: &Poly, range: RangeInclusive<i16>) -> bool {
    p.0.iter().all(|c| range.contains(c))
}

fn summands(count: i16) -> RangeInclusive<i16> {
    count * Native::SUMMAND.start()..=count * Native::SUMMAND.end()
}

/// Whether `change` multiplies by a constant, and gives canonical representatives.
fn is_linear(change: impl Fn(&mut Poly), p: &Poly) -> bool {
    let (mut unit, mut changed) = (Poly([1; N]), p.clone());
    change(&mut unit);
    change(&mut changed);
    keeps(&changed, 0..=Q - 1)
        && p.0.iter().zip(&unit.0).zip(&changed.0).all(|((&c, &unit), &changed)| {
            let difference = i32::from(c) * i32::from(unit) - i32::from(changed);
            difference % i32::from(Q) == 0
        })
}

fn packing_agrees(c: &[i16; 8]) -> bool {
    native::pack12(c) == portable::pack12(c)
        && native::compress::<4>(c) == portable::compress::<4>(c)
        && native::compress::<5>(c) == portable::compress::<5>(c)
        && native::compress::<10>(c) == portable::compress::<10>(c)
        && native::compress::<11>(c) == portable::compress::<11>(c)
}

fn decompression_agrees<const D: usize>(bytes: &[u8; 48]) -> bool {
    let (chunks, _) = bytes.as_chunks::<D>();
    chunks
        .iter()
        .all(|bytes| native::decompress::<D>(bytes) == portable::decompress::<D>(bytes))
}

fn streams_agree(seed: &[u8; 48]) -> bool {
    let (mut ours, mut theirs) = (Poly::ZERO, Poly::ZERO);
    Shake128::read_with(&[seed], |stream| native::uniform(stream, store(&mut ours)));
    Shake128::read_with(&[seed], |stream| portable::uniform(stream, store(&mut theirs)));
    ours.0 == theirs.0
}

fn store(p: &mut Poly) -> impl FnMut(usize, &[i16]) {
    |first, piece| p.0[first..][..piece.len()].copy_from_slice(piece)
}
