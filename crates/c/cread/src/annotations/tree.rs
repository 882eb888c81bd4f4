//! Qualifiers in clang's dump of a syntax tree: one line a node, indented, whatever the depth.
//!
//! The dump that people read is used and not the one in JSON, which leaves out the arguments of attributes.

use super::canonical;
use super::declarator;
use super::written::{self, Place, Written};
use parallax_cmodule::annotations::{Count, Promise, Qualifier, Subject};
use rustc_hash::FxHashMap;

/// What records without a tag are called until a typedef names them; no C name has a blank in it.
const UNNAMED: &str = "unnamed ";

/// A declaration that later lines may belong to.
enum Open {
    Function { name: String, unit: String, parameters: Vec<Parameter> },
    Record(String),
    Typedef(String),
    Declared(Subject, String),
    Other,
}

struct Parameter {
    name: String,
    pointer: bool,
}

struct Tree<'t> {
    unit: &'t str,
    /// What each indentation stands in.
    open: Vec<Open>,
    /// What typedefs stand for, as text.
    typedefs: FxHashMap<String, String>,
    /// Names of records without a tag, by their address in the dump; qualifiers of their fields wait for it.
    unnamed: Vec<(String, Qualifier)>,
    /// File and line that the last location named: later ones leave them out.
    file: String,
    line: u32,
    written: Written,
    found: Vec<Qualifier>,
}

/// All qualifiers in a dump.
pub(super) fn parse(dump: &str, unit: &str) -> Vec<Qualifier> {
    let mut tree = Tree {
        unit,
        open: Vec::new(),
        typedefs: FxHashMap::default(),
        unnamed: Vec::new(),
        file: String::new(),
        line: 0,
        written: Written::default(),
        found: Vec::new(),
    };
    for line in dump.lines() {
        let indent = line.find(|c: char| c.is_ascii_alphanumeric() || c == '<').unwrap_or(0);
        tree.node(indent / 2, &line[indent..]);
    }
    tree.found.sort();
    tree.found.dedup();
    tree.found
}

