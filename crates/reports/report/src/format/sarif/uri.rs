//! File names as SARIF wants them, and back.

/// A file name as a URI reference: relative names stay relative, absolute ones and drive letters become `file:`.
pub(super) fn encode(file: &str) -> String {
    if let Some(rest) = drive(file) {
        return format!("file:///{}:{}", &file[..1], escape(rest));
    }
    match file.strip_prefix('/') {
        // No drive: a folder that is called like one.
        Some(odd) if drive(odd).is_some() => format!("file://localhost{}", escape(file)),
        Some(_) => format!("file://{}", escape(file)),
        None => escape(file),
    }
}

/// The part after a drive letter and its colon, when there is one and a slash follows.
fn drive(file: &str) -> Option<&str> {
    let bytes = file.as_bytes();
    (bytes.len() > 2 && bytes[0].is_ascii_alphabetic() && bytes[1] == b':' && bytes[2] == b'/')
        .then(|| &file[2..])
}

fn escape(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' | b'/' => {
                out.push(byte.into())
            }
            byte => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

/// The file name that a URI stands for. What is no `file:` URI stays as it is, without its percent signs.
pub(super) fn decode(uri: &str) -> String {
    let Some(rest) = strip_scheme(uri) else { return unescape(uri) };
    // file:///path, file:/path, file://host/path
    let path = match rest.strip_prefix("//") {
        Some(after) if after.starts_with('/') => unescape(after),
        Some(after) if after.starts_with("localhost/") => return unescape(&after["localhost".len()..]),
        Some(share) => format!("//{}", unescape(share)),
        None => unescape(rest),
    };
    // Editors write the colon of a drive as %3A.
    match path.strip_prefix('/') {
        Some(windows) if drive(windows).is_some() => windows.to_owned(),
        _ => path,
    }
}

fn strip_scheme(uri: &str) -> Option<&str> {
    uri.get(..5).filter(|scheme| scheme.eq_ignore_ascii_case("file:")).map(|_| &uri[5..])
}

fn unescape(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let hex = |byte: u8| char::from(byte).to_digit(16);
        match bytes.get(at + 1..at + 3).and_then(|pair| Some((hex(pair[0])?, hex(pair[1])?))) {
            Some((high, low)) if bytes[at] == b'%' => {
                out.push((high * 16 + low) as u8);
                at += 3;
            }
            _ => {
                out.push(bytes[at]);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_back() {
        for file in [
            "a.c",
            "src/a b.c",
            "/abs/ü.c",
            "C:/x/y.c",
            "//share/a",
            "a:b.c",
            "100%.c",
            "file:x",
            "/C:/odd",
            "",
        ] {
            assert_eq!(decode(&encode(file)), file, "{}", encode(file));
        }
        assert_eq!(encode("C:/x y.c"), "file:///C:/x%20y.c");
    }

    #[test]
    fn what_other_tools_write() {
        assert_eq!(decode("file:///D:/a/b.cpp"), "D:/a/b.cpp");
        assert_eq!(decode("file:///c%3A/Users/a%20b/x.js"), "c:/Users/a b/x.js");
        assert_eq!(decode("file://server/share/b.cpp"), "//server/share/b.cpp");
        assert_eq!(decode("file://localhost/etc/x"), "/etc/x");
        assert_eq!(decode("FILE:/etc/x"), "/etc/x");
        assert_eq!(decode("bad%zz%4"), "bad%zz%4");
        assert_eq!(decode("%ff"), "\u{fffd}");
    }
}
