//! One test per check, and one per defect of the public sources (specification section 7) that must not come back.

#[path = "slow/reference.rs"]
mod reference;

use core::convert::Infallible;

use ctru_light::{AsconXof, CtruLight, Ek, InvalidKey, Kem, NotInvertible, Sha3, SharedSecret};
use kem_core::hash::{HashSuite, KeccakReader, XofReader};
use kem_core::rand_core::{Rng, TryCryptoRng, TryRng};
use kem_core::testkit::{Hex, KatDrbg};
use serde::Deserialize;

type Light = CtruLight<AsconXof>;

#[test]
fn ek_of_another_length_is_refused() {
    let (ek, _) = keypair::<AsconXof>(1);
    for len in [0, 1, 639, 641, 800, 864] {
        let mut wire = ek.to_vec();
        wire.resize(len, 0);
        assert_eq!(Ek::<Light>::parse(&wire).err(), Some(InvalidKey), "{len} bytes");
    }
}

#[test]
fn ek_with_a_coefficient_of_769_or_more_is_refused_at_every_place() {
    let (ek, _) = keypair::<AsconXof>(1);
    assert!(Ek::<Light>::parse(&ek).is_ok());
    for k in 0..512 {
        for (value, accepted) in [(768, true), (769, false), (770, false), (1023, false)] {
            let parsed = Ek::<Light>::parse(&set(&ek, 10, k, value)).is_ok();
            assert_eq!(parsed, accepted, "{value} at {k}");
        }
    }
}

#[test]
fn dk_with_an_invalid_code_is_refused_at_every_place() {
    let (_, dk) = keypair::<AsconXof>(2);
    assert_eq!(Light::check_dk(&dk), Ok(()));
    for k in 0..512 {
        let invalid = if k == 0 { [1, 3, 5, 6, 7] } else { [0, 2, 4, 6, 7] };
        for code in invalid {
            let dk = set(&dk, 3, k, code).try_into().expect("same length");
            assert_eq!(Light::check_dk(&dk), Err(InvalidKey), "{code} at {k}");
        }
    }
}

#[test]
fn dk_with_valid_but_wrong_codes_is_refused_at_every_place() {
    let (_, dk) = keypair::<AsconXof>(2);
    for k in 0..512 {
        let own = reference::unpack(&dk[..192], 3)[k];
        for code in (0..6).filter(|code| code % 2 == i64::from(k != 0) && *code != own) {
            let dk = set(&dk, 3, k, code as u16).try_into().expect("same length");
            assert_eq!(Light::check_dk(&dk), Err(InvalidKey), "{code} at {k}");
        }
    }
}

#[test]
fn dk_with_a_damaged_or_foreign_ek_is_refused() {
    let (_, dk) = keypair::<AsconXof>(2);
    let (other, _) = keypair::<AsconXof>(3);
    let mut mixed = dk;
    mixed[192..832].copy_from_slice(&other);
    assert_eq!(Light::check_dk(&mixed), Err(InvalidKey));
    for at in 192..832 {
        let mut damaged = dk;
        damaged[at] ^= 0x10;
        assert_eq!(Light::check_dk(&damaged), Err(InvalidKey), "byte {at}");
    }
    let mut non_canonical = [0; 864];
    non_canonical.copy_from_slice(&[&dk[..192], &set(&dk[192..832], 10, 511, 769), &dk[832..]].concat());
    assert_eq!(Light::check_dk(&non_canonical), Err(InvalidKey));
}

/// An unchecked key with any bytes decapsulates to something, without a panic.
#[test]
fn decaps_with_a_broken_key_does_no_harm() {
    let mut ss = SharedSecret::zeroed();
    for fill in [0x00, 0x92, 0xff] {
        for ct in [0x00, 0x3f, 0x40, 0x80, 0xff] {
            let Ok(()) = Light::decaps(&[fill; 864], &[ct; 512], &mut ss);
        }
    }
}

/// Defect 1: a mask of 1 in place of all ones left all but the lowest bit of each byte of K' after a rejection.
#[test]
fn rejection_replaces_all_bits_of_the_secret() {
    let (ek, dk) = keypair::<Sha3>(4);
    let (ct, k) = encaps::<Sha3>(&ek, 5);
    let z = &dk[832..];
    for at in [0, 1, 255, 511] {
        for bit in 0..8 {
            let mut forged = ct;
            forged[at] ^= 1 << bit;
            let (reject, _) = reference::halves(&reference::h512::<Sha3>(&[&forged, z]));
            let ss = decaps::<Sha3>(&dk, &forged);
            assert_eq!(ss, reject, "bit {bit} of byte {at}");
            assert!((0..32).any(|i| (ss[i] ^ k[i]) & 0xfe != 0));
        }
    }
}

