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
