//! Paths of Java methods as reports: each is run once more on one of its heaps, and told line by line.

use super::report::left_out;
use super::words::{Run, Words};
use super::{Heap, inputs, limits};
use anyhow::Result;
use parallax_cli_base::exit::{Failure, Status};
use parallax_engines::engine::{Ending, Ends, TraceOf};
use parallax_engines::{Concrete, End, Machine, Replay, Stop, Summary};
use parallax_heap::{InputHeap, InputValue};
use parallax_java::code::{Code, Instr};
use parallax_java::coverage::source_name;
use parallax_java::floats::shown;
use parallax_java::{Class, Control, Method, Place, Program, Slot, State, Task, Type};
use parallax_report::{Document, Frame, Location, PathBuilder, Report, Role, Segment, Severity, Step, Tool};
use std::collections::BTreeMap;
use std::rc::Rc;

/// More steps than anyone reads; what comes after them is left out, but for the end.
const STEPS: usize = 10_000;

/// A report for each path: findings for those that throw or were cut off, and paths on which all is well to compare with.
/// Gives the number of paths too that are not in it because the time was over.
pub fn document(
    arguments: &Heap,
    run: &Run<'_, '_, Task>,
    ends: &Ends<Task, Summary<'_>>,
) -> Result<(Document, usize)> {
    let (mut document, mut untold) = (Document::default(), 0);
    let universe = run.task.program.universe();
    let paths = ends.traces.iter().filter(|(trace, _)| trace.ending != Ending::Discarded);
    for (number, (trace, bucket)) in paths.enumerate() {
        if arguments.limits.late(run.start) {
            untold += 1;
            continue;
        }
        let end = &bucket.finals[0];
        let models = end.heap().models(1)?;
        let Some(model) = models.models.first() else { continue };
        let snapshot = end.heap().resolve(model, &end.cells())?;
        let input = snapshot.input(&universe, run.setup.oracle.store, model, |_, _| InputValue::Null)?;
        if !Replay::new(run.task, &universe, &input, arguments.array)?.follows(trace) {
            let message = format!("internal: the heap of path {} does not take the path", number + 1);
            return Err(Failure { status: Status::Unsupported, message }.into());
        }
        match report(arguments, run, trace, &input, number + 1) {
            Err(error) if limits::is_bound(&error) => untold += 1,
            told => document.reports.push(told?),
        }
    }
    let left_out = left_out(&ends.completeness).into_iter();
    document.notes.extend(left_out.map(|what| format!("INCOMPLETE, left out: {what}")));
    document.reports.sort_by_key(|report| std::cmp::Reverse(report.severity));
    Ok((document, untold))
}

fn report(
    arguments: &Heap,
    run: &Run<'_, '_, Task>,
    trace: &TraceOf<Task>,
    input: &InputHeap,
    number: usize,
) -> Result<Report> {
    let task = run.task.unconditioned();
    let program = &task.program;
    let mut telling = Telling {
        program,
        subject: task.method.class,
        path: PathBuilder::new(program.method_name(&task.method)),
        open: Vec::new(),
        inputs: input.objects.len(),
        names: BTreeMap::new(),
        pending: None,
        stored: Vec::new(),
    };
    let memory = Concrete::new(program.universe(), input, arguments.array);
    let mut watch = arguments.limits.watch(run.start);
    let mut progress = parallax_engines::Progress::default();
    let (_, end) = task.walk(memory, &mut |state| {
        progress.steps += 1;
        watch(&progress)?;
        telling.sees(state)
    })?;
    let method = program.method_name(&task.method);
    let begin = Place { class: task.method.class, method: task.method.index, at: 0 };
    let (rule, severity, at) = match (&end, &trace.ending) {
        (End::Error(fault, at), _) => (fault.class.clone(), Severity::Error, *at),
        (End::Cut(cut, at), _) => (run.words.cut(cut), Severity::Warning, *at),
        // The symbolic path was cut off at a bound that a run on one heap stays below.
        (_, Ending::Cut(cut)) => (run.words.cut(cut), Severity::Warning, begin),
        _ => ("returns".to_owned(), Severity::Note, begin),
    };
    let passed = matches!((&end, &trace.ending), (End::Value(_), Ending::Value));
    let title = match &end {
        End::Value(value) if passed && !run.words.is_void() => {
            format!("{method} returns {}", run.words.value(value))
        }
        _ if passed => format!("{method} returns"),
        _ => format!("{rule} in {method}"),
    };
    let location = telling.location(at).or_else(|| telling.location(begin));
    telling.ends(&end, run.words, &rule, location.clone());
    let mut text = format!("Path {number} of {method}: {title}. One heap that takes it:\n");
    text.push_str(&inputs::text(&program.universe(), input));
    Ok(Report {
        rule: rule.replace(' ', "-"),
        title,
        text: vec![Segment::plain(text)],
        severity,
        tool: Tool { name: "parallax heap".into(), version: Some(env!("CARGO_PKG_VERSION").into()) },
        location,
        paths: vec![telling.path.finish()],
        passed,
        ..Report::default()
    })
}

