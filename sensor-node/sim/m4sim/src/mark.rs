//! Regions of a firmware: from semihosting call 0x104 with an id to the same call with 0 (or the next id).

/// One finished region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    pub id: u8,
    /// Modeled cycles between the two calls, without those of exception handlers.
    pub cycles: u64,
    /// Bytes below the stack pointer at the start, at its deepest.
    pub stack: u32,
    /// The lowest stack pointer in the region.
    pub lowest: u32,
}

#[derive(Default)]
pub struct Marks {
    /// In the order in which they ended.
    pub done: Vec<Mark>,
    open: Option<Open>,
}

struct Open {
    id: u8,
    cycle: u64,
    sp: u32,
    lowest_before: u32,
}

impl Marks {
    /// The region that the firmware is in.
    pub fn current(&self) -> Option<u8> {
        self.open.as_ref().map(|open| open.id)
    }

    /// A call at `cycle`. `lowest` is the core's low-water mark, which a region has for itself.
    pub(crate) fn call(&mut self, id: u8, cycle: u64, sp: u32, lowest: &mut u32) {
        if let Some(open) = self.open.take() {
            self.done.push(Mark {
                id: open.id,
                // The call that opened the region retires inside it.
                cycles: (cycle - open.cycle).saturating_sub(1),
                stack: open.sp - *lowest,
                lowest: *lowest,
            });
            *lowest = open.lowest_before.min(*lowest);
        }
        if id != 0 {
            self.open = Some(Open {
                id,
                cycle,
                sp,
                lowest_before: *lowest,
            });
            *lowest = sp;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Mark, Marks};

    #[test]
    fn a_region_has_its_own_low_water_mark() {
        let (mut marks, mut lowest) = (Marks::default(), 500);
        marks.call(3, 100, 900, &mut lowest);
        assert_eq!((lowest, marks.current()), (900, Some(3)));
        lowest = 860;
        marks.call(0, 151, 900, &mut lowest);
        let mark = Mark {
            id: 3,
            cycles: 50,
            stack: 40,
            lowest: 860,
        };
        assert_eq!((marks.done, lowest), (vec![mark], 500));
    }
}
