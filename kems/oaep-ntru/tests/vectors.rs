//! The submitted KAT files, regenerated and compared by digest, and vectors of an independent model.
#![cfg(feature = "lab")]

use std::fmt::Write;

use kem_core::Bytes;
use kem_core::rand_core::{Rng, TryCryptoRng, TryRng};
use kem_core::testkit::{File, Hex, Vector, check_file};
use oaep_ntru::{
    EncapsulationKey, Iccs, N648, N1296, N2592, OaepNtru, OaepNtru648, OaepNtru1296, Params, Secret, Shake256,
    Symmetric,
};
use serde::Deserialize;
use sha2::{Digest, Sha256};

const SET_648: &str = include_str!("vectors/648.json");
const SET_1296: &str = include_str!("vectors/1296.json");
const SET_2592: &str = include_str!("vectors/2592.json");

/// Through [`kem_core::Kem`], where it is implemented.
#[test]
fn sets_with_secrets_of_32_bytes() {
    check_file::<OaepNtru648>(SET_648);
    check_file::<OaepNtru1296>(SET_1296);
}

#[test]
fn every_set_in_its_own_lengths() {
    check_set::<N648>(SET_648);
    check_set::<N1296>(SET_1296);
    check_set::<N2592>(SET_2592);
}

fn check_set<P: Params>(json: &str) {
    let file: File = serde_json::from_str(json).expect("vector file parses");
    assert!(!file.vectors.is_empty());
    for v in &file.vectors {
        let Vector {
            keygen_coins,
            encaps_coins,
            ek,
            dk,
            ct,
            ss,
            reject,
            bad_ek,
            ..
        } = v;
        let dk = dk.as_ref().expect("no digest in its place");
        let ours = run::<P, Iccs>(sized(keygen_coins), sized(encaps_coins));
        assert_eq!(hex::encode(&ours.ek), hex::encode(&ek[..]), "{}", v.id);
        assert_eq!(hex::encode(&ours.dk), hex::encode(&dk[..]), "{}", v.id);
        assert_eq!(hex::encode(&ours.ct), hex::encode(&ct[..]), "{}", v.id);
        assert_eq!(hex::encode(ours.ss.expose()), hex::encode(&ss[..]), "{}", v.id);
        for reject in reject {
            let ct = reject.how.apply(ct);
            let mut ss = Secret::<P>::zeroed();
            OaepNtru::<P>::decapsulate(sized(dk), sized(&ct), &mut ss);
            let theirs = reject.ss.as_deref().expect("rejection is implicit");
            assert_eq!(hex::encode(ss.expose()), hex::encode(theirs), "{:?}", reject.how);
        }
        for change in bad_ek {
            assert!(EncapsulationKey::<P>::parse(&change.apply(ek)).is_err(), "{change:?}");
        }
    }
}

#[derive(Deserialize)]
struct Sets<T> {
    #[serde(rename = "648")]
    n648: T,
    #[serde(rename = "1296")]
    n1296: T,
    #[serde(rename = "2592")]
    n2592: T,
}

#[derive(Deserialize)]
struct KatDigests {
    sha256: String,
    sha256_without_blank_lines: String,
}

#[test]
fn kat_files() {
    let kat: Sets<KatDigests> = serde_json::from_str(include_str!("vectors/kat.json")).expect("vector file parses");
    check_kat::<N648>(&kat.n648);
    check_kat::<N1296>(&kat.n1296);
    check_kat::<N2592>(&kat.n2592);
}

fn check_kat<P: Params>(theirs: &KatDigests) {
    let text = kat_file::<P>();
    assert_eq!(hex::encode(Sha256::digest(&text)), theirs.sha256);
    let dense: String = text
        .lines()
        .filter(|line| !line.is_empty())
        .flat_map(|line| [line, "\n"])
        .collect();
    assert_eq!(hex::encode(Sha256::digest(dense)), theirs.sha256_without_blank_lines);
}

/// Ten records. z does not occur in the submission and is left out of the secret key.
fn kat_file<P: Params>() -> String {
    let mut text = String::new();
    let mut seeds = Drng::new(&b"seed".repeat(16));
    for count in 0..10 {
        let mut seed = [0; 64];
        seeds.fill_bytes(&mut seed);
        let (ours, _) = run_drng::<P, Iccs>(&seed);
        write!(
            text,
            "Count = {count}\nSeed_Len = 64\nSeed = {}\n",
            hex::encode_upper(seed)
        )
        .expect("never fails");
        let sk = &ours.dk.as_ref()[..P::Dk::LEN - 32];
        let fields = [
            ("PK", ours.ek.as_ref()),
            ("SK", sk),
            ("CT", ours.ct.as_ref()),
            ("SS", ours.ss.expose().as_ref()),
        ];
        for (name, bytes) in fields {
            let (len, bytes) = (bytes.len(), hex::encode_upper(bytes));
            write!(text, "{name}_Len = {len}\n{name} = {bytes}\n").expect("never fails");
        }
        text.push('\n');
    }
    text
}

#[derive(Deserialize)]
struct Variant {
    drng_seed: Hex,
    coins: Hex,
    pk: Hex,
    sk: Hex,
    ct: Hex,
    ss: Hex,
}

#[test]
fn shake256_variant() {
    let sets: Sets<Variant> = serde_json::from_str(include_str!("vectors/shake256.json")).expect("vector file parses");
    check_variant::<N648>(&sets.n648);
    check_variant::<N1296>(&sets.n1296);
    check_variant::<N2592>(&sets.n2592);
}

