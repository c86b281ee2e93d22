//! What every image has: start-up code and the end of the run.
#![no_std]
#![no_main]

use bench_avr::exit;

#[unsafe(no_mangle)]
extern "C" fn main() -> ! {
    exit(0)
}
