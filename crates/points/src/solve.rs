//! The solver: inclusion constraints to their least solution.
//!
//! Rounds of wave propagation (Pereira and Berlin, "Wave propagation and deep propagation for pointer analysis", 2009):
//! cycles of the copy graph are collapsed, what is new goes along it once in topological order, and then what reads and
//! writes through pointers adds edges. A Datalog engine would state the rules in fewer lines, but could neither collapse
//! cycles, nor make cells and merge them while it runs, which is what keeps large programs fast.

use crate::external::{Effect, RESULT, effects};
use crate::flow::{Call, Called, Flow, Flows, Value, has_body};
use crate::object::{ANYWHERE, MOST_TYPED, MOST_UNTYPED, ObjectId, ObjectKind, Reach, Site};
use crate::set::Set;
use parallax_cmodule::FunctionId;
use parallax_cmodule::Module;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

/// A constraint that depends on what a node points to.
#[derive(Clone)]
enum Complex {
    /// Everything it points to is read into a node, from which it goes to all that read through it.
    Load(u32),
    /// Everything it points to is written from a node, to which comes all that is written through it.
    Store(u32),
    /// Moved, in the way of this number.
    Move(u32, u32),
    /// Moved, nobody knows how far.
    Anywhere(u32),
    /// One end of a transfer, by its number.
    Transfer(u32),
    /// A call through it, by its number.
    Call(u32),
    /// A call of an external function, by its number, that does something with this argument.
    External(u32),
}

/// Something that applies to every cell of an object, those to come included.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Watch {
    Load(u32),
    Store(u32),
    /// Copied to another object with this shift, if within the range.
    Transfer {
        to: ObjectId,
        shift: i64,
        from: i64,
        end: i64,
    },
}

struct Transfer {
    to: u32,
    from: u32,
    len: Option<u64>,
    /// The node that everything goes through, once there are too many pairs of places.
    through: Option<u32>,
}

/// Elements of all sets together beyond which fields are no longer told apart.
const TOO_MUCH: usize = 40_000_000;
/// New edges after which cycles are looked for again.
const MANY_EDGES: usize = 20_000;
/// Pairs of places that one transfer is followed between.
const MOST_PAIRS: usize = 256;

pub(crate) struct Solver<'m> {
    module: &'m Module,
    pub(crate) flows: Flows,
    /// Where each node went that was merged into another.
    parents: Vec<u32>,
    sets: Vec<Set>,
    /// What came since the node was last propagated.
    fresh: Vec<Set>,
    /// What came since its complex constraints were last looked at.
    pending: Vec<Set>,
    successors: Vec<Vec<u32>>,
    edges: FxHashSet<(u32, u32)>,
    complex: Vec<Vec<Complex>>,
    /// The nodes that reading and writing through a node go through.
    readers: FxHashMap<u32, u32>,
    writers: FxHashMap<u32, u32>,
    /// Ways to move a pointer, and where each leads from a location.
    moves: Vec<(i64, SmallVec<[i64; 1]>)>,
    move_ids: FxHashMap<(i64, SmallVec<[i64; 1]>), u32>,
    moved: FxHashMap<(u32, u32), SmallVec<[u32; 2]>>,
    /// The cell at each location, once it is known; 0 before.
    cell_at: Vec<u32>,
    transfers: Vec<Transfer>,
    calls: Vec<(Site, Call)>,
    linked: FxHashSet<(u32, FunctionId)>,
    /// Locations: object, offset, and where each went that was merged.
    pub(crate) locations: Vec<(ObjectId, i64)>,
    moved_to: Vec<u32>,
    ids: FxHashMap<(ObjectId, i64), u32>,
    cells: FxHashMap<(ObjectId, i64), u32>,
    watches: FxHashMap<ObjectId, Vec<Watch>>,
    watched: FxHashSet<(ObjectId, Watch)>,
    /// Nodes with something pending.
    active: Vec<u32>,
    /// Whether fields were given up, because everything points everywhere.
    coarse: bool,
    /// For each call, what it calls.
    pub(crate) targets: FxHashMap<Site, Vec<FunctionId>>,
}

