//! Official and independent vectors, byte by byte, and the official KAT files by their digests.

use kem_core::testkit::{check_file, check_kat};

macro_rules! sets {
    ($($name:ident $kat:ident $set:ident $file:literal)*) => {$(
        #[test]
        fn $name() {
            check_file::<kyber::$set>(include_str!(concat!("vectors/", $file, ".json")));
        }

        #[test]
        fn $kat() {
            check_kat::<kyber::$set>(include_str!(concat!("vectors/", $file, ".json")));
        }
    )*};
}

sets! {
    ml_kem_512 ml_kem_512_kat MlKem512 "ml-kem-512"
    ml_kem_768 ml_kem_768_kat MlKem768 "ml-kem-768"
    ml_kem_1024 ml_kem_1024_kat MlKem1024 "ml-kem-1024"
    kyber512 kyber512_kat Kyber512 "kyber512"
    kyber768 kyber768_kat Kyber768 "kyber768"
    kyber1024 kyber1024_kat Kyber1024 "kyber1024"
}

const JSON: &str = include_str!("vectors/ml-kem-512.json");

/// The checks above can fail: one wrong digit of a ciphertext, of a rejection secret, of a digest.
#[test]
#[should_panic(expected = "ct differs from byte 0")]
fn a_wrong_ciphertext_is_noticed() {
    check_file::<kyber::MlKem512>(&JSON.replace("\"ct\": \"521c88", "\"ct\": \"531c88"));
}

#[test]
#[should_panic(expected = "ss for Xor")]
fn a_wrong_rejection_secret_is_noticed() {
    check_file::<kyber::MlKem512>(&JSON.replace("eed0aff6e872e978", "eed0aff6e872e979"));
}

#[test]
#[should_panic(expected = "first entry")]
fn a_wrong_digest_is_noticed() {
    check_kat::<kyber::MlKem512>(
        &JSON
            .replace("c70041a761e01cd6", "c70041a761e01cd7")
            .replace("\"entries\": 100", "\"entries\": 1"),
    );
}

#[test]
#[should_panic(expected = "is accepted")]
fn a_missing_modulus_check_is_noticed() {
    check_file::<kyber::Kyber512>(&include_str!("vectors/kyber512.json").replace(
        "\"reject\": [",
        "\"bad_ek\": [{ \"at\": 0, \"mask\": \"01\" }], \"reject\": [",
    ));
}
