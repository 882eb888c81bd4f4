//! The world around a symbolic block.
//!
//! A check speaks of every world: any file may be there with any content, any variable be set, any call of the system fail or
//! succeed. A block is executed in one world, an empty one. So it executes models of the library only where the program determines
//! the answer; everything else is unknown to it, and what asks the world all the same ends up in its ledger.

use parallax_cmachine::ObjectId;
use parallax_cmodule::{FunctionId, GlobalId, Module, TypeKind};
use parallax_path::Completeness;
use parallax_points::determined::is_determined;
use parallax_points::external::calls_later;
use rustc_hash::FxHashSet;

/// Whether a block shows what cannot happen: all of it was explored, nothing stood in for behaviour, and nothing was assumed of
/// the world. If not, why.
pub(crate) fn whole(completeness: Completeness) -> Result<(), String> {
    let bounds = completeness.bounds().map(ToString::to_string);
    let premises = completeness.premises().map(|premise| format!("only where {premise}"));
    let left: Vec<String> = bounds.chain(premises).take(3).collect();
    if left.is_empty() { Ok(()) } else { Err(left.join("; ")) }
}

/// Whether the answer of a function of the library is open: another run may get another one, a block that starts in the middle of
/// the program does not know what was kept, or what is given is called back later. Models of others are executed.
pub(crate) fn is_open(module: &Module, id: FunctionId) -> bool {
    let function = module.function(id);
    let name = function.name.as_str();
    let modelled = function.is_defined() && function.exported && !name.starts_with("__parallax");
    modelled && !is_determined(name) || calls_later(name) || returns_twice(name)
}

/// Variables of the library that are other ones after each call of code that a block does not execute.
pub(crate) struct World {
    /// Numbers: `errno`, `optind`; each with its bytes.
    pub(crate) numbers: Vec<(ObjectId, u64)>,
    /// Why the block cannot be explored, if it cannot: it names a variable that is more than a number, such as `environ`.
    pub(crate) strange: Option<String>,
}

impl World {
    pub(crate) fn of(module: &Module, named: &FxHashSet<GlobalId>) -> World {
        let mut world = World { numbers: Vec::new(), strange: None };
        for (number, global) in module.globals.iter().enumerate() {
            let id = GlobalId(number as u32);
            let name = global.name.as_str();
            let stream = matches!(name, "stdin" | "stdout" | "stderr");
            if global.constant || stream || !module.is_library_global(id) {
                continue;
            }
            let wanted = name == "__parallax_errno" || (global.exported && named.contains(&id));
            match module.ty(global.ty).kind {
                _ if !wanted => {}
                TypeKind::Int(width) => world.numbers.push((ObjectId(id.0), u64::from(width) / 8)),
                _ => world.strange = Some(format!("what {name} is in another run")),
            }
        }
        world
    }
}

/// Functions that may run handlers of signals before they return.
pub(crate) fn delivers(name: &str) -> bool {
    matches!(
        name,
        "raise" | "kill" | "sigprocmask" | "pthread_sigmask" | "pthread_kill" | "sigsuspend" | "pause"
    )
}

/// Functions that return again when `longjmp` is called.
pub(crate) fn returns_twice(name: &str) -> bool {
    matches!(name, "setjmp" | "_setjmp" | "sigsetjmp" | "__sigsetjmp")
}
