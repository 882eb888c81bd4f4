//! The world around a symbolic block.
//!
//! A check speaks of every world: any file may be there with any content, any variable be set, any call of the system fail or
//! succeed. A block is executed in one world, an empty one. So it executes models of the library only where the program determines
//! the answer; everything else is unknown to it, and what asks the world all the same ends up in its ledger.

use parallax_cmachine::ObjectId;
use parallax_cmodule::{Constant, FunctionId, GlobalId, Module, TypeKind};
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
    /// Whether a text of the program has `%n`, which lets a function that prints write a number.
    pub(crate) counts: bool,
}

impl World {
    pub(crate) fn of(module: &Module, named: &FxHashSet<GlobalId>) -> World {
        let mut world = World { numbers: Vec::new(), strange: None, counts: false };
        for (number, global) in module.globals.iter().enumerate() {
            let id = GlobalId(number as u32);
            let name = global.name.as_str();
            let stream = matches!(name, "stdin" | "stdout" | "stderr");
            if !module.is_library_global(id) {
                world.counts |= matches!(
                    global.initialiser.map(|initial| module.constant(initial)),
                    Some(Constant::Bytes(_, bytes)) if has_count(bytes)
                );
                continue;
            }
            if global.constant || stream {
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

/// Functions that write to memory which their arguments only lead to through other memory: the parts of a message, a list of
/// arguments, the buffer that a line is read into, one that a stream is given.
pub(crate) fn writes_through(name: &str) -> bool {
    let scans_a_list = name.trim_start_matches("__isoc99_").trim_start_matches("__isoc23_");
    matches!(scans_a_list, "vscanf" | "vfscanf" | "vwscanf" | "vfwscanf")
        || matches!(
            name,
            "readv"
                | "preadv"
                | "preadv64"
                | "preadv2"
                | "preadv64v2"
                | "process_vm_readv"
                | "recvmsg"
                | "recvmmsg"
                | "getline"
                | "getdelim"
                | "__getdelim"
                | "fmemopen"
                | "open_memstream"
                | "setvbuf"
                | "setbuf"
                | "setbuffer"
        )
}

/// Functions that print what a format says.
pub(crate) fn prints(name: &str) -> bool {
    const OTHERS: [&str; 12] = [
        "syslog",
        "vsyslog",
        "err",
        "errx",
        "warn",
        "warnx",
        "verr",
        "verrx",
        "vwarn",
        "vwarnx",
        "error",
        "error_at_line",
    ];
    name.contains("printf") || OTHERS.contains(&name)
}

/// Whether a text holds the conversion `%n`.
fn has_count(text: &[u8]) -> bool {
    let mut bytes = text.iter();
    while bytes.any(|&byte| byte == b'%') {
        let conversion = bytes.find(|byte| !b"0123456789$*.+-# 'hlqjztL".contains(byte));
        if conversion == Some(&b'n') {
            return true;
        }
    }
    false
}

/// Functions that return again when `longjmp` is called.
pub(crate) fn returns_twice(name: &str) -> bool {
    matches!(name, "setjmp" | "_setjmp" | "sigsetjmp" | "__sigsetjmp")
}

#[cfg(test)]
mod tests {
    use super::has_count;

    #[test]
    fn counts_are_conversions() {
        assert!(["%n", "a%2$hhn", "%d%ln", "%%%n"].iter().all(|text| has_count(text.as_bytes())));
        assert!(["", "%", "n", "%%n", "%dn", "100 %"].iter().all(|text| !has_count(text.as_bytes())));
    }
}
