//! M1 to M4 over a transport: the client machine, in outer MQTT packets, with limits and timeouts.

use std::sync::Arc;
use std::time::Instant;

use hybrid_handshake::client::{self, AwaitM4, SendM3, Start};
use hybrid_handshake::drbg::Drbg;
use hybrid_handshake::identity::BrokerKey;
use hybrid_handshake::message::{Capabilities, ClientLimits, m1_len, m2_len, m3_len};
use hybrid_handshake::mqtt::outer::{self, FromBroker, Pieces};
use hybrid_handshake::mqtt::{FixedHeader, PacketType};
use hybrid_handshake::resume::Ticket;
use hybrid_handshake::suite::{AnySuite, Mode, SuiteId};
use hybrid_handshake::{Error as Hkm1, Established};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::time::timeout;
use zeroize::Zeroizing;

use super::incoming::Incoming;
use super::packet;
use super::prepared::{MadeOf, Prepared};
use crate::config::Config;
use crate::error::{Attack, ConfigError, Error, Step};
use crate::store::{Credential, Owner};
use crate::wire::{Direction, Message, Packet, WireEvent};

/// What a handshake leaves.
pub(super) struct Done {
    pub(super) session: Established<AnySuite>,
    /// The inner CONNACK, which may be a refusal.
    pub(super) connack: Vec<u8>,
    /// Bytes behind the CONNACK: records.
    pub(super) incoming: Incoming,
    /// The key that the broker has proved, and who the client is.
    pub(super) owner: Owner,
    /// That key in its encoding.
    pub(super) broker_key: Arc<[u8]>,
    /// The ticket that took the place of the credential.
    pub(super) resumed: Option<Arc<Ticket>>,
}

/// Runs the handshake around the application's CONNECT, and keeps the books on pins and tickets.
pub(super) async fn run<T>(config: &Config, transport: &mut T, connect: &[u8]) -> Result<Done, Error>
where
    T: AsyncRead + AsyncWrite + Unpin,
{
    config.check()?;
    let pinned = config.pins.for_attempt();
    let plan = Plan::new(config, &pinned)?;
    let (owner, resumed) = (plan.owner, plan.resumed.clone());
    let tickets = config.tickets.as_ref();
    let machine = plan.machine(config)?;
    let outcome = exchange(
        config,
        &machine,
        plan.made_of(&machine, config.suite),
        transport,
        connect,
    )
    .await;
    let books = tickets.filter(|_| resumed.is_some());
    match outcome {
        Ok((session, connack, incoming)) => {
            config.pins.proved(&owner.broker);
            tickets.inspect(|tickets| tickets.m4_opened());
            books
                .filter(|_| is_refusal(&connack))
                .inspect(|tickets| tickets.revoked());
            Ok(Done {
                session,
                connack,
                incoming,
                owner,
                broker_key: pinned.clone(),
                resumed,
            })
        }
        Err(error) => {
            books.inspect(|tickets| tickets.failed());
            Err(error)
        }
    }
}

/// Makes an M1 for the next handshake, unless there is one.
pub(crate) fn prepare(config: &Config) -> Result<(), Error> {
    config.check()?;
    let pinned = config.pins.next_attempt();
    let plan = Plan::new(config, &pinned)?;
    let machine = plan.machine(config)?;
    let made_of = plan.made_of(&machine, config.suite);
    if !config.shelf.has(&made_of) {
        config
            .shelf
            .put(write_m1(config, &machine, made_of, &mut fresh_drbg()?)?);
    }
    Ok(())
}

/// With which key and which credential an attempt is made.
struct Plan<'a> {
    broker_key: BrokerKey<'a>,
    owner: Owner,
    resumed: Option<Arc<Ticket>>,
}

impl<'a> Plan<'a> {
    fn new(config: &Config, pinned: &'a [u8]) -> Result<Self, Error> {
        let broker_key = BrokerKey::parse(pinned).map_err(|_| ConfigError::Pin)?;
        let owner = Owner {
            broker: *broker_key.fingerprint(),
            device: config.credential.id(),
        };
        let tickets = config.tickets.as_ref();
        let resumed = tickets.and_then(|tickets| tickets.for_attempt(&owner, config.suite));
        Ok(Self {
            broker_key,
            owner,
            resumed,
        })
    }

    fn machine<'m>(&'m self, config: &'m Config) -> Result<client::Config<'m>, Error> {
        Ok(client::Config {
            broker_key: self.broker_key,
            credential: match self.resumed.as_deref() {
                Some(ticket) => client::Credential::Ticket(ticket),
                None => config.credential.view().map_err(|e| Error::at(Step::M1, e))?,
            },
            floor: config.floor,
            limits: ClientLimits::new(config.record_limit, config.packet_limit).map_err(|_| ConfigError::Limits)?,
            capabilities: capabilities(config),
        })
    }

    fn made_of(&self, machine: &client::Config<'_>, suite: SuiteId) -> MadeOf {
        MadeOf {
            broker: self.owner.broker,
            device: self.owner.device,
            ticket: self.resumed.clone(),
            suite,
            limits: machine.limits,
            capabilities: machine.capabilities,
        }
    }
}

