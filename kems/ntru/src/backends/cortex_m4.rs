//! Cortex-M4 with an FPU, whose registers hold what the inner products read again and again. A `.py` beside each `.S` wrote it.
#![allow(unsafe_code)]

use core::arch::global_asm;

global_asm!(include_str!("cortex_m4/toeplitz.S"), options(raw));
global_asm!(include_str!("cortex_m4/schoolbook.S"), options(raw));
global_asm!(include_str!("cortex_m4/columns.S"), options(raw));
global_asm!(include_str!("cortex_m4/ntt.S"), options(raw));

/// Declares routines for three sizes and a function that chooses among them.
macro_rules! routines {
    (
        $size:ident = $small:literal, $middle:literal, $large:literal;
        $($name:ident($($argument:ident: $type:ty),*) = $first:ident, $second:ident, $third:ident;)*
    ) => {
        unsafe extern "C" {
            $(
                fn $first($($argument: $type),*);
                fn $second($($argument: $type),*);
                fn $third($($argument: $type),*);
            )*
        }
        $(
            /// Reads and writes arrays of the sizes that the safe function says, and keeps the registers that a C
            /// function keeps.
            #[inline(always)]
            unsafe fn $name<const $size: usize>($($argument: $type),*) {
                // SAFETY: the caller's.
                unsafe {
                    match $size {
                        $small => $first($($argument),*),
                        $middle => $second($($argument),*),
                        $large => $third($($argument),*),
                        _ => unreachable!("no parameter set has such a size"),
                    }
                }
            }
        )*
    };
}

routines! {
    U = 16, 22, 26;
    small_toeplitz(vectors: *mut u32, matrices: *const u32, count: usize) = kemqtt_ntru_toeplitz_32, kemqtt_ntru_toeplitz_44, kemqtt_ntru_toeplitz_52;
    small_schoolbook(products: *mut u32, a: *const u32, b: *const u32) = kemqtt_ntru_schoolbook_32, kemqtt_ntru_schoolbook_44, kemqtt_ntru_schoolbook_52;
    column_matrices(matrices: *mut u32, eighth: *mut u32) = kemqtt_ntru_toeplitz_matrices_16, kemqtt_ntru_toeplitz_matrices_22, kemqtt_ntru_toeplitz_matrices_26;
    column_outer(matrices: *mut u32) = kemqtt_ntru_toeplitz_outer_16, kemqtt_ntru_toeplitz_outer_22, kemqtt_ntru_toeplitz_outer_26;
    column_pair1(matrices: *mut u32, parts: *const u32) = kemqtt_ntru_toeplitz_pair1_16, kemqtt_ntru_toeplitz_pair1_22, kemqtt_ntru_toeplitz_pair1_26;
    column_pair2(matrices: *mut u32, parts: *const u32) = kemqtt_ntru_toeplitz_pair2_16, kemqtt_ntru_toeplitz_pair2_22, kemqtt_ntru_toeplitz_pair2_26;
    column_shared(diagonals: *const u32, matrices: *mut u32) = kemqtt_ntru_toeplitz_shared_16, kemqtt_ntru_toeplitz_shared_22, kemqtt_ntru_toeplitz_shared_26;
    column_vectors(vectors: *mut u32) = kemqtt_ntru_toeplitz_vectors_16, kemqtt_ntru_toeplitz_vectors_22, kemqtt_ntru_toeplitz_vectors_26;
    column_join(vectors: *mut u32) = kemqtt_ntru_toeplitz_join_16, kemqtt_ntru_toeplitz_join_22, kemqtt_ntru_toeplitz_join_26;
    column_halves(diagonals: *const u32, matrices: *mut u32) = kemqtt_ntru_toeplitz_halves_16, kemqtt_ntru_toeplitz_halves_22, kemqtt_ntru_toeplitz_halves_26;
    column_sums(vector: *const u32, vectors: *mut u32) = kemqtt_ntru_toeplitz_sums_16, kemqtt_ntru_toeplitz_sums_22, kemqtt_ntru_toeplitz_sums_26;
    column_add(product: *mut u32, products: *const u32) = kemqtt_ntru_toeplitz_add_16, kemqtt_ntru_toeplitz_add_22, kemqtt_ntru_toeplitz_add_26;
    column_evaluate(points: *mut u32, eighth: *mut u32) = kemqtt_ntru_toom_evaluate_16, kemqtt_ntru_toom_evaluate_22, kemqtt_ntru_toom_evaluate_26;
    column_interpolate(points: *mut u32, eighth: *mut u32) = kemqtt_ntru_toom_interpolate_16, kemqtt_ntru_toom_interpolate_22, kemqtt_ntru_toom_interpolate_26;
    column_factors(factor: *const u32, factors: *mut u32) = kemqtt_ntru_toom_sums_16, kemqtt_ntru_toom_sums_22, kemqtt_ntru_toom_sums_26;
    column_product(product: *mut u32, products: *const u32) = kemqtt_ntru_toom_add_16, kemqtt_ntru_toom_add_22, kemqtt_ntru_toom_add_26;
}

