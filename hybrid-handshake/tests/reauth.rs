//! Re-authentication over control records: both modes, resumed sessions, several in a row, and everything that ends it.
#![allow(missing_docs)]

#[allow(dead_code, unreachable_pub)] // shared by the files of this folder
#[path = "scripted/straight.rs"]
mod straight;
#[allow(dead_code, unreachable_pub)] // shared by the files of this folder
#[path = "scripted/wire.rs"]
mod wire;

use hybrid_handshake::{
    Error, Malformed,
    aead::Aead,
    broker::Enrolled,
    client::Credential,
    control::{Message, Reader, Reauth, Receiver},
    drbg::Drbg,
    identity::Psk,
    message::ClientLimits,
    mqtt::ReasonCode,
    reauth::{NewKeys, broker, client, message_len},
    record::{Content, HEADROOM, Opener, Sealer},
    resume::{Resumption, TICKET_LEN, Ticket},
    schedule::ReauthSecret,
    suite::{AnySuite, Mode, Suite, SuiteId},
};
use straight::{expand, hmac, sha};
use wire::{Done, NOW, World};

/// Sends a control message in records of the size the peer takes, and reads it there.
fn carry<A: Aead>(
    message: &[u8],
    sealer: &mut Sealer<A>,
    opener: &mut Opener<A>,
    reader: &mut Reader,
) -> Result<Vec<u8>, Error> {
    let mut buffer = vec![0; 5000];
    for piece in message.chunks(sealer.limit().into()) {
        let mut record = vec![0; HEADROOM + piece.len() + 16];
        record[HEADROOM..][..piece.len()].copy_from_slice(piece);
        let mut record = sealer
            .seal(Content::Control, &mut record, piece.len() as u16)
            .unwrap()
            .to_vec();
        let text = opener.open(&mut record)?.text;
        if let Some(read) = reader.record(text, 0)?.next(&mut buffer)? {
            let Message::Reauth(read) = read else {
                panic!("{read:?}")
            };
            assert_eq!(read, step(message));
            return Ok(read.whole.to_vec());
        }
    }
    panic!("a message without an end")
}

/// A whole message in its parts.
fn step(whole: &[u8]) -> Reauth<'_> {
    Reauth {
        reason: ReasonCode::from_code(whole[3]).unwrap(),
        fields: &whole[4..],
        whole,
    }
}

/// Two sides with an open session.
struct Sides {
    world: World,
    suite: AnySuite,
    client: (
        Sealer<<AnySuite as Suite>::Aead>,
        Opener<<AnySuite as Suite>::Aead>,
        Reader,
    ),
    broker: (
        Sealer<<AnySuite as Suite>::Aead>,
        Opener<<AnySuite as Suite>::Aead>,
        Reader,
    ),
    rngs: (Drbg, Drbg),
}

struct Finished {
    messages: [Vec<u8>; 3],
    client: NewKeys,
    broker: NewKeys,
}

impl Sides {
    fn open(world: World, done: Done<AnySuite>) -> (Self, ReauthSecret, ReauthSecret) {
        let (client, broker, suite) = (done.client, done.broker, world.any_suite());
        let sides = Self {
            world,
            suite,
            client: (
                client.sealer,
                client.opener,
                Reader::new(Receiver::Client, client.options),
            ),
            broker: (
                broker.sealer,
                broker.opener,
                Reader::new(Receiver::Broker, broker.options),
            ),
            rngs: (Drbg::broker(&[0x61; 32]), Drbg::broker(&[0x62; 32])),
        };
        (sides, client.reauth, broker.reauth)
    }

