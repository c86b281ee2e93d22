//! Milliseconds from SysTick.

use core::sync::atomic::{AtomicU32, Ordering};

use cortex_m::{Peripherals, asm, interrupt, peripheral::syst::SystClkSource};
use cortex_m_rt::exception;
use kemqtt_node::{Clock, Phase};

use crate::{board, uart};

/// The millisecond counter. There is one.
pub(crate) struct Ticks(());

impl Ticks {
    /// Starts the timer.
    pub(crate) fn start() -> Self {
        if let Some(mut peripherals) = Peripherals::take() {
            peripherals.SYST.set_clock_source(SystClkSource::Core);
            peripherals.SYST.set_reload(CORE_HZ / 1000 - 1);
            peripherals.SYST.clear_current();
            peripherals.SYST.enable_counter();
            peripherals.SYST.enable_interrupt();
        }
        Self(())
    }
}

impl Clock for Ticks {
    fn now_ms(&mut self) -> u32 {
        NOW_MS.load(Ordering::Relaxed)
    }

    fn idle(&mut self) {
        // With interrupts masked a pending one still wakes the core, so none is missed.
        interrupt::free(|_| {
            if !uart::has_received() {
                asm::wfi();
            }
        });
    }

    fn mark(&mut self, phase: Option<Phase>) {
        board::mark(phase.map_or(0, |phase| phase as u32));
    }
}

#[exception]
fn SysTick() {
    NOW_MS.store(NOW_MS.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
}

static NOW_MS: AtomicU32 = AtomicU32::new(0);

/// The core clock in Hz.
const CORE_HZ: u32 = if cfg!(feature = "board-l4r5") {
    20_000_000
} else {
    25_000_000
};
