//! What simavr leaves out of the EEPROM: a write takes its time, and a worn cell keeps what it has.

use std::{ffi::c_void, ops::Range, ptr};

use simavr_ffi as simavr;

/// The EEPROM's cells and what is wrong with them.
#[derive(Default)]
pub(super) struct Cells {
    /// As they were before the write that simavr has just made.
    before: Vec<u8>,
    worn: Range<u16>,
    hurry: bool,
}

impl Cells {
    /// These cells keep what they have.
    pub(super) fn wear(&mut self, cells: Range<u16>) {
        self.worn = cells;
    }

    /// Writes take no time.
    pub(super) fn hurry(&mut self) {
        self.hurry = true;
    }

    /// A programmer has written these bytes from the start on.
    pub(super) fn written(&mut self, image: &[u8]) {
        self.before.iter_mut().zip(image).for_each(|(cell, byte)| *cell = *byte);
    }
}

/// Looks at every write of EECR.
///
/// # Safety
/// `cells` lives as long as the chip, and nothing else refers to it while simavr runs.
pub(super) unsafe fn hook(core: *mut simavr::avr_t, cells: *mut Cells) {
    // SAFETY: the chip is the caller's; simavr keeps the pointer and hands it to `on_control` only.
    unsafe {
        (*cells).before = content(core).to_vec();
        simavr::avr_register_io_write(core, EECR, Some(on_control), cells.cast());
    }
}

/// The cells.
///
/// # Safety
/// `core` is a chip with an EEPROM, which does not run while the slice is used.
pub(super) unsafe fn content<'c>(core: *mut simavr::avr_t) -> &'c mut [u8] {
    // SAFETY: with a null `ee` simavr hands out its own array of `e2end + 1` bytes.
    unsafe {
        let mut window = simavr::avr_eeprom_desc_t {
            ee: ptr::null_mut(),
            offset: 0,
            size: (*core).e2end + 1,
        };
        simavr::avr_ioctl(core, u32::from_be_bytes(*b"eegp"), (&raw mut window).cast());
        std::slice::from_raw_parts_mut(window.ee, window.size as usize)
    }
}

/// Called behind simavr's own function for the register, which has written the cell by now.
unsafe extern "C" fn on_control(core: *mut simavr::avr_t, _: simavr::avr_io_addr_t, value: u8, cells: *mut c_void) {
    if value & WRITE_ENABLED != WRITE_ENABLED {
        return;
    }
    // SAFETY: the pointers that `hook` has registered; EEAR lies in the data space.
    unsafe {
        let data = (*core).data;
        let at = u16::from_le_bytes([*data.add(EEAR), *data.add(EEAR + 1)]);
        let (cells, content) = (&mut *cells.cast::<Cells>(), content(core));
        if let (Some(before), Some(now)) = (cells.before.get_mut(usize::from(at)), content.get_mut(usize::from(at))) {
            if cells.worn.contains(&at) {
                *now = *before;
            }
            *before = *now;
        }
        if cells.hurry {
            return;
        }
        *data.add(EECR.into()) |= WRITING;
        simavr::avr_cycle_timer_register_usec(core, WRITE_US, Some(on_written), ptr::null_mut());
    }
}

unsafe extern "C" fn on_written(
    core: *mut simavr::avr_t,
    _: simavr::avr_cycle_count_t,
    _: *mut c_void,
) -> simavr::avr_cycle_count_t {
    // SAFETY: the register of a running chip.
    unsafe { *(*core).data.add(EECR.into()) &= !WRITING };
    0
}

/// Data addresses, the same on all chips of [`super::Setup::mcu`].
const EECR: simavr::avr_io_addr_t = 0x3f;
const EEAR: usize = 0x41;
/// EEPE: set while a write is under way.
const WRITING: u8 = 0x02;
/// EEMPE and EEPE.
const WRITE_ENABLED: u8 = 0x06;
/// Erase and write of a byte (data sheet of the ATmega1284P, table 8-1).
const WRITE_US: u32 = 3400;
