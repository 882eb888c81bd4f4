//! Reading expressions: precedence by an explicit stack of operators, so nesting costs memory and not stack.

use crate::WIDTH;
use crate::lexer::{Kind, Token};
use crate::syntax::{Expression, Node, Variable};
use parallax_op::{BinOp, Bits, BoolOp, ParseBitsError, RelOp, UnOp};
use parallax_source::{Diagnostic, Span};

/// What a finished operand denotes.
#[derive(Clone, Copy, PartialEq)]
enum Sort {
    Number,
    Truth,
}

/// An operator that waits for its right operand.
#[derive(Clone, Copy, PartialEq)]
enum Pending {
    Parenthesis,
    Question,
    Colon,
    Prefix(&'static str),
    Infix(Infix),
}

#[derive(Clone, Copy, PartialEq)]
enum Infix {
    Bin(BinOp),
    Rel(RelOp),
    Connective(BoolOp),
}

/// C's operators, with how tightly they bind.
const INFIX: &[(&str, u8, Infix)] = &[
    ("||", 2, Infix::Connective(BoolOp::Or)),
    ("&&", 3, Infix::Connective(BoolOp::And)),
    ("|", 4, Infix::Bin(BinOp::Or)),
    ("^", 5, Infix::Bin(BinOp::Xor)),
    ("&", 6, Infix::Bin(BinOp::And)),
    ("==", 7, Infix::Rel(RelOp::Eq)),
    ("!=", 7, Infix::Rel(RelOp::Ne)),
    ("<", 8, Infix::Rel(RelOp::Slt)),
    ("<=", 8, Infix::Rel(RelOp::Sle)),
    (">", 8, Infix::Rel(RelOp::Sgt)),
    (">=", 8, Infix::Rel(RelOp::Sge)),
    ("<<", 9, Infix::Bin(BinOp::Shl)),
    (">>", 9, Infix::Bin(BinOp::Ashr)),
    ("+", 10, Infix::Bin(BinOp::Add)),
    ("-", 10, Infix::Bin(BinOp::Sub)),
    ("*", 11, Infix::Bin(BinOp::Mul)),
    ("/", 11, Infix::Bin(BinOp::Sdiv)),
    ("%", 11, Infix::Bin(BinOp::Srem)),
];
const CHOICE: u8 = 1;
const PREFIX: u8 = 12;

impl Pending {
    fn binds(self) -> u8 {
        match self {
            Pending::Parenthesis | Pending::Question => 0,
            Pending::Colon => CHOICE,
            Pending::Prefix(_) => PREFIX,
            Pending::Infix(infix) => {
                INFIX.iter().find(|(_, _, known)| *known == infix).map_or(0, |&(_, binds, _)| binds)
            }
        }
    }
}

/// Finds out what names mean.
pub(crate) trait Names<'t> {
    /// What a name is.
    fn variable(&mut self, name: Token<'t>) -> Result<Variable, Diagnostic>;

    /// Keeps the value that an expression has now, before a call that may change it, and says where.
    fn keep(&mut self, expression: Expression, span: Span) -> Variable;

    /// Whether a variable is such a place, or keeps the result of a call: no call changes it.
    fn is_kept(&self, variable: Variable) -> bool;

    /// Whether a procedure has this name.
    fn is_procedure(&self, name: &str) -> bool;

    /// Makes the call that these tokens start with. Returns where its result is kept and how many tokens it took.
    fn call(&mut self, tokens: &'t [Token<'t>]) -> Result<(Variable, usize), Diagnostic>;
}

