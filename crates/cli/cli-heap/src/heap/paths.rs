//! Paths as reports that the viewer reads: each is run once more on one of its heaps, and told line by line.

use super::report::left_out;
use super::{Heap, Subject, inputs, limits};
use anyhow::Result;
use parallax_cli_base::exit::{Failure, Status};
use parallax_engines::engine::Ends;
use parallax_engines::{Concrete, ConcreteValue, End, EndOf, Machine, Progress, Step, Stop, Summary, Value};
use parallax_heap::{InputHeap, InputValue};
use parallax_javalite::*;
use parallax_report::{Document, Frame, Location, PathBuilder, Report, Role, Segment, Severity, Tool};
use parallax_source::{SourceFile, Span};
use std::collections::BTreeMap;

/// More steps than anyone reads; what comes after them is left out, but for the end.
const STEPS: usize = 10_000;

/// A report for each path: findings for those that fail or were cut off, and paths on which all is well to compare with.
/// Gives the number of paths too that are not in it because the time was over.
pub fn document(
    arguments: &Heap,
    subject: &Subject<'_>,
    ends: &Ends<Task, Summary<'_>>,
) -> Result<(Document, usize)> {
    let setup = &subject.setup;
    let (mut document, mut untold) = (Document::default(), 0);
    let paths = ends.traces.iter().filter(|(trace, _)| trace.ending != Ending::Discarded);
    for (number, (trace, bucket)) in paths.enumerate() {
        if arguments.limits.late(subject.start) {
            untold += 1;
            continue;
        }
        let end = &bucket.finals[0];
        let models = end.heap().models(1)?;
        let Some(model) = models.models.first() else { continue };
        let snapshot = end.heap().resolve(model, &end.cells())?;
        let input = snapshot.input(&setup.universe, setup.oracle.store, model, |_, _| InputValue::Null)?;
        if !Replay::new(&subject.task, &setup.universe, &input, arguments.array)?.follows(trace) {
            let message = format!("internal: the heap of path {} does not take the path", number + 1);
            return Err(Failure { status: Status::Unsupported, message }.into());
        }
        match report(arguments, subject, trace, &input, number + 1) {
            Err(error) if limits::is_bound(&error) => untold += 1,
            told => document.reports.push(told?),
        }
    }
    let left_out = left_out(&ends.completeness).into_iter();
    document.notes.extend(left_out.map(|what| format!("INCOMPLETE, left out: {what}")));
    document.reports.sort_by_key(|report| std::cmp::Reverse(report.severity));
    Ok((document, untold))
}

/// The one path of the concrete machine.
pub fn of_run(arguments: &Heap, subject: &Subject<'_>, trace: &Trace, input: &InputHeap) -> Result<Document> {
    let report = report(arguments, subject, trace, input, 1)?;
    Ok(Document { reports: vec![report], ..Document::default() })
}

fn report(
    arguments: &Heap,
    subject: &Subject<'_>,
    trace: &Trace,
    input: &InputHeap,
    number: usize,
) -> Result<Report> {
    let (path, end) = Telling::tell(arguments, subject, input)?;
    let program = &subject.task.program;
    let method = program.method_name(subject.task.method);
    let (rule, severity, at) = match (&end, trace.ending) {
        (End::Error(fault, at), _) => (describe::fault(*fault), Severity::Error, *at),
        (End::Cut(cut, at), _) => (describe::cut(*cut), Severity::Warning, *at),
        // The symbolic path was cut off at a bound that a run on one heap stays below.
        (_, Ending::Cut(cut)) => {
            (describe::cut(cut), Severity::Warning, program.method(subject.task.method).span)
        }
        _ => ("returns", Severity::Note, program.method(subject.task.method).span),
    };
    let passed = matches!((&end, trace.ending), (End::Value(_), Ending::Value));
    let title = match &end {
        End::Value(value) if passed => format!("{method} returns {}", shown(value)),
        _ => format!("{rule} in {method}"),
    };
    let mut text = format!("Path {number} of {method}: {title}. One heap that takes it:\n");
    text.push_str(&inputs::text(&subject.setup.universe, input));
    Ok(Report {
        rule: rule.replace(' ', "-"),
        title,
        text: vec![Segment::plain(text)],
        severity,
        tool: Tool { name: "parallax heap".into(), version: Some(env!("CARGO_PKG_VERSION").into()) },
        location: Some(place(&subject.file, at)),
        paths: vec![path],
        passed,
        ..Report::default()
    })
}

/// A condition that is being looked at.
struct Test {
    depth: usize,
    id: ExprId,
    /// For a loop, whether its condition rather than its body is being evaluated.
    testing: bool,
}

