use core::marker::PhantomData;

use kem_core::{Bytes, Ek, Kem, SharedSecret};
use subtle::Choice;
use zeroize::Zeroize;

use super::KemId;
use crate::{
    Error,
    backends::{Digest, Sha256},
    drbg::Drbg,
};

/// A KEM as a value over the caller's slices: [`FixedKem`] at build time, [`AnyKem`] at run time.
///
/// Slices of a wrong length give [`Error::Misuse`] where the caller chose them and [`Error::Rejected`] where a peer sent
/// them.
pub trait KemScheme: Copy {
    /// Which KEM it is; its lengths are those of [`KemId`].
    fn id(self) -> KemId;

    /// Length of a decapsulation key in bytes.
    fn dk_len(self) -> usize;

    /// Checks an encapsulation key from a peer or from storage.
    ///
    /// # Errors
    /// [`Error::Rejected`] if its length is wrong or its encoding not canonical.
    fn check_ek(self, ek: &[u8]) -> Result<(), Error>;

    /// Checks a stored decapsulation key when it is loaded.
    ///
    /// # Errors
    /// [`Error::Rejected`].
    fn check_dk(self, dk: &[u8]) -> Result<(), Error>;

    /// Makes a static key pair.
    ///
    /// # Errors
    /// [`Error::Generator`] if `rng` gives no invertible key, [`Error::Misuse`] for buffers of a wrong length.
    fn keygen(self, rng: &mut Drbg, ek: &mut [u8], dk: &mut [u8]) -> Result<(), Error>;

    /// Encapsulates to `ek`, drawing the coins from `rng`.
    ///
    /// # Errors
    /// [`Error::Rejected`] if `ek` is not a key, [`Error::Misuse`] if `ct` has a wrong length.
    fn encaps(self, rng: &mut Drbg, ek: &[u8], ct: &mut [u8], ss: &mut SharedSecret) -> Result<(), Error>;

    /// Decapsulates. A ciphertext that was not made for this key gives an unrelated `ss`, also where the scheme itself
    /// would reject: then `ss = H("HKM1 reject" | z | ct)`.
    ///
    /// # Errors
    /// [`Error::Rejected`] for a ciphertext and [`Error::Misuse`] for a key of a wrong length.
    fn decaps(self, dk: &[u8], z: &[u8; 32], ct: &[u8], ss: &mut SharedSecret) -> Result<(), Error>;

    /// Makes an ephemeral key pair, of which only the encapsulation key and 32 bytes remain.
    ///
    /// # Errors
    /// As [`KemScheme::keygen`].
    fn offer(self, rng: &mut Drbg, ek: &mut [u8]) -> Result<Ephemeral, Error>;

    /// Makes the decapsulation key of an offer again, uses it once and wipes it.
    ///
    /// # Errors
    /// As [`KemScheme::decaps`].
    fn accept(self, offer: Ephemeral, ct: &[u8], ss: &mut SharedSecret) -> Result<(), Error>;
}

/// What is left of an ephemeral decapsulation key between two flights: the generator as it stood before key generation.
/// 32 bytes for every KEM, so that a half-open connection stays small.
pub struct Ephemeral(Drbg);

/// A [`Kem`] that has a code in HKM1.
pub trait NamedKem: Kem {
    /// Its code.
    const ID: KemId;
}

/// A KEM fixed at build time.
pub struct FixedKem<K>(PhantomData<K>);

impl<K> FixedKem<K> {
    /// The only value.
    pub const fn new() -> Self {
        Self(PhantomData)
    }
}

impl<K> Default for FixedKem<K> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K> Clone for FixedKem<K> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<K> Copy for FixedKem<K> {}

impl<K: NamedKem> FixedKem<K> {
    const SIZES: () = assert!(K::EK_LEN == K::ID.ek_len() && K::CT_LEN == K::ID.ct_len());

    /// Whether decapsulation can fail at all: the error of implicit rejection has no value.
    const REJECTS: bool = size_of::<Option<K::Rejection>>() != 0;
}

impl<K: NamedKem> KemScheme for FixedKem<K> {
    fn id(self) -> KemId {
        let () = Self::SIZES;
        K::ID
    }

    fn dk_len(self) -> usize {
        K::DK_LEN
    }

    fn check_ek(self, ek: &[u8]) -> Result<(), Error> {
        Ek::<K>::parse(ek).map(|_| ()).map_err(|_| Error::Rejected)
    }

    fn check_dk(self, dk: &[u8]) -> Result<(), Error> {
        let dk = K::DkBytes::from_slice(dk).ok_or(Error::Rejected)?;
        K::check_dk(dk).map_err(|_| Error::Rejected)
    }

    fn keygen(self, rng: &mut Drbg, ek: &mut [u8], dk: &mut [u8]) -> Result<(), Error> {
        let ek = K::EkBytes::from_mut_slice(ek).ok_or(Error::Misuse)?;
        let dk = K::DkBytes::from_mut_slice(dk).ok_or(Error::Misuse)?;
        K::keygen(rng, ek, dk).map_err(|_| Error::Generator)
    }

    fn encaps(self, rng: &mut Drbg, ek: &[u8], ct: &mut [u8], ss: &mut SharedSecret) -> Result<(), Error> {
        let ek = Ek::<K>::parse(ek).map_err(|_| Error::Rejected)?;
        let ct = K::CtBytes::from_mut_slice(ct).ok_or(Error::Misuse)?;
        K::encaps(rng, &ek, ct, ss);
        Ok(())
    }

