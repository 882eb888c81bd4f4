//! Which variables of the frame around it an expression uses.

use crate::syntax::*;
use crate::ty::Type;
use crate::types::Effects;
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

/// What a call of a function may do of which only the type is known: what any function of the program or from outside
/// may do.
pub fn effects_of_calls(program: &Program) -> Effects {
    let mut effects = Effects { everything: functions_may_write(program), ..Effects::default() };
    for declared in program.externs.iter().filter(|declared| has_function(&declared.ty)) {
        match &declared.writes {
            Writes::Anything => effects.everything = true,
            Writes::Only(types) => effects.written.extend(types.iter().cloned()),
        }
        // What it gives out may be new, and newer than what is known of all locations of its type.
        contents(&declared.ty, &mut effects);
    }
    effects
}

/// Whether anything a function of the program does when it is called may write to memory or allocate.
pub(crate) fn functions_may_write(program: &Program) -> bool {
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

fn has_function(ty: &Type) -> bool {
    match ty {
        Type::Fun(..) => true,
        Type::Ref(_, content) => has_function(content),
        _ => false,
    }
}

/// The locations that a value of the type may lead to count as written, where more is known of them than their type.
fn contents(ty: &Type, effects: &mut Effects) {
    match ty {
        Type::Ref(_, content) => {
            effects.allocates(content);
            contents(content, effects);
        }
        Type::Fun(from, to) => {
            contents(from, effects);
            contents(to, effects);
        }
        _ => {}
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
        | Expr::Null
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
