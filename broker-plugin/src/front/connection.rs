//! One connection, from accept to close.

use std::{
    mem,
    net::SocketAddr,
    sync::Arc,
    time::{Duration, Instant},
};

use hybrid_handshake::{
    Error,
    mqtt::{
        FixedHeader, PacketType,
        outer::{FromClient, Pieces, auth_len, frame_auth, frame_connack, read_connect, read_from_client},
    },
    suite::{Mode, SuiteId},
};
use tokio::{
    io::AsyncWriteExt as _,
    net::TcpStream,
    time::{self, timeout},
};

use super::{
    Shared, flights,
    inner::{self, Reply},
    live,
    outer::{LEAST_CONNECT, LEAST_PACKET, close, read_body, read_header},
    splice::{self, Say, Session},
};
use crate::{
    admission::{Permit, Refused},
    backend::Origin,
    keys::KeyPair,
    metrics::{Closed, Handshake, Refused as RefusedLabel},
    refusal::Refusal,
    registry::Device,
    wire::{self, Direction, Step, WireEvent},
};

/// Serves one connection.
pub(super) async fn run(
    shared: Arc<Shared>,
    stream: TcpStream,
    peer: SocketAddr,
    id: u64,
    permit: Result<Permit, Refused>,
) {
    // Handshake messages and records are whole steps; nothing is gained by waiting for more.
    let _ = stream.set_nodelay(true);
    let mut connection = Connection {
        shared,
        stream,
        peer,
        id,
        permit,
        accepted: Instant::now(),
        suite: None,
    };
    // A connection is mostly a session that does nothing, and a task has room for its largest state: each phase gets memory
    // of its own, for as long as it lasts.
    let established = Box::pin(connection.establish()).await;
    let drain = match established {
        Ok(established) => {
            let cause = match connection.session(established) {
                Some(session) => session.await,
                None => "refused-inside",
            };
            connection.closed(cause);
            cause != splice::BROKEN
        }
        Err(refusal) => Box::pin(connection.refuse(refusal)).await,
    };
    if drain {
        close(&mut connection.stream, connection.shared.limits.close_timeout).await;
    }
}

struct Connection {
    shared: Arc<Shared>,
    stream: TcpStream,
    peer: SocketAddr,
    id: u64,
    permit: Result<Permit, Refused>,
    accepted: Instant,
    suite: Option<SuiteId>,
}

/// M2 is made.
struct Offered {
    offer: flights::Offer,
    device: Option<Device>,
    key: Arc<KeyPair>,
    /// When the first packet was whole.
    started: Instant,
}

/// M4 is sent.
struct Established {
    records: flights::Records,
    reply: Reply,
    /// The broker key of the handshake.
    key: Arc<KeyPair>,
    /// Whether it was a full one.
    full: bool,
    /// The first message of the control stream.
    ticket: Option<Vec<u8>>,
}

impl Connection {
    /// The handshake, unless it has to give way.
    async fn establish(&mut self) -> Result<Box<Established>, Refusal> {
        let evicted = self.permit.as_ref().map(Permit::evicted).unwrap_or_default();
        let stop = self.shared.stop.clone();
        tokio::select! {
            biased;
            () = stop.cancelled() => Err(Refusal::Stopped),
            () = evicted.cancelled() => Err(Refusal::Evicted),
            established = self.handshake() => established,
        }
    }

    /// Between M2 and M3, where a flood of half-open connections stays, nothing is held but what M3 needs: the states of
    /// the other steps are in boxes of their own, and M2 goes when it is sent.
    async fn handshake(&mut self) -> Result<Box<Established>, Refusal> {
        let mut offered = Box::pin(self.offer()).await?;
        let m2 = mem::take(&mut offered.offer.m2);
        let (packet_limit, m3_limit) = (offered.offer.packet_limit, offered.offer.m3_limit());
        let patience = self.shared.limits.m3_timeout;
        let answer = async {
            Box::pin(self.send_m2(m2, packet_limit)).await?;
            let m3_limit = u16::try_from(m3_limit).unwrap_or(u16::MAX);
            self.read_auth(auth_len(m3_limit) as usize + PROPERTY_SLACK).await
        };
        let packet = timeout(patience, answer).await;
        let packet = packet.map_err(|_| Refusal::Timeout)??;
        Box::pin(self.finish(offered, packet)).await
    }

    /// From the first packet to M2.
    async fn offer(&mut self) -> Result<Box<Offered>, Refusal> {
        let mut packet = self.read_connect().await?;
        let started = Instant::now();
        let m1 = read_connect(&mut packet)?;
        let hello = flights::check_m1(&self.shared, m1)?;
        self.suite = Some(hello.suite());
        let key = hello.key();
        // Not before: a client that could never connect is told that, and not that there is no room.
        self.permit()?;
        let opened = flights::open_m1(&self.shared, hello, m1.to_vec()).await?;
        drop(packet);
        let device = flights::look_up(&self.shared, opened.claim()).await?;
        let (offer, device) = flights::answer(&self.shared, opened, device).await?;
        Ok(Box::new(Offered {
            offer,
            device,
            key,
            started,
        }))
    }

