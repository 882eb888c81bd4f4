//! The concrete reading: a program run as it would run natively.

use parallax_cmachine::{
    Checks, Destination, FileName, FileStatus, Files, Fill, Form, Host, Inputs, Kind, Machine, ObjectId,
    Oracle, Path, Pointer, Problem, Reporter, Request, State, Stop, System, Target, Value, word,
};
use parallax_cmodule::{FunctionId, LocationId, Module, TypeKind};
use parallax_op::{Bits, Width};
use parallax_path::{Bound, Premise, Split};
use parallax_sem::{Concrete, Core, Table};
use std::collections::VecDeque;

/// The outside world of a run. Nothing here does I/O: who calls supplies it.
pub trait World {
    /// Up to `count` bytes of a file; fewer at its end; `None` when it is not open for reading.
    fn read(&mut self, file: i32, count: u64) -> Option<Vec<u8>>;
    /// Writes to a file; false when it is not open for writing.
    fn write(&mut self, file: i32, bytes: &[u8]) -> bool;
    /// Asks the file system for something; its answer, or an error number.
    fn request(&mut self, request: &Request<'_>) -> Result<i64, i32>;
    /// What is known of a file, or an error number.
    fn status(&mut self, of: FileName<'_>) -> Result<FileStatus, i32>;
    /// Names in a folder, or an error number.
    fn entries(&mut self, path: &[u8]) -> Result<Vec<Vec<u8>>, i32>;
    /// Seconds since 1970.
    fn time(&mut self) -> i64;
    /// The environment: `NAME=value` each.
    fn environment(&self) -> Vec<Vec<u8>>;
}

/// A world in memory: standard input and files given, output collected.
#[derive(Clone, Debug, Default)]
pub struct Closed {
    /// Files, standard input among them.
    pub files: Files<u8>,
    /// The environment: `NAME=value` each.
    pub environment: Vec<Vec<u8>>,
    /// What was written to standard output.
    pub stdout: Vec<u8>,
    /// What was written to standard error.
    pub stderr: Vec<u8>,
}

impl World for Closed {
    fn read(&mut self, file: i32, count: u64) -> Option<Vec<u8>> {
        self.files.read(file, count)
    }
    fn write(&mut self, file: i32, bytes: &[u8]) -> bool {
        match self.files.write(file, bytes, &0) {
            Destination::Stream(1) => self.stdout.extend_from_slice(bytes),
            Destination::Stream(_) => self.stderr.extend_from_slice(bytes),
            Destination::File => {}
            Destination::Nowhere => return false,
        }
        true
    }
    fn request(&mut self, request: &Request<'_>) -> Result<i64, i32> {
        self.files.request(request)
    }
    fn status(&mut self, of: FileName<'_>) -> Result<FileStatus, i32> {
        self.files.status(of)
    }
    fn entries(&mut self, path: &[u8]) -> Result<Vec<Vec<u8>>, i32> {
        self.files.entries(path)
    }
    fn time(&mut self) -> i64 {
        0
    }
    fn environment(&self) -> Vec<Vec<u8>> {
        self.environment.clone()
    }
}

/// A mistake that a run made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// What kind.
    pub problem: Problem,
    /// In words.
    pub detail: String,
    /// Where each running function was, the innermost first.
    pub stack: Vec<(FunctionId, LocationId)>,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// With this status (its low eight bits, as a shell sees it).
    Exit(u8),
    /// With a mistake.
    Mistake(Mistake),
    /// An assumption of the harness does not hold: the run does not count.
    Assumption,
    /// Something the machine cannot do.
    Unsupported(String, Vec<(FunctionId, LocationId)>),
    /// More instructions than allowed.
    StepLimit,
}

/// The host of a concrete run.
pub struct Runner<'a, W: World> {
    core: Concrete,
    module: &'a Module,
    world: &'a mut W,
    settings: &'a Settings,
    inputs: VecDeque<Bits>,
    unknowns: Option<VecDeque<Bits>>,
    mistake: Option<Mistake>,
    noticed: Vec<Mistake>,
    watch: &'a mut dyn FnMut(&State<Concrete>),
}

