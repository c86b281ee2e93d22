//! A store that wears out, is too small, or loses power between any two writes.
#![allow(missing_docs)]

#[allow(dead_code, unreachable_pub)] // shared by the files of this folder
#[path = "support/broker.rs"]
mod broker;
#[allow(dead_code, unreachable_pub)]
#[path = "support/device.rs"]
mod device;

use std::convert::Infallible;

use broker::{Broker, KeyPair};
use device::{FLIGHT, FastClock, MlKem512, PSK, Sensor, TestArena, WORK, broker_key, enrolled, enrolled_with_key, id};
use hybrid_handshake::{
    identity::Fingerprint,
    mqtt::Level,
    suite::{Group, KemId},
};
use kemqtt_node::{
    Arena, Board, Boot, Error, Node, Nv, NvStore, Options,
    store::{Image, PinSlot, StoreError},
};

/// A memory that stops to work after a number of bytes, or forgets to.
struct Failing {
    bytes: Vec<u8>,
    /// Bytes that still get written before the power goes.
    left: usize,
    /// Does not tell.
    worn_at: Option<u16>,
}

impl Failing {
    fn new(store: &mut NvStore<device::Memory>) -> Self {
        Self {
            bytes: store.nv().0.clone(),
            left: usize::MAX,
            worn_at: None,
        }
    }
}

impl Nv for Failing {
    type Error = ();

    fn size(&self) -> u16 {
        self.bytes.len() as u16
    }

    fn read(&mut self, at: u16, out: &mut [u8]) -> Result<(), ()> {
        out.copy_from_slice(&self.bytes[at.into()..][..out.len()]);
        Ok(())
    }

    fn write(&mut self, at: u16, bytes: &[u8]) -> Result<(), ()> {
        for (at, byte) in (at..).zip(bytes) {
            self.left = self.left.checked_sub(1).ok_or(())?;
            if self.worn_at != Some(at) {
                self.bytes[usize::from(at)] = *byte;
            }
        }
        Ok(())
    }
}

fn store(nv: Failing) -> NvStore<Failing> {
    NvStore::new(nv, KemId::MlKem512, Group::X25519)
}

fn failing() -> NvStore<Failing> {
    store(Failing::new(&mut enrolled(&broker_key(1), Level::V5)))
}

fn session(store: NvStore<Failing>) -> (Vec<u8>, Option<StoreError<()>>, bool) {
    let mut store = store;
    let mut boot = Boot::new(&mut store, &[7; 32]).unwrap();
    let mut arena = TestArena::new();
    let mut board = Board {
        link: Broker::new(broker_key(1), PSK),
        clock: FastClock::default(),
        store,
    };
    let mut node = Node::new(Sensor::new(), MlKem512::new(), &mut board, &mut boot, &mut arena);
    let mut session = node.connect(&Options::default()).unwrap();
    session.publish_acknowledged("a", b"1", 10_000).unwrap();
    let resumed = session.is_resumed();
    session.disconnect().unwrap();
    let notice = node.take_notice();
    (node.board().store.nv().bytes.clone(), notice, resumed)
}

#[test]
fn a_device_that_was_not_provisioned_says_so() {
    let mut empty = NvStore::new(Image(vec![0xff; 4096]), KemId::MlKem512, Group::X25519);
    assert_eq!(Boot::new(&mut empty, &[0; 32]).err(), Some(StoreError::Missing));
    let mut store = enrolled(&broker_key(1), Level::V5);
    store.clear_pin(PinSlot::A).unwrap();
    assert_eq!(store.pins(), Err(StoreError::Missing));
}

#[test]
fn a_seed_that_cannot_be_kept_stops_the_device_and_a_ticket_only_costs_itself() {
    let mut store = failing();
    store.nv().worn_at = Some(40);
    assert_eq!(Boot::new(&mut store, &[7; 32]).err(), Some(StoreError::Worn));

    let mut store = failing();
    store.nv().worn_at = Some(0xb0);
    let (_, notice, _) = session(store);
    assert_eq!(notice, Some(StoreError::Worn));
    assert_eq!(session(failing()).1, None);
}

#[test]
fn what_does_not_fit_is_refused() {
    let key = broker_key(1);
    let mut small = NvStore::new(Image(vec![0xff; 1024]), KemId::MlKem512, Group::X25519);
    assert_eq!(small.provision_pin(&key.broker_key(), None), Err(StoreError::Full));
    let mut other_kind = NvStore::new(Image(vec![0xff; 4096]), KemId::MlKem768, Group::X25519);
    assert_eq!(other_kind.provision_pin(&key.broker_key(), None), Err(StoreError::Full));
    let mut store = enrolled(&key, Level::V5);
    assert_eq!(store.pin(PinSlot::A, &mut [0; 100]), Err(StoreError::Full));
}

/// A memory in the address space of the core.
struct Mapped(Image<Vec<u8>>);

impl Nv for Mapped {
    type Error = Infallible;

    fn size(&self) -> u16 {
        self.0.size()
    }

    fn read(&mut self, at: u16, out: &mut [u8]) -> Result<(), Infallible> {
        self.0.read(at, out)
    }

