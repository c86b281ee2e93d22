//! The text forms of keys, which `enroll` and the clients import: what is read is written, and read again as the same.
#![no_main]

use hybrid_handshake::{
    identity::{BrokerLine, DeviceLine, MAX_KEY_LEN, PskLine},
    suite::SuiteId,
};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|line: &str| {
    let (mut buffer, mut other) = ([0; MAX_KEY_LEN], [0; MAX_KEY_LEN]);
    if let Ok(read) = BrokerLine::parse(line, &mut buffer) {
        assert_eq!(BrokerLine::parse(&read.to_string(), &mut other), Ok(read));
    }
    if let Ok(read) = DeviceLine::parse(line, &mut buffer) {
        assert_eq!(DeviceLine::parse(&read.to_string(), &mut other), Ok(read));
        assert!(PskLine::parse(line).is_err(), "one line is of one kind");
    }
    if let Ok(read) = PskLine::parse(line) {
        let mut text = String::new();
        read.write(&mut text).expect("a string has room");
        let again = PskLine::parse(&text).expect("just written");
        assert_eq!((again.id, again.psk.expose()), (read.id, read.psk.expose()));
    }
    if let Ok(suite) = line.parse::<SuiteId>() {
        assert_eq!(suite.to_string().parse::<SuiteId>(), Ok(suite));
    }
});
