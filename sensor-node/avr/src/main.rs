//! Sensor firmware for ATmega1284P at 16 MHz: one image, one suite. UART0 is the way to the broker and the log, the EEPROM
//! holds seed, credential, pins and ticket.

#![no_std]
#![no_main]
#![feature(abi_avr_interrupt, asm_experimental_arch)]

mod board;
mod clock;
mod eeprom;
mod entropy;
mod memory;
mod progmem;
mod registers;
mod suite;
mod uart;

use core::panic::PanicInfo;

use hybrid_handshake::suite::{FixedKem, NamedKem};
use kemqtt_node::{Arena, Board, NvStore, credential_len, flight_len, link::Serial, sensor, work_len};

use clock::Ticks;
use eeprom::Eeprom;
use suite::{Active, BrokerKem, DK_LEN};
use uart::Uart;

const KEM_AUTH: bool = cfg!(feature = "kem-auth");
const FLIGHT: usize = flight_len(Active::ID, BrokerKem::ID);
const WORK: usize = work_len(Active::ID, BrokerKem::ID, KEM_AUTH);
const KEY: usize = if KEM_AUTH {
    credential_len(Active::ID, DK_LEN)
} else {
    0
};

/// The one buffer; `main` takes it, once.
static mut ARENA: Arena<FLIGHT, WORK, KEY> = Arena::new();

/// Called by the start-up code of the C runtime.
#[unsafe(no_mangle)]
pub extern "C" fn main() -> ! {
    board::start();
    let mut clock = Ticks::start();
    let noise = entropy::gather(&mut clock);
    let mut board = Board {
        link: Serial::new(Uart::start()),
        clock,
        store: NvStore::new(Eeprom, BrokerKem::ID, Active::ID.group()),
    };
    let arena = &raw mut ARENA;
    // SAFETY: `main` runs once and nothing else names ARENA.
    let arena = unsafe { &mut *arena };
    let (suite, broker_kem) = (Active::new(), FixedKem::<BrokerKem>::new());
    let ok = sensor::run(suite, broker_kem, &mut board, arena, &noise, board::sample, suite::test);
    board::exit(ok);
}

/// Says so and waits for the watchdog.
#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    Serial::new(Uart::start()).log(&["panic"]);
    board::halt();
}
