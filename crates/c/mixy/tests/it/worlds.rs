//! Programs whose nulls depend on the world: on files, variables, standard input, the clock, users, what the library keeps from one
//! call to the next, and how large the memory is that a function meets. Each is run natively in ten worlds; every line that crashes
//! in one of them must be reported, however functions are executed to refute warnings.
//!
//! A program has several cases, each of which asks something, makes null of the answer in one of many ways (also those of
//! `crashes`: links, offsets, arrays of structures, atomics, cleared and copied memory), moves it, tests it and follows it, in one
//! function or over several.
//!
//! Not made: threads, signals, `longjmp`, sockets, other processes, locales other than C, pointers made of unrelated numbers or read
//! from files, uninitialised memory, allocations that fail.

use crate::common::{Dice, load};
use crate::crashes::{DECLARATIONS, ROUTES, SHIFTS, SOURCES, USES, more, reported};
use crate::native::{HEAD, WORLDS, crashes_in};
use parallax_mixy::{Settings, check};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::time::Duration;

/// Questions to the world: expressions over `n`, the text `b` of 16 bytes, the number `k`, the stream `f` and the pointer `t`.
const WORLD: &[&str] = &[
    "fopen(\"input\", \"r\") != 0",
    "(f = fopen(\"input\", \"r\")) && fgets(b, 9, f)",
    "(f = fopen(\"input\", \"r\")) && fgetc(f) == 'k'",
    "(f = fopen(\"input\", \"r\")) && fread(b, 1, 9, f) > 4 && b[3] == '='",
    "(f = fopen(\"input\", \"r\")) && fscanf(f, \"%d\", &k) == 1 && k == 7",
    "(f = fopen(\"input\", \"r\")) && fseek(f, 0, SEEK_END) == 0 && ftell(f) > 20",
    "(k = open(\"input\", O_RDONLY)) >= 0 && read(k, b, 9) == 9",
    "open(\"none\", O_RDONLY) < 0 && errno == ENOENT",
    "getenv(\"HOME\") != 0",
    "(t = getenv(\"MODE\")) && !strcmp(t, \"on\")",
    "(t = getenv(\"NUM\")) && atoi(t) > 10",
    "(t = getenv(\"NUM\")) && strtol(t, &t, 10) == 0 && *t == 'x'",
    "getenv(\"SET\") != 0",
    "environ[0] != 0",
    "time(0) > 1000000000",
    "clock_gettime(CLOCK_REALTIME, &when) == 0 && when.tv_sec > 1000",
    "(date = localtime(&zero)) && date->tm_year == 70",
    "nanosleep(&when, 0) == 0",
    "read(0, b, 9) > 4",
    "read(0, b, 9) < 0",
    "fgets(b, 9, stdin) != 0",
    "fgets(b, 9, stdin) && strlen(b) == 8",
    "getchar() == 'y'",
    "scanf(\"%d\", &k) == 1 && k > 40",
    "scanf(\"%d %d\", &k, &n) == 2",
    "getline(&t, &room, stdin) > 20",
    "feof(stdin) == 0 && getchar() == EOF",
    "stat(\"input\", &st) == 0 && st.st_size > 3",
    "access(\"input\", R_OK) == 0",
    "opendir(\"dir\") != 0",
    "(dir = opendir(\"dir\")) && readdir(dir) && readdir(dir) && readdir(dir)",
    "readlink(\"link\", b, 9) == 7",
    "mkdir(\"dir\", 0700) < 0",
    "rename(\"input\", \"other\") == 0",
    "isatty(0) == 0",
    "getpid() != 4242",
    "getppid() != 4241",
    "getpwuid(getuid()) != 0",
    "gethostname(b, 16) == 0",
    "write(1, \"x\", 1) != 1",
    "printf(\"x\") != 1 || fflush(stdout) != 0",
    "fputs(\"abc\", stdout) < 0 || fflush(stdout) != 0",
    "close(0) == 0",
    "close(7) < 0",
    "lseek(0, 0, SEEK_END) > 5",
    "dup(0) > 0",
    "fileno(stdin) == 0",
    "getcwd(b, 3) == 0",
    "sysconf(_SC_PAGESIZE) == 4096",
    "setlocale(LC_ALL, \"\") != 0",
    "rand() != 0",
    "umask(0) != 18",
    "errno == ERANGE",
    "strtok(0, \",\") != 0",
    "optind > 1",
    "sleep(0) == 0",
    "pthread_mutex_trylock(&taken) != 0",
    "strerror(2)[0] == 'N'",
    "sprintf(b, \"%.2f\", n / 3.0) > 0 && b[0] == '0'",
    "sqrt(n * 4.0) >= 2.0",
];

