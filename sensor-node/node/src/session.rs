//! A session: a tiny MQTT client over records.

mod control;
mod packets;
#[cfg(feature = "reauth")]
mod reauth;
#[cfg(not(feature = "reauth"))]
#[path = "session/no_reauth.rs"]
mod reauth;

use core::num::NonZeroU16;

use hybrid_handshake::{
    Error as Handshake, Malformed,
    control::{Reader, Receiver},
    message::Capabilities,
    mqtt::{
        Acknowledgement, Delivery, Disconnect, FixedHeader, Level, PINGREQ, PacketType, Publish, Qos, ReasonCode,
        Suback, Subscribe,
    },
    suite::{KemScheme, Mode, Suite},
};

use crate::{Clock, Error, Link, Node, Nv, Outcome, Phase, clock::Deadline, handshake::Origin};

pub(crate) use reauth::Reauth;

/// A session in which one can publish and subscribe. After an error it is over: drop it, wait
/// [`Node::retry_ms`](crate::Node::retry_ms), connect again.
///
/// Dropping it closes the connection without a goodbye, so that the will is published.
pub struct Session<'n, 'a, S: Suite, B, L: Link, C, N> {
    node: &'n mut Node<'a, S, B, L, C, N>,
    origin: Origin,
    control: Reader,
    /// A control message had no room: the stream behind it cannot be read, and nobody waits for it.
    deaf: bool,
    /// The opened record in the buffer: its plaintext from `text.0` to `text.1` is not used yet.
    text: (usize, usize),
    /// Bytes of the inner packet that is being collected.
    inner_len: usize,
    /// The collected packet was handed out.
    used: bool,
    last_id: u16,
    keep_alive_ms: u32,
    sent_ms: u32,
    ping_ms: Option<u32>,
}

