//! What to explore, how, and how far.

use parallax_cmachine::{Aliasing, Checks, Mistake, Problem};
use parallax_path::Strategy;
use std::time::Duration;

/// Where exploration starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// At `main`, with arguments and standard input.
    Main {
        /// Arguments after the program's name.
        arguments: Vec<Argument>,
        /// How many unknown bytes standard input holds.
        stdin: u64,
        /// Files by name, each with its content: given bytes, or a number of unknown bytes.
        files: Vec<(String, Argument)>,
        /// Variables of the environment, by name.
        environment: Vec<(String, Argument)>,
    },
    /// At a function, with unknown arguments and globals.
    Function(String),
}

impl Default for Entry {
    fn default() -> Self {
        Entry::Main { arguments: Vec::new(), stdin: 0, files: Vec::new(), environment: Vec::new() }
    }
}

/// What global variables hold when a function is entered by itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Globals {
    /// Anything, but for constants and for `static` variables that no code of their file writes.
    #[default]
    Unknown,
    /// What the program may have left there: anything where some code of the program writes, initialisers elsewhere.
    Reachable,
    /// Their initialisers.
    Initial,
}

/// Whether states become one where the ways of a branch meet again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Merge {
    /// Each way is followed by itself.
    #[default]
    Never,
    /// Where an estimate says that it saves more questions than it adds.
    Auto,
    /// Wherever one state can stand for both.
    Always,
}

/// A command-line argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Argument {
    /// This text.
    Known(Vec<u8>),
    /// Unknown text of at most so many bytes.
    Unknown(u64),
    /// The same, or no argument at all: nor any after it.
    Optional(u64),
}

/// How often one call may take the undecided branches of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoopBound {
    /// How the file's name ends; empty: any file.
    pub file: String,
    /// The line of the branch.
    pub line: u32,
    /// How often.
    pub times: u32,
}

/// Settings of an exploration.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Where to start.
    pub entry: Entry,
    /// Which state runs next.
    pub strategy: Strategy,
    /// Seed of random choices.
    pub seed: u64,
    /// How often one function call may take an undecided branch of one block.
    pub loops: u32,
    /// Undecided branches on one path.
    pub depth: u32,
    /// Paths in all.
    pub paths: u64,
    /// Instructions on one path.
    pub steps: u64,
    /// Instructions on all paths together; none: no limit.
    pub instructions: Option<u64>,
    /// Live states.
    pub states: usize,
    /// Wall-clock time.
    pub time: Duration,
    /// Memory of this process in bytes; none: no limit.
    pub memory: Option<u64>,
    /// Time for one question to the solver.
    pub solver_time: Duration,
    /// Optional checks.
    pub checks: Checks,
    /// Kinds of mistakes to report; none: all. A path ends with a mistake of another kind, too.
    pub only: Vec<Problem>,
    /// End with the first finding.
    pub first: bool,
    /// Bounds of loops of their own, instead of `loops`: by file (the end of its name; none: any), line, and how often.
    pub loop_bounds: Vec<LoopBound>,
    /// A seed that the program computes counts as unknown, though it is constant while exploring: the time, say.
    pub random_inputs: bool,
    /// Look for leaks.
    pub leaks: bool,
    /// Allocation may fail.
    pub failing_allocation: bool,
    /// How many system calls on files may fail although they need not.
    pub failing_calls: u32,
    /// Where input pointers may point.
    pub aliasing: Aliasing,
    /// Elements of an input array.
    pub array: u64,
    /// How many pointers deep input objects go.
    pub chain: u32,
    /// Input text ends with a NUL within its object.
    pub strings: bool,
    /// What global variables hold when a function is entered by itself.
    pub globals: Globals,
    /// Whether states become one where the ways of a branch meet again.
    pub merge: Merge,
    /// Keep one test per path.
    pub tests: bool,
    /// Every global variable is input memory, whether or not the entered code can name it: only for tests that compare.
    #[doc(hidden)]
    pub all_globals: bool,
    /// A wrong rule to use instead of the right one: only for tests that must notice.
    #[doc(hidden)]
    pub plant: Option<Mistake>,
}

impl Settings {
    /// Whether mistakes of a kind are reported.
    pub fn looks_for(&self, problem: Problem) -> bool {
        self.only.is_empty() || self.only.contains(&problem)
    }
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            entry: Entry::default(),
            strategy: Strategy::Depth,
            seed: 1,
            loops: 64,
            depth: 512,
            paths: 100_000,
            steps: 5_000_000,
            instructions: None,
            states: 50_000,
            time: Duration::from_secs(60),
            memory: None,
            solver_time: Duration::from_secs(10),
            checks: Checks::default(),
            only: Vec::new(),
            first: false,
            loop_bounds: Vec::new(),
            random_inputs: false,
            leaks: false,
            failing_allocation: false,
            failing_calls: 0,
            aliasing: Aliasing::Auto,
            array: 4,
            chain: 4,
            strings: false,
            globals: Globals::Unknown,
            merge: Merge::Never,
            tests: false,
            all_globals: false,
            plant: None,
        }
    }
}
