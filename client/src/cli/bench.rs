//! `kemqtt bench`: how long until an application may send, and what it costs on the wire.

mod count;
mod hkm1;
mod report;
mod tls;

use std::time::Instant;

use anyhow::Context;
use clap::Args;
use kemqtt_client::SuiteId;

use self::count::Traffic;
use self::hkm1::Hkm1Peer;
use self::report::{Contender, Report};
use self::tls::TlsPeer;
use super::connection::{Keys, warn_of_research, with_port};
use super::progress::Progress;

/// Measure the time from the TCP connect to the application's CONNACK.
///
/// Without --broker both ends run in this process over loopback, with keys made for the occasion. All contenders take
/// turns, one handshake each, so that whatever else the machine does hits them alike.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// Handshakes per contender.
    #[arg(short = 'n', long, default_value_t = 1000, value_parser = clap::value_parser!(u64).range(1..), value_name = "N")]
    handshakes: u64,
    /// Suite to measure; may be given several times [default: x25519-mlkem768-chacha20poly1305].
    #[arg(long = "suite", value_name = "NAME")]
    suites: Vec<SuiteId>,
    /// Measure every suite of this build (with --broker: those the pinned key allows).
    #[arg(long, conflicts_with = "suites")]
    all_suites: bool,
    /// Also measure MQTT over TLS 1.3 (X25519MLKEM768, ECDSA P-256 certificates on both sides) in the same run.
    #[arg(long)]
    tls_peer: bool,
    /// Measure against this broker instead: HOST:PORT or HOST (port 1884).
    #[arg(long, value_name = "ADDRESS")]
    broker: Option<String>,
    #[command(flatten)]
    keys: Keys,
    /// Print JSON instead of a table.
    #[arg(long)]
    json: bool,
}

/// Runs the rounds and prints the report.
pub(super) async fn run(arguments: Arguments) -> anyhow::Result<()> {
    let hkm1 = match &arguments.broker {
        Some(address) => Hkm1Peer::remote(with_port(address), arguments.keys.load()?),
        None => Hkm1Peer::loopback().await?,
    };
    let suites = match (arguments.all_suites, &arguments.suites[..]) {
        (true, _) => hkm1.suites(),
        (false, []) => vec![SuiteId::HOST_DEFAULT],
        (false, chosen) => chosen.to_vec(),
    };
    suites.iter().copied().for_each(warn_of_research);
    let tls = if arguments.tls_peer {
        Some(TlsPeer::start().await?)
    } else {
        None
    };

    let mut contenders: Vec<_> = suites.iter().map(Contender::new).collect();
    let mut baseline = tls.as_ref().map(|_| Contender::new("tls1.3-x25519mlkem768-ecdsa-p256"));
    let mut progress = Progress::new("round", arguments.handshakes);
    for round in 0..WARM_UP + arguments.handshakes {
        let counts = round >= WARM_UP;
        for (suite, contender) in suites.iter().zip(&mut contenders) {
            let begun = Instant::now();
            let traffic = hkm1
                .handshake(*suite)
                .await
                .with_context(|| format!("handshake with {suite} failed"))?;
            contender.add(begun.elapsed(), traffic, counts);
        }
        if let (Some(peer), Some(contender)) = (&tls, &mut baseline) {
            let begun = Instant::now();
            let traffic = peer.handshake().await.context("TLS handshake failed")?;
            contender.add(begun.elapsed(), traffic, counts);
        }
        progress.set(round.saturating_sub(WARM_UP));
    }
    drop(progress);
    contenders.extend(baseline);
    let report = Report {
        peer: hkm1.describe(),
        contenders,
    };
    println!("{}", if arguments.json { report.json() } else { report.table() });
    Ok(())
}

/// The application's CONNECT: MQTT 5.0, clean start, keep alive 60 s, client identifier left to the broker.
const CONNECT: &[u8] = b"\x10\x0d\x00\x04MQTT\x05\x02\x00\x3c\x00\x00\x00";
/// The answer of a peer in this process: success, no session, no properties.
const CONNACK: &[u8; 5] = b"\x20\x03\x00\x00\x00";
/// Rounds that fill caches and warm the branch predictor, not counted.
const WARM_UP: u64 = 5;

const EXAMPLES: &str = "\
Examples:
  kemqtt bench                                       the default suite, both ends in this process
  kemqtt bench --all-suites --tls-peer               every suite next to TLS 1.3
  kemqtt bench --broker gw.example --suite x25519-ctrulight-ascon -n 200 --json";
