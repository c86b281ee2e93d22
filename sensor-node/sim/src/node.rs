//! A sensor node on its way: firmware in a simulator, its UART joined to a broker, time kept.

use std::time::{Duration, Instant};

use anyhow::Result;
use kemqtt_node::link::{ESCAPE, ToDevice};
use serde::Serialize;

use crate::{
    link::{Bridge, Packet, Said},
    machine::{Machine, Stop},
    meter::Mark,
};

/// What happens on the way, in order.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// The node dialled.
    Dialled {
        /// Whether the broker answered.
        up: bool,
    },
    /// The node hung up.
    HungUp,
    /// A line of the node's log.
    Log {
        /// The line.
        text: String,
    },
    /// A packet to the broker is complete.
    Sent {
        /// Its first byte: MQTT type and flags, 0x00 to 0x03 for records.
        first: u8,
        /// Its length on the wire.
        len: u64,
    },
    /// A packet from the broker is complete; the node will have it when its UART has.
    Received {
        /// As above.
        first: u8,
        /// As above.
        len: u64,
    },
    /// A region ended.
    Mark(Mark),
}

/// When a node stops.
#[derive(Clone, Debug, Default)]
pub struct Until {
    /// After the n-th log line that starts with this.
    pub log: Option<(String, u32)>,
    /// That many cycles after the node enters this region for the first time: a power cut.
    pub power_cut: Option<(u8, u64)>,
    /// After that much of the node's time.
    pub device_time: Option<Duration>,
}

/// How fast a node's time may pass while it waits, in its seconds for one of ours.
#[derive(Clone, Copy, Debug)]
pub struct IdleSpeed(pub f64);

/// Why a node stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The log line came.
    Log,
    /// The power was cut.
    PowerCut,
    /// The time is over.
    Time,
    /// The firmware ended or failed.
    Firmware(Stop),
}

/// Runs the node until then. `report` sees every event, and the machine as it is at that moment, and may ask the node for
/// something.
///
/// The simulators outrun the chips, the broker and the network do not: while the core sleeps or its firmware waits for the
/// broker, the node's time passes no faster than `idle_speed` says.
///
/// # Errors
/// Those of `report`.
pub fn run<M: Machine>(
    machine: &mut M,
    bridge: &mut Bridge,
    until: &Until,
    idle_speed: IdleSpeed,
    mut report: impl FnMut(&mut M, Event) -> Result<Option<ToDevice>>,
) -> Result<End> {
    let slice = (u64::from(machine.frequency()) / SLICES_A_SECOND).max(1);
    let mut pace = Pace::default();
    let mut cut_at = None;
    let mut lines = 0;
    let mut marks = machine.mark_count();
    loop {
        let (began, cycle) = (Instant::now(), machine.cycle());
        let stop = machine.run(slice);
        let mut to_node = Vec::new();
        let said = bridge.from_node(&machine.uart_take(), &mut to_node);
        if machine.mark_count() > marks {
            for mark in machine.marks().split_off(marks) {
                report(machine, Event::Mark(mark))?;
            }
            marks = machine.mark_count();
        }
        for said in said {
            let event = Event::from(said);
            if let (Event::Log { text }, Some((wanted, _))) = (&event, &until.log) {
                lines += u32::from(text.starts_with(wanted.as_str()));
            }
            if let Some(request) = report(machine, event)? {
                to_node.extend([ESCAPE, request as u8]);
            }
        }
        if until.log.as_ref().is_some_and(|(_, times)| lines >= *times) {
            return Ok(End::Log);
        }
        if !stop.can_go_on() {
            return Ok(End::Firmware(stop));
        }
        if let Some((id, delay)) = until.power_cut {
            if cut_at.is_none() && machine.current_mark() == Some(id) {
                cut_at = Some(machine.cycle() + delay);
            }
            if cut_at.is_some_and(|at| machine.cycle() >= at) {
                return Ok(End::PowerCut);
            }
        }
        let age = Duration::from_secs_f64(machine.cycle() as f64 / f64::from(machine.frequency()));
        if until.device_time.is_some_and(|limit| age >= limit) {
            return Ok(End::Time);
        }
        if machine.uart_pending() < UART_BACKLOG {
            to_node.extend(bridge.to_node());
            for Packet { first, len } in bridge.take_received() {
                report(machine, Event::Received { first, len })?;
            }
        }
        machine.uart_send(&to_node);
        let waits = stop == Stop::Asleep || machine.current_mark().is_some_and(|id| WAITING.contains(&id));
        if waits && to_node.is_empty() && machine.uart_pending() == 0 {
            let passed = (machine.cycle() - cycle) as f64 / f64::from(machine.frequency());
            let passed = Duration::from_secs_f64(passed / idle_speed.0);
            pace.wait(passed.saturating_sub(began.elapsed()));
        }
    }
}

impl From<Said> for Event {
    fn from(said: Said) -> Self {
        match said {
            Said::Dialled { up } => Self::Dialled { up },
            Said::HungUp => Self::HungUp,
            Said::Log(text) => Self::Log { text },
            Said::Sent(Packet { first, len }) => Self::Sent { first, len },
        }
    }
}

/// Time that the node is ahead of us; short waits are put together, as the system does not wait for less than this.
#[derive(Default)]
struct Pace {
    ahead: Duration,
}

impl Pace {
    fn wait(&mut self, time: Duration) {
        self.ahead += time;
        if self.ahead >= SHORTEST_WAIT {
            std::thread::sleep(std::mem::take(&mut self.ahead));
        }
    }
}

/// Regions in which the firmware waits for the broker or for its next sample.
pub const WAITING: [u8; 3] = [3, 6, 10];

const SLICES_A_SECOND: u64 = 2000;
const SHORTEST_WAIT: Duration = Duration::from_millis(2);
/// Bytes that may wait on the receive line before the broker's bytes stay in the kernel.
const UART_BACKLOG: usize = 4096;
