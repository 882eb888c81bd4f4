//! What declarations promise and IR forgets ([`parallax_cmodule::annotations`]), read from clang's syntax tree ([`tree`])
//! and attached to the module ([`attach`]), where unknown memory and later analyses look for it.

mod attach;
mod declarator;
mod tree;
mod written;

pub use attach::attach;

use crate::Error;
use crate::clang::{Options, syntax_tree};
use parallax_cmodule::annotations::Qualifier;
use std::path::Path;

/// Qualifiers of all declarations that a file sees.
pub fn qualifiers(file: &Path, options: &Options) -> Result<Vec<Qualifier>, Error> {
    let dump = syntax_tree(file, options)?;
    Ok(tree::parse(&String::from_utf8_lossy(&dump), &canonical(&file.display().to_string())))
}

/// One name for a file, however it was written: debug information, the syntax tree and the user all have their own ways.
fn canonical(file: &str) -> String {
    std::fs::canonicalize(file).map_or_else(|_| file.to_string(), |path| path.display().to_string())
}