    fn write(&mut self, at: u16, bytes: &[u8]) -> Result<(), Infallible> {
        self.0.write(at, bytes)
    }

    fn lend(&self, at: u16, len: u16) -> Option<&[u8]> {
        self.0.0.get(at.into()..)?.get(..len.into())
    }
}

/// A session in mode 1 without a buffer for the device key, which `spoil` changes in the memory before.
fn session_without_key_buffer<N: Nv>(
    memory: impl FnOnce(Image<Vec<u8>>) -> N,
    spoil: u8,
) -> Option<StoreError<N::Error>> {
    let (key, device) = (broker_key(1), KeyPair::new(KemId::CtruLight, Group::X25519, 2));
    let mut image = Image(enrolled_with_key(&key, &device).nv().0.clone());
    let dk_at = image
        .0
        .windows(device.dk.len())
        .position(|bytes| bytes == device.dk)
        .unwrap();
    image.0[dk_at] ^= spoil;
    let mut store = NvStore::new(memory(image), KemId::MlKem512, Group::X25519);
    let mut boot = Boot::new(&mut store, &[7; 32]).unwrap_or_else(|_| panic!("no boot"));
    let mut link = Broker::new(key, PSK);
    link.device = Some(device);
    let mut board = Board {
        link,
        clock: FastClock::default(),
        store,
    };
    let mut arena = Arena::<FLIGHT, WORK, 0>::new();
    let mut node = Node::new(Sensor::new(), MlKem512::new(), &mut board, &mut boot, &mut arena);
    match node.connect(&Options::default()) {
        Ok(_) => None,
        Err(Error::Store(error)) => Some(error),
        Err(_) => panic!("no session"),
    }
}

#[test]
fn a_memory_that_lends_the_device_key_needs_no_buffer_for_it() {
    assert_eq!(session_without_key_buffer(Mapped, 0), None);
    assert_eq!(session_without_key_buffer(Mapped, 1), Some(StoreError::Missing));
    let copied = session_without_key_buffer(|image| image, 0);
    assert_eq!(copied, Some(StoreError::Full));
}

#[test]
fn the_settings_end_in_their_crc_32() {
    let mut store = enrolled(&broker_key(1), Level::V5);
    let (settings, rest) = store.nv().0[0x50..].split_at(68);
    let expected = crc::Crc::<u32>::new(&crc::CRC_32_ISO_HDLC).checksum(settings);
    assert_eq!(rest[..4], expected.to_be_bytes());
}

#[test]
fn the_first_successor_stays() {
    let mut store = enrolled(&broker_key(1), Level::V5);
    let (first, second) = (Fingerprint::from_bytes([1; 32]), Fingerprint::from_bytes([2; 32]));
    assert_eq!(store.successor(PinSlot::A), Ok(None));
    assert_eq!(store.write_successor(PinSlot::A, &first), Ok(true));
    assert_eq!(store.write_successor(PinSlot::A, &second), Ok(false));
    assert_eq!(store.write_successor(PinSlot::A, &first), Ok(true));
    assert_eq!(store.successor(PinSlot::A), Ok(Some(first)));
}

/// The power goes after any byte of the second session's ticket: what stays is a device that comes back, with a ticket.
#[test]
fn a_power_cut_while_a_ticket_is_written_leaves_the_last_one() {
    let (bytes, ..) = session(failing());
    let mut at = 0;
    loop {
        let mut nv = Failing {
            bytes: bytes.clone(),
            left: usize::MAX,
            worn_at: None,
        };
        let kept = store_with(&mut nv, at);
        let (.., resumed) = session(store(nv));
        assert!(resumed, "{at}");
        if kept {
            return;
        }
        at += 13;
    }
}

/// Writes the newest ticket again, with power for so many bytes; true if that was enough.
fn store_with(nv: &mut Failing, left: usize) -> bool {
    let mut store = store(Failing {
        bytes: core::mem::take(&mut nv.bytes),
        left,
        worn_at: None,
    });
    let (kid, ticket) = store.ticket().unwrap().unwrap();
    let kept = store.write_ticket(&kid, &ticket).is_ok();
    nv.bytes = core::mem::take(&mut store.nv().bytes);
    kept
}

#[test]
fn a_power_cut_while_the_next_key_is_written_leaves_the_pinned_one() {
    let next = broker_key(2);
    for left in (0..920).step_by(31) {
        let mut store = failing();
        store.nv().left = left;
        let written = store.write_pin(PinSlot::B, &next.encoded).is_ok();
        store.nv().left = usize::MAX;
        let pins = store.pins().unwrap();
        let expected = if written {
            (PinSlot::B, Some(PinSlot::A))
        } else {
            (PinSlot::A, None)
        };
        assert_eq!(pins, expected, "{left}");
    }
}

#[test]
fn settings_come_back() {
    let mut store = enrolled(&broker_key(1), Level::V3_1_1);
    let settings = store.settings().unwrap();
    assert_eq!(
        (settings.id, settings.level, settings.interval_s),
        (id(), Level::V3_1_1, 1)
    );
    assert_eq!(settings.psk.expose(), &PSK);
    store.nv().0[0x60] ^= 1;
    assert_eq!(store.settings().err(), Some(StoreError::Missing), "CRC");
}
