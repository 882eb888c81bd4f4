//! Automatic placement: warnings of inference that the execution of a function refutes, and those that stay.

mod common;

use common::{found, load};
use parallax_mixy::{Settings, check};
use std::time::Duration;

fn refined(text: &str) -> (Vec<String>, usize) {
    let program = load(text);
    let settings = Settings { refine: Some(Duration::from_secs(20)), ..Settings::default() };
    let report = check(&program.module, &settings).expect("it is checked");
    (found(&program, &report), report.refuted)
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
