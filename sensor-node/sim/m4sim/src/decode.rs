//! Thumb / Thumb-2 / DSP / FPv4-SP decoder: machine code -> [`Insn`].
//!
//! Besides the operands, the decoder fills in the register masks that the
//! timing model needs (`addr`: registers read to form an address, `dst`:
//! registers written by a data-processing result, `ld`: registers written by a
//! load, `wb`: base register written back).
mod coprocessor;
mod dependency;
mod immediate;
mod thumb16;
mod thumb32;

use dependency::finish;
use thumb16::decode16;
use thumb32::decode32;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Op {
    Undef,
    DpImm,
    DpReg,
    ShiftReg,
    Adr,
    Movt,
    Bfi,
    Bfc,
    Sbfx,
    Ubfx,
    Ssat,
    Usat,
    Ssat16,
    Usat16,
    Pkh,
    Ext,
    Rev,
    Clz,
    Sel,
    Qarith,
    Par,
    Mul,
    Mla,
    Mls,
    SmlaXY,
    SmlaW,
    Smlad,
    Smlsd,
    Smmla,
    Smmls,
    Usada8,
    Smull,
    Umull,
    Smlal,
    Umlal,
    Umaal,
    SmlalXY,
    Smlald,
    Smlsld,
    Sdiv,
    Udiv,
    Ld,
    St,
    Ldrd,
    Strd,
    Ldm,
    Stm,
    Ldrex,
    Strex,
    Clrex,
    Tb,
    B,
    Bl,
    Bx,
    Blx,
    Cbz,
    It,
    Nop,
    Svc,
    Bkpt,
    Cps,
    Mrs,
    Msr,
    Barrier,
    Vldr,
    Vstr,
    Vldm,
    Vstm,
    VmovCore,   // S <-> core, imm=1: to core
    VmovCore2,  // two S <-> two core
    VmovScalar, // D[x] <-> core
    Vmrs,
    Vmsr,
    Vfp,
}

/// Data-processing sub-opcodes (shared by DpImm / DpReg).
pub mod dp {
    pub const AND: u8 = 0;
    pub const BIC: u8 = 1;
    pub const ORR: u8 = 2;
    pub const ORN: u8 = 3;
    pub const EOR: u8 = 4;
    pub const MOV: u8 = 5;
    pub const MVN: u8 = 6;
    pub const TST: u8 = 7;
    pub const ADD: u8 = 8;
    pub const TEQ: u8 = 9;
    pub const ADC: u8 = 10;
    pub const SBC: u8 = 11;
    pub const CMP: u8 = 12;
    pub const SUB: u8 = 13;
    pub const RSB: u8 = 14;
    pub const CMN: u8 = 15;
}

/// FP data-processing sub-opcodes.
pub mod vop {
    pub const MLA: u8 = 0;
    pub const MLS: u8 = 1;
    pub const NMLS: u8 = 2;
    pub const NMLA: u8 = 3;
    pub const MUL: u8 = 4;
    pub const NMUL: u8 = 5;
    pub const ADD: u8 = 6;
    pub const SUB: u8 = 7;
    pub const DIV: u8 = 8;
    pub const FNMA: u8 = 9;
    pub const FNMS: u8 = 10;
    pub const FMA: u8 = 11;
    pub const FMS: u8 = 12;
    pub const MOVI: u8 = 13;
    pub const MOV: u8 = 14;
    pub const ABS: u8 = 15;
    pub const NEG: u8 = 16;
    pub const SQRT: u8 = 17;
    pub const CMP: u8 = 18;
    pub const CMPZ: u8 = 19;
    pub const CVT_F_S: u8 = 20; // int -> float, signed
    pub const CVT_F_U: u8 = 21;
    pub const CVT_S_F: u8 = 22; // float -> int, toward zero
    pub const CVT_U_F: u8 = 23;
    pub const CVTR_S_F: u8 = 24; // float -> int, round to nearest
    pub const CVTR_U_F: u8 = 25;
    pub const CVT_HALF: u8 = 26;
    pub const CVT_FIXED: u8 = 27;
}

/// Flag-setting behaviour.
pub const S_NEVER: u8 = 0;
pub const S_ALWAYS: u8 = 1;
pub const S_NOT_IN_IT: u8 = 2;

/// Load/store sizes (`sub` of Ld/St).
pub const SZ_W: u8 = 0;
pub const SZ_B: u8 = 1;
pub const SZ_H: u8 = 2;
pub const SZ_SB: u8 = 3;
pub const SZ_SH: u8 = 4;

pub const F_INDEX: u8 = 1; // P: use offset address
pub const F_ADD: u8 = 2; // U
pub const F_WB: u8 = 4; // W
pub const F_REGOFF: u8 = 8;
pub const F_LIT: u8 = 16;

/// Timing class.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Tk {
    Alu,
    Nop,
    It,
    Load,
    Store,
    StoreReg,
    /// LDM/POP/VLDM/LDRD: 1+N, not pipelined.
    LoadMulti,
    /// STM/PUSH/VSTM/STRD: 1+N.
    StoreMulti,
    BranchImm,
    BranchReg,
    TableBranch,
    Div,
    /// Fixed multi-cycle instruction (FP arithmetic, MRS, barriers, ...).
    Multi,
}

#[derive(Clone, Copy, Debug)]
pub struct Insn {
    pub op: Op,
    pub len: u8,
    pub rd: u8,
    pub rn: u8,
    pub rm: u8,
    pub ra: u8,
    pub sub: u8,
    pub s: u8,
    pub fl: u8,
    pub sh_t: u8,
    pub sh_n: u8,
    pub cond: u8,
    pub imm: u32,
    pub raw: u32,
    // timing
    pub tk: Tk,
    pub ncyc: u8,
    pub addr: u16,
    pub dst: u16,
    pub ld: u16,
    pub wb: u16,
}

impl Insn {
    fn new(op: Op, len: u8, raw: u32) -> Insn {
        Insn {
            op,
            len,
            rd: 0,
            rn: 0,
            rm: 0,
            ra: 15,
            sub: 0,
            s: 0,
            fl: 0,
            sh_t: 0,
            sh_n: 0,
            cond: 14,
            imm: 0,
            raw,
            tk: Tk::Alu,
            ncyc: 1,
            addr: 0,
            dst: 0,
            ld: 0,
            wb: 0,
        }
    }
}

/// Is the first halfword the start of a 32-bit instruction?
#[inline]
pub fn is_wide(hw1: u16) -> bool {
    hw1 >= 0xe800
}

pub fn decode(pc: u32, hw1: u16, hw2: u16) -> Insn {
    let mut i = if is_wide(hw1) {
        decode32(pc, hw1 as u32, hw2 as u32)
    } else {
        decode16(pc, hw1 as u32)
    };
    finish(&mut i);
    i
}
