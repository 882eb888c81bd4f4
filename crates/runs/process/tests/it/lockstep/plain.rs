//! The reference: instructions one by one, by their meaning over the concrete reading.

use parallax_ir::meaning::{MeaningError, State, Value, exec};
use parallax_ir::{Instruction, RegisterKind, Trap};
use parallax_op::Bits;
use parallax_process::execute::Watcher;
use parallax_process::memory::Memory;
use parallax_process::registers::Registers;
use parallax_sem::{Concrete, Table};
use std::cell::RefCell;
use std::collections::HashSet;
use std::rc::Rc;

/// What the engine said it accessed.
pub type Accesses = Rc<RefCell<Vec<(u64, usize)>>>;

/// Notes accesses.
pub struct Notes(pub Accesses);

impl Watcher for Notes {
    fn read(&mut self, _: u64, address: u64, size: usize) {
        self.0.borrow_mut().push((address, size));
    }

    fn write(&mut self, _: u64, address: u64, size: usize) {
        self.0.borrow_mut().push((address, size));
    }
}

/// A machine state of its own. Memory holds what was supplied and what was written since.
pub struct Plain {
    state: State<Concrete>,
    supplied: HashSet<u64>,
    key: u16,
}

impl Plain {
    /// The state of these registers; memory is empty.
    pub fn new(registers: &Registers) -> Plain {
        let processor = registers.processor();
        let mut state = State::with_memory(processor, Table::new(Bits::zero(8)));
        for index in 0..processor.cells.len() {
            state.initialise(index, cell(registers, index));
        }
        Plain { state, supplied: HashSet::new(), key: processor.address_bytes * 8 }
    }

    /// Puts bytes of `memory` in, where nothing has been supplied or written yet.
    pub fn supply(&mut self, memory: &mut Memory, address: u64, size: usize) {
        for offset in 0..size as u64 {
            let at = Bits::new(self.key, u128::from(address.wrapping_add(offset)));
            let at = at.to_u64().expect("an address");
            if self.supplied.insert(at) {
                let byte = memory.load::<1>(at).map_or(0, |[byte]| byte);
                self.state.memory.set(Bits::new(self.key, u128::from(at)), Bits::new(8, u128::from(byte)));
            }
        }
    }

    /// Forgets memory, which has been compared.
    pub fn forget_memory(&mut self) {
        self.supplied.clear();
        self.state.memory = Table::new(Bits::zero(8));
    }

    /// Executes one instruction; where it goes next and whether it trapped.
    pub fn step(&mut self, instruction: &Instruction) -> Result<(u64, Option<Trap>), MeaningError> {
        let processor = self.state.processor().clone();
        self.state = exec(&Concrete, instruction, self.state.clone())?;
        let pc = self.state.read(&Concrete, processor.pc)?.word(&Concrete, processor.pc.width());
        let trap = self.state.stops.pop().map(|(_, trap)| trap);
        Ok((pc.to_u64().expect("an address"), trap))
    }

    /// Which registers differ from the engine's, leaving out some by name, and which bytes of memory.
    pub fn differences(&self, registers: &Registers, memory: &mut Memory, leave_out: &[&str]) -> Vec<String> {
        let processor = registers.processor();
        let mut found = Vec::new();
        for (index, description) in processor.cells.iter().enumerate() {
            let is_pc = description.place == processor.pc;
            if is_pc || leave_out.contains(&description.name.as_str()) {
                continue;
            }
            let (theirs, ours) = (self.state.cell(&Concrete, index), cell(registers, index));
            let width = description.place.width();
            let (theirs, ours) = (theirs.word(&Concrete, width), ours.word(&Concrete, width));
            // What is left out may be a part of the cell.
            let parts = leave_out.iter().filter_map(|name| processor.register(name));
            let parts = parts.filter(|part| part.place.overlaps(description.place));
            let start = registers.offset(description.place).expect("a register");
            let kept = parts.fold(u128::MAX, |mask, part| {
                let low = 8 * (registers.offset(part.place).expect("a register") - start);
                mask & !(u128::MAX >> (128 - part.place.width()) << low)
            });
            if theirs.to_u128().map(|bits| bits & kept) != ours.to_u128().map(|bits| bits & kept) {
                found.push(format!("{}: plain {theirs:?}, block {ours:?}", description.name));
            }
        }
        for (address, byte) in self.state.memory.entries() {
            let address = address.to_u64().expect("an address");
            let ours = memory.load::<1>(address).ok().map(|[byte]| u128::from(byte));
            // What cannot be read was not written either: the access that touched it has faulted.
            if ours.is_some_and(|ours| Some(ours) != byte.small()) {
                found.push(format!("[{address:#x}]: plain {byte:?}, block {ours:x?}"));
            }
        }
        found
    }
}

fn cell(registers: &Registers, index: usize) -> Value<Concrete> {
    let cell = &registers.processor().cells[index];
    let at = registers.offset(cell.place).expect("a register of the description");
    let size = usize::from(cell.place.bytes);
    let mut bytes = [0; 16];
    bytes[..size].copy_from_slice(&registers.bytes()[at..at + size]);
    let bits = Bits::new(cell.place.width(), u128::from_le_bytes(bytes));
    match cell.kind {
        RegisterKind::Word => Value::Word(bits),
        RegisterKind::Flag => Value::Truth(!bits.is_zero()),
    }
}
