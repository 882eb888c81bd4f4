//! Class files as subjects: `--classpath`.

use super::tests::Written;
use super::words::{Run, Words};
use super::{Heap, emit, explored_by, pair};
use crate::exit::{Failure, Status};
use anyhow::{Context, Result, bail};
use clap::Args;
use parallax_engines::engine::{Ending, Ends};
use parallax_engines::{Inputs, Machine, Replay, Setup, Summary};
use parallax_heap::InputValue;
use parallax_java::junit::{self, Case};
use parallax_java::{
    Bounds, ClassPath, Cut, Event, InputClasses, Instances, Outcome, Place, Program, Task, Uncaught, dotted,
    installed,
};
use parallax_term::Store;
use serde_json::{Value as Json, json};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Instant;

/// Where classes come from.
#[derive(Args)]
pub struct Classes {
    /// Java: folders, jars and class files, as `java -cp` takes them.
    #[arg(long, value_name = "PATH", value_delimiter = ':')]
    pub classpath: Vec<PathBuf>,
    /// Java: the home of the JDK whose classes are run, or `none`; the installed one when left out.
    #[arg(long, value_name = "HOME", requires = "classpath")]
    pub jdk: Option<PathBuf>,
}

/// What inputs of Java may be.
#[derive(Args)]
pub struct JavaInputs {
    /// Java: which classes stand for a type in inputs.
    #[arg(long, value_name = "TYPE=CLASS,...", requires = "classpath")]
    instances: Vec<String>,
    /// Java: no parameter is null.
    #[arg(long, requires = "classpath")]
    non_null: bool,
    /// Java: tests of paths that end in an exception do not expect it, and fail until the method is mended.
    #[arg(long, requires = "tests")]
    failing: bool,
}

impl Classes {
    /// The program on this class path.
    pub fn program(&self) -> Result<Rc<Program>> {
        let home = match &self.jdk {
            Some(home) if home.as_os_str() == "none" => None,
            Some(home) => Some(home.clone()),
            None => installed(),
        };
        let path = ClassPath::open(&self.classpath, home.as_deref())?;
        Ok(Rc::new(Program::new(path)?))
    }
}

/// Explores a method of a class.
pub fn explored(arguments: &Heap) -> Result<Status> {
    let program = arguments.classes.program()?;
    let Some(name) = &arguments.method else {
        bail!("--classpath needs --method, such as `ds.LinkedList.contains`");
    };
    let method = program.find(name)?;
    let class = program.class(method.class);
    let rep_ok = match &arguments.repok {
        None => None,
        Some(name) => {
            let short = name.rsplit('.').next().unwrap_or(name);
            let found = program.find_in(&class, short.trim_end_matches("()Z"), Some("()Z"))?;
            if found.is_static() || method.is_static() {
                bail!("a precondition is about an object: neither it nor the method may be static");
            }
            Some(found)
        }
    };
    let mut instances = Instances::new();
    for given in &arguments.java.instances {
        let Some((name, classes)) = given.split_once('=') else {
            bail!("expected TYPE=CLASS, found `{given}`")
        };
        let internal = |name: &str| -> Rc<str> { name.replace('.', "/").into() };
        instances.insert(internal(name), classes.split(',').map(internal).collect());
    }
    let inputs = program.inputs(&method, &instances)?;
    let bounds = Bounds { rounds: arguments.rounds, calls: arguments.calls, steps: 2_000_000 };
    let task = Task {
        program: program.clone(),
        method,
        rep_ok,
        merged: arguments.merge,
        bounds,
        assertions: true,
        symbolic: true,
        traced: true,
        non_null: arguments.java.non_null,
    };
    let store = Store::new();
    let limits = Inputs { k: arguments.k.0, array: arguments.array, root_alias: arguments.root_alias };
    let mut setup = Setup::new(&store, program.universe(), inputs.this, inputs.parameters, limits);
    for field in &arguments.acyclic {
        if !setup.forbid_cycles(field) {
            bail!("no class has a reference named {field}");
        }
    }
    program.adopt(&setup.universe);
    let start = Instant::now();
    setup.oracle.set_deadline(arguments.limits.deadline(start));
    let words = JavaWords { task: &task, inputs: &inputs };
    let run = Run { setup: &setup, task: &task, start, words: &words };
    if arguments.equivalent.is_some() {
        bail!("--equivalent compares methods of Javalite");
    }
    if let Some(other) = arguments.compare {
        return pair::comparison(arguments, &run, other);
    }
    if arguments.report.is_some() {
        bail!("--report tells paths of Javalite");
    }
    match arguments.engine.engine() {
        None => bail!("`parallax java` runs a class on the concrete machine"),
        Some(engine) => explored_by(
            arguments,
            &run,
            engine,
            |ends, folder| tests(arguments, &run, ends, folder),
            |_, _| Ok(()),
        ),
    }
}

