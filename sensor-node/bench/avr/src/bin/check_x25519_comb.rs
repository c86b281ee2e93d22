//! Key generation by the table against RFC 7748 and against the ladder, which `check_x25519` compares with x25519-dalek. The exit code
//! tells which one differs.
#![no_std]
#![no_main]

use bench_avr::{Draw, exit, require, require_convention};
use hybrid_handshake::dh::{Dh, DhSecret, X25519};
use kem_core::SharedSecret;

#[unsafe(no_mangle)]
extern "C" fn main() -> ! {
    for (secret, public) in RFC_7748 {
        require(share(&secret) == public, 1);
    }
    let mut draw = Draw::new(0x5eed_0fc0);
    for number in 0..8 {
        let mut secret = [0; 32];
        draw.fill(number, &mut secret);
        require(share(&secret) == ladder(&secret), 2);
    }
    // Each of the four bits of a digit alone, in both tables, and in the first and the last step.
    for bit in [31, 32, 64, 95, 128, 160, 192, 223, 254] {
        let mut secret = [0; 32];
        secret[bit / 8] = 1 << (bit % 8);
        require(share(&secret) == ladder(&secret), 3);
    }
    unsafe extern "C" fn comb(out: *mut [u8; 32], scalar: *const [u8; 32]) {
        // SAFETY: as promised by the caller. The table is read from flash, and what lies there does not matter here.
        unsafe { x25519_comb_avr(out, scalar, scalar.cast()) }
    }
    // SAFETY: writes 32 bytes and reads 32.
    unsafe { require_convention(comb as *const (), &mut [0; 16], &mut [0; 16], 4) }
    exit(0)
}

unsafe extern "C" {
    fn x25519_comb_avr(out: *mut [u8; 32], scalar: *const [u8; 32], table: *const [u8; 1600]);
}

fn share(secret: &[u8; 32]) -> [u8; 32] {
    let mut share = [0; 32];
    require(X25519.share(&DhSecret::from_bytes(*secret), &mut share).is_ok(), 5);
    share
}

fn ladder(secret: &[u8; 32]) -> [u8; 32] {
    let (mut ss, mut nine) = (SharedSecret::zeroed(), [0; 32]);
    nine[0] = 9;
    require(X25519.agree(&DhSecret::from_bytes(*secret), &nine, &mut ss).is_ok(), 6);
    *ss.expose()
}

/// Section 6.1, both keys.
const RFC_7748: [([u8; 32], [u8; 32]); 2] = [
    (
        *b"\x77\x07\x6d\x0a\x73\x18\xa5\x7d\x3c\x16\xc1\x72\x51\xb2\x66\x45\xdf\x4c\x2f\x87\xeb\xc0\x99\x2a\xb1\x77\xfb\xa5\x1d\xb9\x2c\x2a",
        *b"\x85\x20\xf0\x09\x89\x30\xa7\x54\x74\x8b\x7d\xdc\xb4\x3e\xf7\x5a\x0d\xbf\x3a\x0d\x26\x38\x1a\xf4\xeb\xa4\xa9\x8e\xaa\x9b\x4e\x6a",
    ),
    (
        *b"\x5d\xab\x08\x7e\x62\x4a\x8a\x4b\x79\xe1\x7f\x8b\x83\x80\x0e\xe6\x6f\x3b\xb1\x29\x26\x18\xb6\xfd\x1c\x2f\x8b\x27\xff\x88\xe0\xeb",
        *b"\xde\x9e\xdb\x7d\x7b\x7d\xc1\xb4\xd3\x5b\x61\xc2\xec\xe4\x35\x37\x3f\x83\x43\xc8\x5b\x78\x67\x4d\xad\xfc\x7e\x14\x6f\x88\x2b\x4f",
    ),
];
