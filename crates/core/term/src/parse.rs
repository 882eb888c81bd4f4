//! Reading the notation that `print` writes.
//!
//! Names must be declared in the store. A number takes its width from its neighbour, from a suffix (`255:8`), or is
//! 32 bits wide.

use crate::node::{Expr, Formula, FuncExpr, Term};
use crate::print::{DEFAULT_WIDTH, binding};
use crate::store::Store;
use crate::update::{Scalar, StructUpdate};
use parallax_op::{
    BinOp, Bits, BoolOp, FloatBinOp, FloatFormat, FloatRelOp, FloatUnOp, MAX_WIDTH, RelOp, Rounding, UnOp,
    Width,
};
use parallax_source::{Diagnostic, Span};
use rustc_hash::FxHashMap;

/// Nesting past this is refused: the reader recurses, and a person does not write it.
const DEPTH: usize = 500;

type Parsed<T> = Result<T, Diagnostic>;

/// Reads a formula.
pub fn parse_formula(store: &Store, text: &str) -> Parsed<Formula> {
    let mut reader = Reader::new(store, text);
    let value = reader.whole()?;
    reader.formula(value)
}

/// Reads a term; numbers that nothing else gives a width have `width` bits.
pub fn parse_term(store: &Store, text: &str, width: Width) -> Parsed<Term> {
    let mut reader = Reader::new(store, text);
    let value = reader.whole()?;
    reader.term(value, width)
}

/// Reads a structure update: `({I -> T, ...}, {F -> FE, ...})`.
pub fn parse_update(store: &Store, text: &str) -> Parsed<StructUpdate> {
    let mut reader = Reader::new(store, text);
    reader.lets()?;
    let mut update = StructUpdate::identity();
    reader.expect("(")?;
    reader.entries(&mut update, false)?;
    reader.expect(",")?;
    reader.entries(&mut update, true)?;
    reader.expect(")")?;
    reader.end()?;
    Ok(update)
}

/// A value whose width may still be open.
#[derive(Clone)]
enum Value {
    Expr(Expr),
    Literal { text: String, negative: bool },
}

#[derive(Clone)]
struct Spanned {
    value: Value,
    span: Span,
}

struct Reader<'a> {
    store: &'a Store,
    text: &'a str,
    at: usize,
    depth: usize,
    names: FxHashMap<String, Expr>,
}

/// Longest first, so that `<=>` is not read as `<=`.
const INFIX: &[(&str, u8)] = &[
    ("<=>", binding::IFF),
    ("<=u", binding::RELATION),
    (">=u", binding::RELATION),
    (">>u", binding::SHIFT),
    (">>s", binding::SHIFT),
    ("=>", binding::IMPLIES),
    ("||", binding::OR),
    ("^^", binding::XOR),
    ("&&", binding::AND),
    ("!=", binding::RELATION),
    ("<=", binding::RELATION),
    (">=", binding::RELATION),
    ("<u", binding::RELATION),
    (">u", binding::RELATION),
    ("<<", binding::SHIFT),
    ("++", binding::CONCAT),
    ("/u", binding::PRODUCT),
    ("/s", binding::PRODUCT),
    ("%u", binding::PRODUCT),
    ("%s", binding::PRODUCT),
    ("->", 0),
    ("=", binding::RELATION),
    ("<", binding::RELATION),
    (">", binding::RELATION),
    ("|", binding::BITOR),
    ("^", binding::BITXOR),
    ("&", binding::BITAND),
    ("+", binding::SUM),
    ("-", binding::SUM),
    ("*", binding::PRODUCT),
];

