//! Whole sessions as vectors: handshake, ticket, records, re-authentication. The bytes on the wire come from the crate, the values
//! behind them from the straight computation, and the two have to agree.

use hybrid_handshake::{
    aead::AnyAead,
    client::Start,
    control::{self, Kind, Reauth},
    drbg::Drbg,
    mqtt::{
        ReasonCode,
        outer::{Pieces, frame_auth, frame_connack, frame_connect, write_next_piece},
    },
    reauth::{broker, client},
    record::{Content, HEADROOM, Opener, Sealer},
    resume::{Resumption, STORED_LEN, TICKET_LEN, Ticket},
    schedule::ReauthSecret,
    suite::{AnySuite, Mode},
};
use kem_core::Kem;

use super::{
    json::{Json, hex, object, text},
    straight::{self, Knobs, Straight, Trace, expand, padded, sha},
    wire::{BROKER_SEED, CLIENT_SEED, NOW, World, answer_m2, read_m1},
};

/// The successor that the broker names, and what the application says.
const SUCCESSOR: [u8; 32] = [0x5c; 32];
const PUBLISH: &[u8] = b"\x30\x0b\x00\x05depth\x00\x311";
const PINGRESP: &[u8] = b"\xd0\x00";
const GENERATION: u32 = 7;

/// One session in the mode of `world`; for mode 4, `own` holds the device's credential. Gives the ticket for the next one, too.
pub fn session<K: Kem, B: Kem>(world: &World, own: &World) -> (Json, Ticket) {
    let suite = world.any_suite();
    let mut straight = straight::straight::<K, B>(world, &Knobs::default());
    let (mut client_rng, mut broker_rng) = (Drbg::broker(&CLIENT_SEED), Drbg::broker(&BROKER_SEED));
    let config = world.config();

    let mut m1 = vec![0; 4000];
    let start = Start::new(suite, &config).unwrap();
    let (len, mut await_m2) = start.write_m1(&mut client_rng, &mut m1).unwrap();
    m1.truncate(len);
    let (claim, send_m2) = read_m1(world, suite, &mut m1.clone()).unwrap();
    let mut m2 = vec![0; 6000];
    let (len, await_m3) = send_m2.write_m2(&world.m2_params(), &mut broker_rng, &mut m2).unwrap();
    m2.truncate(len);
    let (m3, await_m4) = answer_m2(world, &mut await_m2, &m2, &mut client_rng).unwrap();
    let mut copy = m3.clone();
    let (_, send_m4) = await_m3.read_m3(&mut copy).unwrap();
    let mut m4 = vec![0; 500];
    let (len, broker) = send_m4.write_m4(&world.connack, &mut m4).unwrap();
    m4.truncate(len);
    let (_, client) = await_m4.read_m4(&mut m4.clone()).unwrap();
    for (ours, theirs) in [&m1, &m2, &m3, &m4].into_iter().zip(&straight.flights) {
        assert!(ours == theirs, "{} {:?}", world.suite, world.mode);
    }
    assert_eq!(
        (broker.rms.expose(), broker.reauth.expose()),
        (&straight.rms, &straight.reauth)
    );
    let mut exported = [0; 32];
    client.exporter.export(b"label", b"context", &mut exported);
    assert_eq!(exported, expand(&straight.exp, "label", &sha(&[b"context"]), 32)[..]);

    let resumption = Resumption::after(&claim, if claim.device.is_some() { GENERATION } else { 0 }, NOW);
    let lifetime = resumption.lifetime_s(NOW);
    let mut sealed = [0; TICKET_LEN];
    let (kid, tickets) = (world.broker.broker_key().kid(), world.tickets.as_ref().unwrap());
    tickets
        .seal(&kid, &resumption, &broker.rms, &mut broker_rng, &mut sealed)
        .unwrap();
    assert_eq!(straight.broker.take(16), sealed[4..20]);
    let ticket = Ticket::new(&client, claim.device, world.ticket.as_ref(), lifetime, &sealed);

    let mut flow = Flow {
        up: (client.sealer, broker.opener),
        down: (broker.sealer, client.opener),
        records: Vec::new(),
    };
    flow.control(true, &message(Kind::Ticket, &[&lifetime.to_be_bytes(), &sealed]));
    if world.mode != Mode::Resume {
        flow.control(true, &message(Kind::Successor, &[&SUCCESSOR]));
    }
    flow.data(false, PUBLISH);
    flow.data(true, PINGRESP);

    let mut fields = vec![
        ("mode".into(), Json::Number(world.mode.code().into())),
        ("inputs".into(), inputs(world)),
        ("values".into(), values(&straight.trace)),
        (
            "flights".into(),
            object([("M1", hex(&m1)), ("M2", hex(&m2)), ("M3", hex(&m3)), ("M4", hex(&m4))]),
        ),
        ("packets".into(), packets(world, [&m1, &m2, &m3, &m4])),
        (
            "exporter".into(),
            object([
                ("label", text("label")),
                ("context", hex(b"context")),
                ("secret", hex(&exported)),
            ]),
        ),
        ("ticket".into(), ticket_fields(&resumption, lifetime, &sealed)),
    ];
    if claim.device.is_some() {
        let secrets = (client.reauth, broker.reauth);
        let rngs = (&mut client_rng, &mut broker_rng);
        let trace = reauthentication::<K>(own, suite, secrets, rngs, &mut straight, &mut flow);
        fields.push(("reauth".into(), values(&trace)));
    }
    fields.push(("records".into(), Json::List(flow.records)));
    let draws = |draws: Vec<Vec<u8>>| Json::List(draws.iter().map(|draw| hex(draw)).collect());
    let (client, broker) = (draws(straight.client.draws), draws(straight.broker.draws));
    fields.push(("draws".into(), object([("client", client), ("broker", broker)])));
    (Json::Object(fields), ticket)
}

