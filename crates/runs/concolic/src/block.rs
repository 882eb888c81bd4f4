//! Blocks of instructions: what of the registers they read and write, and where they can lead.
//!
//! Blocks are cut as the emulator cuts them, so that running one costs the emulator a look-up, and before the places that a
//! search asks about: whether control came there is then whether it entered a block.

use parallax_ir::{Instruction, Op, Processor, Space, Trap, Varnode};
use parallax_process::Process;
use parallax_process::memory::PAGE;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::cell::OnceCell;
use std::rc::Rc;

/// Longer runs of instructions are cut: as in `parallax_process::execute`.
const LONGEST: usize = 64;

/// The registers that a system call reads: its number and its arguments.
const CALL_READS: [&str; 7] = ["RAX", "RDI", "RSI", "RDX", "R10", "R8", "R9"];
/// The registers that a system call writes.
const CALL_WRITES: [&str; 3] = ["RAX", "RCX", "R11"];

/// A set of cells of the register file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cells(SmallVec<[u64; 8]>);

impl Cells {
    /// Whether a cell is in it.
    pub fn has(&self, cell: usize) -> bool {
        self.0.get(cell / 64).is_some_and(|word| word >> (cell % 64) & 1 != 0)
    }

    /// Adds a cell.
    pub fn add(&mut self, cell: usize) {
        if self.0.len() <= cell / 64 {
            self.0.resize(cell / 64 + 1, 0);
        }
        self.0[cell / 64] |= 1 << (cell % 64);
    }

    /// Removes a cell.
    pub fn remove(&mut self, cell: usize) {
        if let Some(word) = self.0.get_mut(cell / 64) {
            *word &= !(1 << (cell % 64));
        }
    }

    /// Whether two sets have a cell in common.
    pub fn meets(&self, other: &Cells) -> bool {
        self.0.iter().zip(&other.0).any(|(a, b)| a & b != 0)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|word| *word == 0)
    }

    /// The cells.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.iter().enumerate().flat_map(|(index, word)| {
            (0..64).filter(move |bit| word >> bit & 1 != 0).map(move |bit| index * 64 + bit)
        })
    }
}

/// One instruction, and what of the registers it touches.
pub struct Analysed {
    /// The instruction.
    pub instruction: Rc<Instruction>,
    /// Cells whose old values count: those it reads, writes in part, or may leave alone.
    pub reads: Cells,
    /// Cells it writes.
    pub writes: Cells,
    /// The instruction without operations whose results nothing reads before they are replaced: flags, above all.
    pub lean: Rc<Instruction>,
    /// Cells that the lean instruction reads or writes.
    pub touches: Box<[u16]>,
    /// Cells that it writes.
    pub lean_writes: Cells,
    /// Whether it asks the operating system for something.
    pub is_call: bool,
    /// Whether it writes memory.
    pub stores: bool,
    /// The two places that a conditional jump leads to.
    pub ways: Option<(u64, u64)>,
}

/// How a block ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// It goes on behind itself, or where one jump leads.
    Straight,
    /// It goes one of two ways, or to an address that was computed.
    Branch,
    /// It calls a function, which returns to this address.
    Call(u64),
    /// It returns.
    Return,
}

/// A run of instructions without a jump before its end.
pub struct Block {
    /// Its instructions.
    pub instructions: Vec<Analysed>,
    /// Cells whose values on entry count.
    pub reads: Cells,
    /// How it ends.
    pub end: End,
}

impl Block {
    /// Where it leads, as far as its instructions tell: a function that is called, and where that returns to, are both.
    pub fn successors(&self) -> impl Iterator<Item = u64> + '_ {
        let last = self.instructions.last();
        let to = last.into_iter().flat_map(|last| last.instruction.destinations());
        let goes_on = last.filter(|last| match self.end {
            End::Straight => last.instruction.transfers().next().is_none(),
            End::Branch => last.ways.is_some(),
            End::Call(_) => true,
            End::Return => false,
        });
        to.chain(goes_on.map(|last| last.instruction.next()))
    }
}

/// How many blocks are counted together.
const SHELF: usize = 64;
type Shelf = Rc<[OnceCell<Block>; SHELF]>;

/// A block that several hold. Many share one count of holders: a count is written each time, which in a fork copies the page
/// that it is on.
#[derive(Clone)]
pub struct Shelved {
    shelf: Shelf,
    index: usize,
}

impl std::ops::Deref for Shelved {
    type Target = Block;

    fn deref(&self) -> &Block {
        self.shelf[self.index].get().expect("it was put there before it was shared")
    }
}

