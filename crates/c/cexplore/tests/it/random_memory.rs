//! Random functions over unknown memory, checked exactly.
//!
//! Complete input memories are fixed beforehand and the function is run on each of them. Every such memory must be
//! represented by exactly one explored path (its condition is satisfiable together with "the input is this memory"), and
//! that path must predict what the run does. The other way around, the memory that each path gives, its unread cells
//! filled at random, must run as the path predicts. Then mistakes are planted in the rules, and each must be noticed.

use crate::random_functions;

use parallax_cexplore::explore::{
    Entry, Merge, PathEnd, PathRecord, Settings, UnknownCell, UnknownMemory, explore,
};
use parallax_cexplore::run::{Argument, Block, Closed, GivenMemory, Outcome, Place, Start, run_from};
use parallax_cexplore::{Program, Sources, program, run};
use parallax_cmachine::{Aliasing, Mistake, Problem, Target};
use parallax_op::{Bits, RelOp};
use parallax_smt::Answer;
use parallax_term::{Formula, Store, Term};
use random_functions::{Random, functions};
use std::path::PathBuf;

/// Elements of an input array at most.
const ARRAY: u64 = 2;
/// Bytes of the structure.
const NODE: u64 = 32;

struct Trial {
    program: Program,
    aliasing: Aliasing,
    merge: Merge,
    plant: Option<Mistake>,
}

/// What was compared.
#[derive(Debug, Default)]
struct Compared {
    functions: usize,
    paths: usize,
    memories: usize,
    skipped: usize,
}

fn compile(name: &str, seed: u64, count: usize) -> Program {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("random_memory");
    std::fs::create_dir_all(&folder).expect("a folder for the test");
    let file = folder.join(format!("{name}-{seed}.c"));
    std::fs::write(&file, functions(seed, count)).expect("the program is written");
    program::load(&Sources { files: vec![file], ..Sources::default() }).unwrap_or_else(|e| panic!("{e}"))
}

/// A place that a pointer to a node, or to an int, may be in these blocks.
fn place(random: &mut Random, blocks: &[Block], node: bool, aliasing: Aliasing) -> Place {
    let places = places(blocks, node, aliasing);
    places[random.below(places.len())].clone()
}

/// Every such place.
fn places(blocks: &[Block], node: bool, aliasing: Aliasing) -> Vec<Place> {
    let mut places = vec![Place::Null];
    for (number, block) in blocks.iter().enumerate() {
        let is_node = block.size == NODE;
        match (node, is_node) {
            (true, true) => places.push(Place::Block(number, 0)),
            (false, true) if aliasing == Aliasing::Sub => {
                places.extend([Place::Block(number, 0), Place::Block(number, 24)]);
            }
            (false, false) => {
                let elements = if aliasing == Aliasing::Strict { 1 } else { block.size / 4 };
                places.extend((0..elements).map(|e| Place::Block(number, 4 * e as i64)));
            }
            _ => {}
        }
    }
    places
}

/// Whether a memory that a path gives is one that may be given: pointers lead where they may, objects are apart.
fn lawful(memory: &GivenMemory, aliasing: Aliasing) -> bool {
    let fits = |place: &Place, node: bool| places(&memory.blocks, node, aliasing).contains(place);
    let pointers = memory.blocks.iter().flat_map(|block| &block.pointers).all(|(at, p)| fits(p, *at == 8));
    let arguments = memory
        .arguments
        .iter()
        .zip([true, true, false, false])
        .all(|(argument, node)| matches!(argument, Argument::Pointer(place) if fits(place, node)));
    let mut ranges: Vec<(u64, u64)> =
        memory.blocks.iter().filter_map(|b| Some((b.address?, b.address? + b.size))).collect();
    ranges.sort_unstable();
    pointers && arguments && ranges.windows(2).all(|pair| pair[0].1 < pair[1].0)
}

fn number(random: &mut Random) -> Bits {
    Bits::from_i128(32, random.below(4) as i128 - 1)
}

