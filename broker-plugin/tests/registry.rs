//! What `init`, `enroll`, `list` and `revoke` keep, and how secrets lie at rest.

use std::{fs, os::unix::fs::PermissionsExt as _, path::PathBuf};

use kemqtt_broker::{
    policy::TopicRules,
    registry::{Credential, Enrolment, KeyState, Registry, RegistryError, SealError, SealKey, StoredKey},
};
use tempfile::TempDir;

struct Place {
    dir: TempDir,
}

impl Place {
    fn new() -> Self {
        Self {
            dir: tempfile::tempdir().unwrap(),
        }
    }

    fn key(&self) -> PathBuf {
        self.dir.path().join("seal.key")
    }

    fn db(&self) -> PathBuf {
        self.dir.path().join("registry.db")
    }

    async fn create(&self) -> Registry {
        Registry::create(&self.db(), SealKey::create(&self.key()).unwrap())
            .await
            .unwrap()
    }

    async fn reopen(&self) -> Result<Registry, RegistryError> {
        Registry::open(&self.db(), SealKey::load(&self.key())?).await
    }
}

fn psk(byte: u8) -> Credential {
    Credential::Psk([byte; 32].into())
}

fn enrolment<'a>(id: &'a str, credential: &'a Credential) -> Enrolment<'a> {
    Enrolment {
        id,
        credential,
        client_ids: &[],
        lowest_suite: None,
        topics: None,
        now: 1_700_000_000,
    }
}

#[tokio::test]
async fn a_device_comes_back_as_it_was_enrolled() {
    let place = Place::new();
    let registry = place.create().await;
    let client_ids = ["pump".to_owned(), "valve".to_owned()];
    let credential = psk(7);
    let new = Enrolment {
        client_ids: &client_ids,
        lowest_suite: Some(0x0222),
        ..enrolment("s1", &credential)
    };
    registry.enroll(new).await.unwrap();
    registry.close().await;

    let device = place
        .reopen()
        .await
        .unwrap()
        .device("s1")
        .await
        .unwrap()
        .expect("enrolled");
    assert!(matches!(&device.credential, Credential::Psk(psk) if **psk == [7; 32]));
    assert_eq!(
        (device.id.as_str(), device.generation, device.revoked),
        ("s1", 1, false)
    );
    assert_eq!(device.client_ids, client_ids);
    assert_eq!(
        (device.lowest_suite, device.enrolled, device.last_seen),
        (Some(0x0222), 1_700_000_000, None)
    );
    assert!(device.modes.allow(2) && device.modes.allow(4));
    assert!(!device.modes.allow(1) && !device.modes.allow(3));
}

