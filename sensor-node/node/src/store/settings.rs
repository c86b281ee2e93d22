use hybrid_handshake::{
    identity::{DeviceId, Psk},
    mqtt::Level,
};
use zeroize::Zeroizing;

use super::{AT_BOOT_AT, Nv, NvStore, SETTINGS_AT, StoreError};

/// Who the device is, and what it was told to do.
pub struct Settings {
    /// The enrolled name, also the MQTT client id.
    pub id: DeviceId,
    /// How it proves it.
    pub kind: Kind,
    /// The pre-shared key; all zeros for a device with a key of its own.
    pub psk: Psk,
    /// The MQTT level it speaks inside.
    pub level: Level,
    /// Seconds between two samples.
    pub interval_s: u16,
}

/// The kind of credential.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// A static KEM and Diffie-Hellman key (mode 1).
    Kem = 1,
    /// A pre-shared key (mode 2).
    Psk,
}

/// What a device does at boot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum AtBoot {
    /// Its job.
    Run,
    /// The self-test, and nothing else.
    SelfTest,
    /// Its job until one message has been acknowledged.
    PublishOnce,
}

impl<N: Nv> NvStore<N> {
    /// The settings.
    ///
    /// # Errors
    /// [`StoreError::Missing`] if there are none.
    pub fn settings(&mut self) -> Result<Settings, StoreError<N::Error>> {
        if !self.is_whole(SETTINGS_AT, LEN as u16)? {
            return Err(StoreError::Missing);
        }
        let mut bytes = Zeroizing::new([0; LEN]);
        self.read(SETTINGS_AT, &mut *bytes)?;
        Settings::decode(&bytes).ok_or(StoreError::Missing)
    }

    /// Replaces the settings.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn write_settings(&mut self, settings: &Settings) -> Result<(), StoreError<N::Error>> {
        self.write(SETTINGS_AT, &*settings.encode())?;
        self.seal(SETTINGS_AT, LEN as u16)
    }

    /// What to do at boot.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn at_boot(&mut self) -> Result<AtBoot, StoreError<N::Error>> {
        let mut byte = [0];
        self.read(AT_BOOT_AT, &mut byte)?;
        Ok(match byte {
            [1] => AtBoot::SelfTest,
            [2] => AtBoot::PublishOnce,
            _ => AtBoot::Run,
        })
    }

    /// Changes what to do at boot.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn write_at_boot(&mut self, what: AtBoot) -> Result<(), StoreError<N::Error>> {
        self.write(AT_BOOT_AT, &[what as u8])
    }
}

/// kind | level | interval (2) | id padded (32) | psk (32).
const LEN: usize = 4 + DeviceId::MAX_LEN + Psk::LEN;

impl Settings {
    fn decode(bytes: &[u8; LEN]) -> Option<Self> {
        let (&[kind, level, i0, i1], rest) = bytes.split_first_chunk()?;
        let (id, psk) = rest.split_first_chunk()?;
        Some(Self {
            id: DeviceId::from_padded(id).ok()?,
            kind: match kind {
                1 => Kind::Kem,
                2 => Kind::Psk,
                _ => return None,
            },
            psk: Psk::from_bytes(psk.try_into().ok()?),
            level: match level {
                4 => Level::V3_1_1,
                5 => Level::V5,
                _ => return None,
            },
            interval_s: u16::from_be_bytes([i0, i1]),
        })
    }

    fn encode(&self) -> Zeroizing<[u8; LEN]> {
        let mut bytes = Zeroizing::new([0; LEN]);
        let [i0, i1] = self.interval_s.to_be_bytes();
        let head = [self.kind as u8, self.level as u8, i0, i1];
        let fields = head.iter().chain(self.id.padded()).chain(self.psk.expose());
        bytes.iter_mut().zip(fields).for_each(|(place, byte)| *place = *byte);
        bytes
    }
}