/// Writes the tests of every path as one JUnit class, each re-run on the concrete machine first.
fn tests(
    arguments: &Heap,
    run: &Run<'_, '_, Task>,
    ends: &Ends<Task, Summary<'_>>,
    folder: &Path,
) -> Result<Written> {
    let limit = if arguments.all_shapes { arguments.count.max(1) } else { 1 };
    let store = run.setup.oracle.store;
    let program = &run.task.program;
    let mut made = Vec::new();
    let paths = ends.traces.iter().filter(|(trace, _)| trace.ending != Ending::Discarded);
    for (path, (trace, bucket)) in paths.enumerate() {
        // What a path that was cut off would have done, nobody knows.
        if matches!(trace.ending, Ending::Cut(_)) {
            continue;
        }
        let end = &bucket.finals[0];
        for (shape, model) in end.heap().models(limit)?.models.iter().enumerate() {
            let snapshot = end.heap().resolve(model, &end.cells())?;
            let universe = program.universe();
            let input = snapshot.input(&universe, store, model, |_, _| InputValue::Null)?;
            let replay = Replay::new(run.task, &universe, &input, run.setup.inputs.array)?;
            let strayed = |what: &str| Failure {
                status: Status::Unsupported,
                message: format!("internal: test {} of path {} {what}", shape + 1, path + 1),
            };
            if !replay.follows(trace) {
                return Err(strayed("does not take the path").into());
            }
            if !replay.ends_in(&snapshot, store, model) {
                return Err(strayed("does not end in the heap that was computed").into());
            }
            let title = match &trace.ending {
                Ending::Error(uncaught) => format!("path {}: throws {}", path + 1, uncaught.class),
                _ => format!("path {}: returns", path + 1),
            };
            let name = match arguments.all_shapes {
                true => format!("path{:03}_{:04}", path + 1, shape + 1),
                false => format!("path{:03}", path + 1),
            };
            made.push((name, title, input, replay));
        }
    }
    let cases: Vec<Case<'_>> = made
        .iter()
        .map(|(name, title, input, replay)| Case { name: name.clone(), title: title.clone(), input, replay })
        .collect();
    let source = junit::source(run.task, &cases, arguments.java.failing);
    for name in &source.unbuildable {
        eprintln!("note: {name} is left out: no Java program can build its input");
    }
    let path = folder.join(&source.path);
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent).with_context(|| format!("cannot make {}", parent.display()))?;
    }
    std::fs::write(&path, source.text).with_context(|| format!("cannot write {}", path.display()))?;
    Ok(Written { count: cases.len() - source.unbuildable.len(), folder: folder.display().to_string() })
}

/// Java's words.
struct JavaWords<'a> {
    task: &'a Task,
    inputs: &'a InputClasses,
}

impl Words<Task> for JavaWords<'_> {
    fn method(&self) -> String {
        self.task.program.method_name(&self.task.method)
    }

    fn event(&self, event: &Event) -> Option<String> {
        let what = match event.outcome {
            // What goes well is not worth a line.
            Outcome::NonNull(true)
            | Outcome::InBounds(true)
            | Outcome::Divisor(true)
            | Outcome::Length(true)
            | Outcome::Cast(true)
            | Outcome::Fits(true)
            | Outcome::Dispatch(..) => return None,
            Outcome::NonNull(false) => "null".to_owned(),
            Outcome::Equal(true) => "same".to_owned(),
            Outcome::Equal(false) => "different".to_owned(),
            Outcome::Branch(holds) => holds.to_string(),
            Outcome::Case(Some(key)) => format!("case {key}"),
            Outcome::Case(None) => "default".to_owned(),
            Outcome::Instance(true) => "an instance".to_owned(),
            Outcome::Instance(false) => "no instance".to_owned(),
            Outcome::InBounds(false) => "out of bounds".to_owned(),
            Outcome::Divisor(false) => "division by zero".to_owned(),
            Outcome::Length(false) => "negative length".to_owned(),
            Outcome::Cast(false) => "another class".to_owned(),
            Outcome::Fits(false) => "does not fit the array".to_owned(),
            Outcome::Caught(_) => "caught".to_owned(),
            Outcome::Count(count) => format!("{count} elements"),
        };
        Some(format!("{}: {what}", self.task.program.place(event.at)))
    }

    fn fault(&self, fault: &Uncaught) -> String {
        fault.class.clone()
    }

    fn cut(&self, cut: &Cut) -> String {
        match cut {
            Cut::Loop => "loop bound".into(),
            Cut::Calls => "call bound".into(),
            Cut::Array => "array bound".into(),
            Cut::Steps => "instruction bound".into(),
            Cut::Gap(what) => format!("gap ({what})"),
        }
    }

    fn place(&self, place: &Place) -> Json {
        let class = self.task.program.class(place.class);
        let method = class.methods.get(place.method as usize);
        let code = method.and_then(|method| method.code.as_ref());
        json!({
            "name": self.task.program.place(*place),
            "class": dotted(&class.name),
            "line": code.map(|code| code.line(place.at as usize)),
        })
    }

    fn precondition(&self) -> Option<String> {
        let rep_ok = self.task.rep_ok.as_ref().filter(|_| self.task.merges())?;
        Some(self.task.program.method_name(rep_ok))
    }

    fn is_void(&self) -> bool {
        self.task.method.signature.result.is_none()
    }

    fn assumptions(&self) -> Vec<String> {
        self.inputs.assumptions.clone()
    }

    fn left_out(&self) -> Vec<String> {
        self.inputs.gaps.clone()
    }
}

/// Prints what a program printed.
pub fn print(text: &str) -> Result<()> {
    emit(text)
}
