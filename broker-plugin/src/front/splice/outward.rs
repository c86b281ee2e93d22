//! To the client: packets in, records out.

use std::{
    array,
    collections::VecDeque,
    future::poll_fn,
    io::{self, IoSlice},
    ops::Range,
    pin::Pin,
    sync::Arc,
    task::Poll,
    time::Duration,
};

use hybrid_handshake::{
    aead::AnyAead,
    mqtt::{Disconnect, Level, ReasonCode, Tracker},
    record::{Content, HEADROOM, Sealer},
};
use tokio::{
    io::{AsyncRead as _, AsyncWriteExt as _, ReadBuf, ReadHalf},
    net::tcp::WriteHalf as TcpWriteHalf,
    time::timeout,
};

use super::renewal::{Exchange, Say};
use crate::{
    backend::BoxedStream,
    guard::Version,
    metrics::{Direction, Metrics},
};

/// One direction of a session. Its state is whole between any two polls, so it can be stopped and go on.
pub(super) struct Outward<'a> {
    client: TcpWriteHalf<'a>,
    sealer: Sealer<AnyAead>,
    version: Version,
    /// Where packets of the back end end: only there a packet of ours may stand.
    tracker: Tracker,
    /// Places for a few records; none while an idle connection waits.
    buf: Vec<u8>,
    /// The parts of `buf` that are sealed and not written yet, in order; at most [`RECORDS`].
    pending: VecDeque<Range<usize>>,
    /// What to say next in control records.
    news: VecDeque<Say>,
    /// More of it, and where new keys go.
    exchange: Arc<Exchange>,
    metrics: &'a Metrics,
}

impl<'a> Outward<'a> {
    pub(super) fn new(
        client: TcpWriteHalf<'a>,
        sealer: Sealer<AnyAead>,
        news: VecDeque<Say>,
        exchange: Arc<Exchange>,
        version: Version,
        metrics: &'a Metrics,
    ) -> Self {
        Self {
            client,
            sealer,
            version,
            tracker: Tracker::new(u32::MAX),
            buf: Vec::new(),
            pending: VecDeque::new(),
            news,
            exchange,
            metrics,
        }
    }

    /// Runs until one side ends; says whether it was the client.
    pub(super) async fn run(&mut self, backend: &mut ReadHalf<BoxedStream>) -> bool {
        loop {
            match self.step(backend).await {
                Ok(true) => {}
                Ok(false) => return false,
                Err(_) => return true,
            }
        }
    }

    /// Passes on what the back end has already sent, up to its end.
    pub(super) async fn drain(&mut self, backend: &mut ReadHalf<BoxedStream>) {
        let _ = timeout(PATIENCE, self.run(backend)).await;
    }

    /// Tells the client why it is disconnected, behind the packet that is on its way. MQTT 3.1.1 has no words for it.
    pub(super) async fn disconnect(&mut self, backend: &mut ReadHalf<BoxedStream>, code: ReasonCode) {
        let finish = async {
            self.flush().await?;
            if self.version == Version::V3 {
                return Ok(());
            }
            while !self.tracker.at_boundary() {
                if !self.step(backend).await? {
                    return Ok(());
                }
            }
            self.flush().await?;
            self.make_room(0);
            let place = self.buf.get_mut(HEADROOM..).unwrap_or_default();
            let len = Disconnect::new(code)
                .write(Level::V5, place)
                .map_err(io::Error::other)?;
            self.seal(Content::Data, 0, len)?;
            self.flush().await
        };
        // A client that does not read is closed all the same.
        let _: Result<io::Result<()>, _> = timeout(PATIENCE, finish).await;
    }

    /// Writes what is pending, then reads, seals and writes what is there; `false` at the back end's end.
    async fn step(&mut self, backend: &mut ReadHalf<BoxedStream>) -> io::Result<bool> {
        self.flush().await?;
        let limit = usize::from(self.sealer.limit());
        if let Some(say) = self.news.pop_front() {
            self.control(say, limit)?;
            return Ok(true);
        }
        let len = tokio::select! {
            biased;
            say = self.exchange.to_say() => {
                self.news.push_back(say);
                return Ok(true);
            }
            // A failing back end ends like a closing one.
            read = read(&mut self.buf, limit, backend) => read.unwrap_or(0),
        };
        if len == 0 {
            return Ok(false);
        }
        self.data(0, len)?;
        // Where a record is full there is mostly more, and one write takes it all.
        let mut full = len == limit;
        for index in 1..RECORDS {
            if !full {
                break;
            }
            self.make_room(index);
            let start = index * self.place_len() + HEADROOM;
            let place = self.buf.get_mut(start..start + limit).unwrap_or_default();
            let len = read_now(place, backend).await;
            if len > 0 {
                self.data(index, len)?;
            }
            full = len == limit;
        }
        self.flush().await?;
        Ok(true)
    }

