//! Where a value comes from: data flow through a recording, backwards.
//!
//! [`origin`] starts from a register or some bytes of memory at a time and gives the instruction that wrote it, those that
//! wrote what it was computed from, and so on, back to a system call, a constant, a file or the start of the program:
//!
//! ```no_run
//! use parallax_flow::{Asked, Bounds, Follow, origin};
//! use parallax_trace::{Target, Unwatched};
//! use parallax_travel::{Settings, Travel};
//! let travel = Travel::open("sorted.rec".as_ref(), "0", Settings::default())?;
//! let asked = Asked::Register { name: String::from("RAX"), thread: None };
//! let found = origin(&travel, 12_345, &asked, Follow::default(), Bounds::default(), &Unwatched)?;
//! for node in found.nodes.iter().filter(|node| node.is_end()) {
//!     println!("{}: {:?}", node.time, node.what);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! What an instruction computes from what comes from its lifted operations (`step`), read over the semantic core with a
//! reading that remembers (`reading`): there is no table of instructions here. Values are followed; addresses, and what
//! decides inside an instruction, if that is asked for. Branches are not: what a value would have been had a branch gone
//! the other way is another question.
//!
//! [`told`] says the steps in words. Absent on purpose: symbols and source lines.

mod error;
mod kernel;
mod names;
mod node;
mod origin;
mod reading;
mod replay;
mod step;
pub mod told;
mod wanted;
mod window;

pub use error::FlowError;
pub use node::{Cut, Node, Origin, Piece, What};
pub use origin::{Asked, Bounds, origin};
pub use step::{Effects, Follow, Source, Unknown, Written, effects};
