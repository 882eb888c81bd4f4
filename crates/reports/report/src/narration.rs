//! What analysers mean by the sentences they put at a step. Roles, branch outcomes and function names are in there, in
//! English, and nowhere else: clang's SARIF has no nesting, gcc's JSON no roles, cppcheck neither.

use crate::{Binding, Role};
use regex::Regex;
use std::sync::LazyLock;

/// What a sentence says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Narration {
    pub role: Role,
    /// Whether the condition held.
    pub taken: Option<bool>,
    /// The function called or returned from.
    pub callee: Option<String>,
    /// The function that the sentence is about, or that has called this one.
    pub caller: Option<String>,
    /// A value it states.
    pub value: Option<Binding>,
    /// Whether it says only that this line comes next.
    pub passing: bool,
}

/// A role, and a pattern whose groups say the rest: `callee`, `caller`, `taken`, `name` and `value`.
type Row = (Role, Regex);

static ROWS: LazyLock<Vec<Row>> = LazyLock::new(|| {
    // An opening quote is ', ` or ‘, or none; a name ends where the quote does.
    let rows = [
        (Role::Entry, r"^entry to Q(?<callee>[^Q]+)Q"),
        (Role::Entry, r"^start of procedure (?<callee>[^\s(]+)"),
        (Role::Entry, r"^Entered call from Q(?<caller>[^Q]+)Q"),
        (Role::Call, r"^calling (?:function )?Q(?<callee>[^Q]+)Q from Q(?<caller>[^Q]+)Q"),
        (
            Role::Call,
            r"^calling (?:the )?(?:function |method |constructor |destructor |default constructor )*(?:for )?Q(?<callee>[^Q]+)Q",
        ),
        (Role::Call, r"^calling function (?<callee>[\w:~]+)"),
        (Role::Call, r"^(?:in |when )?call(?:ing)?(?: to)? Q(?<callee>[^Q]+)Q"),
        (Role::Return, r"^return(?:ing|ed)? (?:of .+ )?to Q(?<caller>[^Q]+)Q from Q(?<callee>[^Q]+)Q"),
        (Role::Return, r"^possible return of .+ to Q(?<caller>[^Q]+)Q from Q(?<callee>[^Q]+)Q"),
        (
            Role::Return,
            r"^return(?:ing|ed)? from (?:a call to )?(?:constructor for |destructor for )?Q?(?<callee>[^Q\s]+)Q?",
        ),
        (Role::Return, r"^(?:returning\b|returned\b)"),
        (Role::Branch, r"^taking (?<taken>true|false) branch"),
        (Role::Branch, r"^following Q(?<taken>true|false)Q branch"),
        (Role::Branch, r"^taking the Q?(?<taken>true|false)Q? "),
        (Role::Branch, r"^loop condition is (?<taken>true|false)"),
        (Role::Branch, r"^(?:assuming )?(?:the )?condition (?:Q.*Q )?is (?:always )?(?<taken>true|false)"),
        (Role::Branch, r"^(?:left|right) side of Q.*Q is (?<taken>true|false)"),
        (Role::Branch, r"^Q\?Q condition is (?<taken>true|false)"),
        (Role::Branch, r"^assuming that condition Q.*Q is (?:not redundant|(?<taken>true|false))"),
        (
            Role::Branch,
            r"^assuming Q(?<name>[^Q]+)Q is (?:equal to )?(?<value>null|NULL|nil|-?\d+|0x[\da-f]+)$",
        ),
        (Role::Branch, r"^assuming\b"),
        (Role::Note, r"^Q(?<name>[^Q]+)Q initialized to a (?<value>null) pointer value"),
        (Role::Note, r"^Q(?<name>[^Q]+)Q (?:initialized|set) to (?<value>-?\d+|NULL|null|nil)"),
        (Role::Note, r"^(?<value>null) pointer value stored to Q(?<name>[^Q]+)Q"),
        (Role::Note, r"^the value (?<value>-?\d+) is assigned to Q(?<name>[^Q]+)Q"),
        (Role::Note, r"^assignment Q(?<name>[^Q=]+)=.*Q, assigned value is (?<value>\S+)"),
        (Role::Note, r"^Q(?<name>[^Q]+)Q is (?<value>NULL|null|nil|-?\d+)$"),
        (Role::Access, r"^(?:possible |possibly )?(?:null pointer )?dereferenc(?:e|ing)\b"),
        (
            Role::Access,
            r"^(?:null pointer dereference|access to field|array access|use of |use after|invalid (?:read|write))",
        ),
        (Role::Access, r"^(?:double-|second )?Qfree(?:d)?Q"),
    ];
    let build = |pattern: &str| {
        let class = pattern
            .replace("[^Q]", "[^'`’\"]")
            .replace("[^Q=]", "[^'`’\"=]")
            .replace("[^Q\\s]", "[^'`’\"\\s]");
        Regex::new(&format!("(?i){}", class.replace('Q', "['`‘’\"]"))).expect("the patterns are well-formed")
    };
    rows.into_iter().map(|(role, pattern)| (role, build(pattern))).collect()
});

