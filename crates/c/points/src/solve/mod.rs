//! The solver: inclusion constraints to their least solution.
//!
//! Rounds of wave propagation (Pereira and Berlin, "Wave propagation and deep propagation for pointer analysis", 2009):
//! cycles of the copy graph are collapsed, what is new goes along it once in topological order, and then what reads and
//! writes through pointers adds edges. A Datalog engine would state the rules in fewer lines, but could neither collapse
//! cycles, nor make cells and merge them while it runs, which is what keeps large programs fast.

mod calls;
mod cycles;
mod memory;
mod numbering;

use crate::flow::{Call, Flows, Value};
use crate::object::{ANYWHERE, ObjectId, ObjectKind, Site};
use crate::set::Set;
use crate::wrappers::{Root, wrappers};
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
    /// So many bytes from here on are copied to a place in another object.
    Transfer {
        to: ObjectId,
        into: i64,
        start: i64,
        len: Option<u64>,
    },
}

/// Where a way of moving leads from a location.
#[derive(Clone, Default)]
enum Moved {
    #[default]
    Unknown,
    One(u32),
    Several(Box<[u32]>),
}

struct Transfer {
    to: u32,
    from: u32,
    len: Option<u64>,
    /// The node that everything goes through, once there are too many pairs of places.
    through: Option<u32>,
}

/// Elements of all sets together beyond which fields of the objects that fill them are no longer told apart.
const TOO_MUCH: usize = 1_500_000;
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
    moved: Vec<Vec<Moved>>,
    /// What a way of moving makes of a node, where that is known to be one node.
    numbered: FxHashMap<(u32, u32), u32>,
    /// The cell at each location, once it is known; 0 before.
    cell_at: Vec<u32>,
    transfers: Vec<Transfer>,
    calls: Vec<(Site, Call)>,
    linked: FxHashSet<(u32, FunctionId)>,
    /// Functions that only allocate.
    wrappers: FxHashMap<FunctionId, Vec<Root>>,
    /// Locations: object, offset, and where each went that was merged.
    pub(crate) locations: Vec<(ObjectId, i64)>,
    moved_to: Vec<u32>,
    ids: FxHashMap<(ObjectId, i64), u32>,
    cells: FxHashMap<(ObjectId, i64), u32>,
    watches: FxHashMap<ObjectId, Vec<Watch>>,
    watched: FxHashSet<(ObjectId, Watch)>,
    /// Cells of watched objects that are new: object, offset, node.
    born: Vec<(ObjectId, i64, u32)>,
    /// Nodes with something pending.
    active: Vec<u32>,
    /// Locations that stay where they are however they are moved: functions, and objects whose fields are one.
    fixed: Vec<u64>,
    /// Elements of all sets together, those of nodes that were merged since included; and how many are too many.
    weight: usize,
    most: usize,
    /// A node that points to nothing.
    nothing: u32,
    /// For each call, what it calls.
    pub(crate) targets: FxHashMap<Site, Vec<FunctionId>>,
}

impl<'m> Solver<'m> {
    pub(crate) fn new(module: &'m Module) -> Self {
        let flows = Flows::of(module);
        let wrappers = wrappers(module, &flows);
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
            moved: Vec::new(),
            numbered: FxHashMap::default(),
            cell_at: Vec::new(),
            transfers: Vec::new(),
            calls: Vec::new(),
            linked: FxHashSet::default(),
            wrappers,
            locations: Vec::new(),
            moved_to: Vec::new(),
            ids: FxHashMap::default(),
            cells: FxHashMap::default(),
            watches: FxHashMap::default(),
            watched: FxHashSet::default(),
            born: Vec::new(),
            active: Vec::new(),
            fixed: Vec::new(),
            weight: 0,
            most: TOO_MUCH,
            nothing: 0,
            targets: FxHashMap::default(),
        };
        solver.nothing = solver.extra();
        solver.set_up();
        solver
    }

    fn set_up(&mut self) {
        let incoming = numbering::Incoming::of(self);
        self.number(&incoming);
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
        self.weight += new.len();
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
        self.grow();
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
                if self.edges.len() > enough || self.weight > self.most {
                    self.active.extend_from_slice(&active[number + 1..]);
                    break;
                }
            }
            if self.weight > self.most {
                self.give_up_fields();
            }
            self.grow();
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

    /// Where most of what is pointed to are parts of the same objects, everything in them points everywhere, and telling the
    /// parts apart says nothing more: then each is one from here on.
    fn give_up_fields(&mut self) {
        let mut shares = vec![0usize; self.flows.objects.len()];
        for set in &self.sets {
            set.iter().for_each(|id| shares[self.locations[id as usize].0.0 as usize] += 1);
        }
        let parts = |object: usize| self.flows.objects[object].locations.len();
        let mut divided: Vec<(usize, usize)> = shares
            .iter()
            .enumerate()
            .filter(|&(object, _)| parts(object) > 1 && self.flows.objects[object].modulus != 1)
            .map(|(object, share)| (*share, object))
            .collect();
        divided.sort_unstable_by(|a, b| b.cmp(a));
        let most = divided.iter().map(|(share, _)| share).sum::<usize>() / 10 * 9;
        let mut gone = 0;
        for (share, object) in divided {
            if gone >= most {
                break;
            }
            gone += share;
            self.coarsen(ObjectId(object as u32), 1);
        }
        if gone > 0 {
            self.renew();
        }
        self.weight = self.sets.iter().map(Set::len).sum();
        // What is left is what there is to say; it is looked at again when there is much more.
        self.most = TOO_MUCH.max(2 * self.weight);
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
                    // What stays where it is is most of what there is where there is much.
                    let (mut reached, others) = pending.split(&self.fixed);
                    for id in others.iter() {
                        let id = self.current(id);
                        let known = self.moved.get(*number as usize).and_then(|all| all.get(id as usize));
                        match known.cloned().unwrap_or_default() {
                            Moved::One(at) => {
                                reached.insert(self.current(at));
                            }
                            Moved::Several(all) => all.iter().for_each(|&at| {
                                reached.insert(self.current(at));
                            }),
                            Moved::Unknown => {
                                for at in self.reach(id, *number) {
                                    reached.insert(self.current(at));
                                }
                            }
                        }
                    }
                    self.add(*to, &reached);
                }
                Complex::Anywhere(to) => {
                    let (mut reached, others) = pending.split(&self.fixed);
                    for id in others.iter() {
                        let object = self.locations[self.current(id) as usize].0;
                        reached.insert(self.location(object, ANYWHERE));
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

    /// The solution: for each node where it went, and for each of these what it points to.
    pub(crate) fn finish(mut self) -> crate::Points {
        for node in 0..self.parents.len() as u32 {
            self.find_mut(node);
        }
        self.renew();
        let sets = std::mem::take(&mut self.sets);
        for object in &mut self.flows.objects {
            for cell in &mut object.cells {
                cell.1 = self.parents[cell.1 as usize];
            }
            object.cells.sort_unstable();
        }
        for made in self.flows.made.values_mut() {
            made.sort_unstable();
            made.dedup();
        }
        crate::Points::new(self.flows, self.parents, sets, self.locations, self.targets)
    }
}
