//! Terms: arithmetic, bitwise operators and shifts.
//!
//! Sums are kept in a normal form, bounded in size: monomials in order of id, positive ones first, the constant last.
//! So `base + offset` shows its base, and differences cancel.

use crate::node::{Id, Op, Packed, Term};
use crate::slice::BITS;
use crate::store::Store;
use parallax_op::{BinOp, Bits, UnOp, Width};

/// Sums and exclusive-ors with more operands than this are not flattened any further.
const FLAT: usize = 8;

impl Store {
    /// An operator on one term.
    pub fn unop(&self, op: UnOp, a: Term) -> Term {
        if let Some(a) = self.as_constant(a) {
            return self.constant(&op.apply(&a));
        }
        if let Some((c, t, e)) = self.constant_branches(a) {
            return self.ite(c, self.constant(&op.apply(&t)), self.constant(&op.apply(&e)));
        }
        let packed = self.packed(a);
        match op {
            UnOp::Not if packed.op == Op::Un(UnOp::Not) => Term(packed.a),
            UnOp::Neg => self.negate(a),
            _ => self.raw_un(op, a),
        }
    }

    /// Negation.
    pub fn neg(&self, a: Term) -> Term {
        self.unop(UnOp::Neg, a)
    }

    fn raw_un(&self, op: UnOp, a: Term) -> Term {
        Term(self.intern(Packed::new(Op::Un(op), self.width(a), a.0, 0, 0)))
    }

    pub(crate) fn raw_bin(&self, op: BinOp, a: Term, b: Term) -> Term {
        Term(self.intern(Packed::new(Op::Bin(op), self.width(a), a.0, b.0, 0)))
    }

    /// Constants last, otherwise older first: commuted operands meet in one node.
    fn raw_commutative(&self, op: BinOp, a: Term, b: Term) -> Term {
        let constant = |t: Term| matches!(self.packed(t).op, Op::Const | Op::WideConst);
        let swap = constant(a) || (!constant(b) && a.0 > b.0);
        if swap { self.raw_bin(op, b, a) } else { self.raw_bin(op, a, b) }
    }

    /// The condition and constant branches of a conditional between constants.
    pub(crate) fn constant_branches(&self, a: Term) -> Option<(crate::Formula, Bits, Bits)> {
        let packed = self.packed(a);
        if packed.op != Op::Ite {
            return None;
        }
        let t = self.as_constant(Term(packed.b))?;
        let e = self.as_constant(Term(packed.c))?;
        Some((crate::Formula(packed.a), t, e))
    }

    /// Sum.
    pub fn add(&self, a: Term, b: Term) -> Term {
        self.binop(BinOp::Add, a, b)
    }

    /// Difference.
    pub fn sub(&self, a: Term, b: Term) -> Term {
        self.binop(BinOp::Sub, a, b)
    }

