//! Timing rules on hand-assembled snippets. Expected values are the documented
//! ones (Cortex-M4 TRM load/store timings and instruction table) or published
//! hardware measurements named in the README.
use m4sim::{bus::Bus, cpu::Cpu, timing::Params};

const FILL: [u16; 2] = [0xea4f, 0x0808]; // mov.w r8, r8
const NOPW: [u16; 2] = [0xf3af, 0x8000];

fn cpu(words: &[u16], fast: bool) -> Cpu {
    let mut bus = Bus::new(0x0800_0000, 0x10000, 0x2000_0000, 640 * 1024, 1);
    if fast {
        bus.ram_split = vec![];
    }
    bus.cpacr = 0xf << 20;
    let bytes: Vec<u8> = words.iter().flat_map(|h| h.to_le_bytes()).collect();
    bus.load(0x0800_0100, &bytes).unwrap();
    let mut c = Cpu::new(bus, Params::default());
    let base = if fast { 0x2000_1000 } else { 0x2008_0000 };
    c.r = [base; 16];
    c.r[1] = 0x40;
    c.r[13] = base + 0x800;
    c.r[15] = 0x0800_0100;
    c
}

/// Cycles of `snippet` between runs of aligned 32-bit ALU instructions.
fn cost_in(snippet: &[u16], fast: bool) -> u64 {
    let run = |mid: &[u16]| {
        let mut w: Vec<u16> = Vec::new();
        for _ in 0..8 {
            w.extend(FILL);
        }
        w.extend(mid);
        let tail = w.len();
        for _ in 0..12 {
            w.extend(FILL);
        }
        let mut c = cpu(&w, fast);
        c.stop_addr = 0x0800_0100 + 2 * (tail as u32 + 16);
        let _ = c.run(100_000);
        assert_eq!(c.r[15], c.stop_addr, "snippet did not reach its end");
        c.t.cycles
    };
    run(snippet) - run(&[])
}

fn cost(s: &[u16]) -> u64 {
    cost_in(s, true)
}

const LDR1: [u16; 2] = [0xf8d0, 0x1000]; // ldr.w r1,[r0]
const LDR2: [u16; 2] = [0xf8d0, 0x2004]; // ldr.w r2,[r0,#4]
const LDR3: [u16; 2] = [0xf8d0, 0x3008];
const LDR4: [u16; 2] = [0xf8d0, 0x400c];
const STR5: [u16; 2] = [0xf8c0, 0x5010]; // str.w r5,[r0,#16]
const ADD0: [u16; 2] = [0xf100, 0x0000]; // add.w r0,r0,#0

fn cat(parts: &[[u16; 2]]) -> Vec<u16> {
    parts.concat()
}

#[test]
fn alu_and_multiply_are_single_cycle() {
    assert_eq!(cost(&FILL), 1);
    assert_eq!(cost(&[0xfb02, 0x4503]), 1); // mla
    assert_eq!(cost(&[0xfba2, 0x4503]), 1); // umull
    assert_eq!(cost(&[0xfbe2, 0x4563]), 1); // umaal
    assert_eq!(cost(&[0xfb22, 0x4503]), 1); // smlad
    assert_eq!(cost(&[0xfac2, 0xf203]), 1); // ssub8
    assert_eq!(cost(&[0xee00, 0x2a10]), 1); // vmov s0, r2
}

#[test]
fn loads_pipeline() {
    assert_eq!(cost(&LDR1), 2);
    assert_eq!(cost(&cat(&[LDR1, LDR2])), 3);
    assert_eq!(cost(&cat(&[LDR1, LDR2, LDR3, LDR4])), 5);
    // a load eats a following nop
    assert_eq!(cost(&cat(&[LDR1, NOPW])), 2);
}

#[test]
fn stores() {
    assert_eq!(cost(&STR5), 1);
    assert_eq!(cost(&cat(&[LDR1, STR5])), 2); // store fills the load bubble
    assert_eq!(cost(&cat(&[STR5, LDR1])), 4); // nothing pipelines after a store
    assert_eq!(cost(&[0xf840, 0x5001]), 2); // str r5,[r0,r1]
}

#[test]
fn address_generation_interlock() {
    assert_eq!(cost(&cat(&[ADD0, LDR1])), 4);
    assert_eq!(cost(&cat(&[ADD0, FILL, LDR1])), 4);
    // ldr r3,[r0,#8]!-style write-back then same base: no pipelining
    assert_eq!(cost(&[0xf850, 0x2b04, 0xf850, 0x3b04]), 4);
}