fn write_m1(
    config: &Config,
    machine: &client::Config<'_>,
    made_of: MadeOf,
    drbg: &mut Drbg,
) -> Result<Prepared, Error> {
    let suite = AnySuite::new(config.suite).ok_or(ConfigError::Suite)?;
    let m1 = m1_len(
        config.suite,
        machine.credential.mode(),
        machine.broker_key.public().kem(),
    );
    let (packet, state) = framed(outer::frame_connect, m1, Step::M1, |out| {
        Start::new(suite, machine)?.write_m1(drbg, out)
    })?;
    Ok(Prepared::new(packet, state, made_of))
}

fn fresh_drbg() -> Result<Drbg, Error> {
    let mut os_bytes = Zeroizing::new([0; 32]);
    getrandom::fill(&mut *os_bytes).map_err(|_| Error::Random)?;
    Ok(Drbg::broker(&os_bytes))
}

/// M1 to M4.
async fn exchange<T>(
    config: &Config,
    machine: &client::Config<'_>,
    made_of: MadeOf,
    transport: &mut T,
    connect: &[u8],
) -> Result<(Established<AnySuite>, Vec<u8>, Incoming), Error>
where
    T: AsyncRead + AsyncWrite + Unpin,
{
    let mut drbg = fresh_drbg()?;
    let mut wire = Wire::new(config, transport);
    let mode = machine.credential.mode();
    let mut prepared = match config.shelf.take(&made_of) {
        Some(prepared) => prepared,
        None => write_m1(config, machine, made_of, &mut drbg)?,
    };
    let m2 = async {
        let packet = &prepared.packet;
        wire.send(packet, Packet::Connect, Some(Message::M1), Step::M1).await?;
        wire.receive_m2(m2_len(config.suite, mode)).await
    };
    let m2 = match m2.await {
        Ok(m2) => m2,
        Err(error) => {
            config.shelf.put(prepared);
            return Err(error);
        }
    };
    let send_m3: SendM3<'_, AnySuite> = match prepared.state.read_m2(&m2, &mut drbg) {
        Ok(send_m3) => send_m3,
        Err(error) => {
            // Nobody has answered it yet, unless its box2 has verified.
            if error == Hkm1::Rejected {
                config.shelf.put(prepared);
            }
            return Err(Error::at(Step::M2, error));
        }
    };

    let limit = usize::from(send_m3.connect_limit());
    if connect.len() > limit {
        return Err(ConfigError::ConnectTooLarge { limit }.into());
    }
    let m3 = m3_len(config.suite, connect.len());
    let (packet, await_m4): (_, AwaitM4<AnySuite>) = framed(outer::frame_auth, m3, Step::M3, |out| {
        send_m3.write_m3(&machine.credential, connect, &mut drbg, out)
    })?;
    wire.send(&packet, Packet::Auth, Some(Message::M3), Step::M3).await?;

    let (connack, session) = wire.receive_m4(await_m4).await?;
    let resumed = mode == Mode::Resume;
    wire.emit(WireEvent::Established {
        suite: config.suite,
        resumed,
        elapsed: wire.begun.elapsed(),
    });
    Ok((session, connack, wire.incoming))
}

/// What this client makes of the broker's offers.
fn capabilities(config: &Config) -> Capabilities {
    let tickets = if config.tickets.is_some() {
        Capabilities::TICKETS
    } else {
        Capabilities::NONE
    };
    let reauth = match config.credential {
        Credential::Anonymous => Capabilities::NONE,
        Credential::Psk { .. } | Credential::Kem { .. } => Capabilities::REAUTH,
    };
    Capabilities::KEY_NEWS.with(tickets).with(reauth)
}

/// Whether an inner CONNACK of any level has another code than 0.
fn is_refusal(connack: &[u8]) -> bool {
    FixedHeader::split(connack).is_ok_and(|(_, body)| body.get(1).is_some_and(|code| *code != 0))
}

/// An outer packet around `len` bytes that `write` fills in.
fn framed<N>(
    frame: impl for<'b> FnOnce(&'b mut [u8], u16) -> Result<(&'b mut [u8], usize), Hkm1>,
    len: usize,
    step: Step,
    write: impl FnOnce(&mut [u8]) -> Result<(usize, N), Hkm1>,
) -> Result<(Vec<u8>, N), Error> {
    let fail = |e| Error::at(step, e);
    let data_len = u16::try_from(len).map_err(|_| fail(Hkm1::Misuse))?;
    let mut packet = vec![0; len + FRAME_LEN];
    let (place, packet_len) = frame(&mut packet, data_len).map_err(fail)?;
    let (_, next) = write(place).map_err(fail)?;
    packet.truncate(packet_len);
    Ok((packet, next))
}

/// Most that an outer CONNECT or AUTH adds to its data.
const FRAME_LEN: usize = 64;

/// The transport, packet by packet.
struct Wire<'a, T> {
    config: &'a Config,
    transport: &'a mut T,
    incoming: Incoming,
    suite: SuiteId,
    begun: Instant,
}

