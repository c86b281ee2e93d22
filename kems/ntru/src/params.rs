//! The four parameter sets (round-3 specification, section 1.3).

use core::marker::PhantomData;

use kem_core::ct::CtSink;
use kem_core::{Bytes, pack};
use zeroize::Zeroize;

use crate::backends::ntt::{self, Integers};
use crate::backends::pairs::{Product, toeplitz, toom};
use crate::invert::Word;
use crate::variant::{Hps, Hrss, Variant};

/// A parameter set: a type without values. The four below are all there are.
pub trait Params: sealed::Widths {
    /// n: polynomials are taken modulo x^n - 1 or modulo 1 + x + .. + x^(n-1).
    const N: usize;
    /// log2 q.
    const LOG_Q: u32;

    /// h in `LOG_Q` bits a coefficient; the last coefficient is left out, because all of them sum to zero.
    type Ek: Bytes;
    /// f and its inverse modulo 3, five coefficients a byte; the inverse of h as `Ek` stores h; the rejection key.
    type Dk: Bytes;
    /// Coded as `Ek`.
    type Ct: Bytes;
    /// Randomness of f, of g, and the rejection key.
    type KeygenCoins: Bytes;
    /// Randomness of r and of m.
    type EncapsCoins: Bytes;
}

/// What has to be a literal because const generics take no associated constant.
pub(crate) mod sealed {
    use super::{CtSink, Integers, Product, Variant, Zeroize};

    pub trait Widths {
        /// HPS or HRSS.
        type Variant: Variant;
        /// n coefficients.
        type Poly: AsRef<[u16]> + AsMut<[u16]> + Copy + Zeroize;
        /// n - 1 keys of the sort that makes a polynomial of fixed weight.
        type Keys: AsMut<[u32]> + Zeroize;
        /// Eight times n rounded up to 16 * 32, 16 * 44 or 16 * 52.
        type Scratch: AsMut<[u16]> + Zeroize;
        type Toeplitz: Product;
        type ToomCook: Product;
        type Ntt: Integers;
        /// r and m, five coefficients a byte.
        type Packed: AsRef<[u8]> + AsMut<[u8]> + Zeroize;
        /// n elements of a small field, a word's bits of them in a `T`.
        type Lanes<T: Copy + Zeroize>: AsRef<[T]> + AsMut<[T]> + Zeroize;

        const POLY: Self::Poly;
        const KEYS: Self::Keys;
        const PACKED: Self::Packed;
        const SCRATCH: Self::Scratch;

        fn lanes<T: Copy + Zeroize>(item: T) -> Self::Lanes<T>;
        fn pack_q(values: impl Iterator<Item = u16>, sink: &mut impl CtSink);
        fn unpack_q(bytes: &[u8]) -> impl Iterator<Item = u16>;
    }
}

/// Bytes of n - 1 coefficients modulo q.
pub(crate) const fn q_len<P: Params>() -> usize {
    (P::LOG_Q as usize * (P::N - 1)).div_ceil(8)
}

/// Bytes of n - 1 coefficients modulo 3.
pub(crate) const fn trits_len<P: Params>() -> usize {
    (P::N - 1).div_ceil(5)
}

/// Names a parameter set without a value of it.
pub(crate) struct Set<P>(PhantomData<P>);

impl<P: Params> Set<P> {
    /// Modulo q.
    pub(crate) const Q_MASK: u16 = (1 << P::LOG_Q) - 1;

    /// Sizes of round-3 specification, section 1.12.
    pub(crate) const SIZES: () = {
        assert!(P::Ek::LEN == q_len::<P>() && P::Ct::LEN == q_len::<P>());
        assert!(P::Dk::LEN == 2 * trits_len::<P>() + q_len::<P>() + 32);
        assert!(P::KeygenCoins::LEN == P::EncapsCoins::LEN + 32);
        let message_len = if P::Variant::FIXED_WEIGHT {
            30 * (P::N - 1) / 8
        } else {
            P::N - 1
        };
        assert!(P::EncapsCoins::LEN == P::N - 1 + message_len);
    };
}

