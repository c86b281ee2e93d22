//! One engine with a plain listener, and a front before the same or a twin engine.

use std::{collections::HashMap, net::SocketAddr, sync::Arc, thread, time::Duration};

use anyhow::{Context, Result};
use kemqtt_broker::{Backend, backend::RumqttdConfig};
use kemqtt_client::Config;
use kemqtt_tests::{Mosquitto, Realm, free_address};
use rumqttd::{Broker, ConnectionSettings, RouterConfig, ServerSettings};
use tokio::{
    net::TcpStream,
    sync::Mutex,
    time::{Instant, sleep},
};

/// The broker under test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Engine {
    Mosquitto,
    Rumqttd,
}

/// How a client reaches it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// Plain TCP.
    Direct,
    /// Client library, front, plain TCP or local link.
    Secure,
}

/// Running engines of one kind.
pub(crate) struct Site {
    /// The plain listener that both ways share, where there is one.
    mosquitto: Option<Mosquitto>,
    realm: Realm,
    devices: Mutex<HashMap<String, Config>>,
}

impl Site {
    /// Starts the engine and a front.
    pub(crate) async fn start(engine: Engine) -> Result<Arc<Self>> {
        let (mosquitto, backend) = match engine {
            Engine::Mosquitto => {
                let mosquitto = Mosquitto::start().await?;
                let backend = Backend::tcp(mosquitto.address().to_string());
                (Some(mosquitto), backend)
            }
            Engine::Rumqttd => (None, Backend::rumqttd(RumqttdConfig::default())),
        };
        let realm = Realm::start(backend).await?;
        Ok(Arc::new(Self {
            mosquitto,
            realm,
            devices: Mutex::default(),
        }))
    }

    /// Where the front listens.
    pub(crate) fn front(&self) -> SocketAddr {
        self.realm.front.local_addr()
    }

    /// A plain listener. Bare rumqttd gets a new process state for each caller, since some packets kill it.
    pub(crate) async fn plain(&self) -> Result<SocketAddr> {
        match &self.mosquitto {
            Some(mosquitto) => Ok(mosquitto.address()),
            None => bare_rumqttd().await,
        }
    }

    /// Settings of the device of this name, enrolled when first asked for.
    pub(crate) async fn device(&self, id: &str) -> Result<Config> {
        let mut devices = self.devices.lock().await;
        if let Some(config) = devices.get(id) {
            return Ok(config.clone());
        }
        let config = self.realm.device(id).await?;
        devices.insert(id.to_owned(), config.clone());
        Ok(config)
    }
}

/// rumqttd with its own listener for MQTT 5. Its threads end with the test.
async fn bare_rumqttd() -> Result<SocketAddr> {
    let listen = free_address()?;
    let settings = ServerSettings {
        name: "bare".to_owned(),
        listen,
        tls: None,
        next_connection_delay_ms: 1,
        connections: ConnectionSettings {
            connection_timeout_ms: 60_000,
            max_payload_size: 1 << 20,
            max_inflight_count: 100,
            auth: None,
            external_auth: None,
            dynamic_filters: true,
        },
    };
    let config = rumqttd::Config {
        router: RouterConfig {
            max_connections: 100,
            max_outgoing_packet_count: 200,
            max_segment_size: 1 << 20,
            max_segment_count: 10,
            ..RouterConfig::default()
        },
        v5: Some(HashMap::from([("bare".to_owned(), settings)])),
        ..rumqttd::Config::default()
    };
    let mut broker = Broker::new(config);
    // It says nothing that the script does not see.
    thread::spawn(move || drop(broker.start()));
    let end = Instant::now() + Duration::from_secs(30);
    while TcpStream::connect(listen).await.is_err() {
        (Instant::now() < end)
            .then_some(())
            .context("bare rumqttd does not listen")?;
        sleep(Duration::from_millis(20)).await;
    }
    Ok(listen)
}
