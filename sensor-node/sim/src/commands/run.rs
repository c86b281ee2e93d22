//! One image by itself: what it prints, and what its marked regions cost.

use std::{io::Write, path::PathBuf, process::ExitCode};

use anyhow::{Context, Result};
use clap::Args;
use kemqtt_sim::{
    avr,
    elf::Image,
    m4,
    machine::{Machine, Stop},
};

#[derive(Args)]
pub(crate) struct Common {
    /// The image.
    elf: PathBuf,
    /// One JSON object instead of text.
    #[arg(long)]
    json: bool,
    /// Give up after that many cycles.
    #[arg(long, default_value_t = 20_000_000_000)]
    max_cycles: u64,
    /// Give up after that many bytes on the UART.
    #[arg(long, default_value_t = 1 << 20)]
    max_output: usize,
    /// Content of the non-volatile memory at the start, written back at the end.
    #[arg(long, alias = "eeprom", value_name = "FILE")]
    nv: Option<PathBuf>,
    /// Bytes for the UART's receive line.
    #[arg(long, value_name = "FILE")]
    input: Option<PathBuf>,
}

#[derive(Args)]
pub(crate) struct Avr {
    #[command(flatten)]
    common: Common,
    /// simavr's name of the chip.
    #[arg(long, default_value = "atmega1284p", env = "KEMQTT_SIM_MCU")]
    mcu: String,
}

#[derive(Args)]
pub(crate) struct M4 {
    #[command(flatten)]
    common: Common,
    /// m4sim's memory system: l4r5, f407 or ideal.
    #[arg(long, default_value = "l4r5")]
    board: String,
}

impl Avr {
    pub(crate) fn run(self) -> Result<ExitCode> {
        let setup = avr::Setup {
            mcu: self.mcu,
            ..avr::Setup::default()
        };
        let mut machine = avr::Avr::load(&self.common.elf, &setup)?;
        self.common.run(&mut machine, |_| Vec::new())
    }
}

impl M4 {
    pub(crate) fn run(self) -> Result<ExitCode> {
        let setup = m4::Setup {
            board: self.board,
            ..m4::Setup::default()
        };
        let mut machine = m4::M4::load(&self.common.elf, &setup)?;
        self.common.run(&mut machine, m4::M4::take_console)
    }
}

impl Common {
    fn run<M: Machine>(&self, machine: &mut M, console: impl Fn(&mut M) -> Vec<u8>) -> Result<ExitCode> {
        if let Some(path) = self.nv.as_ref().filter(|path| path.exists()) {
            machine.set_nv(&std::fs::read(path)?)?;
        }
        if let Some(path) = &self.input {
            machine.uart_send(&std::fs::read(path).with_context(|| path.display().to_string())?);
        }
        let mut output = Vec::new();
        let stop = loop {
            let stop = machine.run(SLICE);
            let mut bytes = machine.uart_take();
            bytes.extend(console(machine));
            if !self.json {
                std::io::stdout().write_all(&bytes)?;
            }
            output.extend(bytes);
            let capped = machine.cycle() >= self.max_cycles || output.len() >= self.max_output;
            if capped || !stop.can_go_on() {
                break stop;
            }
        };
        if let Some(path) = &self.nv {
            std::fs::write(path, machine.nv())?;
        }
        self.report(machine, stop, &output)?;
        Ok(ExitCode::from(stop.exit_code()))
    }

    fn report(&self, machine: &impl Machine, stop: Stop, output: &[u8]) -> Result<()> {
        let sizes = Image::read(&self.elf)?.sizes()?;
        super::tell(stop, machine);
        if self.json {
            let report = serde_json::json!({
                "exit": stop.exit_code(),
                "cycles": machine.cycle(),
                "stack": machine.stack(),
                "flash": sizes.flash,
                "ram": sizes.ram,
                "uart": String::from_utf8_lossy(output),
                "marks": machine.marks(),
            });
            println!("{report}");
            return Ok(());
        }
        for mark in machine.marks() {
            println!(
                "@mark {} cycles={} stack={} peak={}",
                mark.id, mark.cycles, mark.stack, mark.peak
            );
        }
        eprintln!(
            "@total cycles={} stack={} flash={} ram={} stop={stop:?}",
            machine.cycle(),
            machine.stack(),
            sizes.flash,
            sizes.ram
        );
        Ok(())
    }
}

/// Cycles between two looks at the output.
const SLICE: u64 = 100_000;
