//! Scripts are answered as Z3 answers them, and models satisfy what Z3 reads in the same script.

use parallax_smt::{Solver, Tier0, Tiered};
use parallax_smtlib::{Interpreter, Refusal, Response};
use parallax_term::Store;
use std::fmt::Write;

/// What our interpreter says.
fn ours<'s>(solver: Box<dyn Solver<'s> + 's>, script: &str) -> Result<Vec<Response>, Refusal> {
    let mut said = Vec::new();
    Interpreter::new(solver).run(script, &mut |response| said.push(response))?;
    Ok(said)
}

/// What Z3 says about the assertions of a script.
fn theirs(script: &str) -> Option<bool> {
    let solver = z3::Solver::new();
    solver.from_string(script);
    match solver.check() {
        z3::SatResult::Sat => Some(true),
        z3::SatResult::Unsat => Some(false),
        z3::SatResult::Unknown => None,
    }
}

/// A small generator: numbers one behind the other.
struct Random(u64);

impl Random {
    fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % most
    }

    fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }
}

const DECLARATIONS: &str = "(declare-const a (_ BitVec 8))(declare-fun b () (_ BitVec 8))(declare-const |c d| (_ BitVec 8))
(declare-const p Bool)(declare-const m (Array (_ BitVec 8) (_ BitVec 8)))(declare-fun f ((_ BitVec 8) Bool) (_ BitVec 8))
(declare-fun g ((_ BitVec 8)) Bool)
(define-fun twice ((x (_ BitVec 8))) (_ BitVec 8) (bvadd x x))
(define-fun between ((x (_ BitVec 8)) (low (_ BitVec 8)) (high (_ BitVec 8))) Bool (and (bvule low x) (bvule x high)))
";

/// A vector of eight bits.
fn vector(random: &mut Random, depth: usize) -> String {
    if depth == 0 {
        return match random.below(6) {
            0 => "a".to_owned(),
            1 => "b".to_owned(),
            2 => "|c d|".to_owned(),
            3 => format!("#x{:02x}", random.below(256)),
            4 => format!("#b{:08b}", random.below(256)),
            _ => format!("(_ bv{} 8)", random.below(256)),
        };
    }
    let v = |random: &mut Random| vector(random, depth - 1);
    match random.below(16) {
        0 => format!("({} {})", random.pick(&["bvnot", "bvneg", "twice"]), v(random)),
        1..=4 => {
            let names = [
                "bvadd", "bvsub", "bvmul", "bvudiv", "bvurem", "bvsdiv", "bvsrem", "bvsmod", "bvand", "bvor",
                "bvxor", "bvshl", "bvlshr", "bvashr", "bvnand", "bvnor", "bvxnor",
            ];
            format!("({} {} {})", random.pick(&names), v(random), v(random))
        }
        5 => format!(
            "({} {} {} {})",
            random.pick(&["bvadd", "bvor", "bvxor"]),
            v(random),
            v(random),
            v(random)
        ),
        6 => format!("(ite {} {} {})", truth(random, depth - 1), v(random), v(random)),
        7 => format!("(select {} {})", array(random, depth - 1), v(random)),
        8 => format!("(f {} {})", v(random), truth(random, depth - 1)),
        9 => {
            let (low, name) = (random.below(8), random.pick(&["zero_extend", "sign_extend"]));
            format!("((_ {name} {}) ((_ extract 7 {low}) {}))", low, v(random))
        }
        10 => format!(
            "((_ {} {}) {})",
            random.pick(&["rotate_left", "rotate_right"]),
            random.below(20),
            v(random)
        ),
        11 => format!("((_ repeat 8) (bvcomp {} {}))", v(random), v(random)),
        12 => {
            let cut = 1 + random.below(7);
            format!("(concat ((_ extract {} 0) {}) ((_ extract 7 {cut}) {}))", cut - 1, v(random), v(random))
        }
        13 => format!("(let ((a {}) (x {})) (bvadd a x))", v(random), v(random)),
        14 => format!("(let ((x {})) (let ((x (bvadd x x)) (y x)) (bvxor x y)))", v(random)),
        _ => v(random),
    }
}