impl Tree<'_> {
    fn node(&mut self, depth: usize, text: &str) {
        self.open.truncate(depth);
        while self.open.len() < depth {
            self.open.push(Open::Other);
        }
        let (kind, rest) = text.split_once(' ').unwrap_or((text, ""));
        let ((from, to), words) = self.place(rest);
        let (line, column) = from;
        let opened = match kind {
            "FunctionDecl" => self.function(words, from, to),
            "ParmVarDecl" => self.parameter(words, from, to),
            "RecordDecl" => self.record(rest, words),
            "FieldDecl" => self.field(words),
            "VarDecl" => self.variable(words),
            "TypedefDecl" => {
                let name = name_of(words).to_string();
                self.typedefs.insert(name.clone(), quoted(words).to_string());
                Open::Typedef(name)
            }
            "Record" => {
                self.named_record(rest);
                Open::Other
            }
            "CStyleCastExpr" => {
                if let Some((function, unit)) = self.function_around() {
                    let subject = Subject::Cast { function, line, column };
                    self.note(&subject, &unit, quoted(words));
                }
                Open::Other
            }
            "NonNullAttr" => {
                self.nonnull(words);
                Open::Other
            }
            "ReturnsNonNullAttr" => {
                if let Some(Open::Function { name, unit, .. }) = self.open.last() {
                    let (subject, unit) = (Subject::Result { function: name.clone() }, unit.clone());
                    self.say(subject, &unit, 0, Promise::Nonnull);
                }
                Open::Other
            }
            "AnnotateAttr" => {
                let on = match self.open.last() {
                    Some(Open::Function { name, unit, .. }) => {
                        Some((Subject::Function { function: name.clone() }, unit.clone()))
                    }
                    Some(Open::Declared(subject, unit)) => Some((subject.clone(), unit.clone())),
                    _ => None,
                };
                if let (Some((subject, unit)), Some((_, text))) = (on, words.split_once('"')) {
                    let text = text.rsplit_once('"').map_or(text, |(text, _)| text).to_string();
                    self.say(subject, &unit, 0, Promise::Annotate(text));
                }
                Open::Other
            }
            _ => Open::Other,
        };
        self.open.push(opened);
    }

    /// Reads `0xADDRESS [prev 0xADDRESS] <from, to> [place]`: where it starts, where its last token does, and what comes after.
    fn place<'w>(&mut self, rest: &'w str) -> ((Place, Place), &'w str) {
        let Some(from) = rest.find('<') else { return (Default::default(), rest) };
        let mut nested = 0;
        let close = rest[from..].char_indices().find(|&(_, c)| {
            nested += i32::from(c == '<') - i32::from(c == '>');
            nested == 0
        });
        let Some((len, _)) = close else { return (Default::default(), rest) };
        let (mut start, mut end) = (None, (0, 0));
        for location in rest[from + 1..from + len].split(", ") {
            let place = self.location(location).map(|column| (self.line, column));
            start = start.or(place);
            end = place.unwrap_or(end);
        }
        let mut words = rest[from + len + 1..].trim_start();
        if let Some((first, after)) = words.split_once(' ')
            && self.location(first).is_some()
        {
            words = after;
        }
        ((start.unwrap_or_default(), end), words)
    }

    /// `file:line:column`, `line:LINE:COLUMN` or `col:COLUMN`.
    fn location(&mut self, text: &str) -> Option<u32> {
        let (before, column) = text.rsplit_once(':')?;
        let column = column.parse().ok()?;
        if before != "col" {
            let (file, line) = before.rsplit_once(':')?;
            self.line = line.parse().ok()?;
            if file != "line" {
                self.file = file.to_string();
            }
        }
        Some(column)
    }

    fn say(&mut self, subject: Subject, unit: &str, depth: usize, promise: Promise) {
        let qualifier = Qualifier { subject, depth, promise, unit: unit.to_string() };
        match &qualifier.subject {
            Subject::Field { record, .. } if record.starts_with(UNNAMED) => {
                self.unnamed.push((record.clone(), qualifier));
            }
            _ => self.found.push(qualifier),
        }
    }

    /// What the type of a thing says of its pointers.
    fn note(&mut self, subject: &Subject, unit: &str, text: &str) {
        for (depth, promise) in declarator::promises(text, &self.typedefs) {
            self.say(subject.clone(), unit, depth, promise);
        }
        if let Some((_, count)) = text.split_once("__counted_by(") {
            let count = count.split(')').next().unwrap_or("").to_string();
            self.say(subject.clone(), unit, 0, Promise::CountedBy(count));
        }
    }

    /// Whose word a declaration is: that of the file it stands in for what is `static`, else of all that is compiled.
    fn unit_of(&self, words: &str) -> String {
        let internal = words.rsplit('\'').next().is_some_and(|rest| rest.split(' ').any(|w| w == "static"));
        if internal { canonical(&self.file) } else { self.unit.to_string() }
    }

    fn function_around(&self) -> Option<(String, String)> {
        self.open.iter().rev().find_map(|open| match open {
            Open::Function { name, unit, .. } => Some((name.clone(), unit.clone())),
            _ => None,
        })
    }

    fn function(&mut self, words: &str, from: Place, to: Place) -> Open {
        let name = name_of(words).to_string();
        let result = declarator::result(quoted(words), &self.typedefs);
        let unit = self.unit_of(words);
        self.note(&Subject::Result { function: name.clone() }, &unit, &result);
        let head = self.written.head(&self.file, from, to);
        for (index, size) in written::accesses(&head) {
            let subject = Subject::Parameter { function: name.clone(), index };
            self.say(subject, &unit, 0, Promise::Room(Count::Parameter(size)));
        }
        Open::Function { name, unit, parameters: Vec::new() }
    }

    fn parameter(&mut self, words: &str, from: Place, to: Place) -> Open {
        let Some(Open::Function { name, unit, parameters }) = self.open.last_mut() else {
            return Open::Other;
        };
        // After the type as written there may be what it stands for.
        let pointer = words.contains('*');
        let subject = Subject::Parameter { function: name.clone(), index: parameters.len() };
        let unit = unit.clone();
        let names: Vec<String> = parameters.iter().map(|parameter| parameter.name.clone()).collect();
        parameters.push(Parameter { name: name_of(words).to_string(), pointer });
        if pointer {
            let text = self.written.between(&self.file, from, to);
            if let Some(count) = written::array(&text, &names) {
                self.say(subject.clone(), &unit, 0, Promise::Room(count));
            }
        }
        self.note(&subject, &unit, quoted(words));
        Open::Declared(subject, unit)
    }

    /// `nonnull` on a parameter, or on a function: for the numbered parameters, or for every pointer.
    fn nonnull(&mut self, words: &str) {
        let (subjects, unit): (Vec<Subject>, String) = match self.open.last() {
            Some(Open::Declared(subject, unit)) => (vec![subject.clone()], unit.clone()),
            Some(Open::Function { name, unit, parameters }) => {
                let numbers: Vec<usize> = words.split(' ').filter_map(|word| word.parse().ok()).collect();
                let named = |index: usize| match numbers.is_empty() {
                    true => parameters[index].pointer,
                    false => numbers.contains(&(index + 1)),
                };
                let indices = (0..parameters.len()).filter(|&index| named(index));
                let parameter = |index| Subject::Parameter { function: name.clone(), index };
                (indices.map(parameter).collect(), unit.clone())
            }
            _ => return,
        };
        for subject in subjects {
            self.say(subject, &unit, 0, Promise::Nonnull);
        }
    }

    fn record(&mut self, rest: &str, words: &str) -> Open {
        let mut words = words.split(' ').skip_while(|word| !matches!(*word, "struct" | "union")).skip(1);
        Open::Record(match words.next() {
            Some("definition") | None => format!("{UNNAMED}{}", rest.split(' ').next().unwrap_or("")),
            Some(name) => name.to_string(),
        })
    }

    /// `Record 0xADDRESS 'name'` under a typedef: the name that a record without a tag is known by.
    fn named_record(&mut self, rest: &str) {
        let Some(Open::Typedef(name)) = self.open.iter().find(|open| matches!(open, Open::Typedef(_))) else {
            return;
        };
        let unnamed = format!("{UNNAMED}{}", rest.split(' ').next().unwrap_or(""));
        for (record, qualifier) in &mut self.unnamed {
            if *record == unnamed
                && let Subject::Field { record, .. } = &mut qualifier.subject
            {
                record.clone_from(name);
                self.found.push(qualifier.clone());
            }
        }
        self.unnamed.retain(|(record, _)| *record != unnamed);
    }

    fn field(&mut self, words: &str) -> Open {
        let Some(Open::Record(record)) = self.open.last() else { return Open::Other };
        let subject = Subject::Field { record: record.clone(), field: name_of(words).to_string() };
        let unit = self.unit.to_string();
        self.note(&subject, &unit, quoted(words));
        Open::Declared(subject, unit)
    }

    fn variable(&mut self, words: &str) -> Open {
        let name = name_of(words).to_string();
        let (subject, unit) = match self.function_around() {
            Some((function, unit)) => (Subject::Local { function, name, line: self.line }, unit),
            None => (Subject::Variable { name }, self.unit_of(words)),
        };
        self.note(&subject, &unit, quoted(words));
        // Behind the type stand the words that say how long it lives and whether it has an initialiser.
        let behind = words.rsplit('\'').next().unwrap_or("");
        let has = |word: &str| behind.split(' ').any(|found| found == word);
        let lasts = matches!(subject, Subject::Variable { .. }) || has("static");
        if lasts && ["cinit", "callinit", "listinit"].into_iter().any(has) {
            self.say(subject.clone(), &unit, 0, Promise::Initialised);
        }
        Open::Declared(subject, unit)
    }
}

