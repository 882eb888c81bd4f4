//! Signals by GDB's numbers, which are those of no system.

use gdbstub::common::Signal;
use parallax_record::{Log, SavedEnding};

/// GDB's numbers of Linux's signals from 1 on.
const CLASSIC: [u8; 31] = [
    1, 2, 3, 4, 5, 6, 10, 8, 9, 30, 11, 31, 13, 14, 15, 0, 20, 19, 17, 18, 21, 22, 16, 24, 25, 26, 27, 28,
    23, 32, 12,
];
/// GDB's number of what it does not know.
const UNKNOWN: u8 = 143;

/// GDB's number of a signal.
pub(crate) fn of_linux(signal: i32) -> Signal {
    Signal(match signal {
        1..=31 => Some(CLASSIC[signal as usize - 1]).filter(|number| *number != 0).unwrap_or(UNKNOWN),
        32 => 77,
        33..=63 => (signal - 33 + 45) as u8,
        64 => 78,
        _ => UNKNOWN,
    })
}

/// The signals of Linux that GDB wants to hear of; it has named those that it does not, by its own numbers.
pub(crate) fn heard(passed: &[u8]) -> impl Iterator<Item = u64> {
    (1..=64).filter(|signal| !passed.contains(&of_linux(*signal).0)).map(|signal| signal as u64)
}

/// The signal that ended the program.
pub(crate) fn of_death(log: &Log) -> Option<Signal> {
    match log.ending().or_else(|| log.told.clone())? {
        SavedEnding::Killed(signal, ..) => Some(of_linux(signal)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_gdb() {
        // Linux's SIGBUS, SIGUSR1, SIGCHLD, SIGSYS, the real-time signals at the ends.
        let known = [(7, 10), (10, 30), (17, 20), (31, 12), (33, 45), (34, 46), (63, 75), (64, 78), (32, 77)];
        for (linux, gdb) in known {
            assert_eq!(of_linux(linux), Signal(gdb), "{linux}");
        }
        // GDB has no number for SIGSTKFLT.
        assert_eq!(of_linux(16), Signal(UNKNOWN));
        assert_eq!(heard(&[30]).count(), 63);
        assert!(!heard(&[30]).any(|signal| signal == 10));
    }
}
