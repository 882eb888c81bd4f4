//! Class files as subjects: `--classpath`.

use super::tests::Written;
use super::words::{Run, Words};
use super::{Heap, emit, explored_by, java_paths, pair};
use anyhow::{Context, Result, bail};
use clap::Args;
use parallax_cli_base::exit::Status;
use parallax_cli_base::{coverage, report_file};
use parallax_engines::engine::Ends;
use parallax_engines::{Concrete, ConcreteValue, Inputs, Machine, Progress, Setup, Summary, Value};
use parallax_heap::Universe;
use parallax_java::calls::{Effort, SearchError};
use parallax_java::cases::{Cases, Wanted, cases};
use parallax_java::coverage::{Coverage, FileCoverage};
use parallax_java::floats::shown;
use parallax_java::junit;
use parallax_java::{
    Bounds, ClassPath, Cut, Event, InputClasses, Instances, Outcome, Place, Program, Task, Uncaught, dotted,
    installed,
};
use parallax_javalite::describe;
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
    /// Java: tests make their object through a constructor and as few public calls as lead to the path, where some do.
    #[arg(long, requires = "tests")]
    public_calls: bool,
    /// Java: folders of the sources, quoted by the pages of --report and --coverage.
    #[arg(long, value_name = "FOLDER", value_delimiter = ':', requires = "classpath")]
    source: Vec<PathBuf>,
}

/// The home of the JDK whose classes are used where none is named.
pub fn jdk() -> Option<PathBuf> {
    installed()
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
    let class = program.class(method.receiver);
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
        let internal = |name: &str| -> Rc<str> {
            let name = name.replace('.', "/");
            match name.strip_suffix("[]") {
                Some(element) => format!("[L{element};").into(),
                None => name.into(),
            }
        };
        instances.insert(internal(name), classes.split(',').map(internal).collect());
    }
    let inputs = program.inputs(&method, &instances, arguments.k.0)?;
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
    if let Some(other) = &arguments.equivalent {
        let second = second(&task, other)?;
        let name = program.method_name(&second.method);
        return pair::equivalence(arguments, &run, &second, name);
    }
    if let Some(other) = arguments.compare {
        return pair::comparison(arguments, &run, other);
    }
    match arguments.engine.engine() {
        None => bail!("`parallax java` runs a class on the concrete machine"),
        Some(engine) => explored_by(
            arguments,
            &run,
            engine,
            |ends, folder| tests(arguments, &run, ends, folder),
            |ends| files(arguments, &run, ends),
        ),
    }
}

/// The method that is compared with the task's: of the same object, with the same parameters.
fn second(task: &Task, name: &str) -> Result<Task> {
    let program = &task.program;
    let class = program.class(task.method.receiver);
    let method = match name.split('(').next().is_some_and(|path| path.contains('.')) {
        true => program.find(name)?,
        false => {
            let (short, descriptor) = name.split_at(name.find('(').unwrap_or(name.len()));
            program.find_in(&class, short, Some(descriptor).filter(|text| !text.is_empty()))?
        }
    };
    let alike = method.is_static() == task.method.is_static()
        && (method.is_static() || program.is_subclass(class.id, method.class))
        && method.signature.parameters == task.method.signature.parameters;
    if !alike {
        bail!("the two methods take different inputs");
    }
    Ok(Task { method, ..task.clone() })
}

/// Writes the report and the coverage that were asked for; gives how many paths one of them left out for want of time.
fn files(arguments: &Heap, run: &Run<'_, '_, Task>, ends: &Ends<Task, Summary<'_>>) -> Result<usize> {
    let mut left_out = 0;
    let folders = &arguments.java.source;
    if let Some(file) = &arguments.report {
        let (document, untold) = java_paths::document(arguments, run, ends)?;
        left_out = untold;
        report_file::save(file, document, folders.clone(), &run.words.method())?;
    }
    if let Some(file) = &arguments.coverage {
        let wanted = Wanted { heaps: 1, calls: None };
        let made = made(run, ends, wanted, arguments)?;
        left_out = left_out.max(made.missed);
        let mut coverage = Coverage::new(run.task);
        let universe = run.task.program.universe();
        for case in &made.cases {
            coverage.run(Concrete::new(universe.clone(), &case.input, run.setup.inputs.array))?;
        }
        let covered = coverage.files().into_iter().map(|(name, file)| {
            let FileCoverage { lines, branches, methods } = file;
            (name, coverage::FileCoverage { lines, branches, functions: methods })
        });
        coverage::save(file, &covered.collect(), folders)?;
    }
    Ok(left_out)
}

/// An input for each path, tried.
fn made(
    run: &Run<'_, '_, Task>,
    ends: &Ends<Task, Summary<'_>>,
    wanted: Wanted,
    arguments: &Heap,
) -> Result<Cases> {
    let watch = &mut arguments.limits.watch(run.start);
    let made = cases(run.task, run.setup, ends, wanted, &mut || watch(&Progress::default()));
    made.map_err(|error| match error {
        SearchError::Stop(stop) => stop.into(),
        other => other.into(),
    })
}

/// Writes the tests of every path as one JUnit class, each re-run on the concrete machine first.
fn tests(
    arguments: &Heap,
    run: &Run<'_, '_, Task>,
    ends: &Ends<Task, Summary<'_>>,
    folder: &Path,
) -> Result<Written> {
    if arguments.java.public_calls && arguments.all_shapes {
        bail!("--public-calls looks for one sequence for each path: leave out --all-shapes");
    }
    let wanted = Wanted {
        heaps: if arguments.all_shapes { arguments.count.max(2) } else { 1 },
        calls: arguments.java.public_calls.then(Effort::default),
    };
    let made = made(run, ends, wanted, arguments)?;
    let source = junit::source(run.task, &made.cases, arguments.java.failing);
    for name in &source.unbuildable {
        eprintln!("note: {name} is left out: no Java program can build its input");
    }
    for name in &made.field_by_field {
        eprintln!("note: {name} is built field by field: no sequence of public calls was found");
    }
    let path = folder.join(&source.path);
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent).with_context(|| format!("cannot make {}", parent.display()))?;
    }
    std::fs::write(&path, source.text).with_context(|| format!("cannot write {}", path.display()))?;
    let count = made.cases.len() - source.unbuildable.len();
    Ok(Written { count, missed: made.missed, folder: folder.display().to_string() })
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

    fn value(&self, value: &ConcreteValue) -> String {
        let result = self.task.method.signature.result.as_ref();
        let bits = |value: &ConcreteValue| match value {
            Value::Int(bits) => bits.to_u64(),
            _ => None,
        };
        let float = result.zip(bits(value)).and_then(|(ty, bits)| shown(ty, bits));
        float.unwrap_or_else(|| describe::concrete(value))
    }

    fn result(&self, text: String) -> String {
        // A constant is written as the number of its bits, which has a sign.
        let (Some(ty), Ok(bits)) = (&self.task.method.signature.result, text.parse::<i64>()) else {
            return text;
        };
        shown(ty, bits as u64).unwrap_or(text)
    }

    fn assumptions(&self) -> Vec<String> {
        self.inputs.assumptions.clone()
    }

    fn universe(&self, _: &Setup<'_>) -> Rc<Universe> {
        self.task.program.universe()
    }
}

/// Prints what a program printed.
pub fn print(text: &str) -> Result<()> {
    emit(text)
}
