//! Runs the sensor firmware of this tree in simulators and measures it: cycles and stack per mark, UART bytes, images of the
//! non-volatile store.
//!
//! * [`avr`]: an ATmega in simavr, cycle-exact for code and data on the chip.
//! * [`m4`]: a Cortex-M4 in m4sim, our cycle model.
//! * [`machine`]: what both can do.
//! * [`meter`]: what a region between two marks cost.
//! * [`link`] and [`node`]: a node with its UART joined to a broker by TCP.
//! * [`elf`]: flash and RAM that an image takes.
//!
//! simavr is GPL-3, and so is this crate: a tool beside the product, which nothing else links.
//!
//! ```no_run
//! use kemqtt_sim::avr::{Avr, Setup, Stop};
//!
//! let mut node = Avr::load("firmware.elf".as_ref(), &Setup::default())?;
//! assert_eq!(node.run(1_000_000), Stop::Exit(0));
//! for mark in node.marks() {
//!     println!("{}: {} cycles, {} bytes of stack", mark.id, mark.cycles, mark.stack);
//! }
//! # anyhow::Ok(())
//! ```

pub mod avr;
pub mod elf;
pub mod link;
pub mod m4;
pub mod machine;
pub mod meter;
pub mod node;
