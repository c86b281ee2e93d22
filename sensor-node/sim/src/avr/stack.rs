//! Where the stack pointer is, after every instruction.

use simavr_ffi as simavr;

use super::State;

/// Notes the stack pointer; false if it has left the memory that is the stack's, after which the chip must not run on: simavr
/// does not check where a stack pointer points to.
///
/// # Safety
/// `core` is a chip that simavr does not run now.
pub(super) unsafe fn watch(core: *const simavr::avr_t, state: &mut State) -> bool {
    // SAFETY: the caller's chip; SPL and SPH exist in the data space of each, and the program counter is in its flash.
    let (stack_pointer, next) = unsafe {
        let data = (*core).data;
        let stack_pointer = u16::from_le_bytes([*data.add(SPL), *data.add(SPL + 1)]);
        (u32::from(stack_pointer), next_opcode(core))
    };
    if next & OUT_MASK == OUT {
        // Perhaps one half is written and the other is not: the next instruction is soon enough.
        return true;
    }
    let top = state.meter.top();
    if (state.variables_end..=top).contains(&stack_pointer) {
        state.meter.sample(stack_pointer);
        return true;
    }
    // Below address 0 it comes out at the top of 64 KB.
    let depth = top.wrapping_sub(stack_pointer) & 0xffff;
    state.deepest_beyond = Some(depth);
    false
}

/// The instruction that comes next.
unsafe fn next_opcode(core: *const simavr::avr_t) -> u16 {
    // SAFETY: simavr allocates the flash with a margin of four bytes behind `flashend`.
    unsafe {
        let at = (*core).pc.min((*core).flashend) as usize;
        let flash = (*core).flash;
        u16::from_le_bytes([*flash.add(at), *flash.add(at + 1)])
    }
}

/// Data address of the stack pointer's low half, the same on all chips of [`super::Setup::mcu`].
const SPL: usize = 0x5d;
/// `out`, any register to any port: prologues write the stack pointer by two of them with one for SREG in between.
const OUT: u16 = 0xb800;
const OUT_MASK: u16 = 0xf800;
