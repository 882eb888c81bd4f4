//! The host of a symbolic exploration: what a path makes certain, what is unknown, and what went wrong where.

use super::relied::established::{Certain, Conditional};
use super::relied::tested::{Question, Tested};
use super::relied::walks::{Learned, Walks};
use super::relied::{Reliance, Relied};
use super::search::{PathEnd, PathRecord};
use super::settings::{Argument, Settings};
use super::unknown::UnknownMemory;
use crate::run::{self, Block, GivenMemory, Place, stack};
use parallax_cmachine::{
    Aliasing, Checks, Edge, Entry as Alternative, InputBounds, InputCell, Inputs, Object, ObjectId, Oracle,
    Path, Problem, Relation, Reporter, State, Steps, Target, Token, TokenId, Value, memory_name,
};
use parallax_cmodule::{BlockId, FunctionId, LocationId, Module, Spot};
use parallax_op::{Bits, Width};
use parallax_path::{self as path, Bound, Ledger, Model, Premise, Split};
use parallax_sem::{Symbolic, logic};
use parallax_smt::{Limits, Reason, Solver};
use parallax_term::{Expr, Formula, FuncExpr, Id, Sort, Store, Symbol, SymbolKind, Term};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

/// A mistake with the input that leads to it.
#[derive(Clone, Debug)]
pub struct Finding {
    /// What kind.
    pub problem: Problem,
    /// In words.
    pub detail: String,
    /// Where each running function is, the innermost first.
    pub stack: Vec<(FunctionId, LocationId)>,
    /// Where the exploration that found it started.
    pub entry: super::Entry,
    /// An input that leads there.
    pub input: Input,
    /// How many undecided branches the path takes.
    pub decisions: usize,
    /// Contracts that exclude it: whoever calls the entered function has to see to one of them. Nothing where callers cannot help.
    pub relied: Vec<Relied>,
}

impl Finding {
    /// Adds contracts that others at its place rely on.
    pub(crate) fn relies_also_on(&mut self, contracts: &[Relied]) {
        for contract in contracts {
            if !self.relied.contains(contract) {
                self.relied.push(contract.clone());
            }
        }
    }
}

/// A concrete input.
#[derive(Clone, Debug, Default)]
pub struct Input {
    /// Arguments, the program's name first.
    pub arguments: Vec<Vec<u8>>,
    /// Standard input.
    pub stdin: Vec<u8>,
    /// Files, by name.
    pub files: Vec<(String, Vec<u8>)>,
    /// Of these, how many were given as they are: they come last.
    pub given_files: usize,
    /// Variables of the environment, by name.
    pub environment: Vec<(String, Vec<u8>)>,
    /// What harness functions return, in order, with their names.
    pub values: Vec<(String, Bits)>,
    /// What code without a model returns, in order.
    pub unknowns: Vec<Bits>,
    /// Memory and arguments of a function that is entered by itself.
    pub memory: GivenMemory,
}

impl Input {
    /// The environment as a program is given it: `NAME=value` each.
    pub fn variables(&self) -> Vec<Vec<u8>> {
        let joined = |(name, value): &(String, Vec<u8>)| [name.as_bytes(), b"=", value].concat();
        self.environment.iter().map(joined).collect()
    }
}

/// Mistakes of one kind at one place that are looked at, as long as all of them rely on a contract.
const MOST_RELYING: u32 = 64;

/// What becomes of a question that is not answered soon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hard {
    /// It is waited for: there is nothing else to do.
    Waits,
    /// Both answers are taken for possible; it is asked again when nothing else is left to do.
    Later,
    /// The step is taken back, and the states that the running one was made of go on instead. They may ask for this long.
    Undone(Duration),
}

/// A mistake of which there was no time to ask whether it can happen: the state, the mistake, when, in words.
pub(super) type Doubt<'s> = (State<Symbolic<'s>>, Problem, Formula, String);

/// A question is answered soon if it takes this part of `--solver-time`.
pub(super) const SOON: u32 = 8;

/// Doubts that are kept.
const MOST_DOUBTS: usize = 256;

/// A kind of mistake, and where in the user's code.
pub(super) type Site = (Problem, Spot);

/// What is known of a kind of mistake at a place.
#[derive(Clone, Copy)]
pub(super) enum Known {
    /// It can happen whatever callers do.
    Certain,
    /// This finding relies on a contract; others may not, and so many were looked at.
    Relies(usize, u32),
}

