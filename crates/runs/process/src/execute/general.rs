//! Operations that have no fast form: run by their own meaning, over the concrete reading.

use super::micro::Stop;
use super::node::{Input, Slot};
use super::probe::Watcher;
use crate::memory::Memory;
use parallax_ir::meaning::{MeaningError, Value, evaluate};
use parallax_ir::{Intrinsic, Op, Processor, Varnode};
use parallax_op::Bits;
use parallax_sem::{ByteOrder, Concrete};
use std::rc::Rc;

/// An operation with the places of what it reads and writes.
pub struct General {
    op: Op,
    processor: Rc<Processor>,
    inputs: Vec<(Varnode, Input)>,
    out: Option<Slot>,
    /// How many instructions of its block come before its own.
    before: u64,
}

/// The widest place: 64 bytes.
const WIDEST: usize = 64;

impl General {
    /// `places` are those of the operation's inputs, in their order; so many instructions of its block come `before`.
    pub fn new(op: Op, processor: Rc<Processor>, places: &[Input], out: Option<Slot>, before: u64) -> Self {
        let mut names = Vec::new();
        op.inputs(|name| names.push(name));
        let inputs = names.into_iter().zip(places.iter().copied()).collect();
        General { op, processor, inputs, out, before }
    }

    /// Whether it does the same as another, but for the number of its instruction.
    pub fn is_like(&self, other: &General) -> bool {
        self.op == other.op && self.inputs == other.inputs && self.out == other.out
    }

    /// The function it is, if it is one.
    pub fn intrinsic(&self) -> Option<Intrinsic> {
        match self.op {
            Op::Intrinsic { call, .. } => Some(call),
            _ => None,
        }
    }

    /// How many instructions of its block come before its own.
    pub fn before(&self) -> u64 {
        self.before
    }

    /// Where an input lies in the file, if it is there and not a constant.
    pub fn place(&self, number: usize) -> Option<u16> {
        match self.inputs.get(number)?.1 {
            Input::Slot(slot) => Some(slot.at),
            Input::Constant(..) => None,
        }
    }

    /// Tells a watcher about its memory access, if it makes one.
    ///
    /// # Safety
    /// All places lie inside the file.
    pub unsafe fn report(&self, step: u64, file: *mut u8, watcher: &mut dyn Watcher) {
        match &self.op {
            Op::Load { out, .. } => {
                // SAFETY: the caller hands over a register file that holds every slot of this operation.
                watcher.read(step, unsafe { number(file, self.inputs[0].1) }, usize::from(out.bytes));
            }
            Op::Store { value, .. } => {
                // SAFETY: the caller hands over a register file that holds every slot of this operation.
                watcher.write(step, unsafe { number(file, self.inputs[0].1) }, usize::from(value.bytes));
            }
            _ => {}
        }
    }

    /// Runs it on a register file; its block started at `time`.
    ///
    /// # Safety
    /// All places lie inside the file.
    pub unsafe fn run(&self, file: *mut u8, memory: &mut Memory, time: u64) -> Result<(), Stop> {
        let mut buffer = [0u8; WIDEST];
        match &self.op {
            Op::Load { .. } => {
                let (_, address) = self.inputs[0];
                let out = self.out.expect("a load has a result");
                let bytes = &mut buffer[..usize::from(out.size)];
                // SAFETY: the caller hands over a register file that holds every slot of this operation.
                memory.read(unsafe { number(file, address) }, bytes).map_err(Stop::Fault)?;
                if self.processor.order == ByteOrder::Big {
                    bytes.reverse();
                }
                // SAFETY: the caller hands over a register file that holds every slot of this operation.
                unsafe { write(file, out, bytes) };
            }
            Op::Store { .. } => {
                let (address, value) = (self.inputs[0].1, self.inputs[1].1);
                let bytes = &mut buffer[..usize::from(value.size())];
                // SAFETY: the caller hands over a register file that holds every slot of this operation.
                unsafe { read(file, value, bytes) };
                if self.processor.order == ByteOrder::Big {
                    bytes.reverse();
                }
                // SAFETY: the caller hands over a register file that holds every slot of this operation.
                memory.store_bytes(unsafe { number(file, address) }, bytes).map_err(Stop::Fault)?;
            }
            // Time is the number of steps, so that a run can be repeated, wherever blocks are cut.
            Op::Intrinsic { call: Intrinsic::TimeStamp, .. } => {
                buffer[..8].copy_from_slice(&(time + self.before).to_le_bytes());
                if let Some(out) = self.out {
                    // SAFETY: the caller hands over a register file that holds every slot of this operation.
                    unsafe { write(file, out, &buffer[..usize::from(out.size)]) };
                }
            }
            op => {
                let value = evaluate(&Concrete, &self.processor, op, |name| {
                    let place = self.inputs.iter().find(|(known, _)| *known == name);
                    let (_, place) =
                        place.ok_or_else(|| MeaningError::IllFormed(String::from("unknown input")))?;
                    let bytes = &mut buffer[..usize::from(place.size())];
                    // SAFETY: the caller hands over a register file that holds every slot of this operation.
                    unsafe { read(file, *place, bytes) };
                    Ok(Value::Word(Bits::from_le_bytes(bytes)))
                })
                .map_err(|error| Stop::Meaningless(error.to_string()))?;
                if let Some(out) = self.out {
                    let bits = match value {
                        Value::Word(bits) => bits,
                        Value::Truth(truth) => Bits::new(8 * out.size, u128::from(truth)),
                    };
                    let bytes = &mut buffer[..usize::from(out.size)];
                    bits.write_le_bytes(bytes);
                    // SAFETY: the caller hands over a register file that holds every slot of this operation.
                    unsafe { write(file, out, bytes) };
                }
            }
        }
        Ok(())
    }
}

/// # Safety
/// The place lies inside the file.
unsafe fn read(file: *mut u8, place: Input, bytes: &mut [u8]) {
    match place {
        // SAFETY: the caller hands over a register file that holds every slot of this operation.
        Input::Slot(slot) => unsafe {
            std::ptr::copy_nonoverlapping(file.add(usize::from(slot.at)), bytes.as_mut_ptr(), bytes.len());
        },
        Input::Constant(value, _) => {
            bytes.fill(0);
            let kept = bytes.len().min(8);
            bytes[..kept].copy_from_slice(&value.to_le_bytes()[..kept]);
        }
    }
}

/// # Safety
/// The place lies inside the file.
unsafe fn write(file: *mut u8, place: Slot, bytes: &[u8]) {
    // SAFETY: the caller hands over a register file that holds every slot of this operation.
    unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), file.add(usize::from(place.at)), bytes.len()) };
}

/// # Safety
/// The place lies inside the file.
unsafe fn number(file: *mut u8, place: Input) -> u64 {
    let mut bytes = [0; 8];
    let size = usize::from(place.size()).min(8);
    // SAFETY: the caller hands over a register file that holds every slot of this operation.
    unsafe { read(file, place, &mut bytes[..size]) };
    u64::from_le_bytes(bytes)
}
