//! The example that comes with a complaint is what it says: a run with it goes wrong at the place, or comes there.
//!
//! Programs are generated with and without blocks: references that are one or two, null, signs, loops, functions from
//! outside. Not generated: references to references from outside, examples in which a function from outside is called (no example
//! can say what it answers).

use crate::support;

use parallax_mix::complaint::{Complaint, ComplaintKind, Example, Shown};
use parallax_mix::interp::{self, Limits, Stop, Watch};
use parallax_mix::mix::{self, Exhaustiveness, Havoc, Options, Outer};
use parallax_mix::symbolic::{Conditionals, Consistency};
use parallax_mix::syntax::{ExprId, Program};
use parallax_mix::world::Answers;
use parallax_source::Span;
use support::{Random, Shape};

const LIMITS: Limits = Limits { steps: 400_000, calls: 1_200 };

/// The world in which every `extern` name is what the example says, as it is printed.
fn world(program: &Program, example: &Example) -> Result<Answers, String> {
    let mut answers = Answers { seed: Some(1), ..Answers::default() };
    for given in example.given.iter().filter(|given| given.block.is_none()) {
        answers.set(program, &given.name, &given.value).map_err(|why| format!("{}: {why}", given.name))?;
    }
    Ok(answers)
}

/// Whether the complaint is about an operation that a run would refuse too, rather than about what cannot be known.
fn is_of_a_run(complaint: &Complaint) -> bool {
    let starts = [
        "`+`",
        "`-`",
        "`*`",
        "`/`",
        "`=`",
        "`<",
        "`>",
        "`&&`",
        "`||`",
        "`not`",
        "a condition",
        "`!`",
        "`:=`",
        "the annotation says",
    ];
    let message = &complaint.message;
    // A run compares locations and does not see what types they are of.
    let of_two_references = message.contains(" ref");
    complaint.kind == ComplaintKind::Error
        && !of_two_references
        && starts.iter().any(|start| message.starts_with(start))
}

/// Where a run with the example goes wrong, if it does.
fn goes_wrong(program: &Program, example: &Example) -> Result<Option<Span>, String> {
    let mut world = world(program, example)?;
    Ok(match interp::run(program, &mut world, &mut (), LIMITS) {
        Err(Stop::Error { span, .. }) => Some(span),
        _ => None,
    })
}

struct Passes<'p>(&'p Program, Span, bool);

impl Watch for Passes<'_> {
    fn comes_to(&mut self, e: ExprId) {
        self.2 |= self.0.span(e) == self.1;
    }
}

fn comes_there(program: &Program, place: Span, example: &Example) -> Result<bool, String> {
    let mut world = world(program, example)?;
    let mut passes = Passes(program, place, false);
    // However it ends.
    let _ = interp::run(program, &mut world, &mut passes, LIMITS);
    Ok(passes.2)
}

fn options(seed: u64, outer: Outer) -> Options {
    let mut random = Random(seed ^ 0xe8a);
    let mut options = Options { outer, exhaustiveness: Exhaustiveness::GoodEnough, ..Options::default() };
    options.havoc = *random.pick(&[Havoc::Everything, Havoc::Effects]);
    options.symbolic.conditionals = *random.pick(&[Conditionals::Fork, Conditionals::Defer]);
    options.symbolic.consistency = *random.pick(&[Consistency::Syntactic, Consistency::Solver]);
    options.symbolic.unroll = 3;
    options.symbolic.paths = 300;
    options.symbolic.steps = 20_000;
    options.symbolic.solver = support::limits();
    options
}

/// Without blocks and functions from outside there is nothing that stands for anything else: each example fails.
#[test]
fn runs_with_the_input_go_wrong_where_the_complaint_says() {
    let (mut shown, mut with_references) = (0, 0);
    for seed in 0..15_000 {
        let text = support::program(seed, Shape { blocks: false, mistakes: 3, unbounded: false, depth: 4 });
        let program = parallax_mix::read(&text).expect("generated programs read");
        let verdict = mix::check(&program, &Options { outer: Outer::Symbolic, ..Options::default() });
        for complaint in verdict.errors.iter().filter(|complaint| is_of_a_run(complaint)) {
            let Some(example) = complaint.path.as_ref().and_then(|path| path.example.as_ref()) else {
                continue;
            };
            let place = goes_wrong(&program, example);
            assert_eq!(place, Ok(Some(complaint.span)), "seed {seed}: {complaint:?}\n{text}");
            assert_eq!(example.shown, Shown::Failed, "seed {seed}: {complaint:?}\n{text}");
            shown += 1;
            with_references += usize::from(text.contains("extern p") || text.contains("extern q"));
        }
    }
    assert!(shown > 400 && with_references > 200, "only {shown} inputs, {with_references} with references");
}

