//! Both sides over a wire that the test may bend.

use hybrid_handshake::{
    Error, Established,
    broker::{AwaitM1, AwaitM3, Claim, Decoy, Enrolled, M2Params, SendM2},
    client::{self, AwaitM2, AwaitM4, Credential, Start},
    dh::DhSecret,
    drbg::Drbg,
    identity::{BrokerKey, BrokerSecret, DecoySecret, DeviceId, DeviceSecret, Psk, PublicKey, generate_key},
    message::{BrokerLimits, Capabilities, ClientLimits, M1Header},
    resume::{Ticket, TicketKey, TicketKeys},
    suite::{AnyKem, AnySuite, KemId, KemScheme, Mode, Suite, SuiteId},
};

pub const CONNECT: &[u8] = b"\x10\x10\x00\x04MQTT\x05\x02\x00\x3c\x00\x00\x03abc";
pub const CONNACK: &[u8] = b"\x20\x03\x00\x00\x00";
pub const NOW: u64 = 1_788_000_000;

/// A static key pair: `kem | group | ek | share` and its secrets.
pub struct KeyPair {
    pub encoded: Vec<u8>,
    pub dk: Vec<u8>,
    pub z: [u8; 32],
    pub x: DhSecret,
}

impl KeyPair {
    pub fn new(kem: KemId, suite: SuiteId, seed: u8) -> Self {
        let mut rng = Drbg::broker(&[seed; 32]);
        let scheme = AnyKem::new(kem).expect("compiled in");
        let mut encoded = vec![0; 2 + kem.ek_len() + suite.group().share_len()];
        let mut dk = vec![0; scheme.dk_len()];
        let x = generate_key(scheme, suite.group(), &mut rng, &mut encoded, &mut dk).unwrap();
        Self {
            encoded,
            dk,
            z: [seed; 32],
            x,
        }
    }

    pub fn public(&self) -> PublicKey<'_> {
        PublicKey::parse(&self.encoded).unwrap()
    }

    pub fn broker_key(&self) -> BrokerKey<'_> {
        BrokerKey::parse(&self.encoded).unwrap()
    }

    pub fn broker_secret(&self) -> BrokerSecret<'_> {
        BrokerSecret::new(self.broker_key(), &self.dk, &self.x).unwrap()
    }

    pub fn device_secret(&self) -> DeviceSecret<'_> {
        DeviceSecret {
            key: self.public(),
            dk: &self.dk,
            z: &self.z,
            x: &self.x,
        }
    }
}

/// What both sides have stored, and what the registry answers.
pub struct World {
    pub suite: SuiteId,
    pub mode: Mode,
    pub id: DeviceId,
    pub broker: KeyPair,
    /// What the client pins; that of `broker` unless a test says otherwise.
    pub pinned: Option<KeyPair>,
    pub psk: Psk,
    pub device: KeyPair,
    pub registry: Registry,
    pub ticket: Option<Ticket>,
    pub tickets: Option<TicketKeys>,
    pub decoy: DecoySecret,
    pub decoy_key: KeyPair,
    pub client_limits: ClientLimits,
    pub broker_limits: BrokerLimits,
    pub capabilities: Capabilities,
    pub options: Capabilities,
    pub connect: Vec<u8>,
    pub connack: Vec<u8>,
}

pub enum Registry {
    /// The credential the client has.
    Knows,
    Unknown,
    Psk(Psk),
    Kem(KeyPair),
}

impl World {
    pub fn new(suite: SuiteId, mode: Mode) -> Self {
        Self::with_broker_kem(suite, mode, KemId::MlKem512)
    }

    pub fn with_broker_kem(suite: SuiteId, mode: Mode, broker_kem: KemId) -> Self {
        Self {
            suite,
            mode,
            id: DeviceId::new("pump-7").unwrap(),
            broker: KeyPair::new(broker_kem, suite, 1),
            pinned: None,
            psk: Psk::from_bytes([2; 32]),
            device: KeyPair::new(suite.kem(), suite, 3),
            registry: Registry::Knows,
            ticket: None,
            tickets: Some(TicketKeys::new(TicketKey::from_bytes([6; 32]), None)),
            decoy: DecoySecret::from_bytes([4; 32]),
            decoy_key: KeyPair::new(suite.kem(), suite, 5),
            client_limits: ClientLimits::default(),
            broker_limits: BrokerLimits::default(),
            capabilities: Capabilities::ALL,
            options: Capabilities::ALL,
            connect: CONNECT.to_vec(),
            connack: CONNACK.to_vec(),
        }
    }

