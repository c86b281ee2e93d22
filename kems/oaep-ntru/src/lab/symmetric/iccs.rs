//! SM3 and what the submission builds from it: "correctness aids" by ICCS, without a security claim.

use kem_core::hash::XofReader;
use sm3::{Digest, Sm3};
use zeroize::ZeroizeOnDrop;

use super::Symmetric;

/// SM3, pseudohash-512, pseudohash-1024 by length of the digest; pseudoXOF.
pub enum Iccs {}

impl Symmetric for Iccs {
    type Reader = IccsReader;

    fn digest(parts: &[&[u8]], out: &mut [u8]) {
        let out = out.as_chunks_mut::<32>().0;
        if let [h] = out {
            *h = sm3(parts);
            return;
        }
        // The width in bits.
        let width = (256 * out.len() as u16).to_be_bytes();
        let h1 = hash(parts, &width);
        let h2 = sm3(&[&mac(&width, parts), &h1]);
        match out {
            [o1, o2] => (*o1, *o2) = (h1, h2),
            [o1, o2, o3, o4] => {
                let h3 = sm3(&[&h2, &mac(&[], &[&h1])]);
                let h4 = sm3(&[&mac(&[], &[&h2]), &h3, &mac(&[], &[&h3])]);
                (*o1, *o2, *o3, *o4) = (h1, h2, h3, h4);
            }
            _ => unreachable!("digests have 32, 64 or 128 bytes"),
        }
    }

    /// SM3(M, 1), SM3(M, 2) and so on, the counter in four bytes, big-endian.
    fn xof(parts: &[&[u8]]) -> IccsReader {
        let mut message = Sm3::new();
        parts.iter().for_each(|part| message.update(part));
        IccsReader {
            message,
            counter: 0,
            block: [0; 32],
            left: 0,
        }
    }
}

/// pseudoXOF after its message. Wiped on drop.
#[derive(ZeroizeOnDrop)]
pub struct IccsReader {
    /// Wipes itself.
    #[zeroize(skip)]
    message: Sm3,
    counter: u32,
    block: [u8; 32],
    /// Bytes at the end of `block` that were not read yet.
    left: usize,
}

impl XofReader for IccsReader {
    fn read(&mut self, out: &mut [u8]) {
        for byte in out {
            if self.left == 0 {
                self.counter += 1;
                self.block = self
                    .message
                    .clone()
                    .chain_update(self.counter.to_be_bytes())
                    .finalize()
                    .into();
                self.left = self.block.len();
            }
            *byte = self.block[self.block.len() - self.left];
            self.left -= 1;
        }
    }
}

fn sm3(parts: &[&[u8]]) -> [u8; 32] {
    hash(parts, &[])
}

fn hash(parts: &[&[u8]], last: &[u8]) -> [u8; 32] {
    let mut hash = Sm3::new();
    parts.iter().for_each(|part| hash.update(part));
    hash.chain_update(last).finalize().into()
}

/// HMAC-SM3 under [`MAC_KEY`], which is one block long, of `first` and `parts`.
fn mac(first: &[u8], parts: &[&[u8]]) -> [u8; 32] {
    let mut inner = Sm3::new_with_prefix(MAC_KEY.map(|byte| byte ^ 0x36));
    inner.update(first);
    parts.iter().for_each(|part| inner.update(part));
    Sm3::new_with_prefix(MAC_KEY.map(|byte| byte ^ 0x5c))
        .chain_update(inner.finalize())
        .finalize()
        .into()
}

/// SM3("3.14159265358979"), SM3("2.71828182845904").
const MAC_KEY: [u8; 64] = [
    0x53, 0x07, 0xf6, 0xd5, 0xeb, 0x6a, 0x3c, 0xed, 0x3d, 0x24, 0xc5, 0x3c, 0xc9, 0xc8, 0x2c, 0xce, 0x2f, 0x89, 0x36,
    0x39, 0x70, 0x23, 0xf0, 0x69, 0x5c, 0x26, 0xc8, 0x0c, 0x1a, 0xb1, 0x82, 0xa7, 0x1d, 0xb0, 0x2b, 0xa9, 0x2f, 0x54,
    0x40, 0x18, 0x11, 0x5a, 0x96, 0xe7, 0x19, 0x66, 0x2c, 0xa3, 0x2b, 0x7c, 0x7e, 0xfc, 0x0a, 0x6d, 0x24, 0x82, 0x15,
    0x07, 0x66, 0xba, 0x6f, 0x65, 0x5b, 0x8e,
];

#[cfg(test)]
mod tests {
    use kem_core::testkit::Hex;
    use serde::Deserialize;
    use std::vec;
    use std::vec::Vec;

    use super::*;

    #[derive(Deserialize)]
    struct Primitives {
        sm3: Vec<Case>,
        pseudohash: Vec<Case>,
        pseudoxof: Vec<Case>,
    }

    #[derive(Deserialize)]
    struct Case {
        msg: Hex,
        out: Hex,
    }

    #[test]
    fn primitives() {
        let Primitives {
            sm3,
            pseudohash,
            pseudoxof,
        } = serde_json::from_str(include_str!("../../../tests/vectors/primitives.json")).expect("vector file parses");
        assert!(!sm3.is_empty() && !pseudohash.is_empty() && !pseudoxof.is_empty());
        for Case { msg, out } in sm3.iter().chain(&pseudohash) {
            let mut ours = vec![0; out.len()];
            Iccs::digest(&[msg], &mut ours);
            assert_eq!(ours, out[..]);
            // The same in two parts.
            let (head, tail) = msg.split_at(msg.len() / 2);
            Iccs::digest(&[head, tail], &mut ours);
            assert_eq!(ours, out[..]);
        }
        for Case { msg, out } in &pseudoxof {
            let mut ours = vec![0; out.len()];
            let mut reader = Iccs::xof(&[msg]);
            ours.chunks_mut(7).for_each(|piece| reader.read(piece));
            assert_eq!(ours, out[..]);
        }
    }

    #[test]
    fn mac_key() {
        assert_eq!(MAC_KEY[..32], sm3(&[b"3.14159265358979"]));
        assert_eq!(MAC_KEY[32..], sm3(&[b"2.71828182845904"]));
    }
}
