//! The retained memory between `__nv_start` and `__nv_end`.
//!
//! Both boards of this image have it as RAM that survives a reset. A product whose power may fail puts a flash driver in
//! its place: [`Nv`] asks for nothing but bytes.

use core::{
    convert::Infallible,
    ptr::{read_volatile, write_volatile},
};

use kemqtt_node::Nv;

unsafe extern "C" {
    static __nv_start: u8;
    static __nv_end: u8;
}

/// The retained memory.
pub(crate) struct Retained;

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
            unsafe { write_volatile((&raw const __nv_start).add(at.into()).cast_mut(), *byte) };
        }
        Ok(())
    }
}
