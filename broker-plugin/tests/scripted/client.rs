//! A client that follows the protocol step by step, so that a test can stop or bend any step.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use hybrid_handshake::{
    Error, Established,
    client::{self, AwaitM2, AwaitM4, Start},
    control::HEADER_LEN,
    dh::DhSecret,
    drbg::Drbg,
    identity::{BrokerLine, DeviceId, DeviceSecret, PskLine, PublicKey, generate_key},
    message::{Capabilities, ClientLimits},
    mqtt::{
        FixedHeader, PacketType, ReasonCode,
        outer::{self, FromBroker, Pieces, frame_auth, frame_connect, read_from_broker},
    },
    record::{Content, HEADROOM, MIN_LEN},
    resume::{TICKET_LEN, Ticket},
    suite::{AnyKem, AnySuite, KemScheme as _, Mode, SuiteId},
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    time::timeout,
};

/// What a device has stored.
pub struct Device {
    pub broker_line: String,
    /// `None`: anonymous.
    pub psk_line: Option<String>,
    /// Used instead of the pre-shared key.
    pub static_key: Option<Arc<StaticKey>>,
    /// Used instead of the other credentials.
    pub ticket: Option<Ticket>,
    pub suite: SuiteId,
    pub limits: ClientLimits,
}

/// How a connection attempt ended.
#[derive(Debug, PartialEq, Eq)]
pub enum Failure {
    Refused(ReasonCode),
    /// Closed without a packet.
    Closed,
    Protocol(Error),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        match error {
            Error::Refused(code) => Self::Refused(code),
            other => Self::Protocol(other),
        }
    }
}

impl Device {
    pub fn psk(broker_line: &str, psk_line: &str) -> Self {
        Self {
            broker_line: broker_line.to_owned(),
            psk_line: Some(psk_line.to_owned()),
            static_key: None,
            ticket: None,
            suite: SuiteId::HOST_DEFAULT,
            limits: ClientLimits::default(),
        }
    }

    pub fn anonymous(broker_line: &str) -> Self {
        Self {
            psk_line: None,
            ..Self::psk(broker_line, "")
        }
    }

    pub fn with_suite(mut self, name: &str) -> Self {
        self.suite = name.parse().expect("a suite");
        self
    }

    /// The same device with a ticket.
    pub fn resuming(&self, ticket: Ticket) -> Self {
        Self {
            broker_line: self.broker_line.clone(),
            psk_line: self.psk_line.clone(),
            static_key: self.static_key.clone(),
            ticket: Some(ticket),
            suite: self.suite,
            limits: self.limits,
        }
    }

    pub fn mode(&self) -> Mode {
        match (&self.ticket, &self.static_key, &self.psk_line) {
            (Some(_), _, _) => Mode::Resume,
            (None, Some(_), _) => Mode::Kem,
            (None, None, Some(_)) => Mode::Psk,
            (None, None, None) => Mode::Anonymous,
        }
    }

    /// Runs the whole handshake; gives the inner CONNACK and the session.
    pub async fn connect(&self, address: SocketAddr, connect: &[u8]) -> Result<(Vec<u8>, Session), Failure> {
        // Made before its time begins.
        let (m1, state) = self.m1();
        let mut wire = Wire::open(address).await;
        wire.send(&connect_packet(&m1)).await;
        self.finish(wire, state, connect).await
    }

    /// M1, and what reads its answer.
    pub fn m1(&self) -> (Vec<u8>, AwaitM2<AnySuite>) {
        self.with_config(|config| {
            let mut m1 = vec![0; 4096];
            let start = Start::new(AnySuite::new(self.suite).expect("compiled in"), config).expect("fits");
            let (len, state) = start.write_m1(&mut drbg(), &mut m1).expect("written");
            m1.truncate(len);
            (m1, state)
        })
    }

    /// From M2 on.
    pub async fn finish(
        &self,
        mut wire: Wire,
        state: AwaitM2<AnySuite>,
        connect: &[u8],
    ) -> Result<(Vec<u8>, Session), Failure> {
        let m2 = self.read_m2(&mut wire).await?;
        let (m3, state) = self.m3(state, &m2, connect)?;
        wire.send(&auth_packet(&m3)).await;
        let mut packet = wire.packet().await.ok_or(Failure::Closed)?;
        let FromBroker::Connack(m4) = read_from_broker(&mut packet)? else {
            panic!("CONNACK expected")
        };
        let (connack, established) = state.read_m4(m4)?;
        Ok((
            connack.to_vec(),
            Session {
                wire,
                established,
                text: Vec::new(),
                control: Vec::new(),
            },
        ))
    }

