use core::arch::global_asm;

use zeroize::Zeroize;

global_asm!(include_str!("x25519.S"), options(raw));

/// X25519 (RFC 7748 section 5).
pub(crate) fn x25519(out: &mut [u8; 32], scalar: &[u8; 32], u: &[u8; 32]) {
    let mut scalar = *scalar;
    scalar[0] &= 0xf8;
    scalar[31] = scalar[31] & 0x7f | 0x40;
    let mut u = from_bytes(u);
    u[7] &= 0x7fff_ffff;
    let mut point = [[0; 8]; 2];
    // SAFETY: reads 32 bytes of `scalar` and `u` each and writes the 64 bytes of `point`; keeps the registers that a C function
    // keeps. Twin: `portable::x25519`.
    unsafe { kemqtt_x25519_ladder(point.as_mut_ptr().cast(), scalar.as_ptr(), u.as_ptr()) };
    let [x, z] = &mut point;
    invert(z);
    multiply(x, z);
    *out = to_bytes(x);
    scalar.zeroize();
    point.zeroize();
}

/// X25519 with the base point.
pub(crate) fn x25519_base(out: &mut [u8; 32], scalar: &[u8; 32]) {
    let mut base = [0; 32];
    base[0] = 9;
    x25519(out, scalar, &base);
}

/// An element modulo 2^255 - 19: any value of 256 bits.
type Element = [u32; 8];

unsafe extern "C" {
    fn kemqtt_x25519_ladder(xz: *mut u32, scalar: *const u8, u: *const u32);
    fn kemqtt_fe25519_mul(out: *mut u32, a: *const u32, b: *const u32);
    fn kemqtt_fe25519_square_n(a: *mut u32, n: u32);
}

/// a = a b.
fn multiply(a: &mut Element, b: &Element) {
    let a = a.as_mut_ptr();
    // SAFETY: reads and writes 8 words of `a` and reads those of `b`; all reads of an operand come before the writes.
    unsafe { kemqtt_fe25519_mul(a, a, b.as_ptr()) };
}

/// a^(2^n), n >= 1.
fn square(a: &Element, n: u32) -> Element {
    let mut power = *a;
    // SAFETY: reads and writes 8 words of `power`.
    unsafe { kemqtt_fe25519_square_n(power.as_mut_ptr(), n) };
    power
}

/// a = 1 / a, and 0 for 0: a^(2^255 - 21), by powers 2^k - 1 of doubling k.
fn invert(a: &mut Element) {
    let join = |high: &Element, n: u32, low: &Element| {
        let mut power = square(high, n);
        multiply(&mut power, low);
        power
    };
    let a9 = join(a, 3, a);
    let mut a11 = square(a, 1);
    multiply(&mut a11, &a9);
    let k5 = join(&a11, 1, &a9);
    let k10 = join(&k5, 5, &k5);
    let k20 = join(&k10, 10, &k10);
    let k40 = join(&k20, 20, &k20);
    let k50 = join(&k40, 10, &k10);
    let k100 = join(&k50, 50, &k50);
    let k200 = join(&k100, 100, &k100);
    let k250 = join(&k200, 50, &k50);
    *a = join(&k250, 5, &a11);
}

fn from_bytes(bytes: &[u8; 32]) -> Element {
    let mut words = [0; 8];
    for (word, bytes) in words.iter_mut().zip(bytes.as_chunks().0) {
        *word = u32::from_le_bytes(*bytes);
    }
    words
}

/// The canonical representative. Any element is below 2 (2^255 - 19) + 38, so two conditional subtractions are enough.
fn to_bytes(a: &Element) -> [u8; 32] {
    let mut words = *a;
    for _ in 0..2 {
        // a + 19 - 2^255, and whether that is not negative.
        let mut reduced = [0; 8];
        let mut carry = 19;
        for (reduced, word) in reduced.iter_mut().zip(words) {
            carry += u64::from(word);
            *reduced = carry as u32;
            carry >>= 32;
        }
        let enough = (reduced[7] >> 31) | carry as u32;
        reduced[7] = reduced[7].wrapping_sub(1 << 31);
        let mask = enough.wrapping_neg();
        for (word, reduced) in words.iter_mut().zip(reduced) {
            *word ^= (*word ^ reduced) & mask;
        }
    }
    let mut bytes = [0; 32];
    for (bytes, word) in bytes.as_chunks_mut().0.iter_mut().zip(words) {
        *bytes = word.to_le_bytes();
    }
    bytes
}
