//! SMT-LIB 2 text.
//!
//! Everything shared, and everything deep, is a `define-fun` of its own: the text stays proportional to the number of
//! distinct expressions, and no reader of it has to recurse far. What address symbols promise is asserted.

use crate::node::{Expr, Formula, Id, Node, Op, Sort, Term};
use crate::store::{Store, Symbol};
use parallax_op::{BinOp, Bits, FloatFormat, UnOp, Width};
use rustc_hash::{FxHashMap, FxHashSet};
use std::fmt::Write;

/// Nesting past this gets a definition of its own.
const DEPTH: u32 = 48;

/// A script in the making: what to declare, define and assert.
#[derive(Default)]
pub struct Script {
    symbols: Vec<Symbol>,
    assertions: Vec<Formula>,
    definitions: Vec<(String, Id)>,
}

impl Script {
    /// An empty script.
    pub fn new() -> Self {
        Script::default()
    }

    /// Declares symbols, whether or not anything mentions them.
    pub fn declare(mut self, symbols: impl IntoIterator<Item = Symbol>) -> Self {
        self.symbols.extend(symbols);
        self
    }

    /// Asserts a formula.
    pub fn assert(mut self, formula: Formula) -> Self {
        self.assertions.push(formula);
        self
    }

    /// Defines a name for an expression.
    pub fn define(mut self, name: impl Into<String>, id: impl Into<Id>) -> Self {
        self.definitions.push((name.into(), id.into()));
        self
    }

    /// The text.
    pub fn render(&self, store: &Store) -> String {
        let given: Vec<Id> = self
            .definitions
            .iter()
            .map(|(_, id)| *id)
            .chain(self.assertions.iter().map(|a| a.id()))
            .collect();
        let mut symbols = self.symbols.clone();
        symbols.extend(store.symbols_in(given.iter().copied()));
        let mut known = FxHashSet::default();
        symbols.retain(|&symbol| known.insert(symbol));
        let axioms = store.axioms(symbols.iter().copied());
        let roots: Vec<Id> = given.into_iter().chain(axioms.iter().map(|axiom| axiom.id())).collect();

        let mut writer = Writer::new(store, &roots);
        let mut out = String::new();
        let logic = if writer.has_floats { "ALL" } else { "QF_ABV" };
        let _ = writeln!(out, "(set-logic {logic})");
        for symbol in symbols {
            let info = store.info(symbol);
            let _ = writeln!(out, "(declare-const {} {})", quoted(&info.name), sort(info.sort));
        }
        for axiom in axioms {
            let _ = writeln!(out, "(assert {})", writer.plain(axiom.id()));
        }
        writer.shared(&mut out);
        for assertion in &self.assertions {
            let _ = writeln!(out, "(assert {})", writer.plain(assertion.id()));
        }
        for (name, id) in &self.definitions {
            let text = writer.plain(*id);
            let _ = writeln!(out, "(define-fun {} () {} {text})", quoted(name), sort(store.sort(*id)));
        }
        out
    }
}

fn sort(sort: Sort) -> String {
    match sort {
        Sort::Bool => "Bool".to_owned(),
        Sort::Bits(width) => format!("(_ BitVec {width})"),
        Sort::Map { key, value } => format!("(Array (_ BitVec {key}) (_ BitVec {value}))"),
    }
}

/// A name as an SMT-LIB symbol.
fn quoted(name: &str) -> String {
    const RESERVED: &[&str] =
        &["as", "let", "forall", "exists", "match", "par", "true", "false", "not", "and", "or", "ite"];
    let simple = |c: char| c.is_ascii_alphanumeric() || "~!@$%^&*_-+=<>.?/".contains(c);
    let starts_well = !name.starts_with(|c: char| c.is_ascii_digit() || c == '.' || c == '@');
    if !name.is_empty() && starts_well && name.chars().all(simple) && !RESERVED.contains(&name) {
        return name.to_owned();
    }
    format!("|{}|", name.replace(['|', '\\'], "_"))
}

struct Writer<'s> {
    store: &'s Store,
    names: FxHashMap<Id, String>,
    to_share: Vec<Id>,
    lowered: FxHashMap<Id, Id>,
    has_floats: bool,
}

enum Piece {
    Text(String),
    Expression(Id),
}