fn message(kind: Kind, body: &[&[u8]]) -> Vec<u8> {
    let mut message = vec![0; 4099];
    let len = control::write(kind, body, &mut message).unwrap();
    message.truncate(len);
    message
}

/// Both directions, and every record that went over them.
struct Flow {
    up: (Sealer<AnyAead>, Opener<AnyAead>),
    down: (Sealer<AnyAead>, Opener<AnyAead>),
    records: Vec<Json>,
}

impl Flow {
    /// A control message in as many records as it takes.
    fn control(&mut self, from_broker: bool, message: &[u8]) {
        let limit = if from_broker { &self.down.0 } else { &self.up.0 }.limit();
        for piece in message.chunks(limit.into()) {
            self.record(from_broker, Content::Control, piece);
        }
    }

    fn data(&mut self, from_broker: bool, bytes: &[u8]) {
        self.record(from_broker, Content::Data, bytes);
    }

    fn record(&mut self, from_broker: bool, content: Content, plaintext: &[u8]) {
        let (sealer, opener) = if from_broker { &mut self.down } else { &mut self.up };
        let mut buffer = vec![0; HEADROOM + plaintext.len() + 16];
        buffer[HEADROOM..][..plaintext.len()].copy_from_slice(plaintext);
        let record = sealer
            .seal(content, &mut buffer, plaintext.len() as u16)
            .unwrap()
            .to_vec();
        assert_eq!(opener.open(&mut record.clone()).unwrap().text, plaintext);
        self.records.push(object([
            ("from", text(if from_broker { "broker" } else { "client" })),
            (
                "content",
                text(if content == Content::Control { "control" } else { "data" }),
            ),
            ("plaintext", hex(plaintext)),
            ("record", hex(&record)),
        ]));
    }
}

fn reauthentication<K: Kem>(
    own: &World,
    suite: AnySuite,
    secrets: (ReauthSecret, ReauthSecret),
    (client_rng, broker_rng): (&mut Drbg, &mut Drbg),
    session: &mut Straight,
    flow: &mut Flow,
) -> Trace {
    let step = |whole: &[u8]| -> Reauth<'static> {
        let whole: &'static [u8] = whole.to_vec().leak();
        Reauth {
            reason: ReasonCode::from_code(whole[3]).unwrap(),
            fields: &whole[4..],
            whole,
        }
    };
    let (messages, trace) = straight::reauthenticate::<K>(own, session);
    let (credential, params, mut out) = (own.credential(), own.m2_params(), vec![0; 5000]);
    let key = own.broker.broker_key();
    let (len, await_offer) = client::start(suite, secrets.0, &credential, &key, client_rng, &mut out).unwrap();
    assert_eq!(out[..len], messages[0]);
    flow.control(false, &messages[0]);
    let send_offer = broker::read_request(suite, secrets.1, &flow.up.1, &step(&messages[0])).unwrap();
    let (len, await_answer) = send_offer
        .write(&params.secret, &params.enrolled, broker_rng, &mut out)
        .unwrap();
    assert_eq!(out[..len], messages[1]);
    flow.control(true, &messages[1]);
    let (len, await_success) = await_offer
        .answer(&step(&messages[1]), &credential, client_rng, &mut out)
        .unwrap();
    assert_eq!(out[..len], messages[2]);
    flow.control(false, &messages[2]);
    let (len, broker_keys) = await_answer.finish(&step(&messages[2]), &mut out).unwrap();
    let success = out[..len].to_vec();
    flow.control(true, &success);
    let client_keys = await_success.finish(&step(&success)).unwrap();
    broker_keys.install_at_broker(&mut flow.down.0, &mut flow.up.1).unwrap();
    client_keys.install_at_client(&mut flow.up.0, &mut flow.down.1).unwrap();
    flow.record(false, Content::Control, b"");
    flow.data(true, PINGRESP);
    flow.data(false, PUBLISH);
    trace
}

