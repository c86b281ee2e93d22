//! A front with a registry of its own, and clients of it.

use std::{sync::Arc, time::Duration};

use anyhow::{Context, Result, bail, ensure};
use hybrid_handshake::{
    identity::{DeviceLine, MAX_KEY_LEN},
    suite::{Group, KemId},
};
use kemqtt_broker::{
    Backend, Front, Registry,
    registry::{Credential as Enrolled, Enrolment},
};
use kemqtt_client::{
    Config, Credential, DeviceId,
    Direction::FromBroker,
    Observer, Pins, SuiteId, WireEvent,
    rumqttc::{Attached, v5::options},
};
use rumqttc::v5::{
    AsyncClient, ConnectionError, Event, EventLoop, Incoming, MqttOptions,
    mqttbytes::{
        QoS,
        v5::{ConnectReturnCode, Publish},
    },
};
use tokio::time::{Instant, timeout};

use crate::sidecar::KeyFiles;

/// A running front with one broker key.
pub struct Realm {
    /// The front itself.
    pub front: Front,
    /// Its devices.
    pub registry: Registry,
    pin: String,
    pins: Pins,
}

impl Realm {
    /// Starts a front with an ML-KEM-768 + X25519 key before `backend`; anonymous clients are allowed.
    pub async fn start(backend: Backend) -> Result<Self> {
        Self::start_with(backend, KemId::MlKem768, Group::X25519, true).await
    }

    /// Starts a front with a key of this kind.
    pub async fn start_with(backend: Backend, kem: KemId, group: Group, allow_anonymous: bool) -> Result<Self> {
        let registry = Registry::in_memory().await?;
        let pin = registry.generate_broker_key(kem, group).await?;
        let front = Front::builder()
            .backend(backend)
            .registry(registry.clone())
            .allow_anonymous(allow_anonymous)
            .build()
            .await?;
        let pins = Pins::from_text(&pin)?;
        Ok(Self {
            front,
            registry,
            pin,
            pins,
        })
    }

    /// Where the front listens.
    pub fn address(&self) -> String {
        self.front.local_addr().to_string()
    }

    /// Settings of an anonymous client.
    pub fn anonymous(&self) -> Config {
        Config::new(self.pins.clone(), Credential::Anonymous)
    }

    /// Enrols a device with a pre-shared key and returns its settings.
    pub async fn device(&self, id: &str) -> Result<Config> {
        let psk = self.registry.enroll_psk(id).await?;
        Ok(Config::new(self.pins.clone(), Credential::from_text(&psk)?))
    }

    /// Enrols a device with a pre-shared key and writes the files that the command-line client needs.
    pub async fn psk_files(&self, id: &str) -> Result<KeyFiles> {
        let files = KeyFiles {
            folder: tempfile::tempdir()?,
        };
        let psk = self.registry.enroll_psk(id).await?;
        std::fs::write(files.pin(), &self.pin)?;
        Credential::from_text(&psk)?.create(&files.credential())?;
        Ok(files)
    }

    /// Enrols a device with a static key for `suite` and returns its settings.
    pub async fn device_with_key(&self, id: &str, suite: SuiteId) -> Result<Config> {
        let id = DeviceId::new(id)?;
        let credential = Credential::generate_key(id, suite)?;
        let line = credential.public_line().context("a key pair")?;
        let mut buffer = [0; MAX_KEY_LEN];
        let key = DeviceLine::parse(&line, &mut buffer)?.key;
        let mut public = vec![0; key.encoded_len()];
        key.write(&mut public)?;
        let new = Enrolment {
            id: id.as_str(),
            credential: &Enrolled::Kem(public),
            client_ids: &[],
            lowest_suite: None,
            topics: None,
            now: 0,
        };
        self.registry.enroll(new).await?;
        Ok(Config::new(self.pins.clone(), credential).suite(suite))
    }

    /// Connects an MQTT 5 client through the secure channel.
    pub async fn connect(&self, id: &str, config: Config) -> Result<Client> {
        Client::connect(id, &self.address(), config, |_| {}).await
    }
}

/// A rumqttc client of MQTT 5 behind a bridge.
pub struct Client {
    /// Sends.
    pub handle: AsyncClient,
    events: EventLoop,
    bridge: Attached,
}

