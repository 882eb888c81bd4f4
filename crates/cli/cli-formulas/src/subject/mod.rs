//! Subject languages as the command line sees them: how to load a program, name its parts, and show its states.
//!
//! The verbs `run`, `eval`, `wlp`, `compose`, `path`, `signs` and `ranges` are written once over [`Subject`].

pub mod code;
mod mc;
mod pl;

use anyhow::Result;
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use code::CodeArguments;
use parallax_cli_base::input;
use parallax_op::Bits;
use parallax_primitives::{Assumption, Explorer, Program};
use parallax_sem::Concrete;
use parallax_sem::logic::Struct;
use parallax_source::SourceFile;
use parallax_term::{Formula, Id, Script, Store, StructUpdate, Symbol, Term};
use std::path::Path;
use std::time::Duration;

/// A subject language.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lang {
    /// The source-level language of the paper: C-like statements over 32-bit variables and pointers.
    Pl,
    /// The machine code of the paper: four registers, one flag, four instructions.
    Mc,
    /// Machine code of a real processor.
    Code(String),
}

/// What `--lang` may say.
fn languages() -> impl TypedValueParser<Value = Lang> {
    let names =
        ["pl", "mc"].into_iter().chain(parallax_sleigh::LANGUAGES.iter().map(|language| language.name));
    PossibleValuesParser::new(names).map(|name| match name.as_str() {
        "pl" => Lang::Pl,
        "mc" => Lang::Mc,
        _ => Lang::Code(name),
    })
}

/// Which program, in which language.
#[derive(Args)]
pub struct Which {
    /// The language; by default the file's ending tells (.pl, .mc), or the ELF file itself.
    #[arg(long, value_parser = languages())]
    pub lang: Option<Lang>,
    /// Machine code instead of a file.
    #[command(flatten)]
    pub code: CodeArguments,
}

impl Which {
    /// The language of a file.
    pub fn language(&self, file: Option<&Path>) -> Result<Lang> {
        if self.code.given() {
            anyhow::ensure!(file.is_none(), "give a file or machine code, not both");
            return Ok(match &self.lang {
                Some(Lang::Code(name)) => Lang::Code(name.clone()),
                Some(_) => anyhow::bail!("--hex and --elf are for machine code: --lang {}", code::names()),
                None => Lang::Code(String::new()),
            });
        }
        let Some(file) = file else { anyhow::bail!("no program: name a file, or give --hex or --elf") };
        match (&self.lang, file.extension().and_then(|ending| ending.to_str())) {
            (Some(Lang::Code(name)), _) => {
                anyhow::bail!("code of {name} comes from --hex BYTES or --elf FILE, not from a file of text")
            }
            (Some(lang), _) => Ok(lang.clone()),
            (None, Some("pl")) => Ok(Lang::Pl),
            (None, Some("mc")) => Ok(Lang::Mc),
            _ => anyhow::bail!("cannot tell the language of {}: say --lang pl or --lang mc", file.display()),
        }
    }

    /// The machine code that the options name.
    pub fn machine_code(&self) -> Result<parallax_code::Program> {
        self.code.program(self.processor()?)
    }

    /// What `--lang` says about the processor of machine code.
    pub fn processor(&self) -> Result<Option<&str>> {
        match &self.lang {
            None => Ok(None),
            Some(Lang::Code(name)) => Ok(Some(name)),
            Some(_) => anyhow::bail!("--lang must name a processor: {}", code::names()),
        }
    }
}

/// How to print a result.
#[derive(Args)]
pub struct Form {
    /// Print one JSON document.
    #[arg(long, conflicts_with = "smt2")]
    pub json: bool,
    /// Print SMT-LIB 2.
    #[arg(long)]
    pub smt2: bool,
}

/// How far symbolic evaluation goes.
#[derive(Args)]
pub struct Limits {
    /// How often one path may jump back to the same instruction on conditions that the input decides.
    #[arg(long, value_name = "N", default_value_t = 64)]
    pub unroll: u32,
    /// How many instructions to evaluate in all.
    #[arg(long, value_name = "N", default_value_t = 10_000_000)]
    pub steps: u64,
    /// How many seconds to take; what was found by then is printed.
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub time: Option<Duration>,
    /// What to take for granted about machine code: that the stack which a function uses is apart from the objects that
    /// its arguments, globals and memory point to. The answer says when that would be wrong.
    #[arg(long, value_enum, default_value_t = Assume::StackApart)]
    pub assume: Assume,
}

