//! The measurable things, by the name of their image. `cargo xtask bench-m4` asks for one image at a time, so that its size
//! is theirs.

mod kem;
mod ntru_products;
mod primitive;

use ctru_light::{AsconXof, CtruLight, Sha3};
use kyber::{Kyber512, MlKem512, MlKem768, MlKem1024};
use ntru::{NtruHps2048509, NtruHps2048677, NtruHps4096821, NtruHrss701};
use ntru_plus::{Final, NtruPlus, P768, P864, P1152, V2_2};
use saber::{FireSaber, LightSaber, Saber};

/// Runs what this image was built for. False if no image has that name.
#[inline(always)]
pub(crate) fn run(image: &str) -> bool {
    match image {
        "none" => {}
        "permutations" => primitive::permutations(),
        "sha256" => primitive::sha256(),
        "x25519" => primitive::x25519(),
        "ctru-light-ascon" => kem::run::<CtruLight<AsconXof>>(image),
        "ctru-light-sha3" => kem::run::<CtruLight<Sha3>>(image),
        "ml-kem-512" => kem::run::<MlKem512>(image),
        "ml-kem-768" => kem::run::<MlKem768>(image),
        "ml-kem-1024" => kem::run::<MlKem1024>(image),
        "kyber512" => kem::run::<Kyber512>(image),
        "ntru-plus-768-final" => kem::run::<NtruPlus<P768, Final>>(image),
        "ntru-plus-864-final" => kem::run::<NtruPlus<P864, Final>>(image),
        "ntru-plus-1152-final" => kem::run::<NtruPlus<P1152, Final>>(image),
        "ntru-plus-768-v2.2" => kem::run::<NtruPlus<P768, V2_2>>(image),
        "ntru-plus-864-v2.2" => kem::run::<NtruPlus<P864, V2_2>>(image),
        "ntru-plus-1152-v2.2" => kem::run::<NtruPlus<P1152, V2_2>>(image),
        "ntru-products" => ntru_products::run(),
        "ntruhps2048509" => kem::run::<NtruHps2048509>(image),
        "ntruhps2048677" => kem::run::<NtruHps2048677>(image),
        "ntruhps4096821" => kem::run::<NtruHps4096821>(image),
        "ntruhrss701" => kem::run::<NtruHrss701>(image),
        "lightsaber" => kem::run::<LightSaber>(image),
        "saber" => kem::run::<Saber>(image),
        "firesaber" => kem::run::<FireSaber>(image),
        _ => return false,
    }
    true
}
