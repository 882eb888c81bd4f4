//! `cargo xtask fuzz|peers [NAME [VARIABLE=VALUE...]]`: what takes too long for a test, or needs more than a test may.
//!
//! `fuzz` holds ours against more of the same that the tests take a slice of. `peers` runs and measures beside other tools, and
//! on other people's programs. A row names its variables with their defaults; its lines see them as environment variables.

use anyhow::{Context, Result, bail, ensure};
use std::process::Command;

/// Something to run by name.
pub struct Task {
    name: &'static str,
    about: &'static str,
    /// Names and defaults.
    variables: &'static [(&'static str, &'static str)],
    /// Lines for bash.
    lines: &'static str,
}

const fn task(
    name: &'static str,
    about: &'static str,
    variables: &'static [(&'static str, &'static str)],
    lines: &'static str,
) -> Task {
    Task { name, about, variables, lines }
}

/// More generated cases than the tests run, and planted mistakes that a test must die of.
pub const FUZZ: &[Task] = &[
    task(
        "addresses",
        "programs that take, compare, store and return addresses, in every reading",
        &[("COUNT", "5000"), ("FIRST", "0")],
        "ADDRESS_PROGRAMS=$COUNT ADDRESS_FIRST=$FIRST cargo test --release -p parallax-primitives --test it addresses::addresses_mean -- --nocapture",
    ),
    task(
        "bitcode",
        "mutated LLVM modules against the reader",
        &[("ROUNDS", "5000"), ("SEED", "1")],
        "FUZZ_ROUNDS=$ROUNDS FUZZ_SEED=$SEED cargo test -p parallax-cexplore --test it hostile_modules::mutated -- --nocapture",
    ),
    task(
        "blocks",
        "random blocks of instructions, run as blocks and one by one",
        &[("ROUNDS", "100000"), ("SEED", "1")],
        "FUZZ_ROUNDS=$ROUNDS FUZZ_SEED=$SEED cargo test -p parallax-process --test it lockstep::random_blocks -- --nocapture",
    ),
    task(
        "calls",
        "functions that call, at every level on six processors: formulas against runs",
        &[],
        "ALL_CALLS=1 cargo test --release -p parallax-code --test it calls:: -- --nocapture",
    ),
    task(
        "class",
        "mutated class files and generated Java programs",
        &[("COUNT", "5000")],
        "CLASS_FUZZ=$COUNT JAVA_FUZZ=200 cargo test --release -p parallax-java --test it -- malformed:: differential:: --nocapture",
    ),
    task(
        "csmith",
        "odd but valid C, generated and mutated, through load, run and explore",
        &[("SECONDS_OF_RUN", "3600"), ("SEED", "1")],
        "cargo run --release -p parallax-cexplore --example fuzz-csmith -- $SECONDS_OF_RUN $SEED",
    ),
    task(
        "heap",
        "generated Javalite programs, exactness and concrete runs",
        &[("FACTOR", "20")],
        "HEAP_FUZZ=$FACTOR cargo test --release -p parallax-javalite --test it -- exactness:: concrete:: --nocapture",
    ),
    task(
        "isa",
        "instruction semantics against the processor this runs on",
        &[("SECONDS_OF_RUN", "60"), ("SEED", "1")],
        "cargo run --release -p parallax-silicon --bin fuzz-isa -- --seconds $SECONDS_OF_RUN --seed $SEED",
    ),
    task(
        "lifter",
        "random and mutated bytes of every processor against the lifter",
        &[("SECONDS_OF_RUN", "60"), ("SEED", "1")],
        "cargo run --release -p parallax-silicon --bin fuzz-lifter -- --seconds $SECONDS_OF_RUN --seed $SEED",
    ),
    task(
        "loader",
        "mutated ELF files against the loader",
        &[("ROUNDS", "100000")],
        "FUZZ_ROUNDS=$ROUNDS cargo test -p parallax-process --lib mutated_images -- --nocapture",
    ),
    task(
        "memory",
        "random functions over unknown memory against complete memories",
        &[("FACTOR", "20")],
        "RANDOM_MEMORY=$FACTOR cargo test --release -p parallax-cexplore --test it -- random_memory:: large_arrays:: --nocapture",
    ),
    task(
        "mix",
        "generated MIX programs, checked and run",
        &[("COUNT", "100000")],
        "MIX_PROGRAMS=$COUNT cargo test --release -p parallax-mix --test it soundness::accepted -- --nocapture",
    ),
    task(
        "native",
        "random programs as translated code and by the exact engine, and programs that count themselves",
        &[("ROUNDS", "100000"), ("SEED", "1")],
        "FUZZ_ROUNDS=$ROUNDS FUZZ_SEED=$SEED cargo test -p parallax-native --test it -- random_programs programs_that_count --nocapture",
    ),
    task(
        "null",
        "random C programs with null errors, 60 for each seed; none may be lost",
        &[("SEEDS", "50")],
        "NULL_SEEDS=$SEEDS cargo test --release -p parallax-mixy --test it truth::no_null_error -- --nocapture",
    ),
    task(
        "null-worlds",
        "random C programs whose nulls depend on files, variables, input, time and large memory, run in ten worlds; and those that \
         crash behind long loops: no line that crashes may be refuted",
        &[("SEEDS", "300")],
        "NULL_SEEDS=$SEEDS cargo test --release -p parallax-mixy --test it -- worlds:: crashes:: --nocapture",
    ),
    task(
        "plant-record",
        "known mistakes planted into recording, replaying and travelling, one at a time: a test must die of each",
        &[("OUT", "")],
        "scripts/plant-record ${OUT:+--out $OUT}",
    ),
    task(
        "plant-trace",
        "known mistakes planted into the rules of traces",
        &[("OUT", "")],
        "scripts/plant-trace ${OUT:+--out $OUT}",
    ),
    task(
        "programs",
        "every command line and every compiled program, the slow ones too",
        &[],
        "PARALLAX_ALL_PROGRAMS=1 cargo test -p parallax-process --test programs",
    ),
    task(
        "properties",
        "the property tests of every crate, each round with cases that no round before had",
        &[("ROUNDS", "20")],
        "crates=$(grep -l ^proptest crates/*/*/Cargo.toml | sed 's|.*/\\([^/]*\\)/Cargo.toml|-p parallax-\\1|')
for round in $(seq $ROUNDS); do cargo test --quiet $crates || exit 1; done",
    ),
    task(
        "random-calls",
        "random system calls, natively and emulated",
        &[("ROUNDS", "5000"), ("SEED", "1000")],
        "FUZZ_ROUNDS=$ROUNDS FUZZ_SEED=$SEED cargo test -p parallax-process --test programs random",
    ),
    task(
        "record-corpus",
        "every program of the corpus recorded, each replayed twenty times; fifty recorders killed",
        &[],
        "PARALLAX_ALL_PROGRAMS=1 cargo test -p parallax-record --test corpus",
    ),
    task(
        "report",
        "mutated reports against every reader",
        &[("ROUNDS", "2000")],
        "FUZZ_ROUNDS=$ROUNDS cargo test --release -p parallax-report --test it hostile::mutated_reports",
    ),
];

