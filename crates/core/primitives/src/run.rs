//! Execution, in any reading that can tell where control goes: concrete, or concrete beside symbolic.

use parallax_op::{Bits, RelOp};
use parallax_sem::logic::Struct;
use parallax_sem::{Concrete, Core, Language, Stuck};
use parallax_term::{Store, SymbolKind};

/// Why a run stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// The program returned to its caller, or its counter left it.
    Ended,
    /// It has taken as many steps as it was allowed.
    Bound,
    /// It came to an instruction that cannot be executed.
    Stuck(Stuck),
    /// The reading cannot tell where control goes.
    Undecided,
}

/// What a run did.
pub struct Run<C: Core> {
    /// The structure it ended in; none when it got stuck.
    pub structure: Option<Struct<C>>,
    /// Where it ended, or the last place that was known.
    pub pc: Bits,
    /// How many instructions it executed.
    pub steps: u64,
    /// Why it stopped.
    pub stopped: Stopped,
    /// The program counters it went through, each with the condition that led there from the one before, if they were
    /// asked for. In a symbolic reading the conditions together are the path constraint of Fig. 7.
    pub trace: Vec<(C::Bool, Bits)>,
}

/// Interprets every address symbol of the store as the number that the language places it at.
pub fn placed<L: Language>(language: &L, store: &Store) -> Struct<Concrete> {
    let mut s = Struct::new();
    for symbol in store.symbols() {
        let info = store.info(symbol);
        if matches!(info.kind, SymbolKind::Address { .. })
            && let Some(address) = language.placement(&info.name)
        {
            s.set_val(symbol, address);
        }
    }
    s
}

/// Whether a program that has no instruction at this program counter has come to its end there.
pub fn has_ended<L: Language, C: Core>(
    language: &L,
    core: &C,
    return_addresses: &[C::Val],
    pc: &C::Val,
) -> bool {
    let is = |address: &C::Val| {
        core.decided(&core.relop(RelOp::Eq, language.pc_width(), pc, address)) == Some(true)
    };
    return_addresses.iter().any(is) || core.decided(&language.belongs(core, pc)) == Some(false)
}

/// Why a run is stuck that came to a place without an instruction before its end.
pub fn astray<L: Language>(language: &L, pc: &Bits) -> Stuck {
    Stuck::unknown(format!("control goes to {}, where there is no code", language.place(pc)))
}

/// Runs a program from a structure for at most `steps` steps.
pub fn run<L: Language, C: Core>(
    language: &L,
    core: &C,
    store: &Store,
    s: &Struct<C>,
    steps: u64,
    keep_trace: bool,
) -> Run<C> {
    let mut state = language.state(core, store, s);
    let return_addresses = language.return_addresses(core, &state);
    let mut done = 0;
    let mut trace = Vec::new();
    let mut last = language.entry();
    let stopped = loop {
        let value = language.pc(&state);
        let (condition, pc) = match core.targets(language.pc_width(), &value).as_deref() {
            Some([(condition, pc)]) => (condition.clone(), pc.clone()),
            _ if has_ended(language, core, &return_addresses, &value) => break Stopped::Ended,
            _ => break Stopped::Undecided,
        };
        if keep_trace {
            trace.push((condition, pc.clone()));
        }
        last = pc;
        if !language.has_instruction(&last) {
            if has_ended(language, core, &return_addresses, &value) {
                break Stopped::Ended;
            }
            break Stopped::Stuck(astray(language, &last));
        }
        if done == steps {
            break Stopped::Bound;
        }
        // A step takes the state by value, so that maps change in place.
        match language.step(core, state, &last) {
            Ok(next) => state = next,
            Err(stuck) => {
                return Run { structure: None, pc: last, steps: done, stopped: Stopped::Stuck(stuck), trace };
            }
        }
        done += 1;
    };
    Run { structure: Some(language.structure(core, store, &state)), pc: last, steps: done, stopped, trace }
}
