//! Places to reach and to avoid, and where crashes are: what a run came to is the instructions that it came to, and none behind
//! the one that it died of.

use super::{command, folder, native, settings, stdin};
use parallax_concolic::{Exploration, ExploreError, Settings, SubjectError, explore};
use parallax_path::Bound;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};

fn compile(name: &str, flags: &[&str], text: &str) -> PathBuf {
    let (source, program) = (folder().join(format!("{name}.c")), folder().join(name));
    std::fs::write(&source, text).unwrap();
    let status = std::process::Command::new("gcc")
        .args(["-w", "-O0"])
        .args(flags)
        .arg("-o")
        .arg(&program)
        .arg(source)
        .status();
    assert!(status.unwrap().success(), "{text}");
    program
}

fn whole(name: &str, targets: &[&str]) -> Settings {
    Settings { stop_at_target: false, ..settings(name, targets) }
}

fn look(program: &Path, bytes: usize, settings: &Settings) -> Exploration {
    explore(&command(program, &[]), &stdin(bytes), settings, &mut |_, _| ()).unwrap()
}

/// The address of a symbol in the file.
fn address(program: &Path, name: &str) -> u64 {
    let output = std::process::Command::new("nm").arg(program).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let line = text.lines().find(|line| line.split(' ').nth(2) == Some(name)).unwrap();
    u64::from_str_radix(line.split(' ').next().unwrap(), 16).unwrap()
}

/// Ways to die in the middle of a block, with their signals; the first is none.
const DEATHS: [(&str, &str, i32); 6] = [
    ("nothing", "nop", 0),
    ("store", "movl $1, 0", libc::SIGSEGV),
    ("load", "movl 8, %%eax", libc::SIGSEGV),
    ("division", "xorl %%ecx, %%ecx\\n divl %%ecx", libc::SIGFPE),
    ("alignment", "movaps 1(%%rsp), %%xmm0", libc::SIGSEGV),
    ("privilege", "hlt", libc::SIGSEGV),
];

/// Of two places in one block, with a death between them, the first is reached and the second is not.
pub fn within_blocks() {
    for (name, death, signal) in DEATHS {
        let text = format!(
            "#include <unistd.h>\nint main(void) {{\n  unsigned char in[1];\n  if (read(0, in, 1) != 1) return 9;\n\
             if (in[0] & 1) {{\n    asm volatile(\".globl ahead\\nahead: nop\\n {death}\\n .globl behind\\nbehind: nop\" \
             : : : \"eax\", \"ecx\", \"edx\", \"xmm0\");\n    return 5;\n  }}\n  return 1;\n}}\n"
        );
        let program = compile(&format!("dies-by-{name}"), &["-g"], &text);
        let dies = signal != 0;
        let natively = native(&program, &stdin(1), &vec![1], &folder());
        assert_eq!(natively.signal(), dies.then_some(signal), "{name}");
        let found = look(&program, 1, &whole(&format!("{name}-targets"), &["ahead", "behind"]));
        assert!(found.completeness.is_complete(), "{name}: {:?}", found.completeness);
        assert_eq!(found.reached.iter().map(Option::is_some).collect::<Vec<_>>(), [true, !dies], "{name}");
        let runs = |place: &str| {
            found.coverage.instructions.get(&address(&program, place)).copied().unwrap_or(0) > 0
        };
        assert_eq!([runs("ahead"), runs("behind")], [true, !dies], "{name}");
        // What comes before a place to avoid is not avoided.
        for (place, crashes) in [("ahead", 0), ("behind", usize::from(dies))] {
            let avoid = vec![place.to_owned()];
            let found = look(&program, 1, &Settings { avoid, ..whole(&format!("{name}-no-{place}"), &[]) });
            assert_eq!(found.crashes().count(), crashes, "{name} without {place}");
            assert_eq!(found.divergences(), 0, "{name} without {place}");
        }
    }
}

