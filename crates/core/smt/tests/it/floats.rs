//! Z3's floats against the meaning of the operators: with the operands fixed, the result is what it should be and
//! can be nothing else.

use parallax_op::{Bits, FloatBinOp, FloatFormat, FloatRelOp, FloatUnOp, Rounding, float};
use parallax_smt::{Solver, Z3};
use parallax_term::{Formula, Store, Term};
use proptest::prelude::*;

/// Any pattern, and those with exponents near one, at the ends, and zero.
fn pattern(format: FloatFormat) -> impl Strategy<Value = Bits> {
    let width = format.width();
    let (exponent_bits, _) = format.smt2();
    let bias = (1u128 << (exponent_bits - 1)) - 1;
    let top = (1u128 << exponent_bits) - 1;
    let below = width - 1 - exponent_bits;
    let exponents = prop_oneof![bias - 3..bias + 12, 0..2u128, top - 1..top + 1];
    prop_oneof![
        any::<u128>().prop_map(move |bits| Bits::new(width, bits)),
        (any::<u128>(), exponents, any::<bool>()).prop_map(move |(fraction, exponent, dense)| {
            let fraction = if dense { fraction } else { fraction & (3 << (below - 2)) };
            let keep = !(top << below);
            Bits::new(width, fraction & keep | exponent << below)
        }),
    ]
}

fn case() -> impl Strategy<Value = (Bits, Bits, Bits, Rounding)> {
    (prop::sample::select(FloatFormat::ALL), prop::sample::select(Rounding::ALL)).prop_flat_map(
        |(format, rounding)| (pattern(format), pattern(format), pattern(format), Just(rounding)),
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn operators_mean_the_same((a, b, c, r) in case(), width in prop::sample::select(vec![8u16, 16, 32, 64])) {
        let store = Store::new();
        let format = FloatFormat::of_width(a.width()).unwrap();
        let symbols: Vec<Term> = ["x", "y", "z"].iter().map(|name| store.symbol(name, a.width())).collect();
        let given: Vec<Formula> =
            symbols.iter().zip([&a, &b, &c]).map(|(&s, value)| store.eq(s, store.constant(value))).collect();
        let (x, y, z) = (symbols[0], symbols[1], symbols[2]);
        let integer = a.extract(0, 16);
        let low = store.extract(x, 0, 16);
        let to = FloatFormat::ALL[usize::from(width) % 5];
        let mut terms = vec![
            (store.float_fma(r, x, y, z), float::fused_multiply_add(r, &a, &b, &c)),
            (store.float_to_float(r, x, to), float::float_to_float(r, &a, to)),
            (store.int_to_float(true, r, low, format), float::int_to_float(true, r, &integer, format)),
            (store.int_to_float(false, r, low, format), float::int_to_float(false, r, &integer, format)),
            (store.float_to_int(true, r, x, width), float::float_to_int(true, r, &a, width)),
            (store.float_to_int(false, r, x, width), float::float_to_int(false, r, &a, width)),
        ];
        for &op in FloatUnOp::ALL {
            terms.push((store.float_un(op, r, x), op.apply(r, &a)));
        }
        for &op in FloatBinOp::ALL {
            // Larger formats are refused: the circuit of a remainder grows with the range of exponents, squared.
            if op != FloatBinOp::Rem || format == FloatFormat::F16 {
                terms.push((store.float_bin(op, r, x, y), op.apply(r, &a, &b)));
            }
        }
        let mut wrong: Vec<Formula> = terms.iter().map(|(t, value)| store.ne(*t, store.constant(value))).collect();
        for &op in FloatRelOp::ALL {
            let relation = store.float_rel(op, x, y);
            wrong.push(if op.apply(&a, &b) { store.not(relation) } else { relation });
        }
        let mut solver = Z3::new(&store);
        for (index, &formula) in wrong.iter().enumerate() {
            let mut query = given.clone();
            query.push(formula);
            prop_assert!(solver.check(&query).is_unsat(), "operator {index}: {}", store.display(formula));
            query.pop();
            query.push(store.not(formula));
            prop_assert!(solver.check(&query).is_sat(), "operator {index}: {}", store.display(formula));
        }
    }
}
