//! The type checker: the rules of Figure 6 and what section 2 adds.
//!
//! A parameter has one type for all its uses; what a `let` binds is polymorphic where it is a value (the value
//! restriction: anything else may have made a location, which has one type). The checker knows nothing of symbolic
//! execution. What it finds inside `{s e s}` it leaves to whoever implements [`SymbolicBlocks`], and a
//! function of singleton type ([`Type::Known`]) is only a name to it.

use crate::complaint::Complaint;
use crate::infer::{Mismatch, Table, Wanted};
use crate::syntax::*;
use crate::ty::{KnownId, Nullness, Type};
use parallax_source::Span;
use rustc_hash::FxHashSet;
use std::cell::RefCell;

/// What the checker asks about the parts of a program that are not its own.
pub trait SymbolicBlocks {
    /// The type of the symbolic block `e` in the current typing environment. Complaints go to the checker.
    fn symbolic_block(&self, checker: &Checker<'_>, e: ExprId) -> Type;
    /// An ordinary function type for a function of singleton type.
    fn known_function(&self, checker: &Checker<'_>, function: KnownId, span: Span) -> Type;
}

/// What checked code may write to, for those who want to know less than "anything".
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Effects {
    /// Locations of these types are assigned.
    pub written: FxHashSet<Type>,
    /// A function is called of which only the type is known.
    pub calls: bool,
    /// Anything may be written.
    pub everything: bool,
}

impl Effects {
    /// A new location is nothing that anyone knew before, unless more is known of all locations of its type: then
    /// its content may be newer than that knowledge, as a pointer to something new is.
    pub fn allocates(&mut self, content: &Type) {
        if *content != Type::INT && !matches!(content, Type::Bool | Type::Str | Type::Float | Type::Unit) {
            self.written.insert(content.clone());
        }
    }
}

/// Premises of generalisation that can be left out, to show that the tests need them. Leaving one out is unsound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Loose {
    /// What a `let` binds is polymorphic even when it is no value.
    pub values: bool,
    /// Types that names outside speak of are generalised too.
    pub environment: bool,
}

/// A typing environment, the type variables, and what was found wrong.
pub struct Checker<'p> {
    /// The program.
    pub program: &'p Program,
    gamma: RefCell<Vec<Option<Type>>>,
    table: RefCell<Table>,
    complaints: RefCell<Vec<Complaint>>,
    effects: RefCell<Effects>,
    loose: Loose,
}

impl<'p> Checker<'p> {
    /// A checker whose environment holds the `extern` names.
    pub fn new(program: &'p Program) -> Self {
        let mut gamma = vec![None; program.vars.len()];
        for declared in &program.externs {
            gamma[declared.name.var.0 as usize] = Some(declared.ty.clone());
        }
        Checker {
            program,
            gamma: RefCell::new(gamma),
            table: RefCell::default(),
            complaints: RefCell::default(),
            effects: RefCell::default(),
            loose: Loose::default(),
        }
    }

    /// The same without some premises of generalisation.
    pub fn loosened(mut self, loose: Loose) -> Self {
        self.table.get_mut().forget_environment = loose.environment;
        Checker { loose, ..self }
    }

    /// The type of a variable, as far as it is known.
    pub fn lookup(&self, var: VarId) -> Option<Type> {
        let gamma = self.gamma.borrow();
        gamma[var.0 as usize].as_ref().and_then(|ty| self.table.borrow().resolve(ty))
    }

    /// Sets the type of a variable and gives back what it was.
    pub fn bind(&self, var: VarId, ty: Option<Type>) -> Option<Type> {
        std::mem::replace(&mut self.gamma.borrow_mut()[var.0 as usize], ty)
    }

    /// Notes a complaint.
    pub fn complain(&self, complaint: Complaint) {
        self.complaints.borrow_mut().push(complaint);
    }

    /// Takes the complaints so far.
    pub fn take_complaints(&self) -> Vec<Complaint> {
        self.complaints.take()
    }

    /// Puts complaints back in front of those that came since.
    pub fn restore_complaints(&self, mut earlier: Vec<Complaint>) {
        let mut complaints = self.complaints.borrow_mut();
        earlier.append(&mut complaints);
        *complaints = earlier;
    }

    /// Takes the effects so far.
    pub fn take_effects(&self) -> Effects {
        self.effects.take()
    }

