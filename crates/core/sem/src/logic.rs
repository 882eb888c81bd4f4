//! The meaning of L, written over the semantic core (Fig. 2: T, F, FE, U).
//!
//! Over the concrete reading these functions evaluate; over the symbolic reading they substitute, which gives weakest
//! liberal preconditions ([`formula`] under a program's structure update) and symbolic composition ([`update`]).
//! Expressions are walked in order of age, operands first, each once: depth and sharing cost nothing.

use crate::{Core, Symbolic};
use parallax_op::FloatFormat;
use parallax_term::{Expr, Formula, FuncExpr, Id, Node, Sort, Store, StructUpdate, Symbol, Term};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// The meaning of a constant symbol.
#[derive(Clone)]
pub enum Scalar<C: Core> {
    /// A vector.
    Val(C::Val),
    /// A truth value.
    Bool(C::Bool),
}

/// A logical structure: what the symbols of the vocabulary mean. Symbols it does not mention mean what the reading
/// says of them ([`Core::symbol`] and its kin).
#[derive(Clone)]
pub struct Struct<C: Core> {
    /// Meanings of constant symbols.
    pub constants: BTreeMap<Symbol, Scalar<C>>,
    /// Meanings of function symbols.
    pub functions: BTreeMap<Symbol, C::Map>,
}

impl<C: Core> Default for Struct<C> {
    fn default() -> Self {
        Struct { constants: BTreeMap::new(), functions: BTreeMap::new() }
    }
}

impl<C: Core> Struct<C> {
    /// The structure in which every symbol means what the reading says of it.
    pub fn new() -> Self {
        Struct::default()
    }

    /// `lookupId` of the paper.
    pub fn lookup_constant(&self, core: &C, store: &Store, symbol: Symbol) -> Scalar<C> {
        if let Some(known) = self.constants.get(&symbol) {
            return known.clone();
        }
        let info = store.info(symbol);
        match info.sort {
            Sort::Bool => Scalar::Bool(core.bool_symbol(&info.name)),
            Sort::Bits(width) => Scalar::Val(core.symbol(&info.name, width)),
            Sort::Map { .. } => panic!("{} is a function symbol", info.name),
        }
    }

    /// `lookupFuncId` of the paper.
    pub fn lookup_function(&self, core: &C, store: &Store, symbol: Symbol) -> C::Map {
        if let Some(known) = self.functions.get(&symbol) {
            return known.clone();
        }
        let info = store.info(symbol);
        match info.sort {
            Sort::Map { key, value } => core.map_symbol(&info.name, key, value),
            _ => panic!("{} is a constant symbol", info.name),
        }
    }

    /// Interprets a vector-valued symbol.
    pub fn set_val(&mut self, symbol: Symbol, value: C::Val) {
        self.constants.insert(symbol, Scalar::Val(value));
    }

    /// Interprets a Boolean symbol.
    pub fn set_bool(&mut self, symbol: Symbol, value: C::Bool) {
        self.constants.insert(symbol, Scalar::Bool(value));
    }

    /// Interprets a function symbol.
    pub fn set_map(&mut self, symbol: Symbol, value: C::Map) {
        self.functions.insert(symbol, value);
    }
}

impl<'s> Struct<Symbolic<'s>> {
    /// A structure update is a structure of the symbolic reading.
    pub fn from_update(update: &StructUpdate) -> Self {
        let mut structure = Struct::new();
        for (symbol, value) in update.constants() {
            match value {
                parallax_term::Scalar::Term(term) => structure.set_val(symbol, term),
                parallax_term::Scalar::Formula(formula) => structure.set_bool(symbol, formula),
            }
        }
        for (symbol, value) in update.functions() {
            structure.set_map(symbol, value);
        }
        structure
    }

    /// And the other way round.
    pub fn to_update(&self, store: &Store) -> StructUpdate {
        let mut update = StructUpdate::identity();
        for (&symbol, value) in &self.constants {
            let value = match value {
                Scalar::Val(term) => parallax_term::Scalar::Term(*term),
                Scalar::Bool(formula) => parallax_term::Scalar::Formula(*formula),
            };
            update.set_constant(store, symbol, value);
        }
        for (&symbol, &value) in &self.functions {
            update.set_function(store, symbol, value);
        }
        update
    }
}

/// T: the meaning of a term.
pub fn term<C: Core>(core: &C, store: &Store, t: Term, s: &Struct<C>) -> C::Val {
    Evaluation::of(core, store, s, [t.id()]).val(t)
}

/// F: the meaning of a formula.
pub fn formula<C: Core>(core: &C, store: &Store, phi: Formula, s: &Struct<C>) -> C::Bool {
    Evaluation::of(core, store, s, [phi.id()]).truth(phi)
}

/// FE: the meaning of a function expression.
pub fn func_expr<C: Core>(core: &C, store: &Store, fe: FuncExpr, s: &Struct<C>) -> C::Map {
    Evaluation::of(core, store, s, [fe.id()]).map(fe)
}

/// U: the meaning of a structure update. Over the symbolic reading this is composition: `s`, then `u`.
pub fn update<C: Core>(core: &C, store: &Store, u: &StructUpdate, s: &Struct<C>) -> Struct<C> {
    let evaluation = Evaluation::of(core, store, s, u.roots());
    let mut after = s.clone();
    for (symbol, value) in u.constants() {
        match value {
            parallax_term::Scalar::Term(term) => after.set_val(symbol, evaluation.val(term)),
            parallax_term::Scalar::Formula(formula) => after.set_bool(symbol, evaluation.truth(formula)),
        }
    }
    for (symbol, value) in u.functions() {
        after.set_map(symbol, evaluation.map(value));
    }
    after
}

