//! A TLS 1.3 client on the board of the sensor firmware, measured as that is: P-256, AES-128-GCM, SHA-256.
//!
//! It checks the server's certificate against one authority, its names, and the server's signature; no dates, as it has no
//! clock, and no revocation.

#![no_std]
#![no_main]

#[allow(dead_code)] // shared with the sensor firmware
#[path = "../../../cortex-m4/src/board.rs"]
mod board;
mod entropy;
mod metered;
mod provider;
#[allow(dead_code)] // as above
#[path = "../../../cortex-m4/src/uart.rs"]
mod uart;

use core::panic::PanicInfo;

use cortex_m_rt::entry;
use embedded_tls::{Aes128GcmSha256, MaxFragmentLength, TlsConfig, TlsContext, TlsError, blocking::TlsConnection};
use kemqtt_node::link::{Link, Serial};

use metered::{Metered, Region};
use provider::Provider;
use uart::Uart;

#[entry]
fn main() -> ! {
    // `entry` makes these statics locals. Room for a record of the negotiated 1 KB, and for what TLS adds.
    static mut RECEIVE: [u8; 1024 + 256 + 32] = [0; 1024 + 256 + 32];
    static mut TRANSMIT: [u8; 1024] = [0; 1024];

    let mut serial = Serial::new(Uart::start());
    let done = session(&mut serial, RECEIVE, TRANSMIT);
    board::mark(0);
    serial.log(&[if done.is_ok() { "pub 0" } else { "down" }]);
    board::exit(done.is_ok());
}

/// One handshake and one message.
fn session(serial: &mut Serial<Uart>, receive: &mut [u8], transmit: &mut [u8]) -> Result<(), TlsError> {
    serial.open().map_err(|_| TlsError::IoError)?;
    let config = TlsConfig::new()
        .with_server_name("broker")
        .with_max_fragment_length(MaxFragmentLength::Bits10);
    let mut tls = TlsConnection::<_, Aes128GcmSha256>::new(Metered::new(serial), receive, transmit);
    board::mark(Region::Hello as u32);
    tls.open(TlsContext::new(&config, Provider::new()))?;
    board::mark(Region::Publish as u32);
    metered::enter(Region::Publish);
    tls.write(&MESSAGE)?;
    tls.flush()
}

/// As many bytes as a reading in MQTT.
const MESSAGE: [u8; 36] = [b'r'; 36];

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    board::exit(false);
}
