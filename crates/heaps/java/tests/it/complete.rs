//! A run over class files that says it is complete has the same paths with every bound raised.
//!
//! Methods are generated: references, fields, writes, numbers, arrays of numbers and of references, calls, loops,
//! assumptions by exceptions, preconditions before the method and as one condition, messages. Not generated: strings that are
//! read, floating point, class initialisers, lambdas, preconditions that write.

use crate::common;

use common::generate::Random;
use parallax_engines::engine::{self, Ending, Engine};
use parallax_engines::{Inputs, Stop};
use parallax_java::{Bounds, Event, Task, Uncaught};
use parallax_java::{Cut, Program};
use parallax_path::{Bound, Completeness};
use parallax_term::Store;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;
use std::rc::Rc;

type Trace = engine::Trace<Event, Uncaught, Cut>;

struct Ran {
    traces: BTreeSet<Trace>,
    finished: bool,
    completeness: Completeness,
}

/// Every bound there is, raised by one: a new one does not compile without its row.
fn raised(inputs: Inputs, bounds: Bounds) -> Vec<(&'static str, Inputs, Bounds)> {
    let Inputs { k, array, root_alias: _ } = inputs;
    // Instructions are bounded by a number that no small method comes to.
    let Bounds { rounds, calls, steps: _ } = bounds;
    vec![
        ("k", Inputs { k: k.map(|k| k + 1), ..inputs }, bounds),
        ("array", Inputs { array: array + 1, ..inputs }, bounds),
        ("loop", inputs, Bounds { rounds: rounds + 1, ..bounds }),
        ("calls", inputs, Bounds { calls: calls + 1, ..bounds }),
    ]
}

/// How the precondition is taken.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Mode {
    Bare,
    Before,
    Merged,
}

fn run(path: &Path, method: &str, engine: Engine, inputs: Inputs, bounds: Bounds) -> Ran {
    run_under(path, method, None, false, engine, inputs, bounds)
}

/// The same under a precondition, which may count as one condition.
fn run_under(
    path: &Path,
    method: &str,
    rep_ok: Option<&str>,
    merged: bool,
    engine: Engine,
    inputs: Inputs,
    bounds: Bounds,
) -> Ran {
    let program: Rc<Program> = common::program_with(path, None);
    let task = Task { bounds, merged, ..common::task(&program, method, rep_ok) };
    let store = Store::new();
    let setup = common::setup(&store, &task, inputs);
    let watch = &mut |progress: &parallax_engines::Progress| match progress.states > 2_000 {
        true => Err(Stop::Bound(Bound::States(2_000))),
        false => Ok(()),
    };
    macro_rules! ran {
        ($ends:expr) => {{
            let ends = $ends;
            assert!(!matches!(ends.outcome, Err(Stop::Broken(_))), "{method}: {:?}", ends.outcome);
            let finished = ends.outcome.is_ok();
            Ran { traces: ends.traces.into_keys().collect(), finished, completeness: ends.completeness }
        }};
    }
    match engine.laziness() {
        None => ran!(engine::summary(&setup, &task, None, watch)),
        Some(laziness) => ran!(engine::lazy(&setup, &task, laziness, 0, watch)),
    }
}

/// A class of methods `m0`, `m1` and so on.
fn class(seed: u64, methods: usize) -> String {
    let mut random = Random::new(seed);
    let mut text = String::from(
        "public class Made {
    static class A { A a; B b; int n; int[] s; A[] t; int get() { return n; } }
    static class B extends A { A c; int get() { return n + 1; } }
    A p; B q; int i;
",
    );
    for number in 0..methods {
        let _ = write!(text, "    boolean ok{number}() {{\n        A x = p; A y = q; int j = i;\n");
        for _ in 0..1 + random.below(2) {
            let _ = writeln!(text, "        {}", required(&mut random));
        }
        let _ = write!(
            text,
            "        return true;\n    }}\n    int m{number}() {{\n        A x = p; A y = q; int j = i;\n"
        );
        for _ in 0..1 + random.below(3) {
            let _ = writeln!(text, "        {}", statement(&mut random, 2));
        }
        let _ = write!(text, "        return j;\n    }}\n");
    }
    text + "}\n"
}

fn pick<'a>(random: &mut Random, all: &[&'a str]) -> &'a str {
    all[random.below(all.len())]
}

fn object(random: &mut Random) -> &'static str {
    pick(
        random,
        &["p", "q", "x", "y", "x.a", "p.a", "q.c", "x.b", "y.a", "null", "new A()", "p.t[0]", "x.t[j]"],
    )
}

fn number(random: &mut Random) -> &'static str {
    pick(
        random,
        &[
            "i",
            "j",
            "0",
            "1",
            "2",
            "x.n",
            "p.n",
            "x.get()",
            "p.s[0]",
            "p.s[j]",
            "p.s.length",
            "j + 1",
            "x.t.length",
        ],
    )
}

fn condition(random: &mut Random) -> String {
    if random.below(2) == 0 {
        let (one, two) = (object(random), object(random));
        return format!("{one} {} {two}", pick(random, &["==", "!="])).replace("null == null", "x == null");
    }
    let (one, two) = (number(random), number(random));
    format!("{one} {} {two}", pick(random, &["<", "==", ">=", "!="]))
}

