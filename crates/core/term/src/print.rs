//! The readable notation of L.
//!
//! Small expressions print as trees. Large ones print what is shared once, as `let $1 = ... in ...`, so the text stays
//! proportional to the number of distinct expressions.

use crate::node::{Expr, Id, Node, Term};
use crate::store::Store;
use crate::update::StructUpdate;
use parallax_op::{BinOp, Bits, BoolOp, RelOp, UnOp};
use rustc_hash::FxHashMap;

/// Expressions whose tree has more nodes than this are printed with their shared parts named.
const TREE: u64 = 400;
/// The width that constants have when the text does not say.
pub(crate) const DEFAULT_WIDTH: u16 = 32;

/// How tightly the notation binds; an operand that binds looser than its place gets parentheses.
pub(crate) mod binding {
    pub const IFF: u8 = 1;
    pub const IMPLIES: u8 = 2;
    pub const OR: u8 = 3;
    pub const XOR: u8 = 4;
    pub const AND: u8 = 5;
    pub const NOT: u8 = 6;
    pub const RELATION: u8 = 7;
    pub const BITOR: u8 = 8;
    pub const BITXOR: u8 = 9;
    pub const BITAND: u8 = 10;
    pub const SHIFT: u8 = 11;
    pub const CONCAT: u8 = 12;
    pub const SUM: u8 = 13;
    pub const PRODUCT: u8 = 14;
    pub const PREFIX: u8 = 15;
    pub const POSTFIX: u8 = 16;

    use parallax_op::{BinOp, BoolOp};

    pub const fn of_bin(op: BinOp) -> u8 {
        match op {
            BinOp::Add | BinOp::Sub => SUM,
            BinOp::Mul | BinOp::Udiv | BinOp::Urem | BinOp::Sdiv | BinOp::Srem => PRODUCT,
            BinOp::And => BITAND,
            BinOp::Or => BITOR,
            BinOp::Xor => BITXOR,
            BinOp::Shl | BinOp::Lshr | BinOp::Ashr => SHIFT,
        }
    }

    pub const fn of_bool(op: BoolOp) -> u8 {
        match op {
            BoolOp::And => AND,
            BoolOp::Or => OR,
            BoolOp::Xor => XOR,
            BoolOp::Implies => IMPLIES,
            BoolOp::Iff => IFF,
        }
    }
}

impl Store {
    /// An expression in the readable notation.
    pub fn display(&self, id: impl Into<Id>) -> String {
        let id = id.into();
        let mut printer = Printer::new(self, [id]);
        let body = printer.expression(id);
        printer.finish(body)
    }

    /// A structure update in the readable notation: `({I -> T}, {F -> FE})`.
    pub fn display_update(&self, update: &StructUpdate) -> String {
        let mut printer = Printer::new(self, update.roots());
        let mut part = |entries: Vec<(std::rc::Rc<str>, Id)>| -> String {
            let entries: Vec<String> = entries
                .into_iter()
                .map(|(name, id)| format!("{name} -> {}", printer.expression(id)))
                .collect();
            format!("{{{}}}", entries.join(", "))
        };
        let constants = part(update.constants().map(|(s, value)| (self.info(s).name, value.id())).collect());
        let functions = part(update.functions().map(|(s, value)| (self.info(s).name, value.id())).collect());
        printer.finish(format!("({constants}, {functions})"))
    }
}

/// A constant: its width is written when it is not the default; small negative numbers are written as such.
fn constant(value: &Bits) -> String {
    let negative = value.to_i128().filter(|n| (-65536..0).contains(n) && value.width() > 16);
    let number = negative.map_or_else(|| value.to_string(), |n| n.to_string());
    if value.width() == DEFAULT_WIDTH { number } else { format!("{number}:{}", value.width()) }
}

enum Piece {
    Text(&'static str),
    Owned(String),
    Expression(Id, u8),
}

struct Printer<'s> {
    store: &'s Store,
    names: FxHashMap<Id, String>,
    bindings: Vec<String>,
}

