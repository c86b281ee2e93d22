//! The handshake of both roles, with every secret that they bring marked undefined: static keys, pre-shared keys, ticket keys, decoy
//! secrets, rms, and the state of both generators, from which all ephemeral secrets come. What goes over the wire is public from
//! there on; so is what the peer's application says.

use std::convert::Infallible;

use crabgrind::callgrind;
use hybrid_handshake::{
    Error, Established,
    broker::{Enrolled, M2Params},
    client::{Credential, Start},
    control::Reauth,
    dh::DhSecret,
    drbg::{self, Drbg, SLOT_LEN, SeedStore, Slot},
    identity::{DecoySecret, DeviceId, Psk},
    mqtt::ReasonCode,
    reauth::{broker, client},
    record::{Content, HEADROOM, Opener, Sealer},
    resume::{Resumption, STORED_LEN, TICKET_LEN, Ticket, TicketKey, TicketKeys},
    suite::{AnySuite, Mode, Suite, SuiteId},
};
use kem_core::rand_core::Rng;

#[allow(dead_code, unreachable_pub)]
#[path = "../../../hybrid-handshake/tests/scripted/wire.rs"]
mod wire;

use self::wire::{KeyPair, NOW, Registry, World, read_m1};
use crate::{public, secret};

pub(crate) fn suites() {
    // Both AEADs, both profiles, both groups, implicit and explicit rejection.
    for (code, modes) in [
        (0x1011, &[Mode::Psk, Mode::Kem][..]),
        (0x0222, &[Mode::Psk, Mode::Kem, Mode::Anonymous]),
        (0x1221, &[Mode::Kem]),
        (0x0161, &[Mode::Kem]),
    ] {
        for &mode in modes {
            session(SuiteId::from_code(code).expect("an id"), mode);
        }
    }
    strangers();
    boots();
}

/// The generator of a device, from the seeds in its store: the CRC runs over a secret.
fn boots() {
    println!("seed slots");
    let id = DeviceId::new("sensor-1").expect("an id");
    let mut store = Slots::default();
    drbg::provision(&mut store, &hide([0x5e; 32])).expect("it takes what it is given");
    for _ in 0..3 {
        let mut rng = drbg::boot(&mut store, &id, &hide([0x11; 32])).expect("a whole slot");
        rng.fill_bytes(&mut [0; 64]);
    }
    store.0.iter_mut().for_each(|slot| slot[35] ^= 1);
    assert!(drbg::boot(&mut store, &id, &[0; 32]).is_err(), "no slot is whole");
}

#[derive(Default)]
struct Slots([Vec<u8>; 2]);

impl SeedStore for Slots {
    type Error = Infallible;

    fn read(&mut self, slot: Slot, out: &mut [u8; SLOT_LEN]) -> Result<(), Infallible> {
        out.fill(0xff);
        let bytes = &self.0[slot as usize];
        out[..bytes.len()].copy_from_slice(bytes);
        Ok(())
    }

    fn write(&mut self, slot: Slot, bytes: &[u8; SLOT_LEN]) -> Result<(), Infallible> {
        self.0[slot as usize] = bytes.to_vec();
        Ok(())
    }

    fn erase(&mut self, slot: Slot) -> Result<(), Infallible> {
        self.0[slot as usize] = vec![0xff; SLOT_LEN];
        Ok(())
    }
}

/// A full handshake, a ticket, records, a re-authentication, and all that again with the ticket.
fn session(suite: SuiteId, mode: Mode) {
    println!("handshake {suite}, {mode:?}");
    let mut world = hidden(suite, mode);
    let own = hidden(suite, mode);
    world.ticket = Some(connect(&world, &own));
    world.mode = Mode::Resume;
    println!("handshake {suite}, resumed");
    connect(&world, &own);
}

/// Both secrets of the realm and of the device are undefined from here on.
fn hidden(suite: SuiteId, mode: Mode) -> World {
    let mut world = World::new(suite, mode);
    for pair in [&mut world.broker, &mut world.device, &mut world.decoy_key] {
        hide_pair(pair);
    }
    world.psk = Psk::from_bytes(hide([2; 32]));
    world.decoy = DecoySecret::from_bytes(hide([4; 32]));
    let keys = [6, 7].map(|byte| TicketKey::from_bytes(hide([byte; 32])));
    let [current, previous] = keys;
    world.tickets = Some(TicketKeys::new(current, Some(previous)));
    secret(&mut world.connect);
    secret(&mut world.connack);
    world
}

