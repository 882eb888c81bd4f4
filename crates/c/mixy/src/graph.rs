//! The qualifier graph: where null may flow.
//!
//! One bit per node says "may be null". Nodes are those of the pointer analysis (registers, slots, results, constant
//! addresses), its cells, and for everything that reads or writes through the same pointer one node that stands between
//! it and the cells: so the graph stays as large as the program and not as large as all pairs. Edges have a direction;
//! below pointers they need none, since aliases share cells. Each edge belongs to the instruction it comes from, so that
//! a region of the program is the edges of its functions.

use crate::declared::Declared;
use crate::left_null::left_null;
use crate::names::location_of;
use parallax_cmodule::Module;
use parallax_cmodule::{Constant, ConstantId, FunctionId, Operation, Register};
use parallax_op::BinOp;
use parallax_points::external::{Effect, RESULT, effects, is_plain};
use parallax_points::{Called, CellId, Flow, Node, ObjectId, ObjectKind, Points, Site, Value, has_body};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;

/// Number of a qualifier variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Var(pub u32);

/// Why null flows along an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Why {
    /// Assigned, chosen, cast.
    Copy,
    /// Moved by arithmetic: of null this makes an address near null, which is no longer equal to null.
    Move,
    /// Read from memory.
    Load,
    /// Written to memory.
    Store,
    /// Copied with other bytes.
    Transfer,
    /// Passed to a function, as the argument of this number.
    Argument(FunctionId, u32),
    /// Returned by a function.
    Return(FunctionId),
    /// What a pointer leads to: no instruction of its own.
    Alias,
}

/// An edge.
#[derive(Clone, Copy, Debug)]
pub struct Edge {
    /// From.
    pub from: Var,
    /// To.
    pub to: Var,
    /// The instruction; none for what holds everywhere.
    pub site: Option<Site>,
    /// Why.
    pub why: Why,
}

/// Why something is null to begin with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Origin {
    /// The null constant.
    Constant,
    /// A variable that is zero because it has no initialiser.
    ImplicitZero,
    /// Memory that was set to zero.
    Cleared,
    /// What an external function may return or leave.
    External(FunctionId),
    /// Declared to be possibly null.
    Nullable,
    /// Left by a symbolic block.
    Block(FunctionId),
    /// Null on entry to the region.
    Entry,
}

/// A source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Source {
    /// What is null.
    pub var: Var,
    /// Where; none for what holds from the start of the program.
    pub site: Option<Site>,
    /// Why.
    pub origin: Origin,
}

/// What must not be null, and is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SinkKind {
    /// A dereference.
    Dereference,
    /// A flow into a position that is declared never to be null.
    Nonnull,
}

/// A sink.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Sink {
    /// What must not be null.
    pub var: Var,
    /// Where.
    pub site: Site,
    /// Which kind.
    pub kind: SinkKind,
}

/// The graph of a module.
pub struct Graph {
    /// All edges.
    pub edges: Vec<Edge>,
    /// All sources.
    pub sources: Vec<Source>,
    /// Dereferences.
    pub dereferences: Vec<Sink>,
    /// Arguments of functions without a body that are declared never to be null.
    pub arguments: Vec<Sink>,
    /// What was assumed of functions without a body.
    pub assumptions: BTreeSet<String>,
    /// What was left out.
    pub gaps: BTreeSet<String>,
    count: u32,
    first_cell: u32,
    /// What stands for the zeros of each object outside of its cells.
    zeros: FxHashMap<ObjectId, Var>,
    zero_vars: FxHashSet<Var>,
    outgoing: Lists,
    incoming: Lists,
}

/// For each variable, numbers of edges.
struct Lists {
    starts: Vec<u32>,
    items: Vec<u32>,
}

impl Lists {
    fn of(count: u32, keys: impl Iterator<Item = u32> + Clone) -> Lists {
        let mut starts = vec![0u32; count as usize + 1];
        for key in keys.clone() {
            starts[key as usize + 1] += 1;
        }
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        let mut items = vec![0u32; starts[starts.len() - 1] as usize];
        let mut next = starts.clone();
        for (number, key) in keys.enumerate() {
            items[next[key as usize] as usize] = number as u32;
            next[key as usize] += 1;
        }
        Lists { starts, items }
    }

    fn get(&self, key: u32) -> &[u32] {
        &self.items[self.starts[key as usize] as usize..self.starts[key as usize + 1] as usize]
    }
}

