//! Plain Rust for every target, from the `keccak` and `ascon` crates. Lanes are kept as they are.

pub(crate) fn keccak_f1600(lanes: &mut [u64; 25]) {
    keccak::Keccak::new().with_f1600(|f1600| f1600(lanes));
}

#[inline(always)]
pub(crate) fn keccak_lane_in(lane: u64) -> u64 {
    lane
}

#[inline(always)]
pub(crate) fn keccak_lane_out(lane: u64) -> u64 {
    lane
}

pub(crate) fn ascon_p12(words: &mut [u64; 5]) {
    ascon::permute12(words);
}

pub(crate) fn ascon_p8(words: &mut [u64; 5]) {
    ascon::permute8(words);
}

#[inline(always)]
pub(crate) fn ascon_lane_in(lane: u64) -> u64 {
    lane
}

#[inline(always)]
pub(crate) fn ascon_lane_out(lane: u64) -> u64 {
    lane
}