    /// An operator on two terms of one width.
    pub fn binop(&self, op: BinOp, a: Term, b: Term) -> Term {
        let width = self.width(a);
        assert_eq!(width, self.width(b), "operands of {op:?} have one width");
        let (ca, cb) = (self.as_constant(a), self.as_constant(b));
        if let (Some(x), Some(y)) = (&ca, &cb) {
            return self.constant(&op.apply(x, y));
        }
        // ite(c, k1, k2) op k3 = ite(c, k1 op k3, k2 op k3)
        if let Some(k) = &cb
            && let Some((c, t, e)) = self.constant_branches(a)
        {
            return self.ite(c, self.constant(&op.apply(&t, k)), self.constant(&op.apply(&e, k)));
        }
        if let Some(k) = &ca
            && let Some((c, t, e)) = self.constant_branches(b)
        {
            return self.ite(c, self.constant(&op.apply(k, &t)), self.constant(&op.apply(k, &e)));
        }
        // (h1 ++ l1) op (h2 ++ l2) = (h1 op h2) ++ (l1 op l2): what memory gives byte by byte meets byte by byte.
        if matches!(op, BinOp::And | BinOp::Or | BinOp::Xor) {
            let (pa, pb) = (self.packed(a), self.packed(b));
            if pa.op == Op::Concat && pb.op == Op::Concat && self.width(Term(pa.b)) == self.width(Term(pb.b))
            {
                let high = self.binop(op, Term(pa.a), Term(pb.a));
                return self.concat(high, self.binop(op, Term(pa.b), Term(pb.b)));
            }
        }
        match op {
            BinOp::Add => self.sum(a, b),
            BinOp::Sub if cb.as_ref().is_some_and(Bits::is_zero) => a,
            BinOp::Sub if a == b => self.number(width, 0),
            BinOp::Sub => match self.remainder_of_difference(a, b) {
                Some(remainder) => remainder,
                None => self.sum(a, self.unop(UnOp::Neg, b)),
            },
            BinOp::Mul => self.product(a, b, ca, cb),
            BinOp::And | BinOp::Or => self.bitwise(op, a, b, ca, cb),
            BinOp::Xor => self.exclusive_or(a, b, ca, cb),
            BinOp::Shl | BinOp::Lshr | BinOp::Ashr => self.shift(op, a, b, ca, cb),
            BinOp::Udiv | BinOp::Urem | BinOp::Sdiv | BinOp::Srem => self.division(op, a, b, cb),
        }
    }

    fn negate(&self, a: Term) -> Term {
        let packed = self.packed(a);
        match packed.op {
            Op::Un(UnOp::Neg) => Term(packed.a),
            Op::Bin(BinOp::Add | BinOp::Mul) if packed.width <= 128 => {
                let mut form = Linear::new(packed.width);
                if form.add(self, a, u128::MAX) { form.build(self) } else { self.raw_un(UnOp::Neg, a) }
            }
            _ => self.raw_un(UnOp::Neg, a),
        }
    }

    fn sum(&self, a: Term, b: Term) -> Term {
        let (pa, pb) = (self.packed(a), self.packed(b));
        let is_leaf = |p: &Packed| !matches!(p.op, Op::Bin(BinOp::Add | BinOp::Mul) | Op::Un(UnOp::Neg));
        let zero = |p: &Packed| self.constant_of(p).is_some_and(|k| k.is_zero());
        if zero(&pa) {
            return b;
        }
        if zero(&pb) {
            return a;
        }
        if is_leaf(&pa) && is_leaf(&pb) && a != b {
            return self.raw_commutative(BinOp::Add, a, b);
        }
        if pa.width <= 128 {
            let mut form = Linear::new(pa.width);
            if form.add(self, a, 1) && form.add(self, b, 1) {
                return form.build(self);
            }
        }
        self.raw_commutative(BinOp::Add, a, b)
    }

    fn product(&self, a: Term, b: Term, ca: Option<Bits>, cb: Option<Bits>) -> Term {
        let (a, k) = match (ca, cb) {
            (Some(k), _) => (b, Some(k)),
            (_, k) => (a, k),
        };
        let Some(k) = k else { return self.raw_commutative(BinOp::Mul, a, b) };
        if k.is_zero() {
            return self.constant(&k);
        }
        if k.is_one() {
            return a;
        }
        if let Some(factor) = k.small() {
            let mut form = Linear::new(k.width());
            if form.add(self, a, factor) {
                return form.build(self);
            }
        }
        self.raw_bin(BinOp::Mul, a, self.constant(&k))
    }

