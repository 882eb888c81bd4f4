//! Tables that never change: which of their entries a load may be from.
//!
//! A switch becomes a load from a table of addresses or distances, at an index that a comparison before it has bounded.
//! The bound is in the condition under which the load is reached, so a solver lists the addresses.

use parallax_op::{Bits, RelOp};
use parallax_sem::Language;
use parallax_smt::{Answer, Solver, values};
use parallax_term::{Formula, Store, Term};

/// Larger tables are not looked through.
const MOST: usize = 1024;

/// The addresses, each with its condition, if under the guard all of them lie in one table.
pub(crate) fn places<'s, L: Language>(
    language: &L,
    store: &'s Store,
    solver: &mut (dyn Solver<'s> + 's),
    guard: Formula,
    address: Term,
) -> Option<Vec<(Formula, Bits)>> {
    // What is added to the index is the start of the table, or near it; most loads stop here.
    let (Some(_), start) = store.base_offset(address) else { return None };
    let table = language.table(&start)?;
    let width = store.width(address);
    let number = |value: u64| store.constant(&Bits::new(width, value.into()));
    let outside = store.or(
        store.relop(RelOp::Ult, address, number(table.start)),
        store.relop(RelOp::Uge, address, number(table.end)),
    );
    if !matches!(solver.check(&[guard, outside]), Answer::Unsat) {
        return None;
    }
    let all = values(solver, &[guard], address, MOST);
    if all.stopped.is_some() {
        return None;
    }
    let mut found = all.found;
    found.sort_by_key(Bits::to_u64);
    Some(found.into_iter().map(|at| (store.eq(address, store.constant(&at)), at)).collect())
}