/// Places are named by addresses of instructions, by lines, and by functions; what is none of these is refused.
pub fn named() {
    let text = "#include <string.h>\n#include <unistd.h>\nint data = 3;\nint twice(int n) {\n  return 2 * n;\n}\n\
        int main(void) {\n  char in[2];\n  if (read(0, in, 2) != 2) return 9;\n  if (in[0] == 'q')\n    return twice(in[1]);\n\
        char text[4] = {in[0], in[1]};\n  if (in[0] == 'l') return strlen(text) + 3;\n  return 1;\n}\n";
    let source = |line: u32| format!("places.c:{line}");
    for (name, flags) in [("places", &["-g"][..]), ("places-static", &["-g", "-static"])] {
        let program = compile(name, flags, text);
        let inputs = |target: &str| {
            let found = look(&program, 2, &whole(&format!("{name}-{}", target.len()), &[target]));
            assert!(found.completeness.is_complete(), "{name} {target}: {:?}", found.completeness);
            let tests = found.tests.iter().filter(|test| test.reached == [0]);
            tests.map(|test| test.input[0]).collect::<Vec<u8>>()
        };
        let source = |line: u32| source(line).replace("places", name);
        assert_eq!(inputs("twice"), [b'q'], "{name}");
        assert_eq!(inputs(&source(5)), [b'q'], "{name}");
        assert!(inputs(&source(11)).iter().all(|first| *first == b'q') && !inputs(&source(11)).is_empty());
        // What runs before the input counts is on every way.
        assert!(inputs("main").len() >= 3, "{name}");
        // The one that was chosen for this processor, and not the function that chooses.
        let lengths = inputs("strlen");
        // The libraries of a static program call theirs before.
        let is_own = |first: &u8| *first == b'l' || flags.contains(&"-static");
        assert!(lengths.contains(&b'l') && lengths.iter().all(is_own), "{name}: {lengths:?}");
        let refused = |target: &str| {
            let settings = whole(&format!("{name}-refused"), &[target]);
            match explore(&command(&program, &[]), &stdin(2), &settings, &mut |_, _| ()) {
                Err(ExploreError::Subject(error)) => error,
                Err(error) => panic!("{name} {target}: {error}"),
                Ok(_) => panic!("{name} {target}: explored"),
            }
        };
        // `push %rbp` has one byte, or follows `endbr64` of four; behind it `mov %rsp, %rbp` has three.
        let start = address(&program, "twice");
        let middles = (1..9).filter(|ahead| {
            let at = format!("{:#x}", start + ahead);
            let settings = Settings { tests: 1, ..whole(&format!("{name}-start-{ahead}"), &[&at]) };
            matches!(
                explore(&command(&program, &[]), &stdin(2), &settings, &mut |_, _| ()),
                Err(ExploreError::Subject(SubjectError::Inside { .. }))
            )
        });
        assert!((2..7).contains(&middles.count()), "{name}");
        assert!(matches!(refused("data"), SubjectError::NoCode(..)), "{name}");
        assert!(matches!(refused("0x7"), SubjectError::NoCode(..)), "{name}");
        assert!(matches!(refused("nowhere"), SubjectError::NoPlace(_)), "{name}");
        assert!(matches!(refused(&source(900)), SubjectError::NoLine(_)), "{name}");
    }
    // Without symbols nothing tells where instructions begin.
    let program = compile("places-stripped", &["-s", "-no-pie"], text);
    let found = look(&program, 2, &whole("places-stripped", &["0x401003"]));
    assert_eq!(found.reached, [None]);
    let bounds: Vec<&str> = found.completeness.bounds().map(Bound::name).collect();
    assert_eq!(bounds, ["control"], "{:?}", found.completeness);
}

