//! 16-bit encodings.

use super::immediate::*;
use super::*;

pub(super) fn decode16(pc: u32, h: u32) -> Insn {
    use Op::*;
    let mut i = Insn::new(Undef, 2, h);
    let lo3 = |s: u32| ((h >> s) & 7) as u8;
    match h >> 10 {
        // 000xxx: shift (imm), add, sub
        0..=5 => {
            // LSL/LSR/ASR imm
            i.op = DpReg;
            i.sub = dp::MOV;
            i.rd = lo3(0);
            i.rm = lo3(3);
            let (t, n) = decode_imm_shift((h >> 11) & 3, (h >> 6) & 31);
            i.sh_t = t;
            i.sh_n = n;
            i.s = S_NOT_IN_IT;
        }
        6 => {
            // ADD/SUB register
            i.op = DpReg;
            i.sub = if h & 0x200 == 0 { dp::ADD } else { dp::SUB };
            i.rd = lo3(0);
            i.rn = lo3(3);
            i.rm = lo3(6);
            i.s = S_NOT_IN_IT;
        }
        7 => {
            i.op = DpImm;
            i.sub = if h & 0x200 == 0 { dp::ADD } else { dp::SUB };
            i.rd = lo3(0);
            i.rn = lo3(3);
            i.imm = (h >> 6) & 7;
            i.sh_t = 2;
            i.s = S_NOT_IN_IT;
        }
        8..=15 => {
            i.op = DpImm;
            i.rd = lo3(8);
            i.rn = i.rd;
            i.imm = h & 0xff;
            i.sh_t = 2;
            i.s = S_NOT_IN_IT;
            i.sub = match (h >> 11) & 3 {
                0 => dp::MOV,
                1 => {
                    i.s = S_ALWAYS;
                    dp::CMP
                }
                2 => dp::ADD,
                _ => dp::SUB,
            };
        }
        16 => {
            // data processing
            i.rd = lo3(0);
            i.rn = lo3(0);
            i.rm = lo3(3);
            i.s = S_NOT_IN_IT;
            i.op = DpReg;
            match (h >> 6) & 15 {
                0 => i.sub = dp::AND,
                1 => i.sub = dp::EOR,
                2 => {
                    i.op = ShiftReg;
                    i.sub = 0;
                }
                3 => {
                    i.op = ShiftReg;
                    i.sub = 1;
                }
                4 => {
                    i.op = ShiftReg;
                    i.sub = 2;
                }
                5 => i.sub = dp::ADC,
                6 => i.sub = dp::SBC,
                7 => {
                    i.op = ShiftReg;
                    i.sub = 3;
                }
                8 => {
                    i.sub = dp::TST;
                    i.s = S_ALWAYS;
                }
                9 => {
                    // RSB Rd, Rn, #0
                    i.op = DpImm;
                    i.sub = dp::RSB;
                    i.rn = lo3(3);
                    i.imm = 0;
                    i.sh_t = 2;
                }
                10 => {
                    i.sub = dp::CMP;
                    i.s = S_ALWAYS;
                }
                11 => {
                    i.sub = dp::CMN;
                    i.s = S_ALWAYS;
                }
                12 => i.sub = dp::ORR,
                13 => {
                    i.op = Mul;
                    i.rn = lo3(3);
                    i.rm = lo3(0);
                    i.s = S_NOT_IN_IT;
                }
                14 => i.sub = dp::BIC,
                _ => i.sub = dp::MVN,
            }
        }
        17 => {
            let rm = ((h >> 3) & 15) as u8;
            let rdn = ((h & 7) | ((h >> 4) & 8)) as u8;
            match (h >> 8) & 3 {
                0 => {
                    i.op = DpReg;
                    i.sub = dp::ADD;
                    i.rd = rdn;
                    i.rn = rdn;
                    i.rm = rm;
                }
                1 => {
                    i.op = DpReg;
                    i.sub = dp::CMP;
                    i.rn = rdn;
                    i.rm = rm;
                    i.s = S_ALWAYS;
                }
                2 => {
                    i.op = DpReg;
                    i.sub = dp::MOV;
                    i.rd = rdn;
                    i.rm = rm;
                }
                _ => {
                    i.op = if h & 0x80 == 0 { Bx } else { Blx };
                    i.rm = rm;
                }
            }
        }
        18 | 19 => {
            i.op = Ld;
            i.rd = lo3(8);
            i.rn = 15;
            i.imm = (h & 0xff) << 2;
            i.fl = F_INDEX | F_ADD | F_LIT;
            i.sub = SZ_W;
        }
        20..=23 => {
            i.rd = lo3(0);
            i.rn = lo3(3);
            i.rm = lo3(6);
            i.fl = F_INDEX | F_ADD | F_REGOFF;
            let (op, sz) = match (h >> 9) & 7 {
                0 => (St, SZ_W),
                1 => (St, SZ_H),
                2 => (St, SZ_B),
                3 => (Ld, SZ_SB),
                4 => (Ld, SZ_W),
                5 => (Ld, SZ_H),
                6 => (Ld, SZ_B),
                _ => (Ld, SZ_SH),
            };
            i.op = op;
            i.sub = sz;
        }
        24..=31 => {
            i.rd = lo3(0);
            i.rn = lo3(3);
            let imm5 = (h >> 6) & 31;
            i.op = if h & 0x800 != 0 { Ld } else { St };
            if h & 0x1000 == 0 {
                i.sub = SZ_W;
                i.imm = imm5 << 2;
            } else {
                i.sub = SZ_B;
                i.imm = imm5;
            }
            i.fl = F_INDEX | F_ADD;
        }
        32..=35 => {
            i.rd = lo3(0);
            i.rn = lo3(3);
            i.op = if h & 0x800 != 0 { Ld } else { St };
            i.sub = SZ_H;
            i.imm = ((h >> 6) & 31) << 1;
            i.fl = F_INDEX | F_ADD;
        }
        36..=39 => {
            i.rd = lo3(8);
            i.rn = 13;
            i.op = if h & 0x800 != 0 { Ld } else { St };
            i.sub = SZ_W;
            i.imm = (h & 0xff) << 2;
            i.fl = F_INDEX | F_ADD;
        }
        40 | 41 => {
            i.op = Adr;
            i.rd = lo3(8);
            i.imm = (h & 0xff) << 2;
            i.fl = F_ADD;
        }
        42 | 43 => {
            i.op = DpImm;
            i.sub = dp::ADD;
            i.rd = lo3(8);
            i.rn = 13;
            i.imm = (h & 0xff) << 2;
            i.sh_t = 2;
        }
        44..=47 => return misc16(pc, h),
        48..=51 => {
            i.rn = lo3(8);
            i.imm = h & 0xff;
            if h & 0x800 == 0 {
                i.op = Stm;
                i.fl = F_WB;
            } else {
                i.op = Ldm;
                i.fl = if i.imm >> i.rn & 1 == 0 { F_WB } else { 0 };
            }
        }
        52..=55 => {
            let c = (h >> 8) & 15;
            match c {
                14 => i.op = Undef,
                15 => {
                    i.op = Svc;
                    i.imm = h & 0xff;
                }
                _ => {
                    i.op = B;
                    i.cond = c as u8;
                    i.imm = pc.wrapping_add(4).wrapping_add(sx((h & 0xff) << 1, 9));
                }
            }
        }
        56 | 57 => {
            i.op = B;
            i.imm = pc.wrapping_add(4).wrapping_add(sx((h & 0x7ff) << 1, 12));
        }
        _ => {}
    }
    i
}

