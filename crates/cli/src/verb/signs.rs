//! `signs`: sign analysis.

use crate::exit::Status;
use crate::subject::{Cell, CellPlace, Subject, Which, assignment, sign, with_subject};
use anyhow::{Result, bail};
use clap::Args;
use parallax_op::Bits;
use parallax_primitives::{Point, analyse, placed};
use parallax_sem::logic::{Scalar, Struct};
use parallax_sem::{Abstract, BigKey, Core, Sign, Value};
use parallax_source::SourceFile;
use parallax_term::{Sort, Store};
use std::path::PathBuf;

/// Which signs can values have at each place of a program?
///
/// Example: with the swap of two numbers in swap.pl, `parallax signs swap.pl --set x=neg --set y=pos` shows the states
/// of the paper's section 2: at the end `x: top, y: neg`.
#[derive(Args)]
pub struct Signs {
    /// The program; `-` is standard input. Machine code comes from `--hex` or `--elf` instead.
    file: Option<PathBuf>,
    #[command(flatten)]
    which: Which,
    /// What is known at the start: `x=neg`, `zero`, `pos` or `top`; a number means its sign.
    #[arg(long, value_name = "NAME=SIGN")]
    set: Vec<String>,
    /// How many steps the analysis may take.
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    steps: u64,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
}

/// Does it.
pub fn run(arguments: &Signs) -> Result<Status> {
    with_subject!(arguments.which, arguments.file, source, program => signs(arguments, &source, &program))
}

fn signs<S: Subject>(arguments: &Signs, source: &SourceFile, program: &S) -> Result<Status> {
    let store = Store::new();
    program.declare(&store);
    let core = Abstract::<Sign>::default();
    let cells = program.cells(&store);
    let start = start(arguments, program, &store, &core, &cells)?;
    let analysis = analyse(program, &store, &core, &start, arguments.steps);
    let mut rows: Vec<(Option<usize>, Vec<Sign>)> = analysis
        .points
        .iter()
        .map(|point| {
            (program.line(&point.pc), cells.iter().map(|cell| at(&core, &store, point, cell)).collect())
        })
        .collect();
    // The steps of one line, where nothing changes between them, are one point to a reader.
    rows.dedup();
    if arguments.json {
        let points: Vec<_> = rows
            .iter()
            .map(|(line, signs)| {
                let signs: serde_json::Map<_, _> = cells
                    .iter()
                    .zip(signs)
                    .map(|(cell, sign)| (cell.name.clone(), sign.to_string().into()))
                    .collect();
                serde_json::json!({ "line": line, "signs": signs })
            })
            .collect();
        let json = serde_json::json!({ "points": points, "gave_up": analysis.gave_up });
        println!("{json:#}");
    } else {
        for (line, signs) in &rows {
            let signs: Vec<String> =
                cells.iter().zip(signs).map(|(cell, sign)| format!("{}: {sign}", cell.name)).collect();
            let place =
                line.map_or_else(|| "end".to_owned(), |line| format!("{line}: {}", source.line(line).trim()));
            println!("{{{}}}  before  {place}", signs.join(", "));
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

/// What is known at the start: addresses are numbers, cells have the signs given, all else is unknown.
fn start<S: Subject>(
    arguments: &Signs,
    program: &S,
    store: &Store,
    core: &Abstract<Sign>,
    cells: &[Cell],
) -> Result<Struct<Abstract<Sign>>> {
    let mut start: Struct<Abstract<Sign>> = Struct::new();
    for (symbol, value) in placed(program, store).constants {
        if let Scalar::Val(address) = value {
            start.set_val(symbol, core.constant(&address));
        }
    }
    for text in &arguments.set {
        let (name, value) = assignment(text)?;
        let Some(cell) = cells.iter().find(|cell| cell.name == name || cell.name == format!("[{name}]"))
        else {
            let names: Vec<&str> = cells.iter().map(|cell| cell.name.as_str()).collect();
            bail!("--set {text}: unknown identifier `{name}`; there are: {}", names.join(", "));
        };
        let value = match Bits::parse(value, 32) {
            Ok(number) => Value::described(Sign::of(&number)),
            Err(_) => Value::described(sign(value)?),
        };
        match &cell.place {
            CellPlace::Constant(symbol) => start.set_val(*symbol, value),
            CellPlace::At(map, address) => {
                let mut known = start.lookup_function(core, store, *map);
                known.entries.insert(BigKey(address.clone()), value);
                start.set_map(*map, known);
            }
        }
    }
    Ok(start)
}

fn at(core: &Abstract<Sign>, store: &Store, point: &Point<Sign>, cell: &Cell) -> Sign {
    match &cell.place {
        CellPlace::Constant(symbol) => match point.structure.lookup_constant(core, store, *symbol) {
            Scalar::Val(value) => value.domain,
            Scalar::Bool(_) => Sign::Top,
        },
        CellPlace::At(map, address) => {
            debug_assert!(matches!(store.info(*map).sort, Sort::Map { .. }));
            let known = point.structure.lookup_function(core, store, *map);
            core.access(&known, &core.constant(address)).domain
        }
    }
}
