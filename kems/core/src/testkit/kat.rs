use core::fmt::Write;
use std::string::String;
use std::vec::Vec;

use rand_core::Rng;
use serde::Deserialize;
use sha2::{Digest, Sha256};

use super::KatDrbg;
use super::vectors::File;
use crate::{Bytes, Ek, Kem, SharedSecret};

/// Digests of an official KAT file, the `kat` object of a vector file. Hexadecimal SHA-256; an absent one is not checked.
#[derive(Clone, Debug, Deserialize)]
pub struct Kat {
    /// First line of the file, for instance `# Kyber512`.
    #[serde(default)]
    pub header_line: String,
    /// Number of entries.
    pub entries: usize,
    /// Of the whole file.
    pub rsp_sha256: Option<String>,
    /// Without the header line and the blank line after it, and without the last blank line.
    pub entries_only_sha256: Option<String>,
    /// Of the six lines of entry 0.
    pub first_entry_sha256: Option<String>,
}

/// Digests of a regenerated KAT file, in lower-case hexadecimal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KatDigests {
    /// Of the whole file.
    pub rsp: String,
    /// Without header and last blank line.
    pub entries_only: String,
    /// Of entry 0.
    pub first_entry: String,
}

/// A regenerated KAT file in the format of the NIST `PQCgenKAT_kem` program.
pub struct Rsp {
    header: String,
    entries: Vec<String>,
}

impl Rsp {
    /// The file.
    pub fn text(&self) -> String {
        std::format!("{}\n\n{}\n", self.header, self.entries.join("\n"))
    }

    /// SHA-256 of the file and of its usual excerpts.
    pub fn digests(&self) -> KatDigests {
        KatDigests {
            rsp: sha256(&self.text()),
            entries_only: sha256(&self.entries.join("\n")),
            first_entry: sha256(&self.entries[0]),
        }
    }
}

/// Runs the NIST KAT procedure: seeds from [`KatDrbg::master`], then per entry a fresh generator, one key pair, one
/// encapsulation and its decapsulation.
///
/// # Panics
/// If a ciphertext does not decapsulate.
pub fn regenerate<K: Kem>(header_line: &str, entries: usize) -> Rsp {
    let mut master = KatDrbg::master();
    let entries = (0..entries).map(|count| {
        let mut seed = [0; 48];
        master.fill_bytes(&mut seed);
        entry::<K>(count, &seed)
    });
    Rsp {
        header: header_line.into(),
        entries: entries.collect(),
    }
}

/// Regenerates the KAT file that the `kat` object of a vector file describes, and compares every digest given there.
///
/// # Panics
/// On the first difference, or if the file gives no digest.
pub fn check_kat<K: Kem>(json: &str) {
    let file: File = serde_json::from_str(json).expect("vector file parses");
    let kat = file.kat.expect("the vector file has a kat object");
    let ours = regenerate::<K>(&kat.header_line, kat.entries).digests();
    let pairs = [
        ("first entry", kat.first_entry_sha256, ours.first_entry),
        ("entries only", kat.entries_only_sha256, ours.entries_only),
        ("whole file", kat.rsp_sha256, ours.rsp),
    ];
    assert!(
        pairs.iter().any(|(_, theirs, _)| theirs.is_some()),
        "{}: no digest to compare",
        file.scheme
    );
    for (what, theirs, ours) in pairs {
        assert!(
            theirs.as_ref().is_none_or(|theirs| *theirs == ours),
            "{}: {what}: {ours} is not {theirs:?}",
            file.scheme
        );
    }
}

fn entry<K: Kem>(count: usize, seed: &[u8; 48]) -> String {
    let mut rng = KatDrbg::new(seed);
    let (mut ek, mut dk, mut ct) = (K::EkBytes::ZERO, K::DkBytes::ZERO, K::CtBytes::ZERO);
    let (mut ss, mut decapsulated) = (SharedSecret::zeroed(), SharedSecret::zeroed());
    K::keygen(&mut rng, &mut ek, &mut dk).expect("the generator works");
    K::encaps(
        &mut rng,
        &Ek::parse(ek.as_ref()).expect("own key is canonical"),
        &mut ct,
        &mut ss,
    );
    assert!(
        K::decaps(&dk, &ct, &mut decapsulated).is_ok(),
        "entry {count}: own ciphertext is rejected"
    );
    assert_eq!(ss.expose(), decapsulated.expose(), "entry {count}: secrets differ");

    let mut text = String::new();
    writeln!(text, "count = {count}").expect("a String takes everything");
    let fields: [(&str, &[u8]); 5] = [
        ("seed", seed),
        ("pk", ek.as_ref()),
        ("sk", dk.as_ref()),
        ("ct", ct.as_ref()),
        ("ss", ss.expose()),
    ];
    for (name, bytes) in fields {
        writeln!(text, "{name} = {}", hex::encode_upper(bytes)).expect("a String takes everything");
    }
    text
}

fn sha256(text: &str) -> String {
    hex::encode(Sha256::digest(text))
}
