//! Inputs through the front door: for each path, a shortest sequence of public calls after which the method takes it.
//!
//! Breadth first over what a constructor and public methods make of an object, on the concrete machine, with few
//! values for arguments. States that look alike from outside are visited once.

use crate::machine::Task;
use crate::program::{LinkError, Method};
use crate::read::flags;
use crate::setup::Instances;
use crate::state::State;
use crate::types::Type;
use crate::walk::Ended;
use parallax_engines::engine::{Ending, Final, TraceOf, trace_of};
use parallax_engines::{Concrete, ConcreteValue, End, Replay, Stop, Value};
use parallax_heap::{ClassId, FieldKind, InputHeap, InputObject, InputValue};
use parallax_op::Bits;
use std::collections::{BTreeMap, BTreeSet, HashSet, VecDeque};
use std::rc::Rc;

/// A call: the method, and its arguments as values of an [`InputHeap`].
#[derive(Clone, Debug)]
pub struct Call {
    /// The method, or the constructor.
    pub method: Rc<Method>,
    /// Its arguments.
    pub arguments: Vec<InputValue>,
}

/// How a path is taken through public calls.
pub struct Sequence {
    /// A constructor first, then methods of the object it made.
    pub calls: Vec<Call>,
    /// Object 0 before its constructor, the last call's arguments, and the objects that arguments point to.
    pub input: InputHeap,
    /// What the method then did.
    pub replay: Replay<Task>,
}

/// How long to look.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Calls before the last one, the constructor included.
    pub calls: usize,
    /// Runs in all.
    pub runs: usize,
}

impl Default for Effort {
    fn default() -> Self {
        Effort { calls: 6, runs: 50_000 }
    }
}

/// Numbers that arguments are tried with, besides those of the inputs.
const SMALL: [u64; 4] = [0, 1, 2, 3];
/// And so many of the inputs' own.
const OTHERS: usize = 4;
/// Objects of each kind that arguments may point to.
const OBJECTS: usize = 3;

/// The shortest sequences for paths of a method, as far as they are found. `inputs` are heaps of the paths: their
/// numbers are tried as arguments.
pub fn sequences(
    task: &Task,
    parameters: ClassId,
    wanted: &BTreeSet<TraceOf<Task>>,
    inputs: &[InputHeap],
    effort: Effort,
    watch: &mut dyn FnMut() -> Result<(), Stop>,
) -> Result<BTreeMap<TraceOf<Task>, Sequence>, SearchError> {
    let mut search = Search::new(task, parameters, inputs, effort)?;
    match search.all(wanted, watch) {
        // What was found in the time is found.
        Ok(()) | Err(SearchError::Stop(Stop::Bound(_))) => Ok(search.found),
        Err(error) => Err(error),
    }
}

/// Why sequences cannot be looked for.
#[derive(Debug, thiserror::Error)]
pub enum SearchError {
    /// The method needs no object, or no caller may make one.
    #[error("{0} has no constructor or method that callers may use")]
    Closed(String),
    /// What one run leaves in static fields would show in the next.
    #[error("static field {0} may change from call to call")]
    Statics(String),
    /// A class is missing.
    #[error(transparent)]
    Link(#[from] LinkError),
    /// The search was stopped.
    #[error(transparent)]
    Stop(#[from] Stop),
}

struct Node {
    state: State<Concrete>,
    calls: Vec<Call>,
}

struct Search<'a> {
    task: &'a Task,
    effort: Effort,
    constructors: Vec<Rc<Method>>,
    methods: Vec<Rc<Method>>,
    numbers: Vec<u64>,
    /// Object 0 as it is before its constructor, the parameters, and what arguments may point to.
    start: InputHeap,
    runs: usize,
    seen: HashSet<Vec<u64>>,
    found: BTreeMap<TraceOf<Task>, Sequence>,
}

impl<'a> Search<'a> {
    fn new(
        task: &'a Task,
        parameters: ClassId,
        inputs: &[InputHeap],
        effort: Effort,
    ) -> Result<Self, SearchError> {
        let program = &task.program;
        let class = program.class(task.method.receiver);
        let constructors: Vec<Rc<Method>> = class
            .methods
            .iter()
            .filter(|method| &*method.name == "<init>" && method.flags & flags::PRIVATE == 0)
            .cloned()
            .collect();
        let public = flags::PUBLIC | flags::STATIC | flags::SYNTHETIC;
        let methods: Vec<Rc<Method>> = class
            .methods
            .iter()
            .filter(|method| {
                method.flags & public == flags::PUBLIC
                    && method.code.is_some()
                    && !method.name.starts_with('<')
            })
            .cloned()
            .collect();
        if task.method.is_static() || constructors.is_empty() || !class.is_concrete() {
            return Err(SearchError::Closed(program.method_name(&task.method)));
        }
        for name in program.own_classes() {
            let Some(class) = program.loaded(&name) else { continue };
            let changes = |flag: u16| flag & flags::FINAL == 0;
            if let Some(field) = class.statics.iter().find(|field| changes(field.flags)) {
                return Err(SearchError::Statics(format!("{}.{}", class.simple_name, field.name)));
            }
        }
        let mut search = Search {
            task,
            effort,
            numbers: numbers(inputs),
            start: InputHeap { objects: Vec::new() },
            runs: 0,
            seen: HashSet::new(),
            found: BTreeMap::new(),
            constructors,
            methods,
        };
        search.start = search.starting(class.id, parameters)?;
        Ok(search)
    }

