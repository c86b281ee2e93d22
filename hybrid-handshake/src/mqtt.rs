//! The MQTT side of HKM1: the codec of the packets that carry it, and of those it carries.

mod boundary;
mod header;
pub mod outer;
mod property;
mod reader;
mod reason;
pub mod topic;
mod writer;

pub use boundary::{Event, Tracker};
pub use header::{FixedHeader, PacketType};
pub use property::{Place, Properties, Property};
pub use reader::Reader;
pub use reason::ReasonCode;
pub use writer::Writer;
pub(crate) use writer::varint_len;
