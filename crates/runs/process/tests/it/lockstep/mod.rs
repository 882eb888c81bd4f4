//! Blocks as they run against the meaning they come from, side by side.
//!
//! The engine lifts, improves and joins whole blocks; [`plain`] executes one instruction after the other by the meaning
//! in `parallax_ir`, over the concrete reading, and knows nothing of blocks. Both start from one state and must meet in
//! one state: on stretches of real programs ([`traces`]), on blocks of random instructions ([`blocks`]), and on floats of
//! PowerPC ([`power`]), which the engine computes in a way of its own.

mod blocks;
mod plain;
mod power;
mod traces;