/// The host.
pub struct Explorer<'s> {
    core: Symbolic<'s>,
    pub(super) store: &'s Store,
    module: &'s Module,
    pub(super) settings: &'s Settings,
    /// Who is asked what is possible.
    pub oracle: path::Oracle<'s>,
    /// Symbols of what is uninitialised.
    undefined: FxHashSet<Symbol>,
    /// The one input to look at, when it is only one.
    pub fixed: Option<&'s Input>,
    /// Symbolic arguments, standard input and files, for the input of a finding.
    pub arguments: Vec<Vec<Term>>,
    /// Standard input.
    pub stdin: Vec<Term>,
    /// Files, by name.
    pub files: Vec<(String, Vec<Term>)>,
    /// Variables of the environment, by name.
    pub environment: Vec<(String, Vec<Term>)>,
    /// What an input that shows the next mistake had better be like, the best first.
    wishes: Vec<Formula>,
    /// Findings, one per place and kind.
    pub findings: Vec<Finding>,
    /// Paths that ended with a mistake, when tests were asked for.
    pub mistakes: Vec<PathRecord>,
    pub(super) known: FxHashMap<Site, Known>,
    /// Contracts that something relies on.
    pub(super) contracts: Vec<Relied>,
    /// Input pointers as C names them, by their own names.
    pub(super) names: RefCell<FxHashMap<String, String>>,
    /// Findings that callers cannot help, as far as is known.
    pub(super) certain: Vec<Certain<'s>>,
    /// Mistakes that rely on contracts: at one place some may rely on others than the first.
    pub(super) conditional: Vec<Conditional>,
    /// Input pointers that some branch tests for null, and who does.
    pub(super) tested: FxHashMap<String, Tested>,
    /// What the branches at the ends of blocks ask of pointers.
    pub(super) questions: FxHashMap<(FunctionId, BlockId), Question>,
    /// Comparisons by size that the program made, as terms.
    pub(super) ordered: FxHashSet<Id>,
    /// What the step at hand accessed last: object, offset, length.
    pub(super) access: Option<(ObjectId, Term, Term)>,
    /// Input pointers that the program relates to each other.
    pub(super) walks: Walks,
    /// Conditions of branches that were looked at for these.
    pub(super) looked_at: FxHashSet<(FunctionId, BlockId, Formula)>,
    /// Whether the last step reported something.
    pub reported: bool,
    /// What was left out and what was assumed, of this search.
    pub ledger: Ledger,
    /// The innermost instruction of the user's own code that runs.
    pub(super) here: Option<(FunctionId, BlockId, u32)>,
    /// Instructions whose announced access succeeded: what they accessed was there.
    pub(super) passed: FxHashSet<(FunctionId, BlockId, u32)>,
    /// Whether what the last step reported is excluded by a contract.
    pub(super) excused: bool,
    /// The contract that accesses rely on at instructions at which a path ended.
    pub(super) blocked: FxHashMap<(FunctionId, BlockId, u32), String>,
    /// Whether the last step hit one.
    pub noted: bool,
    /// What becomes of hard questions of the step at hand.
    pub(super) hard: Hard,
    /// Whether it asked one that was not answered soon.
    pub(super) put_off: bool,
    /// Mistakes that are asked about once more at the end.
    pub(super) doubts: Vec<Doubt<'s>>,
    /// Ways into blocks that some path took which came to its end, and of which an input is known.
    pub(super) proven: FxHashSet<Edge>,
    /// Blocks that such a path left again, by a return too.
    pub(super) finished: FxHashSet<(FunctionId, BlockId)>,
    /// Blocks that such a path ended in, and to how many of their instructions one came.
    pub(super) came: FxHashMap<(FunctionId, BlockId), u32>,
    /// Blocks that states entered, and how often.
    pub covered: FxHashMap<(FunctionId, u32), u64>,
    /// Ways from block to block that states took, and how often.
    pub edges: FxHashMap<(FunctionId, u32, u32), u64>,
    /// Whether the block just entered is new.
    pub new_code: bool,
    counter: u64,
}

impl<'s> Explorer<'s> {
    /// A host over a store and a solver.
    pub fn new(
        store: &'s Store,
        module: &'s Module,
        settings: &'s Settings,
        solver: Box<dyn Solver<'s> + 's>,
    ) -> Self {
        let limits = Limits { time: Some(settings.solver_time), ..Limits::default() };
        let oracle = path::Oracle::new(solver).with_limits(limits);
        Explorer::with_oracle(store, module, settings, oracle)
    }

    /// The same host at the start, but for what it knows of how the program relates pointers.
    pub(super) fn again(self) -> Self {
        let Explorer { store, module, settings, oracle, fixed, walks, counter, .. } = self;
        Explorer { fixed, walks, counter, ..Explorer::with_oracle(store, module, settings, oracle) }
    }

