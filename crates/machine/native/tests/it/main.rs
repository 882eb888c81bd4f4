//! The translator against the list it copies by, and translated code against the exact engine.

mod changes;
mod copied;
mod counting;
mod home;
mod interrupts;
mod lockstep;
mod mistakes;
mod programs;
mod state;
mod undefined;
