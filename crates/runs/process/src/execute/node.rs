//! A block of instructions while it is being improved: a flat list of operations over one sequence of bytes.
//!
//! Registers and the temporaries of every instruction of the block have places of their own in the same file, lowest
//! byte first, so that one notion of overlap serves both and a value can be followed from one instruction to the next.

use super::probe::{Probes, Tells};
use super::template::{Addresses, Shift, Template};
use crate::registers::{Registers, TEMPORARIES};
use parallax_ir::{Flow, Instruction, Op, Space, Trap, Varnode};
use parallax_op::{BinOp, BoolOp, RelOp, UnOp};
use parallax_sem::ByteOrder;
use smallvec::SmallVec;

/// A run of bytes in the register file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Slot {
    /// First byte.
    pub at: u16,
    /// The number of bytes.
    pub size: u16,
}

impl Slot {
    /// One past the last byte.
    pub fn end(self) -> u16 {
        self.at + self.size
    }

    /// Whether two runs share a byte.
    pub fn overlaps(self, other: Slot) -> bool {
        self.at < other.end() && other.at < self.end()
    }

    /// Its bytes as indices.
    pub fn range(self) -> std::ops::Range<usize> {
        usize::from(self.at)..usize::from(self.end())
    }
}

/// Something an operation reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    /// Bytes of the file.
    Slot(Slot),
    /// A number of so many bytes.
    Constant(u64, u16),
}

impl Input {
    /// How many bytes.
    pub fn size(self) -> u16 {
        match self {
            Input::Slot(slot) => slot.size,
            Input::Constant(_, size) => size,
        }
    }

    /// The bytes, if they are in the file.
    pub fn slot(self) -> Option<Slot> {
        match self {
            Input::Slot(slot) => Some(slot),
            Input::Constant(..) => None,
        }
    }
}

/// `base + (index << shift) + displacement`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address {
    /// The first term.
    pub base: Option<Slot>,
    /// The second term.
    pub index: Option<Slot>,
    /// Its power of two.
    pub shift: u8,
    /// The constant term.
    pub displacement: u64,
}

/// What an operation does, by the names of [`Op`].
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum Kind {
    Copy,
    Un(UnOp),
    Bin(BinOp),
    Rel(RelOp),
    Bool(BoolOp),
    BoolNot,
    Carry,
    SignedCarry,
    SignedBorrow,
    Zext,
    Sext,
    Extract(u16),
    /// High, then low.
    Concat,
    Select,
    Load(Address),
    /// The value is input 0.
    Store(Address),
    /// To the label of that number, if input 0 (when there is one) is not zero.
    Branch(usize),
    Label(usize),
    /// Leave for the address in the last input, if input 0 (when there are two) is not zero.
    Jump,
    /// Leave for the address in input 2 if inputs 0 and 1 are so related.
    JumpIf(RelOp),
    Trap(Trap),
    /// From here on what is loaded and stored in shared memory is one access.
    Lock,
    /// Up to here.
    Unlock,
    /// Tells a watcher something; the inputs are those of the jump that it stands before.
    Probe(Tells),
    /// Anything else, by its own meaning.
    General(Box<Op>),
}

/// One operation.
#[derive(Clone, Debug)]
pub struct Node {
    /// What it does.
    pub kind: Kind,
    /// Where the result goes.
    pub out: Option<Slot>,
    /// Whether the result is then extended with zeros to eight bytes.
    pub widened: bool,
    /// What it reads.
    pub inputs: SmallVec<[Input; 3]>,
    /// Which instruction of the block it belongs to.
    pub instruction: u16,
}

impl Node {
    /// The bytes it changes.
    pub fn written(&self) -> Option<Slot> {
        self.out.map(|out| if self.widened { Slot { at: out.at, size: 8 } } else { out })
    }

    /// Calls `visit` on all bytes it reads.
    pub fn reads(&self, mut visit: impl FnMut(Slot)) {
        self.inputs.iter().filter_map(|input| input.slot()).for_each(&mut visit);
        if let Kind::Load(address) | Kind::Store(address) = &self.kind {
            address.base.iter().chain(&address.index).copied().for_each(visit);
        }
    }

    /// Reads `new` wherever it read exactly `old`.
    pub fn rename(&mut self, old: Slot, new: Slot) {
        for input in &mut self.inputs {
            if *input == Input::Slot(old) {
                *input = Input::Slot(new);
            }
        }
        if let Kind::Load(address) | Kind::Store(address) = &mut self.kind {
            for term in [&mut address.base, &mut address.index] {
                if *term == Some(old) {
                    *term = Some(new);
                }
            }
        }
    }