    pub fn any_suite(&self) -> AnySuite {
        AnySuite::new(self.suite).expect("compiled in")
    }

    pub fn credential(&self) -> Credential<'_> {
        match self.mode {
            Mode::Kem => Credential::Kem {
                id: &self.id,
                secret: self.device.device_secret(),
            },
            Mode::Psk => Credential::Psk {
                id: &self.id,
                psk: &self.psk,
            },
            Mode::Anonymous => Credential::Anonymous,
            Mode::Resume => Credential::Ticket(self.ticket.as_ref().expect("a ticket")),
        }
    }

    pub fn config(&self) -> client::Config<'_> {
        client::Config {
            broker_key: self.pinned.as_ref().unwrap_or(&self.broker).broker_key(),
            credential: self.credential(),
            floor: None,
            limits: self.client_limits,
            capabilities: self.capabilities,
        }
    }

    pub fn m2_params(&self) -> M2Params<'_> {
        let enrolled = match (&self.registry, self.mode) {
            (Registry::Knows, Mode::Psk) => Enrolled::Psk(&self.psk),
            (Registry::Knows, Mode::Kem) => Enrolled::Kem(self.device.public()),
            (Registry::Psk(psk), _) => Enrolled::Psk(psk),
            (Registry::Kem(key), _) => Enrolled::Kem(key.public()),
            (Registry::Knows | Registry::Unknown, _) => Enrolled::Unknown,
        };
        let decoy = Decoy {
            secret: &self.decoy,
            key: Some(self.decoy_key.public()),
        };
        M2Params {
            secret: self.broker.broker_secret(),
            enrolled,
            decoy,
            now: NOW,
            limits: self.broker_limits,
            options: self.options,
        }
    }

    pub fn run(&self) -> Result<Done<AnySuite>, Failure> {
        self.run_bent(&mut |_, _| {})
    }

    /// `bend` sees each message between its writer and its reader.
    pub fn run_bent(&self, bend: &mut dyn FnMut(Step, &mut Vec<u8>)) -> Result<Done<AnySuite>, Failure> {
        run(self, self.any_suite(), self.any_suite(), bend)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    M1,
    M2,
    M3,
    M4,
}

/// Which message was refused by its reader, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failure {
    pub step: Step,
    pub error: Error,
}

pub struct Done<C: Suite, B: Suite = C> {
    /// M1 to M4 as they were read.
    pub flights: [Vec<u8>; 4],
    pub client: Established<C>,
    pub broker: Established<B>,
    pub claim: Claim,
    pub connect: Vec<u8>,
    pub connack: Vec<u8>,
}

/// The broker's work up to the registry.
pub fn read_m1<B: Suite>(world: &World, suite: B, m1: &mut [u8]) -> Result<(Claim, SendM2<B>), Error> {
    let header = M1Header::parse(m1)?;
    AwaitM1::new(suite, &header, world.broker.broker_secret())?.read_m1(m1, world.tickets.as_ref(), NOW)
}

/// A broker that takes every suite.
pub fn read_any_m1(world: &World, m1: &mut [u8]) -> Result<(Claim, SendM2<AnySuite>), Error> {
    let suite = AnySuite::new(M1Header::parse(m1)?.suite()).ok_or(Error::Unsupported)?;
    read_m1(world, suite, m1)
}

/// The broker's half up to M2, from an M1 that a test made.
pub fn answer_m1(world: &World, m1: &[u8], seed: &[u8; 32]) -> Result<(Vec<u8>, AwaitM3<AnySuite>), Error> {
    let (_, send_m2) = read_any_m1(world, &mut m1.to_vec())?;
    let mut m2 = vec![0; 6000];
    let (len, await_m3) = send_m2.write_m2(&world.m2_params(), &mut Drbg::broker(seed), &mut m2)?;
    m2.truncate(len);
    Ok((m2, await_m3))
}

