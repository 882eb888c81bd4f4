//! `--at FUNCTION -- PROGRAM`: machine code from a moment of a run, with the memory that is really there.

use crate::subject::Limits;
use anyhow::{Result, anyhow, ensure};
use clap::Args;
use parallax_cli_base::exit::{Failure, Status, internal, report};
use parallax_cli_base::fault::contained;
use parallax_cli_base::progress;
use parallax_code::{Program, SharedLifter};
use parallax_concolic::ways::{Reach, Way, Ways, follow};
use parallax_concolic::{CodePlace, Command, Kind, Moment, Sources, Subject, SubjectError, apart};
use parallax_op::Bits;
use parallax_primitives::Evaluation;
use parallax_sem::Language as _;
use parallax_sleigh::{Language, Lifter};
use parallax_term::Store;
use std::ffi::OsString;
use std::io::Write;
use std::panic::AssertUnwindSafe;
use std::time::Duration;

/// A moment of a run, instead of code from a file.
#[derive(Args)]
#[command(next_help_heading = "From a moment of a run (with -- PROGRAM)")]
pub struct At {
    /// Start where PROGRAM calls this function (FUNCTION#2: for the second time), of its own or of a library, and go on to
    /// its return. Memory and registers are what they are in the run.
    #[arg(long, value_name = "FUNCTION[#N]", requires = "program", conflicts_with_all = ["hex", "elf", "sla", "file"])]
    at: Option<String>,
    /// What is unknown there: a register (RDI), or N bytes of memory (`[RDI+8]:N`, `[NAME]:N`, `[0x404010]:N`), whose bytes
    /// formulas call RDI.8, RDI.9 and so on; repeat for more.
    #[arg(long, value_name = "PLACE", requires = "at")]
    symbolic: Vec<String>,
    /// Take functions of the C library on strings and memory, and requests for memory, by what they do instead of by their
    /// instructions: one way for all lengths of a string.
    #[arg(long, requires = "at")]
    summaries: bool,
    /// A compiled program for x86-64 Linux, and its arguments.
    #[arg(last = true, value_name = "PROGRAM", requires = "at")]
    program: Vec<OsString>,
}

/// A moment that was asked for.
pub struct Asked<'a> {
    moment: Moment,
    arguments: &'a At,
}

/// What the ways from a moment came to.
pub struct Seen<'s> {
    /// Where formulas live.
    pub store: &'s Store,
    /// The processor's names, for conditions and for what is shown.
    pub program: Program,
    /// The ways.
    pub ways: Ways,
    points: Vec<CodePlace>,
    sources: Sources,
}

/// How many ways are followed.
const MOST_WAYS: u64 = 10_000;
/// How long one question to the solver may take.
const SOLVER_TIME: Duration = Duration::from_secs(10);
/// Bytes that the program may touch, and those that terms may take.
const MEMORY: u64 = 1 << 30;
const TERMS: u64 = 4 << 30;
/// How many instructions the run to the moment may take.
const LONGEST: u64 = 10_000_000_000;

impl At {
    /// The moment, if one was asked for.
    pub fn given(&self) -> Result<Option<Asked<'_>>> {
        let Some(text) = &self.at else { return Ok(None) };
        Ok(Some(Asked { moment: text.parse()?, arguments: self }))
    }
}

/// The exit status of work in a process of its own, errors and faults of ours told.
fn number_of(work: impl FnOnce() -> Result<Status>) -> u8 {
    let done = contained(AssertUnwindSafe(|| work().unwrap_or_else(|error| report(&error))));
    let _ = std::io::stdout().flush();
    done.unwrap_or_else(|fault| fault) as u8
}

