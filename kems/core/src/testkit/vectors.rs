use std::string::String;
use std::vec::Vec;

use serde::{Deserialize, Deserializer};
use sha2::{Digest, Sha256};

use super::hex::Hex;
use super::kat::Kat;
use crate::{Bytes, Ek, Kem, SharedSecret};

/// A vector file. One format for every family; byte strings are hexadecimal.
///
/// ```json
/// { "scheme": "ML-KEM-512", "source": "where the bytes come from",
///   "kat": { "header_line": "# name", "entries": 100, "rsp_sha256": "..", "entries_only_sha256": "..", "first_entry_sha256": ".." },
///   "vectors": [ { "id": "..", "keygen_coins": "..", "encaps_coins": "..", "ek": "..", "dk": "..", "ct": "..", "ss": "..",
///                  "reject": [ { "id": "..", "at": 0, "mask": "01", "ss": ".." }, { "id": "..", "ct": "..", "ss": null } ],
///                  "bad_ek": [ { "id": "..", "at": 1, "mask": "0d" } ], "bad_dk": [] } ] }
/// ```
///
/// `kat`, `bad_ek`, `bad_dk`, `extra` and the `id` of a change are optional; `dk_sha256` may stand for `dk`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    /// Name of the parameter set.
    pub scheme: String,
    /// Where the values come from.
    pub source: String,
    /// Digests of the official KAT file.
    pub kat: Option<Kat>,
    /// At least one.
    pub vectors: Vec<Vector>,
}

/// One key pair, one encapsulation to it, and what has to be refused.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Vector {
    /// Shown when the vector fails.
    pub id: String,
    /// [`Kem::KeygenCoins`].
    pub keygen_coins: Hex,
    /// [`Kem::EncapsCoins`].
    pub encaps_coins: Hex,
    /// Encapsulation key.
    pub ek: Hex,
    /// Decapsulation key; long ones may be given as `dk_sha256` instead.
    pub dk: Option<Hex>,
    /// SHA-256 of the decapsulation key.
    pub dk_sha256: Option<Hex>,
    /// Ciphertext.
    pub ct: Hex,
    /// Shared secret.
    pub ss: Hex,
    /// Ciphertexts that are not `ct`, and what decapsulation makes of them. May be empty.
    pub reject: Vec<Reject>,
    /// Changes to `ek` that [`Ek::parse`] has to refuse.
    #[serde(default)]
    pub bad_ek: Vec<Change>,
    /// Changes to `dk` that [`Kem::check_dk`] has to refuse.
    #[serde(default)]
    pub bad_dk: Vec<Change>,
    /// Intermediate values for a family's own tests.
    #[serde(default)]
    pub extra: serde_json::Value,
}

/// A ciphertext for this key that no encapsulation made.
#[derive(Debug, Deserialize)]
pub struct Reject {
    /// How it differs from `ct`.
    #[serde(flatten)]
    pub how: Change,
    /// The implicit-rejection secret; `null` where rejection is explicit. The field itself is mandatory.
    #[serde(deserialize_with = "mandatory")]
    pub ss: Option<Hex>,
}

/// A different byte string of the same length.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub enum Change {
    /// `mask` is XORed to the bytes from index `at` on.
    Xor {
        /// Shown on failure.
        #[serde(default)]
        id: String,
        /// Index of the first changed byte.
        at: usize,
        /// One or more bytes, not all zero.
        mask: Hex,
    },
    /// Other bytes altogether.
    Whole {
        /// Shown on failure.
        #[serde(default)]
        id: String,
        /// The whole string, whatever it replaces.
        #[serde(alias = "ek", alias = "dk")]
        ct: Hex,
    },
}

impl Change {
    /// `original` with the change made to it.
    ///
    /// # Panics
    /// If nothing changes, or the length does.
    pub fn apply(&self, original: &[u8]) -> Vec<u8> {
        let changed = match self {
            Self::Xor { at, mask, .. } => {
                let mut bytes = original.to_vec();
                bytes[*at..][..mask.len()]
                    .iter_mut()
                    .zip(mask.iter())
                    .for_each(|(byte, bits)| *byte ^= bits);
                bytes
            }
            Self::Whole { ct, .. } => ct.to_vec(),
        };
        assert_eq!(changed.len(), original.len(), "{self:?} changes the length");
        assert_ne!(changed, original, "{self:?} changes nothing");
        changed
    }
}

/// Checks every vector of a file.
///
/// # Panics
/// On the first difference, or if there is nothing to check.
pub fn check_file<K: Kem>(json: &str) {
    let file: File = serde_json::from_str(json).expect("vector file parses");
    assert!(!file.vectors.is_empty(), "an empty file must not pass");
    file.vectors.iter().for_each(check_vector::<K>);
}

