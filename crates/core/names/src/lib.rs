//! Names of functions as people write them.
//!
//! Symbol tables hold C++ and Rust names as compilers encode them. People write `classify(int)`, `zoo::classify`, or
//! `classify`. The rules are written once here, for machine code, explored programs and recordings.

use cpp_demangle::DemangleOptions;

/// A symbol's name demangled, with and without its parameters. Names of C are themselves.
pub fn demangled(linkage: &str) -> (String, String) {
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
pub fn tails(name: &str) -> Vec<&str> {
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

/// A name without template arguments: `a::b<c>::d<e>` is `a::b::d`. None if it has none.
fn without_arguments(name: &str) -> Option<String> {
    let (mut depth, mut bare) = (0usize, String::new());
    for (at, letter) in name.char_indices() {
        // `operator<`, `operator<<`, `operator->` and the like.
        let before = name[..at].trim_end_matches(['<', '>', '-', '=']);
        let is_operator = before.ends_with("operator") && depth == 0;
        match letter {
            '<' if !is_operator => depth += 1,
            '>' if !is_operator && depth > 0 => depth -= 1,
            _ if depth == 0 => bare.push(letter),
            _ => {}
        }
    }
    (depth == 0 && bare != name).then_some(bare)
}

/// The names by which people mean a function of a qualified name: its ends, and the same without template arguments.
pub fn spellings(full: &str) -> Vec<String> {
    let mut found = vec![full.to_owned()];
    found.extend(tails(full).into_iter().map(str::to_owned));
    if let Some(bare) = without_arguments(full) {
        found.extend(tails(&bare).into_iter().map(str::to_owned));
        found.push(bare);
    }
    found
}

/// What every spelling of a function's name contains: `put` of `a::box<int>::put<b>(int)`.
pub fn core(name: &str) -> &str {
    let short = name.split(['(', '<']).next().unwrap_or(name);
    short.rsplit("::").next().unwrap_or(short).trim()
}

/// A symbol without what compilers append to copies of a function (`take.constprop.0` is `take`); none for parts of one,
/// which are entered from its other parts.
pub fn whole(linkage: &str) -> Option<&str> {
    match linkage.split_once('.').filter(|(base, _)| !base.is_empty()) {
        Some((_, rest)) if rest.split('.').any(|part| matches!(part, "part" | "cold")) => None,
        Some((base, _)) => Some(base),
        None => Some(linkage),
    }
}

/// What a name stands for among the symbols of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Meant<T> {
    /// One of them.
    One(T),
    /// Several functions: their whole names.
    Several(Vec<String>),
    /// None of them.
    Nothing,
}

/// The symbol that a person means: the one whose name in the table is `name`, else the only one that is so called when
/// demangled, with or without parameters, with all, some or none
/// of its scopes, with or without template arguments. Blanks do not count.
pub fn meant<'a, T: PartialEq>(symbols: impl IntoIterator<Item = (&'a str, T)>, name: &str) -> Meant<T> {
    let (wanted, part) = (without_blanks(name), identifier(name));
    let mut found: Vec<(String, T)> = Vec::new();
    for (linkage, value) in symbols {
        if linkage == name {
            return Meant::One(value);
        }
        // Pieces that a compiler splits off (`_Z1fi.cold`) have a name in the table alone.
        let is_mangled = linkage.starts_with("_Z") || linkage.starts_with("_R");
        if !is_mangled
            || linkage.contains('.')
            || !linkage.contains(part)
            || found.iter().any(|(_, known)| *known == value)
        {
            continue;
        }
        let (full, short) = demangled(linkage);
        let mut all = spellings(&short);
        all.push(full.clone());
        all.extend(tails(&full).into_iter().map(str::to_owned));
        let is_meant = all.iter().any(|text| without_blanks(text) == wanted);
        if is_meant {
            found.push((full, value));
        }
    }
    match found.len() {
        0 => Meant::Nothing,
        1 => found.pop().map_or(Meant::Nothing, |(_, value)| Meant::One(value)),
        _ => Meant::Several(found.into_iter().map(|(full, _)| full).collect()),
    }
}

/// The part of a name that compilers encode as it is written; empty if there is none. Most symbols are told apart by it.
fn identifier(name: &str) -> &str {
    let last = core(name);
    let is_encoded = last.starts_with("operator") || !last.chars().all(|c| c.is_alphanumeric() || c == '_');
    if is_encoded { "" } else { last }
}

fn without_blanks(text: &str) -> String {
    text.chars().filter(|letter| !letter.is_whitespace()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_meant_by_many_names() {
        let all = spellings("a::box<b<int>, 3>::put<c>");
        for name in ["put", "put<c>", "box::put", "a::box::put", "box<b<int>, 3>::put<c>"] {
            assert!(all.iter().any(|one| one == name), "{name}: {all:?}");
        }
        assert_eq!(without_arguments("operator<"), None);
        assert_eq!(without_arguments("operator<< <char>").as_deref(), Some("operator<< "));
        assert_eq!(without_arguments("a<int>::operator->").as_deref(), Some("a::operator->"));
        assert_eq!(whole("take.constprop.0.isra.1"), Some("take"));
        assert_eq!((whole("take.part.0"), whole("take.constprop.0.cold")), (None, None));
        assert_eq!((whole("take"), whole(".hidden")), (Some("take"), Some(".hidden")));
    }

    #[test]
    fn names_lose_what_compilers_added() {
        assert_eq!(demangled("main").1, "main");
        assert_eq!(demangled("_ZN5outer3addEii"), ("outer::add(int, int)".into(), "outer::add".into()));
        assert_eq!(demangled("_ZN4core3fmt5write17h0123456789abcdefE").1, "core::fmt::write");
        assert_eq!(demangled("_ZTVN3zoo3dogE").1, "vtable for zoo::dog");
        assert_eq!(tails("a::b<c::d>::e"), ["b<c::d>::e", "e"]);
    }

    #[test]
    fn people_write_names_in_several_ways() {
        let table = [
            ("main", 1),
            ("_Z8classifyi", 2),
            ("_Z8classifyi.cold", 3),
            ("_ZN3zoo5soundEiPKc", 4),
            ("_ZN3zoo5soundEd", 5),
            ("_ZN4bank5soundEd", 6),
            ("_ZN3zoo3dogC1Ev", 7),
            ("_ZeqRK3dogS1_", 8),
            ("_Z5firstIiET_PS0_", 9),
        ];
        let one = |name: &str| match meant(table, name) {
            Meant::One(value) => value,
            other => panic!("{name}: {other:?}"),
        };
        for (name, value) in [
            ("main", 1),
            ("classify", 2),
            ("classify(int)", 2),
            ("_Z8classifyi.cold", 3),
            ("zoo::sound(int, char const*)", 4),
            ("sound(int,char const*)", 4),
            ("zoo::sound(double)", 5),
            ("bank::sound", 6),
            ("zoo::dog::dog()", 7),
            ("operator==", 8),
            ("first<int>", 9),
            ("first", 9),
        ] {
            assert_eq!(one(name), value, "{name}");
        }
        assert_eq!(meant(table, "classify(char)"), Meant::Nothing);
        let several = ["zoo::sound(double)", "bank::sound(double)"].map(str::to_owned);
        assert_eq!(meant(table, "sound(double)"), Meant::Several(several.to_vec()));
    }
}
