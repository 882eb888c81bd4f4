//! Travelling in recordings of real programs, compared with an eager list of every step.
//!
//! Recording takes over the process that does it, so this binary runs itself with `--record`. There is no test harness,
//! only the habits of one.

mod eager;
mod queries;
mod recorded;

/// A test: a name, and what to do, which says what went wrong.
pub type Test = (String, Box<dyn Fn() -> Result<(), String>>);

fn main() {
    use std::os::unix::ffi::OsStringExt;
    let arguments: Vec<Vec<u8>> = std::env::args_os().skip(1).map(OsStringExt::into_vec).collect();
    if arguments.first().is_some_and(|first| first == b"--record") {
        recorded::record(&arguments[1..]);
    }
    if arguments.iter().any(|argument| argument == b"--list") {
        return;
    }
    let names: Vec<String> = arguments
        .iter()
        .map(|text| String::from_utf8_lossy(text).into_owned())
        .filter(|text| !text.starts_with('-'))
        .collect();
    let mut tests = queries::tests();
    tests.retain(|(name, _)| names.is_empty() || names.iter().any(|wanted| name.contains(wanted.as_str())));
    println!("running {} tests", tests.len());
    let mut failures = Vec::new();
    for (name, test) in &tests {
        let started = std::time::Instant::now();
        match test() {
            Ok(()) => println!("test {name} ({:.1} s) ... ok", started.elapsed().as_secs_f32()),
            Err(why) => {
                println!("test {name} ... FAILED");
                failures.push(format!("---- {name} ----\n{why}"));
            }
        }
    }
    failures.iter().for_each(|failure| println!("{failure}"));
    println!("test result: {} passed; {} failed", tests.len() - failures.len(), failures.len());
    std::process::exit(i32::from(!failures.is_empty()));
}