    // Out of line: else its frame, the longest of all, stands in the caller's beside that of the encapsulation before it.
    #[inline(never)]
    fn decaps(self, dk: &[u8], z: &[u8; 32], ct: &[u8], ss: &mut SharedSecret) -> Result<(), Error> {
        let dk = K::DkBytes::from_slice(dk).ok_or(Error::Misuse)?;
        let ct = K::CtBytes::from_slice(ct).ok_or(Error::Rejected)?;
        let rejected = K::decaps(dk, ct, ss).is_err();
        if Self::REJECTS {
            // Always computed: which of the two secrets counts must not show in the time it takes.
            let mut reject: [u8; 32] = Sha256::new()
                .chain_update("HKM1 reject")
                .chain_update(z)
                .chain_update(ct)
                .finalize()
                .into();
            ss.conditional_assign(&reject, Choice::from(u8::from(rejected)));
            reject.zeroize();
        }
        Ok(())
    }

    fn offer(self, rng: &mut Drbg, ek: &mut [u8]) -> Result<Ephemeral, Error> {
        let offer = Ephemeral(rng.fork());
        let mut dk = K::DkBytes::ZERO;
        let made = self.keygen(rng, ek, dk.as_mut());
        dk.zeroize();
        made.map(|()| offer)
    }

    fn accept(self, mut offer: Ephemeral, ct: &[u8], ss: &mut SharedSecret) -> Result<(), Error> {
        let (mut ek, mut dk) = (K::EkBytes::ZERO, K::DkBytes::ZERO);
        let z = offer.0.reject_secret();
        let done = self
            .keygen(&mut offer.0, ek.as_mut(), dk.as_mut())
            .and_then(|()| self.decaps(dk.as_ref(), &z, ct, ss));
        dk.zeroize();
        done
    }
}

/// Makes `AnyKem` from one table: which type stands behind which code, and the feature that brings it.
macro_rules! dispatch {
    ($($variant:ident $feature:literal $kem:ty;)*) => {
        $(
            #[cfg(feature = $feature)]
            impl NamedKem for $kem {
                const ID: KemId = KemId::$variant;
            }
        )*

        impl AnyKem {
            /// `None` if the KEM is not compiled in.
            pub const fn new(id: KemId) -> Option<Self> {
                match id {
                    $(#[cfg(feature = $feature)] KemId::$variant => Some(Self(id)),)*
                    #[allow(unreachable_patterns)]
                    _ => None,
                }
            }
        }

        dispatch!(@impl [$($variant $feature $kem;)*]
            dk_len() -> usize, 0;
            check_ek(ek: &[u8]) -> Result<(), Error>, Err(Error::Unsupported);
            check_dk(dk: &[u8]) -> Result<(), Error>, Err(Error::Unsupported);
            keygen(rng: &mut Drbg, ek: &mut [u8], dk: &mut [u8]) -> Result<(), Error>, Err(Error::Unsupported);
            encaps(rng: &mut Drbg, ek: &[u8], ct: &mut [u8], ss: &mut SharedSecret) -> Result<(), Error>, Err(Error::Unsupported);
            decaps(dk: &[u8], z: &[u8; 32], ct: &[u8], ss: &mut SharedSecret) -> Result<(), Error>, Err(Error::Unsupported);
            offer(rng: &mut Drbg, ek: &mut [u8]) -> Result<Ephemeral, Error>, Err(Error::Unsupported);
            accept(offer: Ephemeral, ct: &[u8], ss: &mut SharedSecret) -> Result<(), Error>, Err(Error::Unsupported);
        );
    };
    (@impl $table:tt $($method:ident($($arg:ident: $type:ty),*) -> $out:ty, $absent:expr;)*) => {
        impl KemScheme for AnyKem {
            fn id(self) -> KemId {
                self.0
            }

            $(#[allow(unused_variables)] // in a build without any KEM
            fn $method(self, $($arg: $type),*) -> $out {
                dispatch!(@match self.0, $table $method($($arg),*), $absent)
            })*
        }
    };
    (@match $id:expr, [$($variant:ident $feature:literal $kem:ty;)*] $method:ident $args:tt, $absent:expr) => {
        match $id {
            $(#[cfg(feature = $feature)] KemId::$variant => FixedKem::<$kem>::new().$method $args,)*
            #[allow(unreachable_patterns)]
            _ => $absent,
        }
    };
}

/// A KEM chosen at run time, among those compiled in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnyKem(KemId);

dispatch! {
    MlKem512      "kyber"      kyber::MlKem512;
    MlKem768      "kyber"      kyber::MlKem768;
    MlKem1024     "kyber"      kyber::MlKem1024;
    CtruLight     "ctru-light" ctru_light::CtruLight<ctru_light::AsconXof>;
    LightSaber    "saber"      saber::LightSaber;
    NtruPlus768   "ntru-plus"  ntru_plus::NtruPlus768;
    NtruPlus864   "ntru-plus"  ntru_plus::NtruPlus864;
    NtruPlus1152  "ntru-plus"  ntru_plus::NtruPlus1152;
    NtruHps2048509 "ntru"     ntru::NtruHps2048509;
    NtruHrss701   "ntru"       ntru::NtruHrss701;
    NtruHps2048677 "ntru"      ntru::NtruHps2048677;
    NtruHps4096821 "ntru"      ntru::NtruHps4096821;
    CtruLightSha3 "ctru-light" ctru_light::CtruLight<ctru_light::Sha3>;
    Saber         "saber"      saber::Saber;
    FireSaber     "saber"      saber::FireSaber;
}

#[cfg(test)]
mod tests;
