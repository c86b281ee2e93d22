//! An ATmega in simavr, one instruction at a time.
//!
//! The firmware marks regions by writing an id to `GPIOR0` (I/O address 0x1E) at the start and 0 at the end, and ends a run
//! with an exit code in `GPIOR1` (0x2A). Cycle counts are exact for code and data on the chip with interrupts off; the four
//! cycles of an interrupt's entry are not modelled.

mod eeprom;
mod stack;

use std::{
    collections::VecDeque,
    ffi::{CString, c_int, c_void},
    mem,
    ops::Range,
    os::unix::ffi::OsStrExt,
    path::Path,
};

use anyhow::{Context, Result, ensure};
use simavr_ffi as simavr;

pub use crate::machine::Stop;
use crate::{
    elf::Image,
    machine::Machine,
    meter::{Mark, Meter},
};

/// The chip and its surroundings.
#[derive(Clone, Debug)]
pub struct Setup {
    /// simavr's name of the chip: `atmega1284p`, `atmega328p`, `atmega2560`, `atmega644p`.
    pub mcu: String,
    /// Clock in Hz.
    pub frequency: u32,
}

impl Default for Setup {
    /// An ATmega1284P at 16 MHz.
    fn default() -> Self {
        Self {
            mcu: "atmega1284p".into(),
            frequency: 16_000_000,
        }
    }
}

/// A chip with a firmware in its flash.
pub struct Avr {
    core: *mut simavr::avr_t,
    state: *mut State,
}

/// What simavr's call-backs write; it lives as long as the chip.
struct State {
    meter: Meter,
    exit: Option<u8>,
    sent: Vec<u8>,
    core: *mut simavr::avr_t,
    to_receive: VecDeque<u8>,
    receiver_is_empty: bool,
    resets: u32,
    /// Cycles of interrupt handlers, which no region counts.
    handler_cycles: u64,
    rx_irq: *mut simavr::avr_irq_t,
    variables_end: u32,
    /// How deep the stack would have been when it left its memory.
    deepest_beyond: Option<u32>,
    cells: eeprom::Cells,
    /// Bytes until one is lost in the receiver.
    overrun_after: Option<u32>,
    /// One is lost, and the flag for that not raised yet.
    overrun: bool,
    reset: Option<unsafe extern "C" fn(*mut simavr::avr_t)>,
}

impl Avr {
    /// A chip after power-on, its EEPROM erased.
    ///
    /// # Errors
    /// When the image cannot be read or simavr does not know the chip.
    pub fn load(image: &Path, setup: &Setup) -> Result<Self> {
        let file = Image::read(image)?;
        let flash = file.sizes()?.flash;
        let variables_end = file.symbol("_end").context("the image has no symbol _end")? & 0xffff;
        let mcu = CString::new(setup.mcu.as_str())?;
        let path = CString::new(image.as_os_str().as_bytes())?;
        // SAFETY: simavr's documented order of calls; the pointers outlive each call, and `core` is checked before use.
        unsafe {
            let mut firmware: simavr::elf_firmware_t = mem::zeroed();
            ensure!(
                simavr::elf_read_firmware(path.as_ptr(), &mut firmware) == 0,
                "{} is no AVR firmware",
                image.display()
            );
            let core = simavr::avr_make_mcu_by_name(mcu.as_ptr());
            ensure!(!core.is_null(), "simavr does not know the chip {}", setup.mcu);
            let room = u64::from((*core).flashend) + 1;
            ensure!(
                flash <= room,
                "the image takes {flash} bytes of flash, the {} has {room}",
                setup.mcu
            );
            simavr::avr_init(core);
            firmware.frequency = setup.frequency;
            (*core).set_log(1);
            simavr::avr_load_firmware(core, &mut firmware);
            (*core).frequency = setup.frequency;
            (*core).sleep = Some(do_not_wait);
            let rx_irq = simavr::avr_io_getirq(core, u32::from_be_bytes(*b"uar0"), simavr::UART_IRQ_INPUT as c_int);
            let state = Box::into_raw(Box::new(State {
                meter: Meter::new((*core).ramend.into()),
                exit: None,
                sent: Vec::new(),
                core,
                to_receive: VecDeque::new(),
                receiver_is_empty: false,
                resets: 0,
                handler_cycles: 0,
                rx_irq,
                variables_end: variables_end as u32,
                deepest_beyond: None,
                cells: eeprom::Cells::default(),
                overrun_after: None,
                overrun: false,
                reset: (*core).reset,
            }));
            (*core).custom.data = state.cast();
            (*core).reset = Some(on_reset);
            let this = Self { core, state };
            this.quiet_uart();
            this.hook();
            Ok(this)
        }
    }

