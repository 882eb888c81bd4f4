//! Files that a program names, read.

use std::fs::OpenOptions;
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Bytes of the largest source that is read.
const LARGEST: u64 = 64 << 20;

/// The bytes of a file that a program says it comes from. `#line 1 "NAME"` can name anything, so a pipe, which would keep the reader
/// waiting, or a device without an end is not read.
pub fn source_bytes(file: &Path) -> Option<Vec<u8>> {
    let file = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(file).ok()?;
    let known = file.metadata().ok()?;
    let mut bytes = Vec::new();
    if !known.is_file() || known.len() > LARGEST {
        return None;
    }
    file.take(LARGEST).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// The same as text; what is no text in it is replaced.
pub fn source_text(file: &Path) -> Option<String> {
    source_bytes(file).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_are_read() {
        let folder = tempfile::tempdir().expect("a folder");
        let (file, pipe) = (folder.path().join("a.c"), folder.path().join("pipe"));
        std::fs::write(&file, "int x;\n").expect("a file");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.is_ok_and(|status| status.success()));
        assert_eq!(source_text(&file).as_deref(), Some("int x;\n"));
        for other in [&pipe, Path::new("/dev/zero"), folder.path(), Path::new("/nowhere")] {
            assert_eq!(source_bytes(other), None, "{}", other.display());
        }
    }
}
