//! Expressions of L as Z3's.

use super::floats;
use crate::Reason;
use parallax_op::{BinOp, Bits, BoolOp, RelOp, UnOp};
use parallax_term::{Expr, Formula, Id, Node, Store, Term};
use rustc_hash::{FxHashMap, FxHashSet};
use z3::ast::{BV, Bool};

enum Translated {
    Vector(BV),
    Truth(Bool),
}

/// The expressions translated so far.
pub(super) struct Translation<'s> {
    store: &'s Store,
    known: FxHashMap<Id, Translated>,
    /// Function expressions whose keys and conditions are translated, or on the way.
    opened: FxHashSet<Id>,
}

impl<'s> Translation<'s> {
    pub fn new(store: &'s Store) -> Self {
        Translation { store, known: FxHashMap::default(), opened: FxHashSet::default() }
    }

    pub fn known_term(&self, term: Term) -> Option<&BV> {
        match self.known.get(&term.id())? {
            Translated::Vector(vector) => Some(vector),
            Translated::Truth(_) => None,
        }
    }

    pub fn known_formula(&self, formula: Formula) -> Option<&Bool> {
        match self.known.get(&formula.id())? {
            Translated::Truth(truth) => Some(truth),
            Translated::Vector(_) => None,
        }
    }

    pub fn formula(&mut self, formula: Formula) -> Result<Bool, Reason> {
        self.build(formula.id())?;
        Ok(self.truth(formula))
    }

    fn truth(&self, formula: Formula) -> Bool {
        self.known_formula(formula).expect("translated before what is built from it").clone()
    }

    fn vector(&self, term: Term) -> BV {
        self.known_term(term).expect("translated before what is built from it").clone()
    }

    /// Translates everything below `root`, operands first.
    fn build(&mut self, root: Id) -> Result<(), Reason> {
        let mut stack = vec![(root, false)];
        while let Some((id, ready)) = stack.pop() {
            if self.known.contains_key(&id) {
                continue;
            }
            if ready {
                let translated = self.expression(id)?;
                self.known.insert(id, translated);
                continue;
            }
            stack.push((id, true));
            match self.store.node(id) {
                Node::Access(map, key) => {
                    stack.push((key.id(), false));
                    self.open(map.id(), &mut stack);
                }
                Node::Un(op @ (UnOp::Popcount | UnOp::Clz | UnOp::Ctz), a) => {
                    stack.push((self.store.lower_unop(op, a).id(), false));
                }
                _ => stack.extend(self.store.operands(id).map(|operand| (operand, false))),
            }
        }
        Ok(())
    }

    /// Asks for the keys and conditions on the ways down a function expression.
    fn open(&mut self, map: Id, stack: &mut Vec<(Id, bool)>) {
        let mut maps = vec![map];
        while let Some(map) = maps.pop() {
            if !self.opened.insert(map) {
                continue;
            }
            match self.store.node(map) {
                Node::Update(below, key, _) => {
                    stack.push((key.id(), false));
                    maps.push(below.id());
                }
                Node::IteMap(condition, then, otherwise) => {
                    stack.push((condition.id(), false));
                    maps.extend([then.id(), otherwise.id()]);
                }
                _ => {}
            }
        }
    }

