//! What the test files share: compiling Java, and programs of the results.
#![allow(dead_code, reason = "each test file uses its own part")]

pub mod generate;

use parallax_engines::{Inputs, Setup};
use parallax_java::{Bounds, ClassPath, Instances, Program, Task, installed};
use parallax_term::Store;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::rc::Rc;

/// A folder of the corpus.
pub fn corpus(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../corpus/java").join(name)
}

/// Every Java file below a folder.
pub fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut todo = vec![folder.to_owned()];
    while let Some(folder) = todo.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder of sources") {
            let path = entry.expect("a file").path();
            if path.is_dir() {
                todo.push(path);
            } else if path.extension().is_some_and(|ending| ending == "java") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// Compiles sources into a new folder.
pub fn compiled(sources: &[PathBuf]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let output = Command::new("javac")
        .args(["-g", "-nowarn", "-d"])
        .arg(folder.path())
        .args(sources)
        .output()
        .expect("javac, of the package default-jdk-headless");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    folder
}

/// What the JVM prints, and whether the program returned.
pub fn on_jvm(path: &Path, class: &str) -> (String, bool) {
    let output = Command::new("java").arg("-cp").arg(path).arg(class).output().expect("java");
    (String::from_utf8_lossy(&output.stdout).into_owned(), output.status.success())
}

/// The program on a class path, with the installed JDK behind it.
pub fn program(path: &Path) -> Rc<Program> {
    program_with(path, installed().as_deref())
}

/// The same with another JDK, or with none.
pub fn program_with(path: &Path, jdk: Option<&Path>) -> Rc<Program> {
    let path = ClassPath::open(&[path.to_owned()], jdk).expect("a class path");
    Rc::new(Program::new(path).expect("java.lang.Object"))
}

/// A method to explore, with its precondition if it is named.
pub fn task(program: &Rc<Program>, method: &str, rep_ok: Option<&str>) -> Task {
    let method = program.find(method).expect("the method");
    let class = program.class(method.receiver);
    let rep_ok = rep_ok.map(|name| program.find_in(&class, name, Some("()Z")).expect("the precondition"));
    Task {
        program: program.clone(),
        method,
        rep_ok,
        merged: false,
        bounds: Bounds { rounds: 20, calls: 64, steps: 1_000_000 },
        assertions: true,
        symbolic: true,
        traced: true,
        non_null: false,
    }
}

/// The static methods that a class declares, as they are written in its source.
pub fn static_methods(path: &Path, class: &str) -> Vec<String> {
    let program = program(path);
    let class = program.class(program.load(class).expect("the class"));
    let declared = class.methods.iter().filter(|method| method.is_static() && !method.name.starts_with('<'));
    let named = declared.filter(|method| !method.name.contains('$'));
    named.map(|method| format!("{}.{}", class.simple_name, method.name)).collect()
}

/// What its inputs look like.
pub fn setup<'s>(store: &'s Store, task: &Task, limits: Inputs) -> Setup<'s> {
    setup_with(store, task, limits, &Instances::new())
}

/// The same, where some classes stand for a type.
pub fn setup_with<'s>(store: &'s Store, task: &Task, limits: Inputs, instances: &Instances) -> Setup<'s> {
    let inputs = task.program.inputs(&task.method, instances, limits.k).expect("inputs");
    Setup::new(store, task.program.universe(), inputs.this, inputs.parameters, limits)
}

/// JUnit 5 with its console, as Debian's package junit5 has it.
pub fn junit() -> String {
    let jars = [
        "junit-jupiter-api",
        "junit-jupiter-engine",
        "junit-platform-commons",
        "junit-platform-engine",
        "junit-platform-launcher",
        "junit-platform-console",
        "junit-platform-reporting",
        "opentest4j",
        "opentest4j-reporting-events",
        "opentest4j-reporting-schema",
        "apiguardian-api",
        "picocli",
    ];
    jars.map(|jar| format!("/usr/share/java/{jar}.jar")).join(":")
}

/// Compiles generated tests into the folder of the classes they test and has JUnit run them: how many passed and failed,
/// and what it printed.
pub fn run_junit(classes: &Path, tests: &[parallax_java::junit::Source]) -> (usize, usize, String) {
    let folder = tempfile::tempdir().expect("a folder");
    let mut sources = Vec::new();
    let path = format!("{}:{}", classes.display(), junit());
    let mut arguments = vec!["--disable-banner".to_owned(), "--details=summary".to_owned()];
    for test in tests {
        let file = folder.path().join(&test.path);
        std::fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
        std::fs::write(&file, &test.text).expect("a file");
        sources.push(file);
        arguments.push("-c".into());
        arguments.push(test.path.trim_end_matches(".java").replace('/', "."));
    }
    let output = Command::new("javac")
        .args(["-nowarn", "-XDignore.symbol.file", "-cp", &path, "-d"])
        .arg(classes)
        .args(&sources)
        .output()
        .expect("javac");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let output = Command::new("java")
        .args(["-cp", &path, "org.junit.platform.console.ConsoleLauncher"])
        .args(arguments)
        .output()
        .expect("java");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let count = |what: &str| {
        let line = said.lines().find(|line| line.contains(what));
        let number = line.and_then(|line| line.trim_start_matches('[').split_whitespace().next());
        number.and_then(|number| number.parse().ok())
    };
    match (count("tests successful"), count("tests failed")) {
        (Some(passed), Some(failed)) => (passed, failed, said),
        _ => panic!("JUnit: {said}{}", String::from_utf8_lossy(&output.stderr)),
    }
}

/// Every class of a folder or a jar, by name.
pub fn classes_of(path: &Path) -> Vec<(String, Vec<u8>)> {
    let path = ClassPath::open(&[path.to_owned()], None).expect("a class path");
    let names = path.names().expect("names");
    let bytes = |name: &str| path.own(name).expect("a class").expect("a class");
    names.iter().map(|name| (name.clone(), bytes(name))).collect()
}
