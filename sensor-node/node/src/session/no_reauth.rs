//! What stands in for re-authentication in an image without it: the broker is not told that it can be asked for.

use core::marker::PhantomData;

use hybrid_handshake::{Error as Handshake, control, suite::Suite};

use super::{Session, control::Turn};

pub(crate) struct Reauth<S>(PhantomData<S>);

impl<S: Suite> Reauth<S> {
    pub(crate) const fn new() -> Self {
        Self(PhantomData)
    }

    #[expect(clippy::unused_self, reason = "has nothing to count")]
    pub(super) const fn count(&self) {}

    /// The options have none, so the reader of control messages refuses it before.
    #[expect(clippy::unused_self, reason = "has no state")]
    pub(super) fn step<C>(&self, _: &control::Reauth<'_>, _: Turn<'_, S, C>, _: &mut [u8]) -> Result<usize, Handshake> {
        Err(Handshake::UnexpectedPacket)
    }
}

impl<S: Suite, B, L: crate::Link, C, N> Session<'_, '_, S, B, L, C, N> {
    #[expect(clippy::unused_self, reason = "there is nothing to renew")]
    pub(super) const fn renew(&self) -> Result<(), Handshake> {
        Ok(())
    }
}

pub(super) const fn places(flight: &mut [u8]) -> (&[u8], &mut [u8]) {
    (flight, &mut [])
}
