//! The three parameter sets (round-3 specification, section 2.5).

use kem_core::Bytes;
use kem_core::ct::CtSink;
use kem_core::hash::XofReader;
use kem_core::pack;
use zeroize::Zeroize;

use crate::backends;
use crate::poly::Poly;

/// A parameter set: a type without values. The three below are all there are.
pub trait Params: sealed::Widths {
    /// l, the rank of the module.
    const RANK: usize;
    /// mu / 2: secret coefficients lie in -ETA..=ETA.
    const ETA: i16;
    /// Bits of a coefficient in the second half of a ciphertext; T = 2^EPS_T.
    const EPS_T: u32;

    /// b in 10 bits a coefficient, then seed_A: 320 l + 32 bytes.
    type Ek: Bytes;
    /// s in 13 bits a coefficient, the encapsulation key, its SHA3-256 hash, z: 736 l + 96 bytes.
    type Dk: Bytes;
    /// b' in 10 bits a coefficient, then c_m in EPS_T bits a coefficient: 320 l + 32 EPS_T bytes.
    type Ct: Bytes;
}

/// What has to be a literal because const generics take no associated constant.
pub(crate) mod sealed {
    use super::{CtSink, Poly, XofReader, Zeroize};

    pub trait Widths {
        type Vector<T: Copy + Zeroize>: AsRef<[T]> + AsMut<[T]> + Zeroize;

        fn vector<T: Copy + Zeroize>(item: T) -> Self::Vector<T>;
        fn sample_secret(stream: &mut impl XofReader, s: &mut Poly);
        fn pack_cm(values: impl Iterator<Item = u16>, sink: &mut impl CtSink);
        fn unpack_cm(bytes: &[u8]) -> impl Iterator<Item = u16>;
    }
}

macro_rules! parameter_set {
    ($(#[$doc:meta])* $name:ident: l = $l:literal, mu = 2 * $eta:literal, eps_t = $eps_t:literal) => {
        $(#[$doc])*
        pub enum $name {}

        impl Params for $name {
            const RANK: usize = $l;
            const ETA: i16 = $eta;
            const EPS_T: u32 = $eps_t;

            type Ek = [u8; 320 * $l + 32];
            type Dk = [u8; 416 * $l + (320 * $l + 32) + 64];
            type Ct = [u8; 320 * $l + 32 * $eps_t];
        }

        impl sealed::Widths for $name {
            type Vector<T: Copy + Zeroize> = [T; $l];

            fn vector<T: Copy + Zeroize>(item: T) -> [T; $l] {
                [item; $l]
            }

            fn sample_secret(stream: &mut impl XofReader, s: &mut Poly) {
                backends::cbd::<$eta>(stream, s);
            }

            fn pack_cm(values: impl Iterator<Item = u16>, sink: &mut impl CtSink) {
                pack::pack::<$eps_t>(values, sink);
            }

            fn unpack_cm(bytes: &[u8]) -> impl Iterator<Item = u16> {
                pack::unpack::<$eps_t>(bytes)
            }
        }
    };
}

parameter_set!(
    /// LightSaber.
    Rank2: l = 2, mu = 2 * 5, eps_t = 3
);
parameter_set!(
    /// Saber.
    Rank3: l = 3, mu = 2 * 4, eps_t = 4
);
parameter_set!(
    /// FireSaber.
    Rank4: l = 4, mu = 2 * 3, eps_t = 6
);

#[cfg(test)]
mod tests {
    use super::*;

    /// Table 5 of the specification.
    #[test]
    fn sizes_in_bytes() {
        fn sizes<P: Params>() -> [usize; 3] {
            [P::Ek::LEN, P::Dk::LEN, P::Ct::LEN]
        }
        assert_eq!(sizes::<Rank2>(), [672, 1568, 736]);
        assert_eq!(sizes::<Rank3>(), [992, 2304, 1088]);
        assert_eq!(sizes::<Rank4>(), [1312, 3040, 1472]);
    }
}