impl<'s> Writer<'s> {
    fn new(store: &'s Store, roots: &[Id]) -> Self {
        let mut writer = Writer {
            store,
            names: FxHashMap::default(),
            to_share: Vec::new(),
            lowered: FxHashMap::default(),
            has_floats: false,
        };
        // What SMT-LIB has no operator for is replaced by what it means.
        for id in store.post_order(roots.iter().copied()) {
            match store.node(id) {
                Node::Un(op, a) if !matches!(op, UnOp::Not | UnOp::Neg) => {
                    writer.lowered.insert(id, store.lower_unop(op, a).id());
                }
                _ => writer.has_floats |= is_float(store.packed(id).op),
            }
        }
        let all_roots = roots.iter().copied().chain(writer.lowered.values().copied());
        let order = store.post_order(all_roots);
        let mut uses: FxHashMap<Id, u32> = FxHashMap::default();
        for &id in &order {
            for operand in store.operands(id) {
                *uses.entry(operand).or_default() += 1;
            }
        }
        for &root in roots {
            *uses.entry(root).or_default() += 1;
        }
        // Operands of a replaced node count through the replacement; the order stays an order of definition because a
        // replacement is only ever younger than its operands and is defined where the old node is used.
        let mut depth: FxHashMap<Id, u32> = FxHashMap::default();
        for &id in &order {
            let leaf = store.operands(id).next().is_none();
            let nested = store.operands(id).map(|operand| depth[&operand]).max().map_or(0, |d| d + 1);
            let shared = !leaf && (uses.get(&id).copied().unwrap_or(0) > 1 || nested >= DEPTH);
            let replaced = writer.lowered.contains_key(&id);
            if shared || replaced {
                writer.to_share.push(id);
            }
            depth.insert(id, if shared || replaced { 0 } else { nested });
        }
        writer
    }

    /// Writes the definitions of everything shared.
    fn shared(&mut self, out: &mut String) {
        // Replacements must come after their parts and before their users; age of the replaced node decides, parts of
        // the replacement that are younger are written out in place.
        for id in std::mem::take(&mut self.to_share) {
            let text = match self.lowered.get(&id) {
                Some(&lowered) => self.plain(lowered),
                None => self.expression(id, true),
            };
            let name = format!("${}", self.names.len() + 1);
            let _ = writeln!(out, "(define-fun {name} () {} {text})", sort(self.store.sort(id)));
            self.names.insert(id, name);
        }
    }

    fn plain(&self, id: Id) -> String {
        self.expression(id, false)
    }

    /// An expression; `open` writes its top out even if it has a name.
    fn expression(&self, id: Id, open: bool) -> String {
        let mut out = String::new();
        let mut stack = if open { self.pieces(id) } else { vec![Piece::Expression(id)] };
        stack.reverse();
        while let Some(piece) = stack.pop() {
            match piece {
                Piece::Text(text) => out.push_str(&text),
                Piece::Expression(id) => match self.names.get(&id) {
                    Some(name) => out.push_str(name),
                    None => stack.extend(self.pieces(id).into_iter().rev()),
                },
            }
        }
        out
    }

