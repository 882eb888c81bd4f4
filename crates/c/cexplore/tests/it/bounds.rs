//! A run that says complete shows nothing new with every bound raised, and every outcome of the native program is one of its paths.
//!
//! The generator makes programs that read a byte and a half, compute a number from them by functions of the library, and branch
//! on it. It does not make pointers from input, recursion, files, threads, signals, or mistakes.

use crate::corpus::Random;
use crate::left_out::{explored, program};
use parallax_cexplore::explore::{Entry, Exploration, Merge, PathEnd, Settings};
use parallax_cmachine::{Aliasing, Problem};
use parallax_path::Strategy;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

/// What an option bounds. Settings are taken apart: a new one does not compile until it is here.
fn raised(settings: &Settings) -> Settings {
    let Settings {
        // Not bounds: where it starts, what it looks for, and in which order.
        entry,
        strategy,
        seed,
        checks,
        only,
        random_inputs,
        leaks,
        failing_allocation,
        failing_calls,
        strings,
        globals,
        merge,
        tests,
        all_globals,
        plant,
        // Bounds, each of which is noted where it is hit.
        loops,
        depth,
        paths,
        steps,
        instructions,
        states,
        time,
        memory,
        solver_time,
        first: _,
        loop_bounds: _,
        // Bounds on unknown memory, listed as premises; and noted where they leave no input.
        aliasing,
        array,
        chain,
    } = settings.clone();
    Settings {
        entry,
        strategy,
        seed,
        checks,
        only,
        random_inputs,
        leaks,
        failing_allocation,
        failing_calls,
        strings,
        globals,
        merge,
        tests,
        all_globals,
        plant,
        loops: loops.saturating_mul(8),
        depth: depth.saturating_mul(8),
        paths: paths.saturating_mul(64),
        steps: steps.saturating_mul(64),
        instructions: instructions.map(|most| most.saturating_mul(64)),
        states: states.saturating_mul(64),
        time: time.saturating_mul(4),
        memory: memory.map(|most| most.saturating_mul(4)),
        solver_time: solver_time.saturating_mul(4),
        first: false,
        loop_bounds: Vec::new(),
        aliasing,
        array,
        chain,
    }
}

/// A number of a byte `c` and a half `d`.
const NUMBERS: [&str; 34] = [
    "(sprintf(t, \"%d\", c * d), (int)strlen(t))",
    "(sprintf(t, \"%x\", c), t[0])",
    "(sprintf(t, \"%f\", (c & 3) * 0.5), t[2])",
    "(sprintf(t, \"%f\", c * 0.25), t[0])",
    "(sprintf(t, \"%g\", d * 1.5), (int)strlen(t))",
    "(snprintf(t, 3, \"%d\", c), t[1])",
    "(t[0] = '0' + (d & 7), t[1] = 0, sscanf(t, \"%lf\", &x), (int)(x * 2))",
    "(t[0] = c, t[1] = '5', t[2] = 0, x = -1, sscanf(t, \"%lf\", &x), (int)x)",
    "(t[0] = c, t[1] = '1', t[2] = 0, n = -7, sscanf(t, \"%d\", &n), n)",
    "(t[0] = c, t[1] = '2', t[2] = 0, atoi(t))",
    "(t[0] = '1', t[1] = c, t[2] = 0, (int)strtol(t, 0, 16))",
    "(t[0] = c, t[1] = 0, (int)strtod(t, 0))",
    "toupper(c)",
    "(isalpha(c) ? 4 : isdigit(c) ? 5 : 6)",
    "(isspace(c) != 0) + 2 * (ispunct(c) != 0)",
    "(srand(d & 3), rand() % 5)",
    "(srand(c), n = rand(), srand(c), n == rand())",
    "(srand(7), rand() % (d + 1))",
    "abs(c - 100) - (int)labs(d - 3)",
    "(t[0] = c, t[1] = 'b', t[2] = 0, strcmp(t, \"ab\") < 0 ? -1 : strcmp(t, \"ab\") > 0)",
    "(t[0] = c, t[1] = d, memcmp(t, \"A\\3\", 2) == 0)",
    "(strchr(\"hello\", c) ? (int)(strchr(\"hello\", c) - \"hello\") > 100 : -1)",
    "(t[0] = c, t[1] = 0, (int)strspn(t, \"0123456789\"))",
    "(a[0] = c, a[1] = 60, a[2] = d, qsort(a, 3, sizeof *a, order), a[1])",
    "(setjmp(j) ? 9 : c > 200 ? (longjmp(j, 1), 1) : 2)",
    "(n = setjmp(j), n < (c & 3) ? (longjmp(j, n + 1), 0) : n)",
    "(getenv(\"NO_SUCH_VARIABLE\") ? 1 : c & 6)",
    "(int)floor(c * 0.25)",
    "(int)fabs(c - 7.5)",
    "(int)pow(d & 3, 2)",
    "(int)sqrt(d)",
    "(p = malloc(d + 1), memset(p, c, d + 1), n = p[d], free(p), n)",
    "(p = calloc(3, 1), p[d % 3] = c, n = p[1], free(p), n & 255)",
    "(memset(t, 'x', 9), t[d % 9] = 0, (int)strlen(t))",
];

