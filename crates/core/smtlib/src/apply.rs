//! What the functions of the theories mean: each in terms of the store's.

use crate::Refusal;
use crate::reader::Reader;
use crate::scope::{Meaning, width};
use parallax_op::{BinOp, Bits, MAX_WIDTH, RelOp, UnOp, Width};
use parallax_sem::Symbolic;
use parallax_sem::logic::{Evaluation, Struct};
use parallax_source::Span;
use parallax_term::{Expr, Formula, FuncExpr, Sort, Store, Term};

/// A function that is applied.
pub enum Head<'t> {
    /// By its name.
    Named(&'t str),
    /// By its name and numbers: `(_ extract 7 0)`.
    Indexed(&'t str, Vec<u32>),
    /// The array that is one value everywhere.
    Everywhere {
        /// The width of its keys.
        key: Width,
        /// The width of its values.
        value: Width,
    },
}

/// Why a function has no value at its arguments.
enum Misfit {
    /// They do not fit; what it takes.
    Takes(String),
    /// They fit, and what they ask for is not supported; what that is.
    Unsupported(String),
}

type Applied = Result<Expr, Misfit>;

fn misfit<T>(takes: &str) -> Result<T, Misfit> {
    Err(Misfit::Takes(takes.to_owned()))
}

/// The value of a function at its arguments.
pub fn apply(
    reader: &Reader<'_, '_>,
    head: &Head<'_>,
    arguments: &[Expr],
    span: Span,
) -> Result<Expr, Refusal> {
    let store = reader.store;
    let (name, applied) = match head {
        Head::Named(name) => match reader.names.get(name) {
            Some(meaning) => (*name, defined(store, meaning, arguments)),
            None => match builtin(store, name, arguments) {
                Some(applied) => (*name, applied),
                None => return Refusal::unsupported(span, format!("there is no function `{name}` here")),
            },
        },
        Head::Indexed(name, indices) => match indexed(store, name, indices, arguments) {
            Some(applied) => (*name, applied),
            None => return Refusal::unsupported(span, format!("there is no function `(_ {name} ...)` here")),
        },
        Head::Everywhere { key, value } => {
            let applied = match arguments {
                [Expr::Term(term)] if store.width(*term) == *value => {
                    Ok(Expr::Func(store.constant_map(*key, *term)))
                }
                _ => misfit("one value of the array's"),
            };
            ("const", applied)
        }
    };
    match applied {
        Ok(Expr::Term(term)) if store.width(term) > MAX_WIDTH => {
            Refusal::unsupported(span, format!("bit-vectors have at most {MAX_WIDTH} bits here"))
        }
        Ok(value) => Ok(value),
        Err(Misfit::Takes(takes)) => Refusal::malformed(span, format!("`{name}` takes {takes}")),
        Err(Misfit::Unsupported(what)) => Refusal::unsupported(span, what),
    }
}

/// A function of the script's own.
fn defined(store: &Store, meaning: &Meaning, arguments: &[Expr]) -> Applied {
    match meaning {
        Meaning::Is(_) | Meaning::Sort(_) => misfit("no arguments"),
        Meaning::Function { map, takes, gives_bool } => {
            let fits = arguments.len() == takes.len()
                && arguments.iter().zip(&**takes).all(|(&argument, &sort)| store.sort(argument.id()) == sort);
            if !fits {
                return misfit("other arguments");
            }
            let key =
                arguments.iter().map(|&argument| bits(store, argument)).reduce(|a, b| store.concat(a, b));
            let value = store.access(*map, key.expect("a function has arguments"));
            Ok(if *gives_bool { Expr::Formula(store.eq(value, one(store, 1))) } else { Expr::Term(value) })
        }
        Meaning::Macro(function) => {
            let sorts = function.takes.iter().map(|&symbol| store.info(symbol).sort);
            let fits = arguments.len() == function.takes.len()
                && arguments.iter().zip(sorts).all(|(&argument, sort)| store.sort(argument.id()) == sort);
            if !fits {
                return misfit("other arguments");
            }
            let core = Symbolic::new(store);
            let mut given = Struct::new();
            for (&symbol, argument) in function.takes.iter().zip(arguments) {
                match *argument {
                    Expr::Term(term) => given.set_val(symbol, term),
                    Expr::Formula(formula) => given.set_bool(symbol, formula),
                    Expr::Func(map) => given.set_map(symbol, map),
                }
            }
            let evaluation = Evaluation::of(&core, store, &given, [function.body.id()]);
            Ok(match function.body {
                Expr::Term(term) => Expr::Term(evaluation.val(term)),
                Expr::Formula(formula) => Expr::Formula(evaluation.truth(formula)),
                Expr::Func(map) => Expr::Func(evaluation.map(map)),
            })
        }
    }
}

/// A value as part of the key of a function.
fn bits(store: &Store, value: Expr) -> Term {
    match value {
        Expr::Term(term) => term,
        Expr::Formula(formula) => store.ite(formula, one(store, 1), zero(store, 1)),
        Expr::Func(_) => unreachable!("functions over arrays are refused where they are declared"),
    }
}

fn one(store: &Store, width: Width) -> Term {
    store.constant(&Bits::one(width))
}

fn zero(store: &Store, width: Width) -> Term {
    store.constant(&Bits::zero(width))
}

/// All arguments as formulas.
fn formulas(arguments: &[Expr]) -> Result<Vec<Formula>, Misfit> {
    let all = arguments.iter().map(|argument| match argument {
        Expr::Formula(formula) => Ok(*formula),
        _ => misfit("truth values"),
    });
    all.collect()
}

/// All arguments as bit-vectors of one width.
fn vectors(store: &Store, arguments: &[Expr]) -> Result<Vec<Term>, Misfit> {
    let all = arguments.iter().map(|argument| match argument {
        Expr::Term(term) => Ok(*term),
        _ => misfit("bit-vectors"),
    });
    let all: Vec<Term> = all.collect::<Result<_, _>>()?;
    match all.windows(2).all(|pair| store.width(pair[0]) == store.width(pair[1])) {
        true => Ok(all),
        false => misfit("bit-vectors of one width"),
    }
}

fn two(store: &Store, arguments: &[Expr]) -> Result<(Term, Term), Misfit> {
    match vectors(store, arguments)?[..] {
        [a, b] => Ok((a, b)),
        _ => misfit("two bit-vectors"),
    }
}

/// Whether the theories have a function of this name.
pub fn is_builtin(store: &Store, name: &str) -> bool {
    builtin(store, name, &[]).is_some()
}

/// A function of the theories, if there is one of this name.
fn builtin(store: &Store, name: &str, arguments: &[Expr]) -> Option<Applied> {
    let applied = match name {
        "not" => formulas(arguments).and_then(|all| match all[..] {
            [a] => Ok(Expr::Formula(store.not(a))),
            _ => misfit("one truth value"),
        }),
        "and" => formulas(arguments).map(|all| Expr::Formula(store.all(all))),
        "or" => formulas(arguments).map(|all| Expr::Formula(store.any(all))),
        "xor" => formulas(arguments).and_then(|all| {
            let folded = all.into_iter().reduce(|a, b| store.not(store.iff(a, b)));
            folded.map_or_else(|| misfit("truth values"), |f| Ok(Expr::Formula(f)))
        }),
        "=>" => formulas(arguments).and_then(|all| {
            let folded = all.into_iter().rev().reduce(|after, before| store.implies(before, after));
            folded.map_or_else(|| misfit("truth values"), |f| Ok(Expr::Formula(f)))
        }),
        "=" => chain(store, arguments),
        "distinct" => distinct(store, arguments),
        "ite" => conditional(store, arguments),
        "select" => match *arguments {
            [Expr::Func(map), Expr::Term(key)] if store.key_width(map) == store.width(key) => {
                Ok(Expr::Term(store.access(map, key)))
            }
            _ => misfit("an array and a key of it"),
        },
        "store" => match *arguments {
            [Expr::Func(map), Expr::Term(key), Expr::Term(value)]
                if store.sort(map) == (Sort::Map { key: store.width(key), value: store.width(value) }) =>
            {
                Ok(Expr::Func(store.update(map, key, value)))
            }
            _ => misfit("an array, a key and a value of it"),
        },
        _ => return vector_builtin(store, name, arguments),
    };
    Some(applied)
}

/// Every two neighbours are equal.
fn chain(store: &Store, arguments: &[Expr]) -> Applied {
    if arguments.len() < 2 {
        return misfit("two or more values");
    }
    let pairs = arguments.windows(2).map(|pair| equal(store, pair[0], pair[1]));
    Ok(Expr::Formula(store.all(pairs.collect::<Result<Vec<_>, _>>()?)))
}

/// No two are equal.
fn distinct(store: &Store, arguments: &[Expr]) -> Applied {
    if arguments.len() < 2 {
        return misfit("two or more values");
    }
    let mut all = Vec::new();
    for (index, &a) in arguments.iter().enumerate() {
        for &b in &arguments[index + 1..] {
            all.push(store.not(equal(store, a, b)?));
        }
    }
    Ok(Expr::Formula(store.all(all)))
}

fn equal(store: &Store, a: Expr, b: Expr) -> Result<Formula, Misfit> {
    match (a, b) {
        (Expr::Term(a), Expr::Term(b)) if store.width(a) == store.width(b) => Ok(store.eq(a, b)),
        (Expr::Formula(a), Expr::Formula(b)) => Ok(store.iff(a, b)),
        (Expr::Func(a), Expr::Func(b)) if store.sort(a) == store.sort(b) => equal_arrays(store, a, b),
        _ => misfit("values of one sort"),
    }
}

/// Arrays made from one by writes are equal where they are equal at all keys written.
fn equal_arrays(store: &Store, a: FuncExpr, b: FuncExpr) -> Result<Formula, Misfit> {
    if a == b {
        return Ok(store.true_());
    }
    let ((of_a, base_a), (of_b, base_b)) = (store.updates(a), store.updates(b));
    if base_a != base_b {
        let what = "arrays are compared only where both come from one by writes";
        return Err(Misfit::Unsupported(what.to_owned()));
    }
    let keys = of_a.iter().chain(&of_b).map(|(key, _)| *key);
    Ok(store.all(keys.map(|key| store.eq(store.access(a, key), store.access(b, key)))))
}

fn conditional(store: &Store, arguments: &[Expr]) -> Applied {
    match *arguments {
        [Expr::Formula(c), Expr::Term(a), Expr::Term(b)] if store.width(a) == store.width(b) => {
            Ok(Expr::Term(store.ite(c, a, b)))
        }
        [Expr::Formula(c), Expr::Formula(a), Expr::Formula(b)] => Ok(Expr::Formula(store.ite_bool(c, a, b))),
        [Expr::Formula(c), Expr::Func(a), Expr::Func(b)] if store.sort(a) == store.sort(b) => {
            Ok(Expr::Func(store.ite_map(c, a, b)))
        }
        _ => misfit("a truth value and two values of one sort"),
    }
}

/// A function on bit-vectors, if there is one of this name.
fn vector_builtin(store: &Store, name: &str, arguments: &[Expr]) -> Option<Applied> {
    if let Some(&op) = BinOp::ALL.iter().find(|op| op.smt2() == name) {
        return Some(vectors(store, arguments).and_then(|all| match (&all[..], op) {
            ([_, _], _) => Ok(Expr::Term(store.binop(op, all[0], all[1]))),
            ([_, _, ..], BinOp::Add | BinOp::Mul | BinOp::And | BinOp::Or | BinOp::Xor) => {
                let folded = all.into_iter().reduce(|a, b| store.binop(op, a, b));
                Ok(Expr::Term(folded.expect("two or more")))
            }
            _ => misfit("two bit-vectors of one width"),
        }));
    }
    if let Some(&op) = RelOp::ALL.iter().find(|op| op.smt2() == name && name.starts_with("bv")) {
        return Some(two(store, arguments).map(|(a, b)| Expr::Formula(store.relop(op, a, b))));
    }
    if let Some(overflows) = overflow(store, name, arguments) {
        return Some(overflows);
    }
    let single = |meaning: &dyn Fn(Term, Width) -> Term| {
        vectors(store, arguments).and_then(|all| match all[..] {
            [a] => Ok(Expr::Term(meaning(a, store.width(a)))),
            _ => misfit("one bit-vector"),
        })
    };
    let double = |meaning: &dyn Fn(Term, Term, Width) -> Term| {
        two(store, arguments).map(|(a, b)| Expr::Term(meaning(a, b, store.width(a))))
    };
    let bit = |formula: Formula| store.ite(formula, one(store, 1), zero(store, 1));
    let not = |term: Term| store.unop(UnOp::Not, term);
    let applied = match name {
        "bvnot" => single(&|a, _| not(a)),
        "bvneg" => single(&|a, _| store.neg(a)),
        "bvredor" => single(&|a, w| bit(store.ne(a, zero(store, w)))),
        "bvredand" => single(&|a, w| bit(store.eq(a, store.constant(&Bits::ones(w))))),
        "bvnand" => double(&|a, b, _| not(store.binop(BinOp::And, a, b))),
        "bvnor" => double(&|a, b, _| not(store.binop(BinOp::Or, a, b))),
        "bvxnor" => double(&|a, b, _| not(store.binop(BinOp::Xor, a, b))),
        "bvcomp" => double(&|a, b, _| bit(store.eq(a, b))),
        "bvsmod" => double(&|a, b, w| signed_modulo(store, a, b, w)),
        "concat" => arguments
            .iter()
            .map(|argument| match argument {
                Expr::Term(term) => Ok(*term),
                _ => misfit("bit-vectors"),
            })
            .collect::<Result<Vec<_>, _>>()
            .and_then(|all| {
                let bits: usize = all.iter().map(|&term| usize::from(store.width(term))).sum();
                if bits > usize::from(MAX_WIDTH) {
                    let what = format!("bit-vectors have at most {MAX_WIDTH} bits here");
                    return Err(Misfit::Unsupported(what));
                }
                let joined = all.into_iter().reduce(|high, low| store.concat(high, low));
                joined.map_or_else(|| misfit("bit-vectors"), |term| Ok(Expr::Term(term)))
            }),
        _ => return None,
    };
    Some(applied)
}

/// A predicate that says whether an operation overflows, if there is one of this name.
fn overflow(store: &Store, name: &str, arguments: &[Expr]) -> Option<Applied> {
    let least =
        |w: Width| store.constant(&BinOp::Shl.apply(&Bits::one(w), &Bits::from_big(w, (w - 1).into())));
    if name == "bvnego" {
        return Some(vectors(store, arguments).and_then(|all| match all[..] {
            [a] => Ok(Expr::Formula(store.eq(a, least(store.width(a))))),
            _ => misfit("one bit-vector"),
        }));
    }
    // Whether the result, computed with room for it, is that of the narrow operation, widened.
    let fits = |op: BinOp, signed: bool, room: fn(Width) -> Option<Width>| {
        two(store, arguments).and_then(|(a, b)| {
            let narrow = store.width(a);
            let Some(width) = room(narrow).filter(|&width| width <= MAX_WIDTH) else {
                return Err(Misfit::Unsupported(format!("`{name}` needs more than {MAX_WIDTH} bits here")));
            };
            let widened = |t: Term| if signed { store.sext(t, width) } else { store.zext(t, width) };
            let exact = store.binop(op, widened(a), widened(b));
            Ok(Expr::Formula(store.ne(exact, widened(store.binop(op, a, b)))))
        })
    };
    let one_more = |w: Width| w.checked_add(1);
    let twice = |w: Width| w.checked_mul(2);
    Some(match name {
        "bvuaddo" => fits(BinOp::Add, false, one_more),
        "bvsaddo" => fits(BinOp::Add, true, one_more),
        "bvumulo" => fits(BinOp::Mul, false, twice),
        "bvsmulo" => fits(BinOp::Mul, true, twice),
        "bvssubo" => fits(BinOp::Sub, true, one_more),
        "bvusubo" => two(store, arguments).map(|(a, b)| Expr::Formula(store.relop(RelOp::Ult, a, b))),
        "bvsdivo" => two(store, arguments).map(|(a, b)| {
            let w = store.width(a);
            Expr::Formula(store.and(store.eq(a, least(w)), store.eq(b, store.constant(&Bits::ones(w)))))
        }),
        _ => return None,
    })
}

/// The remainder with the sign of the divisor; what is divided, if that is by zero.
fn signed_modulo(store: &Store, a: Term, b: Term, width: Width) -> Term {
    let rest = store.binop(BinOp::Srem, a, b);
    let none = zero(store, width);
    let negative = |term| store.relop(RelOp::Slt, term, none);
    let stays = store.or(store.eq(rest, none), store.iff(negative(rest), negative(b)));
    store.ite(stays, rest, store.add(rest, b))
}

/// A function with numbers in its name, if there is one.
fn indexed(store: &Store, name: &str, indices: &[u32], arguments: &[Expr]) -> Option<Applied> {
    let known = ["extract", "zero_extend", "sign_extend", "rotate_left", "rotate_right", "repeat"];
    if !known.contains(&name) {
        return None;
    }
    let [Expr::Term(a)] = *arguments else { return Some(misfit("one bit-vector")) };
    let w = u32::from(store.width(a));
    let fits = |width: u32| Width::try_from(width).ok().filter(|&width| width <= MAX_WIDTH);
    let applied = match (name, indices) {
        ("extract", &[high, low]) if low <= high && high < w => {
            Some(store.extract(a, low as Width, (high - low + 1) as Width))
        }
        ("zero_extend", &[by]) => w.checked_add(by).and_then(fits).map(|width| store.zext(a, width)),
        ("sign_extend", &[by]) => w.checked_add(by).and_then(fits).map(|width| store.sext(a, width)),
        ("repeat", &[times]) if times > 0 => w
            .checked_mul(times)
            .and_then(fits)
            .map(|_| (1..times).fold(a, |repeated, _| store.concat(repeated, a))),
        ("rotate_left", &[by]) => Some(rotated(store, a, w, by % w)),
        ("rotate_right", &[by]) => Some(rotated(store, a, w, (w - by % w) % w)),
        _ => None,
    };
    let wrong = format!("other numbers, and gives at most {MAX_WIDTH} bits here");
    Some(applied.map_or_else(|| misfit(&wrong), |term| Ok(Expr::Term(term))))
}

fn rotated(store: &Store, a: Term, w: u32, left: u32) -> Term {
    if left == 0 {
        return a;
    }
    let low = store.extract(a, 0, (w - left) as Width);
    store.concat(low, store.extract(a, (w - left) as Width, left as Width))
}

/// The map that a function of these sorts is, if its arguments fit together.
pub fn function_sort(takes: &[Sort], gives: Sort) -> Option<Sort> {
    let widths: Option<Vec<Width>> = takes.iter().map(|&sort| width(sort)).collect();
    let key: u32 = widths?.into_iter().map(u32::from).sum();
    let key = Width::try_from(key).ok().filter(|&key| key <= MAX_WIDTH)?;
    Some(Sort::Map { key, value: width(gives)? })
}
