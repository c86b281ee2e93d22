//! Coefficient i of a product is the sum of b\[i - j\] a\[j\]: row i of a Toeplitz matrix, constant along its diagonals, times
//! the vector a. Such a matrix of m rows is a slice of 2 m - 1 values, entry (i, j) at index m - 1 + i - j, and a quarter of
//! it is a part of that slice.

use crate::backends::add;

/// `a` becomes `a` * `b` modulo x^n - 1 and 2^16. In: `scratch` as for Karatsuba's product.
pub(super) fn multiply(a: &mut [u16], b: &[u16], scratch: &mut [u16]) {
    let (n, padded) = (b.len(), scratch.len() / 8);
    let (matrix, rest) = scratch.split_at_mut(2 * padded);
    let (vector, rest) = rest.split_at_mut(padded);
    let (out, rest) = rest.split_at_mut(padded);
    // b[d mod n] for -n < d < n. What lies beyond meets the zeros of the vector, or rows that nobody reads.
    matrix.fill(0);
    matrix[padded - n..][..n - 1].copy_from_slice(&b[1..]);
    matrix[padded - 1..][..n].copy_from_slice(b);
    vector[..n].copy_from_slice(a);
    vector[n..].fill(0);
    product(out, &matrix[..2 * padded - 1], vector, rest);
    a.copy_from_slice(&out[..n]);
}

/// `out` = `matrix` * `vector`. In: `scratch` four times as long as `vector`.
fn product(out: &mut [u16], matrix: &[u16], vector: &[u16], scratch: &mut [u16]) {
    match vector.len() {
        32 => rows::<32>(out, matrix, vector),
        44 => rows::<44>(out, matrix, vector),
        52 => rows::<52>(out, matrix, vector),
        m => halves(out, matrix, vector, scratch, m / 2),
    }
}

/// With the matrix (D, U; L, D): above D (v0 + v1) + (U - D) v1, below D (v0 + v1) + (L - D) v0.
fn halves(out: &mut [u16], matrix: &[u16], vector: &[u16], scratch: &mut [u16], h: usize) {
    let (upper, diagonal, lower) = (&matrix[..2 * h - 1], &matrix[h..3 * h - 1], &matrix[2 * h..]);
    let (v0, v1) = vector.split_at(h);
    let (above, below) = out.split_at_mut(h);
    let (difference, rest) = scratch.split_at_mut(2 * h);
    let difference = &mut difference[..2 * h - 1];
    let (sum, rest) = rest.split_at_mut(h);
    let (shared, rest) = rest.split_at_mut(h);

    sum.copy_from_slice(v0);
    add(sum, v1);
    product(shared, diagonal, sum, rest);
    subtract(difference, upper, diagonal);
    product(above, difference, v1, rest);
    add(above, shared);
    subtract(difference, lower, diagonal);
    product(below, difference, v0, rest);
    add(below, shared);
}

fn rows<const M: usize>(out: &mut [u16], matrix: &[u16], vector: &[u16]) {
    let mut sums = [0u16; M];
    for (j, &v) in vector.iter().enumerate() {
        for (sum, entry) in sums.iter_mut().zip(&matrix[M - 1 - j..][..M]) {
            *sum = sum.wrapping_add(entry.wrapping_mul(v));
        }
    }
    out.copy_from_slice(&sums);
}

fn subtract(out: &mut [u16], a: &[u16], b: &[u16]) {
    for (out, (a, b)) in out.iter_mut().zip(a.iter().zip(b)) {
        *out = a.wrapping_sub(*b);
    }
}
