//! Which lines and branches of the source a method's tests run.

use crate::code::{Code, Instr};
use crate::machine::Task;
use crate::program::{Class, Method};
use crate::read::flags;
use crate::state::{Control, State};
use parallax_engines::{Concrete, Machine, Stop};
use parallax_heap::ClassId;
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};

/// What was run of one source file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileCoverage {
    /// How often each line with code was run.
    pub lines: BTreeMap<u32, u64>,
    /// Branches, by line and a number within it: how often each way was taken.
    pub branches: BTreeMap<(u32, u32), Vec<u64>>,
    /// Methods, by their first line: the name and how often it was entered.
    pub methods: BTreeMap<u32, (String, u64)>,
}

#[derive(Default)]
struct Visits {
    /// How often each instruction ran.
    instructions: Vec<u64>,
    /// How often each way was taken from an instruction.
    ways: FxHashMap<(usize, usize), u64>,
}

type Key = (ClassId, u32);

/// Counts what runs of one task execute.
pub struct Coverage<'a> {
    task: &'a Task,
    methods: FxHashMap<Key, Visits>,
}

/// Where control may go from a conditional jump or a switch, each place once; none for anything else.
fn ways(code: &Code, at: usize) -> Option<Vec<usize>> {
    let targets = match &code.instructions[at] {
        Instr::IfZero(_, target)
        | Instr::IfInt(_, target)
        | Instr::IfSame(_, target)
        | Instr::IfNull(_, target) => vec![*target, at + 1],
        Instr::Switch(cases, default) => {
            let mut targets: BTreeSet<usize> = cases.iter().map(|(_, target)| *target).collect();
            targets.insert(*default);
            targets.into_iter().collect()
        }
        _ => return None,
    };
    // Whether assertions are on is nothing that tests decide.
    let assertion = at.checked_sub(1).is_some_and(|before| {
        matches!(&code.instructions[before], Instr::GetStatic(member) if &*member.name == "$assertionsDisabled")
    });
    (!assertion).then_some(targets)
}

impl<'a> Coverage<'a> {
    /// Nothing has run yet.
    pub fn new(task: &'a Task) -> Self {
        Coverage { task, methods: FxHashMap::default() }
    }

    /// Runs the method on a heap. The precondition, which no test calls, does not count.
    pub fn run(&mut self, memory: Concrete) -> Result<(), Stop> {
        let task = self.task.unconditioned();
        let mut before: Option<(usize, Key, usize)> = None;
        let methods = &mut self.methods;
        task.walk(memory, &mut |state: &State<Concrete>| {
            let (Some(frame), Control::Run) = (&state.frame, &state.control) else { return Ok(()) };
            let Some(code) = &frame.method.code else { return Ok(()) };
            let (depth, key, at) =
                (state.callers.len(), (frame.method.class, frame.method.index), frame.next);
            if at >= code.instructions.len() {
                return Ok(());
            }
            let visits = methods.entry(key).or_default();
            visits.instructions.resize(code.instructions.len(), 0);
            visits.instructions[at] += 1;
            if let Some((_, _, from)) = before.take().filter(|(d, k, _)| (*d, *k) == (depth, key)) {
                *visits.ways.entry((from, at)).or_insert(0) += 1;
            }
            if ways(code, at).is_some() {
                before = Some((depth, key, at));
            }
            Ok(())
        })?;
        Ok(())
    }

    /// What was run, by source file: of the method's class, and of the user's classes of which anything ran.
    pub fn files(&self) -> BTreeMap<String, FileCoverage> {
        let mut files: BTreeMap<String, FileCoverage> = BTreeMap::new();
        let subject = self.task.method.class;
        let mut classes: BTreeSet<ClassId> = self.methods.keys().map(|(class, _)| *class).collect();
        classes.insert(subject);
        for id in classes {
            let class = self.task.program.class(id);
            let Some(name) = source_name(&class) else { continue };
            if class.own || id == subject {
                let file = files.entry(name).or_default();
                for method in &class.methods {
                    self.method(&class, method, file);
                }
            }
        }
        files.retain(|_, file| !file.lines.is_empty());
        files
    }

    fn method(&self, class: &Class, method: &Method, file: &mut FileCoverage) {
        let Some(code) = method.code.as_ref().filter(|_| method.flags & flags::BRIDGE == 0) else { return };
        let visits = self.methods.get(&(method.class, method.index));
        let count = |at: usize| visits.map_or(0, |visits| visits.instructions[at]);
        if let Some((_, line)) = code.lines.first() {
            let name = format!("{}.{}", class.simple_name, method.name);
            file.methods.entry(*line).or_insert((name, count(0)));
        }
        for at in 0..code.instructions.len() {
            let line = code.line(at);
            if line == 0 {
                continue;
            }
            let run = file.lines.entry(line).or_insert(0);
            *run = (*run).max(count(at));
            if let Some(ways) = ways(code, at) {
                let number = file.branches.range((line, 0)..=(line, u32::MAX)).count() as u32;
                let taken = ways
                    .iter()
                    .map(|way| visits.and_then(|visits| visits.ways.get(&(at, *way))).copied().unwrap_or(0));
                file.branches.insert((line, number), taken.collect());
            }
        }
    }
}

/// The file that a class was compiled from, below the root of its sources: `ds/SortedList.java`.
pub fn source_name(class: &Class) -> Option<String> {
    let source = class.source.as_ref()?;
    Some(match class.name.rsplit_once('/') {
        Some((package, _)) => format!("{package}/{source}"),
        None => source.to_string(),
    })
}
