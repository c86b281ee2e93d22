//! Against PQClean's portable C implementation, which draws from the system's generator.

use ::saber::{FireSaber, LightSaber, Saber};
use kem_core::{Bytes, Ek, Kem, SharedSecret};
use pqcrypto_traits::kem::{Ciphertext as _, PublicKey as _, SecretKey as _, SharedSecret as _};
use proptest::prelude::*;

macro_rules! against {
    ($set:ident, $kem:ident) => {
        mod $set {
            use pqcrypto_saber::$set::{Ciphertext, PublicKey, SecretKey, decapsulate, encapsulate, keypair};

            use super::*;

            proptest! {
                #![proptest_config(ProptestConfig::with_cases(48))]

                /// Our key, their ciphertext, and the other way round.
                #[test]
                fn both_sides_agree(coins in bytes::<96>(), m in bytes::<32>()) {
                    let (ek, dk) = ours(&coins);
                    let (theirs, ct) = encapsulate(&PublicKey::from_bytes(&ek).unwrap());
                    prop_assert_eq!(&decaps(&dk, ct.as_bytes()), theirs.as_bytes());

                    let (ek, dk) = keypair();
                    let (ct, ss) = encaps(&m, ek.as_bytes());
                    let theirs = decapsulate(&Ciphertext::from_bytes(&ct).unwrap(), &dk);
                    prop_assert_eq!(&ss, theirs.as_bytes());
                    prop_assert!($kem::check_dk(<[u8; $kem::DK_LEN]>::from_slice(dk.as_bytes()).unwrap()).is_ok());
                }

                /// Forged ciphertexts, and keys whose public part, hash or z was changed, give the same secrets.
                #[test]
                fn both_sides_reject_alike(
                    coins in bytes::<96>(),
                    m in bytes::<32>(),
                    ct_at in 0..$kem::CT_LEN,
                    dk_at in $kem::DK_LEN - $kem::EK_LEN - 64..$kem::DK_LEN,
                    mask in 1u8..,
                ) {
                    let (ek, mut dk) = ours(&coins);
                    let (mut ct, _) = encaps(&m, &ek);
                    ct[ct_at] ^= mask;
                    prop_assert_eq!(decaps(&dk, &ct), their_decaps(&dk, &ct));
                    ct[ct_at] ^= mask;
                    dk[dk_at] ^= mask;
                    prop_assert_eq!(decaps(&dk, &ct), their_decaps(&dk, &ct));
                }

                /// Bytes that no key generation made.
                #[test]
                fn any_bytes_are_a_key_and_a_ciphertext(coins in bytes::<96>(), seed in bytes::<32>()) {
                    let (_, dk) = ours(&coins);
                    let (mut ek, mut ct) = ([0; $kem::EK_LEN], [0; $kem::CT_LEN]);
                    kem_core::hash::Shake128::digest(&[&seed], &mut ek);
                    kem_core::hash::Shake128::digest(&[&seed, &[1]], &mut ct);
                    prop_assert_eq!(decaps(&dk, &ct), their_decaps(&dk, &ct));

                    // A key without its secret: the dk holds that ek, so that decapsulation re-encrypts to it.
                    let mut dk = dk;
                    let at = $kem::DK_LEN - $kem::EK_LEN - 64;
                    dk[at..][..$kem::EK_LEN].copy_from_slice(&ek);
                    prop_assert_eq!(decaps(&dk, &ct), their_decaps(&dk, &ct));
                }
            }

            fn ours(coins: &[u8; 96]) -> ([u8; $kem::EK_LEN], [u8; $kem::DK_LEN]) {
                let (mut ek, mut dk) = ([0; $kem::EK_LEN], [0; $kem::DK_LEN]);
                $kem::keygen_from(coins, &mut ek, &mut dk).expect("never fails");
                (ek, dk)
            }

            fn encaps(m: &[u8; 32], ek: &[u8]) -> ([u8; $kem::CT_LEN], [u8; 32]) {
                let (mut ct, mut ss) = ([0; $kem::CT_LEN], SharedSecret::zeroed());
                $kem::encaps_from(m, &Ek::parse(ek).expect("right length"), &mut ct, &mut ss);
                (ct, *ss.expose())
            }

            fn decaps(dk: &[u8; $kem::DK_LEN], ct: &[u8]) -> [u8; 32] {
                let mut ss = SharedSecret::zeroed();
                let Ok(()) = $kem::decaps(dk, Bytes::from_slice(ct).expect("right length"), &mut ss);
                *ss.expose()
            }

            fn their_decaps(dk: &[u8], ct: &[u8]) -> [u8; 32] {
                let ss = decapsulate(
                    &Ciphertext::from_bytes(ct).unwrap(),
                    &SecretKey::from_bytes(dk).unwrap(),
                );
                ss.as_bytes().try_into().unwrap()
            }
        }
    };
}

against!(lightsaber, LightSaber);
against!(saber, Saber);
against!(firesaber, FireSaber);

fn bytes<const N: usize>() -> impl Strategy<Value = [u8; N]> {
    prop::collection::vec(any::<u8>(), N).prop_map(|bytes| bytes.try_into().expect("N bytes"))
}
