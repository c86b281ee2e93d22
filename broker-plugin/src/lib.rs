//! The broker side of KEMQTT: devices and keys, configuration, and the front that carries MQTT through the
//! hybrid post-quantum handshake HKM1.

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
mod tickets;
pub mod wire;

pub use admin::AdminError;
pub use backend::Backend;
pub use config::{Config, ConfigError};
pub use front::{BuildError, Front, FrontBuilder};
pub use limits::Limits;
pub use metrics::Metrics;
pub use registry::{Registry, RegistryError};
