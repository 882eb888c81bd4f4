//! What declarations say: where they attach in the graph, and blocks marked on functions.

use parallax_cmodule::Module;
use parallax_cmodule::annotations::{Promise, Subject};
use parallax_cmodule::{DebugType, DebugTypeId, FunctionId, Operation, Register};
use parallax_points::{Node, ObjectId, ObjectKind, Points, Site};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet};

/// How a function is analysed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Mode {
    /// By qualifier inference.
    Typed,
    /// By symbolic execution.
    Symbolic,
    /// Run by symbolic execution, and skipped by inference: it stands for a function whose body is not to be looked at.
    Model,
}

/// A declared position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Position {
    /// A node of the pointer analysis.
    Node(Node),
    /// Eight bytes of an object.
    Cell(ObjectId, i64),
}

/// What declarations say.
#[derive(Debug, Default)]
pub struct Declared {
    /// Positions that are never null, with what the declaration stands on.
    pub nonnull: BTreeMap<Position, String>,
    /// Positions that may be null.
    pub nullable: BTreeMap<Position, String>,
    /// Parameters of functions without a body that must not be null: function and argument.
    pub arguments: FxHashSet<(FunctionId, u32)>,
    /// Variables with a written initialiser: those that are null were meant to be.
    pub explicit: FxHashSet<ObjectId>,
    /// Modes marked on functions.
    pub modes: FxHashMap<FunctionId, Mode>,
    /// What could not be used, and why.
    pub gaps: BTreeSet<String>,
    /// What contradicts itself.
    pub errors: Vec<String>,
}

/// The prefix of annotations that mark blocks.
const MARK: &str = "mix:";

impl Declared {
    /// Reads the qualifiers of a module and puts them where they belong.
    pub fn of(module: &Module, points: &Points) -> Declared {
        let mut declared = Declared::default();
        let by_name: FxHashMap<&str, FunctionId> = module
            .functions
            .iter()
            .enumerate()
            .map(|(i, f)| (f.name.as_str(), FunctionId(i as u32)))
            .collect();
        declared.marks(module);
        let wanted = module.qualifiers.iter().any(|q| matches!(q.subject, Subject::Field { .. }));
        let fields = if wanted { Fields::of(module, points) } else { Fields::none(module) };
        let lasting = Lasting::of(module, points);
        for qualifier in &module.qualifiers {
            let nonnull = match &qualifier.promise {
                Promise::Nonnull => true,
                Promise::Nullable => false,
                Promise::Initialised => {
                    declared.explicit.extend(lasting.named(&qualifier.subject));
                    continue;
                }
                Promise::Annotate(_) | Promise::CountedBy(_) | Promise::Room(_) => continue,
            };
            let words = describe(&qualifier.subject);
            let mut at: Vec<Position> = Vec::new();
            match &qualifier.subject {
                Subject::Parameter { function, index } => {
                    let Some(&id) = by_name.get(function.as_str()) else { continue };
                    let definition = module.function(id);
                    let index =
                        index + usize::from(definition.parameters.first().is_some_and(|p| p.struct_return));
                    if !parallax_points::has_body(module, id) {
                        if nonnull && qualifier.depth == 0 {
                            declared.arguments.insert((id, index as u32));
                        }
                        continue;
                    }
                    if index >= definition.parameters.len() {
                        continue;
                    }
                    at.push(Position::Node(points.flows.register(id, Register(index as u32))));
                    at.extend(home(module, points, id, index));
                }
                Subject::Result { function } => {
                    let Some(&id) = by_name.get(function.as_str()) else { continue };
                    if !parallax_points::has_body(module, id) {
                        continue;
                    }
                    at.push(Position::Node(points.flows.result(id)));
                }
                subject @ Subject::Variable { .. } => {
                    at.extend(lasting.named(subject).map(|object| Position::Cell(object, 0)));
                }
                Subject::Local { function, name, line } => {
                    let Some(&id) = by_name.get(function.as_str()) else { continue };
                    at.extend(local(module, points, id, name, *line));
                }
                Subject::Field { record, field } => at.extend(fields.named(record, field)),
                Subject::Cast { line, .. } => {
                    declared
                        .gaps
                        .insert(format!("a cast to an annotated type is not followed (line {line})"));
                    continue;
                }
                Subject::Function { .. } => continue,
            }
            if qualifier.depth > 0 {
                at = deeper(module, points, at, qualifier.depth);
            }
            let into = if nonnull { &mut declared.nonnull } else { &mut declared.nullable };
            for position in at {
                into.entry(position).or_insert_with(|| words.clone());
            }
        }
        for position in declared.nonnull.keys() {
            if let Some(words) = declared.nullable.get(position) {
                declared.errors.push(format!("{words} is declared both never null and possibly null"));
            }
        }
        declared.errors.sort();
        declared.errors.dedup();
        declared
    }

