//! The packet boundary tracker: a stream cut into pieces gives the events of the whole.
#![no_main]

use hybrid_handshake::Error;
use hybrid_handshake::mqtt::{Event, FixedHeader, Tracker};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u16, Vec<u8>, Vec<u8>)| {
    let (limit, cuts, stream) = input;
    let whole = follow(limit, &[&stream]);
    let (mut pieces, mut rest) = (vec![], &stream[..]);
    for cut in cuts {
        let (piece, behind) = rest.split_at(usize::from(cut).min(rest.len()));
        pieces.push(piece);
        rest = behind;
    }
    pieces.push(rest);
    assert_eq!(follow(limit, &pieces), whole);
});

/// Packets with their bodies, whether the last is complete, and what ended the stream.
fn follow(limit: u16, pieces: &[&[u8]]) -> (Vec<(FixedHeader, Vec<u8>)>, bool, Option<Error>) {
    let mut tracker = Tracker::new(limit.into());
    let mut packets: Vec<(FixedHeader, Vec<u8>)> = vec![];
    for mut piece in pieces.iter().copied() {
        loop {
            match tracker.next(&mut piece) {
                Ok(Some(Event::Start(header))) => {
                    assert!(header.remaining <= limit.into());
                    packets.push((header, vec![]));
                }
                Ok(Some(Event::Body(bytes))) => packets.last_mut().expect("started").1.extend(bytes),
                Ok(Some(Event::End)) => {
                    let (header, body) = packets.last().expect("started");
                    assert_eq!(header.remaining as usize, body.len());
                    assert!(tracker.at_boundary());
                }
                Ok(None) => break,
                Err(error) => return (packets, false, Some(error)),
            }
        }
        assert!(piece.is_empty());
    }
    (packets, tracker.at_boundary(), None)
}
