use hybrid_handshake::suite::KemId;

use super::{Nv, NvStore, StoreError};

/// What lies in front of the decapsulation key: z, x and the share gx.
pub(crate) const DEVICE_FIXED_LEN: usize = 32 + 32 + 32;

impl<N: Nv> NvStore<N> {
    /// Checks the device key, `z | x | gx | ek | dk` of `len` bytes, and reads it to the start of `place` unless the memory
    /// lends it.
    ///
    /// # Errors
    /// [`StoreError::Missing`] if there is none, [`StoreError::Full`] if `place` has to hold it and is too short.
    pub(crate) fn load_device_key(&mut self, len: usize, place: &mut [u8]) -> Result<(), StoreError<N::Error>> {
        let at = self.pins_end();
        let place = match self.nv.lend(at, len as u16) {
            Some(_) => &mut [],
            None => place.get_mut(..len).ok_or(StoreError::Full)?,
        };
        if !self.is_whole(at, len as u16)? {
            return Err(StoreError::Missing);
        }
        self.read(at, place)
    }

    /// The device key after [`NvStore::load_device_key`]: where it lies, else in `place`.
    pub(crate) fn device_key<'k>(&'k self, len: usize, place: &'k [u8]) -> &'k [u8] {
        self.nv.lend(self.pins_end(), len as u16).unwrap_or(place)
    }

    /// Writes the device key in its parts.
    #[cfg(feature = "provision")]
    pub(super) fn write_device_key(&mut self, parts: &[&[u8]]) -> Result<(), StoreError<N::Error>> {
        let start = self.pins_end();
        let mut at = start;
        for part in parts {
            self.write(at, part)?;
            at += part.len() as u16;
        }
        self.seal(start, at - start)
    }
}

/// Length of a device key of this suite.
pub(crate) const fn device_len(kem: KemId, dk_len: usize) -> usize {
    DEVICE_FIXED_LEN + kem.ek_len() + dk_len
}
