//! Nothing: this crate is its list of features, see Cargo.toml.
