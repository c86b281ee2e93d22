//! Against PQClean's portable C implementation, which draws from the system's generator.

use kem_core::hash::{Shake128, Shake256};
use kem_core::{Bytes, Ek, Kem, SharedSecret};
use ntru::{NtruHps2048509, NtruHps2048677, NtruHps4096821, NtruHrss701};
use pqcrypto_traits::kem::{Ciphertext as _, PublicKey as _, SecretKey as _, SharedSecret as _};
use proptest::prelude::*;

macro_rules! against {
    ($set:ident, $kem:ident) => {
        mod $set {
            use pqcrypto_ntru::$set::{Ciphertext, PublicKey, SecretKey, decapsulate, encapsulate, keypair};

            use super::*;

            proptest! {
                #![proptest_config(ProptestConfig::with_cases(24))]

                /// Our key, their ciphertext, and the other way round.
                #[test]
                fn both_sides_agree(seed in any::<[u8; 32]>()) {
                    let (ek, dk) = ours(&seed);
                    let (theirs, ct) = encapsulate(&PublicKey::from_bytes(&ek).unwrap());
                    prop_assert_eq!(&decaps(&dk, ct.as_bytes()), theirs.as_bytes());

                    let (ek, dk) = keypair();
                    let (ct, ss) = encaps(&seed, ek.as_bytes());
                    let theirs = decapsulate(&Ciphertext::from_bytes(&ct).unwrap(), &dk);
                    prop_assert_eq!(&ss, theirs.as_bytes());
                    prop_assert!($kem::check_dk(<[u8; $kem::DK_LEN]>::from_slice(dk.as_bytes()).unwrap()).is_ok());
                }

                /// Forged ciphertexts, and keys of which any part was changed, give the same secrets.
                #[test]
                fn both_sides_reject_alike(
                    seed in any::<[u8; 32]>(),
                    ct_at in 0..$kem::CT_LEN,
                    dk_at in 0..$kem::DK_LEN,
                    mask in 1u8..,
                ) {
                    let (ek, mut dk) = ours(&seed);
                    let (mut ct, _) = encaps(&seed, &ek);
                    ct[ct_at] ^= mask;
                    prop_assert_eq!(decaps(&dk, &ct), their_decaps(&dk, &ct));
                    ct[ct_at] ^= mask;
                    dk[dk_at] ^= mask;
                    prop_assert_eq!(decaps(&dk, &ct), their_decaps(&dk, &ct));
                }

                /// Bytes that no encapsulation made.
                #[test]
                fn any_bytes_are_a_ciphertext(seed in any::<[u8; 32]>()) {
                    let (_, dk) = ours(&seed);
                    let mut ct = [0; $kem::CT_LEN];
                    Shake128::digest(&[&seed], &mut ct);
                    prop_assert_eq!(decaps(&dk, &ct), their_decaps(&dk, &ct));
                }
            }

            fn ours(seed: &[u8; 32]) -> ([u8; $kem::EK_LEN], [u8; $kem::DK_LEN]) {
                let (mut ek, mut dk) = ([0; $kem::EK_LEN], [0; $kem::DK_LEN]);
                let mut coins = <$kem as Kem>::KeygenCoins::ZERO;
                Shake256::digest(&[seed, b"keygen"], &mut coins);
                $kem::keygen_from(&coins, &mut ek, &mut dk).expect("never fails");
                (ek, dk)
            }

            fn encaps(seed: &[u8; 32], ek: &[u8]) -> ([u8; $kem::CT_LEN], [u8; 32]) {
                let (mut ct, mut ss) = ([0; $kem::CT_LEN], SharedSecret::zeroed());
                let mut coins = <$kem as Kem>::EncapsCoins::ZERO;
                Shake256::digest(&[seed, b"encaps"], &mut coins);
                $kem::encaps_from(&coins, &Ek::parse(ek).expect("right length"), &mut ct, &mut ss);
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

against!(ntruhps2048509, NtruHps2048509);
against!(ntruhps2048677, NtruHps2048677);
against!(ntruhps4096821, NtruHps4096821);
against!(ntruhrss701, NtruHrss701);
