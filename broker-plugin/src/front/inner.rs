//! The application's CONNECT: who may use which client id, what the back end is told, and what it answers.

use std::{io, sync::Arc};

use hybrid_handshake::{
    Error,
    broker::Claim,
    mqtt::{Connack, Connect, Level, PacketType, Place, Properties, Property, ReasonCode},
    suite::{Mode, SuiteId},
};
use tokio::{io::AsyncWriteExt as _, time::timeout};

use super::{
    Shared,
    live::{Admitted, AdmittedDevice},
    outer::{LEAST_CONNACK, read_body, read_header},
};
use crate::{
    backend::{
        BoxedStream, Origin,
        reference::{self, WithoutReference},
    },
    policy::Policy,
    refusal::InnerRefusal,
    registry::Device,
};

/// What M4 carries, and what follows it.
pub(super) struct Reply {
    pub(super) connack: Vec<u8>,
    /// The open session; `None` if the CONNACK refuses.
    pub(super) stream: Option<(BoxedStream, Admitted)>,
    pub(super) level: Level,
    /// Cause and code of a refusal, ours or the back end's.
    pub(super) refused: Option<(&'static str, ReasonCode)>,
    pub(super) device: Option<String>,
    pub(super) client_id: Option<String>,
}

/// Connects the application to the back end, or finds out why not.
pub(super) async fn connect(
    shared: &Shared,
    claim: &Claim,
    device: Option<Device>,
    packet: &[u8],
    origin: Origin,
    connack_limit: u16,
) -> Reply {
    let level = Level::to_answer(packet);
    let name = device.as_ref().map(|device| device.id.clone());
    let tried = try_connect(shared, claim, device.as_ref(), packet, origin, connack_limit).await;
    let mut reply = tried.unwrap_or_else(|refusal| Reply::refused(refusal, level));
    reply.device = name;
    reply
}

async fn try_connect(
    shared: &Shared,
    claim: &Claim,
    device: Option<&Device>,
    packet: &[u8],
    origin: Origin,
    connack_limit: u16,
) -> Result<Reply, InnerRefusal> {
    if claim.device.is_some() && device.is_none() {
        // Gone since its ticket was sealed.
        return Err(InnerRefusal::Revoked);
    }
    if let Some(device) = device {
        check_device(device, claim)?;
        shared.seen.note(&device.id, shared.clock.now());
    }
    let connect = Connect::parse(packet).map_err(|error| match error {
        Error::ProtocolVersion { .. } => InnerRefusal::Level,
        _ => InnerRefusal::Malformed,
    })?;
    let policy = shared.policy();
    let user_name;
    let forwarded = match device {
        Some(device) => {
            user_name = policy.user_form.user_name(&policy.user_prefix, &device.id);
            as_device(&policy, device, connect, &user_name)?
        }
        None => as_anonymous(shared, &policy, connect).await?,
    };
    let topics = policy.topics(device.map(|device| (device.id.as_str(), &device.topics)));
    if let (Some(topics), Some(will)) = (&topics, &connect.will)
        && !topics.may_publish(will.topic)
    {
        return Err(InnerRefusal::WillTopic);
    }
    let mut bytes = vec![0; packet.len() + MAX_GROWTH];
    let len = forwarded.write(&mut bytes).map_err(|_| InnerRefusal::Malformed)?;
    bytes.truncate(len);
    let exchanged = timeout(shared.limits.backend_timeout, exchange(shared, &bytes, origin));
    let (stream, answer) = match exchanged.await {
        Ok(Ok(exchanged)) => exchanged,
        Ok(Err(error)) => return Err(unreachable(shared, &error)),
        Err(elapsed) => return Err(unreachable(shared, &elapsed)),
    };
    shared.metrics.backend_up.set(1);
    let answer = Connack::parse(&answer, connect.level).map_err(|_| InnerRefusal::Unreachable)?;
    let assigned = (device.is_some() && connect.client_id.is_empty()).then_some(forwarded.client_id);
    let instead = policy.server_reference.as_deref();
    let connack = rewrite(&answer, connect.level, assigned, instead, connack_limit)?;
    let accepted = !answer.code.is_error();
    let stream: BoxedStream = if connect.level.is_v5() {
        Box::new(WithoutReference::new(stream, policy.server_reference.clone()))
    } else {
        stream
    };
    let admitted = Admitted {
        suite: claim.suite,
        client_id: forwarded.client_id.to_owned(),
        user_name: forwarded.user_name.filter(|_| device.is_none()).map(str::to_owned),
        device: device.map(AdmittedDevice::new),
        topics: topics.map(Arc::new),
    };
    Ok(Reply {
        connack,
        stream: accepted.then_some((stream, admitted)),
        level: connect.level,
        refused: (!accepted).then_some(("backend", answer.code)),
        device: None,
        client_id: Some(forwarded.client_id.to_owned()),
    })
}

impl Reply {
    fn refused(refusal: InnerRefusal, level: Level) -> Self {
        let mut connack = vec![0; 8];
        let len = Connack::new(refusal.code()).write(level, &mut connack).unwrap_or(0);
        connack.truncate(len);
        Self {
            connack,
            stream: None,
            level,
            refused: Some((refusal.cause(), refusal.code())),
            device: None,
            client_id: None,
        }
    }
}

fn check_device(device: &Device, claim: &Claim) -> Result<(), InnerRefusal> {
    if device.revoked {
        return Err(InnerRefusal::Revoked);
    }
    let resumed = claim.resumed.as_ref();
    if resumed.is_some_and(|last| last.generation != device.generation) {
        return Err(InnerRefusal::CredentialChanged);
    }
    let modes = [Some(claim.mode), resumed.map(|last| last.mode)];
    let modes: Vec<Mode> = modes.into_iter().flatten().collect();
    if allows(device, claim.suite, &modes) {
        Ok(())
    } else {
        Err(InnerRefusal::NotAllowed)
    }
}

/// Whether the registry lets a device use this suite in these modes.
pub(super) fn allows(device: &Device, suite: SuiteId, modes: &[Mode]) -> bool {
    let floor = device.lowest_suite.map(SuiteId::from_code);
    let meets = match floor {
        None => true,
        // A floor that this build does not know cannot be shown to be met.
        Some(floor) => floor.is_some_and(|floor| suite.meets(floor)),
    };
    meets && modes.iter().all(|mode| device.modes.allow(mode.code()))
}

/// The CONNECT of an enrolled device: its identity decides client id and login.
fn as_device<'a>(
    policy: &'a Policy,
    device: &'a Device,
    connect: Connect<'a>,
    user_name: &'a str,
) -> Result<Connect<'a>, InnerRefusal> {
    let client_id = match connect.client_id {
        "" => device.id.as_str(),
        id if policy.client_id.allows(&device.id, &device.client_ids, id) => id,
        _ => return Err(InnerRefusal::ClientId),
    };
    Ok(Connect {
        client_id,
        user_name: Some(user_name),
        password: policy.password.as_deref(),
        ..connect
    })
}

