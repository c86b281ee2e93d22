//! Poly1305 (RFC 8439 section 2.5) over whole blocks, with the products of two 64-bit words that 64-bit processors have.
//!
//! A block after the other, which suits a record of any length: there are no powers of the key to prepare and no lanes to
//! merge, and between the rounds of ChaCha20 the chain of products costs little.

use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::aead::Tag;

/// Bytes of a block.
pub(super) const BLOCK_LEN: usize = 16;

/// The accumulator and its key. Wiped on drop.
#[derive(Zeroize, ZeroizeOnDrop)]
pub(super) struct Poly1305 {
    /// r, clamped: each word below 2^60, r1 divisible by 4.
    r0: u64,
    r1: u64,
    /// 5/4 r1: what the part of a product from 2^130 on comes back with.
    s1: u64,
    pad: u128,
    /// The accumulator modulo 2^128.
    low: u128,
    /// The rest of it, at most 4.
    high: u64,
}

impl Poly1305 {
    /// Under a key that is used once: r, then s.
    pub(super) fn new(key: &[u8; 32]) -> Self {
        let [r @ .., _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _] = key;
        let [_, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, s @ ..] = key;
        let r = u128::from_le_bytes(*r) & CLAMP;
        let (r0, r1) = words(r);
        Self {
            r0,
            r1,
            s1: r1 + (r1 >> 2),
            pad: u128::from_le_bytes(*s),
            low: 0,
            high: 0,
        }
    }

    /// Takes in `data`, filled up with zeros to a whole block (RFC 8439 section 2.8).
    pub(super) fn update_padded(&mut self, data: &[u8]) {
        let (blocks, last) = data.as_chunks();
        blocks.iter().for_each(|block| self.update(block));
        if !last.is_empty() {
            let mut block = [0; BLOCK_LEN];
            block.iter_mut().zip(last).for_each(|(to, from)| *to = *from);
            self.update(&block);
        }
    }

    /// Takes in one block: adds it with a bit above, multiplies by r.
    #[inline(always)]
    pub(super) fn update(&mut self, block: &[u8; BLOCK_LEN]) {
        let (sum, carry) = self.low.overflowing_add(u128::from_le_bytes(*block));
        let (h0, h1) = words(sum);
        let h2 = self.high + 1 + u64::from(carry); // at most 6
        // h2 r1 2^192 is h2 s1 2^64 and h1 r1 2^128 is h1 s1, modulo 2^130 - 5. No sum reaches 2^127.
        let d0 = product(h0, self.r0) + product(h1, self.s1);
        let d1 = product(h0, self.r1) + product(h1, self.r0) + u128::from(h2 * self.s1) + (d0 >> 64);
        let (d1, carried) = words(d1);
        let d2 = h2 * self.r0 + carried;
        // What is from 2^130 on, times 5.
        let folded = (d2 & !3) + (d2 >> 2);
        let low = u128::from(d1) << 64 | u128::from(d0 as u64);
        let (low, carry) = low.overflowing_add(u128::from(folded));
        self.low = low;
        self.high = (d2 & 3) + u64::from(carry);
    }

    /// The tag.
    pub(super) fn finish(self) -> Tag {
        // The accumulator is below 2 p: minus p where adding 5 reaches 2^130.
        let (reduced, carry) = self.low.overflowing_add(5);
        let reaches = (self.high + u64::from(carry)) >> 2;
        let mask = u128::from(reaches & 1).wrapping_neg();
        let low = self.low ^ (self.low ^ reduced) & mask;
        low.wrapping_add(self.pad).to_le_bytes()
    }
}

fn words(value: u128) -> (u64, u64) {
    (value as u64, (value >> 64) as u64)
}

fn product(a: u64, b: u64) -> u128 {
    u128::from(a) * u128::from(b)
}

const CLAMP: u128 = 0x0fff_fffc_0fff_fffc_0fff_fffc_0fff_ffff;

#[cfg(test)]
mod tests {
    extern crate std;

    use std::format;

    use super::*;

    /// RFC 8439 appendix A.3, test vectors 7 to 11: sums at 2^130 and its neighbours, where a wrong carry shows.
    #[test]
    fn carries_and_the_last_reduction() {
        let ones = "ff".repeat(16);
        let word = |hex: &str| format!("{hex:0<32}");
        let cases = [
            (word("02"), word(""), ones.clone(), word("03")),
            (word("02"), ones.clone(), word("02"), word("03")),
            (
                word("01"),
                word(""),
                [&*ones, "f0", &"ff".repeat(15), &word("11")].concat(),
                word("05"),
            ),
            (
                word("01"),
                word(""),
                [&*ones, "fb", &"fe".repeat(15), &"01".repeat(16)].concat(),
                word(""),
            ),
            (word("02"), word(""), ["fd", &"ff".repeat(15)].concat(), ["fa", &"ff".repeat(15)].concat()),
            (
                word("01000000000000000400000000000000"),
                word(""),
                "e33594d7505e43b900000000000000003394d7505e4379cd01000000000000000000000000000000000000000000000001000000000000000000000000000000"
                    .into(),
                word("140000000000000055"),
            ),
            (
                word("01000000000000000400000000000000"),
                word(""),
                "e33594d7505e43b900000000000000003394d7505e4379cd010000000000000000000000000000000000000000000000".into(),
                word("13"),
            ),
        ];
        for (r, s, message, tag) in cases {
            let key = hex::decode(r + &s).unwrap().try_into().unwrap();
            let mut poly = Poly1305::new(&key);
            poly.update_padded(&hex::decode(&message).unwrap());
            assert_eq!(hex::encode(poly.finish()), tag, "{message}");
        }
    }

    /// RFC 8439 section 2.5.2, as far as it goes with whole blocks: the key is clamped.
    #[test]
    fn bits_that_clamping_clears_do_not_count() {
        let tag = |r: u128| {
            let mut key = [7; 32];
            key[..16].copy_from_slice(&r.to_le_bytes());
            let mut poly = Poly1305::new(&key);
            poly.update_padded(b"thirty-two bytes, two blocks of.");
            poly.finish()
        };
        let r = 0x0123_4564_89ab_cde8_0246_8acc_0369_cf25;
        assert_eq!(tag(r | !CLAMP), tag(r & CLAMP));
        assert_ne!(tag(r), tag(r ^ 4));
    }
}
