//! Tests one behind the other on the only thread there is.

use libtest_mimic::{Arguments, Trial};

/// Runs the cases that the command line names.
pub fn in_turn(cases: &[(&str, fn())]) -> ! {
    let mut arguments = Arguments::from_args();
    arguments.test_threads = Some(1);
    let trial = |&(name, case): &(&str, fn())| {
        Trial::test(name, move || {
            case();
            Ok(())
        })
    };
    libtest_mimic::run(&arguments, cases.iter().map(trial).collect()).exit()
}
