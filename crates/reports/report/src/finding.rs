//! What a report carries besides its paths: the rule behind it, the edits it proposes, how it stands to an earlier run.

use crate::model::is_default;
use crate::{Location, Tool};
use serde::{Deserialize, Deserializer, Serialize};

/// What a tool says about one kind of finding, once for all reports of that kind.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Rule {
    /// The tool's name for it; [`Report::rule`](crate::Report::rule) is this or a part of it (`CA1000/1`).
    pub id: String,
    /// Whose rule it is.
    pub tool: Tool,
    /// A name for people.
    #[serde(skip_serializing_if = "is_default")]
    pub name: String,
    /// One sentence.
    #[serde(skip_serializing_if = "is_default")]
    pub summary: String,
    /// What is wrong with code like this.
    #[serde(skip_serializing_if = "is_default")]
    pub description: String,
    /// What to do about it; Markdown where the tool has it.
    #[serde(skip_serializing_if = "is_default")]
    pub help: String,
    /// A page about it; only `http:` and `https:` survive tidying.
    #[serde(skip_serializing_if = "is_default")]
    pub url: String,
    /// A score of its severity, zero to ten (`security-severity`), as the tool writes it.
    #[serde(skip_serializing_if = "is_default", deserialize_with = "words_or_number")]
    pub score: String,
}

/// A score is a number to some who write the form.
fn words_or_number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Score {
        Words(String),
        Number(serde_json::Number),
    }
    Ok(match Score::deserialize(deserializer)? {
        Score::Words(words) => words,
        Score::Number(number) => number.to_string(),
    })
}

/// An edit that would put it right.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Fix {
    /// What the edit does.
    #[serde(skip_serializing_if = "is_default")]
    pub description: String,
    /// What to replace with what.
    #[serde(skip_serializing_if = "is_default")]
    pub changes: Vec<Change>,
}

/// One replacement: the text of the place becomes `text`. Without columns, whole lines are replaced.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Change {
    /// What goes away; an end at the start means that nothing does.
    pub location: Location,
    /// Whether nothing goes away: the text is put in before the place.
    #[serde(skip_serializing_if = "is_default")]
    pub insert: bool,
    /// What comes in its place.
    #[serde(skip_serializing_if = "is_default")]
    pub text: String,
}

/// How a report stands to an earlier run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Baseline {
    /// It was not there.
    New,
    /// It was there.
    Unchanged,
    /// It was there, and has changed in details.
    Updated,
    /// It was there and is no more.
    Absent,
}

/// How much a step matters to the explanation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Importance {
    /// The line is executed, and that is all there is to say.
    Unimportant,
    /// It belongs to the story.
    #[default]
    Important,
    /// The story cannot be told without it.
    Essential,
}
