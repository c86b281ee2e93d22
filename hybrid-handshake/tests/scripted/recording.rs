//! A suite that remembers what it was asked to do, in order.

use std::cell::RefCell;

use hybrid_handshake::{
    Error,
    aead::{Aead, Key, Nonce, Tag},
    dh::{Dh, DhSecret},
    drbg::Drbg,
    suite::{Ephemeral, Group, KemId, KemScheme, Suite, SuiteId},
};
use kem_core::SharedSecret;

/// `S`, a suite or one of its parts, with a record of its work.
#[derive(Clone, Copy)]
pub struct Recording<S>(pub S);

thread_local! {
    static RECORD: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

/// What `work` asked of recording suites.
pub fn recorded<T>(work: impl FnOnce() -> T) -> (T, Vec<String>) {
    RECORD.with(|record| record.borrow_mut().clear());
    let result = work();
    (result, RECORD.with(|record| record.take()))
}

fn note(step: impl Into<String>) {
    RECORD.with(|record| record.borrow_mut().push(step.into()));
}

impl<S: Suite> Suite for Recording<S> {
    type Kem = Recording<S::Kem>;
    type Dh = Recording<S::Dh>;
    type Aead = Recording<S::Aead>;

    fn id(self) -> SuiteId {
        self.0.id()
    }

    fn kem(self) -> Self::Kem {
        Recording(self.0.kem())
    }

    fn dh(self) -> Self::Dh {
        Recording(self.0.dh())
    }

    fn aead(self) -> Self::Aead {
        Recording(self.0.aead())
    }
}

impl<K: KemScheme> KemScheme for Recording<K> {
    fn id(self) -> KemId {
        self.0.id()
    }

    fn dk_len(self) -> usize {
        self.0.dk_len()
    }

    fn check_ek(self, ek: &[u8]) -> Result<(), Error> {
        note("check_ek");
        self.0.check_ek(ek)
    }

    fn check_dk(self, dk: &[u8]) -> Result<(), Error> {
        note("check_dk");
        self.0.check_dk(dk)
    }

    fn keygen(self, rng: &mut Drbg, ek: &mut [u8], dk: &mut [u8]) -> Result<(), Error> {
        note("keygen");
        self.0.keygen(rng, ek, dk)
    }

    fn encaps(self, rng: &mut Drbg, ek: &[u8], ct: &mut [u8], ss: &mut SharedSecret) -> Result<(), Error> {
        note("encaps");
        self.0.encaps(rng, ek, ct, ss)
    }

    fn decaps(self, dk: &[u8], z: &[u8; 32], ct: &[u8], ss: &mut SharedSecret) -> Result<(), Error> {
        note("decaps");
        self.0.decaps(dk, z, ct, ss)
    }

    fn offer(self, rng: &mut Drbg, ek: &mut [u8]) -> Result<Ephemeral, Error> {
        note("offer");
        self.0.offer(rng, ek)
    }

    fn accept(self, offer: Ephemeral, ct: &[u8], ss: &mut SharedSecret) -> Result<(), Error> {
        note("accept");
        self.0.accept(offer, ct, ss)
    }
}

impl<D: Dh> Dh for Recording<D> {
    fn group(self) -> Group {
        self.0.group()
    }

    fn draw(self, rng: &mut Drbg, secret: &mut DhSecret) -> Result<(), Error> {
        note("draw");
        self.0.draw(rng, secret)
    }

    fn share(self, secret: &DhSecret, out: &mut [u8]) -> Result<(), Error> {
        note("share");
        self.0.share(secret, out)
    }

    fn check(self, share: &[u8]) -> Result<(), Error> {
        note("check");
        self.0.check(share)
    }

    fn agree(self, secret: &DhSecret, share: &[u8], ss: &mut SharedSecret) -> Result<(), Error> {
        note("agree");
        self.0.agree(secret, share, ss)
    }
}

impl<A: Aead> Aead for Recording<A> {
    fn key_len(self) -> usize {
        self.0.key_len()
    }

    fn nonce_len(self) -> usize {
        self.0.nonce_len()
    }

    fn seal(self, key: &Key, nonce: &Nonce, ad: &[u8], text: &mut [u8]) -> Result<Tag, Error> {
        note(format!("seal {}", text.len()));
        self.0.seal(key, nonce, ad, text)
    }

    fn open(self, key: &Key, nonce: &Nonce, ad: &[u8], text: &mut [u8], tag: &Tag) -> Result<(), Error> {
        note(format!("open {}", text.len()));
        self.0.open(key, nonce, ad, text, tag)
    }
}
