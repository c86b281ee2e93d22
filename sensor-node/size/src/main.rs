//! An image with one KEM in it, for `cargo xtask code-size`. It is linked, never run.
#![no_std]
#![no_main]

use core::{hint::black_box, panic::PanicInfo};

use kem_core::{Ek, Kem, SharedSecret};

/// Entry point of both targets: every operation of one KEM on buffers that the compiler knows nothing about.
#[unsafe(no_mangle)]
pub extern "C" fn main() -> ! {
    image();
    loop {
        black_box(());
    }
}

/// `Feature => KEM`: the feature that is on chooses the KEM of the image.
macro_rules! images {
    ($($feature:literal => $kem:ty,)*) => {
        fn image() {
            $(#[cfg(feature = $feature)] every_operation::<$kem>();)*
        }
    };
}

images! {
    "mlkem512" => kyber::MlKem512,
    "mlkem768" => kyber::MlKem768,
    "mlkem1024" => kyber::MlKem1024,
    "kyber512" => kyber::Kyber512,
    "ctrulight" => ctru_light::CtruLight<ctru_light::AsconXof>,
    "ctrulightsha3" => ctru_light::CtruLight<ctru_light::Sha3>,
    "lightsaber" => saber::LightSaber,
    "saber" => saber::Saber,
    "firesaber" => saber::FireSaber,
    "ntruplus768" => ntru_plus::NtruPlus768,
    "ntruplus864" => ntru_plus::NtruPlus864,
    "ntruplus1152" => ntru_plus::NtruPlus1152,
    "ntruhps2048509" => ntru::NtruHps2048509,
    "ntruhps2048677" => ntru::NtruHps2048677,
    "ntruhrss701" => ntru::NtruHrss701,
    "ntruhps4096821" => ntru::NtruHps4096821,
    "oaepntru648" => oaep_ntru::OaepNtru648,
    "oaepntru1296" => oaep_ntru::OaepNtru1296,
}

/// Key generation, the check of a peer's key, encapsulation and decapsulation.
#[allow(dead_code, reason = "the empty image has no KEM")]
fn every_operation<K: Kem>() {
    let buffers: Option<&mut Buffers<K>> = black_box(None);
    let Some(buffers) = buffers else { return };
    let Buffers {
        keygen_coins,
        encaps_coins,
        ek,
        dk,
        ct,
        ss,
    } = buffers;
    black_box(K::keygen_from(keygen_coins, ek, dk).is_ok());
    if let Ok(ek) = Ek::<K>::parse(ek.as_ref()) {
        K::encaps_from(encaps_coins, &ek, ct, ss);
    }
    black_box(K::decaps(dk, ct, ss).is_ok());
}

/// Everything that the operations read and write; never made.
#[allow(dead_code, reason = "the empty image has no KEM")]
struct Buffers<K: Kem> {
    keygen_coins: K::KeygenCoins,
    encaps_coins: K::EncapsCoins,
    ek: K::EkBytes,
    dk: K::DkBytes,
    ct: K::CtBytes,
    ss: SharedSecret,
}

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    loop {
        black_box(());
    }
}
