//! A device between its sessions: what it keeps, and when it may try again.

use hybrid_handshake::{
    Established,
    client::{AwaitM2, Credential},
    dh::DhSecret,
    drbg::{self, Drbg},
    identity::{DeviceSecret, PublicKey},
    resume::{Ticket, WayOut},
    suite::{KemScheme, Suite},
};
use kem_core::rand_core::Rng;

use crate::{
    Clock, Error, Link, Nv, NvStore, Phase,
    arena::{Arena, Buffers},
    backoff::Backoff,
    clock::Deadline,
    credential_len,
    divide::divide,
    handshake::Origin,
    session::Reauth,
    store::{DEVICE_FIXED_LEN, Kind, Settings, StoreError},
};

/// What a board brings.
pub struct Board<L, C, N> {
    /// The way to the broker.
    pub link: L,
    /// The time.
    pub clock: C,
    /// The memory that survives a reset.
    pub store: NvStore<N>,
}

/// What a boot has taken from the store.
pub struct Boot {
    pub(crate) settings: Settings,
    pub(crate) drbg: Drbg,
}

impl Boot {
    /// Reads the settings and takes this boot's seed; its successor is stored before it is used. `rng_bytes` come from
    /// whatever generator the board has.
    ///
    /// # Errors
    /// [`StoreError::Missing`] for a device that was not provisioned, [`StoreError::Worn`] if the seed's successor cannot
    /// be kept. Without a boot there is no handshake.
    #[inline(never)]
    pub fn new<N: Nv>(store: &mut NvStore<N>, rng_bytes: &[u8; 32]) -> Result<Self, StoreError<N::Error>> {
        let settings = store.settings()?;
        let drbg = drbg::boot(store, &settings.id, rng_bytes)?;
        Ok(Self { settings, drbg })
    }
}

/// A device between its sessions.
///
/// It stays where it is: what is long lies in it or in the arena, and no step hands it on by value. On an 8-bit device a copy
/// of a state costs RAM in every frame that it passes.
///
/// Its fields are in this order so that on AVR most lie within the reach of one instruction.
#[repr(C)]
pub struct Node<'a, S: Suite, B, L, C, N> {
    /// The broker's clock, as the last M4 told it.
    pub(crate) broker_time: u64,
    pub(crate) told_ms: u32,
    retry_ms: u32,
    pub(crate) board: &'a mut Board<L, C, N>,
    pub(crate) buffers: Buffers<'a>,
    pub(crate) settings: &'a Settings,
    pub(crate) drbg: &'a mut Drbg,
    pub(crate) suite: S,
    pub(crate) broker_kem: B,
    pub(crate) way_out: WayOut,
    pub(crate) backoff: Backoff,
    /// Whether the next attempt is the turn of the older of two pinned keys.
    pub(crate) older_pin: bool,
    pub(crate) notice: Option<StoreError<()>>,
    pub(crate) ignored_successors: u8,
    /// The session, while there is one.
    pub(crate) established: Option<Established<S>>,
    pub(crate) prepared: Option<Prepared<S>>,
    pub(crate) reauth: Reauth<S>,
}

/// An M1 in the flight buffer, ready to go out until one M2 verifies.
#[repr(C)]
pub(crate) struct Prepared<S> {
    pub(crate) burn: Deadline,
    pub(crate) packet_len: usize,
    pub(crate) origin: Origin,
    pub(crate) await_m2: AwaitM2<S>,
}

impl<'a, S: Suite, B: KemScheme, L: Link, C: Clock, N: Nv> Node<'a, S, B, L, C, N> {
    /// A device of this suite, for broker keys of this KEM.
    pub fn new<const F: usize, const W: usize, const K: usize>(
        suite: S,
        broker_kem: B,
        board: &'a mut Board<L, C, N>,
        boot: &'a mut Boot,
        arena: &'a mut Arena<F, W, K>,
    ) -> Self {
        Self {
            suite,
            broker_kem,
            board,
            buffers: arena.parts(),
            settings: &boot.settings,
            drbg: &mut boot.drbg,
            prepared: None,
            established: None,
            reauth: Reauth::new(),
            way_out: WayOut::default(),
            backoff: Backoff::default(),
            retry_ms: 0,
            older_pin: false,
            broker_time: 0,
            told_ms: 0,
            notice: None,
            ignored_successors: 0,
        }
    }

    /// The settings.
    pub const fn settings(&self) -> &Settings {
        self.settings
    }

    /// Link, clock and store.
    pub const fn board(&mut self) -> &mut Board<L, C, N> {
        self.board
    }

