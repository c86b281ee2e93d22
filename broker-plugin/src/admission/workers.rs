//! KEM and DH operations: few at once, with a bounded queue before them in which resumptions go first.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::{sync::oneshot, task};

/// Runs expensive operations.
#[derive(Clone)]
pub(crate) struct Workers(Arc<Mutex<State>>);

struct State {
    /// How many more may be at work.
    free: usize,
    /// Operations that may wait.
    limit: usize,
    /// Places that new handshakes do not get.
    reserve: usize,
    /// Who waits, by urgency.
    waiting: [VecDeque<oneshot::Sender<Right>>; URGENCIES],
}

/// Which work goes first, and is refused last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Urgency {
    /// Resumptions: cheap, and their clients have paid before.
    Resumption,
    /// What is half paid for: M3, and steps of a re-authentication.
    Begun,
    /// New handshakes: may fill three quarters of the queue.
    New,
}

/// How long an operation takes, which decides where it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Weight {
    /// Some hundred microseconds: on the network thread that asks for it. To hand it over and to come back takes longer than
    /// the connections beside it then wait.
    Light,
    /// Milliseconds: on a thread of its own.
    Heavy,
}

/// The queue is full.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Busy;

impl Workers {
    /// `count` at work at once, `queue` more waiting.
    pub(crate) fn new(count: usize, queue: usize) -> Self {
        Self(Arc::new(Mutex::new(State {
            free: count,
            limit: queue,
            reserve: queue / 4,
            waiting: Default::default(),
        })))
    }

    /// Runs `work` as soon as it may.
    ///
    /// # Errors
    /// [`Busy`] if the queue is full, or the program ends.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        urgency: Urgency,
        weight: Weight,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Busy> {
        let right = match self.place(urgency)? {
            Place::Now(right) => right,
            Place::Queue(turn) => turn.await.map_err(|_| Busy)?,
        };
        if weight == Weight::Light {
            let done = work();
            drop(right);
            return Ok(done);
        }
        // It goes along: a caller that gives up must not free the place of work still running.
        let done = task::spawn_blocking(move || {
            let _right = right;
            work()
        });
        done.await.map_err(|_| Busy)
    }

    fn place(&self, urgency: Urgency) -> Result<Place, Busy> {
        let mut state = self.lock();
        if state.free > 0 {
            state.free -= 1;
            return Ok(Place::Now(Right(Some(self.clone()))));
        }
        let room = match urgency {
            Urgency::Resumption | Urgency::Begun => state.limit,
            Urgency::New => state.limit - state.reserve,
        };
        if state.waiting() >= room {
            // Those that gave up leave their places only now.
            state
                .waiting
                .iter_mut()
                .for_each(|queue| queue.retain(|turn| !turn.is_closed()));
            if state.waiting() >= room {
                return Err(Busy);
            }
        }
        let (turn, mine) = oneshot::channel();
        if let Some(queue) = state.waiting.get_mut(urgency as usize) {
            queue.push_back(turn);
        }
        Ok(Place::Queue(mine))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing panics while it is held.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn waiting(&self) -> usize {
        self.waiting.iter().map(VecDeque::len).sum()
    }

    /// The most urgent of those that wait, the longest waiting among them.
    fn next(&mut self) -> Option<oneshot::Sender<Right>> {
        self.waiting.iter_mut().find_map(VecDeque::pop_front)
    }
}

enum Place {
    Now(Right),
    Queue(oneshot::Receiver<Right>),
}

/// The right to be at work; goes to the next in the queue when dropped.
struct Right(Option<Workers>);

impl Drop for Right {
    fn drop(&mut self) {
        let Some(workers) = self.0.take() else { return };
        loop {
            let next = {
                let mut state = workers.lock();
                let next = state.next();
                if next.is_none() {
                    state.free += 1;
                }
                next
            };
            match next.map(|turn| turn.send(Self(Some(workers.clone())))) {
                None | Some(Ok(())) => return,
                // That one has given up: the right is still ours.
                Some(Err(mut returned)) => returned.0 = None,
            }
        }
    }
}

const URGENCIES: usize = 3;

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    type Running<T> = task::JoinHandle<Result<T, Busy>>;

    /// Occupies one thread until the sender says so.
    fn occupy(workers: &Workers) -> (mpsc::Sender<()>, Running<bool>) {
        let (release, gate) = mpsc::channel::<()>();
        let workers = workers.clone();
        let running = tokio::spawn(async move {
            workers
                .run(Urgency::New, Weight::Heavy, move || gate.recv().is_ok())
                .await
        });
        (release, running)
    }

    async fn waiting(workers: &Workers, count: usize) {
        while workers.lock().free > 0 || workers.lock().waiting() != count {
            task::yield_now().await;
        }
    }

    fn spawn<T: Send + 'static>(
        workers: &Workers,
        urgency: Urgency,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Running<T> {
        let workers = workers.clone();
        tokio::spawn(async move { workers.run(urgency, Weight::Heavy, work).await })
    }

