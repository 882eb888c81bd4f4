//! What a stretch of steps did: which instruction each of them executed, what they wrote, and what was no instruction.

use parallax_process::execute::{Probes, Watcher};
use parallax_process::outside::Tid;
use std::cell::RefCell;
use std::rc::Rc;

/// A step that is more than an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A system call of that number is complete; its instruction is at the address.
    Call {
        /// Its number.
        number: u64,
        /// Where it was made.
        address: u64,
    },
    /// The frame of a signal handler was built.
    Delivery(i32),
}

/// One write: the step, the first byte, how many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Write {
    /// The step.
    pub step: u64,
    /// The first byte.
    pub address: u64,
    /// How many bytes.
    pub size: u64,
}

/// The steps after `start`, up to and with the last one noted.
#[derive(Clone, Debug, Default)]
pub struct Window {
    /// How many steps were made before.
    pub start: u64,
    /// The address of the instruction of each step; 0 where it is none.
    pub pcs: Vec<u64>,
    /// Writes, in the order of their steps.
    pub writes: Vec<Write>,
    /// Steps that are more than an instruction, in order, with the thread that made them.
    pub events: Vec<(u64, Tid, Event)>,
    /// From which step on which thread runs, in order.
    pub turns: Vec<(u64, Tid)>,
}

impl Window {
    /// What happened at a step besides an instruction.
    pub fn event(&self, step: u64) -> Option<(Tid, Event)> {
        let at = self.events.binary_search_by_key(&step, |(time, _, _)| *time).ok()?;
        let (_, thread, event) = self.events[at];
        Some((thread, event))
    }

    /// The thread that made a step.
    pub fn thread(&self, step: u64) -> Tid {
        if let Some((thread, _)) = self.event(step) {
            return thread;
        }
        let after = self.turns.partition_point(|(from, _)| *from <= step);
        self.turns[after - 1].1
    }

    /// The address of the instruction of a step.
    pub fn pc(&self, step: u64) -> Option<u64> {
        self.pcs.get((step - self.start - 1) as usize).copied().filter(|pc| *pc != 0)
    }

    /// What a step wrote.
    pub fn writes_of(&self, step: u64) -> &[Write] {
        let from = self.writes.partition_point(|write| write.step < step);
        let to = self.writes.partition_point(|write| write.step <= step);
        &self.writes[from..to]
    }
}

/// A watcher that notes a window while one is open.
#[derive(Clone, Default)]
pub struct Noter(Rc<RefCell<Option<Window>>>);

impl Noter {
    /// What the code has to tell.
    pub fn probes() -> Probes {
        Probes {
            execute: vec![std::ops::Range { start: 0, end: u64::MAX }],
            calls: Vec::new(),
            returns: false,
        }
    }

    /// Notes from now on: so many steps have been made, and this thread runs.
    pub fn open(&self, start: u64, thread: Tid) {
        let window = Window { start, turns: vec![(start + 1, thread)], ..Window::default() };
        *self.0.borrow_mut() = Some(window);
    }

    /// What was noted since; nothing is noted any more.
    pub fn close(&self, end: u64) -> Window {
        let mut window = self.0.borrow_mut().take().unwrap_or_default();
        window.pcs.resize((end - window.start) as usize, 0);
        // What other processes wrote is told a little late.
        window.writes.sort_by_key(|write| write.step);
        window.writes.retain(|write| window.start < write.step && write.step <= end);
        window
    }

    fn with(&self, note: impl FnOnce(&mut Window)) {
        if let Some(window) = &mut *self.0.borrow_mut() {
            note(window);
        }
    }
}

impl Watcher for Noter {
    fn read(&mut self, _: u64, _: u64, _: usize) {}

    fn write(&mut self, step: u64, address: u64, size: usize) {
        self.with(|window| {
            if size > 0 {
                window.writes.push(Write { step, address, size: size as u64 });
            }
        });
    }

    fn execute(&mut self, step: u64, address: u64) {
        self.with(|window| {
            let at = (step - window.start - 1) as usize;
            if window.pcs.len() <= at {
                window.pcs.resize(at + 1, 0);
            }
            window.pcs[at] = address;
        });
    }

    fn system_call(&mut self, step: u64, thread: Tid, number: u64, address: u64) {
        self.with(|window| window.events.push((step, thread, Event::Call { number, address })));
    }

    fn delivery(&mut self, step: u64, thread: Tid, signal: i32) {
        self.with(|window| {
            // An instruction that faulted made no step: the delivery did.
            window.pcs.truncate((step - window.start - 1) as usize);
            window.events.push((step, thread, Event::Delivery(signal)));
        });
    }

    fn turn(&mut self, step: u64, thread: Tid) {
        self.with(|window| {
            while window.turns.last().is_some_and(|(from, _)| *from > step) {
                window.turns.pop();
            }
            window.turns.push((step + 1, thread));
        });
    }

    fn undone(&mut self, last: u64) {
        self.with(|window| {
            window.pcs.truncate(last.saturating_sub(window.start) as usize);
            while window.writes.last().is_some_and(|write| write.step > last) {
                window.writes.pop();
            }
        });
    }
}