/// The encapsulation key within a decapsulation key stays public, and so does its hash behind it in ML-KEM.
fn hide_pair(pair: &mut KeyPair) {
    let ek = pair.public().ek().to_vec();
    let place = pair.dk.windows(ek.len()).position(|window| window == ek);
    secret(&mut pair.dk);
    if let Some(place) = place {
        let end = (place + ek.len() + 32).min(pair.dk.len() - 32);
        public(&mut pair.dk[place..end]);
    }
    pair.z = hide(pair.z);
    pair.x = DhSecret::from_bytes(hide(*pair.x.expose()));
}

fn hide<const N: usize>(mut bytes: [u8; N]) -> [u8; N] {
    secret(&mut bytes);
    bytes
}

fn connect(world: &World, own: &World) -> Ticket {
    let suite = world.any_suite();
    let mut rngs = (Drbg::broker(&hide([0xc1; 32])), Drbg::broker(&hide([0xb0; 32])));
    let (client, broker, resumption) = handshake(world, &mut rngs, &world.m2_params()).expect("honest sides");

    let mut sealed = [0; TICKET_LEN];
    let (kid, keys) = (
        world.broker.broker_key().kid(),
        world.tickets.as_ref().expect("every world has them"),
    );
    keys.seal(&kid, &resumption, &broker.rms, &mut rngs.1, &mut sealed)
        .expect("a ticket");
    public(&mut sealed);
    let ticket = Ticket::new(
        &client,
        resumption.device,
        world.ticket.as_ref(),
        resumption.lifetime_s(NOW),
        &sealed,
    );
    let mut stored = [0; STORED_LEN];
    ticket.store(&mut stored).expect("room for it");
    let ticket = Ticket::load(&stored).expect("just stored");

    let mut up = (client.sealer, broker.opener);
    let mut down = (broker.sealer, client.opener);
    record(&mut up);
    record(&mut down);
    if resumption.device.is_some() {
        let (credential, params, key) = (own.credential(), own.m2_params(), world.broker.broker_key());
        let mut out = vec![0; 5000];
        let (len, await_offer) =
            client::start(suite, client.reauth, &credential, &key, &mut rngs.0, &mut out).expect("19");
        let request = sent(&mut out[..len]);
        let send_offer = broker::read_request(suite, broker.reauth, &up.1, &step(&request)).expect("19");
        let (len, await_answer) = send_offer
            .write(&params.secret, &params.enrolled, &mut rngs.1, &mut out)
            .expect("18");
        let offer = sent(&mut out[..len]);
        let (len, await_success) = await_offer
            .answer(&step(&offer), &credential, &mut rngs.0, &mut out)
            .expect("18");
        let answer = sent(&mut out[..len]);
        let (len, broker_keys) = await_answer.finish(&step(&answer), &mut out).expect("00");
        let success = sent(&mut out[..len]);
        let client_keys = await_success.finish(&step(&success)).expect("00");
        broker_keys.install_at_broker(&mut down.0, &mut up.1).expect("in step");
        client_keys.install_at_client(&mut up.0, &mut down.1).expect("in step");
        record(&mut up);
        record(&mut down);
    }
    ticket
}

/// Both sides of a session, and what its ticket says.
type Session = (Established<AnySuite>, Established<AnySuite>, Resumption);

fn handshake(world: &World, rngs: &mut (Drbg, Drbg), params: &M2Params<'_>) -> Result<Session, Error> {
    let (suite, config) = (world.any_suite(), world.config());
    let mut m1 = vec![0; 4000];
    let (len, mut await_m2) = Start::new(suite, &config)?.write_m1(&mut rngs.0, &mut m1)?;
    let mut m1 = sent(&mut m1[..len]);

    let (claim, send_m2) = read_m1(world, suite, &mut m1)?;
    let mut m2 = vec![0; 6000];
    let (len, await_m3) = send_m2.write_m2(params, &mut rngs.1, &mut m2)?;
    let m2 = sent(&mut m2[..len]);

    let send_m3 = await_m2.read_m2(&m2, &mut rngs.0)?;
    let mut m3 = vec![0; 6000];
    let (len, await_m4) = send_m3.write_m3(&config.credential, &world.connect, &mut rngs.0, &mut m3)?;
    let mut m3 = sent(&mut m3[..len]);

    let (connect, send_m4) = await_m3.read_m3(&mut m3)?;
    public(connect);
    let mut m4 = vec![0; 500];
    let (len, broker) = send_m4.write_m4(&world.connack, &mut m4)?;
    let mut m4 = sent(&mut m4[..len]);
    let (connack, client) = await_m4.read_m4(&mut m4)?;
    public(connack);
    assert_eq!((&*connect, &*connack), (wire::CONNECT, wire::CONNACK));
    Ok((client, broker, Resumption::after(&claim, 0, NOW)))
}

