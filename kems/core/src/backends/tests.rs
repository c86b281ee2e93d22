//! The code that this machine runs against the portable code.

extern crate std;

use proptest::prelude::*;

use super::{keccak_f1600_x4, native, one_by_one, portable};

fn check(states: [[u64; 25]; 4]) {
    let mut together = core::array::from_fn(|i| states.map(|state| state[i]));
    let mut apart = together;
    keccak_f1600_x4(&mut together);
    one_by_one(&mut apart);
    assert_eq!(apart, together);
    for (stream, state) in states.into_iter().enumerate() {
        let mut expected = state;
        portable::keccak_f1600(&mut expected);
        assert_eq!(together.map(|lane| lane[stream]), expected);
        let mut alone = state;
        native::keccak_f1600(&mut alone);
        assert_eq!(alone, expected);
    }
}

#[test]
fn keccak_at_the_bounds() {
    check([[0; 25], [u64::MAX; 25], [1; 25], [1 << 63; 25]]);
    // Every lane alone, so that none takes another's place.
    for i in 0..25 {
        let mut state = [0; 25];
        state[i] = 0x8000_0000_0000_0001;
        check([state, [0; 25], state.map(|lane| !lane), [u64::MAX; 25]]);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn keccak(states in prop::array::uniform4(prop::collection::vec(any::<u64>(), 25))) {
        check(states.map(|state| state.try_into().expect("25 lanes")));
    }
}
