//! A TCP relay between client and front that knows where messages end: it notes the key phases of records and can lose
//! a message.

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use anyhow::{Context, Result};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::Notify,
    task::JoinHandle,
};

use crate::Direction;

/// A running relay; ends when dropped.
pub struct Relay {
    address: SocketAddr,
    state: Arc<Mutex<State>>,
    task: JoinHandle<()>,
}

/// A message of one connection, counted from 0 in its direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lost {
    /// The outer packet or record with this number.
    Message(Direction, usize),
    /// The control record with this number.
    Control(Direction, usize),
}

#[derive(Default)]
struct State {
    lose: Option<Lost>,
    hold: Option<Hold>,
    connections: usize,
    to_broker: Vec<bool>,
    from_broker: Vec<bool>,
}

/// A message that waits.
struct Hold {
    direction: Direction,
    number: usize,
    reached: Arc<Notify>,
    released: Arc<Notify>,
}

/// Lets a held message go when told, or when dropped.
pub struct Held {
    reached: Arc<Notify>,
    released: Arc<Notify>,
}

impl Held {
    /// Waits until the message is there.
    pub async fn reached(&self) {
        self.reached.notified().await;
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.released.notify_one();
    }
}

impl Relay {
    /// Relays to `target`.
    pub async fn start(target: SocketAddr) -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let state = Arc::new(Mutex::new(State::default()));
        let shared = state.clone();
        let task = tokio::spawn(async move {
            while let Ok((near, _)) = listener.accept().await {
                lock(&shared).connections += 1;
                let shared = shared.clone();
                // A side that goes away is for the other side to notice.
                tokio::spawn(async move { relay(near, target, &shared).await });
            }
        });
        Ok(Self { address, state, task })
    }

    /// Where clients connect.
    pub fn address(&self) -> String {
        self.address.to_string()
    }

    /// Loses this message, once, on whichever connection sends it first.
    pub fn lose(&self, message: Lost) {
        lock(&self.state).lose = Some(message);
    }

    /// Holds back the message with this number, once, on whichever connection sends it first.
    #[must_use]
    pub fn hold(&self, direction: Direction, number: usize) -> Held {
        let (reached, released) = (Arc::<Notify>::default(), Arc::<Notify>::default());
        lock(&self.state).hold = Some(Hold {
            direction,
            number,
            reached: reached.clone(),
            released: released.clone(),
        });
        Held { reached, released }
    }

    /// Whether nothing waits to be lost any more.
    pub fn has_lost(&self) -> bool {
        lock(&self.state).lose.is_none()
    }

    /// Connections so far.
    pub fn connections(&self) -> usize {
        lock(&self.state).connections
    }

    /// The key phases of all records of a direction, equal neighbours merged.
    pub fn phases(&self, direction: Direction) -> Vec<bool> {
        let mut phases = lock(&self.state).phases(direction).clone();
        phases.dedup();
        phases
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl State {
    fn phases(&mut self, direction: Direction) -> &mut Vec<bool> {
        match direction {
            Direction::ToBroker => &mut self.to_broker,
            Direction::ToClient => &mut self.from_broker,
        }
    }

    /// Notes a message; says whether it is lost.
    fn pass(&mut self, direction: Direction, number: usize, control: Option<usize>, first: u8) -> bool {
        if first >> 4 == 0 {
            self.phases(direction).push(first & 1 != 0);
        }
        let lost = match self.lose {
            Some(Lost::Message(way, n)) => way == direction && n == number,
            Some(Lost::Control(way, n)) => way == direction && Some(n) == control,
            None => false,
        };
        if lost {
            self.lose = None;
        }
        lost
    }
}

async fn relay(near: TcpStream, target: SocketAddr, state: &Mutex<State>) -> Result<()> {
    let far = TcpStream::connect(target).await?;
    near.set_nodelay(true)?;
    far.set_nodelay(true)?;
    let ((near_rx, near_tx), (far_rx, far_tx)) = (near.into_split(), far.into_split());
    let up = pump(near_rx, far_tx, Direction::ToBroker, state);
    let down = pump(far_rx, near_tx, Direction::ToClient, state);
    let (up, down) = tokio::join!(up, down);
    up.and(down)
}

/// Passes whole messages on, up to the end of `from`.
async fn pump(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    direction: Direction,
    state: &Mutex<State>,
) -> Result<()> {
    let (mut number, mut controls) = (0, 0);
    while let Ok(first) = from.read_u8().await {
        let mut message = vec![first];
        let mut len = 0;
        for shift in [0, 7, 14, 21] {
            let byte = from.read_u8().await?;
            message.push(byte);
            len |= usize::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                break;
            }
        }
        let start = message.len();
        message.resize(start + len, 0);
        from.read_exact(message.get_mut(start..).context("grown before")?)
            .await?;
        let control = (first >> 4 == 0 && first & 2 != 0).then_some(controls);
        controls += usize::from(control.is_some());
        let hold = lock(state)
            .hold
            .take_if(|hold| (hold.direction, hold.number) == (direction, number));
        if let Some(hold) = hold {
            hold.reached.notify_one();
            hold.released.notified().await;
        }
        if !lock(state).pass(direction, number, control, first) {
            to.write_all(&message).await?;
        }
        number += 1;
    }
    Ok(to.shutdown().await?)
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}
