//! The vector files of the KEM crates, on the target.

use ctru_light::{AsconXof, CtruLight, Sha3};
use kem_core::{Bytes, Ek, Kem, SharedSecret};
use kyber::{Kyber512, MlKem512, MlKem768, MlKem1024};
use ntru::{NtruHps2048509, NtruHps2048677, NtruHps4096821, NtruHrss701};
use ntru_plus::{Final, NtruPlus, P768, P864, P1152, V2_2};
use saber::{FireSaber, LightSaber, Saber};

macro_rules! files {
    ($($kem:ty: $file:literal;)*) => {
        [$(file::<$kem> as fn(&str) -> bool),*].into_iter().zip([
            $(include_str!(concat!("../../../../../kems/", $file))),*
        ])
    };
}

/// Whether keys, ciphertexts and secrets of every vector are those of the files.
pub(super) fn all() -> bool {
    let mut files = files! {
        CtruLight<AsconXof>: "ctru-light/tests/vectors/ascon.json";
        CtruLight<Sha3>: "ctru-light/tests/vectors/sha3.json";
        Kyber512: "kyber/tests/vectors/kyber512.json";
        MlKem512: "kyber/tests/vectors/ml-kem-512.json";
        MlKem768: "kyber/tests/vectors/ml-kem-768.json";
        MlKem1024: "kyber/tests/vectors/ml-kem-1024.json";
        NtruHps2048509: "ntru/tests/vectors/ntruhps2048509.json";
        NtruHps2048677: "ntru/tests/vectors/ntruhps2048677.json";
        NtruHps4096821: "ntru/tests/vectors/ntruhps4096821.json";
        NtruHrss701: "ntru/tests/vectors/ntruhrss701.json";
        NtruPlus<P768, Final>: "ntru-plus/tests/vectors/768-final.json";
        NtruPlus<P768, V2_2>: "ntru-plus/tests/vectors/768-v2_2.json";
        NtruPlus<P864, Final>: "ntru-plus/tests/vectors/864-final.json";
        NtruPlus<P864, V2_2>: "ntru-plus/tests/vectors/864-v2_2.json";
        NtruPlus<P1152, Final>: "ntru-plus/tests/vectors/1152-final.json";
        NtruPlus<P1152, V2_2>: "ntru-plus/tests/vectors/1152-v2_2.json";
        LightSaber: "saber/tests/vectors/lightsaber.json";
        Saber: "saber/tests/vectors/saber.json";
        FireSaber: "saber/tests/vectors/firesaber.json";
    };
    files.all(|(agrees, text)| agrees(text))
}

fn file<K: Kem>(text: &str) -> bool {
    let mut vectors = text.split(r#""keygen_coins": "#);
    // What stands before the first vector.
    vectors.next();
    let mut count = 0;
    let agree = vectors
        .inspect(|_| count += 1)
        .all(|vector| agrees::<K>(vector).is_some());
    agree && count > 0
}

/// `vector` begins with the coins of key generation. None if a field is missing or differs.
#[inline(never)]
fn agrees<K: Kem>(vector: &str) -> Option<()> {
    let (mut ek, mut dk, mut ct) = (K::EkBytes::ZERO, K::DkBytes::ZERO, K::CtBytes::ZERO);
    let (mut sent, mut received) = (SharedSecret::zeroed(), SharedSecret::zeroed());
    let mut coins = K::KeygenCoins::ZERO;
    read(vector, coins.as_mut())?;
    K::keygen_from(&coins, &mut ek, &mut dk).ok()?;
    same(field(vector, r#""ek": "#)?, ek.as_ref())?;
    // Long ones are digests in some files.
    if let Some(expected) = field(vector, r#""dk": "#) {
        same(expected, dk.as_ref())?;
    }
    let mut coins = K::EncapsCoins::ZERO;
    read(field(vector, r#""encaps_coins": "#)?, coins.as_mut())?;
    K::encaps_from(&coins, &Ek::parse(ek.as_ref()).ok()?, &mut ct, &mut sent);
    same(field(vector, r#""ct": "#)?, ct.as_ref())?;
    same(field(vector, r#""ss": "#)?, sent.expose())?;
    K::decaps(&dk, &ct, &mut received).ok()?;
    same(field(vector, r#""ss": "#)?, received.expose())
}

/// The text from the value on.
fn field<'a>(vector: &'a str, name: &str) -> Option<&'a str> {
    Some(vector.split_once(name)?.1)
}

/// The bytes of a quoted hexadecimal string, which has to be as long as `out`.
fn read(text: &str, out: &mut [u8]) -> Option<()> {
    let mut bytes = quoted_bytes(text)?;
    for place in out {
        *place = bytes.next()??;
    }
    bytes.next().is_none().then_some(())
}

fn same(text: &str, bytes: &[u8]) -> Option<()> {
    quoted_bytes(text)?
        .eq(bytes.iter().map(|&byte| Some(byte)))
        .then_some(())
}

/// None for what is not hexadecimal.
fn quoted_bytes(text: &str) -> Option<impl Iterator<Item = Option<u8>>> {
    let (digits, _) = text.strip_prefix('"')?.split_once('"')?;
    let pairs = digits.as_bytes().chunks(2);
    Some(pairs.map(|pair| u8::from_str_radix(str::from_utf8(pair).ok()?, 16).ok()))
}
