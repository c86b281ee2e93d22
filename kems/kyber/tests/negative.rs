//! One test for every check and for every mistake that still round-trips with itself.

use kem_core::hash::{Sha3_256, Sha3_512, Shake256};
use kem_core::rand_core::Rng;
use kem_core::testkit::{Change, File, KatDrbg};
use kem_core::{Bytes, Ek, InvalidKey, Kem, SharedSecret};
use kyber::{Kyber512, Kyber768, Kyber1024, MlKem512, MlKem768, MlKem1024};

fn pair<K: Kem<KeygenCoins = [u8; 64]>>(seed: u8) -> (K::EkBytes, K::DkBytes) {
    let (mut ek, mut dk) = (K::EkBytes::ZERO, K::DkBytes::ZERO);
    K::keygen_from(&[seed; 64], &mut ek, &mut dk).expect("never fails");
    (ek, dk)
}

fn encaps<K: Kem<EncapsCoins = [u8; 32]>>(coins: &[u8; 32], ek: &K::EkBytes) -> (K::CtBytes, [u8; 32]) {
    let (mut ct, mut ss) = (K::CtBytes::ZERO, SharedSecret::zeroed());
    K::encaps_from(coins, &Ek::parse(ek.as_ref()).expect("accepted"), &mut ct, &mut ss);
    (ct, *ss.expose())
}

fn decaps<K: Kem>(dk: &K::DkBytes, ct: &K::CtBytes) -> [u8; 32] {
    let mut ss = SharedSecret::zeroed();
    assert!(K::decaps(dk, ct, &mut ss).is_ok());
    *ss.expose()
}

fn sha3_256(parts: &[&[u8]]) -> [u8; 32] {
    let mut out = [0; 32];
    Sha3_256::digest(parts, &mut out);
    out
}

/// Writes a 12-bit coefficient into an encoded vector.
fn set_coefficient(ek: &mut [u8], index: usize, value: u16) {
    let at = index / 2 * 3;
    if index.is_multiple_of(2) {
        ek[at] = value as u8;
        ek[at + 1] = ek[at + 1] & 0xf0 | (value >> 8) as u8;
    } else {
        ek[at + 1] = ek[at + 1] & 0x0f | (value << 4) as u8;
        ek[at + 2] = (value >> 4) as u8;
    }
}

fn modulus_check<K: Kem<KeygenCoins = [u8; 64]>>(check: bool) {
    let coefficients = (K::EK_LEN - 32) / 384 * 256;
    for index in [
        0,
        1,
        2,
        255,
        256,
        257,
        coefficients / 2,
        coefficients - 2,
        coefficients - 1,
    ] {
        for (value, canonical) in [
            (0, true),
            (3328, true),
            (3329, false),
            (3330, false),
            (4094, false),
            (4095, false),
        ] {
            let (mut ek, _) = pair::<K>(1);
            set_coefficient(ek.as_mut(), index, value);
            let parsed = Ek::<K>::parse(ek.as_ref()).map(|_| ());
            let expected = if canonical || !check { Ok(()) } else { Err(InvalidKey) };
            assert_eq!(parsed, expected, "coefficient {index} = {value}");
        }
    }
    // rho is not a polynomial: every value of it is a seed.
    let (mut ek, _) = pair::<K>(1);
    ek.as_mut()[K::EK_LEN - 32..].fill(0xff);
    assert!(Ek::<K>::parse(ek.as_ref()).is_ok());
}

/// FIPS 203 section 7.2; round 3 has no such check.
#[test]
fn coefficients_of_3329_and_more_are_refused() {
    modulus_check::<MlKem512>(true);
    modulus_check::<MlKem768>(true);
    modulus_check::<MlKem1024>(true);
    modulus_check::<Kyber512>(false);
    modulus_check::<Kyber768>(false);
    modulus_check::<Kyber1024>(false);
}

