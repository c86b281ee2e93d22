/// CRC-32/ISO-HDLC of what a device stores: of its seed here, of everything else in its firmware. Bit by bit and without a branch on
/// a bit: a table of 1 KB is more than a small device has to spare, and the seed is secret.
pub struct Crc32(u32);

impl Crc32 {
    /// Of nothing.
    pub const fn new() -> Self {
        Self(u32::MAX)
    }

    /// The next bytes.
    #[inline(never)]
    pub fn update(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 ^= u32::from(*byte);
            for _ in 0..8_u8 {
                let odd = self.0 & 1;
                self.0 = self.0 >> 1 ^ POLYNOMIAL & odd.wrapping_neg();
            }
        }
    }

    /// The checksum, big-endian.
    pub const fn finish(self) -> [u8; 4] {
        (!self.0).to_be_bytes()
    }
}

impl Default for Crc32 {
    fn default() -> Self {
        Self::new()
    }
}

/// x^32 + x^26 + x^23 + ... + 1, lowest power first.
const POLYNOMIAL: u32 = 0xedb8_8320;