    fn blank(&self, class: ClassId) -> InputObject {
        let universe = self.task.program.universe();
        let zero = |kind| match kind {
            FieldKind::Ref(_) => InputValue::Null,
            FieldKind::Bits(_) => InputValue::Bits(0),
            FieldKind::Bool => InputValue::Bool(false),
        };
        let fields = universe.class(class).fields.iter().map(|field| zero(field.kind)).collect();
        InputObject { class, path: String::new(), fields }
    }

    fn starting(&self, class: ClassId, parameters: ClassId) -> Result<InputHeap, SearchError> {
        let program = &self.task.program;
        let mut objects = vec![self.blank(class), self.blank(parameters)];
        let mut kinds: BTreeSet<ClassId> = BTreeSet::new();
        let callable = self.constructors.iter().chain(&self.methods).chain([&self.task.method]);
        for method in callable {
            program.inputs(method, &Instances::new(), Some(1))?;
            for ty in &method.signature.parameters {
                let Type::Ref(name) = ty else { continue };
                let wanted = program.load(name)?;
                kinds.extend(program.universe().class(wanted).instances.iter().copied());
            }
        }
        for kind in kinds {
            let class = program.class(kind);
            // Arrays of nothing, and of a few numbers, the largest first.
            let numbers =
                class.element.as_ref().is_some_and(|ty| !matches!(ty, Type::Ref(_) | Type::Boolean));
            for length in 0..if numbers { OBJECTS as u64 } else { u64::from(class.element.is_some()) } {
                let fields = (1..=length).rev().map(InputValue::Bits).collect();
                objects.push(InputObject { fields, ..self.blank(kind) });
            }
            match &*class.name {
                "java/lang/Object" => objects.extend((0..OBJECTS).map(|_| self.blank(kind))),
                "java/lang/Integer" => {
                    let number = class.layout.iter().position(|field| field.ty == Type::Int);
                    for value in 1..=OBJECTS as u64 {
                        let mut object = self.blank(kind);
                        if let Some(at) = number {
                            object.fields[at] = InputValue::Bits(value);
                        }
                        objects.push(object);
                    }
                }
                _ => {}
            }
        }
        Ok(InputHeap { objects })
    }

    /// Every combination of arguments.
    fn arguments(&self, method: &Method) -> Vec<Vec<InputValue>> {
        let program = &self.task.program;
        let mut all = vec![Vec::new()];
        for ty in &method.signature.parameters {
            let choices: Vec<InputValue> = match ty {
                Type::Boolean => vec![InputValue::Bool(false), InputValue::Bool(true)],
                Type::Ref(name) => {
                    let fits = |object: &InputObject| {
                        program.load(name).is_ok_and(|wanted| program.is_subclass(object.class, wanted))
                    };
                    let objects = self.start.objects.iter().enumerate().skip(2);
                    let fitting = objects.filter(|(_, object)| fits(object));
                    let fitting = fitting.map(|(at, _)| InputValue::Object(at));
                    [InputValue::Null].into_iter().chain(fitting).collect()
                }
                other => {
                    let mask = u64::MAX >> (64 - u32::from(other.width()));
                    let numbers: BTreeSet<u64> = self.numbers.iter().map(|number| number & mask).collect();
                    numbers.into_iter().map(InputValue::Bits).collect()
                }
            };
            all = all
                .into_iter()
                .flat_map(|before| {
                    choices.iter().map(move |choice| {
                        let mut with = before.clone();
                        with.push(*choice);
                        with
                    })
                })
                .collect();
            if all.len() > 4096 {
                all.truncate(4096);
            }
        }
        all
    }

    fn all(
        &mut self,
        wanted: &BTreeSet<TraceOf<Task>>,
        watch: &mut dyn FnMut() -> Result<(), Stop>,
    ) -> Result<(), SearchError> {
        let universe = self.task.program.universe();
        let fresh = State::new(Concrete::new(universe, &self.start, 0));
        let mut queue = VecDeque::new();
        for constructor in self.constructors.clone() {
            let node = Node { state: fresh.clone(), calls: Vec::new() };
            self.expand(&node, &constructor, &mut queue, watch)?;
        }
        while let Some(node) = queue.pop_front() {
            self.take(&node, wanted, watch)?;
            if self.found.len() == wanted.len() || self.runs >= self.effort.runs {
                return Ok(());
            }
            if node.calls.len() < self.effort.calls {
                for method in self.methods.clone() {
                    self.expand(&node, &method, &mut queue, watch)?;
                }
            }
        }
        Ok(())
    }