fn dk_check<K: Kem<KeygenCoins = [u8; 64]>>(check: bool) {
    let s_len = (K::DK_LEN - 96) / 2;
    // In s_hat, in ek, in rho, at both ends of H(ek), in z. The check covers ek and its hash.
    for (at, covered) in [
        (0, false),
        (s_len, true),
        (K::DK_LEN - 65, true),
        (K::DK_LEN - 64, true),
        (K::DK_LEN - 33, true),
        (K::DK_LEN - 32, false),
    ] {
        let (_, mut dk) = pair::<K>(2);
        dk.as_mut()[at] ^= 0x80;
        assert_eq!(K::check_dk(&dk).is_err(), check && covered, "byte {at}");
    }
}

/// FIPS 203 section 7.3; round 3 has no such check.
#[test]
fn damaged_decapsulation_keys_are_refused() {
    dk_check::<MlKem512>(true);
    dk_check::<MlKem768>(true);
    dk_check::<MlKem1024>(true);
    dk_check::<Kyber512>(false);
    dk_check::<Kyber768>(false);
    dk_check::<Kyber1024>(false);
}

/// G(d | k) in FIPS 203 and G(d) in round 3: rho is its first half and stands at the end of ek.
fn rho_is<K: Kem<KeygenCoins = [u8; 64]>>(parts: &[&[u8]]) {
    let (ek, _) = pair::<K>(5);
    let mut g = [0; 64];
    Sha3_512::digest(parts, &mut g);
    assert_eq!(ek.as_ref()[K::EK_LEN - 32..], g[..32]);
}

#[test]
fn rank_is_part_of_the_seed_in_fips_203_only() {
    rho_is::<MlKem512>(&[&[5; 32], &[2]]);
    rho_is::<MlKem768>(&[&[5; 32], &[3]]);
    rho_is::<MlKem1024>(&[&[5; 32], &[4]]);
    rho_is::<Kyber512>(&[&[5; 32]]);
    rho_is::<Kyber768>(&[&[5; 32]]);
    rho_is::<Kyber1024>(&[&[5; 32]]);
}

/// z is stored, and d is not: dk ends with H(ek) | z.
#[test]
fn dk_ends_with_hash_and_z() {
    let mut coins = [5; 64];
    coins[32..].fill(6);
    let (mut ek, mut dk) = (<MlKem768 as Kem>::EkBytes::ZERO, <MlKem768 as Kem>::DkBytes::ZERO);
    MlKem768::keygen_from(&coins, &mut ek, &mut dk).expect("never fails");
    assert_eq!(dk[1152..2336], ek);
    assert_eq!(dk[2336..2368], sha3_256(&[&ek]));
    assert_eq!(dk[2368..], [6; 32]);
}

/// FIPS 203: one request of 64 bytes. Round 3: two of 32.
#[test]
fn keygen_asks_for_randomness_in_the_specified_pieces() {
    fn keygen<K: Kem<KeygenCoins = [u8; 64]>>(pieces: &[usize]) {
        let (mut ek, mut dk) = (K::EkBytes::ZERO, K::DkBytes::ZERO);
        K::keygen(&mut KatDrbg::new(&[9; 48]), &mut ek, &mut dk).expect("never fails");
        let (mut expected_ek, mut expected_dk) = (K::EkBytes::ZERO, K::DkBytes::ZERO);
        let (mut rng, mut coins, mut at) = (KatDrbg::new(&[9; 48]), [0; 64], 0);
        for piece in pieces {
            rng.fill_bytes(&mut coins[at..][..*piece]);
            at += piece;
        }
        K::keygen_from(&coins, &mut expected_ek, &mut expected_dk).expect("never fails");
        assert_eq!(dk.as_ref(), expected_dk.as_ref());
    }
    keygen::<MlKem512>(&[64]);
    keygen::<MlKem768>(&[64]);
    keygen::<MlKem1024>(&[64]);
    keygen::<Kyber512>(&[32, 32]);
    keygen::<Kyber768>(&[32, 32]);
    keygen::<Kyber1024>(&[32, 32]);
}

