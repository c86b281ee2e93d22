//! Transforms against their definition: block j of the output is the input modulo x^L - psi^(2 brv(j) + 1).

use kem_core::modular::Zq;
use kem_core::ntt::{forward, inverse, scale, twiddles};
use proptest::prelude::*;

fn brv(i: usize, bits: u32) -> u32 {
    (i as u32).reverse_bits() >> (32 - bits)
}

fn power(base: i64, exponent: u32, q: i64) -> i64 {
    (0..exponent).fold(1, |product, _| product * base % q)
}

/// One incomplete transform: N coefficients, blocks of L, G = N / L twiddles.
struct Ntt<const Q: i16, const N: usize, const L: usize, const G: usize> {
    psi: i16,
}

impl<const Q: i16, const N: usize, const L: usize, const G: usize> Ntt<Q, N, L, G> {
    fn table(&self) -> [i16; G] {
        twiddles::<Q, G>(self.psi)
    }

    fn by_definition(&self, p: &[i16]) -> Vec<i64> {
        let q = i64::from(Q);
        (0..G)
            .flat_map(|block| {
                let z = power(self.psi.into(), 2 * brv(block, G.ilog2()) + 1, q);
                (0..L).map(move |i| {
                    (0..G)
                        .rev()
                        .fold(0, |sum, j| (sum * z + i64::from(p[j * L + i])).rem_euclid(q))
                })
            })
            .collect()
    }

    fn check(&self, p: &[i16]) {
        let table = self.table();
        let mut hat = p.to_vec();
        forward::<Q>(&mut hat, L, |k| table[k]);
        let limit = (i32::from(G.ilog2() as u16) + 1) * i32::from(Q);
        assert!(
            hat.iter().all(|&c| i32::from(c).abs() < limit),
            "bound of the forward transform"
        );
        let canonical: Vec<i64> = hat.iter().map(|&c| i64::from(c).rem_euclid(Q.into())).collect();
        assert_eq!(canonical, self.by_definition(p));

        let mut back: Vec<i16> = hat.iter().map(|&c| Zq::<Q>::barrett(c)).collect();
        self.back(&mut back);
        for (back, p) in back.iter().zip(p) {
            assert_eq!(Zq::<Q>::freeze(*back), Zq::<Q>::freeze(*p));
        }
    }

    fn back(&self, p: &mut [i16]) {
        let table = self.table();
        inverse::<Q>(p, L, |k| table[k]);
        assert!(
            p.iter().all(|c| c.abs() <= Q * Zq::<Q>::HEADROOM),
            "bound of the inverse transform"
        );
        // R / G, so that the Montgomery product divides by G.
        let unscale = Zq::<Q>::pow(Zq::<Q>::to_montgomery(G as i16), Q as u16 - 2);
        scale::<Q>(p, unscale);
        assert!(p.iter().all(|c| c.abs() < Q));
    }

    fn extremes(&self) {
        for value in [0, 1, Q - 1, 1 - Q] {
            self.check(&[value; N]);
        }
        let alternating: [i16; N] = core::array::from_fn(|i| if i % 2 == 0 { Q - 1 } else { 1 - Q });
        self.check(&alternating);
        for value in [Q - 1, 1 - Q] {
            self.back(&mut [value; N]);
        }
        self.back(&mut { alternating });
    }
}

const ML_KEM: Ntt<3329, 256, 2, 128> = Ntt { psi: 17 };
const CTRU_LIGHT: Ntt<769, 512, 8, 64> = Ntt { psi: 5 };

#[test]
fn extreme_inputs() {
    ML_KEM.extremes();
    CTRU_LIGHT.extremes();
}

/// FIPS 203 appendix A, first and last powers of 17; CTRU-Light z_0 = 5^brv6(32) = 5 and z_31 = 5^63 = -1/5.
#[test]
fn published_twiddles() {
    let table = ML_KEM.table().map(|z| Zq::<3329>::freeze(Zq::<3329>::mul(z, 1)));
    assert_eq!(table[..8], [1, 1729, 2580, 3289, 2642, 630, 1897, 848]);
    assert_eq!(table[120..], [1722, 1212, 1874, 1029, 2110, 2935, 885, 2154]);
    let table = CTRU_LIGHT.table().map(|z| Zq::<769>::freeze(Zq::<769>::mul(z, 1)));
    assert_eq!((table[0], table[32], i32::from(table[63]) * 5 % 769), (1, 5, 768));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn ml_kem_ring(p in prop::collection::vec(-3328i16..3329, 256)) {
        ML_KEM.check(&p);
    }

    #[test]
    fn ctru_light_ring(p in prop::collection::vec(-768i16..769, 512)) {
        CTRU_LIGHT.check(&p);
    }
}
