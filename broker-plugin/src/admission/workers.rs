//! Threads for KEM and DH operations: few, with a bounded queue before them.

use std::sync::Arc;

use tokio::{sync::Semaphore, task};

/// Runs expensive operations off the network threads.
#[derive(Clone)]
pub(crate) struct Workers {
    threads: Arc<Semaphore>,
    queue: Arc<Semaphore>,
    /// Places that only urgent work gets.
    reserve: usize,
}

/// Which work is refused first when the queue grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Urgency {
    /// New handshakes: may fill three quarters of the queue.
    Usual,
    /// Resumptions, and handshakes that are half paid for: may fill it all.
    First,
}

/// The queue is full.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Busy;

impl Workers {
    /// `threads` at work at once, `queue` more waiting.
    pub(crate) fn new(threads: usize, queue: usize) -> Self {
        Self {
            threads: Arc::new(Semaphore::new(threads)),
            queue: Arc::new(Semaphore::new(threads + queue)),
            reserve: queue / 4,
        }
    }

    /// Runs `work` on a worker thread.
    ///
    /// # Errors
    /// [`Busy`] if the queue is full, or the program ends.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        urgency: Urgency,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Busy> {
        if urgency == Urgency::Usual && self.queue.available_permits() <= self.reserve {
            return Err(Busy);
        }
        let place = self.queue.clone().try_acquire_owned().map_err(|_| Busy)?;
        let thread = self.threads.clone().acquire_owned().await.map_err(|_| Busy)?;
        // Both permits go along: a caller that gives up must not free the place of work still running.
        let done = task::spawn_blocking(move || {
            let _permits = (place, thread);
            work()
        });
        done.await.map_err(|_| Busy)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[tokio::test]
    async fn a_full_queue_refuses_and_a_free_one_takes_again() {
        let workers = Workers::new(1, 1);
        let (release, gate) = mpsc::channel::<()>();
        let running = tokio::spawn({
            let workers = workers.clone();
            async move { workers.run(Urgency::First, move || gate.recv().is_ok()).await }
        });
        let waiting = tokio::spawn({
            let workers = workers.clone();
            async move { workers.run(Urgency::First, || 7).await }
        });
        while workers.queue.available_permits() > 0 {
            task::yield_now().await;
        }
        assert_eq!(workers.run(Urgency::First, || 8).await, Err(Busy));
        release.send(()).unwrap();
        assert_eq!((running.await.unwrap(), waiting.await.unwrap()), (Ok(true), Ok(7)));
        assert_eq!(workers.run(Urgency::First, || 9).await, Ok(9));
    }

    #[tokio::test]
    async fn the_last_quarter_of_the_queue_is_for_urgent_work() {
        let workers = Workers::new(1, 4);
        let (release, gate) = mpsc::channel::<()>();
        let mut running = vec![tokio::spawn({
            let workers = workers.clone();
            async move { workers.run(Urgency::Usual, move || gate.recv().is_ok()).await }
        })];
        for left in (1..=4).rev() {
            while workers.queue.available_permits() > left {
                task::yield_now().await;
            }
            let workers = workers.clone();
            let urgency = if left > 1 { Urgency::Usual } else { Urgency::First };
            if left == 1 {
                assert_eq!(workers.run(Urgency::Usual, || true).await, Err(Busy));
            }
            running.push(tokio::spawn(async move { workers.run(urgency, || true).await }));
        }
        while workers.queue.available_permits() > 0 {
            task::yield_now().await;
        }
        release.send(()).unwrap();
        for work in running {
            assert_eq!(work.await.unwrap(), Ok(true));
        }
    }
}
