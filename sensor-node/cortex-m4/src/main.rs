//! Sensor firmware for Cortex-M4: one image, one suite. The UART is the way to the broker and the log, a retained memory
//! holds seed, credential, pins and ticket.

#![no_std]
#![no_main]

mod board;
mod clock;
mod entropy;
mod nv;
mod suite;
mod uart;

use core::panic::PanicInfo;

use cortex_m_rt::entry;
use hybrid_handshake::suite::{FixedKem, NamedKem};
use kemqtt_node::{Arena, Board, NvStore, flight_len, link::Serial, sensor, work_len};

use clock::Ticks;
use nv::Retained;
use suite::{Active, BrokerKem};
use uart::Uart;

const KEM_AUTH: bool = cfg!(feature = "kem-auth");
const FLIGHT: usize = flight_len(Active::ID, BrokerKem::ID);
const WORK: usize = work_len(Active::ID, BrokerKem::ID, KEM_AUTH);

#[entry]
fn main() -> ! {
    // `entry` makes this static a local: it is taken once. The one buffer.
    static mut ARENA: Arena<FLIGHT, WORK, 0> = Arena::new();

    // SAFETY: here, once.
    let memory = unsafe { Retained::take() };
    let mut board = Board {
        link: Serial::new(Uart::start()),
        clock: Ticks::start(),
        store: NvStore::new(memory, BrokerKem::ID, Active::ID.group()),
    };
    let noise = entropy::gather();
    let (suite, broker_kem) = (Active::new(), FixedKem::<BrokerKem>::new());
    let ok = sensor::run(suite, broker_kem, &mut board, ARENA, &noise, board::sample, suite::test);
    board::exit(ok);
}

/// Says so and starts again.
#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    Serial::new(Uart::start()).log(&["panic"]);
    cortex_m::peripheral::SCB::sys_reset();
}
