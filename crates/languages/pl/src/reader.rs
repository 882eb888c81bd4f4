//! Reading programs: statements become numbered instructions as they are read.
//!
//! What is open (blocks, conditions that wait for their `else`) is kept on a stack of our own, so nesting is bounded by
//! memory alone.

use crate::expression::{self, Names, describe};
use crate::lexer::{Kind, Token, tokens};
use crate::syntax::TEMPORARY;
use crate::syntax::{Expression, Instruction, Node, Place, Procedure, Program, Size, Variable};
use parallax_source::{Diagnostic, SourceFile, Span};
use rustc_hash::FxHashMap;

/// Calls nest at most this deep in each other's arguments: reading them recurses.
const DEEPEST: usize = 200;

/// Objects have at most this many cells.
pub(crate) const LARGEST: u64 = 4096;

type Read<T> = Result<T, Diagnostic>;

const KEYWORDS: &[&str] =
    &["if", "else", "while", "goto", "proc", "return", "malloc", "int", "var", "true", "false", crate::STORE];

/// Reads a program.
pub fn read(file: &SourceFile) -> Read<Program> {
    let tokens = tokens(&file.text)?;
    let mut reader = Reader::new(&tokens);
    reader.declare_procedures()?;
    reader.statements()?;
    let mut program = reader.finish()?;
    let newlines: Vec<u32> = file.text.match_indices('\n').map(|(at, _)| at as u32).collect();
    let line = |span: &Span| 1 + newlines.partition_point(|&newline| newline < span.start);
    program.lines = program.spans.iter().map(line).collect();
    Ok(program)
}

/// Reads an expression over a program's globals.
pub fn read_expression(program: &Program, text: &str) -> Read<Expression> {
    alone(program, text, false)
}

/// Reads a condition over a program's globals.
pub fn read_condition(program: &Program, text: &str) -> Read<Expression> {
    alone(program, text, true)
}

fn alone(program: &Program, text: &str, truth: bool) -> Read<Expression> {
    let tokens = tokens(text)?;
    let (expression, taken) = expression::read(&tokens, truth, &mut Globals(program))?;
    match tokens[taken].kind {
        Kind::End => Ok(expression),
        _ => Err(Diagnostic::new(
            tokens[taken].span,
            format!("expected the end, found {}", describe(&tokens[taken])),
        )),
    }
}

/// The names that an expression outside of the program may use.
struct Globals<'p>(&'p Program);

impl<'t> Names<'t> for Globals<'_> {
    fn variable(&mut self, name: Token<'t>) -> Read<Variable> {
        match self.0.global(name.text).filter(|_| !name.text.contains(TEMPORARY)) {
            Some(index) => Ok(Variable::Global(index)),
            None => Err(Diagnostic::new(name.span, format!("unknown identifier `{}`", name.text))
                .note(format!("the program's variables are: {}", self.0.listed()))),
        }
    }

    fn keep(&mut self, _: Expression, _: Span) -> Variable {
        unreachable!("only a call makes others wait")
    }

    fn is_kept(&self, _: Variable) -> bool {
        false
    }

    fn is_procedure(&self, _: &str) -> bool {
        false
    }

    fn call(&mut self, tokens: &'t [Token<'t>]) -> Read<(Variable, usize)> {
        Err(Diagnostic::new(tokens[0].span, "only the program itself can call procedures"))
    }
}

/// What is open around the next statement.
enum Open {
    Braces(Span),
    /// The branch whose other side starts after the statement, or at its `else`.
    If(usize),
    /// The jump over the `else` side.
    Else(usize),
    /// The first instruction of the condition and the branch out of the loop.
    While(usize, usize),
    /// The jump over the procedure.
    Procedure(usize, Span),
}

