//! Two processes in one process of the host, in turns: neither hears of the other's signals, nor sees its clock, and
//! the program around them keeps its own.

use parallax_process::outside::live::{Clock, Live};
use parallax_process::{Ending, Process, Program};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// Arguments: how many signals to send itself, and what its clock should show, in seconds. Its status is how many of its
/// signals it heard, or more than 100 if something else is wrong.
const SOURCE: &str = r#"
#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
static volatile int heard, rang;
static void note(int signal) { if (signal == SIGALRM) rang++; else heard++; }
int main(int count, char **list) {
    int many = atoi(list[1]);
    long origin = atol(list[2]);
    signal(SIGUSR1, note);
    signal(SIGALRM, note);
    struct itimerval timer = {.it_value = {.tv_usec = 300}};
    setitimer(ITIMER_REAL, &timer, NULL);
    for (int i = 0; i < many; i++) {
        kill(getpid(), SIGUSR1);
        for (volatile int k = 0; k < 1000; k++) {}
    }
    while (!rang) {}
    struct timespec before, after, nap = {.tv_sec = 3600};
    clock_gettime(CLOCK_REALTIME, &before);
    nanosleep(&nap, NULL);
    clock_gettime(CLOCK_REALTIME, &after);
    if (before.tv_sec != origin) return 101;
    if (after.tv_sec - before.tv_sec != 3600) return 102;
    if (rang != 1) return 103;
    return heard;
}
"#;

static OURS: AtomicU32 = AtomicU32::new(0);

extern "C" fn ours(_: i32) {
    OURS.fetch_add(1, Ordering::SeqCst);
}

fn compile() -> PathBuf {
    let binary = std::env::temp_dir().join(format!("parallax-side-by-side-{}", std::process::id()));
    let source = binary.with_extension("c");
    std::fs::write(&source, SOURCE).expect("a temporary file");
    let built = std::process::Command::new("gcc").arg("-O1").arg("-o").args([&binary, &source]).status();
    assert!(built.is_ok_and(|status| status.success()), "scripts/setup names what the tests need");
    std::fs::remove_file(&source).expect("it was there");
    binary
}

fn start(binary: &Path, signals: u32, origin: u64) -> Process {
    let program = Program {
        path: binary.to_owned(),
        arguments: ["x", &signals.to_string(), &origin.to_string()]
            .map(|text| text.as_bytes().to_vec())
            .to_vec(),
        environment: Vec::new(),
        byte_bound: 1 << 28,
        instruction_bound: u64::MAX,
        schedule: None,
    };
    let clock = Clock::counting_from(origin * 1_000_000_000);
    Process::start(program, Box::new(Live::embedded().with_clock(clock))).expect("it can be run")
}

#[test]
fn two_processes_in_turns() {
    // SAFETY: the structure is made of numbers and pointers, for which zero is a value.
    let mut before: libc::sigaction = unsafe { std::mem::zeroed() };
    before.sa_sigaction = ours as *const () as usize;
    for signal in [libc::SIGUSR1, libc::SIGALRM] {
        // SAFETY: the handler only counts.
        assert_eq!(unsafe { libc::sigaction(signal, &before, std::ptr::null_mut()) }, 0);
    }
    let binary = compile();
    // After every single step too: a signal that one has sent itself is still there when the other has had its turn.
    for piece in [997, 1] {
        let mut first = start(&binary, 7, 1_000_000_000);
        let mut second = start(&binary, 23, 2_000_000_000);
        let (mut limit, mut endings) = (0, [None, None]);
        while endings.contains(&None) {
            limit += piece;
            for (process, ending) in [&mut first, &mut second].into_iter().zip(&mut endings) {
                if ending.is_none() {
                    *ending = process.run_until(limit);
                }
            }
            assert!(limit < 100_000_000, "they end");
        }
        assert_eq!(endings, [Some(Ending::Exited(7)), Some(Ending::Exited(23))], "in pieces of {piece}");
    }
    std::fs::remove_file(&binary).expect("it was there");
    assert_eq!(OURS.load(Ordering::SeqCst), 0, "their signals are theirs");
    for signal in [libc::SIGUSR1, libc::SIGALRM] {
        // SAFETY: the structure is made of numbers and pointers, for which zero is a value.
        let mut now: libc::sigaction = unsafe { std::mem::zeroed() };
        // SAFETY: the call reads and writes only what it is handed, which lives long enough.
        unsafe { libc::sigaction(signal, std::ptr::null(), &mut now) };
        assert_eq!(now.sa_sigaction, ours as *const () as usize, "our handlers are ours");
        // SAFETY: the handler only counts.
        unsafe { libc::raise(signal) };
    }
    assert_eq!(OURS.load(Ordering::SeqCst), 2);
}

/// A second process cannot take over signals that another has taken.
#[test]
fn signals_belong_to_one() {
    let first = Live::owner().expect("nothing else runs here");
    assert!(Live::owner().is_err());
    drop(first);
    assert!(Live::owner().is_ok());
}
