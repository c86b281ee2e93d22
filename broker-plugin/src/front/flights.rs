//! M1 to M4 on the sans-IO machines: KEM and DH work takes turns, the registry is asked in between.

use std::{sync::Arc, time::Duration};

use hybrid_handshake::{
    Error,
    broker::{AwaitM1, AwaitM3, Decoy, Enrolled, M2Params, SendM2, SendM4},
    control::{self, HEADER_LEN, Kind},
    identity::{Psk, PublicKey},
    message::{BrokerLimits, Capabilities, M1Header},
    resume::{Resumption, TICKET_LEN},
    suite::{AnySuite, Group, KemId, Mode, SuiteId},
};
use tokio::time::timeout;

use super::Shared;
use crate::{
    admission::{Urgency, Weight},
    keys::{KeyPair, fresh_drbg},
    refusal::Refusal,
    registry::{Credential, Device, RegistryError},
};

pub(super) use hybrid_handshake::broker::Claim;

/// Both directions of records.
pub(super) type Records = hybrid_handshake::Established<AnySuite>;
/// The client has proved who it is.
pub(super) type Proved = SendM4<AnySuite>;

/// An M1 that passed every check without a key.
pub(super) struct Hello {
    header: M1Header,
    suite: AnySuite,
    key: Arc<KeyPair>,
}

impl Hello {
    pub(super) const fn suite(&self) -> SuiteId {
        self.header.suite()
    }

    /// The broker key that the client has named.
    pub(super) fn key(&self) -> Arc<KeyPair> {
        self.key.clone()
    }
}

/// box1 is open.
pub(super) struct Opened {
    state: SendM2<AnySuite>,
    key: Arc<KeyPair>,
}

impl Opened {
    pub(super) const fn claim(&self) -> &Claim {
        self.state.claim()
    }
}

/// M2, and what is needed to read its answer.
pub(super) struct Offer {
    pub(super) m2: Vec<u8>,
    /// Largest outer packet that the client takes.
    pub(super) packet_limit: u16,
    /// Of its answer.
    urgency: Urgency,
    weight: Weight,
    state: AwaitM3<AnySuite>,
}

impl Offer {
    pub(super) fn m3_limit(&self) -> usize {
        self.state.m3_limit()
    }
}

/// Checks M1 in the protocol's order up to where the budget is asked.
pub(super) fn check_m1(shared: &Shared, m1: &[u8]) -> Result<Hello, Refusal> {
    let header = M1Header::parse(m1)?;
    let suite = AnySuite::new(header.suite()).ok_or(Error::Unsupported)?;
    let key = shared.keys.get(&header.kid()).ok_or(Error::Unsupported)?.pair;
    AwaitM1::new(suite, &header, key.secret()?)?;
    match header.mode() {
        Mode::Psk | Mode::Kem | Mode::Resume => {}
        Mode::Anonymous if shared.policy().allow_anonymous => {}
        Mode::Anonymous => return Err(Refusal::NotAllowed),
    }
    if !shared.policy().allows_suite(header.suite()) {
        return Err(Refusal::NotAllowed);
    }
    Ok(Hello { header, suite, key })
}

/// Opens box1 in its turn.
pub(super) async fn open_m1(shared: &Shared, hello: Hello, mut m1: Vec<u8>) -> Result<Opened, Refusal> {
    let Hello { header, suite, key } = hello;
    let tickets = shared.tickets.keys();
    let (urgency, now) = (urgency(header.mode()), shared.clock.now());
    let opened = shared.workers.run(urgency, weight(header.suite(), &key), move || {
        let state = AwaitM1::new(suite, &header, key.secret()?)?;
        let (_, state) = state.read_m1(&mut m1, tickets.as_deref(), now)?;
        Ok::<_, Error>(Opened { state, key })
    });
    let opened = opened.await??;
    match &opened.claim().resumed {
        // Its ticket is from a time when anonymous clients were allowed.
        Some(last) if last.mode == Mode::Anonymous && !shared.policy().allow_anonymous => Err(Refusal::NotAllowed),
        _ => Ok(opened),
    }
}

/// Asks the registry for the claimed device.
pub(super) async fn look_up(shared: &Shared, claim: &Claim) -> Result<Option<Device>, Refusal> {
    match &claim.device {
        None => Ok(None),
        Some(id) => find(shared, id.as_str()).await,
    }
}

/// Asks the registry for a device.
pub(super) async fn find(shared: &Shared, id: &str) -> Result<Option<Device>, Refusal> {
    let found = timeout(REGISTRY_PATIENCE, shared.registry.device(id)).await;
    let found = found.unwrap_or(Err(RegistryError::Timeout));
    shared.metrics.registry_up.set(found.is_ok().into());
    if found.is_err() {
        shared.metrics.registry_failed("device");
    }
    Ok(found?)
}

/// Makes M2 in its turn. Gives the device back.
pub(super) async fn answer(
    shared: &Arc<Shared>,
    opened: Opened,
    device: Option<Device>,
) -> Result<(Offer, Option<Device>), Refusal> {
    let packet_limit = opened.state.limits().packet();
    let shared = shared.clone();
    let workers = shared.workers.clone();
    let now = urgency(opened.claim().mode);
    let then = match now {
        Urgency::New => Urgency::Begun,
        Urgency::Begun | Urgency::Resumption => now,
    };
    let weight = weight(opened.claim().suite, &opened.key);
    let made = workers.run(now, weight, move || {
        let (m2, state) = write_m2(&shared, opened, device.as_ref())?;
        Ok::<_, Error>((
            Offer {
                m2,
                packet_limit,
                urgency: then,
                weight,
                state,
            },
            device,
        ))
    });
    Ok(made.await??)
}

