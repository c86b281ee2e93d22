//! Memory of connections that do nothing.

use std::time::Duration;

use anyhow::Result;
use tokio::time::sleep;

use super::{report::Row, way::Way};

/// Name of the row.
pub(crate) const NAME: &str = "idle connections";

/// Opens `count` connections and compares the process before and after.
pub(crate) async fn measure(way: &Way, count: usize) -> Result<Row> {
    let before = way.process.resident()?;
    let mut open = Vec::with_capacity(count);
    for number in 0..count {
        open.push(way.connect(&format!("idle-{number}")).await?);
    }
    // What a handshake needed is given back.
    sleep(Duration::from_millis(500)).await;
    let grown = way.process.resident()?.saturating_sub(before);
    drop(open);
    Ok(Row::new(way.name, NAME)
        .with("open", count as f64)
        .with("bytes each", grown as f64 / count as f64))
}
