//! What a search leaves out it admits, and what others left out by mistake it follows: instructions that repeat, events behind a
//! call that is followed aside, bytes that pass through files and pipes, searches that are killed and resumed.

use super::{command, folder, native, settings, stdin};
use parallax_concolic::{Exploration, Outcome, Settings, explore};
use parallax_path::Bound;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Without optimisation: what is written as a branch is one, so that every outcome has a way of its own.
fn compile(name: &str, text: &str) -> PathBuf {
    let (source, program) = (folder().join(format!("{name}.c")), folder().join(name));
    std::fs::write(&source, text).unwrap();
    let status = std::process::Command::new("gcc")
        .args(["-w", "-O0", "-fno-builtin", "-g", "-o"])
        .arg(&program)
        .arg(source)
        .status();
    assert!(status.unwrap().success(), "{text}");
    program
}

fn all(name: &str) -> Settings {
    Settings { stop_at_target: false, ..settings(name, &[]) }
}

fn look(program: &Path, bytes: usize, settings: &Settings) -> Exploration {
    explore(&command(program, &[]), &stdin(bytes), settings, &mut |_, _| ()).unwrap()
}

/// How runs ended; crashes by their signals.
fn ends(found: &Exploration) -> BTreeSet<i32> {
    let end = |outcome: &Outcome| match outcome {
        Outcome::Exited(status) => i32::from(*status),
        Outcome::Killed(signal, _) => -signal,
        other => panic!("{other:?}"),
    };
    found.tests.iter().map(|test| end(&test.outcome)).collect()
}

/// The same of the real program, for these inputs.
fn natively(program: &Path, inputs: impl Iterator<Item = Vec<u8>>) -> BTreeSet<i32> {
    use std::os::unix::process::ExitStatusExt;
    let place = folder().join("natively");
    std::fs::create_dir_all(&place).unwrap();
    let run = |input: Vec<u8>| {
        let status = native(program, &stdin(input.len()), &input, &place);
        status.code().or(status.signal().map(|signal| -signal)).unwrap()
    };
    inputs.map(run).collect()
}

fn bounds(found: &Exploration) -> Vec<&'static str> {
    found.completeness.bounds().map(Bound::name).collect()
}

/// String instructions with a count of nothing, one, and more.
pub fn repeats() {
    let forms = [
        ("movsb", "rep movsb", "b[0] * 3 + b[1] + b[2] * 5"),
        ("movsq", "rep movsq", "b[0] * 3 + b[8] + b[17] * 5"),
        ("stosb", "rep stosb", "b[0] + b[1] * 3 + b[2] * 7"),
        ("stosd", "rep stosl", "b[0] + b[4] * 3 + b[9] * 7"),
        ("lodsb", "rep lodsb", "ax & 255"),
        ("lodsw", "rep lodsw", "ax & 0xffff"),
        ("scasb", "repne scasb", "n * 7 + ax"),
        ("scasw", "repe scasw", "n * 7 + ax"),
        ("cmpsb", "repe cmpsb", "n * 11"),
        ("cmpsw", "repne cmpsw", "n * 11"),
    ];
    for (name, instruction, value) in forms {
        let text = format!(
            "#include <unistd.h>\nint main(void) {{\n  unsigned char in[1];\n  char a[40] = \"abcdefghijklmnopqrstuvw\", b[40] = \"abxdefgh\";\n\
             if (read(0, in, 1) != 1) return 99;\n  unsigned long n = in[0] & 3, ax = 'x';\n  void *from = a, *to = b;\n\
             asm volatile(\"{instruction}\" : \"+c\"(n), \"+D\"(to), \"+S\"(from), \"+a\"(ax) : : \"memory\", \"cc\");\n\
             unsigned v = {value}, i = 0;\n  while (i < v % 90) i++;\n  return i;\n}}\n"
        );
        let program = compile(&format!("repeat-{name}"), &text);
        let found = look(&program, 1, &all(&format!("repeat-{name}")));
        assert_eq!(found.divergences(), 0, "{name}");
        assert!(found.completeness.is_complete(), "{name}: {:?}", found.completeness);
        assert_eq!(ends(&found), natively(&program, (0..4).map(|n| vec![n])), "{name}");
    }
}

