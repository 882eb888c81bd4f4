//! Circles among the modules of a crate: files that can only be read together.
//!
//! An arrow is a path that begins with `crate::` or `super::`. A circle of more than [`SMALL`] files stands in [`KNOWN`] with its
//! reason, and must not grow. Tests at the end of a file do not count: they may look anywhere.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Files that one idea may take.
const SMALL: usize = 4;

/// Larger circles that are there: the crate, a module of the circle, how many files it has, and why it stays.
const KNOWN: &[(&str, &str, usize, &str)] = &[
    ("cexplore", "explore::search", 8, "the search, its host and the contracts found share one explorer"),
    ("cmachine", "memory", 9, "pointers are places in memory, and memory holds pointers"),
    ("ir", "meaning::pure", 6, "operations by family, each may use the others"),
    ("process", "system", 24, "system calls change the process that makes them"),
    ("process", "execute::micro", 14, "micro-operations and the passes over them"),
    ("symbols", "types", 9, "types, values and frames are found through each other"),
    ("trace", "trace", 8, "a trace's items are traces"),
    ("travel", "travel", 16, "searches and the states they run over"),
];

/// The modules of a crate and what each names.
type Graph = BTreeMap<String, BTreeSet<String>>;

/// Complaints about circles that are new, have grown, or are gone.
pub fn complaints(files: &[(String, String)]) -> Vec<String> {
    let mut crates: BTreeMap<&str, BTreeMap<String, &str>> = BTreeMap::new();
    for (name, text) in files {
        if let Some((krate, module)) = module_of(name) {
            crates.entry(krate).or_default().insert(module, text);
        }
    }
    let mut complaints = Vec::new();
    let mut seen = BTreeSet::new();
    for (krate, modules) in &crates {
        for circle in circles(&graph(modules)) {
            let known = KNOWN.iter().find(|known| known.0 == *krate && circle.contains(known.1));
            let most = known.map_or(SMALL, |known| known.2);
            seen.extend(known.map(|known| (known.0, known.1)));
            if circle.len() > most {
                let names: Vec<&str> = circle.iter().map(String::as_str).collect();
                complaints.push(format!(
                    "crates/{krate}: a circle of {} files, at most {most}: {}",
                    circle.len(),
                    names.join(", ")
                ));
            } else if circle.len() < most && known.is_some() {
                complaints.push(format!(
                    "xtask/src/circles.rs: the circle of {krate} has {} files now, not {most}: lower the number",
                    circle.len()
                ));
            }
        }
    }
    let gone =
        KNOWN.iter().filter(|known| crates.contains_key(known.0) && !seen.contains(&(known.0, known.1)));
    complaints.extend(
        gone.map(|known| {
            format!("xtask/src/circles.rs: the circle of {} around {} is gone", known.0, known.1)
        }),
    );
    complaints
}

/// The crate and the module that a file is.
fn module_of(name: &str) -> Option<(&str, String)> {
    let (krate, path) = name.strip_prefix("crates/")?.split_once("/src/")?;
    let path = Path::new(path.strip_suffix(".rs")?);
    let mut parts: Vec<&str> = path.iter().filter_map(|part| part.to_str()).collect();
    if matches!(parts.last(), Some(&"mod" | &"lib" | &"main")) {
        parts.pop();
    }
    let krate = krate.rsplit('/').next()?;
    Some((krate, parts.join("::")))
}

fn graph(modules: &BTreeMap<String, &str>) -> Graph {
    let arrows = |(module, text): (&String, &&str)| {
        let named = paths(text).into_iter().filter_map(|path| target(modules, module, &path));
        (module.clone(), named.filter(|named| named != module && !named.is_empty()).collect())
    };
    modules.iter().map(arrows).collect()
}

/// The module that a path leads into, as far as modules go.
fn target(modules: &BTreeMap<String, &str>, module: &str, path: &str) -> Option<String> {
    let mut from: Vec<&str> = module.split("::").filter(|part| !part.is_empty()).collect();
    let mut rest: Vec<&str> = path.split("::").map(str::trim).collect();
    match *rest.first()? {
        "crate" => from.clear(),
        "super" => {}
        _ => return None,
    }
    while let Some(&first @ ("crate" | "super")) = rest.first() {
        if first == "super" {
            from.pop();
        }
        rest.remove(0);
    }
    let whole: Vec<&str> = from.iter().copied().chain(rest).collect();
    (from.len()..=whole.len())
        .rev()
        .map(|length| whole[..length].join("::"))
        .find(|name| modules.contains_key(name))
}

