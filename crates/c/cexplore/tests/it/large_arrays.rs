//! Arrays too large to look at place by place: one state whatever the index, and what it says is what a run does.
//!
//! Directed programs say what must be found and that every path was explored. Random programs over arrays of several
//! sizes and element types are explored, forked and merged, and held against runs on random inputs: exactly one path
//! condition holds, and the values it predicts are those of the run.

use crate::corpus;

use corpus::Random;
use parallax_cexplore::confirm::replay;
use parallax_cexplore::explore::{Entry, Exploration, Merge, PathEnd, Settings, explore};
use parallax_cexplore::run::{self, Closed, Outcome};
use parallax_cexplore::{Program, Sources, program};
use parallax_cmachine::Mistake;
use parallax_op::Bits;
use parallax_smt::Model;
use parallax_term::{Sort, Store};
use std::path::PathBuf;
use std::time::Duration;

fn compile(name: &str, text: &str) -> Program {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("large-arrays");
    std::fs::create_dir_all(&folder).expect("a folder for the test");
    let file = folder.join(format!("{name}.c"));
    std::fs::write(&file, text).expect("the program is written");
    program::load(&Sources { files: vec![file], ..Sources::default() }).unwrap_or_else(|e| panic!("{e}"))
}

fn settings() -> Settings {
    let entry = Entry::Main { arguments: Vec::new(), stdin: 0, files: Vec::new(), environment: Vec::new() };
    Settings { entry, tests: true, time: Duration::from_secs(60), ..Settings::default() }
}

fn explored(store: &Store, program: &Program, settings: &Settings) -> Exploration {
    // The solver borrows the store for as long as the exploration runs.
    explore(store, &program.module, settings, parallax_smt::solver(store), &mut |_, _, _| {})
        .expect("it explores")
}

const PRELUDE: &str = "#include <stdlib.h>\n#include <string.h>\nint klee_int(const char *);\n\
    static unsigned input(const char *name) { return (unsigned)klee_int(name); }\n\
    void reach_error(void) {}\n";

/// Explores a program in all of its paths: their number, and what is found, each confirmed.
fn finds(name: &str, body: &str, paths: u64, kinds: &[&str]) {
    for merge in [Merge::Never, Merge::Auto, Merge::Always] {
        finds_with(name, body, paths, kinds, &Settings { merge, ..settings() });
    }
}

fn finds_with(name: &str, body: &str, paths: u64, kinds: &[&str], settings: &Settings) {
    let program = compile(name, &format!("{PRELUDE}{body}"));
    {
        let store = Store::new();
        let result = explored(&store, &program, settings);
        let mut found: Vec<&str> = result.findings.iter().map(|f| f.problem.name()).collect();
        found.sort_unstable();
        assert_eq!(found, kinds, "{name}: {:?}", result.findings);
        assert!(result.completeness.is_complete(), "{name}: {:?}", result.completeness);
        assert!(result.paths <= paths, "{name}: {} paths", result.paths);
        for finding in &result.findings {
            assert!(replay(&program, finding, settings).confirmed, "{name}: {finding:?}");
        }
    }
}

