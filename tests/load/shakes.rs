//! Connections one after the other: TCP, handshake, CONNECT, CONNACK, close.

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    time::Instant,
};

use anyhow::Result;

use super::{report::Row, way::Way};

/// Name of the row.
pub(crate) const NAME: &str = "handshakes";

/// Makes `count` connections, `parallel` at a time.
pub(crate) async fn measure(way: &Way, count: usize, parallel: usize) -> Result<Row> {
    let next = AtomicUsize::new(0);
    let worker = async || {
        let mut times = Vec::new();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= count {
                return Ok::<_, anyhow::Error>(times);
            }
            let start = Instant::now();
            let stream = way.connect(&number.to_string()).await?;
            times.push(start.elapsed());
            drop(stream);
        }
    };
    let (start, processor) = (Instant::now(), way.processor()?);
    let workers: Vec<_> = (0..parallel).map(|_| worker()).collect();
    let mut times: Vec<_> = futures_join(workers).await?.concat();
    let (elapsed, processor) = (start.elapsed(), way.processor()? - processor);
    times.sort_unstable();
    let at = |share: f64| times.get((times.len() as f64 * share) as usize).or(times.last());
    let milliseconds = |share| at(share).map_or(0.0, |time| time.as_secs_f64() * 1000.0);
    Ok(Row::new(way.name, NAME)
        .with("per s", count as f64 / elapsed.as_secs_f64())
        .with("per s and core", count as f64 / processor.as_secs_f64())
        .with("p50 ms", milliseconds(0.50))
        .with("p99 ms", milliseconds(0.99)))
}

/// Runs all of them on this task.
async fn futures_join<T>(futures: Vec<impl Future<Output = Result<T>>>) -> Result<Vec<T>> {
    let mut pinned: Vec<_> = futures.into_iter().map(Box::pin).collect();
    let mut results: Vec<Option<Result<T>>> = pinned.iter().map(|_| None).collect();
    std::future::poll_fn(|cx| {
        let mut pending = false;
        for (future, result) in pinned.iter_mut().zip(&mut results) {
            if result.is_none() {
                match future.as_mut().poll(cx) {
                    std::task::Poll::Ready(done) => *result = Some(done),
                    std::task::Poll::Pending => pending = true,
                }
            }
        }
        if pending {
            std::task::Poll::Pending
        } else {
            std::task::Poll::Ready(())
        }
    })
    .await;
    results.into_iter().flatten().collect()
}