/// Settings of a run.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Instructions allowed; none: no limit.
    pub steps: Option<u64>,
    /// Inputs for harness functions.
    pub inputs: Vec<Bits>,
    /// What code without a model returns; without any, such code cannot run.
    pub unknowns: Option<Vec<Bits>>,
    /// What uninitialised bytes read as.
    pub fill: u8,
    /// Whether the watcher sees every instruction before it runs, not only every block that is entered.
    pub every_instruction: bool,
    /// Report overflow and shifts.
    pub checks: Checks,
    /// Look for memory that nothing refers to at the end.
    pub leaks: bool,
    /// A seed that the program computes counts as unknown.
    pub random_inputs: bool,
    /// Whether an allocation fails is among the inputs.
    pub failing_allocation: bool,
    /// How many system calls may fail, which is among the inputs.
    pub failing_calls: u32,
}

impl<W: World> Oracle<Concrete> for Runner<'_, W> {
    fn core(&self) -> &Concrete {
        &self.core
    }
    #[inline]
    fn truth(&self, b: &bool) -> Option<bool> {
        Some(*b)
    }
    #[inline]
    fn value(&self, _width: Width, v: &Bits) -> Option<Bits> {
        Some(v.clone())
    }
    fn split(&mut self, _path: &Path<Concrete>, b: &bool) -> Split {
        if *b { Split::True } else { Split::False }
    }
    fn example(&mut self, _path: &Path<Concrete>, _width: Width, v: &Bits) -> Option<Bits> {
        Some(v.clone())
    }
    fn undefined_matters(&mut self, _path: &Path<Concrete>, _b: &bool) -> Option<(bool, bool)> {
        None
    }
}

impl<W: World> Inputs<Concrete> for Runner<'_, W> {
    fn undefined(&mut self, width: Width) -> Bits {
        let pattern = u128::from_le_bytes([self.settings.fill; 16]);
        if width <= 128 {
            let kept = if width == 128 { pattern } else { pattern & ((1 << width) - 1) };
            return Bits::new(width, kept);
        }
        Bits::zero(width)
    }
    fn input(&mut self, _state: &mut State<Concrete>, width: Width, _name: &str) -> Bits {
        resized(self.inputs.pop_front(), width)
    }
    fn unknown(&mut self, _state: &mut State<Concrete>, width: Width, name: &str) -> Result<Bits, String> {
        match &mut self.unknowns {
            Some(values) => Ok(resized(values.pop_front(), width)),
            None => Err(format!("{name} is called, but nothing defines it and there is no model of it")),
        }
    }
    fn selector(&mut self, width: Width, _name: &str) -> Bits {
        Bits::zero(width)
    }
    fn memory_map(&mut self, _name: &str, _undefined: bool) -> Table {
        Table::new(Bits::new(8, self.settings.fill.into()))
    }
    fn random_inputs(&self) -> bool {
        self.settings.random_inputs
    }
    fn failing_allocation(&self) -> bool {
        self.settings.failing_allocation
    }
}

impl<W: World> System<Concrete> for Runner<'_, W> {
    fn read(&mut self, _state: &mut State<Concrete>, file: i32, count: u64) -> Option<Vec<Bits>> {
        Some(self.world.read(file, count)?.into_iter().map(|b| Bits::new(8, b.into())).collect())
    }
    fn write(&mut self, _state: &mut State<Concrete>, file: i32, bytes: &[Bits]) -> bool {
        let bytes: Vec<u8> = bytes.iter().map(|b| b.to_u64().unwrap_or(0) as u8).collect();
        self.world.write(file, &bytes)
    }
    fn write_number(&mut self, _state: &mut State<Concrete>, file: i32, value: &Bits, form: Form) {
        self.world.write(file, form.text(value.to_u64().unwrap_or(0)).as_bytes());
    }
    fn request(&mut self, _state: &mut State<Concrete>, request: &Request<'_>) -> Result<i64, i32> {
        self.world.request(request)
    }
    fn status(&mut self, _state: &mut State<Concrete>, of: FileName<'_>) -> Result<FileStatus, i32> {
        self.world.status(of)
    }
    fn entries(&mut self, _state: &mut State<Concrete>, path: &[u8]) -> Result<Vec<Vec<u8>>, i32> {
        self.world.entries(path)
    }
    fn failing_calls(&self) -> u32 {
        self.settings.failing_calls
    }
    fn time(&mut self, _state: &mut State<Concrete>) -> Bits {
        Bits::from_i128(64, self.world.time().into())
    }
}

