//! Laws of every KEM, and agreement with independent implementations on random inputs.
//!
//! `ml-kem`, `fips203` and `libcrux` take their randomness as arguments, so every byte is compared. `pqcrypto-kyber` (the C
//! code of round 3) draws its own: there each side decapsulates what the other made, honest and damaged.

use kem_core::testkit::{KatDrbg, laws};
use kem_core::{Bytes, Ek, Kem, SharedSecret};
use proptest::prelude::*;

/// One key pair, one honest and one damaged ciphertext.
struct Run<K: Kem> {
    ek: K::EkBytes,
    dk: K::DkBytes,
    ct: K::CtBytes,
    ss: [u8; 32],
    bad_ct: K::CtBytes,
    bad_ss: [u8; 32],
}

impl<K: Kem<KeygenCoins = [u8; 64], EncapsCoins = [u8; 32], CtBytes: Clone>> Run<K> {
    fn new(keygen: &[u8; 64], encaps: &[u8; 32], at: usize, mask: u8) -> Self {
        let (mut ek, mut dk, mut ct) = (K::EkBytes::ZERO, K::DkBytes::ZERO, K::CtBytes::ZERO);
        let mut ss = SharedSecret::zeroed();
        K::keygen_from(keygen, &mut ek, &mut dk).expect("never fails");
        K::encaps_from(encaps, &Ek::parse(ek.as_ref()).expect("own key"), &mut ct, &mut ss);
        let ss = *ss.expose();
        assert_eq!(decaps::<K>(&dk, &ct), ss);
        let mut bad_ct = ct.clone();
        bad_ct.as_mut()[at % K::CT_LEN] ^= mask;
        let bad_ss = decaps::<K>(&dk, &bad_ct);
        Self {
            ek,
            dk,
            ct,
            ss,
            bad_ct,
            bad_ss,
        }
    }
}

fn decaps<K: Kem>(dk: &K::DkBytes, ct: &K::CtBytes) -> [u8; 32] {
    let mut ss = SharedSecret::zeroed();
    assert!(K::decaps(dk, ct, &mut ss).is_ok());
    *ss.expose()
}

macro_rules! ml_kem_agrees {
    ($run:ident, $set:ident, $keygen:ident, $encaps:ident) => {{
        use ml_kem::kem::{Decapsulate, KeyExport};
        use ml_kem::{DecapsulationKey, $set};
        let dk = DecapsulationKey::<$set>::from_seed($keygen.into());
        let ek = dk.encapsulation_key();
        assert_eq!(ek.to_bytes()[..], $run.ek);
        let (ct, ss) = ek.encapsulate_deterministic(&$encaps.into());
        assert_eq!((&ct[..], &ss[..]), (&$run.ct[..], &$run.ss[..]));
        assert_eq!(dk.decapsulate_slice(&$run.bad_ct).expect("length")[..], $run.bad_ss);
    }};
}

macro_rules! fips203_agrees {
    ($run:ident, $module:ident, $keygen:ident, $encaps:ident) => {{
        use fips203::traits::{Decaps, Encaps, KeyGen, SerDes};
        let (d, z) = $keygen.split_at(32);
        let (ek, dk) = fips203::$module::KG::keygen_from_seed(d.try_into().unwrap(), z.try_into().unwrap());
        let (ss, ct) = ek.encaps_from_seed(&$encaps);
        assert_eq!(ss.into_bytes(), $run.ss);
        assert_eq!(ct.into_bytes(), $run.ct);
        let bad_ct = fips203::$module::CipherText::try_from_bytes($run.bad_ct).expect("length");
        assert_eq!(
            dk.try_decaps(&bad_ct).expect("implicit rejection").into_bytes(),
            $run.bad_ss
        );
        assert_eq!((ek.into_bytes(), dk.into_bytes()), ($run.ek, $run.dk));
    }};
}

