//! What happened in an interval, as far as a search can use it to leave the interval out.

use crate::filter::{Filter, Ranges};
use parallax_process::execute::{Ran, Watcher};
use parallax_process::memory::{PAGE, Touched};
use parallax_process::outside::Tid;
use parallax_trace::Time;
use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::ops::Range;
use std::rc::Rc;

/// A step that is not just an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Occurrence {
    pub time: Time,
    pub thread: Tid,
    pub what: What,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum What {
    /// A system call of that number, made by the instruction at that address.
    Call { number: u64, address: u64 },
    /// The delivery of a signal.
    Delivery(u64),
}

/// What happened in an interval.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Seen {
    /// The code that ran; unknown if the program was replaced.
    code: Option<Code>,
    /// The pages that were touched; likewise.
    pages: Option<Pages>,
    /// Where the threads were at the end.
    ends: Vec<u64>,
    /// System calls and deliveries.
    pub occurrences: Vec<Occurrence>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Code {
    ran: Vec<Range<u64>>,
    calls: Vec<u64>,
    computed_calls: bool,
    returns: bool,
}

/// Numbers of pages, in order.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Pages {
    touched: Vec<u64>,
    written: Vec<u64>,
}

impl Seen {
    pub fn new(
        ran: Option<Ran>,
        touched: Option<Touched>,
        ends: Vec<u64>,
        occurrences: Vec<Occurrence>,
    ) -> Seen {
        let code = ran.map(|ran| Code {
            ran: Ranges::new(ran.blocks.iter().map(|(start, end)| *start..*end)).as_slice().to_vec(),
            calls: sorted(ran.calls),
            computed_calls: ran.computed_calls,
            returns: ran.returns,
        });
        let pages = touched.map(|touched| {
            let written = sorted(touched.written.iter().copied());
            // What is written is readable from then on without being looked at again.
            let touched = sorted(touched.read.union(&touched.written).copied());
            Pages { touched, written }
        });
        Seen { code, pages, ends, occurrences }
    }

    /// The pages that were written, as far as that is known.
    pub fn written(&self) -> &[u64] {
        self.pages.as_ref().map_or(&[], |pages| &pages.written)
    }

    /// Whether a condition may hold somewhere in the interval.
    pub fn may(&self, filter: &Filter) -> bool {
        match filter {
            Filter::Any(all) => all.iter().any(|part| self.may(part)),
            Filter::When(plain, _) => self.may(plain),
            Filter::SystemCall(_) | Filter::Signal(_) => !self.known(filter).is_empty(),
            Filter::Read(ranges) => self.pages.as_ref().is_none_or(|pages| meets(ranges, &pages.touched)),
            Filter::Write(ranges) => self.pages.as_ref().is_none_or(|pages| meets(ranges, &pages.written)),
            Filter::Return => self.code.as_ref().is_none_or(|code| code.returns),
            Filter::Execute(ranges) => {
                self.code.as_ref().is_none_or(|code| code.holds(ranges))
                    // A call that had to wait ran in an earlier interval and is done in this one.
                    || self.occurrences.iter().any(|one| {
                        matches!(one.what, What::Call { address, .. } if ranges.holds(address))
                    })
            }
            Filter::Call(ranges) => self.code.as_ref().is_none_or(|code| {
                let direct = code.calls.iter().any(|target| ranges.holds(*target));
                // Where a computed call went is where code ran next, unless the interval ended there, or a signal came.
                let computed = code.holds(ranges)
                    || self.ends.iter().any(|pc| ranges.holds(*pc))
                    || self.occurrences.iter().any(|one| matches!(one.what, What::Delivery(_)));
                direct || code.computed_calls && computed
            }),
        }
    }

    /// The times at which a condition on system calls and signals holds.
    pub fn known(&self, filter: &Filter) -> Vec<Time> {
        let holds = |one: &&Occurrence| {
            filter.parts().iter().any(|part| match (part, one.what) {
                (Filter::SystemCall(numbers), What::Call { number, .. }) => numbers.holds(number),
                (Filter::Signal(numbers), What::Delivery(signal)) => numbers.holds(signal),
                _ => false,
            })
        };
        self.occurrences.iter().filter(holds).map(|one| one.time).collect()
    }
}

impl Code {
    fn holds(&self, ranges: &Ranges) -> bool {
        self.ran.iter().any(|range| ranges.meets(range.clone()))
    }
}

fn sorted(numbers: impl IntoIterator<Item = u64>) -> Vec<u64> {
    let mut sorted: Vec<u64> = numbers.into_iter().collect();
    sorted.sort_unstable();
    sorted
}

fn meets(ranges: &Ranges, pages: &[u64]) -> bool {
    ranges.as_slice().iter().any(|range| {
        let from = pages.partition_point(|page| *page < range.start / PAGE);
        pages.get(from).is_some_and(|page| page * PAGE < range.end)
    })
}

/// A watcher that notes occurrences.
#[derive(Clone, Default)]
pub(crate) struct Occurrences(pub Rc<RefCell<Vec<Occurrence>>>);

impl Watcher for Occurrences {
    fn read(&mut self, _: u64, _: u64, _: usize) {}

    fn write(&mut self, _: u64, _: u64, _: usize) {}

    fn system_call(&mut self, time: u64, thread: Tid, number: u64, address: u64) {
        self.0.borrow_mut().push(Occurrence { time, thread, what: What::Call { number, address } });
    }

    fn delivery(&mut self, time: u64, thread: Tid, signal: i32) {
        self.0.borrow_mut().push(Occurrence { time, thread, what: What::Delivery(signal as u64) });
    }
}
