//! The meaning of a program as the analyses ask for it.

use crate::Program;
use crate::convention::Convention;
use parallax_ir::meaning::{MEMORY, State, Value, exec_with};
use parallax_ir::{Flow, Op, RegisterKind, Space, Trap};
use parallax_op::{BinOp, Bits, BoolOp, RelOp, Width};
use parallax_sem::logic::{Scalar, Struct};
use parallax_sem::{ConstantTables, Core, Language, Origin, Places, Procedures, Stuck, Successors};
use parallax_sleigh::x86::TAGS;
use parallax_term::{Sort, Store, SymbolKind};

/// The Boolean symbol that says whether an instruction has faulted on the way.
pub const TRAP: &str = "TRAP";

impl Language for Program {
    type State<C: Core> = State<C>;
    type Control = ();

    fn declare(&self, store: &Store) {
        let used = self.touched();
        for (index, cell) in self.processor.cells.iter().enumerate() {
            if used.contains(&index) || self.is_common(cell) {
                let sort = match cell.kind {
                    RegisterKind::Word => Sort::Bits(cell.place.width()),
                    RegisterKind::Flag => Sort::Bool,
                };
                store.declare(&cell.name, sort, SymbolKind::Free);
            }
        }
        let key = self.processor.address_bytes * 8;
        store.declare(MEMORY, Sort::Map { key, value: 8 }, SymbolKind::Free);
    }

    fn state<C: Core>(&self, core: &C, store: &Store, s: &Struct<C>) -> State<C> {
        let memory = match store.lookup(MEMORY) {
            Some(symbol) => s.lookup_function(core, store, symbol),
            None => core.map_symbol(MEMORY, self.processor.address_bytes * 8, 8),
        };
        let mut state = State::with_memory(&self.processor, memory).with_rom(&self.rom);
        self.keep_promises(core, &mut state);
        if !self.open_controls.get() {
            // Bytes without a function around them may find anything on the x87 stack.
            let known = |name: &str| name != TAGS || self.is_whole_image();
            self.set_controls(core, &mut state, known);
        }
        for (index, cell) in self.processor.cells.iter().enumerate() {
            let known = store.lookup(&cell.name).and_then(|symbol| s.constants.get(&symbol));
            if let Some(value) = known {
                state.initialise(
                    index,
                    match value {
                        Scalar::Val(value) => Value::Word(value.clone()),
                        Scalar::Bool(truth) => Value::Truth(truth.clone()),
                    },
                );
            }
        }
        self.fill_stack(core, &mut state);
        if let Some(Scalar::Bool(trapped)) = store.lookup(TRAP).and_then(|symbol| s.constants.get(&symbol)) {
            state.stop(trapped.clone(), Trap::Undefined);
        }
        self.at(core, state, &self.entry())
    }

    fn structure<C: Core>(&self, core: &C, store: &Store, state: &State<C>) -> Struct<C> {
        let mut s = Struct::new();
        for (index, cell) in self.processor.cells.iter().enumerate() {
            if state.known_cell(index).is_none() {
                continue;
            }
            let sort = match cell.kind {
                RegisterKind::Word => Sort::Bits(cell.place.width()),
                RegisterKind::Flag => Sort::Bool,
            };
            let symbol = store.declare(&cell.name, sort, SymbolKind::Free);
            let value = state.cell(core, index);
            match cell.kind {
                RegisterKind::Word => s.set_val(symbol, value.word(core, cell.place.width())),
                RegisterKind::Flag => s.set_bool(symbol, value.truth(core, cell.place.width())),
            }
        }
        let key = self.processor.address_bytes * 8;
        s.set_map(store.declare(MEMORY, Sort::Map { key, value: 8 }, SymbolKind::Free), state.memory.clone());
        // Whoever names the symbol asks about faults, also where there are none.
        if !state.stops.is_empty() || store.lookup(TRAP).is_some() {
            let trap = store.declare(TRAP, Sort::Bool, SymbolKind::Free);
            s.set_bool(trap, self.faulted(core, state));
        }
        s
    }

    fn placement(&self, _: &str) -> Option<Bits> {
        None
    }

    fn pc_width(&self) -> Width {
        self.processor.pc.width()
    }

    fn entry(&self) -> Bits {
        Bits::new(self.pc_width(), u128::from(self.entry))
    }

    fn pc<C: Core>(&self, state: &State<C>) -> C::Val {
        match state.known_cell(self.pc_cell()) {
            Some(Value::Word(pc)) => pc.clone(),
            _ => unreachable!("the program counter is set from the start, to an address"),
        }
    }

    fn at<C: Core>(&self, core: &C, mut state: State<C>, pc: &Bits) -> State<C> {
        state.set_cell(self.pc_cell(), Value::Word(core.constant(pc)));
        state
    }