/// What is taken for granted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Assume {
    /// Nothing that is not known to a function points into the part of the stack that it uses.
    StackApart,
    /// A pointer may point anywhere.
    Nothing,
}

fn seconds(text: &str) -> Result<Duration, String> {
    let value: f64 = text.parse().map_err(|_| "not a number".to_string())?;
    Duration::try_from_secs_f64(value).map_err(|error| error.to_string())
}

impl Limits {
    /// The same for the analyses.
    pub fn bounds(&self) -> parallax_primitives::Bounds {
        parallax_primitives::Bounds { unroll: self.unroll, steps: self.steps, time: self.time }
    }

    /// Symbolic evaluation within these limits.
    pub fn explorer<'a, S: Program>(&self, program: &'a S, store: &'a Store) -> Explorer<'a, S> {
        let explorer = Explorer::new(program, store, self.bounds()).with_solver(parallax_smt::solver(store));
        match self.assume {
            Assume::StackApart => explorer.with_stack_apart(),
            Assume::Nothing => explorer,
        }
    }
}

/// What the verbs need of a program beyond its meaning.
pub trait Subject: Program {
    /// A condition on states as users write it, as a formula.
    fn condition(&self, store: &Store, text: &str) -> Result<Formula>;

    /// Takes the names in a condition for variables of the program, where the language declares none.
    fn mention(&mut self, condition: &str) {
        let _ = condition;
    }

    /// Puts into the initial state what the program finds there.
    fn prepare(&self, store: &Store, s: &mut Struct<Concrete>) {
        let _ = (store, s);
    }

    /// Interprets a part of the initial state as `NAME=VALUE` says.
    fn interpret(&self, store: &Store, s: &mut Struct<Concrete>, assignment: &str) -> Result<()>;

    /// The place that a name (a label, a line, an address) means.
    fn point(&self, name: &str) -> Option<Bits>;

    /// Why control cannot come to a place of [`Subject::point`]: no instruction begins there, and the program does not end there.
    /// Nothing where every place that has a name is one.
    fn misplaced(&self, point: &Bits) -> Option<String> {
        let _ = point;
        None
    }

    /// Names and values to show for a concrete state.
    fn shown(&self, store: &Store, s: &Struct<Concrete>) -> Vec<(String, String)>;

    /// Names and values of everything in an initial state that is not zero, as `--set` takes them.
    fn input(&self, store: &Store, s: &Struct<Concrete>) -> Vec<(String, String)> {
        self.shown(store, s)
    }

    /// What of a state change is worth showing.
    fn presented(&self, store: &Store, update: &StructUpdate) -> StructUpdate {
        let _ = store;
        update.clone()
    }

    /// The parts of a state that abstract values are shown for.
    fn cells(&self, store: &Store) -> Vec<Cell>;

    /// The parts of the initial state to keep small in an example input, as terms.
    fn inputs(&self, store: &Store) -> Vec<Term> {
        let _ = store;
        Vec::new()
    }

    /// The symbols whose values after the program are printed in SMT-LIB, as `NAME_post`.
    fn outputs(&self, store: &Store) -> Vec<Symbol>;

    /// The symbols that SMT-LIB output declares.
    fn vocabulary(&self, store: &Store) -> Vec<Symbol> {
        store.symbols().collect()
    }

    /// What holds at the start, besides what symbols promise.
    fn premises(&self, store: &Store) -> Vec<Formula> {
        let _ = store;
        Vec::new()
    }
}

/// A part of the state that holds a number.
pub struct Cell {
    /// What users call it.
    pub name: String,
    /// Where it is.
    pub place: CellPlace,
}

/// Where a cell is.
pub enum CellPlace {
    /// A constant symbol, such as a register.
    Constant(Symbol),
    /// The value of a function symbol at the address that the language places a name at.
    At(Symbol, Bits),
}

impl CellPlace {
    /// The symbol that the cell is, or is a part of.
    pub fn symbol(&self) -> Symbol {
        match self {
            CellPlace::Constant(symbol) | CellPlace::At(symbol, _) => *symbol,
        }
    }
}