macro_rules! libcrux_agrees {
    ($run:ident, $module:ident, $keygen:ident, $encaps:ident) => {{
        use libcrux_ml_kem::$module as theirs;
        let keys = theirs::generate_key_pair($keygen);
        assert_eq!((*keys.pk(), *keys.sk()), ($run.ek, $run.dk));
        let (ct, ss) = theirs::encapsulate(keys.public_key(), $encaps);
        assert_eq!((ct.as_ref(), ss), (&$run.ct[..], $run.ss));
        assert_eq!(
            theirs::decapsulate(keys.private_key(), &$run.bad_ct.into()),
            $run.bad_ss
        );
    }};
}

macro_rules! fips_203 {
    ($($name:ident $set:ident $fips203:ident $libcrux:ident)*) => {
        proptest! {
            #![proptest_config(ProptestConfig::with_cases(24))]
            $(
                #[test]
                fn $name(keygen: [u8; 64], encaps: [u8; 32], at: usize, mask in 1u8..) {
                    let run = Run::<kyber::$set>::new(&keygen, &encaps, at, mask);
                    prop_assert_ne!(run.ss, run.bad_ss);
                    ml_kem_agrees!(run, $set, keygen, encaps);
                    fips203_agrees!(run, $fips203, keygen, encaps);
                    libcrux_agrees!(run, $libcrux, keygen, encaps);
                }
            )*
        }
    };
}

fips_203! {
    ml_kem_512_agrees MlKem512 ml_kem_512 mlkem512
    ml_kem_768_agrees MlKem768 ml_kem_768 mlkem768
    ml_kem_1024_agrees MlKem1024 ml_kem_1024 mlkem1024
}

macro_rules! round_3 {
    ($($name:ident $set:ident $module:ident)*) => {
        proptest! {
            #![proptest_config(ProptestConfig::with_cases(16))]
            $(
                #[test]
                fn $name(keygen: [u8; 64], encaps: [u8; 32], at: usize, mask in 1u8..) {
                    use pqcrypto_kyber::$module as theirs;
                    use pqcrypto_traits::kem::{Ciphertext as _, PublicKey as _, SecretKey as _, SharedSecret as _};

                    let run = Run::<kyber::$set>::new(&keygen, &encaps, at, mask);
                    prop_assert_ne!(run.ss, run.bad_ss);
                    let dk = theirs::SecretKey::from_bytes(&run.dk).expect("length");
                    for (ct, ss) in [(run.ct, run.ss), (run.bad_ct, run.bad_ss)] {
                        let ct = theirs::Ciphertext::from_bytes(&ct).expect("length");
                        let theirs = theirs::decapsulate(&ct, &dk);
                        prop_assert_eq!(theirs.as_bytes(), ss);
                    }
                    let ek = theirs::PublicKey::from_bytes(&run.ek).expect("length");
                    let (ss, ct) = theirs::encapsulate(&ek);
                    let ours = decaps::<kyber::$set>(&run.dk, ct.as_bytes().try_into().expect("length"));
                    prop_assert_eq!(&ours, ss.as_bytes());

                    let (ek, dk) = theirs::keypair();
                    let (mut ct, mut ss) = (<kyber::$set as Kem>::CtBytes::ZERO, SharedSecret::zeroed());
                    let ek = Ek::<kyber::$set>::parse(ek.as_bytes()).expect("their key");
                    <kyber::$set>::encaps_from(&encaps, &ek, &mut ct, &mut ss);
                    let ct = theirs::Ciphertext::from_bytes(&ct).expect("length");
                    let theirs = theirs::decapsulate(&ct, &dk);
                    prop_assert_eq!(theirs.as_bytes(), ss.expose());
                }
            )*
        }
    };
}

round_3! {
    kyber512_agrees Kyber512 kyber512
    kyber768_agrees Kyber768 kyber768
    kyber1024_agrees Kyber1024 kyber1024
}

#[test]
fn every_set_obeys_the_laws() {
    let mut rng = KatDrbg::new(&[3; 48]);
    for _ in 0..4 {
        laws::<kyber::MlKem512>(&mut rng);
        laws::<kyber::MlKem768>(&mut rng);
        laws::<kyber::MlKem1024>(&mut rng);
        laws::<kyber::Kyber512>(&mut rng);
        laws::<kyber::Kyber768>(&mut rng);
        laws::<kyber::Kyber1024>(&mut rng);
    }
}
