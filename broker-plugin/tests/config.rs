//! A configuration error names the file, the line and the fix.

use std::{io::Write as _, time::Duration};

use kemqtt_broker::{
    Config, ConfigError, Limits,
    config::{BackendConfig, DEFAULT_FILE, LogFormat, Overrides},
    policy::ClientIdPolicy,
};

fn parse(text: &str) -> Result<Config, ConfigError> {
    Config::parse(text, "broker.toml", &Overrides::default())
}

/// Line, problem and fix of the error that `text` must give.
fn refused(text: &str) -> (usize, String, String) {
    let error = parse(text).expect_err("must be refused");
    assert_eq!(error.place, "broker.toml");
    (error.line.expect("names a line"), error.problem, error.fix)
}

#[test]
fn the_printed_default_file_holds_the_defaults() {
    let printed = parse(DEFAULT_FILE).unwrap();
    let built_in = parse("").unwrap();
    assert_eq!(format!("{printed:?}"), format!("{built_in:?}"));
    assert_eq!(printed.limits, Limits::default());
    assert!(!printed.allow_anonymous);
    assert_eq!(
        printed.backend,
        BackendConfig::Rumqttd {
            max_packet: 1 << 20,
            max_connections: 10_000
        }
    );
}

#[test]
fn values_arrive() {
    let config = parse(
        "listen = \"127.0.0.1:1\"\nallow_anonymous = true\n[backend]\nkind = \"tcp\"\naddress = \"127.0.0.1:1883\"\nguard = false\n\
         [identity]\nclient_id = \"prefix\"\nuser_prefix = \"dev-\"\n[limits]\nm3_timeout_s = 7\nrecord = 256\n[log]\nformat = \"json\"\n",
    )
    .unwrap();
    assert_eq!(config.listen.to_string(), "127.0.0.1:1");
    assert!(config.allow_anonymous);
    assert_eq!(
        config.backend,
        BackendConfig::Tcp {
            address: "127.0.0.1:1883".into(),
            guard: false
        }
    );
    assert_eq!(config.client_id, ClientIdPolicy::Prefix);
    assert_eq!(config.user_prefix, "dev-");
    assert_eq!(config.limits.m3_timeout, Duration::from_secs(7));
    assert_eq!(config.limits.record, 256);
    assert_eq!(config.log.format, LogFormat::Json);
}

#[test]
fn a_misspelt_key_names_its_line() {
    let (line, problem, fix) = refused("# top\nlisten = \"127.0.0.1:1\"\nallow_anonymus = true\n");
    assert_eq!(line, 3);
    assert!(problem.contains("allow_anonymus"), "{problem}");
    assert!(fix.contains("print-default-config"), "{fix}");
}

#[test]
fn broken_toml_names_its_line() {
    assert_eq!(refused("allow_anonymous = true\nlisten = \n").0, 2);
}

#[test]
fn a_wrong_address_is_explained() {
    let (line, problem, fix) = refused("\n\nlisten = \"localhost\"\n");
    assert_eq!(line, 3);
    assert!(problem.contains("localhost"), "{problem}");
    assert!(fix.contains("0.0.0.0:1884"), "{fix}");
}

#[test]
fn a_number_out_of_range_names_the_range() {
    let (line, problem, fix) = refused("[limits]\nrecord = 63\n");
    assert_eq!((line, problem.as_str()), (2, "`record = 63` is out of range"));
    assert_eq!(fix, "write a number from 64 to 16384");
    assert_eq!(refused("[limits]\nconnect = 1000\n").0, 2);
    assert!(parse("[limits]\nrecord = 64\nconnect = 61440\n").is_ok());
}

#[test]
fn a_back_end_in_clear_over_a_network_needs_a_word() {
    let far = "[backend]\nkind = \"tcp\"\naddress = \"192.0.2.1:1883\"\n";
    let (line, problem, fix) = refused(far);
    assert_eq!(line, 3);
    assert!(problem.contains("in clear"), "{problem}");
    assert!(fix.contains("trusted_network"), "{fix}");
    assert!(parse(&format!("{far}trusted_network = true\n")).is_ok());
    assert!(parse("[backend]\nkind = \"tcp\"\naddress = \"localhost:1883\"\n").is_ok());
}

#[test]
fn incomplete_or_unknown_back_ends_are_refused() {
    assert_eq!(refused("[backend]\nkind = \"tcp\"\n").0, 2);
    assert_eq!(refused("[backend]\nkind = \"unix\"\n").0, 2);
    assert_eq!(refused("[backend]\nkind = \"kafka\"\n").0, 2);
    let (_, problem, _) = refused("[backend]\nkind = \"rumqttd\"\nguard = false\n");
    assert!(problem.contains("guard"), "{problem}");
}

#[test]
fn metrics_stay_on_loopback() {
    let (line, problem, _) = refused("[metrics]\nlisten = \"0.0.0.0:9464\"\n");
    assert_eq!(line, 2);
    assert!(problem.contains("loopback"), "{problem}");
}

#[test]
fn other_words_are_refused_where_they_stand() {
    assert_eq!(refused("[log]\nformat = \"xml\"\n").0, 2);
    assert_eq!(refused("[identity]\nclient_id = \"any\"\n").0, 2);
    assert_eq!(refused("[identity]\nuser_prefix = \"a b\"\n").0, 2);
}

#[test]
fn flags_win_over_the_file_and_name_themselves_in_errors() {
    let over = Overrides {
        listen: Some("127.0.0.1:7".into()),
        backend: Some("unix:/run/mqtt.sock".into()),
        log_format: Some(LogFormat::Json),
        ..Overrides::default()
    };
    let config = Config::parse("listen = \"127.0.0.1:1\"\n", "broker.toml", &over).unwrap();
    assert_eq!(config.listen.port(), 7);
    assert_eq!(
        config.backend,
        BackendConfig::Unix {
            path: "/run/mqtt.sock".into(),
            guard: true
        }
    );
    assert_eq!(config.log.format, LogFormat::Json);

    for (over, flag) in [
        (
            Overrides {
                listen: Some("x".into()),
                ..Overrides::default()
            },
            "--listen",
        ),
        (
            Overrides {
                metrics: Some("192.0.2.1:1".into()),
                ..Overrides::default()
            },
            "--metrics",
        ),
        (
            Overrides {
                backend: Some("tcp://192.0.2.1:1883".into()),
                ..Overrides::default()
            },
            "--backend",
        ),
        (
            Overrides {
                backend: Some("http://x".into()),
                ..Overrides::default()
            },
            "--backend",
        ),
    ] {
        let error = Config::parse("", "broker.toml", &over).expect_err(flag);
        assert_eq!((error.place.as_str(), error.line), (flag, None));
    }
}

#[test]
fn the_message_reads_file_line_problem_fix() {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(b"[limits]\nrecord = 1\n").unwrap();
    let error = Config::load(Some(file.path()), &Overrides::default()).expect_err("out of range");
    let want = format!(
        "{}:2: `record = 1` is out of range\n  fix: write a number from 64 to 16384",
        file.path().display()
    );
    assert_eq!(error.to_string(), want);
}

#[test]
fn a_missing_file_is_an_error_with_a_way_out() {
    let error = Config::load(Some("/nonexistent/kemqtt.toml".as_ref()), &Overrides::default()).expect_err("missing");
    assert!(
        error
            .to_string()
            .starts_with("/nonexistent/kemqtt.toml: cannot be read"),
        "{error}"
    );
    assert!(error.fix.contains("print-default-config"));
}
