//! What a device keeps over resets: seed, credential, pins and ticket, in EEPROM or flash.
//!
//! ```text
//! 0x000  seed slots A, B (40 each)
//! 0x050  settings: credential kind, MQTT level, interval, id, psk, CRC
//! 0x0A0  ticket slots A, B: generation, kid, ticket, rms, CRC
//! 0x260  what to do at boot
//! 0x270  pin slots A, B: generation, broker key, CRC, successor, CRC; then the device key, CRC
//! ```
//!
//! Every CRC is CRC-32/ISO-HDLC and is written last, so that a power cut leaves the old state or the new one. Everything
//! written is read back.

mod device;
mod pins;
#[cfg(feature = "provision")]
mod provision;
mod settings;
mod ticket;

use core::fmt;

use hybrid_handshake::{
    drbg::{Crc32, SLOT_LEN, SeedStore, Slot},
    suite::{Group, KemId},
};
use zeroize::Zeroizing;

pub(crate) use device::{DEVICE_FIXED_LEN, device_len};
pub use pins::PinSlot;
#[cfg(feature = "provision")]
pub use provision::{DeviceKey, Image};
pub use settings::{AtBoot, Kind, Settings};

/// Byte-wise non-volatile memory. A write that has returned survives a power cut.
pub trait Nv {
    /// What can go wrong.
    type Error;

    /// Its size in bytes.
    fn size(&self) -> u16;

    /// Reads from address `at`.
    ///
    /// # Errors
    /// Of the memory.
    fn read(&mut self, at: u16, out: &mut [u8]) -> Result<(), Self::Error>;

    /// Writes at address `at`.
    ///
    /// # Errors
    /// Of the memory.
    fn write(&mut self, at: u16, bytes: &[u8]) -> Result<(), Self::Error>;

    /// The `len` bytes at address `at` where they lie, if the core can address this memory; then a long key costs no RAM.
    /// `None`: [`Nv::read`] copies them.
    fn lend(&self, at: u16, len: u16) -> Option<&[u8]> {
        let _ = (at, len);
        None
    }
}

/// What is wrong with the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreError<E> {
    /// The memory failed.
    Nv(E),
    /// No seed, no credential or no pin: the device has to be provisioned (again).
    Missing,
    /// Something did not read back as written.
    Worn,
    /// Something does not fit: the memory, or the buffer it is read to, is too small.
    Full,
}

impl<E: fmt::Display> fmt::Display for StoreError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nv(error) => error.fmt(f),
            Self::Missing => f.write_str("missing"),
            Self::Worn => f.write_str("worn"),
            Self::Full => f.write_str("full"),
        }
    }
}

impl<E: fmt::Debug + fmt::Display> core::error::Error for StoreError<E> {}

/// The store of a device, over its memory.
#[derive(Debug)]
pub struct NvStore<N> {
    nv: N,
    broker_kem: KemId,
    group: Group,
}

impl<N: Nv> NvStore<N> {
    /// A store for broker keys of this kind.
    pub const fn new(nv: N, broker_kem: KemId, group: Group) -> Self {
        Self { nv, broker_kem, group }
    }

    /// The memory.
    pub const fn nv(&mut self) -> &mut N {
        &mut self.nv
    }

    const fn pin_len(&self) -> u16 {
        (2 + self.broker_kem.ek_len() + self.group.share_len()) as u16
    }

    fn read(&mut self, at: u16, out: &mut [u8]) -> Result<(), StoreError<N::Error>> {
        self.room(at, out.len())?;
        self.nv.read(at, out).map_err(StoreError::Nv)
    }

    /// Writes and reads back.
    #[inline(never)]
    fn write(&mut self, at: u16, bytes: &[u8]) -> Result<(), StoreError<N::Error>> {
        self.room(at, bytes.len())?;
        self.nv.write(at, bytes).map_err(StoreError::Nv)?;
        let mut written = Zeroizing::new([0; STEP]);
        let mut at = at;
        for part in bytes.chunks(STEP) {
            let written = written.get_mut(..part.len()).unwrap_or_default();
            self.nv.read(at, written).map_err(StoreError::Nv)?;
            if written != part {
                return Err(StoreError::Worn);
            }
            at += part.len() as u16;
        }
        Ok(())
    }

    /// Writes the CRC of the `len` bytes at `at` behind them.
    fn seal(&mut self, at: u16, len: u16) -> Result<(), StoreError<N::Error>> {
        let crc = self.crc(at, len)?;
        self.write(at + len, &crc)
    }

    /// Whether the CRC of the `len` bytes at `at` stands behind them.
    #[inline(never)]
    fn is_whole(&mut self, at: u16, len: u16) -> Result<bool, StoreError<N::Error>> {
        let mut stored = [0; CRC_LEN as usize];
        self.read(at + len, &mut stored)?;
        Ok(self.crc(at, len)? == stored)
    }

    #[inline(never)]
    fn crc(&mut self, at: u16, len: u16) -> Result<[u8; CRC_LEN as usize], StoreError<N::Error>> {
        let mut crc = Crc32::new();
        let mut bytes = Zeroizing::new([0; STEP]);
        let (mut at, end) = (at, at + len);
        while at < end {
            let part = bytes.get_mut(..STEP.min((end - at).into())).unwrap_or_default();
            self.read(at, part)?;
            crc.update(part);
            at += part.len() as u16;
        }
        Ok(crc.finish())
    }

    fn room(&self, at: u16, len: usize) -> Result<(), StoreError<N::Error>> {
        match usize::from(self.nv.size()).checked_sub(at.into()) {
            Some(room) if room >= len => Ok(()),
            _ => Err(StoreError::Full),
        }
    }
}

impl<N: Nv> SeedStore for NvStore<N> {
    type Error = N::Error;

    fn read(&mut self, slot: Slot, out: &mut [u8; SLOT_LEN]) -> Result<(), N::Error> {
        self.nv.read(seed_at(slot), out)
    }

    #[inline(never)]
    fn write(&mut self, slot: Slot, bytes: &[u8; SLOT_LEN]) -> Result<(), N::Error> {
        self.nv.write(seed_at(slot), bytes)
    }

    fn erase(&mut self, slot: Slot) -> Result<(), N::Error> {
        self.nv.write(seed_at(slot), &[0xff; SLOT_LEN])
    }
}

const fn seed_at(slot: Slot) -> u16 {
    match slot {
        Slot::A => 0,
        Slot::B => SLOT_LEN as u16,
    }
}

/// Bytes that are checked at a time.
const STEP: usize = 16;
const CRC_LEN: u16 = 4;

const SETTINGS_AT: u16 = 0x50;
const TICKETS_AT: u16 = 0xa0;
const AT_BOOT_AT: u16 = 0x260;
const PINS_AT: u16 = 0x270;
