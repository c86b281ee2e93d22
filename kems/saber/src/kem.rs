//! Saber.KEM: the Fujisaki-Okamoto shell with implicit rejection (section 2.4).

use core::convert::Infallible;
use core::marker::PhantomData;

use kem_core::ct::{Compare, Emit};
use kem_core::hash::{Sha3_256, Sha3_512};
use kem_core::rand_core::CryptoRng;
use kem_core::{Bytes, Ek, InvalidKey, Kem, NotInvertible, SharedSecret};
use subtle::{Choice, ConditionallySelectable, ConstantTimeEq};
use zeroize::Zeroizing;

use crate::backends::NATIVE;
use crate::params::Params;
use crate::pke;
use crate::poly::{Q_LEN, is_secret};

/// Saber over the parameter set `P`; see the aliases in the crate root.
///
/// `keygen_coins` are seed_A_raw, seed_s and z, 32 bytes each, `encaps_coins` are the message before it is hashed.
pub struct SaberKem<P>(PhantomData<P>);

impl<P: Params> Kem for SaberKem<P> {
    type EkBytes = P::Ek;
    type DkBytes = P::Dk;
    type CtBytes = P::Ct;
    type KeygenCoins = [u8; 96];
    type EncapsCoins = [u8; 32];
    type Rejection = Infallible;

    /// Every byte string of the right length is an encapsulation key: q and p are powers of two.
    fn check_ek(_: &P::Ek) -> Result<(), InvalidKey> {
        Ok(())
    }

    /// Refuses a key whose stored hash is not that of its encapsulation key, or whose secret has coefficients beyond
    /// mu / 2. The specification has no such check; [`Kem::decaps`] works on any bytes.
    fn check_dk(dk: &P::Dk) -> Result<(), InvalidKey> {
        let dk = Dk::<P>::new(dk);
        let mut hash = [0; 32];
        Sha3_256::digest(&[dk.ek.as_ref()], &mut hash);
        let short = dk
            .secret
            .chunks_exact(Q_LEN)
            .fold(Choice::from(1), |all, s| all & is_secret(s, P::ETA));
        if (short & hash.ct_eq(dk.ek_hash)).into() {
            Ok(())
        } else {
            Err(InvalidKey)
        }
    }

    /// Draws the coins in three requests of 32 bytes, as the specification does: a generator may tell that from one of 96.
    fn keygen(rng: &mut impl CryptoRng, ek: &mut P::Ek, dk: &mut P::Dk) -> Result<(), NotInvertible> {
        let mut coins = Zeroizing::new([0; 96]);
        coins.chunks_exact_mut(32).for_each(|seed| rng.fill_bytes(seed));
        Self::keygen_from(&coins, ek, dk)
    }

    /// Never fails.
    fn keygen_from(coins: &[u8; 96], ek: &mut P::Ek, dk: &mut P::Dk) -> Result<(), NotInvertible> {
        let [seed_a_raw, seed_s, z] = coins.as_chunks().0 else {
            unreachable!("96 bytes are three seeds")
        };
        let (secret, rest) = dk.as_mut().split_at_mut(P::RANK * Q_LEN);
        pke::keygen::<P, _>(NATIVE, seed_a_raw, seed_s, ek, secret);
        let (ek_copy, rest) = rest.split_at_mut(P::Ek::LEN);
        let (hash, z_copy) = rest.split_at_mut(32);
        ek_copy.copy_from_slice(ek.as_ref());
        Sha3_256::digest(&[ek_copy], hash);
        z_copy.copy_from_slice(z);
        Ok(())
    }

    fn encaps_from(coins: &[u8; 32], ek: &Ek<'_, Self>, ct: &mut P::Ct, ss: &mut SharedSecret) {
        let (mut m, mut ek_hash) = (Zeroizing::new([0; 32]), [0; 32]);
        // The message is hashed before use, so that a ciphertext never carries a generator's raw output.
        Sha3_256::digest(&[coins], &mut *m);
        Sha3_256::digest(&[ek.as_bytes().as_ref()], &mut ek_hash);
        let keys = Keys::derive(&m, &ek_hash);
        pke::encrypt::<P, _>(NATIVE, &m, keys.r(), ek.as_bytes(), &mut Emit::new(ct.as_mut()));
        keys.finish::<P>(ct, ss);
    }

    fn decaps(dk: &P::Dk, ct: &P::Ct, ss: &mut SharedSecret) -> Result<(), Infallible> {
        let dk = Dk::<P>::new(dk);
        let mut m = Zeroizing::new([0; 32]);
        pke::decrypt::<P, _>(NATIVE, dk.secret, ct, &mut m);
        let mut keys = Keys::derive(&m, dk.ek_hash);
        let mut reencrypted = Compare::new(ct.as_ref());
        pke::encrypt::<P, _>(NATIVE, &m, keys.r(), dk.ek, &mut reencrypted);
        keys.reject_unless(reencrypted.matched(), dk.z);
        keys.finish::<P>(ct, ss);
        Ok(())
    }
}

/// A decapsulation key, taken apart.
struct Dk<'a, P: Params> {
    secret: &'a [u8],
    ek: &'a P::Ek,
    ek_hash: &'a [u8; 32],
    z: &'a [u8; 32],
}

impl<'a, P: Params> Dk<'a, P> {
    fn new(dk: &'a P::Dk) -> Self {
        let (secret, rest) = dk.as_ref().split_at(P::RANK * Q_LEN);
        let (ek, rest) = rest.split_at(P::Ek::LEN);
        let (Some(ek), [ek_hash, z]) = (P::Ek::from_slice(ek), rest.as_chunks().0) else {
            unreachable!("the length of a decapsulation key is the sum of its parts")
        };
        Self { secret, ek, ek_hash, z }
    }
}

/// k, which becomes the shared secret, and r, the randomness of the encryption.
struct Keys(Zeroizing<[u8; 64]>);

impl Keys {
    fn derive(m: &[u8; 32], ek_hash: &[u8; 32]) -> Self {
        let mut keys = Self(Zeroizing::new([0; 64]));
        Sha3_512::digest(&[m, ek_hash], &mut *keys.0);
        keys
    }

    fn r(&self) -> &[u8; 32] {
        let [_, r] = self.0.as_chunks().0 else {
            unreachable!("64 bytes are two keys")
        };
        r
    }

    fn reject_unless(&mut self, matched: Choice, z: &[u8; 32]) {
        for (k, z) in self.0.iter_mut().zip(z) {
            k.conditional_assign(z, !matched);
        }
    }

    fn finish<P: Params>(&self, ct: &P::Ct, ss: &mut SharedSecret) {
        let mut ct_hash = [0; 32];
        Sha3_256::digest(&[ct.as_ref()], &mut ct_hash);
        Sha3_256::digest(&[&self.0[..32], &ct_hash], ss.expose_mut());
    }
}
