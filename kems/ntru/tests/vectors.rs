//! Official bytes: vectors of the reference implementation, and the digests of the KAT files.

use kem_core::Kem;
use kem_core::testkit::{check_file, check_kat};
use ntru::{Hps509, Hps677, Hps821, Hrss701, Karatsuba, Ntru, Ntt, Tmvp, ToomCook};

macro_rules! set {
    ($name:ident, $params:ident) => {
        mod $name {
            use super::*;

            const FILE: &str = include_str!(concat!("vectors/", stringify!($name), ".json"));

            #[test]
            fn vectors_with_tmvp() {
                check_file::<Ntru<$params, Tmvp>>(FILE);
            }

            #[test]
            fn vectors_with_karatsuba() {
                check_file::<Ntru<$params, Karatsuba>>(FILE);
            }

            #[test]
            fn vectors_with_toom_cook() {
                check_file::<Ntru<$params, ToomCook>>(FILE);
            }

            #[test]
            fn vectors_with_ntt() {
                check_file::<Ntru<$params, Ntt>>(FILE);
            }

            #[test]
            fn kat_file() {
                check_kat::<Ntru<$params>>(FILE);
            }
        }
    };
}

set!(ntruhps2048509, Hps509);
set!(ntruhps2048677, Hps677);
set!(ntruhps4096821, Hps821);
set!(ntruhrss701, Hrss701);

/// Table of the specification, section 1.12: encapsulation key, decapsulation key, ciphertext.
#[test]
fn sizes() {
    fn sizes<K: Kem>() -> [usize; 3] {
        [K::EK_LEN, K::DK_LEN, K::CT_LEN]
    }
    assert_eq!(sizes::<ntru::NtruHps2048509>(), [699, 935, 699]);
    assert_eq!(sizes::<ntru::NtruHps2048677>(), [930, 1234, 930]);
    assert_eq!(sizes::<ntru::NtruHps4096821>(), [1230, 1590, 1230]);
    assert_eq!(sizes::<ntru::NtruHrss701>(), [1138, 1450, 1138]);
}
