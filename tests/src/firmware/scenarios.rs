//! What every node has to live through, whatever its chip.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use super::{Events, Fault, Field, Proxy, mark};
use crate::Peer;

/// Readings arrive at a desktop client, and the session is resumed after the broker was restarted.
///
/// # Errors
/// When it is otherwise.
pub async fn readings_arrive_and_survive_a_restart(field: &Field) -> Result<()> {
    let mut broker = field.start_broker().await?;
    let mut subscriber = field.subscriber(2).await?;
    let mut node = field.start_node(&[])?;
    subscriber.logs("sensors/node/reading n=1").await?;
    node.logs("up full").await?;
    ensure!(!node.log().contains("up resumed"), "{}", node.log());

    broker.kill().await?;
    node.logs("down ").await?;
    let _broker = field.start_broker().await?;
    node.logs("up resumed").await?;
    let before = Events::parse_running(&node.log()).log().len();
    let mut subscriber = field.subscriber(1).await?;
    subscriber.logs("sensors/node/reading").await?;
    let events = Events::parse_running(&node.log());
    ensure!(events.log().len() >= before, "{events:?}");
    Ok(())
}

/// The node is asked to re-authenticate between two readings, and goes on under new keys in the same session.
///
/// # Errors
/// When it does not.
pub async fn keys_change_between_readings(field: &Field) -> Result<()> {
    let mut broker = field.start_broker().await?;
    let mut node = field.start_node(&["--reauthenticate-at", "pub 1"])?;
    node.logs("reauth 1").await?;
    broker.logs("re-authenticated device=\"node\"").await?;
    let published = |node: &Peer| {
        let events = Events::parse_running(&node.log());
        events.log().iter().filter(|line| line.starts_with("pub ")).count()
    };
    let last = published(&node) + 2;
    node.logs(&format!("\"pub {last}\"")).await?;
    let events = Events::parse_running(&node.log());
    ensure!(events.connections().len() == 1 && !events.logged("down "), "{events:?}");
    // Records with the other key phase: only the broker with the new keys acknowledges what is in them.
    let sent = events.sent_since("reauth 1");
    ensure!(!sent.is_empty() && sent.iter().all(|first| *first == 1), "{events:?}");
    Ok(())
}

