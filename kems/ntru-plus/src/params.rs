//! Parameter sets: sizes, and the tree of roots that fixes the order of the transform.

use kem_core::Bytes;
use zeroize::Zeroize;

use crate::field::{F, Q};

/// A parameter set of NTRU+: the ring Z_q\[x\]/(x^n - x^{n/2} + 1) with q = 3457, and how its transform splits it.
///
/// Sealed: [`P768`], [`P864`] and [`P1152`] are all there are.
pub trait Params: sealed::Sealed {
    /// Ring degree n.
    const N: usize;
    /// Degree d of the residues that the transform stops at: modulo x^d - c.
    const LEAF: usize;
    /// Radix-3 layers of the transform, between its first layer and the radix-2 layers.
    const RADIX3_LAYERS: usize;
    /// Twiddle factors in the order of a forward pass, times 2^16, centred. Entry 0 is not a twiddle; the last n/2d
    /// entries are the leaf constants c: plus for even leaves, minus for odd ones.
    const ZETAS: &'static [i16];

    /// Entries of `ZETAS` as factors of packed products.
    #[cfg(all(cortex_m4, not(kemqtt_portable)))]
    #[doc(hidden)]
    const FACTORS: &'static [u32];

    /// Coefficients that are unpacked and multiplied at a time: 64 (a group of the larger layout), and what is left of the
    /// group before when residues go by eights.
    #[doc(hidden)]
    type Piece: AsRef<[i16]> + AsMut<[i16]> + Zeroize + sealed::Zeroed;

    /// n coefficients.
    type Poly: AsRef<[i16]> + AsMut<[i16]> + Zeroize + sealed::Zeroed;
    /// n bits: a message, or half of the bits of a binomial polynomial.
    type Message: Bytes;
    /// An encapsulation key or a ciphertext: n packed coefficients, 3n/2 bytes.
    type Packed: Bytes;
    /// A decapsulation key: two packed polynomials and the 32-byte hash of the encapsulation key.
    type Dk: Bytes;
}

pub(crate) mod sealed {
    pub trait Sealed {}

    pub trait Zeroed {
        const ZERO: Self;
    }

    /// Aligned so that a backend may take them in pairs.
    #[repr(align(4))]
    #[derive(zeroize::Zeroize)]
    pub struct Coefficients<const N: usize>([i16; N]);

    impl<const N: usize> Zeroed for Coefficients<N> {
        const ZERO: Self = Self([0; N]);
    }

    impl<const N: usize> AsRef<[i16]> for Coefficients<N> {
        fn as_ref(&self) -> &[i16] {
            &self.0
        }
    }

    impl<const N: usize> AsMut<[i16]> for Coefficients<N> {
        fn as_mut(&mut self) -> &mut [i16] {
            &mut self.0
        }
    }
}

/// Defines one parameter set from its row of the specification's table.
macro_rules! parameter_set {
    ($(#[$doc:meta])* $name:ident, n: $n:literal, d: $d:literal, zeta: $zeta:literal, radix3: $radix3:literal,
     piece: $piece:literal) => {
        $(#[$doc])*
        pub enum $name {}

        impl sealed::Sealed for $name {}

        impl Params for $name {
            const N: usize = $n;
            const LEAF: usize = $d;
            const RADIX3_LAYERS: usize = $radix3;
            const ZETAS: &'static [i16] = &zetas::<{ $n / $d }>($zeta, $radix3);

            #[cfg(all(cortex_m4, not(kemqtt_portable)))]
            const FACTORS: &'static [u32] = &factors::<{ $n / $d }>(Self::ZETAS);

            type Piece = sealed::Coefficients<$piece>;
            type Poly = sealed::Coefficients<$n>;
            type Message = [u8; $n / 8];
            type Packed = [u8; $n * 3 / 2];
            type Dk = [u8; $n * 3 + 32];
        }
    };
}

parameter_set! {
    /// n = 768: the smallest set. A random secret is not invertible with probability 3.2e-5.
    P768, n: 768, d: 4, zeta: 22, radix3: 1, piece: 64
}
parameter_set! {
    /// n = 864. A random secret is not invertible with probability 7e-9.
    P864, n: 864, d: 3, zeta: 9, radix3: 2, piece: 80
}
parameter_set! {
    /// n = 1152: the largest set. 28 % of random secrets are not invertible, so key generation often draws again.
    P1152, n: 1152, d: 4, zeta: 9, radix3: 2, piece: 64
}

/// The twiddle factors of a transform with `LEAVES` leaves.
///
/// A node with exponent e stands for reduction modulo x^m - zeta^e. The first two nodes are the roots of y^2 - y + 1; a
/// layer of radix r replaces a node by the r exact quotients (e + i * order) / r. Each layer multiplies by powers of
/// zeta^e for the first child's e.
const fn zetas<const LEAVES: usize>(zeta: u32, radix3_layers: usize) -> [i16; LEAVES] {
    let order = 3 * LEAVES;
    let mut table = [0; LEAVES];
    table[0] = F::R;
    table[1] = montgomery(power(zeta, order / 6));
    let mut filled = 2;

    let mut nodes = [0; LEAVES];
    nodes[0] = order / 6;
    nodes[1] = 5 * order / 6;
    let mut width = 2;
    let mut layer = 0;
    while width < LEAVES {
        let radix = if layer < radix3_layers { 3 } else { 2 };
        let mut children = [0; LEAVES];
        let mut node = 0;
        while node < width {
            let first = nodes[node] / radix;
            let mut child = 0;
            while child < radix {
                children[radix * node + child] = first + child * (order / radix);
                if child + 1 < radix {
                    table[filled] = montgomery(power(zeta, (child + 1) * first));
                    filled += 1;
                }
                child += 1;
            }
            node += 1;
        }
        nodes = children;
        width *= radix;
        layer += 1;
    }
    table
}

#[cfg(all(cortex_m4, not(kemqtt_portable)))]
const fn factors<const LEAVES: usize>(zetas: &[i16]) -> [u32; LEAVES] {
    let mut table = [0; LEAVES];
    let mut i = 0;
    while i < LEAVES {
        table[i] = kem_core::packed::factor_of_montgomery::<Q>(zetas[i]);
        i += 1;
    }
    table
}

const fn power(base: u32, exponent: usize) -> u32 {
    let mut result = 1;
    let mut i = 0;
    while i < exponent {
        result = result * base % Q as u32;
        i += 1;
    }
    result
}

/// Centred: the transform's bounds count on |twiddle| <= q / 2.
const fn montgomery(a: u32) -> i16 {
    F::barrett(F::to_montgomery(a as i16))
}
