//! Summaries: a procedure evaluated once, and composed with the state of each caller.

use crate::evaluate::{Explorer, Program, SymbolicState};
use parallax_sem::logic::{self, Struct};
use parallax_term::{Formula, Sort, StructUpdate, Symbol, SymbolKind};
use std::rc::Rc;

/// The effect of a procedure in terms of its formal activation record.
pub(crate) struct Summary<K> {
    formal: Symbol,
    objects: Vec<Symbol>,
    ends: Vec<(Formula, StructUpdate, K)>,
}

impl<'a, L: Program> Explorer<'a, L> {
    /// The summary of a procedure; none for one that calls itself or gets to one that does, or whose evaluation hit a
    /// bound: those are evaluated where they are called, with the arguments they get there.
    pub(crate) fn summary(&mut self, procedure: usize) -> Option<Rc<Summary<L::Control>>> {
        if let Some(known) = self.summaries.get(&procedure) {
            return known.clone();
        }
        if !self.summarising.insert(procedure) {
            self.recursion = true;
            return None;
        }
        let summary = self.summarise(procedure);
        self.summarising.remove(&procedure);
        self.summaries.insert(procedure, summary.clone());
        if self.summarising.is_empty() {
            self.recursion = false;
        }
        summary
    }

    fn summarise(&mut self, procedure: usize) -> Option<Rc<Summary<L::Control>>> {
        let identity = Struct::new();
        let (name, entry) = self.language.formal(&self.core, self.store, &identity, procedure)?;
        let formal = self.store.lookup(&name)?;
        let outer = std::mem::take(&mut self.gave_up);
        let outer_faults = std::mem::replace(&mut self.faults, self.store.false_());
        let ends = self.explore(vec![(self.store.true_(), entry)], None);
        let faults = std::mem::replace(&mut self.faults, outer_faults) != self.store.false_();
        let incomplete = !std::mem::replace(&mut self.gave_up, outer).is_empty() || faults;
        if incomplete || self.recursion {
            return None;
        }
        let ends: Vec<(Formula, StructUpdate, L::Control)> = ends
            .into_iter()
            .map(|end| {
                let update =
                    self.language.structure(&self.core, self.store, &end.state).to_update(self.store);
                (end.guard, update, self.language.control(&end.state))
            })
            .collect();
        let roots =
            ends.iter().flat_map(|(guard, update, _)| update.roots().chain([guard.id()]).collect::<Vec<_>>());
        let objects = self
            .store
            .symbols_in(roots)
            .into_iter()
            .filter(|&symbol| {
                let info = self.store.info(symbol);
                matches!(info.sort, Sort::Bits(_)) && matches!(info.kind, SymbolKind::Address { .. })
            })
            .collect();
        Some(Rc::new(Summary { formal, objects, ends }))
    }

    /// Symbolic composition of a caller's state with a summary (section 1, and `U` of section 4).
    pub(crate) fn apply(
        &mut self,
        summary: &Summary<L::Control>,
        guard: Formula,
        called: &SymbolicState<'a, L>,
    ) -> Option<Vec<(Formula, SymbolicState<'a, L>)>> {
        let mut s = self.language.structure(&self.core, self.store, called);
        s.set_val(summary.formal, self.language.record(called)?);
        for &object in &summary.objects {
            let name = self.store.info(object).name;
            if let Some(renamed) = self.language.renamed(&self.core, &name, called) {
                s.set_val(object, renamed);
            }
        }
        self.applied += 1;
        let mut after = Vec::new();
        for (condition, update, made) in &summary.ends {
            let condition = logic::formula(&self.core, self.store, *condition, &s);
            let guard = self.store.and(guard, condition);
            if guard == self.store.false_() {
                continue;
            }
            let effect = logic::update(&self.core, self.store, update, &s);
            after.push((guard, self.language.resume(&self.core, self.store, called, &effect, made)?));
        }
        Some(after)
    }
}