/// Blocks by their addresses.
#[derive(Default)]
pub struct Blocks {
    known: FxHashMap<u64, Shelved>,
    /// Addresses that begin a block whatever comes before them.
    borders: FxHashSet<u64>,
    /// The place for the next one; none if there is no shelf or it is full.
    next: Option<Shelved>,
}

impl Blocks {
    /// The block at an address; nothing if its first instruction cannot be fetched or lifted.
    pub fn at(&mut self, process: &mut Process, address: u64) -> Option<Shelved> {
        if let Some(block) = self.known.get(&address) {
            return Some(block.clone());
        }
        let block = cut(process, address, &self.borders)?;
        let place = self.next.take();
        let place = place.unwrap_or_else(|| Shelved {
            shelf: Rc::new(std::array::from_fn(|_| OnceCell::new())),
            index: 0,
        });
        let _ = place.shelf[place.index].set(block);
        let next = place.index + 1;
        self.next = (next < SHELF).then(|| Shelved { shelf: place.shelf.clone(), index: next });
        self.known.insert(address, place.clone());
        Some(place)
    }

    /// From now on blocks end before these addresses, so that to enter the block there is to come to the instruction.
    pub fn end_before(&mut self, addresses: impl IntoIterator<Item = u64>) {
        self.borders.extend(addresses);
        self.forget();
    }

    /// Forgets all blocks: what is mapped has changed.
    pub fn forget(&mut self) {
        self.known.clear();
    }

    /// Forgets the blocks that begin in these pages or just before them.
    pub fn forget_pages(&mut self, first: u64, last: u64) {
        self.known.retain(|start, _| !(first..=last).contains(&(start / PAGE)));
    }
}

fn cut(process: &mut Process, start: u64, borders: &FxHashSet<u64>) -> Option<Block> {
    let mut instructions: Vec<Analysed> = Vec::new();
    let mut reads = Cells::default();
    let mut written = Cells::default();
    let mut at = start;
    let mut end = End::Straight;
    let processor = process.world().registers.processor().clone();
    while instructions.len() < LONGEST && (at == start || !borders.contains(&at)) {
        let Some(instruction) = lift(process, at) else { break };
        let ends = instruction.ends_block();
        if ends {
            end = ending(&instruction);
        }
        at = instruction.next();
        let analysed = analyse(&processor, instruction);
        for cell in analysed.reads.iter().filter(|cell| !written.has(*cell)) {
            reads.add(cell);
        }
        analysed.writes.iter().for_each(|cell| written.add(cell));
        instructions.push(analysed);
        if ends {
            break;
        }
    }
    trim(&processor, &mut instructions);
    (!instructions.is_empty()).then_some(Block { instructions, reads, end })
}

/// The instruction at an address; nothing if it cannot be fetched or lifted.
pub(crate) fn lift(process: &mut Process, at: u64) -> Option<Rc<Instruction>> {
    let mut bytes = [0; 64];
    let count = process.world().memory.fetch(at, &mut bytes).ok()?;
    process.engine().lifter().lift(at, &bytes[..count]).ok()
}

fn ending(instruction: &Instruction) -> End {
    let mut end = End::Straight;
    for (when, to, flow) in instruction.transfers() {
        end = match flow {
            parallax_ir::Flow::Call => End::Call(instruction.next()),
            parallax_ir::Flow::Return => End::Return,
            parallax_ir::Flow::Jump if when.is_some() || to.as_constant().is_none() => End::Branch,
            parallax_ir::Flow::Jump => end,
        };
    }
    end
}

