//! Mutated modules, as bitcode and as text: each is refused in words or runs; nothing crashes. `make fuzz WHAT=bitcode` does
//! more rounds.

use crate::random_functions;

use parallax_cexplore::run::{Closed, Outcome, Settings, run};
use parallax_cexplore::{Sources, program};
use parallax_cread::Error;
use random_functions::Random;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../corpus/c/modules").join(name)
}

/// A few small changes, a piece moved, or the end cut off.
fn mutated(random: &mut Random, original: &[u8], text: bool) -> Vec<u8> {
    let mut bytes = original.to_vec();
    if random.below(5) == 0 {
        bytes.truncate(random.below(bytes.len()));
        return bytes;
    }
    for _ in 0..1 << random.below(5) {
        let at = random.below(bytes.len());
        if text {
            const LIKELY: &[u8] = b"0123456789abcdefi!%@*,(){}[]\" \n";
            bytes[at] = LIKELY[random.below(LIKELY.len())];
        } else {
            bytes[at] ^= 1 << random.below(8);
        }
    }
    if random.below(4) == 0 {
        let len = 1 + random.below(64);
        let (from, to) = (random.below(bytes.len() - len), random.below(bytes.len() - len));
        bytes.copy_within(from..from + len, to);
    }
    bytes
}

/// What came of a module: the kind of refusal, or how the program ended.
fn outcome(file: &Path) -> &'static str {
    let loaded = program::load(&Sources { files: vec![file.to_path_buf()], ..Sources::default() });
    let program = match loaded {
        Ok(program) => program,
        Err(Error::BadModule { message, .. }) => {
            assert!(!message.trim().is_empty(), "a refusal without a word");
            return if message.contains("crashes") { "crashes LLVM" } else { "refused" };
        }
        Err(Error::Link { .. }) => return "does not link",
        Err(Error::Unsupported(_)) => return "unsupported target",
        Err(error) => panic!("{error}"),
    };
    let mut world = Closed::default();
    let settings = Settings { steps: Some(20_000), ..Settings::default() };
    match run(&program.module, &[b"x".to_vec()], &mut world, &settings, &mut |_| {}).outcome {
        Outcome::Exit(_) => "runs",
        Outcome::Mistake(_) | Outcome::Assumption => "makes a mistake",
        Outcome::StepLimit => "does not end",
        Outcome::Unsupported(..) => "does what is not supported",
    }
}

#[test]
fn mutated_modules_are_refused_or_run() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let rounds = number("FUZZ_ROUNDS").unwrap_or(40);
    let mut random = Random::new(number("FUZZ_SEED").unwrap_or(1));
    let folder = std::env::temp_dir().join(format!("parallax-hostile-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let bitcode = std::fs::read(fixture("llvm19.bc")).expect("the fixture");
    let text = folder.join("original.ll");
    let shown = std::process::Command::new("opt-19")
        .args(["-S", "-passes=verify", "-o"])
        .args([&text, &fixture("llvm19.bc")])
        .status()
        .expect("opt-19 runs");
    assert!(shown.success());
    let text = std::fs::read(&text).expect("the module as text");
    let mut counts: BTreeMap<(&str, &str), u64> = BTreeMap::new();
    for round in 0..rounds {
        let (extension, original) = if round % 3 == 0 { ("ll", &text) } else { ("bc", &bitcode) };
        let file = folder.join(format!("mutated.{extension}"));
        std::fs::write(&file, mutated(&mut random, original, extension == "ll")).expect("a file");
        *counts.entry((extension, outcome(&file))).or_default() += 1;
    }
    std::fs::remove_dir_all(&folder).expect("the folder goes");
    for ((extension, what), count) in &counts {
        println!("{count:6} {extension} {what}");
    }
    assert_eq!(counts.values().sum::<u64>(), rounds);
    assert!(counts.contains_key(&("bc", "refused")), "mutations do something: {counts:?}");
}

#[test]
fn older_modules_run_and_newer_ones_are_refused_by_name() {
    for name in ["llvm14.bc", "llvm16.bc", "llvm19.bc"] {
        assert_eq!(outcome(&fixture(name)), "runs", "{name}");
    }
    // The identification of the format's epoch, one further than LLVM 19 knows.
    let mut newer = std::fs::read(fixture("llvm19.bc")).expect("the fixture");
    newer[227 / 8] ^= 1 << (227 % 8);
    let file = std::env::temp_dir().join(format!("parallax-newer-{}.bc", std::process::id()));
    std::fs::write(&file, newer).expect("a file");
    let refused = program::load(&Sources { files: vec![file.clone()], ..Sources::default() });
    std::fs::remove_file(&file).expect("the file goes");
    match refused {
        Err(error @ Error::BadModule { .. }) => {
            assert!(error.to_string().contains("Incompatible epoch: Bitcode '1'"), "{error}")
        }
        Err(error) => panic!("{error}"),
        Ok(_) => panic!("it was read"),
    }
}
