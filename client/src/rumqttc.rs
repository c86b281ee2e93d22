//! rumqttc 0.25 over the secure channel, MQTT 5.0 ([`v5`]) and 3.1.1 ([`v4`]).
//!
//! Two lines change in a program that uses rumqttc: how its options are made, and that the bridge is kept alive.
//!
//! ```no_run
//! use kemqtt_client::{Config, Credential, Pins};
//! use rumqttc::v5::{AsyncClient, mqttbytes::QoS};
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let config = Config::new(Pins::load("broker.pin".as_ref())?, Credential::load("credential.key".as_ref())?);
//! // was: let mut options = MqttOptions::new("sensor-7", "broker.example", 1883);
//! let (mut options, _bridge) = kemqtt_client::rumqttc::v5::options("sensor-7", "broker.example:1884", config).await?;
//! options.set_keep_alive(std::time::Duration::from_secs(30));
//!
//! let (client, mut events) = AsyncClient::new(options, 10);
//! client.subscribe("room/#", QoS::AtLeastOnce).await?;
//! loop {
//!     println!("{:?}", events.poll().await?);
//! }
//! # }
//! ```
//!
//! Reconnecting stays rumqttc's: each new connection runs a new handshake. After failures the bridge lets it wait, with
//! growing pauses of up to ten minutes, before it goes to the broker again.

use crate::bridge::{Bridge, Listener, LocalPort};
use crate::config::Config;
use crate::error::Error;

/// The bridge behind a rumqttc client. Keep it as long as the event loop: dropping it closes the connection.
#[derive(Debug)]
pub struct Attached {
    port: LocalPort,
    bridge: Bridge,
}

impl Attached {
    /// Why the last connection that failed did so, in more words than the CONNACK that rumqttc was given.
    pub fn take_error(&self) -> Option<Error> {
        self.listener().take_error()
    }

    /// Waits until no connection is open. After the event loop was dropped: until all it sent is on its way.
    pub async fn idle(&self) {
        self.listener().idle().await;
    }

    /// Asks the session for a re-authentication, and does not wait for it. Says whether there is one.
    pub fn reauthenticate(&self) -> bool {
        self.bridge.reauthenticate() > 0
    }

    /// The user name to give to `set_credentials` for a login as `user` at the broker.
    ///
    /// Where Unix sockets protect the way to the bridge it is `user` itself. On Windows the bridge knows this program by
    /// a random token in front of the name.
    pub fn user_name(&self, user: &str) -> String {
        self.port.user_name(user)
    }

    fn listener(&self) -> &Listener {
        self.port.listener()
    }

    async fn open(broker: &str, config: Config) -> Result<Self, Error> {
        let bridge = Bridge::new(broker, config)?;
        let port = LocalPort::open(bridge.clone()).await?;
        Ok(Self { port, bridge })
    }
}

/// Largest packet that options made here accept, in bytes; rumqttc's own 10 KiB are soon too few.
pub const MAX_PACKET_LEN: usize = 16 * 1024 * 1024;

/// MQTT 5.0.
pub mod v5 {
    use rumqttc::Transport;
    use rumqttc::v5::MqttOptions;

    use super::{Attached, MAX_PACKET_LEN};
    use crate::config::Config;
    use crate::error::Error;

    /// Options of a client that reaches `broker` (`host:port`) through the secure channel, and the bridge that does it.
    ///
    /// Set everything but address and transport as usual. With [`Attached::user_name`] a login works on every system.
    ///
    /// # Errors
    /// [`Error::Config`] for settings that contradict each other, [`Error::Network`] if no local port can be opened.
    pub async fn options(client_id: &str, broker: &str, config: Config) -> Result<(MqttOptions, Attached), Error> {
        let attached = Attached::open(broker, config).await?;
        let (host, port) = attached.port.address();
        let mut options = MqttOptions::new(client_id, host, port);
        #[cfg(unix)]
        if attached.port.is_unix() {
            options.set_transport(Transport::Unix);
        }
        if let Some(token) = attached.port.token() {
            options.set_credentials(token, "");
        }
        options.set_max_packet_size(Some(MAX_PACKET_LEN as u32));
        Ok((options, attached))
    }
}

/// MQTT 3.1.1.
pub mod v4 {
    use rumqttc::{MqttOptions, Transport};

    use super::{Attached, MAX_PACKET_LEN};
    use crate::config::Config;
    use crate::error::Error;

    /// As [`super::v5::options`]. The time limit for a connection is a setting of the event loop here
    /// (`EventLoop::set_network_options`).
    ///
    /// # Errors
    /// [`Error::Config`] for settings that contradict each other, [`Error::Network`] if no local port can be opened.
    pub async fn options(client_id: &str, broker: &str, config: Config) -> Result<(MqttOptions, Attached), Error> {
        let attached = Attached::open(broker, config).await?;
        let (host, port) = attached.port.address();
        let mut options = MqttOptions::new(client_id, host, port);
        #[cfg(unix)]
        if attached.port.is_unix() {
            options.set_transport(Transport::Unix);
        }
        if let Some(token) = attached.port.token() {
            options.set_credentials(token, "");
        }
        options.set_max_packet_size(MAX_PACKET_LEN, MAX_PACKET_LEN);
        Ok((options, attached))
    }
}
