//! The broker side of KEMQTT: devices and keys, configuration, and the front that carries MQTT through the
//! hybrid post-quantum handshake HKM1.

pub mod config;
mod limits;
pub mod policy;
pub mod registry;

pub use config::{Config, ConfigError};
pub use limits::Limits;
pub use registry::{Registry, RegistryError};
