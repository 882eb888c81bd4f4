//! What tier 0 writes down is what it asked: another solver that is told the same gives the same answers.

use batsat::{BasicSolver, Lit, SolverInterface, Var, lbool};
use parallax_op::{BinOp, RelOp};
use parallax_smt::{Solver, Step, Tier0, Transcript};
use parallax_term::Store;

#[test]
fn a_transcript_can_be_asked_again() {
    let store = Store::new();
    let transcript = Transcript::default();
    let mut solver = Tier0::new(&store).transcribed(&transcript);
    let (x, y) = (store.symbol("x", 8), store.symbol("y", 8));
    let product = store.binop(BinOp::Mul, x, y);
    let mut answers = Vec::new();
    for value in 0..40 {
        let is = store.eq(product, store.number(8, value));
        let small = store.relop(RelOp::Ult, x, store.number(8, 3));
        let low = store.relop(RelOp::Ult, y, store.number(8, 8));
        answers.push(solver.check(&[is, small, low]).is_sat());
    }
    assert!(answers.contains(&true) && answers.contains(&false));

    let steps = transcript.take();
    assert_eq!(steps.first(), Some(&Step::New));
    let mut told = Vec::new();
    let mut again = BasicSolver::default();
    let lit = |solver: &mut BasicSolver, lit: i32| {
        while solver.num_vars() < lit.unsigned_abs() {
            solver.new_var_default();
        }
        Lit::new(Var::unsafe_from_idx(lit.unsigned_abs() - 1), lit > 0)
    };
    for step in steps {
        match step {
            Step::New => again = BasicSolver::default(),
            Step::Clause(lits) => {
                let mut lits: Vec<Lit> = lits.into_iter().map(|each| lit(&mut again, each)).collect();
                again.add_clause_reuse(&mut lits);
            }
            Step::Ask { assumed, answer } => {
                let assumed: Vec<Lit> = assumed.into_iter().map(|each| lit(&mut again, each)).collect();
                let found = again.solve_limited(&assumed) == lbool::TRUE;
                assert_eq!(answer, Some(found));
                told.push(found);
            }
        }
    }
    // No function is read, so each query is one search.
    assert_eq!(told, answers);
    assert!(transcript.take().is_empty());
}
