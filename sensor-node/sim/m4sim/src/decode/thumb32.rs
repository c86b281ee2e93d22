//! 32-bit encodings, without the coprocessor space.

use super::coprocessor::decode_cp;
use super::immediate::*;
use super::*;

pub(super) fn dp_code(op: u32, rd: u8, rn: u8, s: bool) -> Option<(u8, bool)> {
    // returns (sub, writes rd)
    Some(match op {
        0 => {
            if rd == 15 && s {
                (dp::TST, false)
            } else {
                (dp::AND, true)
            }
        }
        1 => (dp::BIC, true),
        2 => {
            if rn == 15 {
                (dp::MOV, true)
            } else {
                (dp::ORR, true)
            }
        }
        3 => {
            if rn == 15 {
                (dp::MVN, true)
            } else {
                (dp::ORN, true)
            }
        }
        4 => {
            if rd == 15 && s {
                (dp::TEQ, false)
            } else {
                (dp::EOR, true)
            }
        }
        8 => {
            if rd == 15 && s {
                (dp::CMN, false)
            } else {
                (dp::ADD, true)
            }
        }
        10 => (dp::ADC, true),
        11 => (dp::SBC, true),
        13 => {
            if rd == 15 && s {
                (dp::CMP, false)
            } else {
                (dp::SUB, true)
            }
        }
        14 => (dp::RSB, true),
        _ => return None,
    })
}

