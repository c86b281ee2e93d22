//! Parsers and machines against arbitrary bytes and arbitrary honest parameters.
#![allow(missing_docs)]

#[allow(dead_code, unreachable_pub)] // shared by the files of this folder
#[path = "scripted/wire.rs"]
mod wire;

use hybrid_handshake::{
    identity::{BrokerLine, DeviceId, DeviceLine, MAX_KEY_LEN, PskLine, PublicKey},
    message::{BrokerLimits, Capabilities, ClientLimits, M1Header},
    resume::Ticket,
    suite::{Mode, SuiteId},
};
use proptest::{collection::vec, prelude::*};
use wire::{World, first_flight, read_any_m1};

fn capabilities() -> impl Strategy<Value = Capabilities> {
    (0..8_u16).prop_map(|bits| Capabilities::from_bits(bits).unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn honest_sides_agree_whatever_they_say(
        limits in (64..=16384_u16, 200..=16384_u16, 64..=16384_u16, 1024..=61440_u16),
        offered in capabilities(),
        wanted in capabilities(),
        connect in vec(any::<u8>(), 1..1024),
        connack in vec(any::<u8>(), 1..100),
        id in "[!-\"$-*,-.0-~]{1,32}",
        code in prop::sample::select(vec![0x1011, 0x0222, 0x1912]),
    ) {
        let mut world = World::new(SuiteId::from_code(code).unwrap(), Mode::Psk);
        world.id = DeviceId::new(&id).unwrap();
        world.client_limits = ClientLimits::new(limits.0, limits.1).unwrap();
        world.broker_limits = BrokerLimits::new(limits.2, limits.3).unwrap();
        (world.capabilities, world.options) = (offered, wanted);
        (world.connect, world.connack) = (connect, connack);
        let done = world.run().unwrap();
        prop_assert_eq!((&done.connect, &done.connack), (&world.connect, &world.connack));
        prop_assert_eq!(done.client.options, offered.and(wanted));
        prop_assert_eq!(done.claim.device.map(|id| id.as_str().to_owned()), Some(id));
        prop_assert_eq!((done.client.sealer.limit(), done.broker.sealer.limit()), (limits.2, limits.0));
    }

    #[test]
    fn arbitrary_bytes_are_no_m1(mut bytes in vec(any::<u8>(), 0..1000), keep in 0..60_usize) {
        let world = World::new(SuiteId::SENSOR_DEFAULT, Mode::Psk);
        let (m1, ..) = first_flight(&world);
        let keep = keep.min(bytes.len());
        bytes[..keep].copy_from_slice(&m1[..keep]);
        prop_assert!(read_any_m1(&world, &mut bytes).is_err());
    }
}

proptest! {
    #[test]
    fn parsers_never_panic(bytes in vec(any::<u8>(), 0..3000), text in ".*") {
        let _ = M1Header::parse(&bytes);
        let _ = PublicKey::parse(&bytes);
        if let Ok(stored) = bytes[..bytes.len().min(199)].try_into() {
            let _ = Ticket::load(stored);
        }
        let mut buffer = [0; MAX_KEY_LEN];
        for line in [text.clone(), format!("hkm1-broker {text}"), format!("hkm1-device {text}"), format!("hkm1-psk x {text}")] {
            let _ = BrokerLine::parse(&line, &mut buffer);
            let _ = DeviceLine::parse(&line, &mut buffer);
            let _ = PskLine::parse(&line);
        }
        let _ = text.parse::<SuiteId>();
        let _ = DeviceId::new(&text);
    }

    #[test]
    fn a_parsed_key_is_written_as_it_came(mut bytes in vec(any::<u8>(), 2 + 800 + 32)) {
        bytes[..2].copy_from_slice(&[1, 1]);
        let mut out = [0; MAX_KEY_LEN];
        let len = PublicKey::parse(&bytes).unwrap().write(&mut out).unwrap();
        prop_assert_eq!(&out[..len], &bytes[..]);
    }
}