/// An activation that is told of.
struct Activation {
    depth: usize,
    file: String,
    line: u32,
    variables: BTreeMap<Rc<str>, String>,
}

/// Follows a run and tells it. What the library does inside is not told.
struct Telling<'a> {
    program: &'a Rc<Program>,
    subject: parallax_heap::ClassId,
    path: PathBuilder,
    open: Vec<Activation>,
    /// Objects below this number were there on entry.
    inputs: usize,
    names: BTreeMap<usize, String>,
    /// A condition that is being decided: how deep, where, and its line.
    pending: Option<(usize, usize, u32)>,
    /// What the instruction before wrote.
    stored: Vec<(String, String)>,
}

impl Telling<'_> {
    fn told(&self, class: &Class) -> Option<String> {
        let own = class.own || class.id == self.subject;
        source_name(class).filter(|_| own)
    }

    fn location(&self, place: Place) -> Option<Location> {
        let class = self.program.class(place.class);
        let file = self.told(&class)?;
        let method = class.methods.get(place.method as usize)?;
        let line = method.code.as_ref()?.line(place.at as usize);
        (line > 0).then(|| Location::line(file, line))
    }

    fn sees(&mut self, state: &State<Concrete>) -> Result<(), Stop> {
        let (Some(frame), Control::Run) = (&state.frame, &state.control) else { return Ok(()) };
        if state.initialising > 0 {
            return Ok(());
        }
        let depth = state.callers.len();
        while self.open.last().is_some_and(|open| open.depth > depth) {
            self.flush();
            self.open.pop();
            self.path.leave();
        }
        let class = self.program.class(frame.method.class);
        let (Some(code), Some(file)) = (&frame.method.code, self.told(&class)) else { return Ok(()) };
        if code.lines.is_empty() {
            return Ok(());
        }
        if self.open.last().is_none_or(|open| open.depth < depth) {
            self.enters(depth, &frame.method, file);
        }
        self.decides(depth, code, frame.next);
        self.compares(code, frame.next, &frame.locals);
        self.flush();
        let line = code.line(frame.next);
        if let Some(open) = self.open.last_mut().filter(|open| line > 0 && open.line != line) {
            open.line = line;
            let step = Step::new(Role::Note, open.file.clone(), line).in_passing();
            self.says(step);
        }
        self.looks_ahead(depth, code, frame.next, &frame.stack);
        Ok(())
    }

    fn enters(&mut self, depth: usize, method: &Method, file: String) {
        self.flush();
        let name = self.program.method_name(method);
        if let Some(caller) = self.open.last() {
            let step = Step::new(Role::Call, caller.file.clone(), caller.line);
            self.path.say(step.with_message(format!("calls {name}")));
        }
        self.path.enter(Frame::new(name, file.clone()));
        self.open.push(Activation { depth, file, line: 0, variables: BTreeMap::new() });
    }

    /// Which way a condition went, now that the next instruction is known.
    fn decides(&mut self, depth: usize, code: &Code, next: usize) {
        let Some((_, at, line)) = self.pending.take().filter(|(at, ..)| *at == depth) else { return };
        let target = match &code.instructions[at] {
            Instr::IfZero(_, target)
            | Instr::IfInt(_, target)
            | Instr::IfSame(_, target)
            | Instr::IfNull(_, target) => *target,
            _ => return,
        };
        // Compilers jump away where a condition fails, except at the end of a loop and from the left of an `||`, whose
        // right side then jumps just before the place where it goes on.
        let right =
            target.checked_sub(1).filter(|before| *before > at).map(|before| &code.instructions[before]);
        let forward = |to: &usize| *to > target;
        let on_success = target <= at
            || right.is_some_and(|right| {
                matches!(right, Instr::IfZero(_, to) | Instr::IfInt(_, to) | Instr::IfSame(_, to) | Instr::IfNull(_, to) if forward(to))
            });
        let Some(open) = self.open.last() else { return };
        let step = Step::new(Role::Branch, open.file.clone(), line);
        self.says(step.with_taken((next == target) == on_success));
    }

    /// Variables that have got another value.
    fn compares(&mut self, code: &Code, next: usize, locals: &[Slot<Concrete>]) {
        let mut now = BTreeMap::new();
        for variable in code.variables.iter().filter(|known| known.start <= next && next < known.end) {
            if &*variable.name == "this" {
                continue;
            }
            if let Some(value) = locals.get(usize::from(variable.slot)).and_then(|slot| self.shown(slot)) {
                now.insert(variable.name.clone(), value);
            }
        }
        let Some(open) = self.open.last_mut() else { return };
        for (name, value) in &now {
            if open.variables.get(name) != Some(value) {
                self.stored.push((name.to_string(), value.clone()));
            }
        }
        open.variables = now;
    }

    /// Tells what was written on the line that the path has come to.
    fn flush(&mut self) {
        if self.stored.is_empty() {
            return;
        }
        let Some(open) = self.open.last().filter(|open| open.line > 0) else { return };
        let mut step = Step::new(Role::Note, open.file.clone(), open.line);
        for (name, value) in std::mem::take(&mut self.stored) {
            step = step.with_value(name, value);
        }
        self.says(step);
    }

    /// What the instruction that comes next writes or decides.
    fn looks_ahead(&mut self, depth: usize, code: &Code, at: usize, stack: &[Slot<Concrete>]) {
        let Some(instruction) = code.instructions.get(at) else { return };
        let from_top = |count: usize| stack.len().checked_sub(count).map(|at| &stack[at]);
        let place = match instruction {
            Instr::PutField(member) => {
                from_top(2).and_then(|base| self.shown(base)).map(|base| format!("{base}.{}", member.name))
            }
            Instr::PutStatic(member) if !member.name.contains('$') => {
                let class = self.program.loaded(&member.class);
                class.map(|class| format!("{}.{}", class.simple_name, member.name))
            }
            Instr::ArrayStore(_) => match (from_top(3), from_top(2)) {
                (Some(array), Some(index)) => {
                    let shown = (self.shown(array), self.shown(index));
                    shown.0.zip(shown.1).map(|(array, index)| format!("{array}[{index}]"))
                }
                _ => None,
            },
            Instr::IfZero(..) | Instr::IfInt(..) | Instr::IfSame(..) | Instr::IfNull(..) => {
                let assertion = at.checked_sub(1).is_some_and(|before| {
                    matches!(&code.instructions[before], Instr::GetStatic(member) if &*member.name == "$assertionsDisabled")
                });
                if !assertion {
                    self.pending = Some((depth, at, code.line(at)));
                }
                None
            }
            _ => None,
        };
        if let (Some(place), Some(value)) = (place, from_top(1).and_then(|value| self.shown(value))) {
            self.stored.push((place, value));
        }
    }

    /// A value; objects of the input are named as in the heap that the report's text lists.
    fn shown(&mut self, slot: &Slot<Concrete>) -> Option<String> {
        Some(match slot {
            Slot::Empty | Slot::Address(_) => return None,
            Slot::Ref(None) => "null".into(),
            Slot::Ref(Some(0)) => "this".into(),
            Slot::Ref(Some(at)) if *at < self.inputs => format!("o{at}"),
            Slot::Ref(Some(at)) => {
                let fresh = self.names.len() + 1;
                self.names.entry(*at).or_insert_with(|| format!("n{fresh}")).clone()
            }
            Slot::Bool(b) => b.to_string(),
            Slot::Int(bits) | Slot::Long(bits) => bits.to_i128().unwrap_or_default().to_string(),
            Slot::Float(bits) => shown(&Type::Float, bits.to_u64()?)?,
            Slot::Double(bits) => shown(&Type::Double, bits.to_u64()?)?,
        })
    }

    fn says(&mut self, step: Step) {
        if self.path.len() < STEPS || step.failing {
            self.path.say(step);
        }
    }

    fn ends(
        &mut self,
        end: &parallax_engines::EndOf<Task, Concrete>,
        words: &dyn Words<Task>,
        rule: &str,
        at: Option<Location>,
    ) {
        self.flush();
        let here = self.open.last().map(|open| (open.file.clone(), open.line));
        let last = match (end, here) {
            (End::Error(..), _) => Step::at(Role::Note, at).with_message(rule).failing(),
            (End::Cut(..), _) => Step::at(Role::Note, at).with_message(format!("cut off: {rule}")),
            (End::Value(value), Some((file, line))) => {
                Step::new(Role::Return, file, line).with_message(format!("returns {}", words.value(value)))
            }
            _ => return,
        };
        self.path.say(last);
    }
}
