//! Test inputs.

/// A small generator (xorshift32): random bytes, and bytes at the ends of their range.
pub struct Draw(u32);

impl Draw {
    /// Starts from a seed other than 0.
    pub const fn new(seed: u32) -> Self {
        Self(seed)
    }

    /// The next 32 bits.
    pub fn word(&mut self) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 17;
        self.0 ^= self.0 << 5;
        self.0
    }

    /// Pattern `number`: all zeros, all ones, runs of either, and for all other numbers random bytes.
    pub fn fill(&mut self, number: u8, out: &mut [u8]) {
        for byte in out {
            let word = self.word();
            *byte = match number {
                0 => 0x00,
                1 => 0xff,
                2 | 3 => [0x00, 0xff][usize::from(word as u8 & 1)],
                4 => [0x00, 0x01, 0x80, 0xff][usize::from(word as u8 & 3)],
                _ => (word >> 8) as u8,
            };
        }
    }
}
