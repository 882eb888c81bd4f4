//! The pointers in a C type, read from its text: which of them is never null, and which may be.
//!
//! `int *_Nonnull (*[3])(char *)` is an array of pointers to functions that return a pointer. From the declared thing
//! inwards these are the parts `[3]`, `*`, `(char *)`, `* _Nonnull`. A pointer's depth is the number of pointers before it: 0 for the
//! declared thing itself or its elements, 1 for what that points to.

use parallax_cmodule::annotations::Promise;
use rustc_hash::FxHashMap;

/// One part of a type.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    /// A pointer, with what its qualifiers promise.
    Pointer(Option<Promise>),
    /// An array: its elements follow.
    Array,
    /// A function: what it returns follows.
    Function,
}

/// Typedefs within typedefs, and groups within groups, that are followed.
const DEEPEST: usize = 64;

/// What a type promises of its pointers, each with its depth. What is behind a function belongs to its calls.
pub(super) fn promises(text: &str, typedefs: &FxHashMap<String, String>) -> Vec<(usize, Promise)> {
    // Bounds stand behind the type.
    let text = text.split(" __counted_by").next().unwrap_or("");
    let mut found = Vec::new();
    let mut depth = 0;
    for part in parts(text, typedefs, DEEPEST) {
        match part {
            Part::Pointer(promise) => {
                found.extend(promise.map(|promise| (depth, promise)));
                depth += 1;
            }
            Part::Array => {}
            Part::Function => break,
        }
    }
    found
}

/// The type that a function returns: the text of the function's type without the parameters.
pub(super) fn result(text: &str, typedefs: &FxHashMap<String, String>) -> String {
    let text = typedefs.get(text).map_or(text, String::as_str);
    // `void (*_Nonnull (int))(char)`: the parameters are in the innermost group, behind its pointers.
    let mut at = 0;
    let mut depth = 0;
    while let Some(open) = text[at..].find('(') {
        let inside = at + open + 1;
        if !starts_group(&text[inside..]) {
            let close = inside + closing(&text[inside..]);
            return format!("{}{}", &text[..inside - 1], text.get(close + 1..).unwrap_or(""));
        }
        at = inside;
        depth += 1;
        if depth > DEEPEST {
            break;
        }
    }
    text.to_string()
}

/// The parts of a type, the declared thing first.
fn parts(text: &str, typedefs: &FxHashMap<String, String>, left: usize) -> Vec<Part> {
    let start = text.find(['*', '(', '[']).unwrap_or(text.len());
    let (words, rest) = text.split_at(start);
    let mut found = declarator(rest, left);
    let name: Vec<&str> = words.split_whitespace().filter(|word| !is_qualifier(word)).collect();
    if let (Some(meaning), Some(left)) = (typedefs.get(&name.join(" ")), left.checked_sub(1)) {
        let mut inner = parts(meaning, typedefs, left);
        // `typedef int *ref; ref _Nonnull p`: the words stand on the outermost pointer.
        if let (Some(promise), Some(pointer)) =
            (promise(words), inner.iter_mut().find(|part| matches!(part, Part::Pointer(_))))
        {
            *pointer = Part::Pointer(Some(promise));
        }
        found.extend(inner);
    }
    found
}

/// The parts of what stands behind the name of the type.
fn declarator(mut text: &str, left: usize) -> Vec<Part> {
    let mut pointers = Vec::new();
    text = text.trim_start();
    while let Some(rest) = text.strip_prefix('*') {
        let end = rest.find(['*', '(', '[', ')']).unwrap_or(rest.len());
        pointers.push(Part::Pointer(promise(&rest[..end])));
        text = &rest[end..];
    }
    let mut found = Vec::new();
    if let (Some(inside), Some(left)) = (text.strip_prefix('('), left.checked_sub(1))
        && starts_group(inside)
    {
        let close = closing(inside);
        found = declarator(&inside[..close], left);
        text = inside.get(close + 1..).unwrap_or("");
    }
    loop {
        text = text.trim_start();
        let part = match text.chars().next() {
            Some('[') => Part::Array,
            Some('(') => Part::Function,
            _ => break,
        };
        found.push(part);
        text = text[1..].get(closing(&text[1..]) + 1..).unwrap_or("");
    }
    found.extend(pointers.into_iter().rev());
    found
}