pub(crate) mod memory;

/// What `ntt` does step by step.
pub(crate) mod ntt;

/// What `pairs::toeplitz` does step by step.
pub(crate) mod toeplitz {
    use super::*;

    pub(crate) fn prepare<const U: usize, const U4: usize>(matrices: &mut [[u32; U4]; 10]) {
        const { assert!(U4 == 4 * U) };
        let first = matrices.as_mut_ptr().cast::<u32>();
        // SAFETY: ten arrays of U4 words, the second pointer to the ninth of them.
        unsafe { column_matrices::<U>(first, first.add(8 * U4)) };
    }

    pub(crate) fn zero_and_infinity<const U: usize, const U4: usize>(matrices: &mut [[u32; U4]; 10]) {
        const { assert!(U4 == 4 * U) };
        // SAFETY: four arrays of U4 words.
        unsafe { column_outer::<U>(matrices.as_mut_ptr().cast()) };
    }

    pub(crate) fn plus_and_minus<const POINT: u16, const U: usize, const U4: usize>(matrices: &mut [[u32; U4]; 10]) {
        const { assert!(U4 == 4 * U && (POINT == 1 || POINT == 2)) };
        let first = matrices.as_mut_ptr().cast::<u32>();
        // SAFETY: ten arrays of U4 words, the second pointer to the fifth or the eighth of them.
        unsafe {
            match POINT {
                1 => column_pair1::<U>(first, first.add(4 * U4)),
                _ => column_pair2::<U>(first, first.add(7 * U4)),
            }
        }
    }

    pub(crate) fn vectors_at_points<const U: usize, const U4: usize>(vectors: &mut [[u32; U4]; 7]) {
        const { assert!(U4 == 4 * U) };
        // SAFETY: seven arrays of U4 words.
        unsafe { column_vectors::<U>(vectors.as_mut_ptr().cast()) };
    }

    pub(crate) fn from_points<const U: usize, const U4: usize>(vectors: &mut [[u32; U4]; 7]) {
        const { assert!(U4 == 4 * U) };
        // SAFETY: seven arrays of U4 words.
        unsafe { column_join::<U>(vectors.as_mut_ptr().cast()) };
    }

    pub(crate) fn shared_matrices<const U: usize, const U2: usize, const U4: usize>(
        matrices: &mut [[u32; U2]; 6],
        diagonals: &[[u32; U4]; 2],
    ) {
        const { assert!(U2 == 2 * U && U4 == 4 * U) };
        // SAFETY: eight arrays of U words, and 12 of them.
        unsafe { column_shared::<U>(diagonals.as_ptr().cast(), matrices.as_mut_ptr().cast()) };
    }

