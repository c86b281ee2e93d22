//! The broker's role of the handshake behind a [`Link`] in memory: what the device writes is answered at once.

use std::collections::VecDeque;

use embedded_io::{ErrorKind, ErrorType, Read, ReadReady, Write};
use hybrid_handshake::{
    Established,
    broker::{AwaitM1, AwaitM3, Claim, Decoy, Enrolled, M2Params},
    control::{self, Kind, Message, Reader, Receiver},
    dh::DhSecret,
    drbg::Drbg,
    identity::{BrokerKey, BrokerSecret, DecoySecret, DeviceSecret, Fingerprint, Psk, PublicKey, generate_key},
    message::{BrokerLimits, Capabilities, M1Header, TICKET_LEN, m2_len, m4_len},
    mqtt::{
        Acknowledgement, Connack, Connect, Delivery, FixedHeader, Level, PINGRESP, PacketType, Publish, Qos,
        ReasonCode,
        outer::{FromClient, Pieces, frame_auth, frame_connack, read_connect, read_from_client},
    },
    reauth::{broker as renewal, message_len},
    record::{Content, HEADROOM},
    resume::{Resumption, TicketKey, TicketKeys},
    suite::{AnyKem, AnySuite, Group, KemId, KemScheme, Mode, Suite},
};
use kemqtt_node::Link;

pub const NOW: u64 = 1_788_000_000;

/// A static key pair.
pub struct KeyPair {
    pub encoded: Vec<u8>,
    pub dk: Vec<u8>,
    pub x: DhSecret,
}

impl KeyPair {
    pub fn new(kem: KemId, group: Group, seed: u8) -> Self {
        let scheme = AnyKem::new(kem).expect("compiled in");
        let mut encoded = vec![0; 2 + kem.ek_len() + group.share_len()];
        let mut dk = vec![0; scheme.dk_len()];
        let mut rng = Drbg::broker(&[seed; 32]);
        let x = generate_key(scheme, group, &mut rng, &mut encoded, &mut dk).unwrap();
        Self { encoded, dk, x }
    }

    pub fn public(&self) -> PublicKey<'_> {
        PublicKey::parse(&self.encoded).unwrap()
    }

    pub fn broker_key(&self) -> BrokerKey<'_> {
        BrokerKey::parse(&self.encoded).unwrap()
    }

    pub fn device_secret<'a>(&'a self, z: &'a [u8; 32]) -> DeviceSecret<'a> {
        DeviceSecret {
            key: self.public(),
            dk: &self.dk,
            z,
            x: &self.x,
        }
    }
}

/// Flights and packets of the broker, for a test to bend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Down {
    M2,
    M4,
    Record,
    /// A message of a re-authentication, before it is sealed.
    Reauth,
}

pub type Bend = Box<dyn FnMut(Down, &mut Vec<u8>)>;

pub struct Broker {
    pub keys: Vec<KeyPair>,
    /// `None`: the device is not enrolled.
    pub psk: Option<[u8; 32]>,
    pub device: Option<KeyPair>,
    pub tickets: Option<TicketKeys>,
    pub limits: BrokerLimits,
    pub options: Capabilities,
    pub connack: ReasonCode,
    pub successor: Option<Fingerprint>,
    pub next_key: Option<Vec<u8>>,
    pub bend: Option<Bend>,
    /// Comes as soon as a connection is open.
    pub on_open: Option<Vec<u8>>,
    /// Dialing does not help.
    pub down: bool,
    /// Modes of the M1s that came, whether they led anywhere or not, and a copy of each.
    pub m1s: Vec<(Mode, Vec<u8>)>,
    pub connects: Vec<Vec<u8>>,
    pub published: Vec<(String, Vec<u8>)>,
    /// PUBACK and DISCONNECT packets of the device.
    pub answers: Vec<Vec<u8>>,
    /// The key phases of the device's records.
    pub phases: Vec<bool>,
    /// Re-authentications of which a record under the new keys has come.
    pub reauthentications: u32,
    /// The device's record after so many is lost.
    pub lose_after: Option<usize>,
    state: State,
    received: Vec<u8>,
    inner: Vec<u8>,
    out: VecDeque<u8>,
    rng: Drbg,
}

enum State {
    Closed,
    AwaitConnect,
    Pieces(Vec<u8>, Pieces, Box<AwaitM3<AnySuite>>, Claim),
    Session(Box<Session>),
}

struct Session {
    keys: Established<AnySuite>,
    level: Level,
    mode: Mode,
    reader: Reader,
    collected: Vec<u8>,
    offered: Option<renewal::AwaitAnswer<AnySuite>>,
}

