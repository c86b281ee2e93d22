//! Messages from one client to another through the broker.

use std::time::Instant;

use anyhow::{Context, Result, ensure};
use hybrid_handshake::mqtt::{Event, PacketType, Tracker};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, ReadHalf, WriteHalf, split},
    sync::Semaphore,
};

use super::{
    report::Row,
    way::{Stream, Way},
};

/// Size and QoS of a message.
#[derive(Clone, Copy)]
pub(crate) struct Kind {
    pub(crate) name: &'static str,
    size: usize,
    qos: u8,
}

pub(crate) const KINDS: [Kind; 3] = [
    Kind {
        name: "64 B QoS 0",
        size: 64,
        qos: 0,
    },
    Kind {
        name: "64 B QoS 1",
        size: 64,
        qos: 1,
    },
    Kind {
        name: "16 KiB QoS 0",
        size: 16 << 10,
        qos: 0,
    },
];

/// Publishes as fast as the window allows; the clock stops when the subscriber has the last message.
pub(crate) async fn measure(way: &Way, kind: Kind, count: usize) -> Result<Row> {
    let count = if kind.size > 1024 { count.div_ceil(10) } else { count };
    let (mut from_subscriber, mut to_subscriber) = split(way.connect("subscriber").await?);
    to_subscriber
        .write_all(&[0x82, 8, 0, 1, 0, 3, b'a', b'/', b'b', kind.qos])
        .await?;
    to_subscriber.flush().await?;
    let mut suback = [0; 5];
    from_subscriber.read_exact(&mut suback).await?;
    ensure!(suback == [0x90, 3, 0, 1, kind.qos], "{suback:02x?}");
    // Both are there until the last message has come: a connection that closes earlier may take some along.
    let (mut from_publisher, mut to_publisher) = split(way.connect("publisher").await?);
    // No more on the way than this, so that no queue of the broker grows.
    let window = Semaphore::new(WINDOW);
    let (start, processor) = (Instant::now(), way.processor()?);
    tokio::try_join!(
        publish(&mut to_publisher, kind, count, &window),
        acknowledged(&mut from_publisher, kind, count),
        receive(from_subscriber, to_subscriber, kind, count, &window),
    )?;
    let (elapsed, processor) = (start.elapsed(), way.processor()? - processor);
    Ok(Row::new(way.name, kind.name)
        .with("per s", count as f64 / elapsed.as_secs_f64())
        .with("µs processor each", processor.as_secs_f64() * 1e6 / count as f64))
}

async fn publish(to: &mut WriteHalf<Box<dyn Stream>>, kind: Kind, count: usize, window: &Semaphore) -> Result<()> {
    let head = 5 + if kind.qos > 0 { 2 } else { 0 };
    let mut batch = Vec::new();
    for number in 0..count {
        if window.available_permits() == 0 {
            to.write_all(&batch).await?;
            to.flush().await?;
            batch.clear();
        }
        window.acquire().await?.forget();
        batch.push(0x30 | kind.qos << 1);
        let mut rest = head + kind.size;
        while rest >= 0x80 {
            batch.push(rest as u8 | 0x80);
            rest >>= 7;
        }
        batch.push(rest as u8);
        batch.extend_from_slice(&[0, 3, b'a', b'/', b'b']);
        if kind.qos > 0 {
            batch.extend_from_slice(&((number % 60_000) as u16 + 1).to_be_bytes());
        }
        batch.resize(batch.len() + kind.size, b'x');
        if batch.len() >= BATCH {
            to.write_all(&batch).await?;
            to.flush().await?;
            batch.clear();
        }
    }
    to.write_all(&batch).await?;
    Ok(to.flush().await?)
}

/// Waits for the publisher's PUBACKs.
async fn acknowledged(from: &mut ReadHalf<Box<dyn Stream>>, kind: Kind, count: usize) -> Result<()> {
    let mut buffer = vec![0; 4 * count.min(16 << 10)];
    let mut left = if kind.qos > 0 { 4 * count } else { 0 };
    while left > 0 {
        let len = from.read(&mut buffer).await?;
        ensure!(len > 0, "publisher closed");
        left = left.checked_sub(len).context("more than PUBACKs")?;
    }
    Ok(())
}

async fn receive(
    mut from: ReadHalf<Box<dyn Stream>>,
    mut to: WriteHalf<Box<dyn Stream>>,
    kind: Kind,
    count: usize,
    window: &Semaphore,
) -> Result<()> {
    let (mut tracker, mut buffer, mut received) = (Tracker::new(u32::MAX), vec![0; 64 << 10], 0);
    while received < count {
        let len = from.read(&mut buffer).await?;
        ensure!(len > 0, "subscriber closed");
        let (mut rest, mut fresh, mut body) = (&buffer[..len], 0, Vec::new());
        let mut acknowledgements = Vec::new();
        while let Some(event) = tracker.next(&mut rest).map_err(anyhow::Error::from)? {
            match event {
                Event::Start(header) => ensure!(header.packet == PacketType::Publish, "{:?}", header.packet),
                Event::Body(bytes) if kind.qos > 0 => body.extend_from_slice(bytes),
                Event::Body(_) => {}
                Event::End => {
                    fresh += 1;
                    // A message that two reads share is acknowledged by its number all the same: ids count up.
                    let id = ((received + fresh - 1) % 65_535) as u16 + 1;
                    acknowledgements.extend_from_slice(&[0x40, 2, (id >> 8) as u8, id as u8]);
                    body.clear();
                }
            }
        }
        received += fresh;
        window.add_permits(fresh);
        if kind.qos > 0 && !acknowledgements.is_empty() {
            to.write_all(&acknowledgements).await?;
            to.flush().await?;
        }
    }
    Ok(())
}

const WINDOW: usize = 1000;
const BATCH: usize = 16 << 10;
