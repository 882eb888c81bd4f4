//! The crate's tests, in one program: each further one would link and instantiate everything again.

mod consistency;
mod ranges;
mod taint;