impl Broker {
    pub fn new(key: KeyPair, psk: [u8; 32]) -> Self {
        Self {
            keys: vec![key],
            psk: Some(psk),
            device: None,
            tickets: Some(TicketKeys::new(TicketKey::from_bytes([6; 32]), None)),
            limits: BrokerLimits::default(),
            options: Capabilities::ALL,
            connack: ReasonCode::Success,
            successor: None,
            next_key: None,
            bend: None,
            on_open: None,
            down: false,
            m1s: vec![],
            connects: vec![],
            published: vec![],
            answers: vec![],
            phases: vec![],
            reauthentications: 0,
            lose_after: None,
            state: State::Closed,
            received: vec![],
            inner: vec![],
            out: VecDeque::new(),
            rng: Drbg::broker(&[0xb0; 32]),
        }
    }

    /// Hands bytes to the device that the broker never wrote.
    pub fn inject(&mut self, bytes: &[u8]) {
        self.out.extend(bytes);
    }

    /// A message for the device.
    pub fn message(&mut self, topic: &str, payload: &[u8]) {
        let packet = self.packet_of(topic, payload);
        self.record(Content::Data, &packet);
    }

    /// That message's packet.
    pub fn packet_of(&self, topic: &str, payload: &[u8]) -> Vec<u8> {
        let State::Session(session) = &self.state else {
            panic!("no session")
        };
        let delivery = Delivery::AtLeastOnce(7.try_into().unwrap());
        let publish = Publish {
            delivery,
            ..Publish::new(topic, payload)
        };
        let mut packet = vec![0; 2000];
        let len = publish.write(session.level, &mut packet).unwrap();
        packet.truncate(len);
        packet
    }

    fn down(&mut self, what: Down, mut bytes: Vec<u8>) {
        if let Some(bend) = &mut self.bend {
            bend(what, &mut bytes);
        }
        self.out.extend(bytes);
    }

    /// Seals bytes of the MQTT stream or of the control stream.
    pub fn record(&mut self, content: Content, text: &[u8]) {
        let State::Session(session) = &mut self.state else {
            panic!("no session")
        };
        let sealer = &mut session.keys.sealer;
        let limit = usize::from(sealer.limit());
        let mut records = vec![];
        for piece in text.chunks(limit) {
            let mut buf = vec![0; HEADROOM + piece.len() + 16];
            buf[HEADROOM..][..piece.len()].copy_from_slice(piece);
            records.push(sealer.seal(content, &mut buf, piece.len() as u16).unwrap().to_vec());
        }
        records.into_iter().for_each(|record| self.down(Down::Record, record));
    }

    fn step(&mut self) {
        loop {
            if let State::Session(..) = self.state {
                if !self.session() {
                    return;
                }
                continue;
            }
            let Ok(Some(header)) = FixedHeader::read(&self.received) else {
                return;
            };
            let len = header.packet_len() as usize;
            if self.received.len() < len {
                return;
            }
            let packet: Vec<u8> = self.received.drain(..len).collect();
            self.outer(packet);
        }
    }

    fn outer(&mut self, mut packet: Vec<u8>) {
        match std::mem::replace(&mut self.state, State::Closed) {
            State::AwaitConnect => {
                let m1 = read_connect(&mut packet).unwrap();
                self.m1(m1);
            }
            State::Pieces(m2, mut pieces, await_m3, claim) => match read_from_client(&mut packet).unwrap() {
                FromClient::NextPiece => {
                    let range = pieces.send().expect("a piece is left");
                    self.piece(cut(&m2, range));
                    self.state = State::Pieces(m2, pieces, await_m3, claim);
                }
                FromClient::Data(m3) => {
                    assert!(pieces.is_complete());
                    self.m3(m3, *await_m3, &claim);
                }
                FromClient::Disconnect => {}
            },
            State::Closed | State::Session(..) => {}
        }
    }

    fn m1(&mut self, m1: &mut [u8]) {
        let header = M1Header::parse(m1).unwrap();
        self.m1s.push((header.mode(), m1.to_vec()));
        let suite = AnySuite::new(header.suite()).unwrap();
        let Some(key) = self.keys.iter().find(|key| key.broker_key().kid() == header.kid()) else {
            return; // 0x8C would be the answer
        };
        let secret = BrokerSecret::new(key.broker_key(), &key.dk, &key.x).unwrap();
        let read = AwaitM1::new(suite, &header, secret)
            .unwrap()
            .read_m1(m1, self.tickets.as_ref(), NOW);
        let Ok((claim, send_m2)) = read else { return };
        let (decoy, psk) = (DecoySecret::from_bytes([4; 32]), self.psk.map(Psk::from_bytes));
        let decoy_key = KeyPair::new(header.suite().kem(), header.suite().group(), 5);
        let params = M2Params {
            secret,
            enrolled: match (&psk, &self.device, header.mode()) {
                (Some(psk), _, Mode::Psk) => Enrolled::Psk(psk),
                (_, Some(device), Mode::Kem) => Enrolled::Kem(device.public()),
                _ => Enrolled::Unknown,
            },
            decoy: Decoy {
                secret: &decoy,
                key: Some(decoy_key.public()),
            },
            now: NOW,
            limits: self.limits,
            options: self.options,
        };
        let packet_limit = send_m2.limits().packet();
        let mut m2 = vec![0; m2_len(header.suite(), header.mode())];
        let (_, await_m3) = send_m2.write_m2(&params, &mut self.rng, &mut m2).unwrap();
        let mut pieces = Pieces::new(m2.len() as u16, packet_limit);
        if let Some(bend) = &mut self.bend {
            bend(Down::M2, &mut m2);
        }
        let range = pieces.send().unwrap();
        self.piece(cut(&m2, range));
        self.state = State::Pieces(m2, pieces, Box::new(await_m3), claim);
    }

