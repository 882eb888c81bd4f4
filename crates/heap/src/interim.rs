//! Stand-in for the solver crate.
use crate::HeapError;
use crate::model::Model;
use parallax_op::{BinOp, BoolOp, RelOp, UnOp};
use parallax_term::{Expr, Formula, Id, Node, Store, Symbol};
use rustc_hash::FxHashMap;
use z3::ast::{BV, Bool, Ast};

#[derive(Clone)]
enum Any {
    B(Bool),
    V(BV),
}
pub struct Z3 {
    solver: z3::Solver,
    cache: FxHashMap<Id, Any>,
    symbols: Vec<(Symbol, Any)>,
}
impl Z3 {
    pub fn new() -> Self {
        Z3 { solver: z3::Solver::new_for_logic("QF_BV").unwrap(), cache: Default::default(), symbols: vec![] }
    }
    fn b(&self, f: Formula) -> Bool {
        match &self.cache[&f.id()] { Any::B(b) => b.clone(), _ => unreachable!() }
    }
    fn v(&self, f: parallax_term::Term) -> BV {
        match &self.cache[&f.id()] { Any::V(b) => b.clone(), _ => unreachable!() }
    }
    fn translate(&mut self, store: &Store, root: Id) {
        let mut stack = vec![root];
        while let Some(&id) = stack.last() {
            if self.cache.contains_key(&id) { stack.pop(); continue; }
            let n = stack.len();
            stack.extend(store.operands(id).filter(|p| !self.cache.contains_key(p)));
            if stack.len() > n { continue; }
            stack.pop();
            let w = || match store.sort(id) { parallax_term::Sort::Bits(w) => u32::from(w), _ => 0 };
            let any = match store.node(id) {
                Node::Bool(b) => Any::B(Bool::from_bool(b)),
                Node::Const(bits) => Any::V(BV::from_u64(bits.to_u64().unwrap(), u32::from(bits.width()))),
                Node::Symbol(s) => {
                    let name = store.info(s).name.to_string();
                    let a = match store.expr_of(s) {
                        Expr::Formula(_) => Any::B(Bool::new_const(name)),
                        Expr::Term(t) => Any::V(BV::new_const(name, u32::from(store.width(t)))),
                        _ => unreachable!(),
                    };
                    self.symbols.push((s, a.clone()));
                    a
                }
                Node::Not(a) => Any::B(self.b(a).not()),
                Node::BoolOp(op, a, b) => {
                    let (a, b) = (self.b(a), self.b(b));
                    Any::B(match op {
                        BoolOp::And => Bool::and(&[&a, &b]),
                        BoolOp::Or => Bool::or(&[&a, &b]),
                        BoolOp::Xor => a.xor(&b),
                        BoolOp::Implies => a.implies(&b),
                        BoolOp::Iff => a.iff(&b),
                    })
                }
                Node::Ite(c, a, b) => Any::V(self.b(c).ite(&self.v(a), &self.v(b))),
                Node::IteBool(c, a, b) => Any::B(self.b(c).ite(&self.b(a), &self.b(b))),
                Node::Rel(op, a, b) => {
                    let (a, b) = (self.v(a), self.v(b));
                    Any::B(match op {
                        RelOp::Eq => a.eq(&b),
                        RelOp::Ult => a.bvult(&b),
                        RelOp::Ule => a.bvule(&b),
                        RelOp::Slt => a.bvslt(&b),
                        RelOp::Sle => a.bvsle(&b),
                        _ => unreachable!(),
                    })
                }
                Node::Bin(op, a, b) => {
                    let (a, b) = (self.v(a), self.v(b));
                    Any::V(match op {
                        BinOp::Add => a.bvadd(&b),
                        BinOp::Sub => a.bvsub(&b),
                        BinOp::Mul => a.bvmul(&b),
                        BinOp::And => a.bvand(&b),
                        BinOp::Or => a.bvor(&b),
                        BinOp::Xor => a.bvxor(&b),
                        BinOp::Shl => a.bvshl(&b),
                        BinOp::Lshr => a.bvlshr(&b),
                        BinOp::Ashr => a.bvashr(&b),
                        _ => return,
                    })
                }
                Node::Un(UnOp::Neg, a) => Any::V(self.v(a).bvneg()),
                Node::Un(UnOp::Not, a) => Any::V(self.v(a).bvnot()),
                Node::Extract { of, low } => Any::V(self.v(of).extract(u32::from(low) + w() - 1, u32::from(low))),
                Node::Concat(a, b) => Any::V(self.v(a).concat(&self.v(b))),
                Node::Zext(a) => { let x = self.v(a); Any::V(x.zero_ext(w() - x.get_size())) }
                Node::Sext(a) => { let x = self.v(a); Any::V(x.sign_ext(w() - x.get_size())) }
                other => panic!("{other:?}"),
            };
            self.cache.insert(id, any);
        }
    }
    pub fn solve(&mut self, store: &Store, formulas: &[Formula]) -> Result<Option<Model>, HeapError> {
        for f in formulas { self.translate(store, f.id()); }
        self.solver.push();
        for f in formulas { self.solver.assert(self.b(*f)); }
        let r = self.solver.check();
        let out = match r {
            z3::SatResult::Unsat => Ok(None),
            z3::SatResult::Unknown => Err(HeapError::Solver("unknown".into())),
            z3::SatResult::Sat => {
                let m = self.solver.get_model().unwrap();
                Ok(Some(Model::new(self.symbols.iter().filter_map(|(s, a)| Some((*s, match a {
                    Any::B(b) => u64::from(m.eval(b, false)?.as_bool()?),
                    Any::V(v) => m.eval(v, false)?.as_u64()?,
                }))))))
            }
        };
        self.solver.pop(1);
        out
    }
}
