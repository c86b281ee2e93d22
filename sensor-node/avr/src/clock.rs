//! Milliseconds from timer 0, and measuring points in GPIOR0.

use core::cell::UnsafeCell;

use kemqtt_node::{Clock, Phase};

use crate::{
    board::{atomic, enable_interrupts, feed_watchdog, sleep_unless},
    registers::{GPIOR0, OCR0A, TCCR0A, TCCR0B, TIMSK0},
    uart,
};

/// The millisecond counter. There is one.
pub(crate) struct Ticks(());

impl Ticks {
    /// Starts the timer and turns interrupts on.
    pub(crate) fn start() -> Self {
        TCCR0A.write(CLEAR_ON_COMPARE);
        OCR0A.write(249); // 16 MHz / 64 / 250
        TIMSK0.write(COMPARE_A_INTERRUPT);
        TCCR0B.write(PRESCALER_64);
        enable_interrupts();
        Self(())
    }
}

impl Clock for Ticks {
    fn now_ms(&mut self) -> u32 {
        // SAFETY: the handler does not run meanwhile.
        atomic(|| unsafe { *NOW_MS.0.get() })
    }

    fn idle(&mut self) {
        feed_watchdog();
        sleep_unless(uart::has_received);
    }

    fn mark(&mut self, phase: Option<Phase>) {
        feed_watchdog();
        GPIOR0.write(phase.map_or(0, |phase| phase as u8));
    }
}

struct Shared(UnsafeCell<u32>);

// SAFETY: one core; written by the handler, read with interrupts off.
unsafe impl Sync for Shared {}

static NOW_MS: Shared = Shared(UnsafeCell::new(0));

/// TIMER0_COMPA.
#[unsafe(no_mangle)]
extern "avr-interrupt" fn __vector_16() {
    let now_ms = NOW_MS.0.get();
    // SAFETY: handlers do not nest, and readers turn interrupts off.
    unsafe { *now_ms = (*now_ms).wrapping_add(1) }
}

const CLEAR_ON_COMPARE: u8 = 0x02;
const COMPARE_A_INTERRUPT: u8 = 0x02;
const PRESCALER_64: u8 = 0x03;
