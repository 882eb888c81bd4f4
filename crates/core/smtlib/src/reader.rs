//! Terms and sorts, token by token, on a stack of our own.

use crate::Refusal;
use crate::apply::{Head, apply, is_builtin};
use crate::model::quoted;
use crate::scope::{Meaning, Names};
use crate::token::{Kind, Token};
use parallax_op::{Bits, MAX_WIDTH, Width};
use parallax_source::Span;
use parallax_term::{Expr, Formula, Sort, Store};
use std::rc::Rc;

/// Reads the tokens of a script one behind the other.
pub struct Reader<'s, 't> {
    /// Where expressions live.
    pub store: &'s Store,
    text: &'t str,
    tokens: Vec<Token>,
    at: usize,
    /// What names mean here.
    pub names: Names,
    /// Formulas that the script gave a name, since they were last taken.
    pub named: Vec<(Rc<str>, Formula)>,
}

/// Words of the language, which scripts cannot give a meaning.
const RESERVED: &[&str] =
    &["!", "_", "as", "exists", "forall", "let", "match", "par", "true", "false", "Bool", "Array", "BitVec"];

/// How many tokens stand before the right side of `(= name ...`.
const EQUATION: usize = 3;

/// An expression that is being read.
enum Frame<'t> {
    /// A function and the arguments so far.
    Apply { head: Head<'t>, arguments: Vec<Expr>, span: Span },
    /// The value of a name in a `let`; names bound beside it.
    Binding { name: Rc<str>, beside: Vec<(Rc<str>, Expr)> },
    /// The body of a `let`: what to forget after it.
    Body { mark: usize },
    /// An expression with attributes behind it.
    Annotated,
}

impl<'s, 't> Reader<'s, 't> {
    /// Reads from the first token on.
    pub fn new(store: &'s Store, text: &'t str, tokens: Vec<Token>) -> Self {
        Reader { store, text, tokens, at: 0, names: Names::default(), named: Vec::new() }
    }

    /// The next token, if there is one.
    pub fn peek(&self) -> Option<Token> {
        self.tokens.get(self.at).copied()
    }

