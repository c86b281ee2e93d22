//! The retained memory between `__nv_start` and `__nv_end`.
//!
//! Both boards of this image have it as RAM that survives a reset. A product whose power may fail puts a flash driver in
//! its place: [`Nv`] asks for nothing but bytes, and flash can lend them as well.

use core::{
    convert::Infallible,
    ptr::{read_volatile, write_volatile},
    slice,
};

use kemqtt_node::Nv;

unsafe extern "C" {
    static mut __nv_start: u8;
    static mut __nv_end: u8;
}

/// The retained memory. There is one.
pub(crate) struct Retained(());

impl Retained {
    /// The memory.
    ///
    /// # Safety
    /// Once: what it lends stays as it is for as long as nobody else writes.
    pub(crate) const unsafe fn take() -> Self {
        Self(())
    }
}

impl Nv for Retained {
    type Error = Infallible;

    fn size(&self) -> u16 {
        let len = (&raw const __nv_end).addr() - (&raw const __nv_start).addr();
        u16::try_from(len).unwrap_or(u16::MAX)
    }

    fn read(&mut self, at: u16, out: &mut [u8]) -> Result<(), Infallible> {
        for (at, place) in (at..self.size()).zip(out) {
            // SAFETY: the linker script sets the region aside, and `at` lies within.
            *place = unsafe { read_volatile((&raw const __nv_start).add(at.into())) };
        }
        Ok(())
    }

    fn write(&mut self, at: u16, bytes: &[u8]) -> Result<(), Infallible> {
        for (at, byte) in (at..self.size()).zip(bytes) {
            // SAFETY: as above; nothing else in the image names the region.
            unsafe { write_volatile((&raw mut __nv_start).add(at.into()), *byte) };
        }
        Ok(())
    }

    fn lend(&self, at: u16, len: u16) -> Option<&[u8]> {
        if at.checked_add(len)? > self.size() {
            return None;
        }
        // SAFETY: as above, and the bytes lie within as well. A write needs `self`, the only one, mutably.
        Some(unsafe { slice::from_raw_parts((&raw const __nv_start).add(at.into()), len.into()) })
    }
}
