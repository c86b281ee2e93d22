//! The floating-point part of the coprocessor space.

use super::*;

/// Coprocessor space: FPv4-SP only.
pub(super) fn decode_cp(h1: u32, h2: u32) -> Insn {
    use Op::*;
    let raw = h1 << 16 | h2;
    let mut i = Insn::new(Undef, 4, raw);
    let cp = (h2 >> 8) & 15;
    if cp != 10 && cp != 11 {
        return i;
    }
    if h1 & 0x1000 != 0 {
        return i; // T2 space
    }
    let dbl = cp == 11;
    let d_bit = (h1 >> 6) & 1;
    let vd = (h2 >> 12) & 15;
    let sd = (vd << 1 | d_bit) as u8;
    let dd = (d_bit << 4 | vd) as u8;
    let vn = h1 & 15;
    let n_bit = (h2 >> 7) & 1;
    let sn = (vn << 1 | n_bit) as u8;
    let vm = h2 & 15;
    let m_bit = (h2 >> 5) & 1;
    let sm = (vm << 1 | m_bit) as u8;
    let rt = ((h2 >> 12) & 15) as u8;
    let rn = (h1 & 15) as u8;
    if (h1 >> 8) & 15 < 14 {
        // 1110 110x: load/store & 64-bit transfer
        let p = h1 & 0x100 != 0;
        let u = h1 & 0x80 != 0;
        let w = h1 & 0x20 != 0;
        let l = h1 & 0x10 != 0;
        if !p && !u && !w {
            if d_bit == 1 && h2 & 0xd0 == 0x10 {
                i.op = VmovCore2;
                i.rd = rt;
                i.ra = rn; // Rt2
                i.imm = l as u32;
                i.sub = if dbl { ((m_bit << 4 | vm) << 1) as u8 } else { sm };
            }
            return i;
        }
        let imm8 = h2 & 0xff;
        i.rn = rn;
        i.sub = if dbl { dd << 1 } else { sd };
        if p && !w {
            i.op = if l { Vldr } else { Vstr };
            i.imm = imm8 << 2;
            i.fl = if u { F_ADD } else { 0 };
            i.s = dbl as u8;
            return i;
        }
        // VLDM/VSTM
        i.op = if l { Vldm } else { Vstm };
        i.imm = imm8 & !(dbl as u32);
        i.fl = if w { F_WB } else { 0 } | if p { F_INDEX } else { 0 };
        if imm8 == 0 {
            i.op = Undef;
        }
        return i;
    }
    if h2 & 0x10 != 0 {
        // register transfer
        let opc1 = (h1 >> 5) & 7;
        let l = h1 & 0x10 != 0;
        i.rd = rt;
        if !dbl {
            match opc1 {
                0 => {
                    i.op = VmovCore;
                    i.sub = sn;
                    i.imm = l as u32;
                }
                7 => {
                    i.op = if l { Vmrs } else { Vmsr };
                    i.imm = vn;
                }
                _ => {}
            }
        } else if opc1 & 6 == 0 && h2 & 0x60 == 0 {
            i.op = VmovScalar;
            i.sub = ((n_bit << 4 | vn) << 1 | (opc1 & 1)) as u8;
            i.imm = l as u32;
        }
        return i;
    }
    // data processing
    if dbl {
        return i; // single precision only
    }
    i.op = Vfp;
    i.rd = sd;
    i.rn = sn;
    i.rm = sm;
    let opc1 = (h1 >> 4) & 15 & 0b1011;
    let op6 = (h2 >> 6) & 1;
    i.sub = match (opc1, op6) {
        (0, 0) => vop::MLA,
        (0, 1) => vop::MLS,
        (1, 0) => vop::NMLS,
        (1, 1) => vop::NMLA,
        (2, 0) => vop::MUL,
        (2, 1) => vop::NMUL,
        (3, 0) => vop::ADD,
        (3, 1) => vop::SUB,
        (8, 0) => vop::DIV,
        (9, 0) => vop::FNMS,
        (9, 1) => vop::FNMA,
        (10, 0) => vop::FMA,
        (10, 1) => vop::FMS,
        (11, 0) => {
            // VMOV imm
            let imm8 = (h1 & 15) << 4 | (h2 & 15);
            let a = imm8 >> 7;
            let b = (imm8 >> 6) & 1;
            let exp = ((b ^ 1) << 7) | if b == 1 { 0x7c } else { 0 } | ((imm8 >> 4) & 3);
            i.imm = a << 31 | exp << 23 | (imm8 & 15) << 19;
            vop::MOVI
        }
        (11, 1) => {
            let opc2 = h1 & 15;
            let t = (h2 >> 7) & 1;
            match (opc2, t) {
                (0, 0) => vop::MOV,
                (0, 1) => vop::ABS,
                (1, 0) => vop::NEG,
                (1, 1) => vop::SQRT,
                (2, _) | (3, _) => {
                    i.imm = opc2 & 1; // 0: from half, 1: to half
                    i.s = t as u8; // top
                    vop::CVT_HALF
                }
                (4, _) => vop::CMP,
                (5, _) => vop::CMPZ,
                (8, 0) => vop::CVT_F_U,
                (8, 1) => vop::CVT_F_S,
                (12, 0) => vop::CVTR_U_F,
                (12, 1) => vop::CVT_U_F,
                (13, 0) => vop::CVTR_S_F,
                (13, 1) => vop::CVT_S_F,
                (10, _) | (11, _) | (14, _) | (15, _) => {
                    // fixed point: imm = frac bits, s: bit0 unsigned, bit1 to-fixed, bit2 32-bit
                    let size = if t == 1 { 32 } else { 16 };
                    let imm5 = (h2 & 15) << 1 | m_bit;
                    if imm5 > size {
                        i.op = Undef;
                    }
                    i.imm = size.wrapping_sub(imm5);
                    i.s = (opc2 & 1) as u8 | ((opc2 >> 2) & 1) as u8 * 2 | t as u8 * 4;
                    vop::CVT_FIXED
                }
                _ => {
                    i.op = Undef;
                    0
                }
            }
        }
        _ => {
            i.op = Undef;
            0
        }
    };
    i
}