/// Defect 2: the caller learns nothing about the comparison.
#[test]
fn decaps_reports_nothing() {
    fn infallible<K: Kem<Rejection = Infallible>>() {}
    infallible::<CtruLight<Sha3>>();
    infallible::<CtruLight<AsconXof>>();
}

/// Defect 3: lengths are part of the types, and slices of another length do not become ciphertexts.
#[test]
fn ciphertexts_of_another_length_do_not_exist() {
    use kem_core::Bytes;
    for len in [0, 511, 513, 1024] {
        assert!(
            <<Light as Kem>::CtBytes as Bytes>::from_slice(&vec![0; len]).is_none(),
            "{len}"
        );
    }
}

/// Defect 4: key hash and rejection hash are one function, told apart by the length of their inputs alone. It may see no
/// other lengths than these.
#[test]
fn the_shared_hash_sees_65_or_544_bytes_only() {
    let (mut ek, mut dk) = ([0; 640], [0; 864]);
    CtruLight::<Lengths>::keygen_from(&[6; 64], &mut ek, &mut dk).expect("invertible");
    let (mut ct, mut ss) = ([0; 512], SharedSecret::zeroed());
    CtruLight::<Lengths>::encaps_from(&[7; 32], &Ek::parse(&ek).expect("canonical"), &mut ct, &mut ss);
    assert_eq!(Lengths::take(), [65]);
    let Ok(()) = CtruLight::<Lengths>::decaps(&dk, &ct, &mut ss);
    assert_eq!(
        Lengths::take(),
        [65, 544],
        "an honest ciphertext: the rejection hash runs all the same"
    );
    ct[0] ^= 1;
    let Ok(()) = CtruLight::<Lengths>::decaps(&dk, &ct, &mut ss);
    assert_eq!(Lengths::take(), [65, 544]);
}

/// Defect 5: ID(pk) is the first 33 bytes and no digest. Keys that share them give one secret for one message, so whoever
/// uses the secret has to bind it to the whole key.
#[test]
fn the_secret_depends_on_33_bytes_of_the_key_only() {
    let (ek, _) = keypair::<AsconXof>(8);
    let (_, secret) = encaps::<AsconXof>(&ek, 9);
    let mut last = ek;
    last[639] ^= 1;
    assert_eq!(encaps::<AsconXof>(&last, 9).1, secret);
    for at in [0, 32] {
        let mut first = ek;
        first[at] ^= 1;
        assert_ne!(encaps::<AsconXof>(&first, 9).1, secret, "byte {at}");
    }
}

/// `H1(ID(pk), z, c)` of the published description is not what the code base computes.
#[test]
fn rejection_hashes_ct_then_z_without_a_prefix() {
    let (_, dk) = keypair::<Sha3>(4);
    let ct = [0x5a; 512];
    let ss = decaps::<Sha3>(&dk, &ct);
    let (ek, z) = (&dk[192..832], &dk[832..]);
    for parts in [&[&ek[..33], z, &ct][..], &[z, &ct], &[&ct[..], &ek[..33], z]] {
        assert_ne!(ss, reference::halves(&reference::h512::<Sha3>(parts)).0);
    }
    assert_eq!(ss, reference::halves(&reference::h512::<Sha3>(&[&ct, z])).0);
}

#[test]
fn non_invertible_coins_are_refused_with_zeroed_outputs() {
    let (mut ek, mut dk) = ([0xaa; 640], [0xaa; 864]);
    assert_eq!(
        CtruLight::<Crafted>::keygen_from(&[0; 64], &mut ek, &mut dk),
        Err(NotInvertible)
    );
    assert_eq!((ek, dk), ([0; 640], [0; 864]));
    assert_eq!(CtruLight::<Crafted>::keygen_from(&[1; 64], &mut ek, &mut dk), Ok(()));
}

/// RNG order d, d, .., z: a failed attempt draws d alone, and z comes last.
#[test]
fn keygen_draws_d_until_it_fits_and_then_z() {
    let mut rng = Script(vec![[0; 32], [0; 32], [5; 32], [6; 32]]);
    let (mut ek, mut dk) = ([0; 640], [0; 864]);
    assert_eq!(CtruLight::<Crafted>::keygen(&mut rng, &mut ek, &mut dk), Ok(()));
    assert!(rng.0.is_empty());
    let coins = [[5; 32], [6; 32]].concat().try_into().expect("64 bytes");
    let (mut expected_ek, mut expected_dk) = ([0; 640], [0; 864]);
    CtruLight::<Crafted>::keygen_from(&coins, &mut expected_ek, &mut expected_dk).expect("invertible");
    assert_eq!((ek, dk), (expected_ek, expected_dk));
}