    fn bitwise(&self, op: BinOp, a: Term, b: Term, ca: Option<Bits>, cb: Option<Bits>) -> Term {
        let (a, b, k) = if ca.is_some() { (b, a, ca) } else { (a, b, cb) };
        if a == b {
            return a;
        }
        let and = op == BinOp::And;
        if let Some(k) = k {
            if (and && k.is_ones()) || (!and && k.is_zero()) {
                return a;
            }
            if k.is_zero() || k.is_ones() {
                return b;
            }
            let packed = self.packed(a);
            if packed.op == Op::Bin(op)
                && let Some(inner) = self.as_constant(Term(packed.b))
            {
                return self.binop(op, Term(packed.a), self.constant(&op.apply(&inner, &k)));
            }
            // A mask that keeps or drops whole parts of a concatenation or extension.
            if matches!(packed.op, Op::Concat | Op::Zext)
                && let Some(parts) = self.mask_parts(op, &packed, &k)
            {
                return parts;
            }
            if and && let Some(kept) = self.mask_kept(a, &packed, &k) {
                return kept;
            }
            return self.raw_bin(op, a, b);
        }
        let (pa, pb) = (self.packed(a), self.packed(b));
        if (pa.op == Op::Un(UnOp::Not) && pa.a == b.0) || (pb.op == Op::Un(UnOp::Not) && pb.a == a.0) {
            return self.constant(&if and { Bits::zero(pa.width) } else { Bits::ones(pa.width) });
        }
        for (p, x) in [(pa, b), (pb, a)] {
            if p.op == Op::Bin(op) && (p.a == x.0 || p.b == x.0) {
                return if x == b { a } else { b };
            }
        }
        if !and && let Some(joined) = self.join_disjoint(a, b).or_else(|| self.join_disjoint(b, a)) {
            return joined;
        }
        self.raw_commutative(op, a, b)
    }

    /// A mask over what has no bits outside it changes nothing, and one over a rotation may keep one of its halves.
    fn mask_kept(&self, a: Term, packed: &Packed, k: &Bits) -> Option<Term> {
        let all = Bits::ones(packed.width);
        if BinOp::And.apply(&self.possible_bits(a, BITS), &BinOp::Xor.apply(k, &all)).is_zero() {
            return Some(a);
        }
        if packed.op != Op::Bin(BinOp::Or) {
            return None;
        }
        let (left, right) = (Term(packed.a), Term(packed.b));
        [(left, right), (right, left)].into_iter().find_map(|(gone, kept)| {
            let is_gone = BinOp::And.apply(&self.possible_bits(gone, BITS), k).is_zero();
            is_gone.then(|| self.binop(BinOp::And, kept, self.constant(k)))
        })
    }

    /// The bits that a choice of two constants has, or a shift, a mask or a division by a constant leaves.
    fn possible_bits(&self, a: Term, deep: u32) -> Bits {
        let packed = self.packed(a);
        let all = Bits::ones(packed.width);
        if let Some((_, then, otherwise)) = self.constant_branches(a) {
            return BinOp::Or.apply(&then, &otherwise);
        }
        let Op::Bin(op) = packed.op else { return all };
        if op == BinOp::Or && deep > 0 {
            let side = |side: u32| self.possible_bits(Term(side), deep - 1);
            return op.apply(&side(packed.a), &side(packed.b));
        }
        match (op, self.as_constant(Term(packed.b))) {
            (BinOp::Shl | BinOp::Lshr | BinOp::And, Some(constant)) => op.apply(&all, &constant),
            (BinOp::Udiv, Some(divisor)) if !divisor.is_zero() => {
                let most = op.apply(&all, &divisor).to_big().bits();
                BinOp::Lshr
                    .apply(&all, &Bits::from_big(packed.width, (u64::from(packed.width) - most).into()))
            }
            _ => all,
        }
    }

    /// `(x ++ 0) | zext(y)` where `y` fits into the zeros: `x ++ y`.
    fn join_disjoint(&self, high: Term, low: Term) -> Option<Term> {
        let (ph, pl) = (self.packed(high), self.packed(low));
        if ph.op != Op::Concat || pl.op != Op::Zext {
            return None;
        }
        let zeros = self.as_constant(Term(ph.b)).filter(Bits::is_zero)?;
        let inner = self.packed(Id(pl.a)).width;
        (inner <= zeros.width()).then(|| self.concat(Term(ph.a), self.zext(Term(pl.a), zeros.width())))
    }