impl<'a, T: AsyncRead + AsyncWrite + Unpin> Wire<'a, T> {
    fn new(config: &'a Config, transport: &'a mut T) -> Self {
        let incoming = Incoming::new(super::incoming_len(config));
        Self {
            config,
            transport,
            incoming,
            suite: config.suite,
            begun: Instant::now(),
        }
    }

    async fn send(&mut self, bytes: &[u8], packet: Packet, message: Option<Message>, step: Step) -> Result<(), Error> {
        let sent = timeout(self.config.timeouts.step, async {
            self.transport.write_all(bytes).await?;
            self.transport.flush().await
        });
        match sent.await {
            Ok(Ok(())) => {}
            // A broker that refuses may close before it has read everything: its answer says more than this error.
            Ok(Err(e)) => return Err(self.refusal(step).await.unwrap_or_else(|| packet::broken(step, e))),
            Err(_) => return Err(Error::Timeout(step)),
        }
        self.emit_packet(Direction::ToBroker, packet, message, bytes.len());
        Ok(())
    }

    /// The reason in what has arrived, if it is a refusal.
    async fn refusal(&mut self, step: Step) -> Option<Error> {
        let len = self.receive(step).await.ok()?;
        match outer::read_from_broker(self.incoming.bytes_mut().get_mut(..len)?) {
            Err(Hkm1::Refused(code)) => Some(Error::Refused { code }),
            _ => None,
        }
    }

    /// Collects M2, asking for one piece after the other.
    async fn receive_m2(&mut self, total: usize) -> Result<Vec<u8>, Error> {
        let fail = |e| Error::at(Step::M2, e);
        let mut m2 = vec![0; total];
        let total = u16::try_from(total).map_err(|_| fail(Hkm1::Misuse))?;
        let mut pieces = Pieces::new(total, self.config.packet_limit);
        loop {
            let len = self.receive(Step::M2).await?;
            let packet = self.incoming.bytes_mut().get_mut(..len).unwrap_or_default();
            match outer::read_from_broker(packet) {
                Ok(FromBroker::Auth(data)) => {
                    let place = pieces.receive(data.len()).map_err(fail)?;
                    m2.get_mut(place).ok_or(fail(Hkm1::Misuse))?.copy_from_slice(data);
                }
                Ok(FromBroker::Connack(_)) | Err(Hkm1::Downgrade) => {
                    return Err(Error::Attack(Attack::SuccessWithoutAuth));
                }
                Err(Hkm1::Unsupported) => return Err(Error::Attack(Attack::MethodChanged)),
                Err(e) => return Err(fail(e)),
            }
            self.incoming.consume(len);
            self.emit_packet(Direction::FromBroker, Packet::Auth, Some(Message::M2), len);
            if pieces.is_complete() {
                return Ok(m2);
            }
            let mut next = [0; FRAME_LEN];
            let len = outer::write_next_piece(&mut next).map_err(fail)?;
            self.send(&next[..len], Packet::Auth, None, Step::M2).await?;
        }
    }

    async fn receive_m4(&mut self, await_m4: AwaitM4<AnySuite>) -> Result<(Vec<u8>, Established<AnySuite>), Error> {
        let fail = |e| Error::at(Step::M4, e);
        let len = self.receive(Step::M4).await?;
        let packet = self.incoming.bytes_mut().get_mut(..len).unwrap_or_default();
        let m4 = match outer::read_from_broker(packet) {
            Ok(FromBroker::Connack(m4)) => m4,
            Ok(FromBroker::Auth(_)) => return Err(fail(Hkm1::UnexpectedPacket)),
            Err(Hkm1::Downgrade) => return Err(Error::Attack(Attack::NoProof)),
            Err(Hkm1::Unsupported) => return Err(Error::Attack(Attack::MethodChanged)),
            Err(e) => return Err(fail(e)),
        };
        let (connack, established) = await_m4.read_m4(m4).map_err(fail)?;
        let connack = connack.to_vec();
        self.incoming.consume(len);
        self.emit_packet(Direction::FromBroker, Packet::Connack, Some(Message::M4), len);
        Ok((connack, established))
    }

    /// The length of the packet that then lies at the front of `incoming`.
    async fn receive(&mut self, step: Step) -> Result<usize, Error> {
        let (limit, expected) = (self.config.packet_limit, [PacketType::Auth, PacketType::Connack]);
        let received = packet::receive(self.transport, &mut self.incoming, limit, &expected, step);
        timeout(self.config.timeouts.step, received)
            .await
            .unwrap_or(Err(Error::Timeout(step)))
    }

    fn emit_packet(&self, direction: Direction, packet: Packet, message: Option<Message>, len: usize) {
        let (suite, elapsed) = (self.suite, self.begun.elapsed());
        self.emit(WireEvent::Handshake {
            direction,
            packet,
            message,
            len,
            suite,
            elapsed,
        });
    }

    fn emit(&self, event: WireEvent) {
        event.emit(self.config.observer.as_deref());
    }
}