    fn with_oracle(
        store: &'s Store,
        module: &'s Module,
        settings: &'s Settings,
        oracle: path::Oracle<'s>,
    ) -> Self {
        Explorer {
            core: Symbolic::new(store),
            store,
            module,
            settings,
            oracle,
            undefined: FxHashSet::default(),
            fixed: None,
            arguments: Vec::new(),
            stdin: Vec::new(),
            files: Vec::new(),
            environment: Vec::new(),
            wishes: Vec::new(),
            findings: Vec::new(),
            mistakes: Vec::new(),
            known: FxHashMap::default(),
            contracts: Vec::new(),
            names: RefCell::default(),
            certain: Vec::new(),
            conditional: Vec::new(),
            tested: FxHashMap::default(),
            questions: FxHashMap::default(),
            ordered: FxHashSet::default(),
            access: None,
            walks: Walks::default(),
            looked_at: FxHashSet::default(),
            reported: false,
            ledger: Ledger::default(),
            here: None,
            passed: FxHashSet::default(),
            excused: false,
            blocked: FxHashMap::default(),
            proven: FxHashSet::default(),
            finished: FxHashSet::default(),
            came: FxHashMap::default(),
            noted: false,
            hard: Hard::Waits,
            put_off: false,
            doubts: Vec::new(),
            covered: FxHashMap::default(),
            edges: FxHashMap::default(),
            new_code: false,
            counter: 0,
        }
    }

