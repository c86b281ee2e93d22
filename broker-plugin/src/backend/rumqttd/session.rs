//! One connection: the client's bytes on one side, its link into the router on the other.

mod end;
mod subscribe;

use std::{collections::VecDeque, future::poll_fn, pin::pin, sync::Arc, task::Poll, time::Duration};

use bytes::{Bytes, BytesMut};
use hybrid_handshake::mqtt::{FixedHeader, PacketType, ReasonCode};
use rumqttd::{
    Notification,
    local::LinkRx,
    protocol::{Packet, PingReq},
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream},
    sync::mpsc,
    time::{Instant, sleep_until},
};

use super::{
    Broker,
    connect::Client,
    inbound::{ALIAS_MAXIMUM, Inbound, RECEIVE_MAXIMUM},
    outbound::Outbound,
    publish::{Outgoing, varint},
    router::{Link, NoLink},
    sessions::Claim,
};
use crate::guard::{Version, Violation, read_ack, read_disconnect, rumqttd::client_id};
use end::End;
use subscribe::Subscriptions;

/// Serves one connection from its CONNECT on.
pub(super) async fn run(broker: Arc<Broker>, mut stream: DuplexStream) {
    let Ok(client) = read_client(&mut stream, broker.config.max_packet).await else {
        return;
    };
    let (client, assigned) = match accept(client) {
        Ok(accepted) => accepted,
        Err((version, code)) => return refuse(stream, version, code).await,
    };
    let claim = broker
        .sessions
        .claim(client.client_id.clone(), client.clean_start)
        .await;
    match Session::open(broker.clone(), &client, claim, assigned).await {
        Ok(session) => session.serve(client, stream).await,
        Err((claim, reason)) => {
            broker.sessions.release(claim, None);
            let code = match reason {
                NoLink::Full => ReasonCode::QuotaExceeded,
                NoLink::Dead => ReasonCode::ServerUnavailable,
            };
            refuse(stream, client.version, code).await;
        }
    }
}

/// A connected client.
struct Session {
    broker: Arc<Broker>,
    version: Version,
    claim: Claim,
    link: Link,
    link_rx: LinkRx,
    shares_rx: mpsc::Receiver<Notification>,
    inbound: Inbound,
    outbound: Outbound,
    subscriptions: Subscriptions,
    /// SUBACKs and UNSUBACKs for the client, one for each PINGREQ that the router has not answered. Sent earlier, they would
    /// promise too much: another client's next message may overtake the subscription in the router.
    promised: VecDeque<Vec<u8>>,
    /// For the client.
    out: Vec<u8>,
    /// For the router, handed over after each step.
    router: Vec<Packet>,
}

impl Session {
    async fn open(
        broker: Arc<Broker>,
        client: &Client,
        mut claim: Claim,
        assigned: bool,
    ) -> Result<Self, (Claim, NoLink)> {
        let id = client_id(&claim.client_id);
        let linked = async {
            if client.clean_start && client.is_persistent() {
                // The router has one flag for "start clean" and "keep nothing": forget first, keep then.
                broker.hub.link(id.clone(), true).await?.0.close().await;
            }
            broker.hub.link(id, !client.is_persistent()).await
        };
        let (link, link_rx, hello) = match linked.await {
            Ok(linked) => linked,
            Err(reason) => return Err((claim, reason)),
        };
        let present = session_present(hello);
        let kept = claim.kept.take().filter(|_| present);
        let (shares_tx, shares_rx) = mpsc::channel(SHARED_QUEUE);
        let (unreleased, filters, shares) =
            kept.map_or_else(Default::default, |kept| (kept.unreleased, kept.filters, kept.shares));
        let mut session = Self {
            version: client.version,
            link,
            link_rx,
            shares_rx,
            inbound: Inbound::new(client.version, unreleased),
            outbound: Outbound::new(client.version, client.receive_maximum, client.max_packet),
            subscriptions: Subscriptions::new(filters, shares_tx),
            promised: VecDeque::new(),
            out: Vec::new(),
            router: Vec::new(),
            claim,
            broker,
        };
        session.write_connack(client, present, assigned);
        session.subscriptions.rejoin(&session.broker, shares).await;
        if present {
            // What the router has ready shares one wake-up with its CONNACK; the answer to this is another one.
            session.promise(Vec::new());
        }
        Ok(session)
    }

