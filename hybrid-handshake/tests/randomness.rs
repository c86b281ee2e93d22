//! Generators that are dead, repeat themselves, lose power or were copied: no nonce, share or ciphertext comes twice.
#![allow(missing_docs)]

#[allow(dead_code, unreachable_pub)] // shared by the files of this folder
#[path = "scripted/wire.rs"]
mod wire;

use std::collections::HashSet;

use hybrid_handshake::{
    client::Start,
    drbg::{Drbg, SLOT_LEN, SeedError, SeedStore, Slot, boot, provision},
    identity::DeviceId,
    resume::{Resumption, TICKET_LEN},
    schedule::Rms,
    suite::{Mode, SuiteId},
};
use wire::{NOW, World, answer_m2, read_any_m1};

/// Two slots, and how many writes and erasures succeed until the power goes.
struct Eeprom {
    slots: [[u8; SLOT_LEN]; 2],
    power: usize,
}

impl Eeprom {
    fn provisioned(seed: u8) -> Self {
        let mut eeprom = Self {
            slots: [[0xff; SLOT_LEN]; 2],
            power: usize::MAX,
        };
        provision(&mut eeprom, &[seed; 32]).unwrap();
        eeprom
    }
}

impl SeedStore for Eeprom {
    type Error = ();

    fn read(&mut self, slot: Slot, out: &mut [u8; SLOT_LEN]) -> Result<(), ()> {
        *out = self.slots[slot as usize];
        Ok(())
    }

    fn write(&mut self, slot: Slot, bytes: &[u8; SLOT_LEN]) -> Result<(), ()> {
        if self.power == 0 {
            self.slots[slot as usize][..9].copy_from_slice(&bytes[..9]);
        }
        self.power = self.power.checked_sub(1).ok_or(())?;
        self.slots[slot as usize] = *bytes;
        Ok(())
    }

    fn erase(&mut self, slot: Slot) -> Result<(), ()> {
        if self.power == 0 {
            self.slots[slot as usize][..9].fill(0xff);
        }
        self.power = self.power.checked_sub(1).ok_or(())?;
        self.slots[slot as usize] = [0xff; SLOT_LEN];
        Ok(())
    }
}

/// Everything random that one side has shown, under one broker key.
#[derive(Default)]
struct Seen(HashSet<Vec<u8>>);

impl Seen {
    fn new_only(&mut self, what: &str, bytes: &[u8]) {
        assert!(self.0.insert(bytes.to_vec()), "{what} has been seen before");
    }

    /// n_P, e_P and ct_B of an M1 of the sensor suite.
    fn m1(&mut self, m1: &[u8]) {
        self.new_only("n_P", &m1[17..33]);
        self.new_only("e_P", &m1[33..65]);
        self.new_only("ct_B", &m1[65..833]);
    }
}

fn world(id: &str) -> World {
    let mut world = World::new(SuiteId::SENSOR_DEFAULT, Mode::Psk);
    world.id = DeviceId::new(id).unwrap();
    world
}

/// M1 of a device that has just booted with this generator, and ct_v for a broker with another.
fn connect(world: &World, device: &mut Drbg, broker: &mut Drbg) -> (Vec<u8>, Vec<u8>) {
    let config = world.config();
    let mut m1 = vec![0; 2000];
    let start = Start::new(world.any_suite(), &config).unwrap();
    let (len, mut await_m2) = start.write_m1(device, &mut m1).unwrap();
    m1.truncate(len);
    let (_, send_m2) = read_any_m1(world, &mut m1.clone()).unwrap();
    let mut m2 = vec![0; 2000];
    let (len, _) = send_m2.write_m2(&world.m2_params(), broker, &mut m2).unwrap();
    let (m3, _) = answer_m2(world, &mut await_m2, &m2[..len], device).unwrap();
    (m1, m3[..512].to_vec())
}