fn analyse(processor: &Processor, instruction: Rc<Instruction>) -> Analysed {
    let (mut reads, mut writes) = (Cells::default(), Cells::default());
    let pc = processor.cell_at(processor.pc.offset);
    // What an instruction that branches inside itself writes may be left as it was.
    let skips = instruction.ops.iter().any(|op| match op {
        Op::Branch { .. } => true,
        Op::Jump { when, .. } | Op::Trap { when, .. } => when.is_some(),
        _ => false,
    });
    let each = |place: Varnode, visit: &mut dyn FnMut(usize, bool)| {
        if place.space != Space::Register {
            return;
        }
        let mut from = place.offset;
        while from < place.end() {
            let Some(index) = processor.cell_at(from) else { break };
            let cell = processor.cells[index].place;
            visit(index, place.offset <= cell.offset && cell.end() <= place.end());
            from = cell.end();
        }
    };
    let mut set = Cells::default();
    let mut stores = false;
    for op in &instruction.ops {
        op.inputs(|place| {
            each(place, &mut |cell, _| {
                if !set.has(cell) || skips {
                    reads.add(cell)
                }
            })
        });
        if let Some(out) = op.out() {
            each(out, &mut |cell, whole| {
                writes.add(cell);
                if !whole && !set.has(cell) || skips {
                    reads.add(cell);
                }
                if whole {
                    set.add(cell);
                }
            });
        }
        stores |= matches!(op, Op::Store { .. });
    }
    let is_call = instruction.ops.iter().any(|op| matches!(op, Op::Trap { trap: Trap::SystemCall, .. }));
    if is_call {
        let cell = |name: &str| processor.register(name).and_then(|r| processor.cell_at(r.place.offset));
        CALL_READS.into_iter().filter_map(cell).for_each(|cell| reads.add(cell));
        CALL_WRITES.into_iter().filter_map(cell).for_each(|cell| writes.add(cell));
    }
    if let Some(pc) = pc {
        reads.remove(pc);
        writes.remove(pc);
    }
    let jumps: SmallVec<[Varnode; 2]> =
        instruction.transfers().filter(|(when, ..)| when.is_some()).map(|(_, to, _)| to).collect();
    let ways = match jumps[..] {
        [to] => to.as_constant().map(|to| (to, instruction.next())),
        _ => None,
    };
    let lean = instruction.clone();
    let (touches, lean_writes) = (Box::default(), Cells::default());
    Analysed { instruction, reads, writes, lean, touches, lean_writes, is_call, stores, ways }
}

/// Finds the lean instructions of a block, last first. Behind the block everything may be read.
fn trim(processor: &Processor, instructions: &mut [Analysed]) {
    let mut dead = Cells::default();
    for analysed in instructions.iter_mut().rev() {
        let skips = analysed.instruction.ops.iter().any(|op| {
            matches!(op, Op::Branch { .. } | Op::Jump { when: Some(_), .. } | Op::Trap { when: Some(_), .. })
        });
        if !skips && !analysed.is_call && !dead.is_empty() {
            let ops = needed(processor, &analysed.instruction, &dead);
            if ops.len() < analysed.instruction.ops.len() {
                analysed.lean = Rc::new(Instruction { ops: ops.into(), ..(*analysed.instruction).clone() });
            }
        }
        // What it writes whole nothing before it need write, unless it is read here first.
        if !skips {
            analysed.writes.iter().for_each(|cell| dead.add(cell));
        }
        analysed.reads.iter().for_each(|cell| dead.remove(cell));
        let mut all = Cells::default();
        for op in &analysed.lean.ops {
            op.inputs(|place| cells(processor, place, &mut |cell| all.add(cell)));
            if let Some(out) = op.out() {
                cells(processor, out, &mut |cell| {
                    all.add(cell);
                    analysed.lean_writes.add(cell);
                });
            }
        }
        if let Some(pc) = processor.cell_at(processor.pc.offset) {
            all.remove(pc);
            analysed.lean_writes.remove(pc);
        }
        analysed.touches = all.iter().map(|cell| cell as u16).collect();
    }
}

/// The cells that a place lies in.
fn cells(processor: &Processor, place: Varnode, visit: &mut dyn FnMut(usize)) {
    let mut from = place.offset;
    while place.space == Space::Register && from < place.end() {
        let Some(index) = processor.cell_at(from) else { break };
        visit(index);
        from = processor.cells[index].place.end();
    }
}

/// The operations of an instruction without branches whose results count, if nothing reads the `dead` cells behind it.
fn needed(processor: &Processor, instruction: &Instruction, dead: &Cells) -> Vec<Op> {
    let mut dead = dead.clone();
    // Temporaries that are read further on.
    let mut read: Vec<Varnode> = Vec::new();
    let mut kept: Vec<Op> = Vec::new();
    for op in instruction.ops.iter().rev() {
        let counts = match (op, op.out()) {
            // These can fault, or do more than compute.
            (Op::Load { .. } | Op::Intrinsic { .. }, _) | (_, None) => true,
            (_, Some(out)) if out.space == Space::Temporary => read.iter().any(|place| place.overlaps(out)),
            (_, Some(out)) => {
                let mut live = false;
                cells(processor, out, &mut |cell| live |= !dead.has(cell));
                live
            }
        };
        if counts {
            op.inputs(|place| match place.space {
                Space::Temporary => read.push(place),
                Space::Register => cells(processor, place, &mut |cell| dead.remove(cell)),
                Space::Constant => {}
            });
            kept.push(op.clone());
        }
    }
    kept.reverse();
    kept
}
