//! A configuration error names the file, the line and the fix.

use std::{io::Write as _, time::Duration};

use kemqtt_broker::{
    Config, ConfigError, Limits,
    config::{BackendConfig, DEFAULT_FILE, LogFormat, Overrides, RegistryConfig, SETTINGS},
    policy::{ClientIdPolicy, UserForm},
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
         [identity]\nclient_id = \"prefix\"\nuser_prefix = \"dev-\"\nuser_form = \"jid\"\n[limits]\nm3_timeout_s = 7\nrecord = 256\n[log]\nformat = \"json\"\n",
    )
    .unwrap();
    assert_eq!(config.listen.to_string(), "127.0.0.1:1");
    assert!(config.allow_anonymous);
    assert_eq!(
        config.backend,
        BackendConfig::Tcp {
            address: "127.0.0.1:1883".into(),
            guard: false,
            proxy_protocol: false,
        }
    );
    assert_eq!(config.client_id, ClientIdPolicy::Prefix);
    assert_eq!((&*config.user_prefix, config.user_form), ("dev-", UserForm::Jid));
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
    assert_eq!(refused("[identity]\nuser_form = \"xmpp\"\n").0, 2);
    let (line, problem, fix) = refused("[identity]\nuser_form = \"jid\"\nuser_prefix = \"kem:\"\n");
    assert_eq!(line, 3);
    assert!(problem.contains("JID") && fix.contains("kem."), "{problem}: {fix}");
}

fn overrides(set: &[(&str, &str)]) -> Overrides {
    let mut overrides = Overrides::default();
    for (key, text) in set {
        overrides.set(key, text).unwrap();
    }
    overrides
}

#[test]
fn flags_win_over_the_file() {
    let over = overrides(&[
        ("listen", "127.0.0.1:7"),
        ("backend.kind", "unix:/run/mqtt.sock"),
        ("log.format", "json"),
        ("limits.record", "256"),
        ("topics.publish", "a/{id}/#,b"),
        ("allow_anonymous", "false"),
    ]);
    let file = "listen = \"127.0.0.1:1\"\nallow_anonymous = true\n[limits]\nrecord = 512\nconnect = 2048\n";
    let config = Config::parse(file, "broker.toml", &over).unwrap();
    assert_eq!(config.listen.port(), 7);
    assert_eq!(
        config.backend,
        BackendConfig::Unix {
            path: "/run/mqtt.sock".into(),
            guard: true,
            proxy_protocol: false,
        }
    );
    assert_eq!(config.log.format, LogFormat::Json);
    assert_eq!((config.limits.record, config.limits.connect), (256, 2048));
    assert_eq!(config.topics.publish.unwrap(), ["a/{id}/#", "b"]);
    assert!(!config.allow_anonymous);
}

#[test]
fn a_mistake_in_a_flag_names_the_flag() {
    for (key, text, flag) in [
        ("listen", "x", "--listen"),
        ("metrics.listen", "192.0.2.1:1", "--metrics"),
        ("backend.kind", "tcp://192.0.2.1:1883", "--backend"),
        ("limits.workers", "0", "--workers"),
        ("registry", "mysql://x/y", "--registry"),
        ("lowest_suite", "rsa", "--suite-floor"),
        ("topics.subscribe", "a/#/b", "--subscribe"),
    ] {
        let error = Config::parse("", "broker.toml", &overrides(&[(key, text)])).expect_err(flag);
        assert_eq!((error.place.as_str(), error.line), (flag, None));
    }
    for (key, text, flag) in [
        ("backend.kind", "http://x", "--backend"),
        ("limits.workers", "two", "--workers"),
        ("backend.guard", "maybe", "--guard"),
    ] {
        let error = Overrides::default().set(key, text).expect_err(flag);
        assert_eq!(error.place, flag);
    }
}

/// Everything that is in the printed file, commented out or not, has a flag and a variable, and the other way round.
#[test]
fn the_file_and_the_table_of_settings_name_the_same_things() {
    let mut table = String::new();
    let mut in_file = Vec::new();
    for line in DEFAULT_FILE.lines() {
        if let Some(name) = line.strip_prefix('[') {
            table = format!("{}.", name.trim_end_matches(']'));
        }
        let setting = line.trim_start_matches("# ").split_once(" = ");
        if let Some((key, _)) = setting
            && key
                .bytes()
                .all(|b| b.is_ascii_lowercase() || b == b'_' || b.is_ascii_digit())
        {
            in_file.push(format!("{table}{key}"));
        }
    }
    in_file.sort();
    in_file.dedup();
    let mut in_table: Vec<_> = SETTINGS.iter().map(|setting| setting.key.to_owned()).collect();
    in_table.sort();
    assert_eq!(in_file, in_table);
    for setting in SETTINGS {
        assert_eq!(
            setting.variable,
            format!("KEMQTT_{}", setting.flag.to_uppercase().replace('-', "_"))
        );
    }
}

#[test]
fn a_registry_that_others_could_change_is_refused() {
    let at = |url: &str| parse(&format!("registry = \"{url}\"\n"));
    for near in [
        "postgres://me@localhost/kemqtt",
        "postgres://me:secret@127.0.0.1:5433/kemqtt",
        "postgresql://me@[::1]/kemqtt",
        "postgres://me@localhost/kemqtt?host=/run/postgresql",
        "postgres://me@db.example.com/kemqtt?sslmode=verify-full",
    ] {
        let config = at(near).unwrap();
        assert_eq!(config.registry, RegistryConfig::Postgres(near.to_owned()));
        assert!(!format!("{config:?}").contains("secret"), "{config:?}");
    }
    for far in [
        "postgres://me@db.example.com/kemqtt",
        "postgres://me@192.0.2.1/kemqtt?sslmode=require",
    ] {
        let error = at(far).unwrap_err();
        assert_eq!(error.line, Some(1));
        assert!(error.fix.contains("verify-full"), "{error}");
    }
    assert_eq!(
        parse("registry = \"a/b.db\"\n").unwrap().registry,
        RegistryConfig::File("a/b.db".into())
    );
}

#[test]
fn topics_need_the_guard_and_must_be_filters() {
    let backend = "[backend]\nkind = \"tcp\"\naddress = \"127.0.0.1:1\"\nguard = false\n";
    let (line, problem, _) = refused(&format!("{backend}[topics]\npublish = [\"a\"]\n"));
    assert_eq!((line, problem.as_str()), (4, "`topics` needs the guard"));
    assert!(parse(&format!("{backend}[topics]\npublish = [\"#\"]\n")).is_ok());
    let (_, problem, _) = refused(&format!("{backend}[topics]\nanonymous_subscribe = []\n"));
    assert_eq!(problem, "`topics` needs the guard");
    assert_eq!(refused("[topics]\nsubscribe = [\"a\",\n\"b#\"]\n").0, 2);
    let (line, problem, _) = refused("[topics]\npublish = []\nanonymous_publish = [\"$share/g/a\"]\n");
    assert_eq!(
        (line, problem.as_str()),
        (3, "`$share/g/a` is no topic filter for a rule")
    );
    let config = parse("[topics]\npublish = []\nanonymous_publish = [\"a\"]\n").unwrap();
    assert_eq!(config.topics.publish.unwrap(), [""; 0]);
    assert_eq!(config.anonymous_topics.publish.unwrap(), ["a"]);
    assert_eq!(config.topics.subscribe.unwrap(), ["#"]);
    assert_eq!(config.anonymous_topics.subscribe, None);
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
