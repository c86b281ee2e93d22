//! The record layer: forged bytes never open, sealed ones open once, in order and unchanged.
#![no_main]

use hybrid_handshake::aead::AsconAead128;
use hybrid_handshake::record::{Content, HEADROOM, Opener, Sealer};
use libfuzzer_sys::fuzz_target;

const LIMIT: u16 = 300;

fuzz_target!(|input: (Vec<u8>, bool, u16, u8, Vec<u8>)| {
    let (text, control, at, mask, forged) = input;
    let secret = [7; 32];
    let opener = || Opener::new(AsconAead128, &secret, LIMIT);

    let mut forged = forged;
    let mut victim = opener();
    let needed = victim.needed(&forged);
    assert!(victim.open(&mut forged).is_err());
    assert!(needed.is_err() || victim.needed(&[]).is_err(), "one failure is final");

    let content = if control { Content::Control } else { Content::Data };
    let mut buf = vec![0; HEADROOM + text.len() + 16];
    buf[HEADROOM..][..text.len()].copy_from_slice(&text);
    let Ok(len) = u16::try_from(text.len()) else { return };
    let Ok(record) = Sealer::new(AsconAead128, &secret, LIMIT).seal(content, &mut buf, len) else {
        assert!(len > LIMIT || (len == 0 && !control));
        return;
    };
    let record = record.to_vec();
    let mut opener = opener();
    assert_eq!(opener.needed(&record), Ok(record.len()));
    let mut copy = record.clone();
    let opened = opener.open(&mut copy).expect("just sealed");
    assert_eq!((opened.content, &*opened.text), (content, &text[..]));
    assert!(opener.open(&mut record.clone()).is_err(), "replayed");

    let mut changed = record;
    let at = usize::from(at) % changed.len();
    changed[at] ^= mask;
    let mut fresh = Opener::new(AsconAead128, &secret, LIMIT);
    assert_eq!(fresh.open(&mut changed).is_ok(), mask == 0);
});
