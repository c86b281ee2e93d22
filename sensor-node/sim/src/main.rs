//! `kemqtt-sim avr firmware.elf`: run an image, print what it prints and what its marked regions cost, exit as it does.

use std::{io::Write, path::PathBuf, process::ExitCode};

use anyhow::{Context, Result};
use clap::{Args, Parser, Subcommand};
use kemqtt_sim::{
    avr::{Avr, Setup, Stop},
    elf::Image,
};

/// Run sensor firmware in a simulator.
#[derive(Parser)]
#[command(name = "kemqtt-sim", version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// An AVR image in simavr; the exit code is the firmware's, or 70 crash, 71 stack overflow, 72 halt, 73 out of cycles or output.
    Avr(AvrOptions),
}

#[derive(Args)]
struct AvrOptions {
    /// The image.
    elf: PathBuf,
    /// simavr's name of the chip.
    #[arg(long, default_value = "atmega1284p", env = "KEMQTT_SIM_MCU")]
    mcu: String,
    /// One JSON object instead of text.
    #[arg(long)]
    json: bool,
    /// Give up after that many cycles.
    #[arg(long, default_value_t = 20_000_000_000)]
    max_cycles: u64,
    /// Give up after that many bytes on the UART.
    #[arg(long, default_value_t = 1 << 20)]
    max_output: usize,
    /// Content of the EEPROM at the start, written back at the end.
    #[arg(long, value_name = "FILE")]
    eeprom: Option<PathBuf>,
    /// Bytes for the UART's receive line.
    #[arg(long, value_name = "FILE")]
    input: Option<PathBuf>,
}

fn main() -> Result<ExitCode> {
    match Arguments::parse().command {
        Command::Avr(options) => run_avr(&options),
    }
}

fn run_avr(options: &AvrOptions) -> Result<ExitCode> {
    let setup = Setup {
        mcu: options.mcu.clone(),
        ..Setup::default()
    };
    let mut avr = Avr::load(&options.elf, &setup)?;
    if let Some(path) = options.eeprom.as_ref().filter(|path| path.exists()) {
        avr.set_eeprom(&std::fs::read(path)?)?;
    }
    if let Some(path) = &options.input {
        avr.uart_send(&std::fs::read(path).with_context(|| path.display().to_string())?);
    }
    let mut output = Vec::new();
    let stop = loop {
        let stop = avr.run(SLICE);
        let bytes = avr.uart_take();
        if !options.json {
            std::io::stdout().write_all(&bytes)?;
        }
        output.extend(bytes);
        let capped = avr.cycle() >= options.max_cycles || output.len() >= options.max_output;
        if capped || !matches!(stop, Stop::Cycles | Stop::Asleep) {
            break stop;
        }
    };
    if let Some(path) = &options.eeprom {
        std::fs::write(path, avr.eeprom())?;
    }
    report(&avr, options, stop, &output)?;
    Ok(ExitCode::from(exit_code(stop)))
}

fn report(avr: &Avr, options: &AvrOptions, stop: Stop, output: &[u8]) -> Result<()> {
    let sizes = Image::read(&options.elf)?.sizes()?;
    if options.json {
        let report = serde_json::json!({
            "exit": exit_code(stop),
            "cycles": avr.cycle(),
            "stack": avr.stack(),
            "flash": sizes.flash,
            "ram": sizes.ram,
            "uart": String::from_utf8_lossy(output),
            "marks": avr.marks(),
        });
        println!("{report}");
        return Ok(());
    }
    for mark in avr.marks() {
        println!(
            "@mark {} cycles={} stack={} peak={}",
            mark.id, mark.cycles, mark.stack, mark.peak
        );
    }
    eprintln!(
        "@total cycles={} stack={} flash={} ram={} stop={stop:?}",
        avr.cycle(),
        avr.stack(),
        sizes.flash,
        sizes.ram
    );
    Ok(())
}

fn exit_code(stop: Stop) -> u8 {
    match stop {
        Stop::Exit(code) => code,
        Stop::Crashed => 70,
        Stop::StackOverflow => 71,
        Stop::Halted => 72,
        Stop::Cycles | Stop::Asleep => 73,
    }
}

/// Cycles between two looks at the output.
const SLICE: u64 = 100_000;
