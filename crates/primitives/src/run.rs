//! Concrete execution.

use parallax_op::Bits;
use parallax_sem::logic::Struct;
use parallax_sem::{Concrete, Language, Stuck};
use parallax_term::{Store, SymbolKind};

/// Why a run stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// The program counter left the program.
    Ended,
    /// It has taken as many steps as it was allowed.
    Bound,
    /// It came to an instruction that cannot be executed.
    Stuck(Stuck),
}

/// What a run did.
pub struct Run {
    /// The structure it ended in; none when it got stuck.
    pub structure: Option<Struct<Concrete>>,
    /// Where it ended.
    pub pc: Bits,
    /// How many instructions it executed.
    pub steps: u64,
    /// Why it stopped.
    pub stopped: Stopped,
    /// The program counters it went through, if they were asked for.
    pub trace: Vec<Bits>,
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

/// Runs a program from a structure for at most `steps` steps.
pub fn run<L: Language>(
    language: &L,
    store: &Store,
    s: &Struct<Concrete>,
    steps: u64,
    keep_trace: bool,
) -> Run {
    let core = Concrete;
    let mut state = language.state(&core, store, s);
    let mut done = 0;
    let mut trace = Vec::new();
    let mut pc = language.pc(&state);
    let stopped = loop {
        if keep_trace {
            trace.push(pc.clone());
        }
        if !language.has_instruction(&pc) {
            break Stopped::Ended;
        }
        if done == steps {
            break Stopped::Bound;
        }
        // A step takes the state by value, so that maps change in place.
        match language.step(&core, state, &pc) {
            Ok(next) => state = next,
            Err(stuck) => {
                return Run { structure: None, pc, steps: done, stopped: Stopped::Stuck(stuck), trace };
            }
        }
        done += 1;
        pc = language.pc(&state);
    };
    Run { structure: Some(language.structure(&core, store, &state)), pc, steps: done, stopped, trace }
}