    /// One exchange with this credential, up to the keys; nothing is installed yet.
    fn exchange(
        &mut self,
        secrets: (ReauthSecret, ReauthSecret),
        credential: &Credential<'_>,
        enrolled: &Enrolled<'_>,
    ) -> Result<Finished, Error> {
        let Self {
            world,
            suite,
            client,
            broker,
            rngs,
        } = self;
        let (mut out, key) = (vec![0; 5000], world.broker.broker_key());

        let (len, await_offer) = client::start(*suite, secrets.0, credential, &key, &mut rngs.0, &mut out)?;
        let request = carry(&out[..len], &mut client.0, &mut broker.1, &mut broker.2)?;
        let send_offer = broker::read_request(*suite, secrets.1, &broker.1, &step(&request))?;
        let (len, await_answer) = send_offer.write(&world.broker.broker_secret(), enrolled, &mut rngs.1, &mut out)?;
        let offer = carry(&out[..len], &mut broker.0, &mut client.1, &mut client.2)?;
        let (len, await_success) = await_offer.answer(&step(&offer), credential, &mut rngs.0, &mut out)?;
        let answer = carry(&out[..len], &mut client.0, &mut broker.1, &mut broker.2)?;
        assert!(offer.len().max(answer.len()) <= message_len(world.suite, credential.mode()));
        let (len, broker_keys) = await_answer.finish(&step(&answer), &mut out)?;
        let success = carry(&out[..len], &mut broker.0, &mut client.1, &mut client.2)?;
        assert_eq!(success, [4, 0, 1, 0]);
        let client_keys = await_success.finish(&step(&success))?;
        Ok(Finished {
            messages: [request, offer, answer],
            client: client_keys,
            broker: broker_keys,
        })
    }

    fn install(&mut self, finished: &Finished) {
        finished
            .broker
            .install_at_broker(&mut self.broker.0, &mut self.broker.1)
            .unwrap();
        finished
            .client
            .install_at_client(&mut self.client.0, &mut self.client.1)
            .unwrap();
    }

    fn talk(&mut self) -> Result<(), Error> {
        send(&mut self.broker.0, &mut self.client.1)?;
        send(&mut self.client.0, &mut self.broker.1)
    }
}

fn send<A: Aead>(sealer: &mut Sealer<A>, opener: &mut Opener<A>) -> Result<(), Error> {
    let mut record = [0; HEADROOM + 5 + 16];
    record[HEADROOM..][..5].copy_from_slice(b"hello");
    let mut record = sealer.seal(Content::Data, &mut record, 5).unwrap().to_vec();
    assert_eq!(opener.open(&mut record)?.text, b"hello");
    Ok(())
}

fn sensor() -> World {
    World::new(SuiteId::SENSOR_DEFAULT, Mode::Psk)
}

#[test]
fn keys_change_at_both_sides_again_and_again() {
    for (suite, mode) in [
        (0x1011, Mode::Psk),
        (0x0222, Mode::Kem),
        (0x1011, Mode::Kem),
        (0x1222, Mode::Kem),
        (0x0312, Mode::Psk),
    ] {
        let mut world = World::new(SuiteId::from_code(suite).unwrap(), mode);
        world.client_limits = ClientLimits::new(256, 1024).unwrap();
        let (done, credentials) = (world.run().unwrap(), World::new(world.suite, mode));
        let (mut sides, mut client, mut broker) = Sides::open(world, done);
        for _ in 0..3 {
            let enrolled = credentials.m2_params().enrolled;
            let finished = sides
                .exchange((client, broker), &credentials.credential(), &enrolled)
                .unwrap();
            sides.install(&finished);
            sides.talk().unwrap();
            let (mut ours, mut theirs) = ([0; 32], [0; 32]);
            finished.client.exporter.export(b"x", b"", &mut ours);
            finished.broker.exporter.export(b"x", b"", &mut theirs);
            assert_eq!(ours, theirs);
            (client, broker) = (finished.client.reauth, finished.broker.reauth);
            assert_eq!(client.expose(), broker.expose());
        }
    }
}

