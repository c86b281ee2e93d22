//! A counter on stderr for work that takes a while; silent when stderr is no terminal.

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

/// `label 300/1000`, redrawn in place, erased at the end.
pub(super) struct Progress {
    label: String,
    total: u64,
    drawn: Option<Instant>,
    visible: bool,
}

impl Progress {
    /// Shows nothing before the first [`Progress::set`].
    pub(super) fn new(label: impl Into<String>, total: u64) -> Self {
        Self {
            label: label.into(),
            total,
            drawn: None,
            visible: total > 1 && io::stderr().is_terminal(),
        }
    }

    /// Notes that `done` of the total are done.
    pub(super) fn set(&mut self, done: u64) {
        let due = self.drawn.is_none_or(|at| at.elapsed() >= REDRAW);
        if self.visible && due {
            self.drawn = Some(Instant::now());
            let _ = write!(io::stderr(), "\r\x1b[2K{} {done}/{}", self.label, self.total);
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.drawn.is_some() {
            let _ = write!(io::stderr(), "\r\x1b[2K");
        }
    }
}

const REDRAW: Duration = Duration::from_millis(100);
