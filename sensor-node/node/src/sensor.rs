//! What a sensor does all day, the same on every board: connect, publish a reading, wait, and again.

use embedded_io::{Read, ReadReady, Write};
use hybrid_handshake::{
    mqtt::{self, ReasonCode},
    suite::{KemScheme, Suite},
};

#[cfg(feature = "reauth")]
use crate::Session;
use crate::{
    Arena, Board, Boot, Clock, Error, Node, Nv, Options, Outcome, Phase,
    clock::Deadline,
    divide::divide,
    kat::Bench,
    link::Serial,
    store::{AtBoot, StoreError},
};

/// Runs a board's firmware. Does not return, unless the store says otherwise at boot ([`AtBoot`]); then gives whether all
/// went well.
///
/// `noise` is fresh at every boot; `sample` gives a reading; `test` runs the self-test, at boot or when the host asks for
/// it.
pub fn run<S, B, U, C, N, const F: usize, const W: usize, const K: usize>(
    suite: S,
    broker_kem: B,
    board: &mut Board<Serial<U>, C, N>,
    arena: &mut Arena<F, W, K>,
    noise: &[u8; 32],
    mut sample: impl FnMut() -> u16,
    mut test: impl FnMut(Bench<'_, C>) -> bool,
) -> bool
where
    S: Suite,
    B: KemScheme,
    U: Read + ReadReady + Write,
    C: Clock,
    N: Nv,
{
    let at_boot = board.store.at_boot().unwrap_or(AtBoot::Run);
    if at_boot == AtBoot::SelfTest {
        return self_test(board, &mut arena.flight, &mut arena.work, &mut test);
    }
    board.clock.mark(Some(Phase::Boot));
    let mut boot = Boot::new(&mut board.store, noise);
    board.clock.mark(None);
    let boot = match &mut boot {
        Ok(boot) => boot,
        Err(error) => {
            log_store(&mut board.link, error);
            loop {
                if board.link.self_test_requested() {
                    self_test(board, &mut arena.flight, &mut arena.work, &mut test);
                }
                board.clock.idle();
            }
        }
    };
    let mut sensor = Sensor {
        node: Node::new(suite, broker_kem, board, boot, arena),
        published: 0,
        once: at_boot == AtBoot::PublishOnce,
    };
    loop {
        let ended = sensor.session(&mut sample);
        let Err(error) = ended else { return true };
        log_error(&mut sensor.node.board.link, error);
        sensor.pause(&mut test);
    }
}

struct Sensor<'a, S: Suite, B, U, C, N> {
    node: Node<'a, S, B, Serial<U>, C, N>,
    published: u32,
    once: bool,
}