/// What is known of one activation.
#[derive(Default)]
struct Activation {
    line: usize,
    variables: BTreeMap<Name, String>,
    /// Calls whose receiver and arguments are being evaluated.
    calls: Vec<ExprId>,
}

/// Follows a run and tells it.
struct Telling<'s> {
    program: &'s Program,
    file: &'s SourceFile,
    path: PathBuilder,
    open: Vec<Activation>,
    tests: Vec<Test>,
    fields: Vec<Vec<String>>,
}

impl<'s> Telling<'s> {
    /// Runs the method on a heap. The precondition, which the heap satisfies, is no part of the story.
    fn tell(
        arguments: &Heap,
        subject: &'s Subject<'_>,
        input: &InputHeap,
    ) -> Result<(parallax_report::Path, EndOf<Task, Concrete>)> {
        let task = Task { rep_ok: None, ..subject.task.clone() };
        let memory = Concrete::new(subject.setup.universe.clone(), input, arguments.array);
        let mut telling = Telling {
            program: &subject.task.program,
            file: &subject.file,
            path: PathBuilder::new(subject.task.program.method_name(task.method)),
            open: Vec::new(),
            tests: Vec::new(),
            fields: contents(&memory),
        };
        let mut steps = task.start(memory)?;
        let mut watch = arguments.limits.watch(subject.start);
        let mut progress = Progress::default();
        loop {
            progress.steps += 1;
            watch(&progress)?;
            match steps.pop() {
                Some(Step::On(state)) => {
                    telling.sees(&state);
                    steps = task.step(state)?;
                }
                Some(Step::Done(state, end)) => {
                    telling.ends(&state, &end);
                    return Ok((telling.path.finish(), end));
                }
                None => return Err(Stop::Broken("a concrete run without an end".into()).into()),
            }
        }
    }

    fn line(&self, span: Span) -> usize {
        self.file.position(span.start).0
    }

    fn sees(&mut self, state: &State<Concrete>) {
        let depth = state.depth();
        // Returning: what a condition decided last belongs to the activation it is in.
        while self.open.len() > depth + 1 {
            self.close_tests(None);
            self.open.pop();
            self.path.leave();
        }
        if self.open.len() == depth {
            self.enters(state);
        }
        self.compares(state);
        if let Some(id) = state.next() {
            self.close_tests(Some(id));
            self.comes_to(id);
        }
    }

    /// A call, or the start.
    fn enters(&mut self, state: &State<Concrete>) {
        let Some(body) = state.next() else { return };
        let called = self.program.methods.iter().position(|method| method.body == body);
        let name = called.map_or(String::new(), |at| self.program.method_name(MethodId(at as u32)));
        if let Some(id) = self.open.last_mut().and_then(|around| around.calls.pop()) {
            let at = place(self.file, self.program.span(id));
            let step = parallax_report::Step::at(Role::Call, Some(at)).with_message(format!("calls {name}"));
            self.path.say(step);
        }
        self.path.enter(Frame::new(name, self.file.name.clone()));
        self.open.push(Activation::default());
        if let Some(at) = called {
            self.reaches(self.line(self.program.methods[at].span));
        }
    }

    /// What got another value in the last step, which was on the line that the path has come to.
    fn compares(&mut self, state: &State<Concrete>) {
        let mut changed = Vec::new();
        if let Some(activation) = self.open.last_mut() {
            let bound = state.environment();
            activation.variables.retain(|name, _| bound.iter().any(|(other, _)| other == name));
            // Names with a blank are the elaborator's own: the parts of one expression.
            let own = |name: Name| name == THIS || self.program.name(name).contains(' ');
            for (name, value) in bound.iter().filter(|(name, _)| !own(*name)) {
                let now = shown(value);
                if activation.variables.insert(*name, now.clone()).as_ref() != Some(&now) {
                    changed.push((self.program.name(*name).to_owned(), now));
                }
            }
        }
        let now = contents(&state.memory);
        for (at, fields) in now.iter().enumerate() {
            for (field, value) in fields.iter().enumerate() {
                // A new object comes with zeroes; that is nothing to tell.
                if self.fields.get(at).is_some_and(|before| before[field] != *value) {
                    changed.push((self.field(&state.memory, at, field), value.clone()));
                }
            }
        }
        self.fields = now;
        if !changed.is_empty() {
            self.gets(changed);
        }
    }

    fn field(&self, memory: &Concrete, at: usize, field: usize) -> String {
        let object = shown(&Value::Ref(Some(at)));
        match self.program.classes.get(memory.objects[at].class.0 as usize) {
            Some(class) if class.element.is_none() => {
                format!("{object}.{}", class.fields.get(field).map_or("?", |it| self.program.name(it.name)))
            }
            _ => format!("{object}[{field}]"),
        }
    }

