//! Which variables of the frame around it an expression uses.

use crate::syntax::*;
use rustc_hash::FxHashSet;

/// The variables an expression has from outside.
#[derive(Clone, Debug, Default)]
pub struct Free {
    /// Those it uses, functions inside it included.
    pub used: Vec<Use>,
    /// Those it assigns itself; a function inside it assigns through the location of a boxed one.
    pub assigned: Vec<Use>,
}

/// What `e` uses of the frame it stands in.
pub fn free(program: &Program, e: ExprId) -> Free {
    let mut bound = FxHashSet::default();
    let mut used = FxHashSet::default();
    let mut assigned = FxHashSet::default();
    let mut found = Free::default();
    let mut note = |found: &mut Free, at: Use| {
        if used.insert(at.var) {
            found.used.push(at);
        }
    };
    let mut open = vec![e];
    while let Some(e) = open.pop() {
        match program.expr(e) {
            Expr::Var(at) => note(&mut found, *at),
            Expr::SetVar(at, _) => {
                note(&mut found, *at);
                if assigned.insert(at.var) {
                    found.assigned.push(*at);
                }
            }
            Expr::Fun(fun) => {
                for capture in &program.fun(*fun).captures {
                    note(&mut found, Use { var: capture.var, slot: capture.from });
                }
            }
            Expr::Chain(items, _) => {
                for item in items {
                    if let Item::Let(at, _) | Item::Var(at, _) = item {
                        bound.insert(at.var);
                    }
                }
            }
            _ => {}
        }
        open.extend(children(program, e));
    }
    found.used.retain(|at| !bound.contains(&at.var));
    found.assigned.retain(|at| !bound.contains(&at.var));
    found.used.sort_by_key(|at| at.var);
    found
}

/// Whether anything a function of the program does when it is called, or anyone outside, may write to memory or
/// allocate.
pub fn functions_may_write(program: &Program) -> bool {
    let outside = program.externs.iter().any(|declared| may_be_handed_memory(&declared.ty));
    outside || {
        let allocates = |item: &Item| matches!(item, Item::Var(at, _) if program.var(at.var).boxed);
        let mut open: Vec<ExprId> = program.funs.iter().map(|fun| fun.body).collect();
        let mut seen = FxHashSet::default();
        while let Some(e) = open.pop() {
            if !seen.insert(e) {
                continue;
            }
            match program.expr(e) {
                Expr::Assign(..) | Expr::Ref(_) => return true,
                Expr::SetVar(at, _) if program.var(at.var).boxed => return true,
                Expr::Chain(items, _) if items.iter().any(allocates) => return true,
                _ => open.extend(children(program, e)),
            }
        }
        false
    }
}

/// A function from outside can only write to what it is handed.
fn may_be_handed_memory(ty: &crate::ty::Type) -> bool {
    match ty {
        crate::ty::Type::Fun(from, to) => from.reaches_memory() || may_be_handed_memory(to),
        crate::ty::Type::Ref(content) => may_be_handed_memory(content),
        _ => false,
    }
}

/// The expressions directly inside one; the bodies of functions are not.
pub fn children(program: &Program, e: ExprId) -> Vec<ExprId> {
    match program.expr(e) {
        Expr::Unit
        | Expr::Int(_)
        | Expr::Float(_)
        | Expr::Bool(_)
        | Expr::Str(_)
        | Expr::Var(_)
        | Expr::Fun(_) => Vec::new(),
        Expr::Binary(_, e1, e2) | Expr::Assign(e1, e2) | Expr::Apply(e1, e2) | Expr::While(e1, e2) => {
            vec![*e1, *e2]
        }
        Expr::Not(e1)
        | Expr::Negate(e1)
        | Expr::Ref(e1)
        | Expr::Deref(e1)
        | Expr::SetVar(_, e1)
        | Expr::Annotated(e1, _)
        | Expr::Block(_, e1) => vec![*e1],
        Expr::If(e1, e2, e3) => vec![*e1, *e2, *e3],
        Expr::Chain(items, last) => items
            .iter()
            .map(|item| match item {
                Item::Let(_, e1) | Item::Var(_, e1) | Item::Do(e1) => *e1,
            })
            .chain([*last])
            .collect(),
    }
}