    /// Adds effects.
    pub fn add_effects(&self, more: Effects) {
        let mut effects = self.effects.borrow_mut();
        effects.written.extend(more.written);
        effects.calls |= more.calls;
        effects.everything |= more.everything;
    }

    /// The type with everything looked up and `int` for what nothing determines.
    pub fn settled(&self, ty: &Type) -> Type {
        self.table.borrow_mut().settle(ty).unwrap_or(Type::Broken)
    }

    /// The type with everything looked up.
    pub fn resolved(&self, ty: &Type) -> Type {
        self.table.borrow().resolve(ty).unwrap_or(Type::Broken)
    }

    /// Whether an expression of type `found` may stand where `wanted` is asked for; unknown parts are filled in.
    pub fn fits(&self, found: &Type, wanted: &Type) -> bool {
        let (found, wanted) = (self.instance(found), self.instance(wanted));
        self.table.borrow_mut().fit(&found, &wanted).is_ok()
    }

    /// The least type that both fit, if there is one.
    pub fn joined(&self, a: &Type, b: &Type) -> Option<Type> {
        let (a, b) = (self.instance(a), self.instance(b));
        self.table.borrow_mut().join(&a, &b).ok()
    }

    /// Types an expression that is a value: the scheme of its type.
    pub fn generalized(&self, type_of: impl FnOnce() -> Type) -> Type {
        self.table.borrow_mut().enter();
        let ty = type_of();
        self.table.borrow_mut().leave(ty)
    }

    /// An instance of a type scheme; any other type is itself.
    pub fn instance(&self, ty: &Type) -> Type {
        self.table.borrow_mut().instance(ty).unwrap_or(Type::Broken)
    }

    /// Binds a name to the type of a value that is there already, so that nothing of it can be generalised.
    pub fn bind_value(&self, var: VarId, ty: Type) -> Option<Type> {
        self.table.borrow_mut().hold(&ty);
        self.bind(var, Some(ty))
    }

    /// A type of which nothing is known.
    pub fn unknown(&self) -> Type {
        self.fresh()
    }

    /// The whole environment, to come back to.
    pub fn environment(&self) -> Vec<Option<Type>> {
        self.gamma.borrow().clone()
    }

    /// Comes back to an environment.
    pub fn set_environment(&self, gamma: Vec<Option<Type>>) {
        self.gamma.replace(gamma);
    }

    fn fresh(&self) -> Type {
        self.table.borrow_mut().fresh()
    }

    fn head(&self, ty: &Type) -> Type {
        self.table.borrow().head(ty)
    }

    fn wrong(&self, span: Span, message: String) -> Type {
        self.complain(Complaint::error(span, message));
        Type::Broken
    }

    /// `Gamma |- e : t`. Complaints are noted, and the type is then as good as can be said.
    pub fn check(&self, blocks: &dyn SymbolicBlocks, e: ExprId) -> Type {
        stacker::maybe_grow(64 << 10, 1 << 20, || self.rule(blocks, e))
    }