/// Branches behind a call that its summary does not take are found with summaries as without.
pub fn aside() {
    let calls = [
        ("atoi", "atoi(b + (b[2] & 1))", "42"),
        ("strlen", "(int)strlen(b + (b[2] & 1))", "1"),
        ("strcmp", "strcmp(b + (b[2] & 1), \"yz\") == 0", "1"),
        ("strchr", "strchr(b + (b[2] & 1), 'q') != 0", "1"),
        ("memchr", "memchr(b + (b[2] & 1), 'q', 2) != 0", "1"),
        ("strspn", "(int)strspn(b + (b[2] & 1), \"pq\")", "2"),
    ];
    for (name, call, value) in calls {
        let text = format!(
            "#include <stdlib.h>\n#include <string.h>\n#include <unistd.h>\nint main(void) {{\n  char b[5] = {{0}};\n\
             if (read(0, b, 3) != 3) return 9;\n  int v = {call};\n  if (v == {value}) abort();\n  if (b[0] == 'k') return 3;\n  return 1;\n}}\n"
        );
        let program = compile(&format!("aside-{name}"), &text);
        for summaries in [false, true] {
            let settings = Settings { summaries, ..all(&format!("aside-{name}-{summaries}")) };
            let found = look(&program, 3, &settings);
            assert_eq!(found.divergences(), 0, "{name} {summaries}");
            assert!(found.completeness.is_complete(), "{name} {summaries}: {:?}", found.completeness);
            assert_eq!(ends(&found), BTreeSet::from([-libc::SIGABRT, 1, 3]), "{name} {summaries}");
        }
    }
}

/// Bytes that the program puts somewhere and takes back depend on the input as before, or the search says that they were lost.
pub fn passes() {
    let ways = [
        (
            "file",
            true,
            "int f = open(\"t1\", 0102 | 01000, 0600); write(f, in, 2); lseek(f, 0, 0); read(f, out, 2);",
        ),
        (
            "later",
            true,
            "int f = open(\"t2\", 0101 | 01000, 0600); write(f, \"zz\", 2); write(f, in, 2); close(f); f = open(\"t2\", 0); pread(f, out, 2, 2);",
        ),
        (
            "stdio",
            true,
            "FILE *f = fopen(\"t3\", \"w+\"); fputc(in[0], f); fputc(in[1], f); rewind(f); out[0] = fgetc(f); out[1] = fgetc(f);",
        ),
        (
            "vectors",
            true,
            "int f = open(\"t4\", 0102 | 01000, 0600); struct iovec v[2] = {{in + 1, 1}, {in, 1}}; writev(f, v, 2); lseek(f, 0, 0); read(f, out + 1, 1); read(f, out, 1);",
        ),
        (
            "pipe",
            true,
            "int p[2]; pipe(p); write(p[1], \"ab\", 2); write(p[1], in, 2); char x[2]; read(p[0], x, 2); read(p[0], out, 2);",
        ),
        (
            "overwritten",
            true,
            "int f = open(\"t5\", 0102 | 01000, 0600); write(f, in, 2); lseek(f, 0, 0); write(f, \"c\", 1); lseek(f, 0, 0); read(f, out, 2);",
        ),
        (
            "cut",
            true,
            "int f = open(\"t6\", 0102 | 01000, 0600); write(f, in, 2); ftruncate(f, 1); ftruncate(f, 2); lseek(f, 0, 0); read(f, out, 2);",
        ),
        (
            "mapped",
            true,
            "int f = open(\"t7\", 0102 | 01000, 0600); write(f, in, 2); char *m = mmap(0, 4096, 1, 2, f, 0); out[0] = m[0]; out[1] = m[1];",
        ),
        (
            "standard",
            true,
            "int f = open(\"t8\", 0102 | 01000, 0600); dup2(f, 1); write(1, in, 2); lseek(1, 0, 0); read(1, out, 2);",
        ),
        ("socket", false, "int p[2]; socketpair(1, 1, 0, p); write(p[0], in, 2); read(p[1], out, 2);"),
        (
            "copied",
            false,
            "int f = open(\"t9\", 0102 | 01000, 0600), g = open(\"t10\", 0102 | 01000, 0600); write(f, in, 2); lseek(f, 0, 0); sendfile(g, f, 0, 2); lseek(g, 0, 0); read(g, out, 2);",
        ),
        (
            "written",
            false,
            "int f = open(\"t11\", 0102 | 01000, 0600); ftruncate(f, 4096); char *m = mmap(0, 4096, 3, 1, f, 0); m[0] = in[0]; m[1] = in[1]; read(f, out, 2);",
        ),
    ];
    for (name, is_followed, way) in ways {
        let text = format!(
            "#define _GNU_SOURCE\n#include <fcntl.h>\n#include <stdio.h>\n#include <sys/mman.h>\n#include <sys/sendfile.h>\n\
             #include <sys/socket.h>\n#include <sys/uio.h>\n#include <unistd.h>\nint main(void) {{\n  char in[2], out[2] = {{0}};\n\
             if (read(0, in, 2) != 2) return 9;\n  {way}\n  if (out[0] == 'Q') return out[1] == 'R' ? 41 : 40;\n  return out[1] == 'S' ? 3 : 1;\n}}\n"
        );
        let program = compile(&format!("passes-{name}"), &text);
        let place = folder();
        std::env::set_current_dir(&place).unwrap();
        let found = look(&program, 2, &all(&format!("passes-{name}")));
        assert_eq!(found.divergences(), 0, "{name}");
        let letters = [b'Q', b'R', b'S', b'T'];
        let pairs = letters.iter().flat_map(|a| letters.iter().map(move |b| vec![*a, *b]));
        let native = natively(&program, pairs);
        let is_all = native.is_subset(&ends(&found));
        assert!(is_all || !found.completeness.is_complete(), "{name}: {native:?} {:?}", ends(&found));
        if is_followed {
            assert!(
                is_all && found.completeness.is_complete(),
                "{name}: {:?} {:?}",
                ends(&found),
                found.completeness
            );
        }
    }
}

