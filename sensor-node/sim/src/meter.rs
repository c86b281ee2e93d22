//! Regions of a firmware: from a mark with an id to the mark 0.

use serde::Serialize;

/// One finished region.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Mark {
    /// What the firmware wrote at the start, 1..=255.
    pub id: u8,
    /// Cycles between the marks; an empty region has 0.
    pub cycles: u64,
    /// Bytes below the stack pointer at the start of the region, at its deepest.
    pub stack: u32,
    /// Bytes from the top of the memory to the deepest stack pointer in the region.
    pub peak: u32,
}

/// Collects regions. Regions do not nest: a mark ends the one before it.
pub struct Meter {
    top: u32,
    lowest: u32,
    open: Option<Open>,
    done: Vec<Mark>,
}

struct Open {
    id: u8,
    cycle: u64,
    start: u32,
    lowest: u32,
}

impl Meter {
    /// A meter for a stack that starts empty at `top`.
    pub fn new(top: u32) -> Self {
        Self {
            top,
            lowest: top,
            open: None,
            done: Vec::new(),
        }
    }

    /// Where the empty stack points to.
    pub fn top(&self) -> u32 {
        self.top
    }

    /// Notes the stack pointer after an instruction.
    pub fn sample(&mut self, stack_pointer: u32) {
        self.lowest = self.lowest.min(stack_pointer);
        if let Some(open) = &mut self.open {
            open.lowest = open.lowest.min(stack_pointer);
        }
    }

    /// Ends the open region, and opens region `id` unless that is 0. `cost` is what the marking instruction itself takes.
    pub fn mark(&mut self, id: u8, cycle: u64, cost: u64, stack_pointer: u32) {
        if let Some(open) = self.open.take() {
            self.done.push(Mark {
                id: open.id,
                cycles: (cycle - open.cycle).saturating_sub(cost),
                stack: open.start - open.lowest,
                peak: self.top - open.lowest,
            });
        }
        if id != 0 {
            self.open = Some(Open {
                id,
                cycle,
                start: stack_pointer,
                lowest: stack_pointer,
            });
        }
    }

    /// The finished regions, in order.
    pub fn marks(&self) -> &[Mark] {
        &self.done
    }

    /// The id of the region that the firmware is in.
    pub fn current(&self) -> Option<u8> {
        self.open.as_ref().map(|open| open.id)
    }

    /// Bytes of stack since the start, at its deepest.
    pub fn peak(&self) -> u32 {
        self.top - self.lowest
    }
}

#[cfg(test)]
mod tests {
    use super::{Mark, Meter};

    #[test]
    fn a_region_has_its_own_stack_and_the_whole_one() {
        let mut meter = Meter::new(1000);
        meter.sample(700);
        meter.sample(900);
        meter.mark(7, 50, 1, 900);
        meter.sample(880);
        meter.mark(0, 61, 1, 900);
        meter.sample(600);
        let mark = Mark {
            id: 7,
            cycles: 10,
            stack: 20,
            peak: 120,
        };
        assert_eq!((meter.marks(), meter.peak(), meter.current()), (&[mark][..], 400, None));
    }

    #[test]
    fn a_mark_ends_the_region_before_it() {
        let mut meter = Meter::new(100);
        meter.mark(1, 10, 1, 100);
        meter.mark(2, 11, 1, 100);
        assert_eq!((meter.marks()[0].cycles, meter.current()), (0, Some(2)));
    }
}
