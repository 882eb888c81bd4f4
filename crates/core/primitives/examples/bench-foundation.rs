//! What the foundation costs: hash-consing, symbolic evaluation, weakest liberal preconditions.

use parallax_op::BinOp;
use parallax_pl as pl;
use parallax_primitives::{Bounds, Explorer};
use parallax_sem::{Language, Symbolic, logic};
use parallax_source::SourceFile;
use parallax_term::{Store, StructUpdate};
use std::fmt::Write;
use std::time::Instant;

fn main() {
    hash_consing();
    straight_line();
    aliasing();
}

/// New and repeated expressions over a few symbols.
fn hash_consing() {
    const ROUNDS: u32 = 2_000_000;
    let store = Store::new();
    let symbols: Vec<_> = (0..16).map(|index| store.symbol(&format!("v{index}"), 32)).collect();
    let build = || {
        let mut last = symbols[0];
        for round in 0..ROUNDS {
            let other = symbols[(round % 16) as usize];
            last = match round % 3 {
                0 => store.binop(BinOp::Mul, last, other),
                1 => store.binop(BinOp::Udiv, last, other),
                _ => store.binop(BinOp::Lshr, other, last),
            };
        }
        last
    };
    let start = Instant::now();
    let first = build();
    let fresh = start.elapsed().as_secs_f64();
    let start = Instant::now();
    let second = build();
    let repeated = start.elapsed().as_secs_f64();
    assert_eq!(first, second, "equal expressions have equal ids");
    println!("hash-consing/new {:.2} M/s", f64::from(ROUNDS) / fresh / 1e6);
    println!("hash-consing/repeated {:.2} M/s", f64::from(ROUNDS) / repeated / 1e6);
    let statistics = store.statistics();
    println!(
        "hash-consing/bytes-per-term {:.1} bytes",
        statistics.bytes as f64 / statistics.expressions as f64
    );
}

/// A hundred thousand statements over a hundred variables.
fn straight_line() {
    const STATEMENTS: usize = 100_000;
    let mut text = String::new();
    for index in 0..STATEMENTS {
        let (a, b, c) = (index % 100, (index * 7 + 3) % 100, (index * 13 + 5) % 100);
        let operator = ["+", "^", "-", "&", "|"][index % 5];
        let _ = writeln!(text, "v{a} = v{b} {operator} v{c};");
    }
    let program = pl::read(&SourceFile::new("straight.pl", text)).expect("reads");
    let store = Store::new();
    program.declare(&store);
    let start = Instant::now();
    let evaluation = Explorer::new(&program, &store, Bounds::default()).evaluate(&StructUpdate::identity());
    let seconds = start.elapsed().as_secs_f64();
    assert!(evaluation.gave_up.is_empty());
    println!("# straight line: {STATEMENTS} statements, 100 variables, {} expressions", store.len());
    println!("evaluation/straight-line {:.0} statements/s", STATEMENTS as f64 / seconds);
    println!("evaluation/straight-line-time {seconds:.3} s");
}

/// Ten thousand statements through fifty pointers that may all alias each other and every variable.
fn aliasing() {
    const STATEMENTS: usize = 10_000;
    let mut text = String::new();
    for index in 0..STATEMENTS {
        let (p, q) = (index % 50, (index * 17 + 7) % 50);
        let _ = match index % 3 {
            0 => writeln!(text, "*p{p} = *p{q} + {};", index % 10),
            1 => writeln!(text, "*p{p} = x ^ *p{q};"),
            _ => writeln!(text, "x = x + *p{p};"),
        };
    }
    let program = pl::read(&SourceFile::new("aliasing.pl", text)).expect("reads");
    let store = Store::new();
    program.declare(&store);
    let core = Symbolic::new(&store);
    let post = pl::read_condition(&program, "x == 5").expect("reads");
    let post = pl::condition(&core, &post, &program.state(&core, &store, &logic::Struct::new()));
    let start = Instant::now();
    let evaluation = Explorer::new(&program, &store, Bounds::default()).evaluate(&StructUpdate::identity());
    let wlp = logic::precondition(&store, &evaluation.update, post);
    let seconds = start.elapsed().as_secs_f64();
    assert!(evaluation.gave_up.is_empty());
    let size = store.post_order([wlp.id()]).len();
    println!("# aliasing: {STATEMENTS} statements, 50 pointers, {} expressions in all", store.len());
    println!("wlp/aliasing-time {seconds:.3} s");
    println!("wlp/aliasing-formula {size} nodes");
}
