use crate::backends::ntt::constants::{INVERSES, ZETAS};

pub(crate) fn forward<const N: usize>(p: &mut [i32; N]) {
    let values = p.as_mut_ptr();
    // SAFETY: N values, the pointer to their middle, and factors of 32 groups.
    unsafe {
        first::<N>(values, values.add(N / 2));
        forward_8::<N>(values, FORWARD.as_ptr().cast());
        forward_32::<N>(values, FORWARD.as_ptr().cast());
    }
}

pub(crate) fn multiply<const N: usize, const D: usize>(a: &mut [i32; N], b: &[i32; N]) {
    const { assert!(N == 128 * D) };
    // SAFETY: N values in both, 128 factors.
    unsafe { residues::<N>(a.as_mut_ptr(), b.as_ptr(), LEAVES.as_ptr()) };
}

pub(crate) fn inverse<const N: usize>(p: &mut [i32; N]) {
    let values = p.as_mut_ptr();
    // SAFETY: as in `forward`.
    unsafe {
        inverse_32::<N>(values, BACKWARD.as_ptr().cast());
        inverse_8::<N>(values, BACKWARD.as_ptr().cast());
        last::<N>(values, values.add(N / 2));
    }
}

pub(crate) fn fold(out: &mut [u16], values: &[i32]) {
    let (low, wrapped) = values.split_at(out.len());
    assert!(wrapped.len() >= out.len());
    // SAFETY: as many values from both pointers as there are coefficients, at least one.
    unsafe { kemqtt_ntru_ntt_fold(out.as_mut_ptr(), low.as_ptr(), wrapped.as_ptr(), out.len()) };
}

unsafe extern "C" {
    fn kemqtt_ntru_ntt_fold(out: *mut u16, low: *const i32, wrapped: *const i32, count: usize);
}

routines! {
    N = 1024, 1408, 1664;
    first(values: *mut i32, middle: *mut i32) = kemqtt_ntru_ntt_first_1024, kemqtt_ntru_ntt_first_1408, kemqtt_ntru_ntt_first_1664;
    forward_8(values: *mut i32, factors: *const i32) = kemqtt_ntru_ntt_forward_1024_8, kemqtt_ntru_ntt_forward_1408_8, kemqtt_ntru_ntt_forward_1664_8;
    forward_32(values: *mut i32, factors: *const i32) = kemqtt_ntru_ntt_forward_1024_32, kemqtt_ntru_ntt_forward_1408_32, kemqtt_ntru_ntt_forward_1664_32;
    residues(a: *mut i32, b: *const i32, w: *const i32) = kemqtt_ntru_ntt_residues_8, kemqtt_ntru_ntt_residues_11, kemqtt_ntru_ntt_residues_13;
    inverse_32(values: *mut i32, factors: *const i32) = kemqtt_ntru_ntt_inverse_1024_32, kemqtt_ntru_ntt_inverse_1408_32, kemqtt_ntru_ntt_inverse_1664_32;
    inverse_8(values: *mut i32, factors: *const i32) = kemqtt_ntru_ntt_inverse_1024_8, kemqtt_ntru_ntt_inverse_1408_8, kemqtt_ntru_ntt_inverse_1664_8;
    last(values: *mut i32, middle: *mut i32) = kemqtt_ntru_ntt_last_1024, kemqtt_ntru_ntt_last_1408, kemqtt_ntru_ntt_last_1664;
}

/// For each group the factors of two layers.
static FORWARD: [[i32; 3]; 32] = groups(&ZETAS);
static BACKWARD: [[i32; 3]; 32] = groups(&INVERSES);
/// w of each residue.
static LEAVES: [i32; 128] = {
    let mut leaves = [0; 128];
    let mut i = 0;
    while i < 64 {
        leaves[2 * i] = ZETAS[i];
        leaves[2 * i + 1] = -ZETAS[i];
        i += 1;
    }
    leaves
};

const fn groups(zetas: &[i32; 64]) -> [[i32; 3]; 32] {
    let mut groups = [[0; 3]; 32];
    let mut i = 0;
    while i < 32 {
        groups[i] = [zetas[i], zetas[2 * i], zetas[2 * i + 1]];
        i += 1;
    }
    groups
}
