//! The MQTT side of HKM1: the codec of the packets that carry it, and of those it carries.

mod reason;

pub use reason::ReasonCode;
