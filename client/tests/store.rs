//! Key files: permissions, formats, and what a broker's news does to them.
#![cfg(unix)]

mod peer;

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use kemqtt_client::{Credential, DeviceId, Error, FileProblem, Pins};

use peer::Setup;

fn problem<T>(result: Result<T, Error>) -> FileProblem {
    match result {
        Err(Error::File { problem, .. }) => problem,
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("was accepted"),
    }
}

fn file(directory: &Path, text: &str, mode: u32) -> PathBuf {
    let path = directory.join("file");
    let _ = fs::remove_file(&path);
    fs::write(&path, text).expect("writes");
    fs::set_permissions(&path, Permissions::from_mode(mode)).expect("sets the mode");
    path
}

/// 32 bytes 00 01 .. 1f in base64, worked out with coreutils' base64.
const PSK_LINE: &str = "hkm1-psk sensor-7 AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=\n";

#[test]
fn a_new_credential_is_private_reads_back_and_is_never_overwritten() {
    let directory = tempfile::tempdir().expect("directory");
    let path = directory.path().join("new").join("credential.key");
    let id = DeviceId::new("sensor-7").expect("id");
    Credential::generate_psk(id)
        .expect("psk")
        .create(&path)
        .expect("creates");
    assert_eq!(fs::metadata(&path).expect("exists").permissions().mode() & 0o777, 0o600);
    assert_eq!(Credential::load(&path).expect("loads").id(), Some(id));
    let before = fs::read(&path).expect("reads");
    let other = Credential::generate_psk(id).expect("psk");
    assert_eq!(problem(other.create(&path)), FileProblem::Exists);
    assert_eq!(fs::read(&path).expect("reads"), before);
    other.create(&directory.path().join("other")).expect("creates");
    assert_ne!(
        fs::read(directory.path().join("other")).expect("reads"),
        before,
        "keys are random"
    );
}

#[test]
fn a_key_pair_reads_back_whole_and_only_its_public_half_is_enrolled() {
    let directory = tempfile::tempdir().expect("directory");
    let id = DeviceId::new("pump-17").expect("id");
    for suite in [
        "x25519-mlkem768-chacha20poly1305",
        "p256-mlkem1024-ascon",
        "x25519-ctrulight-ascon",
    ] {
        let path = directory.path().join(suite);
        let key = Credential::generate_key(id, peer::suite(suite)).expect("key");
        key.create(&path).expect("creates");
        let loaded = Credential::load(&path).expect("loads");
        let public = key.public_line().expect("public half");
        assert_eq!((loaded.id(), loaded.public_line()), (Some(id), Some(public.clone())));
        assert!(public.starts_with("hkm1-device pump-17 "));
        let text = fs::read_to_string(&path).expect("reads");
        assert_eq!(text.lines().next(), Some(&public[..]));

        assert!(
            matches!(problem(Credential::from_text(&public)), FileProblem::Format(what) if what.contains("public half"))
        );
        // The secret half of another device.
        let other = directory.path().join("other");
        let _ = fs::remove_file(&other);
        Credential::generate_key(id, peer::suite(suite))
            .expect("key")
            .create(&other)
            .expect("creates");
        let other = fs::read_to_string(&other).expect("reads");
        let mixed = format!("{public}\n{}", other.lines().nth(1).expect("secret half"));
        assert!(
            matches!(problem(Credential::from_text(&mixed)), FileProblem::Format(_)),
            "{suite}"
        );
        assert!(
            matches!(
                problem(Credential::from_text(&text[..text.len() - 10])),
                FileProblem::Format(_)
            ),
            "{suite}"
        );
    }
}

#[test]
fn a_credential_that_others_can_touch_is_refused_with_its_mode() {
    let directory = tempfile::tempdir().expect("directory");
    for mode in [0o600, 0o400, 0o700] {
        Credential::load(&file(directory.path(), PSK_LINE, mode)).expect("private");
    }
    for mode in [0o640, 0o604, 0o620, 0o602, 0o610, 0o644, 0o666] {
        let problem = problem(Credential::load(&file(directory.path(), PSK_LINE, mode)));
        assert_eq!(problem, FileProblem::TooOpen { mode });
        assert!(problem.to_string().contains("chmod 600"), "{problem}");
    }
}

#[test]
fn a_pin_may_be_read_by_all_but_written_by_none() {
    let directory = tempfile::tempdir().expect("directory");
    let setup = Setup::new();
    for mode in [0o600, 0o644, 0o444] {
        let pins = Pins::load(&file(directory.path(), setup.realm.pin(), mode)).expect("loads");
        assert_eq!(pins.fingerprint(), setup.pins().fingerprint());
    }
    for mode in [0o660, 0o606, 0o666, 0o622] {
        assert_eq!(
            problem(Pins::load(&file(directory.path(), setup.realm.pin(), mode))),
            FileProblem::TooOpen { mode }
        );
    }
}

#[test]
fn what_is_no_credential_says_so() {
    let directory = tempfile::tempdir().expect("directory");
    let load = |text: &str| match problem(Credential::load(&file(directory.path(), text, 0o600))) {
        FileProblem::Format(what) => what,
        other => panic!("{other:?}"),
    };
    assert!(
        Credential::from_text(&format!("# made by hand\n\n  {PSK_LINE}\n")).is_ok(),
        "comments and blank lines"
    );
    assert!(load("").contains("empty"));
    assert!(load(&PSK_LINE.repeat(2)).contains("more than one"));
    assert!(load(Setup::new().realm.pin()).contains("exchange the two files"));
    for text in [
        "hkm1-psk sensor-7",
        "hkm1-psk sensor-7 AAEC",
        "hkm1-psk a/b AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=",
        "x",
    ] {
        assert!(load(text).contains("hkm1-psk <id>"), "{text}");
    }
    assert!(load(&"#".repeat(20_000)).contains("too large"));
    assert_eq!(
        problem(Credential::load(&directory.path().join("none"))),
        FileProblem::Missing
    );
    assert_eq!(problem(Credential::load(directory.path())), FileProblem::NotAFile);
}

#[test]
fn what_is_no_pin_says_so() {
    let load = |text: &str| match problem(Pins::from_text(text)) {
        FileProblem::Format(what) => what,
        other => panic!("{other:?}"),
    };
    let (setup, other) = (Setup::new(), Setup::new());
    let (line, other_line) = (setup.realm.pin(), other.realm.pin());
    assert!(load("").contains("empty"));
    assert!(load(PSK_LINE).contains("exchange the two files"));
    assert!(load(&line[..line.len() - 8]).contains("hkm1-broker <base64>"));
    assert!(
        load(&format!("{line}\n{other_line}")).contains("not the successor"),
        "a second key needs the first one's word"
    );
    let successor = other.pins().fingerprint();
    let pins = Pins::from_text(&format!("{line} {successor}\n{other_line}\n")).expect("a rotation under way");
    assert_eq!(
        (pins.fingerprint(), pins.successor()),
        (setup.pins().fingerprint(), Some(successor))
    );
    assert!(load(&format!("{line} {successor}\n{other_line}\n{line}")).contains("more than a key"));
}