/// The formulas once more, from the messages and the secrets that the test knows.
#[test]
fn the_secrets_are_those_of_the_protocol() {
    use ctru_light::{AsconXof, CtruLight};
    use kem_core::{Bytes, Kem, SharedSecret, rand_core::Rng};
    type Ctru = CtruLight<AsconXof>;

    let world = sensor();
    let before = straight::straight::<Ctru, kyber::MlKem512>(&world, &straight::Knobs::default());
    let (done, credentials) = (world.run().unwrap(), sensor());
    assert_eq!(done.client.reauth.expose(), &before.reauth);
    let (mut sides, client, broker) = Sides::open(world, done);
    let enrolled = credentials.m2_params().enrolled;
    let finished = sides
        .exchange((client, broker), &credentials.credential(), &enrolled)
        .unwrap();

    let [m19, m18, answer] = &finished.messages;
    assert_eq!((m19[..4].to_vec(), m19.len()), (vec![4, 0, 49, 0x19], 52));
    assert_eq!(
        (m18[..4].to_vec(), m18.len()),
        (vec![4, 0x02, 0xb1, 0x18], 4 + 16 + 32 + 640)
    );
    assert_eq!(
        (answer[..4].to_vec(), answer.len()),
        (vec![4, 0x02, 0x01, 0x18], 4 + 512)
    );
    let mut rng = Drbg::broker(&[0x62; 32]);
    let (mut nonce, mut y) = ([0; 16], [0; 32]);
    rng.fill_bytes(&mut nonce);
    rng.fill_bytes(&mut y);
    assert_eq!(m18[4..20], nonce);
    let (mut ek, mut dk) = (<Ctru as Kem>::EkBytes::ZERO, <Ctru as Kem>::DkBytes::ZERO);
    Ctru::keygen(&mut rng, &mut ek, &mut dk).unwrap();
    let mut ss = SharedSecret::zeroed();
    Ctru::decaps(&dk, answer[4..].try_into().unwrap(), &mut ss).unwrap();
    let ee = x25519_dalek::x25519(y, m19[20..].try_into().unwrap());

    let hr = sha(&[&before.th, m19, m18, answer]);
    let ck = |ck: &[u8; 32], ikm: &[u8]| -> [u8; 32] { expand(&hmac(ck, &[ikm]), "ck", &hr, 32).try_into().unwrap() };
    let ck2 = ck(&before.reauth, credentials.psk.expose());
    let ck3 = ck(&ck2, &[ss.expose().as_slice(), &ee].concat());
    assert_eq!(finished.client.client.expose()[..], expand(&ck3, "c", &hr, 32));
    assert_eq!(finished.client.broker.expose()[..], expand(&ck3, "b", &hr, 32));
    assert_eq!(finished.client.reauth.expose()[..], expand(&ck3, "reauth", &hr, 32));
    let mut exported = [0; 32];
    finished.client.exporter.export(b"x", b"", &mut exported);
    let exp = expand(&ck3, "exp", &hr, 32).try_into().unwrap();
    assert_eq!(exported[..], expand(&exp, "x", &sha(&[]), 32));
}

#[test]
fn a_resumed_session_proves_the_devices_own_credential() {
    let mut world = sensor();
    let done = world.run().unwrap();
    let mut sealed = [0; TICKET_LEN];
    let (kid, resumption) = (world.broker.broker_key().kid(), Resumption::after(&done.claim, 0, NOW));
    let keys = world.tickets.as_ref().unwrap();
    keys.seal(
        &kid,
        &resumption,
        &done.broker.rms,
        &mut Drbg::broker(&[9; 32]),
        &mut sealed,
    )
    .unwrap();
    world.ticket = Some(Ticket::new(&done.client, Some(world.id), None, 100, &sealed));
    world.mode = Mode::Resume;
    let (done, credentials) = (world.run().unwrap(), sensor());
    let (mut sides, client, broker) = Sides::open(world, done);
    let enrolled = credentials.m2_params().enrolled;
    let finished = sides
        .exchange((client, broker), &credentials.credential(), &enrolled)
        .unwrap();
    sides.install(&finished);
    sides.talk().unwrap();
}

#[test]
fn another_credential_leaves_a_client_that_cannot_speak() {
    let world = sensor();
    let (done, mut credentials) = (world.run().unwrap(), sensor());
    let (mut sides, client, broker) = Sides::open(world, done);
    credentials.psk = Psk::from_bytes([0x77; 32]);
    let right = sensor();
    let enrolled = right.m2_params().enrolled;
    let finished = sides
        .exchange((client, broker), &credentials.credential(), &enrolled)
        .unwrap();
    sides.install(&finished);
    assert_eq!(send(&mut sides.client.0, &mut sides.broker.1), Err(Error::Rejected));
}

