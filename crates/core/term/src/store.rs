//! The store: where expressions live, each once.

use crate::apart::Apart;
use crate::node::{Expr, Formula, FuncExpr, Id, Node, Op, Packed, Sort, Term};
use hashbrown::HashTable;
use parallax_op::{Bits, Rounding, Width};
use rustc_hash::{FxBuildHasher, FxHashMap};
use std::cell::RefCell;
use std::hash::BuildHasher;

/// A name of the vocabulary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Symbol(pub(crate) u32);

/// What a symbol stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SymbolKind {
    /// Any value.
    Free,
    /// The first of `extent` consecutive addresses that no other address symbol covers, and that include neither zero
    /// nor a wrap-around. An extent of zero means one address.
    Address {
        /// How many addresses the object covers.
        extent: u64,
    },
}

/// What the store knows of a symbol.
#[derive(Clone, Debug)]
pub struct SymbolInfo {
    /// Its name, unique in its store.
    pub name: std::rc::Rc<str>,
    /// Its sort.
    pub sort: Sort,
    /// What it stands for.
    pub kind: SymbolKind,
    id: Id,
}

/// How full a store is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Statistics {
    /// Distinct expressions.
    pub expressions: usize,
    /// Bytes held for them, tables included.
    pub bytes: usize,
}

/// A store of hash-consed expressions.
///
/// Constructors take `&self`: a reading hands out expressions from many places at once. A store stays on its thread.
pub struct Store {
    inner: RefCell<Inner>,
    /// The region that is kept apart, if one is.
    pub(crate) apart: RefCell<Option<Box<Apart>>>,
}

#[derive(Default)]
struct Inner {
    nodes: Vec<Packed>,
    table: HashTable<u32>,
    wide: Vec<Bits>,
    wide_ids: FxHashMap<Bits, u32>,
    symbols: Vec<SymbolInfo>,
    names: FxHashMap<std::rc::Rc<str>, Symbol>,
    access: FxHashMap<(u32, u32), u32>,
}

impl Default for Store {
    fn default() -> Self {
        Store::new()
    }
}

impl Store {
    /// An empty store.
    pub fn new() -> Self {
        let store = Store { inner: RefCell::default(), apart: RefCell::default() };
        store.intern(Packed::new(Op::False, 0, 0, 0, 0));
        store.intern(Packed::new(Op::True, 0, 0, 0, 0));
        store
    }

    /// The id of a node, new or old.
    #[inline]
    pub(crate) fn intern(&self, packed: Packed) -> u32 {
        let mut inner = self.inner.borrow_mut();
        let Inner { nodes, table, .. } = &mut *inner;
        let hash = |p: &Packed| FxBuildHasher.hash_one(p);
        let entry =
            table.entry(hash(&packed), |&id| nodes[id as usize] == packed, |&id| hash(&nodes[id as usize]));
        match entry {
            hashbrown::hash_table::Entry::Occupied(found) => *found.get(),
            hashbrown::hash_table::Entry::Vacant(vacant) => {
                let id = u32::try_from(nodes.len()).expect("a store holds fewer than 2^32 expressions");
                nodes.push(packed);
                vacant.insert(id);
                id
            }
        }
    }

    #[inline]
    pub(crate) fn packed(&self, id: impl Into<Id>) -> Packed {
        self.inner.borrow().nodes[id.into().0 as usize]
    }

    /// How many expressions there are; every id is below.
    pub fn len(&self) -> usize {
        self.inner.borrow().nodes.len()
    }

    /// Never: the truth constants are always there.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// How full the store is.
    pub fn statistics(&self) -> Statistics {
        let inner = self.inner.borrow();
        let bytes = inner.nodes.capacity() * std::mem::size_of::<Packed>()
            + inner.table.capacity() * (std::mem::size_of::<u32>() + 1)
            + inner.wide.capacity() * 2 * std::mem::size_of::<Bits>()
            + inner.access.capacity() * 13;
        Statistics { expressions: inner.nodes.len(), bytes }
    }

