//! Valid but odd C, through everything: programs that csmith makes, and mutations of the corpus.
//!
//! Each program is loaded, run in the concrete reading and natively (what they print must agree, unless the program does
//! something undefined or does not end in time), and explored for a moment. Nothing may panic.
//!
//! `cargo run -p parallax-cexplore --example fuzz-csmith -- SECONDS [SEED]`

use parallax_cexplore::explore::{Settings as ExploreSettings, explore};
use parallax_cexplore::run::{Closed, Outcome, Settings, run};
use parallax_cexplore::{Sources, program};
use parallax_term::Store;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

const INCLUDE: &str = "/usr/include/csmith";

#[derive(Default, Debug)]
struct Tally {
    programs: u32,
    agreed: u32,
    undefined: u32,
    too_long: u32,
    not_supported: u32,
    not_c: u32,
    explored: u32,
    bad: u32,
}

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}

fn main() {
    let number = |index: usize, otherwise: u64| {
        std::env::args().nth(index).and_then(|word| word.parse().ok()).unwrap_or(otherwise)
    };
    let (seconds, seed) = (number(1, 60), number(2, 1));
    let folder = std::env::temp_dir().join(format!("parallax-csmith-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let corpus = corpus();
    let started = Instant::now();
    let mut tally = Tally::default();
    while started.elapsed() < Duration::from_secs(seconds) {
        let file = folder.join("program.c");
        let made = match random.next() % 3 {
            0 => mutated(&corpus, &mut random, &file),
            _ => generated(&mut random, &file),
        };
        if made {
            tally.programs += 1;
            one(&file, &folder, &mut tally);
        }
    }
    std::fs::remove_dir_all(&folder).expect("the folder goes");
    println!("{tally:?}");
    std::process::exit(i32::from(tally.bad > 0));
}

fn corpus() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../corpus/c/run");
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(root).expect("the corpus").filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.sort();
    files
        .iter()
        .filter(|f| f.extension().is_some_and(|e| e == "c"))
        .filter_map(|f| std::fs::read_to_string(f).ok())
        .collect()
}

fn generated(random: &mut Random, file: &Path) -> bool {
    const OPTIONS: [&str; 12] = [
        "--no-packed-struct",
        "--packed-struct",
        "--float",
        "--builtins",
        "--int128",
        "--uint128",
        "--bitfields",
        "--inline-function",
        "--no-safe-math",
        "--no-arrays",
        "--no-volatiles",
        "--unions",
    ];
    let mut command = Command::new("csmith");
    command.arg("--seed").arg((random.next() % 1_000_000_000).to_string());
    command
        .args(["--max-funcs", "4", "--max-block-depth", "3", "--max-expr-complexity", "6", "-o"])
        .arg(file);
    for option in OPTIONS {
        // Without its checked arithmetic most programs are undefined somewhere.
        if random.next().is_multiple_of(4) && option != "--no-safe-math" {
            command.arg(option);
        }
    }
    command.output().is_ok_and(|output| output.status.success())
}

/// A corpus program with a few numbers, operators and types exchanged.
fn mutated(corpus: &[String], random: &mut Random, file: &Path) -> bool {
    const WORDS: [&[&str]; 4] = [
        &[
            "int",
            "long",
            "short",
            "char",
            "unsigned",
            "signed char",
            "unsigned char",
            "_Bool",
            "float",
            "double",
        ],
        &["+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>"],
        &["<", ">", "<=", ">=", "==", "!="],
        &["0", "1", "2", "7", "255", "256", "65535", "-1", "2147483647", "0x80000000"],
    ];
    let mut text = corpus[(random.next() % corpus.len() as u64) as usize].clone();
    for _ in 0..=random.next() % 3 {
        let words = WORDS[(random.next() % 4) as usize];
        let from = format!(" {} ", words[(random.next() % words.len() as u64) as usize]);
        let to = format!(" {} ", words[(random.next() % words.len() as u64) as usize]);
        let places: Vec<usize> = text.match_indices(&from).map(|(at, _)| at).collect();
        if let Some(&at) = places.get((random.next() % places.len().max(1) as u64) as usize) {
            text.replace_range(at..at + from.len(), &to);
        }
    }
    std::fs::write(file, text).is_ok()
}

fn one(file: &Path, folder: &Path, tally: &mut Tally) {
    let binary = folder.join("native");
    // What no sanitizer sees: arguments of `printf` that are not what its text says.
    let format = ["-Wno-everything", "-Werror=format"];
    let flags = [&format[..], &["-O0", "-fsanitize=undefined,address", "-fno-sanitize-recover=all"]].concat();
    let build = |flags: &[&str], to: &Path| {
        let mut command = Command::new("clang-19");
        command.args(flags).arg("-I").arg(INCLUDE).arg(file).arg("-o").arg(to).arg("-lm");
        command.output().is_ok_and(|output| output.status.success())
    };
    let plain = folder.join("plain");
    if !build(&flags, &binary) || !build(&[&format[..], &["-O0"]].concat(), &plain) {
        tally.not_c += 1;
        return;
    }
    let limited = |program: &Path| {
        Command::new("timeout")
            .arg("5")
            .arg(program)
            .current_dir(folder)
            .stdin(std::process::Stdio::null())
            .output()
    };
    let Ok(checked) = limited(&binary) else { return };
    let Ok(native) = limited(&plain) else { return };
    let undefined = String::from_utf8_lossy(&checked.stderr).contains("runtime error")
        || String::from_utf8_lossy(&checked.stderr).contains("Sanitizer");
    let kept = |words: &str| {
        let name = std::env::temp_dir().join(format!("csmith-{}-{}.c", std::process::id(), words.len()));
        let _ = std::fs::copy(file, &name);
        println!("BAD {words}: {}", name.display());
    };
    let judged = std::panic::catch_unwind(|| {
        let mut sources = Sources { files: vec![file.to_path_buf()], ..Sources::default() };
        sources.options.include.push(INCLUDE.into());
        sources.options.flags.push("-w".into());
        let loaded = program::load(&sources).map_err(|error| error.to_string())?;
        let mut world = Closed::default();
        let settings = Settings { steps: Some(5_000_000), ..Settings::default() };
        let arguments = [b"program".to_vec()];
        let finished = run(&loaded.module, &arguments, &mut world, &settings, &mut |_| {});
        let settings = ExploreSettings { time: Duration::from_millis(500), ..ExploreSettings::default() };
        let store = Store::new();
        let started = Instant::now();
        let explored =
            explore(&store, &loaded.module, &settings, parallax_smt::solver(&store), &mut |_, _, _| {});
        Ok::<_, String>((finished.outcome, world.stdout, explored.is_ok(), started.elapsed()))
    });
    match judged {
        Err(_) => {
            tally.bad += 1;
            kept("panic");
        }
        Ok(Err(error)) => {
            tally.not_supported += 1;
            println!("not loaded: {}", error.lines().next().unwrap_or(""));
        }
        Ok(Ok((outcome, stdout, explored, took))) => {
            tally.explored += u32::from(explored);
            if took > Duration::from_millis(1500) {
                println!("SLOW explore of 0.5 s took {took:?}");
            }
            let status = native.status.code();
            match outcome {
                Outcome::StepLimit => tally.too_long += 1,
                Outcome::Unsupported(words, _) => {
                    tally.not_supported += 1;
                    println!("not supported: {words}");
                }
                _ if status == Some(124) || checked.status.code() == Some(124) => tally.too_long += 1,
                _ if undefined => tally.undefined += 1,
                Outcome::Exit(ours) if Some(i32::from(ours)) == status && stdout == native.stdout => {
                    tally.agreed += 1
                }
                outcome => {
                    tally.bad += 1;
                    kept("differs");
                    println!("  ours {outcome:?} native {status:?}");
                }
            }
        }
    }
}
