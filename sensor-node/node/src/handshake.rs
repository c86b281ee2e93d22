//! M1 to M4 over a link.

use hybrid_handshake::{
    Error as Handshake,
    client::{AwaitM4, Config, Credential, Start},
    identity::{BrokerKey, Kid},
    message::{Capabilities, ClientLimits, m1_len, m2_len, m3_len},
    mqtt::{
        Connack, Connect, Level, Place, Properties, Property, Will,
        outer::{AUTH_OVERHEAD, FromBroker, Pieces, frame_auth, frame_connect, read_from_broker, write_next_piece},
    },
    suite::{KemScheme, Mode, Suite, SuiteId},
};

use crate::{
    CONNECT_LEN, Clock, Error, Link, Node, Nv, Outcome, PACKET_LIMIT, Phase, RECORD_LIMIT, Session,
    arena::INNER_LIMIT,
    clock::Deadline,
    node::{Prepared, device_secret, key_len, own_credential},
    store::{Kind, PinSlot, Settings},
    wire::Wire,
};

/// What the inner CONNECT says besides the client id, which is the device's.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options<'a> {
    /// Keep Alive in seconds; 0 turns it off.
    pub keep_alive_s: u16,
    /// What the broker publishes if the connection breaks.
    pub will: Option<Will<'a>>,
}

impl<'a, S: Suite, B: KemScheme, L: Link, C: Clock, N: Nv> Node<'a, S, B, L, C, N> {
    /// Makes M1 while there is time, with the ticket of the last session if it may be tried, else with the device's own
    /// credential. Nothing to do if one is there that is not older than 24 hours.
    ///
    /// # Errors
    /// [`Error::Store`] without a pin or a credential, [`Error::Protocol`] for a pin that is no key of this suite.
    #[inline(never)]
    pub fn prepare(&mut self) -> Outcome<(), L, N> {
        let clock = &mut self.board.clock;
        let stale = |prepared: &mut Prepared<S>| prepared.burn.has_passed(clock);
        let _ = self.prepared.take_if(stale);
        if self.prepared.is_some() {
            return Ok(());
        }
        self.phase(Phase::Prepare, Self::write_m1)
    }

