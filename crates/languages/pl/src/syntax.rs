//! Programs: instructions, and expressions in postfix order.

use parallax_op::{BinOp, Bits, BoolOp, RelOp, UnOp};
use parallax_source::Span;
use rustc_hash::FxHashMap;

/// Where a variable lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variable {
    /// A global, by number.
    Global(u32),
    /// A parameter or local: its offset in the activation record.
    Local(u32),
}

/// A node of an expression. Operands are numbers of earlier nodes.
#[derive(Clone, Debug, PartialEq)]
pub enum Node {
    /// `c`
    Const(Bits),
    /// `I`
    Variable(Variable),
    /// `&I`
    Address(Variable),
    /// `*E`
    Deref(u32),
    /// `op E`
    Un(UnOp, u32),
    /// `E1 op2 E2`
    Bin(BinOp, u32, u32),
    /// `BE ? E1 : E2`
    Cond(u32, u32, u32),
    /// A truth value as the number 1 or 0.
    FromTruth(u32),
    /// `T`, `F`
    Truth(bool),
    /// `E1 rop E2`
    Rel(RelOp, u32, u32),
    /// `!BE`
    Not(u32),
    /// `BE1 bop BE2`
    Connective(BoolOp, u32, u32),
    /// A number as the truth value "not zero".
    ToTruth(u32),
}

/// An expression: its nodes in order of evaluation, the last one being the whole. Nothing about it nests, so nothing
/// recurses, however deep the text was.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Expression {
    /// The nodes.
    pub nodes: Vec<Node>,
}

/// What an assignment writes to.
#[derive(Clone, Debug, PartialEq)]
pub enum Place {
    /// `I`
    Variable(Variable),
    /// `*E`: the expression is the address.
    Deref(Expression),
}

/// One instruction; targets are instruction numbers.
#[derive(Clone, Debug, PartialEq)]
pub enum Instruction {
    /// `I = E;` or `*E = E;`
    Assign(Place, Expression),
    /// Goes to the first target where the condition holds, else to the second.
    Branch(Expression, u32, u32),
    /// Goes on elsewhere.
    Goto(u32),
    /// Makes an activation record, puts the arguments there, and goes to the procedure.
    Call {
        /// Which procedure.
        procedure: u32,
        /// Its arguments.
        arguments: Vec<Expression>,
    },
    /// Follows every call: stores what the procedure returned.
    Collect(Option<Place>),
    /// `return E;` inside a procedure.
    Return(Expression),
    /// `I = malloc(n);`: a new object.
    Malloc(Place, Size),
    /// `return;` or `return E;` outside of procedures: the end.
    Halt,
}

/// How large a new object is.
#[derive(Clone, Debug, PartialEq)]
pub enum Size {
    /// As many cells.
    Cells(u64),
    /// As many cells as the expression says; where no object can have that many, there is none, and its address is zero.
    Given(Expression),
}

/// A procedure.
#[derive(Clone, Debug)]
pub struct Procedure {
    /// Its name.
    pub name: String,
    /// How many parameters it has.
    pub parameters: u32,
    /// Its first instruction.
    pub entry: u32,
    /// How many cells an activation record has: the result, the parameters, the locals.
    pub cells: u32,
}

/// A program.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// The number of the first instruction: a program that follows another lies behind it.
    pub base: u32,
    /// The names of the globals.
    pub globals: Vec<String>,
    /// The instructions.
    pub instructions: Vec<Instruction>,
    /// Where each instruction stands in the text.
    pub spans: Vec<Span>,
    /// The line of each instruction, counted from one.
    pub lines: Vec<usize>,
    /// The procedures.
    pub procedures: Vec<Procedure>,
    /// Labels and the instructions they name.
    pub labels: Vec<(String, u32)>,
    /// The numbers of the globals.
    numbers: FxHashMap<String, u32>,
    /// Instructions that make objects, in order: the number of a site among them tells where its objects go.
    pub(crate) sites: Vec<u32>,
}

