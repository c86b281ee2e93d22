//! From the client: records in, packets out.

use std::time::Duration;

use bytes::{Buf as _, BytesMut};
use hybrid_handshake::{
    aead::AnyAead,
    control::{self, HEADER_LEN, Receiver},
    message::Capabilities,
    record::{Content, Opener},
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _, ReadHalf, WriteHalf},
    net::tcp::ReadHalf as TcpReadHalf,
    time::{Instant, timeout},
};

use crate::{
    backend::BoxedStream,
    guard::{Guard, Violation},
    metrics::{Direction, Metrics},
};

/// One direction of a session.
pub(super) struct Inward<'a> {
    client: TcpReadHalf<'a>,
    backend: WriteHalf<BoxedStream>,
    opener: Opener<AnyAead>,
    guard: Option<Guard>,
    control: control::Reader,
    message: Vec<u8>,
    started: Instant,
    input: BytesMut,
    output: Vec<u8>,
    metrics: &'a Metrics,
}

/// Why it ended.
pub(super) enum InwardEnd {
    /// The client closed its side behind a whole record.
    Closed,
    /// The connection failed, or ended inside a record.
    Lost,
    /// A record did not open, or a control message broke the rules.
    Broken,
    /// The back end takes no more.
    BackendLost,
    /// The guard stopped the client.
    Violation(Violation),
}

impl<'a> Inward<'a> {
    pub(super) fn new(
        client: TcpReadHalf<'a>,
        backend: WriteHalf<BoxedStream>,
        opener: Opener<AnyAead>,
        options: Capabilities,
        guard: Option<Guard>,
        metrics: &'a Metrics,
    ) -> Self {
        Self {
            client,
            backend,
            opener,
            guard,
            control: control::Reader::new(Receiver::Broker, options),
            message: vec![0; HEADER_LEN],
            started: Instant::now(),
            input: BytesMut::with_capacity(READ_LEN),
            output: Vec::new(),
            metrics,
        }
    }

    /// Runs until the direction ends.
    pub(super) async fn run(&mut self) -> InwardEnd {
        loop {
            let opened = self.open_all();
            // What came before a bad record still counts.
            if !self.output.is_empty() {
                if self.backend.write_all(&self.output).await.is_err() || self.backend.flush().await.is_err() {
                    return InwardEnd::BackendLost;
                }
                self.output.clear();
            }
            if let Err(end) = opened {
                return end;
            }
            self.input.reserve(READ_LEN);
            match self.client.read_buf(&mut self.input).await {
                Ok(0) if self.input.is_empty() => return InwardEnd::Closed,
                Ok(0) | Err(_) => return InwardEnd::Lost,
                Ok(_) => {}
            }
        }
    }

    /// Whether the client has said goodbye, as far as the guard has seen.
    pub(super) fn has_disconnected(&self) -> bool {
        self.guard.as_ref().is_some_and(Guard::has_disconnected)
    }

    /// Ends the back end's stream so that it sees everything that was written.
    pub(super) async fn close_backend(&mut self, rest: &mut ReadHalf<BoxedStream>) {
        let orderly = async {
            self.backend.shutdown().await?;
            let mut sink = [0; 4096];
            while rest.read(&mut sink).await? > 0 {}
            Ok::<_, std::io::Error>(())
        };
        // It has had its time; what it still has to say interests nobody.
        let _ = timeout(BACKEND_PATIENCE, orderly).await;
    }

    /// Opens every whole record of `input` into `output`.
    fn open_all(&mut self) -> Result<(), InwardEnd> {
        loop {
            let needed = self.opener.needed(&self.input).map_err(|_| InwardEnd::Broken)?;
            let Some(record) = self.input.get_mut(..needed) else {
                return Ok(());
            };
            let opened = self.opener.open(record).map_err(|_| InwardEnd::Broken)?;
            match opened.content {
                Content::Data => {
                    self.metrics.records.get_or_create(&Direction { direction: "in" }).inc();
                    self.metrics
                        .bytes
                        .get_or_create(&Direction { direction: "in" })
                        .inc_by(opened.text.len() as u64);
                    match &mut self.guard {
                        Some(guard) => guard
                            .feed(opened.text, &mut self.output)
                            .map_err(InwardEnd::Violation)?,
                        None => self.output.extend_from_slice(opened.text),
                    }
                }
                Content::Control => {
                    let now_s = u32::try_from(self.started.elapsed().as_secs()).unwrap_or(u32::MAX);
                    let mut messages = self.control.record(opened.text, now_s).map_err(|_| InwardEnd::Broken)?;
                    // The options in use have no message from a client: any ends the session.
                    while messages
                        .next(&mut self.message)
                        .map_err(|_| InwardEnd::Broken)?
                        .is_some()
                    {}
                }
            }
            self.input.advance(needed);
        }
    }
}

/// Bytes read from the client at once: a largest record and a little more.
const READ_LEN: usize = 20 << 10;
const BACKEND_PATIENCE: Duration = Duration::from_secs(2);
