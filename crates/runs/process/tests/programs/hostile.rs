//! Programs that reach for what is not theirs: they find there what they find natively.

use crate::compiled::compile;
use crate::{CANNOT, Test, emulated, native, same};
use std::path::Path;

/// Stands for places of the emulator's own, where it runs: something constant, on the heap, on the stack, and code.
pub const HOST: &[u8] = b"HOST";

/// Places that no program has, as many as [`HOST`] stands for.
const NOWHERE: [&str; 4] = ["100000000000", "100000001008", "200000000000", "300000000ff8"];

/// Where the native engine counts, seen from the page of a program's start.
const CELLS: &str = "-0x38000000";

/// The arguments that [`HOST`] stands for.
pub fn host_places() -> Vec<Vec<u8>> {
    let (heap, stack) = (Box::new(1_u64), 2_u64);
    let places = [
        HOST.as_ptr() as usize,
        std::ptr::from_ref(&*Box::leak(heap)) as usize,
        std::ptr::from_ref(&stack) as usize,
        host_places as *const () as usize,
    ];
    places.map(|place| format!("{place:x}").into_bytes()).to_vec()
}

pub fn tests() -> Vec<Test> {
    let strays = || {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/hostile/strays.c");
        let binary = compile("gcc", &["-O1"], &source, "strays")?;
        let binary = binary.to_str().expect("a name of ours");
        let command: Vec<&str> = [binary].into_iter().chain(NOWHERE).collect();
        let result = same(&native(&command, b""), &emulated(&[binary, "HOST"], b""));
        let _ = std::fs::remove_file(binary);
        result
    };
    let counters = || {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/hostile/counters.c");
        let binary = compile("gcc", &["-O1", "-pie", "-fPIE"], &source, "counters")?;
        let name = binary.to_str().expect("a name of ours");
        let run = emulated(&[name, &CANNOT.to_string(), CELLS], b"");
        let _ = std::fs::remove_file(&binary);
        let text = String::from_utf8_lossy(&run.output).into_owned();
        let ended = |how: &str| text.split(", ").any(|part| part.trim() == how);
        if run.status != 0 || !ended("0 others") || crate::is_native() == ended("0 given up") {
            return Err(format!("status {}: {text}{}", run.status, String::from_utf8_lossy(&run.errors)));
        }
        Ok(())
    };
    vec![
        (String::from("hostile: pointers into the emulator"), Box::new(strays)),
        (String::from("hostile: the counters of the native engine"), Box::new(counters)),
    ]
}