    /// The text of a token.
    pub fn slice(&self, token: Token) -> &'t str {
        &self.text[token.span.start as usize..token.span.end as usize]
    }

    /// Takes the next token.
    pub fn next(&mut self) -> Result<Token, Refusal> {
        let Some(token) = self.peek() else {
            let end = self.text.len();
            return Refusal::malformed(
                Span::new(end.saturating_sub(1), end),
                "the script ends too early here",
            );
        };
        self.at += 1;
        Ok(token)
    }

    /// Takes the next token if it is of this kind.
    pub fn take(&mut self, kind: Kind) -> Option<Token> {
        let token = self.peek().filter(|token| token.kind == kind)?;
        self.at += 1;
        Some(token)
    }

    /// Takes a token that has to be there.
    pub fn expect(&mut self, kind: Kind, what: &str) -> Result<Token, Refusal> {
        let token = self.next()?;
        if token.kind != kind {
            return Refusal::malformed(token.span, format!("expected {what}"));
        }
        Ok(token)
    }

    /// Takes a symbol.
    pub fn symbol(&mut self) -> Result<(Rc<str>, Span), Refusal> {
        let token = self.expect(Kind::Symbol, "a symbol")?;
        Ok((self.slice(token).into(), token.span))
    }

    /// Takes a symbol that is to get a meaning.
    pub fn new_name(&mut self) -> Result<(Rc<str>, Span), Refusal> {
        let (name, span) = self.symbol()?;
        if RESERVED.contains(&&*name) || is_builtin(self.store, &name) {
            return Refusal::malformed(span, format!("`{name}` is reserved"));
        }
        Ok((name, span))
    }

    /// Takes a numeral.
    pub fn numeral(&mut self) -> Result<(u32, Span), Refusal> {
        let token = self.expect(Kind::Number, "a numeral")?;
        match self.slice(token).parse() {
            Ok(number) => Ok((number, token.span)),
            Err(_) => Refusal::malformed(token.span, "expected a numeral below 2^32"),
        }
    }

    /// Where the reader is, to come back to.
    pub fn position(&self) -> usize {
        self.at
    }

    /// Goes back to a position.
    pub fn go_to(&mut self, position: usize) {
        self.at = position;
    }

    /// The text from a token up to here, as a script writes it.
    pub fn text_since(&self, first: Token) -> String {
        if first.kind == Kind::Symbol {
            return quoted(self.slice(first));
        }
        let last = self.tokens[self.at - 1];
        self.text[first.span.start as usize..last.span.end as usize].to_owned()
    }

    /// The name on the left of an equation that starts here: `(= name ...`.
    pub fn equated(&self) -> Option<Rc<str>> {
        let [open, equals, name] = self.tokens.get(self.at..self.at + EQUATION)? else { return None };
        let is_equation = open.kind == Kind::Open
            && (equals.kind, self.slice(*equals)) == (Kind::Symbol, "=")
            && name.kind == Kind::Symbol;
        is_equation.then(|| self.slice(*name).into())
    }

    /// Goes to the right side of an equation that starts here.
    pub fn enter_equation(&mut self) {
        self.at += EQUATION;
    }

    /// Skips one expression, whatever it is.
    pub fn skip(&mut self) -> Result<(), Refusal> {
        let mut open = 0usize;
        loop {
            let token = self.next()?;
            match token.kind {
                Kind::Open => open += 1,
                Kind::Close if open == 0 => return Refusal::malformed(token.span, "expected an expression"),
                Kind::Close => open -= 1,
                _ => {}
            }
            if open == 0 {
                return Ok(());
            }
        }
    }

    fn width(&mut self) -> Result<Width, Refusal> {
        let (width, span) = self.numeral()?;
        match Width::try_from(width) {
            Ok(0) => Refusal::malformed(span, "a bit-vector has at least one bit"),
            Ok(width) if width <= MAX_WIDTH => Ok(width),
            _ => Refusal::unsupported(span, format!("bit-vectors have at most {MAX_WIDTH} bits here")),
        }
    }

    /// A sort.
    pub fn sort(&mut self) -> Result<Sort, Refusal> {
        let start = self.next()?;
        match start.kind {
            Kind::Symbol => match (self.slice(start), self.names.get(self.slice(start))) {
                (_, Some(Meaning::Sort(sort))) => Ok(*sort),
                ("Bool", None) => Ok(Sort::Bool),
                (name, _) => Refusal::unsupported(start.span, format!("there is no sort `{name}` here")),
            },
            Kind::Open => {
                let head = self.expect(Kind::Symbol, "a sort")?;
                let sort = match self.slice(head) {
                    "_" => {
                        let name = self.expect(Kind::Symbol, "a sort")?;
                        if self.slice(name) != "BitVec" {
                            let name = self.slice(name);
                            return Refusal::unsupported(
                                start.span,
                                format!("there is no sort `{name}` here"),
                            );
                        }
                        Sort::Bits(self.width()?)
                    }
                    "Array" => {
                        let (key, value) = (self.element()?, self.element()?);
                        Sort::Map { key, value }
                    }
                    name => {
                        return Refusal::unsupported(head.span, format!("there is no sort `{name}` here"));
                    }
                };
                self.expect(Kind::Close, "`)`")?;
                Ok(sort)
            }
            _ => Refusal::malformed(start.span, "expected a sort"),
        }
    }

    /// A sort that arrays are made of. Arrays in arrays would need a logic of their own, and end the recursion here.
    fn element(&mut self) -> Result<Width, Refusal> {
        let at = self.peek().map_or(Span::default(), |token| token.span);
        if let Some([open, array]) = self.tokens.get(self.at..self.at + 2)
            && (open.kind, self.slice(*array)) == (Kind::Open, "Array")
        {
            return Refusal::unsupported(array.span, "arrays of arrays are not supported");
        }
        match self.sort()? {
            Sort::Bits(width) => Ok(width),
            _ => Refusal::unsupported(at, "arrays are between bit-vectors here"),
        }
    }

    fn constant(&self, token: Token) -> Result<Expr, Refusal> {
        let text = self.slice(token);
        let (digits, each) = (&text[2..], if token.kind == Kind::Hexadecimal { 4 } else { 1 });
        let Some(width) = digits.len().checked_mul(each).filter(|&width| width <= usize::from(MAX_WIDTH))
        else {
            return Refusal::unsupported(
                token.span,
                format!("bit-vectors have at most {MAX_WIDTH} bits here"),
            );
        };
        let number = format!("0{}{digits}", &text[1..2]);
        match Bits::parse(&number, width as Width) {
            Ok(bits) => Ok(Expr::Term(self.store.constant(&bits))),
            Err(error) => Refusal::malformed(token.span, error.to_string()),
        }
    }

    fn variable(&self, token: Token) -> Result<Expr, Refusal> {
        match (self.slice(token), self.names.get(self.slice(token))) {
            (_, Some(Meaning::Is(expression))) => Ok(*expression),
            ("true", None) => Ok(Expr::Formula(self.store.true_())),
            ("false", None) => Ok(Expr::Formula(self.store.false_())),
            (name, Some(_)) => Refusal::malformed(token.span, format!("`{name}` is no constant")),
            (name, None) => Refusal::malformed(token.span, format!("`{name}` is not declared")),
        }
    }

    /// Behind `(_`: a constant such as `bv5 8`.
    fn indexed_constant(&mut self) -> Result<Expr, Refusal> {
        let name = self.expect(Kind::Symbol, "a name")?;
        let text = self.slice(name);
        let Some(digits) = text.strip_prefix("bv").filter(|d| d.bytes().all(|b| b.is_ascii_digit())) else {
            return Refusal::unsupported(name.span, format!("there is no constant `{text}` here"));
        };
        let width = self.width()?;
        self.expect(Kind::Close, "`)`")?;
        match Bits::parse(digits, width) {
            Ok(bits) => Ok(Expr::Term(self.store.constant(&bits))),
            Err(error) => Refusal::malformed(name.span, error.to_string()),
        }
    }

    /// Behind `((`: `_ extract 7 0)` or `as const SORT)`.
    fn qualified(&mut self) -> Result<Head<'t>, Refusal> {
        let first = self.expect(Kind::Symbol, "`_` or `as`")?;
        match self.slice(first) {
            "_" => {
                let name = self.expect(Kind::Symbol, "a function")?;
                let mut indices = Vec::new();
                while self.peek().is_some_and(|token| token.kind == Kind::Number) {
                    indices.push(self.numeral()?.0);
                }
                self.expect(Kind::Close, "`)`")?;
                Ok(Head::Indexed(self.slice(name), indices))
            }
            "as" => {
                let name = self.expect(Kind::Symbol, "`const`")?;
                let sort = self.sort()?;
                self.expect(Kind::Close, "`)`")?;
                match (self.slice(name), sort) {
                    ("const", Sort::Map { key, value }) => Ok(Head::Everywhere { key, value }),
                    (name, _) => {
                        Refusal::unsupported(first.span, format!("`as {name}` is not supported here"))
                    }
                }
            }
            _ => Refusal::malformed(first.span, "expected `_` or `as`"),
        }
    }

    /// Goes on in a `let` behind a binding: the next one, or the body.
    fn after_binding(&mut self, beside: Vec<(Rc<str>, Expr)>) -> Result<Frame<'t>, Refusal> {
        if self.take(Kind::Open).is_some() {
            let (name, span) = self.symbol()?;
            if beside.iter().any(|(bound, _)| *bound == name) {
                return Refusal::malformed(span, format!("`{name}` is bound twice"));
            }
            return Ok(Frame::Binding { name, beside });
        }
        self.expect(Kind::Close, "`)` or a binding")?;
        let mark = self.names.mark();
        for (name, value) in beside {
            self.names.bind(name, Meaning::Is(value));
        }
        Ok(Frame::Body { mark })
    }

    /// The attributes behind an expression, up to the end of the list.
    fn attributes(&mut self, value: Expr) -> Result<(), Refusal> {
        while let Some(keyword) = self.take(Kind::Keyword) {
            if self.slice(keyword) == ":named" {
                let (name, span) = self.symbol()?;
                if self.names.get(&name).is_some() {
                    return Refusal::malformed(span, format!("`{name}` is taken"));
                }
                if let Expr::Formula(formula) = value {
                    self.named.push((name.clone(), formula));
                }
                self.names.bind(name, Meaning::Is(value));
            } else if self.peek().is_some_and(|t| !matches!(t.kind, Kind::Keyword | Kind::Close)) {
                self.skip()?;
            }
        }
        self.expect(Kind::Close, "an attribute or `)`")?;
        Ok(())
    }

    /// A term, a formula or an array.
    pub fn expression(&mut self) -> Result<Expr, Refusal> {
        let outside = self.names.mark();
        let read = self.expression_inside();
        if read.is_err() {
            self.names.undo(outside);
        }
        read
    }

    fn expression_inside(&mut self) -> Result<Expr, Refusal> {
        let mut frames: Vec<Frame<'t>> = Vec::new();
        loop {
            // One more value, or one more frame.
            let token = self.next()?;
            let value = match token.kind {
                Kind::Symbol => self.variable(token)?,
                Kind::Hexadecimal | Kind::Binary => self.constant(token)?,
                Kind::Open => {
                    let head = self.next()?;
                    match (head.kind, self.slice(head)) {
                        (Kind::Open, _) => {
                            let head = self.qualified()?;
                            frames.push(Frame::Apply { head, arguments: Vec::new(), span: token.span });
                            continue;
                        }
                        (Kind::Symbol, "_") => self.indexed_constant()?,
                        (Kind::Symbol, "!") => {
                            frames.push(Frame::Annotated);
                            continue;
                        }
                        (Kind::Symbol, "let") => {
                            self.expect(Kind::Open, "the bindings of `let`")?;
                            let frame = self.after_binding(Vec::new())?;
                            frames.push(frame);
                            continue;
                        }
                        (Kind::Symbol, "forall" | "exists") => {
                            return Refusal::unsupported(head.span, "quantifiers are not supported");
                        }
                        (Kind::Symbol, name) => {
                            let (head, span) = (Head::Named(name), head.span);
                            frames.push(Frame::Apply { head, arguments: Vec::new(), span });
                            continue;
                        }
                        _ => return Refusal::malformed(head.span, "expected a function"),
                    }
                }
                Kind::Close => {
                    let Some(Frame::Apply { head, arguments, span }) = frames.pop() else {
                        return Refusal::malformed(token.span, "expected an expression");
                    };
                    apply(self, &head, &arguments, span.to(token.span))?
                }
                Kind::Number => {
                    return Refusal::unsupported(token.span, "integers and reals are not supported");
                }
                Kind::Keyword | Kind::String => {
                    return Refusal::malformed(token.span, "expected an expression");
                }
            };
            // Whoever waits for it goes on; a `let` or an annotation is what its body is.
            loop {
                match frames.pop() {
                    None => return Ok(value),
                    Some(Frame::Apply { head, mut arguments, span }) => {
                        arguments.push(value);
                        frames.push(Frame::Apply { head, arguments, span });
                        break;
                    }
                    Some(Frame::Binding { name, mut beside }) => {
                        self.expect(Kind::Close, "`)`")?;
                        beside.push((name, value));
                        let frame = self.after_binding(beside)?;
                        frames.push(frame);
                        break;
                    }
                    Some(Frame::Body { mark }) => {
                        self.expect(Kind::Close, "`)`")?;
                        self.names.undo(mark);
                    }
                    Some(Frame::Annotated) => self.attributes(value)?,
                }
            }
        }
    }
}
