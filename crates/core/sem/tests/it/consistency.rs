//! One random program, read concretely and symbolically: evaluating the symbolic result must give the concrete one.
//!
//! The programs use every operator of the core, so this holds the simplifier of `term`, the three-way rule of maps
//! and the meaning functions of the logic against the operator tables.

use crate::taint;

use parallax_op::{
    BinOp, Bits, BoolOp, FloatBinOp, FloatFormat, FloatRelOp, FloatUnOp, RelOp, Rounding, UnOp, Width,
};
use parallax_sem::logic::{self, Struct};
use parallax_sem::{Abstract, ByteOrder, Concrete, Core, Pair, Sign, Symbolic, Table, Truth};
use parallax_term::{Sort, Store, SymbolKind};
use proptest::prelude::*;
use taint::Taint;

const WIDTHS: [Width; 8] = [1, 8, 16, 32, 64, 80, 128, 200];
const NAMES: [&str; 3] = ["a", "b", "c"];

/// One step of a program: an operator number and operand numbers, each taken modulo what there is.
type Step = (u8, u16, u16, u16, u16);

/// The values a program has computed so far.
struct Pools<C: Core> {
    vals: Vec<(Width, C::Val)>,
    bools: Vec<C::Bool>,
    maps: Vec<C::Map>,
}

fn pick<T>(items: &[T], number: u16) -> &T {
    &items[usize::from(number) % items.len()]
}

impl<C: Core> Pools<C> {
    fn new(core: &C, constants: &[u64]) -> Self {
        let mut pools = Pools { vals: Vec::new(), bools: Vec::new(), maps: Vec::new() };
        for width in WIDTHS {
            for name in NAMES {
                pools.vals.push((width, core.symbol(&format!("{name}{width}"), width)));
            }
            for &k in constants {
                pools.vals.push((width, core.constant(&Bits::new(width, k.into()))));
            }
            pools.vals.push((width, core.constant(&Bits::ones(width))));
        }
        pools.bools.push(core.bool_symbol("p"));
        pools.bools.push(core.bool_symbol("q"));
        pools.maps.push(core.map_symbol("F", 16, 8));
        pools.maps.push(core.map_symbol("G", 16, 8));
        pools
    }

    fn val(&self, number: u16) -> (Width, C::Val) {
        // The newest values are the interesting ones: every other pick is among the last few.
        let recent = self.vals.len().saturating_sub(6);
        let pool = if number.is_multiple_of(2) { &self.vals[recent..] } else { &self.vals[..] };
        pick(pool, number / 2).clone()
    }

    fn val_of(&self, width: Width, number: u16) -> C::Val {
        let pool: Vec<_> = self.vals.iter().filter(|(w, _)| *w == width).collect();
        let recent = pool.len().saturating_sub(4);
        let pool = if number.is_multiple_of(2) { &pool[recent..] } else { &pool[..] };
        pick(pool, number / 2).1.clone()
    }

    fn truth(&self, number: u16) -> C::Bool {
        pick(&self.bools, number).clone()
    }