fn array(random: &mut Random, depth: usize) -> String {
    if depth == 0 || random.below(3) == 0 {
        return random.pick(&["m", "((as const (Array (_ BitVec 8) (_ BitVec 8))) #x07)"]).to_string();
    }
    match random.below(3) {
        0 => format!(
            "(ite {} {} {})",
            truth(random, depth - 1),
            array(random, depth - 1),
            array(random, depth - 1)
        ),
        _ => {
            let (map, key) = (array(random, depth - 1), vector(random, depth - 1));
            format!("(store {map} {key} {})", vector(random, depth - 1))
        }
    }
}

fn truth(random: &mut Random, depth: usize) -> String {
    if depth == 0 {
        return random.pick(&["p", "true", "false", "(g a)", "(= a b)"]).to_string();
    }
    let (t, v) =
        (|random: &mut Random| truth(random, depth - 1), |random: &mut Random| vector(random, depth - 1));
    match random.below(9) {
        0 => format!("(not {})", t(random)),
        1 => format!("({} {} {})", random.pick(&["and", "or", "xor", "=>", "="]), t(random), t(random)),
        2 => format!(
            "({} {} {} {})",
            random.pick(&["and", "or", "xor", "=>", "="]),
            t(random),
            t(random),
            t(random)
        ),
        3 => format!("(ite {} {} {})", t(random), t(random), t(random)),
        4 => format!("({} {} {})", random.pick(&["=", "distinct"]), v(random), v(random)),
        5 => format!("(distinct {} {} {})", v(random), v(random), v(random)),
        6 => format!("(between {} {} {})", v(random), v(random), v(random)),
        _ => {
            let names = ["bvult", "bvule", "bvugt", "bvuge", "bvslt", "bvsle", "bvsgt", "bvsge"];
            format!("({} {} {})", random.pick(&names), v(random), v(random))
        }
    }
}

/// Answers are Z3's; the model that we print, asserted, is one that Z3 accepts.
#[test]
fn random_scripts_are_answered_as_z3_answers_them() {
    let (mut sat, mut unsat) = (0, 0);
    for seed in 1..=300u64 {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let mut script = DECLARATIONS.to_owned();
        for _ in 0..1 + random.below(4) {
            writeln!(script, "(assert {})", truth(&mut random, 3)).unwrap();
        }
        let Some(expected) = theirs(&script) else { continue };
        let store = Store::new();
        let solver: Box<dyn Solver<'_>> =
            if seed % 2 == 0 { Box::new(Tier0::new(&store)) } else { Box::new(Tiered::new(&store)) };
        let asks = if expected { "(check-sat)(get-model)" } else { "(check-sat)" };
        let said = ours(solver, &format!("{script}{asks}")).unwrap_or_else(|why| panic!("{why:?}\n{script}"));
        assert_eq!(said[0], Response::Decided(Ok(expected)), "{script}");
        if !expected {
            unsat += 1;
            continue;
        }
        sat += 1;
        // Definitions in the place of declarations: what is left has to be true.
        let model = said[1].to_string();
        let defined = model.strip_prefix('(').and_then(|text| text.strip_suffix(')')).expect("a list");
        let rest = &script[script.find("(define-fun twice").unwrap()..];
        assert_eq!(theirs(&format!("{defined}\n{rest}")), Some(true), "{defined}\n{rest}");
    }
    assert!(sat > 50 && unsat > 20, "{sat} sat, {unsat} unsat: the scripts say too little");
}