    fn mask_parts(&self, op: BinOp, packed: &Packed, k: &Bits) -> Option<Term> {
        let low = if packed.op == Op::Concat { Term(packed.b) } else { Term(packed.a) };
        let split = self.width(low);
        let (k_high, k_low) = (k.extract(split, packed.width - split), k.extract(0, split));
        let plain = |k: &Bits| k.is_zero() || k.is_ones();
        if packed.op == Op::Zext {
            return (op == BinOp::And || k_high.is_zero())
                .then(|| self.zext(self.binop(op, low, self.constant(&k_low)), packed.width));
        }
        (plain(&k_high) || plain(&k_low)).then(|| {
            let high = self.binop(op, Term(packed.a), self.constant(&k_high));
            self.concat(high, self.binop(op, low, self.constant(&k_low)))
        })
    }

    fn exclusive_or(&self, a: Term, b: Term, ca: Option<Bits>, cb: Option<Bits>) -> Term {
        let width = self.width(a);
        if a == b {
            return self.number(width, 0);
        }
        for (k, other) in [(&ca, b), (&cb, a)] {
            match k {
                Some(k) if k.is_zero() => return other,
                Some(k) if k.is_ones() => return self.unop(UnOp::Not, other),
                _ => {}
            }
        }
        let is_leaf = |t: Term| !matches!(self.packed(t).op, Op::Bin(BinOp::Xor));
        if is_leaf(a) && is_leaf(b) {
            return self.raw_commutative(BinOp::Xor, a, b);
        }
        // Flatten, let equal pairs cancel, and build again in order.
        let mut leaves: Vec<Term> = Vec::new();
        let mut constant = Bits::zero(width);
        let mut stack = vec![b, a];
        while let Some(t) = stack.pop() {
            let packed = self.packed(t);
            if packed.op == Op::Bin(BinOp::Xor) && leaves.len() + stack.len() < 2 * FLAT {
                stack.extend([Term(packed.b), Term(packed.a)]);
            } else if let Some(k) = self.constant_of(&packed) {
                constant = BinOp::Xor.apply(&constant, &k);
            } else if let Some(at) = leaves.iter().position(|&leaf| leaf == t) {
                leaves.swap_remove(at);
            } else {
                leaves.push(t);
            }
        }
        leaves.sort_unstable();
        let mut leaves = leaves.into_iter();
        let Some(first) = leaves.next() else { return self.constant(&constant) };
        let joined = leaves.fold(first, |joined, leaf| self.raw_bin(BinOp::Xor, joined, leaf));
        if constant.is_zero() {
            joined
        } else if constant.is_ones() {
            self.unop(UnOp::Not, joined)
        } else {
            self.raw_bin(BinOp::Xor, joined, self.constant(&constant))
        }
    }

    fn shift(&self, op: BinOp, a: Term, b: Term, ca: Option<Bits>, cb: Option<Bits>) -> Term {
        let width = self.width(a);
        if ca.is_some_and(|k| k.is_zero()) {
            return a;
        }
        let Some(k) = cb else { return self.raw_bin(op, a, b) };
        if k.is_zero() {
            return a;
        }
        let distance = k.to_u64().unwrap_or(u64::MAX);
        if distance >= u64::from(width) {
            return match op {
                BinOp::Ashr => self.binop(op, a, self.constant(&Bits::from_big(width, (width - 1).into()))),
                _ => self.number(width, 0),
            };
        }
        let distance = distance as Width;
        // Shifting what is already cut into parts moves the parts.
        if matches!(self.packed(a).op, Op::Concat | Op::Zext | Op::Extract) {
            match op {
                BinOp::Shl => {
                    return self.concat(self.extract(a, 0, width - distance), self.number(distance, 0));
                }
                BinOp::Lshr => return self.zext(self.extract(a, distance, width - distance), width),
                _ => {}
            }
        }
        if op == BinOp::Lshr
            && let Some(quotient) = self.quotient_of_halves(a, distance)
        {
            return quotient;
        }
        if op == BinOp::Lshr
            && let Some(quotient) = self.quotient_of_product(a, distance, width - distance)
        {
            return self.zext(quotient, width);
        }
        let packed = self.packed(a);
        if packed.op == Op::Bin(op)
            && let Some(inner) = self.as_constant(Term(packed.b)).and_then(|inner| inner.to_u64())
        {
            let total = inner.saturating_add(u64::from(distance)).min(u64::from(width));
            let total = if op == BinOp::Ashr { total.min(u64::from(width) - 1) } else { total };
            return self.binop(op, Term(packed.a), self.constant(&Bits::from_big(width, total.into())));
        }
        self.raw_bin(op, a, b)
    }

