//! Bad input: whatever the bytes of a class file are, there is an answer.

use crate::common;

use common::generate::Random;
use parallax_java::run::{Ending, RunError, run};
use parallax_java::{Bounds, ClassPath, Cut, Program, installed, read};
use std::rc::Rc;

const BOUNDS: Bounds = Bounds { rounds: 0, calls: 200, steps: 20_000 };

fn small() -> Vec<(String, Vec<u8>)> {
    let classes = common::compiled(&common::sources(&common::corpus("small")));
    let mut found = Vec::new();
    for entry in std::fs::read_dir(classes.path()).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        found.push((name, std::fs::read(&path).unwrap()));
    }
    found.sort();
    found
}

/// Runs `main` of a class whose file holds these bytes.
fn attempt(name: &str, bytes: &[u8]) -> Option<Ending> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join(format!("{name}.class")), bytes).unwrap();
    let path = ClassPath::open(&[folder.path().to_owned()], installed().as_deref()).unwrap();
    let program = Rc::new(Program::new(path).unwrap());
    match run(&program, name, false, BOUNDS, &mut |_| Ok(())) {
        Ok(ran) => Some(ran.ending),
        Err(RunError::Stop(stop)) => panic!("{stop}"),
        Err(_) => None,
    }
}

/// Bytes changed, cut off, doubled: an error, a gap or a run, and never a panic.
#[test]
fn mutated_class_files() {
    let rounds: u64 = std::env::var("CLASS_FUZZ").ok().and_then(|count| count.parse().ok()).unwrap_or(150);
    let classes = small();
    let (mut rejected, mut ran, mut gaps) = (0, 0, 0);
    for seed in 0..rounds {
        let mut random = Random::new(seed + 77);
        let (name, bytes) = &classes[random.below(classes.len())];
        let mut bytes = bytes.clone();
        for _ in 0..1 + random.below(4) {
            let at = random.below(bytes.len());
            match random.below(5) {
                0 => bytes.truncate(at.max(1)),
                1 => bytes[at] = random.next() as u8,
                2 => bytes[at] = bytes[at].wrapping_add(1),
                3 => bytes[at] ^= 1 << random.below(8),
                _ => {
                    let from = random.below(bytes.len());
                    bytes[at] = bytes[from];
                }
            }
        }
        match attempt(name, &bytes) {
            None => rejected += 1,
            Some(Ending::Cut(Cut::Gap(_), _)) => gaps += 1,
            Some(_) => ran += 1,
        }
    }
    println!("{rejected} rejected, {gaps} gaps, {ran} ran");
    assert!(rejected > 0 && ran > 0);
}

#[test]
fn what_is_wrong_is_said() {
    let (_, bytes) = small().into_iter().find(|(name, _)| name == "Small").unwrap();
    let mut future = bytes.clone();
    future[6..8].copy_from_slice(&200u16.to_be_bytes());
    let error = read::read(&future).unwrap_err().to_string();
    assert!(error.contains("version 200") && error.contains("newer"), "{error}");
    for cut in 0..bytes.len() {
        assert!(read::read(&bytes[..cut]).is_err(), "cut off after {cut} bytes");
    }
}

/// Missing classes, native methods, initialisers that never end.
#[test]
fn gaps_are_told() {
    let classes = common::compiled(&common::sources(&common::corpus("small")));
    std::fs::remove_file(classes.path().join("Small$Helper.class")).unwrap();
    let program = common::program(classes.path());
    let gap = |class: &str| match run(&program, class, false, BOUNDS, &mut |_| Ok(())).unwrap().ending {
        Ending::Cut(cut, _) => format!("{cut:?}"),
        other => panic!("{class}: {other:?}"),
    };
    assert!(gap("Small").contains("Small$Helper was not found"), "{}", gap("Small"));
    assert!(gap("Native").contains("native Native.away"), "{}", gap("Native"));
    assert_eq!(gap("Endless"), "Steps");
    assert!(gap("Recursive").contains("Calls"), "{}", gap("Recursive"));
}

/// The JDK's own code would find null where a JVM has threads, properties and streams: that is no exception of the
/// program's, and no answer either.
#[test]
fn what_leads_outside_is_a_gap() {
    let classes = common::compiled(&common::sources(&common::corpus("outside")));
    let program = common::program(classes.path());
    let mut names: Vec<String> = std::fs::read_dir(classes.path())
        .unwrap()
        .filter_map(|entry| Some(entry.unwrap().path().file_stem()?.to_str()?.to_owned()))
        .filter(|name| name.contains('$'))
        .collect();
    names.sort();
    assert!(names.len() >= 9, "{names:?}");
    for name in names {
        let ran =
            run(&program, &name, false, Bounds { steps: 1_000_000, ..BOUNDS }, &mut |_| Ok(())).unwrap();
        match ran.ending {
            Ending::Cut(Cut::Gap(what), _) if what.starts_with("not modelled") => {}
            other => panic!("{name}: {other:?} after {:?}", ran.output),
        }
        assert_eq!(ran.output, "", "{name}");
    }
}