#[tokio::test]
async fn ids_and_credentials_belong_to_one_device_each() {
    let registry = Registry::in_memory().await.unwrap();
    registry.enroll(enrolment("s1", &psk(7))).await.unwrap();
    let again = registry.enroll(enrolment("s1", &psk(8))).await;
    assert!(matches!(again, Err(RegistryError::DuplicateId(id)) if id == "s1"));
    let shared = registry.enroll(enrolment("s2", &psk(7))).await;
    assert!(matches!(shared, Err(RegistryError::SharedCredential(owner)) if owner == "s1"));
    assert_eq!(registry.devices().await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_static_key_comes_back_with_its_own_mode() {
    let registry = Registry::in_memory().await.unwrap();
    let key = Credential::Kem(vec![0x10, 1, 9, 9, 9]);
    registry.enroll(enrolment("s1", &key)).await.unwrap();
    let shared = registry.enroll(enrolment("s2", &key)).await;
    assert!(matches!(shared, Err(RegistryError::SharedCredential(owner)) if owner == "s1"));
    let device = registry.device("s1").await.unwrap().expect("enrolled");
    assert!(matches!(&device.credential, Credential::Kem(key) if key[..] == [0x10, 1, 9, 9, 9]));
    assert!(device.modes.allow(1) && device.modes.allow(4) && !device.modes.allow(2) && !device.modes.allow(3));
}

#[tokio::test]
async fn revoke_marks_the_device_and_keeps_its_credential() {
    let registry = Registry::in_memory().await.unwrap();
    registry.enroll(enrolment("s1", &psk(7))).await.unwrap();
    assert!(registry.revoked().await.unwrap().is_empty());
    registry.revoke("s1").await.unwrap();
    assert!(registry.device("s1").await.unwrap().expect("still there").revoked);
    assert_eq!(registry.revoked().await.unwrap(), ["s1"]);
    assert!(matches!(registry.revoke("s2").await, Err(RegistryError::UnknownDevice(id)) if id == "s2"));
}

#[tokio::test]
async fn a_revoked_device_comes_back_with_another_credential_and_generation() {
    let registry = Registry::in_memory().await.unwrap();
    registry.enroll(enrolment("s1", &psk(7))).await.unwrap();
    registry.enroll(enrolment("s2", &psk(8))).await.unwrap();
    assert_eq!(registry.device("s1").await.unwrap().expect("enrolled").generation, 1);
    let again = registry.enroll(enrolment("s1", &psk(9))).await;
    assert!(
        matches!(again, Err(RegistryError::DuplicateId(id)) if id == "s1"),
        "not while it is active"
    );
    registry.revoke("s1").await.unwrap();
    let shared = registry.enroll(enrolment("s1", &psk(8))).await;
    assert!(matches!(shared, Err(RegistryError::SharedCredential(owner)) if owner == "s2"));
    registry.enroll(enrolment("s1", &psk(9))).await.unwrap();
    let device = registry.device("s1").await.unwrap().expect("enrolled");
    assert!(matches!(&device.credential, Credential::Psk(psk) if **psk == [9; 32]));
    assert_eq!((device.generation, device.revoked), (2, false));
    assert_eq!(registry.device("s2").await.unwrap().expect("enrolled").generation, 1);
}

#[tokio::test]
async fn client_ids_of_devices_are_reserved() {
    let registry = Registry::in_memory().await.unwrap();
    let client_ids = ["pump".to_owned(), "valve".to_owned()];
    registry
        .enroll(Enrolment {
            client_ids: &client_ids,
            ..enrolment("s1", &psk(7))
        })
        .await
        .unwrap();
    registry.enroll(enrolment("s2", &psk(8))).await.unwrap();
    for reserved in ["s1", "s2", "pump", "valve"] {
        assert!(registry.is_reserved_client_id(reserved).await.unwrap(), "{reserved}");
    }
    for free in ["s", "s11", "pum", "pump\nvalve2", ""] {
        assert!(!registry.is_reserved_client_id(free).await.unwrap(), "{free}");
    }
}

#[tokio::test]
async fn topic_rules_come_back_as_they_were_given() {
    let place = Place::new();
    let registry = place.create().await;
    let list = |filters: &[&str]| Some(filters.iter().map(|&filter| filter.to_owned()).collect());
    let own = TopicRules {
        publish: list(&["sensors/{id}/#", "\u{e9} /+"]),
        subscribe: list(&[]),
    };
    let credential = psk(7);
    let new = |topics| Enrolment {
        topics,
        ..enrolment("s1", &credential)
    };
    let broken = TopicRules {
        publish: list(&["a", "a+"]),
        subscribe: None,
    };
    let refused = registry.enroll(new(Some(&broken))).await;
    assert!(matches!(refused, Err(RegistryError::TopicFilter(filter)) if filter == "a+"));
    registry.enroll(new(Some(&own))).await.unwrap();
    registry.close().await;

    let registry = place.reopen().await.unwrap();
    let stored = async || {
        let device = registry.device("s1").await.unwrap().expect("enrolled");
        assert_eq!(registry.overview(9).await.unwrap()[0].topics, device.topics);
        (device.topics, device.rules)
    };
    assert_eq!(stored().await, (own.clone(), 0));
    let changed = TopicRules {
        publish: None,
        subscribe: list(&["commands/#"]),
    };
    registry.set_topics("s1", &changed).await.unwrap();
    assert_eq!(stored().await, (changed, 1));
    registry.set_topics("s1", &TopicRules::default()).await.unwrap();
    assert_eq!(stored().await, (TopicRules::default(), 2));
    assert!(matches!(
        registry.set_topics("s2", &own).await,
        Err(RegistryError::UnknownDevice(id)) if id == "s2"
    ));
    // Who comes back has what it is given then.
    registry.set_topics("s1", &own).await.unwrap();
    registry.revoke("s1").await.unwrap();
    registry.enroll(new(None)).await.unwrap();
    assert_eq!(stored().await, (TopicRules::default(), 3));
}

/// A file of a program that knew no topic rules.
#[tokio::test]
async fn tables_without_topic_rules_are_brought_up_to_date() {
    let place = Place::new();
    fs::write(place.db(), "").unwrap();
    sqlx::any::install_default_drivers();
    let url = format!("sqlite://{}", place.db().display());
    let old = sqlx::AnyPool::connect(&url).await.unwrap();
    let mut migrations = sqlx::migrate!("migrations/sqlite");
    migrations.migrations.to_mut().truncate(1);
    migrations.run(&old).await.unwrap();
    let device =
        "INSERT INTO devices (id, kind, sealed, fingerprint, modes, enrolled) VALUES ('s1', 2, x'', x'', 20, 7)";
    sqlx::query(device).execute(&old).await.unwrap();
    old.close().await;

    let seal = SealKey::create(&place.key()).unwrap();
    let registry = Registry::open(&place.db(), seal).await.unwrap();
    assert_eq!(registry.overview(9).await.unwrap()[0].topics, TopicRules::default());
    let own = TopicRules {
        publish: Some(vec!["a".to_owned()]),
        subscribe: None,
    };
    registry.set_topics("s1", &own).await.unwrap();
    assert_eq!(registry.overview(9).await.unwrap()[0].topics, own);
}

#[tokio::test]
async fn last_seen_is_noted() {
    let registry = Registry::in_memory().await.unwrap();
    registry.enroll(enrolment("s1", &psk(7))).await.unwrap();
    registry.seen(&[("s1".to_owned(), 1_700_000_001)].into()).await.unwrap();
    assert_eq!(
        registry.device("s1").await.unwrap().unwrap().last_seen,
        Some(1_700_000_001)
    );
}

#[tokio::test]
async fn broker_keys_and_the_decoy_secret_survive_a_restart() {
    let place = Place::new();
    let registry = place.create().await;
    let key = |kid, state| StoredKey {
        kid: [kid; 8],
        public: vec![2, 1, kid],
        secret: vec![kid; 64].into(),
        state,
        successor: None,
    };
    registry.add_broker_key(&key(1, KeyState::Current), 10).await.unwrap();
    registry.add_broker_key(&key(2, KeyState::Retiring), 5).await.unwrap();
    let second = registry.add_broker_key(&key(3, KeyState::Current), 11).await;
    assert!(
        matches!(second, Err(RegistryError::DuplicateKey)),
        "one current key per KEM and group"
    );
    let decoy = registry.decoy_secret().await.unwrap();
    registry.close().await;

    let registry = place.reopen().await.unwrap();
    let keys = registry.broker_keys().await.unwrap();
    assert_eq!(
        keys.iter().map(|k| (k.kid[0], k.state)).collect::<Vec<_>>(),
        [(2, KeyState::Retiring), (1, KeyState::Current)]
    );
    assert_eq!(
        (keys[1].public.as_slice(), keys[1].secret.as_slice()),
        (&[2, 1, 1][..], &[1; 64][..])
    );
    assert_eq!(*registry.decoy_secret().await.unwrap(), *decoy);
}

#[tokio::test]
async fn secrets_lie_sealed_and_only_their_key_file_opens_them() {
    let place = Place::new();
    let registry = place.create().await;
    let psk: [u8; 32] = std::array::from_fn(|i| 0xa0 + i as u8);
    registry
        .enroll(enrolment("s1", &Credential::Psk(psk.into())))
        .await
        .unwrap();
    registry.close().await;
    let bytes = fs::read(place.db()).unwrap();
    assert!(
        bytes.windows(2).any(|w| w == b"s1"),
        "the id is there in clear, so the file was read"
    );
    assert!(!bytes.windows(32).any(|w| w == psk), "the psk must not be");

    fs::write(place.key(), "00".repeat(32)).unwrap();
    let other = place.reopen().await;
    assert!(
        matches!(other, Err(RegistryError::Seal(SealError::Sealed))),
        "{other:?}"
    );
}

#[tokio::test]
async fn files_are_private_and_open_key_files_are_refused() {
    let place = Place::new();
    place.create().await.close().await;
    for file in [place.key(), place.db()] {
        assert_eq!(
            fs::metadata(&file).unwrap().permissions().mode() & 0o777,
            0o600,
            "{}",
            file.display()
        );
    }
    fs::set_permissions(place.key(), fs::Permissions::from_mode(0o640)).unwrap();
    let open = place.reopen().await;
    let Err(RegistryError::Seal(error @ SealError::Permissions { mode: 0o640, .. })) = open else {
        panic!("{open:?}");
    };
    assert!(error.to_string().contains("chmod 600"), "{error}");
}

#[tokio::test]
async fn init_never_overwrites_and_open_never_creates() {
    let place = Place::new();
    assert!(matches!(
        Registry::open(&place.db(), SealKey::generate().unwrap()).await,
        Err(RegistryError::Missing(_))
    ));
    place.create().await.close().await;
    assert!(SealKey::create(&place.key()).is_err());
    let again = Registry::create(&place.db(), SealKey::load(&place.key()).unwrap()).await;
    assert!(matches!(again, Err(RegistryError::Exists(_))));
    fs::write(place.key(), "not hexadecimal").unwrap();
    assert!(matches!(SealKey::load(&place.key()), Err(SealError::Format(_))));
}

#[tokio::test]
async fn ticket_keys_change_once_a_day_and_two_are_kept() {
    const DAY: u64 = 24 * 60 * 60;
    let registry = Registry::in_memory().await.unwrap();
    let at = async |now| {
        let (current, previous) = registry.ticket_keys(now).await.unwrap();
        (*current.expose(), previous.map(|key| *key.expose()))
    };
    let start = 1_700_000_000;
    let (first, none) = at(start).await;
    assert_eq!(none, None);
    assert_eq!(at(start + DAY - 1).await, (first, None));
    let (second, previous) = at(start + DAY).await;
    assert_eq!(previous, Some(first));
    assert_ne!(second, first);
    assert_eq!(
        at(start + DAY + 1).await,
        (second, Some(first)),
        "another gateway finds the same"
    );
    let (third, previous) = at(start + 2 * DAY).await;
    assert_eq!(previous, Some(second));
    assert_ne!(third, first);
}
