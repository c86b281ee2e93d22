//! Enrolling a device: the same code writes an EEPROM and an image of one.

use core::convert::Infallible;

use hybrid_handshake::{
    dh::DhSecret,
    drbg::provision,
    identity::{BrokerKey, DeviceId, Fingerprint, Psk, PublicKey},
    mqtt::Level,
};

use super::{AtBoot, Kind, Nv, NvStore, PinSlot, Settings, StoreError};

/// A device's static key with its secrets (mode 1).
pub struct DeviceKey<'a> {
    /// The public half.
    pub public: PublicKey<'a>,
    /// The decapsulation key.
    pub dk: &'a [u8],
    /// The secret for rejected ciphertexts.
    pub z: &'a [u8; 32],
    /// The Diffie-Hellman secret.
    pub x: &'a DhSecret,
}

impl<N: Nv> NvStore<N> {
    /// Gives the device its seed: 32 random bytes that no other unit has.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn provision_seed(&mut self, seed: &[u8; 32]) -> Result<(), StoreError<N::Error>> {
        Ok(provision(self, seed)?)
    }

    /// Pins a broker key, the only one from now on.
    ///
    /// # Errors
    /// [`StoreError::Full`] for a key of another kind than the store is for.
    pub fn provision_pin(
        &mut self,
        key: &BrokerKey<'_>,
        successor: Option<&Fingerprint>,
    ) -> Result<(), StoreError<N::Error>> {
        let mut encoded = [0; MAX_PIN_LEN];
        let len = key.public().write(&mut encoded).map_err(|_| StoreError::Full)?;
        self.clear_pin(PinSlot::B)?;
        self.write_pin(PinSlot::A, encoded.get(..len).unwrap_or_default())?;
        if let Some(successor) = successor {
            self.write_successor(PinSlot::A, successor)?;
        }
        Ok(())
    }

    /// Gives the device a pre-shared key.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn provision_psk(
        &mut self,
        id: &DeviceId,
        psk: Psk,
        level: Level,
        interval_s: u16,
    ) -> Result<(), StoreError<N::Error>> {
        self.write_settings(&Settings {
            id: *id,
            kind: Kind::Psk,
            psk,
            level,
            interval_s,
        })
    }

    /// Gives the device a key of its own.
    ///
    /// # Errors
    /// [`StoreError::Full`] if the memory is too small for it.
    pub fn provision_key(
        &mut self,
        id: &DeviceId,
        key: &DeviceKey<'_>,
        level: Level,
        interval_s: u16,
    ) -> Result<(), StoreError<N::Error>> {
        let DeviceKey { public, dk, z, x } = key;
        let share = public.share();
        let padding = [0; 32];
        let padding = padding.get(share.len()..).ok_or(StoreError::Full)?; // P-256 does not run here
        self.write_device_key(&[*z, x.expose(), share, padding, public.ek(), dk])?;
        self.write_settings(&Settings {
            id: *id,
            kind: Kind::Kem,
            psk: Psk::from_bytes([0; 32]),
            level,
            interval_s,
        })
    }

    /// Tells the device what to do at boot.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn provision_at_boot(&mut self, what: AtBoot) -> Result<(), StoreError<N::Error>> {
        self.write_at_boot(what)
    }
}

/// A memory image: a device's EEPROM or flash, as a simulator or a programmer wants it.
#[derive(Debug)]
pub struct Image<B>(pub B);

impl<B: AsRef<[u8]> + AsMut<[u8]>> Nv for Image<B> {
    type Error = Infallible;

    fn size(&self) -> u16 {
        u16::try_from(self.0.as_ref().len()).unwrap_or(u16::MAX)
    }

    fn read(&mut self, at: u16, out: &mut [u8]) -> Result<(), Infallible> {
        let stored = self.0.as_ref().iter().skip(at.into());
        out.iter_mut().zip(stored).for_each(|(place, byte)| *place = *byte);
        Ok(())
    }

    fn write(&mut self, at: u16, bytes: &[u8]) -> Result<(), Infallible> {
        let places = self.0.as_mut().iter_mut().skip(at.into());
        places.zip(bytes).for_each(|(place, byte)| *place = *byte);
        Ok(())
    }
}

/// The longest broker key that a device pins: ML-KEM-1024 and P-256.
const MAX_PIN_LEN: usize = 2 + 1568 + 65;
