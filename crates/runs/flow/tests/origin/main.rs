//! Where values come from, in recordings of real programs: held against the processor, an eager tracker, and programs whose
//! answers are plain.

mod eager;
mod generated;
mod planned;
mod recorded;

use recorded::recorder;

fn main() {
    use std::os::unix::ffi::OsStringExt;
    let arguments: Vec<Vec<u8>> = std::env::args_os().skip(1).map(OsStringExt::into_vec).collect();
    if arguments.first().is_some_and(|first| first == b"--record") {
        recorder::record(&arguments[1..], parallax_record::Settings::default());
    }
    let tests = [eager::tests(), generated::tests(), planned::tests()];
    recorder::run(tests.into_iter().flatten().collect())
}
