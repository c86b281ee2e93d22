//! Every routine in assembly keeps what a C function keeps, and leaves nothing that depends on a secret.
#![allow(unsafe_code)]

use core::fmt::Write;

use crate::abi::Argument::{self, Public, Secret, Value};
use crate::abi::convention;
use crate::meter::Console;

/// Prints those that do not, and how many there are.
pub(super) fn kept() -> bool {
    let faults = ROUTINES.iter().filter(|(name, function, arguments)| {
        // SAFETY: the arguments are those of the routine; no array is longer than 2048 words, no frame than 1024 bytes.
        let result = unsafe { convention(*function, arguments) };
        if let Err(fault) = &result {
            let _ = writeln!(Console, "     {name}: {fault:?}");
        }
        result.is_err()
    });
    let kept = faults.count() == 0;
    let _ = writeln!(Console, "     {} routines in assembly", ROUTINES.len());
    kept
}

type Routine = (&'static str, unsafe extern "C" fn(), [Argument; 4]);

/// Routines by their arguments; where there are fewer than four, the others are not looked at.
macro_rules! routines {
    ($($arguments:tt $($name:ident)*;)*) => {
        // Declared here without their arguments, which are in registers.
        unsafe extern "C" {
            $($(fn $name();)*)*
        }

        const ROUTINES: &[Routine] = &[$($(
            (stringify!($name), $name, four($arguments)),
        )*)*];
    };
}

const fn four<const N: usize>(arguments: [Argument; N]) -> [Argument; 4] {
    let mut four = [Value(0); 4];
    let mut i = 0;
    while i < N {
        four[i] = arguments[i];
        i += 1;
    }
    four
}

routines! {
    [Secret] kemqtt_keccak_f1600 kemqtt_ascon_p12 kemqtt_ascon_p8;
    [Secret, Secret] kemqtt_sha256_compress;
    [Secret, Secret, Secret] kemqtt_x25519_ladder kemqtt_fe25519_mul;
    [Secret, Value(3)] kemqtt_fe25519_square_n;
    [Secret, Secret, Public, Value(94_908_929)] kemqtt_saber_forward kemqtt_saber_inverse;
    [Secret, Secret, Secret, Public] kemqtt_saber_accumulate;
    [Secret, Secret, Secret, Value(821)] kemqtt_ntru_ntt_fold;
    [Secret, Secret]
        kemqtt_ntru_ntt_first_1024 kemqtt_ntru_ntt_last_1024 kemqtt_ntru_ntt_first_1408 kemqtt_ntru_ntt_last_1408
        kemqtt_ntru_ntt_first_1664 kemqtt_ntru_ntt_last_1664;
    [Secret, Public]
        kemqtt_ntru_ntt_forward_1024_8 kemqtt_ntru_ntt_forward_1024_32 kemqtt_ntru_ntt_inverse_1024_8
        kemqtt_ntru_ntt_inverse_1024_32 kemqtt_ntru_ntt_forward_1408_8 kemqtt_ntru_ntt_forward_1408_32
        kemqtt_ntru_ntt_inverse_1408_8 kemqtt_ntru_ntt_inverse_1408_32 kemqtt_ntru_ntt_forward_1664_8
        kemqtt_ntru_ntt_forward_1664_32 kemqtt_ntru_ntt_inverse_1664_8 kemqtt_ntru_ntt_inverse_1664_32;
    [Secret, Secret, Public] kemqtt_ntru_ntt_residues_8 kemqtt_ntru_ntt_residues_11 kemqtt_ntru_ntt_residues_13;
    [Secret, Secret, Secret] kemqtt_ntru_schoolbook_32 kemqtt_ntru_schoolbook_44 kemqtt_ntru_schoolbook_52;
    [Secret, Secret, Value(9)] kemqtt_ntru_toeplitz_32 kemqtt_ntru_toeplitz_44 kemqtt_ntru_toeplitz_52;
    [Secret, Secret]
        kemqtt_ntru_toeplitz_matrices_16 kemqtt_ntru_toeplitz_matrices_22 kemqtt_ntru_toeplitz_matrices_26
        kemqtt_ntru_toeplitz_outer_16 kemqtt_ntru_toeplitz_outer_22 kemqtt_ntru_toeplitz_outer_26
        kemqtt_ntru_toeplitz_pair1_16 kemqtt_ntru_toeplitz_pair1_22 kemqtt_ntru_toeplitz_pair1_26
        kemqtt_ntru_toeplitz_pair2_16 kemqtt_ntru_toeplitz_pair2_22 kemqtt_ntru_toeplitz_pair2_26
        kemqtt_ntru_toeplitz_vectors_16 kemqtt_ntru_toeplitz_vectors_22 kemqtt_ntru_toeplitz_vectors_26
        kemqtt_ntru_toeplitz_join_16 kemqtt_ntru_toeplitz_join_22 kemqtt_ntru_toeplitz_join_26 kemqtt_ntru_toeplitz_shared_16
        kemqtt_ntru_toeplitz_shared_22 kemqtt_ntru_toeplitz_shared_26 kemqtt_ntru_toeplitz_halves_16
        kemqtt_ntru_toeplitz_halves_22 kemqtt_ntru_toeplitz_halves_26 kemqtt_ntru_toeplitz_sums_16
        kemqtt_ntru_toeplitz_sums_22 kemqtt_ntru_toeplitz_sums_26 kemqtt_ntru_toeplitz_add_16 kemqtt_ntru_toeplitz_add_22
        kemqtt_ntru_toeplitz_add_26;
    [Secret, Secret]
        kemqtt_ntru_toom_evaluate_16 kemqtt_ntru_toom_evaluate_22 kemqtt_ntru_toom_evaluate_26 kemqtt_ntru_toom_interpolate_16
        kemqtt_ntru_toom_interpolate_22 kemqtt_ntru_toom_interpolate_26 kemqtt_ntru_toom_sums_16 kemqtt_ntru_toom_sums_22
        kemqtt_ntru_toom_sums_26 kemqtt_ntru_toom_add_16 kemqtt_ntru_toom_add_22 kemqtt_ntru_toom_add_26;
}
