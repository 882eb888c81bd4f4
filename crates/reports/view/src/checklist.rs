//! Triage checklists (section 2.3 of the chapter): data files that say which questions to ask about which reports.
//!
//! The ones in `crates/reports/view/checklists/` are built in; a team puts its own beside them with `--checklists`.

use parallax_report::{Report, Severity};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The name and version of the form.
pub const FORMAT: &str = "parallax-checklist/1";

/// One checklist.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Checklist {
    /// Always [`FORMAT`].
    pub format: String,
    /// A short name, unique; one of the built-in names replaces that checklist.
    pub name: String,
    /// What kind of report it is for.
    pub title: String,
    /// Which reports it is for.
    pub matches: Matches,
    /// Search terms to begin with; `/.../` is a regular expression.
    #[serde(default)]
    pub presets: Vec<String>,
    /// What the three verdicts are called: `true`, `false`, `unsure`.
    #[serde(default)]
    pub verdicts: BTreeMap<String, String>,
    /// When a report of this kind is right, for those who judge many; code stands in backquotes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub true_if: Option<String>,
    /// When it is not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub false_if: Option<String>,
    /// The tabs.
    pub tabs: Vec<Tab>,
}

/// Which reports a checklist is for: any of these.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Matches {
    /// Words or phrases of the rule, the title or the tool's name; `*` fits all.
    #[serde(default)]
    pub words: Vec<String>,
    /// Weakness numbers.
    #[serde(default)]
    pub cwe: Vec<u32>,
    /// Reports of lint: one place, no error, and no weakness number that another checklist knows.
    #[serde(default)]
    pub lint: bool,
}

/// A tab, or a family of tabs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tab {
    /// How often it stands there.
    #[serde(rename = "for")]
    pub each: Each,
    /// Only for some of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<When>,
    /// The title; `{i}` and `{j}` are the numbers of the paths.
    pub title: String,
    /// The questions.
    pub questions: Vec<Question>,
    /// What the empty field for an explanation says; no field without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explain: Option<String>,
}

/// What a tab is repeated for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Each {
    /// Once per report.
    Report,
    /// Once per path.
    Path,
    /// Once per pair of paths.
    Pair,
}

/// A condition on what the analysis knows at the end of the paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum When {
    /// The path ends without a lock held, as far as the report says.
    NoLocks,
    /// The two paths end without a common lock, as far as the report says.
    NoCommonLock,
}

/// A question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Question {
    /// Unique in its tab.
    pub id: String,
    /// What is asked; code stands in backquotes.
    pub text: String,
    /// Answers as value and label; yes and no without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub options: Option<Vec<(String, String)>>,
    /// Asked only when these questions of the tab have these answers.
    #[serde(default, rename = "if", skip_serializing_if = "BTreeMap::is_empty")]
    pub condition: BTreeMap<String, String>,
    /// A heading that questions share.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
}

/// Why a file is no checklist.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChecklistError {
    /// Not JSON, or not in the form.
    #[error("{0}")]
    Malformed(String),
    /// Another version or another thing altogether.
    #[error("the format is `{0}`, not `{FORMAT}`")]
    Format(String),
    /// A condition names a question that its tab does not ask before.
    #[error("question `{question}` depends on `{on}`, which its tab does not ask before it")]
    Dangling {
        /// The question with the condition.
        question: String,
        /// What it depends on.
        on: String,
    },
    /// Two questions of a tab have the same id.
    #[error("two questions of tab `{tab}` are called `{id}`")]
    Twice {
        /// The tab's title.
        tab: String,
        /// The id.
        id: String,
    },
}

impl Checklist {
    /// Reads and checks one.
    pub fn read(text: &str) -> Result<Checklist, ChecklistError> {
        let checklist: Checklist =
            serde_json::from_str(text).map_err(|error| ChecklistError::Malformed(error.to_string()))?;
        if checklist.format != FORMAT {
            return Err(ChecklistError::Format(checklist.format));
        }
        for tab in &checklist.tabs {
            let mut asked: Vec<&str> = Vec::new();
            for question in &tab.questions {
                if asked.contains(&question.id.as_str()) {
                    return Err(ChecklistError::Twice { tab: tab.title.clone(), id: question.id.clone() });
                }
                if let Some(on) = question.condition.keys().find(|on| !asked.contains(&on.as_str())) {
                    return Err(ChecklistError::Dangling { question: question.id.clone(), on: on.clone() });
                }
                asked.push(&question.id);
            }
        }
        Ok(checklist)
    }

    fn knows(&self, report: &Report) -> bool {
        self.matches.cwe.iter().any(|number| report.cwe.contains(number))
    }

    fn fits(&self, report: &Report) -> bool {
        // `helgrind` says what it looks for; the names of our own verbs (`heap`) say how they look.
        let tool = Some(report.tool.name.as_str()).filter(|name| !name.starts_with("parallax "));
        let said = words(&[&report.rule, &report.title, tool.unwrap_or_default()]);
        self.matches.words.iter().any(|word| word == "*" || said.contains(&words(&[word])))
    }
}

/// The words of some texts, lower case, each between blanks: `core.NullDereference` is ` core null dereference `.
fn words(texts: &[&str]) -> String {
    let mut out = String::from(" ");
    for text in texts {
        let mut lower_before = false;
        for c in text.chars() {
            let starts_hump = c.is_uppercase() && lower_before;
            if (starts_hump || !c.is_alphanumeric()) && !out.ends_with(' ') {
                out.push(' ');
            }
            if c.is_alphanumeric() {
                out.extend(c.to_lowercase());
            }
            lower_before = c.is_lowercase() || c.is_ascii_digit();
        }
        if !out.ends_with(' ') {
            out.push(' ');
        }
    }
    out
}

