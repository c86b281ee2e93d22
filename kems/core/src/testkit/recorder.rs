use std::vec::Vec;

use core::convert::Infallible;

use rand_core::{TryCryptoRng, TryRng};

/// A generator that shows how it is asked: it notes the length of each request and fills the n-th with bytes n.
#[derive(Default)]
pub struct Recorder {
    /// Lengths of the requests so far, in bytes.
    pub requests: Vec<usize>,
}

impl TryRng for Recorder {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        panic!("a KEM asks for bytes")
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        panic!("a KEM asks for bytes")
    }

    fn try_fill_bytes(&mut self, out: &mut [u8]) -> Result<(), Infallible> {
        self.requests.push(out.len());
        out.fill(self.requests.len() as u8);
        Ok(())
    }
}

impl TryCryptoRng for Recorder {}