/// The node moves to the next broker key while it works, and is at home when the old one is forgotten.
///
/// # Errors
/// When it does not come back.
pub async fn a_rotated_broker_key_is_followed(field: &Field) -> Result<()> {
    let mut broker = field.start_broker().await?;
    let mut node = field.start_node(&[])?;
    node.logs("pub 1").await?;
    broker.kill().await?;
    field.rotate_key(false).await?;
    let mut broker = field.start_broker().await?;
    node.logs("up resumed").await?;
    // The ticket comes first, and the key behind it while the ticket is being written.
    let published = Events::parse_running(&node.log()).log().len();
    node.logs(&format!("pub {}", published + 3)).await?;
    broker.kill().await?;
    field.rotate_key(true).await?;
    let _broker = field.start_broker().await?;
    // Its ticket belongs to the key that is gone.
    let full = |node: &Peer| {
        Events::parse_running(&node.log())
            .log()
            .iter()
            .filter(|line| **line == "up full")
            .count()
    };
    let end = Instant::now() + Duration::from_secs(60);
    while full(&node) < 2 {
        ensure!(Instant::now() < end, "it does not come back: {}", node.log());
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    ensure!(!node.log().contains("down link"), "a byte was lost: {}", node.log());
    Ok(())
}

/// The power goes at every flight; the node's next life publishes, and never with a seed used before.
///
/// # Errors
/// When it does not.
pub async fn a_power_cut_at_any_flight_is_survived(field: &Field) -> Result<()> {
    let _broker = field.start_broker().await?;
    let mut seeds = vec![seed(field)?];
    // Later than the start of the region, so that the flight is under way.
    for cut in [
        (mark::BOOT, 2_000),
        (mark::PREPARE, 100_000),
        (mark::WAIT_M2, 50_000),
        (mark::M2, 10_000),
        (mark::M3, 100_000),
        (mark::WAIT_M4, 20_000),
        (mark::M4, 1_000),
        (mark::PUBLISH, 1_000),
    ] {
        let cut = format!("{}+{}", cut.0, cut.1);
        field.node(&["--power-cut", &cut]).await?;
        seeds.push(seed(field)?);
        let events = field.node(&["--until", "pub "]).await?;
        ensure!(events.logged("up "), "after a cut at {cut}: {events:?}");
        seeds.push(seed(field)?);
    }
    let lives = seeds.len();
    seeds.sort();
    seeds.dedup();
    // A cut while the seed is being replaced may leave the old one, which that life had not used yet.
    ensure!(seeds.len() >= lives - 1, "a seed was used twice");
    Ok(())
}

/// A forged M2 costs the node no more than symmetric work, and it asks again with the same M1. Gives the cycles of the
/// refusal and of M3's making.
///
/// # Errors
/// When it does more, or does not ask again.
pub async fn a_forged_m2_costs_symmetric_work_only(field: &Field) -> Result<(u64, u64)> {
    let _broker = field.start_broker().await?;
    let proxy = Proxy::start(field.address(), Fault::FlipDown(100)).await?;
    let events = field.node_at(proxy.address(), &["--until", "pub "]).await?;
    let connections = events.connections();
    let [forged, honest] = &connections[..] else {
        anyhow::bail!("not two connections: {events:?}");
    };
    ensure!(forged.cycles(mark::M3).is_empty(), "it went on: {forged:?}");
    ensure!(forged.logged("down ") && honest.logged("up full"), "{events:?}");
    let sent = proxy.sent();
    let m1: Vec<_> = sent.iter().map(|bytes| bytes.get(..M1_LEN)).collect();
    ensure!(m1[0].is_some() && m1[0] == m1[1], "M1 changed between two attempts");
    let refusal = *forged.cycles(mark::M2).first().context("it looked at box2")?;
    let m3 = *honest.cycles(mark::M3).first().context("it made M3")?;
    Ok((refusal, m3))
}

/// Lost bytes and a flood end an attempt, not the node.
///
/// # Errors
/// When they do more.
pub async fn lost_bytes_and_a_flood_end_in_a_retry(field: &Field) -> Result<()> {
    let _broker = field.start_broker().await?;
    for fault in [Fault::LoseDown(300), Fault::LoseUp(500), Fault::Flood(20_000)] {
        let proxy = Proxy::start(field.address(), fault).await?;
        let events = field.node_at(proxy.address(), &["--until", "pub "]).await?;
        ensure!(events.logged("down "), "{fault:?} went unnoticed: {events:?}");
        ensure!(events.logged("up "), "{fault:?}: {events:?}");
        ensure!(events.resets() == Some(0), "{fault:?} reset the node: {events:?}");
    }
    Ok(())
}

/// A byte that the receiver loses in M2 or in a session is noticed and ends the connection.
///
/// # Errors
/// When it ends more, or goes unnoticed.
pub async fn an_overrun_ends_in_a_retry(field: &Field) -> Result<()> {
    let _broker = field.start_broker().await?;
    let events = field.node(&["--overrun-after", "300", "--until", "pub "]).await?;
    let connections = events.connections();
    let [lost, whole] = &connections[..] else {
        anyhow::bail!("not two connections: {events:?}");
    };
    ensure!(lost.logged("down link") && lost.cycles(mark::M2).is_empty(), "{lost:?}");
    ensure!(whole.logged("up full"), "{whole:?}");
    ensure!(events.resets() == Some(0), "{events:?}");
    Ok(())
}

/// Rubbish comes in from the moment the node starts, before it has dialled, and for seconds more.
///
/// # Errors
/// When the node does not get through once it is over.
pub async fn a_flood_without_a_connection_is_outlived(field: &Field) -> Result<()> {
    let _broker = field.start_broker().await?;
    let events = field.node(&["--flood", "100000", "--until", "pub "]).await?;
    ensure!(events.logged("down link") && events.logged("retry "), "{events:?}");
    ensure!(events.resets() == Some(0), "{events:?}");
    Ok(())
}

/// Worn ticket slots are told, and the node goes on: it publishes, and its next life makes a full handshake.
///
/// # Errors
/// When it is otherwise.
pub async fn a_worn_memory_costs_no_more_than_the_ticket(field: &Field) -> Result<()> {
    let _broker = field.start_broker().await?;
    for _ in 0..2 {
        let events = field
            .node(&["--worn", TICKET_SLOTS, "--until", "pub ", "--times", "3"])
            .await?;
        ensure!(events.logged("up full") && events.logged("store worn"), "{events:?}");
        ensure!(!events.logged("down "), "{events:?}");
        // Its client id is free again once the broker has seen it go.
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    Ok(())
}

/// A seed that cannot be replaced is told, and nothing goes out with it.
///
/// # Errors
/// When the node dials.
pub async fn a_worn_seed_stops_every_handshake(field: &Field) -> Result<()> {
    let _broker = field.start_broker().await?;
    let events = field.node(&["--worn", SEED_SLOTS, "--until", "store worn"]).await?;
    ensure!(events.connections().is_empty(), "{events:?}");
    Ok(())
}

/// A device key in the memory of an image for pre-shared keys: it is told at every attempt, with a wait before the next.
///
/// # Errors
/// When the node stops or is reset.
pub async fn a_credential_without_room_is_told(field: &Field) -> Result<()> {
    field.enrol_with_key_pair("stranger").await?;
    field.provision("stranger", None).await?;
    let events = field.node(&["--until", "store full", "--times", "3"]).await?;
    ensure!(events.logged("retry ") && events.connections().is_empty(), "{events:?}");
    ensure!(events.resets() == Some(0), "{events:?}");
    Ok(())
}

/// The cycles of every phase with secrets, for several devices under one broker key.
///
/// # Errors
/// When a device does not get through.
pub async fn cycles_of_devices(field: &Field, devices: u32) -> Result<Vec<[u64; 4]>> {
    let _broker = field.start_broker().await?;
    let mut cycles = Vec::new();
    for device in 0..devices {
        // Names of one length: the length is public.
        let id = format!("unit{device}");
        field.enrol(&id).await?;
        field.provision(&id, Some(&format!("{device:02x}").repeat(32))).await?;
        let events = field.node(&["--until", "pub "]).await?;
        let first = |id| events.cycles(id).first().copied().context("the phase is marked");
        cycles.push([
            first(mark::PREPARE)?,
            first(mark::M2)?,
            first(mark::M3)?,
            first(mark::M4)?,
        ]);
        // Its client id is free again once the broker has seen it go.
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    Ok(cycles)
}

/// Both seed slots.
fn seed(field: &Field) -> Result<Vec<u8>> {
    Ok(field
        .memory()?
        .get(..80)
        .context("the memory has two seed slots")?
        .to_vec())
}

/// Where seed and tickets lie in the memory.
const SEED_SLOTS: &str = "0..80";
const TICKET_SLOTS: &str = "160..608";

/// The outer CONNECT's first part, up to and beyond the client's share.
const M1_LEN: usize = 400;