fn text(random: &mut Random) -> String {
    let mut body = String::new();
    let mut status = 1;
    for _ in 0..1 + random.below(3) {
        body += &format!("  v = {};\n", random.pick(&NUMBERS));
        for _ in 0..1 + random.below(2) {
            let relation = random.pick(&["==", "<", ">", "!=", ">="]);
            let most = if random.below(2) == 0 { 8 } else { 120 };
            let limit = random.below(most);
            body += &format!("  if (v {relation} {limit}) return {status};\n");
            status += 1;
        }
    }
    format!(
        "#include <ctype.h>\n#include <math.h>\n#include <setjmp.h>\n#include <stdio.h>\n#include <stdlib.h>\n\
         #include <string.h>\nstatic jmp_buf j;\n\
         static int order(const void *a, const void *b) {{ return *(const int *)a - *(const int *)b; }}\n\
         int main(void) {{\n  int c = getchar() & 255, d = getchar() & 15, a[3];\n  volatile int n = 0;\n  int v = 0;\n\
         double x = 0;\n  char t[64], *p;\n  (void)a, (void)n, (void)x, (void)t, (void)p, (void)order, (void)j;\n{body}  return 99;\n}}\n"
    )
    .replace("&n)", "(int *)&n)")
}

/// How the native program ends for every input of a byte and a half.
fn natively(name: &str, text: &str) -> BTreeSet<u8> {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("bounds");
    std::fs::create_dir_all(&folder).expect("a folder");
    let (source, binary) = (folder.join(format!("{name}.c")), folder.join(name));
    let driver = "\n#undef main\n#include <sys/wait.h>\n#include <unistd.h>\n\
        int main(void) {\n  for (int i = 0; i < 4096; i++) {\n    int ends[2], status;\n    char in[2] = {i & 255, i >> 8};\n\
        if (pipe(ends) || write(ends[1], in, 2) != 2) return 1;\n    close(ends[1]);\n    int child = fork();\n\
        if (!child) { dup2(ends[0], 0); _exit(program_main_()); }\n    close(ends[0]);\n    waitpid(child, &status, 0);\n\
        if (!WIFEXITED(status)) return 2;\n    printf(\"%d\\n\", WEXITSTATUS(status));\n  }\n  return 0;\n}\n";
    std::fs::write(&source, format!("#define main program_main_\n{text}{driver}")).expect("it is written");
    let built =
        Command::new("clang-19").args(["-w", "-O1"]).arg(&source).arg("-o").arg(&binary).arg("-lm").status();
    assert!(built.expect("clang runs").success(), "{text}");
    let output = Command::new(&binary).output().expect("it runs");
    assert!(output.status.success(), "{:?}: {text}", output.status);
    String::from_utf8_lossy(&output.stdout).lines().map(|line| line.parse().expect("a status")).collect()
}

type Outcomes = (BTreeSet<u8>, BTreeSet<Problem>);

fn outcomes(found: &Exploration) -> Outcomes {
    let status = |end: &PathEnd| match end {
        PathEnd::Exit(status) => Some(*status),
        PathEnd::Mistake(_) => None,
    };
    let statuses = found.records.iter().filter_map(|record| status(&record.end)).collect();
    (statuses, found.findings.iter().map(|finding| finding.problem).collect())
}

