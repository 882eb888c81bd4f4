//! Models of the C library beside glibc: programs that call functions with generated arguments print what came of each call, natively
//! and in the concrete reading. Calls that keep something (files, streams, signals, trees, the environment) come in sequences.
//!
//! Each program of `corpus/c/library` makes its own arguments from a seed; `FACTOR=20` tries as many seeds. They do not make: reads
//! from a terminal, times of files, `FNM_EXTMATCH`, other locales, links, more than one process, signals that end the program,
//! formats with more than 400 characters, wide output, sockets.
//!
//! Known to differ with other seeds (of eight, four differ): what a stream gives after an end or a failed write that was followed by more
//! calls, `calloc` of 16 MB that is looked at byte by byte (too many steps). The sign of NaN is lost where a float becomes a double.

use crate::corpus::{Case, cases, each, native};
use parallax_cexplore::run::{Closed, Outcome, Settings, run};
use parallax_cexplore::{Sources, program};
use std::collections::BTreeSet;
use std::path::Path;

/// Functions that no program here calls, and why.
const NOT_TRIED: &[(&str, &[&str])] = &[
    (
        "tried by every program that uses the macro or function in front of it",
        &[
            "__ctype_b_loc",
            "__ctype_tolower_loc",
            "__ctype_toupper_loc",
            "__errno_location",
            "__isoc99_fscanf",
            "__isoc99_scanf",
            "__isoc99_sscanf",
            "__isoc23_fscanf",
            "__isoc23_scanf",
            "__isoc23_sscanf",
            "__isoc23_strtol",
            "__isoc23_strtoul",
            "__isoc23_strtoll",
            "__isoc23_strtoull",
        ],
    ),
    (
        "another name of one that is tried",
        &[
            "_IO_getc",
            "_IO_putc",
            "__getdelim",
            "getdelim",
            "cfree",
            "creat",
            "fcntl64",
            "fgetc_unlocked",
            "fopen64",
            "fputc_unlocked",
            "fputs_unlocked",
            "fseeko",
            "fstat64",
            "ftello",
            "getc_unlocked",
            "getchar_unlocked",
            "lseek64",
            "lstat",
            "lstat64",
            "open64",
            "putc",
            "putc_unlocked",
            "putchar_unlocked",
            "puts_unlocked",
            "readdir",
            "readdir64",
            "stat64",
            "vscanf",
            "memalign",
            "valloc",
            "__open",
            "__read",
            "__write",
            "__close",
            "__lseek",
            "setbuf",
            "setbuffer",
            "setlinebuf",
            "finite",
            "isinf",
            "isnan",
            "__finite",
            "__finitef",
            "__isinf",
            "__isinff",
            "__isnan",
            "__isnanf",
            "__signbit",
            "__signbitf",
            "__fpclassify",
            "__fpclassifyf",
            "strlcat",
            "strlcpy",
            "unlinkat",
            "mkdirat",
            "openat",
            "renameat",
            "faccessat",
            "fstatat",
            "euidaccess",
            "pthread_sigmask",
            "freopen",
            "fdopen",
            "tmpfile",
            "fmemopen",
            "vdprintf",
            "dprintf",
            "vfscanf",
            "vsscanf",
            "scanf",
            "fscanf_",
            "vprintf",
            "vsprintf",
            "vfprintf",
            "getw",
            "fdatasync",
            "fsync",
            "sync",
            "flock",
        ],
    ),
    (
        "what headers with checks call, in modules that were compiled with them",
        &[
            "__fgets_chk",
            "__fprintf_chk",
            "__printf_chk",
            "__snprintf_chk",
            "__sprintf_chk",
            "__vfprintf_chk",
            "__vsnprintf_chk",
            "__stpcpy_chk",
            "__strcat_chk",
            "__strcpy_chk",
            "__strncat_chk",
            "__strncpy_chk",
        ],
    ),
    (
        "answers about this machine, or about time, that no two runs share",
        &[
            "alarm",
            "chown",
            "endgrent",
            "endpwent",
            "getgrent",
            "getgrgid",
            "getgrnam",
            "getpwent",
            "getpwnam",
            "getpwuid",
            "setgrent",
            "setpwent",
            "clock",
            "clock_gettime",
            "getpid",
            "getppid",
            "gettimeofday",
            "nanosleep",
            "sleep",
            "time",
            "usleep",
            "utime",
            "utimensat",
            "utimes",
            "getcwd",
            "chdir",
            "realpath",
            "mkdtemp",
            "mkstemp",
            "isatty",
            "ioctl",
            "tcgetattr",
            "tcsetattr",
            "ttyname",
            "setlocale",
            "malloc_usable_size",
            "klee_get_errno",
            "telldir",
            "seekdir",
            "rewinddir",
            "readlink",
            "dup2",
            "dup3",
            "readv",
        ],
    ),
    (
        "refused, or any answer",
        &[
            "link",
            "symlink",
            "accept",
            "bind",
            "connect",
            "listen",
            "recv",
            "recvfrom",
            "recvmsg",
            "send",
            "sendmsg",
            "sendto",
            "setsockopt",
            "shutdown",
            "socket",
        ],
    ),
    (
        "locks of one thread",
        &[
            "pthread_mutex_destroy",
            "pthread_mutex_init",
            "pthread_mutex_lock",
            "pthread_mutex_trylock",
            "pthread_mutex_unlock",
            "pthread_self",
        ],
    ),
    (
        "mathematics and wide characters: `corpus/c/run` compares them",
        &[
            "cabs",
            "cabsf",
            "carg",
            "drem",
            "fdim",
            "fmax",
            "fmaxf",
            "fmin",
            "fminf",
            "frexp",
            "ilogb",
            "llrint",
            "llround",
            "logb",
            "lrint",
            "lrintf",
            "lround",
            "lroundf",
            "modf",
            "modff",
            "nan",
            "nextafter",
            "remainder",
            "scalbln",
            "scalbn",
            "scalbnf",
            "scalbnl",
            "fgetwc",
            "fgetws",
            "fputwc",
            "fputws",
            "fwprintf",
            "getwc",
            "getwchar",
            "mblen",
            "mbtowc",
            "putwc",
            "putwchar",
            "ungetwc",
            "vfwprintf",
            "vswprintf",
            "vwprintf",
            "wctomb",
            "wprintf",
        ],
    ),
    ("reads standard input, which is empty here", &["getchar", "gets"]),
];