/// The type as written: the first thing in quotes.
fn quoted(words: &str) -> &str {
    words.split('\'').nth(1).unwrap_or("")
}

/// The name: the last word before the type.
fn name_of(words: &str) -> &str {
    words.split('\'').next().unwrap_or("").trim_end().rsplit(' ').next().unwrap_or("")
}

#[cfg(test)]
mod tests {
    use crate::annotations::qualifiers;
    use crate::clang::Options;
    use Promise::{Annotate, CountedBy, Nonnull, Nullable, Room};
    use parallax_cmodule::annotations::{Count, Promise, Qualifier, Subject};

    const TEXT: &str = r#"#include <string.h>
typedef int *_Nonnull ref;
struct node { struct node *_Nullable next; int *plain; char *text __attribute__((annotate("tainted"))); };
typedef struct { char *_Nonnull words; } unnamed_tag;
struct buffer { int n; int items[] __attribute__((counted_by(n))); };
void two(int *a, int b, int *c) __attribute__((nonnull(3)));
void all(int *a, int b, int *c) __attribute__((nonnull));
int *get(void) __attribute__((returns_nonnull, annotate("source")));
char *_Nonnull name(int *_Nonnull *_Nullable where, int n, ref r);
static void one(int *p __attribute__((nonnull)), void (*_Nullable f)(int *_Nonnull)) {
  int *_Nonnull q =
      (int *_Nonnull)p; (void)q; (void)f;
}
extern int *_Nonnull table;
int *first, *second = 0; void counts(void) { int *short_lived = 0; static int *lasting = 0; static int *zeroed; }
#pragma clang assume_nonnull begin
int *assumed(int *p);
#pragma clang assume_nonnull end
int least(unsigned n, char p[static n], int q[static 3]);
__attribute__((access(write_only, 1, 2)))
void fill(char *p, unsigned n, const char *s)
    __attribute__((access(read_only, 3, 2), nonnull(3)));
int calls_access(const char *p) { extern int access(const char *, int); return access(p, 1); }
"#;