/// Symbolic composition: the update that does `first`, then `second`.
pub fn compose(store: &Store, second: &StructUpdate, first: &StructUpdate) -> StructUpdate {
    update(&Symbolic::new(store), store, second, &Struct::from_update(first)).to_update(store)
}

/// A formula with a program's structure update read into it. For the update of a program this is the weakest liberal
/// precondition of the formula.
pub fn precondition(store: &Store, program: &StructUpdate, post: Formula) -> Formula {
    formula(&Symbolic::new(store), store, post, &Struct::from_update(program))
}

enum Meaning<C: Core> {
    Val(C::Val),
    Bool(C::Bool),
    Map(C::Map),
}

/// The meanings of everything below some roots.
pub struct Evaluation<C: Core> {
    meanings: FxHashMap<Id, Meaning<C>>,
}

impl<C: Core> Evaluation<C> {
    /// Evaluates everything below `roots`.
    pub fn of(core: &C, store: &Store, s: &Struct<C>, roots: impl IntoIterator<Item = Id>) -> Self {
        let order = store.post_order(roots);
        let mut evaluation = Evaluation { meanings: FxHashMap::default() };
        evaluation.meanings.reserve(order.len());
        for id in order {
            let meaning = evaluation.step(core, store, s, id);
            evaluation.meanings.insert(id, meaning);
        }
        evaluation
    }

    /// The meaning of a term among those evaluated.
    pub fn val(&self, t: Term) -> C::Val {
        match &self.meanings[&t.id()] {
            Meaning::Val(value) => value.clone(),
            _ => unreachable!("a term means a value"),
        }
    }

    /// The meaning of a formula among those evaluated.
    pub fn truth(&self, f: Formula) -> C::Bool {
        match &self.meanings[&f.id()] {
            Meaning::Bool(value) => value.clone(),
            _ => unreachable!("a formula means a truth value"),
        }
    }

    /// The meaning of a function expression among those evaluated.
    pub fn map(&self, f: FuncExpr) -> C::Map {
        match &self.meanings[&f.id()] {
            Meaning::Map(value) => value.clone(),
            _ => unreachable!("a function expression means a map"),
        }
    }

    /// One equation of Fig. 2 for each form.
    fn step(&self, core: &C, store: &Store, s: &Struct<C>, id: Id) -> Meaning<C> {
        use Meaning::{Bool, Map, Val};
        let v = |t: Term| match &self.meanings[&t.id()] {
            Val(value) => value,
            _ => unreachable!("a term means a value"),
        };
        let b = |f: Formula| match &self.meanings[&f.id()] {
            Bool(value) => value,
            _ => unreachable!("a formula means a truth value"),
        };
        let m = |f: FuncExpr| match &self.meanings[&f.id()] {
            Map(value) => value,
            _ => unreachable!("a function expression means a map"),
        };
        let w = |t: Term| store.width(t);
        let width = match store.expr(id) {
            Expr::Term(term) => w(term),
            _ => 0,
        };
        let format_of = |width| FloatFormat::of_width(width).expect("a float format");
        let format = |t: Term| format_of(w(t));
        match store.node(id) {
            Node::Const(c) => Val(core.constant(&c)),
            Node::Symbol(symbol) => match s.lookup_constant(core, store, symbol) {
                Scalar::Val(value) => Val(value),
                Scalar::Bool(value) => Bool(value),
            },
            Node::Un(op, a) => Val(core.unop(op, w(a), v(a))),
            Node::Bin(op, a, c) => Val(core.binop(op, w(a), v(a), v(c))),
            Node::Ite(c, t, e) => Val(core.cond(w(t), b(c), v(t), v(e))),
            Node::Extract { of, low } => Val(core.extract(w(of), low, width, v(of))),
            Node::Concat(high, low) => Val(core.concat(w(high), w(low), v(high), v(low))),
            Node::Zext(a) => Val(core.zext(w(a), width, v(a))),
            Node::Sext(a) => Val(core.sext(w(a), width, v(a))),
            Node::FloatUn(op, r, a) => Val(core.float_un(op, format(a), r, v(a))),
            Node::FloatBin(op, r, a, c) => Val(core.float_bin(op, format(a), r, v(a), v(c))),
            Node::Fma(r, a, c, d) => Val(core.float_fma(format(a), r, v(a), v(c), v(d))),
            Node::FloatToFloat(r, a) => Val(core.float_to_float(format(a), format_of(width), r, v(a))),
            Node::IntToFloat { signed, rounding, of } => {
                Val(core.int_to_float(signed, w(of), format_of(width), rounding, v(of)))
            }
            Node::FloatToInt { signed, rounding, of } => {
                Val(core.float_to_int(signed, format(of), width, rounding, v(of)))
            }
            Node::Access(map, key) => Val(core.access(m(map), v(key))),

            Node::Bool(value) => Bool(core.boolean(value)),
            Node::Rel(op, a, c) => Bool(core.relop(op, w(a), v(a), v(c))),
            Node::FloatRel(op, a, c) => Bool(core.float_rel(op, format(a), v(a), v(c))),
            Node::Not(a) => Bool(core.not(b(a))),
            Node::BoolOp(op, a, c) => Bool(core.boolop(op, b(a), b(c))),
            Node::IteBool(c, t, e) => Bool(core.cond_bool(b(c), b(t), b(e))),

            Node::FuncSymbol(symbol) => Map(s.lookup_function(core, store, symbol)),
            Node::ConstMap(value) => match store.sort(id) {
                Sort::Map { key, value: width } => Map(core.constant_map(key, width, v(value))),
                _ => unreachable!("a constant map is a map"),
            },
            Node::Update(map, key, value) => Map(core.update(m(map).clone(), v(key), v(value).clone())),
            Node::IteMap(c, t, e) => Map(core.cond_map(b(c), m(t), m(e))),
        }
    }
}
