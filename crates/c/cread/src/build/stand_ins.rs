//! Stand-ins for compilers: each notes how it was called, and calls the compiler.
//!
//! They are scripts for the shell that a build has anyway. A call is noted as a file of its own, so that calls side by side do not mix:
//! the compiler, the folder and the words, each with a NUL behind it. Files of flags (`@FILE`) are copied, for they may be gone later.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;

/// Names of compilers, without what a target or a version adds.
const C: [&str; 8] = ["cc", "gcc", "clang", "c89", "c99", "tcc", "icc", "icx"];
const OTHERS: [&str; 4] = ["c++", "g++", "clang++", "icpx"];

/// The script, up to what is special to a compiler. The compiler itself finds `PATH` as it is without stand-ins: some are called by their
/// own name again.
const SCRIPT: &str = r#"number=0
while ! (set -C; : > "$calls/$$.$number") 2>/dev/null; do
    number=$((number + 1))
    if [ "$number" -gt 99 ]; then break; fi
done
note="$calls/$$.$number"
printf '%s\0' "$name" "$(pwd -P)" "$@" > "$note"
place=0
for word in "$@"; do
    case $word in
    @?*) if [ -f "${word#@}" ]; then cat "${word#@}" > "$note.$place"; fi ;;
    esac
    place=$((place + 1))
done
case ":$PATH:" in
*":$bin:"*) after=":$PATH:"; before=${after%%":$bin:"*}; after=${after#*":$bin:"}; PATH=${before#:}:$after; PATH=${PATH#:}; PATH=${PATH%:} ;;
esac
exec "$compiler" "$@"
"#;

/// Whether a program is a compiler by its name: `gcc`, `x86_64-linux-gnu-gcc-12`.
pub fn is_compiler(name: &str) -> bool {
    is_one_of(name, &C) || is_one_of(name, &OTHERS)
}

/// Whether a compiler takes sources for C, whatever they are called.
pub fn is_of_c(name: &str) -> bool {
    is_one_of(name, &C)
}

fn is_one_of(name: &str, all: &[&str]) -> bool {
    let is_version = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let plain = match name.rsplit_once('-') {
        Some((before, version)) if is_version(version) => before,
        _ => name,
    };
    all.contains(&plain.rsplit_once('-').map_or(plain, |(_, last)| last))
}

/// Makes a stand-in for each compiler in `paths`.
pub fn make(bin: &Path, calls: &Path, paths: &OsStr) -> io::Result<()> {
    for folder in std::env::split_paths(paths).filter(|folder| folder.is_absolute()) {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let Ok(name) = entry.file_name().into_string() else { continue };
            let runs = |known: fs::Metadata| known.is_file() && known.permissions().mode() & 0o111 != 0;
            let compiler = entry.path();
            if !is_compiler(&name) || !fs::metadata(&compiler).is_ok_and(runs) {
                continue;
            }
            let mut text = b"#!/bin/sh\n".to_vec();
            let values: [(&str, &OsStr); 4] = [
                ("calls", calls.as_os_str()),
                ("bin", bin.as_os_str()),
                ("name", OsStr::new(&name)),
                ("compiler", compiler.as_os_str()),
            ];
            for (variable, value) in values {
                text.extend([variable.as_bytes(), b"=", &quoted(value), b"\n"].concat());
            }
            text.extend(SCRIPT.as_bytes());
            let made = fs::OpenOptions::new().write(true).create_new(true).mode(0o755).open(bin.join(&name));
            match made {
                Ok(mut file) => io::Write::write_all(&mut file, &text)?,
                // One further in front.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }
    Ok(())
}

/// A text as one word of the shell.
fn quoted(text: &OsStr) -> Vec<u8> {
    let inner = text.as_bytes().iter().flat_map(|byte| match byte {
        b'\'' => b"'\\''".to_vec(),
        byte => vec![*byte],
    });
    [b'\''].into_iter().chain(inner).chain([b'\'']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compilers_are_known_by_their_names() {
        for name in [
            "cc",
            "gcc-12",
            "x86_64-linux-gnu-gcc",
            "x86_64-linux-gnu-gcc-12",
            "clang-19",
            "musl-gcc",
            "g++",
            "clang++-19.1",
        ] {
            assert!(is_compiler(name), "{name}");
        }
        for name in [
            "gcc-ar",
            "x86_64-linux-gnu-gcc-ranlib-12",
            "clang-format",
            "ccache",
            "clang-cpp-19",
            "make",
            "rcc",
            "cc1",
            "ld",
        ] {
            assert!(!is_compiler(name), "{name}");
        }
        assert!(is_of_c("gcc-12") && !is_of_c("g++-12"));
    }
}
