//! Scripts, command by command.

use crate::Refusal;
use crate::apply::function_sort;
use crate::model::{definition, quoted, value};
use crate::reader::Reader;
use crate::scope::{Declared, Macro, Meaning};
use crate::token::{Kind, Token, tokens};
use parallax_smt::{Answer, Model, Reason, Solver};
use parallax_source::Span;
use parallax_term::{Expr, Formula, Sort, Symbol, SymbolKind};
use rustc_hash::FxHashSet;
use std::fmt;
use std::rc::Rc;

/// What a command answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Response {
    /// To `check-sat`: yes, no, or why neither.
    Decided(Result<bool, Reason>),
    /// To everything else: an S-expression.
    Text(String),
}

impl fmt::Display for Response {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Response::Decided(Ok(true)) => f.write_str("sat"),
            Response::Decided(Ok(false)) => f.write_str("unsat"),
            Response::Decided(Err(_)) => f.write_str("unknown"),
            Response::Text(text) => f.write_str(text),
        }
    }
}

/// An assertion, and its name if it has one.
type Assertion = (Formula, Option<Rc<str>>);

/// A level of the stack of assertions: how much there was before it.
struct Level {
    assertions: usize,
    declared: usize,
    names: usize,
}

/// What the last `check-sat` said.
enum Last {
    Nothing,
    Sat(Model),
    /// Names of assertions and assumptions that do not hold together.
    Unsat(Vec<String>),
    Unknown(Reason),
}

/// Follows a script.
pub struct Interpreter<'s> {
    solver: Box<dyn Solver<'s> + 's>,
    assertions: Vec<Assertion>,
    declared: Vec<Declared>,
    levels: Vec<Level>,
    last: Last,
    /// Declared arrays.
    arrays: FxHashSet<Symbol>,
    /// An equation has made an array another name for an expression.
    has_abbreviations: bool,
}

/// Most levels at once: more are a mistake of whoever wrote the script.
const MOST_LEVELS: u32 = 1_000_000;

impl<'s> Interpreter<'s> {
    /// Asks this solver.
    pub fn new(solver: Box<dyn Solver<'s> + 's>) -> Self {
        Interpreter {
            solver,
            assertions: Vec::new(),
            declared: Vec::new(),
            levels: Vec::new(),
            last: Last::Nothing,
            arrays: FxHashSet::default(),
            has_abbreviations: false,
        }
    }

    /// Follows a script to its end, or to `(exit)`; `say` is given what each command answers.
    pub fn run(mut self, script: &str, say: &mut dyn FnMut(Response)) -> Result<(), Refusal> {
        let mut reader = Reader::new(self.solver.store(), script, tokens(script)?);
        while reader.peek().is_some() {
            reader.expect(Kind::Open, "a command")?;
            let command = reader.expect(Kind::Symbol, "a command")?;
            if reader.slice(command) == "exit" {
                return Ok(());
            }
            self.command(&mut reader, command, say)?;
            reader.expect(Kind::Close, "`)`: this command takes no more")?;
        }
        Ok(())
    }

