//! A finding whose native twin dies of the signal that the mistake brings is confirmed, whether a sanitizer says something or not.

use crate::left_out::{explored, program};
use parallax_cexplore::explore::{Entry, Settings};
use parallax_cexplore::native::{self, Native};
use parallax_cmachine::Problem;

/// What goes wrong when the byte is 7, and what it is called.
const MISTAKES: [(&str, &str, Problem); 12] = [
    ("trap", "__builtin_trap();", Problem::Assertion),
    ("abort", "abort();", Problem::Assertion),
    ("assert", "assert(c != 7);", Problem::Assertion),
    ("division", "return 3 / (c - 7);", Problem::DivisionByZero),
    ("remainder", "return 3 % (c - 7);", Problem::DivisionByZero),
    ("quotient", "{ volatile int low = -2147483647 - 1; return low / (6 - c); }", Problem::Overflow),
    ("null", "{ int *p = 0; *p = 1; }", Problem::NullDereference),
    ("null_call", "{ void (*f)(void) = 0; f(); }", Problem::NullDereference),
    ("beyond", "{ static int a[4]; a[c << 20] = 1; }", Problem::OutOfBounds),
    ("nowhere", "{ int *p = (int *)0x7fff00000000; *p = 1; }", Problem::OutOfBounds),
    ("text", "{ char *p = \"text\"; p[1] = c; }", Problem::OutOfBounds),
    ("low_free", "free((void *)16);", Problem::InvalidFree),
];

#[test]
fn signals_confirm_what_brings_them() {
    let folder = std::env::temp_dir().join(format!("parallax-signals-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    for (name, mistake, problem) in MISTAKES {
        let text = format!(
            "#include <assert.h>\n#include <stdio.h>\n#include <stdlib.h>\n\
             int main(void) {{\n  int c = getchar();\n  if (c == 7) {mistake}\n  return 0;\n}}\n"
        );
        let program = program(&format!("signal_{name}"), &text);
        let entry =
            Entry::Main { arguments: Vec::new(), stdin: 1, files: Vec::new(), environment: Vec::new() };
        let settings = Settings { entry, ..Settings::default() };
        let found = explored(&program, &settings);
        let kinds: Vec<Problem> = found.findings.iter().map(|finding| finding.problem).collect();
        assert_eq!(kinds, [problem], "{name}");
        let native = native::confirm(&program, &found.findings[0], &settings, &folder);
        // Objects are kept in the folder for the next finding of the same program.
        std::fs::remove_dir_all(&folder).expect("the folder goes");
        std::fs::create_dir_all(&folder).expect("and comes back");
        assert_eq!(native, Native::Confirmed, "{name}");
    }
    std::fs::remove_dir_all(&folder).expect("the folder goes");
}