    async fn serve(mut self, client: Client, stream: DuplexStream) {
        let (mut reader, mut writer) = tokio::io::split(stream);
        let keep_alive = self.keep_alive(&client);
        let mut deadline = Instant::now() + keep_alive;
        let mut input = BytesMut::new();
        let end = loop {
            if self.link.send(self.router.drain(..)).await.is_err() {
                break End::RouterDied;
            }
            let has_room = self.out.len() < MAX_OUT;
            tokio::select! {
                read = reader.read_buf(&mut input), if has_room => match read {
                    Ok(0) | Err(_) => break End::Lost,
                    Ok(_) => {
                        deadline = Instant::now() + keep_alive;
                        if let Err(end) = self.packets(&mut input).await {
                            break end;
                        }
                    }
                },
                wrote = writer.write(&self.out), if !self.out.is_empty() => match wrote {
                    Ok(0) | Err(_) => break End::Lost,
                    Ok(n) => drop(self.out.drain(..n)),
                },
                next = self.link_rx.next(), if has_room => match next {
                    Ok(next) => {
                        if let Err(end) = self.notifications(next).await {
                            break end;
                        }
                    }
                    Err(_) => break End::RouterDied,
                },
                Some(shared) = self.shares_rx.recv(), if has_room => {
                    if let Err(end) = self.notification(shared).await {
                        break end;
                    }
                }
                Ok(by) = &mut self.claim.taken_over => break End::TakenOver(by),
                () = sleep_until(deadline) => break End::Violation(KEEP_ALIVE),
                () = self.broker.stop.cancelled() => break End::Stopped,
            }
        };
        // Before the client sees its end: what others publish behind that goes to the members that stay.
        let _ = tokio::time::timeout(FLUSH_TIME, self.subscriptions.leave_groups()).await;
        // Nobody reads on after a loss; anybody else is told why.
        if end.tells(self.version, &mut self.out) {
            let flush = async {
                let _ = writer.write_all(&self.out).await;
                let _ = writer.shutdown().await;
            };
            let _ = tokio::time::timeout(FLUSH_TIME, flush).await;
        }
        drop((reader, writer));
        self.finish(client, end).await;
    }

    /// Handles every whole packet in `input`.
    async fn packets(&mut self, input: &mut BytesMut) -> Result<(), End> {
        while let Some((header, body)) = next_packet(input, self.broker.config.max_packet)? {
            self.packet(header, body).await?;
        }
        Ok(())
    }

    async fn packet(&mut self, header: FixedHeader, body: Bytes) -> Result<(), End> {
        let (out, router) = (&mut self.out, &mut self.router);
        match header.packet {
            PacketType::Publish => router.extend(self.inbound.publish(header.flags, &body, out)?),
            PacketType::Puback | PacketType::Pubrec => {
                let qos = if header.packet == PacketType::Puback { 1 } else { 2 };
                let (id, code) = read_ack(self.version, &body)?;
                self.outbound.acknowledged(qos, id, code, out, router);
            }
            PacketType::Pubrel => self.inbound.release(read_ack(self.version, &body)?.0, out),
            PacketType::Pubcomp => self.outbound.completed(read_ack(self.version, &body)?.0, out, router),
            PacketType::Subscribe => {
                let mut answer = Vec::new();
                self.subscriptions
                    .subscribe(&self.broker, self.version, &body, &mut answer, router)
                    .await?;
                self.promise(answer);
            }
            PacketType::Unsubscribe => {
                let mut answer = Vec::new();
                self.subscriptions
                    .unsubscribe(self.version, &body, &mut answer, router)
                    .await?;
                self.promise(answer);
            }
            PacketType::Pingreq => out.extend_from_slice(&[0xd0, 0]),
            PacketType::Disconnect => {
                let (code, expiry) = read_disconnect(self.version, &body)?;
                return Err(End::Disconnected { code, expiry });
            }
            _ => {
                return Err(Violation {
                    code: ReasonCode::ProtocolError,
                    what: "packet type",
                }
                .into());
            }
        }
        Ok(())
    }

