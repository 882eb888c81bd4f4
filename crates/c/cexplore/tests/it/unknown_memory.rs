//! Functions over unknown linked memory: one path per way through the code, and no way is missed.
//!
//! Each explored path is run on the memory that its model gives, which must take a way of its own; then random complete
//! memories are run, and each must take one of those ways.

use crate::corpus;

use corpus::Random;
use parallax_cexplore::explore::{Entry, Settings, explore};
use parallax_cexplore::run::{Argument, Block, Closed, GivenMemory, Outcome, Place, Start, run_from};
use parallax_cexplore::{Program, Sources, program, run};
use parallax_cmachine::Problem;
use parallax_op::Bits;
use parallax_term::Store;
use std::collections::{BTreeMap, BTreeSet};

/// What a function's parameters are.
#[derive(Clone, Copy)]
enum Parameter {
    /// A pointer to a structure: its fields' pointers are at these offsets, and it has this size.
    Node,
    /// A pointer to a cell that points to a structure.
    Cell,
    /// A number.
    Number,
}

struct Subject {
    file: &'static str,
    function: &'static str,
    size: u64,
    pointers: &'static [u64],
    parameters: &'static [Parameter],
}

const SUBJECTS: &[Subject] = &[
    Subject {
        file: "list_reverse",
        function: "reverse",
        size: 16,
        pointers: &[8],
        parameters: &[Parameter::Node],
    },
    Subject {
        file: "sorted_insert",
        function: "insert",
        size: 16,
        pointers: &[8],
        parameters: &[Parameter::Cell, Parameter::Node],
    },
    Subject {
        file: "tree_search",
        function: "search",
        size: 24,
        pointers: &[8, 16],
        parameters: &[Parameter::Node, Parameter::Number],
    },
    Subject {
        file: "list_remove",
        function: "remove_item",
        size: 24,
        pointers: &[8, 16],
        parameters: &[Parameter::Node],
    },
    Subject {
        file: "last_element",
        function: "last",
        size: 16,
        pointers: &[8],
        parameters: &[Parameter::Node],
    },
];

/// The ways through a function with at most this many visits of one block are compared.
const LOOPS: u32 = 4;
const NODES: u64 = 3;

/// The blocks that a run enters, and how it ends; nothing when it goes around more often than the bound.
fn way(program: &Program, function: &str, memory: &GivenMemory) -> Option<(Vec<u32>, String)> {
    let mut blocks = Vec::new();
    let mut visits: BTreeMap<u32, u32> = BTreeMap::new();
    let settings = run::Settings { steps: Some(5_000), ..run::Settings::default() };
    let mut watch = |state: &parallax_cmachine::State<parallax_sem::Concrete>| {
        let block = state.frame().block.0;
        *visits.entry(block).or_insert(0) += 1;
        if blocks.len() < 200 {
            blocks.push(block);
        }
    };
    let start = Start::Function(function, memory);
    let outcome = run_from(&program.module, start, &mut Closed::default(), &settings, &mut watch).outcome;
    let end = match outcome {
        Outcome::Exit(_) => "returns".to_string(),
        Outcome::Mistake(mistake) => mistake.problem.name().to_string(),
        _ => return None,
    };
    (visits.values().all(|&count| count <= LOOPS)).then_some((blocks, end))
}

fn random_memory(subject: &Subject, random: &mut Random) -> GivenMemory {
    let mut memory = GivenMemory::default();
    let nodes = 1 + random.below(NODES) as usize;
    let place = |random: &mut Random| match random.below(nodes as u64 + 1) as usize {
        0 => Place::Null,
        number => Place::Block(number - 1, 0),
    };
    for number in 0..nodes {
        let value = Bits::from_i128(32, random.below(4) as i128 - 2);
        memory.blocks.push(Block {
            name: format!("n{number}"),
            size: subject.size,
            bits: vec![(0, value)],
            pointers: subject.pointers.iter().map(|&offset| (offset, place(random))).collect(),
            ..Block::default()
        });
    }
    for parameter in subject.parameters {
        let argument = match parameter {
            Parameter::Node => Argument::Pointer(place(random)),
            Parameter::Number => Argument::Bits(Bits::from_i128(32, random.below(4) as i128 - 2)),
            Parameter::Cell if random.below(5) == 0 => Argument::Pointer(Place::Null),
            Parameter::Cell => {
                let pointers = vec![(0, place(random))];
                memory.blocks.push(Block { name: "cell".into(), size: 8, pointers, ..Block::default() });
                Argument::Pointer(Place::Block(memory.blocks.len() - 1, 0))
            }
        };
        memory.arguments.push(argument);
    }
    memory
}