/// Beside other tools, and on other people's programs. What is measured goes to OUT.
pub const PEERS: &[Task] = &[
    task(
        "bare-install",
        "an installed command in a bare Debian tree, for a user without the clone (root, debootstrap)",
        &[],
        "make build && scripts/bare-install",
    ),
    task(
        "c-libraries",
        "ten C libraries from Debian's sources, explored by harness and by function",
        &[("OUT", "target/c-libraries")],
        "make build && scripts/c-libraries $OUT",
    ),
    task(
        "concolic",
        "symbolic runs of programs beside Triton and angr (PyPI, 600 MB): rates, bytes, targets",
        &[],
        "make build && cargo build --release -p parallax-concolic --example measure-traces
python3 -m pip install --quiet --target target/peers triton-library==1.0.0rc4 angr 'bitstring<5' 'pycparser==3.0'
PYTHONPATH=target/peers scripts/concolic-peers target/release/parallax target/release/examples/measure-traces concolic.csv",
    ),
    task(
        "edits",
        "verdicts through random edits of ten C libraries from Debian's sources; gcc, clang, cppcheck, valgrind, TSan, ASan before and after",
        &[("COUNT", "2000"), ("FIRST", "0")],
        "scripts/edit-projects target/edits
PARALLAX_EDITS=$PWD/target/edits PARALLAX_EDITS_COUNT=$COUNT PARALLAX_EDITS_FIRST=$FIRST cargo test -p parallax-view --test it real:: -- --nocapture",
    ),
    task(
        "emulator",
        "the emulator beside Unicorn and QEMU",
        &[("OUT", "")],
        "cargo build --release -p parallax-process --example measure && python3 bench/emulator/compare.py $OUT",
    ),
    task(
        "expositor",
        "the micro-benchmarks of the dissertation's section 4.4: plots and ratios",
        &[("OUT", "target/expositor"), ("PROFILE", "release"), ("RUNS", "5")],
        "scripts/bench-expositor $OUT $PROFILE $RUNS",
    ),
    task(
        "jail",
        "what the jail costs: confirmations and explored runs with walls and without",
        &[("ROUNDS", "5"), ("OUT", "target/jail")],
        "make build && python3 bench/jail/compare.py target/release/parallax $ROUNDS $OUT",
    ),
    task(
        "lifting",
        "how long lifting takes, per new instruction",
        &[("FILES", "/usr/bin/bash")],
        "cargo run --release -p parallax-code --example lifting -- $FILES",
    ),
    task(
        "lsp-neovim",
        "parallax lsp in a real editor: diagnostics come, and go after a save",
        &[],
        "cargo build -q -p parallax && PARALLAX=target/debug/parallax scripts/lsp-neovim",
    ),
    task(
        "null-programs",
        "redis and lighttpd from Debian's sources, by check and by the analysers people use; an hour or more",
        &[],
        "make build && scripts/null-programs",
    ),
    task(
        "record",
        "recording, replaying, searching and seeking beside GDB, valgrind and QEMU",
        &[("OUT", "")],
        "cargo build --release -p parallax && cargo build --release -p parallax-travel --example measure-travel && python3 bench/record/compare.py $OUT",
    ),
    task(
        "report-matrix",
        "real tools on real programs, what their reports hold and what comes out (root; Debian 13 and testing in a chroot, PyPI)",
        &[("WORK", "target/report-matrix"), ("OUT", "")],
        "cargo build -p parallax && mkdir -p $WORK
python3 bench/report-matrix/unpack.py $WORK/trixie trixie gcc-14 g++-14 libc6-dev cbmc coreutils bash dash
python3 bench/report-matrix/unpack.py $WORK/testing testing gcc-15 g++-15 libc6-dev coreutils bash dash
[ -x $WORK/pypi/bin/semgrep ] || { python3 -m venv $WORK/pypi && $WORK/pypi/bin/pip install --quiet semgrep flawfinder; }
python3 bench/report-matrix/run.py $WORK target/debug/parallax $OUT
(cd viewer && { [ node_modules/.package-lock.json -nt package-lock.json ] || npm ci --silent; })
node viewer/bench/look.mjs $WORK",
    ),
    task(
        "sarif",
        "what convert and the verbs write as SARIF, held against the public validator (npm, 100 MB)",
        &[],
        "cargo build -p parallax && scripts/sarif-validator target/debug/parallax",
    ),
    task(
        "stl",
        "table 1 of Lim, Lal and Reps on the six programs of bench/stl",
        &[],
        "make build && scripts/stl-table target/release/parallax",
    ),
    task(
        "viewer",
        "how long pages take to open, search and zoom",
        &[],
        "make build && cd viewer && { [ node_modules/.package-lock.json -nt package-lock.json ] || npm ci --silent; } && npm run bench --silent",
    ),
    task(
        "vsftpd",
        "vsftpd from Debian's source: null errors by inference alone, and with each of the paper's blocks",
        &[],
        "make build && scripts/vsftpd",
    ),
];

