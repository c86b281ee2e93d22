//! HKM1: a hybrid post-quantum handshake and record layer carried in MQTT 5.0 packets.

#![no_std]
#![forbid(unsafe_code)]

pub mod aead;
pub mod broker;
pub mod client;
pub mod control;
pub mod dh;
pub mod drbg;
mod error;
mod established;
pub mod identity;
pub mod message;
pub mod mqtt;
pub mod record;
pub mod resume;
pub mod schedule;
pub mod suite;

pub use error::{Error, Malformed};
pub use established::Established;
