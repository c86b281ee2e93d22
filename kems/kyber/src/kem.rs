use core::convert::Infallible;
use core::marker::PhantomData;

use kem_core::ct::{Compare, Emit, declassify_bytes};
use kem_core::rand_core::CryptoRng;
use kem_core::{Bytes, Ek, InvalidKey, Kem, NotInvertible, SharedSecret};
use zeroize::{Zeroize, Zeroizing};

use crate::backends::{Backend, with_backend};
use crate::params::{P512, P768, P1024, Params};
use crate::pke;
use crate::poly::POLY_LEN;
use crate::shell::{Fips203, Round3, Shell, hash_g, hash_h};

/// A KEM of the Kyber family: parameter set `P` in the shell `V`.
///
/// `KeygenCoins` is d | z, `EncapsCoins` the 32 random bytes behind the message.
pub struct Kyber<P, V>(PhantomData<(P, V)>);

/// ML-KEM-512 (FIPS 203): category 1, keys of 800 and 1632 bytes, ciphertexts of 768.
pub type MlKem512 = Kyber<P512, Fips203>;
/// ML-KEM-768 (FIPS 203): category 3, keys of 1184 and 2400 bytes, ciphertexts of 1088.
pub type MlKem768 = Kyber<P768, Fips203>;
/// ML-KEM-1024 (FIPS 203): category 5, keys of 1568 and 3168 bytes, ciphertexts of 1568.
pub type MlKem1024 = Kyber<P1024, Fips203>;
/// Kyber512 of round 3; not interoperable with [`MlKem512`].
pub type Kyber512 = Kyber<P512, Round3>;
/// Kyber768 of round 3; not interoperable with [`MlKem768`].
pub type Kyber768 = Kyber<P768, Round3>;
/// Kyber1024 of round 3; not interoperable with [`MlKem1024`].
pub type Kyber1024 = Kyber<P1024, Round3>;

impl<P: Params, V: Shell> Kem for Kyber<P, V> {
    type EkBytes = P::Ek;
    type DkBytes = P::Dk;
    type CtBytes = P::Ct;
    type KeygenCoins = [u8; 64];
    type EncapsCoins = [u8; 32];
    type Rejection = Infallible;

    fn check_ek(ek: &P::Ek) -> Result<(), InvalidKey> {
        let () = P::CHECKED;
        with_backend!(|backend| V::check_ek::<P>(backend, ek.as_ref()))
    }

    fn check_dk(dk: &P::Dk) -> Result<(), InvalidKey> {
        let () = P::CHECKED;
        let dk = DkParts::of::<P>(dk.as_ref());
        V::check_dk(dk.ek, dk.h)
    }

    fn keygen_from(coins: &[u8; 64], ek: &mut P::Ek, dk: &mut P::Dk) -> Result<(), NotInvertible> {
        let () = P::CHECKED;
        with_backend!(|backend| {
            keygen::<P, V>(backend, coins, ek.as_mut(), dk.as_mut());
            Ok(())
        })
    }

    fn encaps_from(coins: &[u8; 32], ek: &Ek<'_, Self>, ct: &mut P::Ct, ss: &mut SharedSecret) {
        let () = P::CHECKED;
        with_backend!(|backend| encaps::<P, V>(backend, coins, ek.as_bytes().as_ref(), ct.as_mut(), ss));
    }

    fn decaps(dk: &P::Dk, ct: &P::Ct, ss: &mut SharedSecret) -> Result<(), Infallible> {
        let () = P::CHECKED;
        with_backend!(|backend| {
            decaps::<P, V>(backend, &DkParts::of::<P>(dk.as_ref()), ct.as_ref(), ss);
            Ok(())
        })
    }

    fn keygen(rng: &mut impl CryptoRng, ek: &mut P::Ek, dk: &mut P::Dk) -> Result<(), NotInvertible> {
        let mut coins = [0; 64];
        V::draw(rng, &mut coins);
        let made = Self::keygen_from(&coins, ek, dk);
        coins.zeroize();
        made
    }
}

/// ML-KEM.KeyGen_internal (FIPS 203 section 6.1).
fn keygen<P: Params, V: Shell>(backend: impl Backend, coins: &[u8; 64], ek: &mut [u8], dk: &mut [u8]) {
    let (d, z) = halves(coins);
    let (s_hat, dk_rest) = dk.split_at_mut(P::K * POLY_LEN);
    let (dk_ek, h_z) = dk_rest.split_at_mut(P::Ek::LEN);
    let ([h_z], []) = h_z.as_chunks_mut() else { return };
    // The seeds lie where h and z come, which saves stack.
    V::expand::<P>(d, h_z);
    declassify_bytes(&mut h_z[..32]); // rho is public: the matrix is made from it
    let (rho, sigma) = halves(h_z);
    let (t_hat, ek_rho) = ek.split_at_mut(P::K * POLY_LEN);
    ek_rho.copy_from_slice(rho);
    pke::keygen::<P>(backend, rho, sigma, t_hat, s_hat);
    dk_ek.copy_from_slice(ek);
    let (h, dk_z) = h_z.split_at_mut(32);
    hash_h(ek, h);
    dk_z.copy_from_slice(z);
}

