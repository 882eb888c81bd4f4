//! What things are called in messages.

use crate::graph::{Graph, Var};
use parallax_cmodule::Module;
use parallax_points::{Node, ObjectId, Place, Points, Site};

/// `file:line` of an instruction.
pub(crate) fn location_of(module: &Module, site: Site) -> String {
    let id = site_location(module, site);
    format!("{}:{}", module.file_of(id), module.location(id).line)
}

/// The place of an instruction.
pub fn site_location(module: &Module, site: Site) -> parallax_cmodule::LocationId {
    let block = &module.function(site.function).blocks[site.block.0 as usize];
    block.instructions.get(site.index as usize).map_or(block.location, |i| i.location)
}

/// What a variable is called.
pub fn name_of(module: &Module, points: &Points, graph: &Graph, var: Var) -> String {
    if let Some(cell) = graph.as_cell(points, var) {
        let (object, offset, _) = points.held(cell);
        return object_name(module, points, object, offset);
    }
    match points.flows.owner(Node(var.0)) {
        Some((function, Place::Slot(slot))) => {
            let definition = module.function(function);
            let variable = definition.slots[slot as usize].variable;
            variable.map_or_else(|| "a local".into(), |v| module.variables[v.0 as usize].name.clone())
        }
        Some((function, Place::Register(register))) => {
            let definition = module.function(function);
            match definition.parameters.get(register.0 as usize) {
                Some(parameter) => {
                    format!("parameter {} of {}", parameter.name.trim_end_matches(".coerce"), definition.name)
                }
                None => "a value".into(),
            }
        }
        Some((function, Place::Result)) => format!("the result of {}", module.function(function).name),
        None => "memory".into(),
    }
}

/// What a place in memory is called.
pub fn object_name(module: &Module, points: &Points, object: ObjectId, offset: i64) -> String {
    use parallax_points::ObjectKind;
    let (name, ty) = match points.object(object).kind {
        ObjectKind::Global(global) => {
            let global = module.global(global);
            let variable = global.variable.map(|v| &module.variables[v.0 as usize]);
            (variable.map_or(global.name.clone(), |v| v.name.clone()), variable.and_then(|v| v.ty))
        }
        ObjectKind::Stack(site) => {
            let instruction = &module.function(site.function).blocks[site.block.0 as usize].instructions
                [site.index as usize];
            let variable = match &instruction.operation {
                parallax_cmodule::Operation::Alloca { variable, .. } => *variable,
                _ => None,
            };
            let variable = variable.map(|v| &module.variables[v.0 as usize]);
            (variable.map_or("a local".into(), |v| v.name.clone()), variable.and_then(|v| v.ty))
        }
        ObjectKind::Heap(site, _) => (format!("memory allocated at {}", location_of(module, site)), None),
        ObjectKind::Function(function) => (module.function(function).name.clone(), None),
        ObjectKind::Copy(function, index) => {
            let definition = module.function(function);
            (format!("parameter {} of {}", definition.parameters[index as usize].name, definition.name), None)
        }
        ObjectKind::Variadic(function) => {
            (format!("the arguments of {}", module.function(function).name), None)
        }
        ObjectKind::Constants => ("a constant".into(), None),
        ObjectKind::Outside(function) => (format!("memory of {}", module.function(function).name), None),
    };
    let field = crate::declared::field_path(module, ty, offset);
    match (field, offset) {
        (Some(field), _) => format!("{name}{field}"),
        (None, 0) => name,
        (None, offset) => format!("{name}+{offset}"),
    }
}