#[test]
fn a_device_that_is_gone_or_has_another_kind_of_key_is_refused() {
    let other = wire::KeyPair::new(hybrid_handshake::suite::KemId::MlKem512, SuiteId::SENSOR_DEFAULT, 9);
    for enrolled in [Enrolled::Unknown, Enrolled::Kem(other.public())] {
        let world = sensor();
        let (done, credentials) = (world.run().unwrap(), sensor());
        let (mut sides, client, broker) = Sides::open(world, done);
        let refused = sides
            .exchange((client, broker), &credentials.credential(), &enrolled)
            .err();
        assert_eq!(refused, Some(Error::Rejected));
    }
    // The registry has a static key now: the offer has another length than the client expects.
    let world = sensor();
    let (done, credentials) = (world.run().unwrap(), sensor());
    let (mut sides, client, broker) = Sides::open(world, done);
    let enrolled = Enrolled::Kem(credentials.device.public());
    let refused = sides
        .exchange((client, broker), &credentials.credential(), &enrolled)
        .err();
    assert_eq!(refused, Some(Error::Malformed(Malformed::Length)));
}

#[test]
fn a_client_without_a_credential_cannot_ask() {
    let (done, credentials) = (sensor().run().unwrap(), sensor());
    let (mut sides, client, broker) = Sides::open(sensor(), done);
    let enrolled = credentials.m2_params().enrolled;
    let refused = sides
        .exchange((client, broker), &Credential::Anonymous, &enrolled)
        .err();
    assert_eq!(refused, Some(Error::Misuse));
}

#[test]
fn a_second_request_before_the_first_flip_closes() {
    let world = sensor();
    let (done, credentials) = (world.run().unwrap(), sensor());
    let (mut sides, client, broker) = Sides::open(world, done);
    let enrolled = credentials.m2_params().enrolled;
    let finished = sides
        .exchange((client, broker), &credentials.credential(), &enrolled)
        .unwrap();
    sides.install(&finished);
    // The client has not sent a record under the new keys; its request still comes under the old ones.
    let request = step(&finished.messages[0]);
    let refused = broker::read_request(sides.suite, finished.broker.reauth, &sides.broker.1, &request).err();
    assert_eq!(refused, Some(Error::UnexpectedPacket));
}

