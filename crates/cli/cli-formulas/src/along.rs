//! Points of a path, as verbs take them, and what is said at each of them.

use crate::eval::{reasons, tell};
use crate::subject::{Form, Subject, assumptions_json};
use anyhow::{Result, anyhow, bail, ensure};
use parallax_cli_base::exit::Status;
use parallax_op::Bits;
use parallax_primitives::{Evaluation, assumptions};
use parallax_term::Store;

/// The points that are named.
pub fn points<S: Subject>(program: &S, names: &[String]) -> Result<Vec<Bits>> {
    names
        .iter()
        .map(|name| {
            program.point(name.trim()).ok_or_else(|| anyhow!("--through: no label or line `{}`", name.trim()))
        })
        .collect()
}

/// Refuses points where no instruction begins: that nothing goes there would answer a slip of the finger.
pub fn placed<S: Subject>(program: &S, names: &[String], points: &[Bits]) -> Result<()> {
    for (name, point) in names.iter().zip(points) {
        if let Some(why) = program.misplaced(point) {
            bail!("--through {}: {why}", name.trim());
        }
    }
    Ok(())
}

/// What is said at each point.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Said {
    /// The state change up to it, and when execution comes there.
    Update,
    /// The condition under which the rest of the path ends as wanted.
    Wlp,
}

/// Prints what is said at each point.
pub fn show<S: Subject>(
    form: &Form,
    program: &S,
    store: &Store,
    names: &[String],
    found: &[Evaluation],
    kind: Said,
    said: impl Fn(&Evaluation) -> String,
) -> Result<Status> {
    ensure!(!form.smt2, "--smt2 is for one formula: `parallax path --smt2` has that of the path");
    let points: Vec<Bits> = self::points(program, names)?;
    if found.iter().any(|at| at.complete == store.false_() && at.gave_up.is_empty()) {
        placed(program, names, &points)?;
    }
    let assumptions = assumptions(store);
    let gave_up = found.iter().flat_map(|at| &at.gave_up).fold(Vec::new(), |mut all, why| {
        if !all.contains(why) {
            all.push(why.clone());
        }
        all
    });
    if form.json {
        let point = |(name, at): (&String, &Evaluation)| {
            serde_json::json!({
                "point": name.trim(),
                "condition": store.display(at.complete),
                if kind == Said::Update { "update" } else { "wlp" }: said(at),
            })
        };
        let json = serde_json::json!({
            "points": names.iter().zip(found).map(point).collect::<Vec<_>>(),
            "complete": gave_up.is_empty(),
            "gave_up": reasons(&gave_up),
            "assumptions": assumptions_json(store, &assumptions),
        });
        println!("{json:#}");
    } else {
        for (name, at) in names.iter().zip(found) {
            let (name, when) = (name.trim(), store.display(at.complete));
            match kind {
                Said::Update if at.complete == store.false_() => println!("{name}: no state comes here"),
                Said::Update => println!("{name}: when {when}: {}", said(at)),
                Said::Wlp => println!("{name}: {}", said(at)),
            }
        }
    }
    tell(store, &assumptions);
    for why in &gave_up {
        eprintln!("gave up: {why}; longer ways between the points are not part of this");
    }
    Ok(if gave_up.is_empty() { Status::Clean } else { Status::GaveUp })
}