    /// Calls the method itself, with every argument.
    fn take(
        &mut self,
        node: &Node,
        wanted: &BTreeSet<TraceOf<Task>>,
        watch: &mut dyn FnMut() -> Result<(), Stop>,
    ) -> Result<(), SearchError> {
        let task = self.task;
        for arguments in self.arguments(&task.method) {
            let Some((state, end)) = self.run(task, node, &arguments, watch)? else { return Ok(()) };
            let trace = trace_of::<Task, Concrete>(&state, &end);
            if matches!(trace.ending, Ending::Cut(_)) || !wanted.contains(&trace) {
                continue;
            }
            if !self.found.contains_key(&trace) {
                let mut input = self.start.clone();
                input.objects[1].fields = arguments;
                let replay = Replay::of(task, trace.clone(), Final::new(task, state, end));
                self.found.insert(trace, Sequence { calls: node.calls.clone(), input, replay });
            }
        }
        Ok(())
    }

    /// What a call makes of a state, with every argument.
    fn expand(
        &mut self,
        node: &Node,
        method: &Rc<Method>,
        queue: &mut VecDeque<Node>,
        watch: &mut dyn FnMut() -> Result<(), Stop>,
    ) -> Result<(), SearchError> {
        let task = Task {
            method: method.clone(),
            rep_ok: None,
            merged: false,
            traced: false,
            non_null: false,
            ..self.task.clone()
        };
        for arguments in self.arguments(method) {
            let Some((state, end)) = self.run(&task, node, &arguments, watch)? else { return Ok(()) };
            // A call that throws, or that is not modelled, builds nothing.
            if !matches!(end, End::Value(_)) || !self.seen.insert(self.canon(&state)?) {
                continue;
            }
            let mut calls = node.calls.clone();
            calls.push(Call { method: method.clone(), arguments });
            queue.push_back(Node { state, calls });
        }
        Ok(())
    }

    /// One run; none when there were enough.
    fn run(
        &mut self,
        task: &Task,
        node: &Node,
        arguments: &[InputValue],
        watch: &mut dyn FnMut() -> Result<(), Stop>,
    ) -> Result<Option<Ended>, Stop> {
        if self.runs >= self.effort.runs {
            return Ok(None);
        }
        self.runs += 1;
        watch()?;
        let mut state = node.state.clone();
        let types = &task.method.signature.parameters;
        state.memory_mut()?.objects[1].fields = types.iter().zip(arguments).map(concrete).collect();
        task.walk_on(state, &mut |_| Ok(())).map(Some)
    }

    /// What can be told of a state from outside: everything that the object and the arguments lead to.
    fn canon(&self, state: &State<Concrete>) -> Result<Vec<u64>, Stop> {
        let memory = state.memory()?;
        let mut number: BTreeMap<usize, u64> = BTreeMap::new();
        let mut order: Vec<usize> = Vec::new();
        let mut text = Vec::new();
        let roots = (0..self.start.objects.len()).filter(|at| *at != 1);
        for at in roots {
            number.insert(at, order.len() as u64);
            order.push(at);
        }
        let mut next = 0;
        while let Some(&at) = order.get(next) {
            next += 1;
            let object = &memory.objects[at];
            text.extend([u64::from(object.class.0), object.fields.len() as u64]);
            for field in &object.fields {
                text.push(match field {
                    ConcreteValue::Ref(None) => u64::MAX,
                    ConcreteValue::Ref(Some(at)) => *number.entry(*at).or_insert_with(|| {
                        order.push(*at);
                        order.len() as u64 - 1
                    }),
                    ConcreteValue::Int(bits) => bits.to_u64().unwrap_or(0),
                    ConcreteValue::Bool(b) => u64::from(*b),
                });
            }
        }
        Ok(text)
    }
}

/// An argument as the concrete machine has it.
pub(crate) fn concrete((ty, value): (&Type, &InputValue)) -> ConcreteValue {
    match *value {
        InputValue::Null => Value::Ref(None),
        InputValue::Object(at) => Value::Ref(Some(at)),
        InputValue::Bits(bits) => Value::Int(Bits::new(ty.width().max(1), bits.into())),
        InputValue::Bool(b) => Value::Bool(b),
    }
}

/// Numbers worth a try: small ones, and those that inputs are made of, the most frequent first.
fn numbers(inputs: &[InputHeap]) -> Vec<u64> {
    let mut count: BTreeMap<u64, usize> = BTreeMap::new();
    for value in inputs.iter().flat_map(|input| &input.objects).flat_map(|object| &object.fields) {
        if let InputValue::Bits(bits) = value {
            *count.entry(*bits).or_insert(0) += 1;
        }
    }
    for small in SMALL {
        count.remove(&small);
    }
    let mut others: Vec<(u64, usize)> = count.into_iter().collect();
    others.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    SMALL.into_iter().chain(others.into_iter().map(|(number, _)| number).take(OTHERS)).collect()
}
