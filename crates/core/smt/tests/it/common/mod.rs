//! Random formulas over vectors, truth values, functions and addresses.

use parallax_op::{BinOp, Bits, BoolOp, FloatBinOp, FloatFormat, FloatRelOp, RelOp, Rounding, UnOp, Width};
use parallax_term::{Formula, FuncExpr, Store, Term};
use proptest::prelude::*;

/// One step: which operator, on which operands.
pub type Step = (u8, u16, u16, u16, u16);

/// Numbers that steps are made of.
pub fn steps(most: usize) -> impl Strategy<Value = Vec<Step>> {
    prop::collection::vec(any::<Step>(), 1..most)
}

const WIDTHS: [Width; 4] = [1, 8, 16, 32];

struct Pools<'s> {
    store: &'s Store,
    terms: Vec<Term>,
    truths: Vec<Formula>,
    maps: Vec<FuncExpr>,
    floats: bool,
}

fn pick<T: Copy>(items: &[T], number: u16) -> T {
    // The newest are the interesting ones: every other pick is among the last few.
    let recent = if number.is_multiple_of(2) { items.len().saturating_sub(5) } else { 0 };
    items[recent + usize::from(number / 2) % (items.len() - recent)]
}

/// The formulas that some steps build, newest first.
pub fn formulas(store: &Store, steps: &[Step], floats: bool) -> Vec<Formula> {
    let mut pools = Pools { store, terms: Vec::new(), truths: Vec::new(), maps: Vec::new(), floats };
    for width in WIDTHS {
        for name in ["a", "b"] {
            pools.terms.push(store.symbol(&format!("{name}{width}"), width));
        }
        for value in [Bits::one(width), Bits::new(width, 10), Bits::ones(width)] {
            pools.terms.push(store.constant(&value));
        }
    }
    pools.terms.push(store.address("&u", 16, 1));
    pools.terms.push(store.address("&v", 16, 4));
    pools.truths = vec![store.bool_symbol("p"), store.bool_symbol("q")];
    pools.maps = vec![store.func_symbol("F", 16, 8), store.func_symbol("G", 16, 8)];
    for step in steps {
        pools.step(*step);
    }
    pools.truths.reverse();
    pools.truths
}

impl Pools<'_> {
    fn of_width(&self, width: Width, number: u16) -> Term {
        let pool: Vec<Term> = self.terms.iter().copied().filter(|&t| self.store.width(t) == width).collect();
        pick(&pool, number)
    }

    fn step(&mut self, (op, i, j, k, n): Step) {
        let store = self.store;
        let a = pick(&self.terms, i);
        let width = store.width(a);
        let b = self.of_width(width, j);
        let truth = |number| pick(&self.truths, number);
        match op % 18 {
            0..=2 => {
                let op = BinOp::ALL[usize::from(n) % BinOp::ALL.len()];
                let dear = matches!(op, BinOp::Mul | BinOp::Udiv | BinOp::Urem | BinOp::Sdiv | BinOp::Srem);
                // Wide products are a matter of luck for any solver: keep those to one constant factor.
                let b = if dear && width > 8 { store.number(width, u128::from(n % 13)) } else { b };
                self.terms.push(store.binop(op, a, b));
            }
            3 => self.terms.push(store.unop(UnOp::ALL[usize::from(n) % UnOp::ALL.len()], a)),
            4..=6 => self.truths.push(store.relop(RelOp::ALL[usize::from(n) % RelOp::ALL.len()], a, b)),
            7 => {
                let made = store.boolop(BoolOp::ALL[usize::from(n) % BoolOp::ALL.len()], truth(j), truth(k));
                self.truths.push(made);
            }
            8 => {
                let made = store.ite_bool(truth(j), truth(k), store.not(truth(n)));
                self.truths.push(made);
            }
            9 => self.terms.push(store.ite(truth(k), a, b)),
            10 => {
                let to = WIDTHS[usize::from(k) % 4];
                if to <= width {
                    self.terms.push(store.extract(a, n % (width - to + 1), to));
                } else {
                    self.terms.push(if n.is_multiple_of(2) { store.zext(a, to) } else { store.sext(a, to) });
                }
            }
            11 => {
                let half = if width == 32 { self.of_width(8, j) } else { a };
                let other = self.of_width(store.width(half), k);
                if store.width(half) > 1 {
                    self.terms.push(store.concat(half, other));
                }
            }
            12 | 13 => {
                let read = store.access(pick(&self.maps, i), self.of_width(16, j));
                self.terms.push(read);
            }
            14 => {
                let map = store.update(pick(&self.maps, i), self.of_width(16, j), self.of_width(8, k));
                self.maps.push(map);
            }
            15 => {
                let map = store.ite_map(truth(k), pick(&self.maps, i), pick(&self.maps, j));
                self.maps.push(map);
            }
            _ if self.floats => self.float(a, b, k, n),
            _ => self.truths.push(store.eq(a, b)),
        }
    }

    fn float(&mut self, a: Term, b: Term, k: u16, n: u16) {
        let store = self.store;
        let width = store.width(a);
        let rounding = Rounding::ALL[usize::from(k) % Rounding::ALL.len()];
        if width == 16 {
            match n % 5 {
                0 => self.truths.push(store.float_rel(FloatRelOp::ALL[usize::from(k) % 3], a, b)),
                1 => {
                    self.terms.push(store.float_bin(FloatBinOp::ALL[usize::from(n / 5) % 3], rounding, a, b))
                }
                2 => self.terms.push(store.float_to_float(rounding, a, FloatFormat::F32)),
                _ => self.terms.push(store.float_to_int(n.is_multiple_of(2), rounding, a, 8)),
            }
        } else {
            self.terms.push(store.int_to_float(n.is_multiple_of(2), rounding, a, FloatFormat::F16));
        }
    }
}
