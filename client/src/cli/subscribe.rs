//! `kemqtt sub`.

use std::io::{self, Write};

use anyhow::bail;
use clap::Args;

use super::Failure;
use super::connection::Connection;
use super::session::{Event, Message, Sender, Session, SessionArguments};

/// Subscribe and print what arrives, one payload per line.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// Topic filter; may be given several times.
    #[arg(short, long = "topic", required = true, value_name = "FILTER")]
    topics: Vec<String>,
    /// Highest quality of service wanted.
    #[arg(short, long, default_value_t = 0, value_parser = clap::value_parser!(u8).range(0..=2))]
    qos: u8,
    /// Print the topic before each payload.
    #[arg(short, long)]
    verbose: bool,
    /// End after this many messages.
    #[arg(short = 'C', long, value_parser = clap::value_parser!(u64).range(1..), value_name = "N")]
    count: Option<u64>,
    #[command(flatten)]
    connection: Connection,
    #[command(flatten)]
    session: SessionArguments,
}

/// Prints messages until the count is reached or Ctrl-C; reconnects and subscribes again after a loss.
pub(super) async fn run(arguments: Arguments) -> anyhow::Result<()> {
    let mut session = Session::open(&arguments.connection, &arguments.session).await?;
    let sender = session.sender();
    let interrupt = tokio::signal::ctrl_c();
    tokio::pin!(interrupt);
    let mut left = arguments.count;
    while left != Some(0) {
        let event = tokio::select! {
            event = session.next() => event?,
            _ = &mut interrupt => break,
        };
        match event {
            Event::Connected { resumed: false } => subscribe(&sender, &arguments),
            Event::Subscribed(Err(reason)) => bail!(Failure::Refused(format!("a subscription: {reason}"))),
            Event::Message(message) => {
                print(&message, arguments.verbose)?;
                left = left.map(|n| n - 1);
            }
            _ => {}
        }
    }
    session.close().await
}

/// Asks from another task: the event loop takes requests only while it is polled.
fn subscribe(sender: &Sender, arguments: &Arguments) {
    let (sender, topics, qos) = (sender.clone(), arguments.topics.clone(), arguments.qos);
    tokio::spawn(async move {
        for topic in topics {
            if sender.subscribe(&topic, qos).await.is_err() {
                break;
            }
        }
    });
}

fn print(message: &Message, verbose: bool) -> io::Result<()> {
    let mut out = io::stdout().lock();
    if verbose {
        write!(out, "{} ", message.topic)?;
    }
    out.write_all(&message.payload)?;
    out.write_all(b"\n")?;
    out.flush()
}

const EXAMPLES: &str = "\
Examples:
  kemqtt sub -t 'room/#' -v
  kemqtt sub -t room/temp -t room/humidity -q 1
  kemqtt sub -t firmware/image -C 1 > image.bin     (a newline follows the payload)
  kemqtt sub -t alerts --will-topic status/me --will-payload gone";
