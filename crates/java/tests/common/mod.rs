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
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/java").join(name)
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

/// The program on a class path.
pub fn program(path: &Path) -> Rc<Program> {
    let path = ClassPath::open(&[path.to_owned()], installed().as_deref()).expect("a class path");
    Rc::new(Program::new(path).expect("java.lang.Object"))
}

/// A method to explore, with its precondition if it is named.
pub fn task(program: &Rc<Program>, method: &str, rep_ok: Option<&str>) -> Task {
    let method = program.find(method).expect("the method");
    let class = program.class(method.class);
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

/// What its inputs look like.
pub fn setup<'s>(store: &'s Store, task: &Task, limits: Inputs) -> Setup<'s> {
    let inputs = task.program.inputs(&task.method, &Instances::new()).expect("inputs");
    Setup::new(store, task.program.universe(), inputs.this, inputs.parameters, limits)
}
