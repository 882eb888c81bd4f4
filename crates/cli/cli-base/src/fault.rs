//! A fault of ours never leaves the contract of exit statuses: it says where it happened, and asks for a report.

use crate::exit::Status;
use std::panic::{PanicHookInfo, UnwindSafe, catch_unwind, set_hook};

/// Does `work`; a panic in it becomes the status for faults of ours.
pub fn contained<T>(work: impl FnOnce() -> T + UnwindSafe) -> Result<T, Status> {
    set_hook(Box::new(tell));
    catch_unwind(work).map_err(|_| {
        crate::exit::say_as_json(
            "a fault of Parallax, not of your input; nothing was concluded",
            Status::Unsupported,
        );
        Status::Unsupported
    })
}

/// The message, for a panic of any thread.
fn tell(info: &PanicHookInfo<'_>) {
    let place = info.location().map_or_else(String::new, |at| format!(" ({}:{})", at.file(), at.line()));
    let words = info.payload_as_str().unwrap_or("no message");
    let version = env!("CARGO_PKG_VERSION");
    eprintln!(
        "error: a fault of Parallax {version}, not of your input{place}: {words}\n  \
         Nothing was concluded. Please report this with the command line and the input."
    );
    if std::env::var_os("RUST_BACKTRACE").is_some_and(|value| value != "0") {
        eprintln!("{}", std::backtrace::Backtrace::force_capture());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_status_three() {
        let fault = contained(|| -> Status { panic!("planted") }).expect_err("it panicked");
        assert_eq!(fault as u8, 3);
        let deep = contained(|| {
            let none: Vec<u8> = Vec::new();
            std::hint::black_box(&none)[std::hint::black_box(7)]
        });
        assert_eq!(deep.expect_err("there is no eighth byte") as u8, 3);
        assert_eq!(contained(|| 5).expect("nothing happened"), 5);
    }
}