    fn division(&self, op: BinOp, a: Term, b: Term, cb: Option<Bits>) -> Term {
        let Some(k) = cb else { return self.raw_bin(op, a, b) };
        let width = k.width();
        if k.is_one() {
            return if matches!(op, BinOp::Udiv | BinOp::Sdiv) { a } else { self.number(width, 0) };
        }
        let is_power = !k.is_zero() && k.to_big().count_ones() == 1;
        if is_power && op == BinOp::Udiv {
            let distance = k.to_big().trailing_zeros().expect("not zero");
            return self.binop(BinOp::Lshr, a, self.constant(&Bits::from_big(width, distance.into())));
        }
        if is_power && op == BinOp::Urem {
            return self.binop(BinOp::And, a, self.constant(&BinOp::Sub.apply(&k, &Bits::one(width))));
        }
        if op == BinOp::Udiv
            && let Some(divisor) = k.small()
            && let Some(quotient) = self.quotient_of_quotient(a, divisor)
        {
            return quotient;
        }
        self.raw_bin(op, a, b)
    }

    /// The term whose low bits a concatenation has above zeros, and how many zeros there are.
    fn shifted(&self, packed: &Packed) -> Option<(Term, u32)> {
        let zeros = self.packed(Id(packed.b));
        let high = self.packed(Id(packed.a));
        let whole = Term(high.a);
        let is_cut = high.op == Op::Extract && high.b == 0 && self.width(whole) == packed.width;
        (is_cut && self.constant_of(&zeros)?.is_zero()).then_some((whole, zeros.width.into()))
    }

    /// How far a term is shifted, by a constant.
    fn shift_of(&self, packed: &Packed) -> Option<u32> {
        self.as_constant(Term(packed.b))?.small().map(|by| u32::try_from(by).unwrap_or(u32::MAX))
    }

    /// The term as a base plus a constant; no base when it is a constant itself.
    pub fn base_offset(&self, t: Term) -> (Option<Term>, Bits) {
        let packed = self.packed(t);
        if let Some(k) = self.constant_of(&packed) {
            return (None, k);
        }
        if packed.op == Op::Bin(BinOp::Add)
            && let Some(k) = self.as_constant(Term(packed.b))
        {
            return (Some(Term(packed.a)), k);
        }
        (Some(t), Bits::zero(packed.width))
    }
}

/// A sum of monomials and a constant, modulo 2^width, while it is being put together.
pub(crate) struct Linear {
    width: Width,
    monomials: Vec<(Term, u128)>,
    constant: u128,
    /// Whether a shift to the left counts as a product: to look at a sum, not to write it anew.
    shifts: bool,
}

impl Linear {
    fn new(width: Width) -> Self {
        Linear { width, monomials: Vec::with_capacity(FLAT), constant: 0, shifts: false }
    }

    /// The term and the factor that a term is the product of, however its sums and shifts are written.
    pub fn only(store: &Store, t: Term) -> Option<(Term, u128)> {
        let mut form = Linear { shifts: true, ..Linear::new(store.width(t)) };
        let is_whole = form.width <= 128 && form.add(store, t, 1) && form.constant == 0;
        match form.monomials[..] {
            [(only, factor)] if is_whole => Some((only, form.reduce(factor))),
            _ => None,
        }
    }

