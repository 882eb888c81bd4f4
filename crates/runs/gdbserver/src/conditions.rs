//! Breakpoints, and the conditions under which they stop a run: those are asked where a search passes, so a breakpoint that is
//! passed a million times costs no answer to GDB.

use crate::agent::{Expression, Scene};
use parallax_travel::{Examine, Filter, Passing, Ranges, Side, State, Test, Unanswered};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Where a breakpoint is, and of which kind: GDB sets and removes the two apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Breakpoint {
    pub address: u64,
    pub in_hardware: bool,
}

/// The breakpoints that are set. One without conditions always stops, one with several where one of them holds.
#[derive(Default)]
pub(crate) struct Held {
    all: BTreeMap<Breakpoint, Vec<Expression>>,
    /// What a search looks for, and the breakpoints that it was made of: GDB sets the same again at each resumption, and what is
    /// known about an equal condition is kept.
    made: Option<(BTreeMap<Breakpoint, Vec<Expression>>, Filter)>,
}

impl Held {
    /// Sets a breakpoint, or gives one other conditions.
    pub fn set(&mut self, breakpoint: Breakpoint, conditions: Vec<Expression>) {
        self.all.insert(breakpoint, conditions);
    }

    /// False if there was none.
    pub fn remove(&mut self, breakpoint: Breakpoint) -> bool {
        self.all.remove(&breakpoint).is_some()
    }

    /// The steps at which one of them stops; none if there are none.
    pub fn filter(&mut self) -> Option<Filter> {
        if self.all.is_empty() {
            return None;
        }
        if let Some((_, filter)) = self.made.as_ref().filter(|(of, _)| *of == self.all) {
            return Some(filter.clone());
        }
        let places = self.all.keys().map(|one| one.address..one.address.saturating_add(1));
        let execute = Filter::Execute(Ranges::new(places));
        let conditional = self.conditional();
        let filter = match conditional.is_empty() {
            true => execute,
            false => Filter::When(Box::new(execute), Test(Arc::new(Conditional(conditional)))),
        };
        self.made = Some((self.all.clone(), filter.clone()));
        Some(filter)
    }

    /// The conditions by address, of those addresses at which every breakpoint has some.
    fn conditional(&self) -> BTreeMap<u64, Vec<Expression>> {
        let mut found: BTreeMap<u64, Vec<Expression>> = BTreeMap::new();
        for (breakpoint, conditions) in &self.all {
            found.entry(breakpoint.address).or_default().extend(conditions.iter().cloned());
        }
        let always = |address: &u64| {
            let here = |in_hardware| self.all.get(&Breakpoint { address: *address, in_hardware });
            [here(false), here(true)].into_iter().flatten().any(Vec::is_empty)
        };
        found.retain(|address, _| !always(address));
        found
    }
}

/// The conditions of breakpoints, by address; other addresses have none.
struct Conditional(BTreeMap<u64, Vec<Expression>>);

impl Conditional {
    fn holds_at(&self, pc: u64, scene: &dyn Scene) -> bool {
        // GDB asks again where one has no answer.
        let holds = |condition: &Expression| condition.value(scene).is_none_or(|value| value != 0);
        self.0.get(&pc).is_none_or(|conditions| conditions.iter().any(holds))
    }
}

impl Examine for Conditional {
    fn side(&self) -> Side {
        Side::Before
    }

    fn holds(&self, state: Arc<State>) -> Result<bool, Unanswered> {
        Ok(self.holds_at(state.pc(), &Standing(&state)))
    }

    fn passes(&self, passing: &Passing<'_>) -> Option<bool> {
        // Memory may be there and not to be had in passing.
        let scene = InPassing(passing);
        let conditions = self.0.get(&passing.pc());
        let answered = conditions.is_none_or(|all| all.iter().all(|one| one.value(&scene).is_some()));
        answered.then(|| self.holds_at(passing.pc(), &scene))
    }
}

/// The general registers in GDB's order; the program counter follows them.
static GENERAL: [&str; 16] = [
    "RAX", "RBX", "RCX", "RDX", "RSI", "RDI", "RBP", "RSP", "R8", "R9", "R10", "R11", "R12", "R13", "R14",
    "R15",
];
const PROGRAM_COUNTER: u16 = 16;

fn number(bytes: &[u8]) -> Option<u64> {
    Some(u64::from_le_bytes(bytes.get(..8)?.try_into().ok()?))
}

struct Standing<'a>(&'a State);

impl Scene for Standing<'_> {
    fn register(&self, register: u16) -> Option<u64> {
        match register {
            PROGRAM_COUNTER => Some(self.0.pc()),
            _ => self.0.register(GENERAL.get(usize::from(register))?),
        }
    }

    fn read(&self, address: u64, into: &mut [u8]) -> bool {
        self.0.read(address, into).is_ok()
    }
}

struct InPassing<'p, 'a>(&'p Passing<'a>);

impl Scene for InPassing<'_, '_> {
    fn register(&self, register: u16) -> Option<u64> {
        match register {
            PROGRAM_COUNTER => Some(self.0.pc()),
            _ if usize::from(register) < GENERAL.len() => {
                self.0.listed(&GENERAL, register.into()).and_then(number)
            }
            _ => None,
        }
    }

    fn read(&self, address: u64, into: &mut [u8]) -> bool {
        self.0.read(address, into)
    }
}
