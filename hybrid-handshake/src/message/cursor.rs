use crate::{Error, Malformed};

/// A cursor over fields whose lengths the context fixes.
pub(crate) struct Fields<'a>(pub(crate) &'a [u8]);

impl<'a> Fields<'a> {
    pub(crate) fn take(&mut self, len: usize) -> Result<&'a [u8], Malformed> {
        let (head, rest) = self.0.split_at_checked(len).ok_or(Malformed::Truncated)?;
        self.0 = rest;
        Ok(head)
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        let (head, rest) = self.0.split_first_chunk().ok_or(Malformed::Truncated)?;
        self.0 = rest;
        Ok(*head)
    }

    pub(crate) fn u16(&mut self) -> Result<u16, Malformed> {
        self.array().map(u16::from_be_bytes)
    }

    /// Bytes behind the last field are an error.
    pub(crate) fn finish(self) -> Result<(), Malformed> {
        if self.0.is_empty() {
            Ok(())
        } else {
            Err(Malformed::Trailing)
        }
    }
}

/// Fills a buffer from its start.
pub(crate) struct Writer<'a> {
    out: &'a mut [u8],
    at: usize,
}

impl<'a> Writer<'a> {
    /// A message of exactly `len` bytes.
    ///
    /// # Errors
    /// [`Error::Buffer`].
    pub(crate) fn new(out: &'a mut [u8], len: usize) -> Result<Self, Error> {
        let needed = u16::try_from(len).unwrap_or(u16::MAX);
        Ok(Self {
            out: out.get_mut(..len).ok_or(Error::Buffer { needed })?,
            at: 0,
        })
    }

    /// The next `len` bytes, to be filled in place.
    pub(crate) fn slot(&mut self, len: usize) -> Result<&mut [u8], Error> {
        let slot = self
            .out
            .get_mut(self.at..)
            .and_then(|rest| rest.get_mut(..len))
            .ok_or(Error::Misuse)?;
        self.at += len;
        Ok(slot)
    }

    pub(crate) fn put(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.slot(bytes.len()).map(|slot| slot.copy_from_slice(bytes))
    }

    /// Everything written so far.
    pub(crate) fn written(&self) -> &[u8] {
        self.out.get(..self.at).unwrap_or_default()
    }

    /// What was written, to be read, and the rest, to be filled.
    pub(crate) fn finish(self) -> (&'a [u8], &'a mut [u8]) {
        let (written, rest) = self.out.split_at_mut(self.at.min(self.out.len()));
        (written, rest)
    }
}