    /// Connects, makes the handshake and sends the inner CONNECT.
    ///
    /// # Errors
    /// [`Error`]; then [`Node::retry_ms`] says when to try again.
    pub fn connect<'n>(&'n mut self, options: &Options<'_>) -> Outcome<Session<'n, 'a, S, B, L, C, N>, L, N> {
        match self.attempt(options) {
            Ok(origin) => Ok(Session::new(self, origin, options.keep_alive_s)),
            Err(error) => {
                self.board.clock.mark(None);
                self.board.link.close();
                self.failed();
                Err(error)
            }
        }
    }

    #[inline(never)]
    fn write_m1(&mut self) -> Outcome<(), L, N> {
        let (newer, older) = self.board.store.pins()?;
        let pin = older.filter(|_| self.older_pin).unwrap_or(newer);
        let len = self.board.store.pin(pin, self.buffers.work)?;
        let kid = BrokerKey::parse(self.buffers.work.get(..len).unwrap_or_default())?.kid();
        let ticket = self.usable_ticket(&kid);
        if cfg!(feature = "kem-auth") && ticket.is_none() && self.settings.kind == Kind::Kem {
            self.board
                .store
                .load_device_key(key_len(&self.suite), self.buffers.key)?;
        }
        let broker_key = BrokerKey::parse(self.buffers.work.get(..len).unwrap_or_default())?;
        let key = self.board.store.device_key(key_len(&self.suite), self.buffers.key);
        let x = device_secret(key);
        let credential = match &ticket {
            Some(ticket) => Credential::Ticket(ticket),
            None => own_credential(&self.suite, self.settings, key, &x)?,
        };
        let id = self.suite.id();
        let config = Config {
            broker_key,
            credential,
            floor: Some(id),
            limits: ClientLimits::new(RECORD_LIMIT, PACKET_LIMIT)?,
            capabilities: CAPABILITIES,
        };
        let mode = credential.mode();
        let m1_len = m1_len(id, mode, self.broker_kem.id());
        let (m1, packet_len) = frame_connect(self.buffers.flight, m1_len as u16)?;
        let (_, await_m2) = Start::with_kem(self.suite, self.broker_kem, &config)?.write_m1(self.drbg, m1)?;
        self.prepared = Some(Prepared {
            await_m2,
            packet_len,
            origin: Origin { mode, pin, kid },
            burn: Deadline::after(&mut self.board.clock, BURN_MS),
        });
        Ok(())
    }

    /// One attempt; whatever it ends in, the counters know.
    #[inline(never)]
    fn attempt(&mut self, options: &Options<'_>) -> Outcome<Origin, L, N> {
        self.prepare()?;
        let origin = self.prepared.as_ref().ok_or(Handshake::Misuse)?.origin;
        let Origin { mode, pin, .. } = origin;
        let opened = self.flights(mode, options);
        match &opened {
            Ok(_) | Err(Error::Refused(_)) => {
                self.way_out.m4_opened();
                self.retire_older(pin);
            }
            Err(_) => {
                if mode == Mode::Resume {
                    self.way_out.ticket_failed();
                    if !self.way_out.allows_ticket() {
                        self.prepared = None;
                    }
                }
                self.other_pin();
            }
        }
        opened?;
        self.succeeded();
        Ok(origin)
    }

    #[inline(never)]
    fn flights(&mut self, mode: Mode, options: &Options<'_>) -> Outcome<(), L, N> {
        let m2_len = m2_len(self.suite.id(), mode);
        self.phase(Phase::AwaitM2, |node| node.exchange_m1(m2_len))?;
        let (packet_len, await_m4) = self.answer_m2(mode, m2_len, options)?;
        let len = self.phase(Phase::AwaitM4, |node| node.exchange_m3(packet_len))?;
        self.board.clock.mark(Some(Phase::M4));
        self.read_m4(await_m4, len)?;
        self.board.clock.mark(None);
        Ok(())
    }

    /// Sends M1 and reads M2, whole or in pieces, to the start of the work buffer.
    #[inline(never)]
    fn exchange_m1(&mut self, m2_len: usize) -> Outcome<(), L, N> {
        let packet_len = self.prepared.as_ref().map_or(0, |prepared| prepared.packet_len);
        let Self { board, buffers, .. } = self;
        let mut wire = Wire {
            link: &mut board.link,
            clock: &mut board.clock,
        };
        wire.link.open().map_err(Error::Link)?;
        wire.send(buffers.flight.get(..packet_len).unwrap_or_default())?;
        let deadline = Deadline::after(wire.clock, FLIGHT_MS);
        let mut pieces = Pieces::new(m2_len as u16, PACKET_LIMIT);
        let mut done = 0;
        loop {
            // The frame of a piece lies where the piece will go; then the piece moves up over it.
            let place = buffers.work.get_mut(done..).unwrap_or_default();
            let place_at = place.as_ptr().addr();
            let len = wire.read_packet(place, PACKET_LIMIT, deadline)?;
            let packet = place.get_mut(..len).unwrap_or_default();
            let FromBroker::Auth(piece) = read_from_broker(packet)? else {
                return Err(Handshake::UnexpectedPacket.into());
            };
            let range = pieces.receive(piece.len())?;
            let start = piece.as_ptr().addr() - place_at;
            let end = start + piece.len();
            place.copy_within(start..end, 0);
            done = range.end;
            if pieces.is_complete() {
                return Ok(());
            }
            let mut ask = [0; AUTH_OVERHEAD as usize];
            let len = write_next_piece(&mut ask)?;
            wire.send(ask.get(..len).unwrap_or_default())?;
        }
    }

    /// Checks M2, burns M1 and makes the packet of M3 in its place; gives its length.
    #[inline(never)]
    fn answer_m2(&mut self, mode: Mode, m2_len: usize, options: &Options<'_>) -> Outcome<(usize, AwaitM4<S>), L, N> {
        let Self {
            board,
            buffers,
            drbg,
            prepared,
            settings,
            suite,
            ..
        } = self;
        let m2 = buffers.work.get(..m2_len).ok_or(Handshake::Misuse)?;
        let await_m2 = &mut prepared.as_mut().ok_or(Handshake::Misuse)?.await_m2;
        board.clock.mark(Some(Phase::VerifyM2));
        let send_m3 = await_m2.read_m2(m2, drbg);
        board.clock.mark(None);
        if await_m2.is_spent() {
            *prepared = None;
        }
        let send_m3 = send_m3?;

        board.clock.mark(Some(Phase::M3));
        let (m3, connect, packet_len) = frame_m3(suite.id(), settings, options, buffers.flight)?;
        // With a ticket there is no credential: M3 needs none, and from EEPROM it takes 0.2 M cycles.
        let answered = if mode == Mode::Resume {
            send_m3.write_resumed_m3(connect, drbg, m3)
        } else {
            let key = board.store.device_key(key_len(suite), buffers.key);
            let x = device_secret(key);
            let credential = own_credential(suite, settings, key, &x)?;
            send_m3.write_m3(&credential, connect, drbg, m3)
        };
        board.clock.mark(None);
        let (_, await_m4) = answered?;
        Ok((packet_len, await_m4))
    }

    /// Sends M3 and reads the packet of M4 to the start of the work buffer; gives its length.
    #[inline(never)]
    fn exchange_m3(&mut self, packet_len: usize) -> Outcome<usize, L, N> {
        let Self { board, buffers, .. } = self;
        let mut wire = Wire {
            link: &mut board.link,
            clock: &mut board.clock,
        };
        wire.send(buffers.flight.get(..packet_len).unwrap_or_default())?;
        let deadline = Deadline::after(wire.clock, FLIGHT_MS);
        wire.read_packet(buffers.work, PACKET_LIMIT, deadline)
    }

    #[inline(never)]
    fn read_m4(&mut self, await_m4: AwaitM4<S>, len: usize) -> Outcome<(), L, N> {
        let packet = self.buffers.work.get_mut(..len).unwrap_or_default();
        let FromBroker::Connack(m4) = read_from_broker(packet)? else {
            return Err(Handshake::UnexpectedPacket.into());
        };
        let (connack, established) = await_m4.read_m4(m4)?;
        let established = self.established.insert(established);
        self.broker_time = established.broker_time;
        self.told_ms = self.board.clock.now_ms();
        let connack = Connack::parse(connack, self.settings.level)?;
        if connack.code.is_error() {
            self.established = None;
            return Err(Error::Refused(connack.code));
        }
        Ok(())
    }

    /// The first handshake under the newer of two keys has completed: the older one goes.
    #[inline(never)]
    fn retire_older(&mut self, used: PinSlot) {
        let pins = self.board.store.pins();
        if let Some((newer, Some(older))) = self.note(pins)
            && newer == used
        {
            let cleared = self.board.store.clear_pin(older);
            self.note(cleared);
        }
        self.older_pin = false;
    }

    /// After a failure the other of two keys has its turn.
    #[inline(never)]
    fn other_pin(&mut self) {
        let pins = self.board.store.pins();
        if let Some((_, Some(_))) = self.note(pins) {
            self.older_pin = !self.older_pin;
            self.prepared = None;
        }
    }
}

