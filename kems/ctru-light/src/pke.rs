//! The public-key encryption below the KEM (specification section 6).

use kem_core::NotInvertible;
use kem_core::ct::{CtSink, declassify};
use kem_core::hash::XofReader;
use subtle::Choice;

use crate::backends::{Arith, encoding};
use crate::e8;
use crate::encoding::{COINS_LEN, EK_LEN, F_LEN};
use crate::ring::{Poly, Q};

/// Makes f and h = g / f from 256 bytes of `coins`. On failure the outputs hold nothing that is fit for use.
#[inline(never)]
pub(crate) fn keygen(
    arith: impl Arith,
    mut coins: impl XofReader,
    f_bytes: &mut [u8; F_LEN],
    ek: &mut [u8; EK_LEN],
) -> Result<(), NotInvertible> {
    // The coins wait where h will be: no sponge lives beside the polynomials.
    coins.read(&mut ek[..2 * COINS_LEN]);
    drop(coins);
    divide(arith, f_bytes, ek)
}

/// From coins in the first bytes of `ek` to f and, over them, h.
#[inline(never)]
fn divide(arith: impl Arith, f_bytes: &mut [u8; F_LEN], ek: &mut [u8; EK_LEN]) -> Result<(), NotInvertible> {
    let mut f = Poly::zeroed();
    let mut h = Poly::zeroed();
    if let [f_coins, g_coins, ..] = ek.as_chunks().0 {
        f.sample_b1(f_coins);
        h.sample_b1(g_coins);
    }
    // f = 2 f' + 1.
    f.0.iter_mut().for_each(|c| *c *= 2);
    f.0[0] += 1;
    f.pack_f(f_bytes);
    arith.ntt(&mut f);
    let invertible = arith.baseinv(&mut f);
    arith.ntt(&mut h);
    arith.basemul(&mut h, &f);
    arith.invntt(&mut h);
    h.pack_h(ek);
    // That an attempt failed is public: the next one starts from fresh coins.
    if declassify(invertible) {
        Ok(())
    } else {
        Err(NotInvertible)
    }
}

/// Encrypts `m` with the B1 coefficients in `r`, which is overwritten.
#[inline(never)]
pub(crate) fn encrypt(arith: impl Arith, ek: &[u8; EK_LEN], m: &[u8; 32], r: &mut Poly, sink: &mut impl CtSink) {
    let mut h = Poly::zeroed();
    h.unpack_h(ek);
    arith.multiply(r, &mut h);
    for (octet, nibble) in r.0.as_chunks::<8>().0.iter().zip(nibbles(m)) {
        let mut bytes = [0; 8];
        encoding::compress(&mut bytes, octet, e8::encode(nibble));
        sink.put_all(&bytes);
    }
}

/// Whether `f` has valid codes and `ek`, which is canonical, is g / f for a ternary g.
pub(crate) fn belong_together(arith: impl Arith, f_bytes: &[u8; F_LEN], ek: &[u8; EK_LEN]) -> Choice {
    let mut f = Poly::zeroed();
    let mut h = Poly::zeroed();
    let valid = f.unpack_f(f_bytes);
    h.unpack_h(ek);
    arith.multiply(&mut h, &mut f);
    // Canonical 0, 1 and -1 are those of 0..Q that come below 3 after adding 1 modulo Q.
    let ternary = h.0.iter().fold(Choice::from(1), |all, &c| {
        let shifted = c + 1 - (Q & ((Q - 2 - c) >> 15));
        all & Choice::from(((shifted - 3) >> 15) as u8 & 1)
    });
    valid & ternary
}

/// The message in units of the code, lower half of a byte first.
fn nibbles(m: &[u8; 32]) -> impl Iterator<Item = u8> {
    m.iter().flat_map(|byte| [byte & 15, byte >> 4])
}

#[cfg(test)]
mod tests {
    use kem_core::ct::Emit;

