//! The table against the curve's equation, and a portable twin of the comb against x25519-dalek.

mod field;

extern crate std;

use proptest::prelude::*;
use x25519_dalek::{X25519_BASEPOINT_BYTES, x25519};

use self::field::Fe;
use super::TABLE;

/// Of an entry of the table: (y + x)/2, (y - x)/2, d x y.
type Entry = [Fe; 3];

/// Extended coordinates: x = X/Z, y = Y/Z, T = XY/Z.
struct Point {
    x: Fe,
    y: Fe,
    z: Fe,
    t: Fe,
}

#[test]
fn every_point_is_on_the_curve() {
    let d = d();
    let holds = |x: Fe, y: Fe| y * y - x * x == Fe::ONE + d * (x * x) * (y * y);
    let [x, y] = start();
    assert!(holds(x, y));
    assert!(!holds(x + Fe::ONE, y));
    for (block, digit) in (0..2).flat_map(|block| (0..8).map(move |digit| (block, digit))) {
        let [sum, difference, product] = entry(block, digit);
        let (x, y) = (sum - difference, sum + difference);
        assert!(holds(x, y), "{block} {digit}");
        assert_eq!(product, d * x * y, "{block} {digit}");
    }
}

/// Alice's and Bob's keys, RFC 7748 section 6.1.
#[test]
fn public_keys_of_rfc_7748() {
    let keys = [
        (
            "77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a",
            "8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a",
        ),
        (
            "5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb",
            "de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f",
        ),
    ];
    for (secret, public) in keys {
        let secret = hex::decode(secret).unwrap().try_into().unwrap();
        assert_eq!(hex::encode(comb(secret)), public);
    }
}

#[test]
fn boundary_scalars() {
    let single = |at: usize, bit: u8| core::array::from_fn(|k| if k == at { bit } else { 0 });
    let bits = (0..256).map(|bit| single(bit / 8, 1 << (bit % 8)));
    for scalar in [[0; 32], [0xff; 32], [0x55; 32], [0xaa; 32]].into_iter().chain(bits) {
        assert_eq!(comb(scalar), x25519(scalar, X25519_BASEPOINT_BYTES), "{scalar:02x?}");
    }
}

proptest! {
    #[test]
    fn random_scalars(scalar: [u8; 32]) {
        prop_assert_eq!(comb(scalar), x25519(scalar, X25519_BASEPOINT_BYTES));
    }
}

/// The steps of `x25519_comb_avr`, one by one.
fn comb(mut scalar: [u8; 32]) -> [u8; 32] {
    scalar[0] &= 0xf8;
    scalar[31] = scalar[31] & 0x7f | 0x40;
    let [x, y] = start();
    let mut point = Point {
        x,
        y,
        z: Fe::ONE,
        t: x * y,
    };
    for low in (0..32).rev() {
        point.double();
        for block in 0..2 {
            let bit = |tooth: usize| {
                let at = low + 32 * block + 64 * tooth;
                scalar[at / 8] >> (at % 8) & 1
            };
            let digit = (0..4).map(|tooth| bit(tooth) << tooth).sum::<u8>();
            let negative = digit < 8;
            let digit = if negative { !digit } else { digit } & 7;
            point.add(&entry(block, digit.into()), negative);
        }
    }
    ((point.z + point.y) * (point.z - point.y).inverse()).to_bytes()
}

impl Point {
    fn double(&mut self) {
        let difference = self.x - self.y;
        let (a, b, c) = (self.x * self.x, self.y * self.y, self.z * self.z);
        let (g, h) = (b - a, b + a);
        self.set(h - difference * difference, c + c - g, g, h);
    }

    fn add(&mut self, entry: &Entry, negative: bool) {
        let &[mut sum, mut difference, product] = entry;
        if negative {
            (sum, difference) = (difference, sum);
        }
        let (a, b) = ((self.y - self.x) * difference, (self.y + self.x) * sum);
        let c = self.t * product;
        let (mut f, mut g) = (self.z - c, self.z + c);
        if negative {
            (f, g) = (g, f);
        }
        self.set(b - a, f, g, b + a);
    }

    fn set(&mut self, e: Fe, f: Fe, g: Fe, h: Fe) {
        (self.x, self.y, self.z, self.t) = (e * f, g * h, f * g, e * h);
    }
}

fn start() -> [Fe; 2] {
    [0, 32].map(|at| Fe::from_bytes(core::array::from_fn(|k| TABLE[at + k])))
}

fn entry(block: usize, digit: usize) -> Entry {
    [0, 32, 64].map(|at| Fe::from_bytes(core::array::from_fn(|k| TABLE[64 + 768 * block + 8 * (at + k) + digit])))
}

/// -121665/121666.
fn d() -> Fe {
    (Fe::ONE - Fe::from(121_666)) * Fe::from(121_666).inverse()
}