/// Questions to memory that a function did not make itself.
const MEMORY: &[&str] = &[
    "ring.end - ring.start > 64",
    "ring.end > ring.start + 100",
    "(char *)ring.end - (char *)ring.start == 800",
    "strlen(long_text) > 20",
    "long_text[30] == 'd'",
    "length(list.next) > 9",
    "numbers[70] == 70",
    "*(long *)((char *)&o + 8) == 0",
    "outer_of(&whole.link)->value == 5",
    "first(&ring) == 7",
    "sum(ring.start, ring.end) > 10",
    "strstr(long_text, \"dog\") != 0",
    "memchr(long_text, 'z', 43) != 0",
    "(t = strdup(long_text)) && t[42] == 'g'",
    "sscanf(long_text, \"%15s\", b) == 1 && b[0] == 't'",
    "words[1] != 0 && !strcmp(words[1], \"two\")",
];

/// Ways for an answer `A` to make the pointer `P` null, and `S` another way.
const MAKES: &[&str] = &[
    "if (A) P = 0;",
    "if (A) { S }",
    "P = A ? 0 : &o;",
    "if (!(A)) P = &o; else P = 0;",
    "while (A) { P = 0; break; }",
    "int a = A; if (a) P = lookup(0);",
    "for (int i = 0; i < 2; i++) if (i == 1 && (A)) P = 0;",
    "struct s *z[2] = { &o, 0 }; P = z[(A) != 0];",
    "switch ((A) != 0) { case 1: P = 0; break; default: P = &o; }",
];

const WORLD_HEAD: &str = "#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <locale.h>
#include <math.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>
extern char **environ;
struct ring { long *start, *end; } ring;
long numbers[100]; char *long_text; char tokens[] = \"a,b,c\"; char *words[4] = { \"one\", \"two\", \"three\" };
struct outer whole = { .value = 5 }; pthread_mutex_t taken = PTHREAD_MUTEX_INITIALIZER; time_t zero;
int length(struct s *at) { int count = 0; for (; at; at = at->next) count++; return count; }
int first(struct ring *r) { return r->start[7]; }
long sum(long *from, long *to) { long all = 0; while (from < to) all += *from++; return all; }
struct outer *outer_of(struct s *x) { return container_of(x, struct outer, link); }
#define LOCALS char b[16] = \"\", *t = 0; int k = 0; FILE *f; size_t room = 0; struct stat st; DIR *dir; struct tm *date; \\
  struct timespec when = { 0, 1 };
