//! The broker's half: [`AwaitM1`] reads M1, [`SendM2`] writes M2, [`AwaitM3`] reads M3, [`SendM4`] writes M4.

mod await_m1;
mod await_m3;
mod send_m2;

pub use await_m1::{AwaitM1, Claim};
pub use await_m3::{AwaitM3, SendM4};
pub use send_m2::{Decoy, Enrolled, M2Params, SendM2};

use crate::{
    Error,
    dh::MAX_SHARE_LEN,
    message::{BrokerLimits, Capabilities, ClientLimits},
};

/// What M1 and M2 agreed on.
#[derive(Clone, Copy)]
struct Terms {
    peer: ClientLimits,
    own: BrokerLimits,
    options: Capabilities,
    time: u64,
}

/// e_P, for as long as M1's buffer may be gone already.
struct Share {
    bytes: [u8; MAX_SHARE_LEN],
    len: usize,
}

impl Share {
    fn new(share: &[u8]) -> Result<Self, Error> {
        let mut bytes = [0; MAX_SHARE_LEN];
        bytes
            .get_mut(..share.len())
            .ok_or(Error::Misuse)?
            .copy_from_slice(share);
        Ok(Self {
            bytes,
            len: share.len(),
        })
    }

    fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or_default()
    }
}
