//! A guarded heap as a picture: references are circles, locations are boxes with a row for each field, guards stand on
//! edges. Hue tells the distance from the roots, null is a short bar, what the path condition excludes is a dashed stub.
//! The root at which a path failed is red and underlined, with its edges.

use crate::HeapError;
use crate::guarded::{Cell, Guarded, Loc, Reference, Target};
use crate::text;
use parallax_op::BoolOp;
use parallax_term::{Formula, Node};
use std::collections::HashMap;
use std::fmt::Write;

/// Guards with more conjuncts than this are folded to "5 terms".
const CONJUNCTS: usize = 2;
/// Longer labels are cut; the whole of it is in the tooltip.
const LABEL: usize = 44;

struct Edge {
    label: String,
    whole: String,
    to: Target,
    possible: bool,
}

enum Content {
    Text(String),
    Edges(Vec<Edge>),
}

struct Row {
    name: String,
    content: Content,
    failing: bool,
}

struct Shape {
    class: String,
    label: String,
    column: usize,
    rows: Vec<Row>,
}

/// What to draw.
pub struct Picture {
    roots: Vec<Row>,
    shapes: Vec<Shape>,
    index: HashMap<Loc, usize>,
}

impl Picture {
    /// Everything that the roots reach; the path failed at the root named `failing`, if there is one.
    pub fn new(
        heap: &Guarded<'_>,
        roots: &[(String, Cell)],
        failing: Option<&str>,
    ) -> Result<Self, HeapError> {
        let mut picture = Picture { roots: Vec::new(), shapes: Vec::new(), index: HashMap::new() };
        let mut queue = Vec::new();
        for (name, cell) in roots {
            if picture.roots.iter().any(|row| row.name == *name) {
                continue;
            }
            let failing = failing == Some(name);
            let row = Row { name: name.clone(), content: content(heap, cell)?, failing };
            picture.reach(&row, 1, &mut queue);
            picture.roots.push(row);
        }
        let mut at = 0;
        while let Some(&(loc, column)) = queue.get(at) {
            at += 1;
            let location = heap.location(loc);
            let mut rows = Vec::new();
            if let Some(length) = location.length {
                let length = text::term(heap.oracle.store, length);
                rows.push(Row { name: "length".into(), content: Content::Text(length), failing: false });
            }
            for (field, cell) in location.fld.iter().enumerate() {
                let name = heap.universe.place("", location.class, field);
                let row = Row { name, content: content(heap, cell)?, failing: false };
                picture.reach(&row, column + 1, &mut queue);
                rows.push(row);
            }
            let class = heap.universe.class(location.class).name.clone();
            picture.shapes.push(Shape { class, label: location.label.to_string(), column, rows });
        }
        Ok(picture)
    }

    fn reach(&mut self, row: &Row, column: usize, queue: &mut Vec<(Loc, usize)>) {
        let Content::Edges(edges) = &row.content else { return };
        for edge in edges {
            if let (Target::Loc(loc), true) = (edge.to, edge.possible)
                && !self.index.contains_key(&loc)
            {
                self.index.insert(loc, queue.len());
                queue.push((loc, column));
            }
        }
    }

    /// Graphviz.
    pub fn dot(&self) -> String {
        let mut out = String::from(
            "digraph heap {\n  rankdir=LR;\n  node [fontname=\"Inter, sans-serif\", fontsize=11];\n  edge [fontname=\"monospace\", fontsize=10];\n",
        );
        let mut count = 0;
        let mut reference = |out: &mut String, from: String, edges: &[Edge], colour: &str| {
            count += 1;
            let _ = writeln!(
                out,
                "  r{count} [shape=circle, label=\"\", width=0.15{colour}];\n  {from} -> r{count} [arrowhead=none{colour}];"
            );
            for (at, edge) in edges.iter().enumerate() {
                if !edge.possible {
                    continue;
                }
                let to = match edge.to {
                    Target::Loc(loc) => format!("l{}", self.index[&loc]),
                    Target::Nil | Target::Un => {
                        let label = if edge.to == Target::Nil { "null" } else { "?" };
                        let _ = writeln!(out, "  r{count}e{at} [shape=plaintext, label=\"{label}\"];");
                        format!("r{count}e{at}")
                    }
                };
                let _ = writeln!(out, "  r{count} -> {to} [label=\"{}\"{colour}];", quoted(&edge.label));
            }
        };
        for (at, root) in self.roots.iter().enumerate() {
            let value = match &root.content {
                Content::Text(value) => format!(" = {value}"),
                Content::Edges(_) => String::new(),
            };
            let _ = writeln!(
                out,
                "  v{at} [shape=plaintext, label=\"{}{}\"];",
                quoted(&root.name),
                quoted(&value)
            );
            if let Content::Edges(edges) = &root.content {
                let colour = if root.failing { ", color=\"#c0262d\"" } else { "" };
                reference(&mut out, format!("v{at}"), edges, colour);
            }
        }
        for (at, shape) in self.shapes.iter().enumerate() {
            let mut label = format!("{} {}", shape.class, shape.label);
            for row in &shape.rows {
                match &row.content {
                    Content::Text(value) => label.push_str(&format!("\\n{} = {value}", row.name)),
                    Content::Edges(_) => label.push_str(&format!("\\n{}", row.name)),
                }
            }
            let _ = writeln!(out, "  l{at} [shape=box, label=\"{}\"];", quoted(&label));
            for row in &shape.rows {
                if let Content::Edges(edges) = &row.content {
                    reference(&mut out, format!("l{at}"), edges, "");
                }
            }
        }
        out.push_str("}\n");
        out
    }