/// The client's half up to M1, always the same.
pub fn first_flight(world: &World) -> (Vec<u8>, AwaitM2<AnySuite>, Drbg) {
    let (config, mut rng) = (world.config(), Drbg::broker(&CLIENT_SEED));
    let mut m1 = vec![0; 4000];
    let (len, await_m2) = Start::new(world.any_suite(), &config)
        .unwrap()
        .write_m1(&mut rng, &mut m1)
        .unwrap();
    m1.truncate(len);
    (m1, await_m2, rng)
}

/// The client's half from M2 to M3.
pub fn answer_m2(
    world: &World,
    await_m2: &mut AwaitM2<AnySuite>,
    m2: &[u8],
    rng: &mut Drbg,
) -> Result<(Vec<u8>, AwaitM4<AnySuite>), Error> {
    let send_m3 = await_m2.read_m2(m2, rng)?;
    let mut m3 = vec![0; 70_000];
    let (len, await_m4) = send_m3.write_m3(&world.credential(), &world.connect, rng, &mut m3)?;
    m3.truncate(len);
    Ok((m3, await_m4))
}

/// 32 bytes that fix everything the client draws; the broker's is another.
pub const CLIENT_SEED: [u8; 32] = [0xc1; 32];
pub const BROKER_SEED: [u8; 32] = [0xb0; 32];

pub fn run<C: Suite, B: Suite>(
    world: &World,
    client_suite: C,
    broker_suite: B,
    bend: &mut dyn FnMut(Step, &mut Vec<u8>),
) -> Result<Done<C, B>, Failure> {
    let at = |step| move |error| Failure { step, error };
    let config = world.config();
    let (mut client_rng, mut broker_rng) = (Drbg::broker(&CLIENT_SEED), Drbg::broker(&BROKER_SEED));

    let mut m1 = vec![0; 4000];
    let (len, mut await_m2) = Start::new(client_suite, &config)
        .unwrap()
        .write_m1(&mut client_rng, &mut m1)
        .unwrap();
    m1.truncate(len);
    bend(Step::M1, &mut m1);
    let flight1 = m1.clone();

    let (claim, send_m2) = read_m1(world, broker_suite, &mut m1).map_err(at(Step::M1))?;
    let mut m2 = vec![0; 6000];
    let (len, await_m3) = send_m2
        .write_m2(&world.m2_params(), &mut broker_rng, &mut m2)
        .map_err(at(Step::M1))?;
    m2.truncate(len);
    bend(Step::M2, &mut m2);

    let send_m3 = await_m2.read_m2(&m2, &mut client_rng).map_err(at(Step::M2))?;
    let mut m3 = vec![0; 70_000];
    let (len, await_m4) = send_m3
        .write_m3(&config.credential, &world.connect, &mut client_rng, &mut m3)
        .map_err(at(Step::M2))?;
    m3.truncate(len);
    bend(Step::M3, &mut m3);
    let flight3 = m3.clone();

    let (connect, send_m4) = await_m3.read_m3(&mut m3).map_err(at(Step::M3))?;
    let connect = connect.to_vec();
    let proved = send_m4.claim();
    assert_eq!(
        (proved.device, proved.mode, proved.suite),
        (claim.device, claim.mode, claim.suite)
    );
    let mut m4 = vec![0; 20_000];
    let (len, broker) = send_m4.write_m4(&world.connack, &mut m4).unwrap();
    m4.truncate(len);
    bend(Step::M4, &mut m4);
    let flight4 = m4.clone();

    let (connack, client) = await_m4.read_m4(&mut m4).map_err(at(Step::M4))?;
    let connack = connack.to_vec();
    Ok(Done {
        flights: [flight1, m2, flight3, flight4],
        client,
        broker,
        claim,
        connect,
        connack,
    })
}

/// Every suite compiled in that tests go through: all pairs of KEM, group, profile and AEAD would be too many to run
/// at every byte, so each part stands in at least one.
pub fn all_suites() -> impl Iterator<Item = SuiteId> {
    AnySuite::all().map(Suite::id)
}