/// Opens box3 in its turn; gives the application's CONNECT.
pub(super) async fn open_m3(shared: &Shared, offer: Offer, mut m3: Vec<u8>) -> Result<(Vec<u8>, Proved), Refusal> {
    let opened = shared.workers.run(offer.urgency, offer.weight, move || {
        let (connect, proved) = offer.state.read_m3(&mut m3)?;
        Ok::<_, Error>((connect.to_vec(), proved))
    });
    Ok(opened.await??)
}

/// Seals the application's CONNACK.
pub(super) fn write_m4(proved: Proved, connack: &[u8]) -> Result<(Vec<u8>, Records), Refusal> {
    let mut m4 = vec![0; hybrid_handshake::message::m4_len(connack.len())];
    let (len, records) = proved.write_m4(connack, &mut m4)?;
    m4.truncate(len);
    Ok((m4, records))
}

/// The TICKET message of a session that has the option.
pub(super) fn ticket(
    shared: &Shared,
    claim: &Claim,
    key: &KeyPair,
    generation: u32,
    records: &Records,
) -> Option<Vec<u8>> {
    if !records.options.has(Capabilities::TICKETS) {
        return None;
    }
    let now = shared.clock.now();
    let resumption = Resumption::after(claim, generation, now);
    let mut ticket = [0; TICKET_LEN];
    let sealed = shared.tickets.keys()?.seal(
        &key.secret().ok()?.key().kid(),
        &resumption,
        &records.rms,
        &mut fresh_drbg().ok()?,
        &mut ticket,
    );
    sealed.ok()?;
    let lifetime = resumption.lifetime_s(now).to_be_bytes();
    let mut message = vec![0; HEADER_LEN + lifetime.len() + TICKET_LEN];
    control::write(Kind::Ticket, &[&lifetime, &ticket], &mut message).ok()?;
    shared.metrics.tickets.inc();
    Some(message)
}

/// Resumptions are cheap and finish what was paid for already.
const fn urgency(mode: Mode) -> Urgency {
    match mode {
        Mode::Resume => Urgency::Resumption,
        Mode::Kem | Mode::Psk | Mode::Anonymous => Urgency::New,
    }
}

/// NTRU (key generation) and the portable P-256 take milliseconds, all else a tenth of that.
pub(super) fn weight(suite: SuiteId, broker_key: &KeyPair) -> Weight {
    let slow = |kem| {
        matches!(
            kem,
            KemId::NtruHps2048509 | KemId::NtruHrss701 | KemId::NtruHps2048677 | KemId::NtruHps4096821
        )
    };
    let kem_of_broker = broker_key.secret().map(|secret| secret.key().public().kem());
    if suite.group() == Group::P256 || slow(suite.kem()) || kem_of_broker.is_ok_and(slow) {
        Weight::Heavy
    } else {
        Weight::Light
    }
}

fn write_m2(
    shared: &Shared,
    Opened { state, key: broker_key }: Opened,
    device: Option<&Device>,
) -> Result<(Vec<u8>, AwaitM3<AnySuite>), Error> {
    let claim = *state.claim();
    let psk;
    let enrolled = match device.map(|device| &device.credential) {
        None => Enrolled::Unknown,
        Some(Credential::Psk(bytes)) => {
            psk = Psk::from_bytes(**bytes);
            Enrolled::Psk(&psk)
        }
        // A stored key that does not parse is as good as none.
        Some(Credential::Kem(key)) => PublicKey::parse(key).map_or(Enrolled::Unknown, Enrolled::Kem),
    };
    let key = if claim.mode == Mode::Kem {
        Some(shared.decoys.get(claim.suite)?)
    } else {
        None
    };
    let params = M2Params {
        secret: broker_key.secret()?,
        enrolled,
        decoy: Decoy {
            secret: &shared.decoy,
            key,
        },
        now: shared.clock.now(),
        limits: BrokerLimits::new(shared.limits.record, shared.limits.connect)?,
        options: options(shared, &claim),
    };
    let mut m2 = vec![0; hybrid_handshake::message::m2_len(claim.suite, claim.mode)];
    let (len, state) = state.write_m2(&params, &mut fresh_drbg()?, &mut m2)?;
    m2.truncate(len);
    Ok((m2, state))
}

/// What this front can do for such a client; never depends on who it claims to be.
fn options(shared: &Shared, claim: &Claim) -> Capabilities {
    let tickets = match shared.tickets.keys() {
        Some(_) => Capabilities::TICKETS,
        None => Capabilities::NONE,
    };
    let proved_in = claim.resumed.map_or(claim.mode, |last| last.mode);
    let reauth = match proved_in {
        Mode::Anonymous => Capabilities::NONE,
        Mode::Kem | Mode::Psk | Mode::Resume => Capabilities::REAUTH,
    };
    Capabilities::KEY_NEWS.with(tickets).with(reauth)
}

const REGISTRY_PATIENCE: Duration = Duration::from_secs(3);
