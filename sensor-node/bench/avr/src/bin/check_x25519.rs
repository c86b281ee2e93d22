//! X25519 in assembly against x25519-dalek and RFC 7748. The exit code tells which one differs.
#![no_std]
#![no_main]

use bench_avr::{Draw, exit, require, require_convention};
use hybrid_handshake::dh::{Dh, DhSecret, X25519};
use kem_core::SharedSecret;

#[unsafe(no_mangle)]
extern "C" fn main() -> ! {
    x25519_of_rfc_7748();
    let mut draw = Draw::new(0x1234_5678);
    for number in [0, 1, 2, 5] {
        x25519(&mut draw, number);
    }
    conventions();
    exit(0)
}

fn agree(secret: &[u8; 32], u: &[u8; 32]) -> Option<[u8; 32]> {
    let mut ss = SharedSecret::zeroed();
    X25519.agree(&DhSecret::from_bytes(*secret), u, &mut ss).ok()?;
    Some(*ss.expose())
}

/// RFC 7748 section 5.2, both vectors and one iteration.
fn x25519_of_rfc_7748() {
    for (scalar, u, expected) in RFC_7748 {
        require(agree(&scalar, &u) == Some(expected), 6);
    }
    let mut nine = [0; 32];
    nine[0] = 9;
    let mut share = [0; 32];
    require(X25519.share(&DhSecret::from_bytes(nine), &mut share).is_ok(), 6);
    require(share == ITERATED_ONCE && agree(&nine, &nine) == Some(ITERATED_ONCE), 6);
    // Section 6.1: points of small order give zero, for whose sake nothing is divided by zero.
    let mut one = [0; 32];
    one[0] = 1;
    require(agree(&nine, &[0; 32]).is_none() && agree(&nine, &one).is_none(), 6);
}

fn x25519(draw: &mut Draw, number: u8) {
    let (mut secret, mut u) = ([0; 32], [0; 32]);
    draw.fill(number, &mut secret);
    draw.fill(number.max(1), &mut u);
    let expected = x25519_dalek::x25519(secret, u);
    require(agree(&secret, &u) == Some(expected), 7);
    let mut share = [0; 32];
    require(X25519.share(&DhSecret::from_bytes(secret), &mut share).is_ok(), 8);
    let mut nine = [0; 32];
    nine[0] = 9;
    require(agree(&secret, &nine) == Some(share), 8);
}

unsafe extern "C" {
    fn x25519_avr(out: *mut [u8; 32], scalar: *const [u8; 32], point: *const [u8; 32]);
    fn x25519_base_avr(out: *mut [u8; 32], scalar: *const [u8; 32]);
}

fn conventions() {
    let (mut out, mut input) = ([0; 100], [0; 32]);
    for (function, code) in [(x25519_avr as *const (), 15), (x25519_base_avr as *const (), 16)] {
        // SAFETY: no routine writes more than 200 bytes or reads more than 64.
        unsafe { require_convention(function, &mut out, &mut input, code) }
    }
}

const RFC_7748: [([u8; 32], [u8; 32], [u8; 32]); 2] = [
    (
        *b"\xa5\x46\xe3\x6b\xf0\x52\x7c\x9d\x3b\x16\x15\x4b\x82\x46\x5e\xdd\x62\x14\x4c\x0a\xc1\xfc\x5a\x18\x50\x6a\x22\x44\xba\x44\x9a\xc4",
        *b"\xe6\xdb\x68\x67\x58\x30\x30\xdb\x35\x94\xc1\xa4\x24\xb1\x5f\x7c\x72\x66\x24\xec\x26\xb3\x35\x3b\x10\xa9\x03\xa6\xd0\xab\x1c\x4c",
        *b"\xc3\xda\x55\x37\x9d\xe9\xc6\x90\x8e\x94\xea\x4d\xf2\x8d\x08\x4f\x32\xec\xcf\x03\x49\x1c\x71\xf7\x54\xb4\x07\x55\x77\xa2\x85\x52",
    ),
    (
        *b"\x4b\x66\xe9\xd4\xd1\xb4\x67\x3c\x5a\xd2\x26\x91\x95\x7d\x6a\xf5\xc1\x1b\x64\x21\xe0\xea\x01\xd4\x2c\xa4\x16\x9e\x79\x18\xba\x0d",
        *b"\xe5\x21\x0f\x12\x78\x68\x11\xd3\xf4\xb7\x95\x9d\x05\x38\xae\x2c\x31\xdb\xe7\x10\x6f\xc0\x3c\x3e\xfc\x4c\xd5\x49\xc7\x15\xa4\x93",
        *b"\x95\xcb\xde\x94\x76\xe8\x90\x7d\x7a\xad\xe4\x5c\xb4\xb8\x73\xf8\x8b\x59\x5a\x68\x79\x9f\xa1\x52\xe6\xf8\xf7\x64\x7a\xac\x79\x57",
    ),
];
const ITERATED_ONCE: [u8; 32] =
    *b"\x42\x2c\x8e\x7a\x62\x27\xd7\xbc\xa1\x35\x0b\x3e\x2b\xb7\x27\x9f\x78\x97\xb8\x7b\xb6\x85\x4b\x78\x3c\x60\xe8\x03\x11\xae\x30\x79";