    pub(super) fn module(&self) -> &'s Module {
        self.module
    }

    fn fresh(&mut self, base: &str, width: Width) -> (Symbol, Term) {
        self.counter += 1;
        // Numbered here: the store would look for a free number from one on, each time.
        let name = format!("{base}!{}", self.counter);
        let symbol = self.store.fresh(&name, Sort::Bits(width), SymbolKind::Free);
        match self.store.expr_of(symbol) {
            Expr::Term(term) => (symbol, term),
            _ => unreachable!("a vector was declared"),
        }
    }

    /// A model of a path and further conditions, if there is one; what the solver does not know is noted.
    pub fn model(&mut self, path: &Path<Symbolic<'s>>, extra: &[Formula]) -> Option<Rc<Model>> {
        if let Hard::Undone(patience) = self.hard {
            self.oracle.set_patience(Some(patience));
        }
        let found = path.sat_all(&self.oracle, extra);
        self.oracle.set_patience(None);
        found.unwrap_or_else(|reason| {
            match matches!(self.hard, Hard::Undone(_)) && self.is_put_off(&reason) {
                true => self.put_off = true,
                false => self.bounded(Bound::Solver(reason)),
            }
            None
        })
    }

    /// Whether a question without an answer is asked again.
    fn is_put_off(&self, reason: &Reason) -> bool {
        self.hard != Hard::Waits && *reason == Reason::Time && !self.oracle.is_late()
    }

    /// Symbols of what is uninitialised in an expression.
    fn undefined_in(&self, id: parallax_term::Id) -> Vec<(Symbol, Sort)> {
        let symbols = self.store.symbols_in([id]).into_iter().filter(|s| self.undefined.contains(s));
        symbols.map(|symbol| (symbol, self.store.info(symbol).sort)).collect()
    }

    /// Another way to fill in what is uninitialised.
    fn otherwise(&mut self, symbols: &[(Symbol, Sort)]) -> logic::Struct<Symbolic<'s>> {
        let mut other = logic::Struct::<Symbolic<'s>>::new();
        for &(symbol, sort) in symbols {
            match sort {
                Sort::Bits(width) => other.set_val(symbol, self.fresh("otherwise", width).1),
                Sort::Map { key, value } => {
                    self.counter += 1;
                    let name = format!("otherwise!{}", self.counter);
                    other.set_map(symbol, self.store.func_symbol(&name, key, value));
                }
                Sort::Bool => {}
            }
        }
        other
    }

    /// Nothing was reported or noted yet in the step to come.
    pub(super) fn begin_step(&mut self, state: &State<Symbolic<'s>>) {
        let module = self.module;
        let own = state.frames.iter().rev().enumerate().find(|(_, f)| !module.function(f.function).library);
        // A frame that waits for a call is behind it.
        let index = |above: usize, index: u32| if above == 0 { index } else { index.saturating_sub(1) };
        self.here = own.map(|(above, frame)| (frame.function, frame.block, index(above, frame.index)));
        self.reported = false;
        self.excused = false;
        self.noted = false;
        self.put_off = false;
        self.access = None;
    }

    /// Where the user's own code is, as `file:line`.
    pub(super) fn place(&self) -> Option<String> {
        self.place_of(self.here?)
    }

    fn place_of(&self, (function, block, index): (FunctionId, BlockId, u32)) -> Option<String> {
        let block = &self.module.function(function).blocks[block.0 as usize];
        let instruction = block.instructions.get(index as usize);
        crate::place::written(self.module, instruction.map_or(block.location, |i| i.location))
    }

    /// Code behind an access that no input of the run gets past was not looked at: the contract that the access relies on asks
    /// for more than there can be.
    pub(super) fn note_blocked(&self) {
        for (here, contract) in &self.blocked {
            if !self.passed.contains(here) {
                self.ledger.note_at(Bound::Vacuous(contract.clone()), self.place_of(*here));
            }
        }
    }

    /// The step at hand went on: what it accessed was there.
    pub(super) fn pass(&mut self) {
        if self.access.is_some()
            && let Some(here) = self.here
        {
            self.passed.insert(here);
        }
    }

    /// The input that a model says.
    pub fn input_of(&self, state: &State<Symbolic<'s>>, model: &Model) -> Input {
        let bits = |term: Term| model.term(self.store, term);
        let byte = |term: Term| bits(term).to_u64().unwrap_or(0) as u8;
        let mut arguments: Vec<Vec<u8>> = Vec::new();
        // The count is the first argument of `main`; a program that does not ask for it sees none of them.
        let given = match state.entry_arguments.first() {
            Some(Value::Bits(count)) if !self.arguments.is_empty() => {
                bits(*count).to_u64().unwrap_or(0) as usize
            }
            _ => self.arguments.len(),
        };
        for argument in self.arguments.iter().take(given) {
            let text: Vec<u8> = argument.iter().map(|&t| byte(t)).take_while(|&b| b != 0).collect();
            arguments.push(text);
        }
        let bytes = |terms: &[Term]| terms.iter().map(|&term| byte(term)).collect::<Vec<u8>>();
        Input {
            arguments,
            stdin: bytes(&self.stdin),
            files: self.files.iter().map(|(name, terms)| (name.clone(), bytes(terms))).collect(),
            given_files: match &self.settings.entry {
                super::Entry::Main { files, .. } => {
                    files.iter().filter(|(_, content)| matches!(content, Argument::Known(_))).count()
                }
                super::Entry::Function(_) => 0,
            },
            environment: self
                .environment
                .iter()
                .map(|(name, terms)| {
                    (name.clone(), bytes(terms).into_iter().take_while(|&b| b != 0).collect())
                })
                .collect(),
            values: state.inputs.to_vec().into_iter().map(|(name, _, v)| (name.clone(), bits(*v))).collect(),
            unknowns: state.unknowns.to_vec().into_iter().map(|v| bits(*v)).collect(),
            memory: self.given_memory(state, model),
        }
    }

    /// The input memory that a model says: objects that exist, with what the path looked at.
    fn given_memory(&self, state: &State<Symbolic<'s>>, model: &Model) -> GivenMemory {
        let mut memory = GivenMemory::default();
        if !matches!(self.settings.entry, super::Entry::Function(_)) {
            return memory;
        }
        let globals = self.module.globals.len() as u32;
        let mut numbers: FxHashMap<ObjectId, usize> = FxHashMap::default();
        for object in state.input_objects.iter().chain(state.private_inputs.iter()) {
            if !model.holds(self.store, object.exists) {
                continue;
            }
            numbers.insert(object.object, memory.blocks.len());
            let held = state.memory.object(object.object);
            let size = model.term(self.store, held.size);
            let address = held.address.filter(|_| state.observed.contains(&object.object));
            memory.blocks.push(Block {
                name: object.name.clone(),
                global: (object.object.0 < globals).then_some(object.object.0),
                size: size.to_u64().unwrap_or(0),
                address: address.and_then(|a| model.term(self.store, a).to_u64()),
                ..Block::default()
            });
        }
        let chosen = |entries: &[Alternative<Symbolic<'s>>]| -> Place {
            for entry in entries {
                if model.holds(self.store, entry.guard) {
                    let offset = model.term(self.store, entry.offset).to_i128().unwrap_or(0) as i64;
                    return match entry.target {
                        Target::Object(id) => {
                            numbers.get(&id).map_or(Place::Null, |&n| Place::Block(n, offset))
                        }
                        Target::Function(function) => Place::Function(function),
                        Target::Null | Target::Number | Target::Token(_) => Place::Null,
                    };
                }
            }
            Place::Null
        };
        // Known not to be null, and no more than that.
        let mut somewhere: FxHashMap<TokenId, usize> = FxHashMap::default();
        for (id, token) in state.tokens.iter().enumerate() {
            let is_null = token.null.is_none_or(|null| model.holds(self.store, null));
            if !is_null && !token.entries.iter().any(|entry| model.holds(self.store, entry.guard)) {
                somewhere.insert(TokenId(id as u32), memory.blocks.len());
                let size = parallax_cmachine::size_of(self.module, token.pointee).max(1);
                memory.blocks.push(Block { name: token.name.clone(), size, ..Block::default() });
            }
        }
        let token = |id: TokenId| match somewhere.get(&id) {
            Some(&number) => Place::Block(number, 0),
            None => chosen(&state.tokens[id.0 as usize].entries),
        };
        for cell in state.input_cells.to_vec() {
            match cell {
                InputCell::Bits(object, at, _, value) => {
                    if let Some(&number) = numbers.get(object) {
                        memory.blocks[number].bits.push((*at, model.term(self.store, *value)));
                    }
                }
                InputCell::Pointer(object, at, id) => {
                    if let Some(&number) = numbers.get(object) {
                        memory.blocks[number].pointers.push((*at, token(*id)));
                    }
                }
            }
        }
        // What was read at places that are not constant.
        for (&object, &number) in &numbers {
            let Some(symbol) = self.store.lookup(&memory_name(object)) else { continue };
            let block = &mut memory.blocks[number];
            let whole = model.whole(self.store);
            let read = whole.table(symbol).into_iter().flat_map(|table| table.entries());
            let read = read.filter_map(|(at, byte)| Some((at.to_u64()?, byte.clone())));
            block.bits.extend(read.filter(|(at, _)| *at < block.size));
        }
        for argument in state.entry_arguments.iter() {
            memory.arguments.push(match argument {
                Value::Bits(term) => run::Argument::Bits(model.term(self.store, *term)),
                Value::Pointer(pointer) => run::Argument::Pointer(match pointer.only().map(|e| e.target) {
                    Some(Target::Token(id)) => token(id),
                    _ => chosen(&pointer.entries),
                }),
                Value::Many(parts) => {
                    let parts = parts.iter().filter_map(|part| match part {
                        Value::Bits(term) => Some(model.term(self.store, *term)),
                        _ => None,
                    });
                    run::Argument::Many(parts.collect())
                }
                Value::Part(..) => run::Argument::Pointer(Place::Null),
            });
        }
        untouched_globals_go(&mut memory);
        memory
    }

    /// Keeps a path that ends with a mistake.
    fn record_mistake(&mut self, state: &State<Symbolic<'s>>, problem: Problem, guard: &Formula) {
        let Some(model) = self.model(&state.path, &[*guard]) else { return };
        let mut conditions = state.path.formulas();
        conditions.push(*guard);
        self.mistakes.push(PathRecord {
            input: self.input_of(state, &model),
            end: PathEnd::Mistake(problem),
            stdout: Vec::new(),
            decisions: state.events.to_vec().into_iter().copied().collect(),
            conditions,
            values: state.inputs.to_vec().into_iter().map(|(_, _, term)| *term).collect(),
            output: Vec::new(),
            status: None,
            unknown: UnknownMemory::of(self.store, self.module, state),
        });
    }

    /// Reports memory that nothing refers to at the end of a path under a condition, if that can be.
    pub fn leak(&mut self, state: &State<Symbolic<'s>>, object: ObjectId, lost: Formula) {
        let Object { made_in, made_at, .. } = state.memory.object(object);
        let place = (*made_in, *made_at);
        if !self.settings.looks_for(Problem::Leak) {
            return;
        }
        let site = (Problem::Leak, self.module.spot(place.0, place.1));
        if self.known.contains_key(&site) {
            return;
        }
        let Some(model) = self.model(&state.path, &[lost]) else { return };
        self.known.insert(site, Known::Certain);
        let input = self.input_of(state, &model);
        let detail = crate::leak::WORDS.to_string();
        let decisions = state.events.len();
        let entry = self.settings.entry.clone();
        self.findings.push(Finding {
            problem: Problem::Leak,
            detail,
            stack: vec![place],
            entry,
            input,
            decisions,
            relied: Vec::new(),
        });
    }

    /// Bytes of the outside world: those of the one input there is, or unknown ones.
    pub fn bytes(&self, name: &str, len: u64, given: impl Fn(&'s Input) -> Option<&'s [u8]>) -> Vec<Term> {
        match self.fixed {
            Some(input) => {
                given(input).unwrap_or_default().iter().map(|&b| self.store.number(8, b.into())).collect()
            }
            None => (0..len).map(|at| self.store.symbol(&format!("{name}[{at}]"), 8)).collect(),
        }
    }

    /// The value of a term in a model.
    pub fn value_in(&self, model: &Model, term: Term) -> Bits {
        model.term(self.store, term)
    }
}

