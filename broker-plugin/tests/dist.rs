//! The files of `dist/`: the unit as systemd reads it, and the Dockerfile against the tree that it builds.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use kemqtt_broker::{Config, config::SETTINGS};

const UNIT: &str = include_str!("../dist/kemqtt-broker.service");
const DOCKERFILE: &str = include_str!("../dist/Dockerfile");

/// The unit with the program where it is now: systemd wants to see it.
fn verify(unit: &str) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("kemqtt-broker.service");
    let unit = unit.replace("/usr/local/bin/kemqtt-broker", env!("CARGO_BIN_EXE_kemqtt-broker"));
    fs::write(&file, unit).unwrap();
    let run = Command::new("systemd-analyze")
        .args(["verify", "--man=no", "--recursive-errors=no"])
        .arg(&file)
        .output();
    run.expect("systemd-analyze; `cargo xtask setup` installs it")
}

#[test]
fn systemd_takes_the_unit() {
    let verified = verify(UNIT);
    let said = String::from_utf8_lossy(&verified.stderr);
    assert!(verified.status.success() && said.is_empty(), "{said}");
    // It would say so.
    let broken = verify(&UNIT.replace("PrivateDevices=", "PrivatDevices="));
    assert!(!broken.status.success(), "{broken:?}");
}

#[test]
fn the_unit_shuts_the_service_in() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("kemqtt-broker.service");
    fs::write(&file, UNIT).unwrap();
    // Tenths: 0 is shut in, 100 is a plain process of root.
    let rated = Command::new("systemd-analyze")
        .args(["security", "--no-pager", "--offline=yes", "--threshold=20"])
        .arg(&file)
        .output()
        .expect("systemd-analyze; `cargo xtask setup` installs it");
    assert!(rated.status.success(), "{}", String::from_utf8_lossy(&rated.stdout));
}

/// The settings that the unit's comments name make a configuration, and it lies in the folder that the unit may write.
#[test]
fn the_unit_and_its_configuration_agree() {
    let line = |key: &str| UNIT.lines().find_map(|line| line.strip_prefix(key)).expect(key).trim();
    let state = format!("/var/lib/{}", line("StateDirectory="));
    assert_eq!(line("WorkingDirectory="), state);
    let named = UNIT
        .split_once("broker.toml      # ")
        .unwrap()
        .1
        .lines()
        .next()
        .unwrap();
    let config = Config::parse(&named.replace(", ", "\n"), "unit", &<_>::default()).unwrap();
    assert_eq!(config.registry.to_string(), format!("{state}/kemqtt.db"));
    assert_eq!(config.seal_key, Path::new(&state).join("kemqtt.key"));
    variables(UNIT);
    assert!(
        UNIT.contains("ExecReload=/bin/kill -HUP $MAINPID"),
        "SIGHUP is the reload"
    );
}

#[test]
fn the_dockerfile_fits_the_tree() {
    let lines = instructions(DOCKERFILE);
    let all = |name: &str| -> Vec<&str> {
        let words = lines.iter().filter_map(|line| line.split_once(' '));
        words.filter(|(word, _)| *word == name).map(|(_, rest)| rest).collect()
    };
    for image in all("FROM") {
        let (_, tag) = image.split_whitespace().next().unwrap().split_once(':').expect("a tag");
        assert_ne!(tag, "latest");
    }
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..");
    assert_eq!(
        all("COPY"),
        [". .", "--from=build /src/target/release/kemqtt-broker /usr/local/bin/"]
    );
    let build = all("RUN")[0];
    assert_eq!(build, "cargo build --locked --release -p kemqtt-broker");
    assert!(root.join("Cargo.lock").exists(), "for --locked");
    let ignored = include_str!("../dist/Dockerfile.dockerignore");
    assert!(ignored.lines().any(|line| line == "**/target") && !ignored.contains("Cargo"));
    // Nothing runs as root, nor through a shell that would keep signals to itself.
    let place = |name: &str| lines.iter().position(|line| line.starts_with(name)).expect(name);
    assert!(place("USER kemqtt") < place("ENTRYPOINT"));
    assert_eq!(
        (all("ENTRYPOINT"), all("CMD")),
        (vec!["[\"kemqtt-broker\"]"], vec!["[\"run\"]"])
    );
    let default = Config::parse("", "defaults", &<_>::default()).unwrap();
    assert_eq!(all("EXPOSE"), [default.listen.port().to_string()]);
    assert_eq!(
        all("WORKDIR").last(),
        all("VOLUME").last(),
        "where the registry lies by default"
    );
    variables(DOCKERFILE);
}

/// Instructions without comments, continued lines joined.
fn instructions(text: &str) -> Vec<String> {
    let text = text.replace("\\\n", " ");
    let lines = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(str::to_owned).collect()
}

/// Every `KEMQTT_...` of `text` is a setting.
fn variables(text: &str) {
    let words = text.split(|c: char| !(c.is_ascii_uppercase() || c == '_'));
    let named: Vec<&str> = words.filter(|word| word.starts_with("KEMQTT_")).collect();
    assert!(!named.is_empty());
    for name in named {
        assert!(SETTINGS.iter().any(|setting| setting.variable == name), "{name}");
    }
}