macro_rules! parameter_set {
    (
        $(#[$doc:meta])* $name:ident: $variant:ident, n = $n:literal, log_q = $log_q:literal,
        message = $message:expr, block = $block:literal
    ) => {
        $(#[$doc])*
        pub enum $name {}

        impl Params for $name {
            const N: usize = $n;
            const LOG_Q: u32 = $log_q;

            type Ek = [u8; ($log_q * ($n - 1usize)).div_ceil(8)];
            type Dk = [u8; 2 * ($n - 1usize).div_ceil(5) + ($log_q * ($n - 1usize)).div_ceil(8) + 32];
            type Ct = [u8; ($log_q * ($n - 1usize)).div_ceil(8)];
            type KeygenCoins = [u8; $n - 1 + $message + 32];
            type EncapsCoins = [u8; $n - 1 + $message];
        }

        impl sealed::Widths for $name {
            type Variant = $variant;
            type Poly = [u16; $n];
            type Keys = [u32; $n - 1];
            type Scratch = [u16; 8 * 16 * $block];
            type Toeplitz = toeplitz::Scratch<{ $block / 2 }, $block, { 2 * $block }>;
            type ToomCook = toom::Scratch<{ $block / 2 }, $block, { 2 * $block }>;
            type Ntt = ntt::Scratch<{ 32 * $block }, { 16 * $block }, { $block / 4 }, $log_q>;
            type Packed = [u8; 2 * ($n - 1usize).div_ceil(5)];
            type Lanes<T: Copy + Zeroize> = [T; ($n as usize).div_ceil(Word::BITS as usize)];

            const POLY: Self::Poly = [0; $n];
            const KEYS: Self::Keys = [0; $n - 1];
            const PACKED: Self::Packed = [0; 2 * ($n - 1usize).div_ceil(5)];
            const SCRATCH: Self::Scratch = [0; 8 * 16 * $block];

            fn lanes<T: Copy + Zeroize>(item: T) -> Self::Lanes<T> {
                [item; ($n as usize).div_ceil(Word::BITS as usize)]
            }

            fn pack_q(values: impl Iterator<Item = u16>, sink: &mut impl CtSink) {
                pack::pack::<$log_q>(values, sink);
            }

            fn unpack_q(bytes: &[u8]) -> impl Iterator<Item = u16> {
                pack::unpack::<$log_q>(bytes)
            }
        }
    };
}

parameter_set!(
    /// ntruhps2048509.
    Hps509: Hps, n = 509, log_q = 11, message = 30 * 508 / 8, block = 32
);
parameter_set!(
    /// ntruhps2048677.
    Hps677: Hps, n = 677, log_q = 11, message = 30 * 676 / 8, block = 44
);
parameter_set!(
    /// ntruhps4096821.
    Hps821: Hps, n = 821, log_q = 12, message = 30 * 820 / 8, block = 52
);
parameter_set!(
    /// ntruhrss701.
    Hrss701: Hrss, n = 701, log_q = 13, message = 700, block = 44
);

#[cfg(test)]
mod tests {
    use super::*;

    /// Section 1.12 of the specification.
    #[test]
    fn sizes_in_bytes() {
        fn sizes<P: Params>() -> [usize; 5] {
            let () = Set::<P>::SIZES;
            [
                P::Ek::LEN,
                P::Dk::LEN,
                P::Ct::LEN,
                P::KeygenCoins::LEN,
                P::EncapsCoins::LEN,
            ]
        }
        assert_eq!(sizes::<Hps509>(), [699, 935, 699, 2413 + 32, 2413]);
        assert_eq!(sizes::<Hps677>(), [930, 1234, 930, 3211 + 32, 3211]);
        assert_eq!(sizes::<Hps821>(), [1230, 1590, 1230, 3895 + 32, 3895]);
        assert_eq!(sizes::<Hrss701>(), [1138, 1450, 1138, 1400 + 32, 1400]);
    }
}
