//! Any message of any flight may be lost, in every mode: client and broker find together again without a person.
#![allow(missing_docs)]

#[allow(dead_code, unreachable_pub)] // shared by the files of this folder
#[path = "scripted/wire.rs"]
mod wire;

use hybrid_handshake::{
    Established,
    broker::Claim,
    client::{AwaitM2, Config, Start},
    drbg::Drbg,
    resume::{Resumption, TICKET_LEN, Ticket, TicketKey, TicketKeys, WayOut},
    suite::{AnySuite, Mode, SuiteId},
};
use wire::{NOW, Step, World, read_any_m1};

/// A client that keeps what a client keeps between connections.
struct Client {
    world: World,
    mode: Mode,
    rng: Drbg,
    way_out: WayOut,
    prepared: Option<(Mode, Vec<u8>, AwaitM2<AnySuite>)>,
}

type Session = (Established<AnySuite>, Established<AnySuite>, Claim);

impl Client {
    fn new(suite: SuiteId, mode: Mode) -> Self {
        Self {
            world: World::new(suite, mode),
            mode,
            rng: Drbg::broker(&[1; 32]),
            way_out: WayOut::default(),
            prepared: None,
        }
    }

    /// One connection, on which `lost` does not arrive. The ticket, if it arrives, is kept.
    fn connect(&mut self, lost: Option<Step>, ticket_lost: bool) -> Option<Mode> {
        let now_with = self.world.ticket.is_some() && self.way_out.allows_ticket();
        self.world.mode = if now_with { Mode::Resume } else { self.mode };
        let mode = self.world.mode;
        let session = self.handshake(lost);
        if session.is_none() && mode == Mode::Resume {
            self.way_out.ticket_failed();
        }
        let (client, broker, claim) = session?;
        self.way_out.m4_opened();
        if !ticket_lost {
            let resumption = Resumption::after(&claim, 0, NOW);
            let mut sealed = [0; TICKET_LEN];
            let (kid, keys) = (
                self.world.broker.broker_key().kid(),
                self.world.tickets.as_ref().unwrap(),
            );
            keys.seal(&kid, &resumption, &broker.rms, &mut self.rng, &mut sealed)
                .unwrap();
            let last = self.world.ticket.take();
            let lifetime = resumption.lifetime_s(NOW);
            self.world.ticket = Some(Ticket::new(&client, claim.device, last.as_ref(), lifetime, &sealed));
        }
        Some(mode)
    }

    fn handshake(&mut self, lost: Option<Step>) -> Option<Session> {
        let (world, rng) = (&self.world, &mut self.rng);
        let arrives = |step| (lost != Some(step)).then_some(());
        let fits = |mode| mode == world.mode;
        let (m1, mut await_m2) = match self.prepared.take().filter(|(mode, ..)| fits(*mode)) {
            Some((_, m1, state)) => (m1, state),
            None => prepare(world, &world.config(), rng),
        };
        let met = (|| {
            arrives(Step::M1)?;
            let (claim, send_m2) = read_any_m1(world, &mut m1.clone()).ok()?;
            let mut m2 = vec![0; 6000];
            // A broker's generator is another one for each connection.
            let mut broker_rng = Drbg::broker(&core::array::from_fn(|at| m1[at + 17] ^ u8::from(lost.is_none())));
            let (len, await_m3) = send_m2.write_m2(&world.m2_params(), &mut broker_rng, &mut m2).unwrap();
            arrives(Step::M2)?;
            let (mut m3, await_m4) = wire::answer_m2(world, &mut await_m2, &m2[..len], rng).unwrap();
            arrives(Step::M3)?;
            let (_, send_m4) = await_m3.read_m3(&mut m3).unwrap();
            let mut m4 = vec![0; 500];
            let (len, broker) = send_m4.write_m4(&world.connack, &mut m4).unwrap();
            arrives(Step::M4)?;
            let (_, client) = await_m4.read_m4(&mut m4[..len]).unwrap();
            Some((client, broker, claim))
        })();
        if !await_m2.is_spent() {
            self.prepared = Some((world.mode, m1, await_m2));
        }
        met
    }
}

fn prepare(world: &World, config: &Config<'_>, rng: &mut Drbg) -> (Vec<u8>, AwaitM2<AnySuite>) {
    let mut m1 = vec![0; 4000];
    let start = Start::new(world.any_suite(), config).unwrap();
    let (len, state) = start.write_m1(rng, &mut m1).unwrap();
    m1.truncate(len);
    (m1, state)
}

const FULL: [Mode; 3] = [Mode::Kem, Mode::Psk, Mode::Anonymous];
const STEPS: [Step; 4] = [Step::M1, Step::M2, Step::M3, Step::M4];

#[test]
fn each_message_of_a_full_handshake_may_be_lost() {
    for mode in FULL {
        for lost in STEPS {
            let mut client = Client::new(SuiteId::HOST_DEFAULT, mode);
            assert_eq!(client.connect(Some(lost), false), None);
            // Before an M2 has verified, the same M1 goes out again; behind it, a fresh one.
            assert_eq!(client.prepared.is_some(), matches!(lost, Step::M1 | Step::M2));
            assert_eq!(client.connect(None, false), Some(mode), "{mode:?} {lost:?}");
        }
    }
}

#[test]
fn each_message_of_a_resumption_may_be_lost() {
    for mode in FULL {
        for lost in STEPS {
            let mut client = Client::new(SuiteId::HOST_DEFAULT, mode);
            client.connect(None, false).unwrap();
            assert_eq!(client.connect(Some(lost), false), None);
            // A ticket that has been shown to a broker once opens again: brokers keep no state.
            assert_eq!(client.connect(None, false), Some(Mode::Resume), "{mode:?} {lost:?}");
            // The M4 counts anew.
            assert_eq!(client.connect(Some(lost), false), None);
            assert_eq!(client.connect(Some(lost), false), None);
            assert_eq!(client.connect(None, false), Some(mode));
        }
    }
}

#[test]
fn a_ticket_that_does_not_arrive_leaves_the_old_one_or_none() {
    for mode in FULL {
        let mut client = Client::new(SuiteId::HOST_DEFAULT, mode);
        client.connect(None, true).unwrap();
        assert_eq!(client.connect(None, false), Some(mode), "no ticket yet");
        assert_eq!(client.connect(None, true), Some(Mode::Resume));
        assert_eq!(client.connect(None, false), Some(Mode::Resume), "with the old one");
    }
}

#[test]
fn a_lost_ticket_key_costs_two_attempts_and_the_third_is_a_full_handshake() {
    for mode in FULL {
        let mut client = Client::new(SuiteId::HOST_DEFAULT, mode);
        client.connect(None, false).unwrap();
        client.world.tickets = Some(TicketKeys::new(TicketKey::from_bytes([0x66; 32]), None));
        assert_eq!(client.connect(None, false), None);
        assert_eq!(client.connect(None, false), None);
        assert_eq!(client.connect(None, false), Some(mode));
        assert_eq!(
            client.connect(None, false),
            Some(Mode::Resume),
            "with a ticket of the new key"
        );
    }
}
