//! The MQTT side of HKM1: the codec of the packets that carry it, and of those it carries.
//!
//! [`outer`] frames M1 to M4. The rest is the application's MQTT of any level: [`Connect`], [`Connack`], [`Publish`]
//! and so on are what
//! `parse` finds and what `write` writes, over the caller's buffers. [`Tracker`] finds the boundaries in a stream of
//! packets that nobody wants to hold in memory.

mod acknowledgement;
mod boundary;
mod connack;
mod connect;
mod disconnect;
mod header;
mod level;
pub mod outer;
mod property;
mod publish;
mod reader;
mod reason;
mod subscribe;
mod text;
pub mod topic;
mod writer;

pub use acknowledgement::Acknowledgement;
pub use boundary::{Event, Tracker};
pub use connack::Connack;
pub use connect::{Connect, Will};
pub use disconnect::Disconnect;
pub use header::{FixedHeader, PacketType};
pub use level::Level;
pub use property::{Place, Properties, Property};
pub use publish::{Delivery, Publish, Qos};
pub use reader::Reader;
pub use reason::ReasonCode;
pub use subscribe::{Suback, Subscribe};
pub use text::text;
pub use writer::Writer;
pub(crate) use writer::varint_len;

/// A whole PINGREQ packet.
pub const PINGREQ: [u8; 2] = [PacketType::Pingreq.first_byte(), 0];

/// A whole PINGRESP packet.
pub const PINGRESP: [u8; 2] = [PacketType::Pingresp.first_byte(), 0];