/// Writes the inner CONNECT behind the place of M3, and the packet around that place; gives both and the packet's length.
#[inline(never)]
fn frame_m3<'f>(
    suite: SuiteId,
    settings: &Settings,
    options: &Options<'_>,
    flight: &'f mut [u8],
) -> Result<(&'f mut [u8], &'f [u8], usize), Handshake> {
    let split = flight.len().checked_sub(CONNECT_LEN).ok_or(Handshake::Misuse)?;
    let (flight, connect) = flight.split_at_mut(split);
    let connect_len = write_connect(settings.id.as_str(), settings.level, options, connect)?;
    let connect = connect.get(..connect_len).unwrap_or_default();
    let (m3, packet_len) = frame_auth(flight, m3_len(suite, connect_len) as u16)?;
    Ok((m3, connect, packet_len))
}

/// How an M1 came about.
#[derive(Clone, Copy)]
pub(crate) struct Origin {
    pub(crate) mode: Mode,
    pub(crate) pin: PinSlot,
    pub(crate) kid: Kid,
}

#[inline(never)]
fn write_connect(id: &str, level: Level, options: &Options<'_>, out: &mut [u8]) -> Result<usize, Handshake> {
    let mut buf = [0; 5];
    let properties = if level.is_v5() {
        Properties::build(
            &mut buf,
            Place::Connect,
            &[Property::MaximumPacketSize(INNER_LIMIT as u32)],
        )?
    } else {
        Properties::EMPTY
    };
    let connect = Connect {
        keep_alive_s: options.keep_alive_s,
        properties,
        will: options.will,
        ..Connect::new(level, id)
    };
    connect.write(out)
}

/// What a device can do.
const CAPABILITIES: Capabilities = {
    let always = Capabilities::TICKETS.with(Capabilities::KEY_NEWS);
    if cfg!(feature = "reauth") {
        always.with(Capabilities::REAUTH)
    } else {
        always
    }
};

/// How long a flight of the broker may take. It gives a client as long between M2 and M3.
pub(crate) const FLIGHT_MS: u32 = 30_000;

/// An M1 that no M2 has answered for this long is not sent again.
const BURN_MS: u32 = 24 * 60 * 60 * 1000;