/// Functions of C++ are named as people write them; one that is called as a function of the C library is not taken for it.
pub fn of_cplusplus() {
    let text = "extern \"C\" long read(int, void *, unsigned long);\nnamespace zoo {\nint sound(int n) { return n + 1; }\n\
        int sound(const char *) { return 2; }\nint strlen(const char *s) { return *s + 5; }\n}\n\
        int main() {\n  char in[1];\n  if (read(0, in, 1) != 1) return 9;\n  if (in[0] == 'q') return zoo::sound(in[0]);\n\
        if (in[0] == 's') return zoo::strlen(in);\n  return zoo::sound(\"\");\n}\n";
    let program = compile("cplusplus", &["-g", "-x", "c++"], text);
    let inputs = |target: &str| {
        let found = look(&program, 1, &whole(&format!("cplusplus-{}", target.len()), &[target]));
        assert!(found.completeness.is_complete(), "{target}: {:?}", found.completeness);
        let tests = found.tests.iter().filter(|test| test.reached == [0]);
        tests.map(|test| test.input[0]).collect::<Vec<u8>>()
    };
    for name in ["zoo::sound(int)", "sound(int)", "_ZN3zoo5soundEi"] {
        assert_eq!(inputs(name), [b'q'], "{name}");
    }
    let others = inputs("zoo::sound(char const*)");
    assert!(!others.is_empty() && !others.contains(&b'q') && !others.contains(&b's'), "{others:?}");
    let summaries =
        Settings { summaries: true, ..whole("cplusplus-summaries", &["zoo::strlen(char const*)"]) };
    let found = look(&program, 1, &summaries);
    assert!(
        found.tests.iter().any(|test| test.reached == [0] && test.input == [b's']),
        "{:?}",
        found.reached
    );
    match explore(&command(&program, &[]), &stdin(1), &whole("cplusplus-refused", &["sound"]), &mut |_, _| ())
    {
        Err(ExploreError::Subject(SubjectError::SeveralPlaces(_, names))) => {
            assert_eq!(names, "zoo::sound(int), zoo::sound(char const*)");
        }
        Err(error) => panic!("{error}"),
        Ok(_) => panic!("explored"),
    }
}

/// A crash is told by its calls down to the program's own code: where it was made, and not where the library made it.
pub fn crashes() {
    let text = "#include <assert.h>\n#include <stdlib.h>\n#include <string.h>\n#include <unistd.h>\n\
        static void give_up(int c) {\n  if (c & 1)\n    abort();\n  abort();\n}\n\
        static void deeper(int n) {\n  if (n == 0)\n    abort();\n  deeper(n - 1);\n}\n\
        int main(void) {\n  unsigned char in[1];\n  if (read(0, in, 1) != 1) return 9;\n  switch (in[0]) {\n\
        case 1: give_up(0); break;\n  case 2: give_up(1); break;\n  case 3: assert(in[0] != 3); break;\n\
        case 4: assert(in[0] == 3); break;\n  case 5: deeper(2); break;\n  case 6: deeper(5); break;\n\
        case 7: memset((void *)8, in[0], 4); break;\n  case 8: memset((void *)16, in[0], 4); break;\n\
        case 9: *(volatile int *)0 = 1; break;\n  case 10: raise_(); break;\n  }\n  return 0;\n}\n\
        int raise_(void) { return 7 / (int)(unsigned long)getenv(\"NO_SUCH_VARIABLE\"); }\n";
    for (name, flags) in [
        ("crashes", &["-g"][..]),
        ("crashes-plain", &[]),
        ("crashes-static", &["-g", "-static"]),
        ("crashes-static-plain", &["-static"]),
    ] {
        let program = compile(name, flags, text);
        let found = look(&program, 1, &whole(name, &[]));
        assert!(found.completeness.is_complete(), "{name}: {:?}", found.completeness);
        let mut inputs: Vec<u8> = found.crashes().map(|test| test.input[0]).collect();
        inputs.sort_unstable();
        assert_eq!(inputs, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10], "{name}");
        // The recursion is one crash, however deep it is. Where nothing tells a program from its libraries, it is told by who
        // called it, too.
        let distinct = if name == "crashes-static-plain" { 10 } else { 9 };
        assert_eq!(found.distinct_crashes().len(), distinct, "{name}");
    }
}