    pub(crate) fn other_matrices<const U: usize, const U2: usize, const U4: usize>(
        matrices: &mut [[u32; U2]; 6],
        diagonals: &[[u32; U4]; 2],
    ) {
        const { assert!(U2 == 2 * U && U4 == 4 * U) };
        // SAFETY: eight arrays of U words, and 12 of them.
        unsafe { column_halves::<U>(diagonals.as_ptr().cast(), matrices.as_mut_ptr().cast()) };
    }

    pub(crate) fn small_vectors<const U: usize, const U4: usize>(vectors: &mut [[u32; U]; 9], vector: &[u32; U4]) {
        const { assert!(U4 == 4 * U) };
        // SAFETY: four arrays of U words, and nine of them.
        unsafe { column_sums::<U>(vector.as_ptr(), vectors.as_mut_ptr().cast()) };
    }

    pub(crate) fn small_products<const U: usize, const U2: usize>(vectors: &mut [[u32; U]], matrices: &[[u32; U2]]) {
        const { assert!(U2 == 2 * U) };
        assert!(!vectors.is_empty() && vectors.len() == matrices.len());
        // SAFETY: as many arrays of U words as of twice U words, at least one.
        unsafe { small_toeplitz::<U>(vectors.as_mut_ptr().cast(), matrices.as_ptr().cast(), vectors.len()) };
    }

    pub(crate) fn add_products<const U: usize, const U4: usize>(product: &mut [u32; U4], products: &[[u32; U]; 9]) {
        const { assert!(U4 == 4 * U) };
        // SAFETY: four arrays of U words, and nine of them.
        unsafe { column_add::<U>(product.as_mut_ptr(), products.as_ptr().cast()) };
    }
}

/// What `pairs::toom` does step by step.
pub(crate) mod toom {
    use super::*;

    pub(crate) fn evaluate<const U: usize, const U4: usize>(points: &mut [[u32; U4]; 14]) {
        const { assert!(U4 == 4 * U) };
        let first = points.as_mut_ptr().cast::<u32>();
        // SAFETY: 14 arrays of U4 words, the second pointer to the ninth of them.
        unsafe { column_evaluate::<U>(first, first.add(8 * U4)) };
    }

    pub(crate) fn interpolate<const U: usize, const U4: usize>(points: &mut [[u32; U4]; 14]) {
        const { assert!(U4 == 4 * U) };
        let first = points.as_mut_ptr().cast::<u32>();
        // SAFETY: 14 arrays of U4 words, the second pointer to the ninth of them.
        unsafe { column_interpolate::<U>(first, first.add(8 * U4)) };
    }

    pub(crate) fn small_factors<const U: usize, const U4: usize>(factors: &mut [[u32; U]; 9], factor: &[u32; U4]) {
        const { assert!(U4 == 4 * U) };
        // SAFETY: four arrays of U words, and nine of them.
        unsafe { column_factors::<U>(factor.as_ptr(), factors.as_mut_ptr().cast()) };
    }

    pub(crate) fn small_products<const U: usize, const U2: usize>(
        products: &mut [[u32; U2]; 9],
        a: &[[u32; U]; 9],
        b: &[[u32; U]; 9],
    ) {
        const { assert!(U2 == 2 * U) };
        // SAFETY: nine arrays of twice U words, and twice nine of U words.
        unsafe { small_schoolbook::<U>(products.as_mut_ptr().cast(), a.as_ptr().cast(), b.as_ptr().cast()) };
    }

    pub(crate) fn add_products<const U: usize, const U2: usize, const U4: usize>(
        product: &mut [[u32; U4]; 2],
        products: &[[u32; U2]; 9],
    ) {
        const { assert!(U2 == 2 * U && U4 == 4 * U) };
        // SAFETY: eight arrays of U words, and 18 of them.
        unsafe { column_product::<U>(product.as_mut_ptr().cast(), products.as_ptr().cast()) };
    }
}
