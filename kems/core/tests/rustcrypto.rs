//! The `kem` traits for explicit rejection and for generators that fail, with a KEM that is a toy: ct = m ^ ek, dk = ek, and
//! the last byte of a ciphertext has to be zero.
#![cfg(feature = "rustcrypto")]

use core::convert::Infallible;

use kem::{Decapsulator, Encapsulate, Generate, Kem as _, TryDecapsulate, TryKeyInit};
use kem_core::rand_core::{TryCryptoRng, TryRng};
use kem_core::rustcrypto::{DecapsulationKey, EncapsulationKey, Explicit};
use kem_core::{Ek, InvalidKey, Kem, NotInvertible, Rejected, SharedSecret};

enum Toy {}

impl Kem for Toy {
    type EkBytes = [u8; 32];
    type DkBytes = [u8; 32];
    type CtBytes = [u8; 33];
    type KeygenCoins = [u8; 32];
    type EncapsCoins = [u8; 32];
    type Rejection = Rejected;

    fn check_ek(ek: &[u8; 32]) -> Result<(), InvalidKey> {
        if ek[0] == 0xff { Err(InvalidKey) } else { Ok(()) }
    }

    fn keygen_from(coins: &[u8; 32], ek: &mut [u8; 32], dk: &mut [u8; 32]) -> Result<(), NotInvertible> {
        *ek = *coins;
        *dk = *coins;
        // Every other draw fails.
        if coins[0] % 2 == 1 { Err(NotInvertible) } else { Ok(()) }
    }

    fn encaps_from(coins: &[u8; 32], ek: &Ek<'_, Self>, ct: &mut [u8; 33], ss: &mut SharedSecret) {
        *ss.expose_mut() = *coins;
        ct.fill(0);
        ct.iter_mut()
            .zip(coins)
            .zip(ek.as_bytes())
            .for_each(|((ct, m), ek)| *ct = m ^ ek);
    }

    fn decaps(dk: &[u8; 32], ct: &[u8; 33], ss: &mut SharedSecret) -> Result<(), Rejected> {
        *ss = SharedSecret::zeroed();
        if ct[32] != 0 {
            return Err(Rejected);
        }
        ss.expose_mut()
            .iter_mut()
            .zip(dk)
            .zip(ct)
            .for_each(|((ss, dk), ct)| *ss = dk ^ ct);
        Ok(())
    }
}

/// Gives the bytes n, n + 1, .. and fails from request `until` on.
struct Counter {
    next: u8,
    requests: usize,
    until: usize,
}

#[derive(Debug, PartialEq)]
struct Broken;

impl core::fmt::Display for Broken {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("broken")
    }
}

impl core::error::Error for Broken {}

impl TryRng for Counter {
    type Error = Broken;

    fn try_next_u32(&mut self) -> Result<u32, Broken> {
        Ok(u32::from(self.next))
    }

    fn try_next_u64(&mut self) -> Result<u64, Broken> {
        Ok(u64::from(self.next))
    }

    fn try_fill_bytes(&mut self, out: &mut [u8]) -> Result<(), Broken> {
        if self.requests == self.until {
            return Err(Broken);
        }
        self.requests += 1;
        out.fill(self.next);
        self.next += 1;
        Ok(())
    }
}

impl TryCryptoRng for Counter {}

struct Fixed(u8);

impl TryRng for Fixed {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok(0)
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(0)
    }

    fn try_fill_bytes(&mut self, out: &mut [u8]) -> Result<(), Infallible> {
        out.fill(self.0);
        Ok(())
    }
}

impl TryCryptoRng for Fixed {}

#[test]
fn explicit_rejection_is_an_error() {
    let (dk, ek) = Explicit::<Toy>::generate_keypair_from_rng(&mut Fixed(8));
    let (mut ct, ss) = ek.encapsulate_with_rng(&mut Fixed(3));
    assert_eq!(ss, [3; 32]);
    assert_eq!(dk.try_decapsulate(&ct), Ok(ss));
    ct[32] = 1;
    assert_eq!(dk.try_decapsulate(&ct), Err(Rejected));
}

#[test]
fn key_generation_draws_again_and_reports_a_broken_generator() {
    let generate = |until| {
        let mut rng = Counter {
            next: 1,
            requests: 0,
            until,
        };
        DecapsulationKey::<Explicit<Toy>>::try_generate_from_rng(&mut rng).map(|dk| *dk.expose())
    };
    assert_eq!(generate(9), Ok([2; 32]));
    assert_eq!(generate(1), Err(Broken));
    assert_eq!(generate(0), Err(Broken));
}

#[test]
fn keys_are_checked() {
    assert!(EncapsulationKey::<Explicit<Toy>>::new(&[0xff; 32].into()).is_err());
    assert!(EncapsulationKey::<Explicit<Toy>>::new(&[0xfe; 32].into()).is_ok());
    let pair = DecapsulationKey::<Explicit<Toy>>::from_parts(&[1; 32], &[1; 32]).expect("valid");
    assert_eq!(
        pair.encapsulation_key(),
        &EncapsulationKey::new(&[1; 32].into()).expect("valid")
    );
    assert!(DecapsulationKey::<Explicit<Toy>>::from_parts(&[1; 31], &[1; 32]).is_err());
    assert!(DecapsulationKey::<Explicit<Toy>>::from_parts(&[1; 32], &[1; 33]).is_err());
    assert!(DecapsulationKey::<Explicit<Toy>>::from_parts(&[0xff; 32], &[1; 32]).is_err());
    assert_eq!(
        DecapsulationKey::<Explicit<Toy>>::from_coins(&[1; 32]).err(),
        Some(NotInvertible)
    );
}
