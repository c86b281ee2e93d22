use zeroize::Zeroize;

use super::constants::P;
#[cfg(not(all(cortex_m4_fpu, not(kemqtt_portable))))]
use super::portable as step;
#[cfg(all(cortex_m4_fpu, not(kemqtt_portable)))]
use crate::backends::cortex_m4::ntt as step;

/// Memory of a product, in which secrets stay.
pub trait Integers: Zeroize {
    const NEW: Self;

    /// `a` becomes `a` * `b` modulo x^n - 1 and q. In: n coefficients in both.
    fn multiply(&mut self, a: &mut [u16], b: &[u16]);

    /// The same where all coefficients of `a` are -1, 0 or 1.
    fn multiply_ternary(&mut self, a: &mut [u16], b: &[u16]);
}

/// Memory for N = 128 D >= 2 n - 1 and coefficients of LOG_Q bits. H is N / 2.
pub struct Scratch<const N: usize, const H: usize, const D: usize, const LOG_Q: u32> {
    a: [i32; N],
    b: [i32; N],
    upper: [u16; H],
}

impl<const N: usize, const H: usize, const D: usize, const LOG_Q: u32> Integers for Scratch<N, H, D, LOG_Q> {
    const NEW: Self = Self {
        a: [0; N],
        b: [0; N],
        upper: [0; H],
    };

    #[inline(never)]
    fn multiply(&mut self, a: &mut [u16], b: &[u16]) {
        // a = low + 2^6 upper.
        transform(&mut self.b, b, centred::<LOG_Q>);
        transform(&mut self.a, a, |c| (centred::<LOG_Q>(c) + LOW / 2) >> LOW_BITS);
        let mut upper = self.upper;
        self.finish(&mut upper[..a.len()]);
        transform(&mut self.a, a, |c| ((i32::from(c) + LOW / 2) & (LOW - 1)) - LOW / 2);
        self.finish(a);
        for (c, upper) in a.iter_mut().zip(&upper) {
            *c = c.wrapping_add(upper << LOW_BITS);
        }
        self.upper = upper;
    }

    #[inline(never)]
    fn multiply_ternary(&mut self, a: &mut [u16], b: &[u16]) {
        transform(&mut self.b, b, centred::<LOG_Q>);
        transform(&mut self.a, a, |c| i32::from(c as i16));
        self.finish(a);
    }
}

impl<const N: usize, const H: usize, const D: usize, const LOG_Q: u32> Scratch<N, H, D, LOG_Q> {
    /// `out` = the product of what was transformed. In: its coefficients modulo x^n - 1 are at most n 2^6 q/2 as integers.
    fn finish(&mut self, out: &mut [u16]) {
        const {
            assert!(N == 2 * H && N == 128 * D);
            assert!((H as i64 * LOW as i64) << (LOG_Q - 1) <= (P as i64) + (1 << 22));
        };
        step::multiply::<N, D>(&mut self.a, &self.b);
        step::inverse(&mut self.a);
        step::fold(out, &self.a);
    }
}

impl<const N: usize, const H: usize, const D: usize, const LOG_Q: u32> Zeroize for Scratch<N, H, D, LOG_Q> {
    fn zeroize(&mut self) {
        self.a.zeroize();
        self.b.zeroize();
        self.upper.zeroize();
    }
}

/// The transform of the polynomial with the coefficients that `read` makes of `p`.
#[inline(always)]
fn transform<const N: usize>(out: &mut [i32; N], p: &[u16], read: impl Fn(u16) -> i32) {
    let (coefficients, rest) = out[..N / 2].split_at_mut(p.len());
    coefficients.iter_mut().zip(p).for_each(|(out, c)| *out = read(*c));
    rest.fill(0);
    step::forward(out);
}

/// Modulo q, from -q/2 to q/2 - 1.
#[inline(always)]
fn centred<const LOG_Q: u32>(c: u16) -> i32 {
    let unused = 32 - LOG_Q;
    (i32::from(c) << unused) >> unused
}

/// The lower part of a factor has 6 bits, so that 701 times it times 2^12 stays below P / 2, for the upper part as well.
const LOW_BITS: u32 = 6;
const LOW: i32 = 1 << LOW_BITS;