/// What came from the broker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event<'e> {
    /// A message for a subscription; at QoS 1 it is acknowledged already.
    Message(Publish<'e>),
    /// The broker has the QoS 1 message with this packet identifier, or refuses it with this code.
    Acknowledged(NonZeroU16, ReasonCode),
    /// The answer to a subscription.
    Subscribed(Suback<'e>),
    /// The answer to a ping.
    Pong,
}

impl<'n, 'a, S: Suite, B: KemScheme, L: Link, C: Clock, N: Nv> Session<'n, 'a, S, B, L, C, N> {
    pub(crate) fn new(node: &'n mut Node<'a, S, B, L, C, N>, origin: Origin, keep_alive_s: u16) -> Self {
        let sent_ms = node.board.clock.now_ms();
        node.reauth = Reauth::new();
        let options = node
            .established
            .as_ref()
            .map_or(Capabilities::NONE, |established| established.options);
        let control = Reader::new(Receiver::Client, options);
        Self {
            node,
            origin,
            control,
            deaf: false,
            text: (0, 0),
            inner_len: 0,
            used: false,
            last_id: 0,
            keep_alive_ms: u32::from(keep_alive_s) * 1000,
            sent_ms,
            ping_ms: None,
        }
    }

    /// Whether a ticket made the session.
    pub fn is_resumed(&self) -> bool {
        self.origin.mode == Mode::Resume
    }

    /// The device between its sessions.
    pub const fn node(&mut self) -> &mut Node<'a, S, B, L, C, N> {
        self.node
    }

    /// Publishes a message. At QoS 1 gives the packet identifier that [`Event::Acknowledged`] will name.
    ///
    /// # Errors
    /// [`Error::Protocol`] with [`hybrid_handshake::Error::Buffer`] if the packet has more than 256 bytes, or with
    /// [`hybrid_handshake::Error::Misuse`] for QoS 2 or no topic: the session goes on. Others end it.
    #[inline(never)]
    pub fn publish(&mut self, topic: &str, payload: &[u8], qos: Qos) -> Outcome<Option<NonZeroU16>, L, N> {
        let id = self.next_id();
        let (delivery, id) = match qos {
            Qos::AtMostOnce => (Delivery::AtMostOnce, None),
            Qos::AtLeastOnce => (Delivery::AtLeastOnce(id), Some(id)),
            Qos::ExactlyOnce => return Err(Handshake::Misuse.into()),
        };
        let publish = Publish {
            delivery,
            ..Publish::new(topic, payload)
        };
        self.node.board.clock.mark(Some(Phase::Publish));
        let sent = self.write(|level, out| publish.write(level, out));
        self.node.board.clock.mark(None);
        sent.map(|()| id)
    }

    /// Subscribes; [`Event::Subscribed`] answers. Gives the packet identifier.
    ///
    /// # Errors
    /// As [`Session::publish`].
    #[inline(never)]
    pub fn subscribe(&mut self, filters: &[(&str, Qos)]) -> Outcome<NonZeroU16, L, N> {
        if filters.iter().any(|(_, qos)| *qos == Qos::ExactlyOnce) {
            return Err(Handshake::Misuse.into());
        }
        let packet_id = self.next_id();
        self.write(|level, out| Subscribe { packet_id, filters }.write(level, out))?;
        Ok(packet_id)
    }

    /// Asks for a sign of life; [`Event::Pong`] answers. [`Session::poll`] does so by itself when keep alive asks for it.
    ///
    /// # Errors
    /// Any ends the session.
    #[inline(never)]
    pub fn ping(&mut self) -> Outcome<(), L, N> {
        self.ping_ms = Some(self.node.board.clock.now_ms());
        self.write(|_, out| {
            let place = out.get_mut(..PINGREQ.len()).ok_or(Handshake::Misuse)?;
            place.copy_from_slice(&PINGREQ);
            Ok(PINGREQ.len())
        })
    }

    /// Waits at most `timeout_ms` for the next event. Tickets and key news are taken care of underneath.
    ///
    /// # Errors
    /// Any ends the session.
    #[inline(never)]
    pub fn poll(&mut self, timeout_ms: u32) -> Outcome<Option<Event<'_>>, L, N> {
        let deadline = Deadline::after(&mut self.node.board.clock, timeout_ms);
        let polled = self.packet(deadline).and_then(|len| self.answer(len).map(|()| len));
        match polled {
            Ok(None) => Ok(None),
            Ok(Some(len)) => self.event(len).map(Some),
            Err(error) => Err(self.ended(error)),
        }
    }

    /// Publishes at QoS 1 and waits for the acknowledgement; other events meanwhile are lost.
    ///
    /// # Errors
    /// [`Error::Timeout`]; [`Error::Refused`] if the broker does not take the message, and the session goes on.
    #[inline(never)]
    pub fn publish_acknowledged(&mut self, topic: &str, payload: &[u8], timeout_ms: u32) -> Outcome<(), L, N> {
        let wanted = self.publish(topic, payload, Qos::AtLeastOnce)?;
        let deadline = Deadline::after(&mut self.node.board.clock, timeout_ms);
        loop {
            let code = match self.poll(timeout_ms)? {
                Some(Event::Acknowledged(id, code)) if Some(id) == wanted => Some(code),
                _ => None,
            };
            match code {
                Some(code) if code.is_error() => return Err(Error::Refused(code)),
                Some(_) => return Ok(()),
                None if deadline.has_passed(&mut self.node.board.clock) => return Err(self.ended(Error::Timeout)),
                None => {}
            }
        }
    }

    /// Says goodbye, so that no will is published, and closes.
    ///
    /// # Errors
    /// Of the link.
    #[inline(never)]
    pub fn disconnect(mut self) -> Outcome<(), L, N> {
        let goodbye = Disconnect::new(ReasonCode::Success);
        let sent = self.write(|level, out| goodbye.write(level, out));
        self.node.board.link.close();
        self.node.established = None;
        sent
    }

    fn next_id(&mut self) -> NonZeroU16 {
        self.last_id = self.last_id.checked_add(1).unwrap_or(1);
        NonZeroU16::new(self.last_id).unwrap_or(NonZeroU16::MIN)
    }

    fn level(&self) -> Level {
        self.node.settings.level
    }

    /// Acknowledges a QoS 1 message before it is handed out.
    #[inline(never)]
    fn answer(&mut self, len: Option<usize>) -> Outcome<(), L, N> {
        let packet = self.inner(len.unwrap_or_default());
        let is_publish = FixedHeader::read(packet)?.is_some_and(|header| header.packet == PacketType::Publish);
        if !is_publish {
            return Ok(());
        }
        match Publish::parse(packet, self.level())?.delivery {
            Delivery::AtMostOnce => Ok(()),
            Delivery::AtLeastOnce(id) => self.write(|level, out| Acknowledgement::puback(id).write(level, out)),
            Delivery::ExactlyOnce(_) => Err(Handshake::UnexpectedPacket.into()),
        }
    }

    fn event(&mut self, len: usize) -> Outcome<Event<'_>, L, N> {
        match self.read_event(len) {
            Ok(()) => {}
            Err(error) => return Err(self.ended(error)),
        }
        let level = self.level();
        // Parsed once already: an error cannot come from here.
        Event::parse(self.inner(len), level).map_err(Error::Protocol)
    }

    #[inline(never)]
    fn read_event(&mut self, len: usize) -> Outcome<(), L, N> {
        let level = self.level();
        let packet = self.inner(len);
        if let Ok(goodbye) = Disconnect::parse(packet, level)
            && level.is_v5()
        {
            return Err(Error::Disconnected(goodbye.code));
        }
        if Event::parse(packet, level)? == Event::Pong {
            self.ping_ms = None;
        }
        Ok(())
    }

    /// The session is over.
    #[inline(never)]
    fn ended(&mut self, error: Error<L::Error, N::Error>) -> Error<L::Error, N::Error> {
        self.node.board.clock.mark(None);
        self.node.board.link.close();
        self.node.established = None;
        self.node.failed();
        error
    }
}

impl<S: Suite, B, L: Link, C, N> Drop for Session<'_, '_, S, B, L, C, N> {
    fn drop(&mut self) {
        if self.node.established.take().is_some() {
            self.node.board.link.close();
        }
    }
}

impl<'e> Event<'e> {
    fn parse(packet: &'e [u8], level: Level) -> Result<Self, Handshake> {
        let header = FixedHeader::read(packet)?.ok_or(Malformed::Truncated)?;
        match header.packet {
            PacketType::Publish => Publish::parse(packet, level).map(Self::Message),
            PacketType::Puback => {
                let acknowledgement = Acknowledgement::parse(packet, level)?;
                Ok(Self::Acknowledged(acknowledgement.packet_id, acknowledgement.code))
            }
            PacketType::Suback => Suback::parse(packet, level).map(Self::Subscribed),
            PacketType::Pingresp if header.remaining == 0 => Ok(Self::Pong),
            _ => Err(Handshake::UnexpectedPacket),
        }
    }
}
