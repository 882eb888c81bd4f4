//! The logic L.
