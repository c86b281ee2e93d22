//! The broker's half of a handshake without a broker: for benchmarks, and for tests of programs that use this crate.
//!
//! A [`Realm`] proves its key, checks credentials, hands out the inner CONNECT and lets the caller answer it. It has no
//! limits on load, no registry and no policy: never put it on a network.

use std::collections::HashMap;
use std::time::{SystemTime, UNIX_EPOCH};

use hybrid_handshake::broker::{AwaitM1, AwaitM3, Claim, Decoy, Enrolled, M2Params, SendM4};
use hybrid_handshake::control::{self, Kind};
use hybrid_handshake::drbg::Drbg;
use hybrid_handshake::identity::{BrokerKey, BrokerKeyPair, BrokerLine, DecoySecret, DeviceId, generate_key};
use hybrid_handshake::message::{BrokerLimits, Capabilities, M1Header, m2_len, m4_len};
use hybrid_handshake::mqtt::PacketType;
use hybrid_handshake::mqtt::outer::{self, FromClient, Pieces};
use hybrid_handshake::resume::{Resumption, TICKET_LEN, TicketKey, TicketKeys};
use hybrid_handshake::suite::{AnyKem, AnySuite, Group, KemId, KemScheme, Mode};
use hybrid_handshake::{Error as Hkm1, Established};
use rand_core::Rng;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use zeroize::Zeroizing;

use crate::error::{ConfigError, Error, Step};
use crate::store::Credential;
use crate::stream::control::Control;
use crate::stream::incoming::Incoming;
use crate::stream::{SecureStream, packet};

/// A broker key with its secrets, the devices it knows, and the broker's half of their handshakes.
pub struct Realm {
    line: String,
    key: BrokerKeyPair<Zeroizing<Vec<u8>>>,
    devices: HashMap<DeviceId, Credential>,
    decoy: DecoySecret,
    tickets: Option<TicketKeys>,
    news: Vec<(Kind, Vec<u8>)>,
}

impl Realm {
    /// A new key of this KEM (ML-KEM only) and group.
    ///
    /// # Errors
    /// [`Error::Random`], or [`Error::Config`] if this build has no such key.
    pub fn generate(kem: KemId, group: Group) -> Result<Self, Error> {
        let fail = |e| Error::at(Step::M1, e);
        let mut drbg = drbg()?;
        let scheme = AnyKem::new(kem).ok_or(ConfigError::Pin)?;
        let mut encoded = Zeroizing::new(vec![0; 2 + kem.ek_len() + group.share_len()]);
        let mut dk = Zeroizing::new(vec![0; scheme.dk_len()]);
        let x = generate_key(scheme, group, &mut drbg, &mut encoded, &mut dk).map_err(fail)?;
        let key = BrokerKey::parse(&encoded).map_err(fail)?;
        let line = BrokerLine { key, successor: None }.to_string();
        let mut decoy = [0; DecoySecret::LEN];
        drbg.fill_bytes(&mut decoy);
        Ok(Self {
            line,
            key: BrokerKeyPair::new(encoded, dk, x).map_err(fail)?,
            devices: HashMap::new(),
            decoy: DecoySecret::from_bytes(decoy),
            tickets: None,
            news: Vec::new(),
        })
    }

    /// Accepts clients with this credential from now on.
    pub fn enroll(&mut self, credential: &Credential) {
        if let Some(id) = credential.id() {
            self.devices.insert(id, credential.clone());
        }
    }

    /// Gives a ticket in every session from now on, and opens those it gave.
    ///
    /// # Errors
    /// [`Error::Random`].
    pub fn give_tickets(&mut self) -> Result<(), Error> {
        let mut key = [0; TicketKey::LEN];
        drbg()?.fill_bytes(&mut key);
        self.tickets = Some(TicketKeys::new(TicketKey::from_bytes(key), None));
        Ok(())
    }

    /// Says this in every session from now on: a control message of type `kind`, whether it makes sense or not.
    pub fn say(&mut self, kind: Kind, body: &[u8]) {
        self.news.push((kind, body.to_vec()));
    }

    /// The line that a client of this realm pins: `hkm1-broker <base64>`.
    pub fn pin(&self) -> &str {
        &self.line
    }

    /// Runs a handshake up to M3. A client that fails gets the refusal that the protocol fixes.
    ///
    /// # Errors
    /// What the client did wrong, at which step.
    pub async fn accept<T>(&self, mut transport: T) -> Result<Accepted<'_, T>, Error>
    where
        T: AsyncRead + AsyncWrite + Unpin,
    {
        let mut incoming = Incoming::new(usize::from(u16::MAX) * 2);
        match self.read_m3(&mut transport, &mut incoming).await {
            Ok((connect, send_m4)) => Ok(Accepted {
                realm: self,
                connect,
                transport,
                incoming,
                send_m4,
            }),
            Err(error) => {
                let mut refusal = [0; 8];
                let code = match &error {
                    Error::Protocol { source, .. } => source.reason(),
                    other => other.reason(),
                };
                if let Ok(len) = outer::write_refusal(&mut refusal, code) {
                    let _ = transport.write_all(&refusal[..len]).await;
                    let _ = transport.shutdown().await;
                }
                Err(error)
            }
        }
    }