/// Reads one expression as a number or, if `truth`, as a truth value. Returns how many tokens it took.
pub(crate) fn read<'t>(
    tokens: &'t [Token<'t>],
    truth: bool,
    names: &mut dyn Names<'t>,
) -> Result<(Expression, usize), Diagnostic> {
    let mut reader = Reader { nodes: Vec::new(), operands: Vec::new(), pending: Vec::new() };
    let mut at = 0;
    loop {
        // An operand, after any prefix operators and opening parentheses.
        let token = tokens[at];
        match token.text {
            "(" => reader.pending.push((Pending::Parenthesis, token.span)),
            "-" | "~" | "!" | "*" => {
                let operator =
                    ["-", "~", "!", "*"].into_iter().find(|op| *op == token.text).expect("one of these");
                reader.pending.push((Pending::Prefix(operator), token.span));
            }
            _ => {
                at += reader.operand(&tokens[at..], names)?;
                // Closing parentheses, then an infix operator or the end.
                loop {
                    let token = tokens[at];
                    if token.text != ")" || !reader.is_inside() {
                        break;
                    }
                    reader.close()?;
                    at += 1;
                }
                let token = tokens[at];
                if let Some(&(_, binds, infix)) = INFIX.iter().find(|(text, ..)| *text == token.text) {
                    reader.reduce(binds)?;
                    reader.pending.push((Pending::Infix(infix), token.span));
                } else if token.text == "?" {
                    reader.reduce(CHOICE + 1)?;
                    reader.pending.push((Pending::Question, token.span));
                } else if token.text == ":" && reader.turn_colon()? {
                } else {
                    break;
                }
            }
        }
        at += 1;
    }
    reader.reduce(0)?;
    if let Some((pending, span)) = reader.pending.last() {
        let (missing, what) = if *pending == Pending::Question { (":", "`?`") } else { (")", "`(`") };
        let found = describe(&tokens[at]);
        let error = Diagnostic::new(tokens[at].span, format!("expected `{missing}`, found {found}"));
        let _ = span;
        return Err(error.note(format!("to match {what}")));
    }
    let root = if truth { reader.truth(0) } else { reader.number(0) };
    debug_assert_eq!(root as usize + 1, reader.nodes.len());
    Ok((Expression { nodes: reader.nodes }, at))
}

pub(crate) fn describe(token: &Token<'_>) -> String {
    if token.kind == Kind::End { "the end of the text".into() } else { format!("`{}`", token.text) }
}

struct Reader {
    nodes: Vec<Node>,
    operands: Vec<(u32, Sort)>,
    pending: Vec<(Pending, Span)>,
}

impl Reader {
    fn push(&mut self, node: Node) -> u32 {
        self.nodes.push(node);
        self.nodes.len() as u32 - 1
    }

    fn is_inside(&self) -> bool {
        self.pending.iter().any(|(pending, _)| *pending == Pending::Parenthesis)
    }

    /// Whether the next operand is evaluated on a condition only.
    fn is_conditional(&self) -> bool {
        let waits = |pending: &Pending| {
            matches!(pending, Pending::Question | Pending::Colon | Pending::Infix(Infix::Connective(_)))
        };
        self.pending.iter().any(|(pending, _)| waits(pending))
    }

