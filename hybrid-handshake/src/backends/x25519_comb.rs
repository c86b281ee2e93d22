//! The table for multiples of the base point of X25519, on the birationally equivalent edwards25519 (RFC 7748 section 4.1).
//!
//! With B the base point and s_i = 1 where bit i of a clamped scalar k is set and -1 where it is not, k B is the sum of all
//! s_i 2^i (B/2) and of (2^256 - 1) (B/2). Bits 64 apart make a digit of four, so that there are eight entries and their negatives,
//! once for the bits i with i mod 64 < 32 and once for the others; a scalar takes 32 doublings and 64 additions.

mod table;

/// x and y of the point to start from, (2^256 - 1) 2^-32 (B/2), 32 little-endian bytes each. Then two tables of eight entries, whose bytes
/// alternate: entry j of table t is 2^(32 t) (2^192 +- 2^128 +- 2^64 +- 1) (B/2), with plus for bits 2, 1 and 0 of j that are
/// set, as (y + x)/2, (y - x)/2 and d x y.
pub(super) const TABLE: [u8; 1600] = table::TABLE;

#[cfg(test)]
mod tests;
