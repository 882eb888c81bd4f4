//! Global pointers that are set before anything reads them.
//!
//! `static struct log *out;` starts as null, and `main` opens it first of all: nothing ever sees the null. So for each function it is
//! computed which words of global variables it may read that it has not stored itself by then, and which it has stored on every way
//! to its return. What the entry, and what runs around it, does not expose so is never seen as it was initialised.

use crate::footprint::Footprints;
use crate::graph::{Graph, Source, Var};
use parallax_cmodule::{
    BlockId, Callee, Constant, ConstantId, FunctionId, Module, Operand, Operation, Terminator,
};
use parallax_points::{Flow, ObjectKind, Points, Site, Value, has_body};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;
use std::rc::Rc;

/// What a function does with the words that are followed.
#[derive(Default)]
struct Summary {
    /// Read before they are stored, on some way.
    exposed: FxHashSet<Var>,
    /// Stored on every way to a return.
    stored: BTreeSet<Var>,
}

/// Sources of null in initial values that nothing reads in a program that starts at these functions, one after the other.
pub(crate) fn unread(
    module: &Module,
    points: &Points,
    graph: &Graph,
    footprints: &Footprints<'_>,
    entry: FunctionId,
    around: &[FunctionId],
) -> FxHashSet<Source> {
    let is_word = |var: Var| {
        let cell = graph.as_cell(points, var).map(|cell| points.held(cell));
        cell.is_some_and(|(object, ..)| {
            let object = points.object(object);
            matches!(object.kind, ObjectKind::Global(_)) && object.modulus == 0
        })
    };
    let initial: FxHashSet<Source> =
        graph.sources.iter().filter(|source| source.site.is_none() && is_word(source.var)).copied().collect();
    let words: FxHashSet<Var> = initial.iter().map(|source| source.var).collect();
    if words.is_empty() {
        return FxHashSet::default();
    }
    let mut starts =
        Starts { module, points, graph, footprints, words, known: FxHashMap::default(), open: 0 };
    // What runs before and after may run in any order.
    let mut exposed: FxHashSet<Var> = starts.of(entry).exposed.clone();
    for &id in around {
        exposed.extend(starts.touched(id));
    }
    initial.into_iter().filter(|source| !exposed.contains(&source.var)).collect()
}

struct Starts<'m> {
    module: &'m Module,
    points: &'m Points,
    graph: &'m Graph,
    footprints: &'m Footprints<'m>,
    words: FxHashSet<Var>,
    /// Functions that were looked at; none while that is going on.
    known: FxHashMap<FunctionId, Option<Rc<Summary>>>,
    /// How many that is going on for.
    open: usize,
}

/// How deep calls are followed: below that everything that a function touches is exposed.
const DEEPEST: usize = 200;