impl<'m> Solver<'m> {
    pub(crate) fn new(module: &'m Module) -> Self {
        let flows = Flows::of(module);
        let count = flows.nodes as usize;
        let mut solver = Solver {
            module,
            flows,
            parents: (0..count as u32).collect(),
            sets: vec![Set::default(); count],
            fresh: vec![Set::default(); count],
            pending: vec![Set::default(); count],
            successors: vec![Vec::new(); count],
            edges: FxHashSet::default(),
            complex: vec![Vec::new(); count],
            readers: FxHashMap::default(),
            writers: FxHashMap::default(),
            moves: Vec::new(),
            move_ids: FxHashMap::default(),
            moved: FxHashMap::default(),
            cell_at: Vec::new(),
            transfers: Vec::new(),
            calls: Vec::new(),
            linked: FxHashSet::default(),
            locations: Vec::new(),
            moved_to: Vec::new(),
            ids: FxHashMap::default(),
            cells: FxHashMap::default(),
            watches: FxHashMap::default(),
            watched: FxHashSet::default(),
            active: Vec::new(),
            coarse: false,
            targets: FxHashMap::default(),
        };
        solver.set_up();
        solver
    }

    fn set_up(&mut self) {
        for (a, b) in std::mem::take(&mut self.flows.same) {
            self.merge(a.0, b.0);
        }
        for number in 0..self.flows.addresses.len() {
            let (node, object, offset) = self.flows.addresses[number];
            let location = self.location(object, offset);
            self.point(node.0, location);
        }
        for number in 0..self.flows.initial.len() {
            let (object, offset, value) = self.flows.initial[number];
            let cell = self.cell(object, offset);
            if let Value::Node(from) = value {
                self.edge(from.0, cell);
            }
        }
        let flows = std::mem::take(&mut self.flows.flows);
        for (site, flow) in &flows {
            self.constrain(*site, flow);
        }
        self.flows.flows = flows;
    }

    fn constrain(&mut self, site: Site, flow: &Flow) {
        match flow {
            Flow::Copy { from: Value::Node(from), to } => self.edge(from.0, to.0),
            Flow::Move { from: Value::Node(from), to, constant, steps } => {
                let shape = (*constant, steps.clone());
                let next = self.moves.len() as u32;
                let number = *self.move_ids.entry(shape.clone()).or_insert(next);
                if number == next {
                    self.moves.push(shape);
                }
                self.complex(from.0, Complex::Move(to.0, number));
            }
            Flow::Anywhere { from: Value::Node(from), to } => self.complex(from.0, Complex::Anywhere(to.0)),
            Flow::New { object, to } => {
                let location = self.location(*object, 0);
                self.point(to.0, location);
            }
            Flow::Load { pointer: Value::Node(pointer), to: Some(to) } => {
                self.load(pointer.0, to.0);
            }
            Flow::Store { pointer: Value::Node(pointer), values } => {
                for value in values {
                    if let Value::Node(from) = value {
                        self.store(pointer.0, from.0);
                    }
                }
            }
            Flow::Transfer { to: Value::Node(to), from: Value::Node(from), len } => {
                self.transfer(to.0, from.0, *len);
            }
            Flow::Call(call) => self.call(site, call),
            _ => {}
        }
    }

    fn load(&mut self, pointer: u32, to: u32) {
        let pointer = self.find_mut(pointer);
        let reader = match self.readers.get(&pointer) {
            Some(&reader) => reader,
            None => {
                let reader = self.extra();
                self.readers.insert(pointer, reader);
                self.complex(pointer, Complex::Load(reader));
                reader
            }
        };
        self.edge(reader, to);
    }

    fn store(&mut self, pointer: u32, from: u32) {
        let pointer = self.find_mut(pointer);
        let writer = match self.writers.get(&pointer) {
            Some(&writer) => writer,
            None => {
                let writer = self.extra();
                self.writers.insert(pointer, writer);
                self.complex(pointer, Complex::Store(writer));
                writer
            }
        };
        self.edge(from, writer);
    }

    fn transfer(&mut self, to: u32, from: u32, len: Option<u64>) {
        let number = self.transfers.len() as u32;
        self.transfers.push(Transfer { to, from, len, through: None });
        self.complex(to, Complex::Transfer(number));
        self.complex(from, Complex::Transfer(number));
    }

    fn call(&mut self, site: Site, call: &Call) {
        let number = self.calls.len() as u32;
        self.calls.push((site, call.clone()));
        match call.callee {
            Called::Function(function) => self.link(number, function),
            Called::Pointer(Value::Node(pointer)) => self.complex(pointer.0, Complex::Call(number)),
            Called::Pointer(Value::Null) | Called::Assembly => {}
        }
    }

