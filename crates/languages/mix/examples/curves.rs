//! What symbolic and typed code cost: prints one CSV line for each measurement.
//!
//! `cargo run --release -p parallax-mix --example curves`

use cpu_time::ThreadTime;
use parallax_mix::mix::{Mix, Options, Outer, check};
use parallax_mix::symbolic::Conditionals;
use std::fmt::Write;

/// A symbolic block with `n` conditionals in a row, none of which depends on another.
fn conditionals(n: usize) -> String {
    let mut text = String::new();
    for i in 0..n {
        writeln!(text, "extern b{i} : bool").expect("a string");
    }
    text.push_str("{s var n = 0;\n");
    for i in 0..n {
        writeln!(text, "if b{i} then n = n + {} else n = n - 1;", i + 1).expect("a string");
    }
    text + "n s}\n"
}

/// `lines` lines of typed code.
fn typed(lines: usize) -> String {
    let mut text = String::from("let x0 = ref 0 in\n");
    for i in 1..lines {
        match i % 4 {
            0 => writeln!(text, "let x{i} = ref (!x{} + 1) in", i - 1),
            1 => writeln!(text, "let x{i} = (if !x{} > {i} then x{} else ref {i}) in", i - 1, i - 1),
            2 => writeln!(text, "let x{i} = (fun y -> ref (y * 2)) (!x{}) in", i - 1),
            _ => writeln!(text, "let x{i} = (x{} := {i}; ref 1) in", i - 1),
        }
        .expect("a string");
    }
    writeln!(text, "!x{}", lines - 1).expect("a string");
    text
}

fn main() {
    println!("what,size,paths,seconds");
    for n in (2..=20).step_by(2) {
        for (name, how) in [("fork", Conditionals::Fork), ("defer", Conditionals::Defer)] {
            let text = conditionals(n);
            let program = parallax_mix::read(&text).expect("it reads");
            let mut options = Options { outer: Outer::Symbolic, ..Options::default() };
            options.symbolic.conditionals = how;
            let start = ThreadTime::now();
            let verdict = check(&program, &options);
            let seconds = start.elapsed().as_secs_f64();
            assert!(verdict.accepted(), "{:?}", verdict.errors);
            let store = parallax_term::Store::new();
            let mix = Mix::new(&program, &store, options);
            let paths = mix.explore(&mix.checker, program.root).outcomes.len();
            println!("{name},{n},{paths},{seconds:.6}");
        }
    }
    for lines in [1_000, 10_000, 100_000, 200_000] {
        let text = typed(lines);
        let start = ThreadTime::now();
        let program = parallax_mix::read(&text).expect("it reads");
        let read = start.elapsed().as_secs_f64();
        let start = ThreadTime::now();
        let verdict = check(&program, &Options::default());
        let checked = start.elapsed().as_secs_f64();
        assert!(verdict.accepted(), "{:?}", verdict.errors);
        println!("read,{lines},,{read:.6}");
        println!("check,{lines},,{checked:.6}");
    }
}