    fn pieces(&self, id: Id) -> Vec<Piece> {
        let store = self.store;
        let apply = |head: String, operands: &[Id]| {
            let mut pieces = vec![Piece::Text(format!("({head}"))];
            for &operand in operands {
                pieces.push(Piece::Text(" ".to_owned()));
                pieces.push(Piece::Expression(operand));
            }
            pieces.push(Piece::Text(")".to_owned()));
            pieces
        };
        let width = match store.expr(id) {
            Expr::Term(term) => store.width(term),
            _ => 0,
        };
        let text = |text: String| vec![Piece::Text(text)];
        match store.node(id) {
            Node::Bool(value) => text(value.to_string()),
            Node::Const(value) => text(value.smt2()),
            Node::Symbol(symbol) | Node::FuncSymbol(symbol) => text(quoted(&store.info(symbol).name)),
            Node::ConstMap(value) => apply(format!("(as const {})", sort(store.sort(id))), &[value.id()]),
            Node::Un(UnOp::Not, a) => apply("bvnot".into(), &[a.id()]),
            Node::Un(UnOp::Neg, a) => apply("bvneg".into(), &[a.id()]),
            Node::Un(..) => match self.lowered.get(&id) {
                Some(&lowered) => vec![Piece::Expression(lowered)],
                None => unreachable!("lowered before writing"),
            },
            Node::Bin(op, a, b) => apply(op.smt2().into(), &[a.id(), b.id()]),
            Node::Rel(op, a, b) => apply(op.smt2().into(), &[a.id(), b.id()]),
            Node::BoolOp(op, a, b) => apply(op.smt2().into(), &[a.id(), b.id()]),
            Node::Not(a) => apply("not".into(), &[a.id()]),
            Node::Ite(c, t, e) => apply("ite".into(), &[c.id(), t.id(), e.id()]),
            Node::IteBool(c, t, e) => apply("ite".into(), &[c.id(), t.id(), e.id()]),
            Node::IteMap(c, t, e) => apply("ite".into(), &[c.id(), t.id(), e.id()]),
            Node::Extract { of, low } => apply(format!("(_ extract {} {low})", low + width - 1), &[of.id()]),
            Node::Concat(a, b) => apply("concat".into(), &[a.id(), b.id()]),
            Node::Zext(a) => apply(format!("(_ zero_extend {})", width - store.width(a)), &[a.id()]),
            Node::Sext(a) => apply(format!("(_ sign_extend {})", width - store.width(a)), &[a.id()]),
            Node::Access(map, key) => apply("select".into(), &[map.id(), key.id()]),
            Node::Update(map, key, value) => apply("store".into(), &[map.id(), key.id(), value.id()]),
            _ => self.float(id, width),
        }
    }

    /// Floats are vectors on our side: each operand is read as a float, the result written back as a vector.
    fn float(&self, id: Id, width: Width) -> Vec<Piece> {
        let store = self.store;
        let as_float = |a: Term| -> Vec<Piece> {
            let format = FloatFormat::of_width(store.width(a)).expect("a float format");
            let (exponent, significand) = format.smt2();
            let mut pieces = vec![Piece::Text(format!("((_ to_fp {exponent} {significand}) "))];
            if format == FloatFormat::X87 {
                // The explicit integer bit goes.
                pieces.push(Piece::Text("(let ((x ".into()));
                pieces.push(Piece::Expression(a.id()));
                pieces.push(Piece::Text(")) (concat ((_ extract 79 64) x) ((_ extract 62 0) x))))".into()));
            } else {
                pieces.push(Piece::Expression(a.id()));
                pieces.push(Piece::Text(")".into()));
            }
            pieces
        };
        let apply = |head: String, operands: &[Term]| -> Vec<Piece> {
            let mut pieces = vec![Piece::Text(format!("({head}"))];
            for &operand in operands {
                pieces.push(Piece::Text(" ".into()));
                pieces.extend(as_float(operand));
            }
            pieces.push(Piece::Text(")".into()));
            pieces
        };
        let as_vector = |value: Vec<Piece>, format: FloatFormat| -> Vec<Piece> {
            let nan = format.nan().smt2();
            let back = if format == FloatFormat::X87 {
                "(let ((b (fp.to_ieee_bv r))) (concat ((_ extract 78 63) b) (ite (= ((_ extract 77 63) b) #b000000000000000) #b0 #b1) ((_ extract 62 0) b)))"
            } else {
                "(fp.to_ieee_bv r)"
            };
            let mut pieces = vec![Piece::Text("(let ((r ".into())];
            pieces.extend(value);
            pieces.push(Piece::Text(format!(")) (ite (fp.isNaN r) {nan} {back}))")));
            pieces
        };
        let result = || FloatFormat::of_width(width).expect("a float format");
        match store.node(id) {
            Node::FloatUn(op, r, a) => {
                as_vector(apply(format!("{} {}", op.smt2(), r.smt2()), &[a]), result())
            }
            Node::FloatBin(op @ parallax_op::FloatBinOp::Rem, _, a, b) => {
                as_vector(apply(op.smt2().to_owned(), &[a, b]), result())
            }
            Node::FloatBin(op, r, a, b) => {
                as_vector(apply(format!("{} {}", op.smt2(), r.smt2()), &[a, b]), result())
            }
            Node::Fma(r, a, b, c) => as_vector(apply(format!("fp.fma {}", r.smt2()), &[a, b, c]), result()),
            Node::FloatRel(op, a, b) => apply(op.smt2().to_owned(), &[a, b]),
            Node::FloatToFloat(r, a) => {
                let (exponent, significand) = result().smt2();
                as_vector(apply(format!("(_ to_fp {exponent} {significand}) {}", r.smt2()), &[a]), result())
            }
            Node::IntToFloat { signed, rounding, of } => {
                let (exponent, significand) = result().smt2();
                let name = if signed { "to_fp" } else { "to_fp_unsigned" };
                let value = vec![
                    Piece::Text(format!("((_ {name} {exponent} {significand}) {} ", rounding.smt2())),
                    Piece::Expression(of.id()),
                    Piece::Text(")".into()),
                ];
                as_vector(value, result())
            }
            Node::FloatToInt { signed, rounding, of } => {
                let format = FloatFormat::of_width(store.width(of)).expect("a float format");
                let (exponent, significand) = format.smt2();
                let one = Bits::one(width);
                let top = Bits::from_big(width, (width - 1).into());
                let (lowest, highest) = if signed {
                    let lowest = BinOp::Shl.apply(&one, &top);
                    (lowest.clone(), UnOp::Not.apply(&lowest))
                } else {
                    (Bits::zero(width), Bits::ones(width))
                };
                let power = if signed { width - 1 } else { width };
                let limit = (num_power(power), if signed { num_power(power) } else { "0.0".to_owned() });
                let literal = |number: &str| format!("((_ to_fp {exponent} {significand}) RNE {number})");
                let below = if signed { literal(&format!("(- {})", limit.1)) } else { literal("0.0") };
                let convert = if signed { "fp.to_sbv" } else { "fp.to_ubv" };
                let mut pieces =
                    vec![Piece::Text(format!("(let ((r (fp.roundToIntegral {} ", rounding.smt2()))];
                pieces.extend(as_float(of));
                pieces.push(Piece::Text(format!(
                    "))) (ite (fp.isNaN r) {} (ite (fp.geq r {}) {} (ite (fp.leq r {below}) {} ((_ {convert} {width}) RTZ r)))))",
                    Bits::zero(width).smt2(),
                    literal(&limit.0),
                    highest.smt2(),
                    lowest.smt2(),
                )));
                pieces
            }
            other => unreachable!("{other:?} is written elsewhere"),
        }
    }
}