/// Reads a sentence.
pub(crate) fn understand(message: &str) -> Narration {
    let message = message.lines().next().unwrap_or("").trim();
    if message.trim_end_matches('.') == "...to here" {
        return Narration { passing: true, ..Narration::default() };
    }
    for (role, pattern) in ROWS.iter() {
        let Some(captures) = pattern.captures(message) else { continue };
        let group = |name: &str| captures.name(name).map(|group| group.as_str().trim().to_owned());
        let function = |name: &str| group(name).map(|name| name.trim_end_matches("()").to_owned());
        return Narration {
            role: *role,
            taken: group("taken").map(|taken| taken.eq_ignore_ascii_case("true")),
            callee: function("callee"),
            caller: function("caller"),
            value: group("name").zip(group("value")).map(|(name, value)| Binding { name, value }),
            passing: false,
        };
    }
    Narration::default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sentences_of_clang_gcc_cppcheck_and_infer() {
        let says = |message: &str| {
            let narration = understand(message);
            (narration.role, narration.taken, narration.callee, narration.caller)
        };
        let f = |name: &str| Some(name.to_owned());
        assert_eq!(says("Calling 'add'"), (Role::Call, None, f("add"), None));
        assert_eq!(says("calling ‘add’ from ‘main’"), (Role::Call, None, f("add"), f("main")));
        assert_eq!(
            says("Calling function set_room, 1st argument is null"),
            (Role::Call, None, f("set_room"), None)
        );
        assert_eq!(
            says("Calling function 'set_room', 1st argument 'g' value is 0"),
            (Role::Call, None, f("set_room"), None)
        );
        assert_eq!(says("Calling constructor for 'Guest'"), (Role::Call, None, f("Guest"), None));
        assert_eq!(says("Entered call from 'main'"), (Role::Entry, None, None, f("main")));
        assert_eq!(says("entry to ‘find’"), (Role::Entry, None, f("find"), None));
        assert_eq!(says("start of procedure find()"), (Role::Entry, None, f("find"), None));
        assert_eq!(says("Returning from 'drop'"), (Role::Return, None, f("drop"), None));
        assert_eq!(says("returning to ‘main’ from ‘add’"), (Role::Return, None, f("add"), f("main")));
        assert_eq!(
            says("possible return of NULL to ‘main’ from ‘add’"),
            (Role::Return, None, f("add"), f("main"))
        );
        assert_eq!(says("Returned allocated memory"), (Role::Return, None, None, None));
        assert_eq!(
            says("Returning; memory was released via 1st parameter"),
            (Role::Return, None, None, None)
        );
        assert_eq!(says("Taking false branch"), (Role::Branch, Some(false), None, None));
        assert_eq!(
            says("following ‘true’ branch (when ‘room > 0’)..."),
            (Role::Branch, Some(true), None, None)
        );
        assert_eq!(
            says("Loop condition is true.  Entering loop body"),
            (Role::Branch, Some(true), None, None)
        );
        assert_eq!(says("Left side of '&&' is true"), (Role::Branch, Some(true), None, None));
        assert_eq!(says("Assuming the condition is false"), (Role::Branch, Some(false), None, None));
        assert_eq!(says("Assuming condition is false"), (Role::Branch, Some(false), None, None));
        assert_eq!(says("dereference of NULL ‘g’").0, Role::Access);
        assert_eq!(says("Memory is allocated").0, Role::Note);
    }

    #[test]
    fn stated_values_are_kept() {
        let value = |message: &str| understand(message).value.map(|binding| (binding.name, binding.value));
        let is = |name: &str, value: &str| Some((name.to_owned(), value.to_owned()));
        assert_eq!(value("'g' initialized to a null pointer value"), is("g", "null"));
        assert_eq!(value("Assignment 'g=NULL', assigned value is 0"), is("g", "0"));
        assert_eq!(value("‘g’ is NULL"), is("g", "NULL"));
        assert_eq!(value("Assuming 'argc' is 1"), is("argc", "1"));
        assert_eq!(value("Assuming 'g' is not equal to NULL"), None);
    }
}
