//! What follows from a path condition without a solver.
//!
//! Most questions about a path are settled by what is plain on it: a choice was made, so its rivals were not; a key is
//! below another, so it is not the one that was looked for. Facts are the conjuncts of one path after the other, and
//! all that unit propagation ([`propagate`]) and the order of numbers ([`order`], [`compare`]) make of them. Paths are
//! mostly visited depth first, so from one question to the next only the last few conjuncts change; they come and go as on
//! a stack, and no path keeps facts of its own.
//!
//! An answer is certain: *no* is derived, by propagation or by a [`search`] that tried everything; *yes* comes with a
//! model. What neither is found for soon, or in time, is left open.

mod compare;
mod cone;
mod order;
mod propagate;
mod search;
#[cfg(test)]
mod tests;

use cone::{At, Cone};
use order::{Contradiction, Order};
use parallax_term::{Formula, Id, Store, Symbol};
use search::Found;

/// Steps between two looks at the clock. A step takes microseconds at most, where numbers are compared that may be many.
const STRIDE: u32 = 1024;

/// Why a conclusion was not drawn.
#[derive(Debug)]
enum Halt {
    /// There is no such path.
    Contradiction,
    /// There is no time: what is known is not all that could be.
    Late,
}

impl From<Contradiction> for Halt {
    fn from(Contradiction: Contradiction) -> Self {
        Halt::Contradiction
    }
}

type Kept = Result<(), Halt>;

/// There was no time to make these the facts of a path.
#[derive(Debug)]
pub(crate) struct Late;

/// The facts of one path at a time.
pub(crate) struct Facts {
    cone: Cone,
    order: Order,
    /// What is known of each expression.
    values: Vec<Option<bool>>,
    assigned: Vec<At>,
    queue: Vec<At>,
    conjuncts: Vec<Conjunct>,
    /// Which path they are of.
    path: u64,
    /// Whether the time is over; asked every so often.
    late: Box<dyn Fn() -> bool>,
    /// Steps until it is asked again.
    patience: u32,
}

struct Conjunct {
    formula: Formula,
    before: Mark,
    /// It contradicts those before.
    dead: bool,
}

/// How much there was.
#[derive(Clone, Copy, Default)]
struct Mark {
    cone: cone::Mark,
    order: order::Mark,
    assigned: usize,
}

/// What is known of a guard on a path.
pub(crate) enum Known<M> {
    /// It cannot hold.
    No,
    /// It holds in a model that was known.
    Kept(M),
    /// It holds where symbols have these values, zero if left out.
    Yes {
        values: Vec<(Symbol, u64)>,
        /// Some part was not looked at: the values must be tried.
        guessed: bool,
    },
    /// Nothing.
    Open,
}

impl Facts {
    /// The facts of no path, to be worked on until it is late.
    pub fn until(late: impl Fn() -> bool + 'static) -> Self {
        Facts {
            cone: Cone::default(),
            order: Order::default(),
            values: Vec::new(),
            assigned: Vec::new(),
            queue: Vec::new(),
            conjuncts: Vec::new(),
            path: 0,
            late: Box::new(late),
            patience: STRIDE,
        }
    }

    /// Makes these the facts of a path. Paths of one number have the same conjuncts.
    pub fn turn_to(
        &mut self,
        store: &Store,
        path: u64,
        conjuncts: impl FnOnce() -> Vec<Formula>,
    ) -> Result<(), Late> {
        if std::mem::replace(&mut self.path, path) == path && path != 0 {
            return Ok(());
        }
        if (self.late)() {
            self.clear();
            return Err(Late);
        }
        let conjuncts = conjuncts();
        let shared = self.conjuncts.iter().zip(&conjuncts).take_while(|(a, b)| a.formula == **b).count();
        if let Some(first) = self.conjuncts.get(shared) {
            self.back_to(first.before);
            self.conjuncts.truncate(shared);
        }
        for &formula in &conjuncts[shared..] {
            let before = self.mark();
            let dead = self.is_dead()
                || match self.suppose(store, formula) {
                    Ok(()) => false,
                    Err(Halt::Contradiction) => true,
                    Err(Halt::Late) => {
                        self.clear();
                        return Err(Late);
                    }
                };
            self.conjuncts.push(Conjunct { formula, before, dead });
        }
        Ok(())
    }

