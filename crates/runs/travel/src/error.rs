//! Why a question about a recording has no answer.

use parallax_trace::Time;
use std::ops::Range;

/// Why a recording cannot be travelled in.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TravelError {
    /// It cannot be opened.
    #[error("{0}")]
    Open(String),
    /// It holds nothing that could be replayed.
    #[error("the recording holds no step")]
    Empty,
    /// Its program cannot be started again.
    #[error("the recording cannot be replayed: {0}")]
    Start(String),
    /// The replay does not come to the recorded end.
    #[error("the replay ends at {time}, and the recording goes on to {last}: {why}")]
    Ended {
        /// The steps that were made.
        time: Time,
        /// The steps that were recorded.
        last: Time,
        /// What the replay says.
        why: String,
    },
    /// A time that is not in the recording.
    #[error("there is no time {time}: the recording goes from {} to {}", span.start, span.end)]
    NoTime {
        /// The time.
        time: Time,
        /// What there is.
        span: Range<Time>,
    },
    /// A test of a state has no answer.
    #[error(transparent)]
    Test(crate::examine::Unanswered),
    /// Nobody wants the answer any more.
    #[error("the search was stopped")]
    Stopped,
    /// A thread of ours has come to an end it should not have come to.
    #[error("a worker has failed: {0}")]
    Worker(String),
}