impl<S, B, U, C, N> Sensor<'_, S, B, U, C, N>
where
    S: Suite,
    B: KemScheme,
    U: Read + ReadReady + Write,
    C: Clock,
    N: Nv,
{
    /// One session; ends with an error, or after one message if there is to be no more.
    #[inline(never)]
    fn session(&mut self, sample: &mut impl FnMut() -> u16) -> Outcome<(), Serial<U>, N> {
        let settings = self.node.settings();
        let (id, interval_ms) = (settings.id, u32::from(settings.interval_s) * 1000);
        let mut topic = Text::<48>::default();
        topic.push(&["sensors/", id.as_str(), "/reading"]);
        let options = Options {
            keep_alive_s: KEEP_ALIVE_S,
            will: None,
        };
        let mut session = self.node.connect(&options)?;
        let how = if session.is_resumed() { "resumed" } else { "full" };
        session.node().board.link.log(&["up", how]);
        #[cfg(feature = "reauth")]
        session.reauthenticate_after(REAUTH_RECORDS);
        #[cfg(feature = "reauth")]
        let mut told = 0;
        loop {
            let mut reading = Text::<32>::default();
            let (number, value) = (Decimal::new(self.published), Decimal::new(sample().into()));
            reading.push(&["n=", number.as_str(), " v=", value.as_str()]);
            let next = Deadline::after(&mut session.node().board.clock, interval_ms);
            session.publish_acknowledged(topic.as_str(), reading.as_str().as_bytes(), ANSWER_MS)?;
            let node = session.node();
            if let Some(error) = node.take_notice() {
                log_store(&mut node.board.link, &error);
            }
            node.board.link.log(&["pub", number.as_str()]);
            self.published = self.published.wrapping_add(1);
            #[cfg(feature = "reauth")]
            renew(&mut session, &mut told);
            if self.once {
                return session.disconnect();
            }
            loop {
                let node = session.node();
                if next.has_passed(&mut node.board.clock) {
                    break;
                }
                node.board.clock.mark(Some(Phase::Idle));
                let left_ms = next.left_ms(&mut node.board.clock);
                session.poll(left_ms)?;
                session.node().board.clock.mark(None);
            }
        }
    }

    /// Waits for the next attempt; makes its M1 meanwhile.
    #[inline(never)]
    fn pause(&mut self, test: &mut impl FnMut(Bench<'_, C>) -> bool) {
        let wait_ms = self.node.retry_ms();
        self.node.board.link.log(&["retry", Decimal::new(wait_ms).as_str()]);
        let next = Deadline::after(&mut self.node.board.clock, wait_ms);
        // An error comes again, and is told, when the session begins.
        let _ = self.node.prepare();
        self.node.board.clock.mark(Some(Phase::Idle));
        while !next.has_passed(&mut self.node.board.clock) {
            if self.node.board.link.self_test_requested() {
                self.node.prepared = None; // it lies in a buffer that the tests use
                let (flight, work) = (&mut *self.node.buffers.flight, &mut *self.node.buffers.work);
                self_test(self.node.board, flight, work, test);
            }
            self.node.board.clock.idle();
        }
        self.node.board.clock.mark(None);
    }
}

/// Passes the host's request on, and tells when there are new keys.
#[cfg(feature = "reauth")]
#[inline(never)]
fn renew<S, B, U, C, N>(session: &mut Session<'_, '_, S, B, Serial<U>, C, N>, told: &mut u32)
where
    S: Suite,
    B: KemScheme,
    U: Read + ReadReady + Write,
    C: Clock,
    N: Nv,
{
    if session.node().board.link.reauthentication_requested() {
        session.reauthenticate();
    }
    let done = session.reauthentications();
    if done != *told {
        *told = done;
        session.node().board.link.log(&["reauth", Decimal::new(done).as_str()]);
    }
}

#[inline(never)]
fn self_test<U: Read + ReadReady + Write, C: Clock, N>(
    board: &mut Board<Serial<U>, C, N>,
    flight: &mut [u8],
    work: &mut [u8],
    test: &mut impl FnMut(Bench<'_, C>) -> bool,
) -> bool {
    let Board { link, clock, .. } = board;
    let mut report = |name: &str, passed| {
        let verdict = if passed { "ok" } else { "FAIL" };
        link.log(&["kat", name, verdict]);
    };
    test(Bench::new(clock, flight, work, &mut report))
}

/// A few bytes instead of sentences: on an 8-bit device every string costs RAM.
#[inline(never)]
fn log_error<L, N, U: Read + ReadReady + Write>(link: &mut Serial<U>, error: Error<L, N>) {
    let (what, code): (_, Option<ReasonCode>) = match error {
        Error::Protocol(error) => ("protocol", Some(error.reason())),
        Error::Refused(code) => ("refused", Some(code)),
        Error::Disconnected(code) => ("disconnected", Some(code)),
        Error::Timeout => ("timeout", None),
        Error::Closed => ("closed", None),
        Error::Link(_) => ("link", None),
        Error::Store(error) => return log_store(link, &error),
    };
    match code {
        Some(code) => link.log(&["down", what, Decimal::new(u32::from(code as u8)).as_str()]),
        None => link.log(&["down", what]),
    }
}

#[inline(never)]
fn log_store<N, U: Read + ReadReady + Write>(link: &mut Serial<U>, error: &StoreError<N>) {
    let what = match error {
        StoreError::Nv(_) | StoreError::Worn => "worn",
        StoreError::Missing => "missing",
        StoreError::Full => "full",
    };
    link.log(&["store", what]);
}

/// A short text without a heap; a part that does not fit is left out.
struct Text<const N: usize> {
    bytes: [u8; N],
    len: usize,
}

impl<const N: usize> Default for Text<N> {
    fn default() -> Self {
        Self { bytes: [0; N], len: 0 }
    }
}

impl<const N: usize> Text<N> {
    fn push(&mut self, parts: &[&str]) {
        for part in parts {
            let place = self
                .bytes
                .get_mut(self.len..)
                .and_then(|rest| rest.get_mut(..part.len()));
            if let Some(place) = place {
                place.copy_from_slice(part.as_bytes());
                self.len += part.len();
            }
        }
    }

    fn as_str(&self) -> &str {
        let bytes = self.bytes.get(..self.len).unwrap_or_default();
        mqtt::text(bytes).unwrap_or_default()
    }
}

/// A number in decimal digits.
struct Decimal {
    digits: [u8; 10],
    start: usize,
}

impl Decimal {
    fn new(number: u32) -> Self {
        let mut decimal = Self {
            digits: [b'0'; 10],
            start: 10,
        };
        let mut rest = number;
        for (place, start) in decimal.digits.iter_mut().zip(0..10).rev() {
            let (quotient, digit) = divide(rest, 10);
            *place = b'0' + digit as u8;
            decimal.start = start;
            rest = quotient;
            if rest == 0 {
                break;
            }
        }
        decimal
    }

    fn as_str(&self) -> &str {
        let digits = self.digits.get(self.start..).unwrap_or_default();
        mqtt::text(digits).unwrap_or_default()
    }
}

const KEEP_ALIVE_S: u16 = 60;
const ANSWER_MS: u32 = 20_000;

/// Every half hour at a reading a second, every day and a half at one a minute.
#[cfg(feature = "reauth")]
const REAUTH_RECORDS: u32 = 4096;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_texts() {
        for (number, text) in [(0, "0"), (7, "7"), (10, "10"), (4_294_967_295, "4294967295")] {
            assert_eq!(Decimal::new(number).as_str(), text);
        }
        let mut text = Text::<8>::default();
        text.push(&["abc", "defghi", "/z"]);
        assert_eq!(text.as_str(), "abc/z");
    }
}
