//! A node against a broker.

use std::{
    io::Write,
    net::SocketAddr,
    ops::Range,
    path::{Path, PathBuf},
    process::ExitCode,
    time::Duration,
};

use anyhow::{Context, Result};
use clap::Args;
use kemqtt_node::link::ToDevice;
use kemqtt_sim::{
    avr::{self, Avr},
    elf::{Core, Image},
    link::Bridge,
    m4::{self, M4},
    machine::Machine,
    node::{self, End, Event, IdleSpeed, Until},
};

#[derive(Args)]
pub(crate) struct Options {
    /// The node's image, for AVR or Cortex-M4.
    elf: PathBuf,
    /// Where the broker listens.
    #[arg(long, default_value = "127.0.0.1:1884")]
    broker: SocketAddr,
    /// The non-volatile memory: read at the start, kept up to date. See `kemqtt-sim provision`.
    #[arg(long, value_name = "FILE")]
    nv: Option<PathBuf>,
    /// simavr's name of the chip, for an AVR image.
    #[arg(long, default_value = "atmega1284p", env = "KEMQTT_SIM_MCU")]
    mcu: String,
    /// m4sim's memory system, for a Cortex-M4 image.
    #[arg(long, default_value = "l4r5")]
    board: String,
    /// Stop after a log line that starts with this.
    #[arg(long, value_name = "TEXT")]
    until: Option<String>,
    /// How many such lines.
    #[arg(long, default_value_t = 1, requires = "until")]
    times: u32,
    /// Ask the node to re-authenticate after the first log line that starts with this.
    #[arg(long, value_name = "TEXT")]
    reauthenticate_at: Option<String>,
    /// Cut the power when the firmware enters this region, or some cycles later: `3` or `3+50000`.
    #[arg(long, value_name = "ID[+CYCLES]", value_parser = power_cut)]
    power_cut: Option<(u8, u64)>,
    /// Stop after that many seconds of the node's time.
    #[arg(long, value_name = "SECONDS")]
    max_seconds: Option<f64>,
    /// These bytes of the non-volatile memory are worn: they keep what they have when the firmware writes them.
    #[arg(long, value_name = "FROM..TO", value_parser = cells)]
    worn: Option<Range<u16>>,
    /// The UART's receiver loses the byte that comes after so many, and raises its flag for that.
    #[arg(long, value_name = "BYTES")]
    overrun_after: Option<u32>,
    /// Writes to the non-volatile memory take no time.
    #[arg(long)]
    hurry_nv: bool,
    /// So many bytes of rubbish wait on the receive line when the node starts.
    #[arg(long, value_name = "BYTES", default_value_t = 0)]
    flood: u32,
    /// How fast the node's time may pass while it waits, in its seconds for one of ours.
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0)]
    idle_speed: f64,
}

impl Options {
    pub(crate) fn run(self) -> Result<ExitCode> {
        let image = Image::read(&self.elf)?;
        let variables = image.sizes()?.ram;
        match image.core()? {
            Core::Avr => {
                let setup = avr::Setup {
                    mcu: self.mcu.clone(),
                    ..avr::Setup::default()
                };
                let machine = Avr::load(&self.elf, &setup)?;
                self.drive(machine, variables)
            }
            Core::CortexM => {
                let setup = m4::Setup {
                    board: self.board.clone(),
                    ..m4::Setup::default()
                };
                let machine = M4::load(&self.elf, &setup)?;
                self.drive(machine, variables)
            }
        }
    }

    fn drive<M: Machine>(self, mut machine: M, variables: u64) -> Result<ExitCode> {
        if let Some(path) = self.nv.as_ref().filter(|path| path.exists()) {
            machine.set_nv(&std::fs::read(path)?)?;
        }
        if let Some(cells) = self.worn {
            machine.wear_nv(cells);
        }
        if let Some(bytes) = self.overrun_after {
            machine.overrun_uart_after(bytes);
        }
        if self.hurry_nv {
            machine.hurry_nv();
        }
        // Every byte value, escape bytes among them.
        let rubbish: Vec<u8> = (0..self.flood).map(|i| (i * 7 + i / 256) as u8).collect();
        machine.uart_send(&rubbish);
        let until = Until {
            log: self.until.map(|text| (text, self.times)),
            power_cut: self.power_cut,
            device_time: self.max_seconds.map(Duration::from_secs_f64),
        };
        let mut bridge = Bridge::new(self.broker);
        let mut saved = Vec::new();
        let mut save = |machine: &mut M| keep(machine, self.nv.as_deref(), &mut saved);
        let mut out = std::io::stdout();
        let mut ask_at = self.reauthenticate_at;
        let end = node::run(
            &mut machine,
            &mut bridge,
            &until,
            IdleSpeed(self.idle_speed),
            |machine, event| {
                let mut request = None;
                if let Event::Log { text } = &event {
                    save(machine)?;
                    let asked = ask_at.take_if(|start| text.starts_with(start.as_str()));
                    request = asked.map(|_| ToDevice::Reauthenticate);
                }
                writeln!(out, "{}", serde_json::to_string(&event)?)?;
                out.flush()?;
                Ok(request)
            },
        )?;
        save(&mut machine)?;
        let summary = serde_json::json!({
            "event": "end",
            "why": format!("{end:?}"),
            "cycles": machine.cycle(),
            "stack": machine.stack(),
            "variables": variables,
            "resets": machine.resets(),
        });
        println!("{summary}");
        Ok(match end {
            End::Log | End::PowerCut => ExitCode::SUCCESS,
            End::Time => ExitCode::from(73),
            End::Firmware(stop) => {
                super::tell(stop, &machine);
                ExitCode::from(stop.exit_code())
            }
        })
    }
}

fn keep(machine: &mut impl Machine, path: Option<&Path>, saved: &mut Vec<u8>) -> Result<()> {
    let Some(path) = path else { return Ok(()) };
    let nv = machine.nv();
    if nv != *saved {
        std::fs::write(path, &nv).with_context(|| path.display().to_string())?;
        *saved = nv;
    }
    Ok(())
}

fn cells(text: &str) -> Result<Range<u16>> {
    let (from, to) = text.split_once("..").context("FROM..TO")?;
    Ok(from.parse()?..to.parse()?)
}

fn power_cut(text: &str) -> Result<(u8, u64), std::num::ParseIntError> {
    let (id, delay) = text.split_once('+').unwrap_or((text, "0"));
    Ok((id.parse()?, delay.parse()?))
}