pub(super) fn decode32(pc: u32, h1: u32, h2: u32) -> Insn {
    use Op::*;
    let raw = h1 << 16 | h2;
    let mut i = Insn::new(Undef, 4, raw);
    let rn = (h1 & 15) as u8;
    let rd = ((h2 >> 8) & 15) as u8;
    let rt = ((h2 >> 12) & 15) as u8;
    let rm = (h2 & 15) as u8;
    match (h1 >> 11) & 3 {
        1 => {
            if h1 & 0x400 != 0 {
                return decode_cp(h1, h2);
            }
            if h1 & 0x200 != 0 {
                // data processing (shifted register)
                let op = (h1 >> 5) & 15;
                let s = h1 & 0x10 != 0;
                let imm5 = ((h2 >> 12) & 7) << 2 | ((h2 >> 6) & 3);
                let (t, n) = decode_imm_shift((h2 >> 4) & 3, imm5);
                i.rd = rd;
                i.rn = rn;
                i.rm = rm;
                i.sh_t = t;
                i.sh_n = n;
                if op == 6 {
                    i.op = Pkh;
                    i.sub = ((h2 >> 5) & 1) as u8;
                    return i;
                }
                if let Some((sub, _)) = dp_code(op, rd, rn, s) {
                    i.op = DpReg;
                    i.sub = sub;
                    i.s = s as u8;
                }
                return i;
            }
            if h1 & 0x40 == 0 {
                // LDM/STM
                i.rn = rn;
                i.imm = h2;
                let wb = h1 & 0x20 != 0;
                let load = h1 & 0x10 != 0;
                match (h1 >> 7) & 3 {
                    1 => {}
                    2 => i.fl |= F_INDEX,
                    _ => return i,
                }
                i.op = if load { Ldm } else { Stm };
                if wb {
                    i.fl |= F_WB;
                }
                return i;
            }
            // dual / exclusive / table branch
            let p = h1 & 0x100 != 0;
            let u = h1 & 0x80 != 0;
            let w = h1 & 0x20 != 0;
            let l = h1 & 0x10 != 0;
            if p || w {
                i.op = if l { Ldrd } else { Strd };
                i.rd = rt;
                i.ra = rd;
                i.rn = rn;
                i.imm = (h2 & 0xff) << 2;
                i.fl = (p as u8) | (u as u8) << 1 | (w as u8) << 2;
                if rn == 15 {
                    i.fl |= F_LIT;
                }
                return i;
            }
            if !u {
                // LDREX/STREX word
                i.rn = rn;
                i.imm = (h2 & 0xff) << 2;
                i.rd = rt;
                i.ra = rd;
                i.sub = SZ_W;
                i.op = if l { Ldrex } else { Strex };
                return i;
            }
            match (h2 >> 4) & 15 {
                0 | 1 if l => {
                    i.op = Tb;
                    i.rn = rn;
                    i.rm = rm;
                    i.sub = ((h2 >> 4) & 1) as u8;
                }
                4 | 5 => {
                    i.rn = rn;
                    i.rd = rt;
                    i.ra = rm; // status for STREXB/H
                    i.sub = if (h2 >> 4) & 1 == 0 { SZ_B } else { SZ_H };
                    i.op = if l { Ldrex } else { Strex };
                }
                _ => {}
            }
            i
        }
        2 => {
            if h2 & 0x8000 != 0 {
                return branch_misc(pc, h1, h2);
            }
            let imm12 = ((h1 >> 10) & 1) << 11 | ((h2 >> 12) & 7) << 8 | (h2 & 0xff);
            i.rd = rd;
            i.rn = rn;
            if h1 & 0x200 == 0 {
                let op = (h1 >> 5) & 15;
                let s = h1 & 0x10 != 0;
                if let Some((sub, _)) = dp_code(op, rd, rn, s) {
                    let (v, c) = thumb_expand_imm(imm12);
                    i.op = DpImm;
                    i.sub = sub;
                    i.imm = v;
                    i.sh_t = c;
                    i.s = s as u8;
                }
                return i;
            }
            let imm5 = ((h2 >> 12) & 7) << 2 | ((h2 >> 6) & 3);
            match (h1 >> 4) & 31 {
                0 | 10 => {
                    let sub = (h1 >> 4) & 31 == 10;
                    i.imm = imm12;
                    if rn == 15 {
                        i.op = Adr;
                        i.fl = if sub { 0 } else { F_ADD };
                    } else {
                        i.op = DpImm;
                        i.sub = if sub { dp::SUB } else { dp::ADD };
                        i.sh_t = 2;
                    }
                }
                4 => {
                    i.op = DpImm;
                    i.sub = dp::MOV;
                    i.imm = (h1 & 15) << 12 | imm12;
                    i.sh_t = 2;
                }
                12 => {
                    i.op = Movt;
                    i.imm = (h1 & 15) << 12 | imm12;
                }
                16 | 18 => {
                    if (h1 >> 4) & 2 != 0 && imm5 == 0 {
                        i.op = Ssat16;
                        i.imm = (h2 & 15) + 1;
                    } else {
                        i.op = Ssat;
                        i.imm = (h2 & 31) + 1;
                        let (t, n) = decode_imm_shift(((h1 >> 5) & 1) << 1, imm5);
                        i.sh_t = t;
                        i.sh_n = n;
                    }
                }
                24 | 26 => {
                    if (h1 >> 4) & 2 != 0 && imm5 == 0 {
                        i.op = Usat16;
                        i.imm = h2 & 15;
                    } else {
                        i.op = Usat;
                        i.imm = h2 & 31;
                        let (t, n) = decode_imm_shift(((h1 >> 5) & 1) << 1, imm5);
                        i.sh_t = t;
                        i.sh_n = n;
                    }
                }
                20 | 28 => {
                    i.op = if (h1 >> 4) & 31 == 20 { Sbfx } else { Ubfx };
                    i.sh_n = imm5 as u8;
                    i.imm = (h2 & 31) + 1;
                }
                22 => {
                    i.op = if rn == 15 { Bfc } else { Bfi };
                    i.sh_n = imm5 as u8; // lsb
                    i.imm = h2 & 31; // msb
                    if i.imm < imm5 {
                        i.op = Undef;
                    }
                }
                _ => {}
            }
            i
        }
        _ => {
            if h1 & 0x400 != 0 {
                return i; // coprocessor 2 encodings: none on M4
            }
            match (h1 >> 8) & 7 {
                0 | 1 => {
                    // loads / stores
                    let signed = h1 & 0x100 != 0;
                    let size = (h1 >> 5) & 3;
                    let load = h1 & 0x10 != 0;
                    i.rd = rt;
                    i.rn = rn;
                    i.rm = rm;
                    i.sub = match (size, signed) {
                        (0, false) => SZ_B,
                        (1, false) => SZ_H,
                        (2, false) => SZ_W,
                        (0, true) => SZ_SB,
                        (1, true) => SZ_SH,
                        _ => return i,
                    };
                    if !load && (signed || rn == 15) {
                        return i;
                    }
                    i.op = if load { Ld } else { St };
                    if load && rn == 15 {
                        i.fl = F_INDEX | F_LIT | if h1 & 0x80 != 0 { F_ADD } else { 0 };
                        i.imm = h2 & 0xfff;
                    } else if h1 & 0x80 != 0 {
                        i.fl = F_INDEX | F_ADD;
                        i.imm = h2 & 0xfff;
                    } else if h2 & 0x800 != 0 {
                        i.imm = h2 & 0xff;
                        i.fl = ((h2 >> 10) & 1) as u8 | (((h2 >> 9) & 1) as u8) << 1 | (((h2 >> 8) & 1) as u8) << 2;
                        if i.fl & (F_INDEX | F_WB) == 0 {
                            i.op = Undef;
                            return i;
                        }
                    } else if h2 & 0xfc0 == 0 {
                        i.fl = F_INDEX | F_ADD | F_REGOFF;
                        i.sh_n = ((h2 >> 4) & 3) as u8;
                    } else {
                        i.op = Undef;
                        return i;
                    }
                    if load && rt == 15 && size != 2 {
                        // PLD / PLI hints
                        i = Insn::new(Nop, 4, raw);
                    }
                    i
                }
                2 => {
                    let op1 = (h1 >> 4) & 15;
                    let op2 = (h2 >> 4) & 15;
                    if h2 & 0xf000 != 0xf000 {
                        return i;
                    }
                    i.rd = rd;
                    i.rn = rn;
                    i.rm = rm;
                    if op1 < 8 && op2 == 0 {
                        i.op = ShiftReg;
                        i.sub = (op1 >> 1) as u8;
                        i.s = (op1 & 1) as u8;
                        return i;
                    }
                    if op1 < 8 && op2 & 8 != 0 {
                        if op1 > 5 {
                            return i;
                        }
                        i.op = Ext;
                        // 0 SXTH 1 UXTH 2 SXTB16 3 UXTB16 4 SXTB 5 UXTB
                        i.sub = op1 as u8;
                        i.sh_n = ((op2 & 3) * 8) as u8;
                        return i;
                    }
                    if op1 >= 8 && op2 < 8 {
                        let o = op1 & 7;
                        if matches!(o, 3 | 7) || op2 & 3 == 3 {
                            return i;
                        }
                        i.op = Par;
                        i.sub = o as u8;
                        i.sh_t = op2 as u8; // 0 S 1 Q 2 SH 4 U 5 UQ 6 UH
                        return i;
                    }
                    if (8..12).contains(&op1) && (8..12).contains(&op2) {
                        match op1 & 3 {
                            0 => {
                                i.op = Qarith;
                                i.sub = (op2 & 3) as u8;
                            }
                            1 => {
                                i.op = Rev;
                                i.sub = (op2 & 3) as u8; // 0 REV 1 REV16 2 RBIT 3 REVSH
                            }
                            2 => {
                                if op2 & 3 == 0 {
                                    i.op = Sel;
                                }
                            }
                            _ => {
                                if op2 & 3 == 0 {
                                    i.op = Clz;
                                }
                            }
                        }
                    }
                    i
                }
                3 => {
                    i.rd = rd;
                    i.rn = rn;
                    i.rm = rm;
                    i.ra = rt;
                    let op2 = (h2 >> 4) & 15;
                    if h1 & 0x80 == 0 {
                        if op2 > 3 {
                            return i;
                        }
                        i.fl = op2 as u8;
                        match (h1 >> 4) & 7 {
                            0 => {
                                i.op = match op2 {
                                    0 if rt == 15 => Mul,
                                    0 => Mla,
                                    1 => Mls,
                                    _ => Undef,
                                }
                            }
                            1 => i.op = SmlaXY,
                            2 => i.op = if op2 < 2 { Smlad } else { Undef },
                            3 => i.op = if op2 < 2 { SmlaW } else { Undef },
                            4 => i.op = if op2 < 2 { Smlsd } else { Undef },
                            5 => i.op = if op2 < 2 { Smmla } else { Undef },
                            6 => i.op = if op2 < 2 { Smmls } else { Undef },
                            _ => i.op = if op2 == 0 { Usada8 } else { Undef },
                        }
                    } else {
                        // long: RdLo = rt (ra), RdHi = rd
                        i.fl = op2 as u8;
                        match ((h1 >> 4) & 7, op2) {
                            (0, 0) => i.op = Smull,
                            (1, 15) => i.op = Sdiv,
                            (2, 0) => i.op = Umull,
                            (3, 15) => i.op = Udiv,
                            (4, 0) => i.op = Smlal,
                            (4, 8..=11) => i.op = SmlalXY,
                            (4, 12 | 13) => i.op = Smlald,
                            (5, 12 | 13) => i.op = Smlsld,
                            (6, 0) => i.op = Umlal,
                            (6, 6) => i.op = Umaal,
                            _ => {}
                        }
                    }
                    i
                }
                _ => i,
            }
        }
    }
}

