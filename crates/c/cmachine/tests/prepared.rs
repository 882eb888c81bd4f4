//! A function entered with a prepared state, calls that the analysis answers, cells made unknown, promises at calls.

mod host;

use host::{Plain, finish, module};
use parallax_cmachine::Oracle;
use parallax_cmachine::{
    Anything, Candidate, GlobalStart, HavocCell, Machine, Origin, Problem, State, Target, Value,
};
use parallax_cmodule::{DebugType, DebugTypeId, FunctionId, Module};
use parallax_sem::{Core, Symbolic};
use parallax_term::{Store, Term};

type Sym<'s> = Symbolic<'s>;
type Ended<'s> = Vec<(State<Sym<'s>>, Option<Value<Sym<'s>>>)>;

fn function(module: &Module, name: &str) -> FunctionId {
    module.function_named(name).expect("the test defines it")
}

/// Which of some numbers a function can return.
fn returned<'s>(
    machine: &mut Machine<'s, Sym<'s>, Plain<'s>>,
    store: &'s Store,
    ended: &Ended<'s>,
    of: impl IntoIterator<Item = i64>,
) -> Vec<i64> {
    let mut found = Vec::new();
    for number in of {
        let constant = store.constant(&parallax_op::Bits::from_i128(32, number.into()));
        let can = ended.iter().any(|(state, value)| match value {
            Some(Value::Bits(term)) => machine.host.possible(&state.path, store.eq(*term, constant)),
            _ => false,
        });
        if can {
            found.push(number);
        }
    }
    found
}

#[test]
fn a_function_is_entered_with_a_prepared_state() {
    let module = module(
        "static int limit = 3; int other = 5;\n\
         int f(int *p, int n) { if (n > limit) return -1; if (other == 5) return *p + 1; return *p; }",
    );
    let store = Store::new();
    let mut machine = Machine::new(&module, Plain::new(&store, &module));
    let f = function(&module, "f");
    let mut state = machine.start().ok().expect("it starts");
    // `limit` keeps its initialiser, `other` is anything.
    machine.unknown_memory(&mut state, &mut |id| match module.global(id).name.as_str() {
        "limit" => GlobalStart::Apart,
        _ => GlobalStart::Unknown,
    });
    let mut values = machine.unknown_arguments(&mut state, f).ok().expect("arguments");
    // A cell of our own that holds 40, and a number in place of the second argument.
    let four = store.number(64, 4);
    let (id, pointer) = machine.allocate(
        &mut state,
        parallax_cmachine::Kind::Global,
        four,
        4,
        4,
        parallax_cmachine::Fill::Zero,
        None,
    );
    let held = &mut state.memory.object_mut(id).content;
    held.write(&machine.host, 0, 4, Value::Bits(store.number(32, 40)));
    values[0] = Value::Pointer(pointer);
    values[1] = Value::Bits(store.number(32, 3));
    machine.begin(&mut state, f, values).ok().expect("it begins");
    let ended = finish(&mut machine, state, &mut |_, _, _| None);
    assert_eq!(returned(&mut machine, &store, &ended, [-1, 40, 41, 42]), [40, 41]);
    assert!(machine.host.problems.is_empty(), "{:?}", machine.host.problems);
}

const HAVOC: &str = "struct cell { int *p; int n; };\n\
     void change(struct cell *c);\n\
     int f(void) {\n\
       int one = 1; struct cell c = { &one, 7 }; int kept = 9;\n\
       change(&c);\n\
       if (kept != 9) return 1000;\n\
       if (c.n == 8) return 300;\n\
       return c.p ? *c.p & 255 : -1;\n\
     }\n";

/// Runs `f` of the text above; `change` makes both fields unknown, and what the pointer may be is up to `may_be`.
fn havocked<'s>(
    store: &'s Store,
    module: &'s Module,
    nonnull: bool,
    may_be: Option<host::MayBe>,
) -> (Machine<'s, Sym<'s>, Plain<'s>>, Ended<'s>) {
    let mut plain = Plain::new(store, module);
    plain.answered = vec![function(module, "change")];
    let integer = |ty: &DebugType| matches!(ty, DebugType::Base { name, .. } if name == "int");
    let pointee = module.debug_types.iter().position(integer).map(|at| DebugTypeId(at as u32));
    plain.may_be = may_be;
    let mut machine = Machine::new(module, plain);
    let f = function(module, "f");
    let mut state = machine.start().ok().expect("it starts");
    machine.begin(&mut state, f, Vec::new()).ok().expect("it begins");
    let ended = finish(&mut machine, state, &mut |machine, state, call| {
        let Value::Pointer(pointer) = &call.arguments[0] else { panic!("a pointer is passed") };
        let Some(Target::Object(object)) = pointer.only().map(|e| e.target) else { panic!("to an object") };
        let pointer = Anything::Pointer { pointee, nonnull };
        let cell = |at, content, name: &str| HavocCell { object, at, content, name: name.into() };
        let cells = [cell(0, pointer, "c.p"), cell(8, Anything::Number(4), "c.n")];
        assert!(machine.havoc(state, &cells).is_ok());
        let beyond = machine.havoc(state, &[cell(12, Anything::Number(8), "beyond")]);
        assert!(beyond.is_err(), "a cell that is not within its object");
        None
    });
    (machine, ended)
}