struct Reader<'t> {
    tokens: &'t [Token<'t>],
    at: usize,
    program: Program,
    open: Vec<Open>,
    procedures: FxHashMap<&'t str, u32>,
    /// Names of the procedure being read, with their offsets.
    locals: Option<(u32, FxHashMap<&'t str, u32>)>,
    /// How many results of calls inside expressions the procedure being read keeps in its record.
    kept: u32,
    /// How many calls are open around the expression being read.
    depth: usize,
    labels: FxHashMap<&'t str, (u32, Option<u32>)>,
    gotos: Vec<(usize, Token<'t>, Option<u32>)>,
}

impl<'t> Names<'t> for Reader<'t> {
    fn variable(&mut self, name: Token<'t>) -> Read<Variable> {
        self.resolve(name.text, name.span)
    }

    fn keep(&mut self, expression: Expression, span: Span) -> Variable {
        let variable = self.temporary("kept");
        self.emit(span, Instruction::Assign(Place::Variable(variable), expression));
        variable
    }

    fn is_kept(&self, variable: Variable) -> bool {
        match variable {
            Variable::Global(index) => self.program.globals[index as usize].contains(TEMPORARY),
            Variable::Local(offset) => {
                self.locals.as_ref().is_some_and(|(_, locals)| !locals.values().any(|&named| named == offset))
            }
        }
    }

    fn is_procedure(&self, name: &str) -> bool {
        self.procedures.contains_key(name)
    }

    fn call(&mut self, tokens: &'t [Token<'t>]) -> Read<(Variable, usize)> {
        if self.depth == DEEPEST {
            return Err(Diagnostic::new(tokens[0].span, format!("more than {DEEPEST} calls in each other")));
        }
        self.at = self.tokens.len() - tokens.len();
        let start = self.at;
        self.depth += 1;
        let result = self.call_into(|reader, callee| Some(Place::Variable(reader.temporary(callee))))?;
        self.depth -= 1;
        let Some(Place::Variable(result)) = result else { unreachable!("as asked for") };
        Ok((result, self.at - start))
    }
}

