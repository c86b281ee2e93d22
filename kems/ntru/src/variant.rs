//! What differs between NTRU-HPS and NTRU-HRSS: sample spaces, Lift, and the condition on a decrypted m (section 1.9).

use subtle::{Choice, ConstantTimeEq};

use crate::params::Params;
use crate::ring::{centre, lift, mod_3};
use crate::sample::{fixed_type, ternary, ternary_plus};

/// m and g have a fixed number of ones and of minus ones.
pub enum Hps {}

/// f and g correlate positively with themselves; m is arbitrary.
pub enum Hrss {}

/// HPS or HRSS. Polynomials are modulo 3 unless said otherwise.
pub trait Variant {
    /// Whether m comes out of a sort.
    const FIXED_WEIGHT: bool;

    /// f.
    fn sample_f(bytes: &[u8], f: &mut [u16]);

    /// g.
    fn sample_g<P: Params>(bytes: &[u8], g: &mut [u16]);

    /// m.
    fn sample_m<P: Params>(bytes: &[u8], m: &mut [u16]);

    /// From g to G modulo q, 3 g or 3 (x - 1) g.
    fn lift_g(g: &mut [u16]);

    /// Lift: from m modulo 3 to an m' modulo q that equals it modulo 3 and Phi.
    fn lift_m(m: &mut [u16]);

    /// 1 if `m` lies in the message space.
    fn is_message<P: Params>(m: &[u16]) -> Choice;
}

impl Variant for Hps {
    const FIXED_WEIGHT: bool = true;

    fn sample_f(bytes: &[u8], f: &mut [u16]) {
        ternary(bytes, f);
    }

    fn sample_g<P: Params>(bytes: &[u8], g: &mut [u16]) {
        fixed_type::<P>(bytes, g, weight::<P>());
    }

    fn sample_m<P: Params>(bytes: &[u8], m: &mut [u16]) {
        fixed_type::<P>(bytes, m, weight::<P>());
    }

    fn lift_g(g: &mut [u16]) {
        g.iter_mut().for_each(|c| *c = centre(*c).wrapping_mul(3));
    }

    fn lift_m(m: &mut [u16]) {
        lift(m);
    }

    fn is_message<P: Params>(m: &[u16]) -> Choice {
        let (ones, twos) = m
            .iter()
            .fold((0, 0), |(ones, twos), c| (ones + (c & 1), twos + (c >> 1)));
        let half = weight::<P>() as u16 / 2;
        ones.ct_eq(&half) & twos.ct_eq(&half)
    }
}

impl Variant for Hrss {
    const FIXED_WEIGHT: bool = false;

    fn sample_f(bytes: &[u8], f: &mut [u16]) {
        ternary_plus(bytes, f);
    }

    fn sample_g<P: Params>(bytes: &[u8], g: &mut [u16]) {
        ternary_plus(bytes, g);
    }

    fn sample_m<P: Params>(bytes: &[u8], m: &mut [u16]) {
        ternary(bytes, m);
    }

    fn lift_g(g: &mut [u16]) {
        lift(g);
        times_x_minus_1(g, 3);
    }

    /// (x - 1) b with b = m / (x - 1) modulo 3 and Phi.
    fn lift_m(m: &mut [u16]) {
        // (x - 1) b = m + c Phi has a solution modulo x^n - 1 if the right side is zero at 1: c = -m(1) / n, and n is -1
        // modulo 3. Coefficient i then says b[i - 1] - b[i] = m[i] + c, and b[n - 1] = 0 starts.
        let c = mod_3(m.iter().sum());
        let mut b = 0;
        for m in m.iter_mut() {
            b = mod_3(b + 6 - *m - c);
            *m = centre(b);
        }
        times_x_minus_1(m, 1);
    }

    fn is_message<P: Params>(_: &[u16]) -> Choice {
        Choice::from(1)
    }
}

/// `p` becomes `factor` (x - 1) `p` modulo x^n - 1 and q.
fn times_x_minus_1(p: &mut [u16], factor: u16) {
    let mut previous = p[p.len() - 1];
    for c in p {
        let next = previous.wrapping_sub(*c).wrapping_mul(factor);
        previous = core::mem::replace(c, next);
    }
}

/// Coefficients of m and g that are not zero, q/8 - 2.
const fn weight<P: Params>() -> usize {
    (1 << (P::LOG_Q - 3)) - 2
}
