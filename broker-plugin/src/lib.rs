//! The broker side of KEMQTT: devices and keys, configuration, and the front that carries MQTT through the
//! hybrid post-quantum handshake HKM1.
//!
//! A [`Front`] listens, runs the handshake, and passes each client's MQTT to a [`Backend`]: the embedded rumqttd, or any
//! broker behind TCP or a Unix socket. A [`Registry`] knows the devices and holds the keys.
//!
//! ```
//! use hybrid_handshake::suite::{Group, KemId};
//! use kemqtt_broker::{Backend, Front, Registry, backend::RumqttdConfig};
//!
//! # #[tokio::main]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let registry = Registry::in_memory().await?;
//! let pin = registry.generate_broker_key(KemId::MlKem768, Group::X25519).await?;
//! let device = registry.enroll_psk("pump-17").await?;
//! assert!(pin.starts_with("hkm1-broker ") && device.starts_with("hkm1-psk pump-17 "));
//!
//! let front = Front::builder()
//!     .listen("127.0.0.1:0")
//!     .backend(Backend::rumqttd(RumqttdConfig::default()))
//!     .registry(registry)
//!     .observer(|event| println!("{event}"))
//!     .build()
//!     .await?;
//! println!("listening on {}", front.local_addr());
//! front.shutdown().await;
//! # Ok(())
//! # }
//! ```
//!
//! Status: HKM1 is the protocol of this repository and no standard. What is and is not there yet stands in the README.

#![forbid(unsafe_code)]

mod admin;
mod admission;
pub mod backend;
mod clock;
pub mod config;
mod front;
mod guard;
pub mod keys;
mod limits;
pub mod metrics;
pub mod policy;
mod refusal;
pub mod registry;
pub mod rotation;
mod tickets;
pub mod wire;

pub use admin::AdminError;
pub use backend::Backend;
pub use config::{Config, ConfigError};
pub use front::{BuildError, Front, FrontBuilder};
pub use limits::Limits;
pub use metrics::Metrics;
pub use registry::{Registry, RegistryError};
