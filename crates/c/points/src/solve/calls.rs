//! From flows to constraints: calls, and what functions of the library do with pointers.

use super::{Complex, Solver, Transfer};
use crate::external::{Effect, RESULT, effects, is_plain};
use crate::flow::{Call, Called, Flow, Node, Value, has_body};
use crate::object::{ObjectId, ObjectKind, Site};
use crate::wrappers::{Copied, Root};
use parallax_cmodule::FunctionId;
use smallvec::SmallVec;

impl Solver<'_> {
    pub(super) fn constrain(&mut self, site: Site, flow: &Flow) {
        match flow {
            Flow::Copy { from: Value::Node(from), to } => self.edge(from.0, to.0),
            Flow::Move { from: Value::Node(from), to, constant, steps } => {
                let number = self.way(*constant, steps);
                let from = self.find_mut(from.0);
                // Of those that are one node, one says it for all.
                if self
                    .numbered
                    .get(&(from, number))
                    .is_none_or(|&known| known == to.0 || !self.same(known, to.0))
                {
                    self.complex(from, Complex::Move(to.0, number));
                }
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
                    // Null too is kept in a cell: where memory is copied, it is copied from there.
                    let from = match value {
                        Value::Node(from) => from.0,
                        Value::Null => self.nothing,
                    };
                    self.store(pointer.0, from);
                }
            }
            Flow::Transfer { to: Value::Node(to), from: Value::Node(from), len } => {
                self.transfer(to.0, from.0, *len);
            }
            Flow::Call(call) => self.call(site, call),
            _ => {}
        }
    }

    /// The number of a way to move a pointer.
    pub(super) fn way(&mut self, constant: i64, steps: &SmallVec<[i64; 1]>) -> u32 {
        let shape = (constant, steps.clone());
        let next = self.moves.len() as u32;
        let number = *self.move_ids.entry(shape.clone()).or_insert(next);
        if number == next {
            self.moves.push(shape);
        }
        number
    }

    fn same(&self, a: u32, b: u32) -> bool {
        self.find(a) == self.find(b)
    }

    pub(super) fn load(&mut self, pointer: u32, to: u32) {
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

    pub(super) fn store(&mut self, pointer: u32, from: u32) {
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

    pub(super) fn transfer(&mut self, to: u32, from: u32, len: Option<u64>) {
        let number = self.transfers.len() as u32;
        self.transfers.push(Transfer { to, from, len, through: None });
        self.complex(to, Complex::Transfer(number));
        self.complex(from, Complex::Transfer(number));
    }

    pub(super) fn call(&mut self, site: Site, call: &Call) {
        let number = self.calls.len() as u32;
        self.calls.push((site, call.clone()));
        match call.callee {
            Called::Function(function) => self.link(number, function),
            Called::Pointer(Value::Node(pointer)) => self.complex(pointer.0, Complex::Call(number)),
            Called::Pointer(Value::Null) | Called::Assembly => {}
        }
    }

    /// A call reaches a function.
    pub(super) fn link(&mut self, number: u32, function: FunctionId) {
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
        let Some(result) = call.result else { return };
        match self.wrappers.get(&function).cloned() {
            Some(roots) => self.allocated(site, &call, result, &roots),
            None => {
                let returned = self.flows.result(function);
                self.edge(returned.0, result.0);
            }
        }
    }

    /// A call of a function that only allocates returns memory of its own.
    fn allocated(&mut self, site: Site, call: &Call, result: Node, roots: &[Root]) {
        for (number, root) in roots.iter().enumerate() {
            let number = u8::try_from(number).unwrap_or(u8::MAX);
            let object = self.object(ObjectKind::Heap(site, number), None);
            let location = self.location(object, 0);
            self.point(result.0, location);
            self.flows.made.entry(root.site).or_default().push(object);
            for copied in &root.copied {
                let sources = match copied {
                    Copied::Argument(index) => argument(call, *index as usize),
                    Copied::Node(node) => vec![node.0],
                };
                for from in sources {
                    self.transfer(result.0, from, None);
                    self.flows.copied.push((root.site, result, Node(from)));
                }
            }
        }
    }

    /// Whether a call through a pointer can be meant for a function: with another number of arguments, or a number where
    /// a pointer is expected, it could not run.
    pub(super) fn fits(&self, number: u32, function: FunctionId) -> bool {
        let (definition, arguments) =
            (self.module.function(function), &self.calls[number as usize].1.arguments);
        let enough = match definition.variadic {
            true => arguments.len() >= definition.parameters.len(),
            false => arguments.len() == definition.parameters.len(),
        };
        let is_pointer = |ty| matches!(self.module.ty(ty).kind, parallax_cmodule::TypeKind::Pointer);
        enough && definition.parameters.iter().zip(arguments).all(|(p, a)| is_pointer(p.ty) == a.pointer)
    }

    pub(super) fn parameter(&self, function: FunctionId, index: usize) -> u32 {
        self.flows.register(function, parallax_cmodule::Register(index as u32)).0
    }

    /// What a function of the library does with pointers.
    pub(super) fn external(&mut self, number: u32, site: Site, call: &Call, function: FunctionId) {
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
                    for from in argument(call, index.into()) {
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
                        argument(call, to.into())
                    };
                    for to in targets {
                        for from in argument(call, from.into()) {
                            self.transfer(to, from, None);
                        }
                    }
                }
                Effect::Stores(to, what) => {
                    let moved = self.extra();
                    for from in argument(call, what.into()) {
                        self.complex(from, Complex::Anywhere(moved));
                    }
                    for to in argument(call, to.into()) {
                        self.store(to, moved);
                    }
                }
                Effect::StoresNew(to) => {
                    let new = self.extra();
                    let location = self.heap(site, 1 + to);
                    self.point(new, location);
                    for to in argument(call, to.into()) {
                        self.store(to, new);
                    }
                }
                Effect::Calls(callee, _) | Effect::CallsBack(callee) | Effect::Passes(callee, ..) => {
                    for callee in argument(call, callee.into()) {
                        self.complex(callee, Complex::External(number));
                    }
                }
                Effect::CallsKept(index) => self.calls_kept(number, call, index.into()),
                Effect::StoresNull(_)
                | Effect::Scans(..)
                | Effect::Nullable
                | Effect::Dereferences(_)
                | Effect::Never => {}
            }
        }
        if listed.is_none() && !is_plain(name) {
            // Nobody knows what it does with functions that it gets: it may call them.
            for index in 0..call.arguments.len() {
                for callee in argument(call, index) {
                    self.complex(callee, Complex::External(number));
                }
                self.calls_kept(number, call, index);
            }
        }
        if let (Some(result), true, false) = (call.result, call.pointer, returns) {
            let object = self.object(ObjectKind::Outside(function), None);
            let location = self.location(object, 0);
            self.point(result.0, location);
        }
    }

    /// An external function calls what is kept where an argument points.
    fn calls_kept(&mut self, number: u32, call: &Call, index: usize) {
        for pointer in argument(call, index) {
            let (anywhere, kept) = (self.extra(), self.extra());
            self.complex(pointer, Complex::Anywhere(anywhere));
            self.load(anywhere, kept);
            self.complex(kept, Complex::External(number));
        }
    }

    /// An external function calls back.
    pub(super) fn call_back(&mut self, number: u32, function: FunctionId) {
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
        let parameters = self.module.function(function).parameters.len();
        for effect in listed {
            match *effect {
                Effect::Calls(_, source) => {
                    for from in argument(&call, source.into()) {
                        for index in 0..parameters {
                            let parameter = self.parameter(function, index);
                            self.complex(from, Complex::Anywhere(parameter));
                        }
                    }
                }
                Effect::Passes(_, source, index) if usize::from(index) < parameters => {
                    let parameter = self.parameter(function, index.into());
                    for from in argument(&call, source.into()) {
                        self.edge(from, parameter);
                    }
                }
                _ => {}
            }
        }
    }

    pub(super) fn heap(&mut self, site: Site, number: u8) -> u32 {
        let object = self.object(ObjectKind::Heap(site, number), None);
        self.location(object, 0)
    }

    pub(super) fn object(&mut self, kind: ObjectKind, ty: Option<parallax_cmodule::TypeId>) -> ObjectId {
        self.flows.make(kind, ty)
    }
}

fn argument(call: &Call, index: usize) -> Vec<u32> {
    let values = call.arguments.get(index).map(|a| a.values.as_slice()).unwrap_or_default();
    values
        .iter()
        .filter_map(|value| if let Value::Node(node) = value { Some(node.0) } else { None })
        .collect()
}
