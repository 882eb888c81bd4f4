//! Pointers that the code takes for possibly null.
//!
//! A pointer that is compared with null is such a one. What a function asks of an argument
//! says so of what that function does with it, not of the pointer: a copying function that takes null as well is called with
//! many that are never null. What is asked of a pointer that was read from memory holds wherever it is read.

use super::super::host::Explorer;
use parallax_cmachine::{State, Target, Token};
use parallax_cmodule::{
    Callee, Cast, Constant, Function, FunctionId, Module, Operand, Operation, Register, SlotId, Terminator,
    TypeKind,
};
use parallax_path::Model;
use parallax_sem::Symbolic;
use parallax_term::{Formula, Symbol};
use rustc_hash::FxHashSet;

/// Who asked whether a pointer is null.
#[derive(Default)]
pub(in super::super) struct Tested {
    /// Somebody who read it from memory.
    read: bool,
    /// Functions that got it as an argument.
    given: FxHashSet<FunctionId>,
}

/// What a branch asks of pointers.
#[derive(Clone, Copy, Default)]
pub(in super::super) struct Question {
    /// Whether one is null, or something that is computed elsewhere.
    null: bool,
    /// Whether an argument is null.
    null_argument: bool,
}

impl<'s> Explorer<'s> {
    /// A branch on a condition that the path leaves open: pointers that it asks about are noted. Some tests say nothing of what the
    /// rest of the code takes for possible: one of which a side does not go on, as an assertion's; and those of functions that free,
    /// which take anything.
    pub(in super::super) fn note_tested(&mut self, state: &State<Symbolic<'s>>, condition: Formula) {
        let module = self.module();
        if !state.unknown_memory || asserts(module, state) || frees(module, state) {
            return;
        }
        let (function, block) = (state.frame().function, state.frame().block);
        if !self.looked_at.insert((function, block, condition)) {
            return;
        }
        let body = module.function(function);
        let Terminator::Branch { condition: asked, .. } = &body.blocks[block.0 as usize].terminator else {
            return;
        };
        let asked = *self.questions.entry((function, block)).or_insert_with(|| question(module, body, asked));
        if (asked.null || asked.null_argument)
            && let Some(token) = self.null_test(state, condition)
        {
            let tested = self.tested.entry(token.name.clone()).or_default();
            tested.read |= asked.null;
            tested.given.insert(function);
        }
    }

    /// Whether code takes a pointer for possibly null: the pointer is asked about wherever it is read, or by one of the functions that
    /// are running.
    pub(super) fn may_be_null(&self, name: &str, mut running: impl Iterator<Item = FunctionId>) -> bool {
        self.tested
            .get(name)
            .is_some_and(|tested| tested.read || running.any(|function| tested.given.contains(&function)))
    }

    /// The pointer whose nullness a condition is about: one on nothing but which of its alternatives one pointer is, and that tells
    /// null from all others. What a function answers may depend on which function it is, too.
    pub(super) fn null_test<'t>(
        &self,
        state: &'t State<Symbolic<'s>>,
        condition: Formula,
    ) -> Option<&'t Token<Symbolic<'s>>> {
        let mut left: FxHashSet<Symbol> = self.store.symbols_in([condition.id()]).into_iter().collect();
        let mut found = Vec::new();
        for token in state.tokens.iter() {
            let guards = token.entries.iter().map(|entry| entry.guard).chain(token.null);
            let before = left.len();
            for symbol in self.store.symbols_in(guards.map(|guard| guard.id())) {
                left.remove(&symbol);
            }
            if left.len() < before {
                found.push(token);
            }
        }
        match found[..] {
            [token] if left.is_empty() && self.tells_null(token, condition) => Some(token),
            _ => None,
        }
    }

    fn tells_null(&self, token: &Token<Symbolic<'s>>, condition: Formula) -> bool {
        let [mut if_null, mut otherwise] = [[false; 2]; 2];
        let mut note = |is_null: bool, guard: Option<Formula>| {
            let chosen = self.store.symbols_in(guard.map(|guard| guard.id()));
            let mut chosen: Vec<_> = chosen.into_iter().map(|symbol| (symbol, 1)).collect();
            chosen.sort_unstable();
            let holds = Model::from_values(chosen).holds(self.store, condition);
            let seen = if is_null { &mut if_null } else { &mut otherwise };
            seen[usize::from(holds)] = true;
        };
        for entry in token.entries.iter() {
            note(entry.target == Target::Null, Some(entry.guard));
        }
        if let Some(null) = token.null {
            note(true, Some(null));
            note(false, None);
        }
        let is_told = |seen: [bool; 2], other: [bool; 2]| seen == [true, false] && other == [false, true];
        is_told(if_null, otherwise) || is_told(otherwise, if_null)
    }
}

