//! The concolic reading: every value is a number, and a term where it depends on the input.
//!
//! It is the pair of the concrete and the symbolic reading of `sem`, with the symbolic half left out where it would be a
//! constant: most instructions compute nothing that depends on the input, and then no term is made. Control follows the
//! concrete half, and every decision about a formula is handed to the [`Machine`], as Fig. 7 of the paper conjoins
//! the condition of each branch.
//!
//! The approximate reading ([`Concolic::approximate`]) drops the symbolic half where SAGE did: at non-linear operators, and
//! at the addresses of loads and stores. Everything else is the same code.

use parallax_op::{
    BinOp, Bits, BoolOp, FloatBinOp, FloatFormat, FloatRelOp, FloatUnOp, RelOp, Rounding, UnOp, Width,
};
use parallax_sem::{ByteOrder, Concrete, Core, Symbolic};
use parallax_term::{Formula, Store, Term};

/// A bit-vector: its value on this run, and the term that says what it is on others.
#[derive(Clone, Debug)]
pub struct Word {
    /// The value.
    pub bits: Bits,
    /// The term; nothing for what no input can change.
    pub term: Option<Term>,
}

/// A truth value, likewise.
#[derive(Clone, Copy, Debug)]
pub struct Truth {
    /// Whether it holds on this run.
    pub holds: bool,
    /// The formula; nothing for what no input can change.
    pub formula: Option<Formula>,
}