    fn piece(&mut self, piece: &[u8]) {
        let mut packet = vec![0; piece.len() + 40];
        let (place, len) = frame_auth(&mut packet, piece.len() as u16).unwrap();
        place.copy_from_slice(piece);
        self.out.extend(&packet[..len]);
    }

    fn m3(&mut self, m3: &mut [u8], await_m3: AwaitM3<AnySuite>, claim: &Claim) {
        let Ok((connect, send_m4)) = await_m3.read_m3(m3) else {
            return;
        };
        self.connects.push(connect.to_vec());
        let level = Connect::parse(connect).unwrap().level;
        let mut connack = [0; 64];
        let len = Connack::new(self.connack).write(level, &mut connack).unwrap();
        let mut packet = vec![0; 256];
        let (m4, packet_len) = frame_connack(&mut packet, m4_len(len) as u16).unwrap();
        let (_, session) = send_m4.write_m4(&connack[..len], m4).unwrap();
        packet.truncate(packet_len);
        self.down(Down::M4, packet);
        if self.connack.is_error() {
            return;
        }
        let rms = session.rms.expose().to_owned();
        let rms = hybrid_handshake::schedule::Rms::from_bytes(rms);
        let kid = self
            .m1s
            .last()
            .map(|(_, m1)| M1Header::parse(m1).unwrap().kid())
            .unwrap();
        self.state = State::Session(Box::new(Session {
            reader: Reader::new(Receiver::Broker, session.options),
            keys: session,
            level,
            mode: if self.device.is_some() { Mode::Kem } else { Mode::Psk },
            collected: vec![0; 4200],
            offered: None,
        }));
        if let Some(tickets) = &self.tickets {
            let resumption = Resumption::after(claim, 0, NOW);
            let mut ticket = [0; TICKET_LEN];
            tickets
                .seal(&kid, &resumption, &rms, &mut self.rng, &mut ticket)
                .unwrap();
            let lifetime = resumption.lifetime_s(NOW).to_be_bytes();
            self.control(Kind::Ticket, &[&lifetime, &ticket]);
        }
        if let Some(successor) = self.successor {
            self.control(Kind::Successor, &[successor.as_bytes()]);
        }
        if let Some(next) = self.next_key.clone() {
            self.control(Kind::NextKey, &[&next]);
        }
    }

    fn control(&mut self, kind: Kind, body: &[&[u8]]) {
        let mut message = vec![0; 4096];
        let len = control::write(kind, body, &mut message).unwrap();
        self.record(Content::Control, &message[..len]);
    }

    /// Opens one record and answers the packet in it.
    fn session(&mut self) -> bool {
        let State::Session(session) = &mut self.state else {
            return false;
        };
        let opener = &mut session.keys.opener;
        let needed = opener.needed(&self.received).unwrap();
        let needed = match self.received.get(..needed) {
            Some(start) => opener.needed(start).unwrap(),
            None => return false,
        };
        if self.received.len() < needed {
            return false;
        }
        let mut record: Vec<u8> = self.received.drain(..needed).collect();
        self.lose_after = match self.lose_after {
            Some(0) => {
                self.lose_after = None;
                return true;
            }
            other => other.map(|after| after - 1),
        };
        self.phases.push(record[0] & 1 == 1);
        let awaited = opener.awaits_rekey();
        let Ok(opened) = opener.open(&mut record) else {
            self.state = State::Closed;
            return false;
        };
        let (content, text, level) = (opened.content, opened.text.to_vec(), session.level);
        self.reauthentications += u32::from(awaited && !opener.awaits_rekey());
        if content == Content::Control {
            self.control_record(&text);
            return true;
        }
        self.inner.extend(text);
        while let Ok(Some(header)) = FixedHeader::read(&self.inner)
            && self.inner.len() >= header.packet_len() as usize
        {
            let packet: Vec<u8> = self.inner.drain(..header.packet_len() as usize).collect();
            self.packet(header, &packet, level);
        }
        true
    }

