//! Every operation of every KEM, and the handshake of both roles, with its secrets marked undefined. Under valgrind's
//! memcheck a branch or an address that depends on one is an error; `cargo xtask constant-time` runs it so.
//!
//! With the argument `control` the program branches on a secret on purpose, so that a set-up that sees nothing fails. With
//! `probe MODE ID` it does the broker's work for an id that does not fit, for callgrind to count.

mod handshake;

use std::{hint::black_box, process::ExitCode};

use crabgrind::{
    memcheck::{self, MemState},
    valgrind::{RunningMode, running_mode},
};
use kem_core::{
    Bytes, Ek, Kem, SharedSecret,
    rand_core::Rng,
    testkit::{KatDrbg, on_declassify},
};

fn main() -> ExitCode {
    if running_mode() == RunningMode::Native {
        eprintln!("this program says something only under valgrind: `cargo xtask constant-time`");
        return ExitCode::from(2);
    }
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["probe", mode, id] => handshake::probe(mode, id),
        ["control"] => control(),
        _ => {
            on_declassify(public);
            families();
            handshake::suites();
        }
    }
    ExitCode::SUCCESS
}

fn families() {
    check::<ctru_light::CtruLight<kem_core::hash::AsconXof>>("ctru-light (ascon)");
    check::<ctru_light::CtruLight<kem_core::hash::Sha3>>("ctru-light (sha3)");
    check::<kyber::MlKem512>("ML-KEM-512");
    check::<kyber::MlKem768>("ML-KEM-768");
    check::<kyber::MlKem1024>("ML-KEM-1024");
    check::<kyber::Kyber512>("Kyber512 (round 3)");
    check::<kyber::Kyber768>("Kyber768 (round 3)");
    check::<kyber::Kyber1024>("Kyber1024 (round 3)");
    check::<saber::LightSaber>("LightSaber");
    check::<saber::Saber>("Saber");
    check::<saber::FireSaber>("FireSaber");
    check::<ntru::NtruHps2048509>("ntruhps2048509");
    check::<ntru::NtruHps2048677>("ntruhps2048677");
    check::<ntru::NtruHps4096821>("ntruhps4096821");
    check::<ntru::NtruHrss701>("ntruhrss701");
    check::<ntru_plus::NtruPlus768>("NTRU+768");
    check::<ntru_plus::NtruPlus864>("NTRU+864");
    check::<ntru_plus::NtruPlus1152>("NTRU+1152");
    check::<oaep_ntru::OaepNtru648>("OAEP-NTRU-648");
    check::<oaep_ntru::OaepNtru1296>("OAEP-NTRU-1296");
}

/// Secrets are the coins and the decapsulation key; encapsulation key and ciphertext are public once they exist.
fn check<K: Kem>(name: &str) {
    println!("{name}");
    let mut rng = KatDrbg::master();
    let (mut ek, mut dk) = (K::EkBytes::ZERO, K::DkBytes::ZERO);
    for _ in 0..64 {
        let mut coins = K::KeygenCoins::ZERO;
        rng.fill_bytes(coins.as_mut());
        secret(coins.as_mut());
        if K::keygen_from(&coins, &mut ek, &mut dk).is_ok() {
            break;
        }
    }
    public(ek.as_mut());

    let mut coins = K::EncapsCoins::ZERO;
    rng.fill_bytes(coins.as_mut());
    secret(coins.as_mut());
    let checked = Ek::<K>::parse(ek.as_ref()).expect("a key of our own is valid");
    let (mut ct, mut ss) = (K::CtBytes::ZERO, SharedSecret::zeroed());
    K::encaps_from(&coins, &checked, &mut ct, &mut ss);
    public(ct.as_mut());

    // Most decapsulation keys hold the encapsulation key, which stays public there too.
    public(dk.as_mut());
    let place = dk.as_ref().windows(K::EK_LEN).position(|window| window == ek.as_ref());
    secret(dk.as_mut());
    if let Some(place) = place {
        public(&mut dk.as_mut()[place..][..K::EK_LEN]);
    }
    let mut ours = SharedSecret::zeroed();
    let accepted = K::decaps(&dk, &ct, &mut ours).is_ok();
    public(ss.expose_mut());
    public(ours.expose_mut());
    assert!(
        accepted && ss.expose() == ours.expose(),
        "{name}: shared secrets differ"
    );

    ct.as_mut()[0] ^= 1;
    let _ = K::decaps(&dk, &ct, &mut ours);
    public(ours.expose_mut());
    assert!(
        ss.expose() != ours.expose(),
        "{name}: a forged ciphertext gave the shared secret"
    );
}

/// Memcheck must report this function, or it would report nothing.
fn control() {
    let mut byte = [1];
    secret(&mut byte);
    if byte[0] == 1 {
        println!("a branch on a secret");
    }
}

fn secret(bytes: &mut [u8]) {
    mark(bytes, MemState::Undefined);
}

fn public(bytes: &mut [u8]) {
    mark(bytes, MemState::Defined);
}

/// The compiler must not know what the bytes are afterwards, or it would compute with what it knew before.
fn mark(bytes: &mut [u8], state: MemState) {
    let bytes = black_box(bytes);
    memcheck::mark_memory(bytes.as_mut_ptr().cast(), bytes.len(), state).expect("memcheck is running");
    black_box(bytes);
}
