//! One interpretation of symbols, and what formulas are worth under it.
//!
//! A path keeps models of its condition: most guards that are asked about hold in one of them, and then no solver is
//! needed. A model that is asked often remembers values already computed, since guards share most of their parts.

use parallax_op::{Bits, BoolOp};
use parallax_term::{Expr, Formula, Id, Node, Sort, Store, Symbol, Term};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::RefCell;
use std::rc::Rc;

/// An interpretation as a solver gave it, perhaps with more truth values set; what it does not speak of is 0 or false.
#[derive(Debug, Default)]
pub struct Model {
    given: Given,
    memory: Option<Box<Memory>>,
}

/// Where the values of symbols come from.
#[derive(Clone, Debug)]
enum Given {
    Solver(Rc<parallax_smt::Model>),
    /// Those that are not zero, in order.
    Values(Rc<[(Symbol, u64)]>),
}

impl Default for Given {
    fn default() -> Self {
        Given::Values(Rc::default())
    }
}

#[derive(Clone, Debug, Default)]
struct Memory {
    /// Truth values that were set to true since.
    set: Vec<Symbol>,
    /// Values by expression; nothing for what is no number of 64 bits.
    known: RefCell<FxHashMap<Id, Option<u64>>>,
}

impl Model {
    /// The interpretation that a solver gave; if `values`, what is computed under it is remembered.
    pub fn new(given: parallax_smt::Model, values: bool) -> Self {
        Model { given: Given::Solver(Rc::new(given)), memory: values.then(Box::default) }
    }

    /// The interpretation that gives symbols these values, sorted, and zero to all others.
    pub fn from_values(given: Vec<(Symbol, u64)>) -> Self {
        Model { given: Given::Values(given.into()), memory: Some(Box::default()) }
    }

    /// Forgets what was computed.
    pub(crate) fn forget(&self) {
        if let Some(memory) = &self.memory {
            memory.known.take();
        }
    }

    /// The same model with a truth value set.
    pub fn with(&self, store: &Store, symbol: Symbol) -> Model {
        let mut memory = self.memory.clone().unwrap_or_default();
        // What was computed stands, unless the symbol was looked at while it was false.
        let looked = match store.expr_of(symbol) {
            Expr::Formula(atom) => memory.known.borrow().contains_key(&atom.id()),
            _ => true,
        };
        if looked {
            memory.known.take();
        }
        memory.set.push(symbol);
        Model { given: self.given.clone(), memory: Some(memory) }
    }

    /// The same model with `symbols` as in another.
    pub(crate) fn adopting(&self, store: &Store, other: &Model, symbols: &FxHashSet<Symbol>) -> Model {
        if let (Some(mine), Some(theirs)) = (self.values(), other.values()) {
            let mine = mine.into_iter().filter(|(symbol, _)| !symbols.contains(symbol));
            let theirs = theirs.into_iter().filter(|(symbol, _)| symbols.contains(symbol));
            let mut values: Vec<_> = mine.chain(theirs).collect();
            values.sort_unstable();
            return Model::from_values(values);
        }
        let mut whole = self.whole(store).into_owned();
        whole.adopt(&other.whole(store), symbols.iter().copied());
        Model::new(whole, self.memory.is_some())
    }

    /// What symbols are, zeros left out, if all of it are numbers of 64 bits at most.
    fn values(&self) -> Option<Vec<(Symbol, u64)>> {
        let mut values: Vec<(Symbol, u64)> = match &self.given {
            Given::Values(values) => values.to_vec(),
            Given::Solver(given) => {
                let value = |symbol| match given.boolean(symbol) {
                    Some(truth) => Some((symbol, u64::from(truth))),
                    None => Some((symbol, given.bits(symbol)?.to_u64()?)),
                };
                let values: Option<Vec<_>> = given.symbols().map(value).collect();
                values?.into_iter().filter(|&(_, value)| value != 0).collect()
            }
        };
        let set = self.memory.as_ref().map_or(&[][..], |memory| &memory.set);
        values.extend(set.iter().map(|&symbol| (symbol, 1)));
        Some(values)
    }

    /// Whether a truth value is set. Unlike what is computed, this is not remembered.
    pub fn sets(&self, symbol: Symbol) -> bool {
        match &self.memory {
            Some(memory) => self.symbol(memory, symbol) == Some(1),
            None => self.symbol(&Memory::default(), symbol) == Some(1),
        }
    }

    /// Whether a formula holds, if that was asked before.
    pub(crate) fn remembers(&self, formula: Formula) -> Option<bool> {
        let known = self.memory.as_ref()?.known.borrow();
        Some(known.get(&formula.id()).copied()?? != 0)
    }

    /// Whether a formula holds.
    pub fn holds(&self, store: &Store, formula: Formula) -> bool {
        match &self.memory {
            None => self.whole(store).formula(store, formula),
            Some(memory) => match self.value(memory, store, formula.id()) {
                Some(value) => value != 0,
                None => {
                    let holds = self.whole(store).formula(store, formula);
                    memory.known.borrow_mut().insert(formula.id(), Some(holds.into()));
                    holds
                }
            },
        }
    }

    /// The value of a term.
    pub fn term(&self, store: &Store, term: Term) -> Bits {
        let known = self.memory.as_ref().and_then(|memory| self.value(memory, store, term.id()));
        match known {
            Some(value) => Bits::new(store.width(term), value.into()),
            None => self.whole(store).term(store, term),
        }
    }