/// Ids that the registry does not know or knows otherwise: the broker does its secret work, and refuses M3.
fn strangers() {
    for (mode, other) in [(Mode::Psk, Mode::Kem), (Mode::Kem, Mode::Psk)] {
        println!("stranger in mode {mode:?}");
        for wrong_type in [false, true] {
            let mut world = hidden(SuiteId::SENSOR_DEFAULT, mode);
            let known = hidden(SuiteId::SENSOR_DEFAULT, other);
            world.registry = Registry::Unknown;
            let mut params = world.m2_params();
            if wrong_type {
                params.enrolled = match known.credential() {
                    Credential::Psk { psk, .. } => Enrolled::Psk(psk),
                    _ => Enrolled::Kem(known.device.public()),
                };
            }
            let mut rngs = (Drbg::broker(&hide([0xc1; 32])), Drbg::broker(&hide([0xb0; 32])));
            // The client already sees an M2 for somebody else.
            assert_eq!(handshake(&world, &mut rngs, &params).err(), Some(Error::Rejected));
        }
    }
}

/// The broker's work for a client that knows the broker key and an id but no secret; callgrind counts it.
pub(crate) fn probe(mode: &str, id: &str) {
    let (mode, suite) = (if mode == "psk" { Mode::Psk } else { Mode::Kem }, SuiteId::HOST_DEFAULT);
    let world = World::new(suite, mode);
    let (psk, device) = (Psk::from_bytes([0x77; 32]), KeyPair::new(suite.kem(), suite, 77));
    let enrolled = match (id, mode) {
        ("unknown", _) => Enrolled::Unknown,
        ("wrong-type", Mode::Psk) | ("wrong-secret", Mode::Kem) => Enrolled::Kem(device.public()),
        ("wrong-type", _) | ("wrong-secret", _) => Enrolled::Psk(&psk),
        _ => panic!("no such id"),
    };
    let params = M2Params {
        enrolled,
        ..world.m2_params()
    };
    let (mut m1, ..) = wire::first_flight(&world);
    let (mut m2, mut m3) = (vec![0; 6000], vec![0x5a; suite.kem().ct_len() + 30 + 16]);
    let mut rng = Drbg::broker(&[0xb0; 32]);
    callgrind::toggle_collect();
    let refused = read_m1(&world, world.any_suite(), &mut m1)
        .and_then(|(_, send_m2)| send_m2.write_m2(&params, &mut rng, &mut m2))
        .and_then(|(_, await_m3)| await_m3.read_m3(&mut m3).map(drop));
    callgrind::toggle_collect();
    assert_eq!(refused, Err(Error::Rejected));
}

/// What goes over the wire, public from here on.
fn sent(message: &mut [u8]) -> Vec<u8> {
    public(message);
    message.to_vec()
}

fn step(whole: &[u8]) -> Reauth<'_> {
    Reauth {
        reason: ReasonCode::from_code(whole[3]).expect("one of the four"),
        fields: &whole[4..],
        whole,
    }
}

type Direction = (Sealer<<AnySuite as Suite>::Aead>, Opener<<AnySuite as Suite>::Aead>);

fn record((sealer, opener): &mut Direction) {
    let mut buffer = [0; HEADROOM + 21 + 16];
    buffer[HEADROOM..][..21].copy_from_slice(b"more than one block..");
    secret(&mut buffer[HEADROOM..][..21]);
    let mut record = sealer
        .seal(Content::Data, &mut buffer, 21)
        .expect("room for it")
        .to_vec();
    public(&mut record);
    let text = opener.open(&mut record).expect("just sealed").text;
    public(text);
    assert_eq!(text, b"more than one block..");
}
