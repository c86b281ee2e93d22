extern crate std;

use hex::encode;

use super::*;
use crate::aead::{AsconAead128, ChaCha20Poly1305};

/// The chain of a made-up handshake. Expected values of this file: Python's hashlib and hmac, from the formulas.
fn session() -> Session {
    let h0 = "c8e5935ea41f6bf875a8cea341528753a210395abe7442420354463f33310784"
        .parse()
        .unwrap();
    let mut transcript = Transcript::start(&h0);
    transcript.absorb(b"fir");
    transcript.absorb(b"st");
    let (chain, k1) = transcript.extract(&[&[b'A'; 32], &[b'B'; 32]]).derive(AsconAead128);
    assert_eq!(
        encode(k1.hash()),
        "8a96af3a658f2c34fefcb22b74d8cfa160301459e6ed71636a8e301c2057790b"
    );
    assert_eq!(encode(&k1.key.as_bytes()[..16]), "8fff440ca49a1d98c8c0764dcf327958");
    let mut transcript = chain.resume();
    transcript.absorb(b"sec");
    let mut mixed = transcript.extract(&[&[0; 32]]);
    mixed.absorb(b"ond");
    let (chain, k2) = mixed.derive(ChaCha20Poly1305);
    assert_eq!(
        encode(k2.key.as_bytes()),
        "5565c5cdf6f5211fc1dc221ef7e5db392ac8d7985f2842dbbc45301385400686"
    );
    let mut transcript = chain.resume();
    transcript.absorb(b"third");
    transcript.finish()
}

#[test]
fn chain_boxes_and_secrets_of_the_protocol() {
    let session = session();
    assert_eq!(
        encode(session.th()),
        "1a31663d23a3511a950d378b68feff7614126076a4375d49cd94deeb931ae07b"
    );
    for (secret, expected) in [
        (
            session.client_traffic().expose(),
            "36930054c8930959f17ec03ab857c99e518b6875d0849113e0a8d09d45c6a296",
        ),
        (
            session.broker_traffic().expose(),
            "def675b7278db1769285a9784ec52e004be69986638a03adf50770da997c7475",
        ),
        (
            session.rms().expose(),
            "bd2c6d20e05c98e23e82d60f996c3c8ce6c94213a2eb5b22e12fed3e24544d5b",
        ),
        (
            session.reauth().expose(),
            "34134853612ba17be49cb6cb90b3b049602883568a5fb9d81b908bf29f80c3e3",
        ),
    ] {
        assert_eq!(encode(secret), expected);
    }
    let mut exported = [0; 32];
    session.exporter().export(b"label", b"context", &mut exported);
    assert_eq!(
        encode(exported),
        "42d43c72cb3d918ce305206d320653b9ffe237d31cd6b782c274d2ee2d4493d6"
    );
}

#[test]
fn expand_is_hkdf_with_the_protocol_name() {
    let mut out = [0; 32];
    expand(&[0x44; 32], b"ck", &[0x66; 32], &mut out);
    assert_eq!(
        encode(out),
        "7c696a35506432c50c48cc65697a449aacbe0d0d35d0f7fa33a0ed43433f4faf"
    );
}

#[test]
fn a_box_authenticates_its_transcript() {
    let key = |h| BoxKey {
        aead: AsconAead128,
        key: Key::zeroed(),
        h,
    };
    let mut text = *b"inner CONNECT";
    let tag = key([1; 32]).seal(&mut text).unwrap();
    let mut sealed = std::vec![];
    sealed.extend_from_slice(&text);
    sealed.extend_from_slice(&tag);
    let mut moved = sealed.clone();
    assert_eq!(key([2; 32]).open(&mut moved).err(), Some(Error::Rejected));
    assert_eq!(
        key([1; 32]).open(&mut sealed.clone()[..15]).err(),
        Some(Error::Rejected),
        "shorter than a tag"
    );
    assert_eq!(key([1; 32]).open(&mut sealed).unwrap(), b"inner CONNECT");
    let tag = key([1; 32]).seal(&mut []).unwrap();
    assert_eq!(key([1; 32]).verify(&tag), Ok(()));
    assert_eq!(key([3; 32]).verify(&tag), Err(Error::Rejected));
}