/// Where instructions read and write memory, and who hears which way they went.
pub trait Machine {
    /// The bytes at an address.
    fn load(&self, reading: &Concolic<'_>, address: &Word, bytes: u16) -> Word;
    /// Puts bytes at an address.
    fn store(&self, reading: &Concolic<'_>, address: &Word, bytes: u16, value: &Word);
    /// A branch depends on the input, and went the way on which this formula holds.
    fn decided(&self, taken: Formula);
    /// Something that depends on the input was taken at its value on this run.
    fn approximated(&self);
}

/// The reading.
#[derive(Clone, Copy)]
pub struct Concolic<'c> {
    /// Where terms are made.
    pub store: &'c Store,
    /// Memory and path.
    pub machine: &'c dyn Machine,
    /// Whether non-linear operators and symbolic addresses are taken at their values on this run.
    pub approximate: bool,
}

impl Concolic<'_> {
    fn symbolic(&self) -> Symbolic<'_> {
        Symbolic::new(self.store)
    }

    /// The term of a word, a constant if need be.
    pub fn term(&self, word: &Word) -> Term {
        word.term.unwrap_or_else(|| self.store.constant(&word.bits))
    }

    /// The formula of a truth value, `true` or `false` if need be.
    pub fn formula(&self, truth: &Truth) -> Formula {
        truth.formula.unwrap_or_else(|| self.store.boolean(truth.holds))
    }

    /// A word of a value and a term, which may have turned out to be a constant.
    pub fn word(&self, bits: Bits, term: Term) -> Word {
        debug_assert_eq!(bits.width(), self.store.width(term));
        let term = self.store.as_constant(term).is_none().then_some(term);
        Word { bits, term }
    }

    fn truth(&self, holds: bool, formula: Formula) -> Truth {
        let formula = self.store.as_boolean(formula).is_none().then_some(formula);
        Truth { holds, formula }
    }

    /// A word computed from words.
    fn over<const N: usize>(
        &self,
        from: [&Word; N],
        bits: Bits,
        term: impl FnOnce(Symbolic<'_>, [Term; N]) -> Term,
    ) -> Word {
        if from.iter().all(|word| word.term.is_none()) {
            return Word { bits, term: None };
        }
        self.word(bits, term(self.symbolic(), from.map(|word| self.term(word))))
    }

    /// A truth value computed from words.
    fn test<const N: usize>(
        &self,
        from: [&Word; N],
        holds: bool,
        formula: impl FnOnce(Symbolic<'_>, [Term; N]) -> Formula,
    ) -> Truth {
        if from.iter().all(|word| word.term.is_none()) {
            return Truth { holds, formula: None };
        }
        self.truth(holds, formula(self.symbolic(), from.map(|word| self.term(word))))
    }

    /// Whether a bit of a word is the same for every input.
    fn is_constant_bit(&self, word: &Word, bit: Width) -> bool {
        word.term.is_none_or(|term| self.store.as_constant(self.store.extract(term, bit, 1)).is_some())
    }

    /// Whether the lowest one of a word is where it is for every input: functions on strings compare sixteen bytes at a
    /// time, of which those behind the end of the string do not count, though they may be of the input.
    fn lowest_one_is_constant(&self, a: &Word) -> bool {
        let (Some(term), Some(value)) = (a.term, a.bits.small()) else { return false };
        let ones = value.trailing_zeros() as Width;
        if ones >= a.bits.width() || !self.is_constant_bit(a, ones) {
            return false;
        }
        self.store.as_constant(self.store.extract(term, 0, ones + 1)).is_some()
    }

    /// Whether two words differ in a bit that is the same for every input, by the lowest in which they differ.
    fn always_differ(&self, a: &Word, b: &Word) -> bool {
        if a.term.is_none() && b.term.is_none() {
            return false;
        }
        let (Some(x), Some(y)) = (a.bits.small(), b.bits.small()) else { return false };
        let bit = (x ^ y).trailing_zeros() as Width;
        x != y && self.is_constant_bit(a, bit) && self.is_constant_bit(b, bit)
    }

    /// Whether an operator is one that linear reasoning gives up on: SAGE took its value on the run instead.
    fn is_non_linear(&self, op: BinOp, a: &Word, b: &Word) -> bool {
        match op {
            BinOp::Mul => a.term.is_some() && b.term.is_some(),
            BinOp::Udiv | BinOp::Urem | BinOp::Sdiv | BinOp::Srem => true,
            BinOp::Shl | BinOp::Lshr | BinOp::Ashr => b.term.is_some(),
            _ => false,
        }
    }
}

impl Core for Concolic<'_> {
    type Val = Word;
    type Bool = Truth;
    /// Memory is the [`Machine`]'s.
    type Map = ();

    fn constant(&self, value: &Bits) -> Word {
        Word { bits: value.clone(), term: None }
    }
    fn boolean(&self, holds: bool) -> Truth {
        Truth { holds, formula: None }
    }
    fn symbol(&self, _: &str, width: Width) -> Word {
        self.constant(&Bits::zero(width))
    }
    fn bool_symbol(&self, _: &str) -> Truth {
        self.boolean(false)
    }
    fn map_symbol(&self, _: &str, _: Width, _: Width) {}
    fn constant_map(&self, _: Width, _: Width, _: &Word) {}

    fn unop(&self, op: UnOp, w: Width, a: &Word) -> Word {
        if op == UnOp::Ctz && self.lowest_one_is_constant(a) {
            return Word { bits: Concrete.unop(op, w, &a.bits), term: None };
        }
        self.over([a], Concrete.unop(op, w, &a.bits), |s, [a]| s.unop(op, w, &a))
    }
    fn binop(&self, op: BinOp, w: Width, a: &Word, b: &Word) -> Word {
        let bits = Concrete.binop(op, w, &a.bits, &b.bits);
        if self.approximate && self.is_non_linear(op, a, b) {
            if a.term.is_some() || b.term.is_some() {
                self.machine.approximated();
            }
            return Word { bits, term: None };
        }
        self.over([a, b], bits, |s, [a, b]| s.binop(op, w, &a, &b))
    }
    fn relop(&self, op: RelOp, w: Width, a: &Word, b: &Word) -> Truth {
        if matches!(op, RelOp::Eq | RelOp::Ne) && self.always_differ(a, b) {
            return self.boolean(op == RelOp::Ne);
        }
        self.test([a, b], Concrete.relop(op, w, &a.bits, &b.bits), |s, [a, b]| s.relop(op, w, &a, &b))
    }
    fn boolop(&self, op: BoolOp, a: &Truth, b: &Truth) -> Truth {
        let holds = op.apply(a.holds, b.holds);
        if a.formula.is_none() && b.formula.is_none() {
            return self.boolean(holds);
        }
        self.truth(holds, self.store.boolop(op, self.formula(a), self.formula(b)))
    }
    fn not(&self, a: &Truth) -> Truth {
        Truth { holds: !a.holds, formula: a.formula.map(|formula| self.store.not(formula)) }
    }
    fn cond(&self, w: Width, b: &Truth, t: &Word, e: &Word) -> Word {
        let chosen = if b.holds { t } else { e };
        match b.formula {
            None => chosen.clone(),
            Some(formula) => {
                let term = self.symbolic().cond(w, &formula, &self.term(t), &self.term(e));
                self.word(chosen.bits.clone(), term)
            }
        }
    }
    fn cond_bool(&self, b: &Truth, t: &Truth, e: &Truth) -> Truth {
        let chosen = if b.holds { t } else { e };
        match b.formula {
            None => *chosen,
            Some(formula) => {
                self.truth(chosen.holds, self.store.ite_bool(formula, self.formula(t), self.formula(e)))
            }
        }
    }
    fn cond_map(&self, _: &Truth, (): &(), (): &()) {}
    fn extract(&self, from: Width, low: Width, to: Width, a: &Word) -> Word {
        self.over([a], Concrete.extract(from, low, to, &a.bits), |s, [a]| s.extract(from, low, to, &a))
    }
    fn concat(&self, wh: Width, wl: Width, high: &Word, low: &Word) -> Word {
        let bits = Concrete.concat(wh, wl, &high.bits, &low.bits);
        self.over([high, low], bits, |s, [high, low]| s.concat(wh, wl, &high, &low))
    }
    fn zext(&self, from: Width, to: Width, a: &Word) -> Word {
        self.over([a], Concrete.zext(from, to, &a.bits), |s, [a]| s.zext(from, to, &a))
    }
    fn sext(&self, from: Width, to: Width, a: &Word) -> Word {
        self.over([a], Concrete.sext(from, to, &a.bits), |s, [a]| s.sext(from, to, &a))
    }

    fn float_un(&self, op: FloatUnOp, f: FloatFormat, r: Rounding, a: &Word) -> Word {
        self.over([a], Concrete.float_un(op, f, r, &a.bits), |s, [a]| s.float_un(op, f, r, &a))
    }
    fn float_bin(&self, op: FloatBinOp, f: FloatFormat, r: Rounding, a: &Word, b: &Word) -> Word {
        let bits = Concrete.float_bin(op, f, r, &a.bits, &b.bits);
        self.over([a, b], bits, |s, [a, b]| s.float_bin(op, f, r, &a, &b))
    }
    fn float_fma(&self, f: FloatFormat, r: Rounding, a: &Word, b: &Word, c: &Word) -> Word {
        let bits = Concrete.float_fma(f, r, &a.bits, &b.bits, &c.bits);
        self.over([a, b, c], bits, |s, [a, b, c]| s.float_fma(f, r, &a, &b, &c))
    }
    fn float_rel(&self, op: FloatRelOp, f: FloatFormat, a: &Word, b: &Word) -> Truth {
        self.test([a, b], Concrete.float_rel(op, f, &a.bits, &b.bits), |s, [a, b]| s.float_rel(op, f, &a, &b))
    }
    fn float_to_float(&self, from: FloatFormat, to: FloatFormat, r: Rounding, a: &Word) -> Word {
        let bits = Concrete.float_to_float(from, to, r, &a.bits);
        self.over([a], bits, |s, [a]| s.float_to_float(from, to, r, &a))
    }
    fn int_to_float(&self, signed: bool, w: Width, to: FloatFormat, r: Rounding, a: &Word) -> Word {
        let bits = Concrete.int_to_float(signed, w, to, r, &a.bits);
        self.over([a], bits, |s, [a]| s.int_to_float(signed, w, to, r, &a))
    }
    fn float_to_int(&self, signed: bool, from: FloatFormat, w: Width, r: Rounding, a: &Word) -> Word {
        let bits = Concrete.float_to_int(signed, from, w, r, &a.bits);
        self.over([a], bits, |s, [a]| s.float_to_int(signed, from, w, r, &a))
    }

    /// Memory is reached through whole loads and stores only.
    fn access(&self, (): &(), key: &Word) -> Word {
        self.machine.load(self, key, 1)
    }
    fn update(&self, (): (), key: &Word, value: Word) {
        self.machine.store(self, key, 1, &value);
    }
    fn load(&self, (): &(), _: Width, address: &Word, bytes: u16, _: ByteOrder) -> Word {
        self.machine.load(self, address, bytes)
    }
    fn store(&self, (): (), _: Width, address: &Word, bytes: u16, _: ByteOrder, value: &Word) {
        self.machine.store(self, address, bytes, value);
    }

    /// A value that no input can change; what one can is not certain.
    fn targets(&self, _: Width, value: &Word) -> Option<Vec<(Truth, Bits)>> {
        value.term.is_none().then(|| vec![(self.boolean(true), value.bits.clone())])
    }

    /// Control goes where it goes on this run.
    fn decided(&self, b: &Truth) -> Option<bool> {
        if let Some(formula) = b.formula {
            self.machine.decided(if b.holds { formula } else { self.store.not(formula) });
        }
        Some(b.holds)
    }
}
