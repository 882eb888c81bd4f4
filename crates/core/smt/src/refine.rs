//! Functions by lemmas on demand (Brummayer, Biere: *Lemmas on Demand for the Extensional Theory of Arrays*).
//!
//! A backend takes every `FE(k)` for an unknown vector. Its answer "unsat" then stands; a candidate model is held
//! against what functions are: each read is walked down its function expression under the candidate's values, and
//! where it should have met another value, the reason becomes a lemma. Only what a query stumbles over is ever written
//! out, so long chains of updates cost nothing unless they matter. Promises of address symbols are treated likewise.
//!
//! Lemmas follow from the meaning of functions alone, so a backend may keep them for ever.

use crate::{Model, Reason, address};
use parallax_op::Bits;
use parallax_sem::Table;
use parallax_term::{Expr, Formula, FuncExpr, Id, Node, Store, Symbol, Term};
use rustc_hash::{FxHashMap, FxHashSet};

/// If the premises hold, so does the conclusion.
pub(crate) struct Lemma {
    pub premises: Vec<Formula>,
    pub conclusion: Formula,
}

/// A backend, as the refinement sees it: a solver for which every read is an unknown.
pub(crate) trait Engine {
    /// Adds a lemma for good.
    fn learn(&mut self, lemma: &Lemma) -> Result<(), Reason>;
    /// Whether there is a candidate. Afterwards, and until the next call, values may be asked for.
    fn search(&mut self) -> Result<bool, Reason>;
    /// The candidate's value of a term, if the engine has met the term.
    fn value(&self, term: Term) -> Option<Bits>;
    /// The candidate's value of a formula, if the engine has met the formula.
    fn truth(&self, formula: Formula) -> Option<bool>;
}

/// What a query mentions, down to the values that functions were updated with: those come in when a lemma names them.
#[derive(Default)]
pub(crate) struct Cone {
    seen: FxHashSet<Id>,
    /// Every expression met, in no order.
    pub members: Vec<Id>,
    pub symbols: Vec<Symbol>,
    pub reads: Vec<Term>,
    pub floats: bool,
    /// The formulas of the query, each with how much there was before it.
    query: Vec<(Formula, Extent)>,
}

#[derive(Clone, Copy)]
struct Extent {
    members: usize,
    symbols: usize,
    reads: usize,
    floats: bool,
}

impl Cone {
    /// Makes this the cone of `query`. What a query begins with is mostly what the last one began with, and stays:
    /// so many members.
    pub fn aim(&mut self, store: &Store, query: &[Formula]) -> usize {
        let shared = self.query.iter().zip(query).take_while(|((known, _), asked)| known == *asked).count();
        let shared = shared.min(query.len().saturating_sub(1));
        if let Some(&(_, extent)) = self.query.get(shared) {
            for id in self.members.drain(extent.members..) {
                self.seen.remove(&id);
            }
            self.symbols.truncate(extent.symbols);
            self.reads.truncate(extent.reads);
            self.floats = extent.floats;
            self.query.truncate(shared);
        }
        let kept = self.members.len();
        for &formula in &query[shared..] {
            let extent = Extent {
                members: self.members.len(),
                symbols: self.symbols.len(),
                reads: self.reads.len(),
                floats: self.floats,
            };
            self.query.push((formula, extent));
            self.extend(store, [formula]);
        }
        kept
    }

    pub fn extend(&mut self, store: &Store, roots: impl IntoIterator<Item = Formula>) {
        let mut stack: Vec<Id> = roots.into_iter().map(|f| f.id()).collect();
        while let Some(id) = stack.pop() {
            if !self.seen.insert(id) {
                continue;
            }
            self.members.push(id);
            match store.node(id) {
                Node::Update(map, key, _) => stack.extend([map.id(), key.id()]),
                Node::ConstMap(_) => {}
                Node::Symbol(symbol) | Node::FuncSymbol(symbol) => self.symbols.push(symbol),
                node => {
                    match node {
                        Node::Access(..) => {
                            if let Expr::Term(read) = store.expr(id) {
                                self.reads.push(read);
                            }
                        }
                        _ => self.floats |= is_float(&node),
                    }
                    stack.extend(store.operands(id));
                }
            }
        }
    }
}

fn is_float(node: &Node) -> bool {
    matches!(
        node,
        Node::FloatUn(..)
            | Node::FloatBin(..)
            | Node::Fma(..)
            | Node::FloatRel(..)
            | Node::FloatToFloat(..)
            | Node::IntToFloat { .. }
            | Node::FloatToInt { .. }
    )
}

