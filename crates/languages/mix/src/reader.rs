//! Text to a [`Program`]: a precedence-climbing reader that resolves names as it goes.
//!
//! Chains (`let ... in`, `var ...;`, `e;`) are read by a loop, so a program may be any number of lines long; what
//! really nests is bounded by [`MAX_DEPTH`] and says so.

use crate::lexer::{Token, tokens, too_large};
use crate::scope::Scopes;
use crate::syntax::*;
use crate::ty::{Nullness, Type};
use parallax_source::{Diagnostic, Span};
use rustc_hash::FxHashMap;

/// How deep expressions may nest.
pub const MAX_DEPTH: u32 = 10_000;

/// How many calls of the reader one level of nesting takes at most.
const CALLS_PER_LEVEL: u32 = 4;

type Read<T> = Result<T, Diagnostic>;

/// Reads a program, or says what is wrong with it.
pub fn read(text: &str) -> Result<Program, Diagnostic> {
    let mut reader = Reader {
        text,
        tokens: tokens(text)?,
        newlines: text.match_indices('\n').map(|(at, _)| at).collect(),
        at: 0,
        depth: 0,
        heights: Vec::new(),
        scopes: Scopes::default(),
        strings: FxHashMap::default(),
        program: Program {
            nodes: Vec::new(),
            vars: Vec::new(),
            funs: Vec::new(),
            strings: Vec::new(),
            externs: Vec::new(),
            root: ExprId(0),
            frame_size: 0,
            uses_signs: false,
        },
    };
    reader.externs()?;
    let root = reader.chain(FirstIs::Statement)?;
    reader.end_of_program()?;
    reader.program.root = root;
    reader.program.frame_size = reader.scopes.leave_function().frame_size;
    Ok(reader.program)
}

struct Reader<'a> {
    text: &'a str,
    tokens: Vec<(Token, Span)>,
    newlines: Vec<usize>,
    at: usize,
    depth: u32,
    /// The height of each node: what an analysis would recurse.
    heights: Vec<u32>,
    scopes: Scopes,
    strings: FxHashMap<String, StrId>,
    program: Program,
}

/// How `x = e` reads at the start of a chain when `x` is a local.
#[derive(Clone, Copy, PartialEq)]
enum FirstIs {
    /// As an assignment.
    Statement,
    /// As a comparison, unless more statements follow.
    Value,
}

/// A parameter as written.
struct Param {
    name: String,
    span: Span,
    ty: Option<Type>,
}