    fn run(&mut self, core: &C, steps: &[Step]) {
        for &(op, i, j, k, n) in steps {
            let (w, a) = self.val(i);
            let b = self.val_of(w, j);
            match op % 20 {
                0..=4 => self.vals.push((w, core.binop(*pick(BinOp::ALL, n), w, &a, &b))),
                5 => self.vals.push((w, core.unop(*pick(UnOp::ALL, n), w, &a))),
                6 | 7 => self.bools.push(core.relop(*pick(RelOp::ALL, n), w, &a, &b)),
                8 => {
                    let (p, q) = (self.truth(j), self.truth(k));
                    self.bools.push(core.boolop(*pick(BoolOp::ALL, n), &p, &q));
                }
                9 => {
                    let (p, q, r) = (self.truth(j), self.truth(k), self.truth(n));
                    self.bools.push(core.not(&p));
                    self.bools.push(core.cond_bool(&p, &q, &r));
                }
                10 | 11 => {
                    let p = self.truth(k);
                    self.vals.push((w, core.cond(w, &p, &a, &b)));
                }
                12 => {
                    let low = n % w;
                    let to = *pick(&WIDTHS, k);
                    if low + to <= w {
                        self.vals.push((to, core.extract(w, low, to, &a)));
                    }
                }
                13 => {
                    let (wl, low) = self.val(j);
                    if WIDTHS.contains(&(w + wl)) {
                        self.vals.push((w + wl, core.concat(w, wl, &a, &low)));
                    }
                }
                14 => {
                    let to = *pick(&WIDTHS, k);
                    if to >= w {
                        let extended =
                            if n.is_multiple_of(2) { core.zext(w, to, &a) } else { core.sext(w, to, &a) };
                        self.vals.push((to, extended));
                    }
                }
                15 => {
                    let map = pick(&self.maps, i).clone();
                    let key = self.val_of(16, j);
                    self.vals.push((8, core.access(&map, &key)));
                }
                16 => {
                    let map = pick(&self.maps, i).clone();
                    let (key, value) = (self.val_of(16, j), self.val_of(8, k));
                    self.maps.push(core.update(map, &key, value));
                }
                17 => {
                    let (map, other) = (pick(&self.maps, i).clone(), pick(&self.maps, j).clone());
                    let p = self.truth(k);
                    self.maps.push(core.cond_map(&p, &map, &other));
                }
                18 => {
                    let order = if n.is_multiple_of(2) { ByteOrder::Little } else { ByteOrder::Big };
                    let map = pick(&self.maps, i).clone();
                    let key = self.val_of(16, j);
                    let value = self.val_of(32, k);
                    let map = core.store(map, 16, &key, 4, order, &value);
                    self.vals.push((32, core.load(&map, 16, &self.val_of(16, n), 4, order)));
                    self.maps.push(map);
                }
                _ => self.float(core, w, &a, &b, k, n),
            }
        }
    }

    fn float(&mut self, core: &C, w: Width, a: &C::Val, b: &C::Val, k: u16, n: u16) {
        let rounding = *pick(Rounding::ALL, k);
        let to = *pick(FloatFormat::ALL, n / 7);
        if let Some(f) = FloatFormat::of_width(w) {
            match n % 7 {
                0 => self.vals.push((w, core.float_un(*pick(FloatUnOp::ALL, n / 7), f, rounding, a))),
                1 | 2 => {
                    self.vals.push((w, core.float_bin(*pick(FloatBinOp::ALL, n / 7), f, rounding, a, b)))
                }
                3 => self.vals.push((w, core.float_fma(f, rounding, a, b, b))),
                4 => self.bools.push(core.float_rel(*pick(FloatRelOp::ALL, n / 7), f, a, b)),
                5 => self.vals.push((to.width(), core.float_to_float(f, to, rounding, a))),
                _ => self.vals.push((32, core.float_to_int(k.is_multiple_of(2), f, 32, rounding, a))),
            }
        } else if w <= 128 {
            self.vals.push((to.width(), core.int_to_float(k.is_multiple_of(2), w, to, rounding, a)));
        }
    }
}

/// A structure for every symbol, from random numbers.
fn structure(store: &Store, seed: &[u64]) -> Struct<Concrete> {
    let mut s = Struct::new();
    let mut number = 0usize;
    let mut next = || {
        number += 1;
        seed[number % seed.len()].rotate_left(number as u32 % 61)
    };
    for symbol in store.symbols() {
        let info = store.info(symbol);
        match info.sort {
            Sort::Bool => s.set_bool(symbol, next() & 1 == 1),
            Sort::Bits(width) => {
                let low = Bits::new(width, u128::from(next()) << 64 | u128::from(next()));
                s.set_val(symbol, low);
            }
            Sort::Map { key, value } => {
                let mut table = Table::new(Bits::new(value, next().into()));
                for _ in 0..6 {
                    table.set(Bits::new(key, u128::from(next() & 7)), Bits::new(value, next().into()));
                }
                s.set_map(symbol, table);
            }
        }
    }
    s
}

/// The concrete reading with its symbols interpreted by a structure.
#[derive(Clone)]
struct Given<'a>(&'a Store, &'a Struct<Concrete>);

