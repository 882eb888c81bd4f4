//! Files as the language server protocol writes them.

use std::path::{Path, PathBuf};

/// A path as the protocol writes it.
pub(super) fn uri(path: &Path) -> String {
    let mut text = String::from("file://");
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'.' | b'_' | b'~' => {
                text.push(*byte as char)
            }
            _ => text.push_str(&format!("%{byte:02X}")),
        }
    }
    text
}

/// The path that the protocol means; none for what is no file.
pub(super) fn path(uri: &str) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStringExt;
    let rest = uri.strip_prefix("file://")?;
    let rest = &rest[rest.find('/')?..];
    let mut bytes = Vec::new();
    let mut all = rest.bytes();
    while let Some(byte) = all.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let digits = [all.next()?, all.next()?];
        bytes.push(u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?);
    }
    Some(std::ffi::OsString::from_vec(bytes).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_survive_the_protocol() {
        for name in ["/a/b.c", "/a b/ü%.c", "/c++/x:y.c"] {
            assert_eq!(path(&uri(Path::new(name))), Some(PathBuf::from(name)));
        }
        assert_eq!(path("file:///a%20b"), Some(PathBuf::from("/a b")));
        for bad in ["http://x/y", "file://", "file:///%", "file:///%zz", "untitled:1"] {
            assert_eq!(path(bad), None, "{bad}");
        }
    }
}
