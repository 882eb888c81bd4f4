//! Java at the command line: class files in, JUnit tests out, run on a real JVM.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn parallax(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_parallax")).args(arguments).output().expect("parallax")
}

/// A folder of this test's own, empty.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("java").join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}

fn corpus(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../corpus/java").join(name)
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("a file").path();
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|ending| ending == "java") {
            found.push(path);
        }
    }
    found
}

fn javac(folder: &Path, classpath: &str, sources: &[PathBuf]) {
    let mut command = Command::new("javac");
    command
        .args(["-g", "-nowarn", "-XDignore.symbol.file", "-cp", classpath, "-d"])
        .arg(folder)
        .args(sources);
    let output = command.output().expect("javac, of the package default-jdk-headless");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Explores methods, writes their tests, compiles them and runs them on the JVM. Gives what the runner printed.
fn on_jvm(name: &str, methods: &[(&str, &[&str])]) -> (bool, String) {
    let (classes, tests) = (folder(&format!("{name}-classes")), folder(&format!("{name}-tests")));
    let path = classes.to_str().unwrap();
    javac(&classes, path, &sources(&corpus("ds")));
    javac(&classes, path, &sources(&corpus("junit")));
    for (method, more) in methods {
        let folder = tests.to_str().unwrap();
        let mut arguments = vec!["heap", "--classpath", path, "--method", method, "--tests", folder];
        arguments.extend(*more);
        let output = parallax(&arguments);
        let status = output.status.code();
        assert!(matches!(status, Some(0 | 1 | 4)), "{method}: {}", String::from_utf8_lossy(&output.stderr));
    }
    let written = sources(&tests);
    assert_eq!(written.len(), methods.len());
    javac(&classes, path, &written);
    let names = written.iter().map(|source| {
        let relative = source.strip_prefix(&tests).unwrap().with_extension("");
        relative.to_str().unwrap().replace('/', ".")
    });
    let output = Command::new("java").args(["-cp", path, "RunTests"]).args(names).output().expect("java");
    (output.status.success(), String::from_utf8_lossy(&output.stdout).into_owned())
}

/// With the few classes of JUnit that the corpus has; JUnit itself runs the tests of crates/heaps/java.
#[test]
fn every_generated_test_passes_on_the_jvm() {
    let rep_ok: &[&str] = &["--repok", "repOK", "--k", "2"];
    let (passed, said) = on_jvm(
        "all",
        &[
            ("ds.SortedList.insert", rep_ok),
            ("ds.Doubly.addLast", &["--repok", "repOK", "--k", "2", "--public-calls"]),
            ("ds.IntList.contains(Ljava/lang/Object;)Z", &["--k", "2", "--loop", "4"]),
            ("Shapes.twice", &[]),
            ("Shapes.name", &[]),
            ("Shapes.ratio", &["--all-shapes"]),
            ("java.util.ArrayDeque.addFirst", &["--k", "2", "--loop", "4"]),
        ],
    );
    assert!(passed, "{said}");
    let count: usize = said.split(" passed").next().and_then(|text| text.trim().parse().ok()).unwrap();
    assert!(count > 30, "{said}");
}

/// What is written as Cobertura's is what its DTD allows, by the JDK's own parser; and that parser does refuse what is not.
#[test]
fn cobertura_is_as_its_dtd_says() {
    let classes = folder("cobertura");
    let path = classes.to_str().unwrap();
    javac(&classes, path, &sources(&corpus("ds")));
    javac(&classes, path, &[corpus("cobertura/Validate.java")]);
    let validate = |file: &Path| {
        let mut java = Command::new("java");
        java.args(["-cp", path, "Validate"]).arg(corpus("cobertura/coverage-04.dtd")).arg(file);
        java.output().expect("java, of the package default-jdk-headless")
    };
    let written = |name: &str, arguments: &[&str]| {
        let file = classes.join(name);
        let output = parallax(&[arguments, &["--coverage", file.to_str().unwrap()]].concat());
        assert!(file.exists(), "{}", String::from_utf8_lossy(&output.stderr));
        file
    };
    let program = corpus("../c/find/null_true.c");
    let files = [
        written(
            "broken.xml",
            &["heap", "--classpath", path, "--k", "2", "--method", "SortedList.insertBroken"],
        ),
        written("shapes.xml", &["heap", "--classpath", path, "--k", "1", "--method", "Shapes.name"]),
        written("c.xml", &["explore", program.to_str().unwrap()]),
    ];
    for file in &files {
        let output = validate(file);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let text = std::fs::read_to_string(&files[0]).unwrap();
    let changes =
        [(" hits=", " hit="), ("<methods>", "<methods><line/>"), ("</packages>", "</packages><sources/>")];
    for (right, wrong) in changes {
        let changed = text.replace(right, wrong);
        assert_ne!(changed, text);
        let file = classes.join("wrong.xml");
        std::fs::write(&file, changed).unwrap();
        assert!(!validate(&file).status.success(), "{wrong}");
    }
}

/// Coverage in three forms, a report in two, and two methods compared.
#[test]
fn what_else_is_written() {
    let classes = folder("written");
    let path = classes.to_str().unwrap();
    javac(&classes, path, &sources(&corpus("ds")));
    let source = corpus("ds");
    let subject =
        ["heap", "--classpath", path, "--source", source.to_str().unwrap(), "--repok", "repOK", "--k", "2"];
    let written = |flag: &str, file: &str, method: &str, status: i32| {
        let file = classes.join(file);
        let mut arguments = subject.to_vec();
        arguments.extend(["--method", method, flag, file.to_str().unwrap()]);
        let output = parallax(&arguments);
        assert_eq!(output.status.code(), Some(status), "{}", String::from_utf8_lossy(&output.stderr));
        std::fs::read_to_string(file).unwrap()
    };
    let xml = written("--coverage", "coverage.xml", "SortedList.insertBroken", 1);
    assert!(xml.contains("<class name=\"ds.SortedList\" filename=\"ds/SortedList.java\""), "{xml}");
    // `insert` was not run, and the broken method was, both ways out of its last branch.
    assert!(xml.contains("<line number=\"34\" hits=\"0\" branch=\"false\"/>"), "{xml}");
    assert!(
        xml.contains("<line number=\"51\" hits=\"6\" branch=\"true\" condition-coverage=\"100% (2/2)\">"),
        "{xml}"
    );
    let page = written("--coverage", "coverage.html", "SortedList.insertBroken", 1);
    assert!(page.contains("Forgets that the key may be smaller than all others"), "{page}");
    let lcov = written("--coverage", "coverage.info", "SortedList.insertBroken", 1);
    assert!(lcov.contains("ds/SortedList.java\n") && lcov.contains("SortedList.insertBroken"), "{lcov}");
    let report = written("--report", "paths.json", "SortedList.insertBroken", 1);
    assert!(report.contains("java.lang.AssertionError in ds.SortedList.insertBroken"), "{report}");
    assert!(report.contains("calls ds.SortedList.repOK") && report.contains("\"failing\": true"), "{report}");
    let page = written("--report", "paths.html", "SortedList.insertBroken", 1);
    assert!(page.contains("Forgets that the key may be smaller than all others"));
    let equivalent = |one: &str, two: &str| {
        let mut arguments = subject.to_vec();
        arguments.extend(["--method", one, "--equivalent", two]);
        let output = parallax(&arguments);
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let (status, said) = equivalent("SortedList.insert", "insertBroken");
    assert!(
        status == Some(1) && said.contains("ds.SortedList.insertBroken: java.lang.AssertionError"),
        "{said}"
    );
    let (status, said) = equivalent("SearchTree.delete(I)V", "SearchTree.delete(I)V");
    assert!(matches!(status, Some(0 | 4)) && said.contains("no difference"), "{said}");
    assert_eq!(equivalent("SortedList.insert", "repOK").0, Some(2));
}

#[test]
fn a_bug_is_a_failing_test() {
    let (passed, said) =
        on_jvm("bug", &[("SortedList.insertBroken", &["--repok", "repOK", "--k", "1", "--failing"])]);
    assert!(!passed && said.contains("java.lang.AssertionError"), "{said}");
}

#[test]
fn programs_run() {
    let classes = folder("small");
    let path = classes.to_str().unwrap();
    javac(&classes, path, &[corpus("small/Small.java")]);
    let output = parallax(&["java", "--classpath", path, "Small"]);
    let jvm = Command::new("java").args(["-cp", path, "Small"]).output().expect("java");
    assert_eq!(String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&jvm.stdout));
    assert_eq!(output.status.code(), Some(0));
    let output = parallax(&["java", "--classpath", path, "--jdk", "none", "Small"]);
    assert_eq!(String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&jvm.stdout));
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn wrong_use_is_told() {
    let classes = folder("use");
    let path = classes.to_str().unwrap();
    javac(&classes, path, &sources(&corpus("ds")));
    for (arguments, said) in [
        (&["heap", "--classpath", path][..], "--method"),
        (&["heap", "--classpath", path, "--method", "Nothing.here"], "Nothing was not found"),
        (&["heap", "--classpath", path, "--method", "SortedList.nothing"], "has no method nothing"),
        (&["heap", "--classpath", path, "--method", "SearchTree.delete"], "several methods"),
        (&["heap", "--classpath", "/nowhere", "--method", "A.b"], "/nowhere"),
    ] {
        let output = parallax(arguments);
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {error}");
        assert!(error.contains(said), "{arguments:?}: {error}");
    }
}