macro_rules! delegate {
    ($(fn $name:ident(&self $(, $arg:ident: $ty:ty)*) -> $ret:ty;)+) => {
        $(fn $name(&self $(, $arg: $ty)*) -> $ret { Concrete.$name($($arg),*) })+
    };
}

impl Core for Given<'_> {
    type Val = Bits;
    type Bool = bool;
    type Map = Table;
    fn symbol(&self, name: &str, _: Width) -> Bits {
        match self.1.lookup_constant(&Concrete, self.0, self.0.lookup(name).unwrap()) {
            logic::Scalar::Val(value) => value,
            logic::Scalar::Bool(_) => unreachable!(),
        }
    }
    fn bool_symbol(&self, name: &str) -> bool {
        match self.1.lookup_constant(&Concrete, self.0, self.0.lookup(name).unwrap()) {
            logic::Scalar::Bool(value) => value,
            logic::Scalar::Val(_) => unreachable!(),
        }
    }
    fn map_symbol(&self, name: &str, _: Width, _: Width) -> Table {
        self.1.lookup_function(&Concrete, self.0, self.0.lookup(name).unwrap())
    }
    delegate! {
        fn constant(&self, value: &Bits) -> Bits;
        fn boolean(&self, value: bool) -> bool;
        fn constant_map(&self, key: Width, width: Width, value: &Bits) -> Table;
        fn unop(&self, op: UnOp, w: Width, a: &Bits) -> Bits;
        fn binop(&self, op: BinOp, w: Width, a: &Bits, b: &Bits) -> Bits;
        fn relop(&self, op: RelOp, w: Width, a: &Bits, b: &Bits) -> bool;
        fn boolop(&self, op: BoolOp, a: &bool, b: &bool) -> bool;
        fn not(&self, a: &bool) -> bool;
        fn cond(&self, w: Width, b: &bool, t: &Bits, e: &Bits) -> Bits;
        fn cond_bool(&self, b: &bool, t: &bool, e: &bool) -> bool;
        fn cond_map(&self, b: &bool, t: &Table, e: &Table) -> Table;
        fn extract(&self, from: Width, low: Width, to: Width, a: &Bits) -> Bits;
        fn concat(&self, wh: Width, wl: Width, high: &Bits, low: &Bits) -> Bits;
        fn zext(&self, from: Width, to: Width, a: &Bits) -> Bits;
        fn sext(&self, from: Width, to: Width, a: &Bits) -> Bits;
        fn float_un(&self, op: FloatUnOp, f: FloatFormat, r: Rounding, a: &Bits) -> Bits;
        fn float_bin(&self, op: FloatBinOp, f: FloatFormat, r: Rounding, a: &Bits, b: &Bits) -> Bits;
        fn float_fma(&self, f: FloatFormat, r: Rounding, a: &Bits, b: &Bits, c: &Bits) -> Bits;
        fn float_rel(&self, op: FloatRelOp, f: FloatFormat, a: &Bits, b: &Bits) -> bool;
        fn float_to_float(&self, from: FloatFormat, to: FloatFormat, r: Rounding, a: &Bits) -> Bits;
        fn int_to_float(&self, signed: bool, w: Width, to: FloatFormat, r: Rounding, a: &Bits) -> Bits;
        fn float_to_int(&self, signed: bool, from: FloatFormat, w: Width, r: Rounding, a: &Bits) -> Bits;
        fn access(&self, map: &Table, key: &Bits) -> Bits;
        fn update(&self, map: Table, key: &Bits, value: Bits) -> Table;
        fn targets(&self, w: Width, value: &Bits) -> Option<Vec<(bool, Bits)>>;
    }
}

/// The values of a program under a structure.
fn concretely<'a>(
    store: &'a Store,
    s: &'a Struct<Concrete>,
    constants: &[u64],
    steps: &[Step],
) -> Pools<Given<'a>> {
    let given = Given(store, s);
    let mut pools = Pools::new(&given, constants);
    pools.run(&given, steps);
    pools
}

fn steps(most: usize) -> impl Strategy<Value = Vec<Step>> {
    prop::collection::vec(any::<Step>(), 1..most)
}

