//! Machine states by name: some registers, some memory, everything else zero.

use crate::Program;
use crate::language::{TRAP, describe};
use parallax_ir::meaning::{MEMORY, State, Value};
use parallax_ir::{Register, RegisterKind};
use parallax_op::Bits;
use parallax_sem::logic::{self, Scalar, Struct};
use parallax_sem::{Concrete, Language, Stuck, Table};
use parallax_sleigh::x86::TAGS;
use parallax_term::{Formula, Store, StructUpdate};

/// Registers and memory, by name and address.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MachineState {
    /// Registers, or parts of them; a flag is one bit.
    pub registers: Vec<(String, Bits)>,
    /// Bytes from an address on.
    pub memory: Vec<(u64, Vec<u8>)>,
    /// Why execution stopped before the end of the code, if it did.
    pub stopped: Option<Halt>,
}

/// Why execution stopped before the end of the code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Halt {
    /// An instruction cannot be executed, or faults; why.
    Stuck(String),
    /// It took as many steps as it was allowed.
    Steps(u64),
    /// The terms of the code say nothing of this state; why.
    Unfollowed(String),
}

impl std::fmt::Display for Halt {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Halt::Stuck(why) => f.write_str(why),
            Halt::Steps(most) => write!(f, "gave up after {most} instructions"),
            Halt::Unfollowed(why) => write!(f, "gave up: {why}"),
        }
    }
}

/// Why a state does not fit the processor.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StateError {
    /// No such register.
    #[error("{processor} has no register `{name}`")]
    Register {
        /// The register's name, as given.
        name: String,
        /// The name of the processor.
        processor: String,
    },
}

impl Program {
    /// The width of a register: 1 for a flag.
    pub fn register_width(&self, name: &str) -> Result<u16, StateError> {
        match self.processor.register(name) {
            Some(register) if register.kind == RegisterKind::Flag => Ok(1),
            Some(register) => Ok(register.place.width()),
            None => {
                Err(StateError::Register { name: name.to_owned(), processor: self.processor.name.clone() })
            }
        }
    }

    fn concrete_state(&self, before: &MachineState, initial: &Table) -> Result<State<Concrete>, StateError> {
        let key = self.processor.address_bytes * 8;
        let mut memory = initial.clone();
        for (address, bytes) in &before.memory {
            for (index, byte) in bytes.iter().enumerate() {
                let at = address.wrapping_add(index as u64);
                memory.set(Bits::new(key, u128::from(at)), Bits::new(8, u128::from(*byte)));
            }
        }
        let mut state = State::with_memory(&self.processor, memory).with_rom(&self.rom);
        self.keep_promises(&Concrete, &mut state);
        self.set_controls(&Concrete, &mut state, |name| name != TAGS);
        let mut state = self.at(&Concrete, state, &self.entry());
        for (name, value) in &before.registers {
            self.register_width(name)?;
            let register = self.processor.register(name).expect("just looked up");
            if register.place == self.processor.pc {
                continue;
            }
            let value = match register.kind {
                RegisterKind::Word => Value::Word(value.clone()),
                RegisterKind::Flag => Value::Truth(!value.is_zero()),
            };
            state.write(&Concrete, register.place, value).expect("a register is part of the register file");
        }
        self.fill_stack(&Concrete, &mut state);
        Ok(state)
    }

    /// Notes that a register of the x87 stack was given a value: it is not empty.
    pub fn note_full(&self, state: &mut State<Concrete>, name: &str) {
        let upper = name.to_uppercase();
        let index = upper.strip_prefix("ST").and_then(|digit| digit.parse::<u32>().ok()).filter(|i| *i < 8);
        if let (Some(index), Some(tags)) = (index, self.processor.register(TAGS)) {
            let before = self.read_register(state, tags).to_u64().unwrap_or(0);
            let value = Bits::new(tags.place.width(), u128::from(before & !(3 << (2 * index))));
            state
                .write(&Concrete, tags.place, Value::Word(value))
                .expect("a register is part of the register file");
        }
    }

    /// Runs the program from a state, for at most `steps` instructions: the named and the changed registers and the
    /// named memory afterwards.
    pub fn run_state(&self, before: &MachineState, steps: u64) -> Result<MachineState, StateError> {
        let start = self.concrete_state(before, &self.memory)?;
        let (state, stopped) = self.advance(start.clone(), steps);
        let (state, stopped) = match stopped {
            // Memory changes in place as long as nobody else holds it, so a step does not keep the state before it: the
            // state before the step that failed is made again.
            Err((done, message)) => (self.advance(start.clone(), done).0, Some(Halt::Stuck(message))),
            Ok(true) => (state, None),
            Ok(false) => (state, Some(Halt::Steps(steps))),
        };
        let read = |state: &State<Concrete>, name: &str| self.read_by_name(state, name);
        let mut after = MachineState { stopped, ..MachineState::default() };
        for (name, _) in &before.registers {
            after.registers.push((name.clone(), read(&state, name)));
        }
        for (index, cell) in self.processor.cells.iter().enumerate() {
            let named = before.registers.iter().any(|(name, _)| name.eq_ignore_ascii_case(&cell.name));
            if named || !state.is_written(index) {
                continue;
            }
            let value = self.read_register(&state, cell);
            if value != self.read_register(&start, cell) {
                after.registers.push((cell.name.clone(), value));
            }
        }
        after.memory = self.named_memory(before, &state.memory);
        Ok(after)
    }

