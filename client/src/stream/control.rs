//! What the broker says behind the application's back.

use std::sync::Arc;
use std::time::Instant;

use hybrid_handshake::Error;
use hybrid_handshake::control::{HEADER_LEN, MAX_BODY_LEN, Message, Reader, Receiver};
use hybrid_handshake::message::Capabilities;
use hybrid_handshake::resume::{TICKET_LEN, Ticket};
use hybrid_handshake::suite::Suite;
use zeroize::Zeroizing;

use super::Session;
use super::reauth::{Reauth, Step};
use crate::store::{Owner, Pins, Tickets};

/// The control stream towards this side.
pub(crate) struct Control {
    reader: Reader,
    /// A message that is still arriving; grows when the first one comes.
    message: Zeroizing<Vec<u8>>,
    begun: Instant,
    news: Option<News>,
}

/// Where a client takes its news to.
pub(crate) struct News {
    pub(crate) pins: Pins,
    pub(crate) tickets: Option<Tickets>,
    /// The key that this session runs under, and whose session it is.
    pub(crate) owner: Owner,
    /// The ticket that the session was resumed with.
    pub(crate) resumed: Option<Arc<Ticket>>,
}

impl Control {
    /// A client, which hears all that `options` allow.
    pub(crate) fn client(options: Capabilities, news: News) -> Self {
        Self::new(Receiver::Client, options, Some(news))
    }

    /// A broker.
    #[cfg(feature = "responder")]
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

    /// Takes in the plaintext of one control record of `session`. Gives the step of `reauth` that follows from it.
    ///
    /// # Errors
    /// Anything that closes the connection: unknown or unexpected messages, too many of them.
    pub(super) fn record(
        &mut self,
        session: &Session,
        mut reauth: Option<&mut Reauth>,
        text: &[u8],
    ) -> Result<Option<Step>, Error> {
        self.message.resize(HEADER_LEN + MAX_BODY_LEN, 0);
        // Wraps after 136 years of one session.
        let now_s = self.begun.elapsed().as_secs() as u32;
        let mut messages = self.reader.record(text, now_s)?;
        let mut step = None;
        while let Some(message) = messages.next(&mut self.message)? {
            // A broker gets nothing in here, because it offers no re-authentication.
            let news = self.news.as_ref().ok_or(Error::UnexpectedPacket)?;
            match message {
                Message::Ticket { lifetime_s, ticket } => news.ticket(session, lifetime_s, ticket),
                Message::NextKey(key) => news.pins.offered(&news.owner.broker, key),
                Message::Successor(successor) => news.pins.announced(&news.owner.broker, &successor),
                Message::Reauth(message) => {
                    let reauth = reauth.as_deref_mut().ok_or(Error::UnexpectedPacket)?;
                    // Each step answers one of ours, so one record holds no two of them.
                    if step.replace(reauth.step(&message)?).is_some() {
                        return Err(Error::UnexpectedPacket);
                    }
                }
            }
        }
        Ok(step)
    }
}

impl News {
    fn ticket(&self, session: &Session, lifetime_s: u32, sealed: &[u8; TICKET_LEN]) {
        if let Some(tickets) = &self.tickets {
            let (suite, clock, last) = (session.suite.id(), session.broker_time, self.resumed.as_deref());
            let ticket = Ticket::from_parts(suite, &session.rms, clock, self.owner.device, last, lifetime_s, sealed);
            tickets.received(ticket, self.owner, clock);
        }
    }
}
