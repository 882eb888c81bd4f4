//! Value numbering before anything is solved: nodes that surely point to the same become one.
//!
//! Most registers are written once, by one instruction. What such an instruction makes depends on its operands alone, so
//! two that do the same with the same operand are the same node, and a copy is its original (Rountev and Chandra,
//! "Off-line variable substitution", 2000; Hardekopf and Lin, "Exploiting pointer and location equivalence", 2007). Of the
//! nodes of a program without optimisation, nine in ten go.

use super::Solver;
use crate::flow::{Called, Flow, Node, Value, has_body};
use crate::object::ObjectKind;
use parallax_cmodule::FunctionId;

/// For each node, how many flows lead into it; from two on it does not matter.
pub(super) struct Incoming(Vec<u8>);

impl Incoming {
    /// Counts what is known from the text.
    pub(super) fn of(solver: &Solver<'_>) -> Incoming {
        let flows = &solver.flows;
        let mut incoming = Incoming(vec![0; flows.nodes as usize]);
        for (_, flow) in &flows.flows {
            match flow {
                Flow::Copy { to, .. }
                | Flow::Move { to, .. }
                | Flow::Anywhere { to, .. }
                | Flow::New { to, .. }
                | Flow::Load { to: Some(to), .. } => incoming.add(*to),
                Flow::Call(call) => incoming.call(solver, call),
                _ => {}
            }
        }
        for (node, _, _) in &flows.addresses {
            incoming.many(*node);
        }
        // What has an address may be called from anywhere; the first function from outside.
        for (number, function) in solver.module.functions.iter().enumerate() {
            let id = FunctionId(number as u32);
            if flows.object(ObjectKind::Function(id)).is_some() {
                for index in 0..function.parameters.len() {
                    incoming.many(Node(solver.parameter(id, index)));
                }
            }
        }
        incoming
    }

    fn call(&mut self, solver: &Solver<'_>, call: &crate::flow::Call) {
        let direct = match call.callee {
            Called::Function(id) if has_body(solver.module, id) => Some(id),
            _ => None,
        };
        let Some(id) = direct else {
            // Its targets, or what it does, are found later.
            call.result.into_iter().for_each(|result| self.many(result));
            return;
        };
        call.result.into_iter().for_each(|result| self.add(result));
        let parameters = solver.module.function(id).parameters.len();
        for (index, argument) in call.arguments.iter().enumerate().take(parameters) {
            let parameter = Node(solver.parameter(id, index));
            match argument.by_value {
                Some(_) => self.many(parameter),
                None => argument.values.iter().for_each(|_| self.add(parameter)),
            }
        }
    }

    fn add(&mut self, node: Node) {
        self.0[node.0 as usize] = self.0[node.0 as usize].saturating_add(1);
    }

    fn many(&mut self, node: Node) {
        self.0[node.0 as usize] = u8::MAX;
    }

    /// Whether one flow alone leads into a node.
    pub(super) fn is_single(&self, node: Node) -> bool {
        self.0[node.0 as usize] == 1
    }
}

impl Solver<'_> {
    /// Makes nodes one that surely point to the same.
    pub(super) fn number(&mut self, incoming: &Incoming) {
        for (a, b) in std::mem::take(&mut self.flows.same) {
            if incoming.is_single(a) {
                self.merge(a.0, b.0);
            }
        }
        let flows = std::mem::take(&mut self.flows.flows);
        for (_, flow) in &flows {
            match flow {
                Flow::Copy { from: Value::Node(from), to } if incoming.is_single(*to) => {
                    self.merge(from.0, to.0);
                }
                Flow::Move { from: Value::Node(from), to, constant, steps } if incoming.is_single(*to) => {
                    let number = self.way(*constant, steps);
                    let from = self.find_mut(from.0);
                    match self.numbered.get(&(from, number)) {
                        Some(&known) => {
                            self.merge(known, to.0);
                        }
                        None => {
                            self.numbered.insert((from, number), to.0);
                        }
                    }
                }
                Flow::Load { pointer: Value::Node(pointer), to: Some(to) } if incoming.is_single(*to) => {
                    let pointer = self.find_mut(pointer.0);
                    match self.readers.get(&pointer) {
                        Some(&reader) => {
                            self.merge(reader, to.0);
                        }
                        None => {
                            self.readers.insert(pointer, to.0);
                            self.complex(pointer, super::Complex::Load(to.0));
                        }
                    }
                }
                Flow::Call(call) => self.number_call(incoming, call),
                _ => {}
            }
        }
        self.flows.flows = flows;
    }

    fn number_call(&mut self, incoming: &Incoming, call: &crate::flow::Call) {
        let Called::Function(id) = call.callee else { return };
        if !has_body(self.module, id) {
            return;
        }
        if let Some(result) = call.result
            && incoming.is_single(result)
            && !self.wrappers.contains_key(&id)
        {
            self.merge(self.flows.result(id).0, result.0);
        }
        let parameters = self.module.function(id).parameters.len();
        for (index, argument) in call.arguments.iter().enumerate().take(parameters) {
            let parameter = Node(self.parameter(id, index));
            if let ([Value::Node(from)], true) = (argument.values.as_slice(), incoming.is_single(parameter)) {
                self.merge(from.0, parameter.0);
            }
        }
    }
}