    use super::*;
    use crate::backends::Native;
    use crate::components::{self, Coins, Draw};
    use crate::encoding::CT_LEN;
    use crate::reference;

    #[test]
    fn pke_vector() {
        let vector = components::load().pke;
        let (mut f, mut ek, mut ct, mut m) = ([0; F_LEN], [0; EK_LEN], [0; CT_LEN], [0; 32]);
        keygen(Native, Coins(&vector.coins), &mut f, &mut ek).expect("invertible");
        assert_eq!(ek[..], vector.pk[..]);
        assert_eq!(f[..], vector.sk_f[..]);
        assert!(bool::from(belong_together(Native, &f, &ek)));

        let mut r = Poly::ZERO;
        r.sample_b1(vector.enc_coins[..].try_into().unwrap());
        let message = vector.m[..].try_into().unwrap();
        encrypt(Native, &ek, message, &mut r, &mut Emit::new(&mut ct));
        assert_eq!(ct[..], vector.ct[..]);

        Native.decrypt(&f, &ct, &mut m);
        assert_eq!(m[..], vector.m[..]);
    }

    #[test]
    fn coins_of_a_non_invertible_f_are_refused() {
        let coins = components::load().noninvertible.coins;
        let (mut f, mut ek) = ([0; F_LEN], [0; EK_LEN]);
        assert_eq!(keygen(Native, Coins(&coins), &mut f, &mut ek), Err(NotInvertible));
        // The smallest cure makes a key.
        let mut cured = coins.to_vec();
        cured[0] ^= 1;
        assert_eq!(keygen(Native, Coins(&cured), &mut f, &mut ek), Ok(()));
    }

    #[test]
    fn compression_is_the_specified_division() {
        for sigma in 0..Q {
            let t = (256 * u32::from(sigma as u16) + 384) / 769;
            let mut bytes = [0; 8];
            encoding::compress(&mut bytes, &[sigma; 8], 0b1010_0101);
            let flipped = t as u8 ^ 0x80;
            let plain = t as u8;
            let expected = [flipped, plain, flipped, plain, plain, flipped, plain, flipped];
            assert_eq!(bytes, expected, "{sigma}");
        }
        for vector in components::load().compress {
            let mut bytes = [0; 8];
            encoding::compress(&mut bytes, &[vector.sigma; 8], 0);
            assert_eq!(bytes, [vector.t as u8; 8]);
        }
    }

    /// Every string of 512 bytes decrypts to some message, the same one as by the specification.
    #[test]
    fn decryption_is_total() {
        let f: [u8; F_LEN] = components::load().pke.sk_f[..].try_into().unwrap();
        let mut draw = Draw(1);
        let mut random = [0; CT_LEN];
        random.fill_with(|| draw.below(256) as u8);
        for ct in [[0; CT_LEN], [0xff; CT_LEN], [0x80; CT_LEN], [0x40; CT_LEN], random] {
            let mut m = [0; 32];
            Native.decrypt(&f, &ct, &mut m);
            assert_eq!(m[..], reference::decrypt(&f, &ct));
        }
    }

    /// g = h f stays ternary only while neither half of the key changes.
    #[test]
    fn a_damaged_key_does_not_belong_together() {
        let vector = components::load().pke;
        let (f, ek): ([u8; F_LEN], [u8; EK_LEN]) =
            (vector.sk_f[..].try_into().unwrap(), vector.pk[..].try_into().unwrap());
        for at in [0, 100, F_LEN - 1] {
            for bit in 0..8 {
                let mut f = f;
                f[at] ^= 1 << bit;
                assert!(
                    !bool::from(belong_together(Native, &f, &ek)),
                    "bit {bit} of byte {at} of f"
                );
            }
        }
        for at in [0, 33, EK_LEN - 1] {
            for bit in 0..8 {
                let mut ek = ek;
                ek[at] ^= 1 << bit;
                assert!(
                    !bool::from(belong_together(Native, &f, &ek)),
                    "bit {bit} of byte {at} of ek"
                );
            }
        }
    }
}
