//! Probes: places in translated code that tell a watcher when they are passed.
//!
//! A probe is an operation of the block like any other, so that code without probes runs as if there were none. What a
//! probe or a watched access tells is the number of the step that its instruction makes. An instruction that faults after
//! it has told something makes no step, and [`Watcher::undone`] says so.

use super::micro::{Micro, Word, World};
use crate::memory::Memory;
use crate::outside::Tid;
use std::ops::Range;

/// Who wants to know what a program does. Accesses of memory are told by code translated after `Engine::set_watched`,
/// instructions, calls and returns as [`Probes`] ask for them; system calls and deliveries always.
pub trait Watcher {
    /// An instruction reads `size` bytes.
    fn read(&mut self, step: u64, address: u64, size: usize);
    /// An instruction writes `size` bytes, or the kernel does.
    fn write(&mut self, step: u64, address: u64, size: usize);
    /// The instruction at an address starts.
    fn execute(&mut self, step: u64, address: u64) {
        let _ = (step, address);
    }
    /// The same, with the registers and the memory that the instruction finds. Flags among them may be older, and the program
    /// counter too.
    fn passes(&mut self, step: u64, address: u64, registers: &[u8], memory: &mut Memory) {
        let _ = (registers, memory);
        self.execute(step, address);
    }
    /// A call of an address.
    fn call(&mut self, step: u64, target: u64) {
        let _ = (step, target);
    }
    /// A return.
    fn returns(&mut self, step: u64) {
        let _ = step;
    }
    /// A system call of that number is complete; its instruction is at `address`.
    fn system_call(&mut self, step: u64, thread: Tid, number: u64, address: u64) {
        let _ = (step, thread, number, address);
    }
    /// The frame of a signal handler was built.
    fn delivery(&mut self, step: u64, thread: Tid, signal: i32) {
        let _ = (step, thread, signal);
    }
    /// The steps after this one are made by that thread, until another gets its turn.
    fn turn(&mut self, step: u64, thread: Tid) {
        let _ = (step, thread);
    }
    /// Steps after this one were not made, whatever was told of them.
    fn undone(&mut self, last: u64) {
        let _ = last;
    }
}

/// Which instructions tell that they run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Probes {
    /// Those at these addresses. Ranges are in order and do not touch.
    pub execute: Vec<Range<u64>>,
    /// Calls that go there. Ranges are in order and do not touch.
    pub calls: Vec<Range<u64>>,
    /// All returns.
    pub returns: bool,
}

/// Whether an address is in one of some ordered ranges.
pub(crate) fn holds(ranges: &[Range<u64>], address: u64) -> bool {
    let after = ranges.partition_point(|range| range.start <= address);
    after > 0 && address < ranges[after - 1].end
}

impl Probes {
    /// Whether the instruction at an address tells.
    pub(super) fn at(&self, address: u64) -> bool {
        holds(&self.execute, address)
    }

    /// Whether anything at all does.
    pub(super) fn is_empty(&self) -> bool {
        *self == Probes::default()
    }

    /// Whether a call tells; without a target, it is known only when the call is made.
    pub(super) fn of_call(&self, target: Option<u64>) -> bool {
        match target {
            Some(target) => holds(&self.calls, target),
            None => !self.calls.is_empty(),
        }
    }
}

/// What a probe tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tells {
    /// That the instruction at this address starts.
    Execute(u64),
    /// That a call goes to the last input, if input 0 (when there are two) is not zero.
    Call,
    /// That it returns, under the same condition.
    Return,
}

/// The step that the instruction of an operation makes: its place in the block is kept above the shift.
#[inline(always)]
pub unsafe fn step(op: *const Micro, world: *mut World) -> u64 {
    // SAFETY: the caller hands over an operation and a world that are there.
    unsafe { (*world).time + u64::from((*op).c >> super::micro::SHIFT_BITS) + 1 }
}

/// Tells that the instruction at `constant` starts.
pub unsafe fn execute(op: *const Micro, file: *mut u8, world: *mut World) -> usize {
    // SAFETY: what `Run` asks of its caller holds here too.
    unsafe {
        let step = step(op, world);
        let World { watcher, registers, memory, .. } = &mut *world;
        if let Some(watcher) = watcher {
            watcher.passes(step, (*op).constant, registers.contents(), memory);
        }
        let next = op.add(1);
        ((*next).run)(next, file, world)
    }
}

/// Tells of a call to `constant`, or to the address at `a` if that is 0; or of a return if `RETURNS`. If
/// `CONDITIONAL`, only if the byte at `b` is not zero.
pub unsafe fn transfer<A: Word, const RETURNS: bool, const CONDITIONAL: bool>(
    op: *const Micro,
    file: *mut u8,
    world: *mut World,
) -> usize {
    // SAFETY: what `Run` asks of its caller holds here too: every slot lies in the file.
    unsafe {
        if !CONDITIONAL || *file.add(usize::from((*op).b)) != 0 {
            let step = step(op, world);
            let target = match (*op).constant {
                0 => file.add(usize::from((*op).a)).cast::<A>().read_unaligned().wide() as u64,
                constant => constant,
            };
            if let Some(watcher) = &mut (*world).watcher {
                if RETURNS { watcher.returns(step) } else { watcher.call(step, target) }
            }
        }
        let next = op.add(1);
        ((*next).run)(next, file, world)
    }
}
