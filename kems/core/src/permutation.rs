//! The permutations under hashes and AEADs, as states of 64-bit lanes with the fastest code that the target has.

use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::backends::{keccak_f1600_x4, native};

/// A permutation and its state.
pub trait Permutation: Clone + Zeroize {
    /// Lanes of the state.
    const LANES: usize;

    /// All lanes zero.
    const ZERO: Self;

    /// The permutation with all of its rounds.
    fn permute(&mut self);

    /// Adds to lane `i`, modulo 2 in each bit. `i` is below [`Permutation::LANES`].
    fn xor(&mut self, i: usize, lane: u64);

    /// Lane `i`. `i` is below [`Permutation::LANES`].
    fn lane(&self, i: usize) -> u64;
}

/// Keccak-f\[1600\] (FIPS 202 section 3.4). Lane x + 5 y is A\[x, y\]. Wiped on drop.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub struct Keccak([u64; 25]);

impl Permutation for Keccak {
    const LANES: usize = 25;
    const ZERO: Self = Self([0; 25]);

    #[inline(always)]
    fn permute(&mut self) {
        native::keccak_f1600(&mut self.0);
    }

    #[inline(always)]
    fn xor(&mut self, i: usize, lane: u64) {
        self.0[i] ^= native::keccak_lane_in(lane);
    }

    #[inline(always)]
    fn lane(&self, i: usize) -> u64 {
        native::keccak_lane_out(self.0[i])
    }
}

/// Four states of [`Keccak`] side by side. Wiped on drop.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub struct KeccakX4([[u64; 4]; 25]);

impl KeccakX4 {
    /// All lanes zero.
    pub const ZERO: Self = Self([[0; 4]; 25]);

    /// The permutation of every state.
    pub fn permute(&mut self) {
        keccak_f1600_x4(&mut self.0);
    }

    /// Adds to lane `i`, below 25, of state `state`, below 4.
    #[inline(always)]
    pub fn xor(&mut self, i: usize, state: usize, lane: u64) {
        self.0[i][state] ^= native::keccak_lane_in(lane);
    }

    /// Lane `i` of state `state`.
    #[inline(always)]
    pub fn lane(&self, i: usize, state: usize) -> u64 {
        native::keccak_lane_out(self.0[i][state])
    }
}

/// Ascon-p (NIST SP 800-232 section 3): five lanes. Wiped on drop.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub struct Ascon([u64; 5]);

impl Ascon {
    /// Ascon-p\[8\], the permutation between the blocks of Ascon-AEAD128.
    #[inline(always)]
    pub fn permute8(&mut self) {
        native::ascon_p8(&mut self.0);
    }
}

impl Permutation for Ascon {
    const LANES: usize = 5;
    const ZERO: Self = Self([0; 5]);

    /// Ascon-p\[12\].
    #[inline(always)]
    fn permute(&mut self) {
        native::ascon_p12(&mut self.0);
    }

    #[inline(always)]
    fn xor(&mut self, i: usize, lane: u64) {
        self.0[i] ^= native::ascon_lane_in(lane);
    }

    #[inline(always)]
    fn lane(&self, i: usize) -> u64 {
        native::ascon_lane_out(self.0[i])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_come_back() {
        let mut state = Keccak::ZERO;
        for i in 0..25 {
            state.xor(i, 0x0123_4567_89ab_cdef << (i % 7));
            assert_eq!(state.lane(i), 0x0123_4567_89ab_cdef << (i % 7));
            state.xor(i, 1 << 63);
            assert_eq!(state.lane(i), (0x0123_4567_89ab_cdef << (i % 7)) ^ 1 << 63);
        }
    }

    /// The first lane of Keccak-f\[1600\] of zero (FIPS 202's published intermediate values).
    #[test]
    fn keccak_of_zero() {
        let mut state = Keccak::ZERO;
        state.permute();
        assert_eq!(state.lane(0), 0xf125_8f79_40e1_dde7);
        assert_eq!(state.lane(24), 0xeaf1_ff7b_5cec_a249);
    }

    /// SP 800-232 appendix A: the state after the initialisation of Ascon-Hash256.
    #[test]
    fn ascon_hash_initialization() {
        let mut state = Ascon::ZERO;
        state.xor(0, 0x0000_0801_00cc_0002);
        state.permute();
        let lanes: [u64; 5] = core::array::from_fn(|i| state.lane(i));
        assert_eq!(
            lanes,
            [
                0x9b1e_5494_e934_d681,
                0x4bc3_a01e_3337_51d2,
                0xae65_396c_6b34_b81a,
                0x3c7f_d4a4_d56a_4db3,
                0x1a5c_4649_06c5_976d
            ]
        );
    }
}
