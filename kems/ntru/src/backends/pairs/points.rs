//! Toom and Cook's points for factors in four parts: 0, 1, -1, 2, -2, 3 and infinity. The polynomial
//! M = x (x^2 - 1)(x^2 - 4)(x - 3) is zero at the finite ones.
//!
//! Interpolation at p is a multiple of M / (x - p), and at infinity M. It has to divide by the values of these at p; what is odd
//! in them goes into the factor that [`scaled_at_points`] makes, signs and the powers of 2 up to 8 to whoever interpolates.

use super::{POINTS, add, sub};

/// The values of a0 + a1 x + a2 x^2 + a3 x^3.
#[inline(always)]
pub(super) fn at_points([a0, a1, a2, a3]: [u32; 4]) -> [u32; POINTS] {
    let (even, odd) = (add(a0, a2), add(a1, a3));
    let (even_2, odd_2) = (add(a0, four_times(a2)), twice(add(a1, four_times(a3))));
    let at_3 = [a2, a1, a0].into_iter().fold(a3, |sum, a| add(three_times(sum), a));
    [
        a0,
        add(even, odd),
        sub(even, odd),
        add(even_2, odd_2),
        sub(even_2, odd_2),
        at_3,
        a3,
    ]
}

/// The same, each value times 8 / p' where p' is the value of M / (x - p) at p, except that the factor is negated at 0, 2 and -2.
#[inline(always)]
pub(super) fn scaled_at_points(a: [u32; 4]) -> [u32; POINTS] {
    let values = at_points(a.map(|part| scale(part, THIRD)));
    [
        twice(values[0]),
        twice(values[1]),
        values[2],
        values[3],
        scale(values[4], FIFTH),
        scale(values[5], FIFTH),
        twice(four_times(a[3])),
    ]
}

/// 1 / 3 and 1 / 5 modulo 2^16.
const THIRD: u16 = 0xaaab;
const FIFTH: u16 = 0xcccd;

#[inline(always)]
pub(super) fn three_times(a: u32) -> u32 {
    add(twice(a), a)
}

/// a - 3 b.
#[inline(always)]
pub(super) fn less_3(a: u32, b: u32) -> u32 {
    sub(a, three_times(b))
}

/// Both halves times `factor`.
#[inline(always)]
pub(super) fn scale(a: u32, factor: u16) -> u32 {
    #[cfg(all(cortex_m4, not(kemqtt_portable)))]
    {
        use kem_core::packed::{mul_bb, mul_tb, pack_bb};
        let factor = factor.into();
        pack_bb(mul_bb(a, factor) as u32, mul_tb(a, factor) as u32)
    }
    #[cfg(not(all(cortex_m4, not(kemqtt_portable))))]
    super::portable::halves(a, super::join([factor; 2]), u16::wrapping_mul)
}

#[inline(always)]
pub(super) fn twice(a: u32) -> u32 {
    add(a, a)
}

#[inline(always)]
pub(super) fn four_times(a: u32) -> u32 {
    twice(twice(a))
}