    /// A call reaches a function.
    fn link(&mut self, number: u32, function: FunctionId) {
        if !self.linked.insert((number, function)) {
            return;
        }
        let (site, call) = self.calls[number as usize].clone();
        self.targets.entry(site).or_default().push(function);
        if !has_body(self.module, function) {
            self.external(number, site, &call, function);
            return;
        }
        let definition = self.module.function(function);
        let (parameters, variadic) = (definition.parameters.len(), definition.variadic);
        for (index, argument) in call.arguments.iter().enumerate() {
            for value in &argument.values {
                let Value::Node(from) = value else { continue };
                if index >= parameters {
                    if variadic {
                        let object = self.object(ObjectKind::Variadic(function), None);
                        let cell = self.cell(object, 0);
                        self.edge(from.0, cell);
                    }
                } else if let Some(ty) = argument.by_value {
                    let object = self.object(ObjectKind::Copy(function, index as u32), Some(ty));
                    let location = self.location(object, 0);
                    let parameter = self.parameter(function, index);
                    self.point(parameter, location);
                    let copy = self.pointing(object);
                    self.transfer(copy, from.0, Some(self.module.ty(ty).size));
                } else {
                    let parameter = self.parameter(function, index);
                    self.edge(from.0, parameter);
                }
            }
        }
        if let Some(result) = call.result {
            let returned = self.flows.result(function);
            self.edge(returned.0, result.0);
        }
    }

    /// Whether a call through a pointer can be meant for a function: with another number of arguments, or a number where
    /// a pointer is expected, it could not run.
    fn fits(&self, number: u32, function: FunctionId) -> bool {
        let (definition, arguments) =
            (self.module.function(function), &self.calls[number as usize].1.arguments);
        let enough = match definition.variadic {
            true => arguments.len() >= definition.parameters.len(),
            false => arguments.len() == definition.parameters.len(),
        };
        let is_pointer = |ty| matches!(self.module.ty(ty).kind, parallax_cmodule::TypeKind::Pointer);
        enough && definition.parameters.iter().zip(arguments).all(|(p, a)| is_pointer(p.ty) == a.pointer)
    }

    fn parameter(&self, function: FunctionId, index: usize) -> u32 {
        self.flows.register(function, parallax_cmodule::Register(index as u32)).0
    }

    /// What a function of the library does with pointers.
    fn external(&mut self, number: u32, site: Site, call: &Call, function: FunctionId) {
        let name = self.module.function(function).name.as_str();
        let listed = effects(name);
        let mut returns = false;
        for effect in listed.unwrap_or_default() {
            match *effect {
                Effect::Allocates | Effect::AllocatesZeroed => {
                    returns = true;
                    if let Some(result) = call.result {
                        let location = self.heap(site, 0);
                        self.point(result.0, location);
                    }
                }
                Effect::Returns(index) | Effect::ReturnsInto(index) => {
                    returns = true;
                    for from in argument(call, index) {
                        let Some(result) = call.result else { continue };
                        match effect {
                            Effect::Returns(_) => self.edge(from, result.0),
                            _ => self.complex(from, Complex::Anywhere(result.0)),
                        }
                    }
                }
                Effect::Copies(to, from) => {
                    let targets = if to == RESULT {
                        call.result.map(|r| r.0).into_iter().collect()
                    } else {
                        argument(call, to)
                    };
                    for to in targets {
                        for from in argument(call, from) {
                            self.transfer(to, from, None);
                        }
                    }
                }
                Effect::Stores(to, what) => {
                    let moved = self.extra();
                    for from in argument(call, what) {
                        self.complex(from, Complex::Anywhere(moved));
                    }
                    for to in argument(call, to) {
                        self.store(to, moved);
                    }
                }
                Effect::StoresNew(to) => {
                    let new = self.extra();
                    let location = self.heap(site, 1 + to);
                    self.point(new, location);
                    for to in argument(call, to) {
                        self.store(to, new);
                    }
                }
                Effect::Calls(callee, _) | Effect::CallsBack(callee) => {
                    for callee in argument(call, callee) {
                        self.complex(callee, Complex::External(number));
                    }
                }
                Effect::StoresNull(_) | Effect::Nullable | Effect::Dereferences(_) | Effect::Never => {}
            }
        }
        if let (Some(result), true, false) = (call.result, call.pointer, returns) {
            let object = self.object(ObjectKind::Outside(function), None);
            let location = self.location(object, 0);
            self.point(result.0, location);
        }
    }