impl<'s> Printer<'s> {
    fn new(store: &'s Store, roots: impl IntoIterator<Item = Id>) -> Self {
        let mut printer = Printer { store, names: FxHashMap::default(), bindings: Vec::new() };
        let roots: Vec<Id> = roots.into_iter().collect();
        let order = store.post_order(roots.iter().copied());
        let mut size: FxHashMap<Id, u64> = FxHashMap::default();
        let mut uses: FxHashMap<Id, u32> = FxHashMap::default();
        for &id in &order {
            let below: u64 = store.operands(id).map(|operand| size[&operand]).fold(1, u64::saturating_add);
            size.insert(id, below);
            for operand in store.operands(id) {
                *uses.entry(operand).or_default() += 1;
            }
        }
        for root in &roots {
            *uses.entry(*root).or_default() += 1;
        }
        if roots.iter().any(|root| size[root] > TREE) {
            for id in order {
                if uses[&id] > 1 && size[&id] > 2 {
                    let text = printer.expression(id);
                    let name = format!("${}", printer.bindings.len() + 1);
                    printer.bindings.push(format!("let {name} = {text} in\n"));
                    printer.names.insert(id, name);
                }
            }
        }
        printer
    }

    fn finish(self, body: String) -> String {
        let mut text = self.bindings.concat();
        text.push_str(&body);
        text
    }

    fn expression(&mut self, id: Id) -> String {
        let mut out = String::new();
        let mut stack = vec![Piece::Expression(id, 0)];
        while let Some(piece) = stack.pop() {
            match piece {
                Piece::Text(text) => out.push_str(text),
                Piece::Owned(text) => out.push_str(&text),
                Piece::Expression(id, place) => match self.names.get(&id) {
                    Some(name) => out.push_str(name),
                    None => {
                        let (binds, pieces) = self.pieces(id);
                        let parenthesised = binds < place;
                        if parenthesised {
                            stack.push(Piece::Text(")"));
                        }
                        stack.extend(pieces.into_iter().rev());
                        if parenthesised {
                            stack.push(Piece::Text("("));
                        }
                    }
                },
            }
        }
        out
    }