impl<'s> Oracle<Symbolic<'s>> for Explorer<'s> {
    fn core(&self) -> &Symbolic<'s> {
        &self.core
    }
    fn truth(&self, b: &Formula) -> Option<bool> {
        self.store.as_boolean(*b)
    }
    fn value(&self, _width: Width, v: &Term) -> Option<Bits> {
        self.store.as_constant(*v)
    }
    fn steps(&self, number: &Term) -> Option<Steps<Symbolic<'s>>> {
        super::steps::steps(self.store, *number)
    }
    fn late(&self) -> Option<Bound> {
        self.oracle.is_late().then_some(Bound::Time(self.settings.time))
    }
    fn split(&mut self, path: &Path<Symbolic<'s>>, b: &Formula) -> Split {
        self.oracle.set_patience(match self.hard {
            Hard::Waits => None,
            Hard::Later => Some(self.settings.solver_time / SOON),
            Hard::Undone(patience) => Some(patience),
        });
        let split = path.split(&self.oracle, *b);
        self.oracle.set_patience(None);
        split.unwrap_or_else(|reason| {
            match self.is_put_off(&reason) {
                true => self.put_off = true,
                false => self.bounded(Bound::Solver(reason)),
            }
            Split::Both
        })
    }
    fn take(&mut self, path: &mut Path<Symbolic<'s>>, condition: Formula) {
        path.assume(&self.oracle, condition, ());
    }
    fn example(&mut self, path: &Path<Symbolic<'s>>, _width: Width, v: &Term) -> Option<Bits> {
        let model = self.model(path, &[])?;
        Some(model.term(self.store, *v))
    }
    fn undefined_matters(&mut self, path: &Path<Symbolic<'s>>, b: &Formula) -> Option<(Formula, Formula)> {
        if self.undefined.is_empty() {
            return None;
        }
        let store = self.store;
        let symbols = self.undefined_in(b.id());
        if symbols.is_empty() {
            return None;
        }
        // It matters when two ways to fill in what is uninitialised decide differently.
        let other = self.otherwise(&symbols);
        let differs = store.not(store.iff(*b, logic::formula(&self.core, store, *b, &other)));
        match path.sat(&self.oracle, differs) {
            Ok(None) => return None,
            Ok(Some(_)) => {}
            Err(reason) => self.bounded(Bound::Solver(reason)),
        }
        // Where it does not matter, zeros and ones decide as anything does.
        let filled = |bits: fn(Width) -> Bits| {
            let mut filled = logic::Struct::<Symbolic<'s>>::new();
            for &(symbol, sort) in &symbols {
                match sort {
                    Sort::Bits(width) => filled.set_val(symbol, store.constant(&bits(width))),
                    Sort::Map { key, value } => {
                        filled.set_map(symbol, store.constant_map(key, store.constant(&bits(value))));
                    }
                    Sort::Bool => {}
                }
            }
            store.iff(*b, logic::formula(&self.core, store, *b, &filled))
        };
        Some((differs, store.and(filled(Bits::zero), filled(Bits::ones))))
    }
    fn undefined_reaches(&mut self, path: &Path<Symbolic<'s>>, _width: Width, v: &Term) -> Option<Formula> {
        let mut symbols = if self.undefined.is_empty() { Vec::new() } else { self.undefined_in(v.id()) };
        if symbols.is_empty() {
            return None;
        }
        // Both ways to fill in what is uninitialised are such that they take this path.
        let mut taken = path.formulas();
        taken.retain(|condition| {
            let here = self.undefined_in(condition.id());
            symbols.extend(&here);
            !here.is_empty()
        });
        symbols.sort_unstable_by_key(|(symbol, _)| *symbol);
        symbols.dedup_by_key(|(symbol, _)| *symbol);
        let other = self.otherwise(&symbols);
        let (core, store) = (&self.core, self.store);
        let mut differs = store.not(store.eq(*v, logic::term(core, store, *v, &other)));
        for condition in taken {
            differs = store.and(differs, logic::formula(core, store, condition, &other));
        }
        match path.sat(&self.oracle, differs) {
            Ok(None) => None,
            Ok(Some(_)) => Some(differs),
            Err(reason) => {
                self.bounded(Bound::Solver(reason));
                None
            }
        }
    }
}