impl Asked<'_> {
    /// Runs to the moment, follows all ways from there, and shows what they came to. All of it happens in a process of its
    /// own, which the program may do to what it likes.
    pub fn follow(
        &self,
        limits: &Limits,
        through: &[String],
        show: impl FnOnce(&Seen<'_>) -> Result<Status>,
    ) -> Result<Status> {
        let work = || number_of(|| self.seen(limits, through, show));
        let done = progress::during("following", || apart(MEMORY + TERMS, work))
            .map_err(|error| internal(format!("cannot start a process: {error}")))?;
        match done {
            Some(status) => Ok(match status {
                0 => Status::Clean,
                1 => Status::Findings,
                2 => Status::BadInput,
                3 => Status::Unsupported,
                _ => Status::GaveUp,
            }),
            None => Err(Failure {
                status: Status::GaveUp,
                message: format!("gave up: the terms of all ways need more than {} MB", TERMS >> 20),
            }
            .into()),
        }
    }

    fn seen(
        &self,
        limits: &Limits,
        through: &[String],
        show: impl FnOnce(&Seen<'_>) -> Result<Status>,
    ) -> Result<Status> {
        let arguments = self.arguments;
        ensure!(!arguments.program.is_empty(), "--at needs a program: -- PROGRAM ARGS");
        let command = Command::here(&arguments.program);
        let (mut subject, first) = Subject::at(&command, &self.moment, &arguments.symbolic, MEMORY, LONGEST)
            .map_err(|error| match error {
                SubjectError::Machine { .. } => {
                    Failure { status: Status::Unsupported, message: error.to_string() }.into()
                }
                error => anyhow!(error),
            })?;
        if arguments.summaries {
            subject.summarise(LONGEST);
        }
        let points = through
            .iter()
            .map(|name| subject.code_place(name.trim()).map_err(|error| anyhow!("--through: {error}")))
            .collect::<Result<Vec<CodePlace>>>()?;
        let (address, code) = subject.here();
        let language = Language::find("x86-64").ok_or_else(|| internal("there is no x86-64"))?;
        let program = Program::from_bytes(&SharedLifter::new(Lifter::new(language)?.into()), address, code)?;
        let store = Store::new();
        program.declare(&store);
        let reach =
            Reach { steps: limits.steps, ways: MOST_WAYS, time: limits.time, solver_time: SOLVER_TIME };
        let addresses: Vec<u64> = points.iter().flat_map(|place| place.addresses.clone()).collect();
        let ways = follow(&mut subject, &store, &first, &reach, &addresses);
        let seen = Seen { store: &store, program, ways, points, sources: subject.sources.clone() };
        let status = show(&seen)?;
        for way in &seen.ways.ways {
            if let Some(outcome) = &way.outcome {
                eprintln!("does not return ({outcome}) when {}", store.display(way.condition));
            }
        }
        Ok(status)
    }
}

impl Seen<'_> {
    /// All ways that return as one evaluation.
    pub fn evaluation(&self) -> Evaluation {
        Evaluation {
            update: self.ways.update.clone(),
            complete: self.ways.complete,
            gave_up: self.ways.bounds.iter().cloned().collect(),
            pc: self.store.constant(&self.program.entry()),
        }
    }

    /// Whether a way visits the points in order.
    pub fn goes_through(&self, way: &Way) -> bool {
        let mut wanted = self.points.iter().peekable();
        for point in &way.visited {
            if wanted.peek().is_some_and(|place| place.addresses.contains(point)) {
                wanted.next();
            }
        }
        wanted.peek().is_none()
    }

    /// Whether instructions are known to begin at all points.
    pub fn points_are_known(&self) -> bool {
        self.points.iter().all(|place| place.is_known)
    }

    /// The input of a way, as names and values.
    pub fn input(&self, way: &Way) -> Vec<(String, String)> {
        self.sources
            .ranges()
            .map(|(source, range)| {
                let bytes = &way.input[range];
                match &source.kind {
                    Kind::Memory { base, offset } => {
                        let text: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
                        (format!("[{base}+{offset}]"), text.join(" "))
                    }
                    kind => (kind.symbol(), format!("{:#x}", Bits::from_le_bytes(bytes).to_big())),
                }
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In a process of its own too, a panic is a fault of ours and not a bound. The test has other threads, and their locks
    /// would be held for ever in a process that is forked here. `apart` itself is tried in `crates/runs/concolic/tests/explored.rs`.
    #[test]
    fn a_panic_in_a_process_of_its_own_is_status_three() {
        assert_eq!(number_of(|| panic!("planted")), 3);
        assert_eq!(number_of(|| Err(internal("planted"))), 3);
        assert_eq!(number_of(|| anyhow::bail!("no such register")), 2);
    }
}