    fn gets(&mut self, changed: Vec<(String, String)>) {
        let Some(line) = self.open.last().map(|activation| activation.line) else { return };
        let mut step = self.at(Role::Note, line);
        for (name, value) in changed {
            step = step.with_value(name, value);
        }
        self.says(step);
    }

    fn at(&self, role: Role, line: usize) -> parallax_report::Step {
        parallax_report::Step::new(role, self.file.name.clone(), u32::try_from(line).unwrap_or(0))
    }

    fn says(&mut self, step: parallax_report::Step) {
        if self.path.len() < STEPS || step.failing {
            self.path.say(step);
        }
    }

    fn reaches(&mut self, line: usize) {
        if let Some(activation) = self.open.last_mut().filter(|activation| activation.line != line) {
            activation.line = line;
            let step = self.at(Role::Note, line).in_passing();
            self.says(step);
        }
    }

    fn comes_to(&mut self, id: ExprId) {
        self.reaches(self.line(self.program.span(id)));
        let depth = self.open.len();
        match self.program.expr(id) {
            Expr::If(..) => self.tests.push(Test { depth, id, testing: true }),
            Expr::While(..) => self.tests.push(Test { depth, id, testing: true }),
            Expr::Call(..) => {
                if let Some(activation) = self.open.last_mut() {
                    activation.calls.push(id);
                }
            }
            _ => {}
        }
    }

    /// Tells which way conditions went, now that the run is at `next`, or back from the activation.
    fn close_tests(&mut self, next: Option<ExprId>) {
        while let Some(test) = self.tests.last_mut().filter(|test| test.depth == self.open.len()) {
            let span = self.program.span(test.id);
            let inside = next.is_some_and(|next| {
                let at = self.program.span(next);
                span.start <= at.start && at.end <= span.end
            });
            let (decided, done) = match *self.program.expr(test.id) {
                Expr::If(_, then, other, _) => {
                    let decided =
                        [(then, true), (other, false)].into_iter().find(|(id, _)| Some(*id) == next);
                    (decided.map(|(_, holds)| holds), decided.is_some() || !inside)
                }
                Expr::While(condition, body, _) => {
                    let decided = match (test.testing, next) {
                        (true, Some(next)) if next == body => Some(true),
                        (true, _) if !inside => Some(false),
                        _ => None,
                    };
                    test.testing = match next {
                        Some(next) if next == condition => true,
                        Some(next) if next == body => false,
                        _ => test.testing,
                    };
                    (decided, !inside)
                }
                _ => (None, true),
            };
            if let Some(taken) = decided {
                let line = self.line(span);
                let step = self.at(Role::Branch, line).with_taken(taken);
                // A condition over several lines is decided on its first.
                if let Some(activation) = self.open.last_mut() {
                    activation.line = line;
                }
                self.says(step);
            }
            if !done {
                return;
            }
            self.tests.pop();
        }
    }

    fn ends(&mut self, state: &State<Concrete>, end: &EndOf<Task, Concrete>) {
        let at = |span| Some(place(self.file, span));
        let last = match end {
            End::Error(fault, span) => parallax_report::Step::at(Role::Note, at(*span))
                .with_message(describe::fault(*fault))
                .failing(),
            End::Cut(cut, span) => parallax_report::Step::at(Role::Note, at(*span))
                .with_message(format!("cut off by the {}", describe::cut(*cut))),
            End::Value(value) => {
                self.close_tests(None);
                let line = self.open.last().map_or(0, |activation| activation.line);
                self.at(Role::Return, line).with_message(format!("returns {}", shown(value)))
            }
            End::Discarded => return,
        };
        // The last step of the machine may have changed something before it failed.
        if state.depth() + 1 == self.open.len() {
            self.compares(state);
        }
        self.path.say(last);
    }
}

/// Every field of every object, as text.
fn contents(memory: &Concrete) -> Vec<Vec<String>> {
    memory.objects.iter().map(|object| object.fields.iter().map(shown).collect()).collect()
}

/// A value; objects are named as in the heap that the report's text lists.
fn shown(value: &ConcreteValue) -> String {
    match value {
        Value::Ref(Some(0)) => "this".into(),
        Value::Ref(Some(at)) => format!("o{at}"),
        other => describe::concrete(other),
    }
}

fn place(file: &SourceFile, span: Span) -> Location {
    let number = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    let (line, column) = file.position(span.start);
    Location::line(file.name.clone(), number(line)).at_column(number(column))
}
