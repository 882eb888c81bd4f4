//! Recordings of emulated processes: written while a program runs, replayed to the bit.
//!
//! [`Recording`] is a door that forwards to another and writes down what passes; [`Replaying`] is a door that answers
//! from what was written, and cannot reach the host. [`mod@format`] says how that lies in files: a stream per process, files
//! by content, in a folder or packed into one file. [`Archive`] opens either and gives the [`Log`] of a stream.
//!
//! Times are steps: state `t` is the one before step `t`, and the first step is 1.

mod archive;
mod death;
mod family;
pub mod format;
mod log;
mod map;
mod record;
mod recording;
mod replaying;
mod shown;

pub use archive::{Archive, Summary, stream_order};
pub use family::{ReplayError, Replayed, Verdict, replay_family, replay_natively, replay_one};
pub use format::{Header, OpenError};
pub use log::Log;
pub use record::{Record, SavedEnding, SavedReply};
pub use recording::{Health, RecordError, Recording, Settings};
pub use replaying::{Replaying, replay};
