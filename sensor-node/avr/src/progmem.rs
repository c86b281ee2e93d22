//! Constants that stay in flash: on this part every other constant is copied to RAM at start.

use core::arch::asm;

use kemqtt_node::kat::Vectors;

/// Bytes in the lower 64 KB of the flash, to be put into `.progmem.data`.
#[derive(Clone, Copy)]
pub(crate) struct Progmem(pub(crate) *const u8);

impl Vectors for Progmem {
    fn read(self, at: usize, out: &mut [u8]) {
        for (at, place) in (at..).zip(out) {
            *place = load(self.0.wrapping_add(at));
        }
    }
}

fn load(address: *const u8) -> u8 {
    let byte;
    // SAFETY: `lpm` reads the flash and has no other effect, whatever the address.
    unsafe { asm!("lpm {}, Z", out(reg) byte, in("Z") address, options(pure, readonly, nostack, preserves_flags)) }
    byte
}
