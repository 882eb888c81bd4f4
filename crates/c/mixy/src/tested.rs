//! What the program compares with null, anywhere.

use crate::graph::{Edge, Graph, Origin, Source, Var, Why};
use parallax_cmodule::{Constant, FunctionId, Module, Operand, Operation};
use parallax_op::RelOp;
use parallax_points::{ObjectKind, Points, has_body};
use rustc_hash::FxHashSet;

/// What the program compares with null: registers, and what their values were read from.
pub(crate) struct Tested(FxHashSet<Var>);

impl Tested {
    pub(crate) fn of(module: &Module, points: &Points, graph: &Graph) -> Tested {
        let mut found = FxHashSet::default();
        let is_null = |operand: &Operand| {
            let constant = operand.constant().map(|id| module.constant(id));
            matches!(constant, Some(Constant::Null))
        };
        for id in (0..module.functions.len() as u32).map(FunctionId).filter(|&id| has_body(module, id)) {
            let blocks = module.function(id).blocks.iter();
            for instruction in blocks.flat_map(|block| &block.instructions) {
                let Operation::Compare { op: RelOp::Eq | RelOp::Ne, a, b, .. } = &instruction.operation
                else {
                    continue;
                };
                let register = match (a, b) {
                    (Operand::Register(register), other) | (other, Operand::Register(register))
                        if is_null(other) =>
                    {
                        *register
                    }
                    _ => continue,
                };
                let tested = Var(points.flows.register(id, register).0);
                found.insert(tested);
                for edge in graph.into(tested) {
                    found.insert(edge.from);
                    if edge.why == Why::Load {
                        found.extend(graph.into(edge.from).map(|alias| alias.from));
                    }
                }
            }
        }
        Tested(found)
    }

    /// Whether null goes along these edges by value alone, and nothing on the way is tested.
    pub(crate) fn is_plain(&self, graph: &Graph, points: &Points, source: &Source, edges: &[Edge]) -> bool {
        let written = matches!(source.origin, Origin::Constant | Origin::External(_) | Origin::Nullable);
        let outlives = |var: Var| {
            let object = graph.as_cell(points, var).map(|cell| points.held(cell).0);
            object.is_some_and(|object| !matches!(points.object(object).kind, ObjectKind::Stack(_)))
        };
        let mut on_the_way = std::iter::once(source.var).chain(edges.iter().map(|edge| edge.to));
        written && on_the_way.all(|var| !outlives(var) && !self.0.contains(&var))
    }
}