    /// An external function calls back.
    fn call_back(&mut self, number: u32, function: FunctionId) {
        let (site, call) = self.calls[number as usize].clone();
        let Called::Function(external) = call.callee else { return };
        if !has_body(self.module, function) {
            return;
        }
        let targets = self.targets.entry(site).or_default();
        if !targets.contains(&function) {
            targets.push(function);
        }
        let listed = effects(&self.module.function(external).name).unwrap_or_default();
        for effect in listed {
            let Effect::Calls(_, source) = *effect else { continue };
            for from in argument(&call, source) {
                for index in 0..self.module.function(function).parameters.len() {
                    let parameter = self.parameter(function, index);
                    self.complex(from, Complex::Anywhere(parameter));
                }
            }
        }
    }

    fn heap(&mut self, site: Site, number: u8) -> u32 {
        let object = self.object(ObjectKind::Heap(site, number), None);
        self.location(object, 0)
    }

    fn object(&mut self, kind: ObjectKind, ty: Option<parallax_cmodule::TypeId>) -> ObjectId {
        self.flows.make(kind, ty)
    }

    /// A node of its own.
    fn extra(&mut self) -> u32 {
        let node = self.parents.len() as u32;
        self.parents.push(node);
        self.sets.push(Set::default());
        self.fresh.push(Set::default());
        self.pending.push(Set::default());
        self.successors.push(Vec::new());
        self.complex.push(Vec::new());
        node
    }

    /// A node that points to an object.
    fn pointing(&mut self, object: ObjectId) -> u32 {
        let node = self.extra();
        let location = self.location(object, 0);
        self.point(node, location);
        node
    }

    pub(crate) fn find(&self, mut node: u32) -> u32 {
        while self.parents[node as usize] != node {
            node = self.parents[node as usize];
        }
        node
    }

    fn find_mut(&mut self, node: u32) -> u32 {
        let root = self.find(node);
        let mut at = node;
        while self.parents[at as usize] != root {
            at = std::mem::replace(&mut self.parents[at as usize], root);
        }
        root
    }

    /// A location, by its number.
    pub(crate) fn location(&mut self, object: ObjectId, offset: i64) -> u32 {
        let class = self.flows.objects[object.0 as usize].class(self.module, offset);
        if let Some(&id) = self.ids.get(&(object, class)) {
            return self.current(id);
        }
        let id = self.locations.len() as u32;
        self.locations.push((object, class));
        self.moved_to.push(id);
        self.ids.insert((object, class), id);
        let held = &mut self.flows.objects[object.0 as usize];
        held.locations.push((class, id));
        let most = if held.ty.is_some() { MOST_TYPED } else { MOST_UNTYPED };
        if held.locations.len() > most && held.modulus == 0 {
            let common = held
                .locations
                .iter()
                .filter(|(o, _)| *o != ANYWHERE)
                .fold(0, |g, (o, _)| gcd(g, o.unsigned_abs()));
            self.coarsen(object, common.max(1));
            return self.current(id);
        }
        id
    }

    fn current(&self, mut id: u32) -> u32 {
        while self.moved_to[id as usize] != id {
            id = self.moved_to[id as usize];
        }
        id
    }

