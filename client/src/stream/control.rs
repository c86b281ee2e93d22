//! What the broker says behind the application's back.

use std::time::Instant;

use hybrid_handshake::Error;
use hybrid_handshake::control::{HEADER_LEN, MAX_BODY_LEN, Message, Reader, Receiver};
use hybrid_handshake::identity::Fingerprint;
use hybrid_handshake::message::Capabilities;
use zeroize::Zeroizing;

use crate::store::Pins;

/// The control stream towards this side.
pub(crate) struct Control {
    reader: Reader,
    /// A message that is still arriving; grows when the first one comes, which for most sessions is never.
    message: Zeroizing<Vec<u8>>,
    begun: Instant,
    news: Option<News>,
}

/// Where a client takes news of the broker's keys to.
pub(crate) struct News {
    /// The pins of this broker.
    pub(crate) pins: Pins,
    /// The key that this session runs under.
    pub(crate) broker: Fingerprint,
}

impl Control {
    /// A client, which hears all that `options` allow.
    pub(crate) fn client(options: Capabilities, news: News) -> Self {
        Self::new(Receiver::Client, options, Some(news))
    }

    /// A broker.
    pub(crate) fn broker(options: Capabilities) -> Self {
        Self::new(Receiver::Broker, options, None)
    }

    fn new(receiver: Receiver, options: Capabilities, news: Option<News>) -> Self {
        let reader = Reader::new(receiver, options);
        Self {
            reader,
            message: Zeroizing::default(),
            begun: Instant::now(),
            news,
        }
    }

    /// Takes in the plaintext of one control record.
    ///
    /// # Errors
    /// Anything that closes the connection: unknown or unexpected messages, too many of them.
    pub(crate) fn record(&mut self, text: &[u8]) -> Result<(), Error> {
        self.message.resize(HEADER_LEN + MAX_BODY_LEN, 0);
        // Wraps after 136 years of one session.
        let now_s = self.begun.elapsed().as_secs() as u32;
        let mut messages = self.reader.record(text, now_s)?;
        while let Some(message) = messages.next(&mut self.message)? {
            match (message, &self.news) {
                (Message::NextKey(key), Some(news)) => news.pins.offered(&news.broker, key),
                (Message::Successor(successor), Some(news)) => news.pins.announced(&news.broker, &successor),
                // The reader lets nothing through that is not in the options.
                _ => return Err(Error::UnexpectedPacket),
            }
        }
        Ok(())
    }
}
