//! The product that decryption needs, v = ct * f modulo 256 and x^512 + 1, exact.
//!
//! With f = 2 f' + 1, ct * f = ct + 2 ct * f', so ct * f' is wanted modulo 128. Two ways lead there, one for processors with
//! 16-bit multiplication and one for those whose multiplier takes bytes. Codes of f that no key has give an arbitrary
//! product.

#[cfg_attr(target_arch = "avr", allow(dead_code))]
pub(crate) mod bytes;
mod karatsuba;
#[cfg_attr(target_arch = "avr", allow(dead_code))]
mod residues;

pub(crate) use karatsuba::decrypt as decrypt_by_karatsuba;
#[cfg_attr(target_arch = "avr", allow(unused_imports))]
pub(crate) use residues::decrypt as decrypt_by_residues;

#[cfg(test)]
mod tests {
    use core::array::from_fn;
    use std::vec::Vec;

    use super::{karatsuba, residues};
    use crate::backends::Native;
    use crate::components::{Draw, pack_f_prime};
    use crate::encoding::{CT_LEN, F_LEN};
    use crate::reference;
    use crate::ring::Poly;

    /// The extremes: with every coefficient of ct at -64 modulo 128 and no 0 in f', sums reach 32768.
    #[test]
    fn both_products_are_exact() {
        for ct in ciphertexts() {
            for f in keys() {
                let wide: Vec<i64> = ct.iter().map(|&c| c.into()).collect();
                let expected = reference::multiply(&wide, &reference::unpack_f(&f), 256);
                let mut v = Poly::ZERO;
                residues::multiply(Native, &ct, &f, &mut v);
                let by_residues: Vec<i64> = v.0.iter().map(|&v| i64::from(v).rem_euclid(256)).collect();
                assert_eq!(by_residues, expected);
                let mut v = [0xaa; CT_LEN];
                karatsuba::multiply(&ct, &f, &mut v);
                let by_karatsuba: Vec<i64> = v.iter().map(|&v| v.into()).collect();
                assert_eq!(by_karatsuba, expected);
            }
        }
    }

    /// Codes that no key has may give any product, but no panic.
    #[test]
    fn invalid_codes_do_no_harm() {
        for f in [[0; F_LEN], [0xff; F_LEN], [0x92; F_LEN]] {
            for ct in ciphertexts() {
                residues::multiply(Native, &ct, &f, &mut Poly([0; 512]));
                karatsuba::multiply(&ct, &f, &mut [0; CT_LEN]);
            }
        }
    }

    fn ciphertexts() -> [[u8; CT_LEN]; 7] {
        let mut draw = Draw(2);
        let random = from_fn(|_| draw.below(256) as u8);
        let extreme = from_fn(|_| if draw.below(2) == 0 { 0x40 } else { 0x3f });
        [
            random,
            extreme,
            [0x40; CT_LEN],
            [0xc0; CT_LEN],
            [0x3f; CT_LEN],
            [0xff; CT_LEN],
            [0; CT_LEN],
        ]
    }

    fn keys() -> [[u8; F_LEN]; 7] {
        let mut draw = Draw(3);
        [
            pack_f_prime(|_| 1),
            pack_f_prime(|_| -1),
            pack_f_prime(|k| if k % 2 == 0 { 1 } else { -1 }),
            pack_f_prime(|k| if k < 256 { 1 } else { -1 }),
            pack_f_prime(|_| 0),
            pack_f_prime(|_| draw.below(3) as i16 - 1),
            pack_f_prime(|_| 1 - 2 * draw.below(2) as i16),
        ]
    }
}
