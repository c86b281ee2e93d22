//! MQTT over HKM1, a hybrid post-quantum secure channel, for desktops and gateways.
//!
//! * [`SecureStream`] runs the handshake over any byte stream and is a byte stream itself.
//! * [`Bridge`] carries any MQTT client (3.1, 3.1.1 or 5.0) through it, in this process or as a sidecar.
//! * `rumqttc` (feature `rumqttc`) turns two changed lines of a rumqttc program into a secure connection.
//!
//! The broker is known by its pinned key, never by a certificate. A connection either proves that key or fails: there is
//! no weaker retry, and nothing of the application, not even its CONNECT, is sent in clear.
//!
//! ```no_run
//! use kemqtt_client::{Config, Credential, Pins, SecureStream};
//! use tokio::net::TcpStream;
//!
//! # async fn example(connect: &[u8]) -> Result<(), Box<dyn std::error::Error>> {
//! let config = Config::new(Pins::load("broker.pin".as_ref())?, Credential::load("credential.key".as_ref())?);
//! let tcp = TcpStream::connect("broker.example:1884").await?;
//! let (stream, connack) = SecureStream::connect(&config, tcp, connect).await?;
//! # Ok(())
//! # }
//! ```
//!
//! Status: the default suite is standard cryptography (X25519, ML-KEM-768, ChaCha20-Poly1305) in a protocol of its own
//! that has seen no outside audit. Suites with other KEMs are for research.

#![forbid(unsafe_code)]

mod backoff;
mod bridge;
mod config;
mod error;
#[cfg(feature = "responder")]
pub mod responder;
#[cfg(feature = "rumqttc")]
pub mod rumqttc;
#[cfg(feature = "rumqttc-next")]
pub mod rumqttc_next;
mod store;
mod stream;
mod wire;

pub use hybrid_handshake::{
    identity::DeviceId,
    mqtt::ReasonCode,
    suite::{SuiteId, UnknownSuite},
};

pub use self::bridge::{Bridge, Endpoint, Listener, LocalPort};
pub use self::config::{Config, Reauthenticate, Timeouts};
pub use self::error::{Attack, Blame, ConfigError, Error, FileProblem, Step};
pub use self::store::{Credential, DeviceKey, Pins, Tickets};
pub use self::stream::SecureStream;
pub use self::stream::reauth::Reauthentication;
pub use self::wire::{Direction, Message, Observer, Packet, WireEvent};
