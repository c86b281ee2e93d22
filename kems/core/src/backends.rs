//! The permutations that have an assembly twin on small targets. The portable ones come from the `keccak` and `ascon`
//! crates.

pub(crate) fn keccak_f1600(lanes: &mut [u64; 25]) {
    keccak::Keccak::new().with_f1600(|f1600| f1600(lanes));
}

pub(crate) fn ascon_p12(words: &mut [u64; 5]) {
    ascon::permute12(words);
}