impl<W: World> Reporter<Concrete> for Runner<'_, W> {
    fn checks(&self) -> Checks {
        self.settings.checks
    }
    fn problem(&mut self, state: &State<Concrete>, problem: Problem, _guard: &bool, detail: String) {
        let stack = stack(self.module, state);
        let mistake = Mistake { problem, detail, stack };
        // Loops make the same one again and again.
        if self.noticed.last() != Some(&mistake) && self.noticed.len() < MOST_NOTICED {
            self.noticed.push(mistake.clone());
        }
        self.mistake = Some(mistake);
    }
    fn assume(&mut self, _premise: Premise) {}
    fn bounded(&mut self, _bound: Bound) {}
    fn enter_block(&mut self, state: &mut State<Concrete>) {
        if !self.settings.every_instruction {
            (self.watch)(state);
        }
    }
}

fn resized(value: Option<Bits>, width: Width) -> Bits {
    match value {
        Some(bits) if bits.width() == width => bits,
        Some(bits) if bits.width() > width => bits.extract(0, width),
        Some(bits) => bits.zext(width),
        None => Bits::zero(width),
    }
}

/// Where each running function is, the innermost first.
pub fn stack<C: Core>(module: &Module, state: &State<C>) -> Vec<(FunctionId, LocationId)> {
    (0..state.frames.len())
        .rev()
        .map(|depth| (state.frames[depth].function, state.location(module, depth)))
        .collect()
}

/// Puts strings into memory as `main` expects them; the pointer to the first.
pub fn argument_vector<C: Core, H: Host<C>>(
    machine: &mut Machine<'_, C, H>,
    state: &mut State<C>,
    arguments: &[Vec<C::Val>],
) -> Result<Value<C>, Stop<C>> {
    let bytes = (arguments.len() as u64 + 1) * 8;
    let size = word(&machine.host, bytes);
    let (_, vector) = machine.allocate(state, Kind::Global, size, bytes, 16, Fill::Zero, None);
    for (index, argument) in arguments.iter().enumerate() {
        let len = argument.len() as u64 + 1;
        let size = word(&machine.host, len);
        let (id, text) = machine.allocate(state, Kind::Global, size, len, 1, Fill::Zero, None);
        for (at, byte) in argument.iter().enumerate() {
            let content = &mut state.memory.object_mut(id).content;
            content.write(&machine.host, at as u64, 1, Value::Bits(byte.clone()));
        }
        if let parallax_cmachine::Target::Object(vector) = vector.entries[0].target {
            let content = &mut state.memory.object_mut(vector).content;
            content.write(&machine.host, index as u64 * 8, 8, Value::Pointer(text));
        }
    }
    Ok(Value::Pointer(vector))
}

/// Global variables that nothing defines hold anything when the program starts, but for the environment, which is given.
pub fn forget_undefined_globals<C: Core, H: Host<C>>(
    machine: &mut Machine<'_, C, H>,
    state: &mut State<C>,
) -> Result<(), Stop<C>> {
    let module = machine.module;
    machine.forget_undefined_globals(state, &|index| module.globals[index].name != "environ")
}

/// Arguments of `main` for however many parameters it declares: a count, the strings, the environment.
pub fn main_arguments<C: Core, H: Host<C>>(
    machine: &mut Machine<'_, C, H>,
    state: &mut State<C>,
    main: FunctionId,
    arguments: &[Vec<C::Val>],
    environment: &[Vec<C::Val>],
) -> Result<Vec<Value<C>>, Stop<C>> {
    let module = machine.module;
    let variables = argument_vector(machine, state, environment)?;
    if let Some(environ) = module.globals.iter().position(|global| global.name == "environ") {
        let content = &mut state.memory.object_mut(ObjectId(environ as u32)).content;
        content.write(&machine.host, 0, 8, variables.clone());
    }
    let wanted = module.function(main).parameters.len();
    let kinds = module.function(main).parameters.iter().map(|p| &module.ty(p.ty).kind);
    let usual = [TypeKind::Int(32), TypeKind::Pointer, TypeKind::Pointer];
    if wanted > usual.len() || kinds.zip(&usual).any(|(kind, usual)| kind != usual) {
        let words = "main takes something other than a number, arguments and the environment";
        return Err(Stop::Unsupported(words.into()));
    }
    let mut values = Vec::new();
    if wanted > 0 {
        let count = Bits::new(32, arguments.len() as u128);
        values.push(Value::Bits(machine.host.core().constant(&count)));
        values.push(argument_vector(machine, state, arguments)?);
        values.push(variables);
        values.truncate(wanted);
    }
    Ok(values)
}

/// Mistakes that a run remembers.
const MOST_NOTICED: usize = 10_000;