/// ML-KEM.Encaps_internal (section 6.2).
fn encaps<P: Params, V: Shell>(
    backend: impl Backend,
    coins: &[u8; 32],
    ek: &[u8],
    ct: &mut [u8],
    ss: &mut SharedSecret,
) {
    let m = V::message(coins);
    // H(ek) lies where the shared secret comes, which saves stack.
    hash_h(ek, ss.expose_mut());
    let mut k_r = Zeroizing::new([0; 64]);
    hash_g(&[&*m, ss.expose()], &mut k_r);
    let (k, r) = halves(&k_r);
    pke::encrypt::<P>(backend, ek, &m, r, &mut Emit::new(ct));
    V::accept(k, ct, ss);
}

/// ML-KEM.Decaps_internal (section 6.3). The second ciphertext is compared while it is made, and never stored.
fn decaps<P: Params, V: Shell>(backend: impl Backend, dk: &DkParts<'_>, ct: &[u8], ss: &mut SharedSecret) {
    let mut m = Zeroizing::new([0; 32]);
    pke::decrypt::<P>(backend, dk.s_hat, ct, &mut m);
    let mut k_r = Zeroizing::new([0; 64]);
    hash_g(&[&*m, dk.h], &mut k_r);
    let (k, r) = halves(&k_r);
    let mut theirs = Compare::new(ct);
    pke::encrypt::<P>(backend, dk.ek, &m, r, &mut theirs);
    V::settle(k, dk.z, ct, theirs.matched(), ss);
}

/// The fields of a decapsulation key (FIPS 203 algorithm 16).
struct DkParts<'a> {
    s_hat: &'a [u8],
    ek: &'a [u8],
    h: &'a [u8],
    z: &'a [u8],
}

impl<'a> DkParts<'a> {
    fn of<P: Params>(dk: &'a [u8]) -> Self {
        let (s_hat, rest) = dk.split_at(P::K * POLY_LEN);
        let (ek, h_z) = rest.split_at(P::Ek::LEN);
        let (h, z) = h_z.split_at(32);
        Self { s_hat, ek, h, z }
    }
}

fn halves(bytes: &[u8; 64]) -> (&[u8; 32], &[u8; 32]) {
    let (chunks, _) = bytes.as_chunks();
    (&chunks[0], &chunks[1])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::backends::Native;

    /// The backend of this machine and the one of every machine make the same of the same coins.
    fn check<P: Params, V: Shell>(keygen_coins: &[u8; 64], encaps_coins: &[u8; 32], flip: usize) {
        let (mut keys, mut portable_keys) = ((P::Ek::ZERO, P::Dk::ZERO), (P::Ek::ZERO, P::Dk::ZERO));
        assert!(Kyber::<P, V>::keygen_from(keygen_coins, &mut keys.0, &mut keys.1).is_ok());
        keygen::<P, V>(Native, keygen_coins, portable_keys.0.as_mut(), portable_keys.1.as_mut());
        assert!(keys.0.as_ref() == portable_keys.0.as_ref() && keys.1.as_ref() == portable_keys.1.as_ref());

        let (mut ct, mut portable_ct) = (P::Ct::ZERO, P::Ct::ZERO);
        let [mut ss, mut portable_ss] = [SharedSecret::zeroed(), SharedSecret::zeroed()];
        let ek = Ek::<Kyber<P, V>>::parse(keys.0.as_ref()).expect("a key of our own");
        Kyber::<P, V>::encaps_from(encaps_coins, &ek, &mut ct, &mut ss);
        encaps::<P, V>(
            Native,
            encaps_coins,
            keys.0.as_ref(),
            portable_ct.as_mut(),
            &mut portable_ss,
        );
        assert!(ct.as_ref() == portable_ct.as_ref() && ss.expose() == portable_ss.expose());

        let sent = *ss.expose();
        for mask in [0, 0x10] {
            ct.as_mut()[flip % P::Ct::LEN] ^= mask;
            let Ok(()) = Kyber::<P, V>::decaps(&keys.1, &ct, &mut ss);
            decaps::<P, V>(
                Native,
                &DkParts::of::<P>(keys.1.as_ref()),
                ct.as_ref(),
                &mut portable_ss,
            );
            assert!(ss.expose() == portable_ss.expose());
            assert_eq!(*ss.expose() == sent, mask == 0);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16))]

        #[test]
        fn every_backend_gives_the_same(d: [u8; 32], z: [u8; 32], coins: [u8; 32], flip: usize) {
            let mut keygen_coins = [0; 64];
            keygen_coins[..32].copy_from_slice(&d);
            keygen_coins[32..].copy_from_slice(&z);
            check::<P512, Fips203>(&keygen_coins, &coins, flip);
            check::<P768, Fips203>(&keygen_coins, &coins, flip);
            check::<P1024, Fips203>(&keygen_coins, &coins, flip);
            check::<P512, Round3>(&keygen_coins, &coins, flip);
            check::<P768, Round3>(&keygen_coins, &coins, flip);
            check::<P1024, Round3>(&keygen_coins, &coins, flip);
        }
    }
}
