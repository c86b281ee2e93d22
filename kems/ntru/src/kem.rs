//! NTRU.KEM: implicit rejection without re-encryption (section 1.12).

use core::convert::Infallible;
use core::marker::PhantomData;

use kem_core::hash::Sha3_256;
use kem_core::rand_core::CryptoRng;
use kem_core::{Bytes, Ek, InvalidKey, Kem, NotInvertible, SharedSecret};
use zeroize::{Zeroize, Zeroizing};

use crate::backends::{Multiply, Tmvp};
use crate::params::{Params, Set, q_len, trits_len};
use crate::pke::{self, Secret};

/// NTRU over the parameter set `P` with the multiplication `M`; see the aliases in the crate root. All multiplications give
/// the same bytes.
///
/// `keygen_coins` are the randomness of f and g and then the 32 bytes of the rejection key, `encaps_coins` the randomness of
/// r and m.
pub struct Ntru<P, M = Tmvp>(PhantomData<(P, M)>);

impl<P: Params, M: Multiply> Kem for Ntru<P, M> {
    type EkBytes = P::Ek;
    type DkBytes = P::Dk;
    type CtBytes = P::Ct;
    type KeygenCoins = P::KeygenCoins;
    type EncapsCoins = P::EncapsCoins;
    type Rejection = Infallible;

    /// Every byte string of the right length is an encapsulation key: q is a power of two, and unused bits are ignored.
    fn check_ek(_: &P::Ek) -> Result<(), InvalidKey> {
        Ok(())
    }

    /// Refuses a key whose f and 1 / f modulo 3 are not encoded canonically or do not belong together. The specification has
    /// no such check; [`Kem::decaps`] works on any bytes.
    fn check_dk(dk: &P::Dk) -> Result<(), InvalidKey> {
        if pke::is_consistent::<P, M>(&split_dk::<P>(dk).0).into() {
            Ok(())
        } else {
            Err(InvalidKey)
        }
    }

    /// Draws the coins in two requests, as the specification does: a generator may tell that from one.
    fn keygen(rng: &mut impl CryptoRng, ek: &mut P::Ek, dk: &mut P::Dk) -> Result<(), NotInvertible> {
        let mut coins = P::KeygenCoins::ZERO;
        let (fg, prf) = coins.as_mut().split_at_mut(P::EncapsCoins::LEN);
        rng.fill_bytes(fg);
        rng.fill_bytes(prf);
        let made = Self::keygen_from(&coins, ek, dk);
        coins.zeroize();
        made
    }

    /// Never fails.
    fn keygen_from(coins: &P::KeygenCoins, ek: &mut P::Ek, dk: &mut P::Dk) -> Result<(), NotInvertible> {
        let () = Set::<P>::SIZES;
        let (fg, prf) = coins.as_ref().split_at(P::EncapsCoins::LEN);
        let (secret, prf_copy) = dk.as_mut().split_at_mut(P::Dk::LEN - 32);
        pke::keygen::<P, M>(fg, ek, secret);
        prf_copy.copy_from_slice(prf);
        Ok(())
    }

    fn encaps_from(coins: &P::EncapsCoins, ek: &Ek<'_, Self>, ct: &mut P::Ct, ss: &mut SharedSecret) {
        let () = Set::<P>::SIZES;
        let mut packed = Zeroizing::new(P::PACKED);
        pke::encrypt::<P, M>(coins.as_ref(), ek.as_bytes(), ct, (*packed).as_mut());
        Sha3_256::digest(&[(*packed).as_ref()], ss.expose_mut());
    }

    fn decaps(dk: &P::Dk, ct: &P::Ct, ss: &mut SharedSecret) -> Result<(), Infallible> {
        let () = Set::<P>::SIZES;
        let (secret, prf) = split_dk::<P>(dk);
        let mut packed = Zeroizing::new(P::PACKED);
        let valid = pke::decrypt::<P, M>(&secret, ct, (*packed).as_mut());
        let mut rejection = Zeroizing::new([0; 32]);
        Sha3_256::digest(&[prf, ct.as_ref()], &mut *rejection);
        Sha3_256::digest(&[(*packed).as_ref()], ss.expose_mut());
        ss.conditional_assign(&rejection, !valid);
        Ok(())
    }
}

/// The secret, and the rejection key.
fn split_dk<P: Params>(dk: &P::Dk) -> (Secret<'_>, &[u8]) {
    let (f, rest) = dk.as_ref().split_at(trits_len::<P>());
    let (f_inverse, rest) = rest.split_at(trits_len::<P>());
    let (h_inverse, prf) = rest.split_at(q_len::<P>());
    (
        Secret {
            f,
            f_inverse,
            h_inverse,
        },
        prf,
    )
}
