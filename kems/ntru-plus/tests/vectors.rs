//! Official known answers and the vectors of every set in both profiles.

use kem_core::testkit::{check_file, check_kat};
use ntru_plus::{Final, NtruPlus, P768, P864, P1152, V2_2};

macro_rules! files {
    ($($name:ident $set:ty, $profile:ty, $file:literal;)*) => {$(
        mod $name {
            use super::*;

            const JSON: &str = include_str!(concat!("vectors/", $file, ".json"));

            #[test]
            fn vectors() {
                check_file::<NtruPlus<$set, $profile>>(JSON);
            }

            #[test]
            fn official_kat_file() {
                check_kat::<NtruPlus<$set, $profile>>(JSON);
            }
        }
    )*};
}

files! {
    final_768 P768, Final, "768-final";
    final_864 P864, Final, "864-final";
    final_1152 P1152, Final, "1152-final";
    v2_2_768 P768, V2_2, "768-v2_2";
    v2_2_864 P864, V2_2, "864-v2_2";
    v2_2_1152 P1152, V2_2, "1152-v2_2";
}