impl<'s> Inputs<Symbolic<'s>> for Explorer<'s> {
    fn undefined(&mut self, width: Width) -> Term {
        let (symbol, term) = self.fresh("undefined", width);
        self.undefined.insert(symbol);
        term
    }
    fn input(&mut self, state: &mut State<Symbolic<'s>>, width: Width, name: &str) -> Term {
        // The same input asked for on two paths is the same symbol: named by its number on the path.
        let number = state.inputs.len();
        if let Some(input) = self.fixed {
            let bits = match input.values.get(number) {
                Some((_, bits)) if bits.width() == width => bits.clone(),
                _ => Bits::zero(width),
            };
            let term = self.store.constant(&bits);
            state.inputs.push((name.to_string(), width, term));
            return term;
        }
        let term = self.store.symbol(&format!("{name}#{number}.{width}"), width);
        state.inputs.push((name.to_string(), width, term));
        term
    }
    fn unknown(&mut self, state: &mut State<Symbolic<'s>>, width: Width, name: &str) -> Result<Term, String> {
        let (_, term) = self.fresh(name, width);
        state.unknowns.push(term);
        Ok(term)
    }
    fn selector(&mut self, width: Width, name: &str) -> Term {
        self.fresh(name, width).1
    }
    fn memory_map(&mut self, name: &str, undefined: bool) -> FuncExpr {
        let name = if undefined { format!("undefined {name}") } else { name.to_string() };
        let map = self.store.func_symbol(&name, 64, 8);
        if undefined {
            self.undefined.extend(self.store.lookup(&name));
        }
        map
    }
    fn input_bounds(&self) -> InputBounds {
        let Settings { aliasing, array, chain, strings, .. } = *self.settings;
        InputBounds { aliasing, array, chain, strings }
    }
    fn longest(&self, token: &Token<Symbolic<'s>>) -> u64 {
        self.walks.elements(&token.name).max(self.settings.array)
    }
    fn walks(&self, token: &Token<Symbolic<'s>>) -> bool {
        self.walks.walks(&token.name)
    }
    fn walk_together(&self, one: &Token<Symbolic<'s>>, other: &Token<Symbolic<'s>>) -> bool {
        self.walks.together(&one.name, &other.name)
    }
    fn random_inputs(&self) -> bool {
        self.settings.random_inputs
    }
    fn failing_allocation(&self) -> bool {
        self.settings.failing_allocation
    }
}