#[test]
fn keygen_gives_up_on_a_dead_generator() {
    let mut rng = Script(vec![[0; 32]; 64]);
    let (mut ek, mut dk) = ([0xaa; 640], [0xaa; 864]);
    assert_eq!(
        CtruLight::<Crafted>::keygen(&mut rng, &mut ek, &mut dk),
        Err(NotInvertible)
    );
    assert_eq!((ek, dk), ([0; 640], [0; 864]));
}

/// SHAKE256, but the XOF of 32 zero bytes gives the non-invertible coins of the component vectors.
enum Crafted {}

enum CraftedReader {
    Coins(Vec<u8>),
    Shake(KeccakReader<136>),
}

impl HashSuite for Crafted {
    type Reader = CraftedReader;

    fn hash64(parts: &[&[u8]], out: &mut [u8; 64]) {
        Sha3::hash64(parts, out);
    }

    fn xof(parts: &[&[u8]]) -> Self::Reader {
        if parts.concat() == [0; 32] {
            CraftedReader::Coins(non_invertible_coins())
        } else {
            CraftedReader::Shake(Sha3::xof(parts))
        }
    }
}

impl XofReader for CraftedReader {
    fn read(&mut self, out: &mut [u8]) {
        match self {
            Self::Coins(coins) => coins.drain(..out.len()).zip(out).for_each(|(coin, out)| *out = coin),
            Self::Shake(reader) => reader.read(out),
        }
    }
}

fn non_invertible_coins() -> Vec<u8> {
    #[derive(Deserialize)]
    struct Components {
        noninvertible: Coins,
    }
    #[derive(Deserialize)]
    struct Coins {
        coins: Hex,
    }
    let file: Components = serde_json::from_str(include_str!("vectors/components.json")).expect("vector file parses");
    file.noninvertible.coins.0
}

/// SHA-3 that notes how long the inputs of H512 are.
enum Lengths {}

thread_local!(static SEEN: core::cell::RefCell<Vec<usize>> = const { core::cell::RefCell::new(Vec::new()) });

impl Lengths {
    fn take() -> Vec<usize> {
        SEEN.take()
    }
}

impl HashSuite for Lengths {
    type Reader = KeccakReader<136>;

    fn hash64(parts: &[&[u8]], out: &mut [u8; 64]) {
        SEEN.with_borrow_mut(|seen| seen.push(parts.concat().len()));
        Sha3::hash64(parts, out);
    }

    fn xof(parts: &[&[u8]]) -> Self::Reader {
        Sha3::xof(parts)
    }
}

/// Gives 32 bytes per request, in this order, and panics on any other request.
struct Script(Vec<[u8; 32]>);

impl TryRng for Script {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        unreachable!("keys are made of bytes")
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        unreachable!("keys are made of bytes")
    }

    fn try_fill_bytes(&mut self, out: &mut [u8]) -> Result<(), Infallible> {
        out.copy_from_slice(&self.0.remove(0));
        Ok(())
    }
}

impl TryCryptoRng for Script {}

/// `bytes` with value `k` of a stream of `d`-bit values replaced.
fn set(bytes: &[u8], d: usize, k: usize, value: u16) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for i in 0..d {
        let at = d * k + i;
        bytes[at / 8] = bytes[at / 8] & !(1 << (at % 8)) | ((value >> i & 1) as u8) << (at % 8);
    }
    bytes
}

fn keypair<H: HashSuite>(seed: u8) -> ([u8; 640], [u8; 864]) {
    let (mut ek, mut dk, mut coins) = ([0; 640], [0; 864], [0; 64]);
    KatDrbg::new(&[seed; 48]).fill_bytes(&mut coins);
    CtruLight::<H>::keygen_from(&coins, &mut ek, &mut dk).expect("invertible");
    (ek, dk)
}

fn encaps<H: HashSuite>(ek: &[u8; 640], m: u8) -> ([u8; 512], [u8; 32]) {
    let (mut ct, mut ss) = ([0; 512], SharedSecret::zeroed());
    CtruLight::<H>::encaps_from(&[m; 32], &Ek::parse(ek).expect("canonical"), &mut ct, &mut ss);
    (ct, *ss.expose())
}

fn decaps<H: HashSuite>(dk: &[u8; 864], ct: &[u8; 512]) -> [u8; 32] {
    let mut ss = SharedSecret::zeroed();
    let Ok(()) = CtruLight::<H>::decaps(dk, ct, &mut ss);
    *ss.expose()
}