    fn marks(&mut self, module: &Module) {
        let mut marked: BTreeMap<u32, BTreeSet<Mode>> = BTreeMap::new();
        let named = |name: &str| module.function_named(name);
        let mut note = |id: Option<FunctionId>, text: &str| {
            let word = text.strip_prefix(MARK)?;
            let mode = match word {
                "typed" => Mode::Typed,
                "symbolic" => Mode::Symbolic,
                "model" => Mode::Model,
                _ => return Some(format!("MIX({word}): a block is typed, symbolic or a model")),
            };
            if let Some(id) = id {
                marked.entry(id.0).or_default().insert(mode);
            }
            None
        };
        let mut wrong = Vec::new();
        for (number, function) in module.functions.iter().enumerate() {
            for text in &function.annotations {
                wrong.extend(note(Some(FunctionId(number as u32)), text));
            }
        }
        for qualifier in &module.qualifiers {
            if let (Subject::Function { function }, Promise::Annotate(text)) =
                (&qualifier.subject, &qualifier.promise)
            {
                wrong.extend(note(named(function), text));
            }
        }
        self.errors.extend(wrong);
        for (id, modes) in marked {
            let function = &module.functions[id as usize].name;
            let mut modes = modes.into_iter();
            let Some(first) = modes.next() else { continue };
            if modes.next().is_some() {
                self.errors.push(format!("{function} is marked with more than one kind of block"));
            }
            self.modes.insert(FunctionId(id), first);
        }
    }
}

/// Variables that live as long as the program, by their names in the source: the line of each, and what it is.
struct Lasting<'m>(FxHashMap<&'m str, Vec<(u32, ObjectId)>>);

impl<'m> Lasting<'m> {
    fn of(module: &'m Module, points: &Points) -> Self {
        let mut by_name: FxHashMap<&str, Vec<(u32, ObjectId)>> = FxHashMap::default();
        for (number, global) in module.globals.iter().enumerate() {
            let object = points.flows.object(ObjectKind::Global(parallax_cmodule::GlobalId(number as u32)));
            if let (Some(variable), Some(object)) = (global.variable, object) {
                let variable = &module.variables[variable.0 as usize];
                by_name.entry(variable.name.as_str()).or_default().push((variable.line, object));
            }
        }
        Lasting(by_name)
    }

    /// Those that a declaration names: one of a function also by its line.
    fn named(&self, subject: &Subject) -> impl Iterator<Item = ObjectId> + '_ {
        let (name, line) = match subject {
            Subject::Variable { name } => (name.as_str(), None),
            Subject::Local { name, line, .. } => (name.as_str(), Some(*line)),
            _ => ("", None),
        };
        let called = self.0.get(name).into_iter().flatten();
        called.filter(move |(at, _)| line.is_none_or(|line| line == *at)).map(|(_, object)| *object)
    }
}

fn describe(subject: &Subject) -> String {
    match subject {
        Subject::Function { function } => function.clone(),
        Subject::Parameter { function, index } => format!("parameter {} of {function}", index + 1),
        Subject::Result { function } => format!("the result of {function}"),
        Subject::Field { record, field } => format!("field {field} of {record}"),
        Subject::Variable { name } => format!("variable {name}"),
        Subject::Local { function, name, .. } => format!("variable {name} of {function}"),
        Subject::Cast { function, .. } => format!("a cast in {function}"),
    }
}

