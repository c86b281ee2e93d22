//! The component vectors that the public interface reaches; those of inner layers are checked by unit tests.

use kem_core::hash::{AsconXof128, XofReader};
use kem_core::testkit::Hex;
use serde::Deserialize;

#[derive(Deserialize)]
struct Components {
    ascon_xof128: Vec<Xof>,
}

#[derive(Deserialize)]
struct Xof {
    msg: Hex,
    out64: Hex,
}

/// The suite stands on Ascon-XOF128 of SP 800-232, not on one of the earlier variants.
#[test]
fn ascon_xof128_is_that_of_sp_800_232() {
    let file: Components = serde_json::from_str(include_str!("vectors/components.json")).expect("vector file parses");
    assert_eq!(file.ascon_xof128.len(), 6);
    for vector in file.ascon_xof128 {
        let mut sponge = AsconXof128::new();
        sponge.update(&vector.msg);
        let mut out = [0; 64];
        sponge.finalize().read(&mut out);
        assert_eq!(out[..], vector.out64[..]);
    }
}