fn constants() -> impl Strategy<Value = Vec<u64>> {
    prop::collection::vec(prop_oneof![0u64..12, any::<u64>(), (0u32..64).prop_map(|bit| 1 << bit)], 3)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn symbolic_then_evaluated_is_concrete(
        steps in steps(40), constants in constants(), seed in prop::collection::vec(any::<u64>(), 1..30),
    ) {
        let store = Store::new();
        let symbolic = Symbolic::new(&store);
        let mut terms = Pools::new(&symbolic, &constants);
        let s = structure(&store, &seed);
        terms.run(&symbolic, &steps);
        let given = Given(&store, &s);
        let mut values = Pools::new(&given, &constants);
        values.run(&given, &steps);

        let roots = terms.vals.iter().map(|v| v.1.id()).chain(terms.bools.iter().map(|b| b.id()));
        let roots: Vec<_> = roots.chain(terms.maps.iter().map(|m| m.id())).collect();
        let evaluation = logic::Evaluation::of(&Concrete, &store, &s, roots);
        prop_assert_eq!(terms.vals.len(), values.vals.len());
        for ((w, t), (_, v)) in terms.vals.iter().zip(&values.vals) {
            prop_assert_eq!(store.width(*t), *w);
            prop_assert_eq!(&evaluation.val(*t), v, "{}", store.display(*t));
        }
        for (f, v) in terms.bools.iter().zip(&values.bools) {
            prop_assert_eq!(&evaluation.truth(*f), v, "{}", store.display(*f));
        }
        for (m, v) in terms.maps.iter().zip(&values.maps) {
            prop_assert_eq!(&evaluation.map(*m), v, "{}", store.display(*m));
        }
    }

    /// Text that is read back means the same. It need not be the same expression: reading builds it again, and the
    /// constructors may see more the second time.
    #[test]
    fn what_is_printed_reads_back_with_the_same_meaning(
        steps in steps(30), constants in constants(), seed in prop::collection::vec(any::<u64>(), 1..30),
    ) {
        let store = Store::new();
        let symbolic = Symbolic::new(&store);
        let mut terms = Pools::new(&symbolic, &constants);
        let s = structure(&store, &seed);
        terms.run(&symbolic, &steps);
        let term = |t| logic::term(&Concrete, &store, t, &s);
        let formula = |f| logic::formula(&Concrete, &store, f, &s);
        for (w, t) in terms.vals.iter().rev().take(12) {
            let text = store.display(*t);
            match parallax_term::parse_term(&store, &text, *w) {
                Ok(back) => prop_assert_eq!(term(back), term(*t), "{} read back as {}", text, store.display(back)),
                Err(error) => prop_assert!(error.message.contains("nested more than"), "{text}: {error:?}"),
            }
        }
        for f in terms.bools.iter().rev().take(6) {
            let text = store.display(*f);
            match parallax_term::parse_formula(&store, &text) {
                Ok(back) => prop_assert_eq!(formula(back), formula(*f), "{} read back as {}", text, store.display(back)),
                Err(error) => prop_assert!(error.message.contains("nested more than"), "{text}: {error:?}"),
            }
        }
    }

    /// Signs cover what values do, and inputs that taint does not mention have no influence.
    #[test]
    fn abstract_readings_cover_the_concrete_one(
        steps in steps(40), constants in constants(), seed in prop::collection::vec(any::<u64>(), 1..30), changed in 0usize..24,
    ) {
        let store = Store::new();
        Pools::new(&Symbolic::new(&store), &constants);
        let s = structure(&store, &seed);
        let before = concretely(&store, &s, &constants, &steps);

        let signs = Abstract::<Sign>::default();
        let mut abstracted = Pools::new(&signs, &constants);
        abstracted.run(&signs, &steps);
        for ((_, known), (_, value)) in abstracted.vals.iter().zip(&before.vals) {
            prop_assert!(known.domain.covers(value), "{:?} {value:?}", known.domain);
            if let Some(constants) = &known.constants {
                prop_assert!(constants.contains(&parallax_sem::BigKey(value.clone())), "{value:?} is not among {constants:?}");
            }
        }
        for (known, value) in abstracted.bools.iter().zip(&before.bools) {
            prop_assert!(known.truth == Truth::Unknown || known.truth == Truth::of(*value));
        }

        // One vector symbol is marked, and then given another value.
        let taint = Abstract { unknown: Taint::CLEAN, widening: false };
        let mut marked = Pools::new(&taint, &constants);
        let (width, name) = (WIDTHS[changed / 3], NAMES[changed % 3]);
        let index = marked.vals.iter().position(|(w, _)| *w == width).expect("every width is there") + changed % 3;
        marked.vals[index].1 = parallax_sem::Value::described(Taint::input(0));
        marked.run(&taint, &steps);
        let mut other = s.clone();
        let symbol = store.lookup(&format!("{name}{width}")).expect("declared");
        other.set_val(symbol, Bits::new(width, u128::from(seed[0]).wrapping_mul(0x9e37_79b9_7f4a_7c15)));
        let after = concretely(&store, &other, &constants, &steps);
        for ((_, known), (x, y)) in marked.vals.iter().zip(before.vals.iter().zip(&after.vals)) {
            prop_assert!(known.domain.reached_by(0) || x == y, "{x:?} became {y:?} without being reached");
        }
        for (known, (x, y)) in marked.bools.iter().zip(before.bools.iter().zip(&after.bools)) {
            prop_assert!(known.domain.reached_by(0) || x == y);
        }
    }

    /// Two readings in lock-step are the two readings.
    #[test]
    fn a_pair_is_its_parts(steps in steps(30), constants in constants(), seed in prop::collection::vec(any::<u64>(), 1..30)) {
        let store = Store::new();
        let symbolic = Symbolic::new(&store);
        let mut alone = Pools::new(&symbolic, &constants);
        alone.run(&symbolic, &steps);
        let s = structure(&store, &seed);
        let pair = Pair(Given(&store, &s), symbolic);
        let mut both = Pools::new(&pair, &constants);
        both.run(&pair, &steps);
        prop_assert_eq!(alone.vals.len(), both.vals.len());
        for ((_, term), (_, (value, paired))) in alone.vals.iter().zip(&both.vals) {
            prop_assert_eq!(term, paired);
            prop_assert_eq!(&logic::term(&Concrete, &store, *term, &s), value);
        }
    }
}