/// Where a parameter is kept: the slot or stack object that the entry block saves it in.
pub(crate) fn home(module: &Module, points: &Points, function: FunctionId, index: usize) -> Option<Position> {
    let block = module.function(function).blocks.first()?;
    block.instructions.iter().find_map(|instruction| match &instruction.operation {
        Operation::SlotStore { slot, value: parallax_cmodule::Operand::Register(register) }
            if register.0 as usize == index =>
        {
            Some(Position::Node(points.flows.slot(function, slot.0)))
        }
        Operation::Store { pointer: parallax_cmodule::Operand::Register(to), value, .. }
            if *value == parallax_cmodule::Operand::Register(Register(index as u32)) =>
        {
            let (object, _) = points.pointees(points.flows.register(function, *to)).next()?;
            Some(Position::Cell(object, 0))
        }
        _ => None,
    })
}

fn local(module: &Module, points: &Points, function: FunctionId, name: &str, line: u32) -> Vec<Position> {
    let definition = module.function(function);
    let is = |variable: Option<parallax_cmodule::VariableId>| {
        variable.is_some_and(|v| {
            let variable = &module.variables[v.0 as usize];
            variable.name == name && (line == 0 || variable.line == line)
        })
    };
    let mut found = Vec::new();
    for (number, slot) in definition.slots.iter().enumerate() {
        if is(slot.variable) {
            found.push(Position::Node(points.flows.slot(function, number as u32)));
        }
    }
    for (number, block) in definition.blocks.iter().enumerate() {
        for (index, instruction) in block.instructions.iter().enumerate() {
            if let Operation::Alloca { variable, .. } = &instruction.operation
                && is(*variable)
            {
                let block = parallax_cmodule::BlockId(number as u32);
                let site = Site { function, block, index: index as u32 };
                found.extend(points.flows.object(ObjectKind::Stack(site)).map(|o| Position::Cell(o, 0)));
            }
        }
    }
    // Variables that are static in a function are globals.
    for (number, global) in module.globals.iter().enumerate() {
        if is(global.variable) && !found.is_empty() {
            let kind = ObjectKind::Global(parallax_cmodule::GlobalId(number as u32));
            found.extend(points.flows.object(kind).map(|o| Position::Cell(o, 0)));
        }
    }
    found
}

/// Cells that positions lead to in so many steps.
fn deeper(module: &Module, points: &Points, mut at: Vec<Position>, depth: usize) -> Vec<Position> {
    for _ in 0..depth.min(16) {
        let mut next = BTreeSet::new();
        for position in at {
            let node = match position {
                Position::Node(node) => Some(node),
                Position::Cell(object, offset) => {
                    points.cell(module, object, offset).map(|c| points.held(c).2)
                }
            };
            for cell in node.map(|node| points.accessed(module, node)).unwrap_or_default() {
                let (object, offset, _) = points.held(cell);
                next.insert(Position::Cell(object, offset));
            }
        }
        at = next.into_iter().collect();
    }
    at
}

/// Where fields of structures are: by the types of variables, and for allocated memory by what points to it.
pub(crate) struct Fields<'m> {
    module: &'m Module,
    /// Objects with the structure they hold and where it starts.
    pub(crate) records: BTreeSet<(ObjectId, i64, DebugTypeId)>,
}

impl<'m> Fields<'m> {
    fn none(module: &'m Module) -> Self {
        Fields { module, records: BTreeSet::new() }
    }

