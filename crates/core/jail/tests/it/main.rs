//! The crate's tests, in one program.

mod faithful;
mod hostile;
mod kernels;
mod outside;
mod views;
