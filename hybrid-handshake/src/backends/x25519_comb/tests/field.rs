//! Integers modulo 2^255 - 19 in five limbs of 51 bits.

use core::ops::{Add, Mul, Sub};

/// Always the least representative.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fe([u64; 5]);

const MASK: u64 = (1 << 51) - 1;
const P: [u64; 5] = [MASK - 18, MASK, MASK, MASK, MASK];

impl Fe {
    pub(super) const ONE: Self = Self([1, 0, 0, 0, 0]);

    pub(super) fn from_bytes(bytes: [u8; 32]) -> Self {
        let bit = |at: usize| u128::from(bytes[at / 8] >> (at % 8) & 1);
        Self::reduce(core::array::from_fn(|limb| {
            (0..51).map(|k| bit(51 * limb + k) << k).sum()
        }))
    }

    pub(super) fn to_bytes(self) -> [u8; 32] {
        let bit = |at: usize| (self.0.get(at / 51).map_or(0, |limb| limb >> (at % 51)) & 1) as u8;
        core::array::from_fn(|byte| (0..8).map(|k| bit(8 * byte + k) << k).sum())
    }

    /// To the power p - 2.
    pub(super) fn inverse(self) -> Self {
        let mut power = Self::ONE;
        for bit in (0..255).rev() {
            power = power * power;
            // p - 2 = 2^255 - 21.
            if bit != 4 && bit != 2 {
                power = power * self;
            }
        }
        power
    }

    fn reduce(mut limbs: [u128; 5]) -> Self {
        for _ in 0..3 {
            let mut carry = 0;
            for limb in &mut limbs {
                *limb += carry;
                carry = *limb >> 51;
                *limb &= u128::from(MASK);
            }
            limbs[0] += 19 * carry;
        }
        let limbs = limbs.map(|limb| limb as u64);
        if limbs.iter().rev().ge(P.iter().rev()) {
            // From p to 2^255 - 1 only the lowest limb differs.
            return Self([limbs[0] - P[0], 0, 0, 0, 0]);
        }
        Self(limbs)
    }
}

impl From<u32> for Fe {
    fn from(value: u32) -> Self {
        Self([value.into(), 0, 0, 0, 0])
    }
}

impl Add for Fe {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self::reduce(core::array::from_fn(|k| u128::from(self.0[k] + other.0[k])))
    }
}

impl Sub for Fe {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self::reduce(core::array::from_fn(|k| u128::from(self.0[k] + P[k] - other.0[k])))
    }
}

impl Mul for Fe {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        let mut limbs = [0; 5];
        for i in 0..5 {
            for j in 0..5 {
                let product = u128::from(self.0[i]) * u128::from(other.0[j]);
                limbs[(i + j) % 5] += if i + j < 5 { product } else { 19 * product };
            }
        }
        Self::reduce(limbs)
    }
}
