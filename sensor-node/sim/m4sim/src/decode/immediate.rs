//! Immediates of the Thumb encodings (ARM pseudocode).

#[inline]
pub(super) fn sx(v: u32, bits: u32) -> u32 {
    let sh = 32 - bits;
    (((v << sh) as i32) >> sh) as u32
}

pub(super) fn decode_imm_shift(t: u32, imm5: u32) -> (u8, u8) {
    match t {
        0 => (0, imm5 as u8),
        1 => (1, if imm5 == 0 { 32 } else { imm5 as u8 }),
        2 => (2, if imm5 == 0 { 32 } else { imm5 as u8 }),
        _ => {
            if imm5 == 0 {
                (4, 1) // RRX
            } else {
                (3, imm5 as u8)
            }
        }
    }
}

/// ThumbExpandImm_C: (value, carry) with carry 2 = unchanged.
pub(super) fn thumb_expand_imm(imm12: u32) -> (u32, u8) {
    let imm8 = imm12 & 0xff;
    if imm12 >> 10 == 0 {
        let v = match (imm12 >> 8) & 3 {
            0 => imm8,
            1 => imm8 << 16 | imm8,
            2 => imm8 << 24 | imm8 << 8,
            _ => imm8 << 24 | imm8 << 16 | imm8 << 8 | imm8,
        };
        (v, 2)
    } else {
        let v = (0x80 | (imm12 & 0x7f)).rotate_right(imm12 >> 7);
        (v, (v >> 31) as u8)
    }
}