    pub(crate) fn of(module: &'m Module, points: &Points) -> Self {
        let mut fields = Fields::none(module);
        for (id, object) in points.objects() {
            let variable = match object.kind {
                ObjectKind::Global(global) => module.global(global).variable,
                ObjectKind::Stack(site) => {
                    let block = &module.function(site.function).blocks[site.block.0 as usize];
                    match &block.instructions[site.index as usize].operation {
                        Operation::Alloca { variable, .. } => *variable,
                        _ => None,
                    }
                }
                _ => None,
            };
            if let Some(ty) = variable.and_then(|v| module.variables[v.0 as usize].ty) {
                fields.add(id, 0, ty);
            }
        }
        // What a variable of type `struct s *` points to is a `struct s`.
        for (number, function) in module.functions.iter().enumerate() {
            for (slot, held) in function.slots.iter().enumerate() {
                let Some(ty) = held.variable.and_then(|v| module.variables[v.0 as usize].ty) else {
                    continue;
                };
                let Some(pointee) = pointee(module, ty) else { continue };
                let node = points.flows.slot(FunctionId(number as u32), slot as u32);
                for (object, offset) in points.pointees(node) {
                    if points.object(object).ty.is_none() && offset != parallax_points::ANYWHERE {
                        fields.add(object, offset, pointee);
                    }
                }
            }
        }
        fields
    }

    /// A structure, and the structures in it.
    fn add(&mut self, object: ObjectId, at: i64, ty: DebugTypeId) {
        let mut waiting = vec![(at, ty, 0)];
        while let Some((at, ty, depth)) = waiting.pop() {
            let Some(ty) = parallax_cmachine::strip(self.module, Some(ty)) else { continue };
            match &self.module.debug_types[ty.0 as usize] {
                DebugType::Struct { fields, .. } | DebugType::Union { fields, .. }
                    if depth < 16 && self.records.insert((object, at, ty)) =>
                {
                    let inner = fields
                        .iter()
                        .filter_map(|f| Some((at + (f.offset_bits / 8) as i64, f.ty?, depth + 1)));
                    waiting.extend(inner);
                }
                DebugType::Array { element: Some(element), .. } if depth < 16 => {
                    waiting.push((at, *element, depth + 1))
                }
                _ => {}
            }
        }
    }

    fn named(&self, record: &str, field: &str) -> Vec<Position> {
        let mut found = Vec::new();
        for (object, at, ty) in &self.records {
            let (DebugType::Struct { name, fields, .. } | DebugType::Union { name, fields, .. }) =
                &self.module.debug_types[ty.0 as usize]
            else {
                continue;
            };
            let known_as = |alias: &DebugType| matches!(alias, DebugType::Alias { name, of: Some(of) } if name == record && of == ty);
            if name != record && !(name.is_empty() && self.module.debug_types.iter().any(known_as)) {
                continue;
            }
            let field = fields.iter().find(|f| f.name == field);
            found.extend(field.map(|f| Position::Cell(*object, at + (f.offset_bits / 8) as i64)));
        }
        found
    }
}

fn pointee(module: &Module, ty: DebugTypeId) -> Option<DebugTypeId> {
    let ty = parallax_cmachine::strip(module, Some(ty))?;
    match module.debug_types[ty.0 as usize] {
        DebugType::Pointer(pointee) => pointee,
        _ => None,
    }
}

/// The field of a type at an offset, as C writes it: `.a.b`, `[]` for elements.
pub fn field_path(module: &Module, ty: Option<DebugTypeId>, offset: i64) -> Option<String> {
    let mut path = String::new();
    let mut at = parallax_cmachine::strip(module, ty)?;
    let mut rest = u64::try_from(offset).ok()?;
    for _ in 0..16 {
        match &module.debug_types[at.0 as usize] {
            DebugType::Struct { fields, .. } => {
                let field = fields.iter().rev().find(|f| f.offset_bits / 8 <= rest)?;
                if !field.name.is_empty() {
                    path.push('.');
                    path.push_str(&field.name);
                }
                rest -= field.offset_bits / 8;
                at = parallax_cmachine::strip(module, field.ty)?;
            }
            DebugType::Array { element, .. } => {
                let step = parallax_cmachine::size_of(module, *element);
                path.push_str("[]");
                rest = if step > 0 { rest % step } else { 0 };
                at = parallax_cmachine::strip(module, *element)?;
            }
            _ => return Some(path),
        }
    }
    Some(path)
}