impl Reader<'_> {
    fn peek(&self) -> &Token {
        &self.tokens[self.at].0
    }

    fn span(&self) -> Span {
        self.tokens[self.at].1
    }

    fn last_span(&self) -> Span {
        self.tokens[self.at.saturating_sub(1)].1
    }

    fn is(&self, word: &str) -> bool {
        matches!(self.peek(), Token::Word(found) if *found == word)
    }

    fn advance(&mut self) -> Span {
        let span = self.span();
        if self.at + 1 < self.tokens.len() {
            self.at += 1;
        }
        span
    }

    fn accept(&mut self, word: &str) -> bool {
        let found = self.is(word);
        if found {
            self.advance();
        }
        found
    }

    fn expect(&mut self, word: &str, why: &str) -> Read<Span> {
        if self.is(word) { Ok(self.advance()) } else { Err(self.unexpected(&format!("`{word}` {why}"))) }
    }

    fn unexpected(&self, wanted: &str) -> Diagnostic {
        let found = match self.peek() {
            Token::End => "the end of the file".to_string(),
            Token::Word(word) => format!("`{word}`"),
            Token::Name(name) => format!("`{name}`"),
            Token::Int(_) | Token::Float(_) => "a number".to_string(),
            Token::Str(_) => "a string".to_string(),
        };
        Diagnostic::new(self.span(), format!("expected {wanted}, found {found}"))
    }

    /// The same complaint with the line where the other half stands.
    fn opened_at(&self, diagnostic: Diagnostic, start: Span, opener: &str) -> Diagnostic {
        let line = self.text[..start.start as usize].matches('\n').count() + 1;
        diagnostic.note(format!("{opener} was opened on line {line}"))
    }

    fn end_of_program(&mut self) -> Read<()> {
        match self.peek() {
            Token::End => Ok(()),
            Token::Word(word @ ("t}" | "s}")) => {
                Err(Diagnostic::new(self.span(), format!("`{word}` closes no block")))
            }
            Token::Word("extern") => {
                Err(Diagnostic::new(self.span(), "declarations come before the program"))
            }
            _ => Err(self.unexpected("the end of the program")),
        }
    }

    /// Adds a node, unless the tree has become too high for anyone to walk.
    fn add(&mut self, expr: Expr, span: Span) -> Read<ExprId> {
        let height = |id: &ExprId| self.heights[id.0 as usize];
        let highest = match &expr {
            Expr::Binary(_, a, b) | Expr::Assign(a, b) | Expr::Apply(a, b) | Expr::While(a, b) => {
                height(a).max(height(b))
            }
            Expr::Not(a)
            | Expr::Negate(a)
            | Expr::Ref(a)
            | Expr::Deref(a)
            | Expr::SetVar(_, a)
            | Expr::Annotated(a, _)
            | Expr::Block(_, a) => height(a),
            Expr::If(a, b, c) => height(a).max(height(b)).max(height(c)),
            Expr::Fun(id) => height(&self.program.fun(*id).body),
            Expr::Chain(items, last) => items
                .iter()
                .map(|item| match item {
                    Item::Let(_, e) | Item::Var(_, e) | Item::Do(e) => height(e),
                })
                .fold(height(last), u32::max),
            _ => 0,
        };
        if highest >= MAX_DEPTH {
            return Err(too_deep(span));
        }
        let id = ExprId(self.program.nodes.len() as u32);
        let line = 1 + self.newlines.partition_point(|&newline| newline < span.start as usize) as u32;
        self.program.nodes.push(Node { expr, span, line });
        self.heights.push(highest + 1);
        Ok(id)
    }

    /// Runs `f` one level deeper.
    fn nested<T>(&mut self, f: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        if self.depth >= CALLS_PER_LEVEL * MAX_DEPTH {
            return Err(too_deep(self.span()));
        }
        self.depth += 1;
        let result = stacker::maybe_grow(64 << 10, 1 << 20, || f(self));
        self.depth -= 1;
        result
    }

    fn new_var(&mut self, name: &str, span: Span, is_local: bool) -> VarId {
        let id = VarId(self.program.vars.len() as u32);
        self.program.vars.push(VarInfo { name: name.to_string(), span, is_local, boxed: false });
        id
    }

    fn bind(&mut self, name: &str, var: VarId) -> Use {
        Use { var, slot: self.scopes.bind(name, var) }
    }

    fn externs(&mut self) -> Read<()> {
        while self.accept("extern") {
            let (name, span) = self.name("a name to declare")?;
            self.expect(":", "and a type after the name")?;
            let ty = self.ty()?;
            let writes = self.writes()?;
            self.accept(";");
            let var = self.new_var(&name, span, false);
            let name = self.bind(&name, var);
            self.program.externs.push(Extern { name, ty, writes });
        }
        Ok(())
    }

    /// `writes nothing` or `writes t, t`, after the type of an `extern`.
    fn writes(&mut self) -> Read<Writes> {
        if *self.peek() != Token::Name("writes".to_string()) {
            return Ok(Writes::Anything);
        }
        self.advance();
        if *self.peek() == Token::Name("nothing".to_string()) {
            self.advance();
            return Ok(Writes::Only(Vec::new()));
        }
        let mut types = vec![self.ty()?];
        while self.accept(",") {
            types.push(self.ty()?);
        }
        Ok(Writes::Only(types))
    }

    fn name(&mut self, wanted: &str) -> Read<(String, Span)> {
        let Token::Name(name) = self.peek() else { return Err(self.unexpected(wanted)) };
        let name = name.clone();
        Ok((name, self.advance()))
    }

    /// Lets, locals and statements in a row; their names end with it.
    fn chain(&mut self, first: FirstIs) -> Read<ExprId> {
        let mark = self.scopes.mark();
        let start = self.span();
        let mut items = Vec::new();
        let last = loop {
            if self.is("let") {
                items.push(self.let_binding()?);
            } else if self.accept("var") {
                let (name, span) = self.name("a name after `var`")?;
                let annotation = if self.accept(":") { Some(self.ty()?) } else { None };
                self.expect("=", "after the name")?;
                let value = self.expression(0)?;
                let value = self.annotate(value, annotation)?;
                let var = self.new_var(&name, span, true);
                items.push(Item::Var(self.bind(&name, var), value));
                self.expect(";", "after the value of a local")?;
                if self.at_chain_end() {
                    break self.add(Expr::Unit, self.last_span())?;
                }
            } else {
                let is_statement = !self.at_assignment()
                    || first == FirstIs::Statement
                    || !items.is_empty()
                    || self.more_statements_follow();
                let value = if is_statement { self.statement()? } else { self.expression(0)? };
                if !self.accept(";") {
                    break value;
                }
                items.push(Item::Do(value));
                if self.at_chain_end() {
                    break self.add(Expr::Unit, self.last_span())?;
                }
            }
        };
        self.scopes.reset(mark);
        if items.is_empty() {
            return Ok(last);
        }
        self.add(Expr::Chain(items, last), start.to(self.last_span()))
    }

    fn at_chain_end(&self) -> bool {
        matches!(
            self.peek(),
            Token::End | Token::Word(")" | "t}" | "s}" | "done" | "in" | "then" | "else" | "do")
        )
    }

    /// Looks for a `;` before the end of the parenthesis or binding that starts here.
    fn more_statements_follow(&self) -> bool {
        let mut open = 0usize;
        for (token, _) in &self.tokens[self.at..] {
            match token {
                Token::Word(";") if open == 0 => return true,
                Token::Word("(" | "{t" | "{s" | "do" | "let") => open += 1,
                Token::Word(")" | "t}" | "s}" | "done" | "in") if open == 0 => return false,
                Token::Word(")" | "t}" | "s}" | "done" | "in") => open -= 1,
                Token::End => return false,
                _ => {}
            }
        }
        false
    }

    /// Whether `x =` for a local `x` comes next.
    fn at_assignment(&self) -> bool {
        let Token::Name(name) = self.peek() else { return false };
        matches!(self.tokens.get(self.at + 1), Some((Token::Word("="), _)))
            && self.scopes.lookup(name).is_some_and(|var| self.program.var(var).is_local)
    }

    /// `x = e` for a local `x`, or any expression without `;`.
    fn statement(&mut self) -> Read<ExprId> {
        if self.at_assignment() {
            let (name, start) = self.name("a local")?;
            self.advance();
            let target = self.resolve(&name, start)?;
            let value = self.expression(0)?;
            return self.add(Expr::SetVar(target, value), start.to(self.last_span()));
        }
        self.expression(0)
    }

    fn annotate(&mut self, value: ExprId, annotation: Option<Type>) -> Read<ExprId> {
        match annotation {
            Some(ty) => self.add(Expr::Annotated(value, ty), self.program.span(value)),
            None => Ok(value),
        }
    }

    /// `let [rec] x [params] [: t] = e in`
    fn let_binding(&mut self) -> Read<Item> {
        self.expect("let", "")?;
        let recursive = self.accept("rec");
        let (name, span) = self.name("a name after `let`")?;
        let params = self.params()?;
        if recursive && params.is_empty() {
            return Err(Diagnostic::new(span, "`let rec` binds a function")
                .note(format!("write its parameters after the name, as in `let rec {name} x = ...`")));
        }
        let var = self.new_var(&name, span, false);
        let value = if params.is_empty() {
            let annotation = if self.accept(":") { Some(self.ty()?) } else { None };
            self.expect("=", "after the name")?;
            let value = self.nested(|reader| reader.chain(FirstIs::Value))?;
            self.annotate(value, annotation)?
        } else {
            let myself = recursive.then_some((name.as_str(), var));
            self.function(&name, span, myself, params, "=")?
        };
        self.expect("in", "after the value")?;
        Ok(Item::Let(self.bind(&name, var), value))
    }

    fn params(&mut self) -> Read<Vec<Param>> {
        let mut params = Vec::new();
        loop {
            if let Token::Name(_) = self.peek() {
                let (name, span) = self.name("a parameter")?;
                params.push(Param { name, span, ty: None });
            } else if self.is("(") {
                let span = self.advance();
                if self.accept(")") {
                    params.push(Param { name: "()".to_string(), span, ty: Some(Type::Unit) });
                    continue;
                }
                let (name, span) = self.name("a parameter")?;
                self.expect(":", "after the parameter")?;
                let ty = self.ty()?;
                self.expect(")", "after the type of the parameter")?;
                params.push(Param { name, span, ty: Some(ty) });
            } else {
                return Ok(params);
            }
        }
    }

    /// From after the parameters to the end of the body. `myself` is bound inside the outermost function.
    fn function(
        &mut self,
        name: &str,
        start: Span,
        myself: Option<(&str, VarId)>,
        params: Vec<Param>,
        arrow: &str,
    ) -> Read<ExprId> {
        let mark = self.scopes.mark();
        let many = params.len();
        let mut heads = Vec::new();
        for (index, param) in params.into_iter().enumerate() {
            self.scopes.enter_function();
            let myself = match myself {
                Some((name, var)) if index == 0 => Some(self.bind(name, var)),
                _ => None,
            };
            let var = self.new_var(&param.name, param.span, false);
            heads.push((self.bind(&param.name, var), param.ty, myself));
        }
        let result_type = if arrow == "=" && self.accept(":") { Some(self.ty()?) } else { None };
        self.expect(arrow, "after the parameters")?;
        let body = self.nested(|reader| reader.chain(FirstIs::Statement))?;
        let mut body = self.annotate(body, result_type)?;
        self.scopes.reset(mark);
        let span = start.to(self.last_span());
        for (index, (param, param_type, myself)) in heads.into_iter().enumerate().rev() {
            let frame = self.scopes.leave_function();
            let id = FunId(self.program.funs.len() as u32);
            let name = if many == 1 || index == 0 { name.to_string() } else { format!("{name} (applied)") };
            self.program.funs.push(FunInfo {
                name,
                myself,
                param,
                param_type,
                body,
                captures: frame.captures,
                frame_size: frame.frame_size,
                span,
            });
            body = self.add(Expr::Fun(id), span)?;
        }
        Ok(body)
    }

    fn resolve(&mut self, name: &str, span: Span) -> Read<Use> {
        match self.scopes.resolve(name) {
            Some(found) => {
                let info = &mut self.program.vars[found.at.var.0 as usize];
                info.boxed |= info.is_local && found.captured;
                Ok(found.at)
            }
            None => Err(Diagnostic::new(span, format!("`{name}` is not bound here"))),
        }
    }

    /// Binary operators of at least this precedence.
    fn expression(&mut self, least: u8) -> Read<ExprId> {
        self.nested(|reader| {
            let mut left = reader.prefix()?;
            loop {
                let Token::Word(word) = *reader.peek() else { return Ok(left) };
                let Some((precedence, right_associative)) = precedence(word) else { return Ok(left) };
                if precedence < least {
                    return Ok(left);
                }
                reader.advance();
                let right = reader.expression(if right_associative { precedence } else { precedence + 1 })?;
                let span = reader.program.span(left).to(reader.program.span(right));
                let expr = match binary(word) {
                    Some(op) => Expr::Binary(op, left, right),
                    None => Expr::Assign(left, right),
                };
                left = reader.add(expr, span)?;
            }
        })
    }

    fn prefix(&mut self) -> Read<ExprId> {
        let start = self.span();
        match self.peek() {
            Token::Word("not") => {
                self.advance();
                let operand = self.nested(Reader::prefix)?;
                self.add(Expr::Not(operand), start.to(self.last_span()))
            }
            Token::Word("ref") => {
                self.advance();
                let operand = self.nested(Reader::prefix)?;
                self.add(Expr::Ref(operand), start.to(self.last_span()))
            }
            Token::Word("-") => self.negated(),
            Token::Word("let") => self.nested(|reader| reader.chain(FirstIs::Value)),
            Token::Word("if") => self.conditional(),
            Token::Word("fun") => {
                self.advance();
                let params = self.params()?;
                if params.is_empty() {
                    return Err(self.unexpected("a parameter after `fun`"));
                }
                self.function("fun", start, None, params, "->")
            }
            Token::Word("while") => {
                self.advance();
                let condition = self.expression(0)?;
                self.expect("do", "after the condition of the loop")?;
                let body = self.nested(|reader| reader.chain(FirstIs::Statement))?;
                self.expect("done", "after the body of the loop")?;
                self.add(Expr::While(condition, body), start.to(self.last_span()))
            }
            _ => self.application(),
        }
    }

    fn negated(&mut self) -> Read<ExprId> {
        let start = self.advance();
        // `-1` is one literal, unless an operator that binds tighter takes the 1.
        let followed_by_power = matches!(self.tokens.get(self.at + 1), Some((Token::Word("**"), _)));
        if let Token::Int(magnitude) = *self.peek()
            && !followed_by_power
        {
            let span = start.to(self.advance());
            return self.add(Expr::Int((magnitude as i64).wrapping_neg()), span);
        }
        let operand = self.expression(POWER)?;
        self.add(Expr::Negate(operand), start.to(self.last_span()))
    }

    fn conditional(&mut self) -> Read<ExprId> {
        let start = self.advance();
        let condition = self.expression(0)?;
        self.expect("then", "after the condition")?;
        let yes = self.nested(Reader::statement)?;
        let no = if self.accept("else") {
            self.nested(Reader::statement)?
        } else {
            self.add(Expr::Unit, self.last_span())?
        };
        self.add(Expr::If(condition, yes, no), start.to(self.last_span()))
    }

    fn application(&mut self) -> Read<ExprId> {
        let mut function = self.atom()?;
        while self.at_atom() {
            let argument = self.atom()?;
            let span = self.program.span(function).to(self.program.span(argument));
            function = self.add(Expr::Apply(function, argument), span)?;
        }
        Ok(function)
    }

    fn at_atom(&self) -> bool {
        match self.peek() {
            Token::Word(word) => matches!(*word, "(" | "!" | "true" | "false" | "null" | "{t" | "{s"),
            token => *token != Token::End,
        }
    }

    fn atom(&mut self) -> Read<ExprId> {
        let start = self.span();
        let expr = match self.peek().clone() {
            Token::Int(magnitude) => Expr::Int(i64::try_from(magnitude).map_err(|_| too_large(start))?),
            Token::Float(value) => Expr::Float(value),
            Token::Word("true") => Expr::Bool(true),
            Token::Word("false") => Expr::Bool(false),
            Token::Word("null") => Expr::Null,
            Token::Str(text) => Expr::Str(self.intern(text)),
            Token::Name(name) => Expr::Var(self.resolve(&name, start)?),
            Token::Word("!") => {
                self.advance();
                let operand = self.nested(Reader::atom)?;
                return self.add(Expr::Deref(operand), start.to(self.last_span()));
            }
            Token::Word("(") => return self.nested(Reader::parenthesis),
            Token::Word("{t") => return self.block(BlockKind::Typed, "t}"),
            Token::Word("{s") => return self.block(BlockKind::Symbolic, "s}"),
            _ => return Err(self.unexpected("an expression")),
        };
        self.advance();
        self.add(expr, start)
    }

    fn intern(&mut self, text: String) -> StrId {
        let next = StrId(self.program.strings.len() as u32);
        *self.strings.entry(text).or_insert_with_key(|text| {
            self.program.strings.push(text.clone());
            next
        })
    }

    fn parenthesis(&mut self) -> Read<ExprId> {
        let start = self.advance();
        if self.accept(")") {
            return self.add(Expr::Unit, start.to(self.last_span()));
        }
        let mut value = self.chain(FirstIs::Value)?;
        if self.accept(":") {
            let ty = self.ty()?;
            value = self.add(Expr::Annotated(value, ty), start.to(self.last_span()))?;
        }
        self.expect(")", "to close the parenthesis")
            .map_err(|diagnostic| self.opened_at(diagnostic, start, "`(`"))?;
        Ok(value)
    }

    fn block(&mut self, kind: BlockKind, closer: &str) -> Read<ExprId> {
        let start = self.advance();
        let body = self.nested(|reader| reader.chain(FirstIs::Statement))?;
        if !self.is(closer) {
            let (this, opener) = match kind {
                BlockKind::Typed => ("typed", "`{t`"),
                BlockKind::Symbolic => ("symbolic", "`{s`"),
            };
            let diagnostic = match self.peek() {
                Token::Word(other @ ("t}" | "s}")) => Diagnostic::new(
                    self.span(),
                    format!(
                        "`{other}` crosses blocks: the innermost open block is {this}, closed by `{closer}`"
                    ),
                ),
                Token::End => {
                    return Err(Diagnostic::new(start, format!("this {this} block is not closed"))
                        .note(format!("close it with `{closer}`")));
                }
                _ => self.unexpected(&format!("`{closer}`")),
            };
            return Err(self.opened_at(diagnostic, start, opener));
        }
        self.advance();
        self.add(Expr::Block(kind, body), start.to(self.last_span()))
    }

    fn ty(&mut self) -> Read<Type> {
        self.arrow_type(0)
    }

    fn arrow_type(&mut self, depth: u32) -> Read<Type> {
        if depth > MAX_TYPE_DEPTH {
            return Err(Diagnostic::new(self.span(), "this type is nested too deeply"));
        }
        let left = self.simple_type(depth)?;
        if self.accept("->") { Ok(Type::function(left, self.arrow_type(depth + 1)?)) } else { Ok(left) }
    }

    fn simple_type(&mut self, mut depth: u32) -> Read<Type> {
        let mut ty = if self.accept("(") {
            let inner = self.arrow_type(depth + 1)?;
            self.expect(")", "to close the type")?;
            inner
        } else {
            let sign = match self.peek() {
                Token::Name(name) => sign(name),
                _ => None,
            };
            if sign.is_some() {
                self.advance();
                self.program.uses_signs = true;
            }
            let Token::Name(name) = self.peek() else { return Err(self.unexpected("a type")) };
            let ty = match (name.as_str(), sign) {
                ("int", sign) => Type::Int(sign.unwrap_or(Sign::Unknown)),
                (_, Some(_)) => return Err(self.unexpected("`int` after its sign")),
                ("bool", _) => Type::Bool,
                ("string", _) => Type::Str,
                ("float", _) => Type::Float,
                ("unit", _) => Type::Unit,
                (other, _) => {
                    return Err(Diagnostic::new(self.span(), format!("there is no type `{other}`"))
                        .note("types are int, bool, string, float, unit, t ref, t null ref and t -> t"));
                }
            };
            self.advance();
            ty
        };
        loop {
            let nullness = if self.accept("null") {
                Nullness::Null
            } else if *self.peek() == Token::Name("nonnull".to_string()) {
                self.advance();
                Nullness::NonNull
            } else if self.is("ref") {
                Nullness::NonNull
            } else {
                return Ok(ty);
            };
            let span = self.expect("ref", "after its qualifier")?;
            depth += 1;
            if depth > MAX_TYPE_DEPTH {
                return Err(Diagnostic::new(span, "this type is nested too deeply"));
            }
            ty = Type::Ref(nullness, ty.into());
        }
    }
}