impl Client {
    /// Connects to `address` and waits for the CONNACK.
    pub async fn connect(id: &str, address: &str, config: Config, set: impl FnOnce(&mut MqttOptions)) -> Result<Self> {
        let (mut options, bridge) = options(id, address, config).await?;
        options.set_keep_alive(Duration::from_secs(30));
        set(&mut options);
        let (handle, events) = AsyncClient::new(options, 64);
        let mut client = Self { handle, events, bridge };
        client.until(|event| matches!(event, Incoming::ConnAck(_))).await?;
        Ok(client)
    }

    /// Connects and runs the event loop until the session's ticket is kept.
    pub async fn with_ticket(id: &str, address: &str, config: Config) -> Result<Self> {
        let log = Log::new();
        let mut client = Self::connect(id, address, config.observer(log.clone()), |_| {}).await?;
        // The first control message of a session; a registry may take its time for the key that seals it.
        let control = |event: &WireEvent| {
            matches!(
                event,
                WireEvent::Record {
                    direction: FromBroker,
                    control: true,
                    ..
                }
            )
        };
        let end = Instant::now() + WAIT;
        while !log.events().iter().any(control) {
            ensure!(Instant::now() < end, "no ticket");
            client.run_for(Duration::from_millis(20)).await?;
        }
        // What is behind it is read when it has been dealt with.
        client.handle.subscribe("ticket", QoS::AtMostOnce).await?;
        client.until(|event| matches!(event, Incoming::SubAck(_))).await?;
        Ok(client)
    }

    /// The reason code that the application was given for a connection that must not come about.
    ///
    /// # Panics
    /// If it did, or failed without a code.
    pub fn refusal(attempt: Result<Self>) -> ConnectReturnCode {
        let error = attempt.err().expect("must be refused");
        match error.downcast_ref::<ConnectionError>() {
            Some(ConnectionError::ConnectionRefused(code)) => *code,
            _ => panic!("not a refusal: {error:?}"),
        }
    }

    /// Asks for a re-authentication; says whether there is a session.
    pub fn reauthenticate(&self) -> bool {
        self.bridge.reauthenticate()
    }

    /// The next message.
    pub async fn message(&mut self) -> Result<Publish> {
        let mut message = None;
        self.until(|event| match event {
            Incoming::Publish(publish) => {
                message = Some(publish.clone());
                true
            }
            _ => false,
        })
        .await?;
        message.context("no message")
    }

    /// Runs the event loop until an incoming packet satisfies `done`.
    pub async fn until(&mut self, mut done: impl FnMut(&Incoming) -> bool) -> Result<()> {
        loop {
            match timeout(WAIT, self.events.poll()).await {
                Ok(Ok(Event::Incoming(event))) if done(&event) => return Ok(()),
                Ok(Ok(_)) => {}
                Ok(Err(error)) => return Err(error.into()),
                Err(_) => bail!("waited {WAIT:?} for a packet"),
            }
        }
    }

    /// Runs the event loop until the connection is over and everything has gone out.
    pub async fn end(mut self) {
        while let Ok(Ok(_)) = timeout(WAIT, self.events.poll()).await {}
        drop(self.events);
        let _ = timeout(WAIT, self.bridge.idle()).await;
    }

    /// Runs the event loop for a moment, so that what was asked for goes out.
    pub async fn run_for(&mut self, time: Duration) -> Result<()> {
        let end = Instant::now() + time;
        while let Ok(event) = tokio::time::timeout_at(end, self.events.poll()).await {
            event?;
        }
        Ok(())
    }
}

/// Keeps every event, for a test to look at.
pub struct Log<T>(std::sync::Mutex<Vec<T>>);

impl<T: Clone> Log<T> {
    /// An empty log.
    pub fn new() -> Arc<Self> {
        Arc::new(Self(std::sync::Mutex::default()))
    }

    /// What was logged so far.
    pub fn events(&self) -> Vec<T> {
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone()
    }
}

impl Observer for Log<WireEvent> {
    fn observe(&self, event: &WireEvent) {
        self.0
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
            .push(*event);
    }
}

/// Generous: the machines that run these tests are small and busy.
const WAIT: Duration = Duration::from_secs(30);