#[test]
fn complete_runs_miss_no_outcome() {
    let factor: u64 = std::env::var("FACTOR").ok().and_then(|factor| factor.parse().ok()).unwrap_or(1);
    let mut random = Random(0x1ed6e5);
    let (mut complete, mut failures) = (0, Vec::new());
    let count = 10 * factor;
    for number in 0..count {
        let text = text(&mut random);
        let program = program(&format!("generated_{number}"), &text);
        let plain = Settings {
            entry: Entry::Main {
                arguments: Vec::new(),
                stdin: 2,
                files: Vec::new(),
                environment: Vec::new(),
            },
            strategy: Strategy::Interleaved,
            tests: true,
            merge: if random.below(2) == 0 { Merge::Never } else { Merge::Auto },
            random_inputs: program.seeds_unknown(),
            time: Duration::from_secs(8),
            ..Settings::default()
        };
        let low = Settings {
            loops: 4 + random.below(20) as u32,
            depth: 4 + random.below(40) as u32,
            steps: 500 + random.below(20_000),
            states: 4 + random.below(200) as usize,
            paths: 2 + random.below(300),
            ..plain.clone()
        };
        let low = if number % 2 == 0 { plain } else { low };
        let found = explored(&program, &low);
        if !found.completeness.is_complete() {
            continue;
        }
        complete += 1;
        // What merges at the end of a path has one record for two outcomes: ask again without.
        let low = Settings { merge: Merge::Never, ..low };
        let found = explored(&program, &low);
        if !found.completeness.is_complete() {
            continue;
        }
        let (ours, problems) = outcomes(&found);
        let native = natively(&format!("generated_{number}"), &text);
        if !native.is_subset(&ours) || !problems.is_empty() {
            failures.push(format!("natively {native:?}, explored {ours:?} {problems:?}:\n{text}"));
        }
        if ours.difference(&native).next().is_some() {
            failures.push(format!("impossible: natively {native:?}, explored {ours:?}:\n{text}"));
        }
        let more = outcomes(&explored(&program, &raised(&low)));
        if more != (ours, problems) {
            failures.push(format!("with bounds raised {more:?}:\n{text}"));
        }
    }
    assert!(failures.is_empty(), "{}:\n{}", failures.len(), failures.join("\n"));
    assert!(complete * 8 >= count, "{complete} of {count} are complete");
}

/// Entered by themselves, functions have bounds on memory, too: with arrays, chains and time raised there is no finding that a
/// complete run did not have, unless arrays are longer than it said.
#[test]
fn complete_entries_have_no_further_finding() {
    let mut random = Random(77);
    let mut complete = 0;
    for number in 0..10 {
        let at = random.below(6);
        let size = 1 + random.below(7);
        let steps = [
            format!("if (p[{at}] == 3) return 1;"),
            format!("if (n < {size}) return 2; if (p[{at}] == 4) return 3;"),
            format!("if (q && q->n == {at}) {{ if (q->next) return q->next->n; }}"),
            format!("if (e - p == {}) return 5;", at % 4),
            format!("for (int i = 0; i < {size}; i++) if (p[i] == 7) return 6;"),
        ];
        let body: String =
            (0..1 + random.below(3)).map(|_| format!("  {}\n", steps[random.below(5) as usize])).collect();
        let text = format!(
            "struct s {{ int n; struct s *next; }};\n\
             int f(const unsigned char *p, unsigned n, struct s *q, const unsigned char *e) {{\n{body}  return 0;\n}}\n"
        );
        let program = program(&format!("entered_{number}"), &text);
        let low = Settings { entry: Entry::Function("f".into()), ..Settings::default() };
        let found = explored(&program, &low);
        let all = found.coverage;
        if !found.completeness.is_complete() {
            continue;
        }
        complete += 1;
        assert_eq!(all.branches_undecided, 0, "{all:?} {text}");
        let more = Settings { array: 64, chain: 8, aliasing: Aliasing::Auto, ..raised(&low) };
        let more = explored(&program, &more);
        let kinds =
            |found: &Exploration| -> BTreeSet<Problem> { found.findings.iter().map(|f| f.problem).collect() };
        assert!(kinds(&more).is_subset(&kinds(&found)), "{:?} {:?}\n{text}", found.findings, more.findings);
        assert!(
            more.coverage.branches_covered <= all.branches_covered,
            "{:?} {:?} {:?}\n{text}",
            all,
            more.coverage,
            found.completeness
        );
    }
    assert!(complete > 3, "{complete}");
}

