//! Programs compiled for the occasion, at several levels of optimisation, for several machines.

use crate::{Test, emulated, native, same, temporary};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Compiler, its arguments, and what runs the result natively.
struct Build {
    name: &'static str,
    compiler: &'static str,
    flags: &'static [&'static str],
    peer: &'static [&'static str],
}

const C: &[Build] = &[
    Build { name: "c -O0", compiler: "gcc", flags: &["-O0"], peer: &[] },
    Build { name: "c -O2", compiler: "gcc", flags: &["-O2"], peer: &[] },
    Build { name: "c -O2 -static", compiler: "gcc", flags: &["-O2", "-static"], peer: &[] },
    Build {
        name: "c powerpc -O1 -static",
        compiler: "powerpc-linux-gnu-gcc",
        flags: &["-O1", "-static"],
        peer: &["qemu-ppc"],
    },
];

const CPP: &[Build] = &[
    Build { name: "c++ -O0", compiler: "g++", flags: &["-O0"], peer: &[] },
    Build { name: "c++ -O2", compiler: "g++", flags: &["-O2"], peer: &[] },
];

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/programs/sources")
}

/// The tests, and the names of programs that this processor cannot run beside the emulator.
pub fn tests() -> (Vec<Test>, Vec<String>) {
    let mut sources: Vec<PathBuf> =
        std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path()).collect();
    sources.sort();
    let (mut tests, mut skipped): (Vec<Test>, Vec<String>) = Default::default();
    for source in sources {
        let extension = source.extension().and_then(|e| e.to_str()).unwrap_or_default();
        let stem = source.file_stem().unwrap().to_string_lossy().into_owned();
        // Emulated programs may use it, whatever CPUID says, but there must be something to compare them with.
        if stem.ends_with("_avx2") && !has_avx2() {
            skipped.push(stem);
            continue;
        }
        for build in if extension == "cpp" { CPP } else { C } {
            let foreign = !build.peer.is_empty();
            let for_x86 = stem.ends_with("_x86") || stem.ends_with("_avx2");
            if (for_x86 && foreign) || (stem.ends_with("_powerpc") && !foreign) {
                continue;
            }
            let (source, stem) = (source.clone(), stem.clone());
            tests.push((format!("{}: {stem}", build.name), Box::new(move || check(build, &source, &stem))));
        }
    }
    (tests, skipped)
}

/// With what usually comes with it.
fn has_avx2() -> bool {
    is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("fma")
        && is_x86_feature_detected!("aes")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("f16c")
}

fn check(build: &Build, source: &Path, stem: &str) -> Result<(), String> {
    let binary = compile(build.compiler, build.flags, source, stem)?;
    let binary = binary.to_str().unwrap();
    let mut command: Vec<&str> = build.peer.to_vec();
    command.push(binary);
    let input = b"3 1 4 1 5 9 2 6 5 3 5\n";
    let result = same(&native(&command, input), &emulated(&[binary], input));
    let _ = std::fs::remove_file(binary);
    result
}

/// Compiles into a file of its own in the temporary folder.
pub fn compile(compiler: &str, flags: &[&str], source: &Path, stem: &str) -> Result<PathBuf, String> {
    let unique = flags.concat().replace('-', "");
    let binary = temporary(&format!("{stem}-{compiler}-{unique}"));
    let result = Command::new(compiler)
        .args(flags)
        .args(["-o".as_ref(), binary.as_os_str(), source.as_os_str(), "-lm".as_ref(), "-pthread".as_ref()])
        .output()
        .map_err(|error| format!("{compiler}: {error} (scripts/setup names what the tests need)"))?;
    if !result.status.success() {
        return Err(String::from_utf8_lossy(&result.stderr).into_owned());
    }
    Ok(binary)
}
