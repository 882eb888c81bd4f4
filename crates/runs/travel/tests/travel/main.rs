//! Travelling in recordings of real programs, compared with an eager list of every step.

mod across;
mod eager;
mod kept;
mod passes;
mod queries;
mod recorded;
mod thinned;

use recorded::recorder;

fn main() {
    use std::os::unix::ffi::OsStringExt;
    let arguments: Vec<Vec<u8>> = std::env::args_os().skip(1).map(OsStringExt::into_vec).collect();
    if arguments.first().is_some_and(|first| first == b"--record") {
        recorder::record(&arguments[1..], parallax_record::Settings::default());
    }
    let mut tests = queries::tests();
    tests.extend(kept::tests());
    tests.extend(across::tests());
    tests.extend(thinned::tests());
    recorder::run(tests)
}