    /// One operand without prefix operators; returns how many tokens it took.
    fn operand<'t>(
        &mut self,
        tokens: &'t [Token<'t>],
        names: &mut dyn Names<'t>,
    ) -> Result<usize, Diagnostic> {
        let token = tokens[0];
        let (node, sort, taken) = match (token.kind, token.text) {
            (Kind::Number, text) => (Node::Const(number(text, token.span)?), Sort::Number, 1),
            (_, "&") => {
                let name = tokens[1.min(tokens.len() - 1)];
                if name.kind != Kind::Name {
                    let message = format!("expected a variable after `&`, found {}", describe(&name));
                    return Err(Diagnostic::new(name.span, message));
                }
                (Node::Address(names.variable(name)?), Sort::Number, 2)
            }
            (Kind::Name, "true") => (Node::Truth(true), Sort::Truth, 1),
            (Kind::Name, "false") => (Node::Truth(false), Sort::Truth, 1),
            (Kind::Name, name) if tokens[1].text == "(" => {
                if self.is_conditional() {
                    let message = "a call behind `&&`, `||` or `?` would happen only sometimes";
                    let error = Diagnostic::new(token.span, message);
                    return Err(error.note(format!("make it a statement: `if (...) x = {name}(...);`")));
                }
                if names.is_procedure(name) {
                    self.keep_operands(names, token.span);
                }
                let (result, taken) = names.call(tokens)?;
                (Node::Variable(result), Sort::Number, taken)
            }
            (Kind::Name, _) => (Node::Variable(names.variable(token)?), Sort::Number, 1),
            _ => {
                let message = format!("expected an expression, found {}", describe(&token));
                return Err(Diagnostic::new(token.span, message));
            }
        };
        let id = self.push(node);
        self.operands.push((id, sort));
        Ok(taken)
    }

    /// Operands are evaluated from left to right: those before a call are kept, since it may change what they read.
    fn keep_operands<'t>(&mut self, names: &mut dyn Names<'t>, span: Span) {
        let nodes = std::mem::take(&mut self.nodes);
        for (id, sort) in std::mem::take(&mut self.operands) {
            let (leaf, sort) = match &nodes[id as usize] {
                leaf @ (Node::Const(_) | Node::Address(_) | Node::Truth(_)) => (leaf.clone(), sort),
                Node::Variable(variable) if names.is_kept(*variable) => (Node::Variable(*variable), sort),
                _ => {
                    let mut part = Expression::part(&nodes, id);
                    if sort == Sort::Truth {
                        let last = part.nodes.len() as u32 - 1;
                        part.nodes.push(Node::FromTruth(last));
                    }
                    (Node::Variable(names.keep(part, span)), Sort::Number)
                }
            };
            let id = self.push(leaf);
            self.operands.push((id, sort));
        }
    }

    /// Takes the newest operand but `below` off the stack, as a number.
    fn number(&mut self, below: usize) -> u32 {
        let at = self.operands.len() - 1 - below;
        let (id, sort) = self.operands.remove(at);
        if sort == Sort::Truth { self.push(Node::FromTruth(id)) } else { id }
    }

    /// The same as a truth value.
    fn truth(&mut self, below: usize) -> u32 {
        let at = self.operands.len() - 1 - below;
        let (id, sort) = self.operands.remove(at);
        if sort == Sort::Number { self.push(Node::ToTruth(id)) } else { id }
    }

    /// Applies pending operators that bind at least as tightly as `binds` (and never past a parenthesis).
    fn reduce(&mut self, binds: u8) -> Result<(), Diagnostic> {
        while let Some(&(pending, _)) = self.pending.last() {
            if pending.binds() < binds.max(1) {
                break;
            }
            self.pending.pop();
            self.apply(pending);
        }
        Ok(())
    }

    fn apply(&mut self, pending: Pending) {
        let (node, sort) = match pending {
            Pending::Prefix("!") => (Node::Not(self.truth(0)), Sort::Truth),
            Pending::Prefix("*") => (Node::Deref(self.number(0)), Sort::Number),
            Pending::Prefix(operator) => {
                let op = if operator == "-" { UnOp::Neg } else { UnOp::Not };
                (Node::Un(op, self.number(0)), Sort::Number)
            }
            Pending::Infix(Infix::Bin(op)) => {
                let (a, b) = (self.number(1), self.number(0));
                (Node::Bin(op, a, b), Sort::Number)
            }
            Pending::Infix(Infix::Rel(op)) => {
                let (a, b) = (self.number(1), self.number(0));
                (Node::Rel(op, a, b), Sort::Truth)
            }
            Pending::Infix(Infix::Connective(op)) => {
                let (a, b) = (self.truth(1), self.truth(0));
                (Node::Connective(op, a, b), Sort::Truth)
            }
            Pending::Colon => {
                let condition = self.truth(2);
                let (t, e) = (self.number(1), self.number(0));
                (Node::Cond(condition, t, e), Sort::Number)
            }
            Pending::Parenthesis | Pending::Question => unreachable!("these are never applied"),
        };
        let id = self.push(node);
        self.operands.push((id, sort));
    }

    fn close(&mut self) -> Result<(), Diagnostic> {
        self.reduce(1)?;
        match self.pending.pop() {
            Some((Pending::Parenthesis, _)) => Ok(()),
            Some((_, span)) => Err(Diagnostic::new(span, "this `?` has no `:`")),
            None => unreachable!("checked to be inside"),
        }
    }

    /// A colon that belongs to a question mark; false when it belongs to something around the expression.
    fn turn_colon(&mut self) -> Result<bool, Diagnostic> {
        let open =
            self.pending.iter().rev().find(|(p, _)| matches!(p, Pending::Question | Pending::Parenthesis));
        if !matches!(open, Some((Pending::Question, _))) {
            return Ok(false);
        }
        self.reduce(1)?;
        let (_, span) = self.pending.pop().expect("the question mark");
        self.pending.push((Pending::Colon, span));
        Ok(true)
    }
}

/// A C integer literal that fits 32 bits, signed or unsigned.
pub(crate) fn number(text: &str, span: Span) -> Result<Bits, Diagnostic> {
    Bits::parse(text, WIDTH).map_err(|error| match error {
        ParseBitsError::NotANumber => Diagnostic::new(span, format!("`{text}` is no number")),
        ParseBitsError::TooLarge => Diagnostic::new(span, format!("`{text}` does not fit into {WIDTH} bits")),
    })
}