    /// A bit-vector constant.
    pub fn constant(&self, value: &Bits) -> Term {
        let width = value.width();
        if width <= 64 {
            let bits = value.small().expect("64 bits at most") as u64;
            return Term(self.intern(Packed::new(Op::Const, width, bits as u32, (bits >> 32) as u32, 0)));
        }
        let index = {
            let mut inner = self.inner.borrow_mut();
            match inner.wide_ids.get(value) {
                Some(&index) => index,
                None => {
                    let index = u32::try_from(inner.wide.len()).expect("fewer than 2^32 constants");
                    inner.wide.push(value.clone());
                    inner.wide_ids.insert(value.clone(), index);
                    index
                }
            }
        };
        Term(self.intern(Packed::new(Op::WideConst, width, index, 0, 0)))
    }

    /// A bit-vector constant from a number.
    pub fn number(&self, width: Width, value: u128) -> Term {
        self.constant(&Bits::new(width, value))
    }

    /// The value of a constant term.
    pub fn as_constant(&self, term: Term) -> Option<Bits> {
        self.constant_of(&self.packed(term))
    }

    pub(crate) fn constant_of(&self, packed: &Packed) -> Option<Bits> {
        match packed.op {
            Op::Const => Some(Bits::new(packed.width, u128::from(packed.a) | u128::from(packed.b) << 32)),
            Op::WideConst => Some(self.inner.borrow().wide[packed.a as usize].clone()),
            _ => None,
        }
    }

    /// True.
    pub fn true_(&self) -> Formula {
        Formula(1)
    }

    /// False.
    pub fn false_(&self) -> Formula {
        Formula(0)
    }

    /// A truth constant.
    pub fn boolean(&self, value: bool) -> Formula {
        Formula(u32::from(value))
    }

