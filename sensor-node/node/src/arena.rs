//! The one buffer of a device, sized by its suite at build time.

use hybrid_handshake::{
    aead::TAG_LEN,
    control::HEADER_LEN,
    message::{m1_len, m2_len, m3_len},
    mqtt::outer::{AUTH_OVERHEAD, auth_len},
    record::HEADROOM,
    suite::{KemId, Mode, SuiteId},
};

use crate::store::device_len;

/// The largest record plaintext, in bytes, that a device takes.
pub const RECORD_LIMIT: u16 = 256;

/// The largest outer packet, in bytes, that a device takes; M2 comes in pieces.
pub const PACKET_LIMIT: u16 = 256;

/// The largest inner packet, in bytes, that a device writes or takes.
pub(crate) const INNER_LIMIT: usize = 256;

/// The longest inner CONNECT, in bytes.
pub const CONNECT_LEN: usize = 128;

/// The buffers of a device. `F` is [`flight_len`], `W` is [`work_len`], `K` is [`credential_len`], or 0 for a device with a
/// pre-shared key or a memory that [lends](crate::Nv::lend) its own.
///
/// ```text
/// flight   M1, until box2 verifies | M3 and the inner CONNECT | records out and in, inner packet
/// work     broker key, while M1 is made | M2 | M4 | control messages
/// key      the device key
/// ```
///
/// An M1 is sent again until one M2 verifies; from then on M3 takes its place, while M2 stays until the ciphertext is made.
/// So one long message of each direction exists at a time.
#[derive(Debug)]
pub struct Arena<const F: usize, const W: usize, const K: usize> {
    pub(crate) flight: [u8; F],
    pub(crate) work: [u8; W],
    pub(crate) key: [u8; K],
}

impl<const F: usize, const W: usize, const K: usize> Arena<F, W, K> {
    /// Empty.
    pub const fn new() -> Self {
        Self {
            flight: [0; F],
            work: [0; W],
            key: [0; K],
        }
    }

    pub(crate) fn parts(&mut self) -> Buffers<'_> {
        Buffers {
            flight: &mut self.flight,
            work: &mut self.work,
            key: &mut self.key,
        }
    }
}

impl<const F: usize, const W: usize, const K: usize> Default for Arena<F, W, K> {
    fn default() -> Self {
        Self::new()
    }
}

/// The arena, lent.
pub(crate) struct Buffers<'a> {
    pub(crate) flight: &'a mut [u8],
    pub(crate) work: &'a mut [u8],
    pub(crate) key: &'a mut [u8],
}

/// Length of the outgoing half: the CONNECT around M1, the AUTH around M3 with the inner CONNECT beside it, and in a
/// session the records.
pub const fn flight_len(suite: SuiteId, broker_kem: KemId) -> usize {
    let m1 = CONNECT_OVERHEAD
        + max(
            m1_len(suite, Mode::Psk, broker_kem),
            m1_len(suite, Mode::Resume, broker_kem),
        );
    let m3 = auth_len(m3_len(suite, CONNECT_LEN) as u16) as usize + CONNECT_LEN;
    max(max(m1, m3), session_len(suite))
}

/// Length of the incoming half: the broker key, M2 with the frame of its last piece, M4, or a NEXT-KEY. `kem_auth`: the
/// device has a key of its own, and M2 a ciphertext for it.
pub const fn work_len(suite: SuiteId, broker_kem: KemId, kem_auth: bool) -> usize {
    let mode = if kem_auth { Mode::Kem } else { Mode::Psk };
    let m2 = m2_len(suite, mode) + AUTH_OVERHEAD as usize;
    let key = HEADER_LEN + 2 + broker_kem.ek_len() + suite.group().share_len();
    max(max(m2, key), PACKET_LIMIT as usize)
}

/// Length of a device key of this suite.
pub const fn credential_len(suite: SuiteId, dk_len: usize) -> usize {
    device_len(suite.kem(), dk_len)
}

/// Length of a record at the limit.
pub(crate) const RECORD_LEN: usize = HEADROOM + RECORD_LIMIT as usize + TAG_LEN;

/// Where the parts of a session begin: record out, record in, inner packet. With re-authentication the record out is the last,
/// and has the rest of the buffer: its longest message is made there while the other two are in use.
pub(crate) const OUT: usize = if cfg!(feature = "reauth") {
    RECORD_LEN + INNER_LIMIT
} else {
    0
};
pub(crate) const IN: usize = if cfg!(feature = "reauth") { 0 } else { OUT_LEN };
pub(crate) const INNER: usize = IN + RECORD_LEN;

/// Length of a record out.
pub(crate) const OUT_LEN: usize = HEADROOM + INNER_LIMIT + TAG_LEN;

/// All three.
const fn session_len(suite: SuiteId) -> usize {
    let answer = HEADER_LEN + 1 + suite.kem().ct_len();
    let out = if cfg!(feature = "reauth") && answer > INNER_LIMIT {
        HEADROOM + answer + TAG_LEN
    } else {
        OUT_LEN
    };
    out + RECORD_LEN + INNER_LIMIT
}

/// Packet bytes around M1 at most: type, length, header, properties' length, two properties, empty client id.
const CONNECT_OVERHEAD: usize = 1 + 2 + 10 + 2 + 10 + 2;

const fn max(a: usize, b: usize) -> usize {
    if a > b { a } else { b }
}