/// Checks key generation, encapsulation, decapsulation and every refusal of one vector.
///
/// # Panics
/// On the first difference.
pub fn check_vector<K: Kem>(v: &Vector) {
    let (mut ek, mut dk, mut ct) = (K::EkBytes::ZERO, K::DkBytes::ZERO, K::CtBytes::ZERO);
    let mut ss = SharedSecret::zeroed();
    K::keygen_from(sized(&v.keygen_coins), &mut ek, &mut dk).expect("these coins make a key pair");
    same(ek.as_ref(), &v.ek, &v.id, "ek");
    check_made_dk(dk.as_ref(), v);
    K::check_dk(&dk).expect("dk passes its own check");
    let parsed = Ek::<K>::parse(&v.ek).expect("ek is canonical");
    K::encaps_from(sized(&v.encaps_coins), &parsed, &mut ct, &mut ss);
    same(ct.as_ref(), &v.ct, &v.id, "ct");
    same(ss.expose(), &v.ss, &v.id, "ss of encapsulation");
    assert!(
        K::decaps(&dk, &ct, &mut ss).is_ok(),
        "{}: own ciphertext is rejected",
        v.id
    );
    same(ss.expose(), &v.ss, &v.id, "ss of decapsulation");
    for reject in &v.reject {
        let ct = reject.how.apply(&v.ct);
        let accepted = K::decaps(&dk, sized(&ct), &mut ss).is_ok();
        assert_eq!(
            accepted,
            reject.ss.is_some(),
            "{}: kind of rejection of {:?}",
            v.id,
            reject.how
        );
        let expected = reject.ss.as_deref().unwrap_or(&[0; SharedSecret::LEN]);
        assert_eq!(
            hex::encode(ss.expose()),
            hex::encode(expected),
            "{}: ss for {:?}",
            v.id,
            reject.how
        );
    }
    for change in &v.bad_ek {
        assert!(
            Ek::<K>::parse(&change.apply(&v.ek)).is_err(),
            "{}: ek with {change:?} is accepted",
            v.id
        );
    }
    for change in &v.bad_dk {
        assert!(
            K::check_dk(sized(&change.apply(dk.as_ref()))).is_err(),
            "{}: dk with {change:?} is accepted",
            v.id
        );
    }
}

fn check_made_dk(dk: &[u8], v: &Vector) {
    assert!(v.dk.is_some() || v.dk_sha256.is_some(), "{}: no dk to compare", v.id);
    if let Some(expected) = &v.dk {
        same(dk, expected, &v.id, "dk");
    }
    if let Some(expected) = &v.dk_sha256 {
        same(&Sha256::digest(dk), expected, &v.id, "SHA-256 of dk");
    }
}

fn same(ours: &[u8], theirs: &[u8], id: &str, what: &str) {
    assert_eq!(ours.len(), theirs.len(), "{id}: length of {what}");
    if let Some(at) = ours.iter().zip(theirs).position(|(a, b)| a != b) {
        panic!(
            "{id}: {what} differs from byte {at}: {:02x?}.. instead of {:02x?}..",
            &ours[at..][..1],
            &theirs[at..][..1]
        );
    }
}

fn sized<B: Bytes>(bytes: &[u8]) -> &B {
    B::from_slice(bytes).unwrap_or_else(|| panic!("{} bytes where the type has {}", bytes.len(), B::LEN))
}

fn mandatory<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Hex>, D::Error> {
    Option::deserialize(deserializer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_applied() {
        let change: Change = serde_json::from_str(r#"{ "at": 1, "mask": "8001" }"#).unwrap();
        assert_eq!(change.apply(&[1, 2, 3]), [1, 0x82, 2]);
        let change: Change = serde_json::from_str(r#"{ "ct": "000000" }"#).unwrap();
        assert_eq!(change.apply(&[1, 2, 3]), [0; 3]);
    }

    #[test]
    #[should_panic(expected = "changes nothing")]
    fn a_change_that_changes_nothing_cannot_pass() {
        let change: Change = serde_json::from_str(r#"{ "at": 0, "mask": "00" }"#).unwrap();
        change.apply(&[1]);
    }

    #[test]
    fn a_rejection_without_ss_does_not_parse() {
        assert!(serde_json::from_str::<Reject>(r#"{ "at": 0, "mask": "01" }"#).is_err());
        assert!(
            serde_json::from_str::<Reject>(r#"{ "at": 0, "mask": "01", "ss": null }"#)
                .unwrap()
                .ss
                .is_none()
        );
        assert_eq!(
            *serde_json::from_str::<Reject>(r#"{ "ct": "01", "ss": "aa" }"#)
                .unwrap()
                .ss
                .unwrap(),
            [0xaa]
        );
    }
}