    #[tokio::test]
    async fn a_full_queue_refuses_and_a_free_one_takes_again() {
        let workers = Workers::new(1, 1);
        let (release, running) = occupy(&workers);
        waiting(&workers, 0).await;
        let second = spawn(&workers, Urgency::Begun, || 7);
        waiting(&workers, 1).await;
        assert_eq!(workers.run(Urgency::Begun, Weight::Light, || 8).await, Err(Busy));
        release.send(()).unwrap();
        assert_eq!((running.await.unwrap(), second.await.unwrap()), (Ok(true), Ok(7)));
        assert_eq!(workers.run(Urgency::Begun, Weight::Heavy, || 9).await, Ok(9));
    }

    #[tokio::test]
    async fn light_work_runs_here_but_waits_for_its_turn_like_any_other() {
        let workers = Workers::new(1, 1);
        let here = std::thread::current().id();
        let thread = || std::thread::current().id();
        assert_eq!(workers.run(Urgency::New, Weight::Light, thread).await, Ok(here));
        assert_ne!(workers.run(Urgency::New, Weight::Heavy, thread).await, Ok(here));
        let (release, running) = occupy(&workers);
        waiting(&workers, 0).await;
        let queued = {
            let workers = workers.clone();
            tokio::spawn(async move { workers.run(Urgency::Begun, Weight::Light, thread).await })
        };
        waiting(&workers, 1).await;
        assert!(!queued.is_finished());
        release.send(()).unwrap();
        assert_eq!((running.await.unwrap(), queued.await.unwrap()), (Ok(true), Ok(here)));
        assert_eq!(workers.lock().free, 1);
    }

    #[tokio::test]
    async fn resumptions_go_first_whoever_came_before() {
        let workers = Workers::new(1, 8);
        let (release, running) = occupy(&workers);
        waiting(&workers, 0).await;
        let order = Arc::new(Mutex::new(Vec::new()));
        let mut queued = Vec::new();
        let asked = [
            (Urgency::New, "new 1"),
            (Urgency::Begun, "begun 1"),
            (Urgency::New, "new 2"),
            (Urgency::Resumption, "resumption 1"),
            (Urgency::Begun, "begun 2"),
            (Urgency::Resumption, "resumption 2"),
        ];
        for (count, (urgency, name)) in asked.into_iter().enumerate() {
            let order = order.clone();
            queued.push(spawn(&workers, urgency, move || order.lock().unwrap().push(name)));
            waiting(&workers, count + 1).await;
        }
        release.send(()).unwrap();
        assert_eq!(running.await.unwrap(), Ok(true));
        for work in queued {
            assert_eq!(work.await.unwrap(), Ok(()));
        }
        let expected = ["resumption 1", "resumption 2", "begun 1", "begun 2", "new 1", "new 2"];
        assert_eq!(*order.lock().unwrap(), expected);
    }

    #[tokio::test]
    async fn the_last_quarter_of_the_queue_is_not_for_new_handshakes() {
        let workers = Workers::new(1, 4);
        let (release, running) = occupy(&workers);
        waiting(&workers, 0).await;
        let mut queued = Vec::new();
        for count in 1..=3 {
            queued.push(spawn(&workers, Urgency::New, || true));
            waiting(&workers, count).await;
        }
        assert_eq!(workers.run(Urgency::New, Weight::Heavy, || true).await, Err(Busy));
        queued.push(spawn(&workers, Urgency::Resumption, || true));
        waiting(&workers, 4).await;
        assert_eq!(
            workers.run(Urgency::Resumption, Weight::Heavy, || true).await,
            Err(Busy)
        );
        release.send(()).unwrap();
        for work in queued.into_iter().chain([running]) {
            assert_eq!(work.await.unwrap(), Ok(true));
        }
    }

    #[tokio::test]
    async fn who_gives_up_loses_his_place_and_blocks_nobody() {
        let workers = Workers::new(1, 1);
        let (release, running) = occupy(&workers);
        waiting(&workers, 0).await;
        let impatient = spawn(&workers, Urgency::Begun, || 1);
        waiting(&workers, 1).await;
        impatient.abort();
        assert!(impatient.await.is_err());
        let patient = spawn(&workers, Urgency::Begun, || 2);
        task::yield_now().await;
        release.send(()).unwrap();
        assert_eq!((running.await.unwrap(), patient.await.unwrap()), (Ok(true), Ok(2)));
        // And one that gives up while nobody comes after it.
        let (release, running) = occupy(&workers);
        waiting(&workers, 0).await;
        let impatient = spawn(&workers, Urgency::Begun, || 3);
        waiting(&workers, 1).await;
        impatient.abort();
        release.send(()).unwrap();
        assert_eq!(running.await.unwrap(), Ok(true));
        while workers.lock().free == 0 {
            task::yield_now().await;
        }
        assert_eq!(workers.run(Urgency::New, Weight::Heavy, || 4).await, Ok(4));
        assert_eq!(workers.lock().free, 1);
    }
}
