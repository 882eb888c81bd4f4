//! What all verbs of the command share: exit statuses, input, progress, and files of reports and coverage.

pub mod coverage;
pub mod exit;
pub mod fault;
pub mod input;
pub mod progress;
pub mod report_file;
pub mod words;