    /// The value of a constant formula.
    pub fn as_boolean(&self, formula: Formula) -> Option<bool> {
        match formula.0 {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }

    /// The symbol of this name, if it is declared.
    pub fn lookup(&self, name: &str) -> Option<Symbol> {
        self.inner.borrow().names.get(name).copied()
    }

    /// Every symbol, in order of declaration.
    pub fn symbols(&self) -> impl Iterator<Item = Symbol> + use<> {
        (0..self.inner.borrow().symbols.len() as u32).map(Symbol)
    }

    /// What a symbol stands for, without its name.
    #[inline]
    pub(crate) fn kind(&self, symbol: Symbol) -> SymbolKind {
        self.inner.borrow().symbols[symbol.0 as usize].kind
    }

    /// What the store knows of a symbol.
    pub fn info(&self, symbol: Symbol) -> SymbolInfo {
        self.inner.borrow().symbols[symbol.0 as usize].clone()
    }

    /// The expression that is a symbol.
    pub fn expr_of(&self, symbol: Symbol) -> Expr {
        let id = self.inner.borrow().symbols[symbol.0 as usize].id;
        self.expr(id)
    }

    /// Declares a symbol, or finds it again.
    ///
    /// # Panics
    /// When the name is taken by a symbol of another sort or kind: vocabularies are checked where programs are read.
    pub fn declare(&self, name: &str, sort: Sort, kind: SymbolKind) -> Symbol {
        if let Some(symbol) = self.lookup(name) {
            let info = self.info(symbol);
            assert!(
                info.sort == sort && info.kind == kind,
                "symbol {name} is already declared as {:?}",
                info.sort
            );
            return symbol;
        }
        let number = self.inner.borrow().symbols.len() as u32;
        let id = Id(self.intern(match sort {
            Sort::Bool => Packed::new(Op::Symbol, 0, number, 0, 0),
            Sort::Bits(width) => Packed::new(Op::Symbol, width, number, 0, 0),
            Sort::Map { key, value } => Packed::new(Op::FuncSymbol, value, number, key.into(), 0),
        }));
        let mut inner = self.inner.borrow_mut();
        let name: std::rc::Rc<str> = name.into();
        inner.symbols.push(SymbolInfo { name: name.clone(), sort, kind, id });
        inner.names.insert(name, Symbol(number));
        Symbol(number)
    }

    /// A bit-vector constant symbol.
    pub fn symbol(&self, name: &str, width: Width) -> Term {
        self.as_term(self.declare(name, Sort::Bits(width), SymbolKind::Free))
    }

    /// A symbol for the address of an object; see [`SymbolKind::Address`].
    pub fn address(&self, name: &str, width: Width, extent: u64) -> Term {
        self.as_term(self.declare(name, Sort::Bits(width), SymbolKind::Address { extent }))
    }

    /// A symbol whose name no other has: `base`, or `base` with a number.
    pub fn fresh(&self, base: &str, sort: Sort, kind: SymbolKind) -> Symbol {
        let mut name = base.to_owned();
        let mut number = 0u64;
        while self.lookup(&name).is_some() {
            number += 1;
            name = format!("{base}!{number}");
        }
        self.declare(&name, sort, kind)
    }

    /// A Boolean constant symbol.
    pub fn bool_symbol(&self, name: &str) -> Formula {
        match self.expr_of(self.declare(name, Sort::Bool, SymbolKind::Free)) {
            Expr::Formula(formula) => formula,
            _ => unreachable!("declared as a Boolean"),
        }
    }

    /// A function symbol.
    pub fn func_symbol(&self, name: &str, key: Width, value: Width) -> FuncExpr {
        match self.expr_of(self.declare(name, Sort::Map { key, value }, SymbolKind::Free)) {
            Expr::Func(func) => func,
            _ => unreachable!("declared as a map"),
        }
    }

    fn as_term(&self, symbol: Symbol) -> Term {
        match self.expr_of(symbol) {
            Expr::Term(term) => term,
            _ => unreachable!("declared as a bit-vector"),
        }
    }

    /// The width of a term.
    #[inline]
    pub fn width(&self, term: Term) -> Width {
        self.packed(term).width
    }

    /// The id with its sort.
    pub fn expr(&self, id: Id) -> Expr {
        let packed = self.packed(id);
        match packed.op {
            Op::FuncSymbol | Op::ConstMap | Op::Update | Op::IteMap => Expr::Func(FuncExpr(id.0)),
            _ if packed.width == 0 => Expr::Formula(Formula(id.0)),
            _ => Expr::Term(Term(id.0)),
        }
    }

    /// The sort of an expression.
    pub fn sort(&self, id: impl Into<Id>) -> Sort {
        let id = id.into();
        match self.expr(id) {
            Expr::Formula(_) => Sort::Bool,
            Expr::Term(term) => Sort::Bits(self.width(term)),
            Expr::Func(func) => Sort::Map { key: self.key_width(func), value: self.packed(func).width },
        }
    }

    /// The width of a map's keys.
    pub fn key_width(&self, map: FuncExpr) -> Width {
        let mut map = map.0;
        loop {
            let packed = self.packed(Id(map));
            match packed.op {
                Op::FuncSymbol | Op::ConstMap => return packed.b as Width,
                Op::Update => return self.packed(Id(packed.b)).width,
                Op::IteMap => map = packed.b,
                other => unreachable!("{other:?} is no map"),
            }
        }
    }

    /// The operands of an expression, in order.
    pub fn operands(&self, id: Id) -> impl DoubleEndedIterator<Item = Id> + use<> {
        self.packed(id).operands()
    }

    /// Every expression below `roots`, each once, operands before what is built from them.
    pub fn post_order(&self, roots: impl IntoIterator<Item = Id>) -> Vec<Id> {
        let mut seen: Vec<u64> = Vec::new();
        let mut stack: Vec<Id> = roots.into_iter().collect();
        let mut found = Vec::new();
        while let Some(id) = stack.pop() {
            let (word, bit) = (id.index() / 64, 1u64 << (id.index() % 64));
            if seen.len() <= word {
                seen.resize(word + 1, 0);
            }
            if seen[word] & bit == 0 {
                seen[word] |= bit;
                found.push(id);
                stack.extend(self.operands(id));
            }
        }
        // Operands are always older, so the order of creation is an order of evaluation.
        found.sort_unstable();
        found
    }

    /// The symbols that occur below `roots`.
    pub fn symbols_in(&self, roots: impl IntoIterator<Item = Id>) -> Vec<Symbol> {
        self.post_order(roots)
            .into_iter()
            .filter_map(|id| {
                let packed = self.packed(id);
                matches!(packed.op, Op::Symbol | Op::FuncSymbol).then_some(Symbol(packed.a))
            })
            .collect()
    }

    pub(crate) fn cached_access(&self, map: u32, key: u32) -> Option<Term> {
        self.inner.borrow().access.get(&(map, key)).copied().map(Term)
    }

    pub(crate) fn cache_access(&self, map: u32, key: u32, value: Term) {
        self.inner.borrow_mut().access.insert((map, key), value.0);
    }

    /// One level of an expression.
    pub fn node(&self, id: impl Into<Id>) -> Node {
        let packed = self.packed(id.into());
        let Packed { op, width, a, b, c } = packed;
        let rounding = || Rounding::ALL[c as usize];
        match op {
            Op::True => Node::Bool(true),
            Op::False => Node::Bool(false),
            Op::Const | Op::WideConst => Node::Const(self.constant_of(&packed).expect("a constant")),
            Op::Symbol => Node::Symbol(Symbol(a)),
            Op::FuncSymbol => Node::FuncSymbol(Symbol(a)),
            Op::ConstMap => Node::ConstMap(Term(a)),
            Op::Un(op) => Node::Un(op, Term(a)),
            Op::Bin(op) => Node::Bin(op, Term(a), Term(b)),
            Op::Rel(op) => Node::Rel(op, Term(a), Term(b)),
            Op::Bool(op) => Node::BoolOp(op, Formula(a), Formula(b)),
            Op::Not => Node::Not(Formula(a)),
            Op::Ite if width == 0 => Node::IteBool(Formula(a), Formula(b), Formula(c)),
            Op::Ite => Node::Ite(Formula(a), Term(b), Term(c)),
            Op::IteMap => Node::IteMap(Formula(a), FuncExpr(b), FuncExpr(c)),
            Op::Extract => Node::Extract { of: Term(a), low: b as Width },
            Op::Concat => Node::Concat(Term(a), Term(b)),
            Op::Zext => Node::Zext(Term(a)),
            Op::Sext => Node::Sext(Term(a)),
            Op::FloatUn(op) => Node::FloatUn(op, rounding(), Term(a)),
            Op::FloatBin(op) => Node::FloatBin(op, rounding(), Term(a), Term(b)),
            Op::Fma(rounding) => Node::Fma(rounding, Term(a), Term(b), Term(c)),
            Op::FloatRel(op) => Node::FloatRel(op, Term(a), Term(b)),
            Op::FloatToFloat(rounding) => Node::FloatToFloat(rounding, Term(a)),
            Op::SintToFloat(rounding) => Node::IntToFloat { signed: true, rounding, of: Term(a) },
            Op::UintToFloat(rounding) => Node::IntToFloat { signed: false, rounding, of: Term(a) },
            Op::FloatToSint(rounding) => Node::FloatToInt { signed: true, rounding, of: Term(a) },
            Op::FloatToUint(rounding) => Node::FloatToInt { signed: false, rounding, of: Term(a) },
            Op::Access => Node::Access(FuncExpr(a), Term(b)),
            Op::Update => Node::Update(FuncExpr(a), Term(b), Term(c)),
        }
    }
}
