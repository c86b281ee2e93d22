//! The layout of 16-bit lanes, two lanes in a 32-bit word. Nothing carries from the low half to the high one.

use crate::field::Q;

/// Packs a group of 4 w coefficients, |c| < q, w even, into 6 w bytes.
pub(super) fn join_group(group: &[i16], bytes: &mut [u8]) {
    // The size of all groups but the last needs no check of an index.
    if let (Some(group), Some(bytes)) = (group.as_array::<64>(), bytes.as_mut_array::<96>()) {
        return join(group, bytes);
    }
    join(group, bytes);
}

/// Unpacks 6 w bytes into 4 w coefficients in 0..4096. 0 if all of them are below q.
pub(super) fn split_group(bytes: &[u8], group: &mut [i16]) -> u32 {
    if let (Some(bytes), Some(group)) = (bytes.as_array::<96>(), group.as_mut_array::<64>()) {
        return split(bytes, group);
    }
    split(bytes, group)
}

#[inline(always)]
fn join(group: &[i16], bytes: &mut [u8]) {
    let lanes = group.len() / 4;
    let (groups, _) = group.as_chunks::<2>();
    let (words, _) = bytes.as_chunks_mut::<4>();
    for lane in 0..lanes / 2 {
        let part = |k: usize| canonical(load(groups[k * lanes / 2 + lane]));
        let [t0, t1, t2, t3] = [part(0), part(1), part(2), part(3)];
        words[lane] = (t0 | (t1 & 0x000f_000f) << 12).to_le_bytes();
        words[lanes / 2 + lane] = ((t1 >> 4) & 0x00ff_00ff | (t2 & 0x00ff_00ff) << 8).to_le_bytes();
        words[lanes + lane] = ((t2 >> 8) & 0x000f_000f | t3 << 4).to_le_bytes();
    }
}

#[inline(always)]
fn split(bytes: &[u8], group: &mut [i16]) -> u32 {
    let lanes = group.len() / 4;
    let (groups, _) = group.as_chunks_mut::<2>();
    let (words, _) = bytes.as_chunks::<4>();
    let mut above = 0;
    for lane in 0..lanes / 2 {
        let [w0, w1, w2] = [0, 1, 2].map(|k| u32::from_le_bytes(words[k * lanes / 2 + lane]));
        let parts = [
            w0 & 0x0fff_0fff,
            (w0 >> 12) & 0x000f_000f | (w1 & 0x00ff_00ff) << 4,
            (w1 >> 8) & 0x00ff_00ff | (w2 & 0x000f_000f) << 8,
            (w2 >> 4) & 0x0fff_0fff,
        ];
        for (k, part) in parts.into_iter().enumerate() {
            // The top bits stay where c - q is not negative.
            above |= (part | TOP) - (Q as u32) * 0x1_0001;
            groups[k * lanes / 2 + lane] = [part as i16, (part >> 16) as i16];
        }
    }
    above & TOP
}

/// Both halves modulo q, in 0..q. In: |half| < q.
#[inline(always)]
fn canonical(pair: u32) -> u32 {
    // In 13 bits, adding q cannot reach the next half.
    let negative = (pair >> 15) & 0x1_0001;
    ((pair & 0x1fff_1fff) + negative * Q as u32) & 0x0fff_0fff
}

#[inline(always)]
fn load([low, high]: [i16; 2]) -> u32 {
    u32::from(low as u16) | u32::from(high as u16) << 16
}

const TOP: u32 = 0x8000_8000;

#[cfg(test)]
mod tests {
    use std::{vec, vec::Vec};

    use super::*;
    use crate::{V2_2, encoding};

    /// Every value in every place of a group, and its neighbours unharmed.
    #[test]
    fn pairs_are_the_lanes() {
        for lanes in [4, 8, 16] {
            for start in (1 - Q..Q).step_by(61) {
                let coeffs: Vec<i16> = (0..4 * lanes)
                    .map(|i| (start + 53 * i + Q) % (2 * Q - 1) + 1 - Q)
                    .collect();
                let (mut ours, mut theirs) = (vec![0; coeffs.len() * 3 / 2], vec![0; coeffs.len() * 3 / 2]);
                join_group(&coeffs, &mut ours);
                encoding::pack::<V2_2>(&coeffs, &mut theirs);
                assert_eq!(ours, theirs);
                let (mut back, mut expected) = (vec![0; coeffs.len()], vec![0; coeffs.len()]);
                assert_eq!(split_group(&ours, &mut back), 0);
                assert!(bool::from(encoding::unpack::<V2_2>(&ours, &mut expected)));
                assert_eq!(back, expected);
            }
        }
    }

    #[test]
    fn q_and_more_is_seen() {
        for place in 0..64 {
            for (value, below) in [(0, true), (Q - 1, true), (Q, false), (4095, false)] {
                let mut packed = [0; 96];
                let (lane, part) = (place % 16, place / 16);
                let number = (value as u64) << (12 * part);
                for k in 0..3 {
                    packed[2 * (16 * k + lane)..][..2].copy_from_slice(&((number >> (16 * k)) as u16).to_le_bytes());
                }
                let mut coeffs = [0; 64];
                assert_eq!(split_group(&packed, &mut coeffs) == 0, below, "{value} at {place}");
                assert_eq!(coeffs[place], value);
            }
        }
    }
}