#[test]
fn cells_are_made_unknown_and_the_others_stay() {
    let module = module(HAVOC);
    let store = Store::new();
    let (mut machine, ended) = havocked(&store, &module, false, None);
    // Null, and any number in memory that nobody knows; what was not named is as it was.
    assert_eq!(returned(&mut machine, &store, &ended, [-1, 1, 5, 1000, 256]), [-1, 1, 5]);
    assert_eq!(machine.host.discovered.len(), 1, "one new object");
    let (state, _) = &ended[0];
    let origin = state.tokens[0].origin;
    assert!(matches!(origin, Origin::Havoc { cell: Some((_, 0)), .. }), "{origin:?}");
}

#[test]
fn the_host_says_what_an_unknown_pointer_may_be() {
    let module = module(HAVOC);
    // Only what the program made: `one`, or `kept`, or parts of `c`.
    let store = Store::new();
    let made: host::MayBe = Box::new(|name, candidate| {
        assert_eq!(name, "c.p");
        matches!(candidate, Candidate::Made(..))
    });
    let (mut machine, ended) = havocked(&store, &module, false, Some(made));
    assert_eq!(returned(&mut machine, &store, &ended, [-1, 1, 1000]), [1]);
    assert!(machine.host.discovered.is_empty());
    // Only null, though the declaration excludes it: nothing is left, and the path ends there.
    let store = Store::new();
    let null: host::MayBe = Box::new(|_, candidate| candidate == Candidate::Null);
    let (mut machine, ended) = havocked(&store, &module, true, Some(null));
    assert_eq!(returned(&mut machine, &store, &ended, [-1, 1, 300]), [300]);
}

#[test]
fn a_call_that_the_host_answers_is_one_of_several() {
    let module = module(
        "int add(int a) { return a + 1; }\nint twice(int a) { return 2 * a; }\n\
         int (*table[2])(int) = { add, twice };\n\
         int f(unsigned i) { return table[i & 1](10); }",
    );
    let store = Store::new();
    let mut plain = Plain::new(&store, &module);
    plain.answered = vec![function(&module, "twice"), function(&module, "add")];
    let mut machine = Machine::new(&module, plain);
    let f = function(&module, "f");
    let mut state = machine.start().ok().expect("it starts");
    let values = machine.unknown_arguments(&mut state, f).ok().expect("arguments");
    machine.begin(&mut state, f, values).ok().expect("it begins");
    let mut called = Vec::new();
    let ended = finish(&mut machine, state, &mut |machine, _, call| {
        let name = module.function(call.function).name.as_str();
        called.push(name);
        let Value::Bits(argument) = &call.arguments[0] else { panic!("a number is passed") };
        let answer: Term = store.number(32, if name == "add" { 70 } else { 80 });
        Some(Value::Bits(machine.host.core().binop(parallax_op::BinOp::Add, 32, argument, &answer)))
    });
    called.sort_unstable();
    assert_eq!(called, ["add", "twice"]);
    assert_eq!(returned(&mut machine, &store, &ended, [11, 20, 80, 90]), [80, 90]);
}

#[test]
fn promises_are_checked_at_calls() {
    let module = module(
        "__attribute__((nonnull)) static int get(int *p, int *q) { return 1; }\n\
         int f(int *p, int n) {\n\
           int x = 0;\n\
           if (n == 1) return get(&x, &x);\n\
           if (n == 2) return get(&x, p);\n\
           if (n == 3) return get(0, &x);\n\
           return p ? get(p, p) : 0;\n\
         }",
    );
    let store = Store::new();
    let mut machine = Machine::new(&module, Plain::new(&store, &module));
    let f = function(&module, "f");
    let mut state = machine.start().ok().expect("it starts");
    let values = machine.unknown_arguments(&mut state, f).ok().expect("arguments");
    machine.begin(&mut state, f, values).ok().expect("it begins");
    let ended = finish(&mut machine, state, &mut |_, _, _| None);
    let found: Vec<_> = machine.host.problems.iter().copied().collect();
    assert_eq!(found, [(Problem::NullArgument, 5), (Problem::NullArgument, 6)]);
    // Where it may be null, the path goes on with what is not; where it must be, it ends.
    let last = ended.iter().filter(|(state, _)| !state.path.conjuncts().is_empty()).count();
    assert_eq!((ended.len(), last), (4, 4));
}
