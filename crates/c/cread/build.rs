//! Compiles the library models to bitcode that the crate carries along.

use std::path::PathBuf;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=models");
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let mut parts = Vec::new();
    let mut files: Vec<_> = std::fs::read_dir("models")
        .expect("the folder of library models")
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|e| e == "c"))
        .collect();
    files.sort();
    for file in files {
        let target = out.join(file.file_stem().expect("a file name")).with_extension("bc");
        // Freestanding, so that a loop that is `strlen` is not turned into a call of itself.
        run(Command::new("clang-19")
            .args([
                "-c",
                "-emit-llvm",
                "-O1",
                "-g",
                "-std=c11",
                "-ffreestanding",
                "-fno-builtin",
                "-Wall",
                "-Werror",
            ])
            .args([
                "-fno-discard-value-names",
                "-fno-vectorize",
                "-fno-slp-vectorize",
                "-fno-stack-protector",
                // No tables of distances between addresses.
                "-fno-pic",
            ])
            .args(["-ffile-prefix-map=models=<libc>", "-Wno-incompatible-library-redeclaration"])
            .arg(&file)
            .arg("-o")
            .arg(&target));
        parts.push(target);
    }
    run(Command::new("llvm-link-19").args(&parts).arg("-o").arg(out.join("models.bc")));
}

fn run(command: &mut Command) {
    match command.status() {
        Ok(status) if status.success() => {}
        Ok(status) => panic!("{command:?}: {status}"),
        Err(error) => {
            panic!("{command:?}: {error} (Debian packages clang-19 and llvm-19-dev; see scripts/setup)")
        }
    }
}