    fn command(
        &mut self,
        reader: &mut Reader<'s, '_>,
        command: Token,
        say: &mut dyn FnMut(Response),
    ) -> Result<(), Refusal> {
        match reader.slice(command) {
            "set-logic" | "set-info" | "set-option" | "get-option" | "get-info" => {
                while reader.peek().is_some_and(|token| token.kind != Kind::Close) {
                    reader.skip()?;
                }
                Ok(())
            }
            "declare-const" => {
                let (name, span) = reader.new_name()?;
                let gives = reader.sort()?;
                self.declare(reader, name, span, Vec::new(), gives)
            }
            "declare-fun" => {
                let (name, span) = reader.new_name()?;
                reader.expect(Kind::Open, "the sorts of the arguments")?;
                let mut takes = Vec::new();
                while reader.take(Kind::Close).is_none() {
                    takes.push(reader.sort()?);
                }
                let gives = reader.sort()?;
                self.declare(reader, name, span, takes, gives)
            }
            "define-const" | "define-fun" => self.define(reader, command),
            "define-sort" => {
                let (name, span) = reader.new_name()?;
                if reader.names.get(&name).is_some() {
                    return Refusal::malformed(span, format!("`{name}` is defined twice"));
                }
                reader.expect(Kind::Open, "`()`")?;
                if let Some(token) = reader.peek().filter(|token| token.kind != Kind::Close) {
                    return Refusal::unsupported(token.span, "sorts with parameters are not supported");
                }
                reader.expect(Kind::Close, "`)`")?;
                let sort = reader.sort()?;
                reader.names.bind(name, Meaning::Sort(sort));
                Ok(())
            }
            "assert" => self.assert(reader),
            "push" => {
                let levels = reader.peek().filter(|token| token.kind == Kind::Number);
                let levels = if levels.is_some() { reader.numeral()?.0 } else { 1 };
                if levels > MOST_LEVELS {
                    return Refusal::unsupported(command.span, "too many levels");
                }
                for _ in 0..levels {
                    self.levels.push(Level {
                        assertions: self.assertions.len(),
                        declared: self.declared.len(),
                        names: reader.names.mark(),
                    });
                }
                Ok(())
            }
            "pop" => {
                let levels = reader.peek().filter(|token| token.kind == Kind::Number);
                let levels = if levels.is_some() { reader.numeral()?.0 } else { 1 };
                for _ in 0..levels {
                    let Some(level) = self.levels.pop() else {
                        return Refusal::malformed(command.span, "there is no level left to pop");
                    };
                    self.assertions.truncate(level.assertions);
                    self.declared.truncate(level.declared);
                    reader.names.undo(level.names);
                }
                Ok(())
            }
            "reset-assertions" if self.has_abbreviations => {
                Refusal::unsupported(command.span, "equations of arrays stay, so they cannot be reset")
            }
            "reset-assertions" => {
                self.assertions.clear();
                self.levels.clear();
                Ok(())
            }
            "check-sat" => {
                self.check(Vec::new(), say);
                Ok(())
            }
            "check-sat-assuming" => {
                reader.expect(Kind::Open, "assumptions")?;
                let mut assumed = Vec::new();
                while reader.take(Kind::Close).is_none() {
                    let from = reader.peek().map_or(command.span, |token| token.span);
                    match reader.expression()? {
                        Expr::Formula(formula) => {
                            let shown = reader.store.display(formula);
                            assumed.push((formula, Some(shown.into())));
                        }
                        _ => return Refusal::malformed(from, "expected truth values"),
                    }
                }
                self.check(assumed, say);
                Ok(())
            }
            "get-model" => {
                let model = self.model(command)?;
                let lines =
                    self.declared.iter().map(|it| format!("\n  {}", definition(reader.store, model, it)));
                say(Response::Text(format!("({}\n)", lines.collect::<String>())));
                Ok(())
            }
            "get-value" => {
                reader.expect(Kind::Open, "expressions")?;
                let mut values = Vec::new();
                while let Some(first) = reader.peek().filter(|token| token.kind != Kind::Close) {
                    let expression = reader.expression()?;
                    let text = reader.text_since(first);
                    values
                        .push(format!("({text} {})", value(reader.store, self.model(command)?, expression)));
                }
                reader.expect(Kind::Close, "`)`")?;
                say(Response::Text(format!("({})", values.join("\n "))));
                Ok(())
            }
            "get-unsat-core" | "get-unsat-assumptions" => match &self.last {
                Last::Unsat(core) => {
                    say(Response::Text(format!("({})", core.join(" "))));
                    Ok(())
                }
                _ => Refusal::malformed(command.span, "the last check was not answered `unsat`"),
            },
            "get-assertions" => {
                let all = self.assertions.iter().map(|(formula, _)| reader.store.display(*formula));
                say(Response::Text(format!("({})", all.collect::<Vec<_>>().join("\n "))));
                Ok(())
            }
            "echo" => {
                let text = reader.expect(Kind::String, "a string")?;
                say(Response::Text(reader.slice(text).to_owned()));
                Ok(())
            }
            name => Refusal::unsupported(command.span, format!("there is no command `{name}` here")),
        }
    }

    /// The model of the last check.
    fn model(&self, command: Token) -> Result<&Model, Refusal> {
        match &self.last {
            Last::Sat(model) => Ok(model),
            Last::Unknown(reason) => {
                Refusal::malformed(command.span, format!("the last check has no model: {reason}"))
            }
            _ => Refusal::malformed(command.span, "the last check was not answered `sat`"),
        }
    }

    fn declare(
        &mut self,
        reader: &mut Reader<'s, '_>,
        name: Rc<str>,
        span: Span,
        takes: Vec<Sort>,
        gives: Sort,
    ) -> Result<(), Refusal> {
        if reader.names.get(&name).is_some() {
            return Refusal::malformed(span, format!("`{name}` is declared twice"));
        }
        let store = reader.store;
        let meaning = if takes.is_empty() {
            let symbol = store.fresh(&name, gives, SymbolKind::Free);
            if matches!(gives, Sort::Map { .. }) {
                self.arrays.insert(symbol);
            }
            Meaning::Is(store.expr_of(symbol))
        } else {
            let Some(sort) = function_sort(&takes, gives) else {
                return Refusal::unsupported(span, "functions are over bit-vectors and truth values here");
            };
            let Expr::Func(map) = store.expr_of(store.fresh(&name, sort, SymbolKind::Free)) else {
                unreachable!("declared as a map")
            };
            Meaning::Function { map, takes: takes.into(), gives_bool: gives == Sort::Bool }
        };
        self.declared.push(Declared { name: name.clone(), meaning: meaning.clone() });
        reader.names.bind(name, meaning);
        Ok(())
    }

