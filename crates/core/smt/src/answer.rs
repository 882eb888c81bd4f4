//! What a solver answers, and what it may spend on an answer.

use crate::Model;
use std::time::Duration;

/// The answer to "is there an interpretation under which all of these hold?".
#[derive(Clone, Debug)]
pub enum Answer {
    /// Yes: this one, re-evaluated before it was handed out.
    Sat(Model),
    /// No.
    Unsat,
    /// Not found out.
    Unknown(Reason),
}

impl Answer {
    /// Whether the answer is yes.
    pub fn is_sat(&self) -> bool {
        matches!(self, Answer::Sat(_))
    }

    /// Whether the answer is no.
    pub fn is_unsat(&self) -> bool {
        matches!(self, Answer::Unsat)
    }

    /// The model, if the answer is yes.
    pub fn model(self) -> Option<Model> {
        match self {
            Answer::Sat(model) => Some(model),
            _ => None,
        }
    }

    /// Yes or no, or why neither.
    pub fn decided(&self) -> Result<bool, Reason> {
        match self {
            Answer::Sat(_) => Ok(true),
            Answer::Unsat => Ok(false),
            Answer::Unknown(reason) => Err(reason.clone()),
        }
    }
}

/// Why a solver gave up.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, thiserror::Error)]
pub enum Reason {
    /// The time limit was reached.
    #[error("the time limit was reached")]
    Time,
    /// The limit on conflicts was reached.
    #[error("the search limit was reached")]
    Search,
    /// The query is larger than the size limit.
    #[error("the query is larger than the size limit")]
    Size,
    /// The solver does not know an operator of the query.
    #[error("{0} are beyond this solver")]
    Unsupported(&'static str),
    /// The solver gave up for a reason of its own.
    #[error("the solver gave up: {0}")]
    Incomplete(String),
    /// Our mistake: an answer that does not stand up to its check.
    #[error("internal error: {0}")]
    Internal(String),
}

/// What one check may spend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Wall-clock time; nothing means no limit.
    pub time: Option<Duration>,
    /// Conflicts of the underlying search; nothing means no limit.
    pub conflicts: Option<u64>,
    /// How large the encoded query may grow, in gates: a bound on memory, about 150 bytes each.
    pub size: usize,
}

impl Limits {
    /// So many conflicts and no clock: the answer does not depend on what else the machine does.
    pub fn counted(conflicts: u64) -> Self {
        Limits { time: None, conflicts: Some(conflicts), ..Limits::default() }
    }
}

impl Default for Limits {
    /// Ten seconds, no limit on conflicts, four million gates.
    fn default() -> Self {
        Limits { time: Some(Duration::from_secs(10)), conflicts: None, size: 4_000_000 }
    }
}
