//! The suite of this image, and its self-test.

#[cfg(any(feature = "suite-1011", feature = "suite-0211"))]
use hybrid_handshake::{aead::AsconAead128 as SuiteAead, suite::P1 as Profile};
#[cfg(any(feature = "suite-0222", feature = "suite-1222"))]
use hybrid_handshake::{aead::ChaCha20Poly1305 as SuiteAead, suite::P2 as Profile};
use hybrid_handshake::{dh::X25519, suite::StaticSuite};
use kemqtt_node::{
    Clock, Phase,
    kat::{Bench, TWELVE_BITS},
};

#[cfg(feature = "suite-1011")]
type SuiteKem = ctru_light::CtruLight<ctru_light::AsconXof>;
#[cfg(feature = "suite-1222")]
type SuiteKem = ntru_plus::NtruPlus768;
#[cfg(any(feature = "suite-0211", feature = "suite-0222"))]
type SuiteKem = kyber::MlKem768;

/// The KEM of the broker key.
#[cfg(feature = "suite-1011")]
pub(crate) type BrokerKem = kyber::MlKem512;
/// The KEM of the broker key.
#[cfg(not(feature = "suite-1011"))]
pub(crate) type BrokerKem = kyber::MlKem768;

/// The suite.
pub(crate) type Active = StaticSuite<SuiteKem, X25519, SuiteAead, Profile>;

/// Known-answer tests of everything a handshake is made of.
pub(crate) fn test<C: Clock>(mut bench: Bench<'_, C>) -> bool {
    bench.hkdf(PRIMITIVES);
    bench.aead::<SuiteAead>(PRIMITIVES);
    bench.x25519(X25519, PRIMITIVES);
    bench.kem::<SuiteKem>(Phase::KatKem, "kem", SUITE_KEM_MASK, SUITE_KEM);
    bench.kem::<BrokerKem>(Phase::KatBrokerKem, "broker-kem", TWELVE_BITS, BROKER_KEM);
    bench.finish()
}

const PRIMITIVES: &[u8] = include_bytes!("../../node/kat/primitives.bin");

#[cfg(feature = "suite-1011")]
const SUITE_KEM: &[u8] = include_bytes!("../../node/kat/ctru-light-ascon.bin");
#[cfg(feature = "suite-1222")]
const SUITE_KEM: &[u8] = include_bytes!("../../node/kat/ntru-plus-768.bin");
#[cfg(any(feature = "suite-0211", feature = "suite-0222"))]
const SUITE_KEM: &[u8] = BROKER_KEM;
#[cfg(not(feature = "suite-1011"))]
use TWELVE_BITS as SUITE_KEM_MASK;
#[cfg(feature = "suite-1011")]
use kemqtt_node::kat::TEN_BITS as SUITE_KEM_MASK;

#[cfg(feature = "suite-1011")]
const BROKER_KEM: &[u8] = include_bytes!("../../node/kat/ml-kem-512.bin");
#[cfg(not(feature = "suite-1011"))]
const BROKER_KEM: &[u8] = include_bytes!("../../node/kat/ml-kem-768.bin");