/// A complete memory: every cell of every block.
fn memory(random: &mut Random, program: &Program, aliasing: Aliasing) -> GivenMemory {
    let mut memory = GivenMemory::default();
    let global = program.module.globals.iter().position(|g| g.name == "g").expect("the program has one");
    memory.blocks.push(Block {
        name: "g".into(),
        global: Some(global as u32),
        size: NODE,
        ..Block::default()
    });
    let (nodes, arrays) = (random.below(3), random.below(3));
    let mut slots: Vec<u64> = (1..8).collect();
    for number in 0..nodes + arrays {
        let size = if number < nodes { NODE } else { 4 * (1 + random.below(ARRAY as usize) as u64) };
        let slot = slots.swap_remove(random.below(slots.len()));
        memory.blocks.push(Block {
            name: format!("b{number}"),
            size,
            address: Some(0x7000_0000_0000 + slot * 0x40),
            ..Block::default()
        });
    }
    for number in 0..memory.blocks.len() {
        fill(random, &mut memory, number, aliasing);
    }
    for node in [true, true, false, false] {
        memory.arguments.push(Argument::Pointer(place(random, &memory.blocks, node, aliasing)));
    }
    memory.arguments.push(Argument::Bits(number(random)));
    memory
}

/// Gives every cell of a block that has no content some.
fn fill(random: &mut Random, memory: &mut GivenMemory, block: usize, aliasing: Aliasing) {
    let size = memory.blocks[block].size;
    let ints: Vec<u64> = if size == NODE { vec![0, 24] } else { (0..size / 4).map(|e| 4 * e).collect() };
    for at in ints {
        // A cell may have been read byte by byte: then it is left as it is.
        if !memory.blocks[block].bits.iter().any(|(known, _)| (at..at + 4).contains(known)) {
            memory.blocks[block].bits.push((at, number(random)));
        }
    }
    if size == NODE {
        for (at, node) in [(8, true), (16, false)] {
            if !memory.blocks[block].pointers.iter().any(|(known, _)| *known == at) {
                let place = place(random, &memory.blocks, node, aliasing);
                memory.blocks[block].pointers.push((at, place));
            }
        }
    }
}

fn ran(program: &Program, function: &str, memory: &GivenMemory) -> Option<Result<u8, Problem>> {
    let settings = run::Settings { steps: Some(50_000), ..run::Settings::default() };
    let start = Start::Function(function, memory);
    match run_from(&program.module, start, &mut Closed::default(), &settings, &mut |_| {}).outcome {
        Outcome::Exit(status) => Some(Ok(status)),
        Outcome::Mistake(mistake) => Some(Err(mistake.problem)),
        _ => None,
    }
}