/// Runs `$body` with the program of a file bound to `$program`, whatever its language.
macro_rules! with_subject {
    ($which:expr, $file:expr, $source:ident, $program:ident => $body:expr) => {{
        let file: Option<&std::path::Path> = $file.as_deref();
        match $which.language(file)? {
            $crate::subject::Lang::Pl => {
                let $source = parallax_cli_base::input::source(file.expect("PL comes from a file"))?;
                #[allow(unused_mut, reason = "only some verbs add names to the program")]
                let mut $program = $crate::subject::load_pl(&$source)?;
                $body
            }
            $crate::subject::Lang::Mc => {
                let $source = parallax_cli_base::input::source(file.expect("MC comes from a file"))?;
                #[allow(unused_mut, reason = "only some verbs add names to the program")]
                let mut $program = $crate::subject::load_mc(&$source, 0)?;
                $body
            }
            $crate::subject::Lang::Code(_) => {
                #[allow(unused_mut, reason = "only some verbs add names to the program")]
                let mut $program = $which.machine_code()?;
                #[allow(unused_variables, reason = "only some verbs show the source")]
                let $source = parallax_source::SourceFile::new("code", "");
                $body
            }
        }
    }};
}
pub(crate) use with_subject;

/// Reads a PL program.
pub fn load_pl(source: &SourceFile) -> Result<parallax_pl::Program> {
    parallax_pl::read(source).map_err(|error| input::rejected(source, &[error]))
}

/// Reads an MC program that lies at `base`.
pub fn load_mc(source: &SourceFile, base: u32) -> Result<parallax_mc::Program> {
    parallax_mc::read(source, base).map_err(|error| input::rejected(source, &[error]))
}

/// An error in a text given on the command line, shown with its place.
pub fn rejected_argument(option: &str, text: &str, error: &parallax_source::Diagnostic) -> anyhow::Error {
    input::rejected(&SourceFile::new(option, text), std::slice::from_ref(error))
}

/// `NAME=VALUE`, taken apart.
pub fn assignment(text: &str) -> Result<(&str, &str)> {
    match text.split_once('=') {
        Some((name, value)) if !name.trim().is_empty() && !value.trim().is_empty() => {
            Ok((name.trim(), value.trim()))
        }
        _ => anyhow::bail!("`{text}` is no assignment: write NAME=VALUE"),
    }
}

/// A script that declares the vocabulary and states what holds at the start.
pub fn script<S: Subject>(program: &S, store: &Store) -> Script {
    let script = Script::new().declare(program.vocabulary(store));
    program.premises(store).into_iter().fold(script, Script::assert)
}

/// The script with the condition on initial states under which the answer holds, called `complete`, or a name like it where
/// the program has that one.
pub fn with_condition(script: Script, store: &Store, complete: Formula) -> Script {
    let mut name = "complete".to_owned();
    while store.lookup(&name).is_some() {
        name.push('!');
    }
    script.define(name, complete)
}

/// What a symbol becomes under an update.
pub fn after(store: &Store, update: &StructUpdate, symbol: Symbol) -> Id {
    match store.expr_of(symbol) {
        parallax_term::Expr::Func(_) => update.function(store, symbol).id(),
        _ => update.constant(store, symbol).id(),
    }
}

/// A structure update as JSON: what each symbol becomes, in L notation.
pub fn update_json(store: &Store, update: &StructUpdate) -> serde_json::Value {
    let constants: serde_json::Map<_, _> = update
        .constants()
        .map(|(symbol, value)| (store.info(symbol).name.to_string(), store.display(value.id()).into()))
        .collect();
    let functions: serde_json::Map<_, _> = update
        .functions()
        .map(|(symbol, value)| (store.info(symbol).name.to_string(), store.display(value.id()).into()))
        .collect();
    serde_json::json!({ "constants": constants, "functions": functions })
}

/// Lets a condition speak of faults: the symbol says after a program whether an instruction has faulted on the way.
pub fn declare_fault<S: Subject>(program: &S, store: &Store) {
    if let Some(name) = program.fault_symbol() {
        store.bool_symbol(name);
    }
}

/// What an answer rests on, as JSON.
pub fn assumptions_json(store: &Store, assumptions: &[Assumption]) -> serde_json::Value {
    assumptions
        .iter()
        .map(|it| serde_json::json!({ "assumption": it.name, "breaks_when": store.display(it.breaks) }))
        .collect()
}