    /// One arm per rule.
    fn rule(&self, blocks: &dyn SymbolicBlocks, e: ExprId) -> Type {
        let program = self.program;
        let span = program.span(e);
        match program.expr(e) {
            // TVar
            Expr::Var(at) => {
                let known = self.gamma.borrow()[at.var.0 as usize].clone();
                match known {
                    Some(scheme @ Type::Forall(..)) => {
                        let instance = self.table.borrow_mut().instance(&scheme);
                        instance.unwrap_or_else(|| self.too_large(span))
                    }
                    Some(ty) => ty,
                    None => {
                        let name = &program.var(at.var).name;
                        self.wrong(span, format!("`{name}` has no type here"))
                    }
                }
            }
            // TInt, TBool and the other constants
            Expr::Int(n) => Type::Int(if program.uses_signs { Sign::of(*n) } else { Sign::Unknown }),
            Expr::Bool(_) => Type::Bool,
            Expr::Unit => Type::Unit,
            Expr::Float(_) => Type::Float,
            Expr::Str(_) => Type::Str,
            Expr::Null => Type::nullable(self.fresh()),
            Expr::Binary(op, e1, e2) => {
                let t1 = self.check(blocks, *e1);
                let t2 = self.check(blocks, *e2);
                self.binary(*op, &t1, &t2, span)
            }
            // TNot
            Expr::Not(e1) => {
                self.expect(blocks, *e1, &Type::Bool, "`not` wants");
                Type::Bool
            }
            Expr::Negate(e1) => {
                let ty = self.check(blocks, *e1);
                if self
                    .table
                    .borrow_mut()
                    .want(&ty, Wanted { number: true, computed: true, comparable: false })
                    .is_err()
                {
                    return self.wrong(span, format!("`-` wants a number, not {}", self.resolved(&ty)));
                }
                match self.head(&ty) {
                    // The least integer is its own negation, so negative does not become positive.
                    Type::Int(Sign::Pos) => Type::Int(Sign::Neg),
                    Type::Int(Sign::Zero) => Type::Int(Sign::Zero),
                    Type::Int(_) => Type::INT,
                    other => other,
                }
            }
            // TIf
            Expr::If(e1, e2, e3) => {
                self.expect(blocks, *e1, &Type::Bool, "a condition is");
                let t2 = self.check(blocks, *e2);
                let t3 = self.check(blocks, *e3);
                self.join(blocks, &t2, &t3, span)
            }
            // TRef
            Expr::Ref(e1) => {
                let content = self.place(blocks, *e1);
                self.allocates(&content);
                self.bounded(Type::reference(content), span)
            }
            // TAssign
            Expr::Assign(e1, e2) => {
                let target = self.check(blocks, *e1);
                let value = self.check(blocks, *e2);
                let Some(content) = self.content(&target, span, "`:=`") else { return Type::Broken };
                self.fit(blocks, &value, &content, program.span(*e2), "this location holds");
                self.effects.borrow_mut().written.insert(self.resolved(&content));
                content
            }
            // TDeref
            Expr::Deref(e1) => {
                let target = self.check(blocks, *e1);
                self.content(&target, span, "`!`").unwrap_or(Type::Broken)
            }
            Expr::SetVar(at, e1) => {
                let value = self.check(blocks, *e1);
                let wanted = self.gamma.borrow()[at.var.0 as usize].clone().unwrap_or(Type::Broken);
                let why = format!("`{}` holds", program.var(at.var).name);
                self.fit(blocks, &value, &wanted, program.span(*e1), &why);
                if program.var(at.var).boxed {
                    self.effects.borrow_mut().written.insert(self.resolved(&wanted));
                }
                Type::Unit
            }
            // TLet, and sequences
            Expr::Chain(items, last) => {
                for item in items {
                    match item {
                        Item::Let(at, e1) => {
                            let ty = || {
                                let ty = self.check(blocks, *e1);
                                self.bounded(ty, program.span(*e1))
                            };
                            let ty = if self.loose.values || is_value(program, *e1) {
                                self.generalized(ty)
                            } else {
                                ty()
                            };
                            self.bind(at.var, Some(ty));
                        }
                        Item::Var(at, e1) => {
                            let ty = self.place(blocks, *e1);
                            if program.var(at.var).boxed {
                                self.allocates(&ty);
                            }
                            self.bind(at.var, Some(ty));
                        }
                        Item::Do(e1) => {
                            self.check(blocks, *e1);
                        }
                    }
                }
                self.check(blocks, *last)
            }
            Expr::While(e1, e2) => {
                self.expect(blocks, *e1, &Type::Bool, "a condition is");
                self.check(blocks, *e2);
                Type::Unit
            }
            Expr::Annotated(e1, ty) => {
                self.expect(blocks, *e1, ty, "the annotation says");
                ty.clone()
            }
            Expr::Fun(fun) => self.function(blocks, *fun),
            Expr::Apply(e1, e2) => {
                let function = self.check(blocks, *e1);
                let argument = self.check(blocks, *e2);
                self.apply(blocks, &function, &argument, (program.span(*e1), program.span(*e2)))
            }
            // A typed block inside a typed one passes through.
            Expr::Block(BlockKind::Typed, e1) => self.check(blocks, *e1),
            Expr::Block(BlockKind::Symbolic, _) => blocks.symbolic_block(self, e),
        }
    }

    /// The type of what a mutable place holds: its sign is forgotten unless an annotation asks for it.
    fn place(&self, blocks: &dyn SymbolicBlocks, e: ExprId) -> Type {
        let ty = self.check(blocks, e);
        let ty = self.bounded(ty, self.program.span(e));
        if matches!(self.program.expr(e), Expr::Annotated(..)) { ty } else { self.head(&ty).widened() }
    }

    fn allocates(&self, content: &Type) {
        self.effects.borrow_mut().allocates(&self.resolved(content));
    }

