//! From reports and sources to one page on which every path reads as code from top to bottom.
//!
//! [`build`] projects each path of each report onto the source below some [`Roots`], and [`html::render`] makes one
//! self-contained file of it. [`serve`] answers a browser that looks at that page and keeps triage answers.
//! Files are read by [`roots`] alone; everything else is given what it needs.

mod build;
pub mod checklist;
mod definitions;
pub mod html;
mod outcomes;
pub mod page;
pub mod project;
pub mod roots;
pub mod serve;
pub mod sources;
pub mod syntax;
pub mod triage;
mod visible;

pub use build::{Input, Progress, build};
pub use roots::Roots;
pub use sources::Sources;
