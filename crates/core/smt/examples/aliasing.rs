//! The example of docs/solvers.md: may `*p = 7; r = *q` leave 7 in `r` when `p` and `q` differ?

use parallax_op::RelOp;
use parallax_smt::{Answer, Session, Solver, implied, smallest, solver};
use parallax_term::Store;

fn main() {
    let store = Store::new();
    let memory = store.func_symbol("F", 32, 8);
    let (p, q) = (store.symbol("p", 32), store.symbol("q", 32));
    let after = store.update(memory, p, store.number(8, 7));
    let r = store.access(after, q);

    let mut session = Session::new(solver(&store));
    session.assert(store.eq(r, store.number(8, 7)));
    session.assert(store.ne(p, q));
    match session.check(&[]) {
        Answer::Sat(model) => print!("yes, for instance:\n{}", model.display(&store)),
        Answer::Unsat => println!("no"),
        Answer::Unknown(reason) => println!("not found out: {reason}"),
    }

    // Not if the byte at q was something else before.
    let before = store.eq(store.access(memory, q), store.number(8, 9));
    println!("and with F(q) = 9: {:?}", session.check(&[before]).decided());
    let core = session.solver().unsat_core().to_vec();
    println!("because not all of these hold:");
    core.iter().for_each(|&formula| println!("  {}", store.display(formula)));

    let mut solver = solver(&store);
    let reads_seven = store.eq(r, store.number(8, 7));
    println!("p = q is enough: {:?}", implied(&mut solver, &[store.eq(p, q)], reads_seven));
    let far = store.relop(RelOp::Ugt, store.sub(p, q), store.number(32, 1000));
    let model = smallest(&mut solver, &[reads_seven, far], &[p, q]).expect("decided").expect("possible");
    println!(
        "far apart, and as small as can be: p = {}, q = {}",
        model.term(&store, p),
        model.term(&store, q)
    );
}