    /// Runs at most `cycles` more cycles (an instruction or a sleep may end a little later).
    pub fn run(&mut self, cycles: u64) -> Stop {
        let end = self.cycle() + cycles;
        loop {
            self.start_receiving();
            // SAFETY: `core` and `state` live until `self` is dropped; nothing else refers to them between two calls of simavr.
            let (state, chip) = unsafe {
                let core = self.core;
                (*core).run_cycle_limit = 1;
                let (began, in_handler) = ((*core).cycle, (*core).interrupts.running_ptr > 0);
                let state = simavr::avr_run(core);
                if in_handler {
                    (*self.state).handler_cycles += (*core).cycle - began;
                }
                (state, &mut *self.state)
            };
            // SAFETY: as above.
            let stack_is_sound = unsafe { stack::watch(self.core, chip) };
            if let Some(code) = chip.exit {
                return Stop::Exit(code);
            }
            if state == simavr::cpu_Done as c_int {
                return Stop::Halted;
            }
            if state == simavr::cpu_Crashed as c_int {
                return Stop::Crashed;
            }
            if !stack_is_sound {
                return Stop::StackOverflow;
            }
            if self.cycle() >= end {
                return if state == simavr::cpu_Sleeping as c_int {
                    Stop::Asleep
                } else {
                    Stop::Cycles
                };
            }
        }
    }

    /// Cycles since power-on.
    pub fn cycle(&self) -> u64 {
        // SAFETY: `core` lives until `self` is dropped.
        unsafe { (*self.core).cycle }
    }

    /// The finished regions, in order.
    pub fn marks(&self) -> &[Mark] {
        self.state().meter.marks()
    }

    /// The region that the firmware is in.
    pub fn current_mark(&self) -> Option<u8> {
        self.state().meter.current()
    }

    /// Bytes of stack since power-on, at its deepest; after [`Stop::StackOverflow`] what it would have taken.
    pub fn stack(&self) -> u32 {
        self.state().deepest_beyond.unwrap_or(self.state().meter.peak())
    }

    /// Loses the byte that comes after so many more on the receive line, as a receiver does whose bytes are not fetched in
    /// time, and sets DOR0 for the next one.
    pub fn overrun_uart_after(&mut self, bytes: u32) {
        self.state_mut().overrun_after = Some(bytes);
    }

    /// EEPROM writes take no time from now on, for tests that are about something else.
    pub fn hurry_eeprom(&mut self) {
        self.state_mut().cells.hurry();
    }

    /// These bytes of the EEPROM keep from now on what they have.
    pub fn wear_eeprom(&mut self, cells: Range<u16>) {
        self.state_mut().cells.wear(cells);
    }

    /// How often the firmware was restarted, by its watchdog that is.
    pub fn resets(&self) -> u32 {
        self.state().resets
    }

    /// Puts bytes on the receive line of UART 0; they arrive one after the other, at the line's speed at most.
    pub fn uart_send(&mut self, bytes: &[u8]) {
        self.state_mut().to_receive.extend(bytes);
    }

    /// Bytes that wait on the receive line.
    pub fn uart_pending(&self) -> usize {
        self.state().to_receive.len()
    }

    /// Takes what the firmware has written to UART 0.
    pub fn uart_take(&mut self) -> Vec<u8> {
        mem::take(&mut self.state_mut().sent)
    }

    /// The content of the EEPROM.
    pub fn eeprom(&mut self) -> Vec<u8> {
        // SAFETY: `core` lives and does not run; the cells are copied at once.
        unsafe { eeprom::content(self.core).to_vec() }
    }

