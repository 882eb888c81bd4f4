//! Footprints: which cells a function and everything it calls may touch, and which it may change.

use crate::calls::callees;
use crate::graph::{Graph, Var};
use parallax_cmodule::{FunctionId, Module};
use parallax_points::external::{Effect, effects, only_reads};
use parallax_points::{ANYWHERE, Called, Flow, Node, ObjectId, Points, Site, Value};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;

/// What a function may touch.
#[derive(Debug, Default)]
pub struct Footprint {
    /// Cells that may be read, written or copied.
    pub cells: BTreeSet<Var>,
    /// Of these, cells that may be written.
    pub changed: BTreeSet<Var>,
    /// Objects that may be touched.
    pub objects: FxHashSet<ObjectId>,
    /// Places that may be written, pointers or not: object and class of the offset, [`ANYWHERE`] for all of it.
    pub written: FxHashSet<(ObjectId, i64)>,
    /// Places that may be looked at or written: object and class of the offset, [`ANYWHERE`] for all of it.
    pub touched: FxHashSet<(ObjectId, i64)>,
    /// Functions that may run.
    pub functions: FxHashSet<FunctionId>,
}

/// How an instruction touches what a pointer leads to. Pointers that provably point to the same are one here: a program
/// has many more instructions than different pointers, and what one leads to may be thousands of cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Access {
    pointer: Node,
    writes: bool,
    /// Whether all of the object may be touched, and not only where the pointer leads.
    whole: bool,
}

/// What the instructions of one function do, before it is said which cells these are.
#[derive(Debug, Default)]
struct Own {
    accesses: FxHashSet<Access>,
    /// Objects that it makes itself.
    local: FxHashSet<ObjectId>,
    /// Objects that functions of the library make for it: touched by being made, since they may be zero, or a copy.
    made: FxHashSet<ObjectId>,
    callees: Vec<FunctionId>,
}

/// Footprints of all functions, each computed when it is first asked for.
pub struct Footprints<'m> {
    module: &'m Module,
    points: &'m Points,
    graph: &'m Graph,
    own: RefCell<FxHashMap<FunctionId, Rc<Own>>>,
    whole: RefCell<FxHashMap<FunctionId, Rc<Footprint>>>,
}

impl<'m> Footprints<'m> {
    /// Nothing computed yet.
    pub fn new(module: &'m Module, points: &'m Points, graph: &'m Graph) -> Self {
        Footprints { module, points, graph, own: RefCell::default(), whole: RefCell::default() }
    }

    /// What a function and its transitive callees, in both modes, may touch.
    pub fn of(&self, function: FunctionId) -> Rc<Footprint> {
        if let Some(known) = self.whole.borrow().get(&function) {
            return known.clone();
        }
        let whole = Rc::new(self.through(function, |_| true));
        self.whole.borrow_mut().insert(function, whole.clone());
        whole
    }

    /// Whether a function, or what it calls, is one of these.
    pub(crate) fn runs(&self, function: FunctionId, any: &FxHashSet<FunctionId>) -> bool {
        let mut seen = FxHashSet::from_iter([function]);
        let mut waiting = vec![function];
        while let Some(at) = waiting.pop() {
            if any.contains(&at) {
                return true;
            }
            waiting.extend(self.own(at).callees.iter().copied().filter(|callee| seen.insert(*callee)));
        }
        false
    }

    /// What a function may touch with those of its transitive callees that are entered.
    pub fn through(&self, function: FunctionId, enters: impl Fn(FunctionId) -> bool) -> Footprint {
        let mut whole = Footprint::default();
        let mut accesses: FxHashSet<Access> = FxHashSet::default();
        let mut made: FxHashSet<ObjectId> = FxHashSet::default();
        let mut waiting = vec![function];
        whole.functions.insert(function);
        while let Some(at) = waiting.pop() {
            let own = self.own(at);
            accesses.extend(&own.accesses);
            whole.objects.extend(&own.local);
            made.extend(&own.made);
            for &callee in &own.callees {
                if enters(callee) && whole.functions.insert(callee) {
                    waiting.push(callee);
                }
            }
        }
        for access in accesses {
            self.touch(&mut whole, access);
        }
        for object in made {
            whole.objects.insert(object);
            let cells = self.points.cells_of(object).map(|(_, cell)| self.graph.cell(cell));
            for cell in cells.chain(self.graph.zeros(object)) {
                whole.cells.insert(cell);
                whole.changed.insert(cell);
            }
        }
        whole
    }