/// What a precondition asks for: a condition, perhaps of every object along a chain.
fn required(random: &mut Random) -> String {
    let condition = condition(random);
    match random.below(4) {
        0 => format!("for (A z = p; z != null; z = z.a) {{ x = z; if ({condition}) return false; }}"),
        1 => format!("if (p == null || p.a == null || p.b == null || {condition}) return false;"),
        _ => format!("if ({condition}) return false;"),
    }
}

fn statement(random: &mut Random, depth: usize) -> String {
    let inner = |random: &mut Random| match depth {
        0 => "j++;".to_owned(),
        _ => statement(random, depth - 1),
    };
    match random.below(10) {
        0 | 1 => format!("{} = {};", pick(random, &["x", "y"]), object(random)),
        2 => format!("j = {};", number(random)),
        3 => format!("x.{} = {};", pick(random, &["a", "t[0]"]), object(random)),
        4 => format!("{} = {};", pick(random, &["x.n", "p.n", "p.s[1]"]), number(random)),
        5 | 6 => format!("if ({}) {{ {} }} else {{ {} }}", condition(random), inner(random), inner(random)),
        7 => format!(
            "for (int l{depth} = 0; l{depth} < {}; l{depth}++) {{ {} }}",
            number(random),
            inner(random)
        ),
        8 => {
            let message = match random.below(2) {
                0 => "",
                _ => "new StringBuilder(\"j\").append(j).append(x == null).append('.').toString()",
            };
            format!("if ({}) throw new IllegalStateException({message});", condition(random))
        }
        _ => format!("if (x instanceof B) {{ {} }}", inner(random)),
    }
}

#[test]
fn generated() {
    let count = std::env::var("JAVA_FUZZ").ok().and_then(|count| count.parse().ok()).unwrap_or(48);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("Made.java");
    let text = class(77, count);
    std::fs::write(&file, &text).unwrap();
    let classes = common::compiled(&[file]);
    let (mut complete, mut others, mut complete_under) = (0, 0, 0);
    for number in 0..count {
        let mode = [Mode::Before, Mode::Merged, Mode::Bare][number / 4 % 3];
        let ok = format!("ok{number}");
        let rep_ok = (mode != Mode::Bare).then_some(ok.as_str());
        let method = format!("Made.m{number}");
        let engine = Engine::ALL[number % 4];
        let inputs = Inputs { k: Some(2 + number / 4 % 2), array: 2, root_alias: true };
        // An exception is made by the constructors of four classes.
        let bounds = Bounds { rounds: 2, calls: 6, steps: 100_000 };
        let run = |inputs, bounds| {
            run_under(classes.path(), &method, rep_ok, mode == Mode::Merged, engine, inputs, bounds)
        };
        let base = run(inputs, bounds);
        let cut = base.traces.iter().any(|trace| matches!(trace.ending, Ending::Cut(_)));
        assert!(!(base.completeness.is_complete() && (cut || !base.finished)), "{method}\n{text}");
        if !base.completeness.is_complete() {
            others += 1;
            println!("{method} {:?}", base.completeness);
            continue;
        }
        complete += 1;
        complete_under += usize::from(mode != Mode::Bare);
        for (what, inputs, bounds) in raised(inputs, bounds) {
            let more = run(inputs, bounds);
            let new: Vec<_> = more.traces.difference(&base.traces).collect();
            assert!(new.is_empty(), "{method} {mode:?} {engine:?}: more {what} finds {new:#?}\n{text}");
            let lost: Vec<_> = base.traces.difference(&more.traces).filter(|_| more.finished).collect();
            assert!(lost.is_empty(), "{method} {mode:?} {engine:?}: more {what} loses {lost:#?}\n{text}");
        }
    }
    println!(
        "{complete} methods are complete, {complete_under} of them under a precondition, {others} are not"
    );
    assert!(complete_under * 8 >= count, "{complete_under} of {count} under a precondition");
    assert!(complete * 8 >= count && others * 8 >= count, "{complete} and {others} of {count}");
}

/// Fields that are never read leave nothing out; null alone of a text that is read does.
#[test]
fn what_is_read_counts() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("Named.java");
    let text = "public class Named { String name; int n; Named next;
        int builds() { if (n == 7) throw new RuntimeException(new StringBuilder().append(\"n is \").append(n + 1)
            .append(name == null ? \"\" : \".\").toString()); return 1; }
        int unread() { return n > 3 ? 1 : 0; }
        int read() { return name == null ? 1 : 0; }
        int deep() { return next == null || next.next == null ? 1 : 0; } }";
    std::fs::write(&file, text).unwrap();
    let classes = common::compiled(&[file]);
    let inputs = Inputs { k: Some(2), array: 1, root_alias: true };
    // A text of six characters is appended in as many rounds.
    let bounds = Bounds { rounds: 20, calls: 8, steps: 100_000 };
    for engine in Engine::ALL {
        for (method, expected) in [("unread", true), ("read", false), ("deep", true), ("builds", false)] {
            let ran = run(classes.path(), &format!("Named.{method}"), engine, inputs, bounds);
            assert_eq!(
                ran.completeness.is_complete(),
                expected,
                "{method}, {engine:?}: {:?}",
                ran.completeness
            );
            let cut = ran.traces.iter().find(|trace| matches!(trace.ending, Ending::Cut(_)));
            assert!(cut.is_none(), "{method}, {engine:?}: {cut:?}");
        }
    }
}
