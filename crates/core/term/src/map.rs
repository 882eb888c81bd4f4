//! Function expressions: `access` and `update` by the three-way rule of section 4.
//!
//! Two keys are equal as terms, definitely different, or possibly equal. Definite difference comes from constants,
//! from one base with two offsets, from address symbols, whose objects do not overlap, and from a region that is kept
//! apart ([`Store::keep_apart`]).
//!
//! Two choices go beyond the paper, for size. An update whose key already stands in the expression, above only
//! definitely different keys, changes that entry in place; otherwise it goes on top (the paper lets it sink to the
//! bottom, which rebuilds every entry above). And an access that has met many possibly equal keys keeps the rest of
//! the expression as it is, `FE(k)` with `FE` an update, instead of unfolding it for ever.

use crate::node::{Formula, FuncExpr, Id, Op, Packed, Term};
use crate::store::{Store, Symbol, SymbolKind};
use parallax_op::{BinOp, Bits, RelOp};

/// How many possibly equal keys an access unfolds into conditionals.
const UNFOLD: usize = 32;
/// How many conditionals between maps an access looks through.
const MERGES: usize = 8;
/// How many entries an update looks through for its key.
const IN_PLACE: usize = 64;

/// How two keys compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Compared {
    Equal,
    Different,
    Perhaps,
}

impl Store {
    /// Whether no interpretation makes the two terms equal, as far as can be told without search.
    pub fn definitely_different(&self, a: Term, b: Term) -> bool {
        let (pa, pb) = (self.packed(a), self.packed(b));
        // The start of one object against that of another: most questions, answered without arithmetic.
        if pa.op == Op::Symbol && pb.op == Op::Symbol {
            let starts = |symbol| matches!(self.kind(Symbol(symbol)), SymbolKind::Address { .. });
            return a != b && starts(pa.a) && starts(pb.a);
        }
        let (base_a, offset_a) = self.base_offset(a);
        let (base_b, offset_b) = self.base_offset(b);
        if base_a == base_b {
            return offset_a != offset_b;
        }
        let inside = |base: Option<Term>, offset: &Bits| -> bool {
            base.and_then(|base| self.extent(base))
                .is_some_and(|extent| offset.to_u64().is_some_and(|offset| offset < extent))
        };
        let apart = match (base_a, base_b) {
            // An object holds no address zero.
            (Some(_), None) => offset_b.is_zero() && inside(base_a, &offset_a),
            (None, Some(_)) => offset_a.is_zero() && inside(base_b, &offset_b),
            // Two objects share no address.
            _ => inside(base_a, &offset_a) && inside(base_b, &offset_b),
        };
        apart || self.are_computed_apart(a, b, base_a, base_b)
    }

    /// Whether two terms of which one is computed differ by what their spans tell. Cold: most keys are plain.
    fn are_computed_apart(&self, a: Term, b: Term, base_a: Option<Term>, base_b: Option<Term>) -> bool {
        let is_plain = |base: Term| matches!(self.packed(base).op, Op::Symbol | Op::Access);
        !base_a.into_iter().chain(base_b).all(is_plain) && self.spans_differ(a, b)
    }

    fn extent(&self, base: Term) -> Option<u64> {
        let packed = self.packed(base);
        if packed.op != Op::Symbol {
            return None;
        }
        match self.kind(Symbol(packed.a)) {
            SymbolKind::Address { extent } => Some(extent.max(1)),
            SymbolKind::Free => None,
        }
    }

    #[inline]
    fn compare_keys(&self, a: Term, b: Term) -> Compared {
        if a == b {
            Compared::Equal
        } else if self.definitely_different(a, b) || (self.keeps_apart() && self.are_apart(a, b)) {
            Compared::Different
        } else {
            Compared::Perhaps
        }
    }

    /// The map at a key.
    pub fn access(&self, map: FuncExpr, key: Term) -> Term {
        self.access_within(map, key, MERGES)
    }

    fn access_within(&self, map: FuncExpr, key: Term, merges: usize) -> Term {
        let mut perhaps: Vec<(u32, Term, Term)> = Vec::new();
        let mut current = map.0;
        let found = loop {
            let packed = self.packed(Id(current));
            match packed.op {
                Op::Update => {
                    let entry = Term(packed.b);
                    match self.compare_keys(key, entry) {
                        Compared::Equal => break Term(packed.c),
                        Compared::Different => current = packed.a,
                        Compared::Perhaps => {
                            if let Some(known) = self.cached_access(current, key.0) {
                                break known;
                            }
                            if perhaps.len() == UNFOLD {
                                break self.raw_access(current, key);
                            }
                            perhaps.push((current, entry, Term(packed.c)));
                            current = packed.a;
                        }
                    }
                }
                Op::ConstMap => break Term(packed.a),
                Op::IteMap if merges > 0 => {
                    if let Some(known) = self.cached_access(current, key.0) {
                        break known;
                    }
                    let t = self.access_within(FuncExpr(packed.b), key, merges - 1);
                    let e = self.access_within(FuncExpr(packed.c), key, merges - 1);
                    let either = self.ite(Formula(packed.a), t, e);
                    self.cache_access(current, key.0, either);
                    break either;
                }
                _ => break self.raw_access(current, key),
            }
        };
        perhaps.into_iter().rev().fold(found, |rest, (at, entry, value)| {
            let value = self.ite(self.eq(key, entry), value, rest);
            self.cache_access(at, key.0, value);
            value
        })
    }

    fn raw_access(&self, map: u32, key: Term) -> Term {
        let width = self.packed(Id(map)).width;
        Term(self.intern(Packed::new(Op::Access, width, map, key.0, 0)))
    }