    /// Goes on with a re-authentication.
    fn control_record(&mut self, text: &[u8]) {
        let State::Session(session) = &mut self.state else {
            panic!("no session")
        };
        let Session {
            keys,
            mode,
            reader,
            collected,
            offered,
            ..
        } = &mut **session;
        let Some(message) = reader.record(text, 0).unwrap().next(collected).unwrap() else {
            return;
        };
        let Message::Reauth(message) = message else {
            panic!("{message:?}")
        };
        let mut out = vec![0; message_len(keys.suite.id(), *mode)];
        let new_keys = match offered.take() {
            None => {
                let (_, m1) = self.m1s.last().unwrap();
                let kid = M1Header::parse(m1).unwrap().kid();
                let key = self.keys.iter().find(|key| key.broker_key().kid() == kid).unwrap();
                let secret = BrokerSecret::new(key.broker_key(), &key.dk, &key.x).unwrap();
                let psk = self.psk.map(Psk::from_bytes);
                let enrolled = match (&psk, &self.device) {
                    (_, Some(device)) => Enrolled::Kem(device.public()),
                    (Some(psk), _) => Enrolled::Psk(psk),
                    (None, None) => Enrolled::Unknown,
                };
                let request = renewal::read_request(keys.suite, keys.reauth.take(), &keys.opener, &message).unwrap();
                let Ok((len, await_answer)) = request.write(&secret, &enrolled, &mut self.rng, &mut out) else {
                    self.state = State::Closed;
                    return;
                };
                out.truncate(len);
                *offered = Some(await_answer);
                None
            }
            Some(await_answer) => {
                let (len, new_keys) = await_answer.finish(&message, &mut out).unwrap();
                out.truncate(len);
                Some(new_keys)
            }
        };
        if let Some(bend) = &mut self.bend {
            bend(Down::Reauth, &mut out);
        }
        self.record(Content::Control, &out);
        let State::Session(session) = &mut self.state else {
            panic!("no session")
        };
        if let Some(new_keys) = new_keys {
            let keys = &mut session.keys;
            new_keys.install_at_broker(&mut keys.sealer, &mut keys.opener).unwrap();
            keys.reauth = new_keys.reauth;
        }
    }

    fn packet(&mut self, header: FixedHeader, packet: &[u8], level: Level) {
        match header.packet {
            PacketType::Publish => {
                let publish = Publish::parse(packet, level).unwrap();
                self.published
                    .push((publish.topic.to_owned(), publish.payload.to_vec()));
                if let Delivery::AtLeastOnce(id) = publish.delivery {
                    let mut answer = [0; 8];
                    let len = Acknowledgement::puback(id).write(level, &mut answer).unwrap();
                    self.record(Content::Data, &answer[..len]);
                }
            }
            PacketType::Subscribe => {
                let mut suback = vec![0x90, if level.is_v5() { 4 } else { 3 }, packet[2], packet[3]];
                if level.is_v5() {
                    suback.push(0);
                }
                suback.push(Qos::AtLeastOnce as u8);
                self.record(Content::Data, &suback);
            }
            PacketType::Pingreq => self.record(Content::Data, &PINGRESP),
            PacketType::Puback | PacketType::Disconnect => self.answers.push(packet.to_vec()),
            other => panic!("{other:?}"),
        }
    }
}

/// What is left of a piece in an M2 that a test may have cut short.
fn cut(m2: &[u8], range: std::ops::Range<usize>) -> &[u8] {
    &m2[range.start.min(m2.len())..range.end.min(m2.len())]
}

impl Link for Broker {
    fn open(&mut self) -> Result<(), ErrorKind> {
        self.received.clear();
        self.inner.clear();
        self.out.clear();
        self.out.extend(self.on_open.iter().flatten());
        self.state = if self.down { State::Closed } else { State::AwaitConnect };
        Ok(())
    }

    fn close(&mut self) {
        self.state = State::Closed;
        self.out.clear();
    }
}

impl ErrorType for Broker {
    type Error = ErrorKind;
}

impl Read for Broker {
    fn read(&mut self, buf: &mut [u8]) -> Result<usize, ErrorKind> {
        let len = buf.len().min(self.out.len());
        for place in &mut buf[..len] {
            *place = self.out.pop_front().expect("counted");
        }
        Ok(len)
    }
}

impl ReadReady for Broker {
    fn read_ready(&mut self) -> Result<bool, ErrorKind> {
        Ok(!self.out.is_empty())
    }
}

impl Write for Broker {
    fn write(&mut self, bytes: &[u8]) -> Result<usize, ErrorKind> {
        self.received.extend(bytes);
        self.step();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> Result<(), ErrorKind> {
        Ok(())
    }
}