    /// Whether an edge that leaves a column leads to it or to an earlier one.
    fn is_back(&self, column: usize, edge: &Edge) -> bool {
        match edge.to {
            Target::Loc(loc) => edge.possible && self.shapes[self.index[&loc]].column <= column,
            _ => false,
        }
    }

    /// A picture that stands alone.
    pub fn svg(&self) -> String {
        Layout::new(self).svg(self)
    }
}

fn content(heap: &Guarded<'_>, cell: &Cell) -> Result<Content, HeapError> {
    match cell {
        Cell::Scalar(_) => Ok(Content::Text(heap.cell_text(cell))),
        Cell::Ref(reference) => Ok(Content::Edges(edges(heap, reference)?)),
    }
}

fn edges(heap: &Guarded<'_>, reference: &Reference) -> Result<Vec<Edge>, HeapError> {
    let store = heap.oracle.store;
    let mut edges = Vec::new();
    for entry in reference.iter() {
        let whole = text::conjuncts(store, &[entry.guard]).join(" and ");
        let terms = conjunct_count(heap, entry.guard);
        let label = if terms > CONJUNCTS || whole.chars().count() > LABEL {
            if terms > 1 {
                format!("{terms} terms")
            } else {
                format!("{}…", whole.chars().take(LABEL - 1).collect::<String>())
            }
        } else {
            whole.clone()
        };
        let possible = heap.path.sat(&heap.oracle, entry.guard)?.is_some();
        edges.push(Edge { label, whole, to: entry.target, possible });
    }
    Ok(edges)
}

fn conjunct_count(heap: &Guarded<'_>, guard: Formula) -> usize {
    let mut todo = vec![guard];
    let mut count = 0;
    while let Some(part) = todo.pop() {
        match heap.oracle.store.node(part) {
            Node::BoolOp(BoolOp::And, a, b) => todo.extend([a, b]),
            _ => count += 1,
        }
    }
    count
}