/// A million nested nodes: built, printed, evaluated, substituted into, written as SMT-LIB and dropped on a test
/// thread's small stack.
#[test]
fn a_million_nested_nodes() {
    let store = Store::new();
    let symbolic = Symbolic::new(&store);
    let x = store.symbol("x", 32);
    let p = store.bool_symbol("p");
    let mut deep = x;
    let mut formula = p;
    let mut map = store.func_symbol("F", 32, 32);
    for index in 0..1_000_000u32 {
        deep = match index % 4 {
            0 => store.binop(BinOp::Mul, deep, x),
            1 => store.binop(BinOp::Xor, store.unop(UnOp::Not, deep), x),
            2 => store.ite(p, deep, x),
            _ => store.binop(BinOp::Udiv, x, deep),
        };
        if index % 10 == 0 {
            formula = store.iff(formula, store.relop(RelOp::Ult, deep, x));
            map = store.update(map, deep, x);
        }
    }
    assert!(store.display(deep).len() > 1_000_000);
    assert!(!store.display(formula).is_empty());
    let script = parallax_term::Script::new().define("deep", deep).define("phi", formula).render(&store);
    assert!(script.lines().all(|line| line.len() < 100_000));
    let mut s = Struct::new();
    s.set_val(store.lookup("x").unwrap(), Bits::new(32, 12345));
    s.set_bool(store.lookup("p").unwrap(), true);
    let value = logic::term(&Concrete, &store, deep, &s);
    assert_eq!(value.width(), 32);
    logic::formula(&Concrete, &store, formula, &s);
    logic::func_expr(&Concrete, &store, map, &s);
    let identity = Struct::<Symbolic>::new();
    assert_eq!(logic::term(&symbolic, &store, deep, &identity), deep);
    store.declare("y", Sort::Bits(32), SymbolKind::Free);
    drop(store);
}
