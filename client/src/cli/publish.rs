//! `kemqtt pub`.

use std::fs;
use std::io::{self, Read};
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, bail};
use clap::{ArgGroup, Args};

use super::Failure;
use super::connection::Connection;
use super::progress::Progress;
use super::session::{Event, Message, Session, SessionArguments};

/// Publish messages.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("payload").required(true), after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// Topic to publish to.
    #[arg(short, long, value_parser = topic_name)]
    topic: String,
    /// Payload.
    #[arg(short, long, group = "payload", value_name = "TEXT")]
    message: Option<String>,
    /// Read the payload from a file, or from standard input if it is `-`.
    #[arg(short, long, group = "payload", value_name = "FILE")]
    file: Option<PathBuf>,
    /// Send an empty payload (with --retain it clears the retained message).
    #[arg(short, long, group = "payload")]
    null_message: bool,
    /// Quality of service.
    #[arg(short, long, default_value_t = 0, value_parser = clap::value_parser!(u8).range(0..=2))]
    qos: u8,
    /// Have the broker retain the message.
    #[arg(short, long)]
    retain: bool,
    /// Send it this many times.
    #[arg(short, long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..), value_name = "N")]
    count: u64,
    /// Milliseconds between two messages.
    #[arg(long, default_value_t = 0, value_name = "MS")]
    interval: u64,
    #[command(flatten)]
    connection: Connection,
    #[command(flatten)]
    session: SessionArguments,
}

/// Publishes, waits until every message has left or was acknowledged, and disconnects.
pub(super) async fn run(arguments: Arguments) -> anyhow::Result<()> {
    let Arguments {
        topic,
        qos,
        retain,
        count,
        ..
    } = arguments;
    let payload = payload(arguments.message, arguments.file)?;
    let mut session = Session::open(&arguments.connection, &arguments.session).await?;
    let sender = session.sender();
    let pause = Duration::from_millis(arguments.interval);

    // The event loop takes requests only while it is polled, so the messages come from another task.
    let feeder = tokio::spawn(async move {
        for sent in 0..count {
            if sent > 0 && !pause.is_zero() {
                tokio::time::sleep(pause).await;
            }
            sender
                .publish(Message {
                    topic: topic.clone(),
                    payload: payload.clone(),
                    qos,
                    retain,
                })
                .await?;
        }
        anyhow::Ok(())
    });
    let outcome = collect(&mut session, count).await;
    feeder.abort();
    outcome?;
    session.close().await
}

async fn collect(session: &mut Session, count: u64) -> anyhow::Result<()> {
    let mut progress = Progress::new("published", count);
    let (mut done, mut connections) = (0, 0);
    while done < count {
        match session.next().await? {
            Event::Published(Ok(())) => done += 1,
            Event::Published(Err(reason)) => bail!(Failure::Refused(format!("message {}: {reason}", done + 1))),
            // What was not acknowledged on the old connection is gone, and nobody can say whether it arrived.
            Event::Connected { .. } if connections > 0 => bail!(Failure::Lost { done, count }),
            Event::Connected { .. } => connections += 1,
            _ => {}
        }
        progress.set(done);
    }
    Ok(())
}

fn payload(message: Option<String>, file: Option<PathBuf>) -> anyhow::Result<Vec<u8>> {
    match file {
        None => Ok(message.unwrap_or_default().into_bytes()),
        Some(path) if path.as_os_str() == "-" => {
            let mut payload = Vec::new();
            io::stdin()
                .read_to_end(&mut payload)
                .context("cannot read standard input")?;
            Ok(payload)
        }
        Some(path) => fs::read(&path).with_context(|| format!("cannot read {}", path.display())),
    }
}

/// A topic name: not empty, no wildcards, no U+0000 (MQTT 5.0 section 4.7.3).
fn topic_name(text: &str) -> Result<String, &'static str> {
    match text {
        "" => Err("a topic may not be empty"),
        _ if text.contains(['#', '+', '\0']) => Err("wildcards are for subscribers; publish to one topic"),
        _ if text.len() > 65_535 => Err("a topic has at most 65,535 bytes"),
        _ => Ok(text.to_owned()),
    }
}

const EXAMPLES: &str = "\
Examples:
  kemqtt pub -t room/temp -m 21.5
  kemqtt pub -t firmware/image --file image.bin -q 1
  date | kemqtt pub -t clock --file - --retain
  kemqtt pub -t load/test -m x -q 1 --count 1000
  kemqtt pub --broker gw.example:1884 --anonymous -u alice --password-file pw -t chat -m hello";
