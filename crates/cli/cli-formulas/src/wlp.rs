//! `wlp`: weakest liberal preconditions.

use crate::along::{self, Said};
use crate::at::At;
use crate::eval::{bounded, reasons, tell};
use crate::subject::{
    Form, Limits, Subject, Which, assumptions_json, declare_fault, script, with_condition, with_subject,
};
use anyhow::Result;
use clap::Args;
use parallax_cli_base::exit::Status;
use parallax_cli_base::progress;
use parallax_primitives::{Evaluation, assumptions};
use parallax_sem::logic;
use parallax_term::{Formula, Store, StructUpdate};
use std::path::PathBuf;

/// Weakest liberal precondition of a condition after a program.
///
/// From which states does every run that ends satisfy the condition?
///
/// Example: `echo '*p = e;' | parallax wlp --lang pl - --post 'x == 5'`
/// prints `ite(F_rho(p) = x, F_rho(e), F_rho(x)) = 5`. A name in the condition means the variable's value, `&x` its
/// address; a variable that the program does not mention keeps its value. What is printed can be asked again: `--post 'F_rho(x) = 5'`.
#[derive(Args)]
pub struct Wlp {
    /// The program; `-` is standard input. Machine code comes from `--hex` or `--elf` instead.
    file: Option<PathBuf>,
    #[command(flatten)]
    which: Which,
    #[command(flatten)]
    moment: At,
    /// The condition on the state after the program.
    #[arg(long, value_name = "CONDITION", allow_hyphen_values = true)]
    post: String,
    /// The condition at each of these points of a path: states that go on along the path end it with the condition.
    #[arg(long, value_name = "POINTS", value_delimiter = ',')]
    through: Vec<String>,
    #[command(flatten)]
    limits: Limits,
    #[command(flatten)]
    form: Form,
}

/// Does it.
pub fn run(arguments: &Wlp) -> Result<Status> {
    if let Some(at) = arguments.moment.given()? {
        anyhow::ensure!(arguments.through.is_empty(), "--through is not for --at");
        return at.follow(&arguments.limits, &[], |seen| {
            let post = seen.program.condition(seen.store, &arguments.post)?;
            Ok(show(&arguments.form, &seen.program, seen.store, post, &seen.evaluation()))
        });
    }
    with_subject!(arguments.which, arguments.file, source, program => {
        program.mention(&arguments.post);
        wlp(arguments, &program)
    })
}

fn wlp<S: Subject>(arguments: &Wlp, program: &S) -> Result<Status> {
    let store = Store::new();
    program.declare(&store);
    declare_fault(program, &store);
    let post = program.condition(&store, &arguments.post)?;
    let mut explorer = arguments.limits.explorer(program, &store);
    if !arguments.through.is_empty() {
        let points = along::points(program, &arguments.through)?;
        let found = progress::during("evaluating", || explorer.backwards(&points));
        return along::show(&arguments.form, program, &store, &arguments.through, &found, Said::Wlp, |at| {
            let before = logic::precondition(&store, &at.update, post);
            store.display(store.implies(at.complete, before))
        });
    }
    let evaluation = progress::during("evaluating", || explorer.evaluate(&StructUpdate::identity()));
    Ok(show(&arguments.form, program, &store, post, &evaluation))
}

/// Prints the precondition that an evaluation gives.
fn show<S: Subject>(
    form: &Form,
    program: &S,
    store: &Store,
    post: Formula,
    evaluation: &Evaluation,
) -> Status {
    let wlp = evaluation.precondition(program, store, post);
    let assumptions = assumptions(store);
    if form.json {
        let json = serde_json::json!({
            "wlp": store.display(wlp),
            "complete": evaluation.gave_up.is_empty(),
            "condition": store.display(evaluation.complete),
            "gave_up": reasons(&evaluation.gave_up),
            "assumptions": assumptions_json(store, &assumptions),
        });
        println!("{json:#}");
    } else if form.smt2 {
        let script = with_condition(script(program, store), store, evaluation.complete).define("wlp", wlp);
        print!("{}(assert wlp)\n(check-sat)\n", script.render(store));
    } else {
        println!("{}", store.display(wlp));
    }
    tell(store, &assumptions);
    bounded(&evaluation.gave_up, || store.display(evaluation.complete))
}