    /// From M3 to M4.
    async fn finish(&mut self, offered: Box<Offered>, mut packet: Vec<u8>) -> Result<Box<Established>, Refusal> {
        let Offered {
            offer,
            device,
            key,
            started,
        } = *offered;
        let m3 = match read_from_client(&mut packet)? {
            FromClient::Data(m3) => m3.to_vec(),
            FromClient::Disconnect => return Err(Refusal::Gone),
            FromClient::NextPiece => return Err(Error::UnexpectedPacket.into()),
        };
        drop(packet);
        let (connect, proved) = flights::open_m3(&self.shared, offer, m3).await?;
        let claim = *proved.claim();
        self.permit()?.leave_handshake();
        let generation = device.as_ref().map_or(0, |device| device.generation);
        let reply = inner::connect(
            &self.shared,
            &claim,
            device,
            &connect,
            Origin {
                client: self.peer,
                listener: self.stream.local_addr().unwrap_or(self.peer),
            },
            proved.connack_limit(),
        )
        .await;
        let (packet, records) = write_connack(proved, &reply.connack)?;
        self.write("CONNACK", &packet).await?;
        self.count_handshake(&claim, &reply, started.elapsed());
        let ticket = flights::ticket(&self.shared, &claim, &key, generation, &records);
        Ok(Box::new(Established {
            records,
            reply,
            key,
            full: claim.mode != Mode::Resume,
            ticket,
        }))
    }

    /// Reads the first packet within its time and memory.
    async fn read_connect(&mut self) -> Result<Vec<u8>, Refusal> {
        let deadline = time::Instant::now() + self.shared.limits.connect_timeout;
        let is_connect = |packet| packet == PacketType::Connect;
        let header = read_header(&mut self.stream, MAX_OUTER_CONNECT, LEAST_CONNECT, is_connect);
        let (header, bytes) = time::timeout_at(deadline, header)
            .await
            .map_err(|_| Refusal::Timeout)??;
        self.reserve(header)?;
        let kilobytes = u64::from(header.packet_len().div_ceil(1024));
        let body = read_body(&mut self.stream, header, bytes);
        let packet = time::timeout_at(deadline + Duration::from_secs(kilobytes), body).await;
        let packet = packet.map_err(|_| Refusal::Timeout)??;
        self.emit(Step::Packet {
            direction: Direction::In,
            name: "CONNECT",
            len: packet.len(),
        });
        Ok(packet)
    }

    /// Sends M2, in pieces where the client asks for it.
    async fn send_m2(&mut self, m2: Vec<u8>, packet_limit: u16) -> Result<(), Refusal> {
        let len = u16::try_from(m2.len()).map_err(|_| Refusal::Internal)?;
        let mut pieces = Pieces::new(len, packet_limit);
        while let Some(range) = pieces.send() {
            let piece = m2.get(range).ok_or(Refusal::Internal)?;
            let mut packet = vec![0; auth_len(u16::try_from(piece.len()).unwrap_or(u16::MAX)) as usize];
            let (place, _) = frame_auth(&mut packet, u16::try_from(piece.len()).unwrap_or(u16::MAX))?;
            place.copy_from_slice(piece);
            self.write("AUTH", &packet).await?;
            if pieces.is_complete() {
                break;
            }
            let mut asked = self.read_auth(MAX_SMALL_AUTH).await?;
            match read_from_client(&mut asked)? {
                FromClient::NextPiece => {}
                FromClient::Disconnect => return Err(Refusal::Gone),
                FromClient::Data(_) => return Err(Error::UnexpectedPacket.into()),
            }
        }
        Ok(())
    }

    /// Reads AUTH or DISCONNECT: nothing else may come before the CONNACK.
    async fn read_auth(&mut self, limit: usize) -> Result<Vec<u8>, Refusal> {
        let allowed = |packet| matches!(packet, PacketType::Auth | PacketType::Disconnect);
        let (header, bytes) = read_header(&mut self.stream, limit, LEAST_PACKET, allowed).await?;
        self.reserve(header)?;
        let packet = read_body(&mut self.stream, header, bytes).await?;
        let name = if header.packet == PacketType::Auth {
            "AUTH"
        } else {
            "DISCONNECT"
        };
        self.emit(Step::Packet {
            direction: Direction::In,
            name,
            len: packet.len(),
        });
        Ok(packet)
    }