impl Graph {
    /// Builds the graph of a module; `paper` as the original did.
    pub fn of(module: &Module, points: &Points, declared: &Declared, paper: bool) -> Graph {
        let first_cell = points.flows.nodes;
        let mut builder = Builder {
            module,
            points,
            declared,
            edges: Vec::new(),
            sources: Vec::new(),
            dereferences: Vec::new(),
            arguments: Vec::new(),
            assumptions: BTreeSet::new(),
            gaps: BTreeSet::new(),
            next: first_cell + points.cell_count() as u32,
            reads: FxHashMap::default(),
            writes: FxHashMap::default(),
            transfers: FxHashSet::default(),
            zeros: FxHashMap::default(),
            uncalled: Vec::new(),
            given: FxHashSet::default(),
            first_cell,
        };
        builder.build();
        if paper {
            builder.as_in_the_paper();
        }
        let Builder {
            edges,
            mut sources,
            dereferences,
            arguments,
            assumptions,
            gaps,
            next: count,
            uncalled,
            given,
            zeros,
            ..
        } = builder;
        sources.sort_unstable();
        sources.dedup();
        let outgoing = Lists::of(count, edges.iter().map(|edge| edge.from.0));
        let incoming = Lists::of(count, edges.iter().map(|edge| edge.to.0));
        let mut graph = Graph {
            edges,
            sources,
            dereferences,
            arguments,
            assumptions,
            gaps,
            count,
            first_cell,
            zero_vars: zeros.values().copied().collect(),
            zeros,
            outgoing,
            incoming,
        };
        for (site, pointer) in uncalled {
            if !graph.only_null(points, pointer, &given) {
                let words = "a call through a pointer that points to no known function is left out";
                graph.gaps.insert(format!("{words} ({})", location_of(module, site)));
            }
        }
        graph
    }

    /// Whether null is all that a variable can hold: everything that flows into it is null to begin with, or comes from what
    /// is. What code that is not here was `given` may hold anything, and so may what nothing is known to flow into.
    fn only_null(&self, points: &Points, var: Var, given: &FxHashSet<ObjectId>) -> bool {
        let mut seen = FxHashSet::from_iter([var]);
        let mut waiting = vec![var];
        while let Some(at) = waiting.pop() {
            let object = self.as_cell(points, at).map(|cell| points.held(cell).0);
            let foreign = |object: ObjectId| {
                let outside = matches!(points.object(object).kind, ObjectKind::Outside(_));
                outside || given.contains(&object)
            };
            let is_source = self.sources.binary_search_by_key(&at, |source| source.var).is_ok();
            if object.is_some_and(foreign) || (!is_source && self.incoming.get(at.0).is_empty()) {
                return false;
            }
            waiting.extend(self.into(at).map(|edge| edge.from).filter(|from| seen.insert(*from)));
        }
        true
    }

    /// How many variables there are.
    pub fn count(&self) -> usize {
        self.count as usize
    }

    /// The variable of a cell.
    pub fn cell(&self, cell: CellId) -> Var {
        Var(self.first_cell + cell.0)
    }

    /// The variable that stands for the zeros of an object outside of its cells, if they matter to anything.
    pub(crate) fn zeros(&self, object: ObjectId) -> Option<Var> {
        self.zeros.get(&object).copied()
    }

    /// Whether a variable stands for the zeros of an object.
    pub(crate) fn is_zeros(&self, var: Var) -> bool {
        self.zero_vars.contains(&var)
    }

    /// The cell that a variable is.
    pub fn as_cell(&self, points: &Points, var: Var) -> Option<CellId> {
        let number = var.0.checked_sub(self.first_cell)?;
        ((number as usize) < points.cell_count()).then_some(CellId(number))
    }

    /// Edges out of a variable.
    pub fn out_of(&self, var: Var) -> impl Iterator<Item = &Edge> {
        self.outgoing.get(var.0).iter().map(|&number| &self.edges[number as usize])
    }

    /// Edges into a variable.
    pub fn into(&self, var: Var) -> impl Iterator<Item = &Edge> {
        self.incoming.get(var.0).iter().map(|&number| &self.edges[number as usize])
    }
}