impl<'s> Reporter<Symbolic<'s>> for Explorer<'s> {
    fn checks(&self) -> Checks {
        self.settings.checks
    }
    fn prefer(&mut self, wishes: Vec<Formula>) {
        self.wishes = wishes;
    }
    fn problem(&mut self, state: &State<Symbolic<'s>>, problem: Problem, guard: &Formula, detail: String) {
        self.reported = true;
        let wishes = std::mem::take(&mut self.wishes);
        if !self.settings.looks_for(problem) {
            return;
        }
        // Whether it can happen was too hard to tell.
        if self.put_off {
            match self.hard {
                Hard::Later if self.doubts.len() < MOST_DOUBTS => {
                    self.doubts.push((state.clone(), problem, *guard, detail));
                }
                Hard::Later => self.bounded(Bound::Undecided(problem.name().into())),
                Hard::Waits | Hard::Undone(_) => {}
            }
            return;
        }
        if self.settings.tests {
            self.record_mistake(state, problem, guard);
        }
        let stack = stack(self.module, state);
        // One finding per kind and place in the user's code.
        let (depth, location) = state.user_location(self.module);
        let function = state.frames.get(depth).map_or(FunctionId(0), |f| f.function);
        let place = (problem, self.module.spot(function, location));
        let before = self.known.get(&place).copied();
        match before {
            Some(Known::Certain) => return self.prove(state, *guard),
            Some(Known::Relies(_, MOST_RELYING)) => {
                return self
                    .bounded(Bound::Candidates(MOST_RELYING as usize, "mistakes at one place".into()));
            }
            Some(Known::Relies(number, seen)) => {
                self.known.insert(place, Known::Relies(number, seen + 1));
            }
            None => {}
        }
        let in_time = !self.oracle.is_late();
        let Reliance { relied, pointers, counts, kept } = match state.unknown_memory && in_time {
            true => self.reliance(state, problem, *guard),
            false => Reliance::default(),
        };
        // What there was no time to ask about is not known to rely on nothing.
        if state.unknown_memory && relied.is_empty() && self.oracle.is_late() {
            return self.bounded(Bound::Undecided(problem.name().into()));
        }
        self.excused = !relied.is_empty();
        if problem == Problem::OutOfBounds {
            self.make_room(state, &relied);
            if let (Some(here), Some(contract)) = (self.here, relied.first()) {
                self.blocked.insert(here, contract.to_string());
            }
        }
        self.establish(&relied);
        if self.is_conditional(before, &relied) {
            return;
        }
        let mut wished = kept.into_iter().chain(wishes);
        let wished = wished.find_map(|wish| self.model(&state.path, &[*guard, wish]));
        let Some(model) = wished.or_else(|| self.model(&state.path, &[*guard])) else {
            return self.bounded(Bound::Undecided(problem.name().into()));
        };
        let (model, relied) = match state.unknown_memory && relied.is_empty() {
            true => self.witness(state, *guard, model),
            false => (model, relied),
        };
        self.excused = !relied.is_empty();
        if self.is_conditional(before, &relied) {
            return;
        }
        let (input, decisions) = (self.input_of(state, &model), state.events.len());
        let entry = self.settings.entry.clone();
        let finding = Finding { problem, detail, stack, entry, input, decisions, relied };
        if finding.relied.is_empty() {
            self.prove(state, *guard);
            let number = self.add_certain(place, before, finding);
            if state.unknown_memory {
                self.certain.push(Certain { number, place, state: state.clone(), guard: *guard });
            }
        } else {
            self.add_conditional(place, before, Conditional { number: 0, finding, pointers, counts });
        }
    }
    fn accesses(&mut self, object: ObjectId, offset: &Term, len: &Term) {
        self.access = Some((object, *offset, *len));
    }
    fn asks(&mut self, condition: &Formula) {
        self.note_order(*condition);
    }
    fn tests(&mut self, state: &State<Symbolic<'s>>, condition: &Formula) {
        self.note_tested(state, *condition);
    }
    fn relates(&mut self, state: &State<Symbolic<'s>>, one: TokenId, other: TokenId, how: Relation) {
        if self.settings.aliasing != Aliasing::Auto {
            return;
        }
        let name = |token: TokenId| &state.tokens[token.0 as usize].name;
        if self.walks.note(name(one), name(other), how) == Learned::TooLate {
            let words = format!("{} and {} may point into one array", name(one), name(other));
            self.bounded(Bound::Late(words));
        }
    }
    fn assume(&mut self, premise: Premise) {
        self.ledger.assume(premise);
    }
    fn bounded(&mut self, bound: Bound) {
        // What is taken back leaves nothing out.
        if self.put_off && matches!(self.hard, Hard::Undone(_)) {
            return;
        }
        self.noted = true;
        self.ledger.note_at(bound, self.place());
    }
    fn enter_block(&mut self, state: &mut State<Symbolic<'s>>) {
        let frame = state.frame();
        let edge = (frame.function, frame.previous, frame.block);
        let (function, block) = (frame.function, frame.block.0);
        if !self.module.function(function).library {
            *self.edges.entry((function, edge.1.0, block)).or_insert(0) += 1;
            let is_known = self.proven.contains(&edge) && self.finished.contains(&(function, frame.block));
            if !is_known && !state.entered.contains_key(&edge) {
                Arc::make_mut(&mut state.entered).insert(edge, self.store.true_());
            }
        }
        let count = self.covered.entry((function, block)).or_insert(0);
        *count += 1;
        self.new_code = *count == 1;
    }
}