/// Functions that a model defines for programs to call, by the way its lines are written.
fn defined(text: &str) -> Vec<&str> {
    let mut names = Vec::new();
    for line in text.lines() {
        let starts = line.starts_with(|c: char| c.is_ascii_lowercase() || c == '_');
        let is_other =
            ["static ", "typedef ", "struct ", "enum ", "extern "].iter().any(|word| line.starts_with(word));
        let is_pointer = line.starts_with("struct ") && line.contains(" *") && line.contains(") {");
        if !starts
            || (is_other && !is_pointer)
            || !line.contains('(')
            || !(line.contains(") {") || line.ends_with(','))
        {
            continue;
        }
        let before = line.split('(').next().unwrap_or_default();
        if let Some(name) =
            before.split(|c: char| !(c.is_alphanumeric() || c == '_')).rfind(|word| !word.is_empty())
        {
            names.push(name);
        }
    }
    names
}

fn words(text: &str) -> BTreeSet<&str> {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_')).collect()
}

#[test]
fn every_model_is_tried_or_says_why_not() {
    let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("../cread/models");
    let tried: Vec<Case> = cases("library");
    let tried: BTreeSet<&str> = tried.iter().flat_map(|case| words(&case.text)).collect();
    let excused: BTreeSet<&str> = NOT_TRIED.iter().flat_map(|(_, names)| names.iter().copied()).collect();
    let mut missing = Vec::new();
    let mut count = 0;
    for entry in std::fs::read_dir(models).expect("the models") {
        let path = entry.expect("a readable folder").path();
        if path.extension().is_none_or(|extension| extension != "c") {
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("a readable model");
        for name in defined(&text) {
            count += 1;
            let is_wide_class = name.starts_with("isw") && tried.contains(name);
            if !tried.contains(name) && !excused.contains(name) && !is_wide_class {
                missing.push(format!("{}: {name}", path.file_name().unwrap_or_default().display()));
            }
        }
    }
    assert!(count > 350, "{count} functions were found in the models");
    assert!(missing.is_empty(), "neither tried nor excused:\n{}", missing.join("\n"));
}

/// What our run of a program writes, and how it ends.
fn ours(case: &Case) -> (String, Outcome) {
    let sources = Sources { files: vec![case.file.clone()], ..Sources::default() };
    let program = program::load(&sources).unwrap_or_else(|error| panic!("{}: {error}", case.name));
    let mut world = Closed::default();
    let settings = Settings { steps: Some(200_000_000), ..Settings::default() };
    let finished = run(&program.module, &case.arguments, &mut world, &settings, &mut |_| {});
    (String::from_utf8_lossy(&[world.stdout, world.stderr].concat()).into_owned(), finished.outcome)
}

#[test]
fn models_answer_as_glibc_does() {
    let factor: u64 = std::env::var("FACTOR").ok().and_then(|factor| factor.parse().ok()).unwrap_or(1);
    let mut all = Vec::new();
    for seed in 1..=factor {
        all.extend(cases("library").into_iter().map(|mut case| {
            if let Some(first) = case.arguments.get_mut(1) {
                *first = seed.to_string().into_bytes();
            }
            // Each is built in a folder of its own, by its name.
            case.name = format!("{}-{seed}", case.name);
            case.arguments[0] = b"program".to_vec();
            case
        }));
    }
    assert!(all.len() >= 12);
    let (failures, lines) = each(&all, |case, failures| {
        let expected = native(case);
        let expected_text =
            String::from_utf8_lossy(&[expected.stdout, expected.stderr].concat()).into_owned();
        let (text, outcome) = ours(case);
        let status = expected.status.code().map_or(-1, |code| code & 255);
        let mut pairs = expected_text.lines().zip(text.lines());
        let differ = pairs.find(|(native, ours)| native != ours);
        if let Some((native, ours)) = differ {
            failures.push(format!("{}:\n  native {native}\n  ours   {ours}", case.name));
        } else if expected_text != text || outcome != Outcome::Exit(status as u8) {
            let last = text.lines().last().unwrap_or_default();
            failures.push(format!("{}: {outcome:?}, natively {status}, after {last}", case.name));
        }
        expected_text.lines().count()
    });
    assert!(failures.is_empty(), "{} of {}:\n{}", failures.len(), all.len(), failures.join("\n"));
    assert!(lines.iter().sum::<usize>() > 2_000, "{lines:?}");
}