/// Searches until a candidate is a model: that model, or nothing when there is none.
pub(crate) fn solve(
    store: &Store,
    engine: &mut impl Engine,
    query: &[Formula],
    cone: &mut Cone,
) -> Result<Option<Model>, Reason> {
    let mut promised = 0;
    loop {
        while promised < cone.symbols.len() {
            for axiom in store.axioms([cone.symbols[promised]]) {
                engine.learn(&Lemma { premises: Vec::new(), conclusion: axiom })?;
            }
            promised += 1;
        }
        if !engine.search()? {
            return Ok(None);
        }
        let (lemmas, tables) = broken(store, engine, cone);
        if lemmas.is_empty() {
            let mut model = model(store, engine, cone, tables);
            // Without reads the cone is all of the query.
            let symbols = match cone.reads.is_empty() {
                true => cone.symbols.clone(),
                false => store.symbols_in(query.iter().map(|f| f.id())),
            };
            address::complete(store, &mut model, symbols.iter().copied());
            if !model.satisfies(store, query, &symbols) {
                debug_assert!(false, "a model that does not hold: {}", model.display(store));
                return Err(Reason::Internal("a model that does not hold".to_owned()));
            }
            return Ok(Some(model));
        }
        for lemma in &lemmas {
            engine.learn(lemma)?;
            cone.extend(store, lemma.premises.iter().copied().chain([lemma.conclusion]));
        }
    }
}

type Tables = FxHashMap<Symbol, FxHashMap<Bits, Read>>;

/// A read that reached a function symbol: its value, and the way there.
struct Read {
    value: Bits,
    term: Term,
    key: Term,
    way: Vec<Formula>,
}

/// What the candidate breaks; when that is nothing, the tables of its functions.
fn broken(store: &Store, engine: &impl Engine, cone: &Cone) -> (Vec<Lemma>, Tables) {
    let value_of = |symbol: Symbol| match store.expr_of(symbol) {
        Expr::Term(term) => engine.value(term),
        _ => None,
    };
    let mut lemmas: Vec<Lemma> = address::broken(store, &cone.symbols, value_of)
        .into_iter()
        .map(|conclusion| Lemma { premises: Vec::new(), conclusion })
        .collect();
    let mut tables = Tables::default();
    if !lemmas.is_empty() {
        // Comparisons of keys were simplified under the promises: they come first.
        return (lemmas, tables);
    }
    for &read in &cone.reads {
        let Node::Access(map, key) = store.node(read) else { continue };
        let (Some(value), Some(at)) = (engine.value(read), engine.value(key)) else { continue };
        let (way, end) = walk(store, engine, map, key, &at);
        match end {
            End::Value(term) => {
                if engine.value(term).as_ref() != Some(&value) {
                    lemmas.push(Lemma { premises: way, conclusion: store.eq(read, term) });
                }
            }
            End::Symbol(symbol) => {
                let table = tables.entry(symbol).or_default();
                match table.get(&at) {
                    None => {
                        table.insert(at, Read { value, term: read, key, way });
                    }
                    Some(known) if known.value == value => {}
                    Some(known) => {
                        let mut premises = way;
                        premises.extend(known.way.iter().copied());
                        premises.push(store.eq(key, known.key));
                        lemmas.push(Lemma { premises, conclusion: store.eq(read, known.term) });
                    }
                }
            }
        }
    }
    (lemmas, tables)
}

enum End {
    Value(Term),
    Symbol(Symbol),
}

/// Walks a read down a function expression: what is met at the end, and the facts that led there.
fn walk(store: &Store, engine: &impl Engine, map: FuncExpr, key: Term, at: &Bits) -> (Vec<Formula>, End) {
    let mut way = Vec::new();
    let mut map = map;
    loop {
        match store.node(map) {
            Node::Update(below, entry, value) => {
                if entry == key {
                    return (way, End::Value(value));
                }
                if store.definitely_different(entry, key) {
                    map = below;
                } else if engine.value(entry).as_ref() == Some(at) {
                    way.push(store.eq(key, entry));
                    return (way, End::Value(value));
                } else {
                    way.push(store.ne(key, entry));
                    map = below;
                }
            }
            Node::IteMap(condition, then, otherwise) => {
                if engine.truth(condition) == Some(true) {
                    way.push(condition);
                    map = then;
                } else {
                    way.push(store.not(condition));
                    map = otherwise;
                }
            }
            Node::ConstMap(value) => return (way, End::Value(value)),
            Node::FuncSymbol(symbol) => return (way, End::Symbol(symbol)),
            other => unreachable!("{other:?} is no function expression"),
        }
    }
}

fn model(store: &Store, engine: &impl Engine, cone: &Cone, tables: Tables) -> Model {
    let mut model = Model::new();
    for &symbol in &cone.symbols {
        match store.expr_of(symbol) {
            Expr::Term(term) => {
                if let Some(value) = engine.value(term) {
                    model.set_bits(symbol, value);
                }
            }
            Expr::Formula(formula) => {
                if let Some(value) = engine.truth(formula) {
                    model.set_boolean(symbol, value);
                }
            }
            Expr::Func(func) => {
                if let parallax_term::Sort::Map { value, .. } = store.sort(func) {
                    model.set_table(symbol, Table::new(Bits::zero(value)));
                }
            }
        }
    }
    for (symbol, reads) in tables {
        let mut table = model.table(symbol).cloned();
        for (key, read) in reads {
            table.get_or_insert_with(|| Table::new(Bits::zero(read.value.width()))).set(key, read.value);
        }
        if let Some(table) = table {
            model.set_table(symbol, table);
        }
    }
    model
}