/// What a run came to.
pub struct Finished {
    /// How it ended.
    pub outcome: Outcome,
    /// Instructions executed.
    pub steps: u64,
    /// Where memory was allocated that was lost, when leaks are looked for.
    pub lost: Vec<(FunctionId, LocationId)>,
    /// Mistakes on the way, those among them that did not end it.
    pub noticed: Vec<Mistake>,
}

/// What a pointer of given memory points to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// Nothing.
    Null,
    /// A block, by number, and an offset in it.
    Block(usize, i64),
    /// A function.
    Function(FunctionId),
}

/// A block of memory that exists before a function is entered.
#[derive(Clone, Debug, Default)]
pub struct Block {
    /// What it is called.
    pub name: String,
    /// The global variable it is, by the number of its object; otherwise memory of its own.
    pub global: Option<u32>,
    /// Its size in bytes.
    pub size: u64,
    /// Where it lies, when that matters.
    pub address: Option<u64>,
    /// Known contents: offset and value.
    pub bits: Vec<(u64, Bits)>,
    /// Pointers: offset and target.
    pub pointers: Vec<(u64, Place)>,
}

/// An argument of a function that is entered by itself.
#[derive(Clone, Debug)]
pub enum Argument {
    /// A number.
    Bits(Bits),
    /// A pointer.
    Pointer(Place),
    /// A vector of numbers: floats of a structure that travel together.
    Many(Vec<Bits>),
}

/// Memory and arguments for a function that is entered by itself.
#[derive(Clone, Debug, Default)]
pub struct GivenMemory {
    /// Blocks.
    pub blocks: Vec<Block>,
    /// Arguments.
    pub arguments: Vec<Argument>,
}

/// What a run starts with.
pub enum Start<'a> {
    /// `main` with these arguments.
    Main(&'a [Vec<u8>]),
    /// A function with given memory.
    Function(&'a str, &'a GivenMemory),
}

/// Runs a program from `main`. `watch` sees the state whenever control enters a block.
pub fn run<W: World>(
    module: &Module,
    arguments: &[Vec<u8>],
    world: &mut W,
    settings: &Settings,
    watch: &mut dyn FnMut(&State<Concrete>),
) -> Finished {
    run_from(module, Start::Main(arguments), world, settings, watch)
}

/// Runs a program from where it is told to start.
pub fn run_from<W: World>(
    module: &Module,
    start: Start<'_>,
    world: &mut W,
    settings: &Settings,
    watch: &mut dyn FnMut(&State<Concrete>),
) -> Finished {
    let host = Runner {
        core: Concrete,
        module,
        world,
        settings,
        inputs: settings.inputs.iter().cloned().collect(),
        unknowns: settings.unknowns.as_ref().map(|values| values.iter().cloned().collect()),
        mistake: None,
        noticed: Vec::new(),
        watch,
    };
    let mut machine = Machine::new(module, host);
    let name = match &start {
        Start::Main(_) => "main",
        Start::Function(name, _) => name,
    };
    let Some(entry) = module.function_named(name).filter(|&f| module.function(f).is_defined()) else {
        let outcome = Outcome::Unsupported(format!("the program has no function {name}"), Vec::new());
        return Finished { outcome, steps: 0, lost: Vec::new(), noticed: Vec::new() };
    };
    let mut state = match begin(&mut machine, entry, &start) {
        Ok(state) => state,
        Err(stop) => {
            let outcome = ended(&mut machine, stop, Vec::new());
            return Finished { outcome, steps: 0, lost: Vec::new(), noticed: Vec::new() };
        }
    };
    let limit = settings.steps.unwrap_or(u64::MAX);
    loop {
        if state.steps >= limit {
            let noticed = std::mem::take(&mut machine.host.noticed);
            return Finished { outcome: Outcome::StepLimit, steps: state.steps, lost: Vec::new(), noticed };
        }
        if settings.every_instruction {
            (machine.host.watch)(&state);
        }
        if let Err(stop) = machine.step(&mut state) {
            let mut lost = Vec::new();
            let mut outcome = ended(&mut machine, stop, stack(module, &state));
            if settings.leaks
                && let Outcome::Exit(_) = outcome
            {
                lost = crate::leak::leaked(&mut machine, &state)
                    .into_iter()
                    .filter(|(_, lost)| *lost)
                    .map(|(id, _)| state.memory.object(id))
                    .map(|object| (object.made_in, object.made_at))
                    .collect();
                if let Some(&first) = lost.first() {
                    outcome = Outcome::Mistake(Mistake {
                        problem: Problem::Leak,
                        detail: crate::leak::WORDS.into(),
                        stack: vec![first],
                    });
                }
            }
            let noticed = std::mem::take(&mut machine.host.noticed);
            return Finished { outcome, steps: state.steps, lost, noticed };
        }
    }
}