/// "The input is this memory", up to the names of objects.
fn is_memory(store: &Store, unknown: &UnknownMemory, memory: &GivenMemory) -> Vec<Formula> {
    let mut all = Vec::new();
    let is = |object: u32, block: usize| store.bool_symbol(&format!("object {object} is block {block}"));
    let equal = |term: Term, bits: &Bits| store.relop(RelOp::Eq, term, store.constant(bits));
    let word = |value: u64| Bits::new(64, value.into());
    for object in &unknown.objects {
        let mut some = store.false_();
        for (number, block) in memory.blocks.iter().enumerate() {
            let chosen = is(object.object.0, number);
            let fits = match (object.global, block.global) {
                (None, None) => equal(object.size, &word(block.size)),
                (a, b) => {
                    if a == b {
                        store.true_()
                    } else {
                        store.false_()
                    }
                }
            };
            all.push(store.implies(store.and(object.exists, chosen), fits));
            if let (Some(term), Some(address)) = (object.address, block.address) {
                all.push(store.implies(store.and(object.exists, chosen), equal(term, &word(address))));
            }
            for other in 0..number {
                all.push(store.not(store.and(chosen, is(object.object.0, other))));
            }
            for other in unknown.objects.iter().filter(|o| o.object < object.object) {
                let both = store.and(other.exists, is(other.object.0, number));
                all.push(store.not(store.and(store.and(object.exists, chosen), both)));
            }
            some = store.or(some, chosen);
        }
        all.push(store.implies(object.exists, some));
    }
    let matches = |target: Target, offset: Term, place: &Place| match (target, place) {
        (Target::Null, Place::Null) => store.true_(),
        (Target::Object(id), Place::Block(block, at)) => {
            store.and(is(id.0, *block), equal(offset, &word(*at as u64)))
        }
        _ => store.false_(),
    };
    let token = |number: usize, place: &Place| {
        let mut all = store.true_();
        for &(guard, target, offset) in &unknown.tokens[number] {
            all = store.and(all, store.implies(guard, matches(target, offset, place)));
        }
        all
    };
    for (id, at, cell) in &unknown.cells {
        let exists = unknown.objects.iter().find(|o| o.object == *id).map_or(store.true_(), |o| o.exists);
        for (number, block) in memory.blocks.iter().enumerate() {
            if *at >= block.size {
                continue;
            }
            let here = store.and(exists, is(id.0, number));
            let holds = match cell {
                UnknownCell::Pointer(t) => match block.pointers.iter().find(|(known, _)| known == at) {
                    Some((_, place)) => token(*t, place),
                    None => store.true_(),
                },
                // A number, or a byte of one where the rest was overwritten before; padding is anything.
                UnknownCell::Bits(term) => match block.bits.iter().find(|(k, _)| (*k..k + 4).contains(at)) {
                    Some((known, bits)) => {
                        let low = 8 * (at - known) as u16;
                        equal(*term, &bits.extract(low, store.width(*term).min(32 - low)))
                    }
                    None => store.true_(),
                },
            };
            all.push(store.implies(here, holds));
        }
    }
    for (argument, given) in unknown.arguments.iter().zip(&memory.arguments) {
        all.push(match (argument, given) {
            (UnknownCell::Bits(term), Argument::Bits(bits)) => equal(*term, bits),
            (UnknownCell::Pointer(t), Argument::Pointer(place)) => token(*t, place),
            _ => store.false_(),
        });
    }
    all
}

fn predicted(record: &PathRecord) -> Result<u8, Problem> {
    match record.end {
        PathEnd::Exit(status) => Ok(status),
        PathEnd::Mistake(problem) => Err(problem),
    }
}

/// The first thing that does not agree.
fn disagreement(
    trial: &Trial,
    function: &str,
    random: &mut Random,
    compared: &mut Compared,
) -> Option<String> {
    let settings = Settings {
        entry: Entry::Function(function.into()),
        aliasing: trial.aliasing,
        merge: trial.merge,
        plant: trial.plant,
        array: ARRAY,
        chain: 12,
        loops: 20,
        steps: 20_000,
        paths: 120,
        tests: true,
        ..Settings::default()
    };
    let store = Store::new();
    let solver = parallax_smt::solver(&store);
    let explored = match explore(&store, &trial.program.module, &settings, solver, &mut |_, _, _| {}) {
        Ok(explored) => explored,
        Err(error) => return Some(format!("{function}: {error}")),
    };
    if !explored.completeness.is_complete() {
        compared.skipped += 1;
        return None;
    }
    compared.functions += 1;
    for record in &explored.records {
        compared.paths += 1;
        let mut memory = record.input.memory.clone();
        if !lawful(&memory, trial.aliasing) {
            return Some(format!("{function}: {:?} for what is no input: {memory:?}", predicted(record)));
        }
        for block in 0..memory.blocks.len() {
            fill(random, &mut memory, block, trial.aliasing);
        }
        let run = ran(&trial.program, function, &memory);
        if run != Some(predicted(record)) {
            return Some(format!(
                "{function}: {:?} predicted, {run:?} ran for {memory:?}",
                predicted(record)
            ));
        }
    }
    let mut solver = parallax_smt::solver(&store);
    for _ in 0..6 {
        let memory = memory(random, &trial.program, trial.aliasing);
        let Some(run) = ran(&trial.program, function, &memory) else { continue };
        compared.memories += 1;
        let mut represented = 0;
        for record in &explored.records {
            let unknown = record.unknown.as_ref().expect("a function was entered");
            let mut query = record.conditions.clone();
            query.extend(is_memory(&store, unknown, &memory));
            if !matches!(solver.check(&query), Answer::Sat(_)) {
                continue;
            }
            represented += 1;
            let right = match (&run, record.status) {
                (Ok(status), Some(term)) => {
                    let low = store.extract(term, 0, 8);
                    query.push(store.relop(RelOp::Ne, low, store.number(8, (*status).into())));
                    solver.check(&query).is_unsat()
                }
                (run, _) => *run == predicted(record),
            };
            if !right {
                return Some(format!(
                    "{function}: {:?} predicted, {run:?} ran for {memory:?}",
                    predicted(record)
                ));
            }
        }
        if represented != 1 {
            return Some(format!(
                "{function}: {represented} paths represent {memory:?}, which gives {run:?}"
            ));
        }
    }
    None
}