    /// What is left of a difference when all that both sides have in common has cancelled: the terms with their factors,
    /// and the constant, modulo 2^width.
    pub fn difference(store: &Store, a: Term, b: Term) -> Option<(Vec<(Term, u128)>, u128)> {
        let mut form = Linear { shifts: true, ..Linear::new(store.width(a)) };
        if form.width > 128 || !form.add(store, a, 1) || !form.add(store, b, u128::MAX) {
            return None;
        }
        let reduced = form.monomials.iter().map(|&(term, factor)| (term, form.reduce(factor)));
        Some((reduced.filter(|(_, factor)| *factor != 0).collect(), form.reduce(form.constant)))
    }

    fn reduce(&self, value: u128) -> u128 {
        if self.width >= 128 { value } else { value & ((1 << self.width) - 1) }
    }

    /// Adds `factor * t`; false when the sum grows past its bound.
    fn add(&mut self, store: &Store, t: Term, factor: u128) -> bool {
        let mut stack = vec![(t, factor)];
        while let Some((t, factor)) = stack.pop() {
            let packed = store.packed(t);
            match packed.op {
                Op::Const | Op::WideConst => {
                    let k = store.constant_of(&packed).and_then(|k| k.small()).expect("128 bits at most");
                    self.constant = self.constant.wrapping_add(k.wrapping_mul(factor));
                }
                Op::Bin(BinOp::Add) if stack.len() < FLAT => {
                    stack.push((Term(packed.b), factor));
                    stack.push((Term(packed.a), factor));
                }
                Op::Un(UnOp::Neg) => stack.push((Term(packed.a), factor.wrapping_neg())),
                Op::Bin(BinOp::Mul) if store.as_constant(Term(packed.b)).is_some() => {
                    let k =
                        store.as_constant(Term(packed.b)).and_then(|k| k.small()).expect("128 bits at most");
                    stack.push((Term(packed.a), factor.wrapping_mul(k)));
                }
                Op::Bin(BinOp::Shl)
                    if self.shifts
                        && let Some(by) = store.shift_of(&packed) =>
                {
                    stack.push((Term(packed.a), factor.checked_shl(by).unwrap_or(0)));
                }
                // The low bits above zeros are a shift to the left.
                Op::Concat
                    if self.shifts
                        && let Some((shifted, by)) = store.shifted(&packed) =>
                {
                    stack.push((shifted, factor.checked_shl(by).unwrap_or(0)));
                }
                _ => match self.monomials.iter().position(|&(known, _)| known == t) {
                    Some(at) => self.monomials[at].1 = self.monomials[at].1.wrapping_add(factor),
                    None if self.monomials.len() == FLAT => return false,
                    None => self.monomials.push((t, factor)),
                },
            }
        }
        true
    }

    fn build(mut self, store: &Store) -> Term {
        let width = self.width;
        let minus_one = self.reduce(u128::MAX);
        let mut monomials: Vec<(Term, u128)> =
            self.monomials.iter().map(|&(t, factor)| (t, self.reduce(factor))).filter(|m| m.1 != 0).collect();
        self.constant = self.reduce(self.constant);
        monomials.sort_unstable_by_key(|&(t, factor)| (factor > minus_one >> 1, t));
        let mut sum: Option<Term> = None;
        for (t, factor) in monomials {
            let monomial = if factor == 1 {
                t
            } else if factor == minus_one {
                store.raw_un(UnOp::Neg, t)
            } else if factor > minus_one >> 1 {
                let positive = store.number(width, minus_one - factor + 1);
                store.raw_un(UnOp::Neg, store.raw_bin(BinOp::Mul, t, positive))
            } else {
                store.raw_bin(BinOp::Mul, t, store.number(width, factor))
            };
            sum = Some(sum.map_or(monomial, |sum| store.raw_bin(BinOp::Add, sum, monomial)));
        }
        let constant = store.number(width, self.constant);
        match sum {
            None => constant,
            Some(sum) if self.constant == 0 => sum,
            Some(sum) => store.raw_bin(BinOp::Add, sum, constant),
        }
    }
}
