//! The `kemqtt` binary from outside: help, exit codes, messages.
#![cfg(all(unix, feature = "cli"))]

mod peer;

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;

use hybrid_handshake::suite::{Group, KemId};
use kemqtt_client::responder::Realm;

#[test]
fn help_names_every_subcommand_with_examples_and_exit_codes() {
    let home = Home::empty();
    let help = home.kemqtt(&["--help"]);
    assert_eq!(help.code, 0);
    for word in [
        "pub",
        "sub",
        "bridge",
        "bench",
        "keygen",
        "Exit codes:",
        "broker.pin",
        "credential.key",
    ] {
        assert!(help.stdout.contains(word), "{word}");
    }
    for subcommand in ["pub", "sub", "bridge", "bench", "keygen"] {
        let help = home.kemqtt(&[subcommand, "--help"]);
        assert_eq!(help.code, 0, "{subcommand}");
        assert!(help.stdout.contains("Examples:"), "{subcommand}");
    }
}

#[test]
fn wrong_arguments_are_exit_code_2() {
    let home = Home::empty();
    for arguments in [
        &["nonsense"][..],
        &["pub", "-t", "a"],
        &["pub", "-t", "a/#", "-m", "x"],
        &["pub", "-t", "a", "-m", "x", "-q", "3"],
        &["pub", "-t", "a", "-m", "x", "-f", "y"],
        &["pub", "-t", "a", "-m", "x", "--will-retain"],
        &["pub", "-t", "a", "-m", "x", "--suite", "x25519-unknown-ascon"],
        &["pub", "-t", "a", "-m", "x", "--anonymous", "--credential", "file"],
        &["sub"],
        &["bridge", "--listen", "1883"],
        &["keygen", "psk", "--id", "a/b"],
        &["bench", "-n", "0"],
    ] {
        let run = home.kemqtt(arguments);
        assert_eq!(run.code, 2, "{arguments:?}: {}", run.stderr);
    }
}

#[test]
fn missing_and_open_key_files_are_exit_code_6_and_say_what_to_do() {
    let home = Home::empty();
    let run = home.kemqtt(&["pub", "-t", "a", "-m", "x"]);
    assert_eq!(run.code, 6);
    assert!(
        run.stderr.contains("broker.pin") && run.stderr.contains("hkm1-broker"),
        "{}",
        run.stderr
    );

    let home = Home::with_keys();
    fs::remove_file(home.config("credential.key")).expect("removes");
    let run = home.kemqtt(&["pub", "-t", "a", "-m", "x"]);
    assert_eq!(run.code, 6);
    assert!(
        run.stderr.contains("keygen psk") && run.stderr.contains("--anonymous"),
        "{}",
        run.stderr
    );

    let home = Home::with_keys();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o644);
    fs::set_permissions(home.config("credential.key"), mode).expect("sets the mode");
    let run = home.kemqtt(&["sub", "-t", "a"]);
    assert_eq!(run.code, 6);
    assert!(run.stderr.contains("chmod 600"), "{}", run.stderr);
}

#[test]
fn a_suite_below_the_floor_is_exit_code_6_before_any_connection() {
    let home = Home::with_keys();
    let run = home.kemqtt(&[
        "pub",
        "-t",
        "a",
        "-m",
        "x",
        "--suite",
        "x25519-mlkem512-ascon",
        "--floor",
        "x25519-mlkem768-ascon",
    ]);
    assert_eq!(run.code, 6);
    assert!(run.stderr.contains("floor"), "{}", run.stderr);
}

#[test]
fn a_broker_that_is_not_there_is_exit_code_3() {
    let home = Home::with_keys();
    let run = home.kemqtt(&["pub", "-t", "a", "-m", "x", "--broker", &free_address()]);
    assert_eq!(run.code, 3);
    assert!(run.stderr.contains("cannot reach"), "{}", run.stderr);
    assert_eq!(run.stderr.matches("os error").count(), 1, "said once: {}", run.stderr);
}

