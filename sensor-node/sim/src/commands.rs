//! The subcommands, one file each.

pub(crate) mod node;
pub(crate) mod provision;
pub(crate) mod qemu;
pub(crate) mod run;

use kemqtt_sim::machine::{Machine, Stop};

/// Says what an exit code does not: how far a stack went.
fn tell(stop: Stop, machine: &impl Machine) {
    if stop == Stop::StackOverflow {
        let (stack, cycle) = (machine.stack(), machine.cycle());
        eprintln!("kemqtt-sim: the stack has left its memory after {cycle} cycles: {stack} bytes at its deepest");
    }
}