/// What a child process does with the input is not followed.
pub fn children() {
    let ways = [
        (
            "shared",
            "char *m = mmap(0, 4096, 3, 0x21, -1, 0); if (!fork()) { m[0] = in[0]; _exit(0); } wait(0); v = m[0];",
        ),
        ("status", "int s; if (!fork()) _exit(in[0] == 'Q'); wait(&s); v = WEXITSTATUS(s) ? 'Q' : 0;"),
        (
            "piped",
            "int p[2]; pipe(p); if (!fork()) { write(p[1], in, 1); _exit(0); } char x; read(p[0], &x, 1); v = x;",
        ),
    ];
    for (name, way) in ways {
        let text = format!(
            "#include <sys/mman.h>\n#include <sys/wait.h>\n#include <unistd.h>\nint main(void) {{\n  char in[1];\n  int v = 0;\n\
             if (read(0, in, 1) != 1) return 9;\n  {way}\n  return v == 'Q' ? 40 : 1;\n}}\n"
        );
        let program = compile(&format!("children-{name}"), &text);
        let found = look(&program, 1, &all(&format!("children-{name}")));
        assert!(!found.completeness.is_complete(), "{name}: {:?}", ends(&found));
    }
}

/// A search that is resumed admits what the one before it left out; another question is not a resumed one.
pub fn resumed() {
    let text = "#include <unistd.h>\nint main(void) {\n  char in[2], more[8];\n  if (read(0, in, 2) != 2) return 9;\n\
        if (in[0] == 'Q') return 4;\n  int n = read(0, more, in[1] & 7);\n  return in[1] == 'x' ? 5 : 6 + n;\n}\n";
    let program = compile("resumed", text);
    let first = Settings { tests: 1, ..all("resumed") };
    let found = look(&program, 2, &first);
    assert!(bounds(&found).contains(&"values"), "{:?}", found.completeness);
    let again = Settings { resume: true, ..all("resumed") };
    let found = look(&program, 2, &again);
    assert!(bounds(&found).contains(&"values"), "{:?}", found.completeness);
    // Now every input is expanded, and only the folder knows.
    let found = look(&program, 2, &again);
    assert!(found.tests.iter().all(|test| test.constraints.is_none()), "nothing is left to ask");
    assert_eq!(bounds(&found), ["values"], "{:?}", found.completeness);
    let other = Settings { summaries: true, ..again.clone() };
    let refused = explore(&command(&program, &[]), &stdin(2), &other, &mut |_, _| ());
    assert!(refused.is_err_and(|error| error.to_string().contains("--summaries")));
    let refused = explore(&command(&program, &["argument"]), &stdin(2), &again, &mut |_, _| ());
    assert!(refused.is_err_and(|error| error.to_string().contains("argument")));
    // Another program under the same name.
    let program = compile("resumed", &text.replace("return 4", "return 3"));
    assert!(explore(&command(&program, &[]), &stdin(2), &again, &mut |_, _| ()).is_err());
}

/// A worker that dies takes nothing with it: neither when the search goes on nor when it is resumed.
pub fn killed() {
    let text = "#include <unistd.h>\nint main(void) {\n  char in[2];\n  if (read(0, in, 2) != 2) return 9;\n\
        return in[0] == 'Q' ? 4 : in[1] == 'R' ? 5 : 6;\n}\n";
    let program = compile("killed", text);
    let starved = Settings { term_memory: 1 << 12, ..all("killed") };
    let found = look(&program, 2, &starved);
    assert_eq!(bounds(&found), ["memory"], "{:?}", found.completeness);
    let found = look(&program, 2, &Settings { resume: true, ..all("killed") });
    assert_eq!(bounds(&found), ["memory"], "{:?}", found.completeness);
    assert!(ends(&found).len() == 3, "but what waits is looked at: {:?}", ends(&found));
}
