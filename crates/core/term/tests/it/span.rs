//! What spans say of a term against every value of its unknowns: random terms over two unknowns of four bits, of every
//! operator that a span looks into and of some that it does not, narrow enough to wrap around often.
//!
//! Not made: terms wider than 12 bits, floats, maps.

use parallax_op::{BinOp, Bits, RelOp, UnOp};
use parallax_sem::Concrete;
use parallax_sem::logic::{self, Struct};
use parallax_term::{Expr, Formula, Ranges, Store, Symbol, Term};

/// SplitMix64: the same terms everywhere.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % sides
    }

    fn constant(&mut self, store: &Store, width: u16) -> Term {
        let small = self.roll(2) == 0;
        let number = if small { self.roll(6) } else { self.roll(1 << width) };
        store.number(width, number.into())
    }

    /// A term of some width.
    fn term(&mut self, store: &Store, width: u16, depth: u32) -> Term {
        let unknown = if self.roll(2) == 0 { "x" } else { "y" };
        let unknown = store.symbol(unknown, 4);
        if depth == 0 {
            return match width.cmp(&4) {
                std::cmp::Ordering::Less => store.extract(unknown, 0, width),
                std::cmp::Ordering::Equal => unknown,
                std::cmp::Ordering::Greater => store.zext(unknown, width),
            };
        }
        let mut of = |width: u16| self.term(store, width, depth - 1);
        let a = of(width);
        let b = of(width);
        let wide = of(12);
        let narrow = of(width.div_ceil(2));
        let k = self.constant(store, width);
        let ops = [
            BinOp::Mul,
            BinOp::Shl,
            BinOp::Lshr,
            BinOp::Udiv,
            BinOp::Urem,
            BinOp::And,
            BinOp::Or,
            BinOp::Ashr,
        ];
        match self.roll(14) {
            0 | 1 => store.add(a, b),
            2 | 3 => store.add(a, k),
            4 => store.sub(a, b),
            5 => store.unop(UnOp::Neg, a),
            6 => store.extract(wide, self.roll(u64::from(13 - width)) as u16, width),
            7 if width > 1 => {
                let low = self.term(store, width - width.div_ceil(2), depth - 1);
                store.concat(narrow, low)
            }
            8 => store.zext(narrow, width),
            9 => store.sext(narrow, width),
            10 => store.ite(store.relop(RelOp::Ult, a, k), a, b),
            11 => store.binop(BinOp::And, a, b),
            _ => store.binop(ops[self.roll(ops.len() as u64) as usize], a, k),
        }
    }

    /// A condition that compares parts of a term with constants.
    fn condition(&mut self, store: &Store, about: Term) -> Formula {
        let parts: Vec<Term> = store
            .post_order([about.id()])
            .into_iter()
            .filter_map(|id| match store.expr(id) {
                Expr::Term(term) => Some(term),
                _ => None,
            })
            .collect();
        let mut all = store.true_();
        for _ in 0..self.roll(4) {
            let part = parts[self.roll(parts.len() as u64) as usize];
            let k = self.constant(store, store.width(part));
            let ops = [RelOp::Ult, RelOp::Ule, RelOp::Ugt, RelOp::Slt, RelOp::Sge, RelOp::Eq, RelOp::Ne];
            all = store.and(all, store.relop(ops[self.roll(ops.len() as u64) as usize], part, k));
        }
        all
    }
}

fn terms() -> u64 {
    std::env::var("SPAN_TERMS").ok().and_then(|text| text.parse().ok()).unwrap_or(1500)
}

#[test]
fn spans_hold_what_terms_can_be() {
    let mut dice = Dice(7);
    let (mut bounded, mut refined, mut different) = (0, 0, 0);
    for number in 0..terms() {
        let store = Store::new();
        let unknowns: [Symbol; 2] = ["x", "y"].map(|name| {
            store.symbol(name, 4);
            store.lookup(name).expect("declared")
        });
        let width = 1 + dice.roll(12) as u16;
        let depth = 1 + dice.roll(3) as u32;
        let (a, b) = (dice.term(&store, width, depth), dice.term(&store, width, depth));
        let condition = dice.condition(&store, a);
        let plain = store.span(a, &Ranges::default());
        let under = store.span(a, &store.ranges(condition));
        let apart = store.definitely_different(a, b);
        bounded += u32::from(plain.count() < 1 << width);
        refined += u32::from(under != plain);
        different += u32::from(apart && store.as_constant(a).is_none());
        for values in 0..256u128 {
            let mut s: Struct<Concrete> = Struct::new();
            for (index, symbol) in unknowns.into_iter().enumerate() {
                s.set_val(symbol, Bits::new(4, values >> (4 * index)));
            }
            let value = |term| logic::term(&Concrete, &store, term, &s);
            let (at, of_b) = (value(a), value(b));
            let number_of = at.to_u64().expect("narrow");
            let holds = |span: parallax_term::Span| {
                let at = u128::from(number_of);
                span.low <= at
                    && at <= span.high
                    && (at - span.low).checked_rem(span.stride).is_none_or(|rest| rest == 0)
            };
            let what = || format!("term {number}: {} is {number_of} at {values:#x}", store.display(a));
            assert!(holds(plain), "{}: {plain:?}", what());
            if logic::formula(&Concrete, &store, condition, &s) {
                assert!(holds(under), "{}: {under:?} where {}", what(), store.display(condition));
            }
            assert!(!apart || at != of_b, "{}, and so is {}", what(), store.display(b));
        }
    }
    println!("{bounded} bounded by structure, {refined} by a condition, {different} pairs told apart");
    assert!(bounded > 300 && refined > 100 && different > 20, "{bounded} {refined} {different}");
}

/// An array on the stack does not reach the return address above it, nor do its elements meet between their bytes.
#[test]
fn a_bounded_index_stays_in_its_array() {
    let store = Store::new();
    let (stack, a, b) = (store.symbol("SP", 64), store.symbol("a", 32), store.symbol("b", 32));
    let index = |of: Term| {
        let masked = store.binop(BinOp::And, of, store.number(32, 3));
        store.binop(BinOp::Shl, store.zext(masked, 64), store.number(64, 2))
    };
    let at = |offset: i128, of: Term| {
        let base = store.add(stack, store.constant(&Bits::from_i128(64, offset)));
        store.add(base, index(of))
    };
    let memory = store.func_symbol("F_mem", 64, 8);
    let byte = store.symbol("v", 8);
    let written = store.update(memory, at(-16, a), byte);
    assert_eq!(store.access(written, stack), store.access(memory, stack));
    // One byte of an element is no other byte of another.
    assert_eq!(store.access(written, at(-15, b)), store.access(memory, at(-15, b)));
    assert_ne!(store.access(written, at(-16, b)), store.access(memory, at(-16, b)));
}
