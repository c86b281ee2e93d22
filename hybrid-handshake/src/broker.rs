//! The broker's half: [`AwaitM1`] reads M1, [`SendM2`] writes M2, [`AwaitM3`] reads M3, [`SendM4`] writes M4.

mod await_m1;
mod await_m3;
mod send_m2;

pub use await_m1::{AwaitM1, Claim};
pub use await_m3::{AwaitM3, SendM4};
pub use send_m2::{Decoy, Enrolled, M2Params, SendM2};

use crate::message::{BrokerLimits, Capabilities, ClientLimits};

/// What M1 and M2 agreed on.
#[derive(Clone, Copy)]
struct Terms {
    peer: ClientLimits,
    own: BrokerLimits,
    options: Capabilities,
    time: u64,
}
