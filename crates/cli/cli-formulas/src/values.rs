//! What `signs` and `ranges` share: an abstract interpretation, what is known at its start, and how its points are shown.

use crate::subject::{Cell, CellPlace, Subject, Which, assignment, with_subject};
use anyhow::{Result, bail};
use clap::Args;
use parallax_cli_base::exit::Status;
use parallax_op::Width;
use parallax_primitives::{Point, analyse, placed};
use parallax_sem::logic::{Scalar, Struct};
use parallax_sem::{Abstract, BigKey, Core, Domain, Value};
use parallax_source::SourceFile;
use parallax_term::{Sort, Store};
use std::path::PathBuf;

/// A domain that people can read and write.
pub trait Described: Domain + std::fmt::Display {
    /// What its values are called in JSON.
    const NAME: &'static str;

    /// What a text says of a value of some width.
    fn read(text: &str, width: Width) -> Result<Self>;
}

/// An analysis of a program.
#[derive(Args)]
pub struct Arguments {
    /// The program; `-` is standard input. Machine code comes from `--hex` or `--elf` instead.
    file: Option<PathBuf>,
    #[command(flatten)]
    which: Which,
    /// What is known at the start; everything else may be anything.
    #[arg(long, value_name = "NAME=VALUE")]
    set: Vec<String>,
    /// How many steps the analysis may take.
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    steps: u64,
    /// Show a place once for each chain of calls that leads there, instead of once.
    #[arg(long)]
    contexts: bool,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
}

/// Analyses the program and shows what was found.
pub fn run<D: Described>(arguments: &Arguments) -> Result<Status> {
    with_subject!(arguments.which, arguments.file, source, program => show::<_, D>(arguments, &source, &program))
}

fn show<S: Subject, D: Described>(arguments: &Arguments, source: &SourceFile, program: &S) -> Result<Status> {
    let store = Store::new();
    program.declare(&store);
    let core = Abstract::<D>::default();
    let cells = program.cells(&store);
    let start = start(arguments, program, &store, &core, &cells)?;
    let mut analysis = analyse(program, &store, &core, &start, arguments.steps);
    if !arguments.contexts {
        analysis = analysis.joined();
    }
    let mut rows: Vec<(Option<usize>, String, Vec<D>)> = analysis
        .points
        .iter()
        .map(|point| {
            let known = cells.iter().map(|cell| at(&core, &store, point, cell)).collect();
            let place =
                if program.has_instruction(&point.pc) { program.place(&point.pc) } else { "end".to_owned() };
            (program.line(&point.pc), place, known)
        })
        .collect();
    // The steps of one line, where nothing changes between them, are one point to a reader.
    rows.dedup_by(|a, b| a.0 == b.0 && (a.0.is_some() || a.1 == b.1) && a.2 == b.2);
    if arguments.json {
        let points: Vec<_> = rows
            .iter()
            .map(|(line, _, values)| {
                let values: serde_json::Map<_, _> = cells
                    .iter()
                    .zip(values)
                    .map(|(cell, value)| (cell.name.clone(), value.to_string().into()))
                    .collect();
                serde_json::json!({ "line": line, D::NAME: values })
            })
            .collect();
        let json = serde_json::json!({ "points": points, "gave_up": analysis.gave_up.as_ref().map(ToString::to_string) });
        println!("{json:#}");
    } else {
        for (line, place, values) in &rows {
            let values: Vec<String> =
                cells.iter().zip(values).map(|(cell, value)| format!("{}: {value}", cell.name)).collect();
            let place =
                line.map_or_else(|| place.clone(), |line| format!("{line}: {}", source.line(line).trim()));
            println!("{{{}}}  before  {place}", values.join(", "));
        }
    }
    match analysis.gave_up {
        None => Ok(Status::Clean),
        Some(why) => {
            eprintln!("gave up: {why}");
            Ok(Status::GaveUp)
        }
    }
}

/// What is known at the start: addresses are numbers, cells are as given, all else is unknown.
fn start<S: Subject, D: Described>(
    arguments: &Arguments,
    program: &S,
    store: &Store,
    core: &Abstract<D>,
    cells: &[Cell],
) -> Result<Struct<Abstract<D>>> {
    let mut start: Struct<Abstract<D>> = Struct::new();
    for (symbol, value) in placed(program, store).constants {
        if let Scalar::Val(address) = value {
            start.set_val(symbol, core.constant(&address));
        }
    }
    // Each cell is a value of its own from the start, so that a branch can teach something about it.
    for cell in cells {
        set(&mut start, core, store, cell, Value::described(D::top()));
    }
    for text in &arguments.set {
        let (name, value) = assignment(text)?;
        let Some(cell) = cells.iter().find(|cell| cell.name == name || cell.name == format!("[{name}]"))
        else {
            let names: Vec<&str> = cells.iter().map(|cell| cell.name.as_str()).collect();
            bail!("--set {text}: unknown identifier `{name}`; there are: {}", names.join(", "));
        };
        let width = match store.info(cell.place.symbol()).sort {
            Sort::Bits(width) | Sort::Map { value: width, .. } => width,
            Sort::Bool => 1,
        };
        let value = D::read(value, width).map_err(|error| error.context(format!("--set {text}")))?;
        set(&mut start, core, store, cell, Value::described(value));
    }
    Ok(start)
}

fn set<D: Described>(
    start: &mut Struct<Abstract<D>>,
    core: &Abstract<D>,
    store: &Store,
    cell: &Cell,
    value: Value<D>,
) {
    match &cell.place {
        CellPlace::Constant(symbol) => start.set_val(*symbol, value),
        CellPlace::At(map, address) => {
            let mut known = start.lookup_function(core, store, *map);
            known.entries.insert(BigKey(address.clone()), value);
            start.set_map(*map, known);
        }
    }
}

fn at<D: Described>(core: &Abstract<D>, store: &Store, point: &Point<D>, cell: &Cell) -> D {
    match &cell.place {
        CellPlace::Constant(symbol) => match point.structure.lookup_constant(core, store, *symbol) {
            Scalar::Val(value) => value.domain,
            Scalar::Bool(_) => D::top(),
        },
        CellPlace::At(map, address) => {
            let known = point.structure.lookup_function(core, store, *map);
            core.access(&known, &core.constant(address)).domain
        }
    }
}