/// The CONNECT of an anonymous client: its own login, but no name that belongs to a device.
async fn as_anonymous<'a>(shared: &Shared, policy: &Policy, connect: Connect<'a>) -> Result<Connect<'a>, InnerRefusal> {
    if connect
        .user_name
        .is_some_and(|name| policy.user_form.is_reserved(&policy.user_prefix, name))
    {
        return Err(InnerRefusal::UserName);
    }
    // With the `prefix` policy everything behind `id/` belongs to the device too.
    let owner = connect.client_id.split('/').next().unwrap_or_default();
    for id in [connect.client_id, owner] {
        match shared.registry.is_reserved_client_id(id).await {
            Ok(false) => {}
            Ok(true) => return Err(InnerRefusal::ClientId),
            Err(error) => {
                tracing::error!(%error, "registry");
                shared.metrics.registry_failed("client-id");
                return Err(InnerRefusal::Registry);
            }
        }
    }
    Ok(connect)
}

/// Opens the back end's stream, sends the CONNECT and reads the CONNACK.
async fn exchange(shared: &Shared, connect: &[u8], origin: Origin) -> io::Result<(BoxedStream, Vec<u8>)> {
    let mut stream = shared.backend.connect(origin).await?;
    stream.write_all(connect).await?;
    stream.flush().await?;
    let is_connack = |packet| packet == PacketType::Connack;
    let read = async {
        let (header, bytes) = read_header(&mut stream, MAX_CONNACK, LEAST_CONNACK, is_connack).await?;
        read_body(&mut stream, header, bytes).await
    };
    let answer = read.await.map_err(|_| io::Error::other("closed without a CONNACK"))?;
    Ok((stream, answer))
}

fn unreachable(shared: &Shared, error: &(dyn std::error::Error + 'static)) -> InnerRefusal {
    tracing::warn!(error, "back end");
    shared.metrics.backend_up.set(0);
    InnerRefusal::Unreachable
}

/// The back end's CONNACK as the client sees it: with the id we chose for it, without addresses of our own network,
/// and within its packet limit.
fn rewrite(
    answer: &Connack<'_>,
    level: Level,
    assigned: Option<&str>,
    instead: Option<&str>,
    limit: u16,
) -> Result<Vec<u8>, InnerRefusal> {
    let mut raw = Vec::new();
    if level.is_v5() {
        raw = reference::replace(answer.properties, instead);
        let has_id = answer
            .properties
            .iter()
            .any(|property| matches!(property, Property::AssignedClientIdentifier(_)));
        if let Some(id) = assigned.filter(|_| !has_id && !answer.code.is_error()) {
            raw.push(0x12);
            raw.extend_from_slice(&u16::try_from(id.len()).unwrap_or(0).to_be_bytes());
            raw.extend_from_slice(id.as_bytes());
        }
    }
    let properties = Properties::check(&raw, Place::Connack).map_err(|_| InnerRefusal::Unreachable)?;
    let mut out = vec![0; usize::from(limit)];
    let len = Connack { properties, ..*answer }.write_within(level, limit, &mut out);
    out.truncate(len.map_err(|_| InnerRefusal::TooLarge)?);
    // It stays for as long as the session.
    out.shrink_to_fit();
    Ok(out)
}

/// Client id, user name and password of our own.
const MAX_GROWTH: usize = 1 << 10;
/// Largest CONNACK that is read from a back end.
const MAX_CONNACK: usize = 64 << 10;
