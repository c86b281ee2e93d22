//! The seed of a device: unique per unit, used by one boot only, in two slots so that a power cut at any point leaves
//! one of them whole.

use core::fmt;

use kem_core::ct::{declassify, declassify_bytes};
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use super::{Crc32, Drbg};
use crate::{
    backends::{Digest, Sha256},
    identity::DeviceId,
};

/// Bytes of a slot: seed (32), generation (4), CRC-32/ISO-HDLC of both (4).
pub const SLOT_LEN: usize = 40;

/// Which of the two slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot {
    /// The first one.
    A,
    /// The second one.
    B,
}

impl Slot {
    const fn other(self) -> Self {
        match self {
            Self::A => Self::B,
            Self::B => Self::A,
        }
    }
}

/// Two slots of EEPROM, flash or file.
pub trait SeedStore {
    /// What can go wrong with it.
    type Error;

    /// Reads a slot, whatever it holds.
    fn read(&mut self, slot: Slot, out: &mut [u8; SLOT_LEN]) -> Result<(), Self::Error>;

    /// Writes a slot so that it survives a power cut after the return.
    fn write(&mut self, slot: Slot, bytes: &[u8; SLOT_LEN]) -> Result<(), Self::Error>;

    /// Overwrites a slot so that its old bytes cannot be read back.
    fn erase(&mut self, slot: Slot) -> Result<(), Self::Error>;
}

/// Why there is no seed for this boot. A device without one must not make a handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeedError<E> {
    /// Neither slot is whole: the device has to be provisioned (again).
    Missing,
    /// The successor did not read back as written: the store is worn out.
    ReadBack,
    /// The store failed.
    Store(E),
}

impl<E: fmt::Display> fmt::Display for SeedError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => f.write_str("no valid seed slot"),
            Self::ReadBack => f.write_str("seed slot did not read back as written"),
            Self::Store(error) => write!(f, "seed store: {error}"),
        }
    }
}

impl<E: fmt::Debug + fmt::Display> core::error::Error for SeedError<E> {}

/// Takes the seed of this boot out of `store`, leaves its successor there, and starts the generator.
///
/// # Errors
/// [`SeedError`]; the old seed has then not been used.
pub fn boot<S: SeedStore>(store: &mut S, id: &DeviceId, rng_bytes: &[u8; 32]) -> Result<Drbg, SeedError<S::Error>> {
    let (slot, current) = newest(store)?.ok_or(SeedError::Missing)?;
    write(store, slot.other(), &current.successor())?;
    store.erase(slot).map_err(SeedError::Store)?;
    Ok(Drbg::device(&current.seed, id, rng_bytes))
}

/// Gives a new device its seed: 32 random bytes that no other unit has.
///
/// # Errors
/// [`SeedError::ReadBack`], [`SeedError::Store`].
pub fn provision<S: SeedStore>(store: &mut S, seed: &[u8; 32]) -> Result<(), SeedError<S::Error>> {
    store.erase(Slot::B).map_err(SeedError::Store)?;
    let first = Seed {
        seed: Zeroizing::new(*seed),
        generation: 0,
    };
    write(store, Slot::A, &first)
}

/// Writes a slot and reads it back.
fn write<S: SeedStore>(store: &mut S, slot: Slot, seed: &Seed) -> Result<(), SeedError<S::Error>> {
    let bytes = seed.encode();
    store.write(slot, &bytes).map_err(SeedError::Store)?;
    let mut written = Zeroizing::new([0; SLOT_LEN]);
    store.read(slot, &mut written).map_err(SeedError::Store)?;
    if declassify(written.ct_eq(&*bytes)) {
        Ok(())
    } else {
        Err(SeedError::ReadBack)
    }
}

fn newest<S: SeedStore>(store: &mut S) -> Result<Option<(Slot, Seed)>, SeedError<S::Error>> {
    let mut read = |slot| {
        let mut bytes = Zeroizing::new([0; SLOT_LEN]);
        store.read(slot, &mut bytes).map_err(SeedError::Store)?;
        Ok(Seed::decode(&bytes))
    };
    Ok(match (read(Slot::A)?, read(Slot::B)?) {
        (Some(a), Some(b)) if b.newer_than(&a) => Some((Slot::B, b)),
        (Some(a), _) => Some((Slot::A, a)),
        (None, Some(b)) => Some((Slot::B, b)),
        (None, None) => None,
    })
}

struct Seed {
    seed: Zeroizing<[u8; 32]>,
    generation: u32,
}

impl Seed {
    fn decode(bytes: &[u8; SLOT_LEN]) -> Option<Self> {
        let [body @ .., c0, c1, c2, c3] = bytes;
        let [seed @ .., g0, g1, g2, g3] = body;
        let sum = checksum(body);
        let mut generation = [*g0, *g1, *g2, *g3];
        // Whether a slot is whole, and how old it is, decides which one is written next.
        declassify_bytes(&mut generation);
        declassify(sum.ct_eq(&[*c0, *c1, *c2, *c3])).then(|| Self {
            seed: Zeroizing::new(*seed),
            generation: u32::from_be_bytes(generation),
        })
    }

    fn encode(&self) -> Zeroizing<[u8; SLOT_LEN]> {
        let mut bytes = Zeroizing::new([0; SLOT_LEN]);
        let (body, crc) = bytes.split_at_mut(SLOT_LEN - 4);
        let (seed, generation) = body.split_at_mut(32);
        seed.copy_from_slice(&*self.seed);
        generation.copy_from_slice(&self.generation.to_be_bytes());
        crc.copy_from_slice(&checksum(body));
        bytes
    }

    fn successor(&self) -> Self {
        let seed = Sha256::new()
            .chain_update("HKM1 seed")
            .chain_update(*self.seed)
            .finalize()
            .into();
        Self {
            seed: Zeroizing::new(seed),
            generation: self.generation.wrapping_add(1),
        }
    }

    /// Both slots are whole only after a power cut between writing one and erasing the other.
    fn newer_than(&self, other: &Self) -> bool {
        self.generation.wrapping_sub(other.generation).cast_signed() > 0
    }
}

fn checksum(body: &[u8]) -> [u8; 4] {
    let mut crc = Crc32::new();
    crc.update(body);
    crc.finish()
}

#[cfg(test)]
mod tests;
