//! Why a question about data flow has no answer.

use parallax_travel::TravelError;

/// Why it cannot be said where a value comes from.
#[derive(Debug, thiserror::Error)]
pub enum FlowError {
    /// The recording cannot be travelled in.
    #[error(transparent)]
    Travel(#[from] TravelError),
    /// Its program cannot be started again.
    #[error("the recording cannot be replayed: {0}")]
    Start(String),
    /// The replay ends before the time that was asked for.
    #[error("the replay ends at {time}: {why}")]
    Ended {
        /// The steps that were made.
        time: u64,
        /// What the replay says.
        why: String,
    },
    /// A register that the machine does not have.
    #[error("there is no register {0}")]
    NoRegister(String),
    /// A thread that is not there.
    #[error("there is no thread {thread} at {time}")]
    NoThread {
        /// The thread.
        thread: u32,
        /// The time.
        time: u64,
    },
    /// Memory that is not mapped.
    #[error("nothing is mapped at {address:#x} at time {time}")]
    NotMapped {
        /// The first byte that is not.
        address: u64,
        /// The time.
        time: u64,
    },
    /// A time that is not in the recording.
    #[error("there is no time {time}: the recording goes from {first} to {last}")]
    NoTime {
        /// The time.
        time: u64,
        /// The first.
        first: u64,
        /// The last.
        last: u64,
    },
    /// A thread of ours has come to an end it should not have come to.
    #[error("a worker has failed: {0}")]
    Worker(String),
}