    fn expression(&self, id: Id) -> Result<Translated, Reason> {
        use Translated::{Truth, Vector};
        let store = self.store;
        let width = match store.expr(id) {
            Expr::Term(term) => u32::from(store.width(term)),
            _ => 0,
        };
        let v = |term: Term| self.vector(term);
        let b = |formula: Formula| self.truth(formula);
        let name = u32::try_from(id.index()).expect("ids are 32-bit");
        Ok(match store.node(id) {
            Node::Bool(value) => Truth(Bool::from_bool(value)),
            Node::Const(value) => Vector(constant(&value)),
            Node::Symbol(_) if width == 0 => Truth(Bool::new_const(name)),
            Node::Symbol(_) | Node::Access(..) => Vector(BV::new_const(name, width)),
            Node::Un(UnOp::Not, a) => Vector(v(a).bvnot()),
            Node::Un(UnOp::Neg, a) => Vector(v(a).bvneg()),
            Node::Un(op, a) => Vector(v(store.lower_unop(op, a))),
            Node::Bin(op, x, y) => Vector(binary(op, &v(x), &v(y))),
            Node::Rel(op, x, y) => Truth(relation(op, &v(x), &v(y))),
            Node::BoolOp(op, x, y) => Truth(boolean(op, &b(x), &b(y))),
            Node::Not(a) => Truth(b(a).not()),
            Node::Ite(c, t, e) => Vector(b(c).ite(&v(t), &v(e))),
            Node::IteBool(c, t, e) => Truth(b(c).ite(&b(t), &b(e))),
            Node::Extract { of, low } => Vector(v(of).extract(u32::from(low) + width - 1, low.into())),
            Node::Concat(high, low) => Vector(v(high).concat(v(low))),
            Node::Zext(a) => Vector(v(a).zero_ext(width - u32::from(store.width(a)))),
            Node::Sext(a) => Vector(v(a).sign_ext(width - u32::from(store.width(a)))),
            Node::FloatUn(op, r, a) => Vector(floats::unary(op, r, &v(a))),
            Node::FloatBin(op, r, x, y) => Vector(floats::binary(op, r, &v(x), &v(y))),
            Node::Fma(r, x, y, z) => Vector(floats::fused(r, &v(x), &v(y), &v(z))),
            Node::FloatRel(op, x, y) => Truth(floats::relation(op, &v(x), &v(y))),
            Node::FloatToFloat(r, a) => Vector(floats::to_float(r, &v(a), width)),
            Node::IntToFloat { signed, rounding, of } => {
                Vector(floats::from_integer(signed, rounding, &v(of), width))
            }
            Node::FloatToInt { signed, rounding, of } => {
                Vector(floats::to_integer(signed, rounding, &v(of), width))
            }
            Node::FuncSymbol(_) | Node::ConstMap(_) | Node::Update(..) | Node::IteMap(..) => {
                return Err(Reason::Internal("a function expression outside a read".to_owned()));
            }
        })
    }
}

fn binary(op: BinOp, x: &BV, y: &BV) -> BV {
    match op {
        BinOp::Add => x.bvadd(y),
        BinOp::Sub => x.bvsub(y),
        BinOp::Mul => x.bvmul(y),
        BinOp::Udiv => x.bvudiv(y),
        BinOp::Urem => x.bvurem(y),
        BinOp::Sdiv => x.bvsdiv(y),
        BinOp::Srem => x.bvsrem(y),
        BinOp::And => x.bvand(y),
        BinOp::Or => x.bvor(y),
        BinOp::Xor => x.bvxor(y),
        BinOp::Shl => x.bvshl(y),
        BinOp::Lshr => x.bvlshr(y),
        BinOp::Ashr => x.bvashr(y),
    }
}

fn relation(op: RelOp, x: &BV, y: &BV) -> Bool {
    match op {
        RelOp::Eq => x.eq(y),
        RelOp::Ne => x.eq(y).not(),
        RelOp::Ult => x.bvult(y),
        RelOp::Ule => x.bvule(y),
        RelOp::Ugt => x.bvugt(y),
        RelOp::Uge => x.bvuge(y),
        RelOp::Slt => x.bvslt(y),
        RelOp::Sle => x.bvsle(y),
        RelOp::Sgt => x.bvsgt(y),
        RelOp::Sge => x.bvsge(y),
    }
}

fn boolean(op: BoolOp, x: &Bool, y: &Bool) -> Bool {
    match op {
        BoolOp::And => Bool::and(&[x, y]),
        BoolOp::Or => Bool::or(&[x, y]),
        BoolOp::Xor => x.xor(y),
        BoolOp::Implies => x.implies(y),
        BoolOp::Iff => x.iff(y),
    }
}

/// A constant vector.
pub(super) fn constant(value: &Bits) -> BV {
    let width = u32::from(value.width());
    match value.to_u64() {
        Some(number) => BV::from_u64(number, width),
        None => {
            let bits: Vec<bool> = (0..value.width()).map(|index| value.bit(index)).collect();
            BV::from_bits(&bits).expect("a constant has bits")
        }
    }
}

/// The value of a constant vector.
pub(super) fn number(vector: &BV) -> Option<Bits> {
    let width = u16::try_from(vector.get_size()).ok()?;
    if width <= 64 {
        return Some(Bits::new(width, vector.as_u64()?.into()));
    }
    // Z3 prints a constant as `#x...` or `#b...`.
    let text = vector.to_string().replacen('#', "0", 1);
    Bits::parse(&text, width).ok()
}