    /// Whether it can stop the program, and registers must be right when it does.
    pub fn may_stop(&self) -> bool {
        match &self.kind {
            // Somebody may look at the registers there.
            Kind::Probe(Tells::Execute(_)) => true,
            Kind::Load(_) | Kind::Store(_) | Kind::Trap(_) => true,
            Kind::General(op) => matches!(**op, Op::Load { .. } | Op::Store { .. } | Op::Intrinsic { .. }),
            _ => false,
        }
    }

    /// Whether it does more than compute its result.
    pub fn has_effect(&self) -> bool {
        self.may_stop()
            || self.out.is_none()
            || matches!(self.kind, Kind::Branch(_) | Kind::Label(_) | Kind::Jump | Kind::JumpIf(_))
    }
}

/// Why a block cannot hold another instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// There is no more room for temporaries.
    Full,
    /// It names bytes that belong to no register.
    NoRegister,
}

/// Collects the operations of a block.
pub struct Flattener<'a> {
    registers: &'a Registers,
    probes: &'a Probes,
    used: usize,
    labels: usize,
    /// What has been collected.
    pub nodes: Vec<Node>,
}

impl<'a> Flattener<'a> {
    /// An empty block; `room` is what an earlier one left.
    pub fn new(registers: &'a Registers, probes: &'a Probes, room: Vec<Node>) -> Self {
        Flattener { registers, probes, used: 0, labels: 0, nodes: room }
    }

    /// How many labels there are.
    pub fn labels(&self) -> usize {
        self.labels
    }

    /// One past the last temporary in use.
    pub fn end(&self) -> usize {
        self.registers.temporaries() + self.used
    }

    /// Appends an instruction.
    pub fn push(&mut self, number: u16, instruction: &Instruction, locked: bool) -> Result<(), Refusal> {
        let room = usize::from(instruction.temporary_bytes).next_multiple_of(16);
        if self.used + room + 64 > TEMPORARIES {
            return Err(Refusal::Full);
        }
        let base = self.registers.temporaries() + self.used;
        let first_label = self.labels;
        let first_node = self.nodes.len();
        let known = std::cell::Cell::new(true);
        let branches = instruction.ops.iter().any(|op| matches!(op, Op::Branch { .. }));
        if branches {
            self.labels += instruction.ops.len() + 1;
        }
        if self.probes.at(instruction.address) {
            self.marker(Kind::Probe(Tells::Execute(instruction.address)), number);
        }
        if locked {
            self.marker(Kind::Lock, number);
        }
        for (index, op) in instruction.ops.iter().enumerate() {
            if branches {
                self.label(first_label + index, number);
            }
            let place = |varnode: Varnode| {
                self.place(varnode, base, room).unwrap_or_else(|| {
                    known.set(false);
                    Input::Slot(Slot { at: 0, size: varnode.bytes })
                })
            };
            let node = node(op, number, first_label, place);
            let tells = match *op {
                Op::Jump { flow: Flow::Call, to, .. } if self.probes.of_call(to.as_constant()) => {
                    Some(Tells::Call)
                }
                Op::Jump { flow: Flow::Return, .. } if self.probes.returns => Some(Tells::Return),
                _ => None,
            };
            if let Some(tells) = tells {
                self.nodes.push(Node { kind: Kind::Probe(tells), ..node.clone() });
            }
            self.nodes.push(node);
        }
        if branches {
            self.label(first_label + instruction.ops.len(), number);
        }
        if locked {
            self.marker(Kind::Unlock, number);
        }
        if !known.get() {
            self.nodes.truncate(first_node);
            self.labels = first_label;
            return Err(Refusal::NoRegister);
        }
        self.used += room;
        Ok(())
    }

    /// Appends an instruction that is known from elsewhere, and has no probes here, as far as the flags are wanted.
    pub fn push_known(
        &mut self,
        number: u16,
        template: &Template,
        addresses: Addresses,
        wanted: u64,
    ) -> Result<(), Refusal> {
        let behind = self.used as u16;
        let room = template.room.next_multiple_of(16);
        if self.used + room + 64 > TEMPORARIES {
            return Err(Refusal::Full);
        }
        self.used += room;
        let temporaries = (self.registers.temporaries() as u16, behind);
        let shift = Shift { instruction: number, labels: self.labels, temporaries };
        template.place(&mut self.nodes, addresses, &shift, wanted);
        self.labels += template.labels;
        Ok(())
    }