    fn parameter(function: &str, index: usize) -> Subject {
        Subject::Parameter { function: function.into(), index }
    }

    #[test]
    fn qualifiers_are_found_on_every_kind_of_declaration() {
        let folder = std::env::temp_dir().join(format!("parallax-annotations-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let file = folder.join("a.c");
        std::fs::write(&file, TEXT).expect("a file");
        let found = qualifiers(&file, &Options::default()).expect("clang reads it");
        std::fs::remove_dir_all(&folder).expect("the folder goes");
        let field = |record: &str, field: &str| Subject::Field { record: record.into(), field: field.into() };
        let result = |function: &str| Subject::Result { function: function.into() };
        let one = || "one".to_string();
        let mut expected: Vec<(Subject, usize, Promise)> = vec![
            (field("node", "next"), 0, Nullable),
            (field("node", "text"), 0, Annotate("tainted".into())),
            (field("unnamed_tag", "words"), 0, Nonnull),
            (field("buffer", "items"), 0, CountedBy("n".into())),
            (parameter("two", 2), 0, Nonnull),
            (parameter("all", 0), 0, Nonnull),
            (parameter("all", 2), 0, Nonnull),
            (result("get"), 0, Nonnull),
            (Subject::Function { function: "get".into() }, 0, Annotate("source".into())),
            (result("name"), 0, Nonnull),
            (parameter("name", 0), 0, Nullable),
            (parameter("name", 0), 1, Nonnull),
            (parameter("name", 2), 0, Nonnull),
            (parameter("one", 0), 0, Nonnull),
            (parameter("one", 1), 0, Nullable),
            (Subject::Local { function: one(), name: "q".into(), line: 11 }, 0, Nonnull),
            (Subject::Cast { function: one(), line: 12, column: 7 }, 0, Nonnull),
            (Subject::Variable { name: "table".into() }, 0, Nonnull),
            (Subject::Variable { name: "second".into() }, 0, Promise::Initialised),
            (
                Subject::Local { function: "counts".into(), name: "lasting".into(), line: 15 },
                0,
                Promise::Initialised,
            ),
            (result("assumed"), 0, Nonnull),
            (parameter("assumed", 0), 0, Nonnull),
            (parameter("least", 1), 0, Room(Count::Parameter(0))),
            (parameter("least", 2), 0, Room(Count::Number(3))),
            (parameter("fill", 0), 0, Room(Count::Parameter(1))),
            (parameter("fill", 2), 0, Room(Count::Parameter(1))),
            (parameter("fill", 2), 0, Nonnull),
        ];
        expected.sort();
        // The library's own prototypes promise a lot; here it is enough to have one of them.
        let (library, own): (Vec<Qualifier>, Vec<Qualifier>) =
            found.into_iter().partition(|qualifier| match &qualifier.subject {
                Subject::Parameter { function, .. } | Subject::Result { function } => {
                    !["two", "all", "get", "name", "one", "assumed", "least", "fill"]
                        .contains(&function.as_str())
                }
                _ => false,
            });
        let own: Vec<_> = own.into_iter().map(|q| (q.subject, q.depth, q.promise)).collect();
        assert_eq!(own, expected);
        assert!(library.iter().any(|q| q.subject == parameter("memcpy", 1) && q.promise == Nonnull));
    }
}
