//! The target's routines against the portable ones, for test firmware, which is where both can run.

use kem_core::ct::Emit;
use kem_core::hash::XofReader;
use kem_core::sample;

use super::{Arith, NATIVE, decode, portable::Portable};
use crate::params::Rank2;
use crate::poly::{self, N, Poly, Q_LEN};

/// Whether sums of up to four products agree, twice in a row. In: each (a, s) with a in -2^12..2^12 and s in -8..8 (8 too,
/// but on AVR).
pub fn sums_agree(terms: &[([i16; N], [i16; N])]) -> bool {
    let (mut ours, mut theirs) = (sums(NATIVE, terms), sums(Portable, terms));
    // `finish` has to leave an empty sum.
    (0..2).all(|_| ours() == theirs())
}

/// Whether packed coefficients come out the same.
pub fn decoders_agree(bytes: &[u8; 416]) -> bool {
    let mut outs = [[0; N]; 6];
    let [ours, theirs, ours10, theirs10, our_secret, their_secret] = &mut outs;
    super::decode_centred::<13>(bytes, ours);
    decode::decode_centred::<13>(bytes, theirs);
    super::decode_centred::<10>(&bytes[1..], ours10);
    decode::decode_centred::<10>(&bytes[1..], theirs10);
    super::decode_secret(bytes, our_secret);
    decode::decode_secret(bytes, their_secret);
    ours == theirs && ours10 == theirs10 && our_secret == their_secret
}

/// Whether LightSaber's secrets come out the same, drawn from a stream that repeats `bytes`.
pub fn samples_agree(bytes: &[u8; 416]) -> bool {
    let (mut ours, mut theirs) = ([0x5555; N], [0x2aaa; N]);
    super::cbd::<5>(&mut Repeat(bytes, 0), &mut ours);
    sample::cbd::<5>(&mut Repeat(bytes, 0), &mut theirs);
    ours == theirs
}

/// Whether bytes from coefficients agree, with LightSaber's widths. In: of the coefficients all 16 bits, or on either side of
/// where c_m or a bit of the message changes.
pub fn encoders_agree(bytes: &[u8; 416], mut draw: impl FnMut() -> u8) -> bool {
    let mut p = [0; N];
    p.fill_with(|| {
        let any = i16::from_le_bytes([draw(), draw()]);
        let below = i16::from(draw() & 1);
        match draw() & 3 {
            0 => (any << 7).wrapping_sub(4 + below),
            1 => (any << 7).wrapping_sub(196 + below),
            _ => any,
        }
    });
    let (mut ours, mut theirs) = ([0x55; Q_LEN], [0x55; Q_LEN]);
    super::encode_q(&p, &mut Emit::new(&mut ours));
    poly::encode_q(&p, &mut Emit::new(&mut theirs));
    let mut same = ours == theirs;
    super::encode_rounded(&p, &mut Emit::new(&mut ours));
    poly::encode_rounded(&p, &mut Emit::new(&mut theirs));
    same &= ours == theirs;
    if let (Some(m), Some(cm)) = (bytes.first_chunk(), bytes.last_chunk::<96>()) {
        super::encode_message::<Rank2>(&p, m, &mut Emit::new(&mut ours));
        poly::encode_message::<Rank2>(&p, m, &mut Emit::new(&mut theirs));
        same &= ours == theirs;
        super::decode_message::<Rank2>(&p, cm, &mut Emit::new(&mut ours[..32]));
        poly::decode_message::<Rank2>(&p, cm, &mut Emit::new(&mut theirs[..32]));
    }
    same & (ours == theirs)
}

/// One product, for a cycle counter.
pub fn product(a: &[i16; N], s: &mut [i16; N]) {
    *s = sums(NATIVE, &[(*a, *s)])();
}

fn sums<M: Arith>(arith: M, terms: &[(Poly, Poly)]) -> impl FnMut() -> Poly {
    let (mut sum, mut hat) = (M::SUM, M::SECRET);
    move || {
        let mut out = [0; N];
        for (a, s) in terms {
            arith.secret(s, &mut hat);
            arith.mul_acc(&mut sum, a, &hat);
        }
        arith.finish(&mut sum, &mut out);
        out
    }
}

/// The same bytes over and over.
struct Repeat<'a>(&'a [u8; Q_LEN], usize);

impl XofReader for Repeat<'_> {
    fn read(&mut self, out: &mut [u8]) {
        for byte in out {
            *byte = self.0[self.1];
            self.1 = (self.1 + 1) % Q_LEN;
        }
    }
}