impl<'a> Reader<'a> {
    fn new(store: &'a Store, text: &'a str) -> Self {
        Reader { store, text, at: 0, depth: 0, names: FxHashMap::default() }
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn skip_space(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    fn here(&self) -> Span {
        let length = self.rest().chars().next().map_or(0, char::len_utf8);
        Span::new(self.at, self.at + length)
    }

    fn error<T>(&self, span: Span, message: impl Into<String>) -> Parsed<T> {
        Err(Diagnostic::new(span, message))
    }

    fn found(&self) -> String {
        self.rest().chars().next().map_or_else(|| "the end".into(), |c| format!("`{c}`"))
    }

    fn accept(&mut self, token: &str) -> bool {
        self.skip_space();
        let fits = self.rest().starts_with(token);
        if fits {
            self.at += token.len();
        }
        fits
    }

    fn expect(&mut self, token: &str) -> Parsed<()> {
        if self.accept(token) {
            return Ok(());
        }
        self.error(self.here(), format!("expected `{token}`, found {}", self.found()))
    }

    fn end(&mut self) -> Parsed<()> {
        self.skip_space();
        if self.rest().is_empty() {
            return Ok(());
        }
        self.error(self.here(), format!("expected an operator or the end, found {}", self.found()))
    }

    fn whole(&mut self) -> Parsed<Spanned> {
        self.lets()?;
        let value = self.expression(1)?;
        self.end()?;
        Ok(value)
    }

    fn lets(&mut self) -> Parsed<()> {
        while self.accept("let ") {
            self.skip_space();
            let name = self.word();
            if !name.starts_with('$') {
                return self.error(self.here(), "expected a name like `$1` after `let`");
            }
            self.expect("=")?;
            let value = self.expression(1)?;
            let expr = self.settle(value, DEFAULT_WIDTH)?;
            self.names.insert(name.to_owned(), expr);
            self.expect("in")?;
        }
        Ok(())
    }

    fn word(&mut self) -> &'a str {
        let is_part = |c: char| c.is_alphanumeric() || "_.$!@'#".contains(c);
        let mut end = self.rest().find(|c: char| !is_part(c)).unwrap_or(self.rest().len());
        // `!` belongs to a name (fresh ones have it) unless it starts `!=`.
        if let Some(bang) = self.rest()[..end].find('!')
            && self.rest()[bang + 1..].starts_with('=')
        {
            end = bang;
        }
        let word = &self.rest()[..end];
        self.at += end;
        word
    }

    /// The width after a colon, where there is one.
    fn suffix(&mut self) -> Parsed<Option<Width>> {
        if !self.rest().starts_with(':') {
            return Ok(None);
        }
        self.at += 1;
        let start = self.at;
        let digits = self.rest().find(|c: char| !c.is_ascii_digit()).unwrap_or(self.rest().len());
        self.at += digits;
        match self.text[start..self.at].parse::<Width>() {
            Ok(width) if (1..=MAX_WIDTH).contains(&width) => Ok(Some(width)),
            _ => self.error(Span::new(start, self.at), format!("a width is a number from 1 to {MAX_WIDTH}")),
        }
    }

    fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth == DEPTH {
            return self.error(self.here(), format!("nested more than {DEPTH} levels deep"));
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    /// Operators that bind at least as tightly as `place`.
    fn expression(&mut self, place: u8) -> Parsed<Spanned> {
        self.deeper(|reader| {
            let mut left = reader.prefix()?;
            loop {
                reader.skip_space();
                let rest = reader.rest();
                let Some(&(symbol, binds)) = INFIX.iter().find(|(symbol, _)| rest.starts_with(symbol)) else {
                    break;
                };
                if binds < place || binds == 0 {
                    break;
                }
                reader.at += symbol.len();
                // Concatenation nests to the right.
                let right = reader.expression(if symbol == "++" { binds } else { binds + 1 })?;
                left = reader.infix(symbol, left, right)?;
            }
            Ok(left)
        })
    }

    fn prefix(&mut self) -> Parsed<Spanned> {
        self.skip_space();
        let start = self.at;
        let (operator, place) = match self.rest().chars().next() {
            Some('!') => ('!', binding::NOT),
            Some('~') => ('~', binding::PREFIX),
            Some('-') => ('-', binding::PREFIX),
            _ => return self.postfix(),
        };
        self.at += 1;
        let operand = self.expression(place)?;
        let span = Span::new(start, self.at);
        let value = match (operator, operand.value.clone()) {
            ('-', Value::Literal { text, negative }) => Value::Literal { text, negative: !negative },
            ('!', _) => Value::Expr(Expr::Formula(self.store.not(self.formula(operand)?))),
            (operator, _) => {
                let op = if operator == '-' { UnOp::Neg } else { UnOp::Not };
                Value::Expr(Expr::Term(self.store.unop(op, self.term(operand, DEFAULT_WIDTH)?)))
            }
        };
        Ok(Spanned { value, span })
    }

    fn postfix(&mut self) -> Parsed<Spanned> {
        let mut value = self.atom()?;
        loop {
            let start = value.span.start as usize;
            if self.accept("(") {
                let map = self.func(value)?;
                let key = self.expression(1)?;
                let key = self.term_of_width(key, self.store.key_width(map))?;
                self.expect(")")?;
                let expr = Expr::Term(self.store.access(map, key));
                value = Spanned { value: Value::Expr(expr), span: Span::new(start, self.at) };
            } else if self.accept("[") {
                let map = self.func(value)?;
                let key = self.expression(1)?;
                let key = self.term_of_width(key, self.store.key_width(map))?;
                self.expect("->")?;
                let written = self.expression(1)?;
                let written = self.term_of_width(written, self.store.packed(map).width)?;
                self.expect("]")?;
                let expr = Expr::Func(self.store.update(map, key, written));
                value = Spanned { value: Value::Expr(expr), span: Span::new(start, self.at) };
            } else {
                return Ok(value);
            }
        }
    }

    fn atom(&mut self) -> Parsed<Spanned> {
        self.skip_space();
        let start = self.at;
        if self.accept("(") {
            let inner = self.expression(1)?;
            self.expect(")")?;
            return Ok(Spanned { value: inner.value, span: Span::new(start, self.at) });
        }
        let word = self.word();
        if word.is_empty() {
            return self.error(self.here(), format!("expected an expression, found {}", self.found()));
        }
        if word.starts_with(|c: char| c.is_ascii_digit()) {
            let width = self.suffix()?;
            let span = Span::new(start, self.at);
            let literal = Value::Literal { text: word.to_owned(), negative: false };
            let value = match width {
                Some(width) => Value::Expr(Expr::Term(self.literal(word, false, width, span)?)),
                None => literal,
            };
            return Ok(Spanned { value, span });
        }
        let value = match word {
            "true" => Expr::Formula(self.store.true_()),
            "false" => Expr::Formula(self.store.false_()),
            _ => match self.names.get(word).copied() {
                Some(known) => known,
                None => match self.store.lookup(word) {
                    Some(symbol) => self.store.expr_of(symbol),
                    None => return self.builtin(word, start),
                },
            },
        };
        Ok(Spanned { value: Value::Expr(value), span: Span::new(start, self.at) })
    }

    /// Operators written as functions.
    fn builtin(&mut self, name: &str, start: usize) -> Parsed<Spanned> {
        let name_span = Span::new(start, self.at);
        let width = self.suffix()?;
        let (base, rounding) = match name.split_once('.') {
            Some((base, mode)) => {
                let rounding = Rounding::ALL.iter().copied().find(|r| r.smt2().eq_ignore_ascii_case(mode));
                match rounding {
                    Some(rounding) => (base, rounding),
                    None => return self.error(name_span, format!("unknown identifier `{name}`")),
                }
            }
            None => (name, Rounding::default()),
        };
        const KNOWN: &[&str] =
            &["ite", "extract", "zext", "sext", "const_map", "fma", "ftof", "stof", "utof", "ftos", "ftou"];
        let unary = UnOp::ALL.iter().copied().find(|op| op.symbol() == base);
        let float_un = FloatUnOp::ALL.iter().copied().find(|op| op.symbol() == base);
        let float_bin = FloatBinOp::ALL.iter().copied().find(|op| op.symbol() == base);
        let float_rel = FloatRelOp::ALL.iter().copied().find(|op| op.symbol() == base);
        let is_known = KNOWN.contains(&base)
            || unary.is_some()
            || float_un.is_some()
            || float_bin.is_some()
            || float_rel.is_some();
        if !is_known {
            return self.error(name_span, format!("unknown identifier `{name}`"));
        }
        self.expect("(")?;
        let mut arguments = Vec::new();
        loop {
            arguments.push(self.expression(1)?);
            if !self.accept(",") {
                break;
            }
        }
        self.expect(")")?;
        let span = Span::new(start, self.at);
        let store = self.store;
        let count = match base {
            "ite" | "extract" | "fma" => 3,
            _ if float_bin.is_some() || float_rel.is_some() => 2,
            _ => 1,
        };
        if arguments.len() != count {
            return self.error(span, format!("`{base}` takes {count} operands, not {}", arguments.len()));
        }
        let mut arguments = arguments.into_iter();
        let mut next = || arguments.next().expect("counted");
        let needs_width = |reader: &Self| match width {
            Some(width) => Ok(width),
            None => reader.error(name_span, format!("`{base}` needs a width, as in `{base}:64(...)`")),
        };
        let expr = match base {
            "ite" => {
                let condition = self.formula(next())?;
                let (t, e) = (next(), next());
                match self.unify(t, e)? {
                    (Expr::Term(t), Expr::Term(e)) => Expr::Term(store.ite(condition, t, e)),
                    (Expr::Formula(t), Expr::Formula(e)) => Expr::Formula(store.ite_bool(condition, t, e)),
                    (Expr::Func(t), Expr::Func(e)) => Expr::Func(store.ite_map(condition, t, e)),
                    _ => return self.error(span, "the branches of `ite` are of different sorts"),
                }
            }
            "extract" => {
                let of = self.term(next(), DEFAULT_WIDTH)?;
                let (high, low) = (self.index(next())?, self.index(next())?);
                if low > high || high >= store.width(of) {
                    let width = store.width(of);
                    return self.error(span, format!("bits {high} to {low} of a vector of {width} bits"));
                }
                Expr::Term(store.extract(of, low, high - low + 1))
            }
            "zext" | "sext" => {
                let of = self.term(next(), DEFAULT_WIDTH)?;
                let width = needs_width(self)?;
                if width < store.width(of) {
                    return self.error(span, format!("{} bits do not fit into {width}", store.width(of)));
                }
                Expr::Term(if base == "zext" { store.zext(of, width) } else { store.sext(of, width) })
            }
            "const_map" => {
                let value = self.term(next(), DEFAULT_WIDTH)?;
                Expr::Func(store.constant_map(needs_width(self)?, value))
            }
            "stof" | "utof" => {
                let of = self.term(next(), DEFAULT_WIDTH)?;
                let format = self.format(needs_width(self)?, span)?;
                if store.width(of) > 128 {
                    return self.error(span, "integers of at most 128 bits become floats");
                }
                Expr::Term(store.int_to_float(base == "stof", rounding, of, format))
            }
            _ => {
                let a = self.term(next(), DEFAULT_WIDTH)?;
                if unary.is_none() {
                    self.format(store.width(a), span)?;
                }
                match (base, unary, float_un, float_bin, float_rel) {
                    (_, Some(op), ..) => Expr::Term(store.unop(op, a)),
                    (_, _, Some(op), ..) => Expr::Term(store.float_un(op, rounding, a)),
                    (_, _, _, Some(op), _) => {
                        let b = self.term_of_width(next(), store.width(a))?;
                        Expr::Term(store.float_bin(op, rounding, a, b))
                    }
                    (_, _, _, _, Some(op)) => {
                        let b = self.term_of_width(next(), store.width(a))?;
                        Expr::Formula(store.float_rel(op, a, b))
                    }
                    ("fma", ..) => {
                        let b = self.term_of_width(next(), store.width(a))?;
                        let c = self.term_of_width(next(), store.width(a))?;
                        Expr::Term(store.float_fma(rounding, a, b, c))
                    }
                    ("ftof", ..) => {
                        let to = self.format(needs_width(self)?, span)?;
                        Expr::Term(store.float_to_float(rounding, a, to))
                    }
                    _ => {
                        let width = needs_width(self)?;
                        if width > 128 {
                            return self.error(span, "floats become integers of at most 128 bits");
                        }
                        Expr::Term(store.float_to_int(base == "ftos", rounding, a, width))
                    }
                }
            }
        };
        Ok(Spanned { value: Value::Expr(expr), span })
    }

    fn format(&self, width: Width, span: Span) -> Parsed<FloatFormat> {
        match FloatFormat::of_width(width) {
            Some(format) => Ok(format),
            None => self.error(span, format!("no floating-point format has {width} bits")),
        }
    }

    fn index(&self, value: Spanned) -> Parsed<Width> {
        match &value.value {
            Value::Literal { text, negative: false } => match text.parse::<Width>() {
                Ok(index) => Ok(index),
                Err(_) => self.error(value.span, "not a bit number"),
            },
            _ => self.error(value.span, "expected a bit number"),
        }
    }

    fn literal(&self, text: &str, negative: bool, width: Width, span: Span) -> Parsed<Term> {
        let signed = if negative { format!("-{text}") } else { text.to_owned() };
        match Bits::parse(&signed, width) {
            Ok(bits) => Ok(self.store.constant(&bits)),
            Err(error) => self.error(span, format!("`{signed}` as {width} bits: {error}")),
        }
    }

    fn settle(&self, value: Spanned, width: Width) -> Parsed<Expr> {
        match value.value {
            Value::Expr(expr) => Ok(expr),
            Value::Literal { text, negative } => {
                Ok(Expr::Term(self.literal(&text, negative, width, value.span)?))
            }
        }
    }

    fn term(&self, value: Spanned, width: Width) -> Parsed<Term> {
        let span = value.span;
        match self.settle(value, width)? {
            Expr::Term(term) => Ok(term),
            Expr::Formula(_) => self.error(span, "expected a number, this is a truth value"),
            Expr::Func(_) => self.error(span, "expected a number, this is a map"),
        }
    }

    fn term_of_width(&self, value: Spanned, width: Width) -> Parsed<Term> {
        let span = value.span;
        let term = self.term(value, width)?;
        let found = self.store.width(term);
        if found == width {
            return Ok(term);
        }
        self.error(span, format!("width mismatch: {width} bits are expected here, this has {found}"))
    }

    fn formula(&self, value: Spanned) -> Parsed<Formula> {
        let span = value.span;
        match self.settle(value, DEFAULT_WIDTH)? {
            Expr::Formula(formula) => Ok(formula),
            Expr::Term(_) => self.error(span, "expected a truth value, this is a number"),
            Expr::Func(_) => self.error(span, "expected a truth value, this is a map"),
        }
    }

    fn func(&self, value: Spanned) -> Parsed<FuncExpr> {
        let span = value.span;
        match self.settle(value, DEFAULT_WIDTH)? {
            Expr::Func(func) => Ok(func),
            _ => self.error(span, "expected a map before `(` or `[`"),
        }
    }

    /// Two values of one sort; a number takes the width of its neighbour.
    fn unify(&self, a: Spanned, b: Spanned) -> Parsed<(Expr, Expr)> {
        let width = [&a, &b].into_iter().find_map(|value| match value.value {
            Value::Expr(Expr::Term(term)) => Some(self.store.width(term)),
            _ => None,
        });
        let width = width.unwrap_or(DEFAULT_WIDTH);
        let span = b.span;
        let (x, y) = (self.settle(a, width)?, self.settle(b, width)?);
        if self.store.sort(x.id()) != self.store.sort(y.id()) {
            return self.error(
                span,
                match (x, y) {
                    (Expr::Term(x), Expr::Term(y)) => {
                        let (x, y) = (self.store.width(x), self.store.width(y));
                        format!("width mismatch: the left side has {x} bits, this has {y}")
                    }
                    _ => "this is of another sort than the left side".to_owned(),
                },
            );
        }
        Ok((x, y))
    }

    fn infix(&self, symbol: &str, left: Spanned, right: Spanned) -> Parsed<Spanned> {
        let store = self.store;
        let span = left.span.to(right.span);
        if let Some(op) = BoolOp::ALL.iter().copied().find(|op| op.symbol() == symbol) {
            let formula = store.boolop(op, self.formula(left)?, self.formula(right)?);
            return Ok(Spanned { value: Value::Expr(Expr::Formula(formula)), span });
        }
        if symbol == "++" {
            let (high, low) = (self.term(left, DEFAULT_WIDTH)?, self.term(right, DEFAULT_WIDTH)?);
            if store.width(high) + store.width(low) > MAX_WIDTH {
                return self.error(span, format!("wider than {MAX_WIDTH} bits"));
            }
            return Ok(Spanned { value: Value::Expr(Expr::Term(store.concat(high, low))), span });
        }
        let right_span = right.span;
        let (Expr::Term(a), Expr::Term(b)) = self.unify(left, right)? else {
            return self.error(right_span, format!("`{symbol}` takes numbers"));
        };
        let expr = match RelOp::ALL.iter().copied().find(|op| op.symbol() == symbol) {
            Some(op) => Expr::Formula(store.relop(op, a, b)),
            None => {
                let op =
                    BinOp::ALL.iter().copied().find(|op| op.symbol() == symbol).expect("an infix operator");
                Expr::Term(store.binop(op, a, b))
            }
        };
        Ok(Spanned { value: Value::Expr(expr), span })
    }

    fn entries(&mut self, update: &mut StructUpdate, functions: bool) -> Parsed<()> {
        self.expect("{")?;
        if self.accept("}") {
            return Ok(());
        }
        loop {
            self.skip_space();
            let start = self.at;
            let word = self.word();
            let name = word.strip_suffix('\'').unwrap_or(word);
            let span = Span::new(start, self.at);
            let Some(symbol) = self.store.lookup(name) else {
                return self.error(span, format!("unknown identifier `{name}`"));
            };
            self.expect("->")?;
            let value = self.expression(1)?;
            match (self.store.expr_of(symbol), functions) {
                (Expr::Term(known), false) => {
                    let value = self.term_of_width(value, self.store.width(known))?;
                    update.set_constant(self.store, symbol, Scalar::Term(value));
                }
                (Expr::Formula(_), false) => {
                    let value = self.formula(value)?;
                    update.set_constant(self.store, symbol, Scalar::Formula(value));
                }
                (Expr::Func(known), true) => {
                    let span = value.span;
                    let value = self.func(value)?;
                    if self.store.sort(value) != self.store.sort(known) {
                        return self.error(span, "this map has other widths than the symbol");
                    }
                    update.set_function(self.store, symbol, value);
                }
                _ => {
                    let wanted = if functions { "function" } else { "constant" };
                    return self.error(span, format!("`{name}` is no {wanted} symbol"));
                }
            }
            if !self.accept(",") {
                return self.expect("}");
            }
        }
    }
}