#[test]
fn multiples() {
    assert_eq!(cost(&[0xe92d, 0x00f0]), 5); // push.w {r4-r7}
    assert_eq!(cost(&[0xe890, 0x00f0]), 5); // ldm r0,{r4-r7}
    assert_eq!(cost(&[0xe9d0, 0x4500]), 3); // ldrd
    assert_eq!(cost(&[0xec90, 0x0a08]), 9); // vldmia r0,{s0-s7}
}

#[test]
fn unaligned_data() {
    assert_eq!(cost(&[0xf8d0, 0x1001]), 4); // byte-aligned word: +2
    assert_eq!(cost(&[0xf8d0, 0x1002]), 3);
}

#[test]
fn branches() {
    // b.w over one aligned wide instruction to another (1 cycle)
    assert_eq!(cost(&[0xf000, 0xb802, 0xea4f, 0x0808, 0xea4f, 0x0808]), 2 + 1);
    // b.n to an aligned wide instruction
    assert_eq!(cost(&[0xe002, 0xbf00, 0xbf00, 0xbf00, 0xea4f, 0x0808]), 2 + 1);
    // b.n to an unaligned wide instruction, then a narrow one to realign
    assert_eq!(cost(&[0xe001, 0xbf00, 0xbf00, 0xea4f, 0x0808, 0x4640]), 2 + 1 + 1 + 1);
    // bl + bx lr
    assert_eq!(
        cost(&[0xf000, 0xf802, 0xe002, 0xbf00, 0x4770, 0xbf00, 0xea4f, 0x0808]),
        2 + 3 + 2 + 1
    );
}

/// The measured reference loop: 17 wide instructions, subs.w, taken bne.w
/// = 20 cycles an iteration on hardware.
#[test]
fn reference_loop_is_20_cycles() {
    let mut w: Vec<u16> = vec![0xf240, 0x39e8]; // movw r9,#1000
    w.extend(FILL);
    let start = w.len();
    for _ in 0..17 {
        w.extend(FILL);
    }
    w.extend([0xf1b9, 0x0901]); // subs.w r9,#1
    let off = (start as i32 - w.len() as i32 - 2) * 2;
    let o = off as u32;
    let (s, j2, j1) = ((o >> 20) & 1, (o >> 19) & 1, (o >> 18) & 1);
    w.push((0xf040 | s << 10 | ((o >> 12) & 0x3f)) as u16);
    w.push((0x8000 | j1 << 13 | j2 << 11 | ((o >> 1) & 0x7ff)) as u16);
    let end = w.len();
    w.extend(FILL);
    let mut c = cpu(&w, true);
    c.stop_addr = 0x0800_0100 + 2 * end as u32;
    let _ = c.run(1_000_000);
    assert_eq!(c.r[9], 0);
    let per = c.t.cycles as f64 / 1000.0;
    assert!((per - 20.0).abs() < 0.02, "{per}");
}

/// A multi-cycle instruction followed by three unaligned 32-bit instructions
/// costs one extra cycle; two do not.
#[test]
fn unaligned_wide_run() {
    let run = |n: usize| {
        let mut w = vec![0x6801u16]; // ldr.n r1,[r0]
        for _ in 0..n {
            w.extend(FILL);
        }
        w.push(0x4640); // mov r0,r8 (narrow) to realign
        cost(&w)
    };
    assert_eq!(run(2), 2 + 2 + 1);
    assert_eq!(run(3), 2 + 3 + 1 + 1);
}

#[test]
fn not_taken_conditional_branch() {
    // bne.w with Z set, wide code around it: 2 cycles; narrow neighbours: 1
    let cmp = [0xebb8u16, 0x0f08]; // cmp.w r8,r8
    let bne = [0xf040u16, 0x8004];
    assert_eq!(cost(&cat(&[cmp, bne])), 1 + 2);
    let mut w = cat(&[cmp, bne]);
    w.extend([0x4640, 0x4640]);
    assert_eq!(cost(&w), 1 + 1 + 2);
}

#[test]
fn sram3_wait_states() {
    assert_eq!(cost_in(&LDR1, false), 3);
    assert_eq!(cost_in(&cat(&[LDR1, LDR2, LDR3, LDR4]), false), 6);
    assert_eq!(cost_in(&STR5, false), 1);
}