    pub async fn read_m2(&self, wire: &mut Wire) -> Result<Vec<u8>, Failure> {
        let len = hybrid_handshake::message::m2_len(self.suite, self.mode());
        let mut pieces = Pieces::new(len as u16, self.limits.packet());
        let mut m2 = vec![0; len];
        while !pieces.is_complete() {
            let mut packet = wire.packet().await.ok_or(Failure::Closed)?;
            assert!(packet.len() <= self.limits.packet().into(), "over our packet limit");
            let FromBroker::Auth(piece) = read_from_broker(&mut packet)? else {
                panic!("AUTH expected")
            };
            let place = pieces.receive(piece.len())?;
            m2[place].copy_from_slice(piece);
            if !pieces.is_complete() {
                let mut ask = [0; 64];
                let len = outer::write_next_piece(&mut ask)?;
                wire.send(&ask[..len]).await;
            }
        }
        Ok(m2)
    }

    pub fn m3(
        &self,
        mut state: AwaitM2<AnySuite>,
        m2: &[u8],
        connect: &[u8],
    ) -> Result<(Vec<u8>, AwaitM4<AnySuite>), Failure> {
        let mut drbg = drbg();
        let mut m3 = vec![0; 70_000];
        let send = state.read_m2(m2, &mut drbg)?;
        let (len, state) = self.with_config(|config| send.write_m3(&config.credential, connect, &mut drbg, &mut m3))?;
        m3.truncate(len);
        Ok((m3, state))
    }

    fn with_config<T>(&self, run: impl FnOnce(&client::Config<'_>) -> T) -> T {
        let mut buffer = [0; 2048];
        let broker_key = BrokerLine::parse(&self.broker_line, &mut buffer).expect("a pin").key;
        let line = self
            .psk_line
            .as_deref()
            .map(|line| PskLine::parse(line).expect("a psk line"));
        let credential = match (&self.ticket, &self.static_key, &line) {
            (Some(ticket), _, _) => client::Credential::Ticket(ticket),
            (None, Some(key), _) => client::Credential::Kem {
                id: &key.id,
                secret: key.secret(),
            },
            (None, None, Some(line)) => client::Credential::Psk {
                id: &line.id,
                psk: &line.psk,
            },
            (None, None, None) => client::Credential::Anonymous,
        };
        run(&client::Config {
            broker_key,
            credential,
            floor: None,
            limits: self.limits,
            capabilities: Capabilities::ALL,
        })
    }
}

/// A device's static key pair (mode 1).
pub struct StaticKey {
    pub id: DeviceId,
    /// `kem | group | pk_P | gx_P`, as it is enrolled.
    pub encoded: Vec<u8>,
    dk: Vec<u8>,
    z: [u8; 32],
    x: DhSecret,
}

impl StaticKey {
    pub fn generate(id: &str, suite: SuiteId) -> Self {
        let kem = AnyKem::new(suite.kem()).expect("compiled in");
        let mut encoded = vec![0; 2 + suite.kem().ek_len() + suite.group().share_len()];
        let mut dk = vec![0; kem.dk_len()];
        let x = generate_key(kem, suite.group(), &mut drbg(), &mut encoded, &mut dk).expect("a key");
        Self {
            id: DeviceId::new(id).expect("an id"),
            encoded,
            dk,
            z: [7; 32],
            x,
        }
    }

    fn secret(&self) -> DeviceSecret<'_> {
        let key = PublicKey::parse(&self.encoded).expect("a key");
        DeviceSecret {
            key,
            dk: &self.dk,
            z: &self.z,
            x: &self.x,
        }
    }
}

/// `hkm1-psk` line of an id with a key of one byte.
pub fn psk_line(id: &str, byte: u8) -> String {
    let line = PskLine {
        id: DeviceId::new(id).expect("an id"),
        psk: hybrid_handshake::identity::Psk::from_bytes([byte; 32]),
    };
    let mut text = String::new();
    line.write(&mut text).expect("a string");
    text
}

/// A socket with outer packets.
pub struct Wire {
    pub stream: TcpStream,
}

impl Wire {
    pub async fn open(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).await.expect("listening");
        stream.set_nodelay(true).expect("a socket");
        Self { stream }
    }

    pub async fn send(&mut self, bytes: &[u8]) {
        // The peer may have closed already: what it answered is what counts.
        let _ = self.stream.write_all(bytes).await;
    }

    /// The next packet; `None` at the end of the stream.
    pub async fn packet(&mut self) -> Option<Vec<u8>> {
        let mut packet = Vec::new();
        loop {
            if let Some(header) = FixedHeader::read(&packet).expect("a packet") {
                let start = packet.len();
                packet.resize(header.packet_len() as usize, 0);
                within(self.stream.read_exact(&mut packet[start..])).await.ok()?;
                return Some(packet);
            }
            packet.push(within(self.stream.read_u8()).await.ok()?);
        }
    }

    /// The reason code of the CONNACK that refuses us, and an orderly end behind it.
    pub async fn refusal(&mut self) -> Result<ReasonCode, Failure> {
        let mut packet = self.packet().await.ok_or(Failure::Closed)?;
        let error = read_from_broker(&mut packet).expect_err("a refusal");
        let Error::Refused(code) = error else { panic!("{error}") };
        assert_eq!(
            within(self.stream.read(&mut [0; 1])).await.expect("no reset"),
            0,
            "closed behind it"
        );
        Ok(code)
    }

    /// Whether the stream ends without another byte, orderly or not.
    pub async fn is_closed(&mut self) -> bool {
        matches!(within(self.stream.read(&mut [0; 1])).await, Ok(0) | Err(_))
    }
}