const HASH: &str = "struct entry { unsigned key; unsigned value; };
        static struct entry table[4096];
        static unsigned slot(unsigned key) { return (key ^ key >> 12 ^ key >> 24) & 4095; }
        static void put(unsigned key, unsigned value) {
          table[slot(key)].key = key;
          table[slot(key)].value = value;
        }
        int main(void) {
          unsigned a = input(\"a\"), b = input(\"b\");
          put(a, 11);
          put(b, 22);
          if (table[slot(b)].value != 22) reach_error();
          if (slot(a) != slot(b) && table[slot(a)].value != 11) reach_error();
          if (a != b && table[slot(a)].key == b) abort();
          return 0;
        }";

const BLOCKS: &str = "static char from[4096], to[4096];
        int main(void) {
          unsigned n = input(\"n\"), k = input(\"k\");
          char *p = malloc(8192);
          for (int i = 0; i < 4096; i++) from[i] = (char)(i % 100);
          if (n > 4096 || k >= 8192 || !p) return 0;
          memset(p, 1, 8192);
          memset(p + 10, 7, n);
          if ((p[k] == 7) != (k >= 10 && k < n + 10)) abort();
          memcpy(to, from, n);
          if (k < 4096 && to[k] != (k < n ? (char)(k % 100) : 0)) reach_error();
          memmove(to + 1, to, n);
          free(p);
          return 0;
        }";

const INPUT: &str = "struct row { int x; short y[3]; };
        static struct row rows[2000];
        int f(unsigned i, unsigned j) {
          if (i >= 2000 || j >= 2000) return 0;
          if (rows[i].y[2] == 5 && rows[j].y[2] == 6 && i == j) return *(int *)0;
          rows[j].x = 3;
          if (rows[i].x == 4 && rows[j].y[1] == 9) return *(int *)0;
          return 1;
        }";

#[test]
fn a_table_is_looked_up_at_an_unknown_place() {
    let body = "static unsigned char table[65536];
        int main(void) {
          for (unsigned i = 0; i < 65536; i++) table[i] = (unsigned char)(i * i + (i >> 9));
          unsigned k = input(\"k\");
          if (k >= 65536) return 0;
          if (table[k] == 77 && k > 60000) reach_error();
          if (table[k] != (unsigned char)(k * k + (k >> 9))) abort();
          return 1;
        }";
    finds("lookup", body, 6, &["reached-error"]);
}

#[test]
fn a_hash_table_has_unknown_keys() {
    finds("hash", HASH, 8, &[]);
}

#[test]
fn a_histogram_counts_unknown_numbers() {
    let body = "static int count[65536];
        int main(void) {
          unsigned short x[3];
          for (int i = 0; i < 3; i++) { x[i] = (unsigned short)input(\"x\"); count[x[i]]++; }
          if (count[x[0]] > 3 || count[x[0]] < 1) abort();
          if (count[78] == 3) reach_error();
          return count[5];
        }";
    finds("histogram", body, 5, &["reached-error"]);
}

#[test]
fn a_sieve_is_asked_for_an_unknown_number() {
    let body = "static char composite[20000];
        int main(void) {
          for (int i = 2; i * i < 20000; i++)
            if (!composite[i]) for (int j = i * i; j < 20000; j += i) composite[j] = 1;
          unsigned n = input(\"n\");
          if (n >= 2 && n < 20000 && !composite[n] && n % 3 == 0 && n != 3) abort();
          composite[n % 20001] = 1;
          return 0;
        }";
    finds("sieve", body, 6, &["out-of-bounds"]);
}

#[test]
fn blocks_of_unknown_length_are_set_and_copied() {
    finds("blocks", BLOCKS, 12, &["out-of-bounds"]);
}

#[test]
fn blocks_moved_again_and_again_end_with_a_bound() {
    // Each move may have taken what the one before moved: beyond some depth lengths are looked at one by one, and said.
    let body = "int main(void) {
          char queue[300];
          memset(queue, 'q', sizeof queue);
          for (int i = 0; i < 12; i++) {
            unsigned n = input(\"n\");
            if (n > 298) return 0;
            memmove(queue, queue + 1, n);
            queue[n] = (char)i;
          }
          if (queue[0] == 3 && queue[1] == 'q') reach_error();
          return 0;
        }";
    let program = compile("queue", &format!("{PRELUDE}{body}"));
    let settings = Settings { time: Duration::from_secs(4), tests: false, ..settings() };
    let started = std::time::Instant::now();
    let store = Store::new();
    let result = explored(&store, &program, &settings);
    assert!(!result.completeness.is_complete(), "{} paths", result.paths);
    assert!(started.elapsed() < Duration::from_secs(30), "{:?}", started.elapsed());
}

#[test]
fn memory_has_an_unknown_size() {
    let body = "int main(void) {
          unsigned n = input(\"n\"), i = input(\"i\");
          if (n == 0 || n > 100000) return 0;
          int *p = calloc(n, sizeof *p);
          if (!p) return 0;
          if (p[n - 1]) abort();
          if (i < n) { p[i] = 5; if (p[i] != 5) abort(); }
          if (i <= n) p[i] = 1;
          free(p);
          return 0;
        }";
    finds("sized", body, 8, &["out-of-bounds"]);
}

#[test]
fn a_local_array_has_an_unknown_length() {
    let body = "int main(void) {
          unsigned n = input(\"n\"), i = input(\"i\");
          if (n < 1 || n > 5000 || i >= n) return 0;
          unsigned a[n];
          a[i] = i;
          if (a[i] != i) abort();
          a[n - i] = 3;
          return (int)a[n - i];
        }";
    finds("variable-length", body, 8, &["out-of-bounds"]);
}

#[test]
fn uninitialised_elements_matter_only_where_they_were_not_written() {
    let body = "int main(void) {
          unsigned i = input(\"i\") % 3000, j = input(\"j\") % 3000;
          int a[3000];
          a[i] = 1;
          if (a[i] != 1) abort();
          if (a[j] == 1) return 1;
          return 0;
        }";
    finds("undefined", body, 4, &["uninitialised"]);
}

#[test]
fn pointers_are_kept_in_large_arrays() {
    let body = "static int x = 1, y = 2;
        static int *slots[3000];
        int main(void) {
          unsigned i = input(\"i\") % 3000, j = input(\"j\") % 3000;
          slots[i] = &x;
          slots[j] = &y;
          if (*slots[j] != 2) abort();
          *slots[i] += 10;
          if (i != j && x != 11) abort();
          return *slots[(i + 1) % 3000];
        }";
    finds("pointers", body, 8, &["null-dereference"]);
}

#[test]
fn input_arrays_are_read_at_unknown_places() {
    let settings = Settings { entry: Entry::Function("f".into()), ..settings() };
    finds_with("input", INPUT, 12, &["null-dereference"], &settings);
}

#[test]
fn planted_mistakes_are_noticed() {
    let function = Settings { entry: Entry::Function("f".into()), ..settings() };
    let planted = [
        (Mistake::LogIgnoresWrites, HASH, &[][..], settings()),
        (Mistake::RangeTooLong, BLOCKS, &["out-of-bounds"][..], settings()),
        (Mistake::LogIgnoresReads, INPUT, &["null-dereference"][..], function),
    ];
    for (mistake, body, kinds, settings) in planted {
        let settings = Settings { plant: Some(mistake), ..settings };
        let noticed = std::panic::catch_unwind(|| finds_with("planted", body, 12, kinds, &settings));
        assert!(noticed.is_err(), "{mistake:?} goes unnoticed");
    }
}

/// Statements over two arrays `a` and `b` of `n` elements, numbers `i`, `j`, `k` and a sum `s`.
fn statement(random: &mut Random, n: u64, depth: u32) -> String {
    let index = |random: &mut Random| match random.below(5) {
        0 => random.below(n).to_string(),
        1 => format!("({} + {}) & MASK", random.pick(&["i", "j", "k"]), random.below(4)),
        _ => format!("{} & MASK", random.pick(&["i", "j", "k"])),
    };
    let array = |random: &mut Random| random.pick(&["a", "b"]).to_string();
    let (to, from) = (array(random), array(random));
    let (x, y) = (index(random), index(random));
    match random.below(if depth == 0 { 8 } else { 10 }) {
        0 | 1 => format!("{to}[{x}] FIELD = (ELEMENT)(s + {});", random.below(300)),
        2 => format!("s = s * 3 + {from}[{x}] FIELD;"),
        3 => format!("{to}[{x}] FIELD += (ELEMENT)({from}[{y}] FIELD + 1);"),
        4 => format!("memset({to}, {}, (i & MASK) * sizeof *{to});", random.below(256)),
        5 => format!("memcpy({to} == a ? b : a, {to}, (j & MASK) * sizeof *a);"),
        6 => format!("((unsigned char *){to})[k & MASK] = (unsigned char)s;"),
        7 => format!("memmove({to} + 1, {to}, k & MASK >> 1);"),
        8 => format!("{to}[{x}] = {from}[{y}];"),
        _ => format!(
            "if (s & {}) {{ {} }} else {{ {} }}",
            1 << random.below(3),
            statement(random, n, depth - 1),
            statement(random, n, depth - 1)
        ),
    }
}

fn random_program(random: &mut Random) -> String {
    let (n, mask) = [(8, 7), (40, 31), (300, 255), (2500, 2047)][random.below(4) as usize];
    let (element, field, declared) = [
        ("unsigned char", "", "unsigned char"),
        ("unsigned short", "", "unsigned short"),
        ("unsigned", "", "unsigned"),
        ("unsigned", ".y", "struct s { unsigned char x; unsigned y, z; }"),
    ][random.below(4) as usize];
    let ty = if field.is_empty() { element } else { "struct s" };
    let kind = random.below(3);
    let (static_, made) = match kind {
        0 => (format!("static {ty} a[{n}], b[{n}];\n"), String::new()),
        1 => (
            String::new(),
            format!("  {ty} a[{n}], b[{n}];\n  memset(a, 3, sizeof a);\n  memset(b, 0, sizeof b);\n"),
        ),
        _ => (
            String::new(),
            format!(
                "  {ty} *a = calloc({n}, sizeof *a), *b = malloc({n} * sizeof *b);\n  memset(b, 9, {n} * sizeof *b);\n"
            ),
        ),
    };
    let statements = 3 + random.below(5);
    let mut body = String::new();
    for _ in 0..statements {
        body += &format!("  {}\n", statement(random, n, 1));
    }
    for name in ["a", "b"] {
        for place in ["i", "j", "0u", "k + 1"] {
            body += &format!("  s = s * 31 + {name}[({place}) & MASK] FIELD;\n");
        }
    }
    let body = body.replace(" FIELD", field).replace("ELEMENT", element).replace("MASK", &mask.to_string());
    let declared = if field.is_empty() { String::new() } else { format!("{declared};\n") };
    format!(
        "{PRELUDE}{declared}{static_}int main(void) {{\n  unsigned i = input(\"i\"), j = input(\"j\"), k = input(\"k\"), s = input(\"s\");\n\
         {made}{body}  return (int)((s ^ s >> 8 ^ s >> 16) & 127);\n}}\n"
    )
}

/// Runs a random program and its paths on random inputs; how many inputs were compared: none where the solver gave up.
fn agree(seed: u64, merge: Merge) -> usize {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let text = random_program(&mut random);
    let program = compile(&format!("random{seed}{merge:?}"), &text);
    let settings = Settings { merge, leaks: false, ..settings() };
    let store = Store::new();
    let result = explored(&store, &program, &settings);
    assert!(result.findings.is_empty(), "{:?}\n{text}", result.findings);
    // Mixtures of bytes and words can be too hard a question: then that is said, and there is nothing to compare.
    let said = ["solver", "time", "undecided"];
    if !result.completeness.is_complete() {
        assert!(
            result.completeness.bounds().all(|bound| said.contains(&bound.name())),
            "{:?}\n{text}",
            result.completeness
        );
        return 0;
    }
    let rounds = 12;
    for _ in 0..rounds {
        let mut model = Model::new();
        for symbol in store.symbols() {
            if let Sort::Bits(width) = store.info(symbol).sort {
                let number = if random.below(3) == 0 { random.below(40) } else { random.next() };
                model.set_bits(symbol, Bits::new(64, number.into()).extract(0, width.min(64)).zext(width));
            }
        }
        let holds = |record: &&_| {
            let record: &parallax_cexplore::explore::PathRecord = record;
            record.conditions.iter().all(|&f| model.formula(&store, f))
        };
        let taken: Vec<_> = result.records.iter().filter(holds).collect();
        assert_eq!(taken.len(), 1, "paths that hold at once\n{text}");
        let record = taken[0];
        let inputs: Vec<Bits> = record.values.iter().map(|&term| model.term(&store, term)).collect();
        let shown = format!("{inputs:?}");
        let concrete = run::Settings { inputs, ..run::Settings::default() };
        let ran =
            run::run(&program.module, &[b"program".to_vec()], &mut Closed::default(), &concrete, &mut |_| {});
        let status = record.status.map_or(0, |t| model.term(&store, t).to_u128().unwrap_or(0) as u8);
        assert!(matches!(record.end, PathEnd::Exit(_)));
        assert_eq!(ran.outcome, Outcome::Exit(status), "inputs {shown}\n{text}");
    }
    rounds
}

/// `RANDOM_MEMORY=N` multiplies how much is compared.
#[test]
fn random_programs_predict_their_runs() {
    let factor = std::env::var("RANDOM_MEMORY").ok().and_then(|n| n.parse().ok()).unwrap_or(1u64);
    let mut compared = 0;
    for seed in 1..=24 * factor {
        compared += agree(seed, [Merge::Always, Merge::Never, Merge::Auto][seed as usize % 3]);
    }
    println!("{compared} inputs of {} programs", 24 * factor);
    assert!(compared as u64 >= 200 * factor, "{compared} inputs");
}