/// Whether a report is about one place and no error: what linters say.
fn is_lint(report: &Report) -> bool {
    report.severity != Severity::Error
        && report.paths.iter().all(|path| path.steps.len() <= 1)
        && !report.passed
}

/// Checklists in the order they are tried.
#[derive(Clone, Debug)]
pub struct Checklists {
    /// The first that fits a report is its own; the last fits all.
    pub all: Vec<Checklist>,
    /// The names of those that were built in.
    built_in: Vec<String>,
}

impl Checklists {
    /// A team's own first, then the built-in ones that they do not replace.
    pub fn with(own: Vec<Checklist>) -> Checklists {
        let built_in = [
            include_str!("../checklists/race.json"),
            include_str!("../checklists/null.json"),
            include_str!("../checklists/arithmetic.json"),
            include_str!("../checklists/memory.json"),
            include_str!("../checklists/lint.json"),
            include_str!("../checklists/general.json"),
        ];
        let built_in = built_in.map(|text| Checklist::read(text).expect("tested"));
        let mut all = own;
        let mut names = Vec::new();
        for checklist in built_in {
            // The general one stays, whatever its replacement fits, so that every report has one.
            if checklist.name == "general" || all.iter().all(|other| other.name != checklist.name) {
                names.push(checklist.name.clone());
                all.push(checklist);
            }
        }
        Checklists { all, built_in: names }
    }

    /// The checklist for a report: an index into `all`.
    pub fn choose(&self, report: &Report) -> usize {
        let last = self.all.len().saturating_sub(1);
        let place = |test: &dyn Fn(&Checklist) -> bool| self.all.iter().position(test);
        // A team's own and a weakness number say more than words, and words on one line of lint say little: that a rule
        // speaks of memory does not mean that there is an object to follow.
        place(&|checklist| checklist.knows(report))
            .or_else(|| {
                place(&|checklist| !self.built_in.contains(&checklist.name) && checklist.fits(report))
            })
            .or_else(|| place(&|checklist| checklist.matches.lint && is_lint(report)))
            .or_else(|| place(&|checklist| checklist.fits(report)))
            .unwrap_or(last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(rule: &str, title: &str, cwe: &[u32]) -> String {
        let checklists = Checklists::with(Vec::new());
        let report = Report {
            rule: rule.into(),
            title: title.into(),
            cwe: cwe.to_vec(),
            severity: Severity::Error,
            ..Report::default()
        };
        checklists.all[checklists.choose(&report)].name.clone()
    }

    #[test]
    fn reports_get_the_checklist_of_their_rule() {
        assert_eq!(chosen("", "Possible data race: prev is not protected!", &[]), "race");
        assert_eq!(chosen("core.NullDereference", "", &[]), "null");
        assert_eq!(chosen("nullPointer", "", &[]), "null");
        assert_eq!(chosen("-Wanalyzer-use-after-free", "", &[]), "memory");
        assert_eq!(chosen("InvalidRead", "", &[]), "memory");
        let overflow = "signed integer overflow: 2 + 2147483647 cannot be represented in type 'int'";
        assert_eq!(chosen("", overflow, &[]), "arithmetic");
        assert_eq!(chosen("core.DivideZero", "Division by zero", &[]), "arithmetic");
        assert_eq!(chosen("", "heap-buffer-overflow in main", &[]), "memory");
        assert_eq!(chosen("x", "buffer overflow", &[190]), "arithmetic");
        assert_eq!(chosen("x", "y", &[476]), "null");
        // `trace` is no race, and `freeze` frees nothing.
        assert_eq!(chosen("BLAST", "error trace: freeze", &[]), "general");
    }

    #[test]
    fn lint_is_asked_no_questions_about_memory() {
        let checklists = Checklists::with(Vec::new());
        let chosen = |report: &Report| checklists.all[checklists.choose(report)].name.clone();
        let lint = Report { rule: "bugprone-suspicious-memory-comparison".into(), ..Report::default() };
        assert_eq!(chosen(&lint), "lint");
        assert_eq!(chosen(&Report { cwe: vec![401], ..lint.clone() }), "memory");
        assert_eq!(chosen(&Report { severity: Severity::Error, ..lint }), "memory");
    }

    #[test]
    fn a_teams_own_come_first() {
        let own = Checklist::read(
            r#"{"format":"parallax-checklist/1","name":"crypto","title":"Crypto","matches":{"words":["null cipher"]},"tabs":[]}"#,
        )
        .unwrap();
        let checklists = Checklists::with(vec![own]);
        let report = Report { title: "Null cipher selected".into(), ..Report::default() };
        assert_eq!(checklists.choose(&report), 0);
        assert_eq!(checklists.all.len(), 7);
    }

    #[test]
    fn broken_checklists_say_what_is_wrong() {
        let tab = |questions: &str| {
            format!(
                r#"{{"format":"parallax-checklist/1","name":"n","title":"t","matches":{{}},"tabs":[{{"for":"path","title":"T","questions":[{questions}]}}]}}"#
            )
        };
        assert!(matches!(Checklist::read("{"), Err(ChecklistError::Malformed(_))));
        let dangling = Checklist::read(&tab(r#"{"id":"a","text":"","if":{"b":"yes"}}"#));
        assert_eq!(dangling, Err(ChecklistError::Dangling { question: "a".into(), on: "b".into() }));
        let twice = Checklist::read(&tab(r#"{"id":"a","text":""},{"id":"a","text":""}"#));
        assert!(matches!(twice, Err(ChecklistError::Twice { .. })));
    }
}