    /// Offsets of an object are taken modulo a number from here on: its locations and cells merge.
    fn coarsen(&mut self, object: ObjectId, modulus: u64) {
        let held = &mut self.flows.objects[object.0 as usize];
        let modulus = gcd(held.modulus, modulus);
        if modulus == held.modulus {
            return;
        }
        held.modulus = modulus;
        let locations = std::mem::take(&mut held.locations);
        let cells = std::mem::take(&mut held.cells);
        for (offset, id) in locations {
            let class = self.flows.objects[object.0 as usize].class(self.module, offset);
            match self.ids.get(&(object, class)) {
                Some(&other) if self.current(other) != id => {
                    let other = self.current(other);
                    if other != id {
                        self.moved_to[id as usize] = other;
                        continue;
                    }
                }
                _ => {}
            }
            self.ids.insert((object, class), id);
            self.locations[id as usize] = (object, class);
            self.flows.objects[object.0 as usize].locations.push((class, id));
        }
        for (offset, node) in cells {
            let class = self.flows.objects[object.0 as usize].class(self.module, offset) & !7;
            let node = self.find_mut(node);
            match self.cells.get(&(object, class)) {
                Some(&other) if other != node => {
                    let kept = self.merge(other, node);
                    self.cells.insert((object, class), kept);
                    let cells = &mut self.flows.objects[object.0 as usize].cells;
                    match cells.iter_mut().find(|(at, _)| *at == class) {
                        Some(cell) => cell.1 = kept,
                        None => cells.push((class, kept)),
                    }
                }
                _ => {
                    self.cells.insert((object, class), node);
                    let cells = &mut self.flows.objects[object.0 as usize].cells;
                    if !cells.iter().any(|(at, _)| *at == class) {
                        cells.push((class, node));
                    }
                }
            }
        }
    }

    /// The cell at an offset of an object.
    fn cell(&mut self, object: ObjectId, offset: i64) -> u32 {
        let class = self.flows.objects[object.0 as usize].class(self.module, offset) & !7;
        if let Some(&node) = self.cells.get(&(object, class)) {
            return self.find_mut(node);
        }
        let node = self.extra();
        self.cells.insert((object, class), node);
        self.flows.objects[object.0 as usize].cells.push((class, node));
        if let Some(watches) = self.watches.get(&object).cloned() {
            for watch in watches {
                self.apply(watch, class, node);
            }
        }
        node
    }

    fn apply(&mut self, watch: Watch, offset: i64, cell: u32) {
        match watch {
            Watch::Load(to) => self.edge(cell, to),
            Watch::Store(from) => self.edge(from, cell),
            Watch::Transfer { to, shift, from, end } => {
                if offset + 7 >= from && offset < end {
                    let target = self.cell(to, offset + shift);
                    self.edge(cell, target);
                }
            }
        }
    }

    fn watch(&mut self, object: ObjectId, watch: Watch) {
        if !self.watched.insert((object, watch)) {
            return;
        }
        self.watches.entry(object).or_default().push(watch);
        for (offset, cell) in self.flows.objects[object.0 as usize].cells.clone() {
            self.apply(watch, offset, cell);
        }
    }

    fn complex(&mut self, node: u32, constraint: Complex) {
        let node = self.find_mut(node);
        if !self.sets[node as usize].is_empty() {
            // What is known already must be looked at again by the newcomer.
            let known = self.sets[node as usize].clone();
            self.pending[node as usize].add(&known);
            self.active.push(node);
        }
        self.complex[node as usize].push(constraint);
    }

    /// A node points to a location.
    fn point(&mut self, node: u32, location: u32) {
        let mut one = Set::default();
        one.insert(location);
        self.add(node, &one);
    }

    /// Adds locations to a node.
    fn add(&mut self, node: u32, locations: &Set) {
        let node = self.find_mut(node);
        let new = self.sets[node as usize].add(locations);
        if new.is_empty() {
            return;
        }
        self.fresh[node as usize].add(&new);
        self.pending[node as usize].add(&new);
        self.active.push(node);
    }

    fn edge(&mut self, from: u32, to: u32) {
        let (from, to) = (self.find_mut(from), self.find_mut(to));
        if from == to || !self.edges.insert((from, to)) {
            return;
        }
        self.successors[from as usize].push(to);
        if !self.sets[from as usize].is_empty() {
            let known = std::mem::take(&mut self.sets[from as usize]);
            self.add(to, &known);
            self.sets[from as usize] = known;
        }
    }

    /// Makes two nodes one.
    fn merge(&mut self, a: u32, b: u32) -> u32 {
        let (a, b) = (self.find_mut(a), self.find_mut(b));
        if a == b {
            return a;
        }
        let weight =
            |solver: &Self, n: u32| solver.sets[n as usize].len() + solver.successors[n as usize].len();
        let (kept, gone) = if weight(self, a) >= weight(self, b) { (a, b) } else { (b, a) };
        self.parents[gone as usize] = kept;
        let set = std::mem::take(&mut self.sets[gone as usize]);
        self.fresh[gone as usize] = Set::default();
        self.pending[gone as usize] = Set::default();
        let mut successors = std::mem::take(&mut self.successors[gone as usize]);
        let mut complex = std::mem::take(&mut self.complex[gone as usize]);
        // Each side's constraints and successors have not seen what only the other side knew.
        let other = self.sets[kept as usize].clone();
        let unseen = !complex.is_empty() || !successors.is_empty();
        self.successors[kept as usize].append(&mut successors);
        self.complex[kept as usize].append(&mut complex);
        let mut again = self.sets[kept as usize].add(&set);
        if unseen {
            // What both knew was seen by both.
            let mut missing = other;
            missing.remove(&set);
            again.add(&missing);
        }
        if !again.is_empty() {
            self.fresh[kept as usize].add(&again);
            self.pending[kept as usize].add(&again);
            self.active.push(kept);
        }
        kept
    }

