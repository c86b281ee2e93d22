//! Every routine of a backend against its portable twin, on random values and at the bounds, and its time.

#[cfg(not(kemqtt_portable))]
mod conventions;
mod ctru_light;
mod handshake;
mod known_answers;
mod kyber;
mod ntru;
mod ntru_plus;
mod permutation;
mod saber;

use core::fmt::Write;

use ::ntru::{Hps509, Hps677, Hps821, Hrss701};
use ::ntru_plus::{P768, P864, P1152};

use crate::meter::Console;

/// Prints a line for each routine; false if one differs.
#[inline(never)]
pub(crate) fn run() -> bool {
    const ROUTINES: &[Routine] = &[
        ("keccak-f1600", permutation::keccak),
        ("ascon-p", permutation::ascon),
        #[cfg(not(kemqtt_portable))]
        ("sha256", handshake::sha256),
        ("x25519", handshake::x25519),
        ("ctru-light ring", ctru_light::ring),
        ("ctru-light decryption", ctru_light::decryption),
        ("kyber", kyber::arithmetic),
        ("ntru sort", ntru::sorting),
        ("ntruhps2048509", ntru::products::<Hps509>),
        ("ntruhps2048677", ntru::products::<Hps677>),
        ("ntruhps4096821", ntru::products::<Hps821>),
        ("ntruhrss701", ntru::products::<Hrss701>),
        ("ntru-plus 768", ntru_plus::arithmetic::<P768>),
        ("ntru-plus 864", ntru_plus::arithmetic::<P864>),
        ("ntru-plus 1152", ntru_plus::arithmetic::<P1152>),
        ("saber", saber::products),
        ("known answers", known_answers::all),
        #[cfg(not(kemqtt_portable))]
        ("conventions", conventions::kept),
    ];
    let mut all = true;
    for (name, agrees) in ROUTINES {
        let agrees = agrees();
        all &= agrees;
        let _ = writeln!(Console, "{} {name}", if agrees { "ok  " } else { "FAIL" });
    }
    if all {
        let _ = writeln!(Console, "all twins agree");
    }
    all
}

/// Its name, and whether it agrees with its twin.
type Routine = (&'static str, fn() -> bool);
