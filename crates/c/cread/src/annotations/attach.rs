//! Putting qualifiers where the things they stand on are.

use super::canonical;
use parallax_cmodule::annotations::{Count, Promise, Qualifier, Subject};
use parallax_cmodule::{DebugType, Module};
use rustc_hash::FxHashMap;

/// Attaches qualifiers to the functions, variables and fields of a module, and keeps them all.
///
/// What the file with the definition says goes before what others say of it: a prototype elsewhere may promise more
/// than the definition relies on.
pub fn attach(module: &mut Module, found: Vec<Qualifier>) {
    let homes: Vec<String> = module.files.iter().map(|file| canonical(file)).collect();
    parameters(module, &found, &homes);
    variables(module, &found, &homes);
    fields(module, &found);
    let known: rustc_hash::FxHashSet<&str> = module.functions.iter().map(|f| f.name.as_str()).collect();
    let kept = found.iter().filter(|qualifier| match &qualifier.subject {
        Subject::Function { function }
        | Subject::Parameter { function, .. }
        | Subject::Result { function }
        | Subject::Local { function, .. }
        | Subject::Cast { function, .. } => known.contains(function.as_str()),
        Subject::Field { .. } | Subject::Variable { .. } => true,
    });
    module.qualifiers = kept.cloned().collect();
}

/// Whether several sayings come to "not null": those of the thing's own file if there are any.
fn nonnull<'q>(sayings: impl Iterator<Item = &'q Qualifier>, own: &str) -> bool {
    let relevant: Vec<&Qualifier> =
        sayings.filter(|q| matches!(q.promise, Promise::Nonnull | Promise::Nullable)).collect();
    let mine: Vec<&Qualifier> = relevant.iter().copied().filter(|q| q.unit == own).collect();
    let decisive = if mine.is_empty() { relevant } else { mine };
    decisive.iter().any(|q| q.promise == Promise::Nonnull)
}

fn parameters(module: &mut Module, found: &[Qualifier], homes: &[String]) {
    let mut sayings: FxHashMap<(&str, usize), Vec<&Qualifier>> = FxHashMap::default();
    for qualifier in found.iter().filter(|q| q.depth == 0) {
        if let Subject::Parameter { function, index } = &qualifier.subject {
            sayings.entry((function, *index)).or_default().push(qualifier);
        }
    }
    for number in 0..module.functions.len() {
        let function = &module.functions[number];
        let own = homes[module.location(function.location).file as usize].as_str();
        let hidden = usize::from(function.parameters.first().is_some_and(|p| p.struct_return));
        // Structures in registers are several parameters; then the numbers say nothing.
        if function.library
            || (function.is_defined() && function.signature.len() + hidden != function.parameters.len() + 1)
        {
            continue;
        }
        let promised: Vec<usize> = (hidden..function.parameters.len())
            .filter(|index| {
                let said =
                    sayings.get(&(function.name.as_str(), index - hidden)).into_iter().flatten().copied();
                // What is static belongs to its file alone.
                nonnull(said.filter(|q| function.exported || q.unit == own), own)
            })
            .collect();
        let rooms: Vec<(usize, Count)> = (hidden..function.parameters.len())
            .filter_map(|index| {
                let said = sayings.get(&(function.name.as_str(), index - hidden))?;
                let room = said.iter().filter(|q| function.exported || q.unit == own).find_map(|q| {
                    match q.promise {
                        Promise::Room(Count::Parameter(by)) => Some(Count::Parameter(by + hidden)),
                        Promise::Room(count) => Some(count),
                        _ => None,
                    }
                });
                Some((index, room?))
            })
            .collect();
        for index in promised {
            module.functions[number].parameters[index].nonnull = true;
        }
        for (index, room) in rooms {
            module.functions[number].parameters[index].room = Some(room);
        }
    }
}

fn variables(module: &mut Module, found: &[Qualifier], homes: &[String]) {
    let mut sayings: FxHashMap<&str, Vec<&Qualifier>> = FxHashMap::default();
    for qualifier in found.iter().filter(|q| q.depth == 0) {
        if let Subject::Variable { name } = &qualifier.subject {
            sayings.entry(name).or_default().push(qualifier);
        }
    }
    let mut promised = Vec::new();
    for global in &module.globals {
        let Some(id) = global.variable else { continue };
        let variable = &module.variables[id.0 as usize];
        let own = homes[variable.file as usize].as_str();
        let said = sayings.get(variable.name.as_str()).into_iter().flatten().copied();
        if nonnull(said.filter(|q| global.exported || q.unit == own), own) {
            promised.push(id);
        }
    }
    for id in promised {
        module.variables[id.0 as usize].nonnull = true;
    }
}

fn fields(module: &mut Module, found: &[Qualifier]) {
    let mut sayings: FxHashMap<(&str, &str), Vec<&Promise>> = FxHashMap::default();
    for qualifier in found.iter().filter(|q| q.depth == 0) {
        if let Subject::Field { record, field } = &qualifier.subject {
            sayings.entry((record, field)).or_default().push(&qualifier.promise);
        }
    }
    if sayings.is_empty() {
        return;
    }
    // A structure without a tag is known by its typedef.
    let mut typedefs: FxHashMap<u32, String> = FxHashMap::default();
    for ty in &module.debug_types {
        if let DebugType::Alias { name, of: Some(of) } = ty
            && !name.is_empty()
        {
            typedefs.insert(of.0, name.clone());
        }
    }
    for (number, ty) in module.debug_types.iter_mut().enumerate() {
        let (DebugType::Struct { name, fields, .. } | DebugType::Union { name, fields, .. }) = ty else {
            continue;
        };
        let unnamed = String::new();
        let record =
            if name.is_empty() { typedefs.get(&(number as u32)).unwrap_or(&unnamed) } else { &*name };
        for field in fields {
            for promise in sayings.get(&(record.as_str(), field.name.as_str())).into_iter().flatten() {
                match promise {
                    Promise::Nonnull => field.nonnull = true,
                    Promise::CountedBy(count) => field.counted_by = Some(count.clone()),
                    Promise::Nullable | Promise::Annotate(_) | Promise::Room(_) | Promise::Initialised => {}
                }
            }
        }
    }
}