/// What a condition asks of pointers.
fn question(module: &Module, function: &Function, condition: &Operand) -> Question {
    let instructions = || function.blocks.iter().flat_map(|block| &block.instructions);
    let made_by = |register: Register| instructions().find(|made| made.result == Some(register));
    let stored = |slot: SlotId| {
        instructions().filter_map(move |instruction| match &instruction.operation {
            Operation::SlotStore { slot: to, value } if *to == slot => Some(value),
            _ => None,
        })
    };
    let is_null = |operand: &Operand| matches!(operand, Operand::Constant(id) if *module.constant(*id) == Constant::Null);
    let is_parameter =
        |operand: &Operand| matches!(operand, Operand::Register(register) if made_by(*register).is_none());
    // A parameter stays in its slot unless something else is put there.
    let is_argument = |operand: &Operand| match operand {
        Operand::Register(register) => match made_by(*register).map(|made| &made.operation) {
            None => true,
            Some(Operation::SlotLoad { slot }) => stored(*slot).all(is_parameter),
            Some(_) => false,
        },
        Operand::Constant(_) => false,
    };
    let mut asked = Question::default();
    let mut seen = FxHashSet::default();
    let mut waiting = vec![condition];
    while let Some(operand) = waiting.pop() {
        let &Operand::Register(register) = operand else { continue };
        if !seen.insert(register) {
            continue;
        }
        match made_by(register).map(|made| &made.operation) {
            Some(Operation::Compare { of, a, b, .. }) if module.ty(*of).kind == TypeKind::Pointer => {
                match [(a, b), (b, a)].into_iter().find(|(_, other)| is_null(other)) {
                    Some((pointer, _)) if is_argument(pointer) => asked.null_argument = true,
                    Some(_) => asked.null = true,
                    // Where one is beside another.
                    None => {}
                }
            }
            Some(Operation::Compare { a, b, .. } | Operation::Binary { a, b, .. }) => waiting.extend([a, b]),
            Some(Operation::Select { condition, a, b, .. }) => waiting.extend([condition, a, b]),
            Some(Operation::Cast { op, a, .. }) if *op != Cast::PtrToInt => waiting.push(a),
            Some(Operation::Freeze { a }) => waiting.push(a),
            Some(Operation::Phi { incoming }) => waiting.extend(incoming.iter().map(|(_, value)| value)),
            Some(Operation::SlotLoad { slot }) => waiting.extend(stored(*slot)),
            // A pointer's number, and what is computed elsewhere, of anything.
            Some(_) | None => asked.null = true,
        }
    }
    asked
}

/// Whether one side of the branch that a state is at does not go on: what follows an assertion that fails.
fn asserts(module: &Module, state: &State<Symbolic<'_>>) -> bool {
    let frame = state.frame();
    let blocks = &module.function(frame.function).blocks;
    let next = blocks[frame.block.0 as usize].terminator.successors();
    next.iter().any(|next| matches!(blocks[next.0 as usize].terminator, Terminator::Unreachable))
}

/// Whether the function that a state is in frees something.
fn frees(module: &Module, state: &State<Symbolic<'_>>) -> bool {
    let blocks = &module.function(state.frame().function).blocks;
    blocks.iter().flat_map(|block| &block.instructions).any(|instruction| {
        matches!(&instruction.operation, Operation::Call { callee: Callee::Function(callee), .. }
            if module.function(*callee).name == "free")
    })
}