/// Runs the task that is named, or lists them.
pub fn run(verb: &str, tasks: &[Task], arguments: &[String]) -> Result<()> {
    let Some((name, settings)) = arguments.split_first() else {
        for task in tasks {
            let variables: String =
                task.variables.iter().map(|(name, value)| format!(" {name}={value}")).collect();
            println!("make {verb} WHAT=\"{}{variables}\"\n    {}", task.name, task.about);
        }
        return Ok(());
    };
    let Some(task) = tasks.iter().find(|task| task.name == name) else {
        let names: Vec<&str> = tasks.iter().map(|task| task.name).collect();
        bail!("make {verb}: nothing is called {name}; there are: {}", names.join(", "));
    };
    let mut command = Command::new("bash");
    command.args(["-eu", "-c", task.lines]).envs(task.variables.iter().copied());
    for setting in settings {
        let (name, value) =
            setting.split_once('=').with_context(|| format!("{setting}: a variable is set by NAME=VALUE"))?;
        let known = task.variables.iter().any(|(variable, _)| *variable == name);
        ensure!(known, "{} has no variable {name}", task.name);
        command.env(name, value);
    }
    let status = command.status().context("bash")?;
    ensure!(status.success(), "{verb} {}: failed", task.name);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_variables_are_used() {
        for tasks in [FUZZ, PEERS] {
            for (index, task) in tasks.iter().enumerate() {
                assert!(tasks[..index].iter().all(|other| other.name < task.name), "{}", task.name);
                for (variable, _) in task.variables {
                    assert!(
                        task.lines.contains(&format!("${variable}"))
                            || task.lines.contains(&format!("${{{variable}"))
                    );
                }
            }
        }
    }

    #[test]
    fn an_unknown_name_or_variable_is_an_error() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        assert!(run("fuzz", FUZZ, &words("nothing")).is_err());
        assert!(run("fuzz", FUZZ, &words("isa ROUNDS=1")).is_err());
    }
}