    /// What carries MQTT until one side ends, and then says why; `None` if the CONNACK has refused.
    fn session(&mut self, established: Box<Established>) -> Option<splice::Running<'_>> {
        let Established {
            records,
            reply,
            key,
            full,
            ticket,
        } = *established;
        let (backend, admitted) = reply.stream?;
        let topics = admitted.topics.clone();
        let live = live::enter(&self.shared, self.id, admitted);
        let session = Session {
            records,
            backend,
            level: reply.level,
            key,
            device: reply.device,
            full,
            topics,
            news: ticket.into_iter().map(Say::Message).collect(),
            live,
        };
        Some(splice::run(&self.shared, &mut self.stream, session))
    }

    fn closed(&self, cause: &'static str) {
        self.shared.metrics.closed.get_or_create(&Closed { cause }).inc();
        self.emit(Step::Closed { cause });
    }

    /// Says why, and whether the stream is still worth an orderly end.
    async fn refuse(&mut self, refusal: Refusal) -> bool {
        if let Ok(permit) = &mut self.permit {
            permit.leave_handshake();
        }
        let (cause, code) = (refusal.cause(), refusal.code());
        let label = RefusedLabel {
            cause,
            code: code.map_or(0, |code| code as u32),
        };
        self.shared.metrics.refusals.get_or_create(&label).inc();
        tracing::info!(
            peer = %self.peer, connection = self.id, cause, code = code.map(tracing::field::display),
            detail = refusal.detail(), "refused"
        );
        if let Some(connack) = refusal.connack() {
            // The client may be gone, which `close` notices too.
            let _ = timeout(self.shared.limits.close_timeout, self.write("CONNACK", &connack)).await;
        }
        self.emit(Step::Closed { cause });
        !matches!(refusal, Refusal::Gone)
    }

    async fn write(&mut self, name: &'static str, packet: &[u8]) -> Result<(), Refusal> {
        self.stream.write_all(packet).await?;
        self.emit(Step::Packet {
            direction: Direction::Out,
            name,
            len: packet.len(),
        });
        Ok(())
    }

    fn permit(&mut self) -> Result<&mut Permit, Refusal> {
        self.permit.as_mut().map_err(|refused| (*refused).into())
    }

    /// Books the memory of a packet. A connection without a permit only reads one small packet to be refused.
    fn reserve(&mut self, header: FixedHeader) -> Result<(), Refusal> {
        match &mut self.permit {
            Ok(permit) => Ok(permit.reserve(header.packet_len() as usize)?),
            Err(_) => Ok(()),
        }
    }

    fn count_handshake(&self, claim: &flights::Claim, reply: &Reply, handshake: Duration) {
        let metrics = &self.shared.metrics;
        match reply.refused {
            None => {
                let label = Handshake {
                    suite: claim.suite.to_string(),
                    mode: claim.mode.code().into(),
                };
                metrics.handshakes.get_or_create(&label).inc();
                metrics
                    .handshake_seconds
                    .get_or_create(&label)
                    .observe(handshake.as_secs_f64());
                self.emit(Step::Established { handshake });
                tracing::info!(
                    peer = %self.peer, connection = self.id, suite = %claim.suite, mode = claim.mode.code(),
                    device = reply.device.as_deref(), client_id = reply.client_id.as_deref(),
                    handshake_us = u64::try_from(handshake.as_micros()).unwrap_or(u64::MAX), "connected"
                );
            }
            Some((cause, code)) => {
                metrics
                    .refusals
                    .get_or_create(&RefusedLabel {
                        cause,
                        code: code as u32,
                    })
                    .inc();
                tracing::info!(
                    peer = %self.peer, connection = self.id, cause, %code, device = reply.device.as_deref(), "refused inside"
                );
            }
        }
    }

    fn emit(&self, step: Step) {
        let event = WireEvent {
            connection: self.id,
            peer: self.peer,
            elapsed: self.accepted.elapsed(),
            suite: self.suite,
            step,
        };
        wire::emit(self.shared.observer.as_ref(), &event);
    }
}

/// M4 in its packet.
fn write_connack(proved: flights::Proved, connack: &[u8]) -> Result<(Vec<u8>, flights::Records), Refusal> {
    let (m4, records) = flights::write_m4(proved, connack)?;
    let len = u16::try_from(m4.len()).map_err(|_| Refusal::Internal)?;
    let mut packet = vec![0; hybrid_handshake::mqtt::outer::connack_len(len) as usize];
    let (place, _) = frame_connack(&mut packet, len)?;
    place.copy_from_slice(&m4);
    Ok((packet, records))
}

/// Largest outer CONNECT in bytes: M1 of every suite is far below.
const MAX_OUTER_CONNECT: usize = 16 << 10;
/// Largest AUTH without data, and DISCONNECT before the CONNACK.
const MAX_SMALL_AUTH: usize = 1 << 10;
/// Other properties that an AUTH with M3 may have.
const PROPERTY_SLACK: usize = 1 << 10;