/// What a forged ciphertext gives: J(z | ct) in FIPS 203, KDF(z | H(ct)) in round 3, z first in both.
fn rejection<K: Kem<KeygenCoins = [u8; 64], EncapsCoins = [u8; 32]>>(secret: impl Fn(&[u8], &[u8]) -> [u8; 32]) {
    let (ek, dk) = pair::<K>(7);
    let (mut ct, ss) = encaps::<K>(&[8; 32], &ek);
    // Every byte counts, in u and in v: a comparison of a part of the ciphertext would accept some of these.
    for at in 0..K::CT_LEN {
        ct.as_mut()[at] ^= 1 << (at % 8);
        assert_eq!(decaps::<K>(&dk, &ct), secret(&[7; 32], ct.as_ref()), "byte {at}");
        ct.as_mut()[at] ^= 1 << (at % 8);
    }
    assert_eq!(decaps::<K>(&dk, &ct), ss);
}

#[test]
fn rejection_secret_hashes_z_before_the_ciphertext() {
    let kdf = |parts: &[&[u8]]| {
        let mut out = [0; 32];
        Shake256::digest(parts, &mut out);
        out
    };
    rejection::<MlKem512>(|z, ct| kdf(&[z, ct]));
    rejection::<MlKem768>(|z, ct| kdf(&[z, ct]));
    rejection::<MlKem1024>(|z, ct| kdf(&[z, ct]));
    rejection::<Kyber512>(|z, ct| kdf(&[z, &sha3_256(&[ct])]));
    rejection::<Kyber768>(|z, ct| kdf(&[z, &sha3_256(&[ct])]));
    rejection::<Kyber1024>(|z, ct| kdf(&[z, &sha3_256(&[ct])]));
}

/// The shared secret of the sender: K in FIPS 203, KDF(K | H(ct)) of a hashed message in round 3.
#[test]
fn shared_secret_of_each_shell() {
    let coins = [3; 32];
    let (ek, _) = pair::<MlKem768>(4);
    let mut g = [0; 64];
    Sha3_512::digest(&[&coins, &sha3_256(&[&ek])], &mut g);
    assert_eq!(encaps::<MlKem768>(&coins, &ek).1, g[..32]);

    let (ek, _) = pair::<Kyber768>(4);
    let (ct, ss) = encaps::<Kyber768>(&coins, &ek);
    Sha3_512::digest(&[&sha3_256(&[&coins]), &sha3_256(&[&ek])], &mut g);
    let mut expected = [0; 32];
    Shake256::digest(&[&g[..32], &sha3_256(&[&ct])], &mut expected);
    assert_eq!(ss, expected);
}

/// Round 3 accepts coefficients of 3329 and more, reduces them in arithmetic and hashes them as they are.
fn round_3_accepts<K: Kem<EncapsCoins = [u8; 32]>>(json: &str) {
    let file: File = serde_json::from_str(json).expect("vector file parses");
    let v = &file.vectors[0];
    let case = &v.extra["noncanonical_ek"];
    let change: Change = serde_json::from_value(case.clone()).expect("a change");
    let ek = change.apply(&v.ek);
    let coins = <[u8; 32]>::from_slice(&v.encaps_coins).expect("32 bytes");
    let (_, ss) = encaps::<K>(coins, K::EkBytes::from_slice(&ek).expect("length"));
    assert_eq!(hex::encode(ss), case["ss"].as_str().expect("a string"));
}

#[test]
fn round_3_takes_unreduced_coefficients_as_they_are() {
    round_3_accepts::<Kyber512>(include_str!("vectors/kyber512.json"));
    round_3_accepts::<Kyber768>(include_str!("vectors/kyber768.json"));
    round_3_accepts::<Kyber1024>(include_str!("vectors/kyber1024.json"));
}
