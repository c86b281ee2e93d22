//! The control stream: records of any size give the messages of the whole stream, within the limit of a minute.
#![no_main]

use hybrid_handshake::Error;
use hybrid_handshake::control::{Message, PER_MINUTE, Reader, Receiver};
use hybrid_handshake::message::Capabilities;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (bool, u8, Vec<u8>, Vec<u8>)| {
    let (client, options, cuts, stream) = input;
    let receiver = if client { Receiver::Client } else { Receiver::Broker };
    let options = Capabilities::from_bits((options & 7).into()).expect("three bits");

    let (mut records, mut rest) = (vec![], &stream[..]);
    for cut in cuts {
        let (record, behind) = rest.split_at(usize::from(cut).min(rest.len()));
        records.push(record);
        rest = behind;
    }
    records.push(rest);
    records.retain(|record| !record.is_empty());
    let whole = read(Reader::new(receiver, options), &[&stream]);
    let cut = read(Reader::new(receiver, options), &records);
    // Cut, the end of a re-authentication may end its record.
    if whole.1.is_none() || cut.1.is_some() {
        assert_eq!(cut.0.get(..whole.0.len()), Some(&whole.0[..]));
    }
});

/// The messages, type and length included, and what ended the stream.
fn read(mut reader: Reader, records: &[&[u8]]) -> (Vec<Vec<u8>>, Option<Error>) {
    let mut found = vec![];
    let mut buf = [0; 4099];
    for record in records {
        let mut messages = match reader.record(record, 0) {
            Ok(messages) => messages,
            Err(error) => return (found, Some(error)),
        };
        loop {
            match messages.next(&mut buf) {
                Ok(Some(Message::Ticket { ticket, .. })) => found.push(ticket.to_vec()),
                Ok(Some(Message::NextKey(key))) => found.push(key.to_vec()),
                Ok(Some(Message::Successor(h0))) => found.push(h0.as_bytes().to_vec()),
                Ok(Some(Message::Reauth(reauth))) => found.push(reauth.whole.to_vec()),
                Ok(None) => break,
                Err(error) => return (found, Some(error)),
            }
            assert!(found.len() <= usize::from(PER_MINUTE));
        }
    }
    (found, None)
}
