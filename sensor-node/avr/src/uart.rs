//! UART0: 500 kbaud, 8N1. An interrupt puts what comes into a ring; sending waits. PD4 is RTS: high while the ring is nearly full,
//! as it is for as long as an EEPROM write or a key exchange keeps the reader away.

use core::{
    arch::asm,
    cell::UnsafeCell,
    sync::atomic::{AtomicBool, AtomicU8, Ordering},
};

use embedded_io::{ErrorType, Read, ReadReady, Write};
use kemqtt_node::link::Overrun;

use crate::registers::{DDRD, UBRR0H, UBRR0L, UCSR0A, UCSR0B, UCSR0C, UDR0};

/// The UART. There is one.
pub(crate) struct Uart(());

impl Uart {
    pub(crate) fn start() -> Self {
        DDRD.write(RTS);
        UBRR0H.write(0);
        UBRR0L.write(3); // 16 MHz / 8 / (3 + 1)
        UCSR0A.write(DOUBLE_SPEED);
        UCSR0C.write(EIGHT_BITS);
        UCSR0B.write(RECEIVE_INTERRUPT | RECEIVER | TRANSMITTER);
        Self(())
    }
}

/// Whether something waits to be read.
pub(crate) fn has_received() -> bool {
    HEAD.load(Ordering::Relaxed) != TAIL.load(Ordering::Relaxed) || OVERRUN.load(Ordering::Relaxed)
}

impl ErrorType for Uart {
    type Error = Overrun;
}

impl ReadReady for Uart {
    fn read_ready(&mut self) -> Result<bool, Overrun> {
        Ok(has_received())
    }
}

impl Read for Uart {
    fn read(&mut self, buf: &mut [u8]) -> Result<usize, Overrun> {
        let Some(place) = buf.first_mut() else { return Ok(0) };
        while !has_received() {}
        if OVERRUN.load(Ordering::Relaxed) {
            // What is in the ring has a hole behind it.
            TAIL.store(HEAD.load(Ordering::Relaxed), Ordering::Relaxed);
            OVERRUN.store(false, Ordering::Relaxed);
            return Err(Overrun);
        }
        let tail = TAIL.load(Ordering::Relaxed);
        // SAFETY: the handler writes only the free part of the ring, to which this place does not belong yet.
        *place = unsafe { *RING.0.get().cast::<u8>().add(usize::from(tail)) };
        let tail = tail.wrapping_add(1);
        TAIL.store(tail, Ordering::Release);
        if HEAD.load(Ordering::Relaxed).wrapping_sub(tail) < GO {
            // SAFETY: clears one bit of PORTD, in one instruction.
            unsafe { asm!("cbi 0x0b, 4", options(nostack, preserves_flags)) }
        }
        Ok(1)
    }
}

impl Write for Uart {
    fn write(&mut self, bytes: &[u8]) -> Result<usize, Overrun> {
        for byte in bytes {
            while !UCSR0A.has(DATA_EMPTY) {}
            UDR0.write(*byte);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> Result<(), Overrun> {
        Ok(())
    }
}

/// A full turn of an 8-bit index.
const RING_LEN: usize = 256;

struct Ring(UnsafeCell<[u8; RING_LEN]>);

// SAFETY: one core; HEAD belongs to the handler and TAIL to the reader, and each only touches its part.
unsafe impl Sync for Ring {}

static RING: Ring = Ring(UnsafeCell::new([0; RING_LEN]));
static HEAD: AtomicU8 = AtomicU8::new(0);
static TAIL: AtomicU8 = AtomicU8::new(0);
static OVERRUN: AtomicBool = AtomicBool::new(false);

/// USART0_RX.
#[unsafe(no_mangle)]
extern "avr-interrupt" fn __vector_20() {
    let late = UCSR0A.has(DATA_OVERRUN); // belongs to the byte that is read next
    let byte = UDR0.read();
    let head = HEAD.load(Ordering::Relaxed);
    let next = head.wrapping_add(1);
    if late || next == TAIL.load(Ordering::Relaxed) {
        OVERRUN.store(true, Ordering::Relaxed);
        return;
    }
    // SAFETY: `head` is free, and only this handler fills it.
    unsafe { *RING.0.get().cast::<u8>().add(usize::from(head)) = byte }
    HEAD.store(next, Ordering::Release);
    if next.wrapping_sub(TAIL.load(Ordering::Relaxed)) >= STOP {
        // SAFETY: sets one bit of PORTD.
        unsafe { asm!("sbi 0x0b, 4", options(nostack, preserves_flags)) }
    }
}

/// Bytes in the ring from which on the other end shall stop, with room for what is on its way, and below which it may go on.
const STOP: u8 = 192;
const GO: u8 = 64;

/// Bit 4 of port D.
const RTS: u8 = 0x10;

const DOUBLE_SPEED: u8 = 0x02;
const DATA_OVERRUN: u8 = 0x08;
const DATA_EMPTY: u8 = 0x20;
const EIGHT_BITS: u8 = 0x06;
const TRANSMITTER: u8 = 0x08;
const RECEIVER: u8 = 0x10;
const RECEIVE_INTERRUPT: u8 = 0x80;
