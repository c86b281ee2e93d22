//! Benchmark firmware for Cortex-M4: prints cycles and stack of every operation of one image over semihosting, or
//! compares the backends with portable code (image `check`).
//!
//! `cargo xtask bench-m4` builds an image for each group of rows (`BENCH_M4_ROWS`) and runs it in the cycle model.
#![no_std]
#![no_main]

#[cfg(not(kemqtt_portable))]
mod abi;
mod check;
mod draw;
mod meter;
mod rows;

use core::fmt::Write;

use cortex_m_rt::entry;

#[entry]
fn main() -> ! {
    meter::init();
    let image = env!("BENCH_M4_ROWS");
    let passed = if image == "check" {
        check::run()
    } else {
        rows::run(image)
    };
    meter::exit(if passed { 0 } else { 2 });
}

#[panic_handler]
fn panic(info: &core::panic::PanicInfo<'_>) -> ! {
    let _ = writeln!(meter::Console, "{info}");
    meter::exit(1);
}
