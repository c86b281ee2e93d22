//! x86-64 with AVX2, found at run time: sixteen coefficients in a register, four streams of SHAKE side by side.
//!
//! Every kernel takes a whole polynomial. It is a safe function for whoever has AVX2; the token [`Avx2`] is the proof of that.
#![allow(unsafe_code)]

mod bytes;
mod forms;
mod noise;
mod product;
mod streams;
#[cfg(test)]
mod tests;
mod transform;
mod uniform;
mod vector;

use core::ops::{Range, RangeInclusive};

use kem_core::Avx2;
use kem_core::ct::CtSink;

use super::{Arith, Backend};
use crate::poly::{N, POLY_LEN, Poly, Q};
use crate::sample::Orientation;
use streams::{Matrix, Noise};

/// Products have a factor 1 / R, transforms none.
impl Arith for Avx2 {
    const FACTOR: RangeInclusive<i16> = 1 - Q..=Q - 1;
    const SUMMAND: RangeInclusive<i16> = 1 - Q..=Q - 1;

    fn ntt(self, p: &mut Poly) {
        // SAFETY: the token proves AVX2. Twin: `portable::Portable`, here and below.
        unsafe { transform::forward(&mut p.0) }
    }

    fn inverse_ntt(self, p: &mut Poly) {
        // SAFETY: the token proves AVX2.
        unsafe { transform::inverse(&mut p.0) }
    }

    fn basemul_acc(self, acc: &mut Poly, a: &[i16], b: &Poly, first: usize) {
        // SAFETY: the token proves AVX2.
        unsafe { product::accumulate(&mut acc.0, a, &b.0, first) }
    }

    fn lift(self, p: &mut Poly) {
        // SAFETY: the token proves AVX2.
        unsafe { forms::lift(&mut p.0) }
    }

    fn standard(self, p: &mut Poly) {
        self.freeze(p);
    }

    fn standard_sum(self, p: &mut Poly) {
        // SAFETY: the token proves AVX2.
        unsafe { forms::standard_sum(&mut p.0) }
    }

    fn freeze(self, p: &mut Poly) {
        // SAFETY: the token proves AVX2.
        unsafe { forms::freeze(&mut p.0) }
    }
}

impl Backend for Avx2 {
    type Matrix<'a> = Matrix<'a>;
    type Noise<'a> = Noise<'a>;

    fn matrix(self, rho: &[u8; 32], k: usize, orientation: Orientation) -> Matrix<'_> {
        Matrix::new(self, rho, k, orientation)
    }

    fn noise(self, seed: &[u8; 32], nonces: Range<u8>) -> Noise<'_> {
        Noise::new(self, seed, nonces)
    }

    fn packed_basemul_acc(self, acc: &mut Poly, a: &[u8; POLY_LEN], b: &Poly) {
        // SAFETY: the token proves AVX2. Twins: the provided methods, here and below.
        unsafe { product::accumulate_packed(&mut acc.0, a, &b.0) }
    }

    fn is_canonical(self, bytes: &[u8]) -> bool {
        // SAFETY: the token proves AVX2.
        unsafe { bytes::is_canonical(bytes) }
    }

    fn encode(self, p: &Poly, sink: &mut impl CtSink) {
        // SAFETY: the token proves AVX2.
        unsafe { bytes::encode(&p.0, sink) }
    }

    fn compress<const D: usize>(self, p: &Poly, sink: &mut impl CtSink) {
        // SAFETY: the token proves AVX2.
        unsafe { bytes::compress::<D>(&p.0, sink) }
    }

    fn decompress<const D: usize>(self, bytes: &[u8], p: &mut Poly) {
        // SAFETY: the token proves AVX2.
        unsafe { bytes::decompress::<D>(bytes, &mut p.0) }
    }

    fn add_message(self, p: &mut Poly, m: &[u8; 32]) {
        // SAFETY: the token proves AVX2.
        unsafe { forms::add_message(&mut p.0, m) }
    }

    fn message_of(self, p: &Poly, m: &mut [u8; 32]) {
        // SAFETY: the token proves AVX2.
        unsafe { forms::message_of(&p.0, m) }
    }
}

/// What the kernels know a polynomial as.
type Coefficients = [i16; N];