    /// Writes the EEPROM from its start, as a programmer does.
    ///
    /// # Errors
    /// When it is smaller than that.
    pub fn set_eeprom(&mut self, image: &[u8]) -> Result<()> {
        // SAFETY: as in `eeprom`.
        let cells = unsafe { eeprom::content(self.core) };
        let len = image.len();
        let place = cells.get_mut(..len);
        place
            .with_context(|| format!("the EEPROM of this chip is smaller than {len} bytes"))?
            .copy_from_slice(image);
        self.state_mut().cells.written(image);
        Ok(())
    }

    /// UART 0 must neither print by itself nor put the host to sleep while the firmware polls it.
    fn quiet_uart(&self) {
        // SAFETY: `core` lives, and the flags are one 32-bit word.
        unsafe {
            let mut flags = 0_u32;
            simavr::avr_ioctl(self.core, u32::from_be_bytes(*b"uag0"), (&raw mut flags).cast());
            flags &= !(POLL_SLEEP | STDIO);
            simavr::avr_ioctl(self.core, u32::from_be_bytes(*b"uas0"), (&raw mut flags).cast());
        }
    }

    fn hook(&self) {
        // SAFETY: `state` lives as long as `core`, which is the only caller.
        unsafe {
            let parameter = self.state.cast();
            let output = simavr::UART_IRQ_OUTPUT as c_int;
            let sent = simavr::avr_io_getirq(self.core, u32::from_be_bytes(*b"uar0"), output);
            if !sent.is_null() {
                simavr::avr_irq_register_notify(sent, Some(on_sent), parameter);
            }
            let empty = simavr::UART_IRQ_OUT_XON as c_int;
            let empty = simavr::avr_io_getirq(self.core, u32::from_be_bytes(*b"uar0"), empty);
            if !empty.is_null() {
                simavr::avr_irq_register_notify(empty, Some(on_receiver_empty), parameter);
            }
            simavr::avr_register_io_write(self.core, GPIOR0, Some(on_mark), parameter);
            simavr::avr_register_io_write(self.core, GPIOR1, Some(on_exit), parameter);
            eeprom::hook(self.core, &raw mut (*self.state).cells);
        }
    }

    /// The first byte after a pause; the others follow as the firmware reads.
    fn start_receiving(&mut self) {
        // SAFETY: `state` lives until `self` is dropped, and simavr does not run now.
        unsafe {
            if (*self.state).receiver_is_empty && !(*self.state).to_receive.is_empty() {
                feed(self.state);
            }
            // Not earlier: simavr clears it when the byte before is read.
            if std::mem::take(&mut (*self.state).overrun) {
                *(*self.core).data.add(UCSR0A) |= DATA_OVERRUN;
            }
        }
    }

    fn state(&self) -> &State {
        // SAFETY: simavr's call-backs write it only during `run`, which has `self` for itself.
        unsafe { &*self.state }
    }

    fn state_mut(&mut self) -> &mut State {
        // SAFETY: as in `state`.
        unsafe { &mut *self.state }
    }
}

impl Machine for Avr {
    fn run(&mut self, cycles: u64) -> Stop {
        self.run(cycles)
    }

    fn cycle(&self) -> u64 {
        self.cycle()
    }

    fn frequency(&self) -> u32 {
        // SAFETY: `core` lives until `self` is dropped.
        unsafe { (*self.core).frequency }
    }

    fn uart_send(&mut self, bytes: &[u8]) {
        self.uart_send(bytes);
    }

    fn uart_pending(&self) -> usize {
        self.uart_pending()
    }

    fn uart_take(&mut self) -> Vec<u8> {
        self.uart_take()
    }

    fn marks(&self) -> Vec<Mark> {
        self.marks().to_vec()
    }

    fn mark_count(&self) -> usize {
        self.marks().len()
    }

    fn current_mark(&self) -> Option<u8> {
        self.current_mark()
    }

    fn stack(&self) -> u32 {
        self.stack()
    }

    fn resets(&self) -> u32 {
        self.resets()
    }

    fn nv(&mut self) -> Vec<u8> {
        self.eeprom()
    }

    fn set_nv(&mut self, image: &[u8]) -> Result<()> {
        self.set_eeprom(image)
    }

    fn wear_nv(&mut self, cells: Range<u16>) {
        self.wear_eeprom(cells);
    }

    fn hurry_nv(&mut self) {
        self.hurry_eeprom();
    }

    fn overrun_uart_after(&mut self, bytes: u32) {
        self.overrun_uart_after(bytes);
    }
}