    async fn read_m3<T>(&self, transport: &mut T, incoming: &mut Incoming) -> Result<(Vec<u8>, SendM4<AnySuite>), Error>
    where
        T: AsyncRead + AsyncWrite + Unpin,
    {
        let fail = |e| Error::at(Step::M1, e);
        let len = packet::receive(transport, incoming, CONNECT_LIMIT, &[PacketType::Connect], Step::M1).await?;
        let m1 = outer::read_connect(&mut incoming.bytes_mut()[..len]).map_err(|refusal| fail(refusal.error()))?;
        let header = M1Header::parse(m1).map_err(fail)?;
        let suite = AnySuite::new(header.suite()).ok_or(fail(Hkm1::Unsupported))?;
        let now = now();
        let mut drbg = drbg()?;
        let await_m1 = AwaitM1::new(suite, &header, self.key.secret().map_err(fail)?).map_err(fail)?;
        let (claim, send_m2) = await_m1.read_m1(m1, self.tickets.as_ref(), now).map_err(fail)?;
        incoming.consume(len);

        let fail = |e| Error::at(Step::M2, e);
        let device = claim.device.and_then(|id| self.devices.get(&id));
        let params = M2Params {
            secret: self.key.secret().map_err(fail)?,
            enrolled: match device {
                Some(Credential::Psk { psk, .. }) => Enrolled::Psk(psk),
                Some(Credential::Kem { key, .. }) => Enrolled::Kem(key.secret().map_err(fail)?.key),
                Some(Credential::Anonymous) | None => Enrolled::Unknown,
            },
            decoy: Decoy {
                secret: &self.decoy,
                key: None,
            },
            now,
            limits: BrokerLimits::default(),
            options: self.options(),
        };
        let packet_limit = send_m2.limits().packet();
        let mut m2 = vec![0; m2_len(header.suite(), header.mode())];
        let (len, await_m3) = send_m2.write_m2(&params, &mut drbg, &mut m2).map_err(fail)?;
        self.send_m2(transport, incoming, &m2[..len], packet_limit).await?;
        read_m3(transport, incoming, await_m3).await
    }

    fn options(&self) -> Capabilities {
        let tickets = if self.tickets.is_some() {
            Capabilities::TICKETS
        } else {
            Capabilities::NONE
        };
        self.news
            .iter()
            .fold(tickets, |options, (kind, _)| options.with(kind.option()))
    }

    /// What a session begins with, as the client's options allow it.
    fn control_messages(&self, claim: &Claim, session: &Established<AnySuite>) -> Result<Vec<Vec<u8>>, Hkm1> {
        let mut messages = Vec::new();
        if let (Some(keys), true) = (&self.tickets, session.options.has(Capabilities::TICKETS)) {
            let resumption = Resumption::after(claim, 0, session.broker_time);
            let lifetime = resumption.lifetime_s(session.broker_time).to_be_bytes();
            let mut ticket = [0; TICKET_LEN];
            let mut drbg = drbg().map_err(|_| Hkm1::Generator)?;
            keys.seal(
                &self.key.secret()?.key().kid(),
                &resumption,
                &session.rms,
                &mut drbg,
                &mut ticket,
            )?;
            messages.push(message(Kind::Ticket, &[&lifetime, &ticket])?);
        }
        for (kind, body) in self.news.iter().filter(|(kind, _)| session.options.has(kind.option())) {
            messages.push(message(*kind, &[body])?);
        }
        Ok(messages)
    }

    async fn send_m2<T>(
        &self,
        transport: &mut T,
        incoming: &mut Incoming,
        m2: &[u8],
        packet_limit: u16,
    ) -> Result<(), Error>
    where
        T: AsyncRead + AsyncWrite + Unpin,
    {
        let fail = |e| Error::at(Step::M2, e);
        let total = u16::try_from(m2.len()).map_err(|_| fail(Hkm1::Misuse))?;
        let mut pieces = Pieces::new(total, packet_limit);
        let mut packet = vec![0; m2.len() + usize::from(outer::AUTH_OVERHEAD)];
        while let Some(range) = pieces.send() {
            let (place, len) = outer::frame_auth(&mut packet, range.len() as u16).map_err(fail)?;
            place.copy_from_slice(&m2[range]);
            transport
                .write_all(&packet[..len])
                .await
                .map_err(|e| packet::broken(Step::M2, e))?;
            transport.flush().await.map_err(|e| packet::broken(Step::M2, e))?;
            if !pieces.is_complete() {
                let len = receive_auth(transport, incoming, packet_limit, Step::M2).await?;
                match outer::read_from_client(&mut incoming.bytes_mut()[..len]).map_err(fail)? {
                    FromClient::NextPiece => incoming.consume(len),
                    _ => return Err(fail(Hkm1::UnexpectedPacket)),
                }
            }
        }
        Ok(())
    }
}