    fn label(&mut self, label: usize, number: u16) {
        self.marker(Kind::Label(label), number);
    }

    /// Something that computes nothing.
    fn marker(&mut self, kind: Kind, number: u16) {
        self.nodes.push(Node {
            kind,
            out: None,
            widened: false,
            inputs: SmallVec::new(),
            instruction: number,
        });
    }

    /// Where an operand is; none if it belongs to no register.
    fn place(&self, varnode: Varnode, base: usize, room: usize) -> Option<Input> {
        Some(match varnode.space {
            Space::Constant => Input::Constant(varnode.offset, varnode.bytes),
            Space::Register => {
                let at = self.registers.offset(varnode)?;
                Input::Slot(Slot { at: at as u16, size: varnode.bytes })
            }
            Space::Temporary => {
                let at = match self.registers.processor().order {
                    ByteOrder::Little => base + varnode.offset as usize,
                    ByteOrder::Big => base + room - varnode.offset as usize - usize::from(varnode.bytes),
                };
                Input::Slot(Slot { at: at as u16, size: varnode.bytes })
            }
        })
    }
}

fn node(op: &Op, instruction: u16, first_label: usize, place: impl Fn(Varnode) -> Input) -> Node {
    let slot = |varnode: Varnode| place(varnode).slot().expect("a result has a place");
    let make = |kind: Kind, out: Option<Varnode>, inputs: &[Varnode]| Node {
        kind,
        out: out.map(slot),
        widened: false,
        inputs: inputs.iter().map(|input| place(*input)).collect(),
        instruction,
    };
    let at = |address: Varnode| match place(address) {
        Input::Slot(slot) => Address { base: Some(slot), index: None, shift: 0, displacement: 0 },
        Input::Constant(value, _) => Address { base: None, index: None, shift: 0, displacement: value },
    };
    let plain = |size: u16| matches!(size, 1 | 2 | 4 | 8 | 16);
    match *op {
        Op::Copy { out, a } => make(Kind::Copy, Some(out), &[a]),
        Op::Un { op, out, a } => make(Kind::Un(op), Some(out), &[a]),
        Op::Bin { op, out, a, b } => make(Kind::Bin(op), Some(out), &[a, b]),
        Op::Rel { op, out, a, b } => make(Kind::Rel(op), Some(out), &[a, b]),
        Op::Bool { op, out, a, b } => make(Kind::Bool(op), Some(out), &[a, b]),
        Op::BoolNot { out, a } => make(Kind::BoolNot, Some(out), &[a]),
        Op::Carry { out, a, b } => make(Kind::Carry, Some(out), &[a, b]),
        Op::SignedCarry { out, a, b } => make(Kind::SignedCarry, Some(out), &[a, b]),
        Op::SignedBorrow { out, a, b } => make(Kind::SignedBorrow, Some(out), &[a, b]),
        Op::Zext { out, a } => make(Kind::Zext, Some(out), &[a]),
        Op::Sext { out, a } => make(Kind::Sext, Some(out), &[a]),
        Op::Extract { out, a, low } => make(Kind::Extract(low), Some(out), &[a]),
        Op::Concat { out, high, low } => make(Kind::Concat, Some(out), &[high, low]),
        Op::Select { out, when, then, otherwise } => make(Kind::Select, Some(out), &[when, then, otherwise]),
        Op::Load { out, address } if plain(out.bytes) => make(Kind::Load(at(address)), Some(out), &[]),
        Op::Store { address, value } if plain(value.bytes) => make(Kind::Store(at(address)), None, &[value]),
        Op::Branch { when, to } => make(Kind::Branch(first_label + usize::from(to)), None, when.as_slice()),
        Op::Jump { when, to, .. } => {
            let inputs: SmallVec<[Varnode; 2]> = when.into_iter().chain([to]).collect();
            make(Kind::Jump, None, &inputs)
        }
        Op::Trap { when, trap } => make(Kind::Trap(trap), None, when.as_slice()),
        ref other => {
            let mut inputs = SmallVec::<[Varnode; 4]>::new();
            other.inputs(|input| inputs.push(input));
            make(Kind::General(Box::new(other.clone())), other.out(), &inputs)
        }
    }
}