#ifdef NATIVE
#include <sys/wait.h>
#define RUN(number, f) lseek(0, 0, SEEK_SET); if (fork() == 0) { f(number); _exit(0); } wait(0);
#else
#define RUN(number, f) if (n == number) f(n);
#endif
static void prepare(void) {
  for (int i = 0; i < 100; i++) numbers[i] = i;
  ring.start = numbers; ring.end = numbers + 100;
  long_text = \"the quick brown fox jumps over the lazy dog\";
  for (int i = 0; i < 12; i++) { struct s *m = calloc(1, sizeof *m); m->next = list.next; list.next = m; }
  umask(0); setenv(\"SET\", \"1\", 1); strtok(tokens, \",\"); optind = 2; pthread_mutex_lock(&taken); errno = ERANGE;
}
";

/// A program whose every number of arguments is another case, and the questions of its cases.
fn program(dice: &mut Dice, cases: usize) -> String {
    let (mut globals, mut text) = (format!("{HEAD}{DECLARATIONS}{WORLD_HEAD}"), String::new());
    let mut main = String::from("int main(int n, char **argv) {\nprepare();\n");
    for case in 1..=cases {
        let asked = if dice.below(3) == 0 { dice.pick(MEMORY) } else { dice.pick(WORLD) };
        // Half of the answers are turned round.
        let asked = if dice.below(2) == 0 { asked.to_string() } else { format!("!({asked})") };
        let place = dice.below(5);
        let pointer = if place >= 3 { format!("p{case}") } else { "p".into() };
        let source = loop {
            let source = dice.pick(SOURCES);
            // What follows null by itself is a case of `crashes`.
            if !source.contains("AT") {
                break source.replace('P', &pointer);
            }
        };
        let question = if place == 1 { format!("ask{case}(n)") } else { asked.clone() };
        let made = dice.pick(MAKES).replace('P', &pointer).replace('S', "\u{1}").replace('A', "\u{2}");
        let made = made.replace('\u{1}', &source).replace('\u{2}', &question);
        let route = dice.pick(ROUTES).replace('Q', dice.pick(SHIFTS)).replace('P', &pointer);
        let used = dice.pick(USES);
        let declared = format!("struct s *{pointer} = &o;");
        let mut function = |head: &str, body: &[&str]| {
            writeln!(text, "{head} {{\n{}\n}}", body.join("\n")).expect("text");
        };
        let whole = format!("void case{case}(int n)");
        match place {
            // The answer comes from a function.
            1 => {
                let answer = format!("return ({asked}) != 0;");
                function(&format!("int ask{case}(int n)"), &["LOCALS", &answer]);
                function(&whole, &["LOCALS", &declared, &made, &route, used]);
            }
            // The pointer does.
            2 => {
                function(&format!("struct s *make{case}(int n)"), &["LOCALS", &declared, &made, "return p;"]);
                function(&whole, &[&format!("struct s *p = make{case}(n);"), &route, used]);
            }
            // It is a variable that one function sets, and another uses.
            3 => {
                writeln!(globals, "{declared}").expect("text");
                function(&format!("void set{case}(int n)"), &["LOCALS", &made]);
                function(&format!("void use{case}(int n)"), &[&route, used]);
                function(&whole, &[&format!("set{case}(n); use{case}(n);")]);
            }
            4 => {
                writeln!(globals, "{declared}").expect("text");
                function(&whole, &["LOCALS", &made, &route, used]);
            }
            _ => function(&whole, &["LOCALS", &declared, &made, &route, used]),
        }
        writeln!(main, "RUN({case}, case{case})").expect("text");
    }
    format!("{globals}{text}{main}return 0; }}\n")
}

/// What a program came to.
struct Tried {
    errors: usize,
    refuted: usize,
    wrong: Vec<String>,
}

fn tried(text: &str, times: &[Option<Duration>]) -> Tried {
    let folder = tempfile::tempdir().expect("a folder");
    let truth = crashes_in(folder.path(), text, &WORLDS);
    let program = load(text);
    let mut tried = Tried { errors: truth.len(), refuted: 0, wrong: Vec::new() };
    for refine in times {
        let settings = Settings { refine: *refine, ..Settings::default() };
        let report = check(&program.module, &settings).unwrap_or_else(|e| panic!("{e}\n{text}"));
        tried.refuted += report.refuted.len();
        let found: BTreeSet<usize> = reported(&program, &report);
        let lines: Vec<&str> = text.lines().collect();
        for line in truth.difference(&found) {
            let around = lines[line.saturating_sub(9)..*line].join("\n");
            tried.wrong.push(format!("refined {refine:?}, line {line}:\n{around}"));
        }
    }
    tried
}

#[test]
fn no_null_of_any_world_is_lost() {
    let (mut errors, mut refuted, mut wrong) = (0, 0, Vec::new());
    for seed in (1..=20).chain(21..21 + more()) {
        let mut dice = Dice::new(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let cases = 2 + dice.below(9);
        let text = program(&mut dice, cases);
        let tried = tried(&text, &[None, Some(Duration::ZERO), Some(Duration::from_secs(2))]);
        errors += tried.errors;
        refuted += tried.refuted;
        wrong.extend(tried.wrong.into_iter().map(|lost| format!("seed {seed}, {lost}")));
    }
    println!("{errors} errors, {refuted} warnings refuted");
    assert!(errors > 50, "the programs crash at few lines ({errors})");
    assert!(refuted > 0, "nothing is refuted: nothing is shown");
    assert!(wrong.is_empty(), "{} lost:\n{}", wrong.len(), wrong.join("\n"));
}