    fn define(&mut self, reader: &mut Reader<'s, '_>, command: Token) -> Result<(), Refusal> {
        let (name, span) = reader.new_name()?;
        if reader.names.get(&name).is_some() {
            return Refusal::malformed(span, format!("`{name}` is defined twice"));
        }
        let store = reader.store;
        let mark = reader.names.mark();
        let (mut takes, mut arguments) = (Vec::new(), Vec::<Rc<str>>::new());
        if reader.slice(command) == "define-fun" {
            reader.expect(Kind::Open, "the arguments")?;
            while reader.take(Kind::Open).is_some() {
                let (argument, at) = reader.new_name()?;
                if arguments.contains(&argument) {
                    return Refusal::malformed(at, format!("`{argument}` is bound twice"));
                }
                arguments.push(argument.clone());
                let sort = reader.sort()?;
                reader.expect(Kind::Close, "`)`")?;
                let symbol = store.fresh(&format!("{name}.{argument}"), sort, SymbolKind::Free);
                reader.names.bind(argument, Meaning::Is(store.expr_of(symbol)));
                takes.push(symbol);
            }
            reader.expect(Kind::Close, "an argument or `)`")?;
        }
        let gives = reader.sort()?;
        let body = reader.expression()?;
        reader.names.undo(mark);
        if store.sort(body.id()) != gives {
            return Refusal::malformed(span, format!("the body of `{name}` is of another sort"));
        }
        let meaning =
            if takes.is_empty() { Meaning::Is(body) } else { Meaning::Macro(Rc::new(Macro { takes, body })) };
        reader.names.bind(name, meaning);
        Ok(())
    }

    fn assert(&mut self, reader: &mut Reader<'s, '_>) -> Result<(), Refusal> {
        let from = reader.peek().map_or(Span::default(), |token| token.span);
        if self.abbreviates(reader)? {
            return Ok(());
        }
        reader.named.clear();
        let Expr::Formula(formula) = reader.expression()? else {
            return Refusal::malformed(from, "expected a truth value");
        };
        let name = reader.named.iter().find(|(_, named)| *named == formula).map(|(name, _)| name.clone());
        self.assertions.push((formula, name));
        Ok(())
    }

    /// Whether the assertion makes a free array another name for an expression: `(= a (store b i v))`.
    ///
    /// Where nothing has been said of `a` so far, there is always exactly one `a` of which this holds: reading the
    /// expression for the name from here on loses nothing, and no equality of arrays has to be decided.
    fn abbreviates(&mut self, reader: &mut Reader<'s, '_>) -> Result<bool, Refusal> {
        let Some(name) = reader.equated() else { return Ok(false) };
        let Some(Meaning::Is(array @ Expr::Func(_))) = reader.names.get(&name).cloned() else {
            return Ok(false);
        };
        let store = reader.store;
        let symbols = store.symbols_in([array.id()]);
        let said = self.assertions.iter().map(|(formula, _)| formula.id());
        let is_free = |symbol: Symbol| store.expr_of(symbol) == array && self.arrays.contains(&symbol);
        if symbols.len() != 1 || !is_free(symbols[0]) || !self.levels.is_empty() {
            return Ok(false);
        }
        if store.symbols_in(said).contains(&symbols[0]) || reader.names.mention(store, symbols[0], &name) {
            return Ok(false);
        }
        let start = reader.position();
        reader.enter_equation();
        let body = reader.expression()?;
        let is_itself = store.symbols_in([body.id()]).contains(&symbols[0]);
        if store.sort(body.id()) != store.sort(array.id()) || is_itself || reader.take(Kind::Close).is_none()
        {
            reader.go_to(start);
            return Ok(false);
        }
        self.has_abbreviations = true;
        reader.names.bind(name.clone(), Meaning::Is(body));
        for declared in self.declared.iter_mut().filter(|declared| declared.name == name) {
            declared.meaning = Meaning::Is(body);
        }
        Ok(true)
    }

    fn check(&mut self, assumed: Vec<Assertion>, say: &mut dyn FnMut(Response)) {
        let all: Vec<&Assertion> = self.assertions.iter().chain(&assumed).collect();
        let query: Vec<Formula> = all.iter().map(|(formula, _)| *formula).collect();
        let answer = self.solver.check(&query);
        say(Response::Decided(answer.decided()));
        self.last = match answer {
            Answer::Sat(model) => Last::Sat(model),
            Answer::Unsat => {
                let core = self.solver.unsat_core();
                let named = all.iter().filter(|(formula, _)| core.contains(formula));
                Last::Unsat(named.filter_map(|(_, name)| name.as_deref().map(quoted)).collect())
            }
            Answer::Unknown(reason) => Last::Unknown(reason),
        };
    }
}