    fn bounded(&self, ty: Type, span: Span) -> Type {
        if self.table.borrow().resolve(&ty).is_some() {
            return ty;
        }
        self.too_large(span)
    }

    fn too_large(&self, span: Span) -> Type {
        self.wrong(span, format!("this type has more than {} parts", crate::infer::MAX_TYPE_SIZE))
    }

    fn expect(&self, blocks: &dyn SymbolicBlocks, e: ExprId, wanted: &Type, why: &str) {
        let found = self.check(blocks, e);
        self.fit(blocks, &found, wanted, self.program.span(e), why);
    }

    fn fit(&self, blocks: &dyn SymbolicBlocks, found: &Type, wanted: &Type, span: Span, why: &str) {
        let mut found = self.head(found);
        if let (Type::Known(id), false) = (&found, self.head(wanted) == found) {
            found = blocks.known_function(self, *id, span);
        }
        let agree = self.table.borrow_mut().fit(&found, wanted);
        if let Err(mismatch) = agree {
            self.misfit(span, mismatch, why, &found, wanted);
        }
    }

    /// Complains that a type is not the one wanted: the place, both types, and what is not obvious from them.
    fn misfit(&self, span: Span, mismatch: Mismatch, why: &str, found: &Type, wanted: &Type) -> Type {
        let (found, wanted) = (self.resolved(found), self.resolved(wanted));
        let complaint = Complaint::error(span, format!("{why} {wanted}, this is {found}"));
        self.complain(match (mismatch, &found, &wanted) {
            (Mismatch::Contains, ..) => complaint.note("a type would be a part of itself"),
            (Mismatch::TooLarge, ..) => {
                complaint.note(format!("a type would have more than {} parts", crate::infer::MAX_TYPE_SIZE))
            }
            (_, Type::Ref(Nullness::Null, _), Type::Ref(Nullness::NonNull, _)) => {
                complaint.note("it may be null; a symbolic block can find out where it is not")
            }
            (_, Type::Var(_), _) | (_, _, Type::Var(_)) => {
                complaint.note("an operator wants a number of it, or something that can be compared")
            }
            _ => complaint,
        });
        Type::Broken
    }

    fn join(&self, blocks: &dyn SymbolicBlocks, a: &Type, b: &Type, span: Span) -> Type {
        let (mut a, mut b) = (self.head(a), self.head(b));
        if a != b {
            for side in [&mut a, &mut b] {
                if let Type::Known(id) = side {
                    *side = blocks.known_function(self, *id, span);
                }
            }
        }
        let joined = self.table.borrow_mut().join(&a, &b);
        joined.unwrap_or_else(|_| {
            let (a, b) = (self.resolved(&a), self.resolved(&b));
            self.wrong(span, format!("the branches differ: one gives {a}, the other {b}"))
        })
    }

    /// What a reference of type `target` holds.
    fn content(&self, target: &Type, span: Span, operator: &str) -> Option<Type> {
        match self.head(target) {
            Type::Ref(Nullness::NonNull, content) => Some((*content).clone()),
            Type::Broken => None,
            nullable @ Type::Ref(Nullness::Null, _) => {
                let message = format!("{operator} wants a location, this is {}", self.resolved(&nullable));
                self.complain(
                    Complaint::error(span, message)
                        .note("it may be null; a symbolic block can find out where it is not"),
                );
                None
            }
            unknown @ Type::Var(_) => {
                let content = self.fresh();
                let wanted = Type::reference(content.clone());
                let agree = self.table.borrow_mut().fit(&unknown, &wanted);
                match agree {
                    Ok(()) => Some(content),
                    Err(mismatch) => {
                        self.misfit(span, mismatch, &format!("{operator} wants"), &unknown, &wanted);
                        None
                    }
                }
            }
            other => {
                let message = format!("{operator} wants a reference, this is {}", self.resolved(&other));
                self.wrong(span, message);
                None
            }
        }
    }

    /// A function's parameter has the type it is annotated with, or one that its uses determine.
    pub fn function(&self, blocks: &dyn SymbolicBlocks, fun: FunId) -> Type {
        let fun = self.program.fun(fun);
        let param = fun.param_type.clone().unwrap_or_else(|| self.fresh());
        let result = fun.myself.map(|myself| {
            let result = self.fresh();
            self.bind(myself.var, Some(Type::function(param.clone(), result.clone())));
            result
        });
        self.bind(fun.param.var, Some(param.clone()));
        let body = self.check(blocks, fun.body);
        if let Some(result) = &result {
            self.fit(blocks, &body, result, self.program.span(fun.body), "the recursive calls give");
        }
        self.bounded(Type::function(param, result.unwrap_or(body)), fun.span)
    }

