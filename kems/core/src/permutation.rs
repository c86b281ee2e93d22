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

    /// Adds to byte `at` of the state, lanes being little-endian.
    fn xor_byte(&mut self, at: usize, byte: u8) {
        self.xor(at / 8, u64::from(byte) << (8 * (at % 8)));
    }

    /// Adds to the bytes of the state from `at` on.
    fn xor_bytes(&mut self, mut at: usize, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let (lane, offset) = (at / 8, at % 8);
            if offset == 0
                && let Some((word, rest)) = bytes.split_first_chunk()
            {
                self.xor(lane, u64::from_le_bytes(*word));
                at += 8;
                bytes = rest;
            } else {
                let (now, rest) = bytes.split_at(bytes.len().min(8 - offset));
                // Not a copy of so many bytes: that would be a call, with a frame larger than this one on small machines.
                let word = now.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte));
                self.xor(lane, (0..offset).fold(word, |word, _| word << 8));
                at += now.len();
                bytes = rest;
            }
        }
    }

    /// The bytes of the state from `at` on.
    fn copy_bytes(&self, mut at: usize, mut out: &mut [u8]) {
        while !out.is_empty() {
            let offset = at % 8;
            let word = self.lane(at / 8).to_le_bytes();
            if offset == 0 && out.len() >= 8 {
                let (now, rest) = out.split_at_mut(8);
                now.copy_from_slice(&word);
                at += 8;
                out = rest;
            } else {
                let count = out.len().min(8 - offset);
                let (now, rest) = out.split_at_mut(count);
                now.copy_from_slice(&word[offset..][..count]);
                at += count;
                out = rest;
            }
        }
    }
}

/// Where lanes lie in memory as they are and words are slow.
#[cfg(all(target_arch = "avr", not(kemqtt_portable)))]
macro_rules! bytes_in_place {
    () => {
        #[inline(always)]
        fn xor_byte(&mut self, at: usize, byte: u8) {
            native::xor_byte(&mut self.0, at, byte);
        }

        #[inline(always)]
        fn xor_bytes(&mut self, at: usize, bytes: &[u8]) {
            native::xor_bytes(&mut self.0, at, bytes);
        }

        #[inline(always)]
        fn copy_bytes(&self, at: usize, out: &mut [u8]) {
            native::copy_bytes(&self.0, at, out);
        }
    };
}
#[cfg(not(all(target_arch = "avr", not(kemqtt_portable))))]
macro_rules! bytes_in_place {
    () => {};
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

    bytes_in_place!();
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

    bytes_in_place!();
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

    /// Bytes at every place and of every length are those of the lanes.
    #[test]
    fn bytes_are_those_of_little_endian_lanes() {
        fn check<P: Permutation>() {
            let bytes: [u8; 32] = core::array::from_fn(|i| i as u8 * 7 + 1);
            for at in 0..8 {
                for len in 0..=bytes.len() - at {
                    let (mut state, mut single) = (P::ZERO, P::ZERO);
                    state.xor_bytes(at, &bytes[..len]);
                    (at..)
                        .zip(&bytes[..len])
                        .for_each(|(at, byte)| single.xor_byte(at, *byte));
                    for i in 0..4 {
                        let lane = core::array::from_fn(|k| match (8 * i + k).checked_sub(at) {
                            Some(from) if from < len => bytes[from],
                            _ => 0,
                        });
                        assert_eq!(state.lane(i), u64::from_le_bytes(lane), "{len} bytes at {at}");
                        assert_eq!(single.lane(i), state.lane(i), "{len} bytes at {at}");
                    }
                    let mut out = [0; 32];
                    state.copy_bytes(at, &mut out[..len]);
                    assert_eq!(out[..len], bytes[..len], "{len} bytes at {at}");
                    state.xor_bytes(at, &bytes[..len]);
                    assert_eq!(state.lane(0), 0);
                }
            }
        }
        check::<Keccak>();
        check::<Ascon>();
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
