//! What global variables hold when a function is entered by itself.
//!
//! Only what the entered code can name is input memory. A variable that it cannot name is met, if at all, through an
//! input pointer, and then it is an object of its type that holds anything: no different from a new input object, which
//! every such pointer may point to as well. So leaving it out loses nothing but what tells globals from other memory:
//! that they cannot be freed, and arrays longer than the bound on input arrays.

use super::settings::{Globals, Settings};
use parallax_cmachine::GlobalStart;
use parallax_cmodule::{FunctionId, Module};

/// For each global of a module, what it holds when a function is entered.
pub(super) fn starts(module: &Module, function: FunctionId, settings: &Settings) -> Vec<GlobalStart> {
    let globals = settings.globals;
    let reach = module.reach(function);
    let unwritten = module.unwritten_globals();
    let start = |index: usize| {
        let global = &module.globals[index];
        // Another file may write what it can name.
        let kept = unwritten[index] && (!global.exported || globals != Globals::Unknown);
        match globals {
            _ if !reach.globals[index] && !settings.all_globals => GlobalStart::Apart,
            // What nothing defines has no initialiser.
            Globals::Initial if global.initialiser.is_some() => GlobalStart::Initial,
            _ if global.initialiser.is_some() && kept => GlobalStart::Initial,
            _ => GlobalStart::Unknown,
        }
    };
    (0..module.globals.len()).map(start).collect()
}
