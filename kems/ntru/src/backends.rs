//! The multiplication in Z\[x\]/(x^n - 1), in two portable forms.

mod karatsuba;
#[cfg(test)]
pub(crate) mod tests;
mod tmvp;

/// The product as a Toeplitz matrix times a vector, halved down to rows that fit into registers. The faster one.
pub enum Tmvp {}

/// Karatsuba's product of polynomials, folded at x^n = 1 afterwards.
pub enum Karatsuba {}

/// One of the two multiplications above.
pub trait Multiply: sealed::Multiply {}

impl Multiply for Tmvp {}
impl Multiply for Karatsuba {}

pub(crate) mod sealed {
    pub trait Multiply {
        /// `a` becomes `a` * `b` modulo x^n - 1 and modulo 2^16, which every q divides. In: any coefficients, n of them in
        /// both; `scratch` eight times n rounded up to 16 * 32, 16 * 44 or 16 * 52.
        ///
        /// Constant time in both arguments. Leaves secrets in `scratch`: its owner wipes it.
        fn multiply(a: &mut [u16], b: &[u16], scratch: &mut [u16]);
    }
}

/// `sum` += `a`.
fn add(sum: &mut [u16], a: &[u16]) {
    for (sum, a) in sum.iter_mut().zip(a) {
        *sum = sum.wrapping_add(*a);
    }
}