/// A client that has proved itself and waits for the answer to its CONNECT.
pub struct Accepted<'r, T> {
    realm: &'r Realm,
    /// The application's CONNECT.
    pub connect: Vec<u8>,
    transport: T,
    incoming: Incoming,
    send_m4: SendM4<AnySuite>,
}

impl<T: AsyncRead + AsyncWrite + Unpin> Accepted<'_, T> {
    /// The device, as it has proved; `None` for an anonymous client.
    pub fn device(&self) -> Option<DeviceId> {
        self.send_m4.claim().device
    }

    /// Whether it came with a ticket.
    pub fn is_resumed(&self) -> bool {
        self.send_m4.claim().mode == Mode::Resume
    }

    /// Sends `connack` in M4; gives the session.
    ///
    /// # Errors
    /// [`Error::Network`], or a CONNACK that the client's packet limit does not allow.
    pub async fn answer(self, connack: &[u8]) -> Result<SecureStream<T>, Error> {
        let Self {
            realm,
            mut transport,
            incoming,
            send_m4,
            ..
        } = self;
        let fail = |e| Error::at(Step::M4, e);
        let claim = *send_m4.claim();
        let m4 = m4_len(connack.len());
        let mut packet = vec![0; m4 + usize::from(outer::AUTH_OVERHEAD)];
        let (place, len) = outer::frame_connack(&mut packet, m4 as u16).map_err(fail)?;
        let (_, session): (_, Established<AnySuite>) = send_m4.write_m4(connack, place).map_err(fail)?;
        let sent = async {
            transport.write_all(&packet[..len]).await?;
            transport.flush().await
        };
        sent.await.map_err(|e| packet::broken(Step::M4, e))?;
        let messages = realm.control_messages(&claim, &session).map_err(fail)?;
        let control = Control::broker(session.options);
        let mut stream = SecureStream::new(transport, session, incoming, control, None, None);
        for message in messages {
            stream.queue_control(&message).map_err(fail)?;
        }
        stream.flush().await.map_err(|e| packet::broken(Step::Session, e))?;
        Ok(stream)
    }
}

fn message(kind: Kind, body: &[&[u8]]) -> Result<Vec<u8>, Hkm1> {
    let mut message = vec![0; control::HEADER_LEN + body.iter().map(|part| part.len()).sum::<usize>()];
    let len = control::write(kind, body, &mut message)?;
    message.truncate(len);
    Ok(message)
}

fn now() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_secs())
}

async fn read_m3<T>(
    transport: &mut T,
    incoming: &mut Incoming,
    await_m3: AwaitM3<AnySuite>,
) -> Result<(Vec<u8>, SendM4<AnySuite>), Error>
where
    T: AsyncRead + Unpin,
{
    let fail = |e| Error::at(Step::M3, e);
    let limit = await_m3.m3_limit() + usize::from(outer::AUTH_OVERHEAD);
    let len = receive_auth(transport, incoming, u16::try_from(limit).unwrap_or(u16::MAX), Step::M3).await?;
    let FromClient::Data(m3) = outer::read_from_client(&mut incoming.bytes_mut()[..len]).map_err(fail)? else {
        return Err(fail(Hkm1::UnexpectedPacket));
    };
    let (connect, send_m4) = await_m3.read_m3(m3).map_err(fail)?;
    let connect = connect.to_vec();
    incoming.consume(len);
    Ok((connect, send_m4))
}

async fn receive_auth(
    transport: &mut (impl AsyncRead + Unpin),
    incoming: &mut Incoming,
    limit: u16,
    step: Step,
) -> Result<usize, Error> {
    packet::receive(
        transport,
        incoming,
        limit,
        &[PacketType::Auth, PacketType::Disconnect],
        step,
    )
    .await
}

fn drbg() -> Result<Drbg, Error> {
    let mut os_bytes = [0; 32];
    getrandom::fill(&mut os_bytes).map_err(|_| Error::Random)?;
    Ok(Drbg::broker(&os_bytes))
}

/// The longest outer CONNECT.
const CONNECT_LIMIT: u16 = 16 * 1024;
