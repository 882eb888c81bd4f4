//! Footprints: which cells a function and everything it calls may touch, and which it may change.

use crate::check::callees;
use crate::graph::{Graph, Var};
use parallax_cmodule::{FunctionId, Module};
use parallax_points::external::{Effect, effects};
use parallax_points::{ANYWHERE, Called, Flow, Node, ObjectId, Points, Value};
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

/// Footprints of all functions, each computed when it is first asked for.
pub struct Footprints<'m> {
    module: &'m Module,
    points: &'m Points,
    graph: &'m Graph,
    own: RefCell<FxHashMap<FunctionId, Rc<Footprint>>>,
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

    /// What a function may touch with those of its transitive callees that are entered.
    pub fn through(&self, function: FunctionId, enters: impl Fn(FunctionId) -> bool) -> Footprint {
        let mut whole = Footprint::default();
        let mut waiting = vec![function];
        whole.functions.insert(function);
        while let Some(at) = waiting.pop() {
            let own = self.own(at);
            whole.cells.extend(&own.cells);
            whole.changed.extend(&own.changed);
            whole.objects.extend(&own.objects);
            whole.written.extend(&own.written);
            whole.touched.extend(&own.touched);
            for callee in callees(self.module, self.points, at) {
                if enters(callee) && whole.functions.insert(callee) {
                    waiting.push(callee);
                }
            }
        }
        whole
    }

    /// What the instructions of one function touch.
    fn own(&self, function: FunctionId) -> Rc<Footprint> {
        if let Some(known) = self.own.borrow().get(&function) {
            return known.clone();
        }
        let mut own = Footprint::default();
        let range = self.points.flows.ranges[function.0 as usize].clone();
        for (site, flow) in &self.points.flows.flows[range] {
            match flow {
                Flow::Load { pointer: Value::Node(pointer), .. } => {
                    self.touch(&mut own, *pointer, false, false)
                }
                Flow::Store { pointer: Value::Node(pointer), .. } => {
                    self.touch(&mut own, *pointer, true, false)
                }
                Flow::Clear { pointer: Value::Node(pointer), .. } => {
                    self.touch(&mut own, *pointer, true, true)
                }
                Flow::Transfer { to, from, .. } => {
                    if let Value::Node(to) = to {
                        self.touch(&mut own, *to, true, true);
                    }
                    if let Value::Node(from) = from {
                        self.touch(&mut own, *from, false, true);
                    }
                }
                Flow::New { object, .. } => {
                    own.objects.insert(*object);
                }
                Flow::Call(call) => {
                    for argument in call.arguments.iter().filter(|a| a.by_value.is_some()) {
                        for value in &argument.values {
                            if let Value::Node(from) = value {
                                self.touch(&mut own, *from, false, true);
                            }
                        }
                    }
                    let named = match call.callee {
                        Called::Function(id) => vec![id],
                        _ => self.points.targets(*site).to_vec(),
                    };
                    for id in named.into_iter().filter(|&id| !parallax_points::has_body(self.module, id)) {
                        self.external(&mut own, id, call);
                        // What it allocates is touched by being made: it may be zero, or a copy.
                        for object in self.points.made(*site) {
                            own.objects.insert(object);
                            let cells = self.points.cells_of(object).map(|(_, cell)| self.graph.cell(cell));
                            for cell in cells {
                                own.cells.insert(cell);
                                own.changed.insert(cell);
                            }
                        }
                    }
                }
                _ => {}
            }
        }
        let own = Rc::new(own);
        self.own.borrow_mut().insert(function, own.clone());
        own
    }

    /// Library functions read and write what their arguments point to; which of them write is in the table.
    fn external(&self, own: &mut Footprint, id: FunctionId, call: &parallax_points::flow::Call) {
        let name = &self.module.function(id).name;
        let listed = effects(name);
        for (index, argument) in call.arguments.iter().enumerate() {
            let index = index as u8;
            let writes = match listed {
                None => true,
                Some(listed) => listed.iter().any(|effect| match effect {
                    Effect::Copies(to, _) | Effect::Stores(to, _) => *to == index,
                    Effect::StoresNew(to) | Effect::StoresNull(to) => *to == index,
                    Effect::Returns(to) => *to == index,
                    _ => false,
                }),
            };
            for value in &argument.values {
                if let (Value::Node(pointer), true) = (value, argument.pointer) {
                    self.touch(own, *pointer, writes, true);
                }
            }
        }
    }

    fn touch(&self, own: &mut Footprint, pointer: Node, writes: bool, whole: bool) {
        for (object, offset) in self.points.pointees(pointer) {
            own.objects.insert(object);
            let everything = whole || offset == ANYWHERE || self.points.object(object).modulus != 0;
            own.touched.insert((object, if whole { ANYWHERE } else { offset }));
            if writes {
                own.written.insert((object, if everything { ANYWHERE } else { offset & !7 }));
            }
            let cells: Vec<_> = match everything {
                true => self.points.cells_of(object).map(|(_, cell)| cell).collect(),
                false => self.points.cell(self.module, object, offset).into_iter().collect(),
            };
            for cell in cells {
                own.cells.insert(self.graph.cell(cell));
                if writes {
                    own.changed.insert(self.graph.cell(cell));
                }
            }
        }
    }
}