    fn apply(
        &self,
        blocks: &dyn SymbolicBlocks,
        function: &Type,
        argument: &Type,
        spans: (Span, Span),
    ) -> Type {
        let mut function = self.head(function);
        if let Type::Known(id) = function {
            function = blocks.known_function(self, id, spans.0);
        } else {
            self.effects.borrow_mut().calls = true;
        }
        match self.head(&function) {
            Type::Fun(from, to) => {
                self.fit(blocks, argument, &from, spans.1, "the function wants");
                (*to).clone()
            }
            Type::Broken => Type::Broken,
            unknown @ Type::Var(_) => {
                let (from, to) = (self.fresh(), self.fresh());
                self.fit(blocks, argument, &from, spans.1, "the function wants");
                let wanted = Type::function(from, to.clone());
                let agree = self.table.borrow_mut().fit(&unknown, &wanted);
                match agree {
                    Ok(()) => to,
                    Err(mismatch) => self.misfit(spans.0, mismatch, "the call wants", &unknown, &wanted),
                }
            }
            other => {
                let other = self.resolved(&other);
                self.wrong(spans.0, format!("only a function can be applied, this is {other}"))
            }
        }
    }

    /// TPlus, TEq, TAnd and their kin.
    fn binary(&self, op: BinaryOp, t1: &Type, t2: &Type, span: Span) -> Type {
        use BinaryOp::*;
        let complain = || {
            let (a, b) = (self.resolved(t1), self.resolved(t2));
            if a == Type::Broken || b == Type::Broken {
                return Type::Broken;
            }
            let wanted = match op {
                And | Or => "two bools",
                Eq => "two operands of one type that is no function",
                _ => "two ints or two floats",
            };
            self.wrong(span, format!("`{op}` wants {wanted}, not {a} and {b}"))
        };
        let wanted = match op {
            And | Or => {
                let both = self.fits(t1, &Type::Bool) && self.fits(t2, &Type::Bool);
                return if both { Type::Bool } else { complain() };
            }
            Eq => Wanted { comparable: true, ..Wanted::default() },
            _ => Wanted { number: true, computed: op.is_arithmetic(), comparable: false },
        };
        let joined = self.table.borrow_mut().join(t1, t2);
        let Ok(joined) = joined else { return complain() };
        if self.table.borrow_mut().want(&joined, wanted).is_err() {
            return complain();
        }
        if !op.is_arithmetic() {
            return Type::Bool;
        }
        match (self.head(t1), self.head(t2)) {
            (Type::Int(a), Type::Int(b)) => Type::Int(sign_of(op, a, b)),
            _ => joined,
        }
    }
}

/// Whether an expression is a value already: evaluating it makes no location, and calls nothing.
fn is_value(program: &Program, e: ExprId) -> bool {
    let mut open = vec![e];
    while let Some(e) = open.pop() {
        match program.expr(e) {
            Expr::Unit | Expr::Int(_) | Expr::Float(_) | Expr::Bool(_) | Expr::Str(_) | Expr::Null => {}
            Expr::Var(_) | Expr::Fun(_) => {}
            Expr::Annotated(e, _) | Expr::Block(BlockKind::Typed, e) => open.push(*e),
            Expr::Chain(items, last) => {
                open.push(*last);
                for item in items {
                    let Item::Let(_, e) = item else { return false };
                    open.push(*e);
                }
            }
            _ => return false,
        }
    }
    true
}

/// What the sign of a result is known to be. Sums and products wrap, so two positive operands promise nothing.
fn sign_of(op: BinaryOp, a: Sign, b: Sign) -> Sign {
    match (op, a, b) {
        (BinaryOp::Add, Sign::Zero, sign) | (BinaryOp::Add | BinaryOp::Sub, sign, Sign::Zero) => sign,
        (BinaryOp::Mul, Sign::Zero, _) | (BinaryOp::Mul, _, Sign::Zero) => Sign::Zero,
        (BinaryOp::Div, Sign::Zero, _) => Sign::Zero,
        _ => Sign::Unknown,
    }
}
