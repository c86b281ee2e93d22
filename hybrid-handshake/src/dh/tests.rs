extern crate std;

use super::*;

fn bytes<const N: usize>(hex: &str) -> [u8; N] {
    hex::decode(hex).unwrap().try_into().unwrap()
}

fn agree(dh: impl Dh, secret: &str, share: &[u8]) -> Result<[u8; 32], Error> {
    let mut ss = SharedSecret::zeroed();
    dh.agree(&DhSecret::from_bytes(bytes(secret)), share, &mut ss)
        .map(|()| *ss.expose())
}

#[test]
fn x25519_of_rfc_7748_section_6_1() {
    let alice = DhSecret::from_bytes(bytes(
        "77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a",
    ));
    let mut share = [0; Group::X25519.share_len()];
    X25519.share(&alice, &mut share).unwrap();
    let bob = "5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb";
    let alice = bytes::<32>("8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a");
    assert_eq!(share, alice);
    let shared = bytes("4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742");
    assert_eq!(agree(X25519, bob, &alice), Ok(shared));
    assert_eq!(agree(Group::X25519, bob, &alice), Ok(shared));
}

/// RFC 7748 section 5.2, second vector: the top bit of u is set.
#[test]
fn x25519_masks_the_top_bit() {
    let k = "4b66e9d4d1b4673c5ad22691957d6af5c11b6421e0ea01d42ca4169e7918ba0d";
    let u = bytes::<32>("e5210f12786811d3f4b7959d0538ae2c31dbe7106fc03c3efc4cd549c715a493");
    let out = bytes("95cbde9476e8907d7aade45cb4b873f88b595a68799fa152e6f8f7647aac7957");
    assert_eq!(agree(X25519, k, &u), Ok(out));
    let mut masked = u;
    masked[31] &= 0x7f;
    assert_eq!(agree(X25519, k, &masked), Ok(out));
}

#[test]
fn x25519_reduces_a_non_canonical_u() {
    let k = "4b66e9d4d1b4673c5ad22691957d6af5c11b6421e0ea01d42ca4169e7918ba0d";
    // p + 3 = 2^255 - 16, against 3.
    let mut above_p = [0xff; 32];
    (above_p[0], above_p[31]) = (0xf0, 0x7f);
    let mut three = [0; 32];
    three[0] = 3;
    assert_eq!(agree(X25519, k, &above_p), agree(X25519, k, &three));
    assert!(agree(X25519, k, &three).is_ok());
    assert_eq!(X25519.check(&above_p), Ok(()));
}

#[test]
fn x25519_refuses_every_share_of_small_order() {
    let hex = |hex| bytes::<32>(hex);
    let small = [
        hex("0000000000000000000000000000000000000000000000000000000000000000"),
        hex("0100000000000000000000000000000000000000000000000000000000000000"),
        hex("e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800"),
        hex("5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157"),
        hex("ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f"),
        hex("edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f"),
        hex("eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f"),
    ];
    for mut u in small {
        for top in [0, 0x80] {
            u[31] ^= top;
            for k in [[0; 32], [0xff; 32], [0x5a; 32]] {
                assert_eq!(
                    agree(X25519, &hex::encode(k), &u),
                    Err(Error::Rejected),
                    "{}",
                    hex::encode(u)
                );
            }
            assert_eq!(X25519.check(&u), Err(Error::Rejected), "{}", hex::encode(u));
        }
    }
}

#[test]
fn x25519_refuses_a_wrong_length() {
    for len in [0, 31, 33] {
        let share = [9; 33];
        assert_eq!(agree(X25519, &"11".repeat(32), &share[..len]), Err(Error::Rejected));
        assert_eq!(X25519.check(&share[..len]), Err(Error::Rejected));
        let mut out = [0; 33];
        assert_eq!(X25519.share(&DhSecret::zeroed(), &mut out[..len]), Err(Error::Misuse));
    }
}

#[cfg(feature = "p256")]
mod p256 {
    use super::*;

    /// NIST CAVP, ECC CDH primitive, P-256, count 0.
    const SECRET: &str = "7d7dc5f71eb29ddaf80d6214632eeae03d9058af1fb6d22ed80badb62bc1a534";
    const OWN: &str = "04ead218590119e8876b29146ff89ca61770c4edbbf97d38ce385ed281d8a6b23028af61281fd35e2fa7002523acc85a429cb06ee6648325389f59edfce1405141";
    const PEER: &str = "04700c48f77f56584c5cc632ca65640db91b6bacce3a4df6b42ce7cc838833d287db71e509e3fd9b060ddb20ba5c51dcc5948d46fbf640dfe0441782cab85fa4ac";

    #[test]
    fn known_answer() {
        let shared = bytes("46fc62106420ff012e54a434fbdd2d25ccc5852060561e68040dd7778997bd7b");
        assert_eq!(agree(P256, SECRET, &bytes::<65>(PEER)), Ok(shared));
        assert_eq!(agree(Group::P256, SECRET, &bytes::<65>(PEER)), Ok(shared));
        let mut share = [0; 65];
        P256.share(&DhSecret::from_bytes(bytes(SECRET)), &mut share).unwrap();
        assert_eq!(share, bytes::<65>(OWN));
        assert_eq!(P256.check(&share), Ok(()));
    }

    #[test]
    fn only_the_uncompressed_form_of_a_point_on_the_curve() {
        let good = bytes::<65>(PEER);
        let refused = |share: &[u8]| {
            assert_eq!(P256.check(share), Err(Error::Rejected), "{}", hex::encode(share));
            assert_eq!(agree(P256, SECRET, share), Err(Error::Rejected));
        };
        let mut compressed = [0; 33];
        compressed.copy_from_slice(&good[..33]);
        compressed[0] = 3;
        refused(&compressed);
        for form in [0, 2, 3, 5, 6, 7] {
            let mut share = good;
            share[0] = form;
            refused(&share);
        }
        refused(&[0]);
        refused(&[]);
        refused(&good[..64]);
        let mut off = good;
        off[64] ^= 1;
        refused(&off);
        let mut zero = [0; 65];
        zero[0] = 4;
        refused(&zero);
        // X above the field prime.
        let mut above = good;
        above[1..33].fill(0xff);
        refused(&above);
    }

    #[test]
    fn zero_and_the_order_are_no_secrets() {
        let order = "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551";
        for secret in [&"00".repeat(32), order] {
            assert_eq!(agree(P256, secret, &bytes::<65>(PEER)), Err(Error::Misuse));
        }
    }
}
