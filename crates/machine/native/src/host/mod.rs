//! What a native engine asks of its host: memory that is seen at two places, protection keys, and handlers of signals.

pub mod keys;
mod pool;
pub mod sealed;
#[cfg_attr(not(target_arch = "x86_64"), path = "no_signals.rs")]
pub mod signals;
mod view;

pub use pool::{Pool, Twin};
pub use view::View;

/// Bytes in a page.
pub const PAGE: u64 = 4096;
