//! Noise for the generator.
//!
//! The seed in the retained memory carries the security; this only makes two units with a cloned memory differ. QEMU's board
//! has no generator.

/// 32 bytes of the random generator, or what stands for it.
pub(crate) fn gather() -> [u8; 32] {
    let mut noise = [0; 32];
    #[cfg(feature = "board-l4r5")]
    for place in noise.chunks_mut(4) {
        place.copy_from_slice(&stm32::word().to_le_bytes());
    }
    #[cfg(not(feature = "board-l4r5"))]
    for (place, byte) in noise
        .iter_mut()
        .zip(cortex_m::peripheral::SYST::get_current().to_le_bytes())
    {
        *place = byte;
    }
    noise
}

#[cfg(feature = "board-l4r5")]
mod stm32 {
    //! The RNG of an STM32L4+. Its clock is the board's business.

    use core::ptr::{read_volatile, write_volatile};

    /// The next word.
    pub(super) fn word() -> u32 {
        // SAFETY: CR, SR and DR of the RNG; nothing else depends on them.
        unsafe {
            write_volatile(CR, ENABLE);
            while read_volatile(SR) & READY == 0 {}
            read_volatile(DR)
        }
    }

    const CR: *mut u32 = 0x5006_0800 as *mut u32;
    const SR: *const u32 = 0x5006_0804 as *const u32;
    const DR: *const u32 = 0x5006_0808 as *const u32;
    const ENABLE: u32 = 4;
    const READY: u32 = 1;
}