    /// Handles a notification and those that came with it.
    async fn notifications(&mut self, first: Option<Notification>) -> Result<(), End> {
        let mut next = first;
        while let Some(notification) = next {
            self.notification(notification).await?;
            next = match at_once(self.link_rx.next()).await {
                Some(Ok(next)) if self.out.len() < MAX_OUT => next,
                Some(Ok(Some(last))) => {
                    self.notification(last).await?;
                    None
                }
                Some(Err(_)) => return Err(End::RouterDied),
                Some(Ok(None)) | None => None,
            };
        }
        Ok(())
    }

    async fn notification(&mut self, notification: Notification) -> Result<(), End> {
        let (out, router) = (&mut self.out, &mut self.router);
        match notification {
            Notification::Forward(forward) => {
                let message = Outgoing::new(forward.publish, forward.properties);
                self.outbound.forward(message, out, router);
            }
            Notification::DeviceAck(rumqttd_ack) => {
                match Packet::from(rumqttd_ack) {
                    Packet::PubRel(release, _) => self.outbound.release(release.pkid, out, router),
                    Packet::PingResp(_) => out.extend(self.promised.pop_front().unwrap_or_default()),
                    // Everything else was answered here already.
                    _ => {}
                }
            }
            Notification::Unschedule => self.link_rx.wake().await.map_err(|_| End::RouterDied)?,
            _ => {}
        }
        Ok(())
    }

    /// Answers the client once the router has dealt with everything up to here.
    fn promise(&mut self, answer: Vec<u8>) {
        self.router.push(Packet::PingReq(PingReq));
        self.promised.push_back(answer);
    }

    fn write_connack(&mut self, client: &Client, present: bool, assigned: bool) {
        let mut properties = Vec::new();
        if client.version == Version::V5 {
            if assigned {
                properties.push(0x12);
                let id = self.claim.client_id.as_bytes();
                properties.extend_from_slice(&u16::try_from(id.len()).unwrap_or(0).to_be_bytes());
                properties.extend_from_slice(id);
            }
            if client.keep_alive == 0 {
                properties.push(0x13);
                properties.extend_from_slice(&self.broker.config.server_keep_alive.to_be_bytes());
            }
            properties.push(0x21);
            properties.extend_from_slice(&RECEIVE_MAXIMUM.to_be_bytes());
            properties.push(0x22);
            properties.extend_from_slice(&ALIAS_MAXIMUM.to_be_bytes());
            properties.push(0x27);
            let max_packet = u32::try_from(self.broker.config.max_packet).unwrap_or(u32::MAX);
            properties.extend_from_slice(&max_packet.to_be_bytes());
        }
        write_connack(
            client.version,
            u8::from(present),
            ReasonCode::Success,
            &properties,
            &mut self.out,
        );
    }

    /// Time without a packet after which the client is lost (MQTT 5.0 section 3.1.2.10).
    fn keep_alive(&self, client: &Client) -> Duration {
        let seconds = match (client.keep_alive, client.version) {
            (0, Version::V5) => self.broker.config.server_keep_alive,
            // MQTT 3.1.1 has no way to ask for one.
            (0, Version::V3) => return NEVER,
            (seconds, _) => seconds,
        };
        Duration::from_secs(seconds.into()) * 3 / 2
    }
}

