//! Sessions through TCP with the real front and an embedded broker behind it.
#![allow(missing_docs)]

#[allow(unreachable_pub)]
#[path = "support/tcp.rs"]
mod tcp;

use std::time::Duration;

use hybrid_handshake::{
    dh::X25519,
    identity::{BrokerLine, PskLine},
    mqtt::{Level, Qos},
    suite::{FixedAead, FixedKem, FixedProfile, Group, KemId, NamedKem, P1, P2, StaticSuite},
};
use kemqtt_broker::{Backend, Front, Registry, backend::RumqttdConfig};
use kemqtt_node::{Arena, Board, Boot, Event, Node, NvStore, Options, flight_len, store::Image, work_len};
use tcp::{SystemClock, TcpLink};

type Memory = Image<Vec<u8>>;

struct Realm {
    front: Front,
    registry: Registry,
    pin: String,
}

impl Realm {
    async fn start(kem: KemId) -> Self {
        let registry = Registry::in_memory().await.unwrap();
        let pin = registry.generate_broker_key(kem, Group::X25519).await.unwrap();
        let front = Front::builder()
            .backend(Backend::rumqttd(RumqttdConfig::default()))
            .registry(registry.clone())
            .build()
            .await
            .unwrap();
        Self { front, registry, pin }
    }

    async fn enrolled(&self, id: &str, kem: KemId, level: Level) -> NvStore<Memory> {
        let mut key = vec![0; 4096];
        let pin = BrokerLine::parse(&self.pin, &mut key).unwrap();
        let line = self.registry.enroll_psk(id).await.unwrap();
        let PskLine { id, psk } = PskLine::parse(&line).unwrap();
        let mut store = NvStore::new(Image(vec![0xff; 8192]), kem, Group::X25519);
        store.provision_seed(&[id.as_str().len() as u8; 32]).unwrap();
        store.provision_pin(&pin.key, pin.successor.as_ref()).unwrap();
        store.provision_psk(&id, psk, level, 1).unwrap();
        store
    }
}

/// A full session and a resumed one, with a message to itself and a re-authentication in each.
fn talk<K: NamedKem, A: FixedAead, P: FixedProfile, B: NamedKem>(realm: &Realm, store: NvStore<Memory>) {
    let mut store = store;
    let mut boot = Boot::new(&mut store, &[7; 32]).unwrap();
    let mut arena = Arena::<4096, 4096, 0>::new();
    let suite = StaticSuite::<K, X25519, A, P>::ID;
    assert!(flight_len(suite, B::ID) <= 4096 && work_len(suite, B::ID, false) <= 4096);
    let mut board = Board {
        link: TcpLink::new(realm.front.local_addr()),
        clock: SystemClock::new(),
        store,
    };
    let suite = StaticSuite::<K, X25519, A, P>::new();
    let mut node = Node::new(suite, FixedKem::<B>::new(), &mut board, &mut boot, &mut arena);
    let topic = format!("sensors/{}/reading", node.settings().id);
    for resumed in [false, true] {
        let mut session = node.connect(&Options::default()).unwrap();
        assert_eq!(session.is_resumed(), resumed);
        session.subscribe(&[(&topic, Qos::AtLeastOnce)]).unwrap();
        while !matches!(session.poll(10_000).unwrap().expect("SUBACK"), Event::Subscribed(_)) {}
        let payload = [b'r'; 150];
        let id = session.publish(&topic, &payload, Qos::AtLeastOnce).unwrap().unwrap();
        let (mut acknowledged, mut received) = (false, false);
        while !(acknowledged && received) {
            match session.poll(10_000).unwrap().expect("PUBACK and PUBLISH") {
                Event::Acknowledged(of, code) => acknowledged = of == id && !code.is_error(),
                Event::Message(message) => received = message.topic == topic && message.payload == payload,
                other => panic!("{other:?}"),
            }
        }
        assert!(session.reauthenticate());
        while session.reauthentications() == 0 {
            assert_eq!(session.poll(100).unwrap(), None);
        }
        session.publish_acknowledged(&topic, b"new keys", 10_000).unwrap();
        session.disconnect().unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn sensors_of_every_firmware_suite_talk_to_the_front() {
    use hybrid_handshake::aead::{AsconAead128, ChaCha20Poly1305};
    type CtruLight = ctru_light::CtruLight<ctru_light::AsconXof>;

    let realm = Realm::start(KemId::MlKem512).await;
    let store = realm.enrolled("s-1011", KemId::MlKem512, Level::V5).await;
    let realm = blocking(realm, |realm| {
        talk::<CtruLight, AsconAead128, P1, kyber::MlKem512>(realm, store);
    })
    .await;
    let store = realm.enrolled("s-1011-311", KemId::MlKem512, Level::V3_1_1).await;
    let realm = blocking(realm, |realm| {
        talk::<CtruLight, AsconAead128, P1, kyber::MlKem512>(realm, store);
    })
    .await;
    let store = realm.enrolled("s-0111", KemId::MlKem512, Level::V5).await;
    let realm = blocking(realm, |realm| {
        talk::<kyber::MlKem512, AsconAead128, P1, kyber::MlKem512>(realm, store);
    })
    .await;
    let store = realm.enrolled("s-1111", KemId::MlKem512, Level::V5).await;
    let realm = blocking(realm, |realm| {
        talk::<saber::LightSaber, AsconAead128, P1, kyber::MlKem512>(realm, store);
    })
    .await;
    realm.front.shutdown().await;

    let realm = Realm::start(KemId::MlKem768).await;
    let store = realm.enrolled("s-0211", KemId::MlKem768, Level::V5).await;
    let realm = blocking(realm, |realm| {
        talk::<kyber::MlKem768, AsconAead128, P1, kyber::MlKem768>(realm, store);
    })
    .await;
    let store = realm.enrolled("s-0222", KemId::MlKem768, Level::V5).await;
    let realm = blocking(realm, |realm| {
        talk::<kyber::MlKem768, ChaCha20Poly1305, P2, kyber::MlKem768>(realm, store);
    })
    .await;
    let store = realm.enrolled("s-1222", KemId::MlKem768, Level::V5).await;
    let realm = blocking(realm, |realm| {
        talk::<ntru_plus::NtruPlus768, ChaCha20Poly1305, P2, kyber::MlKem768>(realm, store);
    })
    .await;
    realm.front.shutdown().await;
}

/// Runs a device beside the front's tasks.
async fn blocking(realm: Realm, device: impl FnOnce(&Realm) + Send + 'static) -> Realm {
    let work = tokio::task::spawn_blocking(move || {
        device(&realm);
        realm
    });
    tokio::time::timeout(Duration::from_secs(120), work)
        .await
        .expect("in time")
        .unwrap()
}
