use hybrid_handshake::identity::Fingerprint;

use super::{CRC_LEN, Nv, NvStore, PINS_AT, StoreError};

/// Where a pinned broker key is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PinSlot {
    /// The first slot.
    A,
    /// The second slot.
    B,
}

impl PinSlot {
    /// The other one.
    pub const fn other(self) -> Self {
        match self {
            Self::A => Self::B,
            Self::B => Self::A,
        }
    }
}

impl<N: Nv> NvStore<N> {
    /// The slots that hold a key: the pinned one, and during a rotation the next one before it.
    ///
    /// # Errors
    /// [`StoreError::Missing`] if there is none.
    pub fn pins(&mut self) -> Result<(PinSlot, Option<PinSlot>), StoreError<N::Error>> {
        Ok(
            match (self.pin_generation(PinSlot::A)?, self.pin_generation(PinSlot::B)?) {
                (Some(a), Some(b)) if b.wrapping_sub(a).cast_signed() > 0 => (PinSlot::B, Some(PinSlot::A)),
                (Some(_), Some(_)) => (PinSlot::A, Some(PinSlot::B)),
                (Some(_), None) => (PinSlot::A, None),
                (None, Some(_)) => (PinSlot::B, None),
                (None, None) => return Err(StoreError::Missing),
            },
        )
    }

    /// Reads a pinned key to the start of `out`; gives its length.
    ///
    /// # Errors
    /// [`StoreError::Full`] if `out` is too short.
    pub fn pin(&mut self, slot: PinSlot, out: &mut [u8]) -> Result<usize, StoreError<N::Error>> {
        let len = self.pin_len().into();
        let out = out.get_mut(..len).ok_or(StoreError::Full)?;
        self.read(self.pin_at(slot) + GENERATION_LEN, out)?;
        Ok(len)
    }

    /// The fingerprint of the key that may follow the one in `slot`.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn successor(&mut self, slot: PinSlot) -> Result<Option<Fingerprint>, StoreError<N::Error>> {
        let at = self.successor_at(slot);
        if !self.is_whole(at, Fingerprint::LEN as u16)? {
            return Ok(None);
        }
        let mut bytes = [0; Fingerprint::LEN];
        self.read(at, &mut bytes)?;
        Ok(Some(Fingerprint::from_bytes(bytes)))
    }

    /// Keeps the fingerprint of the key that may follow the one in `slot`. The first one stays; gives false for another.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn write_successor(&mut self, slot: PinSlot, fingerprint: &Fingerprint) -> Result<bool, StoreError<N::Error>> {
        if let Some(kept) = self.successor(slot)? {
            return Ok(kept == *fingerprint);
        }
        let at = self.successor_at(slot);
        self.write(at, fingerprint.as_bytes())?;
        self.seal(at, Fingerprint::LEN as u16)?;
        Ok(true)
    }

    /// Puts a key into `slot`, newer than the one in the other slot and without a successor.
    ///
    /// # Errors
    /// [`StoreError::Full`] for a key of another kind than the store is for.
    pub fn write_pin(&mut self, slot: PinSlot, key: &[u8]) -> Result<(), StoreError<N::Error>> {
        if key.len() != usize::from(self.pin_len()) {
            return Err(StoreError::Full);
        }
        self.clear_pin(slot)?;
        let generation = self
            .pin_generation(slot.other())?
            .map_or(0, |last| last.wrapping_add(1));
        let at = self.pin_at(slot);
        self.write(at, &[generation])?;
        self.write(at + GENERATION_LEN, key)?;
        self.seal(at, GENERATION_LEN + self.pin_len())
    }

    /// Gives up the key in `slot`.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn clear_pin(&mut self, slot: PinSlot) -> Result<(), StoreError<N::Error>> {
        self.spoil(self.pin_at(slot), GENERATION_LEN + self.pin_len())?;
        self.spoil(self.successor_at(slot), Fingerprint::LEN as u16)
    }

    /// Where the pins end and the device key begins.
    pub(super) fn pins_end(&self) -> u16 {
        self.pin_at(PinSlot::B) + self.pin_slot_len()
    }

    /// Makes a CRC wrong.
    fn spoil(&mut self, at: u16, len: u16) -> Result<(), StoreError<N::Error>> {
        if self.is_whole(at, len)? {
            let crc = self.crc(at, len)?.map(|byte| !byte);
            self.write(at + len, &crc)?;
        }
        Ok(())
    }

    fn pin_generation(&mut self, slot: PinSlot) -> Result<Option<u8>, StoreError<N::Error>> {
        let at = self.pin_at(slot);
        if !self.is_whole(at, GENERATION_LEN + self.pin_len())? {
            return Ok(None);
        }
        let mut generation = [0];
        self.read(at, &mut generation)?;
        let [generation] = generation;
        Ok(Some(generation))
    }

    fn pin_at(&self, slot: PinSlot) -> u16 {
        match slot {
            PinSlot::A => PINS_AT,
            PinSlot::B => PINS_AT + self.pin_slot_len(),
        }
    }

    fn successor_at(&self, slot: PinSlot) -> u16 {
        self.pin_at(slot) + GENERATION_LEN + self.pin_len() + CRC_LEN
    }

    const fn pin_slot_len(&self) -> u16 {
        GENERATION_LEN + self.pin_len() + CRC_LEN + Fingerprint::LEN as u16 + CRC_LEN
    }
}

const GENERATION_LEN: u16 = 1;
