//! How a recording lies in files.
//!
//! A recording is a folder: `NAME.stream` and `NAME.tail` for each process, and `files/HASH` for contents (compressed
//! once all is packed into one file). A stream is a header and then chunks; records are first committed to the tail, a small
//! file that is mapped, so that a recorder that is killed loses nothing; the tail becomes a chunk when it is full enough, old
//! enough, or at a fork, an exec or the end. Chunks count up. The tail holds the number of the chunk that it will become: a tail whose number is not above that of
//! the last chunk has become one already, and is stale.
//!
//! Everything has a checksum. What follows the first bad chunk, or the first bad record of the tail, does not count.

mod chunk;
mod door;
mod header;
mod scribe;
mod tail;
mod writer;

pub use chunk::{Chunk, Kind, compress, decompress, read_chunks};
use door::{Door, Wish};
pub use header::{Header, REVISION, VERSION};
use scribe::Scribe;
pub use tail::{Kept, Progress, TAIL_SIZE, Tail, read_tail};
pub use writer::Writer;

/// The name under which contents are kept: their checksum. Whoever looks for one and finds another has been deceived, so it is
/// one that nobody can aim at.
pub fn name_of(contents: &[u8]) -> String {
    blake3::hash(contents).to_hex().to_string()
}

/// Why a recording cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// A file of it cannot be read.
    #[error("cannot read {name}: {error}")]
    Unreadable {
        /// The file.
        name: String,
        /// Why.
        error: std::io::Error,
    },
    /// It is something else.
    #[error("{name} is not a recording: {why}")]
    NotARecording {
        /// The file.
        name: String,
        /// How that shows.
        why: &'static str,
    },
    /// It was made by a Parallax that this one does not understand.
    #[error("{name} is a recording of version {found}; this Parallax reads version {VERSION}")]
    OtherVersion {
        /// The file.
        name: String,
        /// Its version.
        found: u32,
    },
    /// It was made by a Parallax whose processes take other steps: this one would not replay it to the bit.
    #[error(
        "{name} was recorded by revision {found} of the emulator; this one, revision {REVISION}, would replay it differently"
    )]
    OtherRevision {
        /// The file.
        name: String,
        /// Its revision.
        found: u32,
    },
    /// Its header is damaged.
    #[error("{name}: the header is damaged ({why})")]
    BadHeader {
        /// The file.
        name: String,
        /// How that shows.
        why: &'static str,
    },
    /// A file of a program is missing, or is not what its name says.
    #[error("{name} is {what}")]
    BadFile {
        /// The file.
        name: String,
        /// What is wrong.
        what: &'static str,
    },
    /// There is no process of that name.
    #[error("the recording has no stream {name}; it has {known}")]
    NoStream {
        /// What was asked for.
        name: String,
        /// What there is.
        known: String,
    },
}
