//! Places in code that count only while their file is mapped there, or only where control leaves.

use crate::Placed;
use crate::control::Exit;
use parallax_record::Log;
use parallax_travel::{Examine, Mapped, Passing, Side, State, Unanswered};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// An instruction at which something begins or ends.
#[derive(Clone, Debug)]
pub(crate) struct Spot {
    pub address: u64,
    /// The file that must be mapped; none if it always is.
    pub file: Option<Placed>,
    /// That control leaves, if that is asked.
    pub exit: Option<Exit>,
}

/// What is seen of a program before an instruction.
pub(crate) trait Sight {
    /// A register or a flag of the thread, as SLEIGH names it.
    fn register(&self, name: &str) -> Option<u64>;
    /// Eight bytes of memory.
    fn word(&self, address: u64) -> Option<u64>;
}

fn number(bytes: &[u8]) -> Option<u64> {
    let mut number = [0; 8];
    number.get_mut(..bytes.len())?.copy_from_slice(bytes);
    Some(u64::from_le_bytes(number))
}

impl Sight for Passing<'_> {
    fn register(&self, name: &str) -> Option<u64> {
        number(Passing::register(self, name)?)
    }

    fn word(&self, address: u64) -> Option<u64> {
        let mut bytes = [0; 8];
        self.read(address, &mut bytes).then(|| u64::from_le_bytes(bytes))
    }
}

impl Sight for State {
    fn register(&self, name: &str) -> Option<u64> {
        State::register(self, name)
    }

    fn word(&self, address: u64) -> Option<u64> {
        let mut bytes = [0; 8];
        self.read(address, &mut bytes).ok().map(|()| u64::from_le_bytes(bytes))
    }
}

/// The test of a search for spots.
pub(crate) struct Spots {
    by_address: HashMap<u64, Vec<Spot>>,
    turns: Vec<(u64, u64)>,
    log: Arc<Log>,
    /// What was mapped, by the numbers of layouts.
    layouts: Mutex<HashMap<u64, Arc<[Mapped]>>>,
}

impl Spots {
    pub fn new(spots: Vec<Spot>, turns: Vec<(u64, u64)>, log: Arc<Log>) -> Spots {
        let mut by_address: HashMap<u64, Vec<Spot>> = HashMap::new();
        for spot in spots {
            by_address.entry(spot.address).or_default().push(spot);
        }
        Spots { by_address, turns, log, layouts: Mutex::default() }
    }

    /// Whether one of the spots at an address counts; none if that cannot be told.
    fn counts(
        &self,
        address: u64,
        sight: &dyn Sight,
        layout: impl Fn() -> u64,
        mapped: impl Fn() -> Vec<Mapped>,
    ) -> Option<bool> {
        for spot in self.by_address.get(&address)? {
            if let Some(file) = &spot.file {
                let mut known = self.layouts.lock().unwrap_or_else(PoisonError::into_inner);
                let mapped = known.entry(layout()).or_insert_with(|| mapped().into()).clone();
                drop(known);
                let is_of = |one: &&Mapped| one.file.as_ref() == Some(&file.file);
                // A file that was built anew has the same name, and other code at the same place.
                let kept = |one: &Mapped| one.mapping.and_then(|mapping| self.log.kept_of(mapping));
                let is_start = |one: &&Mapped| one.offset == 0 && one.range.start == file.start;
                let mut of_it = mapped.iter().filter(is_of);
                let is_here = of_it.clone().any(|one| one.range.contains(&address))
                    && of_it.any(|one| is_start(&one) && kept(one) == file.kept.as_deref());
                if !is_here {
                    continue;
                }
            }
            match &spot.exit {
                Some(exit) if !exit.leaves(sight)? => {}
                _ => return Some(true),
            }
        }
        Some(false)
    }
}

/// A register or memory that the recording does not show.
#[derive(Debug, thiserror::Error)]
#[error("whether control leaves at {0:#x} cannot be told")]
struct Untold(u64);

impl Examine for Spots {
    fn side(&self) -> Side {
        Side::Before
    }

    fn passes(&self, passing: &Passing<'_>) -> Option<bool> {
        self.counts(passing.pc(), passing, || passing.layout(), || passing.mapped())
    }

    fn holds(&self, state: Arc<State>) -> Result<bool, Unanswered> {
        let pc = state.pc();
        let counts = self.counts(pc, &*state, || state.layout(), || state.mapped().to_vec());
        counts.ok_or_else(|| Unanswered(Arc::new(Untold(pc))))
    }

    fn turns(&self) -> &[(u64, u64)] {
        &self.turns
    }
}
