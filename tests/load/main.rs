//! `cargo xtask load`: a gateway under load, beside the broker alone and beside TLS 1.3 in front of it.
//!
//! All three ways lead to the same Mosquitto, in one run: `direct` over plain TCP, `hkm1` through `kemqtt-broker run`,
//! `tls` through a front of rustls (X25519MLKEM768, ECDSA P-256 certificates on both sides, no resumption) that copies
//! bytes. Each front is a process of its own, so that its processor time and memory are its own; "per core" means per
//! second of that time, which other programs on the machine disturb little.

mod idle;
mod messages;
mod peers;
mod report;
mod shakes;
mod tls;
mod way;

use std::{net::SocketAddr, path::PathBuf};

use anyhow::Result;
use clap::{Parser, Subcommand};

use report::Report;

#[derive(Parser)]
#[command(about = "A gateway under load, beside the broker alone and TLS 1.3 in front of it")]
struct Arguments {
    #[command(subcommand)]
    role: Option<Role>,
    /// Connections made one after the other, per way.
    #[arg(long, default_value_t = 2000)]
    handshakes: usize,
    /// Connections made at the same time.
    #[arg(long, default_value_t = 8)]
    parallel: usize,
    /// Messages of each kind, per way.
    #[arg(long, default_value_t = 50_000)]
    messages: usize,
    /// Idle connections to measure memory with; 0 for none.
    #[arg(long, default_value_t = 10_000)]
    idle: usize,
    /// Measure only rows whose name has this in it, for instance `16 KiB`.
    #[arg(long, default_value = "")]
    only: String,
    /// Print JSON instead of a table.
    #[arg(long)]
    json: bool,
}

#[derive(Subcommand)]
enum Role {
    /// The TLS front, as a process of its own.
    #[command(hide = true)]
    TlsFront {
        keys: PathBuf,
        listen: SocketAddr,
        backend: SocketAddr,
    },
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        match arguments.role {
            Some(Role::TlsFront { keys, listen, backend }) => tls::serve(&keys, listen, backend).await,
            None => measure(&arguments).await,
        }
    })
}

async fn measure(arguments: &Arguments) -> Result<()> {
    let peers = peers::Peers::start().await?;
    let mut report = Report::default();
    let wanted = |name: &str| name.contains(&arguments.only);
    for way in peers.ways().iter().filter(|_| wanted(shakes::NAME)) {
        report.add(shakes::measure(way, arguments.handshakes, arguments.parallel).await?);
    }
    for kind in messages::KINDS.into_iter().filter(|kind| wanted(kind.name)) {
        for way in peers.ways() {
            report.add(messages::measure(way, kind, arguments.messages).await?);
        }
    }
    if arguments.idle > 0 && wanted(idle::NAME) {
        for way in peers.ways() {
            report.add(idle::measure(way, arguments.idle).await?);
        }
    }
    report.print(arguments.json);
    Ok(())
}
