//! The suite of this image, and its self-test.

use hybrid_handshake::{
    aead::AsconAead128,
    suite::{StaticSuite, Suite},
};
#[cfg(feature = "lab")]
use hybrid_handshake::{dh::NoDh, suite::P0};
#[cfg(not(feature = "lab"))]
use hybrid_handshake::{dh::X25519, suite::P1};
use kemqtt_node::{
    Clock, Phase,
    kat::{Bench, TWELVE_BITS},
};

use crate::progmem::Progmem;

#[cfg(feature = "ctru-light")]
type SuiteKem = ctru_light::CtruLight<ctru_light::AsconXof>;
#[cfg(feature = "saber")]
type SuiteKem = saber::LightSaber;
#[cfg(not(any(feature = "ctru-light", feature = "saber")))]
type SuiteKem = kyber::MlKem512;

/// The KEM of the broker key.
pub(crate) type BrokerKem = kyber::MlKem512;

/// The suite.
#[cfg(not(feature = "lab"))]
pub(crate) type Active = StaticSuite<SuiteKem, X25519, AsconAead128, P1>;
/// The suite: without Diffie-Hellman, for measurements only.
#[cfg(feature = "lab")]
pub(crate) type Active = StaticSuite<SuiteKem, NoDh, AsconAead128, P0>;

/// Length of a decapsulation key of the suite.
pub(crate) const DK_LEN: usize = <SuiteKem as kem_core::Kem>::DK_LEN;

/// Known-answer tests of everything a handshake is made of.
pub(crate) fn test<C: Clock>(mut bench: Bench<'_, C>) -> bool {
    let primitives = Progmem((&raw const PRIMITIVES).cast());
    bench.hkdf(primitives);
    bench.aead::<AsconAead128>(primitives);
    bench.x25519(Active::new().dh(), primitives);
    let suite_kem = Progmem((&raw const SUITE_KEM).cast());
    bench.kem::<SuiteKem>(Phase::KatKem, "kem", SUITE_KEM_MASK, suite_kem);
    let broker_kem = Progmem((&raw const BROKER_KEM).cast());
    bench.kem::<BrokerKem>(Phase::KatBrokerKem, "broker-kem", TWELVE_BITS, broker_kem);
    bench.finish()
}

#[unsafe(link_section = ".progmem.data")]
static PRIMITIVES: [u8; 208] = *include_bytes!("../../node/kat/primitives.bin");

#[unsafe(link_section = ".progmem.data")]
static BROKER_KEM: [u8; 32] = *include_bytes!("../../node/kat/ml-kem-512.bin");

#[cfg(feature = "ctru-light")]
#[unsafe(link_section = ".progmem.data")]
static SUITE_KEM: [u8; 32] = *include_bytes!("../../node/kat/ctru-light-ascon.bin");
#[cfg(feature = "saber")]
#[unsafe(link_section = ".progmem.data")]
static SUITE_KEM: [u8; 32] = *include_bytes!("../../node/kat/lightsaber.bin");
#[cfg(not(any(feature = "ctru-light", feature = "saber")))]
use BROKER_KEM as SUITE_KEM;

#[cfg(not(any(feature = "ctru-light", feature = "saber")))]
use TWELVE_BITS as SUITE_KEM_MASK;
#[cfg(any(feature = "ctru-light", feature = "saber"))]
use kemqtt_node::kat::TEN_BITS as SUITE_KEM_MASK;
