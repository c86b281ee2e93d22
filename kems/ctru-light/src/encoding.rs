//! Bytes of keys and coins (specification sections 2 and 5).

#[cfg_attr(target_arch = "avr", allow(dead_code))]
pub(crate) mod portable;

use kem_core::pack::unpack;
use subtle::Choice;

use crate::backends::encoding;
use crate::ring::{N, Poly, Q};

/// Length of an encapsulation key in bytes: 10 bits per coefficient of h.
pub(crate) const EK_LEN: usize = N * 10 / 8;
/// Length of f in bytes: 3 bits per coefficient.
pub(crate) const F_LEN: usize = N * 3 / 8;
/// Coins for one polynomial of the law B1 in bytes: two bits per coefficient.
pub(crate) const COINS_LEN: usize = N * 2 / 8;
/// Length of a ciphertext in bytes: one per coefficient.
pub(crate) const CT_LEN: usize = N;

/// Whether every coefficient is below q.
pub(crate) fn ek_is_canonical(ek: &[u8; EK_LEN]) -> bool {
    // Four of ten bits in five bytes, word by word: `unpack` takes ten times as long on eight bits.
    ek.as_chunks::<5>().0.iter().all(|&[a, b, c, d, e]| {
        let words = [[a, b & 0x03], [b, c], [c, d], [d, e]].map(u16::from_le_bytes);
        let [w0, w1, w2, w3] = words;
        w0 < Q as u16 && w1 >> 2 & 0x3ff < Q as u16 && w2 >> 4 & 0x3ff < Q as u16 && w3 >> 6 < Q as u16
    })
}

/// The coefficients of f' = (f - 1) / 2, all or those of some octets: -1, 0 and 1 from valid codes, -2..=1 from any.
pub(crate) fn f_prime(f: &[u8]) -> impl Iterator<Item = i16> {
    // The code is 3 - f_k. Rounding down takes away the 1 in f_0, too.
    unpack::<3>(f).map(|code| (3 - code as i16) >> 1)
}

impl Poly {
    /// Coefficients of the law B1.
    pub(crate) fn sample_b1(&mut self, coins: &[u8; COINS_LEN]) {
        encoding::sample(&mut self.0, coins);
    }

    /// Packs h. In: canonical.
    pub(crate) fn pack_h(&self, ek: &mut [u8; EK_LEN]) {
        encoding::pack_h(ek, &self.0);
    }

    /// Unpacks h: 0..1024, canonical if the key passed its check.
    pub(crate) fn unpack_h(&mut self, ek: &[u8; EK_LEN]) {
        encoding::unpack_h(&mut self.0, ek);
    }

    /// Packs f = 2 f' + 1.
    pub(crate) fn pack_f(&self, f: &mut [u8; F_LEN]) {
        encoding::pack_f(f, &self.0);
    }

    /// Unpacks f. 1 if every code is one that `pack_f` writes; |c| <= 4 in any case.
    pub(crate) fn unpack_f(&mut self, f: &[u8; F_LEN]) -> Choice {
        let mut invalid = 0;
        let mut one = 1;
        for (c, code) in self.0.iter_mut().zip(unpack::<3>(f)) {
            *c = 3 - code as i16;
            // f_0 is odd and the others are even; |f'| <= 1.
            let double = *c - one;
            invalid |= (double & 1) | ((2 - double) >> 15) | ((2 + double) >> 15);
            one = 0;
        }
        !Choice::from((invalid & 1) as u8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::components::{self, Draw, wide};
    use crate::reference;

    #[test]
    fn sampling_vector() {
        let vector = components::load().sample_b1;
        let mut p = Poly::ZERO;
        p.sample_b1(vector.buf[..].try_into().unwrap());
        assert_eq!(p.0[..], vector.coeffs);
        assert_eq!(wide(&p.0), reference::sample_b1(&vector.buf));
    }

    #[test]
    fn key_vectors_pack_and_unpack() {
        let vector = components::load().pke;
        let ek: [u8; EK_LEN] = vector.pk[..].try_into().unwrap();
        let f_bytes: [u8; F_LEN] = vector.sk_f[..].try_into().unwrap();
        let mut p = Poly::ZERO;
        p.unpack_h(&ek);
        assert_eq!(p.0[..], vector.h);
        let mut packed = [0xaa; EK_LEN];
        p.pack_h(&mut packed);
        assert_eq!(packed, ek);

        assert!(bool::from(p.unpack_f(&f_bytes)));
        assert_eq!(p.0[..], vector.f);
        let mut packed = [0xaa; F_LEN];
        p.pack_f(&mut packed);
        assert_eq!(packed, f_bytes);
        assert!(
            f_prime(&f_bytes)
                .zip(vector.f)
                .enumerate()
                .all(|(k, (half, f))| f == 2 * half + i16::from(k == 0))
        );
    }

    #[test]
    fn a_key_is_canonical_below_q_only() {
        let vector = components::load().pke;
        for k in 0..N {
            for (value, canonical) in [(0, true), (768, true), (769, false), (1023, false)] {
                let mut h = Poly::ZERO;
                h.0.copy_from_slice(&vector.h);
                h.0[k] = value;
                let mut ek = [0; EK_LEN];
                h.pack_h(&mut ek);
                assert_eq!(ek_is_canonical(&ek), canonical, "{value} at {k}");
            }
        }
    }

    #[test]
    fn valid_codes_of_f() {
        let mut draw = Draw(1);
        for k in 0..N {
            for code in 0..8 {
                let mut f = Poly::ZERO;
                f.0.fill_with(|| [2, 0, -2][draw.below(3) as usize]);
                f.0[0] = [3, 1, -1][draw.below(3) as usize];
                f.0[k] = 3 - code;
                let mut bytes = [0; F_LEN];
                f.pack_f(&mut bytes);
                let valid = if k == 0 {
                    [0, 2, 4].contains(&code)
                } else {
                    [1, 3, 5].contains(&code)
                };
                let mut back = Poly::ZERO;
                assert_eq!(bool::from(back.unpack_f(&bytes)), valid, "code {code} at {k}");
                assert_eq!(wide(&back.0), reference::unpack_f(&bytes));
                assert!(f_prime(&bytes).all(|c| (-2..=1).contains(&c)));
            }
        }
    }
}