/// Whether an opening parenthesis before this groups, and does not begin parameters.
fn starts_group(inside: &str) -> bool {
    inside.trim_start().starts_with(['*', '(', '['])
}

/// Where the parenthesis or bracket closes that was opened before this.
fn closing(text: &str) -> usize {
    let mut open = 0;
    for (at, c) in text.char_indices() {
        match c {
            '(' | '[' => open += 1,
            ')' | ']' if open == 0 => return at,
            ')' | ']' => open -= 1,
            _ => {}
        }
    }
    text.len()
}

fn promise(words: &str) -> Option<Promise> {
    words.split_whitespace().find_map(|word| match word {
        "_Nonnull" => Some(Promise::Nonnull),
        "_Nullable" => Some(Promise::Nullable),
        _ => None,
    })
}

fn is_qualifier(word: &str) -> bool {
    const QUALIFIERS: [&str; 8] = [
        "const",
        "volatile",
        "restrict",
        "__restrict",
        "_Atomic",
        "_Nonnull",
        "_Nullable",
        "_Null_unspecified",
    ];
    QUALIFIERS.contains(&word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pointers_are_counted_from_the_declared_thing() {
        let meanings =
            [("ref", "int * _Nonnull"), ("plain", "int *"), ("refs", "ref *"), ("code", "int (int)")];
        let typedefs =
            meanings.into_iter().map(|(name, text)| (name.to_string(), text.to_string())).collect();
        let nonnull =
            |depths: &[usize]| depths.iter().map(|depth| (*depth, Promise::Nonnull)).collect::<Vec<_>>();
        for (text, depths) in [
            ("int * _Nonnull", &[0][..]),
            ("int * _Nonnull *", &[1]),
            ("int * _Nonnull *const volatile", &[1]),
            ("const int *const  _Nonnull *volatile", &[1]),
            ("int * _Nonnull * _Nonnull *", &[1, 2]),
            ("int * _Nonnull __counted_by(n)", &[0]),
            ("int * _Nonnull[3]", &[0]),
            ("int * _Nonnull (*)[2]", &[1]),
            ("int * _Nonnull *[2]", &[1]),
            ("ref", &[0]),
            ("const ref *", &[1]),
            ("refs *", &[2]),
            ("refs[4]", &[1]),
            ("plain _Nonnull", &[0]),
            ("plain _Nonnull *", &[1]),
            ("code *", &[]),
            ("int * _Nonnull (*)(int * _Nonnull)", &[]),
            ("int * _Nonnull (* _Nonnull *[3])(int *)", &[1]),
            ("struct s", &[]),
            ("", &[]),
            ("int (", &[]),
            ("((((", &[]),
        ] {
            assert_eq!(promises(text, &typedefs), nonnull(depths), "{text}");
        }
    }

    #[test]
    fn results_of_functions() {
        let typedefs = [("taker".to_string(), "int * (int * _Nonnull)".to_string())].into_iter().collect();
        for (text, expected) in [
            ("int (void)", "int "),
            ("int * _Nonnull *(int * _Nonnull *, refs)", "int * _Nonnull *"),
            ("void (* _Nonnull (int *))(int * _Nonnull)", "void (* _Nonnull )(int * _Nonnull)"),
            ("taker", "int * "),
            ("ref", "ref"),
            ("int (", "int "),
        ] {
            assert_eq!(result(text, &typedefs), expected, "{text}");
        }
    }

    #[test]
    fn a_typedef_of_itself_ends() {
        let typedefs = [("a".to_string(), "a *".to_string())].into_iter().collect();
        assert!(promises("a", &typedefs).is_empty());
        assert!(promises(&"(".repeat(100_000), &typedefs).is_empty());
        assert!(promises(&"(*".repeat(100_000), &typedefs).is_empty());
    }
}