    /// Mixes fresh noise into the generator.
    pub fn stir(&mut self, noise: &[u8]) {
        self.drbg.stir(noise);
    }

    /// How long to wait before the next attempt, in milliseconds: 0 after a session, else more with every failure in a
    /// row, at most ten minutes.
    pub const fn retry_ms(&self) -> u32 {
        self.retry_ms
    }

    /// What went wrong with the store without stopping the device, once: it is worn or full, so a ticket or a key is not
    /// kept.
    pub const fn take_notice(&mut self) -> Option<StoreError<()>> {
        self.notice.take()
    }

    /// How many successor fingerprints came that differ from the one kept, since boot. They change nothing, but somebody
    /// should look at the broker.
    pub const fn ignored_successors(&self) -> u8 {
        self.ignored_successors
    }

    #[inline(never)]
    pub(crate) fn failed(&mut self) {
        self.backoff.failed();
        self.retry_ms = self.backoff.wait_ms(self.drbg.next_u32());
    }

    pub(crate) const fn succeeded(&mut self) {
        self.backoff.reset();
        self.retry_ms = 0;
    }

    /// The broker's clock now, as far as the device knows it; 0 before the first M4.
    #[inline(never)]
    pub(crate) fn broker_now(&mut self) -> u64 {
        if self.broker_time == 0 {
            return 0;
        }
        let since_ms = self.board.clock.now_ms().wrapping_sub(self.told_ms);
        self.broker_time.saturating_add(u64::from(divide(since_ms, 1000).0))
    }

    /// Remembers a failure of the store that costs a ticket or a key, not the session.
    pub(crate) fn note<T>(&mut self, result: Result<T, StoreError<N::Error>>) -> Option<T> {
        result
            .map_err(|error| {
                self.notice = Some(match error {
                    StoreError::Nv(_) | StoreError::Worn => StoreError::Worn,
                    StoreError::Missing => StoreError::Missing,
                    StoreError::Full => StoreError::Full,
                });
            })
            .ok()
    }

    pub(crate) fn phase<T>(&mut self, phase: Phase, work: impl FnOnce(&mut Self) -> T) -> T {
        self.board.clock.mark(Some(phase));
        let result = work(self);
        self.board.clock.mark(None);
        result
    }

    /// The ticket of the last session, if it may be tried now.
    #[inline(never)]
    pub(crate) fn usable_ticket(&mut self, kid: &[u8; 8]) -> Option<Ticket> {
        if !self.way_out.allows_ticket() {
            return None;
        }
        let stored = self.board.store.ticket();
        let (of, ticket) = self.note(stored)??;
        let now = self.broker_now();
        (of == *kid && ticket.is_usable(self.suite.id(), now)).then_some(ticket)
    }
}

/// Length of a device key of this suite.
pub(crate) fn key_len(suite: &impl Suite) -> usize {
    credential_len(suite.id(), suite.kem().dk_len())
}

/// The device's own credential. `key` begins with the device key, `x` is a copy of the secret within.
#[inline(never)]
pub(crate) fn own_credential<'c, L, N>(
    suite: &impl Suite,
    settings: &'c Settings,
    key: &'c [u8],
    x: &'c DhSecret,
) -> Result<Credential<'c>, Error<L, N>> {
    let id = &settings.id;
    let Kind::Kem = settings.kind else {
        return Ok(Credential::Psk { id, psk: &settings.psk });
    };
    // An image for pre-shared keys has room for none.
    if !cfg!(feature = "kem-auth") {
        return Err(StoreError::Full.into());
    }
    let (suite, dk_len) = (suite.id(), suite.kem().dk_len());
    let parts = || {
        let (z, rest) = key.split_first_chunk::<32>()?;
        let (_, rest) = rest.split_first_chunk::<32>()?;
        let (share, rest) = rest.split_first_chunk::<32>()?;
        let share = share.get(..suite.group().share_len())?;
        let (ek, rest) = rest.split_at_checked(suite.kem().ek_len())?;
        Some((z, share, ek, rest.get(..dk_len)?))
    };
    let (z, share, ek, dk) = parts().ok_or(StoreError::Full)?;
    Ok(Credential::Kem {
        id,
        secret: DeviceSecret {
            key: PublicKey::new(suite.kem(), suite.group(), ek, share)?,
            dk,
            z,
            x,
        },
    })
}

/// The Diffie-Hellman secret within a device key.
pub(crate) fn device_secret(key: &[u8]) -> DhSecret {
    let x = key
        .get(32..DEVICE_FIXED_LEN)
        .and_then(|rest| rest.first_chunk())
        .copied();
    DhSecret::from_bytes(x.unwrap_or([0; 32]))
}
