//! Ascon-AEAD128: 64 bytes with 3 bytes of associated data.
#![no_std]
#![no_main]

use bench_avr::{Draw, exit, measure, require};
use hybrid_handshake::aead::{Aead, AsconAead128, Key, Nonce};

#[unsafe(no_mangle)]
extern "C" fn main() -> ! {
    let mut draw = Draw::new(0x0bad_cafe);
    for number in 0..3 {
        let (mut key, mut text) = (Key::zeroed(), [number; 64]);
        draw.fill(number, key.as_mut_bytes());
        let nonce = Nonce::zeroed();
        let sealed = measure(1, || AsconAead128.seal(&key, &nonce, b"abc", &mut text));
        if let Ok(tag) = &sealed {
            let opened = measure(2, || AsconAead128.open(&key, &nonce, b"abc", &mut text, tag));
            require(opened.is_ok() && text == [number; 64], 2);
        }
        require(sealed.is_ok(), 1);
    }
    exit(0)
}
