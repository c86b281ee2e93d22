//! The traits of the `kem` crate (RustCrypto) for every [`Kem`].
//!
//! `kem` knows two kinds of decapsulation, and they exclude each other: [`Implicit`] wraps a KEM that never fails and
//! implements `kem::Decapsulate`, [`Explicit`] one that rejects and implements `kem::TryDecapsulate`. Keys are values here
//! and hold their bytes, which costs the copies that [`Kem`] itself avoids.
//!
//! Sizes have to be known to `hybrid-array` with its feature `extra-sizes`; the round-3 NTRU sizes are not.

use core::cmp::Ordering;
use core::convert::Infallible;
use core::fmt;
use core::marker::PhantomData;

use kem::common::array::typenum::U32;
use kem::common::array::{Array, ArraySize, AssocArraySize};
use kem::common::{Generate, InvalidKey as TheirInvalidKey, Key, KeyExport, KeySizeUser, TryKeyInit};
use kem::{Ciphertext, Decapsulate, Decapsulator, Encapsulate, SharedKey, TryDecapsulate};
use rand_core::{CryptoRng, TryCryptoRng, TryRng};
use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::{Bytes, Ek, InvalidKey, Kem, NotInvertible, Rejected, SharedSecret};

/// A KEM with implicit rejection as a `kem::Kem`.
pub struct Implicit<K>(PhantomData<fn() -> K>);

/// A KEM with explicit rejection as a `kem::Kem`.
pub struct Explicit<K>(PhantomData<fn() -> K>);

/// [`Implicit`] or [`Explicit`], for which the keys below are written once.
pub trait Wrapper: kem::Kem {
    /// The wrapped KEM.
    type Inner: KnownSizes;
}

/// A [`Kem`] whose sizes are also known as types.
pub trait KnownSizes: Kem + 'static {
    /// [`Kem::EK_LEN`] as a type.
    type EkSize: ArraySize;
    /// [`Kem::CT_LEN`] as a type.
    type CtSize: ArraySize;
}

impl<K> KnownSizes for K
where
    K: Kem<EkBytes: AssocArraySize, CtBytes: AssocArraySize> + 'static,
{
    type EkSize = <K::EkBytes as AssocArraySize>::Size;
    type CtSize = <K::CtBytes as AssocArraySize>::Size;
}

/// An encapsulation key that passed [`Kem::check_ek`].
pub struct EncapsulationKey<W: Wrapper>(Array<u8, <W::Inner as KnownSizes>::EkSize>);

/// A decapsulation key together with its encapsulation key. Wiped on drop.
pub struct DecapsulationKey<W: Wrapper> {
    ek: EncapsulationKey<W>,
    dk: <W::Inner as Kem>::DkBytes,
}

impl<W: Wrapper> EncapsulationKey<W> {
    fn parsed(&self) -> Ek<'_, W::Inner> {
        Ek::parse(&self.0).expect("checked when the key was made")
    }
}

impl<W: Wrapper> DecapsulationKey<W> {
    /// Makes a key pair from [`Kem::KeygenCoins`].
    pub fn from_coins(coins: &<W::Inner as Kem>::KeygenCoins) -> Result<Self, NotInvertible> {
        Self::filled(|ek, dk| W::Inner::keygen_from(coins, ek, dk))
    }

    /// Loads a stored key pair. Both keys are checked, but not whether they belong together.
    pub fn from_parts(ek: &[u8], dk: &[u8]) -> Result<Self, InvalidKey> {
        let dk = <W::Inner as Kem>::DkBytes::from_slice(dk).ok_or(InvalidKey)?;
        W::Inner::check_dk(dk)?;
        Ek::<W::Inner>::parse(ek)?;
        Self::filled(|ek_bytes, dk_bytes| {
            ek_bytes.as_mut().copy_from_slice(ek);
            dk_bytes.as_mut().copy_from_slice(dk.as_ref());
            Ok(())
        })
    }

    /// The stored form, secret.
    pub fn expose(&self) -> &<W::Inner as Kem>::DkBytes {
        &self.dk
    }

    fn filled<E>(
        fill: impl FnOnce(&mut <W::Inner as Kem>::EkBytes, &mut <W::Inner as Kem>::DkBytes) -> Result<(), E>,
    ) -> Result<Self, E> {
        let mut ek = <W::Inner as Kem>::EkBytes::ZERO;
        let mut pair = Self {
            ek: EncapsulationKey(Array::default()),
            dk: <W::Inner as Kem>::DkBytes::ZERO,
        };
        fill(&mut ek, &mut pair.dk)?;
        pair.ek.0.copy_from_slice(ek.as_ref());
        Ok(pair)
    }

    fn shared(&self, ct: &[u8]) -> Result<Array<u8, U32>, <W::Inner as Kem>::Rejection> {
        let mut ss = SharedSecret::zeroed();
        let ct = <W::Inner as Kem>::CtBytes::from_slice(ct).expect("the size is part of the type");
        W::Inner::decaps(&self.dk, ct, &mut ss).map(|()| (*ss.expose()).into())
    }
}

impl<W: Wrapper> Drop for DecapsulationKey<W> {
    fn drop(&mut self) {
        self.dk.zeroize();
    }
}

impl<W: Wrapper> ZeroizeOnDrop for DecapsulationKey<W> {}

impl<K: KnownSizes<Rejection = Infallible>> Wrapper for Implicit<K> {
    type Inner = K;
}

impl<K: KnownSizes<Rejection = Rejected>> Wrapper for Explicit<K> {
    type Inner = K;
}

impl<K: KnownSizes<Rejection = Infallible>> kem::Kem for Implicit<K> {
    type DecapsulationKey = DecapsulationKey<Self>;
    type EncapsulationKey = EncapsulationKey<Self>;
    type SharedKeySize = U32;
    type CiphertextSize = K::CtSize;
}