    /// Runs to the fixed point.
    pub(crate) fn run(&mut self) {
        loop {
            let order = self.collapse();
            for node in order {
                if self.parents[node as usize] != node || self.fresh[node as usize].is_empty() {
                    continue;
                }
                let fresh = std::mem::take(&mut self.fresh[node as usize]);
                let successors = std::mem::take(&mut self.successors[node as usize]);
                for &to in &successors {
                    if self.find(to) != node {
                        self.add(to, &fresh);
                    }
                }
                self.successors[node as usize] = successors;
            }
            let active = std::mem::take(&mut self.active);
            let mut any = false;
            // Many new edges make new cycles: these are collapsed before yet more edges repeat them.
            let enough = self.edges.len() + self.edges.len() / 4 + MANY_EDGES;
            for (number, &node) in active.iter().enumerate() {
                let node = self.find_mut(node);
                if self.pending[node as usize].is_empty() {
                    continue;
                }
                any = true;
                self.look(node);
                if self.edges.len() > enough {
                    self.active.extend_from_slice(&active[number + 1..]);
                    break;
                }
            }
            if self.weight() > TOO_MUCH && !self.coarse {
                self.coarse = true;
                for number in 0..self.flows.objects.len() {
                    self.coarsen(ObjectId(number as u32), 1);
                }
                self.renew();
            }
            if !any && self.active.is_empty() {
                return;
            }
        }
    }

    /// Puts what locations have become in the place of what they were.
    fn renew(&mut self) {
        for number in 0..self.sets.len() {
            let renewed = |set: &Set, solver: &Self| {
                let mut now = Set::default();
                for id in set.iter() {
                    now.insert(solver.current(id));
                }
                now
            };
            self.sets[number] = renewed(&self.sets[number], self);
            self.fresh[number] = renewed(&self.fresh[number], self);
            self.pending[number] = renewed(&self.pending[number], self);
        }
    }

    /// How much there is in all sets.
    fn weight(&self) -> usize {
        self.sets.iter().map(Set::len).sum()
    }

    /// Looks at what is new in a node with each of its complex constraints.
    fn look(&mut self, node: u32) {
        let pending = std::mem::take(&mut self.pending[node as usize]);
        let constraints = std::mem::take(&mut self.complex[node as usize]);
        for constraint in &constraints {
            if let Complex::Transfer(number) = constraint {
                self.transferred(*number, node, &pending);
                continue;
            }
            match constraint {
                Complex::Move(to, number) => {
                    let mut reached = Set::default();
                    for id in pending.iter() {
                        let id = self.current(id);
                        if self.is_code(id) {
                            reached.insert(id);
                            continue;
                        }
                        match self.moved.get(&(id, *number)) {
                            Some(known) => known.iter().for_each(|&at| {
                                reached.insert(self.current(at));
                            }),
                            None => {
                                for at in self.reach(id, *number) {
                                    reached.insert(self.current(at));
                                }
                            }
                        }
                    }
                    self.add(*to, &reached);
                }
                Complex::Anywhere(to) => {
                    let mut reached = Set::default();
                    for id in pending.iter() {
                        let id = self.current(id);
                        let object = self.locations[id as usize].0;
                        let at = if self.is_code(id) { id } else { self.location(object, ANYWHERE) };
                        reached.insert(at);
                    }
                    self.add(*to, &reached);
                }
                _ => {
                    for id in pending.iter() {
                        let id = self.current(id);
                        self.satisfy(constraint, id);
                    }
                }
            }
        }
        // Constraints that were added meanwhile stay; the node may have been merged.
        let node = self.find_mut(node);
        let mut added = std::mem::replace(&mut self.complex[node as usize], constraints);
        self.complex[node as usize].append(&mut added);
    }