async fn read_client(stream: &mut DuplexStream, max_packet: usize) -> Result<Client, End> {
    let mut input = BytesMut::new();
    loop {
        let header = FixedHeader::read(&input).map_err(Violation::from)?;
        if let Some(header) = header {
            let len = header.packet_len() as usize;
            if header.packet != PacketType::Connect || len > max_packet.max(MAX_CONNECT) {
                return Err(End::Lost);
            }
            if input.len() >= len {
                return Client::read(input.get(..len).unwrap_or_default()).map_err(|what| Violation::from(what).into());
            }
        }
        if stream.read_buf(&mut input).await.unwrap_or(0) == 0 {
            return Err(End::Lost);
        }
    }
}

/// Checks the CONNECT and gives the client an id if it has none; says whether it did.
fn accept(mut client: Client) -> Result<(Client, bool), (Version, ReasonCode)> {
    if client.wants_auth {
        return Err((client.version, ReasonCode::BadAuthenticationMethod));
    }
    if !client.client_id.is_empty() {
        return Ok((client, false));
    }
    if client.version == Version::V3 && !client.clean_start {
        return Err((client.version, ReasonCode::ClientIdentifierNotValid));
    }
    let mut unique = [0; 12];
    getrandom::fill(&mut unique).map_err(|_| (client.version, ReasonCode::ImplementationSpecificError))?;
    client.client_id = format!("auto-{}", hex::encode(unique));
    Ok((client, true))
}

async fn refuse(mut stream: DuplexStream, version: Version, code: ReasonCode) {
    let mut out = Vec::new();
    write_connack(version, 0, code, &[], &mut out);
    let _ = stream.write_all(&out).await;
    let _ = stream.shutdown().await;
}

fn write_connack(version: Version, flags: u8, code: ReasonCode, properties: &[u8], out: &mut Vec<u8>) {
    out.push(0x20);
    match version {
        Version::V3 => out.extend_from_slice(&[2, flags, code.return_code()]),
        Version::V5 => {
            let mut len = Vec::new();
            varint(&mut len, properties.len());
            varint(out, 2 + len.len() + properties.len());
            out.extend_from_slice(&[flags, code as u8]);
            out.extend_from_slice(&len);
            out.extend_from_slice(properties);
        }
    }
}

fn session_present(hello: Notification) -> bool {
    match hello {
        Notification::DeviceAck(ack) => matches!(Packet::from(ack), Packet::ConnAck(c, _) if c.session_present),
        _ => false,
    }
}

/// The first packet of `input`, if it is whole.
fn next_packet(input: &mut BytesMut, max_packet: usize) -> Result<Option<(FixedHeader, Bytes)>, Violation> {
    let Some(header) = FixedHeader::read(input)? else {
        return Ok(None);
    };
    let len = header.packet_len() as usize;
    if len > max_packet {
        return Err(Violation {
            code: ReasonCode::PacketTooLarge,
            what: "packet too large",
        });
    }
    if input.len() < len {
        input.reserve(len - input.len());
        return Ok(None);
    }
    let mut packet = input.split_to(len).freeze();
    Ok(Some((header, packet.split_off(header.len()))))
}

/// The value of `future` if it has one now.
async fn at_once<T>(future: impl Future<Output = T>) -> Option<T> {
    let mut future = pin!(future);
    poll_fn(|context| match future.as_mut().poll(context) {
        Poll::Ready(value) => Poll::Ready(Some(value)),
        Poll::Pending => Poll::Ready(None),
    })
    .await
}

const KEEP_ALIVE: Violation = Violation {
    code: ReasonCode::KeepAliveTimeout,
    what: "keep alive",
};
/// Bytes for the client that make the session wait.
const MAX_OUT: usize = 64 << 10;
/// Messages of shared subscriptions that may wait.
const SHARED_QUEUE: usize = 16;
/// The largest inner CONNECT that a front can be told to take.
const MAX_CONNECT: usize = 64 << 10;
const FLUSH_TIME: Duration = Duration::from_secs(1);
/// Far enough for `Instant`, and for anybody.
const NEVER: Duration = Duration::from_secs(60 * 60 * 24 * 365 * 10);
