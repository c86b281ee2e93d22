use hybrid_handshake::{
    identity::{KID_LEN, Kid},
    resume::{STORED_LEN, Ticket},
};
use zeroize::Zeroizing;

use super::{CRC_LEN, Nv, NvStore, StoreError, TICKETS_AT};

impl<N: Nv> NvStore<N> {
    /// The newest ticket and the broker key it was made under. None if there is no whole one.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn ticket(&mut self) -> Result<Option<(Kid, Ticket)>, StoreError<N::Error>> {
        let Some((at, _)) = self.newest_ticket()? else {
            return Ok(None);
        };
        let mut kid = [0; KID_LEN];
        self.read(at + GENERATION_LEN, &mut kid)?;
        let mut stored = Zeroizing::new([0; STORED_LEN]);
        self.read(at + GENERATION_LEN + KID_LEN as u16, &mut *stored)?;
        Ok(Ticket::load(&stored).ok().map(|ticket| (kid, ticket)))
    }

    /// Keeps a ticket beside the last one, in place of the one before: two slots share the wear, and a power cut leaves
    /// one.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn write_ticket(&mut self, kid: &Kid, ticket: &Ticket) -> Result<(), StoreError<N::Error>> {
        let (at, generation) = match self.newest_ticket()? {
            Some((SLOT_A, generation)) => (SLOT_B, generation.wrapping_add(1)),
            Some((_, generation)) => (SLOT_A, generation.wrapping_add(1)),
            None => (SLOT_A, 0),
        };
        let mut stored = Zeroizing::new([0; STORED_LEN]);
        // Only a buffer too short could fail, and this one has a fixed length.
        if ticket.store(&mut stored).is_err() {
            return Err(StoreError::Full);
        }
        self.write(at, &generation.to_be_bytes())?;
        self.write(at + GENERATION_LEN, kid)?;
        self.write(at + GENERATION_LEN + KID_LEN as u16, &*stored)?;
        self.seal(at, LEN)
    }

    fn newest_ticket(&mut self) -> Result<Option<(u16, u32)>, StoreError<N::Error>> {
        Ok(
            match (self.ticket_generation(SLOT_A)?, self.ticket_generation(SLOT_B)?) {
                (Some(a), Some(b)) if b.wrapping_sub(a).cast_signed() > 0 => Some((SLOT_B, b)),
                (Some(a), _) => Some((SLOT_A, a)),
                (None, Some(b)) => Some((SLOT_B, b)),
                (None, None) => None,
            },
        )
    }

    fn ticket_generation(&mut self, at: u16) -> Result<Option<u32>, StoreError<N::Error>> {
        if !self.is_whole(at, LEN)? {
            return Ok(None);
        }
        let mut generation = [0; GENERATION_LEN as usize];
        self.read(at, &mut generation)?;
        Ok(Some(u32::from_be_bytes(generation)))
    }
}

const GENERATION_LEN: u16 = 4;
const LEN: u16 = GENERATION_LEN + (KID_LEN + STORED_LEN) as u16;
const SLOT_A: u16 = TICKETS_AT;
const SLOT_B: u16 = TICKETS_AT + 0xe0;
const _: () = assert!(LEN + CRC_LEN <= SLOT_B - SLOT_A);
const _: () = assert!(SLOT_B + LEN + CRC_LEN <= super::AT_BOOT_AT);