    fn has_instruction(&self, pc: &Bits) -> bool {
        pc.to_u64().is_some_and(|address| self.contains(address))
    }

    /// Of a function of a file, wherever it goes on before it returns: control that leaves the file for anywhere else is
    /// lost. Bytes and ranges are left by leaving them.
    fn belongs<C: Core>(&self, core: &C, pc: &C::Val) -> C::Bool {
        if self.is_whole_image() {
            return core.boolean(true);
        }
        let width = self.pc_width();
        let number = |value: u64| core.constant(&Bits::new(width, value.into()));
        let from_start = core.binop(BinOp::Sub, width, pc, &number(self.range.start));
        core.relop(RelOp::Ult, width, &from_start, &number(self.range.end - self.range.start))
    }

    /// Where the calling convention has it, with or without the low bits that some processors keep modes in.
    fn return_addresses<C: Core>(&self, core: &C, start: &State<C>) -> Vec<C::Val> {
        let Some(address) = Convention::of(&self.processor).and_then(|it| it.return_address(core, start))
        else {
            return Vec::new();
        };
        let width = self.pc_width();
        let without = |bits: u128| {
            let mask = core.constant(&Bits::new(width, !bits));
            core.binop(BinOp::And, width, &address, &mask)
        };
        vec![address.clone(), without(1), without(3)]
    }

    fn fault_symbol(&self) -> Option<&'static str> {
        Some(TRAP)
    }

    fn faulted<C: Core>(&self, core: &C, state: &State<C>) -> C::Bool {
        let either = |all: C::Bool, (when, _): &(C::Bool, Trap)| core.boolop(BoolOp::Or, &all, when);
        state.stops.iter().fold(core.boolean(false), either)
    }

    /// Of a function: entered as `before` was, so that it returns to where the other one was called from.
    fn called_next<C: Core>(&self, core: &C, before: &State<C>, after: State<C>) -> Option<State<C>> {
        let convention = Convention::of(&self.processor).filter(|_| self.is_whole_image())?;
        let called = convention.called(core, before, after)?;
        Some(self.at(core, called, &self.entry()))
    }

    fn stack_pointer(&self) -> Option<&str> {
        Convention::of(&self.processor).map(|convention| convention.stack)
    }

    fn line(&self, _: &Bits) -> Option<usize> {
        None
    }

    fn place(&self, pc: &Bits) -> String {
        let address = pc.to_u64().unwrap_or(u64::MAX);
        match self.instruction(address) {
            Ok(instruction) => format!("{} at {}", instruction.text, self.describe(address)),
            Err(_) => self.describe(address),
        }
    }

    fn step<C: Core>(&self, core: &C, state: State<C>, pc: &Bits) -> Result<State<C>, Stuck> {
        self.step_with(core, state, pc, &mut |_, _| Origin::Anywhere)
    }

    fn successors(&self, at: u64) -> Option<Successors> {
        let Ok(instruction) = self.instruction(at) else { return Some(Successors::default()) };
        let mut successors = Successors::default();
        let mut ops = vec![0];
        let mut seen = vec![false; instruction.ops.len() + 1];
        while let Some(index) = ops.pop() {
            if std::mem::replace(&mut seen[index], true) {
                continue;
            }
            let goes_on = match instruction.ops.get(index) {
                Some(Op::Branch { when, to }) => {
                    ops.push(usize::from(*to).min(instruction.ops.len()));
                    when.is_some()
                }
                Some(Op::Jump { when, to, flow }) => {
                    match flow {
                        Flow::Jump if to.space == Space::Constant => successors.within.push(to.offset),
                        Flow::Jump => {}
                        Flow::Call => successors.calls = true,
                        Flow::Return => successors.returns = true,
                    }
                    when.is_some()
                }
                Some(Op::Trap { when, .. }) => when.is_some(),
                Some(_) => true,
                None => false,
            };
            if goes_on {
                ops.push(index + 1);
            }
        }
        if seen[instruction.ops.len()] || successors.calls {
            successors.within.insert(0, instruction.next());
        }
        Some(successors)
    }

    fn control<C: Core>(&self, _: &State<C>) {}

    fn assume<C: Core>(&self, core: &C, b: &C::Bool, state: State<C>) -> State<C> {
        state.assume(core, b)
    }

    fn join<C: Core>(&self, core: &C, b: &C::Bool, t: &State<C>, e: &State<C>) -> State<C> {
        t.clone().join(core, b, e.clone())
    }
}

impl Procedures for Program {}

impl ConstantTables for Program {
    fn table(&self, address: &Bits) -> Option<std::ops::Range<u64>> {
        self.rom.around(address.to_u64()?)
    }

