//! How long lifting takes: `lifting FILE...` lifts up to 50,000 instructions of the code of each ELF file, one behind the
//! other as a listing would, and prints microseconds per new instruction: on the clock, and of processor time here and
//! in the process that holds the library.

use object::{Object, ObjectSection, SectionKind};
use parallax_code::language_of;
use parallax_sleigh::{Language, Lifter};
use std::time::Instant;

const MOST: usize = 50_000;
/// The least of a few rounds counts.
const ROUNDS: usize = 3;

fn main() {
    // The library's process is nobody's child; so that its time can be told, it becomes ours when it is an orphan.
    // SAFETY: a setting of this process.
    unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1) };
    println!(
        "{:24} {:12} {:>12} {:>8} {:>8} {:>8}",
        "file", "language", "instructions", "clock", "here", "library"
    );
    for path in std::env::args().skip(1) {
        let bytes = std::fs::read(&path).expect("a file");
        let language = language_of(&bytes).expect("an ELF file of a known processor");
        let language = Language::find(language).expect("a processor that comes with Parallax");
        let file = object::File::parse(bytes.as_slice()).expect("an ELF file");
        let code: Vec<(u64, &[u8])> = file
            .sections()
            .filter(|section| section.kind() == SectionKind::Text)
            .filter_map(|section| Some((section.address(), section.data().ok()?)))
            .collect();
        let mut best = [f64::INFINITY; 3];
        let mut count = 0;
        for _ in 0..ROUNDS {
            let mut lifter = Lifter::new(language).expect("a specification that loads");
            // The library loads its specification with the first question.
            let _ = lifter.lift_by_specification(0, &[0x60, 0, 0, 0, 0, 0, 0, 0]);
            let (clock, here, library) = (Instant::now(), time(libc::RUSAGE_SELF), worker_time());
            count = lift(&mut lifter, &code);
            let spent =
                [clock.elapsed().as_secs_f64(), time(libc::RUSAGE_SELF) - here, worker_time() - library];
            best.iter_mut().zip(spent).for_each(|(best, spent)| *best = best.min(spent));
        }
        let name = path.rsplit('/').next().unwrap_or(&path);
        let [clock, here, library] = best.map(|seconds| seconds / count as f64 * 1e6);
        println!("{name:24} {:12} {count:12} {clock:8.2} {here:8.2} {library:8.2}", language.name);
    }
}

fn lift(lifter: &mut Lifter, code: &[(u64, &[u8])]) -> usize {
    let mut count = 0;
    for (start, bytes) in code {
        let mut at = 0;
        while at < bytes.len() && count < MOST {
            let window = &bytes[at..bytes.len().min(at + 512)];
            // Data between functions is stepped over.
            at += match lifter.lift(start + at as u64, window) {
                Ok(instruction) => {
                    count += 1;
                    usize::from(instruction.length).max(1)
                }
                Err(_) => 4,
            };
        }
    }
    count
}

fn seconds(time: libc::timeval) -> f64 {
    time.tv_sec as f64 + time.tv_usec as f64 / 1e6
}

/// Processor time of this process.
fn time(who: libc::c_int) -> f64 {
    // SAFETY: the structure is made of numbers and pointers, for which zero is a value.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: the structure is ours.
    unsafe { libc::getrusage(who, &mut usage) };
    seconds(usage.ru_utime) + seconds(usage.ru_stime)
}

/// Processor time of the children that are alive, in nanoseconds of their schedulers' accounts.
fn worker_time() -> f64 {
    let me = std::process::id().to_string();
    let children = std::fs::read_to_string(format!("/proc/{me}/task/{me}/children")).unwrap_or_default();
    let of = |pid: &str| std::fs::read_to_string(format!("/proc/{pid}/schedstat")).ok();
    let nanoseconds: f64 = children
        .split_whitespace()
        .filter_map(of)
        .filter_map(|line| line.split(' ').next()?.parse::<f64>().ok())
        .sum();
    nanoseconds / 1e9
}
