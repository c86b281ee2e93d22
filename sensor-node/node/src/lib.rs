//! A sensor's MQTT session through HKM1: carriage, handshake and a tiny MQTT client over byte streams. `no_std`, no
//! allocation; time, bytes and storage come from the board.
//!
//! ```text
//! Node::boot       takes this boot's seed from the store        Clock, Link, Nv: what a board brings
//! Node::prepare    makes M1 while idle                          Arena: the one buffer, sized by the suite
//! Node::connect    CONNECT(M1) .. CONNACK(M4)                   NvStore: seed, credential, pins, ticket
//! Session::publish, subscribe, poll, disconnect                 records, tickets and key news underneath
//! ```
//!
//! A failed attempt, whatever its cause, ends in an [`Error`] and a longer [`Node::retry_ms`]; the next attempt sends the
//! same M1 again until one M2 verifies. After two attempts with a ticket that came to nothing the next handshake is a full
//! one. Suite and floor never change.
//!
//! The device holds no ephemeral decapsulation key, and long messages exist once: see [`Arena`].
//!
//! # Example
//!
//! What a board sizes at build time, and what an enrolment puts into its memory.
//!
//! ```
//! use hybrid_handshake::{
//!     identity::{DeviceId, Psk},
//!     mqtt::Level,
//!     suite::{Group, KemId, X25519CtruLightAscon},
//! };
//! use kemqtt_node::{Arena, NvStore, flight_len, store::Image, work_len};
//!
//! const SUITE: hybrid_handshake::suite::SuiteId = X25519CtruLightAscon::ID;
//! const F: usize = flight_len(SUITE, KemId::MlKem512);
//! const W: usize = work_len(SUITE, KemId::MlKem512, false);
//! static ARENA: Arena<F, W, 0> = Arena::new();
//! assert!(size_of::<Arena<F, W, 0>>() < 2000);
//!
//! # #[cfg(feature = "provision")] {
//! let mut store = NvStore::new(Image([0xff; 4096]), KemId::MlKem512, Group::X25519);
//! store.provision_seed(&[1; 32])?; // random, and of this unit only
//! store.provision_psk(&DeviceId::new("pump-7")?, Psk::from_bytes([2; 32]), Level::V5, 60)?;
//! assert_eq!(store.settings()?.interval_s, 60);
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! **Status.** As `hybrid-handshake`: the suite decides how far to trust it.

#![no_std]
#![forbid(unsafe_code)]

mod arena;
mod backoff;
mod clock;
mod divide;
mod error;
mod handshake;
pub mod kat;
pub mod link;
mod node;
pub mod sensor;
mod session;
pub mod store;
mod wire;

pub use arena::{Arena, CONNECT_LEN, PACKET_LIMIT, RECORD_LIMIT, credential_len, flight_len, work_len};
pub use clock::{Clock, Phase};
pub use error::{Error, Outcome};
pub use handshake::Options;
pub use link::Link;
pub use node::{Board, Boot, Node};
pub use session::{Event, Session};
pub use store::{Nv, NvStore};
