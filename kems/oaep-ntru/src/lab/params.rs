//! The three parameter sets.

use kem_core::Bytes;
use kem_core::ct::CtSink;
use kem_core::modular::Zq;
use kem_core::pack;
use zeroize::Zeroize;

use crate::lab::roots::{HALVES_648, HALVES_1296, HALVES_2592, expand};

/// A parameter set: a type without values. The three below are all there are.
///
/// The ring is Z_q\[X\]/(X^n - X^(n/2) + 1). Lengths are in bytes.
pub trait Params: sealed::Ring {
    /// n, the number of coefficients.
    const N: usize;

    /// R h in the transform's order, CB bits per coefficient.
    type Ek: Bytes;
    /// f and R / h, as `Ek`; the digest of the encapsulation key; and z, 32 bytes that the submission does not have.
    type Dk: Bytes;
    /// c as `Ek`, then the tag.
    type Ct: Bytes;
    /// Shared secret: 32 bytes, and 64 for the largest set.
    type Ss: Bytes;
    /// n / 4 bytes: the randomness of one short polynomial, or one packed.
    type Short: Bytes;
    /// Three draws: f and g, n / 4 bytes each, and z.
    type KeygenCoins: Bytes;
    /// Digest of an encapsulation key, or a tag.
    type Tag: Bytes;
}

/// What has to be a literal because const generics take no associated constant: arithmetic modulo q.
///
/// Coefficients are centred, |c| <= (q + 1) / 2, unless said otherwise.
pub(crate) mod sealed {
    use super::{CtSink, Zeroize};

    pub trait Ring {
        const Q: i16;
        /// Bits of an encoded coefficient.
        const CB: usize;
        /// Degree of the leaves: 2 or 3.
        const DEG: usize;
        /// Layers of radix 3, which come first.
        const RADIX3: usize;
        /// Layers of radix 2.
        const RADIX2: usize;
        /// A primitive sixth root of unity, in the Montgomery domain.
        const ZETA6: i16;
        /// See `roots::expand`.
        const ROOTS: &'static [i16];
        /// 1 in the Montgomery domain.
        const ONE: i16;

        type Poly: AsRef<[i16]> + AsMut<[i16]> + Zeroize;
        const ZERO: Self::Poly;

        /// Montgomery product, centred.
        fn mul(a: i16, b: i16) -> i16;
        /// Montgomery reduction. In: |a| < 2^15 q. Out: |out| < q.
        fn reduce(a: i32) -> i16;
        /// In: any.
        fn centre(a: i16) -> i16;
        /// In: any. Out: 0..q.
        fn freeze(a: i16) -> i16;
        /// In and out in the Montgomery domain; 0 gives 0.
        fn invert(a: i16) -> i16;
        /// To the Montgomery domain, centred.
        fn to_montgomery(a: i16) -> i16;
        fn pack(values: impl Iterator<Item = u16>, sink: &mut impl CtSink);
        fn unpack(bytes: &[u8]) -> impl Iterator<Item = u16>;
    }
}

macro_rules! parameter_set {
    (
        $(#[$doc:meta])* $name:ident: n = $n:literal, q = $q:literal, cb = $cb:literal, sym = $sym:literal, ss = $ss:literal,
        layers = $radix3:literal + $radix2:literal, deg = $deg:literal, zeta6 = $zeta6:literal, $halves:ident
    ) => {
        $(#[$doc])*
        pub enum $name {}

        impl Params for $name {
            const N: usize = $n;

            type Ek = [u8; $n * $cb / 8];
            type Dk = [u8; 2 * ($n * $cb / 8) + $sym + 32];
            type Ct = [u8; $n * $cb / 8 + $sym];
            type Ss = [u8; $ss];
            type Short = [u8; $n / 4];
            type KeygenCoins = [u8; 2 * ($n / 4) + 32];
            type Tag = [u8; $sym];
        }

        impl sealed::Ring for $name {
            const Q: i16 = $q;
            const CB: usize = $cb;
            const DEG: usize = $deg;
            const RADIX3: usize = $radix3;
            const RADIX2: usize = $radix2;
            const ZETA6: i16 = Zq::<$q>::barrett(Zq::<$q>::to_montgomery($zeta6));
            const ROOTS: &'static [i16] = {
                static ROOTS: [i16; 2 * $halves.len()] = expand::<$q, _, _>(&$halves, $zeta6 - 1, $radix3);
                &ROOTS
            };
            const ONE: i16 = Zq::<$q>::R;

            type Poly = [i16; $n];
            const ZERO: [i16; $n] = [0; $n];

            #[inline(always)]
            fn mul(a: i16, b: i16) -> i16 {
                Zq::<$q>::barrett(Zq::<$q>::mul(a, b))
            }

            #[inline(always)]
            fn reduce(a: i32) -> i16 {
                Zq::<$q>::reduce(a)
            }

            #[inline(always)]
            fn centre(a: i16) -> i16 {
                Zq::<$q>::barrett(a)
            }

            #[inline(always)]
            fn freeze(a: i16) -> i16 {
                Zq::<$q>::freeze(a)
            }

            fn invert(a: i16) -> i16 {
                Zq::<$q>::barrett(Zq::<$q>::pow(a, $q - 2))
            }

            #[inline(always)]
            fn to_montgomery(a: i16) -> i16 {
                Zq::<$q>::barrett(Zq::<$q>::to_montgomery(a))
            }

            fn pack(values: impl Iterator<Item = u16>, sink: &mut impl CtSink) {
                pack::pack::<$cb>(values, sink);
            }

            fn unpack(bytes: &[u8]) -> impl Iterator<Item = u16> {
                pack::unpack::<$cb>(bytes)
            }
        }
    };
}

parameter_set!(
    /// Claimed at 128 bits.
    N648: n = 648, q = 7129, cb = 13, sym = 32, ss = 32, layers = 3 + 2, deg = 3, zeta6 = 1250, HALVES_648
);
parameter_set!(
    /// Claimed at 256 bits.
    N1296: n = 1296, q = 17497, cb = 15, sym = 64, ss = 32, layers = 4 + 2, deg = 2, zeta6 = 4720, HALVES_1296
);
parameter_set!(
    /// Claimed at 512 bits, which its hash functions cannot support.
    N2592: n = 2592, q = 28513, cb = 15, sym = 128, ss = 64, layers = 3 + 4, deg = 3, zeta6 = 12371, HALVES_2592
);
