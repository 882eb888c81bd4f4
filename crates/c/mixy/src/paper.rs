//! The inference of the original, for tables beside the paper's: constraints without direction, one qualifier for a field of all
//! structures of a type, and null where the text says `NULL` and nowhere else.
//!
//! It finds less (`p = 0` is no source, nor what `malloc` and `calloc` leave) and warns of more (what is next to null counts as
//! null). The graph is ours; this changes its edges and sources.

use crate::declared::Fields;
use crate::graph::{Edge, Origin, Source, Var, Why};
use crate::names::site_location;
use parallax_cexplore::source_text;
use parallax_cmodule::{DebugType, DebugTypeId, Location, Module};
use parallax_points::{CellId, ObjectKind, Points};
use rustc_hash::FxHashMap;
use std::path::Path;

/// Lines that a statement is looked for on.
const LONGEST: usize = 40;

/// Adds edges between each field of a structure and the same field of all others of its type; `next` is the first number that
/// no variable has, `var` that of a cell.
pub(crate) fn share_fields(
    module: &Module,
    points: &Points,
    edges: &mut Vec<Edge>,
    next: &mut u32,
    var: impl Fn(CellId) -> Var,
) {
    let mut shared: FxHashMap<(DebugTypeId, u64), Var> = FxHashMap::default();
    for &(object, at, ty) in &Fields::of(module, points).records {
        let (DebugType::Struct { fields, .. } | DebugType::Union { fields, .. }) =
            &module.debug_types[ty.0 as usize]
        else {
            continue;
        };
        for field in fields {
            let offset = field.offset_bits / 8;
            let Some(cell) = points.cell(module, object, at + offset as i64) else { continue };
            let hub = *shared.entry((ty, offset)).or_insert_with(|| {
                *next += 1;
                Var(*next - 1)
            });
            edges.push(Edge { from: var(cell), to: hub, site: None, why: Why::Alias });
        }
    }
}

/// Adds every edge the other way round.
pub(crate) fn without_direction(edges: &mut Vec<Edge>) {
    let back: Vec<Edge> = edges.iter().map(|edge| Edge { from: edge.to, to: edge.from, ..*edge }).collect();
    edges.extend(back);
}

/// Keeps the sources that are written as `NULL`.
pub(crate) fn keep_macros(module: &Module, points: &Points, sources: &mut Vec<Source>, first_cell: u32) {
    let mut files = Files { module, texts: FxHashMap::default() };
    sources.retain(|source| {
        let place = match source.site {
            Some(site) => Some(*module.location(site_location(module, site))),
            None => declaration(module, points, source.var, first_cell),
        };
        source.origin == Origin::Constant && place.is_some_and(|place| files.says_null(place))
    });
}

/// Where a variable that lives as long as the program is declared.
fn declaration(module: &Module, points: &Points, var: Var, first_cell: u32) -> Option<Location> {
    let cell = var.0.checked_sub(first_cell).filter(|cell| (*cell as usize) < points.cell_count())?;
    let (object, _, _) = points.held(CellId(cell));
    let ObjectKind::Global(global) = points.object(object).kind else { return None };
    let variable = &module.variables[module.global(global).variable?.0 as usize];
    Some(Location { file: variable.file, line: variable.line, ..Location::default() })
}

/// The texts of the module's files. One that cannot be read says nothing.
struct Files<'m> {
    module: &'m Module,
    texts: FxHashMap<u32, Vec<String>>,
}

impl Files<'_> {
    /// Whether the statement or declaration that goes on at a place has the word `NULL` in it.
    fn says_null(&mut self, place: Location) -> bool {
        let module = self.module;
        let lines = self.texts.entry(place.file).or_insert_with(|| {
            let path = module.files.get(place.file as usize);
            let text = path.and_then(|path| source_text(Path::new(path))).unwrap_or_default();
            text.lines().map(String::from).collect()
        });
        let first = (place.line as usize).saturating_sub(1);
        let mut depth = 0i32;
        for (number, line) in lines.iter().enumerate().skip(first).take(LONGEST) {
            let column = if number == first { (place.column as usize).saturating_sub(1) } else { 0 };
            let rest = line.get(column..).unwrap_or("");
            let mut word = String::new();
            for c in rest.chars().chain([' ']) {
                if c.is_alphanumeric() || c == '_' {
                    word.push(c);
                    continue;
                }
                if word == "NULL" {
                    return true;
                }
                word.clear();
                match c {
                    '{' => depth += 1,
                    '}' => depth -= 1,
                    ';' if depth <= 0 => return false,
                    _ => {}
                }
            }
        }
        false
    }
}
