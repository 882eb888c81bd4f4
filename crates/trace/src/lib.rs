//! Executions as lazy lists (Khoo, Foster, Hicks: *Expositor*): traces over any [`Target`].

mod list;
mod target;

pub use list::{List, ListError};
pub use target::{Direction, Found, Hit, INF, Target, Time, Unwatched, Watch};