#[test]
fn cores_name_what_does_not_hold_together() {
    let script = "(declare-const x (_ BitVec 8)) (declare-const y (_ BitVec 8))
        (assert (! (bvult x #x05) :named low)) (assert (! (bvult y #x05) :named other))
        (push) (assert (! (bvult #x10 x) :named high)) (check-sat) (get-unsat-core) (pop) (check-sat)";
    let store = Store::new();
    let said = ours(parallax_smt::solver(&store), script).unwrap();
    let said: Vec<String> = said.iter().map(ToString::to_string).collect();
    assert_eq!(said, ["unsat", "(low high)", "sat"]);
}

/// An array that is another name for an expression, and one of which something was said before.
#[test]
fn equations_of_arrays() {
    let head = "(declare-const a (Array (_ BitVec 4) (_ BitVec 4))) (declare-const b (Array (_ BitVec 4) (_ BitVec 4)))
        (declare-const i (_ BitVec 4))";
    let store = Store::new();
    let after = "(assert (= b (store a i #x3))) (assert (distinct (select b i) #x3)) (check-sat)";
    let said = ours(parallax_smt::solver(&store), &format!("{head}{after}")).unwrap();
    assert_eq!(said, [Response::Decided(Ok(false))]);
    // Used before: the equation constrains what was said, and is refused by name, not lost.
    let before = "(assert (distinct (select b i) #x3)) (assert (= b (store a i #x3))) (check-sat)";
    let refused = ours(parallax_smt::solver(&store), &format!("{head}{before}"));
    assert!(matches!(refused, Err(Refusal::Malformed(_) | Refusal::Unsupported(_))), "{refused:?}");
    let defined = "(define-fun k () (_ BitVec 4) (select b i)) (assert (= b (store a i #x3)))
        (assert (distinct k #x3)) (check-sat)";
    let refused = ours(parallax_smt::solver(&store), &format!("{head}{defined}"));
    assert!(refused.is_err(), "{refused:?}");
    let same = "(assert (= (store a i #x3) (store (store a i #x5) i #x4))) (check-sat)";
    assert_eq!(
        ours(parallax_smt::solver(&store), &format!("{head}{same}")).unwrap(),
        [Response::Decided(Ok(false))]
    );
}

/// No stack is used up, however deep a script nests.
#[test]
fn deep_scripts_are_read() {
    let deep = 200_000;
    let mut script = "(declare-const x (_ BitVec 8)) (assert (= #x01 ".to_owned();
    script.push_str(&"(bvadd #x01 ".repeat(deep));
    script.push('x');
    script.push_str(&")".repeat(deep));
    script.push_str(")) (check-sat)");
    let store = Store::new();
    assert_eq!(ours(parallax_smt::solver(&store), &script).unwrap(), [Response::Decided(Ok(true))]);
    let lets = "(let ((y (bvadd x x))) ".repeat(deep);
    let script =
        format!("(declare-const x (_ BitVec 8)) (assert (= x {lets}x{}))(check-sat)", ")".repeat(deep));
    assert_eq!(
        ours(parallax_smt::solver(&store), &script.replace("const x", "const z").replace(" x", " z"))
            .unwrap()
            .len(),
        1
    );
}

/// What is no script, and what is beyond the logic, is said with its place.
#[test]
fn refusals() {
    let store = Store::new();
    for (script, is_malformed) in [
        ("(assert", true),
        ("(assert true", true),
        (")", true),
        ("(assert x)", true),
        ("(declare-const x (_ BitVec 0))", true),
        ("(declare-const x (_ BitVec 8)) (declare-const x Bool)", true),
        ("(declare-const x (_ BitVec 8)) (assert (bvadd x #x1))", true),
        ("(declare-const x (_ BitVec 8)) (assert x)", true),
        ("(assert (= #b1 #xg))", true),
        ("(assert (= |a b #b1))", true),
        ("(pop 1)", true),
        ("(get-model)", true),
        ("(assert (let ((x #b1) (= x x)))", true),
        ("(declare-const x (_ BitVec 100000))", false),
        ("(declare-const x Int)", false),
        ("(declare-const x (Array (_ BitVec 8) (Array (_ BitVec 8) (_ BitVec 8))))", false),
        ("(assert (forall ((x Bool)) x))", false),
        ("(declare-datatypes () ())", false),
        ("(assert (= ((_ zero_extend 4294967295) #b1) #b1))", true),
        ("(push 4294967295)", false),
    ] {
        match ours(parallax_smt::solver(&store), script) {
            Err(Refusal::Malformed(_)) => assert!(is_malformed, "{script}"),
            Err(Refusal::Unsupported(_)) => assert!(!is_malformed, "{script}"),
            Ok(said) => panic!("{script}: {said:?}"),
        }
    }
}