    /// The whole interpretation, tables of functions included.
    pub fn whole(&self, store: &Store) -> std::borrow::Cow<'_, parallax_smt::Model> {
        let set = self.memory.as_ref().map_or(&[][..], |memory| &memory.set);
        let mut whole = match &self.given {
            Given::Solver(given) if set.is_empty() => return std::borrow::Cow::Borrowed(given),
            Given::Solver(given) => (**given).clone(),
            Given::Values(values) => {
                let mut whole = parallax_smt::Model::new();
                for &(symbol, value) in values.iter() {
                    match store.expr_of(symbol) {
                        Expr::Term(term) => {
                            whole.set_bits(symbol, Bits::new(store.width(term), value.into()))
                        }
                        _ => whole.set_boolean(symbol, value != 0),
                    }
                }
                whole
            }
        };
        set.iter().for_each(|&symbol| whole.set_boolean(symbol, true));
        std::borrow::Cow::Owned(whole)
    }

    fn value(&self, memory: &Memory, store: &Store, root: Id) -> Option<u64> {
        if let Some(&value) = memory.known.borrow().get(&root) {
            return value;
        }
        let mut known = memory.known.borrow_mut();
        // Depth first with an explicit stack: guards may be deeper than ours. What one operand decides does not ask for
        // the others.
        let mut stack = vec![root];
        loop {
            let Some(&id) = stack.last() else { return known.get(&root).copied().flatten() };
            if let Some(part) = undecided(store, id, &known) {
                stack.push(part);
                continue;
            }
            stack.pop();
            let value = self.node(memory, store, id, &known);
            known.insert(id, value);
        }
    }

    /// The value of one expression by those of its operands: the operators mean what `op` says.
    fn node(
        &self,
        memory: &Memory,
        store: &Store,
        id: Id,
        known: &FxHashMap<Id, Option<u64>>,
    ) -> Option<u64> {
        let of = |id: Id| known.get(&id).copied().flatten();
        let truth = |formula: Formula| of(formula.id()).map(|value| value != 0);
        // Operands of vectors that are at most 64 bits wide.
        let bits = |term: Term| -> Option<(u16, u128)> {
            let width = store.width(term);
            Some((width, u128::from(if width <= 64 { of(term.id())? } else { return None })))
        };
        let width = || match store.sort(id) {
            Sort::Bits(width) if width <= 64 => Some(width),
            _ => None,
        };
        Some(match store.node(id) {
            Node::Bool(b) => u64::from(b),
            Node::Const(bits) => bits.to_u64()?,
            Node::Symbol(symbol) => self.symbol(memory, symbol)?,
            Node::Not(a) => u64::from(!truth(a)?),
            Node::BoolOp(BoolOp::And, a, b) if [a, b].iter().any(|part| truth(*part) == Some(false)) => 0,
            Node::BoolOp(BoolOp::Or, a, b) if [a, b].iter().any(|part| truth(*part) == Some(true)) => 1,
            Node::BoolOp(op, a, b) => u64::from(op.apply(truth(a)?, truth(b)?)),
            Node::Ite(c, a, b) => if truth(c)? { of(a.id()) } else { of(b.id()) }?,
            Node::IteBool(c, a, b) => if truth(c)? { of(a.id()) } else { of(b.id()) }?,
            Node::Rel(op, a, b) => {
                let ((width, a), (_, b)) = (bits(a)?, bits(b)?);
                u64::from(op.apply_small(width, a, b))
            }
            Node::Bin(op, a, b) => {
                let ((width, a), (_, b)) = (bits(a)?, bits(b)?);
                op.apply_small(width, a, b) as u64
            }
            Node::Un(op, a) => {
                let (width, a) = bits(a)?;
                op.apply_small(width, a) as u64
            }
            Node::Extract { of, low } => {
                let (_, value) = bits(of)?;
                Bits::new(width()?, value >> low).to_u64()?
            }
            Node::Concat(high, low) => {
                width()?;
                (of(high.id())? << store.width(low)) | of(low.id())?
            }
            Node::Zext(a) => {
                width()?;
                of(a.id())?
            }
            Node::Sext(a) => {
                let (from, value) = bits(a)?;
                Bits::new(from, value).sext(width()?).to_u64()?
            }
            _ => return None,
        })
    }

    fn symbol(&self, memory: &Memory, symbol: Symbol) -> Option<u64> {
        if memory.set.contains(&symbol) {
            return Some(1);
        }
        let given = match &self.given {
            Given::Solver(given) => given,
            Given::Values(values) => {
                let at = values.binary_search_by_key(&symbol, |(symbol, _)| *symbol);
                return Some(at.map_or(0, |at| values[at].1));
            }
        };
        match (given.boolean(symbol), given.bits(symbol)) {
            (Some(truth), _) => Some(truth.into()),
            (None, Some(bits)) => bits.to_u64(),
            (None, None) => Some(0),
        }
    }
}

/// An operand whose value is yet to be known before that of an expression can be.
fn undecided(store: &Store, id: Id, known: &FxHashMap<Id, Option<u64>>) -> Option<Id> {
    let first_open = |parts: [Id; 2]| parts.into_iter().find(|part| !known.contains_key(part));
    let chosen = |condition: Formula, parts: [Id; 2]| match known.get(&condition.id()) {
        None => Some(condition.id()),
        Some(None) => None,
        Some(Some(value)) => Some(parts[usize::from(*value == 0)]).filter(|part| !known.contains_key(part)),
    };
    match store.node(id) {
        Node::BoolOp(op @ (BoolOp::And | BoolOp::Or), a, b) => {
            let decides = Some(Some(u64::from(op == BoolOp::Or)));
            let (a, b) = (a.id(), b.id());
            match known.get(&a).copied() {
                value if value == decides => None,
                _ => first_open([a, b]),
            }
        }
        Node::Ite(c, a, b) => chosen(c, [a.id(), b.id()]),
        Node::IteBool(c, a, b) => chosen(c, [a.id(), b.id()]),
        _ => store.operands(id).find(|part| !known.contains_key(part)),
    }
}