fn check_variant<P: Params>(theirs: &Variant) {
    let (ours, coins) = run_drng::<P, Shake256>(&theirs.drng_seed);
    assert_eq!(coins.as_ref(), &theirs.coins[..]);
    assert_eq!(ours.ek.as_ref(), &theirs.pk[..]);
    assert_eq!(ours.dk.as_ref()[..P::Dk::LEN - 32], theirs.sk[..]);
    assert_eq!(ours.ct.as_ref(), &theirs.ct[..]);
    assert_eq!(ours.ss.expose().as_ref(), &theirs.ss[..]);
}

/// A key pair, a ciphertext for it, and its secret.
struct Run<P: Params> {
    ek: P::Ek,
    dk: P::Dk,
    ct: P::Ct,
    ss: Secret<P>,
}

/// One draw each for f, g and the coins, as no record needs a second one.
fn run_drng<P: Params, H: Symmetric>(seed: &[u8]) -> (Run<P>, P::Short) {
    let mut drng = Drng::new(seed);
    let (mut keygen, mut coins) = (P::KeygenCoins::ZERO, P::Short::ZERO);
    keygen.as_mut()[..2 * P::Short::LEN]
        .chunks_mut(P::Short::LEN)
        .for_each(|draw| drng.fill_bytes(draw));
    drng.fill_bytes(coins.as_mut());
    (run::<P, H>(&keygen, &coins), coins)
}

/// Runs all three operations; decapsulation has to agree.
fn run<P: Params, H: Symmetric>(keygen: &P::KeygenCoins, coins: &P::Short) -> Run<P> {
    let mut run = Run::<P> {
        ek: P::Ek::ZERO,
        dk: P::Dk::ZERO,
        ct: P::Ct::ZERO,
        ss: Secret::zeroed(),
    };
    OaepNtru::<P, H>::generate_from(keygen, &mut run.ek, &mut run.dk).expect("invertible");
    let ek = EncapsulationKey::<P>::parse(run.ek.as_ref()).expect("own key is canonical");
    OaepNtru::<P, H>::encapsulate_from(coins, &ek, &mut run.ct, &mut run.ss);
    let mut decapsulated = Secret::<P>::zeroed();
    OaepNtru::<P, H>::decapsulate(&run.dk, &run.ct, &mut decapsulated);
    assert_eq!(decapsulated.expose().as_ref(), run.ss.expose().as_ref());
    run
}

fn sized<B: Bytes>(bytes: &[u8]) -> &B {
    B::from_slice(bytes).expect("right length")
}

#[test]
fn generator_of_the_kat_program() {
    #[derive(Deserialize)]
    struct Primitives {
        drng: Case,
    }
    #[derive(Deserialize)]
    struct Case {
        seed: Hex,
        out: Vec<Hex>,
    }
    let Primitives {
        drng: Case { seed, out },
    } = serde_json::from_str(include_str!("vectors/primitives.json")).expect("vector file parses");
    let mut drng = Drng::new(&seed);
    assert!(!out.is_empty());
    for theirs in out {
        let mut ours = vec![0; theirs.len()];
        drng.fill_bytes(&mut ours);
        assert_eq!(ours, theirs[..]);
    }
}

/// Hash_DRBG of SP 800-90A over SM3 with a seed of 440 bits, as the submission's KAT program uses it.
struct Drng {
    v: [u8; SEED_LEN],
    c: [u8; SEED_LEN],
    counter: u8,
}

const SEED_LEN: usize = 55;

impl Drng {
    fn new(seed: &[u8]) -> Self {
        let v = derive(&[seed]);
        Self {
            v,
            c: derive(&[&[0], &v]),
            counter: 1,
        }
    }
}

impl TryRng for Drng {
    type Error = core::convert::Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Self::Error> {
        unreachable!("only bytes are asked for")
    }

    fn try_next_u64(&mut self) -> Result<u64, Self::Error> {
        unreachable!("only bytes are asked for")
    }

    fn try_fill_bytes(&mut self, out: &mut [u8]) -> Result<(), Self::Error> {
        let mut data = self.v;
        for chunk in out.chunks_mut(32) {
            chunk.copy_from_slice(&sm3(&[&data])[..chunk.len()]);
            add(&mut data, &[1]);
        }
        let hash = sm3(&[&[3], &self.v]);
        add(&mut self.v, &hash);
        add(&mut self.v, &self.c);
        add(&mut self.v, &[self.counter]);
        self.counter += 1;
        Ok(())
    }
}

impl TryCryptoRng for Drng {}

fn derive(parts: &[&[u8]]) -> [u8; SEED_LEN] {
    let block = |number: u8| sm3(&[&[&[number, 0, 0, 0x01, 0xb8][..]], parts].concat());
    [block(1), block(2)].concat()[..SEED_LEN]
        .try_into()
        .expect("64 bytes are enough")
}

/// Big-endian, modulo 2^440.
fn add(sum: &mut [u8; SEED_LEN], term: &[u8]) {
    let mut carry = 0;
    let terms = term.iter().rev().copied().chain(core::iter::repeat(0));
    for (byte, term) in sum.iter_mut().rev().zip(terms) {
        carry += u16::from(*byte) + u16::from(term);
        *byte = carry as u8;
        carry >>= 8;
    }
}

fn sm3(parts: &[&[u8]]) -> [u8; 32] {
    let mut out = [0; 32];
    Iccs::digest(parts, &mut out);
    out
}