    fn satisfy(&mut self, constraint: &Complex, id: u32) {
        let (object, offset) = self.locations[id as usize];
        let kind = self.flows.objects[object.0 as usize].kind;
        if let ObjectKind::Function(function) = kind {
            match constraint {
                Complex::Call(number) if self.fits(*number, function) => self.link(*number, function),
                Complex::External(number) => self.call_back(*number, function),
                _ => {}
            }
            return;
        }
        match constraint {
            Complex::Load(to) if offset == ANYWHERE => self.watch(object, Watch::Load(*to)),
            Complex::Store(from) if offset == ANYWHERE => self.watch(object, Watch::Store(*from)),
            Complex::Load(to) => {
                let cell = self.cell_at(id);
                self.edge(cell, *to);
            }
            Complex::Store(from) => {
                let cell = self.cell_at(id);
                self.edge(*from, cell);
            }
            _ => {}
        }
    }

    fn is_code(&self, id: u32) -> bool {
        let object = self.locations[id as usize].0;
        matches!(self.flows.objects[object.0 as usize].kind, ObjectKind::Function(_))
    }

    /// Where a way of moving leads from a location.
    fn reach(&mut self, id: u32, number: u32) -> SmallVec<[u32; 2]> {
        let (object, offset) = self.locations[id as usize];
        let (constant, steps) = self.moves[number as usize].clone();
        let held = &self.flows.objects[object.0 as usize];
        let untyped = held.ty.is_none() && held.modulus != 1 && offset != ANYWHERE;
        let coarse = steps.iter().filter(|s| s.abs() >= 8).fold(0, |g, s| gcd(g, s.unsigned_abs()));
        let reached: SmallVec<[u32; 2]> = match held.moved(self.module, offset, constant, &steps) {
            Reach::Offsets(offsets) => offsets.into_iter().map(|at| self.location(object, at)).collect(),
            Reach::Nowhere => SmallVec::new(),
        };
        if untyped && coarse > 0 {
            self.coarsen(object, coarse);
        }
        self.moved.insert((id, number), reached.clone());
        reached
    }

    /// The cell at a location.
    fn cell_at(&mut self, id: u32) -> u32 {
        if self.cell_at.len() < self.locations.len() {
            self.cell_at.resize(self.locations.len(), 0);
        }
        match self.cell_at[id as usize] {
            0 => {
                let (object, offset) = self.locations[id as usize];
                let cell = self.cell(object, offset);
                self.cell_at[id as usize] = cell;
                cell
            }
            // It may have been merged with another since.
            cell => self.find_mut(cell),
        }
    }

    /// What is new at one end of a transfer, or at both, meets what the other end has.
    fn transferred(&mut self, number: u32, node: u32, new: &Set) {
        let Transfer { to, from, len, through } = self.transfers[number as usize];
        let (to, from) = (self.find_mut(to), self.find_mut(from));
        let targets = if to == node { new.clone() } else { self.sets[to as usize].clone() };
        let sources = if from == node { new.clone() } else { self.sets[from as usize].clone() };
        let pairs = self.sets[to as usize].len() * self.sets[from as usize].len();
        if pairs <= MOST_PAIRS && through.is_none() {
            for target in targets.iter() {
                for source in sources.iter() {
                    self.copy(target, source, len);
                }
            }
            return;
        }
        // Everything that is read meets in one node, from which everything is written: offsets are given up.
        let (through, targets, sources) = match through {
            Some(through) => (through, targets, sources),
            None => {
                let through = self.extra();
                self.transfers[number as usize].through = Some(through);
                (through, self.sets[to as usize].clone(), self.sets[from as usize].clone())
            }
        };
        for id in sources.iter() {
            let object = self.locations[self.current(id) as usize].0;
            self.watch(object, Watch::Load(through));
        }
        for id in targets.iter() {
            let object = self.locations[self.current(id) as usize].0;
            self.watch(object, Watch::Store(through));
        }
    }

