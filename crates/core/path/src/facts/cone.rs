//! What a condition is made of, as far as propagation looks: each expression once, in the order in which they came.
//!
//! Expressions come and go like the items of a stack, so those of one path take no more room than the path is long.

use super::order::{Order, Sum};
use parallax_op::{BinOp, Bits, BoolOp, RelOp};
use parallax_term::{Expr, Formula, Id, Node, Store, Symbol, Term};

/// Numbers beyond which the bounds between any two are not worth their room.
const NUMBERS: usize = 256;

/// Constants beyond which differences might overflow.
const LARGE: i128 = 1 << 40;

/// The number of an expression in its cone.
pub(super) type At = u32;

const NOWHERE: At = At::MAX;

/// One level of an expression.
#[derive(Clone, Copy, Debug)]
pub(super) enum Part {
    /// A truth value that may be either.
    Free,
    /// A truth value whose meaning is not looked at: it may be either, and a solution must be held against it.
    Unread,
    Constant(bool),
    Not(At),
    And(At, At),
    Or(At, At),
    Iff(At, At),
    /// If-then-else on truth values.
    Choice(At, At, At),
    /// `<` (strict) or `<=`, signed.
    Below(At, At, bool),
    Equal(At, At),
    /// A vector: a number of the order and a constant beside it.
    Number(Sum),
    /// If-then-else on vectors.
    Pick(At, At, At),
    /// A vector and a constant: their sum where that is in range, and elsewhere what it wraps around to.
    Shift {
        of: At,
        fits: At,
        by: i64,
        wrapped: i64,
    },
}

/// The expressions.
#[derive(Default)]
pub(super) struct Cone {
    parts: Vec<Part>,
    ids: Vec<Id>,
    /// What each is an operand of.
    users: Vec<Vec<At>>,
    /// Where an expression is, by its index in the store.
    place: Vec<At>,
    /// Comparisons, in order.
    pub comparisons: Vec<At>,
    /// Truth values that may be either, in order: free ones, and those whose meaning is not looked at.
    pub open: Vec<At>,
    /// Symbols of vectors and their numbers.
    pub symbols: Vec<(Symbol, Sum, u16)>,
    /// How many expressions have a meaning that is not looked at, or not wholly.
    pub unread: usize,
}

/// How much there was.
#[derive(Clone, Copy, Default)]
pub(super) struct Mark {
    parts: usize,
    comparisons: usize,
    open: usize,
    symbols: usize,
    unread: usize,
}

impl Cone {
    pub fn len(&self) -> usize {
        self.parts.len()
    }

    pub fn part(&self, at: At) -> Part {
        self.parts[at as usize]
    }

    pub fn id(&self, at: At) -> Id {
        self.ids[at as usize]
    }

    /// Where an expression is, if it came in.
    pub fn find(&self, id: Id) -> Option<At> {
        self.place.get(id.index()).copied().filter(|at| *at != NOWHERE)
    }

    pub fn users(&self, at: At) -> &[At] {
        &self.users[at as usize]
    }

    pub fn mark(&self) -> Mark {
        Mark {
            parts: self.parts.len(),
            comparisons: self.comparisons.len(),
            open: self.open.len(),
            symbols: self.symbols.len(),
            unread: self.unread,
        }
    }

    pub fn back_to(&mut self, mark: Mark) {
        while self.parts.len() > mark.parts {
            let (Some(part), Some(id)) = (self.parts.pop(), self.ids.pop()) else { break };
            self.users.pop();
            self.place[id.index()] = NOWHERE;
            let users = &mut self.users;
            part.operands(|at| {
                users[at as usize].pop();
            });
        }
        self.comparisons.truncate(mark.comparisons);
        self.open.truncate(mark.open);
        self.symbols.truncate(mark.symbols);
        self.unread = mark.unread;
    }

    /// Where an expression is, which comes in with all that it is made of if need be.
    pub fn enter(&mut self, store: &Store, order: &mut Order, root: Id) -> At {
        if self.place.len() < store.len() {
            self.place.resize(store.len(), NOWHERE);
        }
        if order.numbers() == 0 {
            order.add();
        }
        let mut stack = vec![root];
        while let Some(&id) = stack.last() {
            if self.place.len() <= id.index() {
                self.place.resize(store.len(), NOWHERE);
            }
            if self.place[id.index()] != NOWHERE {
                stack.pop();
                continue;
            }
            let before = stack.len();
            let part = self.read(store, order, id, &mut stack);
            if stack.len() == before {
                stack.pop();
                self.push(id, part);
            }
            // Else it is read again when its operands are there.
        }
        self.place[root.index()]
    }