struct Builder<'m> {
    module: &'m Module,
    points: &'m Points,
    declared: &'m Declared,
    edges: Vec<Edge>,
    sources: Vec<Source>,
    dereferences: Vec<Sink>,
    arguments: Vec<Sink>,
    assumptions: BTreeSet<String>,
    gaps: BTreeSet<String>,
    next: u32,
    /// What stands between a pointer and the cells it leads to, for reading and for writing.
    reads: FxHashMap<Node, Var>,
    writes: FxHashMap<Node, Var>,
    transfers: FxHashSet<(Node, Node, Option<u64>)>,
    /// What stands for the zeros of each object outside of its cells.
    zeros: FxHashMap<ObjectId, Var>,
    /// Calls through pointers that are not known to point to a function.
    uncalled: Vec<(Site, Var)>,
    /// Objects that functions without a body get, of which nothing is known.
    given: FxHashSet<ObjectId>,
    first_cell: u32,
}

impl Builder<'_> {
    fn cell(&self, cell: CellId) -> Var {
        Var(self.first_cell + cell.0)
    }

    fn build(&mut self) {
        let flows = &self.points.flows;
        for &(object, offset, value) in &flows.initial {
            if let (Value::Null, Some(cell)) = (value, self.points.cell(self.module, object, offset)) {
                let explicit = self.declared.explicit.contains(&object);
                let origin = if explicit { Origin::Constant } else { Origin::ImplicitZero };
                let var = self.cell(cell);
                self.sources.push(Source { var, site: None, origin });
            }
        }
        for (site, flow) in &flows.flows {
            self.flow(*site, flow);
        }
        for (number, global) in self.module.globals.iter().enumerate() {
            let kind = ObjectKind::Global(parallax_cmodule::GlobalId(number as u32));
            let zeros = global.initialiser.is_some_and(|id| has_zeros(self.module, id));
            if let (Some(object), true) = (flows.object(kind), zeros) {
                let explicit = self.declared.explicit.contains(&object);
                let origin = if explicit { Origin::Constant } else { Origin::ImplicitZero };
                let var = self.zeros(object);
                self.sources.push(Source { var, site: None, origin });
            }
        }
        for &(site, to, from) in &flows.copied {
            self.transfer(to, from, None, site);
        }
    }

    fn as_in_the_paper(&mut self) {
        let (module, points, first) = (self.module, self.points, self.first_cell);
        crate::paper::share_fields(module, points, &mut self.edges, &mut self.next, |cell| {
            Var(first + cell.0)
        });
        crate::paper::without_direction(&mut self.edges);
        crate::paper::keep_macros(module, points, &mut self.sources, first);
    }

    fn edge(&mut self, from: Var, to: Var, site: Option<Site>, why: Why) {
        self.edges.push(Edge { from, to, site, why });
    }

    /// A value flows into a variable.
    fn into(&mut self, value: Value, to: Var, site: Site, why: Why) {
        match value {
            Value::Node(from) => self.edge(Var(from.0), to, Some(site), why),
            Value::Null => self.sources.push(Source { var: to, site: Some(site), origin: Origin::Constant }),
        }
    }

    /// A value takes part in arithmetic; `stays` where null stays null.
    fn moved(&mut self, from: Value, to: Node, site: Site, stays: bool) {
        if stays {
            return self.into(from, Var(to.0), site, Why::Copy);
        }
        // A null constant is null before it is moved.
        let from = self.used(from, site);
        self.edge(from, Var(to.0), Some(site), Why::Move);
    }

    /// Whether an instruction that may lead anywhere makes null of null: intrinsics that return their argument, and masks.
    fn keeps_null(&self, site: Site) -> bool {
        let block = &self.module.function(site.function).blocks[site.block.0 as usize];
        match block.instructions.get(site.index as usize).map(|instruction| &instruction.operation) {
            Some(Operation::Binary { op, .. }) => op.op == BinOp::And,
            Some(Operation::Call { .. }) => true,
            _ => false,
        }
    }

    fn dereferenced(&mut self, pointer: Value, site: Site) {
        // Constant addresses are not null, and a place further on is as null as what it was computed from.
        if let Value::Node(node) = pointer
            && self.points.flows.owner(node).is_none()
        {
            return;
        }
        let var = self.used(pointer, site);
        self.dereferences.push(Sink { var, site, kind: SinkKind::Dereference });
    }

    /// The variable of a value that is used; a null constant gets one of its own.
    fn used(&mut self, pointer: Value, site: Site) -> Var {
        match pointer {
            Value::Node(node) => Var(node.0),
            Value::Null => {
                let var = Var(self.next);
                self.next += 1;
                self.sources.push(Source { var, site: Some(site), origin: Origin::Constant });
                var
            }
        }
    }

    fn flow(&mut self, site: Site, flow: &Flow) {
        match flow {
            Flow::Copy { from, to } => self.into(*from, Var(to.0), site, Why::Copy),
            Flow::Move { from, to, constant, steps } => {
                let stays = *constant == 0 && steps.iter().all(|step| *step == 0);
                self.moved(*from, *to, site, stays);
            }
            Flow::Anywhere { from, to } => self.moved(*from, *to, site, self.keeps_null(site)),
            Flow::New { .. } => {}
            Flow::Load { pointer, to } => {
                self.dereferenced(*pointer, site);
                if let (Value::Node(pointer), Some(to)) = (pointer, to) {
                    let read = self.read(*pointer);
                    self.edge(read, Var(to.0), Some(site), Why::Load);
                }
            }
            Flow::Store { pointer, values } => {
                self.dereferenced(*pointer, site);
                if let Value::Node(pointer) = pointer {
                    let write = self.write(*pointer);
                    for value in values {
                        self.into(*value, write, site, Why::Store);
                    }
                }
            }
            Flow::Transfer { to, from, len } => {
                if *len != Some(0) {
                    self.dereferenced(*to, site);
                    self.dereferenced(*from, site);
                }
                if let (Value::Node(to), Value::Node(from)) = (to, from) {
                    self.transfer(*to, *from, *len, site);
                }
            }
            Flow::Clear { pointer, len } => {
                if *len != Some(0) {
                    self.dereferenced(*pointer, site);
                }
                if let Value::Node(pointer) = pointer {
                    for cell in self.covered(*pointer, *len) {
                        let var = self.cell(cell);
                        self.sources.push(Source { var, site: Some(site), origin: Origin::Cleared });
                    }
                    for (object, _) in self.points.pointees(*pointer) {
                        self.cleared(object, site);
                    }
                }
            }
            Flow::Call(call) => {
                if let Called::Pointer(pointer) = call.callee {
                    self.dereferenced(pointer, site);
                }
                let targets = self.points.targets(site).to_vec();
                if targets.is_empty() {
                    self.unknown_call(site, call);
                }
                for target in targets {
                    if has_body(self.module, target) {
                        self.call(site, call, target);
                    } else {
                        self.external(site, call, target);
                    }
                }
            }
        }
    }

    fn unknown_call(&mut self, site: Site, call: &parallax_points::flow::Call) {
        match call.callee {
            Called::Pointer(Value::Node(node)) => self.uncalled.push((site, Var(node.0))),
            // A call of null is reported as what it is.
            Called::Pointer(Value::Null) => {}
            Called::Function(_) | Called::Assembly => {
                let location = location_of(self.module, site);
                self.gaps.insert(format!("assembly is not looked into ({location})"));
            }
        }
    }

    fn call(&mut self, site: Site, call: &parallax_points::flow::Call, target: FunctionId) {
        let definition = self.module.function(target);
        let direct = match call.callee {
            Called::Function(function) => function == target,
            Called::Pointer(_) => true,
            Called::Assembly => false,
        };
        if !direct {
            return self.called_back(site, call, target);
        }
        for (index, argument) in call.arguments.iter().enumerate() {
            for value in &argument.values {
                let why = Why::Argument(target, index as u32);
                if index >= definition.parameters.len() {
                    let object = self.points.flows.object(ObjectKind::Variadic(target));
                    if let Some(cell) = object.and_then(|o| self.points.cell(self.module, o, 0)) {
                        let to = self.cell(cell);
                        self.into(*value, to, site, why);
                    }
                } else if let Some(ty) = argument.by_value {
                    let kind = ObjectKind::Copy(target, index as u32);
                    if let (Value::Node(from), Some(object)) = (value, self.points.flows.object(kind)) {
                        self.transfer_into(object, 0, *from, Some(self.module.ty(ty).size), site);
                    }
                } else {
                    let to = Var(self.points.flows.register(target, Register(index as u32)).0);
                    self.into(*value, to, site, why);
                }
            }
        }
        if let Some(result) = call.result {
            let from = Var(self.points.flows.result(target).0);
            self.edge(from, Var(result.0), Some(site), Why::Return(target));
        }
    }

    /// The library calls back: with pointers into what it was given, which are never null, or with what it was given.
    fn called_back(&mut self, site: Site, call: &parallax_points::flow::Call, target: FunctionId) {
        let Called::Function(library) = call.callee else { return };
        let listed = effects(&self.module.function(library).name).unwrap_or_default();
        for effect in listed {
            let Effect::Passes(_, source, index) = *effect else { continue };
            if usize::from(index) >= self.module.function(target).parameters.len() {
                continue;
            }
            let to = Var(self.points.flows.register(target, Register(index.into())).0);
            let values = call.arguments.get(usize::from(source)).map(|a| a.values.clone());
            for value in values.unwrap_or_default() {
                self.into(value, to, site, Why::Argument(target, index.into()));
            }
        }
    }

    fn external(&mut self, site: Site, call: &parallax_points::flow::Call, target: FunctionId) {
        let name = self.module.function(target).name.clone();
        let listed = effects(&name);
        if listed.is_none() && !is_plain(&name) {
            let returns = if call.pointer { " returns what is not null and" } else { "" };
            self.assumptions
                .insert(format!("{name} has no body here: assumed that it{returns} leaves no null behind"));
            for value in call.arguments.iter().flat_map(|argument| &argument.values) {
                if let Value::Node(node) = value {
                    self.given.extend(self.points.pointees(*node).map(|(object, _)| object));
                }
            }
        }
        for (index, argument) in call.arguments.iter().enumerate() {
            if self.declared.arguments.contains(&(target, index as u32)) {
                for value in &argument.values {
                    let var = self.used(*value, site);
                    self.arguments.push(Sink { var, site, kind: SinkKind::Nonnull });
                }
            }
        }
        let source = |var: Var| Source { var, site: Some(site), origin: Origin::External(target) };
        for cell in left_null(self.module, self.points, site, call, listed.unwrap_or_default()) {
            let var = self.cell(cell);
            self.sources.push(source(var));
        }
        let first = |index: u8| call.arguments.get(index as usize).and_then(|a| a.values.first().copied());
        for effect in listed.unwrap_or_default() {
            match *effect {
                Effect::Nullable => {
                    if let Some(result) = call.result {
                        self.sources.push(source(Var(result.0)));
                    }
                }
                Effect::Dereferences(index) => {
                    let declared = self.declared.arguments.contains(&(target, index.into()));
                    if let (Some(pointer), false) = (first(index), declared) {
                        self.dereferenced(pointer, site);
                    }
                }
                Effect::AllocatesZeroed => {
                    let made = self.points.made(site);
                    let cells: Vec<CellId> = made
                        .flat_map(|o| self.points.cells_of(o).map(|(_, c)| c).collect::<Vec<_>>())
                        .collect();
                    for cell in cells {
                        let var = self.cell(cell);
                        self.sources.push(Source { var, site: Some(site), origin: Origin::Cleared });
                    }
                    for object in self.points.made(site) {
                        self.cleared(object, site);
                    }
                }
                // A null argument that comes back as the result: only where the function takes null at all.
                Effect::Returns(index) | Effect::ReturnsInto(index) => {
                    let checked = listed.unwrap_or_default().contains(&Effect::Dereferences(index));
                    if let (Some(value), Some(result), false) = (first(index), call.result, checked) {
                        self.into(value, Var(result.0), site, Why::Return(target));
                    }
                }
                Effect::Copies(to, from) => {
                    let to = if to == RESULT { call.result.map(Value::Node) } else { first(to) };
                    if let (Some(Value::Node(to)), Some(Value::Node(from))) = (to, first(from)) {
                        self.transfer(to, from, None, site);
                    }
                }
                Effect::Allocates
                | Effect::Stores(..)
                | Effect::StoresNew(_)
                | Effect::StoresNull(_)
                | Effect::Scans(..)
                | Effect::Calls(..)
                | Effect::CallsBack(_)
                | Effect::CallsKept(_)
                | Effect::Passes(..)
                | Effect::Never => {}
            }
        }
    }

    /// What stands between a pointer and the cells that reading through it may read.
    fn read(&mut self, pointer: Node) -> Var {
        let pointer = self.points.representative(pointer);
        if let Some(&var) = self.reads.get(&pointer) {
            return var;
        }
        let var = Var(self.next);
        self.next += 1;
        self.reads.insert(pointer, var);
        for cell in self.points.accessed(self.module, pointer) {
            let from = self.cell(cell);
            self.edge(from, var, None, Why::Alias);
        }
        var
    }

    /// The same for writing.
    fn write(&mut self, pointer: Node) -> Var {
        let pointer = self.points.representative(pointer);
        if let Some(&var) = self.writes.get(&pointer) {
            return var;
        }
        let var = Var(self.next);
        self.next += 1;
        self.writes.insert(pointer, var);
        for cell in self.points.accessed(self.module, pointer) {
            let to = self.cell(cell);
            self.edge(var, to, None, Why::Alias);
        }
        var
    }

    /// Cells that so many bytes from a pointer on cover.
    fn covered(&self, pointer: Node, len: Option<u64>) -> Vec<CellId> {
        let places = self.points.pointees(pointer);
        places.flat_map(|place| self.points.covered(self.module, place, len)).collect()
    }

    fn transfer(&mut self, to: Node, from: Node, len: Option<u64>, site: Site) {
        let key = (self.points.representative(to), self.points.representative(from), len);
        // The same bytes moved elsewhere in the same function say nothing new; elsewhere they belong to another region.
        if key.0 == key.1 && !self.transfers.insert(key) {
            return;
        }
        let targets: Vec<(ObjectId, i64)> = self.points.pointees(to).collect();
        let sources = self.points.pointees(from).count();
        if targets.len() * sources > MOST_PAIRS {
            let var = Var(self.next);
            self.next += 1;
            for cell in self.covered(from, None) {
                let from = self.cell(cell);
                self.edge(from, var, Some(site), Why::Transfer);
            }
            for cell in self.covered(to, None) {
                let to = self.cell(cell);
                self.edge(var, to, Some(site), Why::Transfer);
            }
            for object in self.objects(from) {
                let zeros = self.zeros(object);
                self.edge(zeros, var, Some(site), Why::Transfer);
            }
            for object in self.objects(to) {
                let zeros = self.zeros(object);
                self.edge(var, zeros, Some(site), Why::Transfer);
            }
            return;
        }
        for (object, offset) in targets {
            self.transfer_into(object, offset, from, len, site);
        }
    }

    fn transfer_into(&mut self, object: ObjectId, offset: i64, from: Node, len: Option<u64>, site: Site) {
        let (points, module) = (self.points, self.module);
        let sources: Vec<(ObjectId, i64)> = points.pointees(from).collect();
        let covered = points.covered(module, (object, offset), len);
        for source in sources {
            let pairs = points.copied(module, source, (object, offset), len);
            // What is copied of memory that nothing reads or writes as pointers is null where that is zero.
            let written: FxHashSet<CellId> = pairs.iter().map(|(_, to)| *to).collect();
            let zeros = self.zeros(source.0);
            for cell in covered.iter().filter(|cell| !written.contains(*cell)) {
                let to = self.cell(*cell);
                self.edge(zeros, to, Some(site), Why::Transfer);
            }
            let onward = self.zeros(object);
            if zeros != onward {
                self.edge(zeros, onward, Some(site), Why::Transfer);
            }
            for (from, to) in pairs {
                let (from, to) = (self.cell(from), self.cell(to));
                self.edge(from, to, Some(site), Why::Transfer);
            }
        }
    }

    /// Objects that a pointer leads to, each once.
    fn objects(&self, pointer: Node) -> BTreeSet<ObjectId> {
        self.points.pointees(pointer).map(|(object, _)| object).collect()
    }

    /// What stands for the zeros of an object outside of its cells: characters, above all.
    fn zeros(&mut self, object: ObjectId) -> Var {
        if let Some(&var) = self.zeros.get(&object) {
            return var;
        }
        let var = Var(self.next);
        self.next += 1;
        self.zeros.insert(object, var);
        var
    }

    /// An object is set to zero, in part at least.
    fn cleared(&mut self, object: ObjectId, site: Site) {
        let var = self.zeros(object);
        self.sources.push(Source { var, site: Some(site), origin: Origin::Cleared });
    }
}

/// Whether eight bytes or more of a constant are zero, where it is not said which they are.
fn has_zeros(module: &Module, id: ConstantId) -> bool {
    let mut waiting = vec![id];
    while let Some(id) = waiting.pop() {
        match module.constant(id) {
            Constant::Zero(ty) if module.ty(*ty).size >= 8 => return true,
            Constant::Bytes(_, bytes) if bytes.windows(8).any(|word| *word == [0; 8]) => return true,
            Constant::Aggregate(_, parts) => waiting.extend(parts),
            _ => {}
        }
    }
    false
}

/// Pairs of places between which a transfer is followed cell by cell.
const MOST_PAIRS: usize = 256;
