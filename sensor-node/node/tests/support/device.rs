//! A device on a desk: its memory, its clock, and how it is enrolled.

use hybrid_handshake::{
    identity::{DeviceId, Psk},
    mqtt::Level,
    suite::{FixedKem, KemId},
};
use kemqtt_node::{
    Arena, Board, Boot, Clock, Node, NvStore,
    store::{DeviceKey, Image},
};

use crate::broker::{Broker, KeyPair};

pub type Memory = Image<Vec<u8>>;
pub type Sensor = hybrid_handshake::suite::X25519CtruLightAscon;
pub type MlKem512 = FixedKem<kyber::MlKem512>;

pub const PSK: [u8; 32] = [9; 32];

/// Every look at it is a millisecond later, and waiting is a second.
#[derive(Default)]
pub struct FastClock {
    pub now_ms: u32,
}

impl Clock for FastClock {
    fn now_ms(&mut self) -> u32 {
        self.now_ms += 1;
        self.now_ms
    }

    fn idle(&mut self) {
        self.now_ms += 1000;
    }
}

pub const FLIGHT: usize = kemqtt_node::flight_len(Sensor::ID, KemId::MlKem512);
pub const WORK: usize = kemqtt_node::work_len(Sensor::ID, KemId::MlKem512, true);
pub const KEY: usize = kemqtt_node::credential_len(Sensor::ID, 864);

pub type TestArena = Arena<FLIGHT, WORK, KEY>;
pub type TestNode<'a> = Node<'a, Sensor, MlKem512, Broker, FastClock, Memory>;

pub fn id() -> DeviceId {
    DeviceId::new("pump-7").unwrap()
}

pub fn broker_key(seed: u8) -> KeyPair {
    KeyPair::new(KemId::MlKem512, Sensor::ID.group(), seed)
}

/// The memory of an enrolled device.
pub fn enrolled(key: &KeyPair, level: Level) -> NvStore<Memory> {
    let mut store = NvStore::new(Image(vec![0xff; 4096]), KemId::MlKem512, Sensor::ID.group());
    store.provision_seed(&[3; 32]).unwrap();
    store.provision_pin(&key.broker_key(), None).unwrap();
    store.provision_psk(&id(), Psk::from_bytes(PSK), level, 1).unwrap();
    store
}

/// The memory of a device with a key of its own.
pub fn enrolled_with_key(key: &KeyPair, device: &KeyPair) -> NvStore<Memory> {
    let mut store = enrolled(key, Level::V5);
    let device = DeviceKey {
        public: device.public(),
        dk: &device.dk,
        z: &[1; 32],
        x: &device.x,
    };
    store.provision_key(&id(), &device, Level::V5, 1).unwrap();
    store
}

pub type TestBoard = Board<Broker, FastClock, Memory>;

pub fn node<'a>(
    arena: &'a mut TestArena,
    desk: &'a mut Option<(TestBoard, Boot)>,
    broker: Broker,
    mut store: NvStore<Memory>,
) -> TestNode<'a> {
    let boot = Boot::new(&mut store, &[7; 32]).unwrap();
    let board = Board {
        link: broker,
        clock: FastClock::default(),
        store,
    };
    let (board, boot) = desk.insert((board, boot));
    Node::new(Sensor::new(), MlKem512::new(), board, boot, arena)
}
