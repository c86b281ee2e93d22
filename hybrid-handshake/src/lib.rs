//! HKM1: a hybrid post-quantum handshake and record layer carried in MQTT 5.0 packets. Sans-IO, `no_std`, no allocation: every
//! buffer, every random byte and every clock reading comes from the caller.
//!
//! ```text
//! client                                         broker
//! Start::write_m1      -- M1 in CONNECT -->      M1Header::parse, AwaitM1::read_m1     who claims to be there
//! AwaitM2::read_m2     <-- M2 in AUTH --         SendM2::write_m2                      after the registry was asked
//! SendM3::write_m3     -- M3 in AUTH -->         AwaitM3::read_m3                      the application's CONNECT
//! AwaitM4::read_m4     <-- M4 in CONNACK --      SendM4::write_m4                      the back end's CONNACK
//! Established          <== records ==>           Established
//! ```
//!
//! A state is consumed by its step, and an error ends the connection. The one exception is [`client::AwaitM2`]: an M1 costs a
//! device seconds, so it goes out again until one M2 verifies. States hold secrets and hashes; messages stay in the caller's
//! buffers.
//!
//! * [`suite`]: which KEM, group and AEAD; chosen by type for firmware and by id for hosts, from one code.
//! * [`identity`]: device ids, keys, fingerprints, the text form of key files. [`drbg`]: where random bytes come from.
//! * [`client`], [`broker`]: the flights. [`resume`]: tickets, which spare the next handshake the broker key's KEM.
//! * [`mqtt`]: the packets that carry the flights, and those that travel inside. [`record`], [`control`]: what follows M4.
//! * [`schedule`], [`message`], [`dh`], [`aead`]: the parts of which the flights are made.
//!
//! **Status.** ML-KEM suites rest on FIPS 203; every other KEM is research, and [`suite::KemStatus::warning`] has the line
//! that a user must see first.
//!
//! # Example
//!
//! A device with a pre-shared key and its broker, over two arrays.
//!
//! ```
//! # #[cfg(all(feature = "kyber", feature = "ctru-light"))]
//! # fn main() -> Result<(), hybrid_handshake::Error> {
//! use hybrid_handshake::{
//!     broker::{AwaitM1, Decoy, Enrolled, M2Params},
//!     client::{Config, Credential, Start},
//!     dh::X25519,
//!     drbg::Drbg,
//!     identity::{BrokerKey, BrokerKeyPair, DecoySecret, DeviceId, Psk, generate_key},
//!     message::{BrokerLimits, Capabilities, ClientLimits, M1Header},
//!     suite::{AnyKem, AnySuite, KemId, KemScheme, X25519CtruLightAscon},
//! };
//!
//! // 32 bytes of the operating system's generator; a device uses `drbg::boot`.
//! let (mut device_rng, mut broker_rng) = (Drbg::broker(&[1; 32]), Drbg::broker(&[2; 32]));
//!
//! // Once: the broker's key, and a device that is enrolled with a pre-shared key.
//! let kem = AnyKem::new(KemId::MlKem512).expect("compiled in");
//! let (mut key, mut dk) = (vec![0; 2 + 800 + 32], vec![0; kem.dk_len()]);
//! let x = generate_key(kem, X25519, &mut broker_rng, &mut key, &mut dk)?;
//! let broker_key = BrokerKeyPair::new(key.clone(), dk, x)?;
//! let (id, psk) = (DeviceId::new("pump-7")?, Psk::from_bytes([3; 32]));
//! let decoy = DecoySecret::from_bytes([4; 32]);
//!
//! // The wire: one array in each direction.
//! let (mut up, mut down) = ([0; 2000], [0; 2000]);
//!
//! let config = Config {
//!     broker_key: BrokerKey::parse(&key)?,
//!     credential: Credential::Psk { id: &id, psk: &psk },
//!     floor: None,
//!     limits: ClientLimits::new(256, 1024)?,
//!     capabilities: Capabilities::NONE,
//! };
//! let (len, mut await_m2) = Start::new(X25519CtruLightAscon::new(), &config)?.write_m1(&mut device_rng, &mut up)?;
//!
//! let m1 = &mut up[..len];
//! let header = M1Header::parse(m1)?;
//! assert_eq!(header.kid(), broker_key.fingerprint().kid());
//! let suite = AnySuite::new(header.suite()).expect("compiled in");
//! let secret = broker_key.secret()?;
//! let (claim, send_m2) = AwaitM1::new(suite, &header, secret)?.read_m1(m1, None, 1_788_000_000)?;
//! assert_eq!(claim.device, Some(id));
//! let params = M2Params {
//!     secret,
//!     enrolled: Enrolled::Psk(&psk),
//!     decoy: Decoy { secret: &decoy, key: None },
//!     now: 1_788_000_000,
//!     limits: BrokerLimits::default(),
//!     options: Capabilities::ALL,
//! };
//! let (len, await_m3) = send_m2.write_m2(&params, &mut broker_rng, &mut down)?;
//!
//! let send_m3 = await_m2.read_m2(&down[..len], &mut device_rng)?;
//! let (len, await_m4) = send_m3.write_m3(&config.credential, b"CONNECT", &mut device_rng, &mut up)?;
//!
//! let (connect, send_m4) = await_m3.read_m3(&mut up[..len])?;
//! assert_eq!(connect, b"CONNECT");
//! let (len, mut broker) = send_m4.write_m4(b"CONNACK", &mut down)?;
//!
//! let (connack, mut device) = await_m4.read_m4(&mut down[..len])?;
//! assert_eq!(connack, b"CONNACK");
//!
//! use hybrid_handshake::record::{Content, HEADROOM};
//! up[HEADROOM..][..7].copy_from_slice(b"PUBLISH");
//! let mut record = device.sealer.seal(Content::Data, &mut up, 7)?.to_vec();
//! assert_eq!(broker.opener.open(&mut record)?.text, b"PUBLISH");
//! # Ok(())
//! # }
//! # #[cfg(not(all(feature = "kyber", feature = "ctru-light")))]
//! # fn main() {}
//! ```

#![no_std]
#![cfg_attr(
    not(any(target_arch = "avr", target_arch = "x86_64", cortex_m4)),
    forbid(unsafe_code)
)]
#![cfg_attr(target_arch = "avr", feature(asm_experimental_arch))]

pub mod aead;
mod backends;
pub mod broker;
pub mod client;
pub mod control;
pub mod dh;
pub mod drbg;
mod error;
mod established;
mod exchange;
pub mod identity;
pub mod message;
pub mod mqtt;
pub mod reauth;
pub mod record;
pub mod resume;
pub mod schedule;
pub mod suite;

#[cfg(all(feature = "self-check", not(target_arch = "avr")))]
pub use backends::self_check;
pub use error::{Error, Malformed};
pub use established::Established;
