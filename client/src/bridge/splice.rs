//! Passes a session through until one side ends it.

use std::io;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadHalf, WriteHalf, split};
use tokio::time::timeout;
use zeroize::Zeroizing;

use super::application::Early;
use crate::error::{Error, Step};
use crate::stream::SecureStream;

/// Answers the application's CONNECT and copies both ways.
///
/// When the application closes, also in the middle of an answer, what it wrote before still goes to the broker: a
/// DISCONNECT lost here would make the broker publish the will. When the broker closes, the application hears it behind
/// the last byte.
///
/// # Errors
/// [`Error::Tampered`] and the like if the channel broke. A side that just goes away is none.
pub(super) async fn run<A, T>(application: Early<A>, stream: SecureStream<T>, connack: &[u8]) -> Result<(), Error>
where
    A: AsyncRead + AsyncWrite + Unpin,
    T: AsyncRead + AsyncWrite + Unpin,
{
    let (mut application, early) = application.into_parts();
    if application.write_all(connack).await.is_err() || application.flush().await.is_err() {
        return Ok(());
    }
    let (from_application, to_application) = split(application);
    let (from_broker, to_broker) = split(stream);
    let up = copy(&early, from_application, to_broker);
    let down = copy(&[], from_broker, to_application);
    tokio::pin!(up, down);
    let ends = tokio::select! {
        up = &mut up => {
            let broken = matches!(&up, End::Sink(e) if is_channel_error(e));
            [Some(up), if broken { None } else { timeout(LINGER, down).await.ok() }]
        }
        down = &mut down => {
            let application_left = matches!(down, End::Sink(_));
            [Some(down), if application_left { timeout(LINGER, up).await.ok() } else { None }]
        }
    };
    ends.into_iter().flatten().try_for_each(blame)
}

/// Why a direction stopped.
enum End {
    /// The source is at its end, and the sink knows.
    Over,
    /// The source failed.
    Source(io::Error),
    /// The sink failed.
    Sink(io::Error),
}

/// Copies `early`, then everything to the end of `from`. Whatever one read gives leaves as one record.
async fn copy<R, W>(early: &[u8], mut from: ReadHalf<R>, mut to: WriteHalf<W>) -> End
where
    R: AsyncRead + AsyncWrite,
    W: AsyncRead + AsyncWrite,
{
    // Flushed as well: the application may wait for an answer before it says anything more.
    let begun = async {
        to.write_all(early).await?;
        to.flush().await
    };
    if let Err(e) = begun.await {
        return End::Sink(e);
    }
    let mut buf = Zeroizing::new(vec![0; BUFFER_LEN]);
    loop {
        let len = match from.read(&mut buf).await {
            Ok(len) => len,
            Err(e) => return End::Source(e),
        };
        let passed = async {
            if len == 0 {
                return to.shutdown().await;
            }
            to.write_all(&buf[..len]).await?;
            to.flush().await
        };
        match passed.await {
            Ok(()) if len == 0 => return End::Over,
            Ok(()) => {}
            Err(e) => return End::Sink(e),
        }
    }
}

/// Tells failures of the channel, which the caller hears of, from a side that just went away.
fn blame(end: End) -> Result<(), Error> {
    let (End::Source(error) | End::Sink(error)) = end else {
        return Ok(());
    };
    match error.downcast::<Error>() {
        Ok(error) => Err(error),
        Err(other) => match other.kind() {
            io::ErrorKind::BrokenPipe
            | io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::NotConnected => Ok(()),
            _ => Err(Error::Network {
                what: format!("the connection failed at {}", Step::Session),
                source: other,
            }),
        },
    }
}

fn is_channel_error(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|inner| inner.is::<Error>())
}

/// One record of the largest size.
const BUFFER_LEN: usize = 16 * 1024;
/// How long the other side may take to finish once one has left.
const LINGER: Duration = Duration::from_secs(5);
