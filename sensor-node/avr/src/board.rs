//! Watchdog, sleep, end of a run, and the sensor itself.

use core::arch::asm;

use crate::registers::{ADCH, ADCL, ADCSRA, ADMUX, GPIOR1, MCUSR, SMCR};

/// Clears the reason of the last reset and starts the watchdog: 8 seconds, as one phase of a handshake may take one.
pub(crate) fn start() {
    MCUSR.write(0);
    set_watchdog(WATCHDOG_8_S);
}

/// The watchdog starts again from zero.
pub(crate) fn feed_watchdog() {
    // SAFETY: resets a timer.
    unsafe { asm!("wdr", options(nomem, nostack, preserves_flags)) }
}

/// Sleeps until the next interrupt, unless `ready` says that there is something to do. Interrupts are on afterwards.
pub(crate) fn sleep_unless(ready: impl FnOnce() -> bool) {
    disable_interrupts();
    if ready() {
        enable_interrupts();
        return;
    }
    SMCR.write(SLEEP_ENABLE | IDLE);
    // SAFETY: the instruction behind `sei` runs before any interrupt, so none is missed.
    unsafe { asm!("sei", "sleep", options(nostack)) }
    SMCR.write(0);
}

/// Runs with interrupts off, then on.
pub(crate) fn atomic<T>(work: impl FnOnce() -> T) -> T {
    disable_interrupts();
    let result = work();
    enable_interrupts();
    result
}

/// Ends a run: a simulator stops at sleep without interrupts, a board stays there.
pub(crate) fn exit(ok: bool) -> ! {
    GPIOR1.write(u8::from(!ok));
    disable_interrupts();
    set_watchdog(0);
    loop {
        SMCR.write(SLEEP_ENABLE | IDLE);
        // SAFETY: stops the clock of the CPU.
        unsafe { asm!("sleep", options(nomem, nostack)) }
    }
}

/// Waits for the watchdog.
pub(crate) fn halt() -> ! {
    disable_interrupts();
    loop {
        // SAFETY: does nothing.
        unsafe { asm!("nop", options(nomem, nostack)) }
    }
}

/// One conversion of ADC0 against AVCC, 0..=1023.
pub(crate) fn sample() -> u16 {
    ADMUX.write(REFERENCE_AVCC);
    ADCSRA.write(ADC_ENABLE | ADC_START | ADC_PRESCALER_128);
    while ADCSRA.has(ADC_START) {}
    let low = ADCL.read(); // first, and then the high byte belongs to it
    u16::from_le_bytes([low, ADCH.read()])
}

pub(crate) fn enable_interrupts() {
    // SAFETY: every interrupt that is enabled has a handler.
    unsafe { asm!("sei", options(nostack)) }
}

fn disable_interrupts() {
    // SAFETY: handlers do not run from here on.
    unsafe { asm!("cli", options(nostack)) }
}

/// The timed sequence: the second write counts within four cycles of the first.
fn set_watchdog(control: u8) {
    // SAFETY: WDTCSR is at 0x60; nothing but the watchdog depends on it.
    unsafe {
        asm!(
            "in {sreg}, 0x3f",
            "cli",
            "wdr",
            "sts 0x60, {change}",
            "sts 0x60, {control}",
            "out 0x3f, {sreg}",
            sreg = out(reg) _,
            change = in(reg) WATCHDOG_CHANGE,
            control = in(reg) control,
            options(nostack)
        );
    }
}

const WATCHDOG_CHANGE: u8 = 0x18;
/// Reset mode, 8.0 s.
const WATCHDOG_8_S: u8 = 0x29;
const SLEEP_ENABLE: u8 = 0x01;
const IDLE: u8 = 0x00;
const REFERENCE_AVCC: u8 = 0x40;
const ADC_ENABLE: u8 = 0x80;
const ADC_START: u8 = 0x40;
const ADC_PRESCALER_128: u8 = 0x07;
