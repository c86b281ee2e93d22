use hybrid_handshake::suite::KemId;

use super::{Nv, NvStore, StoreError};

/// What lies in front of the decapsulation key: z, x and the share gx.
pub(crate) const DEVICE_FIXED_LEN: usize = 32 + 32 + 32;

impl<N: Nv> NvStore<N> {
    /// Reads the device key, `z | x | gx | ek | dk`, to fill `out`, which has exactly its length.
    ///
    /// # Errors
    /// [`StoreError::Missing`] if there is none.
    pub(crate) fn device_key(&mut self, out: &mut [u8]) -> Result<(), StoreError<N::Error>> {
        let at = self.pins_end();
        if !self.is_whole(at, out.len() as u16)? {
            return Err(StoreError::Missing);
        }
        self.read(at, out)
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

/// Length of a device key of this suite in RAM, for [`Arena`](crate::Arena).
pub(crate) const fn device_len(kem: KemId, dk_len: usize) -> usize {
    DEVICE_FIXED_LEN + kem.ek_len() + dk_len
}
