//! What an instruction set may replace, and the contract it has to keep.

#[cfg(all(target_arch = "avr", not(kemqtt_portable)))]
mod avr;
#[cfg(all(target_arch = "x86_64", not(kemqtt_portable)))]
mod avx2;
#[cfg(all(cortex_m4, not(kemqtt_portable)))]
mod cortex_m4;
#[cfg(any(feature = "self-check", kemqtt_portable, not(any(target_arch = "avr", cortex_m4))))]
mod portable;
#[cfg(feature = "self-check")]
pub mod self_check;
#[cfg(test)]
mod tests;

use core::ops::{Range, RangeInclusive};

use kem_core::ct::CtSink;

use crate::poly::{POLY_LEN, Poly, decode, is_canonical};
use crate::sample::{EntryByEntry, Matrix, Noise, Orientation, StreamByStream};

/// Conversions of a few coefficients with the fastest code of this target.
#[cfg(not(all(target_arch = "avr", not(kemqtt_portable))))]
pub(crate) use crate::convert;
/// The backend that every machine of this target has.
#[cfg(all(target_arch = "avr", not(kemqtt_portable)))]
pub(crate) use avr::{Avr as Native, convert};
#[cfg(all(cortex_m4, not(kemqtt_portable)))]
pub(crate) use cortex_m4::CortexM4 as Native;
#[cfg(any(kemqtt_portable, not(any(target_arch = "avr", cortex_m4))))]
pub(crate) use portable::Portable as Native;

/// Arithmetic of R_q and T_q, chosen once per operation. Bounds are contract: callers rely on them.
///
/// Elements of T_q are in the backend's own form after [`Arith::ntt`], with a constant factor that is its affair; canonical after
/// [`Arith::standard`]. Sums of products have a factor too: sums over the former go to [`Arith::inverse_ntt`] and over the
/// latter to [`Arith::standard_sum`], which remove it.
pub trait Arith: Copy {
    /// Coefficients that `basemul_acc` takes for `b`. `ntt` gives no others, and canonical ones are among them.
    #[cfg_attr(not(feature = "self-check"), allow(dead_code))]
    const FACTOR: RangeInclusive<i16>;

    /// What `basemul_acc` adds to a coefficient. `lift` gives no others.
    #[cfg_attr(not(feature = "self-check"), allow(dead_code))]
    const SUMMAND: RangeInclusive<i16>;

    /// NTT (FIPS 203 algorithm 9) into the backend's form, in place. In: |c| < Q.
    fn ntt(self, p: &mut Poly);

    /// Inverse NTT (algorithm 10) of a sum of at most four products. Out: |c| < 4 Q.
    fn inverse_ntt(self, p: &mut Poly);

    /// `acc` += a b in T_q (algorithm 11), with a factor, on the coefficients from `first` on: as many as `a` has. Both numbers
    /// are multiples of what the conversions give at a time: of 4 on AVR, of [`PIECE`](crate::poly::PIECE) elsewhere.
    /// In: 0 <= a < 4096.
    fn basemul_acc(self, acc: &mut Poly, a: &[i16], b: &Poly, first: usize);

    /// From the form of `ntt` to that of a product of canonical polynomials.
    fn lift(self, p: &mut Poly);

    /// Canonical representatives in T_q. In: from `ntt`. Out: 0 <= c < Q.
    fn standard(self, p: &mut Poly);

    /// The same of a sum of at most four products and one result of `lift`.
    fn standard_sum(self, p: &mut Poly);

    /// Canonical representatives of coefficients. In: |c| < 8 Q. Out: 0 <= c < Q.
    fn freeze(self, p: &mut Poly);
}

/// Arithmetic, with what else is worth a whole polynomial at a time. The provided methods are those of every target's [`Native`].
pub trait Backend: Arith {
    /// Where the entries of a matrix come from.
    type Matrix<'a>: Matrix;
    /// Where the noise of a seed comes from.
    type Noise<'a>: Noise;

    /// The matrix of `k` rows and columns.
    fn matrix(self, rho: &[u8; 32], k: usize, orientation: Orientation) -> Self::Matrix<'_>;

    /// The noise of these nonces.
    fn noise(self, seed: &[u8; 32], nonces: Range<u8>) -> Self::Noise<'_>;

    /// [`Arith::basemul_acc`] with the 12-bit values of `a`.
    #[inline(never)]
    fn packed_basemul_acc(self, acc: &mut Poly, a: &[u8; POLY_LEN], b: &Poly) {
        decode(a, |first, a| self.basemul_acc(acc, a, b, first));
    }

    /// The modulus check of FIPS 203 section 7.2: no 12-bit value of `bytes` is Q or more.
    fn is_canonical(self, bytes: &[u8]) -> bool {
        is_canonical(bytes)
    }

    /// ByteEncode_12. In: 0 <= c < Q.
    fn encode(self, p: &Poly, sink: &mut impl CtSink) {
        for eight in p.0.as_chunks::<8>().0 {
            sink.put_all(&convert::pack12(eight));
        }
    }

    /// ByteEncode_D(Compress_D). In: 0 <= c < Q.
    fn compress<const D: usize>(self, p: &Poly, sink: &mut impl CtSink) {
        for eight in p.0.as_chunks::<8>().0 {
            sink.put_all(&convert::compress::<D>(eight));
        }
    }

    /// Decompress_D(ByteDecode_D). Out: 0 <= c < Q.
    fn decompress<const D: usize>(self, bytes: &[u8], p: &mut Poly) {
        for (eight, bytes) in p.0.as_chunks_mut().0.iter_mut().zip(bytes.as_chunks().0) {
            *eight = convert::decompress::<D>(bytes);
        }
    }

    /// Adds Decompress_1 of a message: 0 or (Q + 1) / 2 to each coefficient.
    #[inline(always)]
    fn add_message(self, p: &mut Poly, m: &[u8; 32]) {
        convert::add_message(&mut p.0, m);
    }

    /// Compress_1 of every coefficient: the message. In: 0 <= c < Q.
    #[inline(always)]
    fn message_of(self, p: &Poly, m: &mut [u8; 32]) {
        convert::message_of(&p.0, m);
    }
}

impl Backend for Native {
    type Matrix<'a> = EntryByEntry<'a>;
    type Noise<'a> = StreamByStream<'a>;

    #[inline(always)]
    fn matrix(self, rho: &[u8; 32], _k: usize, orientation: Orientation) -> EntryByEntry<'_> {
        EntryByEntry { rho, orientation }
    }

    #[inline(always)]
    fn noise(self, seed: &[u8; 32], _nonces: Range<u8>) -> StreamByStream<'_> {
        StreamByStream { seed }
    }
}

/// `operation` with the best backend of this machine: chosen here, once, and never below.
macro_rules! with_backend {
    (|$backend:ident| $operation:expr) => {{
        #[cfg(all(target_arch = "x86_64", not(kemqtt_portable)))]
        if let Some($backend) = kem_core::Avx2::detect() {
            return $operation;
        }
        let $backend = $crate::backends::Native;
        $operation
    }};
}
pub(crate) use with_backend;
