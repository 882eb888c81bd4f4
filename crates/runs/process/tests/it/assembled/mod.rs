//! Small programs without a C library.

use parallax_process::Program;
use std::path::{Path, PathBuf};

/// Assembles a program into a file of its own in the temporary folder.
pub fn assemble(name: &str, source: &str) -> PathBuf {
    let binary = std::env::temp_dir().join(format!("parallax-{name}-{}", std::process::id()));
    let file = binary.with_extension("S");
    std::fs::write(&file, source).expect("a temporary file");
    let flags = ["-nostdlib", "-static", "-o"];
    let built = std::process::Command::new("gcc").args(flags).args([&binary, &file]).status();
    assert!(built.is_ok_and(|status| status.success()), "scripts/setup names what the tests need");
    std::fs::remove_file(&file).expect("it was there");
    binary
}

/// To run it, as long as it takes.
pub fn program(binary: &Path) -> Program {
    Program {
        path: binary.to_owned(),
        arguments: vec![b"assembled".to_vec()],
        environment: Vec::new(),
        byte_bound: 1 << 28,
        instruction_bound: u64::MAX,
        schedule: None,
    }
}