impl<K: KnownSizes<Rejection = Rejected>> kem::Kem for Explicit<K> {
    type DecapsulationKey = DecapsulationKey<Self>;
    type EncapsulationKey = EncapsulationKey<Self>;
    type SharedKeySize = U32;
    type CiphertextSize = K::CtSize;
}

impl<K: KnownSizes<Rejection = Infallible>> Decapsulate for DecapsulationKey<Implicit<K>> {
    fn decapsulate(&self, ct: &Ciphertext<Implicit<K>>) -> SharedKey<Implicit<K>> {
        let Ok(ss) = self.shared(ct);
        ss
    }
}

impl<K: KnownSizes<Rejection = Rejected>> TryDecapsulate for DecapsulationKey<Explicit<K>> {
    type Error = Rejected;

    fn try_decapsulate(&self, ct: &Ciphertext<Explicit<K>>) -> Result<SharedKey<Explicit<K>>, Rejected> {
        self.shared(ct)
    }
}

impl<W> Decapsulator for DecapsulationKey<W>
where
    W: Wrapper<EncapsulationKey = EncapsulationKey<W>>,
{
    type Kem = W;

    fn encapsulation_key(&self) -> &EncapsulationKey<W> {
        &self.ek
    }
}

impl<W: Wrapper> Generate for DecapsulationKey<W> {
    /// # Panics
    /// If [`Kem::keygen`] fails, which no working generator gets to see.
    fn try_generate_from_rng<R: TryCryptoRng + ?Sized>(rng: &mut R) -> Result<Self, R::Error> {
        let mut latch = Latch { rng, error: None };
        let made = Self::filled(|ek, dk| W::Inner::keygen(&mut latch, ek, dk));
        match latch.error {
            Some(error) => Err(error),
            None => Ok(made.expect("the generator works")),
        }
    }
}

impl<W> Encapsulate for EncapsulationKey<W>
where
    W: Wrapper<SharedKeySize = U32, CiphertextSize = <<W as Wrapper>::Inner as KnownSizes>::CtSize>,
{
    type Kem = W;

    fn encapsulate_with_rng<R: CryptoRng + ?Sized>(&self, mut rng: &mut R) -> (Ciphertext<W>, SharedKey<W>) {
        let mut ct = <W::Inner as Kem>::CtBytes::ZERO;
        let mut ss = SharedSecret::zeroed();
        W::Inner::encaps(&mut rng, &self.parsed(), &mut ct, &mut ss);
        let mut out = Ciphertext::<W>::default();
        out.copy_from_slice(ct.as_ref());
        (out, (*ss.expose()).into())
    }
}

impl<W: Wrapper> KeySizeUser for EncapsulationKey<W> {
    type KeySize = <W::Inner as KnownSizes>::EkSize;
}

impl<W: Wrapper> TryKeyInit for EncapsulationKey<W> {
    fn new(key: &Key<Self>) -> Result<Self, TheirInvalidKey> {
        Ek::<W::Inner>::parse(key)
            .map(|_| Self(key.clone()))
            .map_err(|InvalidKey| TheirInvalidKey)
    }
}

impl<W: Wrapper> KeyExport for EncapsulationKey<W> {
    fn to_bytes(&self) -> Key<Self> {
        self.0.clone()
    }
}

impl<W: Wrapper> Clone for EncapsulationKey<W> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<W: Wrapper> PartialEq for EncapsulationKey<W> {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl<W: Wrapper> Eq for EncapsulationKey<W> {}

impl<W: Wrapper> fmt::Debug for EncapsulationKey<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("EncapsulationKey").field(&self.0).finish()
    }
}

/// Makes a fallible generator infallible for one key generation: after an error it gives zeros, and the key is thrown away.
struct Latch<'a, R: TryRng + ?Sized> {
    rng: &'a mut R,
    error: Option<R::Error>,
}

impl<R: TryCryptoRng + ?Sized> TryRng for Latch<'_, R> {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        let mut bytes = [0; 4];
        self.try_fill_bytes(&mut bytes).map(|()| u32::from_le_bytes(bytes))
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        let mut bytes = [0; 8];
        self.try_fill_bytes(&mut bytes).map(|()| u64::from_le_bytes(bytes))
    }

    fn try_fill_bytes(&mut self, out: &mut [u8]) -> Result<(), Infallible> {
        if self.error.is_none() {
            self.error = self.rng.try_fill_bytes(out).err();
        }
        if self.error.is_some() {
            out.fill(0);
        }
        Ok(())
    }
}

impl<R: TryCryptoRng + ?Sized> TryCryptoRng for Latch<'_, R> {}

/// What `kem::Kem` asks of a name that never has a value worth comparing.
macro_rules! unit_traits {
    ($($name:ident)*) => {$(
        impl<K> Copy for $name<K> {}
        impl<K> Clone for $name<K> {
            fn clone(&self) -> Self {
                *self
            }
        }
        impl<K> Default for $name<K> {
            fn default() -> Self {
                Self(PhantomData)
            }
        }
        impl<K> PartialEq for $name<K> {
            fn eq(&self, _: &Self) -> bool {
                true
            }
        }
        impl<K> Eq for $name<K> {}
        impl<K> PartialOrd for $name<K> {
            fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
                Some(self.cmp(other))
            }
        }
        impl<K> Ord for $name<K> {
            fn cmp(&self, _: &Self) -> Ordering {
                Ordering::Equal
            }
        }
        impl<K> fmt::Debug for $name<K> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(stringify!($name))
            }
        }
    )*};
}

unit_traits! { Implicit Explicit }