    fn step_with<C: Core>(
        &self,
        core: &C,
        state: State<C>,
        pc: &Bits,
        places: &mut Places<'_, C>,
    ) -> Result<State<C>, Stuck> {
        let address = pc.to_u64().unwrap_or(u64::MAX);
        let place = || self.describe(address);
        if let Some(name) = self.image.external(address) {
            return Err(Stuck::unknown(format!("`{name}` is called and is not in this file")));
        }
        let instruction = self.instruction(address).map_err(|error| Stuck::unknown(error.to_string()))?;
        let stops = state.stops.len();
        let after = exec_with(core, &instruction, state, places)
            .map_err(|error| Stuck::unknown(format!("{} at {}: {error}", instruction.text, place())))?;
        let says = |trap: Trap| format!("{} at {}: {}", instruction.text, place(), describe(trap));
        // A call of the system is no fault: what it does is not known here, also where it may not be made.
        let calls = after.stops[stops..]
            .iter()
            .find(|(when, trap)| *trap == Trap::SystemCall && core.decided(when) != Some(false));
        if let Some((_, trap)) = calls {
            return Err(Stuck::unknown(says(*trap)));
        }
        // A stop that is certain ends the run here; one that is possible becomes part of the result.
        match after.stops.iter().find(|(when, _)| core.decided(when) == Some(true)) {
            Some((_, trap)) => Err(Stuck::fault(says(*trap))),
            None => Ok(after),
        }
    }
}

/// What a stop means, in words.
pub fn describe(trap: Trap) -> &'static str {
    match trap {
        Trap::Divide => "division by zero, or a quotient that does not fit",
        Trap::Float => "a float exception that is not masked",
        Trap::Undefined => "an instruction that always faults",
        Trap::Breakpoint => "a breakpoint",
        Trap::Protection => "a fault (a privileged operation, or an operand that is not aligned)",
        Trap::Alignment => "an operand that is not aligned",
        Trap::SystemCall => "a system call: run whole programs with `parallax run -- PROGRAM`",
        Trap::Halt => "the processor waits for ever",
    }
}

impl Program {
    /// Puts what the calling convention promises into registers.
    pub(crate) fn keep_promises<C: Core>(&self, core: &C, state: &mut State<C>) {
        for (name, value) in &self.image.promised {
            self.initialise(core, state, name, *value);
        }
    }

    /// Puts the values that programs start with into those control registers that are known.
    pub(crate) fn set_controls<C: Core>(&self, core: &C, state: &mut State<C>, known: impl Fn(&str) -> bool) {
        for (name, value) in self.processor.initial.iter().filter(|(name, _)| known(name)) {
            self.initialise(core, state, name, *value);
        }
    }

    /// Where nothing says which x87 registers are empty and the reading needs to know, those that were given no value.
    pub(crate) fn fill_stack<C: Core>(&self, core: &C, state: &mut State<C>) {
        let cell = |name: &str| {
            let register = self.processor.register(name)?;
            self.processor.cell_at(register.place.offset)
        };
        let open = cell(TAGS).is_some_and(|tags| state.known_cell(tags).is_none());
        if !open || core.targets(16, &core.symbol(TAGS, 16)).is_none() {
            return;
        }
        let unknown = |index: &u32| {
            cell(&format!("ST{index}")).is_none_or(|register| state.known_cell(register).is_none())
        };
        let empty = (0..8).filter(unknown).fold(0, |all, index| all | 3u64 << (2 * index));
        self.initialise(core, state, TAGS, empty);
    }

    fn initialise<C: Core>(&self, core: &C, state: &mut State<C>, name: &str, value: u64) {
        let Some(register) = self.processor.register(name) else { return };
        let Some(index) = self.processor.cell_at(register.place.offset) else { return };
        if self.processor.cells[index].place == register.place {
            let value = core.constant(&Bits::new(register.place.width(), u128::from(value)));
            state.initialise(index, Value::Word(value));
        }
    }

    fn pc_cell(&self) -> usize {
        self.processor.cell_at(self.processor.pc.offset).expect("the program counter is a register")
    }

    /// The cells that instructions of the program read or write, as far as they lie one behind the other.
    fn touched(&self) -> std::collections::BTreeSet<usize> {
        let mut cells = std::collections::BTreeSet::new();
        for instruction in self.listing().into_iter().flatten() {
            let mut visit = |place: parallax_ir::Varnode| {
                if place.space == parallax_ir::Space::Register {
                    let mut at = place.offset;
                    while at < place.end() {
                        match self.processor.cell_at(at) {
                            Some(index) => {
                                cells.insert(index);
                                at = self.processor.cells[index].place.end();
                            }
                            None => break,
                        }
                    }
                }
            };
            for op in &instruction.ops {
                op.out().into_iter().for_each(&mut visit);
                op.inputs(&mut visit);
            }
        }
        cells
    }
}
