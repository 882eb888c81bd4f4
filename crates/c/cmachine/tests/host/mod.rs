//! The smallest symbolic host: every question goes to a solver, nothing is remembered, there is no outside world.

use parallax_cmachine::{
    Aliasing, Candidate, FileName, FileStatus, Form, InputBounds, Inputs, Machine, ObjectId, Oracle, Path,
    Problem, Reporter, Request, State, Stop, System, TokenId, error_number,
};
use parallax_cmodule::{FunctionId, Module};
use parallax_op::{Bits, Width};
use parallax_path::{Bound, Premise, Split};
use parallax_sem::Symbolic;
use parallax_smt::Solver;
use parallax_term::{Expr, Formula, FuncExpr, Sort, Store, SymbolKind, Term};
use std::collections::BTreeSet;

/// A question whether an input pointer may be something, with the names of the program's objects.
pub type MayBe = Box<dyn Fn(&str, Candidate) -> bool>;

/// The host.
pub struct Plain<'s> {
    core: Symbolic<'s>,
    store: &'s Store,
    solver: Box<dyn Solver<'s> + 's>,
    /// Kind and line of each mistake.
    pub problems: BTreeSet<(Problem, u32)>,
    /// Input objects that were made, with the name of the pointer.
    pub discovered: Vec<(TokenId, ObjectId)>,
    /// Functions whose calls wait for an answer.
    pub answered: Vec<FunctionId>,
    /// What input pointers may be.
    pub may_be: Option<MayBe>,
    module: &'s Module,
}

impl<'s> Plain<'s> {
    pub fn new(store: &'s Store, module: &'s Module) -> Self {
        Plain {
            core: Symbolic::new(store),
            store,
            solver: parallax_smt::solver(store),
            problems: BTreeSet::new(),
            discovered: Vec::new(),
            answered: Vec::new(),
            may_be: None,
            module,
        }
    }

    fn fresh(&self, name: &str, width: Width) -> Term {
        match self.store.expr_of(self.store.fresh(name, Sort::Bits(width), SymbolKind::Free)) {
            Expr::Term(term) => term,
            _ => unreachable!("a vector was declared"),
        }
    }

    /// Whether a condition can hold on a path.
    pub fn possible(&mut self, path: &Path<Symbolic<'s>>, condition: Formula) -> bool {
        let mut query = path.formulas();
        query.push(condition);
        self.solver.check(&query).is_sat()
    }
}

impl<'s> Oracle<Symbolic<'s>> for Plain<'s> {
    fn core(&self) -> &Symbolic<'s> {
        &self.core
    }
    fn truth(&self, b: &Formula) -> Option<bool> {
        self.store.as_boolean(*b)
    }
    fn value(&self, _width: Width, v: &Term) -> Option<Bits> {
        self.store.as_constant(*v)
    }
    fn split(&mut self, path: &Path<Symbolic<'s>>, b: &Formula) -> Split {
        match (self.possible(path, *b), self.possible(path, self.store.not(*b))) {
            (true, true) => Split::Both,
            (true, false) => Split::True,
            (false, true) => Split::False,
            (false, false) => Split::Neither,
        }
    }
    fn example(&mut self, path: &Path<Symbolic<'s>>, _width: Width, v: &Term) -> Option<Bits> {
        let query = path.formulas();
        Some(self.solver.check(&query).model()?.term(self.store, *v))
    }
    fn undefined_matters(&mut self, _: &Path<Symbolic<'s>>, _: &Formula) -> Option<(Formula, Formula)> {
        None
    }
}

impl<'s> Inputs<Symbolic<'s>> for Plain<'s> {
    fn undefined(&mut self, width: Width) -> Term {
        self.fresh("undefined", width)
    }
    fn input(&mut self, _state: &mut State<Symbolic<'s>>, width: Width, name: &str) -> Term {
        self.fresh(name, width)
    }
    fn unknown(&mut self, _: &mut State<Symbolic<'s>>, width: Width, name: &str) -> Result<Term, String> {
        Ok(self.fresh(name, width))
    }
    fn selector(&mut self, width: Width, name: &str) -> Term {
        self.fresh(name, width)
    }
    fn memory_map(&mut self, name: &str, _undefined: bool) -> FuncExpr {
        self.store.func_symbol(name, 64, 8)
    }
    fn input_bounds(&self) -> InputBounds {
        InputBounds { aliasing: Aliasing::Auto, array: 2, chain: 3, strings: false }
    }
    fn may_be(&self, state: &State<Symbolic<'s>>, token: TokenId, candidate: Candidate) -> bool {
        match &self.may_be {
            Some(may_be) => may_be(&state.tokens[token.0 as usize].name, candidate),
            None => !matches!(candidate, Candidate::Made(..)),
        }
    }
    fn discovered(&mut self, token: TokenId, object: ObjectId) {
        self.discovered.push((token, object));
    }
    fn answers(&self, function: FunctionId) -> bool {
        self.answered.contains(&function)
    }
}

