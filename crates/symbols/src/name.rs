//! Names as people write them: demangled, and without parameters.

use cpp_demangle::DemangleOptions;

/// A symbol's name demangled, with and without its parameters. Names of C are themselves.
pub(crate) fn demangled(linkage: &str) -> (String, String) {
    // A name with a version or a suffix of the linker keeps it out of the demangler.
    if (linkage.starts_with("_R") || linkage.starts_with("_ZN") && linkage.contains("17h"))
        && let Ok(name) = rustc_demangle::try_demangle(linkage)
    {
        let name = format!("{name:#}");
        return (name.clone(), name);
    }
    if linkage.starts_with("_Z")
        && let Ok(symbol) = cpp_demangle::Symbol::new(linkage.as_bytes())
    {
        let full = symbol.demangle(&DemangleOptions::new());
        let short = symbol.demangle(&DemangleOptions::new().no_params().no_return_type());
        if let (Ok(full), Ok(short)) = (full, short) {
            let short = short.strip_suffix(" const").unwrap_or(&short).to_owned();
            return (special(full), special(short));
        }
    }
    (linkage.to_owned(), linkage.to_owned())
}

/// What compilers add to classes, in the usual words: `vtable for zoo::dog`.
fn special(name: String) -> String {
    for (mark, words) in [("{vtable(", "vtable for "), ("{vtt(", "VTT for "), ("{typeinfo(", "typeinfo for ")]
    {
        if let Some(of) = name.strip_prefix(mark).and_then(|rest| rest.strip_suffix(")}")) {
            return format!("{words}{of}");
        }
    }
    name
}

/// The tails of a qualified name at its `::`, outside template arguments: `a::b<c::d>::e` has `b<c::d>::e` and `e`.
pub(crate) fn tails(name: &str) -> Vec<&str> {
    let bytes = name.as_bytes();
    let (mut depth, mut found) = (0i32, Vec::new());
    for at in 0..bytes.len() {
        match bytes[at] {
            b'<' | b'(' => depth += 1,
            b'>' | b')' => depth -= 1,
            b':' if depth == 0 && at > 0 && bytes[at - 1] == b':' => found.push(&name[at + 1..]),
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lose_what_compilers_added() {
        assert_eq!(demangled("main").1, "main");
        assert_eq!(demangled("_ZN5outer3addEii"), ("outer::add(int, int)".into(), "outer::add".into()));
        assert_eq!(demangled("_ZN4core3fmt5write17h0123456789abcdefE").1, "core::fmt::write");
        assert_eq!(demangled("_ZTVN3zoo3dogE").1, "vtable for zoo::dog");
        assert_eq!(tails("a::b<c::d>::e"), ["b<c::d>::e", "e"]);
    }
}