fn quoted(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace("\\\\n", "\\n")
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// The colour of failure.
const RED: &str = "#c0262d";
const MARGIN: f64 = 24.0;
const ROW: f64 = 20.0;
const HEAD: f64 = 24.0;
const STEP: f64 = 18.0;
const LETTER: f64 = 6.7;
/// Between two lanes of edges that lead back.
const LANE: f64 = 7.0;
/// Fill of the body, fill of the head, edge, ink, by distance from the roots.
const HUES: [[&str; 4]; 6] = [
    ["#f3f4f6", "#e3e5e9", "#b9bec8", "#2b2f36"],
    ["#eef2fd", "#dde5fb", "#9db2e8", "#1f3a8a"],
    ["#e9f6f5", "#d3ecea", "#82c4be", "#0f5a55"],
    ["#edf6ea", "#d9ecd3", "#97c48a", "#2c5e1f"],
    ["#faf3e4", "#f3e4c3", "#d6b36a", "#6b4a09"],
    ["#f9eef7", "#f0daec", "#cf98c4", "#712a63"],
];

/// Where things stand.
struct Layout {
    /// Left edge and width of the boxes, and the width that labels take, of each column.
    columns: Vec<(f64, f64, f64)>,
    /// Top of each box.
    tops: Vec<f64>,
    /// Top of each root.
    root_tops: Vec<f64>,
    /// Below everything: where edges run that lead back or stay in their column, so that they cross no box.
    lanes: f64,
    size: (f64, f64),
}

fn row_height(row: &Row) -> f64 {
    match &row.content {
        Content::Text(_) => ROW,
        Content::Edges(edges) => (edges.len() as f64 * STEP).max(ROW),
    }
}

fn width_of(text: &str) -> f64 {
    text.chars().count() as f64 * LETTER
}

impl Layout {
    fn new(picture: &Picture) -> Self {
        let count = picture.shapes.iter().map(|shape| shape.column).max().unwrap_or(0) + 1;
        let (mut boxes, mut labels) = (vec![40.0f64; count], vec![24.0f64; count]);
        let mut fit = |column: usize, row: &Row, head: f64| {
            let own = match &row.content {
                Content::Text(value) => width_of(&row.name) + width_of(value) + 40.0,
                Content::Edges(edges) => {
                    for edge in edges {
                        labels[column] = labels[column].max(width_of(&edge.label) + 30.0);
                    }
                    width_of(&row.name) + 24.0
                }
            };
            boxes[column] = boxes[column].max(own).max(head);
        };
        for root in &picture.roots {
            fit(0, root, 0.0);
        }
        for shape in &picture.shapes {
            let head = width_of(&shape.class) + width_of(&shape.label) + 30.0;
            for row in &shape.rows {
                fit(shape.column, row, head);
            }
            // A class without fields has a head all the same.
            fit(
                shape.column,
                &Row { name: String::new(), content: Content::Text(String::new()), failing: false },
                head,
            );
        }
        let mut columns = Vec::new();
        let mut left = MARGIN;
        for (width, label) in boxes.into_iter().zip(labels) {
            columns.push((left, width, label));
            left += width + 34.0 + label + 56.0;
        }
        let mut bottoms = vec![MARGIN; count];
        let mut root_tops = Vec::new();
        for root in &picture.roots {
            root_tops.push(bottoms[0]);
            bottoms[0] += row_height(root) + 12.0;
        }
        let mut tops = Vec::new();
        for shape in &picture.shapes {
            let bottom = &mut bottoms[shape.column];
            tops.push(*bottom);
            *bottom += HEAD + shape.rows.iter().map(row_height).sum::<f64>() + 28.0;
        }
        let lanes = bottoms.into_iter().fold(0.0, f64::max);
        let rows = picture.shapes.iter().flat_map(|shape| shape.rows.iter().map(|row| (shape.column, row)));
        let back = rows.map(|(column, row)| match &row.content {
            Content::Edges(edges) => edges.iter().filter(|edge| picture.is_back(column, edge)).count(),
            Content::Text(_) => 0,
        });
        let height = lanes + back.sum::<usize>() as f64 * LANE + MARGIN;
        Layout { columns, tops, root_tops, lanes, size: (left, height) }
    }

    fn svg(&self, picture: &Picture) -> String {
        let (width, height) = self.size;
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" viewBox=\"0 0 {width:.0} {height:.0}\" font-family=\"Inter, system-ui, sans-serif\" font-size=\"12\">\n<defs><marker id=\"a\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" orient=\"auto\"><path d=\"M0 1 7 4 0 7z\" fill=\"#5b6270\"/></marker></defs>\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n"
        );
        let mut lane = 0;
        for (root, &top) in picture.roots.iter().zip(&self.root_tops) {
            self.row(&mut out, picture, root, (0, top), HUES[0], &mut lane);
        }
        for (shape, &top) in picture.shapes.iter().zip(&self.tops) {
            let (left, width, _) = self.columns[shape.column];
            let [body, head, edge, ink] = HUES[1 + (shape.column - 1) % 5];
            let rows: f64 = shape.rows.iter().map(row_height).sum();
            let _ = writeln!(
                out,
                "<g><rect x=\"{left}\" y=\"{top}\" width=\"{width}\" height=\"{}\" rx=\"4\" fill=\"{body}\" stroke=\"{edge}\"/><path d=\"M{left} {}v-{}a4 4 0 0 1 4-4h{}a4 4 0 0 1 4 4v{}z\" fill=\"{head}\"/><text x=\"{}\" y=\"{}\" fill=\"{ink}\" font-weight=\"600\">{}</text><text x=\"{}\" y=\"{}\" fill=\"{ink}\" text-anchor=\"end\" font-family=\"JetBrains Mono, monospace\" font-size=\"11\">{}</text></g>",
                HEAD + rows,
                top + HEAD,
                HEAD - 4.0,
                width - 8.0,
                HEAD - 4.0,
                left + 8.0,
                top + 16.0,
                escaped(&shape.class),
                left + width - 8.0,
                top + 16.0,
                escaped(&shape.label)
            );
            let mut y = top + HEAD;
            for row in &shape.rows {
                let hue = HUES[1 + (shape.column - 1) % 5];
                self.row(&mut out, picture, row, (shape.column, y), hue, &mut lane);
                y += row_height(row);
            }
        }
        out.push_str("</svg>\n");
        out
    }

    /// A field or a root: its name, its value or its circle, and what leaves the circle.
    fn row(
        &self,
        out: &mut String,
        picture: &Picture,
        row: &Row,
        (column, top): (usize, f64),
        hue: [&str; 4],
        lane: &mut usize,
    ) {
        let (left, width, label) = self.columns[column];
        let height = row_height(row);
        let middle = top + height / 2.0;
        let [_, _, edge_colour, ink] = if row.failing { [RED; 4] } else { hue };
        let line = if row.failing { " text-decoration=\"underline\"" } else { "" };
        let _ = writeln!(
            out,
            "<text x=\"{}\" y=\"{}\" fill=\"{ink}\"{line} font-family=\"JetBrains Mono, monospace\">{}</text>",
            left + 8.0,
            middle + 4.0,
            escaped(&row.name)
        );
        let edges = match &row.content {
            Content::Text(value) => {
                let _ = writeln!(
                    out,
                    "<text x=\"{}\" y=\"{}\" fill=\"{ink}\" text-anchor=\"end\" font-family=\"JetBrains Mono, monospace\">{}</text>",
                    left + width - 8.0,
                    middle + 4.0,
                    escaped(value)
                );
                return;
            }
            Content::Edges(edges) => edges,
        };
        let circle = left + width + 18.0;
        let _ = writeln!(
            out,
            "<path d=\"M{} {middle}h{}\" stroke=\"{edge_colour}\"/><circle cx=\"{circle}\" cy=\"{middle}\" r=\"6\" fill=\"#fff\" stroke=\"{ink}\" stroke-width=\"1.5\"/>",
            left + width,
            12.0
        );
        let first = middle - (edges.len() as f64 - 1.0) * STEP / 2.0;
        for (at, edge) in edges.iter().enumerate() {
            let y = first + at as f64 * STEP;
            let (from, end) = (circle + 6.0, circle + 16.0 + label);
            let start =
                format!("M{from} {middle}C{} {middle} {from} {y} {} {y}H{end}", from + 8.0, from + 14.0);
            let style = if row.failing && edge.possible {
                "stroke=\"#c0262d\""
            } else if edge.possible {
                "stroke=\"#5b6270\""
            } else {
                "stroke=\"#b9bec8\" stroke-dasharray=\"3 3\""
            };
            match edge.to {
                // What cannot be is a stub: its line would only stand in the way.
                _ if !edge.possible => {
                    let _ = writeln!(out, "<path d=\"{start}\" fill=\"none\" {style}/>");
                }
                Target::Loc(loc) => {
                    let target = picture.index[&loc];
                    let (x, _, _) = self.columns[picture.shapes[target].column];
                    let ty = self.tops[target] + HEAD / 2.0;
                    if picture.is_back(column, edge) {
                        let aside = *lane as f64 % 8.0 * 4.0;
                        let low = self.lanes + *lane as f64 * LANE;
                        *lane += 1;
                        let (right, left) = (end + 6.0 + aside, x - 12.0 - aside);
                        let _ = writeln!(
                            out,
                            "<path d=\"{start}H{right}V{low}H{left}V{ty}H{x}\" fill=\"none\" stroke-linejoin=\"round\" {style} marker-end=\"url(#a)\"/>"
                        );
                    } else {
                        let bend = (x - end) / 2.0;
                        let _ = writeln!(
                            out,
                            "<path d=\"{start}C{} {y} {} {ty} {x} {ty}\" fill=\"none\" {style} marker-end=\"url(#a)\"/>",
                            end + bend,
                            x - bend
                        );
                    }
                }
                Target::Nil => {
                    let _ = writeln!(
                        out,
                        "<path d=\"{start}m0-5v10\" fill=\"none\" {style} stroke-width=\"1.4\"><title>null</title></path>"
                    );
                }
                Target::Un => {
                    let _ = writeln!(
                        out,
                        "<path d=\"{start}\" fill=\"none\" {style}/><text x=\"{}\" y=\"{}\" fill=\"#5b6270\">?</text>",
                        end + 3.0,
                        y + 4.0
                    );
                }
            }
            if edge.label != "true" && !edge.label.is_empty() {
                let _ = writeln!(
                    out,
                    "<text x=\"{}\" y=\"{}\" fill=\"{}\" font-family=\"JetBrains Mono, monospace\" font-size=\"10.5\">{}<title>{}</title></text>",
                    from + 16.0,
                    y - 3.0,
                    if edge.possible { "#2b2f36" } else { "#9aa1ad" },
                    escaped(&edge.label),
                    escaped(&edge.whole)
                );
            }
        }
    }
}