/// With blocks an example is what it says.
#[test]
fn examples_are_what_they_say() {
    let (mut failed, mut reached, mut assumed, mut inner) = (0, 0, 0, 0);
    for seed in 0..6_000 {
        let text = support::program(seed, Shape { blocks: true, mistakes: 3, unbounded: true, depth: 4 });
        let program = parallax_mix::read(&text).expect("generated programs read");
        let outer = if seed % 2 == 0 { Outer::Symbolic } else { Outer::Typed };
        let verdict = mix::check(&program, &options(seed, outer));
        for complaint in verdict.errors.iter().chain(&verdict.gaps) {
            let Some(example) = complaint.path.as_ref().and_then(|path| path.example.as_ref()) else {
                continue;
            };
            let told = || format!("seed {seed}: {complaint:?}\n{text}");
            match (example.shown, example.block) {
                // The variables of a block further in are no names from outside.
                (_, Some(_)) => inner += 1,
                (Shown::Failed, None) => {
                    failed += 1;
                    // Type checking points at an operand, where a run stops at the operation.
                    let place =
                        goes_wrong(&program, example).unwrap_or_else(|why| panic!("{why}, {}", told()));
                    let place = place.unwrap_or_else(|| panic!("no run goes wrong: {}", told()));
                    let (start, end) = (complaint.span.start, complaint.span.end);
                    assert!(place.start <= start && end <= place.end, "{place:?}: {}", told());
                }
                (Shown::Reached, None) => {
                    reached += 1;
                    assert_eq!(comes_there(&program, complaint.span, example), Ok(true), "{}", told());
                }
                (Shown::Assumed, None) => assumed += 1,
            }
        }
    }
    println!("{failed} fail, {reached} come there, {assumed} are assumed, {inner} start further in");
    assert!(failed > 500 && reached > 300, "{failed} fail, {reached} come there");
}

/// The example of the first complaint, and what it shows.
fn example(text: &str) -> (String, Shown) {
    let program = parallax_mix::read(text).expect("it reads");
    let verdict = mix::check(&program, &Options::default());
    let complaint = verdict.errors.first().unwrap_or_else(|| panic!("{text} is accepted"));
    let example = complaint.path.as_ref().and_then(|path| path.example.clone());
    let example = example.unwrap_or_else(|| panic!("no example: {complaint:?}"));
    let given: Vec<String> =
        example.given.iter().map(|given| format!("{} is {}", given.name, given.value)).collect();
    (given.join(", "), example.shown)
}

#[test]
fn examples_say_what_an_error_rests_on() {
    for (text, given, shown) in [
        // Two references that are one.
        (
            "extern p : int ref; extern q : int ref;
             {s p := 1; q := 2; if !p = 2 then 1 + true else 0 s}",
            "p is ref 0, q is p",
            Shown::Failed,
        ),
        // A reference that cannot be null, and a number that cannot be zero: the path speaks of neither.
        (
            "extern p : int ref; extern n : pos int; {s let x = p in let y = n in 1 + true s}",
            "p is ref 0, n is 1",
            Shown::Failed,
        ),
        // A qualifier that is asked for in typed code.
        ("extern n : int; {s if n > (-2) then {t (n : pos int) t} else 1 s}", "n is 0", Shown::Failed),
        ("extern p : int ref; {s {t (!p : pos int) t} s}", "p is ref 0", Shown::Failed),
        ("extern p : int null ref; {s {t !p t} s}", "p is null", Shown::Failed),
        // The memory is wrong for this number, which no run notices.
        (
            "extern n : int; let r = ref (1 : pos int) in {s r := n; {t !r t} s}",
            "n is 0, r is ref 1",
            Shown::Reached,
        ),
        // A typed block stands for any value of its type.
        ("{s let x = {t 7 t} in if x = 0 then 1 + true else x s}", "typed block is 0", Shown::Assumed),
    ] {
        let found = example(text);
        // Which number it is, is the solver's choice.
        let names = |given: &str| given.replace(|c: char| c.is_ascii_digit() || "-()".contains(c), "");
        assert_eq!((names(&found.0), found.1), (names(given), shown), "{text}\n{found:?}");
    }
}

#[test]
fn conditions_have_their_parentheses() {
    let text = "extern a : bool; extern b : bool; extern c : bool; {s if a || b then (if c then 1 + true else 0) else 1 s}";
    let program = parallax_mix::read(text).expect("it reads");
    let verdict = mix::check(&program, &Options::default());
    let path = verdict.errors[0].path.as_ref().expect("a path");
    assert_eq!(path.condition, "(a || b) && c");
}

/// A reference is set as it is printed, and only to what its type allows.
#[test]
fn references_from_outside_are_set() {
    let text = "extern p : int ref; extern q : int ref; extern r : int ref ref; extern s : pos int ref; q := 7; !p + !(!r)";
    let program = parallax_mix::read(text).expect("it reads");
    let run = |settings: &[(&str, &str)]| {
        let mut world = Answers::default();
        for (name, value) in settings {
            world.set(&program, name, value)?;
        }
        let run = interp::run(&program, &mut world, &mut (), Limits::default());
        run.map(|finished| interp::show(&finished.value, &finished.memory)).map_err(|stop| stop.to_string())
    };
    let rest = [("s", "ref 1")];
    let with = |settings: &[(&'static str, &'static str)]| run(&[settings, &rest[..]].concat());
    assert_eq!(with(&[("p", "ref 5"), ("q", "ref 6"), ("r", "ref (ref 1)")]), Ok("6".into()));
    assert_eq!(with(&[("p", "ref 5"), ("q", "p"), ("r", "ref (ref 1)")]), Ok("8".into()));
    assert_eq!(with(&[("p", "ref 5"), ("q", "p"), ("r", "ref p")]), Ok("14".into()));
    assert_eq!(with(&[("r", "ref (ref 5)"), ("q", "!r"), ("p", "ref 0")]), Ok("7".into()));
    for wrong in [
        ("p", "null"),
        ("p", "ref true"),
        ("p", "5"),
        ("s", "ref 0"),
        ("p", "s"),
        ("p", "q"),
        ("f", "1"),
        ("p", "fun x -> x"),
        ("p", "ref ("),
    ] {
        assert!(with(&[wrong]).is_err() && run(&[("s", "ref 3"), wrong]).is_err(), "{wrong:?}");
    }
}
