//! Executions as lazy lists (Khoo, Foster, Hicks: *Expositor*): traces over any [`Target`], and the EditHAMT.
//!
//! A [`World`] joins a target with what is known about it. [`World::trace`] takes a trace of the times at which a
//! condition holds; combinators make further traces of it; queries search the target for what their answers need and
//! remember it.
//!
//! ```
//! use parallax_trace::{Item, List, Options, World};
//! use std::sync::Arc;
//!
//! let list = List::new(1..101).with("foo", [10, 20, 30, 40, 50]).unwrap();
//! let world = World::new(Arc::new(list), Options::default());
//! let foo = world.trace("foo".to_owned(), Ok);
//! let even = foo.filter(|time| Ok(time % 20 == 0));
//! assert_eq!(even.get_before(40).unwrap(), Some(Item { time: 20, value: 20 }));
//! let count = foo.scan(|before, _| Ok(before.force()? + 1), 0);
//! assert_eq!(count.last().unwrap(), Some(Item { time: 50, value: 5 }));
//! ```
//!
//! Absent on purpose: recordings, files, Python. A target is all this crate knows of an execution.

mod edit;
mod error;
mod intervals;
mod lazy;
mod list;
mod memo;
mod scan;
mod target;
mod times;
mod trace;
mod tree_scan;
mod world;

pub use edit::{Domain, EditHamt, FindMulti, Later, Prior, mix};
pub use error::{Cause, Error, Result};
pub use lazy::Lazy;
pub use list::{List, ListError};
pub use target::{Direction, Found, Hit, INF, Target, Time, Unwatched, Watch};
pub use trace::{Item, Iter, Trace, Value};
pub use world::{Options, World};
