//! One assignment of values to symbols, and what formulas are worth under it.
//!
//! A state keeps the last model of its path condition: most guards that are asked about hold in it, and then no
//! solver is needed. Values already computed are remembered, since guards share most of their parts.

use parallax_op::{BinOp, BoolOp, RelOp, UnOp};
use parallax_term::{Expr, Formula, Id, Node, Sort, Store, Symbol, Term};
use rustc_hash::FxHashMap;
use std::cell::RefCell;

/// Values for symbols; symbols without one are 0 or false.
#[derive(Debug, Default)]
pub struct Model {
    values: FxHashMap<Symbol, u64>,
    known: RefCell<FxHashMap<Id, Option<u64>>>,
}

impl From<&parallax_smt::Model> for Model {
    fn from(model: &parallax_smt::Model) -> Self {
        Model::new(model.symbols().filter_map(|symbol| {
            let bits = model.bits(symbol).and_then(|bits| bits.to_u64());
            Some((symbol, bits.or(model.boolean(symbol).map(u64::from))?))
        }))
    }
}

impl Model {
    /// The model with these values, Booleans as 0 and 1.
    pub fn new(values: impl IntoIterator<Item = (Symbol, u64)>) -> Self {
        Model { values: values.into_iter().collect(), known: RefCell::default() }
    }

    /// The same model with a truth value set.
    pub(crate) fn with(&self, store: &Store, symbol: Symbol) -> Model {
        let mut values = self.values.clone();
        values.insert(symbol, 1);
        // What was computed stands, unless somebody has looked at the symbol while it was false.
        let looked = match store.expr_of(symbol) {
            Expr::Formula(atom) => self.known.borrow().contains_key(&atom.id()),
            _ => true,
        };
        let known = if looked { RefCell::default() } else { self.known.clone() };
        Model { values, known }
    }

    /// Whether the formula holds; `None` if it is made of something this evaluator does not know.
    pub fn holds(&self, store: &Store, formula: Formula) -> Option<bool> {
        self.value(store, formula.id()).map(|value| value != 0)
    }

    /// The value of a term of at most 64 bits.
    pub fn bits(&self, store: &Store, term: Term) -> Option<u64> {
        self.value(store, term.id())
    }

    fn value(&self, store: &Store, root: Id) -> Option<u64> {
        if let Some(&value) = self.known.borrow().get(&root) {
            return value;
        }
        let mut known = self.known.borrow_mut();
        // Depth first with an explicit stack: guards may be deeper than ours.
        let mut stack = vec![root];
        while let Some(&id) = stack.last() {
            if known.contains_key(&id) {
                stack.pop();
                continue;
            }
            let before = stack.len();
            stack.extend(store.operands(id).filter(|part| !known.contains_key(part)));
            if stack.len() == before {
                stack.pop();
                let value = self.node(store, id, &known);
                known.insert(id, value);
            }
        }
        known.get(&root).copied().flatten()
    }

    fn node(&self, store: &Store, id: Id, known: &FxHashMap<Id, Option<u64>>) -> Option<u64> {
        let of = |id: Id| known.get(&id).copied().flatten();
        let truth = |formula: Formula| of(formula.id()).map(|value| value != 0);
        let mask = |width: u16, value: u64| if width >= 64 { value } else { value & ((1 << width) - 1) };
        let signed = |term: Term, value: u64| {
            let shift = 64 - u32::from(store.width(term));
            ((value << shift) as i64) >> shift
        };
        let width = || match store.sort(id) {
            Sort::Bits(width) if width <= 64 => Some(width),
            _ => None,
        };
        let narrow = |term: Term| (store.width(term) <= 64).then_some(());
        Some(match store.node(id) {
            Node::Bool(b) => u64::from(b),
            Node::Const(bits) => bits.to_u64()?,
            Node::Symbol(symbol) => self.values.get(&symbol).copied().unwrap_or(0),
            Node::Not(a) => u64::from(!truth(a)?),
            Node::BoolOp(op, a, b) => {
                let (a, b) = (truth(a)?, truth(b)?);
                u64::from(match op {
                    BoolOp::And => a && b,
                    BoolOp::Or => a || b,
                    BoolOp::Xor => a != b,
                    BoolOp::Implies => !a || b,
                    BoolOp::Iff => a == b,
                })
            }
            Node::Ite(c, a, b) => if truth(c)? { of(a.id()) } else { of(b.id()) }?,
            Node::IteBool(c, a, b) => if truth(c)? { of(a.id()) } else { of(b.id()) }?,
            Node::Rel(op, a, b) => {
                narrow(a)?;
                let (x, y) = (of(a.id())?, of(b.id())?);
                let (s, t) = (signed(a, x), signed(b, y));
                u64::from(match op {
                    RelOp::Eq => x == y,
                    RelOp::Ne => x != y,
                    RelOp::Ult => x < y,
                    RelOp::Ule => x <= y,
                    RelOp::Ugt => x > y,
                    RelOp::Uge => x >= y,
                    RelOp::Slt => s < t,
                    RelOp::Sle => s <= t,
                    RelOp::Sgt => s > t,
                    RelOp::Sge => s >= t,
                })
            }
            Node::Bin(op, a, b) => {
                narrow(a)?;
                let (x, y) = (of(a.id())?, of(b.id())?);
                let value = match op {
                    BinOp::Add => x.wrapping_add(y),
                    BinOp::Sub => x.wrapping_sub(y),
                    BinOp::Mul => x.wrapping_mul(y),
                    BinOp::And => x & y,
                    BinOp::Or => x | y,
                    BinOp::Xor => x ^ y,
                    BinOp::Shl => u32::try_from(y).ok().and_then(|by| x.checked_shl(by)).unwrap_or(0),
                    BinOp::Lshr => u32::try_from(y).ok().and_then(|by| x.checked_shr(by)).unwrap_or(0),
                    BinOp::Ashr => (signed(a, x) >> y.min(63)) as u64,
                    _ => return None,
                };
                mask(store.width(a), value)
            }
            Node::Un(UnOp::Neg, a) => {
                narrow(a)?;
                mask(store.width(a), of(a.id())?.wrapping_neg())
            }
            Node::Un(UnOp::Not, a) => {
                narrow(a)?;
                mask(store.width(a), !of(a.id())?)
            }
            Node::Extract { of: a, low } => {
                narrow(a)?;
                mask(width()?, of(a.id())? >> low)
            }
            Node::Concat(high, low) => {
                let _ = width()?;
                of(high.id())? << store.width(low) | of(low.id())?
            }
            Node::Zext(a) => {
                let _ = width()?;
                of(a.id())?
            }
            Node::Sext(a) => {
                narrow(a)?;
                mask(width()?, signed(a, of(a.id())?) as u64)
            }
            _ => return None,
        })
    }
}
