//! Questions that analyses ask, in terms of what solvers answer.

use crate::{Reason, Solver};
use parallax_term::Formula;

/// Whether a formula holds under every interpretation.
pub fn is_valid<'s>(solver: &mut (impl Solver<'s> + ?Sized), formula: Formula) -> Result<bool, Reason> {
    implied(solver, &[], formula)
}

/// Whether a formula holds under every interpretation under which all premises do.
pub fn implied<'s>(
    solver: &mut (impl Solver<'s> + ?Sized),
    premises: &[Formula],
    conclusion: Formula,
) -> Result<bool, Reason> {
    let mut query = premises.to_vec();
    query.push(solver.store().not(conclusion));
    solver.check(&query).decided().map(|possible| !possible)
}
