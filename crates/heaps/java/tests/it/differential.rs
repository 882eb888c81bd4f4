//! The concrete machine against the JVM: programs of the corpus, and generated ones.

use crate::common;

use parallax_java::Bounds;
use parallax_java::run::{Ending, run};

const BOUNDS: Bounds = Bounds { rounds: 0, calls: 3000, steps: 100_000_000 };

fn agree(path: &std::path::Path, class: &str) {
    agree_with(path, class, &common::program(path));
}

fn agree_with(path: &std::path::Path, class: &str, program: &std::rc::Rc<parallax_java::Program>) {
    let ran = run(program, class, false, BOUNDS, &mut |_| Ok(())).unwrap();
    let (output, returned) = common::on_jvm(path, class);
    for (number, (ours, theirs)) in ran.output.lines().zip(output.lines()).enumerate() {
        assert_eq!(ours, theirs, "{class}, line {} of the output ({:?})", number + 1, ran.ending);
    }
    assert_eq!(ran.output, output, "{class} ends with {:?}", ran.ending);
    match ran.ending {
        Ending::Returned => assert!(returned, "{class} throws on the JVM"),
        Ending::Threw(_) => assert!(!returned, "{class} returns on the JVM"),
        Ending::Cut(cut, place) => panic!("{class}: {cut:?} at {place}"),
    }
}

#[test]
fn corpus() {
    let sources = common::sources(&common::corpus("run"));
    let classes = common::compiled(&sources);
    for source in sources {
        agree(classes.path(), source.file_stem().and_then(|name| name.to_str()).unwrap());
    }
}

/// Generated programs: arithmetic of every width, arrays, objects, loops, switches, exceptions, calls, lambdas.
#[test]
fn generated() {
    let count = std::env::var("JAVA_FUZZ").ok().and_then(|count| count.parse().ok()).unwrap_or(40);
    let folder = tempfile::tempdir().unwrap();
    let mut names = Vec::new();
    let mut sources = Vec::new();
    for seed in 0..count {
        let name = format!("Random{seed}");
        let path = folder.path().join(format!("{name}.java"));
        std::fs::write(&path, common::generate::program(&name, seed)).unwrap();
        sources.push(path);
        names.push(name);
    }
    // One class runs them all, since a JVM takes its time to start.
    let calls: String = names
        .iter()
        .map(|name| format!("        System.out.println(\"{name}\");\n        {name}.main(null);\n"))
        .collect();
    let all = folder.path().join("All.java");
    let text =
        format!("public class All {{\n    public static void main(String[] args) {{\n{calls}    }}\n}}\n");
    std::fs::write(&all, text).unwrap();
    sources.push(all);
    let classes = common::compiled(&sources);
    agree(classes.path(), "All");
    // And without a JDK: the models do what the JDK does.
    agree_with(classes.path(), "All", &common::program_with(classes.path(), None));
}
