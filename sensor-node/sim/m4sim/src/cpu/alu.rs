//! Adders, shifter and saturation of the ARM pseudocode.

pub(super) fn add_carry(a: u32, b: u32, c: u32) -> (u32, bool, bool) {
    let u = a as u64 + b as u64 + c as u64;
    let r = u as u32;
    let v = (!(a ^ b) & (a ^ r)) >> 31 != 0;
    (r, u >> 32 != 0, v)
}

#[inline]
pub(super) fn shift_c(v: u32, t: u8, n: u32, cin: bool) -> (u32, bool) {
    if n == 0 {
        return (v, cin);
    }
    match t {
        0 => {
            if n < 32 {
                (v << n, (v >> (32 - n)) & 1 != 0)
            } else if n == 32 {
                (0, v & 1 != 0)
            } else {
                (0, false)
            }
        }
        1 => {
            if n < 32 {
                (v >> n, (v >> (n - 1)) & 1 != 0)
            } else if n == 32 {
                (0, v >> 31 != 0)
            } else {
                (0, false)
            }
        }
        2 => {
            if n < 32 {
                (((v as i32) >> n) as u32, ((v as i32) >> (n - 1)) & 1 != 0)
            } else {
                (((v as i32) >> 31) as u32, v >> 31 != 0)
            }
        }
        3 => {
            let r = v.rotate_right(n & 31);
            (r, r >> 31 != 0)
        }
        _ => (((cin as u32) << 31) | v >> 1, v & 1 != 0),
    }
}

pub(super) fn ssat(v: i64, bits: u32) -> (i64, bool) {
    let max = (1i64 << (bits - 1)) - 1;
    let min = -(1i64 << (bits - 1));
    if v > max {
        (max, true)
    } else if v < min {
        (min, true)
    } else {
        (v, false)
    }
}

pub(super) fn usat(v: i64, bits: u32) -> (i64, bool) {
    let max = (1i64 << bits) - 1;
    if v > max {
        (max, true)
    } else if v < 0 {
        (0, true)
    } else {
        (v, false)
    }
}

pub(super) fn lo(v: u32) -> i32 {
    v as i16 as i32
}
pub(super) fn hi(v: u32) -> i32 {
    (v as i32) >> 16
}
