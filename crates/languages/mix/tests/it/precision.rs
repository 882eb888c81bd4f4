//! Precision never drops: what type checking accepts alone, MIX accepts, in a typed block and in a symbolic one.

use crate::support;

use parallax_mix::mix::{self, Options};
use parallax_mix::symbolic::Conditionals;
use parallax_mix::syntax::ExprId;
use parallax_mix::ty::{KnownId, Type};
use parallax_mix::types::{Checker, SymbolicBlocks};
use parallax_source::Span;
use support::Shape;

/// Type checking on its own has nobody to ask about blocks, and needs nobody where there are none.
struct Alone;

impl SymbolicBlocks for Alone {
    fn symbolic_block(&self, _: &Checker<'_>, _: ExprId) -> Type {
        unreachable!("the program has no blocks")
    }
    fn known_function(&self, _: &Checker<'_>, _: KnownId, _: Span) -> Type {
        unreachable!("nothing is executed")
    }
}

/// The type that type checking alone gives a program without blocks.
fn pure(text: &str) -> Option<Type> {
    let program = parallax_mix::read(text).expect("generated programs read");
    let checker = Checker::new(&program);
    let ty = checker.check(&Alone, program.root);
    checker.take_complaints().is_empty().then(|| checker.resolved(&ty))
}

/// The expression of a program put between `open` and `close`.
fn wrapped(text: &str, open: &str, close: &str) -> String {
    let start = text.rfind(";\n").filter(|_| text.starts_with("extern")).map_or(0, |at| at + 2);
    format!("{}{open} {} {close}", &text[..start], &text[start..])
}

#[test]
fn what_type_checking_accepts_mix_accepts_in_either_block() {
    let programs = 2000;
    let mut accepted = 0;
    for seed in 0..programs {
        // No loops and nothing from outside: finitely many paths, and every function is known.
        let text = support::program(seed, Shape { blocks: false, mistakes: 1, unbounded: false, depth: 4 });
        let Some(ty) = pure(&text) else { continue };
        accepted += 1;
        let typed = wrapped(&text, "{t", "t}");
        let verdict = mix::check(&parallax_mix::read(&typed).expect("it reads"), &Options::default());
        assert!(verdict.accepted() && verdict.ty == ty, "seed {seed}: {:?}\n{typed}", verdict.errors);

        let symbolic = wrapped(&text, "{s", "s}");
        let program = parallax_mix::read(&symbolic).expect("it reads");
        for conditionals in [Conditionals::Fork, Conditionals::Defer] {
            let mut options = Options::default();
            options.symbolic.conditionals = conditionals;
            let verdict = mix::check(&program, &options);
            assert!(verdict.accepted(), "seed {seed}: {:?}\n{symbolic}", verdict.errors);
            // A block that always stops at a division by zero gives no value, so any type is right.
            if !matches!(verdict.ty, Type::Var(_)) {
                assert_eq!(verdict.ty.to_string(), ty.to_string(), "seed {seed}\n{symbolic}");
            }
        }
    }
    assert!(accepted * 4 > programs, "only {accepted} of {programs} were accepted at all");
}
