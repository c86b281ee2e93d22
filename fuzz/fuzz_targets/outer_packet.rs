//! The outer packets of a handshake, as either side reads them.
#![no_main]

use hybrid_handshake::mqtt::outer::{self, FromBroker, FromClient, Refusal};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|packet: &[u8]| {
    match outer::read_connect(&mut packet.to_vec()) {
        // There is no window of no bytes.
        Ok(m1) => assert!(m1.is_empty() || packet.windows(m1.len()).any(|window| window == m1)),
        Err(refusal) => {
            let mut out = [0; Refusal::MAX_LEN];
            let len = refusal.write(&mut out).expect("every refusal can be told");
            // The client that gets it must not take it for success.
            assert!(outer::read_from_broker(&mut out[..len]).is_err());
        }
    }
    if let Ok(FromClient::Data(data)) = outer::read_from_client(&mut packet.to_vec()) {
        again(
            outer::frame_auth,
            data,
            |packet| matches!(outer::read_from_client(packet), Ok(FromClient::Data(read)) if read == data),
        );
    }
    match outer::read_from_broker(&mut packet.to_vec()) {
        Ok(FromBroker::Auth(data)) => again(
            outer::frame_auth,
            data,
            |packet| matches!(outer::read_from_broker(packet), Ok(FromBroker::Auth(read)) if read == data),
        ),
        Ok(FromBroker::Connack(data)) => again(
            outer::frame_connack,
            data,
            |packet| matches!(outer::read_from_broker(packet), Ok(FromBroker::Connack(read)) if read == data),
        ),
        Err(_) => {}
    }
});

/// What was read can be written, and read again.
fn again<E: core::fmt::Debug>(
    frame: fn(&mut [u8], u16) -> Result<(&mut [u8], usize), E>,
    data: &[u8],
    reads_back: impl Fn(&mut [u8]) -> bool,
) {
    let mut out = vec![0; data.len() + 32];
    let (place, len) = frame(&mut out, data.len() as u16).expect("32 bytes are enough");
    place.copy_from_slice(data);
    assert!(reads_back(&mut out[..len]));
}
