//! Exit statuses: the contract every verb keeps.

use std::process::ExitCode;

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
#[allow(dead_code, reason = "the contract names every status, whether or not a verb returns it today")]
pub enum Status {
    /// Success, or nothing found.
    Clean = 0,
    /// Something was found.
    Findings = 1,
    /// Wrong use, or input that cannot be read.
    BadInput = 2,
    /// Not supported, or a fault of ours.
    Unsupported = 3,
    /// A time, memory or depth bound was hit: the answer is incomplete.
    GaveUp = 4,
}

impl From<Status> for ExitCode {
    fn from(status: Status) -> Self {
        ExitCode::from(status as u8)
    }
}

/// An error that knows its exit status. Errors without one count as bad input.
#[derive(Debug)]
pub struct Failure {
    /// The status to exit with.
    pub status: Status,
    /// What to print on stderr.
    pub message: String,
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}

/// An error that is a fault of ours.
pub fn internal(what: impl std::fmt::Display) -> anyhow::Error {
    Failure { status: Status::Unsupported, message: format!("internal: {what}") }.into()
}

/// The status of an answer that a solver did not give: a mistake of ours is none of its bounds.
pub fn undecided(reason: &parallax_smt::Reason) -> Status {
    match reason {
        parallax_smt::Reason::Internal(_) => Status::Unsupported,
        _ => Status::GaveUp,
    }
}

/// Prints an error on stderr and says which status it means. A pipe closed by its reader is a clean end.
pub fn report(error: &anyhow::Error) -> Status {
    if let Some(io) = error.downcast_ref::<std::io::Error>()
        && io.kind() == std::io::ErrorKind::BrokenPipe
    {
        return Status::Clean;
    }
    let text = format!("{error:#}");
    let status = error.downcast_ref::<Failure>().map_or(Status::BadInput, |failure| failure.status);
    say_as_json(text.trim_end().trim_start_matches("error: "), status);
    if text.starts_with("error") {
        eprintln!("{}", text.trim_end());
    } else {
        eprintln!("error: {}", text.trim_end());
    }
    status
}

/// Whoever asked for one JSON document on stdout gets one, also where there is only an error to tell.
pub fn say_as_json(message: &str, status: Status) {
    if std::env::args_os().take_while(|argument| argument != "--").any(|argument| argument == "--json") {
        println!("{:#}", serde_json::json!({ "error": message, "status": status as u8 }));
    }
}
