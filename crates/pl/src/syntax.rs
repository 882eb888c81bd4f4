//! Programs: instructions, and expressions in postfix order.

use parallax_op::{BinOp, Bits, BoolOp, RelOp, UnOp};
use parallax_source::Span;

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
    /// `I = malloc(n);`: a new object of as many cells.
    Malloc(Place, u64),
    /// `return;` or `return E;` outside of procedures: the end.
    Halt,
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
}

/// Marks the globals that keep results of calls inside expressions; no name in a text contains it.
pub(crate) const TEMPORARY: char = '@';

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
        self.globals.iter().position(|known| known == name).map(|index| index as u32)
    }

    /// The instruction that a label or a line number names: the first on that line, or on the next line that has one.
    pub fn point(&self, name: &str) -> Option<u32> {
        if let Some((_, at)) = self.labels.iter().find(|(label, _)| label == name) {
            return Some(*at);
        }
        let line: usize = name.parse().ok()?;
        (0..self.lines.len()).filter(|&at| self.lines[at] == line).min().map(|at| at as u32)
    }
}
