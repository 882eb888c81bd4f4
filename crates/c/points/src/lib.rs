//! Whole-program pointer analysis of C.
//!
//! Inclusion-based (Andersen), field-sensitive by byte offset, insensitive to flow and context: for every register, slot
//! and cell of memory, the set of places it may point to. Calls through pointers are resolved on the way. Memory has no
//! types here: unions, casts and `void *` need no rules of their own.
//!
//! What is assumed: pointers stay within the object they were made from, are not copied byte by byte by hand, and are not
//! made from integers of unknown origin; functions without a body do what [`external`] says.

pub mod determined;
pub mod external;
pub mod flow;
mod object;
mod set;
mod solve;
mod wrappers;

pub use flow::{Called, Flow, Flows, Node, Place, Value, has_body};
pub use object::{ANYWHERE, Object, ObjectId, ObjectKind, Site};

use parallax_cmodule::FunctionId;
use parallax_cmodule::Module;
use rustc_hash::FxHashMap;

/// Number of a cell: eight bytes of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CellId(pub u32);

/// What everything may point to.
pub struct Points {
    /// The flows it was computed from.
    pub flows: Flows,
    parents: Vec<u32>,
    sets: Vec<set::Set>,
    locations: Vec<(ObjectId, i64)>,
    cells: FxHashMap<(ObjectId, i64), CellId>,
    /// Each cell: its object, its offset, and the node that says what it points to.
    held: Vec<(ObjectId, i64, Node)>,
    targets: FxHashMap<Site, Vec<FunctionId>>,
}

impl Points {
    /// Analyses a module.
    pub fn of(module: &Module) -> Points {
        let mut solver = solve::Solver::new(module);
        solver.run();
        solver.finish()
    }

    fn new(
        flows: Flows,
        parents: Vec<u32>,
        sets: Vec<set::Set>,
        locations: Vec<(ObjectId, i64)>,
        mut targets: FxHashMap<Site, Vec<FunctionId>>,
    ) -> Points {
        for list in targets.values_mut() {
            list.sort_unstable();
            list.dedup();
        }
        let mut held = Vec::new();
        let mut cells = FxHashMap::default();
        for (number, object) in flows.objects.iter().enumerate() {
            for &(offset, node) in &object.cells {
                let object = ObjectId(number as u32);
                cells.insert((object, offset), CellId(held.len() as u32));
                held.push((object, offset, Node(node)));
            }
        }
        Points { flows, parents, sets, locations, cells, held, targets }
    }

    /// How many cells there are.
    pub fn cell_count(&self) -> usize {
        self.held.len()
    }

    /// A cell: its object, its offset, and the node that says what it points to.
    pub fn held(&self, cell: CellId) -> (ObjectId, i64, Node) {
        self.held[cell.0 as usize]
    }

    /// The node that stands for a node and everything that provably points to the same.
    pub fn representative(&self, node: Node) -> Node {
        Node(self.parents[node.0 as usize])
    }

    /// What a node may point to.
    pub fn pointees(&self, node: Node) -> impl Iterator<Item = (ObjectId, i64)> + '_ {
        let set = &self.sets[self.parents[node.0 as usize] as usize];
        set.iter().map(|id| self.locations[id as usize])
    }

    /// Cells that an access through a node may touch.
    pub fn accessed(&self, module: &Module, node: Node) -> Vec<CellId> {
        let mut cells = Vec::new();
        for (object, offset) in self.pointees(node) {
            if offset == ANYWHERE {
                cells.extend(self.cells_of(object).map(|(_, cell)| cell));
            } else {
                cells.extend(self.cell(module, object, offset));
            }
        }
        cells.sort_unstable();
        cells.dedup();
        cells
    }

    /// The cell at an offset of an object, if anything is ever kept there.
    pub fn cell(&self, module: &Module, object: ObjectId, offset: i64) -> Option<CellId> {
        let class = self.object(object).class(module, offset) & !7;
        self.cells.get(&(object, class)).copied()
    }

    /// The class of an offset of an object: offsets of one class are one location.
    pub fn class(&self, module: &Module, object: ObjectId, offset: i64) -> i64 {
        self.object(object).class(module, offset)
    }

    /// Where the offsets of a class lie: the first of them, and for each array around it the bytes of an element and how
    /// many there are. None where that may be anywhere in the object.
    pub fn spread(&self, module: &Module, object: ObjectId, class: i64) -> Option<(u64, Vec<(u64, u64)>)> {
        self.object(object).spread(module, class)
    }

    /// Cells of an object with their offsets.
    pub fn cells_of(&self, object: ObjectId) -> impl Iterator<Item = (i64, CellId)> + '_ {
        // Cells are numbered object by object, each object's in the order of offsets.
        let cells = &self.object(object).cells;
        let first = cells.first().map_or(0, |&(offset, _)| self.cells[&(object, offset)].0);
        cells.iter().zip(first..).map(|(&(offset, _), id)| (offset, CellId(id)))
    }

    /// Cells that a copy of so many bytes from one place to another copies, each with where it goes.
    pub fn copied(
        &self,
        module: &Module,
        (from, start): (ObjectId, i64),
        (to, into): (ObjectId, i64),
        len: Option<u64>,
    ) -> Vec<(CellId, CellId)> {
        // Where one end may be anywhere, both objects have one cell.
        let [start, into] = [start, into].map(|at| if at == ANYWHERE { 0 } else { at });
        let mut pairs = Vec::new();
        for (at, cell) in self.cells_of(from) {
            let copied = self.object(from).copied(module, at, start, len);
            match self.object(to).received(module, into, copied) {
                object::Copied::At(places) => {
                    let targets = places.into_iter().filter_map(|at| self.cell(module, to, at));
                    pairs.extend(targets.map(|target| (cell, target)));
                }
                object::Copied::Anywhere => {
                    pairs.extend(self.cells_of(to).map(|(_, target)| (cell, target)));
                }
            }
        }
        pairs.sort_unstable();
        pairs.dedup();
        pairs
    }

    /// Cells that so many bytes from a place on cover.
    pub fn covered(
        &self,
        module: &Module,
        (object, start): (ObjectId, i64),
        len: Option<u64>,
    ) -> Vec<CellId> {
        let anywhere = start == ANYWHERE;
        let inside = |at: i64| match self.object(object).copied(module, at, start, len) {
            object::Copied::At(places) => !places.is_empty(),
            object::Copied::Anywhere => true,
        };
        self.cells_of(object).filter(|(at, _)| anywhere || inside(*at)).map(|(_, cell)| cell).collect()
    }

    /// An object.
    pub fn object(&self, id: ObjectId) -> &Object {
        &self.flows.objects[id.0 as usize]
    }

    /// All objects.
    pub fn objects(&self) -> impl Iterator<Item = (ObjectId, &Object)> {
        self.flows.objects.iter().enumerate().map(|(number, object)| (ObjectId(number as u32), object))
    }

    /// Objects that a call of an allocating function makes: its own, and where it stands in a function that only
    /// allocates, one for each call of that.
    pub fn made(&self, site: Site) -> impl Iterator<Item = ObjectId> + '_ {
        let own = (0..=u8::MAX).filter_map(move |number| self.flows.object(ObjectKind::Heap(site, number)));
        own.chain(self.flows.made.get(&site).into_iter().flatten().copied())
    }

    /// What a call may call, functions without a body included; empty where nothing is known.
    pub fn targets(&self, site: Site) -> &[FunctionId] {
        self.targets.get(&site).map(Vec::as_slice).unwrap_or_default()
    }
}