fn agree(name: &str, seed: u64, count: usize, aliasing: Aliasing, merge: Merge) -> Compared {
    let trial = Trial { program: compile(name, seed, count), aliasing, merge, plant: None };
    let mut random = Random::new(seed ^ 0x5eed);
    let mut compared = Compared::default();
    for number in 0..count {
        if let Some(words) = disagreement(&trial, &format!("f{number}"), &mut random, &mut compared) {
            panic!("{name}, seed {seed}: {words}");
        }
    }
    println!("{name}: {compared:?}");
    compared
}

/// How much is compared: `RANDOM_MEMORY=N` multiplies it.
fn rounds() -> u64 {
    std::env::var("RANDOM_MEMORY").ok().and_then(|n| n.parse().ok()).unwrap_or(1)
}

#[test]
fn typed_memory_is_explored_exactly() {
    for round in 0..rounds() {
        let compared = agree("strict", 11 + round, 24, Aliasing::Strict, Merge::Never);
        assert!(compared.memories >= 60, "{compared:?}");
    }
}

#[test]
fn memory_with_parts_is_explored_exactly() {
    for round in 0..rounds() {
        let compared = agree("sub", 1011 + round, 16, Aliasing::Sub, Merge::Never);
        assert!(compared.memories >= 40, "{compared:?}");
    }
}

#[test]
fn merged_paths_represent_the_same_memories() {
    for round in 0..rounds() {
        for (name, merge, seed) in [("merged", Merge::Always, 3011), ("estimated", Merge::Auto, 4011)] {
            let compared = agree(name, seed + round, 20, Aliasing::Strict, merge);
            assert!(compared.memories >= 50, "{compared:?}");
        }
    }
}

/// The mistakes that random functions reveal. Those about numbers as pointers have programs of their own.
const PLANTED: &[(Mistake, Aliasing)] = &[
    (Mistake::InitIgnoresDone, Aliasing::Strict),
    (Mistake::AliasWithoutExistence, Aliasing::Strict),
    (Mistake::IndexUnbounded, Aliasing::Sub),
    (Mistake::FreedNoCandidates, Aliasing::Strict),
    (Mistake::ProgramObjectsCandidates, Aliasing::Strict),
    (Mistake::NoContainers, Aliasing::Sub),
    (Mistake::StrongUpdate, Aliasing::Strict),
    (Mistake::EqualIgnoresOffset, Aliasing::Sub),
    (Mistake::BoundsBeforeLifetime, Aliasing::Strict),
];

#[test]
fn planted_mistakes_are_noticed() {
    let mut missed = Vec::new();
    for &(mistake, aliasing) in PLANTED {
        let mut caught = None;
        'search: for seed in 0..4u64 {
            let trial = Trial {
                program: compile("planted", seed, 24),
                aliasing,
                merge: Merge::Never,
                plant: Some(mistake),
            };
            let mut random = Random::new(seed ^ 0x5eed);
            for number in 0..24 {
                let function = format!("f{number}");
                if let Some(words) = disagreement(&trial, &function, &mut random, &mut Compared::default()) {
                    caught = Some((seed, words));
                    break 'search;
                }
            }
        }
        match caught {
            Some((seed, words)) => println!("{mistake:?}: seed {seed}, {words:.160}"),
            None => missed.push(mistake),
        }
    }
    assert!(missed.is_empty(), "not noticed: {missed:?}");
}
