//! One waker for two tasks.

use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Wake, Waker};

/// Wakes the task that reads and the task that writes.
///
/// A transport remembers only the last task that found it unwritable. Reading may have to write (answers to control
/// messages), so that both halves of a split stream wait for the same event: this waker passes it on to both.
#[derive(Debug, Default)]
pub(super) struct BothHalves(Arc<Tasks>);

/// A half of the stream.
#[derive(Clone, Copy, Debug)]
pub(super) enum Half {
    Read = 0,
    Write = 1,
}

#[derive(Debug, Default)]
struct Tasks(Mutex<[Option<Waker>; 2]>);

impl BothHalves {
    /// Notes that `half` waits in the task of `cx`, and returns the waker to poll the transport with.
    pub(super) fn waker(&self, half: Half, cx: &Context<'_>) -> Waker {
        let slot = &mut self.0.lock()[half as usize];
        match slot {
            Some(known) => known.clone_from(cx.waker()),
            None => *slot = Some(cx.waker().clone()),
        }
        self.0.clone().into()
    }
}

impl Tasks {
    fn lock(&self) -> std::sync::MutexGuard<'_, [Option<Waker>; 2]> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Wake for Tasks {
    fn wake(self: Arc<Self>) {
        // Taken out first: waking may run the task at once, and it locks again.
        let tasks = std::mem::take(&mut *self.lock());
        tasks.into_iter().flatten().for_each(Waker::wake);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    #[derive(Default)]
    struct Count(AtomicU32);

    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn the_event_that_one_half_waits_for_wakes_the_other_too() {
        let (reader, writer) = (Arc::new(Count::default()), Arc::new(Count::default()));
        let both = BothHalves::default();
        both.waker(Half::Write, &Context::from_waker(&writer.clone().into()));
        let shared = both.waker(Half::Read, &Context::from_waker(&reader.clone().into()));
        shared.wake();
        let counts = || [reader.0.load(Ordering::Relaxed), writer.0.load(Ordering::Relaxed)];
        assert_eq!(counts(), [1, 1]);
        both.waker(Half::Read, &Context::from_waker(&reader.clone().into()))
            .wake();
        assert_eq!(counts(), [2, 1], "a half that does not wait any more is left alone");
    }
}