/// An established session.
pub struct Session {
    pub wire: Wire,
    pub established: Established<AnySuite>,
    text: Vec<u8>,
    /// The control stream so far.
    pub control: Vec<u8>,
}

impl Session {
    /// Sends MQTT bytes in records.
    pub async fn send(&mut self, mqtt: &[u8]) {
        for piece in mqtt.chunks(self.established.sealer.limit().into()) {
            let record = self.seal(Content::Data, piece);
            self.wire.send(&record).await;
        }
    }

    pub fn seal(&mut self, content: Content, text: &[u8]) -> Vec<u8> {
        let mut buf = vec![0; HEADROOM + text.len() + 16];
        buf[HEADROOM..][..text.len()].copy_from_slice(text);
        self.established
            .sealer
            .seal(content, &mut buf, text.len() as u16)
            .expect("sealed")
            .to_vec()
    }

    /// The next MQTT packet; `None` at the end of the stream.
    pub async fn packet(&mut self) -> Option<Vec<u8>> {
        loop {
            if let Some(header) = FixedHeader::read(&self.text).expect("a packet") {
                let len = header.packet_len() as usize;
                if self.text.len() >= len {
                    return Some(self.text.drain(..len).collect());
                }
            }
            self.record().await?;
        }
    }

    /// The next packet, of this type.
    pub async fn expect(&mut self, kind: PacketType) -> Vec<u8> {
        let packet = self
            .packet()
            .await
            .unwrap_or_else(|| panic!("{kind:?} expected, stream ended"));
        assert_eq!(PacketType::from_first_byte(packet[0]), Some(kind), "{packet:02x?}");
        packet
    }

    /// The ticket that starts the control stream, and its lifetime in seconds. `last` is the ticket that the session used.
    pub async fn ticket(&mut self, id: Option<&str>, last: Option<&Ticket>) -> (Ticket, u32) {
        while self.control.len() < HEADER_LEN + 4 + TICKET_LEN {
            self.record().await.expect("a TICKET");
        }
        let (head, rest) = self.control.split_at(HEADER_LEN);
        assert_eq!(head, [1, 0, 128], "TICKET comes first");
        let lifetime = u32::from_be_bytes(rest[..4].try_into().unwrap());
        let sealed = rest[4..][..TICKET_LEN].try_into().unwrap();
        let device = id.map(|id| DeviceId::new(id).expect("an id"));
        (Ticket::new(&self.established, device, last, lifetime, sealed), lifetime)
    }

    /// Reads one record; `None` at the end of the stream.
    pub async fn record(&mut self) -> Option<()> {
        let mut record = vec![0; MIN_LEN];
        within(self.wire.stream.read_exact(&mut record)).await.ok()?;
        let needed = self.established.opener.needed(&record).expect("a record");
        record.resize(needed, 0);
        within(self.wire.stream.read_exact(&mut record[MIN_LEN..])).await.ok()?;
        let opened = self.established.opener.open(&mut record).expect("opens");
        match opened.content {
            Content::Data => self.text.extend_from_slice(opened.text),
            Content::Control => self.control.extend_from_slice(opened.text),
        }
        Some(())
    }
}

pub fn connect_packet(m1: &[u8]) -> Vec<u8> {
    let mut packet = vec![0; m1.len() + 64];
    let (place, len) = frame_connect(&mut packet, m1.len() as u16).expect("fits");
    place.copy_from_slice(m1);
    packet.truncate(len);
    packet
}

pub fn auth_packet(m3: &[u8]) -> Vec<u8> {
    let mut packet = vec![0; m3.len() + 64];
    let (place, len) = frame_auth(&mut packet, m3.len() as u16).expect("fits");
    place.copy_from_slice(m3);
    packet.truncate(len);
    packet
}

fn drbg() -> Drbg {
    let mut seed = [0; 32];
    getrandom::fill(&mut seed).expect("randomness");
    Drbg::broker(&seed)
}

/// Waits until `is_true`, checking it every few milliseconds.
pub async fn eventually(is_true: impl Fn() -> bool) {
    within(async {
        while !is_true() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await;
}

/// No test waits for ever.
pub async fn within<T>(future: impl Future<Output = T>) -> T {
    timeout(Duration::from_secs(20), future).await.expect("in time")
}