#[test]
fn messages_out_of_step_or_of_a_wrong_length_are_refused() {
    use ReasonCode::{ContinueAuthentication, ReAuthenticate, Success};

    let world = sensor();
    let (done, credentials) = (world.run().unwrap(), sensor());
    let (mut sides, client, broker) = Sides::open(world, done);
    let enrolled = credentials.m2_params().enrolled;
    let secrets = (client, broker);
    let finished = sides.exchange(secrets, &credentials.credential(), &enrolled).unwrap();
    let [m19, m18, answer] = &finished.messages;
    let message = |reason, bytes: &'static [u8]| Reauth {
        reason,
        fields: &bytes[4..],
        whole: bytes,
    };
    let leak = |bytes: &[u8], len: usize| -> &'static [u8] {
        let mut bytes = bytes.to_vec();
        bytes.resize(len, 0);
        bytes.leak()
    };
    let request = |reason, len| {
        let done = sensor().run().unwrap();
        let message = message(reason, leak(m19, len));
        broker::read_request(sides.suite, done.broker.reauth, &done.broker.opener, &message)
            .map(|_| ())
            .err()
    };
    assert_eq!(request(ReAuthenticate, 52), None);
    assert_eq!(request(ContinueAuthentication, 52), Some(Error::UnexpectedPacket));
    assert_eq!(request(Success, 52), Some(Error::UnexpectedPacket));
    for len in [4, 51, 53] {
        assert_eq!(request(ReAuthenticate, len), Some(Error::Malformed(Malformed::Length)));
    }
    let zero_share = leak(&[&m19[..20], &[0; 32]].concat(), 52);
    let done = sensor().run().unwrap();
    let message_19 = message(ReAuthenticate, zero_share);
    let refused = broker::read_request(sides.suite, done.broker.reauth, &done.broker.opener, &message_19).err();
    assert_eq!(refused, Some(Error::Rejected));

    let offer = |reason, bytes: &'static [u8]| {
        let (done, world) = (sensor().run().unwrap(), sensor());
        let (mut rng, mut out) = (Drbg::broker(&[0x61; 32]), vec![0; 2000]);
        let (credential, key) = (world.credential(), world.broker.broker_key());
        let (_, state) = client::start(sides.suite, done.client.reauth, &credential, &key, &mut rng, &mut out).unwrap();
        state
            .answer(&message(reason, bytes), &credential, &mut rng, &mut out)
            .map(|(_, state)| state)
    };
    assert!(offer(ContinueAuthentication, leak(m18, m18.len())).is_ok());
    assert_eq!(
        offer(Success, leak(m18, m18.len())).err(),
        Some(Error::UnexpectedPacket)
    );
    for len in [4, m18.len() - 1, m18.len() + 1] {
        let refused = offer(ContinueAuthentication, leak(m18, len)).err();
        assert_eq!(refused, Some(Error::Malformed(Malformed::Length)));
    }
    let no_key = leak(&[&m18[..52], &[0xff; 640]].concat(), m18.len());
    assert_eq!(offer(ContinueAuthentication, no_key).err(), Some(Error::Rejected));
    let success = |reason, bytes| {
        offer(ContinueAuthentication, leak(m18, m18.len()))
            .unwrap()
            .finish(&message(reason, bytes))
            .map(|_| ())
            .err()
    };
    assert_eq!(success(Success, leak(&[4, 0, 1, 0], 4)), None);
    assert_eq!(
        success(ContinueAuthentication, leak(&[4, 0, 1, 0x18], 4)),
        Some(Error::UnexpectedPacket)
    );
    assert_eq!(
        success(Success, leak(&[4, 0, 2, 0], 5)),
        Some(Error::Malformed(Malformed::Length))
    );

    let answered = |reason, bytes: &'static [u8]| {
        let (done, world) = (sensor().run().unwrap(), sensor());
        let (mut rng, mut out) = (Drbg::broker(&[0x62; 32]), vec![0; 2000]);
        let request = message(ReAuthenticate, leak(m19, 52));
        let state = broker::read_request(sides.suite, done.broker.reauth, &done.broker.opener, &request).unwrap();
        let (secret, enrolled) = (world.broker.broker_secret(), world.m2_params().enrolled);
        let (_, state) = state.write(&secret, &enrolled, &mut rng, &mut out).unwrap();
        state.finish(&message(reason, bytes), &mut out).map(|_| ()).err()
    };
    assert_eq!(answered(ContinueAuthentication, leak(answer, answer.len())), None);
    assert_eq!(
        answered(Success, leak(answer, answer.len())),
        Some(Error::UnexpectedPacket)
    );
    assert_eq!(
        answered(ContinueAuthentication, leak(answer, 515)),
        Some(Error::Malformed(Malformed::Length))
    );
}

#[test]
fn a_changed_message_gives_other_keys() {
    for bent in 0..3 {
        let world = sensor();
        let (done, credentials) = (world.run().unwrap(), sensor());
        let (_, client, broker) = Sides::open(world, done);
        let (credential, params) = (credentials.credential(), credentials.m2_params());
        let key = credentials.broker.broker_key();
        let (suite, mut rng) = (credentials.any_suite(), Drbg::broker(&[1; 32]));
        let opener = sensor().run().unwrap().broker.opener;
        let bend = |at: usize, message: &[u8]| {
            let mut message = message.to_vec();
            message[6] ^= u8::from(at == bent);
            message
        };
        let mut out = vec![0; 2000];
        let (len, await_offer) = client::start(suite, client, &credential, &key, &mut rng, &mut out).unwrap();
        let request = bend(0, &out[..len]);
        let send_offer = broker::read_request(suite, broker, &opener, &step(&request)).unwrap();
        let (len, await_answer) = send_offer
            .write(&params.secret, &params.enrolled, &mut rng, &mut out)
            .unwrap();
        let offer = bend(1, &out[..len]);
        let (len, success) = await_offer
            .answer(&step(&offer), &credential, &mut rng, &mut out)
            .unwrap();
        let answer = bend(2, &out[..len]);
        let (len, theirs) = await_answer.finish(&step(&answer), &mut out).unwrap();
        let ours = success.finish(&step(&out[..len])).unwrap();
        assert_ne!(ours.client.expose(), theirs.client.expose(), "{bent}");
        assert_ne!(ours.broker.expose(), theirs.broker.expose(), "{bent}");
    }
}
