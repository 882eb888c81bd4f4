//! Automatic placement: warnings of inference that the execution of a function refutes, and those that stay.

use crate::common;

use common::{found, load};
use parallax_mixy::{Settings, check};
use std::time::Duration;

fn refined(text: &str) -> (Vec<String>, usize) {
    let program = load(text);
    let settings = Settings { refine: Some(Duration::from_secs(20)), ..Settings::default() };
    let report = check(&program.module, &settings).expect("it is checked");
    (found(&program, &report), report.refuted.len())
}

#[test]
fn a_test_before_the_use_refutes_a_warning() {
    let text = "int v, *g;
void use(void) {
  if (g) *g = 1;
}
int main(int argc, char **argv) {
  if (argc > 1) g = &v;
  use();
  return 0;
}
";
    assert_eq!(refined(text), (vec![], 1));
}

#[test]
fn an_error_stays_whatever_is_executed() {
    let text = "int v, *g;
void use(void) {
  if (v == 3) *g = 1;
}
int main(int argc, char **argv) {
  v = argc;
  use();
  return 0;
}
";
    let (found, refuted) = refined(text);
    assert_eq!((found.len(), refuted), (1, 0), "{found:?}");
    assert!(found[0].starts_with("3 null-dereference"), "{found:?}");
}

/// A block sees one world, and another run may see another: what depends on a file, a variable, the time or what is read is not
/// refuted by a block. Not tried: `environ` that is read by hand, sockets, other processes.
#[test]
fn the_world_is_open() {
    let asks = [
        "FILE *f = fopen(\"/etc/passwd\", \"r\"); if (f) g = 0;",
        "if (getenv(\"HOME\")) g = 0;",
        "if (time(0) > 1000000000) g = 0;",
        "char b[9]; if (read(0, b, 9) > 4) g = 0;",
        "char b[9]; if (fgets(b, 9, stdin)) g = 0;",
        "struct stat s; if (!stat(\"/etc/passwd\", &s)) g = 0;",
        "if (!access(\"/etc/passwd\", 4)) g = 0;",
        "if (opendir(\"/etc\")) g = 0;",
    ];
    for ask in asks {
        let text = format!(
            "#include <dirent.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <sys/stat.h>\n#include <time.h>\n\
             #include <unistd.h>\nint x, *g = &x;\nint main(void) {{\n  {ask}\n  return *g;\n}}\n"
        );
        let (found, refuted) = refined(&text);
        assert_eq!((found.len(), refuted), (1, 0), "{ask}: {found:?}");
    }
    // What asks for nothing is refuted as before: the test can fail.
    let (found, refuted) = refined("int x, *g = &x;\nint main(void) {\n  if (x) g = 0;\n  return *g;\n}\n");
    assert_eq!((found.len(), refuted), (0, 1), "{found:?}");
}