    fn raw_update(&self, map: u32, key: Term, value: Term) -> u32 {
        self.intern(Packed::new(Op::Update, self.width(value), map, key.0, value.0))
    }

    /// The map, changed at a key.
    pub fn update(&self, map: FuncExpr, key: Term, value: Term) -> FuncExpr {
        assert_eq!(self.packed(map).width, self.width(value), "a value as wide as the map's");
        debug_assert_eq!(self.key_width(map), self.width(key), "a key as wide as the map's");
        let written = self.packed(value);
        if written.op == Op::Access && written.a == map.0 && written.b == key.0 {
            return map;
        }
        // Look for the key's entry below entries that are definitely different.
        let mut above: Vec<(Term, Term)> = Vec::new();
        let mut current = map.0;
        loop {
            let packed = self.packed(Id(current));
            if packed.op != Op::Update || above.len() == IN_PLACE {
                return FuncExpr(self.raw_update(map.0, key, value));
            }
            match self.compare_keys(key, Term(packed.b)) {
                Compared::Equal if packed.c == value.0 => return map,
                Compared::Equal => {
                    let changed = self.raw_update(packed.a, key, value);
                    let rebuilt = above.into_iter().rev().fold(changed, |m, (k, v)| self.raw_update(m, k, v));
                    return FuncExpr(rebuilt);
                }
                Compared::Different => {
                    above.push((Term(packed.b), Term(packed.c)));
                    current = packed.a;
                }
                Compared::Perhaps => return FuncExpr(self.raw_update(map.0, key, value)),
            }
        }
    }

    /// The map that is `value` everywhere.
    pub fn constant_map(&self, key_width: u16, value: Term) -> FuncExpr {
        FuncExpr(self.intern(Packed::new(Op::ConstMap, self.width(value), value.0, key_width.into(), 0)))
    }

    /// The updates above the bottom of a map, newest first, and the bottom: a symbol, a constant map, a conditional.
    pub fn updates(&self, map: FuncExpr) -> (Vec<(Term, Term)>, FuncExpr) {
        let mut entries = Vec::new();
        let mut current = map.0;
        loop {
            let packed = self.packed(Id(current));
            if packed.op != Op::Update {
                return (entries, FuncExpr(current));
            }
            entries.push((Term(packed.b), Term(packed.c)));
            current = packed.a;
        }
    }

    /// A conditional between two maps that differ in few entries with pairwise different keys, as one map with
    /// conditional values.
    pub(crate) fn merge_updates(&self, c: Formula, t: FuncExpr, e: FuncExpr) -> Option<FuncExpr> {
        // The newest expression that both are built on: walk down the younger of the two.
        let (mut x, mut y) = (t.0, e.0);
        let (mut x_entries, mut y_entries) = (Vec::new(), Vec::new());
        while x != y {
            let (side, entries) = if x > y { (&mut x, &mut x_entries) } else { (&mut y, &mut y_entries) };
            let packed = self.packed(Id(*side));
            if packed.op != Op::Update || entries.len() == IN_PLACE / 4 {
                return None;
            }
            entries.push((Term(packed.b), Term(packed.c)));
            *side = packed.a;
        }
        let mut keys: Vec<Term> = Vec::new();
        for &(key, _) in x_entries.iter().chain(&y_entries).rev() {
            if !keys.contains(&key) {
                keys.push(key);
            }
        }
        let distinct = |i: usize| {
            keys[..i].iter().all(|&other| self.compare_keys(keys[i], other) == Compared::Different)
        };
        if !(0..keys.len()).all(distinct) {
            return None;
        }
        keys.into_iter().try_fold(FuncExpr(x), |merged, key| {
            let value = self.ite(c, self.access(t, key), self.access(e, key));
            Some(self.update(merged, key, value))
        })
    }

    /// What address symbols among `symbols` promise, as formulas: every simplification holds under these.
    pub fn axioms(&self, symbols: impl IntoIterator<Item = Symbol>) -> Vec<Formula> {
        let objects: Vec<(Term, Bits)> = symbols
            .into_iter()
            .filter_map(|symbol| match (self.info(symbol).kind, self.expr_of(symbol)) {
                (SymbolKind::Address { extent }, crate::Expr::Term(base)) => {
                    let width = self.width(base);
                    Some((base, Bits::from_big(width, extent.max(1).into())))
                }
                _ => None,
            })
            .collect();
        let mut axioms = Vec::new();
        for (index, (base, extent)) in objects.iter().enumerate() {
            let zero = self.number(extent.width(), 0);
            axioms.push(self.not(self.raw_rel(RelOp::Eq, *base, zero)));
            if !extent.is_one() {
                // The last address does not wrap around.
                let last = BinOp::Sub.apply(extent, &Bits::one(extent.width()));
                let limit = self.constant(&BinOp::Sub.apply(&Bits::ones(extent.width()), &last));
                axioms.push(self.raw_rel(RelOp::Ule, *base, limit));
            }
            for (other, other_extent) in &objects[..index] {
                if other_extent.width() != extent.width() {
                    continue;
                }
                if extent.is_one() && other_extent.is_one() {
                    axioms.push(self.not(self.raw_rel(RelOp::Eq, *other, *base)));
                } else {
                    // One ends before the other starts: base - other >= its extent, both ways round the ring.
                    let gap = self.sub(*base, *other);
                    let back = self.sub(*other, *base);
                    let clear = self.raw_rel(RelOp::Ule, self.constant(other_extent), gap);
                    axioms.push(self.and(clear, self.raw_rel(RelOp::Ule, self.constant(extent), back)));
                }
            }
        }
        axioms
    }
}