fn inputs(world: &World) -> Json {
    let pair = |a: u16, b: u16| Json::List(vec![Json::Number(a.into()), Json::Number(b.into())]);
    let mut fields = vec![
        ("client os bytes".into(), hex(&CLIENT_SEED)),
        ("broker os bytes".into(), hex(&BROKER_SEED)),
        ("time".into(), Json::Number(NOW)),
        (
            "client limits".into(),
            pair(world.client_limits.record(), world.client_limits.packet()),
        ),
        (
            "broker limits".into(),
            pair(world.broker_limits.record(), world.broker_limits.connect()),
        ),
        ("capabilities".into(), Json::Number(world.capabilities.bits().into())),
        ("broker options".into(), Json::Number(world.options.bits().into())),
        ("CONNECT".into(), hex(&world.connect)),
        ("CONNACK".into(), hex(&world.connack)),
    ];
    if world.mode == Mode::Resume {
        let mut stored = [0; STORED_LEN];
        world.ticket.as_ref().unwrap().store(&mut stored).unwrap();
        fields.push(("ticket".into(), hex(&stored[..TICKET_LEN])));
    } else {
        fields.push(("successor".into(), hex(&SUCCESSOR)));
    }
    Json::Object(fields)
}

fn values(trace: &Trace) -> Json {
    let fields = trace.0.iter().map(|(name, value)| ((*name).into(), hex(value)));
    Json::Object(fields.collect())
}

fn ticket_fields(resumption: &Resumption, lifetime: u32, sealed: &[u8; TICKET_LEN]) -> Json {
    object([
        ("mode", Json::Number(resumption.mode.code().into())),
        (
            "id padded",
            hex(&padded(
                resumption.device.map_or(String::new(), |id| id.to_string()).as_bytes(),
            )),
        ),
        ("credential generation", Json::Number(resumption.generation.into())),
        ("issued", Json::Number(resumption.issued)),
        ("full handshake", Json::Number(resumption.full_handshake)),
        ("resumptions", Json::Number(resumption.resumptions.into())),
        ("lifetime", Json::Number(lifetime.into())),
        ("sealed", hex(sealed)),
    ])
}

/// The flights in their packets; M2 in pieces if the client's limit asks for it.
fn packets(world: &World, [m1, m2, m3, m4]: [&[u8]; 4]) -> Json {
    type Frame = fn(&mut [u8], u16) -> Result<(&mut [u8], usize), hybrid_handshake::Error>;
    let mut packets = Vec::new();
    let mut add = |from: &str, packet: &[u8]| {
        packets.push(object([("from", text(from)), ("packet", hex(packet))]));
    };
    let framed = |frame: Frame, data: &[u8]| {
        let mut packet = vec![0; data.len() + 40];
        let (place, len) = frame(&mut packet, data.len() as u16).unwrap();
        place.copy_from_slice(data);
        packet.truncate(len);
        packet
    };
    add("client", &framed(frame_connect, m1));
    let mut pieces = Pieces::new(m2.len() as u16, world.client_limits.packet());
    while let Some(piece) = pieces.send() {
        add("broker", &framed(frame_auth, &m2[piece]));
        if !pieces.is_complete() {
            let mut ask = [0; 20];
            let len = write_next_piece(&mut ask).unwrap();
            add("client", &ask[..len]);
        }
    }
    add("client", &framed(frame_auth, m3));
    add("broker", &framed(frame_connack, m4));
    Json::List(packets)
}
