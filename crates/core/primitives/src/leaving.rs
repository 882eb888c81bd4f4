//! Where control goes from an instruction: on to known places, back to the caller, or where nobody can tell.
//!
//! A program ends where it returns to its caller, or where its counter leaves it. What is neither certainly the one nor
//! the other is never taken for an end: a return whose address went through memory that something may have written is
//! followed back to the pending call under the condition that the address is intact, and whatever remains is a reason to
//! give up.

use crate::evaluate::{Explorer, Program};
use parallax_op::Bits;
use parallax_path::Bound;
use parallax_sem::{Core, Successors};
use parallax_term::{Formula, Node, Term};

/// How many alternatives of a program counter are looked at one by one.
const MOST: usize = 256;

/// Where control goes.
pub(crate) struct Leaving {
    /// On to these places, each under its condition.
    pub on: Vec<(Formula, Bits)>,
    /// The condition under which it returns to the caller, or leaves the program.
    pub ends: Formula,
    /// Whether the program counter is something else besides.
    pub is_unknown: bool,
}

impl<'a, L: Program> Explorer<'a, L> {
    /// Where control goes from `from` with this program counter. The innermost pending call comes back to `back`.
    pub(crate) fn leaving(
        &mut self,
        from: &Bits,
        guard: Formula,
        pc: Term,
        successors: &Successors,
        back: Option<u64>,
    ) -> Leaving {
        let store = self.store;
        let width = self.language.pc_width();
        let mut leaving = Leaving { on: Vec::new(), ends: store.false_(), is_unknown: false };
        let mut waiting = vec![(guard, pc)];
        let mut seen = 0;
        while let Some((guard, pc)) = waiting.pop() {
            if guard == store.false_() {
                continue;
            }
            seen += 1;
            if self.return_addresses.contains(&pc) {
                leaving.ends = store.or(leaving.ends, guard);
            } else if let Some(targets) = self.core.targets(width, &pc) {
                leaving.on.extend(targets.into_iter().map(|(when, pc)| (store.and(guard, when), pc)));
            } else if let Node::Ite(c, t, e) = store.node(pc)
                && seen < MOST
            {
                waiting.push((store.and(guard, store.not(c)), e));
                waiting.push((store.and(guard, c), t));
            } else {
                leaving.is_unknown = true;
                self.unknown(from, guard, pc, successors, back, &mut leaving);
            }
        }
        leaving.on.retain(|(guard, _)| *guard != store.false_());
        leaving
    }

    /// A program counter that the reading cannot tell.
    fn unknown(
        &mut self,
        from: &Bits,
        guard: Formula,
        pc: Term,
        successors: &Successors,
        back: Option<u64>,
        leaving: &mut Leaving,
    ) {
        let store = self.store;
        let mut rest = guard;
        if let Some(back) = back.filter(|_| successors.returns) {
            let back = Bits::new(self.language.pc_width(), back.into());
            let intact = store.eq(pc, store.constant(&back));
            leaving.on.push((store.and(rest, intact), back));
            rest = store.and(rest, store.not(intact));
        }
        let returns = store.any(self.return_addresses.iter().map(|&address| store.eq(pc, address)));
        let belongs = self.language.belongs(&self.core, &pc);
        let ends = store.or(returns, store.not(belongs));
        leaving.ends = store.or(leaving.ends, store.and(rest, ends));
        rest = store.and(rest, store.not(ends));
        // A jump through a pointer may go anywhere, which needs no proof.
        let is_worth_asking = successors.returns || belongs != store.true_();
        if rest == store.false_() || is_worth_asking && self.is_refuted(rest) {
            return;
        }
        let place = self.language.place(from);
        self.give_up(Bound::Control(if successors.returns {
            format!("{place}: the return address may have been overwritten")
        } else {
            format!("{place}: the address is computed from what is not known")
        }));
    }

    /// Whether execution has ended at a place without an instruction.
    pub(crate) fn has_ended(&self, pc: &Bits) -> bool {
        let pc = self.store.constant(pc);
        self.return_addresses.contains(&pc) || self.language.belongs(&self.core, &pc) == self.store.false_()
    }

    /// Whether a formula never holds: plainly, or as a solver finds, if there is one.
    pub(crate) fn is_refuted(&self, formula: Formula) -> bool {
        formula == self.store.false_() || self.tables.as_ref().is_some_and(|tables| tables.refutes(formula))
    }
}
