//! The models of `java.lang` and `java.util` that stand in for a JDK: programs do with them what they do on the JVM.

use crate::common;

use parallax_engines::Inputs;
use parallax_engines::engine::{self, Ending};
use parallax_java::run::{Ending as Ended, run};
use parallax_java::{Bounds, installed};
use parallax_term::Store;
use std::path::Path;
use std::process::Command;

const BOUNDS: Bounds = Bounds { rounds: 0, calls: 3000, steps: 100_000_000 };

/// A program that uses what is modelled prints the same without a JDK.
#[test]
fn without_a_jdk() {
    let classes = common::compiled(&[common::corpus("run").join("Models.java")]);
    let program = common::program_with(classes.path(), None);
    let ran = run(&program, "Models", false, BOUNDS, &mut |_| Ok(())).unwrap();
    let (output, _) = common::on_jvm(classes.path(), "Models");
    for (number, (ours, theirs)) in ran.output.lines().zip(output.lines()).enumerate() {
        assert_eq!(ours, theirs, "line {} ({:?})", number + 1, ran.ending);
    }
    assert_eq!(ran.ending, Ended::Returned);
    assert_eq!(ran.output.lines().count(), output.lines().count());
}

/// What is not modelled is told by name.
#[test]
fn what_is_missing_is_said() {
    let classes = common::compiled(&[common::corpus("run").join("Objects.java")]);
    let program = common::program_with(classes.path(), None);
    let ran = run(&program, "Objects", false, BOUNDS, &mut |_| Ok(())).unwrap();
    let Ended::Cut(cut, _) = ran.ending else { panic!("{:?}", ran.ending) };
    let said = format!("{cut:?}");
    assert!(said.contains("java.util.") && said.contains("not modelled: no JDK is used"), "{said}");
}

/// Paths and how they end, with and without a JDK.
#[test]
fn the_same_paths() {
    let classes = common::compiled(&common::sources(&common::corpus("ds")));
    let endings = |method: &str, jdk: Option<&Path>| -> Vec<String> {
        let program = common::program_with(classes.path(), jdk);
        let task = common::task(&program, method, Some("repOK"));
        let store = Store::new();
        let setup = common::setup(&store, &task, Inputs { k: Some(2), array: 2, root_alias: true });
        let ends = engine::summary(&setup, &task, None, &mut |_| Ok(()));
        ends.outcome.clone().unwrap();
        let mut endings: Vec<String> = ends
            .traces
            .keys()
            .filter(|trace| trace.ending != Ending::Discarded)
            .map(|trace| format!("{:?}", trace.ending))
            .collect();
        endings.sort();
        endings
    };
    for method in [
        "SortedList.insert",
        "Doubly.removeFirst",
        "SortedPairs.put",
        "BoundedStack.pop",
        "RingQueue.enqueue",
        "SearchTree.delete(I)V",
        "Avl.insertBroken",
        "RedBlackTree.insert",
        "BinomialHeap.insertBroken",
        "HashTable.put",
    ] {
        let (with, without) = (endings(method, installed().as_deref()), endings(method, None));
        assert!(!with.is_empty());
        assert_eq!(with, without, "{method}");
    }
}

/// The jar that comes along is what its sources compile to: run scripts/java-library after a change.
#[test]
fn the_jar_is_fresh() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("library");
    let sources = common::sources(&folder);
    let out = tempfile::tempdir().unwrap();
    let output = Command::new("javac")
        .args(["-g:none", "-nowarn", "-XDstringConcat=inline", "--patch-module"])
        .arg(format!("java.base={}", folder.display()))
        .arg("-d")
        .arg(out.path())
        .args(&sources)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let (jar, fresh) = (common::classes_of(&folder.join("library.jar")), common::classes_of(out.path()));
    let names = |classes: &[(String, Vec<u8>)]| -> Vec<String> {
        classes.iter().map(|(name, _)| name.clone()).collect()
    };
    assert_eq!(names(&jar), names(&fresh));
    for ((name, bytes), (_, compiled)) in jar.iter().zip(&fresh) {
        // Another javac writes other files.
        if bytes[..8] == compiled[..8] {
            assert!(bytes == compiled, "{name} is not what its source compiles to");
        }
    }
}
