//! The program as an operator uses it.

#[allow(dead_code, unreachable_pub, reason = "each test file uses its own part")]
#[path = "scripted/client.rs"]
mod client;
#[allow(dead_code, unreachable_pub, reason = "each test file uses its own part")]
#[path = "scripted/mqtt.rs"]
mod mqtt;

use std::{
    fs,
    io::{BufRead as _, BufReader},
    os::unix::fs::PermissionsExt as _,
    process::{Child, Command, Output, Stdio},
};

use hybrid_handshake::mqtt::{Level, PacketType};
use tempfile::TempDir;

use client::Device;

struct Place(TempDir);

impl Place {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_kemqtt-broker"));
        command.current_dir(self.0.path()).args(args);
        command
    }

    fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    /// Standard error of a command that must fail because no file may grow over so many blocks.
    fn fails_on_full_disk(&self, blocks: u32, args: &[&str]) -> String {
        let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$@\"");
        let program = env!("CARGO_BIN_EXE_kemqtt-broker");
        let mut command = Command::new("sh");
        command.current_dir(self.0.path()).args(["-c", &script, "sh", program]);
        let output = command.args(args).output().unwrap();
        assert!(!output.status.success(), "{args:?}");
        String::from_utf8(output.stderr).unwrap()
    }

    /// Names of all files.
    fn files(&self) -> Vec<String> {
        let files = fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<String> = files
            .map(|file| file.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    /// Standard output of a command that must succeed.
    fn ok(&self, args: &[&str]) -> String {
        let output = self.run(args);
        assert!(
            output.status.success(),
            "{args:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).unwrap()
    }

    /// Standard error of a command that must fail.
    fn fails(&self, args: &[&str]) -> String {
        let output = self.run(args);
        assert!(!output.status.success(), "{args:?}");
        String::from_utf8(output.stderr).unwrap()
    }
}

/// A test that fails must not leave it behind: whoever reads the test's output would wait for its end too.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn line<'a>(text: &'a str, tag: &str) -> &'a str {
    text.lines()
        .find(|line| line.starts_with(tag))
        .unwrap_or_else(|| panic!("no {tag} in {text}"))
}

#[test]
fn help_explains_every_command_by_example() {
    let place = Place::new();
    for command in [
        "run",
        "init",
        "enroll",
        "list",
        "revoke",
        "topics",
        "rotate-key",
        "check-config",
        "print-default-config",
    ] {
        assert!(place.ok(&["--help"]).contains(command));
        let help = place.ok(&[command, "--help"]);
        assert!(help.contains(&format!("kemqtt-broker {command}")), "{help}");
        assert!(help.contains("KEMQTT_CONFIG"), "{help}");
    }
}

#[test]
fn init_enroll_list_revoke() {
    let place = Place::new();
    let pin = place.ok(&["init", "--key", "mlkem768/x25519", "--key", "mlkem512/x25519"]);
    assert_eq!(pin.matches("hkm1-broker ").count(), 2);
    for file in ["kemqtt.db", "kemqtt.key"] {
        let mode = fs::metadata(place.0.path().join(file)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{file}");
    }
    let again = place.fails(&["init"]);
    assert!(
        again.contains("current key of this kind") && again.contains("rotate-key"),
        "{again}"
    );

    let out = place.ok(&["enroll", "pump-1"]);
    assert!(line(&out, "hkm1-psk pump-1 ").len() > 50);
    assert_eq!(line(&out, "hkm1-broker "), line(&pin, "hkm1-broker "));
    assert!(place.fails(&["enroll", "pump-1"]).contains("enrolled already"));
    assert!(place.fails(&["enroll", "a/b"]).contains("no device id"));

    place.ok(&[
        "enroll",
        "pump-2",
        "--out",
        "pump-2.psk",
        "--client-id",
        "valve",
        "--lowest-suite",
        "x25519-ctrulight-ascon",
    ]);
    let file = place.0.path().join("pump-2.psk");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(fs::read_to_string(&file).unwrap().starts_with("hkm1-psk pump-2 "));
    assert!(
        place
            .fails(&["enroll", "pump-3", "--out", "pump-2.psk"])
            .contains("pump-2.psk"),
        "never overwritten"
    );
    assert!(
        place
            .fails(&["enroll", "pump-3", "--psk-file", "pump-2.psk"])
            .contains("belongs to `pump-2`")
    );
    fs::write(&file, fs::read_to_string(&file).unwrap().replace("pump-2", "pump-3")).unwrap();
    let shared = place.fails(&["enroll", "pump-3", "--psk-file", "pump-2.psk"]);
    assert!(shared.contains("already belongs to device `pump-2`"), "{shared}");

    place.ok(&["revoke", "pump-1"]);
    assert!(place.fails(&["revoke", "pump-9"]).contains("no device `pump-9`"));
    let list = place.ok(&["list"]);
    assert!(line(&list, "pump-1 ").contains("revoked"));
    assert!(line(&list, "pump-2 ").contains("active") && line(&list, "pump-2 ").ends_with("valve"));
}

#[test]
fn topics_of_a_device_are_given_shown_and_changed() {
    let place = Place::new();
    place.ok(&["init", "--key", "mlkem512/x25519"]);
    let own = ["--allow-publish", "sensors/{id}/#", "--allow-publish", "news"];
    place.ok(&[&["enroll", "pump-1", "--allow-subscribe", ""][..], &own].concat());
    place.ok(&["enroll", "pump-2"]);
    let show = |words: &[&str]| {
        let shown = place.ok(&[&["topics"], words].concat());
        let lines: Vec<String> = shown
            .lines()
            .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
            .collect();
        lines
    };
    assert_eq!(show(&["pump-1"]), ["publish sensors/{id}/#,news", "subscribe none"]);
    assert_eq!(
        show(&["pump-2"]),
        ["publish # (configuration)", "subscribe # (configuration)"]
    );
    let general = ["pump-2", "--publish", "all/#,b"];
    assert_eq!(
        show(&general),
        ["publish all/#,b (configuration)", "subscribe # (configuration)"]
    );
    // A list that is not given stays.
    let changed = show(&["pump-1", "--allow-subscribe", "commands/{id}/+"]);
    assert_eq!(changed, ["publish sensors/{id}/#,news", "subscribe commands/{id}/+"]);
    assert_eq!(show(&["pump-1"]), changed);
    let list = place.ok(&["list"]);
    assert!(line(&list, "pump-1 ").contains("publish=sensors/{id}/#,news subscribe=commands/{id}/+"));
    assert!(line(&list, "pump-2 ").contains(" - "), "{list}");

    for (words, problem) in [
        (
            &["topics", "pump-1", "--allow-publish", "a#"][..],
            "`a#` is no topic filter",
        ),
        (&["topics", "pump-9"], "no device `pump-9`"),
        (
            &["topics", "pump-1", "--default", "--allow-publish", "a"],
            "cannot be used with",
        ),
        (
            &["enroll", "pump-3", "--allow-publish", "$share/g/a"],
            "without `$share`",
        ),
    ] {
        let error = place.fails(words);
        assert!(error.contains(problem), "{error}");
    }
    assert_eq!(show(&["pump-1"]), changed);
    assert!(
        place.fails(&["topics", "pump-3"]).contains("no device"),
        "not enrolled by half"
    );
    assert_eq!(
        show(&["pump-1", "--default"]),
        ["publish # (configuration)", "subscribe # (configuration)"]
    );
}

#[test]
fn configuration_errors_name_file_line_and_fix() {
    let place = Place::new();
    fs::write(place.0.path().join("broker.toml"), "[limits]\nrecord = 1\n").unwrap();
    let error = place.fails(&["check-config", "--config", "broker.toml"]);
    assert!(
        error.contains("broker.toml:2: `record = 1` is out of range\n  fix: write a number from 64 to 16384"),
        "{error}"
    );
    fs::write(place.0.path().join("broker.toml"), place.ok(&["print-default-config"])).unwrap();
    assert!(
        place
            .ok(&["check-config", "--config", "broker.toml"])
            .contains("allow_anonymous: false")
    );
    let output = place
        .command(&["check-config"])
        .env("KEMQTT_ALLOW_ANONYMOUS", "true")
        .output()
        .unwrap();
    assert!(String::from_utf8_lossy(&output.stdout).contains("allow_anonymous: true"));
    let run = place.fails(&["run"]);
    assert!(
        run.contains("kemqtt.key") && run.contains("`kemqtt-broker init`"),
        "{run}"
    );
}

#[tokio::test]
async fn run_serves_until_it_is_told_to_stop() {
    let place = Place::new();
    let pin = place.ok(&["init"]);
    let out = place.ok(&["enroll", "pump-1"]);
    let mut command = place.command(&["run", "--listen", "127.0.0.1:0", "--log-format", "json"]);
    let mut broker = Running(command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap());
    let mut log = BufReader::new(broker.0.stderr.take().unwrap())
        .lines()
        .map(Result::unwrap);
    let listening = log.find(|line| line.contains("listening")).expect("starts");
    let json: serde_json::Value = serde_json::from_str(&listening).expect("JSON lines");
    let address: std::net::SocketAddr = json["fields"]["local_addr"].as_str().unwrap().parse().unwrap();
    let taken = address.to_string();
    for flags in [
        &["--listen", &taken][..],
        &["--listen", "127.0.0.1:0", "--metrics", &taken],
    ] {
        let error = place.fails(&[&["run"], flags].concat());
        assert!(error.contains("stop it, or choose another port"), "{error}");
        assert_eq!(error.matches("os error").count(), 1, "said once: {error}");
    }

    let device = Device::psk(line(&pin, "hkm1-broker "), line(&out, "hkm1-psk "));
    let (_, mut session) = device
        .connect(address, &mqtt::connect(Level::V5, "pump-1"))
        .await
        .unwrap();
    session.send(mqtt::PINGREQ).await;
    session.expect(PacketType::Pingresp).await;

    let killed = Command::new("kill")
        .args(["-TERM", &broker.0.id().to_string()])
        .status()
        .unwrap();
    assert!(killed.success());
    assert_eq!(session.expect(PacketType::Disconnect).await[2], 0x8b);
    drop(session);
    assert!(broker.0.wait().unwrap().success());
    assert!(log.any(|line| line.contains(r#""message":"connected""#) && line.contains("pump-1")));
    assert!(
        place
            .ok(&["list"])
            .lines()
            .nth(1)
            .unwrap()
            .split_whitespace()
            .nth(3)
            .unwrap()
            != "-",
        "last seen"
    );
}

fn successors(place: &Place) -> Vec<std::path::PathBuf> {
    let files = fs::read_dir(place.0.path()).unwrap().map(|entry| entry.unwrap().path());
    files
        .filter(|path| path.to_str().unwrap().contains("kemqtt-successor-"))
        .collect()
}

#[test]
fn rotate_key_makes_the_successor_current_and_then_forgets_the_old_key() {
    let place = Place::new();
    let pin = place.ok(&["init"]);
    let first = line(&pin, "hkm1-broker ").to_owned();
    let successor = first.split(' ').nth(2).expect("the pin names the successor").to_owned();
    let files = successors(&place);
    assert_eq!(files.len(), 1);
    assert!(files[0].to_str().unwrap().contains(&successor[..16]));
    assert_eq!(fs::metadata(&files[0]).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(
        place
            .fails(&["rotate-key", "--announce"])
            .contains("has a successor already"),
        "write-once"
    );
    assert!(place.fails(&["rotate-key", "--retire"]).contains("no key retires"));

    // The successor is kept elsewhere.
    let safe = tempfile::tempdir().unwrap();
    let moved = safe.path().join(files[0].file_name().unwrap());
    fs::rename(&files[0], &moved).unwrap();
    assert!(place.fails(&["rotate-key"]).contains("--successors"));
    fs::set_permissions(&moved, fs::Permissions::from_mode(0o640)).unwrap();
    let folder = safe.path().to_str().unwrap();
    assert!(
        place
            .fails(&["rotate-key", "--successors", folder])
            .contains("chmod 600")
    );
    fs::set_permissions(&moved, fs::Permissions::from_mode(0o600)).unwrap();
    let out = place.ok(&["rotate-key", "--successors", folder]);
    assert_eq!(line(&out, "current "), format!("current {successor}"));
    let second = line(&out, "hkm1-broker ").to_owned();
    assert_ne!(second.split(' ').nth(1), first.split(' ').nth(1));
    assert!(!moved.exists(), "its key is in the registry now");
    assert_eq!(
        fs::read_dir(safe.path()).unwrap().count(),
        1,
        "and the next one is here"
    );

    let list = place.ok(&["rotate-key", "--list"]);
    assert_eq!(
        (list.matches("current ").count(), list.matches("retiring ").count()),
        (1, 1)
    );
    assert!(line(&list, "current ").contains(&successor));
    assert!(line(&list, "retiring ").ends_with(&successor));
    let retired = place.ok(&["rotate-key", "--retire"]);
    assert_eq!(retired.lines().count(), 1);
    assert!(!place.ok(&["rotate-key", "--list"]).contains("retiring"));
}

/// A command that finds no room says so, and leaves nothing that the next try would stumble over.
#[test]
fn on_a_full_disk_nothing_is_left_half_done() {
    let place = Place::new();
    // First not even the key file fits, then only that one.
    for blocks in [0, 8] {
        let error = place.fails_on_full_disk(blocks, &["init"]);
        assert!(
            error.contains("kemqtt.key") || error.contains("disk"),
            "{blocks}: {error}"
        );
        assert!(place.files().is_empty(), "{blocks}: {:?}", place.files());
    }
    place.ok(&["init"]);
    let before = place.files();

    for command in [&["enroll", "s1", "--out", "s1.psk"][..], &["rotate-key"]] {
        let error = place.fails_on_full_disk(0, command);
        assert!(error.contains("database"), "{error}");
    }
    // A device whose secret cannot be written is not enrolled either.
    place.fails(&["enroll", "s1", "--out", "nowhere/s1.psk"]);
    assert_eq!(place.files(), before);
    assert!(!place.ok(&["list"]).contains("s1"));

    place.ok(&["enroll", "s1", "--out", "s1.psk"]);
    place.ok(&["rotate-key"]);
}