#[test]
fn a_plain_broker_is_exit_code_5() {
    let home = Home::with_keys();
    let listener = TcpListener::bind("127.0.0.1:0").expect("binds");
    let address = listener.local_addr().expect("address").to_string();
    let broker = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("accepts");
        let _ = stream.read(&mut [0; 4096]);
        stream
            .write_all(b"\x20\x03\x00\x00\x00")
            .expect("answers like a broker that ignores the method");
        let _ = stream.read_to_end(&mut Vec::new());
    });
    let run = home.kemqtt(&["sub", "-t", "a", "--broker", &address]);
    assert_eq!(run.code, 5, "{}", run.stderr);
    assert!(run.stderr.contains("without any authentication"), "{}", run.stderr);
    broker.join().expect("broker");
}

#[test]
fn keygen_writes_a_private_file_once_and_shows_fingerprints() {
    let home = Home::empty();
    let run = home.kemqtt(&["keygen", "psk", "--id", "sensor-7"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let path = home.config("credential.key");
    assert_eq!(run.stdout.trim(), path.to_str().expect("path"));
    let text = fs::read_to_string(&path).expect("reads");
    assert!(text.starts_with("hkm1-psk sensor-7 "));
    assert!(
        !run.stdout.contains("hkm1-psk") && !run.stderr.contains(&text[18..]),
        "the secret is only in the file"
    );
    let again = home.kemqtt(&["keygen", "psk", "--id", "sensor-7"]);
    assert_eq!(again.code, 6);
    assert_eq!(fs::read_to_string(&path).expect("reads"), text);

    let home = Home::with_keys();
    let run = home.kemqtt(&["keygen", "fingerprint"]);
    let pins =
        kemqtt_client::Pins::from_text(&fs::read_to_string(home.config("broker.pin")).expect("reads")).expect("pin");
    assert_eq!(run.stdout.trim(), pins.fingerprint().to_string());
}

#[test]
fn keygen_device_prints_what_is_enrolled_and_keeps_the_secret_half() {
    let home = Home::empty();
    let run = home.kemqtt(&["keygen", "device", "--id", "pump-17"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(
        run.stdout.starts_with("hkm1-device pump-17 ") && run.stdout.lines().count() == 1,
        "{}",
        run.stdout
    );
    let text = fs::read_to_string(home.config("credential.key")).expect("reads");
    let secret = text.lines().nth(1).expect("secret half");
    assert!(!run.stdout.contains(secret) && !run.stderr.contains(secret));
}

#[test]
fn a_research_suite_is_warned_of_once() {
    let home = Home::with_keys();
    let run = home.kemqtt(&[
        "pub",
        "-t",
        "a",
        "-m",
        "x",
        "--suite",
        "x25519-ctrulight-ascon",
        "--broker",
        &free_address(),
    ]);
    assert_eq!(
        run.stderr.matches("warning: x25519-ctrulight-ascon").count(),
        1,
        "{}",
        run.stderr
    );
    let run = home.kemqtt(&["pub", "-t", "a", "-m", "x", "--broker", &free_address()]);
    assert!(!run.stderr.contains("warning"), "{}", run.stderr);
}

#[test]
fn the_bridge_does_not_open_to_other_machines_unasked() {
    let home = Home::with_keys();
    let run = home.kemqtt(&["bridge", "--listen", "tcp:0.0.0.0:0"]);
    assert_eq!(run.code, 1);
    assert!(run.stderr.contains("--allow-remote"), "{}", run.stderr);
}

#[test]
fn bench_measures_suites_and_tls_and_prints_a_table_or_json() {
    let home = Home::empty();
    let suites = [
        "--suite",
        "x25519-mlkem768-chacha20poly1305",
        "--suite",
        "p256-mlkem512-ascon",
    ];
    let run = home.kemqtt(&[&["bench", "-n", "3", "--tls-peer", "--json"][..], &suites].concat());
    assert_eq!(run.code, 0, "{}", run.stderr);
    let report: serde_json::Value = serde_json::from_str(&run.stdout).expect("JSON");
    let contenders = report["contenders"].as_array().expect("list");
    let names: Vec<_> = contenders.iter().map(|c| c["name"].as_str().expect("name")).collect();
    assert_eq!(
        names,
        [
            "x25519-mlkem768-chacha20poly1305",
            "p256-mlkem512-ascon",
            "tls1.3-x25519mlkem768-ecdsa-p256"
        ]
    );
    for contender in contenders {
        assert_eq!(contender["handshakes"], 3);
        assert!(contender["p50_ms"].as_f64() <= contender["p99_ms"].as_f64());
        assert!(contender["sent_bytes"].as_u64() > Some(1000));
    }
    let run = home.kemqtt(&["bench", "-n", "1"]);
    assert!(
        run.stdout.contains("p99 ms") && run.stdout.contains("x25519-mlkem768-chacha20poly1305"),
        "{}",
        run.stdout
    );
}

#[test]
fn what_one_publishes_the_other_prints_in_both_protocol_levels() {
    let broker = Broker::start();
    for (version, qos) in [("5", "0"), ("5", "1"), ("5", "2"), ("3.1.1", "0"), ("3.1.1", "2")] {
        let mut sub = broker.spawn(&["sub", "-t", "room/#", "-v", "-C", "3", "-V", version, "--debug"]);
        wait_for(&mut sub, "<- record");
        let run = broker.kemqtt(&[
            "pub",
            "-t",
            "room/temp",
            "-m",
            "21.5",
            "-q",
            qos,
            "-V",
            version,
            "--count",
            "3",
        ]);
        assert_eq!(run.code, 0, "{}", run.stderr);
        let output = sub.wait_with_output().expect("ends after three messages");
        assert_eq!(output.status.code(), Some(0));
        assert_eq!(
            String::from_utf8_lossy(&output.stdout),
            "room/temp 21.5\n".repeat(3),
            "MQTT {version} QoS {qos}"
        );
    }
}

#[test]
fn a_large_file_is_published_whole() {
    let broker = Broker::start();
    let payload = peer::payload(1_000_000);
    let file = broker.home.config("payload.bin");
    fs::write(&file, &payload).expect("writes");
    let mut sub = broker.spawn(&["sub", "-t", "f", "-C", "1", "--debug"]);
    wait_for(&mut sub, "<- record");
    let run = broker.kemqtt(&["pub", "-t", "f", "--file", file.to_str().expect("path"), "-q", "1"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let output = sub.wait_with_output().expect("ends");
    assert!(output.stdout == [&payload[..], b"\n"].concat());
}

#[test]
fn the_second_pub_is_resumed_by_the_ticket_of_the_first() {
    let broker = Broker::start();
    let publish = || broker.kemqtt(&["pub", "-t", "t", "-m", "x", "-q", "1", "--debug"]);
    let (first, second) = (publish(), publish());
    assert!(first.stderr.contains("established in"), "{}", first.stderr);
    assert!(second.stderr.contains("resumed in"), "{}", second.stderr);
    let third = broker.kemqtt(&["pub", "-t", "t", "-m", "x", "-q", "1", "--debug", "--no-ticket"]);
    assert!(third.stderr.contains("established in"), "{}", third.stderr);
}

#[test]
fn debug_shows_the_handshake_packet_by_packet() {
    let broker = Broker::start();
    let run = broker.kemqtt(&["pub", "-t", "t", "-m", "x", "--debug"]);
    for line in [
        "-> CONNECT    M1",
        "<- AUTH       M2",
        "-> AUTH       M3",
        "<- CONNACK    M4",
    ] {
        assert!(run.stderr.contains(line), "{}", run.stderr);
    }
    let credential = fs::read_to_string(broker.home.config("credential.key")).expect("reads");
    let secret = credential.split_whitespace().last().expect("secret");
    assert!(!run.stderr.contains(secret));
}

#[test]
fn the_bridge_carries_a_plain_client() {
    let broker = Broker::start();
    let mut bridge = broker.spawn(&["bridge", "--listen", "tcp:127.0.0.1:0"]);
    let line = wait_for(&mut bridge, "plain MQTT on tcp:");
    let address = line
        .split("tcp:")
        .nth(1)
        .and_then(|rest| rest.split(',').next())
        .expect("address")
        .to_owned();
    let mut client = TcpStream::connect(address).expect("connects");
    client.write_all(peer::CONNECT_4).expect("writes");
    client.write_all(b"\xc0\x00").expect("writes");
    let mut answer = [0; 6];
    client.read_exact(&mut answer).expect("reads");
    assert_eq!(&answer, b"\x20\x02\x00\x00\xd0\x00", "CONNACK, PINGRESP");
    bridge.kill().expect("ends");
    bridge.wait().expect("ends");
}

/// A broker in this process, and a home that knows it.
struct Broker {
    home: Home,
    address: String,
    _runtime: tokio::runtime::Runtime,
}

impl Broker {
    fn start() -> Self {
        let mut setup = peer::Setup::new();
        Arc::get_mut(&mut setup.realm)
            .expect("alone")
            .give_tickets()
            .expect("key");
        let home = Home::empty();
        setup.device.create(&home.config("credential.key")).expect("creates");
        fs::write(home.config("broker.pin"), setup.realm.pin()).expect("writes");
        let runtime = tokio::runtime::Runtime::new().expect("runtime");
        let address = runtime.block_on(peer::mqtt::listen(setup.realm.clone()));
        Self {
            home,
            address,
            _runtime: runtime,
        }
    }

    fn kemqtt(&self, arguments: &[&str]) -> Run {
        self.home.kemqtt(&[arguments, &["--broker", &self.address]].concat())
    }

    fn spawn(&self, arguments: &[&str]) -> Child {
        let mut command = command(self.home.0.path());
        command.args(arguments).args(["--broker", &self.address]);
        command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("runs")
    }
}

/// Reads the child's stderr up to a line that contains `text`, and goes on reading in the background.
fn wait_for(child: &mut Child, text: &str) -> String {
    let mut lines = BufReader::new(child.stderr.take().expect("piped")).lines();
    let line = lines
        .by_ref()
        .map_while(Result::ok)
        .find(|line| line.contains(text))
        .expect("the line comes");
    std::thread::spawn(move || lines.for_each(drop));
    line
}

/// A home directory of its own, so that no test sees real keys.
struct Home(tempfile::TempDir);

struct Run {
    code: i32,
    stdout: String,
    stderr: String,
}

impl Home {
    fn empty() -> Self {
        Self(tempfile::tempdir().expect("directory"))
    }

    fn with_keys() -> Self {
        let home = Self::empty();
        let made = home.kemqtt(&["keygen", "psk", "--id", "sensor-7"]);
        assert_eq!(made.code, 0, "{}", made.stderr);
        let realm = Realm::generate(KemId::MlKem768, Group::X25519).expect("key");
        fs::write(home.config("broker.pin"), realm.pin()).expect("writes");
        home
    }

    fn config(&self, name: &str) -> std::path::PathBuf {
        self.0.path().join(".config").join("kemqtt").join(name)
    }

    fn kemqtt(&self, arguments: &[&str]) -> Run {
        let Output { status, stdout, stderr } = command(self.0.path()).args(arguments).output().expect("runs");
        Run {
            code: status.code().expect("no signal"),
            stdout: String::from_utf8(stdout).expect("UTF-8"),
            stderr: String::from_utf8(stderr).expect("UTF-8"),
        }
    }
}

fn command(home: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kemqtt"));
    command.env_clear().env("HOME", home).stdin(Stdio::null());
    command
}

/// A port that was free a moment ago.
fn free_address() -> String {
    TcpListener::bind("127.0.0.1:0")
        .expect("binds")
        .local_addr()
        .expect("address")
        .to_string()
}