    /// What the instructions of one function do.
    fn own(&self, function: FunctionId) -> Rc<Own> {
        if let Some(known) = self.own.borrow().get(&function) {
            return known.clone();
        }
        let mut own = Own { callees: callees(self.module, self.points, function), ..Own::default() };
        let range = self.points.flows.ranges[function.0 as usize].clone();
        for (site, flow) in &self.points.flows.flows[range] {
            match flow {
                Flow::Load { pointer, .. } => self.access(&mut own, *pointer, false, false),
                Flow::Store { pointer, .. } => self.access(&mut own, *pointer, true, false),
                Flow::Clear { pointer, .. } => self.access(&mut own, *pointer, true, true),
                Flow::Transfer { to, from, .. } => {
                    self.access(&mut own, *to, true, true);
                    self.access(&mut own, *from, false, true);
                }
                Flow::New { object, .. } => {
                    own.local.insert(*object);
                }
                Flow::Call(call) => {
                    for argument in call.arguments.iter().filter(|a| a.by_value.is_some()) {
                        argument.values.iter().for_each(|from| self.access(&mut own, *from, false, true));
                    }
                    let named = match call.callee {
                        Called::Function(id) => vec![id],
                        _ => self.points.targets(*site).to_vec(),
                    };
                    for id in named.into_iter().filter(|&id| !parallax_points::has_body(self.module, id)) {
                        self.external(&mut own, id, call);
                        own.made.extend(self.points.made(*site));
                    }
                }
                _ => {}
            }
        }
        let own = Rc::new(own);
        self.own.borrow_mut().insert(function, own.clone());
        own
    }

    fn access(&self, own: &mut Own, pointer: Value, writes: bool, whole: bool) {
        if let Value::Node(pointer) = pointer {
            let pointer = self.points.representative(pointer);
            own.accesses.insert(Access { pointer, writes, whole });
        }
    }

    /// Library functions read and write what their arguments point to. A row of the table says what happens to pointers;
    /// numbers may change wherever a function is not known to read only.
    fn external(&self, own: &mut Own, id: FunctionId, call: &parallax_points::flow::Call) {
        let name = &self.module.function(id).name;
        let listed = effects(name).unwrap_or_default();
        for (index, argument) in call.arguments.iter().enumerate() {
            let index = index as u8;
            let stores = listed.iter().any(|effect| match effect {
                Effect::Copies(to, _) | Effect::Stores(to, _) => *to == index,
                Effect::StoresNew(to) | Effect::StoresNull(to) => *to == index,
                _ => false,
            });
            let writes = stores || !only_reads(name);
            if argument.pointer {
                argument.values.iter().for_each(|value| self.access(own, *value, writes, true));
            }
        }
    }

    /// What a call of a function of the library may touch by itself.
    pub(crate) fn of_call(&self, site: Site) -> Footprint {
        let mut own = Own::default();
        let range = self.points.flows.ranges[site.function.0 as usize].clone();
        for (at, flow) in &self.points.flows.flows[range] {
            if let (true, Flow::Call(call)) = (*at == site, flow) {
                for &id in self.points.targets(site) {
                    if !parallax_points::has_body(self.module, id) {
                        self.external(&mut own, id, call);
                    }
                }
            }
        }
        let mut footprint = Footprint::default();
        own.accesses.into_iter().for_each(|access| self.touch(&mut footprint, access));
        footprint
    }

    fn touch(&self, all: &mut Footprint, Access { pointer, writes, whole }: Access) {
        for (object, offset) in self.points.pointees(pointer) {
            all.objects.insert(object);
            let everything = whole || offset == ANYWHERE || self.points.object(object).modulus != 0;
            all.touched.insert((object, if whole { ANYWHERE } else { offset }));
            if writes {
                all.written.insert((object, if everything { ANYWHERE } else { offset & !7 }));
            }
            let mut touched = |var| {
                all.cells.insert(var);
                if writes {
                    all.changed.insert(var);
                }
            };
            self.graph.zeros(object).filter(|_| whole).into_iter().for_each(&mut touched);
            let cell = |cell| self.graph.cell(cell);
            match everything {
                true => self.points.cells_of(object).for_each(|(_, at)| touched(cell(at))),
                false => {
                    self.points.cell(self.module, object, offset).map(cell).into_iter().for_each(touched)
                }
            }
        }
    }
}
