//! Promises that clang leaves out of its syntax tree, read where they are written: `[static n]`, and GCC's
//! `access(mode, pointer, size)`, which clang does not know.

use parallax_cmodule::annotations::Count;
use rustc_hash::FxHashMap;
use std::path::Path;

/// The lines of the files that declarations stand in, each file read once.
#[derive(Default)]
pub(super) struct Written {
    files: FxHashMap<String, Vec<String>>,
}

/// Line and column, both counted from 1.
pub(super) type Place = (u32, u32);

impl Written {
    /// What is written from one place to the start of the token at another, that token's first character included.
    pub(super) fn between(&mut self, file: &str, from: Place, to: Place) -> String {
        let lines = self.lines(file);
        let mut text = String::new();
        for number in from.0..=to.0.min(from.0.saturating_add(MOST_LINES)) {
            let Some(line) = (number as usize).checked_sub(1).and_then(|index| lines.get(index)) else {
                break;
            };
            let end = if number == to.0 { to.1 as usize } else { line.len() };
            let start = if number == from.0 { from.1 as usize - usize::from(from.1 > 0) } else { 0 };
            text.push_str(line.get(start..end.min(line.len())).unwrap_or(""));
            text.push('\n');
        }
        text
    }

    /// The head of a declaration from a place on, up to its body or end, with the attributes that stand before it.
    pub(super) fn head(&mut self, file: &str, from: Place, to: Place) -> String {
        // Attributes that stand first are not within the declaration's place.
        let above = (from.0.saturating_sub(2).max(1), 1);
        let before = self.between(file, above, (from.0, from.1.saturating_sub(1)));
        let before = before.rsplit([';', '}']).next().unwrap_or("").to_string();
        let text = self.between(file, from, to);
        before + text.split(['{', ';']).next().unwrap_or("")
    }

    fn lines(&mut self, file: &str) -> &[String] {
        self.files.entry(file.to_string()).or_insert_with(|| {
            let text = crate::source_text(Path::new(file)).unwrap_or_default();
            text.lines().map(str::to_string).collect()
        })
    }
}

/// A declaration that goes on for more lines is cut.
const MOST_LINES: u32 = 100;

/// The `n` of `[static n]` in a parameter; a name is one of the parameters before it.
pub(super) fn array(parameter: &str, before: &[String]) -> Option<Count> {
    let inside = parameter.split_once('[')?.1.split_once(']')?.0;
    let words: Vec<&str> = inside.split_whitespace().collect();
    let at = words.iter().position(|word| *word == "static")?;
    let count: String = words[at + 1..].iter().filter(|word| !QUALIFIERS.contains(word)).copied().collect();
    match count.parse() {
        Ok(number) => Some(Count::Number(number)),
        Err(_) => before.iter().position(|name| *name == count).map(Count::Parameter),
    }
}

const QUALIFIERS: [&str; 4] = ["const", "restrict", "volatile", "static"];

/// What `access` attributes say of parameters: which points, and which says to how many elements.
pub(super) fn accesses(head: &str) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let Some((_, mut rest)) = head.split_once("__attribute") else { return found };
    while let Some(at) = rest.find("access") {
        let name_ends = rest[at + "access".len()..].trim_start_matches('_').trim_start();
        rest = &rest[at + "access".len()..];
        let Some(arguments) = name_ends.strip_prefix('(').and_then(|inside| inside.split_once(')')) else {
            continue;
        };
        let words: Vec<&str> = arguments.0.split(',').map(|word| word.trim().trim_matches('_')).collect();
        let number = |index: usize| words.get(index)?.parse::<usize>().ok()?.checked_sub(1);
        if let (Some("read_only" | "write_only" | "read_write"), Some(pointer), Some(size)) =
            (words.first().copied(), number(1), number(2))
        {
            found.push((pointer, size));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_with_a_least_size() {
        let before = ["n".to_string(), "count".to_string()];
        assert_eq!(array("int a[static 4]", &before), Some(Count::Number(4)));
        assert_eq!(array("char p[const static count]", &before), Some(Count::Parameter(1)));
        assert_eq!(array("char p[static restrict n]", &before), Some(Count::Parameter(0)));
        for other in [
            "int *a",
            "int a[4]",
            "int a[n]",
            "int a[static n * 2]",
            "int a[static",
            "int a[static 99999999999999999999]",
        ] {
            assert_eq!(array(other, &before), None, "{other}");
        }
    }

    #[test]
    fn accesses_of_parameters() {
        let head = "void f(char *d, const char *s, size_t n) __attribute__((access (write_only, 1, 3), __access__(__read_only__, 2, 3)))";
        assert_eq!(accesses(head), [(0, 2), (1, 2)]);
        for other in [
            "int g(const char *p) { return access(p, 1, 2); }",
            "int g(char *p, int n) __attribute__((access(none, 1, 2)))",
            "int g(char *p, int n) __attribute__((access(read_only, 1)))",
            "int g(char *p, int n) __attribute__((access(read_only, 0, 2)))",
            "int g(char *p, int n) __attribute__((access",
        ] {
            assert_eq!(accesses(other), [], "{other}");
        }
    }
}
