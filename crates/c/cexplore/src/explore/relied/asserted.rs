//! Assertions on the input as it is.

use super::super::host::Explorer;
use parallax_cmachine::{InputCell, State};
use parallax_path::Model;
use parallax_sem::Symbolic;
use parallax_term::{Formula, Node, Symbol};
use rustc_hash::FxHashSet;

impl<'s> Explorer<'s> {
    /// The function that asserts something of the input as it is: of bytes that nobody who calls it has looked at, and of numbers that
    /// the path compares with nothing by size.
    pub(super) fn asserts_of_input(&self, state: &State<Symbolic<'s>>) -> Option<String> {
        let store = self.store;
        let formulas = state.path.formulas();
        let (&asserted, before) = formulas.split_last()?;
        let running = state.frame().function;
        let example = state.path.sat(&self.oracle, store.true_()).ok()??;
        let mut left = self.spoken_of(&example, asserted);
        if left.is_empty() {
            return None;
        }
        let sized = store
            .post_order(before.iter().map(|formula| formula.id()))
            .into_iter()
            .filter(|id| self.ordered.contains(id));
        let sized: FxHashSet<Symbol> = store.symbols_in(sized).into_iter().collect();
        let here: FxHashSet<Formula> = before.iter().copied().collect();
        let is_here = |condition| here.contains(&condition) || here.contains(&store.not(condition));
        // What a function does to its argument before it asserts something is part of that; the one that was entered could have seen to it.
        let entered = state.frames.len() == 1;
        let looked = self
            .looked_at
            .iter()
            .filter(|(function, _, condition)| (entered || *function != running) && is_here(*condition));
        let looked: FxHashSet<Symbol> =
            store.symbols_in(looked.map(|(_, _, condition)| condition.id())).into_iter().collect();
        for cell in state.input_cells.to_vec() {
            let InputCell::Bits(_, _, bytes, term) = cell else { continue };
            let others = if *bytes == 1 { &looked } else { &sized };
            for symbol in store.symbols_in([term.id()]) {
                if !others.contains(&symbol) {
                    left.remove(&symbol);
                }
            }
        }
        let name = || self.module().function(running).name.clone();
        left.is_empty().then(name)
    }

    /// Symbols that a condition speaks of for an input; not those that only choose what it speaks of.
    fn spoken_of(&self, example: &Model, condition: Formula) -> FxHashSet<Symbol> {
        let store = self.store;
        let (mut seen, mut found) = (FxHashSet::default(), FxHashSet::default());
        let mut waiting = vec![condition.id()];
        while let Some(id) = waiting.pop() {
            if !seen.insert(id) {
                continue;
            }
            match store.node(id) {
                Node::Ite(choice, a, b) => {
                    waiting.push(if example.holds(store, choice) { a.id() } else { b.id() });
                }
                Node::IteBool(choice, a, b) => {
                    waiting.push(if example.holds(store, choice) { a.id() } else { b.id() });
                }
                _ => {
                    let known = waiting.len();
                    waiting.extend(store.operands(id));
                    if waiting.len() == known {
                        found.extend(store.symbols_in([id]));
                    }
                }
            }
        }
        found
    }
}
