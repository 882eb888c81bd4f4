//! Whole pages and whole runs: from documents and folders of sources to HTML, and from one run to the next.

mod edits;
mod follow;
mod page;
mod real;
mod tree;
mod triage;
mod verdicts;
