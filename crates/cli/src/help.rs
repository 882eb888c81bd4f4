//! `parallax --help`: the verbs by what people come for, instead of one list of thirty.

use clap::Command;
use std::fmt::Write;

/// What people come for, and the verbs that do it. Every verb stands in one of these (a test sees to it).
const TASKS: &[(&str, &[&str])] = &[
    ("Find errors", &["check", "explore", "heap", "mix", "lsp"]),
    ("Look at paths and reports", &["view", "convert"]),
    (
        "Run, record, and ask about a run",
        &[
            "run",
            "java",
            "record",
            "replay",
            "find",
            "origin",
            "script",
            "debug",
            "timeline",
            "gdbserver",
            "info",
            "pack",
        ],
    ),
    ("Machine code and formulas", &["lift", "eval", "wlp", "path", "compose", "signs", "ranges", "solve"]),
    ("This command", &["doctor", "completions", "manual", "help"]),
];

/// The command, with its verbs listed by task, and what stands below the options in paragraphs that fit any width.
pub fn by_task(command: Command) -> Command {
    let command = command.mut_subcommands(|verb| match verb.get_after_help().map(ToString::to_string) {
        Some(text) => verb.after_help(paragraphs(&text)),
        None => verb,
    });
    let mut list = String::new();
    for (task, verbs) in TASKS {
        let _ = writeln!(list, "{task}:");
        for verb in *verbs {
            let about = match command.find_subcommand(verb) {
                Some(found) => found.get_about().map(ToString::to_string).unwrap_or_default(),
                None => String::from("Help for a verb"),
            };
            let _ = writeln!(list, "  {verb:<12} {about}");
        }
        list.push('\n');
    }
    list.push_str(
        "Exit status: 0 nothing found, 1 findings, 2 wrong use or bad input,\n\
         3 unsupported or a fault of ours, 4 gave up at a bound.\n\
         `parallax VERB --help` has the options of a verb and an example.",
    );
    command.help_template("{about}\n\n{usage-heading} {usage}{after-help}\n\n{options}").after_help(list)
}

/// Lines that follow each other become one paragraph; what is indented is an example, and stays as it is.
fn paragraphs(text: &str) -> String {
    let mut out = String::new();
    let mut before = "";
    for line in text.lines() {
        let is_prose = |line: &str| !line.is_empty() && !line.starts_with(' ') && !line.ends_with(':');
        match is_prose(before) && is_prose(line) {
            true => out.push(' '),
            false if out.is_empty() => {}
            false => out.push('\n'),
        }
        out.push_str(line);
        before = line;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{TASKS, paragraphs};
    use clap::CommandFactory;
    use std::collections::BTreeSet;

    #[test]
    fn prose_is_one_line_a_paragraph_and_examples_stay() {
        let text = "Examples:\n  a b\n  c\n\nOne two\nthree.\n\nFour";
        assert_eq!(paragraphs(text), "Examples:\n  a b\n  c\n\nOne two three.\n\nFour");
    }

    #[test]
    fn every_verb_stands_under_one_task_in_one_line() {
        let command = crate::Arguments::command();
        let listed: Vec<&str> = TASKS.iter().flat_map(|(_, verbs)| verbs.iter().copied()).collect();
        let unique: BTreeSet<&str> = listed.iter().copied().collect();
        assert_eq!(listed.len(), unique.len());
        let verbs: BTreeSet<&str> =
            command.get_subcommands().map(clap::Command::get_name).chain(["help"]).collect();
        assert_eq!(unique, verbs);
        for verb in command.get_subcommands() {
            let about = verb.get_about().map(ToString::to_string).unwrap_or_default();
            assert!(about.chars().count() <= 64, "{}: {about}", verb.get_name());
        }
    }
}