    /// Half of the conclusions must not be taken for all of them: those that were drawn are forgotten.
    fn clear(&mut self) {
        self.conjuncts.clear();
        self.queue.clear();
        self.back_to(Mark::default());
        self.path = 0;
    }

    /// One more step of work.
    fn tick(&mut self) -> Kept {
        self.patience -= 1;
        if self.patience > 0 {
            return Ok(());
        }
        self.patience = STRIDE;
        if (self.late)() { Err(Halt::Late) } else { Ok(()) }
    }

    fn is_dead(&self) -> bool {
        self.conjuncts.last().is_some_and(|last| last.dead)
    }

    /// Whether a guard can hold on the path. `kept` gives a model that is known, where it is not plain that there is none.
    pub fn ask<M>(
        &mut self,
        store: &Store,
        guard: Formula,
        kept: impl FnOnce() -> Option<M>,
        hint: &dyn Fn(Id) -> bool,
    ) -> Known<M> {
        if self.is_dead() || self.plain(guard) == Some(false) {
            return Known::No;
        }
        let before = self.mark();
        let known = match self.suppose(store, guard) {
            Ok(()) => kept().map_or_else(|| self.look(store, hint), |model| Ok(Known::Kept(model))),
            Err(halt) => Err(halt),
        };
        match known {
            Ok(known) => {
                self.back_to(before);
                known
            }
            Err(Halt::Contradiction) => {
                self.back_to(before);
                self.learn(store, guard);
                Known::No
            }
            Err(Halt::Late) => {
                self.clear();
                Known::Open
            }
        }
    }

    /// What a guard is known to be without supposing anything.
    fn plain(&self, guard: Formula) -> Option<bool> {
        self.cone.find(guard.id()).and_then(|at| self.value(at))
    }

    /// Whether it follows that a guard does not hold.
    pub fn refute(&mut self, store: &Store, guard: Formula) -> bool {
        if let Some(value) = self.plain(guard) {
            return !value;
        }
        matches!(self.ask(store, guard, || Some(()), &|_| false), Known::No)
    }

    /// Looks for a model of what is supposed.
    fn look<M>(&mut self, store: &Store, hint: &dyn Fn(Id) -> bool) -> Result<Known<M>, Halt> {
        Ok(match self.complete(hint)? {
            Found::All => match self.values(store) {
                Some(values) => Known::Yes { values, guessed: self.cone.unread > 0 },
                None => Known::Open,
            },
            Found::Unclear => Known::Open,
        })
    }

    /// A guard was found not to hold on the path.
    pub fn learn(&mut self, store: &Store, guard: Formula) {
        if self.is_dead() {
            return;
        }
        let before = self.mark();
        match self.suppose(store, store.not(guard)) {
            Ok(()) => {}
            Err(Halt::Contradiction) => {
                // Then the path itself cannot be.
                self.back_to(before);
                if let Some(last) = self.conjuncts.last_mut() {
                    last.dead = true;
                }
            }
            Err(Halt::Late) => self.clear(),
        }
    }

    /// Takes an expression in, with what follows from that alone.
    fn enter(&mut self, store: &Store, formula: Formula) -> Result<At, Halt> {
        let old = self.cone.len();
        let at = self.cone.enter(store, &mut self.order, formula.id());
        self.values.resize(self.cone.len(), None);
        for new in old..self.cone.len() {
            if let Err(halt) = self.examine(new as At) {
                self.queue.clear();
                return Err(halt);
            }
        }
        self.propagate()?;
        Ok(at)
    }

    fn mark(&self) -> Mark {
        Mark { cone: self.cone.mark(), order: self.order.mark(), assigned: self.assigned.len() }
    }

    fn back_to(&mut self, mark: Mark) {
        for at in self.assigned.drain(mark.assigned..) {
            self.values[at as usize] = None;
        }
        self.cone.back_to(mark.cone);
        self.values.truncate(self.cone.len());
        self.order.back_to(mark.order);
    }
}