fn begin<W: World>(
    machine: &mut Machine<'_, Concrete, Runner<'_, W>>,
    entry: FunctionId,
    start: &Start<'_>,
) -> Result<State<Concrete>, Stop<Concrete>> {
    let mut state = machine.start()?;
    let values = match start {
        Start::Main(arguments) => {
            forget_undefined_globals(machine, &mut state)?;
            let bits = |texts: &[Vec<u8>]| -> Vec<Vec<Bits>> {
                texts.iter().map(|a| a.iter().map(|&b| Bits::new(8, b.into())).collect()).collect()
            };
            let environment = bits(&machine.host.world.environment());
            main_arguments(machine, &mut state, entry, &bits(arguments), &environment)?
        }
        Start::Function(_, memory) => given_arguments(machine, &mut state, memory),
    };
    match start {
        Start::Main(_) => machine.begin_program(&mut state, entry, values)?,
        Start::Function(..) => machine.begin(&mut state, entry, values)?,
    }
    Ok(state)
}

/// Puts given memory in place; the arguments that refer to it.
fn given_arguments<W: World>(
    machine: &mut Machine<'_, Concrete, Runner<'_, W>>,
    state: &mut State<Concrete>,
    memory: &GivenMemory,
) -> Vec<Value<Concrete>> {
    let mut objects = Vec::new();
    for block in &memory.blocks {
        objects.push(match block.global {
            Some(global) => ObjectId(global),
            None => {
                let size = word(&machine.host, block.size);
                let object = machine.allocate(state, Kind::Input, size, block.size, 16, Fill::Zero, None).0;
                if let Some(address) = block.address {
                    state.memory.place(object, word(&machine.host, address));
                }
                object
            }
        });
    }
    let pointer = |machine: &Machine<'_, Concrete, Runner<'_, W>>, place: &Place| {
        let (target, offset) = match place {
            Place::Null => (Target::Null, 0),
            Place::Block(number, offset) => (Target::Object(objects[*number]), *offset as u64),
            Place::Function(function) => (Target::Function(*function), 0),
        };
        Value::Pointer(Pointer::to(true, target, word(&machine.host, offset)))
    };
    for (block, &object) in memory.blocks.iter().zip(&objects) {
        let capacity = state.memory.object(object).capacity;
        if block.global.is_some() {
            // What the path did not look at is anything; zero is.
            state.memory.object_mut(object).content = parallax_cmachine::Content::new(Fill::Zero);
        }
        for (offset, bits) in &block.bits {
            let len = u64::from(bits.width() / 8);
            if offset + len <= capacity {
                let content = &mut state.memory.object_mut(object).content;
                content.write(&machine.host, *offset, len, Value::Bits(bits.clone()));
            }
        }
        for (offset, place) in &block.pointers {
            if offset + 8 <= capacity {
                let value = pointer(machine, place);
                state.memory.object_mut(object).content.write(&machine.host, *offset, 8, value);
            }
        }
    }
    memory
        .arguments
        .iter()
        .map(|argument| match argument {
            Argument::Bits(bits) => Value::Bits(bits.clone()),
            Argument::Pointer(place) => pointer(machine, place),
            Argument::Many(parts) => {
                let parts: Vec<_> = parts.iter().cloned().map(Value::Bits).collect();
                Value::Many(parts.into())
            }
        })
        .collect()
}

fn ended<W: World>(
    machine: &mut Machine<'_, Concrete, Runner<'_, W>>,
    stop: Stop<Concrete>,
    stack: Vec<(FunctionId, LocationId)>,
) -> Outcome {
    match stop {
        Stop::Exit(status) => {
            let status = status.and_then(|value| match value {
                Value::Bits(bits) => bits.to_u128(),
                _ => None,
            });
            Outcome::Exit(status.unwrap_or(0) as u8)
        }
        Stop::Dead => match machine.host.mistake.take() {
            Some(mistake) => Outcome::Mistake(mistake),
            None => Outcome::Assumption,
        },
        Stop::Excluded => Outcome::Assumption,
        Stop::Bound(bound) => Outcome::Unsupported(bound.to_string(), stack),
        Stop::Unsupported(words) => Outcome::Unsupported(words, stack),
    }
}
