//! The verbs, one module each.

mod c_build;
mod c_cache;
mod c_input;
mod c_sources;
mod c_world;
mod changed;
mod check;
mod completions;
mod convert;
mod doctor;
mod explore;
mod find;
mod fleet;
mod gdbserver;
mod info;
mod lsp;
mod mix;
mod origin;
mod plain;
mod process;
mod program_report;
mod record;
mod replay;
mod run;
mod run_c;
mod script;
mod view;
mod walls;

use anyhow::Result;
use clap::Subcommand;
use parallax_cli_base::exit::Status;
use parallax_cli_formulas::{compose, eval, lift, path, ranges, signs, solve, wlp};
use parallax_cli_heap::{heap, java};

/// What to do.
#[derive(Subcommand)]
pub enum Verb {
    Run(run::Run),
    Lift(lift::Lift),
    Eval(eval::Eval),
    Wlp(wlp::Wlp),
    Compose(compose::Compose),
    Path(path::Path),
    Signs(signs::Signs),
    Ranges(ranges::Ranges),
    Solve(solve::Solve),
    Convert(convert::Convert),
    Mix(mix::Mix),
    View(view::View),
    Heap(heap::Heap),
    Java(java::Java),
    Explore(Box<explore::Explore>),
    Check(check::Check),
    Lsp(lsp::Lsp),
    Record(record::Record),
    Replay(replay::Replay),
    Find(find::Find),
    Origin(Box<origin::Origin>),
    Gdbserver(gdbserver::Gdbserver),
    Info(info::Info),
    Pack(info::Pack),
    Doctor(doctor::Doctor),
    Completions(completions::Completions),
    Manual(completions::Manual),
    Script(script::Script),
    Debug(script::Debug),
    Timeline(script::Timeline),
    Fleet(fleet::Fleet),
}

/// Does it.
pub fn run(verb: Verb) -> Result<Status> {
    match verb {
        Verb::Run(arguments) => run::run(&arguments),
        Verb::Lift(arguments) => lift::run(&arguments),
        Verb::Eval(arguments) => eval::run(&arguments),
        Verb::Wlp(arguments) => wlp::run(&arguments),
        Verb::Compose(arguments) => compose::run(&arguments),
        Verb::Path(arguments) => path::run(&arguments),
        Verb::Signs(arguments) => signs::run(&arguments),
        Verb::Ranges(arguments) => ranges::run(&arguments),
        Verb::Solve(arguments) => solve::run(&arguments),
        Verb::Convert(arguments) => convert::run(&arguments),
        Verb::Mix(arguments) => mix::run(&arguments),
        Verb::View(arguments) => view::run(arguments),
        Verb::Heap(arguments) => heap::run(&arguments),
        Verb::Java(arguments) => java::run(&arguments),
        Verb::Explore(arguments) => explore::run(&arguments),
        Verb::Check(arguments) => check::run(&arguments),
        Verb::Lsp(arguments) => lsp::run(&arguments),
        Verb::Record(arguments) => record::run(&arguments),
        Verb::Replay(arguments) => replay::run(&arguments),
        Verb::Find(arguments) => find::run(&arguments),
        Verb::Origin(arguments) => origin::run(&arguments),
        Verb::Gdbserver(arguments) => gdbserver::run(&arguments),
        Verb::Info(arguments) => info::run(&arguments),
        Verb::Script(arguments) => script::script(&arguments),
        Verb::Debug(arguments) => script::debug(&arguments),
        Verb::Timeline(arguments) => script::timeline(&arguments),
        Verb::Fleet(arguments) => fleet::run(&arguments),
        Verb::Pack(arguments) => info::pack(&arguments),
        Verb::Doctor(arguments) => doctor::run(&arguments),
        Verb::Completions(arguments) => completions::run(&arguments),
        Verb::Manual(arguments) => completions::manual(&arguments),
    }
}