/// An input shows what its path looked at: global variables that it neither read nor points to are left out.
fn untouched_globals_go(memory: &mut GivenMemory) {
    let mut used: Vec<bool> = memory
        .blocks
        .iter()
        .map(|block| block.global.is_none() || !block.bits.is_empty() || !block.pointers.is_empty())
        .collect();
    let inner = memory.blocks.iter().flat_map(|block| block.pointers.iter().map(|(_, place)| place));
    let outer = memory.arguments.iter().filter_map(|argument| match argument {
        run::Argument::Pointer(place) => Some(place),
        run::Argument::Bits(_) | run::Argument::Many(_) => None,
    });
    for place in inner.chain(outer) {
        if let Place::Block(number, _) = place {
            used[*number] = true;
        }
    }
    let mut numbers = Vec::with_capacity(used.len());
    let mut next = 0;
    for &is_used in &used {
        numbers.push(next);
        next += usize::from(is_used);
    }
    let renumber = |place: &mut Place| {
        if let Place::Block(number, _) = place {
            *number = numbers[*number];
        }
    };
    for block in &mut memory.blocks {
        block.pointers.iter_mut().for_each(|(_, place)| renumber(place));
    }
    for argument in &mut memory.arguments {
        if let run::Argument::Pointer(place) = argument {
            renumber(place);
        }
    }
    let mut used = used.into_iter();
    memory.blocks.retain(|_| used.next().unwrap_or(true));
}
