//! How far a page is, on one line of a terminal; silent anywhere else and in the first second.

use parallax_view::Progress;
use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

/// The line.
pub struct Meter {
    terminal: bool,
    /// When the line is due next.
    due: Instant,
    shown: bool,
}

impl Meter {
    /// A line that waits a second before it appears.
    pub fn new() -> Meter {
        let due = Instant::now() + Duration::from_secs(1);
        Meter { terminal: std::io::stderr().is_terminal(), due, shown: false }
    }

    /// Shows where we are.
    pub fn show(&mut self, progress: Progress) {
        let now = Instant::now();
        if !self.terminal || now < self.due {
            return;
        }
        self.due = now + Duration::from_millis(100);
        self.shown = true;
        let (what, done, all) = match progress {
            Progress::Reports(done, all) => ("reports laid out", done, all),
            Progress::Definitions(done, all) => ("files searched for definitions", done, all),
        };
        eprint!("\r\x1b[K{done} of {all} {what}");
        // A terminal that is gone does not matter.
        let _ = std::io::stderr().flush();
    }

    /// Wipes the line.
    pub fn clear(&self) {
        if self.shown {
            eprint!("\r\x1b[K");
        }
    }
}
