//! The input that comes with a rejection shows the error: a run with it goes wrong at the same place.

use crate::support;

use parallax_mix::complaint::{Complaint, ComplaintKind};
use parallax_mix::interp::{self, Limits, Stop, Value};
use parallax_mix::mix::{self, Options, Outer};
use parallax_mix::syntax::Program;
use parallax_mix::world::Answers;
use support::Shape;

/// The world in which every `extern` name is what the complaint gives; nothing if it leaves one open.
fn world(complaint: &Complaint) -> Option<Answers> {
    let mut answers = Answers { seed: Some(1), ..Answers::default() };
    for given in complaint.path.as_ref()?.input.as_ref()? {
        let value = match given.value.as_str() {
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            text if text.starts_with('"') => Value::Str(text[1..text.len() - 1].into()),
            number => Value::Int(number.parse().ok()?),
        };
        answers.named.insert(given.name.clone(), value);
    }
    Some(answers)
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
    ];
    let message = &complaint.message;
    // A run compares locations and does not see what types they are of.
    let of_two_references =
        message.starts_with("`=`") && message.contains(" ref and ") && message.ends_with(" ref");
    complaint.kind == ComplaintKind::Error
        && !of_two_references
        && starts.iter().any(|start| message.starts_with(start))
}

fn goes_wrong_there(program: &Program, complaint: &Complaint) -> Option<bool> {
    let mut world = world(complaint)?;
    match interp::run(program, &mut world, &mut (), Limits { steps: 20_000, calls: 200 }) {
        Err(Stop::Error { span, .. }) => Some(span == complaint.span),
        _ => Some(false),
    }
}

#[test]
fn runs_with_the_input_go_wrong_where_the_complaint_says() {
    let mut shown = 0;
    for seed in 0..15_000 {
        let text = support::program(seed, Shape { blocks: false, mistakes: 3, unbounded: false, depth: 4 });
        // Two references from outside may be one, which values alone do not say.
        if text.contains("extern p") || text.contains("extern q") {
            continue;
        }
        let program = parallax_mix::read(&text).expect("generated programs read");
        let verdict = mix::check(&program, &Options { outer: Outer::Symbolic, ..Options::default() });
        for complaint in verdict.errors.iter().filter(|complaint| is_of_a_run(complaint)) {
            if let Some(there) = goes_wrong_there(&program, complaint) {
                assert!(there, "seed {seed}: {complaint:?}\n{text}");
                shown += 1;
            }
        }
    }
    assert!(shown > 200, "only {shown} inputs");
}