pub(super) fn branch_misc(pc: u32, h1: u32, h2: u32) -> Insn {
    use Op::*;
    let raw = h1 << 16 | h2;
    let mut i = Insn::new(Undef, 4, raw);
    let s = (h1 >> 10) & 1;
    let j1 = (h2 >> 13) & 1;
    let j2 = (h2 >> 11) & 1;
    if h2 & 0x1000 != 0 {
        // B T4 / BL
        let i1 = !(j1 ^ s) & 1;
        let i2 = !(j2 ^ s) & 1;
        let off = sx(
            s << 24 | i1 << 23 | i2 << 22 | (h1 & 0x3ff) << 12 | (h2 & 0x7ff) << 1,
            25,
        );
        i.op = if h2 & 0x4000 != 0 { Bl } else { B };
        i.imm = pc.wrapping_add(4).wrapping_add(off);
        return i;
    }
    if h2 & 0x4000 != 0 {
        return i;
    }
    let op = (h1 >> 4) & 0x7f;
    if op & 0x38 != 0x38 {
        i.op = B;
        i.cond = ((h1 >> 6) & 15) as u8;
        let off = sx(
            s << 20 | j2 << 19 | j1 << 18 | (h1 & 0x3f) << 12 | (h2 & 0x7ff) << 1,
            21,
        );
        i.imm = pc.wrapping_add(4).wrapping_add(off);
        return i;
    }
    match op {
        0x38 | 0x39 => {
            i.op = Msr;
            i.rn = (h1 & 15) as u8;
            i.imm = h2 & 0xff;
            i.sub = ((h2 >> 10) & 3) as u8;
        }
        0x3a => {
            i.op = Nop;
            i.imm = h2 & 0xff;
        }
        0x3b => match (h2 >> 4) & 15 {
            2 => i.op = Clrex,
            4..=6 => {
                i.op = Barrier;
                i.sub = ((h2 >> 4) & 15) as u8;
            }
            _ => {}
        },
        0x3e | 0x3f => {
            i.op = Mrs;
            i.rd = ((h2 >> 8) & 15) as u8;
            i.imm = h2 & 0xff;
        }
        _ => {}
    }
    i
}