#[test]
fn a_device_with_a_dead_or_stuck_generator_and_power_cuts_never_repeats_itself() {
    let world = world("pump-7");
    for noise in [[0; 32], [0xff; 32], [0xa5; 32]] {
        // A boot takes one write and one erasure; the power goes before, between and behind them.
        for pattern in [[0, 1, 2], [1, 1, 2], [2, 0, 1], [2, 2, 2]] {
            let (mut eeprom, mut seen, mut boots) = (Eeprom::provisioned(0x11), Seen::default(), 0);
            for power in pattern.into_iter().cycle().take(12) {
                eeprom.power = power;
                match boot(&mut eeprom, &world.id, &noise) {
                    Ok(mut device) => {
                        // Two connections in one boot, then the power goes.
                        for _ in 0..2 {
                            let (m1, ct_v) = connect(&world, &mut device, &mut Drbg::broker(&[0xb0; 32]));
                            seen.m1(&m1);
                            seen.new_only("ct_v", &ct_v);
                        }
                        boots += 1;
                    }
                    Err(error) => assert_eq!(error, SeedError::Store(())),
                }
            }
            assert!(boots >= 4, "the store survives: {boots}");
        }
    }
}

#[test]
fn copies_of_an_image_differ_by_their_id_or_their_noise() {
    let (mut seen, ids) = (Seen::default(), ["pump-7", "pump-8", "pump-9"]);
    for id in ids {
        let world = world(id);
        for noise in [[0; 32], [1; 32]] {
            // The same seed in every copy: provisioning has gone wrong.
            let mut device = boot(&mut Eeprom::provisioned(0x11), &world.id, &noise).unwrap();
            let (m1, ct_v) = connect(&world, &mut device, &mut Drbg::broker(&[0xb0; 32]));
            seen.m1(&m1);
            seen.new_only("ct_v", &ct_v);
        }
    }
}

/// Same seed, same id, no noise: two copies of one device send one M1. What comes behind M2 differs, because h2 does.
#[test]
fn copies_of_a_device_without_noise_part_at_m2() {
    let (world, mut seen) = (world("pump-7"), Seen::default());
    let mut first = None;
    for broker in [1, 2, 3] {
        let mut device = boot(&mut Eeprom::provisioned(0x11), &world.id, &[0; 32]).unwrap();
        let (m1, ct_v) = connect(&world, &mut device, &mut Drbg::broker(&[broker; 32]));
        assert_eq!(first.get_or_insert_with(|| m1.clone()), &m1);
        seen.new_only("ct_v", &ct_v);
        let (m1, _) = connect(&world, &mut device, &mut Drbg::broker(&[broker; 32]));
        seen.m1(&m1);
    }
}

#[test]
fn a_broker_with_a_dead_generator_never_repeats_itself_to_different_clients() {
    for (mode, ct_len) in [(Mode::Psk, 0), (Mode::Kem, 512)] {
        let (world, mut seen) = (World::new(SuiteId::SENSOR_DEFAULT, mode), Seen::default());
        for client in 0..4 {
            let config = world.config();
            let mut m1 = vec![0; 2000];
            let start = Start::new(world.any_suite(), &config).unwrap();
            let (len, _) = start.write_m1(&mut Drbg::broker(&[client; 32]), &mut m1).unwrap();
            let mut broker = Drbg::broker(&[0; 32]);
            let (claim, send_m2) = read_any_m1(&world, &mut m1[..len]).unwrap();
            let mut m2 = vec![0; 2000];
            let (len, _) = send_m2.write_m2(&world.m2_params(), &mut broker, &mut m2).unwrap();
            let (fixed, offer) = m2[..len - 16].split_at(30);
            let (share, offer) = offer.split_at(32);
            let (ct_p, pk_v) = offer.split_at(ct_len);
            seen.new_only("n_B", &fixed[..16]);
            seen.new_only("e_B", share);
            if mode == Mode::Kem {
                seen.new_only("ct_P", ct_p);
            }
            seen.new_only("pk_v", pk_v);
            let mut ticket = [0; TICKET_LEN];
            let (kid, keys) = (world.broker.broker_key().kid(), world.tickets.as_ref().unwrap());
            keys.seal(
                &kid,
                &Resumption::after(&claim, 0, NOW),
                &Rms::from_bytes([0; 32]),
                &mut broker,
                &mut ticket,
            )
            .unwrap();
            seen.new_only("salt of a ticket", &ticket[4..20]);
        }
    }
}