    fn copy(&mut self, target: u32, source: u32, len: Option<u64>) {
        let (to, to_offset) = self.locations[self.current(target) as usize];
        let (from, from_offset) = self.locations[self.current(source) as usize];
        let is_code = |solver: &Self, o: ObjectId| {
            matches!(solver.flows.objects[o.0 as usize].kind, ObjectKind::Function(_))
        };
        if is_code(self, to) || is_code(self, from) {
            return;
        }
        if to_offset == ANYWHERE || from_offset == ANYWHERE {
            self.coarsen(to, 1);
            self.coarsen(from, 1);
        }
        let start = if from_offset == ANYWHERE { 0 } else { from_offset };
        let into = if to_offset == ANYWHERE { 0 } else { to_offset };
        // Elements of arrays are one element: a copy of several of them reaches no further than its class does.
        let whole = self.flows.objects[from.0 as usize].modulus != 0;
        let end = match len {
            Some(len) if !whole => start.saturating_add(len.min(i64::MAX as u64) as i64),
            _ => i64::MAX,
        };
        let from_start = if whole { i64::MIN + 8 } else { start };
        self.watch(from, Watch::Transfer { to, shift: into - start, from: from_start, end });
    }

    /// Collapses cycles of the copy graph; gives its nodes in topological order.
    fn collapse(&mut self) -> Vec<u32> {
        let count = self.parents.len();
        let mut index = vec![0u32; count];
        let mut low = vec![0u32; count];
        let mut on = vec![false; count];
        let mut stack: Vec<u32> = Vec::new();
        let mut order: Vec<u32> = Vec::new();
        let mut next = 1u32;
        let mut groups: Vec<Vec<u32>> = Vec::new();
        let mut walk: Vec<(u32, usize)> = Vec::new();
        for root in 0..count as u32 {
            if self.parents[root as usize] != root
                || index[root as usize] != 0
                || self.successors[root as usize].is_empty()
            {
                continue;
            }
            walk.push((root, 0));
            while let Some(&mut (node, ref mut at)) = walk.last_mut() {
                let n = node as usize;
                if *at == 0 && index[n] == 0 {
                    index[n] = next;
                    low[n] = next;
                    next += 1;
                    stack.push(node);
                    on[n] = true;
                }
                if let Some(&to) = self.successors[n].get(*at) {
                    *at += 1;
                    let to = self.find(to) as usize;
                    if index[to] == 0 {
                        walk.push((to as u32, 0));
                    } else if on[to] {
                        low[n] = low[n].min(index[to]);
                    }
                    continue;
                }
                walk.pop();
                if let Some(&(above, _)) = walk.last() {
                    low[above as usize] = low[above as usize].min(low[n]);
                }
                if low[n] == index[n] {
                    let mut group = Vec::new();
                    while let Some(member) = stack.pop() {
                        on[member as usize] = false;
                        group.push(member);
                        if member == node {
                            break;
                        }
                    }
                    order.push(node);
                    if group.len() > 1 {
                        groups.push(group);
                    }
                }
            }
        }
        let mut kept = FxHashMap::default();
        for group in groups {
            let first = group[group.len() - 1];
            let mut into = first;
            for &member in &group {
                into = self.merge(into, member);
            }
            let successors = std::mem::take(&mut self.successors[into as usize]);
            let mut unique: Vec<u32> =
                successors.into_iter().map(|s| self.find(s)).filter(|&s| s != into).collect();
            unique.sort_unstable();
            unique.dedup();
            self.successors[into as usize] = unique;
            kept.insert(first, into);
        }
        // Tarjan's algorithm finishes nodes after everything they lead to.
        order.reverse();
        order.into_iter().map(|node| kept.get(&node).copied().unwrap_or(node)).collect()
    }

    /// The solution: for each node where it went, and for each of these what it points to.
    pub(crate) fn finish(mut self) -> crate::Points {
        for node in 0..self.parents.len() as u32 {
            self.find_mut(node);
        }
        self.renew();
        let sets = std::mem::take(&mut self.sets);
        let mut objects = self.flows.objects.clone();
        for object in &mut objects {
            for cell in &mut object.cells {
                cell.1 = self.parents[cell.1 as usize];
            }
            object.cells.sort_unstable();
        }
        self.flows.objects = objects;
        crate::Points::new(self.flows, self.parents, sets, self.locations, self.targets)
    }
}

fn argument(call: &Call, index: u8) -> Vec<u32> {
    let values = call.arguments.get(index as usize).map(|a| a.values.as_slice()).unwrap_or_default();
    values
        .iter()
        .filter_map(|value| if let Value::Node(node) = value { Some(node.0) } else { None })
        .collect()
}

fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}