/// 2^power as an SMT-LIB real.
fn num_power(power: Width) -> String {
    let mut digits = vec![1u8];
    for _ in 0..power {
        let mut carry = 0;
        for digit in &mut digits {
            let doubled = *digit * 2 + carry;
            *digit = doubled % 10;
            carry = doubled / 10;
        }
        if carry > 0 {
            digits.push(carry);
        }
    }
    let text: String = digits.iter().rev().map(|digit| char::from(b'0' + digit)).collect();
    format!("{text}.0")
}

fn is_float(op: Op) -> bool {
    matches!(
        op,
        Op::FloatUn(_)
            | Op::FloatBin(_)
            | Op::Fma(_)
            | Op::FloatRel(_)
            | Op::FloatToFloat(_)
            | Op::SintToFloat(_)
            | Op::UintToFloat(_)
            | Op::FloatToSint(_)
            | Op::FloatToUint(_)
    )
}

impl Store {
    /// A counting operator in terms of the others, for solvers that lack it.
    pub fn lower_unop(&self, op: UnOp, a: Term) -> Term {
        let width = self.width(a);
        let bit = |index: Width| self.extract(a, index, 1);
        let number = |value: Width| self.constant(&Bits::from_big(width, value.into()));
        let is_set = |index: Width| self.eq(bit(index), self.number(1, 1));
        match op {
            UnOp::Popcount => {
                (0..width).fold(number(0), |sum, index| self.add(sum, self.zext(bit(index), width)))
            }
            UnOp::Clz => (0..width).fold(number(width), |count, index| {
                self.ite(is_set(index), number(width - 1 - index), count)
            }),
            UnOp::Ctz => (0..width)
                .rev()
                .fold(number(width), |count, index| self.ite(is_set(index), number(index), count)),
            UnOp::Not | UnOp::Neg => self.unop(op, a),
        }
    }
}