impl Drop for Avr {
    fn drop(&mut self) {
        // SAFETY: `core` came from simavr's `malloc`, `state` from a box; nobody uses either any more.
        unsafe {
            simavr::avr_terminate(self.core);
            free(self.core.cast());
            drop(Box::from_raw(self.state));
        }
    }
}

unsafe extern "C" {
    fn free(pointer: *mut c_void);
}

/// simavr would sleep as long as the chip does.
unsafe extern "C" fn do_not_wait(_: *mut simavr::avr_t, _: simavr::avr_cycle_count_t) {}

unsafe extern "C" fn on_reset(core: *mut simavr::avr_t) {
    // SAFETY: `load` put the state there, and it lives as long as the chip.
    unsafe {
        let state = (*core).custom.data.cast::<State>();
        (*state).resets += 1;
        if let Some(reset) = (*state).reset {
            reset(core);
        }
    }
}

unsafe extern "C" fn on_mark(core: *mut simavr::avr_t, address: simavr::avr_io_addr_t, id: u8, state: *mut c_void) {
    // SAFETY: simavr passes a register of the chip and the pointer that was registered with this function.
    unsafe {
        let data = (*core).data;
        *data.add(address.into()) = id;
        let stack_pointer = u16::from_le_bytes([*data.add(SPL), *data.add(SPL + 1)]);
        let state = &mut *state.cast::<State>();
        let cycle = (*core).cycle - state.handler_cycles;
        state.meter.mark(id, cycle, 1, stack_pointer.into());
    }
}

unsafe extern "C" fn on_exit(_: *mut simavr::avr_t, _: simavr::avr_io_addr_t, code: u8, state: *mut c_void) {
    // SAFETY: the pointer that was registered with this function.
    unsafe { (*state.cast::<State>()).exit = Some(code) }
}

unsafe extern "C" fn on_sent(_: *mut simavr::avr_irq_t, byte: u32, state: *mut c_void) {
    // SAFETY: the pointer that was registered with this function.
    unsafe { (*state.cast::<State>()).sent.push(byte as u8) }
}

/// simavr's receiver is ready for a byte, which it then hands to the firmware after the time of one on the line. Bytes that
/// come faster than an interrupt fetches them therefore wait; [`Avr::overrun_uart_after`] loses one.
unsafe extern "C" fn on_receiver_empty(_: *mut simavr::avr_irq_t, _: u32, state: *mut c_void) {
    // SAFETY: the pointer that was registered with this function.
    unsafe { feed(state.cast()) }
}

unsafe fn feed(state: *mut State) {
    // SAFETY: the caller's pointer is valid, and no reference is held while simavr runs.
    unsafe {
        if rts_is_high((*state).core) {
            (*state).receiver_is_empty = true;
            return;
        }
        let lose = (*state).overrun_after == Some(0) && (*state).to_receive.len() > 1;
        if lose {
            (*state).to_receive.pop_front();
        }
        let byte = (*state).to_receive.pop_front();
        (*state).receiver_is_empty = byte.is_none();
        if let Some(byte) = byte {
            simavr::avr_raise_irq((*state).rx_irq, byte.into());
            // It waits at 0 until there is one to lose and one to tell it.
            let left = (*state).overrun_after.map(|bytes| bytes.saturating_sub(1));
            (*state).overrun_after = left.filter(|_| !lose);
            (*state).overrun |= lose;
        }
    }
}

/// Whether the firmware has made PD4 an output and asks by it for a pause. Its receiver takes what is on the line already.
unsafe fn rts_is_high(core: *const simavr::avr_t) -> bool {
    // SAFETY: the caller's chip, which has a port D.
    unsafe { *(*core).data.add(DDRD) & *(*core).data.add(PORTD) & RTS != 0 }
}

/// Data addresses, the same on all chips of [`Setup::mcu`].
const DDRD: usize = 0x2a;
const PORTD: usize = 0x2b;
const RTS: u8 = 0x10;
const GPIOR0: u16 = 0x3e;
const GPIOR1: u16 = 0x4a;
const SPL: usize = 0x5d;
const UCSR0A: usize = 0xc0;
const DATA_OVERRUN: u8 = 0x08;

/// Flags of simavr's UART.
const POLL_SLEEP: u32 = 1;
const STDIO: u32 = 2;