pub(super) fn misc16(pc: u32, h: u32) -> Insn {
    use Op::*;
    let mut i = Insn::new(Undef, 2, h);
    match (h >> 8) & 15 {
        0 => {
            i.op = DpImm;
            i.sub = if h & 0x80 == 0 { dp::ADD } else { dp::SUB };
            i.rd = 13;
            i.rn = 13;
            i.imm = (h & 0x7f) << 2;
            i.sh_t = 2;
        }
        1 | 3 | 9 | 11 => {
            i.op = Cbz;
            i.rn = (h & 7) as u8;
            i.sub = ((h >> 11) & 1) as u8;
            let off = ((h >> 9) & 1) << 6 | ((h >> 3) & 31) << 1;
            i.imm = pc.wrapping_add(4).wrapping_add(off);
        }
        2 => {
            i.op = Ext;
            i.rd = (h & 7) as u8;
            i.rm = ((h >> 3) & 7) as u8;
            i.rn = 15;
            i.sub = match (h >> 6) & 3 {
                0 => 0,
                1 => 4,
                2 => 1,
                _ => 5,
            };
        }
        4 | 5 => {
            i.op = Stm;
            i.rn = 13;
            i.fl = F_WB | F_INDEX; // F_INDEX = decrement before
            i.imm = (h & 0xff) | ((h >> 8) & 1) << 14;
        }
        12 | 13 => {
            i.op = Ldm;
            i.rn = 13;
            i.fl = F_WB;
            i.imm = (h & 0xff) | ((h >> 8) & 1) << 15;
        }
        6 => {
            if h & 0xffe8 == 0xb660 {
                i.op = Cps;
                i.imm = h & 0x1f;
            }
        }
        10 => {
            i.op = Rev;
            i.rd = (h & 7) as u8;
            i.rm = ((h >> 3) & 7) as u8;
            i.sub = match (h >> 6) & 3 {
                0 => 0,
                1 => 1,
                3 => 3,
                _ => {
                    i.op = Undef;
                    0
                }
            };
        }
        14 => {
            i.op = Bkpt;
            i.imm = h & 0xff;
        }
        15 => {
            if h & 15 != 0 {
                i.op = It;
                i.imm = h & 0xff;
            } else {
                i.op = Nop;
                i.imm = (h >> 4) & 15;
            }
        }
        _ => {}
    }
    i
}
