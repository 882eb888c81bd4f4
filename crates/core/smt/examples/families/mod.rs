//! What analyses ask along a path, in four families: branch conditions in the order in which they come.

use parallax_op::{BinOp, RelOp};
use parallax_sem::{ByteOrder, Core, Symbolic};
use parallax_term::{Formula, Store, Term};

/// A small generator of numbers (Steele, Lea, Flood: SplitMix64), so that every run asks the same.
pub struct Numbers(pub u64);

impl Numbers {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % limit
    }
}

/// The branch conditions along one path.
pub type Path = fn(&Store, &mut Numbers) -> Vec<Formula>;

/// A reader of text: characters compared with constants and ranges, numbers and hashes built from them.
fn parser(store: &Store, numbers: &mut Numbers) -> Vec<Formula> {
    let bytes: Vec<Term> = (0..16).map(|i| store.symbol(&format!("in{i}"), 8)).collect();
    let mut value = store.number(32, 0);
    let mut hash = store.number(32, 5381);
    let mut conditions = Vec::new();
    for &byte in bytes.iter().take(12) {
        let wide = store.zext(byte, 32);
        value = store
            .add(store.binop(BinOp::Mul, value, store.number(32, 10)), store.sub(wide, store.number(32, 48)));
        hash = store.binop(BinOp::Xor, store.binop(BinOp::Mul, hash, store.number(32, 33)), wide);
        conditions.push(match numbers.below(5) {
            0 => store.eq(byte, store.number(8, u128::from(numbers.below(95)) + 32)),
            1 => store.ne(byte, store.number(8, u128::from(numbers.below(95)) + 32)),
            2 => store.and(
                store.relop(RelOp::Uge, byte, store.number(8, 48)),
                store.relop(RelOp::Ule, byte, store.number(8, 57)),
            ),
            3 => store.relop(RelOp::Slt, value, store.number(32, u128::from(numbers.below(1 << 20)))),
            _ => {
                let low = store.binop(BinOp::And, hash, store.number(32, 15));
                store.relop(RelOp::Ult, low, store.number(32, u128::from(numbers.below(14)) + 1))
            }
        });
    }
    conditions
}

/// Integer code: sums, masks, shifts, comparisons of machine words.
fn arithmetic(store: &Store, numbers: &mut Numbers) -> Vec<Formula> {
    let mut values: Vec<Term> = ["x", "y", "z"].iter().map(|name| store.symbol(name, 32)).collect();
    let mut conditions = Vec::new();
    for _ in 0..12 {
        let a = values[numbers.below(values.len() as u64) as usize];
        let b = values[numbers.below(values.len() as u64) as usize];
        let k = store.number(32, u128::from(numbers.below(1000)) + 1);
        let op = [BinOp::Add, BinOp::Sub, BinOp::And, BinOp::Or, BinOp::Xor, BinOp::Lshr]
            [numbers.below(6) as usize];
        let made = store.binop(op, a, if numbers.below(2) == 0 { b } else { k });
        values.push(made);
        let relation = [RelOp::Slt, RelOp::Ult, RelOp::Eq, RelOp::Ne, RelOp::Sle][numbers.below(5) as usize];
        conditions.push(store.relop(relation, made, if numbers.below(3) == 0 { a } else { k }));
    }
    conditions
}

/// Words loaded and stored through pointers that may be equal.
fn memory(store: &Store, numbers: &mut Numbers) -> Vec<Formula> {
    let symbolic = Symbolic::new(store);
    let pointers: Vec<Term> = (0..4).map(|i| store.symbol(&format!("p{i}"), 32)).collect();
    let mut map = store.func_symbol("F", 32, 8);
    let mut conditions = Vec::new();
    for _ in 0..6 {
        let mut place = || {
            let pointer = pointers[numbers.below(4) as usize];
            store.add(pointer, store.number(32, u128::from(numbers.below(3)) * 4))
        };
        let (from, to) = (place(), place());
        let word = symbolic.load(&map, 32, &from, 4, ByteOrder::Little);
        map = symbolic.store(map, 32, &to, 4, ByteOrder::Little, &store.add(word, store.number(32, 1)));
        conditions.push(match numbers.below(3) {
            0 => store.eq(word, store.number(32, u128::from(numbers.below(100)))),
            1 => store.relop(RelOp::Slt, word, store.number(32, u128::from(numbers.below(100)))),
            _ => store.ne(from, to),
        });
    }
    conditions
}

/// Guards of heap summaries: Boolean choices, and references equal to each other or to null.
fn guards(store: &Store, numbers: &mut Numbers) -> Vec<Formula> {
    let choices: Vec<Formula> = (0..10).map(|i| store.bool_symbol(&format!("g{i}"))).collect();
    let references: Vec<Term> = (0..6).map(|i| store.symbol(&format!("r{i}"), 32)).collect();
    let mut conditions = Vec::new();
    for _ in 0..16 {
        let mut choice = || choices[numbers.below(10) as usize];
        let (g, h) = (choice(), choice());
        let (a, b) = (references[numbers.below(6) as usize], references[numbers.below(6) as usize]);
        let picked = store.ite(g, a, store.ite(h, b, store.number(32, 0)));
        conditions.push(match numbers.below(3) {
            0 => store.or(store.not(g), h),
            1 => store.eq(picked, references[numbers.below(6) as usize]),
            _ => store.ne(picked, store.number(32, 0)),
        });
    }
    conditions
}

/// The families by name.
pub const FAMILIES: [(&str, Path); 4] =
    [("parser", parser), ("arithmetic", arithmetic), ("memory", memory), ("guards", guards)];