    fn push(&mut self, id: Id, part: Part) {
        let at = self.parts.len() as At;
        let users = &mut self.users;
        part.operands(|operand| users[operand as usize].push(at));
        match part {
            Part::Below(..) | Part::Equal(..) => self.comparisons.push(at),
            Part::Free => self.open.push(at),
            Part::Unread => {
                self.open.push(at);
                self.unread += 1;
            }
            _ => {}
        }
        self.place[id.index()] = at;
        self.parts.push(part);
        self.ids.push(id);
        self.users.push(Vec::new());
    }

    /// What an expression is; operands that are not there yet go onto the stack.
    fn read(&mut self, store: &Store, order: &mut Order, id: Id, stack: &mut Vec<Id>) -> Part {
        let mut of = |id: Id| {
            // What an addition asks about its range may be new to the store.
            let at = self.place.get(id.index()).copied().unwrap_or(NOWHERE);
            if at == NOWHERE {
                stack.push(id);
            }
            at
        };
        let formula = |of: &mut dyn FnMut(Id) -> At, a: Formula, b: Formula| (of(a.id()), of(b.id()));
        let term = |of: &mut dyn FnMut(Id) -> At, a: Term, b: Term| (of(a.id()), of(b.id()));
        let numbers = |a: Term| store.width(a) <= 64;
        match store.node(id) {
            Node::Bool(value) => Part::Constant(value),
            Node::Not(a) => Part::Not(of(a.id())),
            Node::BoolOp(BoolOp::And, a, b) => {
                let (a, b) = formula(&mut of, a, b);
                Part::And(a, b)
            }
            Node::BoolOp(BoolOp::Or, a, b) => {
                let (a, b) = formula(&mut of, a, b);
                Part::Or(a, b)
            }
            Node::BoolOp(BoolOp::Iff, a, b) => {
                let (a, b) = formula(&mut of, a, b);
                Part::Iff(a, b)
            }
            Node::IteBool(c, a, b) => {
                let (c, (a, b)) = (of(c.id()), formula(&mut of, a, b));
                Part::Choice(c, a, b)
            }
            Node::Rel(op @ (RelOp::Slt | RelOp::Sle), a, b) if numbers(a) => {
                let (a, b) = term(&mut of, a, b);
                Part::Below(a, b, op == RelOp::Slt)
            }
            Node::Rel(RelOp::Eq, a, b) if numbers(a) => {
                let (a, b) = term(&mut of, a, b);
                Part::Equal(a, b)
            }
            Node::Ite(c, a, b) if numbers(a) => {
                let (c, (a, b)) = (of(c.id()), term(&mut of, a, b));
                Part::Pick(c, a, b)
            }
            Node::Bin(BinOp::Add, a, b) if store.width(a) <= 32 && store.as_constant(b).is_some() => {
                let width = store.width(a);
                let by = store.as_constant(b).and_then(|bits| bits.to_i128()).unwrap_or(0) as i64;
                let (least, most) = (-(1i64 << (width - 1)), (1i64 << (width - 1)) - 1);
                let number = |n: i64| store.constant(&Bits::from_i128(width, n.into()));
                let (fits, around) = match by > 0 {
                    true => (store.relop(RelOp::Sle, a, number(most - by)), -(1i64 << width)),
                    false => (store.relop(RelOp::Sle, number(least - by), a), 1i64 << width),
                };
                let (of, fits) = (of(a.id()), of(fits.id()));
                Part::Shift { of, fits, by, wrapped: by + around }
            }
            node => match store.expr(id) {
                Expr::Term(term) => Part::Number(self.number(store, order, &node, term)),
                _ if matches!(node, Node::Symbol(_)) => Part::Free,
                _ => Part::Unread,
            },
        }
    }

    /// A vector as a number: a constant, a symbol, or something of which only its order is looked at.
    fn number(&mut self, store: &Store, order: &mut Order, node: &Node, term: Term) -> Sum {
        if let Node::Const(bits) = node
            && let Some(value) = bits.to_i128()
            && value.abs() <= LARGE
        {
            return Sum { number: 0, plus: value as i64 };
        }
        if order.numbers() >= NUMBERS {
            // Together with all others of its kind: what is known of them is nothing.
            self.unread += 1;
            return Sum { number: u32::MAX, plus: 0 };
        }
        let sum = Sum { number: order.add(), plus: 0 };
        match node {
            Node::Symbol(symbol) => self.symbols.push((*symbol, sum, store.width(term))),
            _ => self.unread += 1,
        }
        sum
    }
}

impl Part {
    fn operands(self, mut each: impl FnMut(At)) {
        match self {
            Part::Free | Part::Unread | Part::Constant(_) | Part::Number(_) => {}
            Part::Not(a) => each(a),
            Part::And(a, b) | Part::Or(a, b) | Part::Iff(a, b) | Part::Below(a, b, _) | Part::Equal(a, b) => {
                each(a);
                each(b);
            }
            Part::Shift { of, fits, .. } => {
                each(of);
                each(fits);
            }
            Part::Choice(c, a, b) | Part::Pick(c, a, b) => {
                each(c);
                each(a);
                each(b);
            }
        }
    }
}
