//! The target's permutations against the portable ones: for test firmware, which is where both can run.

use crate::backends::{native, portable};

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn on_this_target() {
        assert!(keccak_agrees(&core::array::from_fn(|i| 0x0123_4567_89ab_cdef << i)));
        assert!(ascon_agrees(&core::array::from_fn(|i| 0xfedc_ba98_7654_3210 >> i)));
    }
}
