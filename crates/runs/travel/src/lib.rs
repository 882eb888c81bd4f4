//! A recording opened for travel: the state at any time, and searches forwards and backwards.
//!
//! [`Travel`] opens a recording and implements [`parallax_trace::Target`], so traces can be taken from it. Its
//! conditions are [`Filter`]s, its states are [`State`]s.
//!
//! ```no_run
//! use parallax_trace::{Direction, Target, Unwatched};
//! use parallax_travel::{Filter, Settings, Travel};
//! let travel = Travel::open("sorted.rec".as_ref(), "0", Settings::default())?;
//! let span = travel.span();
//! // The last call of 0x401136, and what its first argument was.
//! let calls = [Filter::Execute(0x401136.into())];
//! let found = travel.search(&calls, span, Direction::Backward, 1, &Unwatched)?;
//! for hit in found.hits {
//!     let state = travel.state(hit.time)?;
//!     println!("{}: thread {}, rdi = {:?}", hit.time, state.thread(), state.register("RDI"));
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Times are those of `parallax_record`: a step is an executed instruction, a completed system call or the delivery of a
//! signal, the first step is 1, and the state *t* is the one before step *t*. [`State::thread`] is the thread that makes
//! step *t*.
//!
//! How it works. The recording is replayed once, as far as it is asked for, by the *pioneer*: it leaves a keyframe at
//! the end of every interval, and notes what happened in the interval (`seen`): which code ran, which pages were read and
//! written, which system calls were made. A search runs only those intervals again in which its conditions can hold, from
//! their keyframes, on several threads at once, with probes in the code it asks about; what it found in an interval is
//! kept. Keyframes share what did not change between them; over the budget the one goes whose loss costs least. What the
//! pioneer saw, and some of the keyframes, are kept in a file (`store`), so that the next who opens the recording need not
//! replay it first.
//!
//! Absent on purpose: any knowledge of symbols, and of what traces do with times.

mod collect;
mod error;
mod examine;
mod filter;
mod finder;
mod findings;
mod glance;
mod hand;
mod passing;
mod pioneer;
mod search;
mod seen;
mod show;
mod state;
mod store;
mod timeline;
mod travel;
mod turns;
mod visit;

pub use error::TravelError;
pub use examine::{Examine, Look, Test, Unanswered};
pub use filter::{Filter, Numbers, Ranges};
pub use passing::{Passing, Registers};
pub use state::{Mapped, State};
pub use travel::{Settings, Travel};
pub use visit::Side;
