//! Runs a program and says how fast that went: `measure [--watch] PROGRAM`. With `--watch` every memory access is
//! reported to a counter, as a watchpoint would want. Prints one JSON object.

use parallax_process::execute::Watcher;
use parallax_process::outside::live::Live;
use parallax_process::{Ending, Process, Program};
use std::io::Write;
use std::os::fd::FromRawFd;

/// As the command has it.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

struct Counter(std::rc::Rc<std::cell::Cell<u64>>);

impl Watcher for Counter {
    fn read(&mut self, _: u64, _: u64, _: usize) {
        self.0.set(self.0.get() + 1);
    }

    fn write(&mut self, _: u64, _: u64, _: usize) {
        self.0.set(self.0.get() + 1);
    }
}

fn main() {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let watched = arguments.first().is_some_and(|first| first == "--watch");
    if watched {
        arguments.remove(0);
    }
    // After how many runs a block is improved: what the engine's own number was chosen by.
    let mut warm = None;
    if arguments.first().is_some_and(|first| first == "--warm") {
        warm = arguments.get(1).map(|runs| runs.parse().expect("a number of runs"));
        arguments.drain(..2);
    }
    let program = Program {
        path: arguments[0].clone().into(),
        arguments: arguments.into_iter().map(String::into_bytes).collect(),
        environment: Vec::new(),
        byte_bound: 8 << 30,
        instruction_bound: u64::MAX,
        schedule: None,
    };
    // SAFETY: a program may close its output, which is ours; the answer goes out by another way.
    let out = unsafe { std::fs::File::from_raw_fd(libc::fcntl(1, libc::F_DUPFD_CLOEXEC, 500)) };
    let door = Live::owner().expect("nothing else runs here");
    let mut process = Process::start(program, Box::new(door)).expect("a program that can be run");
    let accesses = std::rc::Rc::new(std::cell::Cell::new(0));
    if watched {
        process.world().watcher = Some(Box::new(Counter(accesses.clone())));
        process.engine().set_watched(true);
    }
    if let Some(warm) = warm {
        process.engine().set_warm(warm);
    }
    let (time_before, room_before) = (processor_time(), room());
    let ending = process.run();
    let seconds = processor_time() - time_before;
    let pages = process.world().memory.touched_pages();
    let status = match ending {
        Ending::Exited(status) => i32::from(status),
        other => panic!("{other}"),
    };
    let written = writeln!(
        &out,
        "{{\"status\": {status}, \"instructions\": {}, \"seconds\": {seconds:.6}, \"accesses\": {}, \"pages\": {pages}, \"bytes_per_page\": {:.0}, \"lifted\": {}}}",
        process.time(),
        accesses.get(),
        (room() - room_before) as f64 / pages as f64,
        process.engine().lifted,
    );
    written.expect("somebody reads the answer");
    // The host gets all of it back at once.
    std::mem::forget(process);
}

fn processor_time() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call reads and writes only what it is handed, which lives long enough.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) };
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// Resident bytes.
fn room() -> i64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    text.split(' ').nth(1).and_then(|pages| pages.parse::<i64>().ok()).unwrap_or(0) * 4096
}