/// Marks the globals that keep results of calls inside expressions; no name in a text contains it.
pub(crate) const TEMPORARY: char = '@';

impl Node {
    /// The nodes that it has for operands.
    pub(crate) fn operands(&self) -> Vec<u32> {
        match *self {
            Node::Const(_) | Node::Variable(_) | Node::Address(_) | Node::Truth(_) => Vec::new(),
            Node::Deref(a) | Node::Un(_, a) | Node::FromTruth(a) | Node::Not(a) | Node::ToTruth(a) => vec![a],
            Node::Bin(_, a, b) | Node::Rel(_, a, b) | Node::Connective(_, a, b) => vec![a, b],
            Node::Cond(a, b, c) => vec![a, b, c],
        }
    }

    /// The same with other numbers for its operands.
    fn renumbered(&self, to: impl Fn(u32) -> u32) -> Node {
        match self {
            Node::Deref(a) => Node::Deref(to(*a)),
            Node::Un(op, a) => Node::Un(*op, to(*a)),
            Node::FromTruth(a) => Node::FromTruth(to(*a)),
            Node::Not(a) => Node::Not(to(*a)),
            Node::ToTruth(a) => Node::ToTruth(to(*a)),
            Node::Bin(op, a, b) => Node::Bin(*op, to(*a), to(*b)),
            Node::Rel(op, a, b) => Node::Rel(*op, to(*a), to(*b)),
            Node::Connective(op, a, b) => Node::Connective(*op, to(*a), to(*b)),
            Node::Cond(a, b, c) => Node::Cond(to(*a), to(*b), to(*c)),
            leaf => leaf.clone(),
        }
    }
}

impl Expression {
    /// The part of a list of nodes that one of them is made of.
    pub(crate) fn part(nodes: &[Node], root: u32) -> Expression {
        let mut number: Vec<Option<u32>> = vec![None; root as usize + 1];
        number[root as usize] = Some(0);
        for at in (0..=root as usize).rev() {
            if number[at].is_some() {
                for operand in nodes[at].operands() {
                    number[operand as usize] = Some(0);
                }
            }
        }
        let mut part = Vec::new();
        for at in 0..=root as usize {
            if number[at].is_some() {
                let renumbered = nodes[at].renumbered(|old| number[old as usize].expect("an operand"));
                number[at] = Some(part.len() as u32);
                part.push(renumbered);
            }
        }
        Expression { nodes: part }
    }
}

impl Program {
    /// The names of the globals that the text names.
    pub fn variables(&self) -> impl Iterator<Item = &String> {
        self.globals.iter().filter(|name| !name.contains(TEMPORARY))
    }

    /// The same, as one list.
    pub fn listed(&self) -> String {
        self.variables().map(String::as_str).collect::<Vec<_>>().join(", ")
    }

    /// The number of a global.
    pub fn global(&self, name: &str) -> Option<u32> {
        self.numbers.get(name).copied()
    }

    /// The number of a global, which is new if the text does not name it.
    pub fn add_global(&mut self, name: &str) -> u32 {
        if let Some(&number) = self.numbers.get(name) {
            return number;
        }
        let number = self.globals.len() as u32;
        self.globals.push(name.to_owned());
        self.numbers.insert(name.to_owned(), number);
        number
    }

    /// The same program behind one of so many instructions. The objects that it makes are named by where its instructions
    /// lie, so they are none of the other's.
    pub fn behind(self, instructions: usize) -> Program {
        Program { base: instructions as u32, ..self }
    }

    /// The instruction that a label or a line number names: the first on that line, or on the next line that has one.
    pub fn point(&self, name: &str) -> Option<u32> {
        let labelled = self.labels.iter().find(|(label, _)| label == name).map(|(_, at)| *at);
        let on_line = || {
            let line: usize = name.parse().ok()?;
            (0..self.lines.len()).find(|&at| self.lines[at] == line).map(|at| at as u32)
        };
        labelled.or_else(on_line).map(|at| self.base + at)
    }
}
