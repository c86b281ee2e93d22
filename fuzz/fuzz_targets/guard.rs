//! The broker's packet guard: what passes is a prefix of what came, the same however it is cut, and never a packet of a server.
#![no_main]

use hybrid_handshake::mqtt::{Event, Tracker};
use libfuzzer_sys::fuzz_target;

/// Only the guard and the policy that it keeps: under a sanitizer, the broker's other dependencies would take minutes.
#[path = "../../broker-plugin/src"]
mod broker {
    #[allow(dead_code, unused_imports)]
    pub mod guard;
    #[allow(dead_code, unused_imports)]
    pub mod policy;
}

/// Where the guard looks for it.
#[allow(clippy::single_component_path_imports, unused_imports)]
use broker::policy;

use broker::guard::{Guard, Version, Violation};

const LIMIT: u32 = 2000;

fuzz_target!(|input: (bool, Vec<u8>, Vec<u8>)| {
    let (v5, cuts, stream) = input;
    let version = if v5 { Version::V5 } else { Version::V3 };
    let (passed, end) = feed(version, &[&stream]);
    assert!(stream.starts_with(&passed));

    let (mut pieces, mut rest) = (vec![], &stream[..]);
    for cut in cuts {
        let (piece, behind) = rest.split_at(usize::from(cut).min(rest.len()));
        pieces.push(piece);
        rest = behind;
    }
    pieces.push(rest);
    let (in_pieces, end_in_pieces) = feed(version, &pieces);
    assert_eq!((&passed, end), (&in_pieces, end_in_pieces));
    // A PUBLISH may be cut off within its payload; all before it is whole, and passes again.
    assert_eq!(feed(version, &[&passed]), (passed.clone(), Ok(())));

    let (mut tracker, mut rest) = (Tracker::new(LIMIT), &passed[..]);
    while let Ok(Some(event)) = tracker.next(&mut rest) {
        if let Event::Start(header) = event {
            // CONNECT, CONNACK, SUBACK, UNSUBACK and PINGRESP.
            assert!(![1, 2, 9, 11, 13].contains(&(header.packet as u8)));
        }
    }
});

fn feed(version: Version, pieces: &[&[u8]]) -> (Vec<u8>, Result<(), Violation>) {
    let (mut guard, mut out) = (Guard::new(version, LIMIT), vec![]);
    for piece in pieces {
        if let Err(violation) = guard.feed(piece, &mut out) {
            return (out, Err(violation));
        }
    }
    (out, Ok(()))
}
