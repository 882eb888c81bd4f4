//! A sign of life for work that cannot say how far it is.

use std::io::{IsTerminal, Write};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// Does the work. On a terminal, a line on standard error says what goes on once it takes longer than a moment; it is
/// gone when the work is done.
pub fn during<T>(what: &str, work: impl FnOnce() -> T) -> T {
    if !std::io::stderr().is_terminal() {
        return work();
    }
    let (done, wait) = channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let start = Instant::now();
            let mut shown = false;
            while wait.recv_timeout(Duration::from_secs(1)) == Err(RecvTimeoutError::Timeout) {
                shown = true;
                eprint!("\r\x1b[K{what}, {} s", start.elapsed().as_secs());
                let _ = std::io::stderr().flush();
            }
            if shown {
                eprint!("\r\x1b[K");
            }
        });
        let result = work();
        drop(done);
        result
    })
}