    /// How an expression binds, and its parts in order.
    fn pieces(&self, id: Id) -> (u8, Vec<Piece>) {
        use Piece::{Expression, Owned, Text};
        let store = self.store;
        let infix = |binds: u8, a: Id, symbol: &'static str, b: Id| {
            let parts =
                vec![Expression(a, binds), Text(" "), Text(symbol), Text(" "), Expression(b, binds + 1)];
            (binds, parts)
        };
        let call = |name: String, arguments: &[Id]| {
            let mut parts = vec![Owned(name), Text("(")];
            for (index, &argument) in arguments.iter().enumerate() {
                if index > 0 {
                    parts.push(Text(", "));
                }
                parts.push(Expression(argument, 0));
            }
            parts.push(Text(")"));
            (binding::POSTFIX, parts)
        };
        let atom = |text: String| (binding::POSTFIX, vec![Owned(text)]);
        let width = || match store.expr(id) {
            Expr::Term(term) => store.width(term),
            _ => 0,
        };
        match store.node(id) {
            Node::Bool(value) => atom(value.to_string()),
            Node::Const(value) => {
                let text = constant(&value);
                (if text.starts_with('-') { binding::PREFIX } else { binding::POSTFIX }, vec![Owned(text)])
            }
            Node::Symbol(symbol) | Node::FuncSymbol(symbol) => atom(store.info(symbol).name.to_string()),
            Node::ConstMap(value) => call(format!("const_map:{}", self.key_width(id)), &[value.id()]),
            Node::Un(op @ (UnOp::Not | UnOp::Neg), a) => {
                (binding::PREFIX, vec![Text(op.symbol()), Expression(a.id(), binding::PREFIX)])
            }
            Node::Un(op, a) => call(op.symbol().to_owned(), &[a.id()]),
            Node::Bin(BinOp::Add, a, b) => self.sum(a, b),
            Node::Bin(op, a, b) => infix(binding::of_bin(op), a.id(), op.symbol(), b.id()),
            Node::Rel(op, a, b) => self.relation(op, a, b),
            Node::BoolOp(op, a, b) => infix(binding::of_bool(op), a.id(), op.symbol(), b.id()),
            Node::Not(a) => match store.node(a) {
                Node::Rel(RelOp::Eq, a, b) => self.relation(RelOp::Ne, a, b),
                Node::BoolOp(BoolOp::Iff, a, b) => infix(binding::XOR, a.id(), BoolOp::Xor.symbol(), b.id()),
                _ => (binding::NOT, vec![Text("!"), Expression(a.id(), binding::NOT)]),
            },
            Node::Ite(c, t, e) => call("ite".into(), &[c.id(), t.id(), e.id()]),
            Node::IteBool(c, t, e) => call("ite".into(), &[c.id(), t.id(), e.id()]),
            Node::IteMap(c, t, e) => call("ite".into(), &[c.id(), t.id(), e.id()]),
            Node::Extract { of, low } => {
                let (_, mut parts) = call("extract".into(), &[of.id()]);
                parts.pop();
                parts.push(Owned(format!(", {}, {low})", low + width() - 1)));
                (binding::POSTFIX, parts)
            }
            Node::Concat(a, b) => {
                let parts = vec![
                    Expression(a.id(), binding::CONCAT + 1),
                    Text(" ++ "),
                    // Concatenation nests to the right, and reads back that way.
                    Expression(b.id(), binding::CONCAT),
                ];
                (binding::CONCAT, parts)
            }
            Node::Zext(a) => call(format!("zext:{}", width()), &[a.id()]),
            Node::Sext(a) => call(format!("sext:{}", width()), &[a.id()]),
            Node::FloatUn(op, rounding, a) => call(rounded(op.symbol(), rounding), &[a.id()]),
            Node::FloatBin(op, rounding, a, b) => call(rounded(op.symbol(), rounding), &[a.id(), b.id()]),
            Node::Fma(rounding, a, b, c) => call(rounded("fma", rounding), &[a.id(), b.id(), c.id()]),
            Node::FloatRel(op, a, b) => call(op.symbol().to_owned(), &[a.id(), b.id()]),
            Node::FloatToFloat(rounding, a) => {
                call(format!("{}:{}", rounded("ftof", rounding), width()), &[a.id()])
            }
            Node::IntToFloat { signed, rounding, of } => {
                let name = rounded(if signed { "stof" } else { "utof" }, rounding);
                call(format!("{name}:{}", width()), &[of.id()])
            }
            Node::FloatToInt { signed, rounding, of } => {
                let name = rounded(if signed { "ftos" } else { "ftou" }, rounding);
                call(format!("{name}:{}", width()), &[of.id()])
            }
            Node::Access(map, key) => {
                let parts = vec![
                    Expression(map.id(), binding::POSTFIX),
                    Text("("),
                    Expression(key.id(), 0),
                    Text(")"),
                ];
                (binding::POSTFIX, parts)
            }
            Node::Update(map, key, value) => {
                let parts = vec![
                    Expression(map.id(), binding::POSTFIX),
                    Text("["),
                    Expression(key.id(), 0),
                    Text(" -> "),
                    Expression(value.id(), 0),
                    Text("]"),
                ];
                (binding::POSTFIX, parts)
            }
        }
    }

    fn key_width(&self, id: Id) -> u16 {
        match self.store.expr(id) {
            Expr::Func(func) => self.store.key_width(func),
            _ => 0,
        }
    }

    /// A sum; what is added negatively is subtracted.
    fn sum(&self, a: Term, b: Term) -> (u8, Vec<Piece>) {
        use Piece::{Expression, Owned, Text};
        let left = Expression(a.id(), binding::SUM);
        let right = match self.store.node(b) {
            Node::Un(UnOp::Neg, inner) => vec![Text(" - "), Expression(inner.id(), binding::SUM + 1)],
            Node::Const(k)
                if k.width() > 1 && k.to_i128().is_some_and(|n| n < 0 && n > i128::MIN && !is_lowest(&k)) =>
            {
                vec![Text(" - "), Owned(constant(&UnOp::Neg.apply(&k)))]
            }
            _ => vec![Text(" + "), Expression(b.id(), binding::SUM + 1)],
        };
        (binding::SUM, std::iter::once(left).chain(right).collect())
    }

    /// A relation; a constant on the left moves to the right.
    fn relation(&self, op: RelOp, a: Term, b: Term) -> (u8, Vec<Piece>) {
        use Piece::{Expression, Text};
        let (op, a, b) = if self.store.as_constant(a).is_some() { (op.swapped(), b, a) } else { (op, a, b) };
        let place = binding::RELATION + 1;
        let parts = vec![
            Expression(a.id(), place),
            Text(" "),
            Text(op.symbol()),
            Text(" "),
            Expression(b.id(), place),
        ];
        (binding::RELATION, parts)
    }
}

fn is_lowest(k: &Bits) -> bool {
    UnOp::Neg.apply(k) == *k
}

fn rounded(name: &str, rounding: parallax_op::Rounding) -> String {
    format!("{name}.{}", rounding.smt2().to_lowercase())
}
