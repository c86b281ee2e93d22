//! HKM1: a hybrid post-quantum handshake and record layer carried in MQTT 5.0 packets.

#![no_std]
#![forbid(unsafe_code)]

pub mod aead;
mod error;
pub mod mqtt;

pub use error::{Error, Malformed};