    /// Seals `len` bytes of the back end in place `index`.
    fn data(&mut self, index: usize, len: usize) -> io::Result<()> {
        let start = index * self.place_len() + HEADROOM;
        let mut rest = self.buf.get(start..start + len).unwrap_or_default();
        while self.tracker.next(&mut rest).map_err(io::Error::other)?.is_some() {}
        self.metrics
            .bytes
            .get_or_create(&Direction { direction: "out" })
            .inc_by(len as u64);
        self.seal(Content::Data, index, len)
    }

    /// Seals the start of a control message; what does not fit into one record is the next thing to say.
    fn control(&mut self, say: Say, limit: usize) -> io::Result<()> {
        let (mut message, keys) = match say {
            Say::Message(message) => (message, None),
            Say::Keys(message, keys) => (message, Some(keys)),
        };
        let rest = message.split_off(limit.min(message.len()));
        self.make_room(0);
        let place = self.buf.get_mut(HEADROOM..HEADROOM + message.len()).unwrap_or_default();
        place.copy_from_slice(&message);
        self.seal(Content::Control, 0, message.len())?;
        match keys {
            None if rest.is_empty() => {}
            None => self.news.push_front(Say::Message(rest)),
            Some(keys) if rest.is_empty() => {
                self.sealer.rekey(keys.broker.expose());
                self.exchange.put_keys(keys);
            }
            Some(keys) => self.news.push_front(Say::Keys(rest, keys)),
        }
        Ok(())
    }

    /// Bytes of a place for a record.
    fn place_len(&self) -> usize {
        Sealer::<AnyAead>::buffer_len(self.sealer.limit())
    }

    /// Makes sure that place `index` is there.
    fn make_room(&mut self, index: usize) {
        let (len, all) = (self.place_len() * (index + 1), self.place_len() * RECORDS);
        if self.buf.len() < len {
            // Grows once: what has been sealed is not to be copied again.
            let room = if index == 0 { len } else { all };
            self.buf.reserve_exact(room - self.buf.len());
            self.buf.resize(len, 0);
        }
    }

    /// Seals the first `len` bytes of the plaintext in place `index`.
    fn seal(&mut self, content: Content, index: usize, len: usize) -> io::Result<()> {
        let len = u16::try_from(len).map_err(io::Error::other)?;
        let start = index * self.place_len();
        let end = start + Sealer::<AnyAead>::buffer_len(len);
        let record = self
            .sealer
            .seal(content, self.buf.get_mut(start..).unwrap_or_default(), len)
            .map_err(io::Error::other)?;
        self.pending.push_back(end - record.len()..end);
        self.metrics
            .records
            .get_or_create(&Direction { direction: "out" })
            .inc();
        Ok(())
    }

    async fn flush(&mut self) -> io::Result<()> {
        while !self.pending.is_empty() {
            let slices: [IoSlice<'_>; RECORDS] = array::from_fn(|i| {
                let range = self.pending.get(i).cloned().unwrap_or_default();
                IoSlice::new(self.buf.get(range).unwrap_or_default())
            });
            let mut written = self.client.write_vectored(&slices).await?;
            if written == 0 {
                return Err(io::ErrorKind::WriteZero.into());
            }
            while let Some(first) = self.pending.front_mut() {
                let gone = written.min(first.len());
                first.start += gone;
                written -= gone;
                if first.start < first.end {
                    break;
                }
                self.pending.pop_front();
            }
        }
        Ok(())
    }
}

/// Reads up to `limit` bytes behind the head room of `buf`, which is there only when there is something to read.
async fn read(buf: &mut Vec<u8>, limit: usize, backend: &mut ReadHalf<BoxedStream>) -> io::Result<usize> {
    poll_fn(|cx| {
        buf.resize(
            Sealer::<AnyAead>::buffer_len(u16::try_from(limit).unwrap_or(u16::MAX)),
            0,
        );
        let mut place = ReadBuf::new(buf.get_mut(HEADROOM..HEADROOM + limit).unwrap_or_default());
        match Pin::new(&mut *backend).poll_read(cx, &mut place) {
            Poll::Ready(read) => Poll::Ready(read.map(|()| place.filled().len())),
            Poll::Pending => {
                *buf = Vec::new();
                Poll::Pending
            }
        }
    })
    .await
}

/// Reads once into `place`; 0 if nothing is there now. The end and failures of the stream come again with the next read.
async fn read_now(place: &mut [u8], backend: &mut ReadHalf<BoxedStream>) -> usize {
    poll_fn(|cx| {
        let mut place = ReadBuf::new(place);
        let read = Pin::new(&mut *backend).poll_read(cx, &mut place);
        Poll::Ready(match read {
            Poll::Ready(Ok(())) => place.filled().len(),
            Poll::Ready(Err(_)) | Poll::Pending => 0,
        })
    })
    .await
}

/// Records that go out with one write.
const RECORDS: usize = 4;
const PATIENCE: Duration = Duration::from_secs(1);