/// Every path in a text that begins at the crate or above, groups in braces taken apart.
fn paths(text: &str) -> Vec<String> {
    let code = text.split("#[cfg(test)]\nmod ").next().unwrap_or(text);
    let code: String =
        code.lines().map(|line| line.split("//").next().unwrap_or("").to_owned() + "\n").collect();
    let mut paths = Vec::new();
    for start in ["crate::", "super::"] {
        for (at, _) in code.match_indices(start) {
            let is_start = !code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':');
            if is_start {
                expand("", &code[at..], &mut paths);
            }
        }
    }
    paths
}

/// Reads one path, or the group of them that follows a prefix; what is left of the text comes back.
fn expand<'a>(prefix: &str, text: &'a str, paths: &mut Vec<String>) -> &'a str {
    let end = text
        .find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | ':' | ' ' | '\n')))
        .unwrap_or(text.len());
    let word: String =
        text[..end].split(" as ").next().unwrap_or("").chars().filter(|c| !c.is_whitespace()).collect();
    let path = format!("{prefix}{word}");
    let mut rest = &text[end..];
    if !(path.ends_with("::") && rest.starts_with('{')) {
        paths.push(path);
        return rest;
    }
    loop {
        rest = expand(&path, rest[1..].trim_start(), paths);
        if rest.starts_with('*') {
            rest = &rest[1..];
        }
        if !rest.starts_with(',') {
            break;
        }
    }
    rest.strip_prefix('}').unwrap_or(rest)
}

/// The sets of modules that reach each other (Tarjan; modules of a crate are few).
fn circles(graph: &Graph) -> Vec<BTreeSet<String>> {
    let reached = |from: &String| {
        let mut seen = BTreeSet::new();
        let mut waiting = vec![from];
        while let Some(module) = waiting.pop() {
            for next in graph.get(module).into_iter().flatten() {
                if seen.insert(next.clone()) {
                    waiting.push(next);
                }
            }
        }
        seen
    };
    let reach: BTreeMap<&String, BTreeSet<String>> =
        graph.keys().map(|module| (module, reached(module))).collect();
    let mut found: BTreeSet<BTreeSet<String>> = BTreeSet::new();
    for (module, reached) in &reach {
        let circle: BTreeSet<String> = reached
            .iter()
            .filter(|other| reach.get(other).is_some_and(|back| back.contains(*module)))
            .cloned()
            .collect();
        if circle.len() > 1 {
            found.insert(circle);
        }
    }
    found.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(all: &[(&str, &str)]) -> Vec<(String, String)> {
        all.iter().map(|(name, text)| (format!("crates/x/src/{name}.rs"), text.to_string())).collect()
    }

    #[test]
    fn a_planted_circle_of_five_files_is_told() {
        let ring = [
            ("lib", "mod a;"),
            ("a", "use crate::b::B;"),
            ("b", "use super::{c::{C, D}, e};"),
            ("c", "fn f() { super::d::g() }"),
            ("d", "use crate::{e::E as F};"),
            ("e/mod", "use crate::a;"),
        ];
        let told = complaints(&files(&ring));
        assert_eq!(told.len(), 1, "{told:?}");
        assert!(told[0].contains("a circle of 5 files"), "{told:?}");
        let broken: Vec<_> =
            ring.iter().map(|&(name, text)| (name, if name == "d" { "" } else { text })).collect();
        // Without d, b and e still stand in a circle: three files are one idea.
        assert_eq!(complaints(&files(&broken)), Vec::<String>::new());
    }

    #[test]
    fn what_tests_and_comments_name_is_no_arrow() {
        let text = "// crate::b\n#[cfg(test)]\nmod tests { use crate::c; }";
        assert!(paths(text).is_empty());
        assert_eq!(paths("use crate::{a::{self, B}, c};"), ["crate::a::self", "crate::a::B", "crate::c"]);
    }
}
