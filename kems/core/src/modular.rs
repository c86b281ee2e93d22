//! Montgomery and Barrett arithmetic for an odd modulus `Q` between 2^8 and 2^15, on `i16`.
//!
//! R = 2^16. No division, no branch: what is not a constant may be secret. Products are taken as high and low halves, the
//! form in which compilers find vector instructions.

/// The integers modulo `Q`: a name for functions and constants, never a value.
pub enum Zq<const Q: i16> {}

impl<const Q: i16> Zq<Q> {
    /// Q^-1 mod 2^16, in -2^15..2^15.
    pub const QINV: i16 = inverse_mod_2_16(Q);
    /// 2^16 mod Q, in -Q/2..=Q/2.
    pub const R: i16 = centre(1 << 16, Q);
    /// 2^32 mod Q, in -Q/2..=Q/2.
    pub const R2: i16 = centre(1 << 32, Q);

    /// Montgomery reduction. In: |a| < 2^15 Q. Out: a / R mod Q, |out| < Q.
    #[inline(always)]
    pub const fn reduce(a: i32) -> i16 {
        let low = (a as i16).wrapping_mul(Self::QINV);
        (a >> 16) as i16 - high(low, Q)
    }

    /// Montgomery product. In: |a b| < 2^15 Q, for instance any a and |b| < Q. Out: a b / R mod Q, |out| < Q.
    #[inline(always)]
    pub const fn mul(a: i16, b: i16) -> i16 {
        #[cfg(all(target_arch = "avr", not(kemqtt_portable)))]
        return core::intrinsics::const_eval_select((a, b), Self::const_mul, Self::native_mul);
        #[cfg(any(not(target_arch = "avr"), kemqtt_portable))]
        Self::const_mul(a, b)
    }

    #[cfg(all(target_arch = "avr", not(kemqtt_portable)))]
    #[inline(always)]
    fn native_mul(a: i16, b: i16) -> i16 {
        crate::backends::native::montgomery(a, b, Q, Self::QINV)
    }

    /// [`Self::mul`] in plain Rust.
    #[inline(always)]
    const fn const_mul(a: i16, b: i16) -> i16 {
        // Grouped so that a loop over `a` keeps one product out of it.
        let low = a.wrapping_mul(b.wrapping_mul(Self::QINV));
        high(a, b) - high(low, Q)
    }

    /// To the Montgomery domain. In: any a. Out: a R mod Q, |out| < Q.
    #[inline(always)]
    pub const fn to_montgomery(a: i16) -> i16 {
        Self::mul(a, Self::R2)
    }

    /// Barrett reduction. In: any a. Out: a mod Q, |out| <= (Q + 1) / 2.
    #[inline(always)]
    pub const fn barrett(a: i16) -> i16 {
        let quotient = (high(a, Self::BARRETT_V) + Self::BARRETT_HALF) >> (Self::BARRETT_SHIFT - 16);
        // quotient * Q alone may pass 2^15; the difference does not.
        a.wrapping_sub(quotient.wrapping_mul(Q))
    }

    /// Canonical representative. In: any a. Out: a mod Q in 0..Q.
    #[inline(always)]
    pub const fn freeze(a: i16) -> i16 {
        Self::add_q_if_negative(Self::barrett(a))
    }

    /// In: -Q <= a < Q. Out: a mod Q in 0..Q.
    #[inline(always)]
    pub const fn add_q_if_negative(a: i16) -> i16 {
        a + ((a >> 15) & Q)
    }

    /// Montgomery power, for twiddle tables and for inverses (exponent Q - 2). In: |base| < Q in the Montgomery domain, a
    /// public exponent. Out: base^exponent in the Montgomery domain, |out| < Q.
    pub const fn pow(base: i16, mut exponent: u16) -> i16 {
        let (mut square, mut result) = (base, Self::R);
        while exponent > 0 {
            if exponent & 1 == 1 {
                result = Self::mul(result, square);
            }
            square = Self::mul(square, square);
            exponent >>= 1;
        }
        result
    }

    /// The largest multiple of Q that an `i16` holds, counted in Q: how far additions may go before a reduction.
    pub const HEADROOM: i16 = {
        assert!(Q > 1 << 8 && Q % 2 == 1);
        i16::MAX / Q
    };

    /// 15 + floor(log2 Q): the estimate of 1/Q below then has 15 significant bits.
    const BARRETT_SHIFT: u32 = 15 + Q.ilog2();
    /// round(2^BARRETT_SHIFT / Q).
    const BARRETT_V: i16 = (((1 << Self::BARRETT_SHIFT) + Q as i32 / 2) / Q as i32) as i16;
    const BARRETT_HALF: i16 = 1 << (Self::BARRETT_SHIFT - 17);
}

/// floor(a b / 2^16).
#[inline(always)]
const fn high(a: i16, b: i16) -> i16 {
    ((a as i32 * b as i32) >> 16) as i16
}

const fn inverse_mod_2_16(q: i16) -> i16 {
    // An odd number is its own inverse modulo 8; each Newton step doubles the number of right bits: 3, 6, 12, 24.
    let mut inverse = q;
    let mut step = 0;
    while step < 3 {
        inverse = inverse.wrapping_mul(2i16.wrapping_sub(q.wrapping_mul(inverse)));
        step += 1;
    }
    inverse
}

const fn centre(a: i64, q: i16) -> i16 {
    let residue = (a % q as i64) as i16;
    if residue > q / 2 { residue - q } else { residue }
}