impl<'t> Reader<'t> {
    fn new(tokens: &'t [Token<'t>]) -> Self {
        Reader {
            tokens,
            at: 0,
            program: Program::default(),
            open: Vec::new(),
            procedures: FxHashMap::default(),
            locals: None,
            kept: 0,
            depth: 0,
            labels: FxHashMap::default(),
            gotos: Vec::new(),
        }
    }

    fn peek(&self) -> Token<'t> {
        self.tokens[self.at]
    }

    fn next(&mut self) -> Token<'t> {
        let token = self.peek();
        if token.kind != Kind::End {
            self.at += 1;
        }
        token
    }

    fn expect(&mut self, text: &str) -> Read<Token<'t>> {
        let token = self.peek();
        if token.text == text && token.kind == Kind::Symbol {
            return Ok(self.next());
        }
        Err(Diagnostic::new(token.span, format!("expected `{text}`, found {}", describe(&token))))
    }

    fn name(&mut self, what: &str) -> Read<Token<'t>> {
        let token = self.peek();
        if token.kind != Kind::Name || KEYWORDS.contains(&token.text) {
            return Err(Diagnostic::new(token.span, format!("expected {what}, found {}", describe(&token))));
        }
        Ok(self.next())
    }

    fn here(&self) -> usize {
        self.program.instructions.len()
    }

    fn emit(&mut self, span: Span, instruction: Instruction) -> usize {
        self.program.instructions.push(instruction);
        self.program.spans.push(span);
        self.here() - 1
    }

    /// Lets a branch or jump go to the next instruction.
    fn land(&mut self, at: usize) {
        let here = self.here() as u32;
        match &mut self.program.instructions[at] {
            Instruction::Branch(_, _, otherwise) => *otherwise = here,
            Instruction::Goto(target) => *target = here,
            other => unreachable!("{other:?} has no open target"),
        }
    }

    /// Calls may come before the procedure, so names and parameters are gathered first.
    fn declare_procedures(&mut self) -> Read<()> {
        for at in 0..self.tokens.len() {
            if self.tokens[at].text != "proc" || self.tokens[at].kind != Kind::Name {
                continue;
            }
            let Some(name) = self.tokens.get(at + 1).filter(|token| token.kind == Kind::Name) else {
                continue;
            };
            let list = self.tokens.get(at + 3..).unwrap_or(&[]);
            let parameters =
                list.iter().take_while(|token| token.text != ")").filter(|t| t.kind == Kind::Name).count();
            let number = self.program.procedures.len() as u32;
            if self.procedures.insert(name.text, number).is_some() {
                return Err(Diagnostic::new(
                    name.span,
                    format!("procedure `{}` is declared twice", name.text),
                ));
            }
            self.program.procedures.push(Procedure {
                name: name.text.to_owned(),
                parameters: parameters as u32,
                entry: 0,
                cells: 0,
            });
        }
        Ok(())
    }

    fn resolve(&mut self, name: &'t str, span: Span) -> Read<Variable> {
        if KEYWORDS.contains(&name) {
            return Err(Diagnostic::new(span, format!("`{name}` is reserved and names no variable")));
        }
        if let Some(&offset) = self.locals.as_ref().and_then(|(_, locals)| locals.get(name)) {
            return Ok(Variable::Local(offset));
        }
        Ok(Variable::Global(self.program.add_global(name)))
    }

    fn expression(&mut self, truth: bool) -> Read<Expression> {
        let start = self.at;
        let (expression, taken) = expression::read(&self.tokens[start..], truth, self)?;
        self.at = start + taken;
        Ok(expression)
    }

    /// A new place for the result of a call inside an expression, or for what was evaluated before one.
    fn temporary(&mut self, of: &str) -> Variable {
        if let Some((_, locals)) = &self.locals {
            self.kept += 1;
            return Variable::Local(4 * (locals.len() as u32 + self.kept));
        }
        let name = format!("{of}{TEMPORARY}{}", self.program.globals.len());
        Variable::Global(self.program.add_global(&name))
    }

    fn statements(&mut self) -> Read<()> {
        loop {
            let token = self.peek();
            match (token.kind, token.text) {
                (Kind::End, _) => {
                    let Some(open) = self.open.last() else { return Ok(()) };
                    return Err(match open {
                        Open::Braces(span) | Open::Procedure(_, span) => {
                            Diagnostic::new(*span, "this `{` is never closed")
                        }
                        _ => Diagnostic::new(token.span, "expected a statement, found the end of the text"),
                    });
                }
                (_, "{") => {
                    self.next();
                    self.open.push(Open::Braces(token.span));
                }
                (_, "}") => self.close(token)?,
                (_, ";") => {
                    self.next();
                    self.finished()?;
                }
                (Kind::Name, "if") => {
                    self.next();
                    self.expect("(")?;
                    let condition = self.expression(true)?;
                    self.expect(")")?;
                    let next = self.here() as u32 + 1;
                    let branch = self.emit(token.span, Instruction::Branch(condition, next, next));
                    self.open.push(Open::If(branch));
                }
                (Kind::Name, "while") => {
                    self.next();
                    self.expect("(")?;
                    let head = self.here();
                    let condition = self.expression(true)?;
                    self.expect(")")?;
                    let next = self.here() as u32 + 1;
                    let branch = self.emit(token.span, Instruction::Branch(condition, next, next));
                    self.open.push(Open::While(head, branch));
                }
                (Kind::Name, "else") => {
                    return Err(Diagnostic::new(token.span, "this `else` belongs to no `if`"));
                }
                (Kind::Name, "proc") => self.procedure()?,
                _ => {
                    self.simple()?;
                }
            }
        }
    }

    /// A statement has just ended: close what ends with it.
    fn finished(&mut self) -> Read<()> {
        loop {
            match self.open.last() {
                Some(&Open::If(branch)) => {
                    self.open.pop();
                    let token = self.peek();
                    if token.text == "else" {
                        self.next();
                        let jump = self.emit(token.span, Instruction::Goto(0));
                        self.land(branch);
                        self.open.push(Open::Else(jump));
                        return Ok(());
                    }
                    self.land(branch);
                }
                Some(&Open::Else(jump)) => {
                    self.open.pop();
                    self.land(jump);
                }
                Some(&Open::While(head, branch)) => {
                    self.open.pop();
                    let span = self.program.spans[branch];
                    self.emit(span, Instruction::Goto(head as u32));
                    self.land(branch);
                }
                _ => return Ok(()),
            }
        }
    }

    fn close(&mut self, token: Token<'t>) -> Read<()> {
        match self.open.pop() {
            Some(Open::Braces(_)) => {
                self.next();
                self.finished()
            }
            Some(Open::Procedure(jump, _)) => {
                self.next();
                let zero = Expression { nodes: vec![Node::Const(parallax_op::Bits::zero(crate::WIDTH))] };
                self.emit(token.span, Instruction::Return(zero));
                let (number, locals) = self.locals.take().expect("inside a procedure");
                self.program.procedures[number as usize].cells = locals.len() as u32 + self.kept + 1;
                self.kept = 0;
                self.land(jump);
                Ok(())
            }
            _ => Err(Diagnostic::new(token.span, "this `}` closes nothing")),
        }
    }

    fn procedure(&mut self) -> Read<()> {
        let keyword = self.next();
        if !self.open.is_empty() {
            return Err(Diagnostic::new(keyword.span, "procedures stand at the top level"));
        }
        let name = self.name("a procedure's name")?;
        self.expect("(")?;
        let mut locals = FxHashMap::default();
        while self.peek().text != ")" {
            if !locals.is_empty() {
                self.expect(",")?;
            }
            if matches!(self.peek().text, "int" | "var") {
                self.next();
            }
            let parameter = self.name("a parameter")?;
            let offset = 4 * (locals.len() as u32 + 1);
            if locals.insert(parameter.text, offset).is_some() {
                return Err(Diagnostic::new(
                    parameter.span,
                    format!("`{}` is declared twice", parameter.text),
                ));
            }
        }
        self.expect(")")?;
        let brace = self.expect("{")?;
        let jump = self.emit(keyword.span, Instruction::Goto(0));
        let number = self.procedures[name.text];
        self.program.procedures[number as usize].entry = self.here() as u32;
        self.program.procedures[number as usize].parameters = locals.len() as u32;
        self.locals = Some((number, locals));
        self.open.push(Open::Procedure(jump, brace.span));
        Ok(())
    }

    /// Statements that do not contain others.
    fn simple(&mut self) -> Read<()> {
        let token = self.peek();
        match token.text {
            "goto" => {
                self.next();
                let label = self.name("a label")?;
                let here = self.emit(token.span.to(label.span), Instruction::Goto(0));
                self.gotos.push((here, label, self.locals.as_ref().map(|(number, _)| *number)));
            }
            "return" => {
                self.next();
                let value = if self.peek().text == ";" { None } else { Some(self.expression(false)?) };
                let instruction = match (self.locals.is_some(), value) {
                    (false, _) => Instruction::Halt,
                    (true, Some(value)) => Instruction::Return(value),
                    (true, None) => Instruction::Return(Expression {
                        nodes: vec![Node::Const(parallax_op::Bits::zero(crate::WIDTH))],
                    }),
                };
                self.emit(token.span, instruction);
            }
            "int" | "var" => {
                self.next();
                return self.declaration();
            }
            _ if token.kind == Kind::Name && self.tokens[self.at + 1].text == ":" => {
                let label = self.name("a label")?;
                self.next();
                let scope = self.locals.as_ref().map(|(number, _)| *number);
                if self.labels.insert(label.text, (self.here() as u32, scope)).is_some() {
                    return Err(Diagnostic::new(label.span, format!("label `{}` is set twice", label.text)));
                }
                self.program.labels.push((label.text.to_owned(), self.here() as u32));
                // A label at the very end of a block names what follows; otherwise it belongs to its statement.
                if matches!(self.peek().text, "}") || self.peek().kind == Kind::End {
                    return self.finished();
                }
                return Ok(());
            }
            _ if token.kind == Kind::Name && self.tokens[self.at + 1].text == "(" => {
                self.call_into(|_, _| None)?;
            }
            _ => self.assignment()?,
        }
        self.expect(";")?;
        self.finished()
    }

    /// `int a, b = e;`
    fn declaration(&mut self) -> Read<()> {
        loop {
            let name = self.name("a variable")?;
            let kept = self.kept;
            if let Some((_, locals)) = &mut self.locals {
                let offset = 4 * (locals.len() as u32 + kept + 1);
                if locals.insert(name.text, offset).is_some() {
                    return Err(Diagnostic::new(name.span, format!("`{}` is declared twice", name.text)));
                }
            }
            if self.peek().text == "=" {
                self.at -= 1;
                self.assignment()?;
            } else {
                self.resolve(name.text, name.span)?;
            }
            if self.peek().text == "," {
                self.next();
                continue;
            }
            self.expect(";")?;
            return self.finished();
        }
    }

    fn assignment(&mut self) -> Read<()> {
        let token = self.peek();
        let place = if token.text == "*" {
            self.next();
            Place::Deref(self.unary()?)
        } else if token.kind == Kind::Name {
            let name = self.name("a variable")?;
            Place::Variable(self.resolve(name.text, name.span)?)
        } else {
            return Err(Diagnostic::new(
                token.span,
                format!("expected a statement, found {}", describe(&token)),
            ));
        };
        self.expect("=")?;
        let value = self.peek();
        if value.text == "malloc" {
            return self.malloc(place);
        }
        if self.is_only_a_call() {
            self.call_into(|_, _| Some(place))?;
            return Ok(());
        }
        let expression = self.expression(false)?;
        let end = self.tokens[self.at - 1].span;
        self.emit(token.span.to(end), Instruction::Assign(place, expression));
        Ok(())
    }

    /// What may stand between the `*` and the `=` of an indirect assignment: a variable, a parenthesised expression,
    /// or either after more stars.
    fn unary(&mut self) -> Read<Expression> {
        let mut stars = 0;
        while self.peek().text == "*" {
            self.next();
            stars += 1;
        }
        let mut expression = if self.peek().text == "(" {
            self.next();
            let inner = self.expression(false)?;
            self.expect(")")?;
            inner
        } else {
            let name = self.name("a variable or `(`")?;
            Expression { nodes: vec![Node::Variable(self.resolve(name.text, name.span)?)] }
        };
        for _ in 0..stars {
            let last = expression.nodes.len() as u32 - 1;
            expression.nodes.push(Node::Deref(last));
        }
        Ok(expression)
    }

    fn malloc(&mut self, place: Place) -> Read<()> {
        let token = self.next();
        self.expect("(")?;
        let start = self.peek();
        let size = self.expression(false)?;
        let close = self.expect(")")?;
        let size = match size.nodes.as_slice() {
            [Node::Const(bits)] => Size::Cells(bits.to_u64().unwrap_or(u64::MAX)),
            _ => Size::Given(size),
        };
        if matches!(size, Size::Cells(cells) if cells == 0 || cells > LARGEST) {
            let message = format!("an object has 1 to {LARGEST} cells, not {}", start.text);
            return Err(Diagnostic::new(start.span, message));
        }
        self.emit(token.span.to(close.span), Instruction::Malloc(place, size));
        Ok(())
    }

    /// Whether a call is all that follows up to the end of the statement.
    fn is_only_a_call(&self) -> bool {
        if self.peek().kind != Kind::Name || self.tokens[self.at + 1].text != "(" {
            return false;
        }
        let mut depth = 0;
        for (at, token) in self.tokens.iter().enumerate().skip(self.at + 1) {
            match token.text {
                "(" => depth += 1,
                ")" if depth == 1 => return matches!(self.tokens[at + 1].text, ";" | ","),
                ")" => depth -= 1,
                ";" => break,
                _ => {}
            }
        }
        // Unbalanced: reading it as a call says where.
        true
    }

    /// A call; where its result goes is decided after its arguments, which may keep results of their own.
    fn call_into(&mut self, place: impl FnOnce(&mut Self, &str) -> Option<Place>) -> Read<Option<Place>> {
        let name = self.next();
        let Some(&procedure) = self.procedures.get(name.text) else {
            return Err(Diagnostic::new(name.span, format!("unknown procedure `{}`", name.text)));
        };
        self.expect("(")?;
        let last_call = self.last_argument_that_calls();
        let mut arguments = Vec::new();
        while self.peek().text != ")" {
            if !arguments.is_empty() {
                self.expect(",")?;
            }
            let start = self.peek().span;
            let mut argument = self.expression(false)?;
            // Arguments are evaluated from left to right: before a call that a later one makes.
            if arguments.len() < last_call && !is_constant(&argument) {
                argument = Expression { nodes: vec![Node::Variable(self.keep(argument, start))] };
            }
            arguments.push(argument);
        }
        let close = self.expect(")")?;
        let expected = self.program.procedures[procedure as usize].parameters;
        if arguments.len() != expected as usize {
            let message = format!("`{}` takes {expected} arguments, not {}", name.text, arguments.len());
            return Err(Diagnostic::new(name.span.to(close.span), message));
        }
        let span = name.span.to(close.span);
        let place = place(self, name.text);
        self.emit(span, Instruction::Call { procedure, arguments });
        self.emit(span, Instruction::Collect(place.clone()));
        Ok(place)
    }

    /// The number of the last argument, of those that start here, in which something is called.
    fn last_argument_that_calls(&self) -> usize {
        let (mut depth, mut argument, mut last) = (0u32, 0, 0);
        for pair in self.tokens[self.at..].windows(2) {
            match pair[0].text {
                ")" if depth == 0 => break,
                ";" => break,
                "," if depth == 0 => argument += 1,
                "(" => depth += 1,
                ")" => depth -= 1,
                _ if pair[0].kind == Kind::Name && pair[1].text == "(" => last = argument,
                _ => {}
            }
        }
        last
    }

    fn finish(mut self) -> Read<Program> {
        for (at, label, scope) in std::mem::take(&mut self.gotos) {
            match self.labels.get(label.text) {
                Some(&(target, target_scope)) if target_scope == scope => {
                    self.program.instructions[at] = Instruction::Goto(target);
                }
                Some(_) => {
                    let message = format!("label `{}` is in another procedure", label.text);
                    return Err(Diagnostic::new(label.span, message));
                }
                None => return Err(Diagnostic::new(label.span, format!("unknown label `{}`", label.text))),
            }
        }
        let makes = |i: &Instruction| matches!(i, Instruction::Call { .. } | Instruction::Malloc(..));
        let numbered = self.program.instructions.iter().enumerate();
        self.program.sites = numbered.filter(|(_, i)| makes(i)).map(|(at, _)| at as u32).collect();
        Ok(self.program)
    }
}

/// Whether nothing that happens can change the value of an expression.
fn is_constant(expression: &Expression) -> bool {
    matches!(expression.nodes.as_slice(), [Node::Const(_) | Node::Address(_)])
}
