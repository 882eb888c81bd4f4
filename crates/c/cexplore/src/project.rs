//! Projects: the files of one compilation database may be several programs, one, or a library.
//!
//! A program is a file with a `main`, and every file that it needs: one that defines what is named in the program and defined in no file of
//! it yet, as a linker takes members of a library. Where several files define a name, the one nearest to `main` in the tree of folders is
//! taken. Files without `main` that no program needs are in none; without any `main` all files are one library.

use parallax_cread::Symbols;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// One program of a project, or the library that it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// What it is called: its file with `main`, without folder and ending.
    pub name: String,
    /// Its files, by number.
    pub units: Vec<usize>,
}

/// The programs of these files, and files that are in none.
pub(crate) fn split(files: &[PathBuf], symbols: &[Symbols]) -> (Vec<Member>, Vec<usize>) {
    let has_main = |unit: &usize| symbols[*unit].defined.contains("main");
    let mains: Vec<usize> = (0..files.len()).filter(has_main).collect();
    if mains.len() <= 1 {
        let name = mains.first().or(Some(&0)).and_then(|unit| files.get(*unit)).map(|file| stem(file));
        let units = (0..files.len()).collect();
        return (vec![Member { name: name.unwrap_or_default(), units }], Vec::new());
    }
    let mut providers: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (unit, known) in symbols.iter().enumerate().filter(|(unit, _)| !has_main(unit)) {
        for name in &known.defined {
            providers.entry(name).or_default().push(unit);
        }
    }
    let mut members: Vec<Member> = Vec::new();
    for &main in &mains {
        let mut units = BTreeSet::from([main]);
        let mut defined: BTreeSet<&str> = symbols[main].defined.iter().map(String::as_str).collect();
        let mut waiting = vec![main];
        while let Some(unit) = waiting.pop() {
            for name in &symbols[unit].needed {
                if defined.contains(name.as_str()) {
                    continue;
                }
                let all = providers.get(name.as_str()).into_iter().flatten().copied();
                // What would define a name twice is no part of this program.
                let fits =
                    |unit: &usize| symbols[*unit].defined.iter().all(|n| !defined.contains(n.as_str()));
                let nearest = all
                    .filter(fits)
                    .max_by_key(|unit| (common(&files[main], &files[*unit]), std::cmp::Reverse(*unit)));
                if let Some(provider) = nearest {
                    units.insert(provider);
                    defined.extend(symbols[provider].defined.iter().map(String::as_str));
                    waiting.push(provider);
                }
            }
        }
        members.push(Member { name: stem(&files[main]), units: units.into_iter().collect() });
    }
    // Two programs of one name are told apart by their folders.
    for at in 0..members.len() {
        let same = members.iter().filter(|member| member.name == members[at].name).count();
        if same > 1 {
            members[at].name = files[mains[at]].with_extension("").display().to_string();
        }
    }
    let used: BTreeSet<usize> = members.iter().flat_map(|member| member.units.iter().copied()).collect();
    let rest = (0..files.len()).filter(|unit| !used.contains(unit)).collect();
    (members, rest)
}

fn stem(file: &Path) -> String {
    file.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// How many folders two files have in common.
fn common(a: &Path, b: &Path) -> usize {
    a.components().zip(b.components()).take_while(|(a, b)| a == b).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn symbols(defined: &[&str], needed: &[&str]) -> Symbols {
        let set = |names: &[&str]| names.iter().map(ToString::to_string).collect();
        Symbols { defined: set(defined), needed: set(needed) }
    }

    #[test]
    fn a_program_is_a_main_and_what_it_needs() {
        let files = ["a/one.c", "b/two.c", "a/util.c", "b/util.c", "lib/list.c", "lib/text.c", "old.c"];
        let files: Vec<PathBuf> = files.iter().map(PathBuf::from).collect();
        let symbols = [
            symbols(&["main"], &["usage", "push", "printf"]),
            symbols(&["main", "push"], &["usage"]),
            symbols(&["usage"], &[]),
            symbols(&["usage"], &["copy"]),
            symbols(&["push"], &["copy"]),
            symbols(&["copy"], &[]),
            symbols(&["nobody"], &["push"]),
        ];
        let (members, rest) = split(&files, &symbols);
        let shown: Vec<(&str, &[usize])> = members.iter().map(|m| (m.name.as_str(), &m.units[..])).collect();
        assert_eq!(shown, [("one", &[0, 2, 4, 5][..]), ("two", &[1, 3, 5][..])]);
        assert_eq!(rest, [6]);
        let (library, rest) = split(&files[2..5], &symbols[2..5]);
        assert_eq!((library.len(), library[0].units.len(), rest.len()), (1, 3, 0));
    }
}