    /// Up to `steps` steps: whether the end was reached, or after how many steps one failed, and why. After a failure
    /// the state is of no use.
    fn advance(
        &self,
        mut state: State<Concrete>,
        steps: u64,
    ) -> (State<Concrete>, Result<bool, (u64, String)>) {
        let return_addresses = self.return_addresses(&Concrete, &state);
        for done in 0..=steps {
            let pc = self.pc(&state);
            if !self.has_instruction(&pc) {
                let ended = return_addresses.contains(&pc) || !self.belongs(&Concrete, &pc);
                let lost = || format!("control goes to {}, where there is no code", self.place(&pc));
                return (state, if ended { Ok(true) } else { Err((done, lost())) });
            }
            if done == steps {
                break;
            }
            let processor = &self.processor;
            let spent = State::with_memory(processor, Table::new(Bits::zero(8)));
            match self.step(&Concrete, std::mem::replace(&mut state, spent), &pc) {
                Ok(next) => state = next,
                Err(Stuck { message, .. }) => return (state, Err((done, message))),
            }
        }
        (state, Ok(false))
    }

    fn read_by_name(&self, state: &State<Concrete>, name: &str) -> Bits {
        self.read_register(state, self.processor.register(name).expect("looked up before"))
    }

    fn read_register(&self, state: &State<Concrete>, register: &Register) -> Bits {
        let value = state.read(&Concrete, register.place).expect("a register is part of the register file");
        match register.kind {
            RegisterKind::Word => value.word(&Concrete, register.place.width()),
            RegisterKind::Flag => Bits::new(1, u128::from(value.truth(&Concrete, register.place.width()))),
        }
    }

    fn named_memory(&self, before: &MachineState, memory: &Table) -> Vec<(u64, Vec<u8>)> {
        let key = self.processor.address_bytes * 8;
        let byte = |at: u64| memory.get(&Bits::new(key, u128::from(at))).to_u64().unwrap_or(0) as u8;
        before
            .memory
            .iter()
            .map(|(address, bytes)| {
                (*address, (0..bytes.len() as u64).map(|index| byte(address.wrapping_add(index))).collect())
            })
            .collect()
    }

    /// A state as the meaning of the vocabulary, with everything in memory that loads find.
    fn interpretation(&self, store: &Store, start: &State<Concrete>) -> Struct<Concrete> {
        let mut s: Struct<Concrete> = Struct::new();
        for (index, cell) in self.processor.cells.iter().enumerate() {
            let (Some(value), Some(symbol)) = (start.known_cell(index), store.lookup(&cell.name)) else {
                continue;
            };
            match cell.kind {
                RegisterKind::Word => s.set_val(symbol, value.word(&Concrete, cell.place.width())),
                RegisterKind::Flag => s.set_bool(symbol, value.truth(&Concrete, cell.place.width())),
            }
        }
        if let Some(symbol) = store.lookup(MEMORY) {
            s.set_map(symbol, start.memory.clone());
        }
        s
    }

    /// A state as the meaning of the vocabulary, to run the program from.
    pub fn interpreted(&self, store: &Store, before: &MachineState) -> Result<Struct<Concrete>, StateError> {
        Ok(self.interpretation(store, &self.concrete_state(before, &self.memory)?))
    }

    /// Whether a formula about the start of the program holds in a state.
    pub fn holds(&self, store: &Store, formula: Formula, before: &MachineState) -> Result<bool, StateError> {
        let start = self.concrete_state(before, self.whole_memory())?;
        Ok(logic::formula(&Concrete, store, formula, &self.interpretation(store, &start)))
    }

    /// The same as [`Program::run_state`] through terms: the structure update of the program, evaluated at the state.
    pub fn evaluate_state(
        &self,
        store: &Store,
        update: &StructUpdate,
        before: &MachineState,
    ) -> Result<MachineState, StateError> {
        let start = self.concrete_state(before, self.whole_memory())?;
        let s = self.interpretation(store, &start);
        let memory = store.lookup(MEMORY);
        let end = logic::update(&Concrete, store, update, &s);
        let mut state = State::with_memory(
            &self.processor,
            memory
                .and_then(|symbol| end.functions.get(&symbol))
                .cloned()
                .unwrap_or_else(|| start.memory.clone()),
        );
        for (index, cell) in self.processor.cells.iter().enumerate() {
            match store.lookup(&cell.name).and_then(|symbol| end.constants.get(&symbol)) {
                Some(Scalar::Val(value)) => state.set_cell(index, Value::Word(value.clone())),
                Some(Scalar::Bool(truth)) => state.set_cell(index, Value::Truth(*truth)),
                None => {
                    if let Some(value) = start.known_cell(index) {
                        state.set_cell(index, value.clone());
                    }
                }
            }
        }
        let trapped = store.lookup(TRAP).and_then(|symbol| end.constants.get(&symbol));
        let stopped = matches!(trapped, Some(Scalar::Bool(true)))
            .then(|| Halt::Stuck(describe(parallax_ir::Trap::Protection).to_owned()));
        let mut after = MachineState { stopped, ..MachineState::default() };
        for (name, _) in &before.registers {
            after.registers.push((name.clone(), self.read_by_name(&state, name)));
        }
        for (index, cell) in self.processor.cells.iter().enumerate() {
            let named = before.registers.iter().any(|(name, _)| name.eq_ignore_ascii_case(&cell.name));
            if named || state.known_cell(index).is_none() {
                continue;
            }
            let value = self.read_register(&state, cell);
            if value != self.read_register(&start, cell) {
                after.registers.push((cell.name.clone(), value));
            }
        }
        after.memory = self.named_memory(before, &state.memory);
        Ok(after)
    }
}
