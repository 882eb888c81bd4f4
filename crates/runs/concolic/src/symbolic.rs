//! The symbolic run of an input, in a process of its own, and what it sends to the search.

use crate::constraint::{Constraint, Decision, Looked, Patience};
use crate::coverage::Counts;
use crate::explore::{Settings, Waiting};
use crate::input::Input;
use crate::lockstep::Lockstep;
use crate::rank::{Edge, Rank};
use crate::subject::Subject;
use crate::trail::Trail;
use crate::worker::Mailbox;
use parallax_path::{Entry, Oracle, Strategy};
use parallax_smt::Limits;
use parallax_term::Store;
use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};
use std::time::{Duration, Instant};

/// What a symbolic run sends.
#[derive(Serialize, Deserialize)]
#[allow(missing_docs, reason = "the fields are those of what they become")]
pub enum Message {
    Flip {
        input: Input,
        blocks: u64,
        hash: u64,
        next: Option<u64>,
        looked: Looked,
        fresh: bool,
        edge: Edge,
    },
    /// The run is made; the solver has not been asked for other inputs yet.
    Traced {
        trail: Trail,
        constraints: u64,
        evaluated: u64,
        term_bytes: u64,
        symbolic: f64,
    },
    /// All its ways were asked for, but for those that are left.
    Done {
        solver: f64,
        entries: Vec<Entry>,
        left: usize,
        hard: Vec<(u64, u32)>,
    },
}

/// The symbolic run of an input, in a process of its own.
pub fn symbolic(
    subject: &mut Subject,
    settings: &Settings,
    waiting: &Waiting,
    avoid: &[u64],
    (counts, rank): (&Counts, &Rank),
    deadline: Instant,
    mailbox: &mut Mailbox,
) {
    if subject.give(&waiting.input).is_err() {
        return;
    }
    let (start, begun) = (processor_time(), Instant::now());
    let store = Store::new();
    let terms = subject.sources.terms(&store);
    let patience = waiting.patience(settings);
    // The questions that are left when nothing else waits may take all the time there is.
    let time = (patience != Patience::Last).then_some(settings.solver_time);
    let limits = Limits { time, ..Limits::default() };
    let oracle = Oracle::new(parallax_smt::solver(&store)).with_limits(limits);
    oracle.set_deadline(Some(deadline));
    let constraint = Constraint::new(oracle, &waiting.input, &terms);
    let mut run = Lockstep::new(subject, constraint, terms, settings.approximate, false);
    let followed = run.run(settings.steps, avoid);
    let mut constraint = run.constraint;
    let during = constraint.oracle.usage().time;
    // The solver counts by the clock on the wall: of the processor time it has that share.
    let (spent, passed) = (processor_time().saturating_sub(start), begun.elapsed());
    let share = 1.0 - (during.as_secs_f64() / passed.as_secs_f64().max(f64::EPSILON)).min(1.0);
    let symbolic = spent.as_secs_f64() * share;
    let term_bytes = store.statistics().bytes as u64;
    let mut order = constraint.open(waiting.looked.as_ref());
    if !waiting.hard.is_empty() {
        let is_hard = |&index: &usize| {
            let event = &constraint.events[index];
            waiting.hard.contains(&(event.place.time, event.number))
        };
        order.retain(is_hard);
    }
    let entered: FxHashSet<u64> = counts.entered().collect();
    // The most promising ways come first, unless order is what was asked for.
    if settings.strategy != Strategy::Depth {
        order.sort_by_cached_key(|&index| {
            let event = &constraint.events[index];
            let next = match event.decision {
                Decision::Branch(next) => next,
                _ => None,
            };
            // Where a computed jump leads is found out by asking.
            let asks = matches!(event.decision, Decision::Jump(_));
            (!asks, rank.key((event.place.pc, next), event.place.time))
        });
    }
    mailbox.send(&Message::Traced {
        trail: followed.trail,
        constraints: constraint.events.len() as u64,
        evaluated: followed.evaluated,
        term_bytes,
        symbolic,
    });
    let mut lost = 0;
    let left = constraint.flips(&order, waiting.looked.as_ref(), deadline, patience, |constraint, flip| {
        let event = constraint.events[flip.event];
        let fresh = flip.next.is_some_and(|next| !entered.contains(&next));
        let (blocks, hash) = (event.place.blocks, event.place.hash);
        let next = flip.next.filter(|_| !event.place.aside);
        let edge = (event.place.pc, flip.next);
        let message =
            Message::Flip { input: flip.input, blocks, hash, next, looked: flip.looked, fresh, edge };
        lost += usize::from(!mailbox.send(&message));
    });
    mailbox.send(&Message::Done {
        solver: constraint.oracle.usage().time.as_secs_f64(),
        entries: constraint.ledger.entries(),
        left: left.late + lost,
        hard: left.hard,
    });
}

/// Time that processors have spent on this process: what others do on the machine does not count.
pub fn processor_time() -> Duration {
    // SAFETY: the structure is made of numbers, for which zero is a value; the call writes only what it is handed.
    let time = unsafe {
        let mut time: libc::timespec = std::mem::zeroed();
        libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut time);
        time
    };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}
