//! Between the parts of one session, which one task runs: a channel without the blocks that a channel between tasks
//! reserves ahead.

use std::{
    collections::VecDeque,
    sync::{Mutex, MutexGuard, PoisonError},
};

use tokio::sync::Notify;

/// First in, first out. No memory while it is empty.
pub(super) struct Queue<T> {
    items: Mutex<VecDeque<T>>,
    some: Notify,
}

impl<T> Queue<T> {
    /// An empty one.
    pub(super) fn new() -> Self {
        Self {
            items: Mutex::new(VecDeque::new()),
            some: Notify::new(),
        }
    }

    /// Gives the item back if `limit` are waiting already.
    pub(super) fn push(&self, item: T, limit: usize) -> Result<(), T> {
        let mut items = self.lock();
        if items.len() >= limit {
            return Err(item);
        }
        items.push_back(item);
        self.some.notify_one();
        Ok(())
    }

    /// Waits for the next one. For one waiter at a time; nothing is lost if it gives up.
    pub(super) async fn next(&self) -> T {
        loop {
            if let Some(item) = self.pop() {
                return item;
            }
            self.some.notified().await;
        }
    }

    fn pop(&self) -> Option<T> {
        let mut items = self.lock();
        let item = items.pop_front();
        if items.is_empty() {
            *items = VecDeque::new();
        }
        item
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<T>> {
        // Nothing panics while it is held.
        self.items.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use tokio::task;

    use super::*;

    #[tokio::test]
    async fn items_come_in_order_and_the_limit_holds() {
        let queue = Queue::new();
        assert_eq!(
            (queue.push(1, 2), queue.push(2, 2), queue.push(3, 2)),
            (Ok(()), Ok(()), Err(3))
        );
        assert_eq!((queue.next().await, queue.push(4, 2)), (1, Ok(())));
        assert_eq!((queue.next().await, queue.next().await), (2, 4));
        assert_eq!(queue.lock().capacity(), 0);
    }

    #[tokio::test]
    async fn a_waiter_is_woken_and_one_that_gives_up_takes_nothing_along() {
        let queue = Queue::new();
        {
            let mut given_up = std::pin::pin!(queue.next());
            tokio::select! {
                biased;
                _ = &mut given_up => panic!("nothing there"),
                () = task::yield_now() => {}
            }
            assert_eq!(queue.push(7, 1), Ok(()));
        }
        let (seven, eight) = tokio::join!(queue.next(), async {
            task::yield_now().await;
            queue.push(8, 1)
        });
        assert_eq!((seven, eight), (7, Ok(())));
        assert_eq!(queue.next().await, 8);
    }
}
