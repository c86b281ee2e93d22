//! What the targets share: worlds in which handshakes run, and how an input says what to bend in them.

#[allow(dead_code)]
#[path = "../../hybrid-handshake/tests/scripted/straight.rs"]
pub mod straight;
#[allow(dead_code)]
#[path = "../../hybrid-handshake/tests/scripted/wire.rs"]
pub mod wire;

mod input;
mod worlds;

pub use input::{How, Input};
pub use worlds::{forge, honest, is_a_secret_share, is_honest_m1, world};
