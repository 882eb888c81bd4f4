//! Finite choice under a condition: what lazy initialisation rests on, in every language.
//!
//! One truth value per choice (one-hot) instead of a number: guards then are atoms, no theory of equality is needed,
//! and the models of a path condition correspond one to one to the states of a forking engine.

use parallax_op::BoolOp;
use parallax_sem::Core;

/// Exactly one of the choices holds where `under` does, and none elsewhere; each choice only where it is possible.
///
/// Choices are pairs: what it means that this one is chosen, and under which condition it can be (that the object
/// exists, that an index is within bounds).
pub fn exactly_one<C: Core>(core: &C, under: &C::Bool, choices: &[(C::Bool, C::Bool)]) -> C::Bool {
    let and = |a: &C::Bool, b: &C::Bool| core.boolop(BoolOp::And, a, b);
    let mut some = core.boolean(false);
    let mut all = core.boolean(true);
    for (chosen, possible) in choices {
        // Not together with any earlier one: as many parts as there are choices, not as there are pairs.
        all = and(&all, &core.not(&and(chosen, &some)));
        all = and(&all, &core.boolop(BoolOp::Implies, chosen, possible));
        some = core.boolop(BoolOp::Or, &some, chosen);
    }
    and(&all, &core.boolop(BoolOp::Iff, &some, under))
}
