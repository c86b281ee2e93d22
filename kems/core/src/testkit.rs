//! What the tests of every KEM family share: the NIST KAT generator, one vector format, `.rsp` regeneration, and the laws
//! that every [`Kem`](crate::Kem) obeys. Test code: it panics where an assertion fails.

mod declassified;
mod drbg;
mod hex;
mod kat;
mod laws;
mod pair;
mod recorder;
mod vectors;

pub(crate) use declassified::declassified;
pub use declassified::on_declassify;
pub use drbg::KatDrbg;
pub use hex::Hex;
pub use kat::{Kat, KatDigests, Rsp, check_kat, regenerate};
pub use laws::laws;
pub use pair::Pair;
pub use recorder::Recorder;
pub use vectors::{Change, File, Reject, Vector, check_file, check_vector};
