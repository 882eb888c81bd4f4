//! The crate's tests, in one program: each further one would link and instantiate everything again.

mod common;
mod crashes;
mod library;
mod local;
mod native;
mod paper;
mod planted;
mod refine;
mod strangers;
mod table;
mod truth;
mod typed;
mod unread;
mod worlds;