impl<'s> System<Symbolic<'s>> for Plain<'s> {
    fn read(&mut self, _: &mut State<Symbolic<'s>>, _: i32, _: u64) -> Option<Vec<Term>> {
        None
    }
    fn write(&mut self, _: &mut State<Symbolic<'s>>, _: i32, _: &[Term]) -> bool {
        false
    }
    fn write_number(&mut self, _: &mut State<Symbolic<'s>>, _: i32, _: &Term, _: Form) {}
    fn request(&mut self, _: &mut State<Symbolic<'s>>, _: &Request<'_>) -> Result<i64, i32> {
        Err(error_number::ENOSYS)
    }
    fn status(&mut self, _: &mut State<Symbolic<'s>>, _: FileName<'_>) -> Result<FileStatus, i32> {
        Err(error_number::ENOSYS)
    }
    fn entries(&mut self, _: &mut State<Symbolic<'s>>, _: &[u8]) -> Result<Vec<Vec<u8>>, i32> {
        Err(error_number::ENOSYS)
    }
    fn time(&mut self, _: &mut State<Symbolic<'s>>) -> Term {
        self.store.number(64, 0)
    }
}

impl<'s> Reporter<Symbolic<'s>> for Plain<'s> {
    fn problem(&mut self, state: &State<Symbolic<'s>>, kind: Problem, _: &Formula, _: String) {
        let (_, location) = state.user_location(self.module);
        self.problems.insert((kind, self.module.location(location).line));
    }
    fn assume(&mut self, _premise: Premise) {}
    fn bounded(&mut self, _bound: Bound) {}
    fn enter_block(&mut self, _state: &mut State<Symbolic<'s>>) {}
}

/// Compiles a C text.
pub fn module(text: &str) -> Module {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("test.c");
    std::fs::write(&file, text).expect("a file");
    let compiled = parallax_cread::clang::compile(&file, &Default::default()).expect("it compiles");
    let input = parallax_cread::Input { name: "test.c".into(), bytes: &compiled.bitcode };
    parallax_cread::read(&[input], parallax_cread::MODELS).expect("a module")
}

/// Runs states to their ends: those that returned, with what they returned. `answer` is asked at calls that wait.
#[allow(clippy::type_complexity, reason = "one closure of a test harness")]
pub fn finish<'s>(
    machine: &mut Machine<'s, Symbolic<'s>, Plain<'s>>,
    state: State<Symbolic<'s>>,
    answer: &mut dyn FnMut(
        &mut Machine<'s, Symbolic<'s>, Plain<'s>>,
        &mut State<Symbolic<'s>>,
        &parallax_cmachine::PendingCall<Symbolic<'s>>,
    ) -> Option<parallax_cmachine::Value<Symbolic<'s>>>,
) -> Vec<(State<Symbolic<'s>>, Option<parallax_cmachine::Value<Symbolic<'s>>>)> {
    let mut waiting = vec![state];
    let mut ended = Vec::new();
    while let Some(mut state) = waiting.pop() {
        loop {
            let stepped = machine.step(&mut state);
            waiting.append(&mut machine.forks);
            if let Some(call) = machine.pending.take() {
                let value = answer(machine, &mut state, &call);
                machine.answer(&mut state, call, value);
            }
            match stepped {
                Ok(()) => {}
                Err(Stop::Exit(value)) => {
                    ended.push((state, value));
                    break;
                }
                Err(Stop::Dead | Stop::Excluded | Stop::Bound(_)) => break,
                Err(Stop::Unsupported(words)) => panic!("{words}"),
            }
        }
    }
    ended
}
