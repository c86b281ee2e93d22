//! The target's arithmetic against the portable one: for test firmware, which is where both can run. `draw` gives the input.

use subtle::Choice;

use crate::backends::portable::Portable;
use crate::backends::{Arith, Native, bytes as native_bytes, encoding as native_encoding};
use crate::encoding::{CT_LEN, F_LEN, portable as portable_encoding};
use crate::product::bytes as portable_bytes;
use crate::ring::{N, Poly};

/// Whether products and quotients of polynomials with coefficients in -769..=1024 agree.
pub fn ring_agrees(mut draw: impl FnMut() -> i16) -> bool {
    let mut fill = |p: &mut Poly| p.0.fill_with(|| draw().clamp(-769, 1024));
    let (mut a, mut b) = (Poly::ZERO, Poly::ZERO);
    fill(&mut a);
    fill(&mut b);
    let product = result(Portable, &a, &b, false) == result(Native, &a, &b, false);
    product && result(Portable, &a, &b, true) == result(Native, &a, &b, true)
}

/// Two polynomials for a program that measures: each operation's result is the next one's operand.
pub struct Operands {
    a: Poly,
    b: Poly,
}

impl Operands {
    /// Coefficients from `draw`, clamped to -769..=1024.
    pub fn new(mut draw: impl FnMut() -> i16) -> Self {
        let mut fill = || Poly(core::array::from_fn(|_| draw().clamp(-769, 1024)));
        Self { a: fill(), b: fill() }
    }

    /// The NTT of one of them.
    pub fn ntt(&mut self) {
        Native.ntt(&mut self.a);
    }

    /// The NTT of the other one.
    pub fn ntt_other(&mut self) {
        Native.ntt(&mut self.b);
    }

    /// The inverse of the other one in the ring, if there is one.
    pub fn invert_other(&mut self) -> Choice {
        Native.baseinv(&mut self.b)
    }

    /// The product of the two.
    pub fn multiply(&mut self) {
        Native.basemul(&mut self.a, &self.b);
    }

    /// The inverse NTT of that.
    pub fn inverse_ntt(&mut self) {
        Native.invntt(&mut self.a);
    }
}

/// A checksum over a * b, or over a / b; 0 if there is no such quotient.
fn result(arith: impl Arith, a: &Poly, b: &Poly, divide: bool) -> u32 {
    let (mut r, mut s) = (Poly(a.0), Poly(b.0));
    if divide {
        arith.ntt(&mut r);
        arith.ntt(&mut s);
        if !bool::from(arith.baseinv(&mut s)) {
            return 0;
        }
        arith.basemul(&mut r, &s);
        arith.invntt(&mut r);
    } else {
        arith.multiply(&mut r, &mut s);
    }
    r.0.iter().fold(1, |sum: u32, &c| {
        sum.wrapping_mul(0x0100_0193) ^ u32::from(c.cast_unsigned())
    })
}

/// Whether `ct` decrypts to the same message.
pub fn decryption_agrees(f: &[u8; F_LEN], ct: &[u8; CT_LEN]) -> bool {
    let (mut ours, mut theirs) = ([0; 32], [0; 32]);
    Native.decrypt(f, ct, &mut ours);
    Portable.decrypt(f, ct, &mut theirs);
    ours == theirs
}

/// Whether packing, unpacking, sampling and compression agree.
pub fn conversions_agree(mut draw: impl FnMut() -> u8) -> bool {
    let (mut ours, mut theirs) = ([0x55; N], [0x55; N]);
    let mut bytes = [0; 640];
    bytes.fill_with(&mut draw);
    native_encoding::unpack_h(&mut ours, &bytes);
    portable_encoding::unpack_h(&mut theirs, &bytes);
    let mut same = ours == theirs;
    let mut packed = [0; 640];
    native_encoding::pack_h(&mut packed, &theirs);
    same &= packed == bytes;
    for (&coins, word) in bytes.as_chunks().0.iter().zip(0..) {
        native_encoding::sample(&mut ours, &coins);
        portable_encoding::sample(&mut theirs, &coins);
        same &= ours == theirs;
        let (mut f, mut expected) = ([0; 192], [0; 192]);
        native_encoding::pack_f(&mut f, &ours);
        portable_encoding::pack_f(&mut expected, &ours);
        same &= f == expected;
        let half = |draw: u8| i16::from(draw) * 3;
        theirs.iter_mut().zip(bytes).for_each(|(c, byte)| *c = half(byte));
        for sigma in theirs.as_chunks().0 {
            let (mut c, mut expected) = ([0; 8], [0; 8]);
            native_encoding::compress(&mut c, sigma, word ^ bytes[0]);
            portable_encoding::compress(&mut expected, sigma, word ^ bytes[0]);
            same &= c == expected;
        }
    }
    if let [f, ..] = bytes.as_chunks().0 {
        let (mut ours, mut theirs) = ([0; N / 2], [0; N / 2]);
        native_encoding::unpack_f_prime(&mut ours, f);
        portable_encoding::unpack_f_prime(&mut theirs, f);
        same &= ours == theirs;
    }
    same
}

/// Whether the arithmetic of byte polynomials agrees.
pub fn bytes_agree(mut draw: impl FnMut() -> u8) -> bool {
    let (mut v, mut p, mut ct) = ([0; N], [0; N], [0; N]);
    for array in [&mut v, &mut p, &mut ct] {
        array.fill_with(&mut draw);
    }
    let (mut ours, mut theirs) = ([0x55; 32], [0xaa; 32]);
    native_bytes::decode_message(&mut ours, &v);
    portable_bytes::decode_message(&mut theirs, &v);
    let decoded = ours == theirs;
    let mut w = v;
    native_bytes::fold_high(&mut v, &p);
    portable_bytes::fold_high(&mut w, &p);
    native_bytes::fold_both(&mut v, &p, &ct);
    portable_bytes::fold_both(&mut w, &p, &ct);
    let mut same = decoded && v == w;
    native_bytes::fold_low(&mut v, &p);
    portable_bytes::fold_low(&mut w, &p);
    same &= v == w;
    for n in [64, 128, 256] {
        let (mut ours, mut theirs) = (v, v);
        let (mut middle, mut same_middle) = (p, p);
        native_bytes::join(&mut ours[..2 * n], &mut middle[..n]);
        portable_bytes::join(&mut theirs[..2 * n], &mut same_middle[..n]);
        same &= ours == theirs;
        native_bytes::sum(&mut ours[..n / 2], &v[..n / 2], &ct[..n / 2]);
        portable_bytes::sum(&mut theirs[..n / 2], &v[..n / 2], &ct[..n / 2]);
        same &= ours == theirs;
    }
    for (a, b) in v.as_chunks().0.iter().zip(ct.as_chunks().0) {
        let (mut ours, mut theirs) = ([0x55; 64], [0x55; 64]);
        native_bytes::product(&mut ours, a, b);
        portable_bytes::product(&mut theirs, a, b);
        same &= ours == theirs;
    }
    same
}

#[cfg(test)]
mod tests {
    use crate::components::Draw;

    #[test]
    fn on_this_target() {
        let mut draw = Draw(1);
        assert!(super::ring_agrees(|| draw.below(1794) as i16 - 769));
        assert!(super::conversions_agree(|| draw.below(256) as u8));
        assert!(super::bytes_agree(|| draw.below(256) as u8));
    }
}
