//! The target's permutations against the portable ones: for test firmware, which is where both can run.

use crate::backends::{native, portable};
use crate::modular::Zq;

/// Whether both permutations give the same from these lanes, read back through the native form.
pub fn keccak_agrees(lanes: &[u64; 25]) -> bool {
    let mut expected = lanes.map(portable::keccak_lane_in);
    portable::keccak_f1600(&mut expected);
    let mut state = lanes.map(native::keccak_lane_in);
    native::keccak_f1600(&mut state);
    state.map(native::keccak_lane_out) == expected.map(portable::keccak_lane_out)
}

/// Whether Ascon-p\[12\] and Ascon-p\[8\] give the same from these lanes.
pub fn ascon_agrees(lanes: &[u64; 5]) -> bool {
    let by_native = |permute: fn(&mut [u64; 5])| {
        let mut state = lanes.map(native::ascon_lane_in);
        permute(&mut state);
        state.map(native::ascon_lane_out)
    };
    let by_portable = |permute: fn(&mut [u64; 5])| {
        let mut state = lanes.map(portable::ascon_lane_in);
        permute(&mut state);
        state.map(portable::ascon_lane_out)
    };
    by_native(native::ascon_p12) == by_portable(portable::ascon_p12)
        && by_native(native::ascon_p8) == by_portable(portable::ascon_p8)
}

/// Whether Montgomery products modulo the KEMs' primes agree with the definition: the result times 2^16 is a b, and below q.
/// |a b| < 2^15 * 769.
pub fn montgomery_agrees(a: i16, b: i16) -> bool {
    fn one<const Q: i16>(a: i16, b: i16) -> bool {
        let c = i32::from(Zq::<Q>::mul(a, b));
        // |c| 2^16 + |a b| < 2^31 for |c| < 2^14.
        c.abs() < i32::from(Q) && (c * 65536 - i32::from(a) * i32::from(b)) % i32::from(Q) == 0
    }
    one::<769>(a, b) && one::<3329>(a, b) && one::<7681>(a, b) && one::<10753>(a, b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn on_this_target() {
        assert!(keccak_agrees(&core::array::from_fn(|i| 0x0123_4567_89ab_cdef << i)));
        for (a, b) in [
            (-32768, 768),
            (32767, -768),
            (-32768, -768),
            (0, 1),
            (1, 1),
            (-1, 1),
            (12_345, 678),
        ] {
            assert!(montgomery_agrees(a, b));
        }
        assert!(ascon_agrees(&core::array::from_fn(|i| 0xfedc_ba98_7654_3210 >> i)));
    }
}
