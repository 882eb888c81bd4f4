//! Concolic exploration of Linux programs for x86-64 (Lim, Lal, Reps 2009, section 7).
//!
//! A [`Subject`] is a program, stopped before the first instruction that touches unknown input. Each input runs in a
//! fork of it, first in the emulator alone ([`concrete`]), then with terms beside the numbers where they depend on the input
//! (`lockstep`, over the [`core`] reading of `ir`). The path constraint of that run (`constraint`) gives the inputs that go
//! another way, and [`explore()`] decides which of them runs next. Each run has a world of its own (`layers`), and what
//! would leave that world ends it (`effects`).

mod access;
mod block;
mod calls;
mod code_place;
pub mod concrete;
mod constraint;
pub mod core;
pub mod coverage;
mod crash;
mod dependence;
mod descriptors;
mod door;
mod effects;
mod explore;
mod flows;
mod folder;
mod frame;
mod input;
mod layers;
mod lockstep;
mod moment;
mod place;
mod rank;
mod reach;
mod shadow;
mod source;
mod subject;
mod summary;
mod symbolic;
mod trail;
pub mod ways;
mod worker;

pub use code_place::CodePlace;
pub use concrete::{Crossing, Outcome};
pub use crash::call_site;
pub use explore::{Exploration, ExploreError, Settings, Test, explore};
pub use folder::name;
pub use input::{Input, Kind, Source, Sources};
pub use layers::Allowed;
pub use moment::Moment;
pub use subject::{Command, Subject, SubjectError};
pub use worker::apart;