#[test]
fn every_way_through_unknown_memory_is_one_path() {
    for subject in SUBJECTS {
        let case = corpus::cases("find").into_iter().find(|c| c.name == subject.file).expect("in the corpus");
        let program =
            program::load(&Sources { files: vec![case.file], ..Sources::default() }).expect("it loads");
        let settings = Settings {
            entry: Entry::Function(subject.function.into()),
            chain: NODES as u32 + 1,
            array: 1,
            loops: LOOPS + 1,
            steps: 5_000,
            tests: true,
            ..Settings::default()
        };
        let store = Store::new();
        let solver = parallax_smt::solver(&store);
        let explored =
            explore(&store, &program.module, &settings, solver, &mut |_, _, _| {}).expect("it explores");
        let mut ways = BTreeMap::new();
        for (number, record) in explored.records.iter().enumerate() {
            let Some(way) = way(&program, subject.function, &record.input.memory) else { continue };
            if let Some(other) = ways.insert(way.clone(), number) {
                panic!("{}: paths {other} and {number} go the same way {way:?}", subject.function);
            }
        }
        assert!(ways.len() >= 3, "{}: {} ways", subject.function, ways.len());
        let mut random = Random(0x5eed_5eed_0bad_cafe);
        let mut met = 0;
        for _ in 0..300 {
            let memory = random_memory(subject, &mut random);
            let Some(way) = way(&program, subject.function, &memory) else { continue };
            met += 1;
            assert!(ways.contains_key(&way), "{}: no path goes {way:?} for {memory:?}", subject.function);
        }
        assert!(met > 100, "{}: {met} memories compared", subject.function);
    }
}

const STACK: &str = "struct stack { int *start, *top, *end; };\n\
    int f(struct stack *s) {\n\
      if (s->top != s->end) return 0;\n\
      if (s->end - s->start > 2) return 1;\n\
      int *p = s->start;\n\
      p[1] = 0;\n\
      s->top[-1] = 7;\n\
      return p[1] == 7 ? f(0) : 2;\n\
    }\n";

/// Pointers that the code subtracts and orders may be anywhere in one array, and one behind its last element: all such stacks are tried.
#[test]
fn pointers_that_walk_one_array_may_be_anywhere_in_it() {
    const MOST: u64 = 3;
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("stack.c");
    std::fs::write(&file, STACK).expect("written");
    let program = program::load(&Sources { files: vec![file], ..Sources::default() }).expect("it loads");
    let settings =
        Settings { entry: Entry::Function("f".into()), array: MOST, tests: true, ..Settings::default() };
    let store = Store::new();
    let solver = parallax_smt::solver(&store);
    let explored =
        explore(&store, &program.module, &settings, solver, &mut |_, _, _| {}).expect("it explores");
    let ways = explored.records.iter().filter_map(|record| way(&program, "f", &record.input.memory));
    let ways: BTreeSet<_> = ways.collect();
    let mut met = BTreeSet::new();
    for count in 1..=MOST {
        // Three places in the array, one behind it included, and whether all it holds is positive.
        for number in 0..(count + 1).pow(3) * 2 {
            let index = |of: u32| number / 2 / (count + 1).pow(of) % (count + 1);
            let place = |of: u32| Place::Block(1, 4 * index(of) as i64);
            let value = Bits::from_i128(32, if number % 2 == 0 { 1 } else { -1 });
            let memory = GivenMemory {
                blocks: vec![
                    Block {
                        name: "s".into(),
                        size: 24,
                        pointers: (0..3).map(|of| (8 * u64::from(of), place(of))).collect(),
                        ..Block::default()
                    },
                    Block {
                        name: "array".into(),
                        size: 4 * count,
                        bits: (0..count).map(|at| (4 * at, value.clone())).collect(),
                        ..Block::default()
                    },
                ],
                arguments: vec![Argument::Pointer(Place::Block(0, 0))],
            };
            let way = way(&program, "f", &memory).expect("no loop");
            assert!(ways.contains(&way), "no path goes {way:?} for {memory:?}");
            met.insert(way);
        }
    }
    // What lies behind the start is changed through the top only where all three walk one array.
    assert!(met.iter().any(|(_, end)| end == Problem::NullDereference.name()), "{met:?}");
}