impl Starts<'_> {
    fn of(&mut self, id: FunctionId) -> Rc<Summary> {
        match self.known.get(&id) {
            Some(Some(known)) => return known.clone(),
            Some(None) => return Rc::new(Summary { exposed: self.touched(id), ..Summary::default() }),
            None if self.open >= DEEPEST => {
                return Rc::new(Summary { exposed: self.touched(id), ..Summary::default() });
            }
            None => {}
        }
        self.known.insert(id, None);
        self.open += 1;
        let summary = Rc::new(self.walked(id));
        self.open -= 1;
        self.known.insert(id, Some(summary.clone()));
        summary
    }

    /// The words that a function, or what it calls, may read or write.
    fn touched(&self, id: FunctionId) -> FxHashSet<Var> {
        self.footprints.of(id).cells.iter().copied().filter(|var| self.words.contains(var)).collect()
    }

    fn walked(&mut self, id: FunctionId) -> Summary {
        let function = self.module.function(id);
        let mut summary = Summary::default();
        let mut entering: FxHashMap<BlockId, BTreeSet<Var>> = FxHashMap::default();
        entering.insert(BlockId(0), BTreeSet::new());
        let mut at_return: Option<BTreeSet<Var>> = None;
        let mut waiting = vec![BlockId(0)];
        while let Some(block) = waiting.pop() {
            let mut stored = entering.get(&block).cloned().unwrap_or_default();
            let content = &function.blocks[block.0 as usize];
            for (index, instruction) in content.instructions.iter().enumerate() {
                let site = Site { function: id, block, index: index as u32 };
                self.step(site, &instruction.operation, &mut stored, &mut summary.exposed);
            }
            if let Terminator::Return(_) | Terminator::Unsupported(_) | Terminator::Indirect { .. } =
                &content.terminator
            {
                at_return = Some(match at_return {
                    None => stored.clone(),
                    Some(known) => &known & &stored,
                });
            }
            for to in content.terminator.successors() {
                let joined = match entering.get(&to) {
                    None => stored.clone(),
                    Some(known) => known & &stored,
                };
                if entering.get(&to) != Some(&joined) {
                    entering.insert(to, joined);
                    waiting.push(to);
                }
            }
        }
        summary.stored = at_return.unwrap_or_default();
        summary
    }

    fn step(
        &mut self,
        site: Site,
        operation: &Operation,
        stored: &mut BTreeSet<Var>,
        exposed: &mut FxHashSet<Var>,
    ) {
        let mut expose = |vars: &mut dyn Iterator<Item = Var>, stored: &BTreeSet<Var>| {
            exposed.extend(vars.filter(|var| self.words.contains(var) && !stored.contains(var)));
        };
        // The flows of an instruction that read memory.
        let range = self.points.flows.ranges[site.function.0 as usize].clone();
        let flows = &self.points.flows.flows[range];
        let first = flows.partition_point(|(at, _)| *at < site);
        for (_, flow) in flows[first..].iter().take_while(|(at, _)| *at == site) {
            match flow {
                Flow::Load { pointer: Value::Node(pointer), .. } => {
                    let cells = self.points.accessed(self.module, *pointer);
                    expose(&mut cells.into_iter().map(|cell| self.graph.cell(cell)), stored);
                }
                Flow::Transfer { from: Value::Node(from), .. } => {
                    for (object, _) in self.points.pointees(*from) {
                        let cells = self.points.cells_of(object).map(|(_, cell)| self.graph.cell(cell));
                        expose(&mut cells.into_iter(), stored);
                    }
                }
                // A structure that is passed by value is copied.
                Flow::Call(call) => {
                    let copied = call.arguments.iter().filter(|argument| argument.by_value.is_some());
                    for value in copied.flat_map(|argument| &argument.values) {
                        let Value::Node(from) = value else { continue };
                        for (object, _) in self.points.pointees(*from) {
                            let cells = self.points.cells_of(object).map(|(_, cell)| self.graph.cell(cell));
                            expose(&mut cells.into_iter(), stored);
                        }
                    }
                }
                _ => {}
            }
        }
        match operation {
            Operation::Store { pointer: Operand::Constant(pointer), of, .. } => {
                // The cell of an element of an array stands for all of them.
                let is_alone = |object| {
                    let spread = self.points.spread(self.module, object, offset_of(self.module, *pointer));
                    spread.is_some_and(|(at, steps)| steps.is_empty() && at % 8 == 0)
                };
                if let Constant::Global(global, offset) = *self.module.constant(*pointer)
                    && self.module.ty(*of).store_size == 8
                    && let Some(object) = self.points.flows.object(ObjectKind::Global(global))
                    && self.points.class(self.module, object, offset) == offset
                    && is_alone(object)
                    && let Some(cell) = self.points.cell(self.module, object, offset)
                {
                    let var = self.graph.cell(cell);
                    if self.words.contains(&var) {
                        stored.insert(var);
                    }
                }
            }
            Operation::Call { callee, .. } => self.call(site, callee, stored, exposed),
            _ => {}
        }
    }

    fn call(
        &mut self,
        site: Site,
        callee: &Callee,
        stored: &mut BTreeSet<Var>,
        exposed: &mut FxHashSet<Var>,
    ) {
        let targets = self.points.targets(site).to_vec();
        let outside = self.footprints.of_call(site);
        let unknown = if targets.is_empty() { self.words.clone() } else { FxHashSet::default() };
        let touched = outside.cells.iter().filter(|var| self.words.contains(var)).chain(&unknown);
        exposed.extend(touched.filter(|var| !stored.contains(var)));
        let mut all: Option<BTreeSet<Var>> = None;
        for id in targets {
            let summary = match has_body(self.module, id) {
                true => self.of(id),
                false => Rc::new(Summary::default()),
            };
            exposed.extend(summary.exposed.iter().filter(|var| !stored.contains(var)));
            all = Some(match all {
                None => summary.stored.clone(),
                Some(known) => &known & &summary.stored,
            });
        }
        // What a function of the library calls may run later.
        let now = match callee {
            Callee::Function(id) => has_body(self.module, *id),
            Callee::Pointer(_) => true,
            Callee::Assembly(_) => false,
        };
        stored.extend(all.filter(|_| now).unwrap_or_default());
    }
}

/// How far into a global a constant address is.
fn offset_of(module: &Module, id: ConstantId) -> i64 {
    match *module.constant(id) {
        Constant::Global(_, offset) => offset,
        _ => 0,
    }
}
