//! Qualifiers that do not survive into unoptimised IR: `_Nonnull` and `_Nullable` on any declaration.
//!
//! clang drops nullability of types on the way to IR, so it is read from the syntax tree (clang's JSON dump). Function
//! bodies, which make up most of the dump, are skipped without being built. Results are named by what they stand on:
//! a parameter, a result, a field, a variable.

use crate::Error;
use crate::clang::{Options, syntax_tree};
use serde::Deserialize;
use serde::de::IgnoredAny;
use std::path::Path;

/// What a declaration promises or allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Nullability {
    /// Never null.
    Nonnull,
    /// May be null.
    Nullable,
}

/// What a qualifier stands on.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Subject {
    /// A parameter of a function, by number.
    Parameter {
        /// The function.
        function: String,
        /// Counted from 0.
        index: usize,
    },
    /// The result of a function.
    Result {
        /// The function.
        function: String,
    },
    /// A field of a structure or union.
    Field {
        /// The tag.
        record: String,
        /// The field.
        field: String,
    },
    /// A variable at file scope.
    Variable {
        /// Its name.
        name: String,
    },
}

/// A qualifier on a declaration.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Qualifier {
    /// What it stands on.
    pub subject: Subject,
    /// Which pointer of the type: 0 is the declared thing itself, 1 what it points to, and so on.
    pub depth: usize,
    /// What it says.
    pub nullability: Nullability,
}

/// Qualifiers of all declarations that a file sees.
pub fn qualifiers(file: &Path, options: &Options) -> Result<Vec<Qualifier>, Error> {
    let tree = syntax_tree(file, options)?;
    parse(&tree).map_err(|error| Error::Usage(format!("{}: clang's syntax tree: {error}", file.display())))
}

#[derive(Deserialize)]
struct Unit {
    #[serde(default)]
    inner: Vec<Declaration>,
}

#[derive(Deserialize)]
struct Declaration {
    kind: String,
    #[serde(default)]
    name: String,
    #[serde(rename = "type")]
    ty: Option<TypeText>,
    #[serde(default)]
    inner: Vec<Member>,
}

#[derive(Deserialize)]
struct Member {
    #[serde(default)]
    kind: String,
    #[serde(default)]
    name: String,
    #[serde(rename = "type")]
    ty: Option<TypeText>,
    // Bodies are passed over without recursion, however deep they are.
    #[serde(default, rename = "inner")]
    _inner: IgnoredAny,
}

#[derive(Deserialize)]
struct TypeText {
    #[serde(rename = "qualType", default)]
    text: String,
}

fn parse(tree: &[u8]) -> Result<Vec<Qualifier>, serde_json::Error> {
    let unit: Unit = serde_json::from_slice(tree)?;
    let mut found = Vec::new();
    for declaration in &unit.inner {
        let text = declaration.ty.as_ref().map_or("", |ty| ty.text.as_str());
        match declaration.kind.as_str() {
            "FunctionDecl" => {
                let function = declaration.name.clone();
                note(&mut found, Subject::Result { function }, result_type(text));
                let parameters = declaration.inner.iter().filter(|member| member.kind == "ParmVarDecl");
                for (index, parameter) in parameters.enumerate() {
                    let subject = Subject::Parameter { function: declaration.name.clone(), index };
                    note(&mut found, subject, parameter.ty.as_ref().map_or("", |ty| &ty.text));
                }
            }
            "RecordDecl" => {
                for field in declaration.inner.iter().filter(|member| member.kind == "FieldDecl") {
                    let (record, name) = (declaration.name.clone(), field.name.clone());
                    let subject = Subject::Field { record, field: name };
                    note(&mut found, subject, field.ty.as_ref().map_or("", |ty| &ty.text));
                }
            }
            "VarDecl" => note(&mut found, Subject::Variable { name: declaration.name.clone() }, text),
            _ => {}
        }
    }
    found.sort();
    found.dedup();
    Ok(found)
}

/// The result in `int *_Nullable (char *, int)`: what stands before the parameter list.
fn result_type(text: &str) -> &str {
    text.find('(').map_or(text, |at| &text[..at])
}

/// Each `*` of a plain pointer type with the qualifiers after it; the last is the declared thing itself.
fn note(found: &mut Vec<Qualifier>, subject: Subject, text: &str) {
    // Pointers to functions and arrays nest differently; their own qualifier is all that is taken.
    let plain = text.split(['(', '[']).next().unwrap_or("");
    let levels: Vec<&str> = plain.split('*').skip(1).collect();
    for (position, words) in levels.iter().enumerate() {
        let nullability = if words.contains("_Nonnull") {
            Nullability::Nonnull
        } else if words.contains("_Nullable") {
            Nullability::Nullable
        } else {
            continue;
        };
        let depth = levels.len() - 1 - position;
        found.push(Qualifier { subject: subject.clone(), depth, nullability });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn qualifiers_are_found_on_every_kind_of_declaration() {
        let folder = std::env::temp_dir().join(format!("parallax-annotations-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let file = folder.join("a.c");
        let text = "struct node { struct node *_Nullable next; int *plain; };\n\
                    char *_Nonnull name(int *_Nonnull *_Nullable where, int n);\n\
                    char *_Nonnull name(int *_Nonnull *_Nullable where, int n) { return (char *)where + n; }\n\
                    extern int *_Nonnull table;\n";
        std::fs::write(&file, text).expect("a file");
        let found = qualifiers(&file, &Options::default()).expect("clang reads it");
        std::fs::remove_dir_all(&folder).expect("the folder goes");
        let function = || "name".to_string();
        let expected = [
            (Subject::Parameter { function: function(), index: 0 }, 0, Nullability::Nullable),
            (Subject::Parameter { function: function(), index: 0 }, 1, Nullability::Nonnull),
            (Subject::Result { function: function() }, 0, Nullability::Nonnull),
            (Subject::Field { record: "node".into(), field: "next".into() }, 0, Nullability::Nullable),
            (Subject::Variable { name: "table".into() }, 0, Nullability::Nonnull),
        ];
        let expected: Vec<Qualifier> = expected
            .into_iter()
            .map(|(subject, depth, nullability)| Qualifier { subject, depth, nullability })
            .collect();
        assert_eq!(found, expected);
    }
}
