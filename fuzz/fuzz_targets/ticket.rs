//! Tickets: changed ones do not open, sealed ones open only with contents that are in order, and stores survive the round trip.
#![no_main]

use hybrid_handshake::{
    identity::DeviceId,
    resume::{MAX_AGE_S, MAX_RESUMPTIONS, STORED_LEN, TICKET_LEN, Ticket, TicketKey, TicketKeys},
    suite::{AeadId, SuiteId},
};
use kemqtt_fuzz::straight::{expand, seal};
use libfuzzer_sys::fuzz_target;

const NOW: u64 = 1_788_000_000;
const KID: [u8; 8] = *b"realm  B";

fuzz_target!(|bytes: &[u8]| {
    let Some((&how, rest)) = bytes.split_first() else {
        return;
    };
    match how % 3 {
        0 => stored(rest),
        1 => changed(rest),
        _ => sealed(rest),
    }
});

fn stored(bytes: &[u8]) {
    let Some(stored) = bytes.first_chunk::<STORED_LEN>() else {
        return;
    };
    if let Ok(ticket) = Ticket::load(stored) {
        let mut again = [0; STORED_LEN];
        ticket.store(&mut again).expect("room for it");
        assert_eq!(&again, stored);
        assert!(!ticket.is_usable(SuiteId::SENSOR_DEFAULT, ticket.expires()));
    }
}

fn changed(bytes: &[u8]) {
    let honest = ticket(&content(&[]));
    let mut ticket = honest;
    ticket.iter_mut().zip(bytes).for_each(|(byte, mask)| *byte ^= mask);
    assert_eq!(open(&ticket).is_some(), ticket == honest);
}

/// The broker's own key, another content: what the MAC does not catch.
fn sealed(bytes: &[u8]) {
    let content = content(bytes);
    let number = |at: usize| u64::from_be_bytes(content[at..at + 8].try_into().expect("eight bytes"));
    let id: &[u8; 32] = content[3..35].try_into().expect("32 bytes");
    let in_order = content[..2] == SuiteId::SENSOR_DEFAULT.code().to_be_bytes()
        && match content[2] {
            1 | 2 => DeviceId::from_padded(id).is_ok(),
            3 => id == &[0; 32],
            _ => false,
        }
        && NOW.saturating_sub(number(47)) <= MAX_AGE_S
        && content[55] < MAX_RESUMPTIONS;
    assert_eq!(open(&ticket(&content)), in_order.then(|| content[56..].to_vec()));
}

/// A content in order, changed by `bytes`.
fn content(bytes: &[u8]) -> [u8; 88] {
    let mut content = [0; 88];
    content[..2].copy_from_slice(&SuiteId::SENSOR_DEFAULT.code().to_be_bytes());
    content[2] = 2;
    content[3..9].copy_from_slice(b"pump-7");
    content[39..47].copy_from_slice(&NOW.to_be_bytes());
    content[47..55].copy_from_slice(&NOW.to_be_bytes());
    content.iter_mut().zip(bytes).for_each(|(byte, mask)| *byte ^= mask);
    content
}

fn ticket(content: &[u8]) -> [u8; TICKET_LEN] {
    let head = [&TicketKey::from_bytes([7; 32]).id()[..], &[0x5a; 16]].concat();
    let key = expand(&[7; 32], "ticket", &head[4..], 32);
    let sealed = seal(
        AeadId::ChaCha20Poly1305,
        &key,
        &[0; 12],
        &[&KID[..], &head].concat(),
        content,
    );
    [head, sealed].concat().try_into().expect("20 + 88 + 16 bytes")
}

fn open(ticket: &[u8; TICKET_LEN]) -> Option<Vec<u8>> {
    let keys = TicketKeys::new(TicketKey::from_bytes([8; 32]), Some(TicketKey::from_bytes([7; 32])));
    let (_, rms) = keys.open(&KID, ticket, SuiteId::SENSOR_DEFAULT, NOW).ok()?;
    Some(rms.expose().to_vec())
}
