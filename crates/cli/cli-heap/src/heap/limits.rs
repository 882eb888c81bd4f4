//! Limits on a run, and the line that says how far it has come.

use clap::Args;
use parallax_engines::{Progress, Stop};
use parallax_path::Bound;
use parallax_smt::Reason;
use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

/// When to stop.
#[derive(Args)]
pub struct Limits {
    /// Stop after this many seconds, with what was found.
    #[arg(long, value_name = "SECONDS", default_value_t = 600)]
    time: u64,
    /// Stop after this many paths.
    #[arg(long, value_name = "N", default_value_t = 10_000_000)]
    paths: usize,
    /// Stop when the process holds this many megabytes.
    #[arg(long, value_name = "MB", default_value_t = 4096)]
    memory: u64,
}

impl Limits {
    /// When a run that began at `start` must be over.
    pub fn deadline(&self, start: Instant) -> Option<Instant> {
        start.checked_add(Duration::from_secs(self.time))
    }

    /// When the exploration must be over: if files are made of what it finds, they get a quarter of the time, and what
    /// is printed an eighth.
    pub fn exploration(&self, start: Instant, files: bool) -> Option<Instant> {
        let time = Duration::from_secs(self.time);
        start.checked_add(time - time / if files { 4 } else { 8 })
    }

    /// When counting must be over, so that what was counted can be printed.
    pub fn counting(&self, start: Instant) -> Option<Instant> {
        let time = Duration::from_secs(self.time);
        start.checked_add(time - time / 16)
    }

    /// Whether the time is over.
    pub fn late(&self, start: Instant) -> bool {
        self.deadline(start).is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// Why a run that began at `start` was stopped, and what to do about it.
    pub fn why(&self, stop: &Stop, start: Instant) -> String {
        let time = || format!("time: of the {} s of --time those for exploring are over", self.time);
        match stop {
            // A question that is not answered because there is no time left.
            Stop::Bound(Bound::Time(_)) => time(),
            Stop::Bound(Bound::Solver(Reason::Time)) if self.explored(start) => time(),
            Stop::Bound(Bound::Paths(most)) => format!("paths: the {most} of --paths are reached"),
            Stop::Bound(Bound::Memory(most)) => {
                format!("memory: the process holds more than the {} MB of --memory", most >> 20)
            }
            Stop::Bound(Bound::Solver(reason)) => {
                format!("solver: a question that decides how a path goes on was not answered: {reason}")
            }
            stop => stop.to_string(),
        }
    }

    /// Whether the time for exploring is over, if files take a share of it.
    fn explored(&self, start: Instant) -> bool {
        self.exploration(start, true).is_some_and(|end| Instant::now() >= end)
    }

    /// Watches a run that began at `start`.
    pub fn watch(&self, start: Instant) -> impl FnMut(&Progress) -> Result<(), Stop> + use<> {
        self.watch_until(start, self.deadline(start))
    }

    /// The same with another end.
    pub fn watch_until(
        &self,
        start: Instant,
        end: Option<Instant>,
    ) -> impl FnMut(&Progress) -> Result<(), Stop> + use<> {
        let (time, paths, memory) = (Duration::from_secs(self.time), self.paths, self.memory);
        let terminal = std::io::stderr().is_terminal();
        let mut looked = start;
        let mut shown = false;
        move |progress| {
            let now = Instant::now();
            if progress.paths >= paths {
                return Err(Stop::Bound(Bound::Paths(paths as u64)));
            }
            if now.duration_since(looked) < Duration::from_millis(250) {
                return Ok(());
            }
            looked = now;
            let spent = now.duration_since(start);
            let held = resident_megabytes();
            let stop = if end.is_some_and(|end| now >= end) {
                Some(Bound::Time(time))
            } else if held > memory {
                Some(Bound::Memory(memory << 20))
            } else {
                None
            };
            if terminal && (shown || spent > Duration::from_secs(1)) {
                shown = true;
                let end = if stop.is_some() { "\r\x1b[K" } else { "" };
                eprint!(
                    "\r\x1b[K{} paths, {} states, {} waiting, {} MB, {} s{end}",
                    progress.paths,
                    progress.states,
                    progress.pending,
                    held,
                    spent.as_secs()
                );
                let _ = std::io::stderr().flush();
                if progress.pending == 0 {
                    eprint!("\r\x1b[K");
                }
            }
            match stop {
                Some(why) => Err(Stop::Bound(why)),
                None => Ok(()),
            }
        }
    }
}

/// Whether a bound was hit, on time or another.
pub fn is_bound(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref::<Stop>(), Some(Stop::Bound(_)))
}

/// What the process holds, as Linux tells it; 0 where nobody tells.
fn resident_megabytes() -> u64 {
    let Ok(text) = std::fs::read_to_string("/proc/self/statm") else { return 0 };
    let pages: u64 = text.split_whitespace().nth(1).and_then(|word| word.parse().ok()).unwrap_or(0);
    pages * 4096 / (1 << 20)
}