/// Types are walked by plain recursion, so they stay shallow.
const MAX_TYPE_DEPTH: u32 = 200;

const POWER: u8 = 7;

/// Precedence, and whether the operator associates to the right.
fn precedence(word: &str) -> Option<(u8, bool)> {
    Some(match word {
        ":=" => (1, true),
        "||" => (2, false),
        "&&" => (3, false),
        "=" | "<" | "<=" | ">" | ">=" => (4, false),
        "+" | "-" => (5, false),
        "*" | "/" => (6, false),
        "**" => (POWER, true),
        _ => return None,
    })
}

fn binary(word: &str) -> Option<BinaryOp> {
    Some(match word {
        "+" => BinaryOp::Add,
        "-" => BinaryOp::Sub,
        "*" => BinaryOp::Mul,
        "/" => BinaryOp::Div,
        "**" => BinaryOp::Pow,
        "=" => BinaryOp::Eq,
        "<" => BinaryOp::Lt,
        "<=" => BinaryOp::Le,
        ">" => BinaryOp::Gt,
        ">=" => BinaryOp::Ge,
        "&&" => BinaryOp::And,
        "||" => BinaryOp::Or,
        _ => return None,
    })
}

fn sign(name: &str) -> Option<Sign> {
    Some(match name {
        "pos" => Sign::Pos,
        "neg" => Sign::Neg,
        "zero" => Sign::Zero,
        "unknown" => Sign::Unknown,
        _ => return None,
    })
}

fn too_deep(span: Span) -> Diagnostic {
    Diagnostic::new(span, format!("nested too deeply: more than {MAX_DEPTH} levels"))
        .note("name the inner parts with `let ... in`, which does not nest")
}