/// Options that bound, how each is set, and values to try. The command's tests look for its options here: a new one needs a row.
type Row = (&'static str, fn(&mut Settings, u64), &'static [u64]);
const OPTIONS: &[Row] = &[
    ("--loops", |settings, n| settings.loops = n as u32, &[1, 2, 3, 4, 5, 7]),
    ("--depth", |settings, n| settings.depth = n as u32, &[1, 3, 5, 7, 9, 12]),
    ("--paths", |settings, n| settings.paths = n, &[1, 3, 5, 8, 13, 40]),
    ("--steps", |settings, n| settings.steps = n, &[20, 60, 100, 160, 260, 600]),
    ("--instructions", |settings, n| settings.instructions = Some(n), &[30, 100, 300, 600, 1200, 8000]),
    ("--states", |settings, n| settings.states = n as usize, &[1, 2, 3, 5, 9, 30]),
    ("--array", |settings, n| settings.array = n, &[1, 2, 3, 4, 5, 6]),
    ("--chain", |settings, n| settings.chain = n as u32, &[0, 1, 2, 3, 4, 5]),
    ("--fail", |settings, n| settings.failing_calls = n as u32, &[0, 1, 2, 3]),
];

/// Programs that each of the bounds above cuts somewhere.
const CUT: [(&str, Option<&str>); 3] = [
    (
        "#include <assert.h>\n#include <stdio.h>\n#include <stdlib.h>\n\
         int main(void) {\n  int c = getchar() & 7, d = getchar() & 3, n = 0;\n  for (int i = 0; i < (c & 3); i++) n += i + d;\n\
         FILE *f = fopen(\"new\", \"w\");\n  if (!f) return 50;\n  if (fputc(n, f) == EOF) return 51;\n  fclose(f);\n\
         assert(n != 7);\n  if (c == 6) { int *p = 0; return *p; }\n  return n;\n}\n",
        None,
    ),
    (
        "struct s { int n; struct s *next; };\n\
         int f(struct s *s) {\n  int all = 0;\n  for (int i = 0; i < 3 && s; i++, s = s->next) all += s->n;\n\
         return 10 / (all - 5);\n}\n",
        Some("f"),
    ),
    (
        "int f(const unsigned char *p, unsigned n) {\n  unsigned sum = 0;\n  if (n > 3) return 0;\n\
         for (unsigned i = 0; i < n; i++) sum += p[i];\n  if (sum == 9) return p[n];\n  return sum;\n}\n",
        Some("f"),
    ),
];

/// With a bound raised by one, a run that says complete finds and covers nothing new.
#[test]
fn a_bound_raised_by_one_shows_nothing_new() {
    type Seen = (BTreeSet<(Problem, u32)>, usize);
    let seen = |program: &parallax_cexplore::Program, found: &Exploration| -> Seen {
        let line = |finding: &parallax_cexplore::explore::Finding| {
            let (_, location) = parallax_cexplore::place::user_place(&program.module, &finding.stack);
            program.module.location(location).line
        };
        let findings = found.findings.iter().map(|finding| (finding.problem, line(finding))).collect();
        (findings, found.coverage.branches_covered)
    };
    let programs: Vec<_> =
        CUT.iter().enumerate().map(|(n, (text, _))| program(&format!("cut_{n}"), text)).collect();
    for (name, set, values) in OPTIONS {
        let (mut complete, mut cut) = (0, 0);
        for (program, (text, entry)) in programs.iter().zip(CUT) {
            let entry = match entry {
                Some(function) => Entry::Function(function.into()),
                None => {
                    let (arguments, files, environment) = (Vec::new(), Vec::new(), Vec::new());
                    Entry::Main { arguments, stdin: 2, files, environment }
                }
            };
            let plain = Settings { entry, ..Settings::default() };
            for &value in *values {
                let [mut low, mut high] = [plain.clone(), plain.clone()];
                set(&mut low, value);
                set(&mut high, value + 1);
                let found = explored(program, &low);
                if !found.completeness.is_complete() {
                    cut += 1;
                    continue;
                }
                complete += 1;
                // More arrays, longer chains and more failures are listed as premises: inputs that the lower run said it leaves out.
                let is_premise = ["--array", "--chain", "--fail"].contains(name);
                let more = explored(program, &high);
                let (before, after) = (seen(program, &found), seen(program, &more));
                match is_premise {
                    true => {
                        assert!(before.0.is_subset(&after.0), "{name} {value}: {before:?} {after:?}\n{text}")
                    }
                    false => assert_eq!(before, after, "{name} {value}\n{text}"),
                }
            }
        }
        assert!(complete > 0, "{name}: no run is complete");
        assert!(cut > 0 || ["--array", "--fail"].contains(name), "{name} cuts nothing");
    }
}
