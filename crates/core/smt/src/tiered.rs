//! The default solver: tier 0 on a short leash, then Z3.

use crate::{Answer, Limits, Model, Reason, Solver, Tier0, Transcript, Z3};
use parallax_term::{Formula, Store};
use std::time::{Duration, Instant};

/// What tier 0 may spend before Z3 takes over.
const LEASH: Limits =
    Limits { time: Some(Duration::from_millis(500)), conflicts: Some(5_000), size: 500_000 };

/// What it may spend where it takes every vector by its rank: Z3 would see all bits, and has the harder question.
const ORDERED: Limits =
    Limits { time: Some(Duration::from_secs(60)), conflicts: Some(100_000), size: LEASH.size };

/// Asks tier 0 first, and Z3 what tier 0 does not answer within a small budget.
pub struct Tiered<'s> {
    first: Tier0<'s>,
    second: Option<Z3<'s>>,
    limits: Limits,
    core: Vec<Formula>,
}

impl<'s> Tiered<'s> {
    /// A solver with default limits.
    pub fn new(store: &'s Store) -> Self {
        Tiered { first: Tier0::new(store), second: None, limits: Limits::default(), core: Vec::new() }
    }

    /// With a first tier that takes vectors of which only the order matters by their ranks ([`Tier0::by_order`]).
    pub fn by_order(store: &'s Store) -> Self {
        Tiered { first: Tier0::new(store).by_order(), ..Tiered::new(store) }
    }

    /// With a first tier that writes down what its SAT solver is told and asked ([`Tier0::transcribed`]).
    pub fn transcribed(self, transcript: &Transcript) -> Self {
        Tiered { first: self.first.transcribed(transcript), ..self }
    }
}

impl<'s> Tiered<'s> {
    /// What tier 0 says within a budget, and within the limits that were set.
    fn leashed(&mut self, leash: Limits, left: Option<Duration>, query: &[Formula]) -> Answer {
        let conflicts = [leash.conflicts, self.limits.conflicts].into_iter().flatten().min();
        // Where nothing is timed, the first tier is not either: it would answer or not by what else the machine does.
        let time = left.map(|left| leash.time.map_or(left, |leash| leash.min(left)));
        let size = self.limits.size.min(leash.size);
        self.first.set_limits(Limits { time, conflicts, size });
        self.first.check(query)
    }
}

impl<'s> Solver<'s> for Tiered<'s> {
    fn store(&self) -> &'s Store {
        self.first.store()
    }

    fn check(&mut self, query: &[Formula]) -> Answer {
        let start = Instant::now();
        let limit = self.limits.time;
        let left = || limit.map(|time| time.saturating_sub(start.elapsed()));
        let mut answer = self.leashed(LEASH, limit, query);
        if matches!(answer, Answer::Unknown(Reason::Search | Reason::Time)) && self.first.takes_ranks_alone()
        {
            // What was learnt is kept.
            answer = self.leashed(ORDERED, left(), query);
        }
        if answer.decided().is_ok() {
            self.core = self.first.unsat_core().to_vec();
            return answer;
        }
        let left = left();
        let second = self.second.get_or_insert_with(|| Z3::new(self.first.store()));
        second.set_limits(Limits { time: left, ..self.limits });
        let answer = second.check(query);
        self.core = second.unsat_core().to_vec();
        answer
    }

    fn unsat_core(&self) -> &[Formula] {
        &self.core
    }

    fn set_limits(&mut self, limits: Limits) {
        self.limits = limits;
    }

    fn limits(&self) -> Limits {
        self.limits
    }

    fn begin_at(&mut self, near: &Model) {
        self.first.begin_at(near);
    }
}
