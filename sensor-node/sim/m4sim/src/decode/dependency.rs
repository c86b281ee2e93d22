//! Which registers an instruction reads and writes, and its timing kind.

use super::*;

pub(super) fn bit(r: u8) -> u16 {
    if r < 16 {
        1u16 << r
    } else {
        0
    }
}

/// Fill in timing class and register masks.
pub(super) fn finish(i: &mut Insn) {
    use Op::*;
    match i.op {
        DpImm | DpReg => {
            if !matches!(i.sub, dp::TST | dp::TEQ | dp::CMP | dp::CMN) {
                i.dst = bit(i.rd);
                if i.rd == 15 {
                    i.tk = Tk::BranchReg;
                    i.dst = 0;
                }
            }
        }
        ShiftReg | Adr | Movt | Bfi | Bfc | Sbfx | Ubfx | Ssat | Usat | Ssat16 | Usat16 | Pkh | Ext | Rev | Clz
        | Sel | Qarith | Par | Mul | Mla | Mls | SmlaXY | SmlaW | Smlad | Smlsd | Smmla | Smmls | Usada8 => {
            i.dst = bit(i.rd)
        }
        Smull | Umull | Smlal | Umlal | Umaal | SmlalXY | Smlald | Smlsld => i.dst = bit(i.rd) | bit(i.ra),
        Sdiv | Udiv => {
            i.dst = bit(i.rd);
            i.tk = Tk::Div;
        }
        Ld => {
            i.tk = Tk::Load;
            i.ld = bit(i.rd);
            if i.fl & F_LIT == 0 {
                i.addr = bit(i.rn);
            }
            if i.fl & F_REGOFF != 0 {
                i.addr |= bit(i.rm);
            }
            if i.fl & F_WB != 0 {
                i.wb = bit(i.rn);
            }
        }
        St => {
            i.tk = if i.fl & F_REGOFF != 0 { Tk::StoreReg } else { Tk::Store };
            i.addr = bit(i.rn);
            if i.fl & F_REGOFF != 0 {
                i.addr |= bit(i.rm);
            }
            if i.fl & F_WB != 0 {
                i.wb = bit(i.rn);
            }
        }
        Ldrex => {
            i.tk = Tk::Load;
            i.ld = bit(i.rd);
            i.addr = bit(i.rn);
        }
        Strex => {
            i.tk = Tk::Load; // behaves like LDREX for pipelining
            i.ld = bit(i.ra);
            i.addr = bit(i.rn);
        }
        Ldrd => {
            i.tk = Tk::LoadMulti;
            i.ncyc = 3;
            i.ld = bit(i.rd) | bit(i.ra);
            i.addr = if i.fl & F_LIT == 0 { bit(i.rn) } else { 0 };
            if i.fl & F_WB != 0 {
                i.wb = bit(i.rn);
            }
        }
        Strd => {
            i.tk = Tk::StoreMulti;
            i.ncyc = 3;
            i.addr = bit(i.rn);
            if i.fl & F_WB != 0 {
                i.wb = bit(i.rn);
            }
        }
        Ldm => {
            i.tk = Tk::LoadMulti;
            i.ncyc = 1 + i.imm.count_ones() as u8;
            i.ld = i.imm as u16;
            i.addr = bit(i.rn);
            if i.fl & F_WB != 0 {
                i.wb = bit(i.rn);
            }
        }
        Stm => {
            i.tk = Tk::StoreMulti;
            i.ncyc = 1 + i.imm.count_ones() as u8;
            i.addr = bit(i.rn);
            if i.fl & F_WB != 0 {
                i.wb = bit(i.rn);
            }
        }
        Tb => {
            i.tk = Tk::TableBranch;
            i.addr = (bit(i.rn) | bit(i.rm)) & 0x7fff;
        }
        B | Bl | Cbz => i.tk = Tk::BranchImm,
        Bx | Blx => i.tk = Tk::BranchReg,
        It => i.tk = Tk::It,
        Nop => i.tk = Tk::Nop,
        Mrs => {
            i.tk = Tk::Multi;
            i.ncyc = 2;
            i.dst = bit(i.rd);
        }
        Msr | Cps => {
            i.tk = Tk::Multi;
            i.ncyc = 2;
        }
        Barrier => {
            i.tk = Tk::Multi;
            i.ncyc = if i.sub == 6 { 4 } else { 2 };
        }
        Vldr => {
            i.tk = if i.s == 0 { Tk::Load } else { Tk::LoadMulti };
            i.ncyc = 3;
            i.addr = if i.rn == 15 { 0 } else { bit(i.rn) };
        }
        Vstr => {
            i.tk = if i.s == 0 { Tk::Store } else { Tk::StoreMulti };
            i.ncyc = 3;
            i.addr = bit(i.rn);
        }
        Vldm => {
            i.tk = Tk::LoadMulti;
            i.ncyc = 1 + i.imm as u8;
            i.addr = bit(i.rn);
            if i.fl & F_WB != 0 {
                i.wb = bit(i.rn);
            }
        }
        Vstm => {
            i.tk = Tk::StoreMulti;
            i.ncyc = 1 + i.imm as u8;
            i.addr = bit(i.rn);
            if i.fl & F_WB != 0 {
                i.wb = bit(i.rn);
            }
        }
        VmovCore | VmovScalar => {
            if i.imm & 1 == 1 {
                i.dst = bit(i.rd);
            }
        }
        VmovCore2 => {
            i.tk = Tk::Multi;
            i.ncyc = 2;
            if i.imm & 1 == 1 {
                i.dst = bit(i.rd) | bit(i.ra);
            }
        }
        Vmrs => i.dst = if i.rd == 15 { 0 } else { bit(i.rd) },
        Vfp => {
            let c = match i.sub {
                vop::MLA | vop::MLS | vop::NMLA | vop::NMLS => 3,
                vop::FMA | vop::FMS | vop::FNMA | vop::FNMS => 3,
                vop::DIV | vop::SQRT => 14,
                _ => 1,
            };
            if c > 1 {
                i.tk = Tk::Multi;
                i.ncyc = c;
            }
        }
        Vmsr | Svc | Bkpt | Undef | Clrex => {}
    }
}
