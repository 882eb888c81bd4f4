//! `parallax --help`: the verbs by what people come for, instead of one list of thirty. `parallax VERB --help`: the options that
//! most people need; `--help-all` has the others.

use clap::{Arg, ArgAction, Command};
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
    ("Many questions at once", &["fleet"]),
    ("Machine code and formulas", &["lift", "eval", "wlp", "path", "compose", "signs", "ranges", "solve"]),
    ("This command", &["doctor", "completions", "manual", "help"]),
];

/// Verbs with more options than a screen has lines, and those of their options that `--help` shows; `--help-all` has all of them.
const COMMON: &[(&str, &[&str])] = &[
    (
        "check",
        &[
            "entry",
            "sinks",
            "refine-time",
            "confirm-time",
            "all",
            "report",
            "baseline",
            "changed-since",
            "config",
            "json",
        ],
    ),
    (
        "explore",
        &[
            "entry",
            "callers",
            "arg",
            "sym-arg",
            "file",
            "stdin",
            "strategy",
            "time",
            "overflow",
            "first",
            "merge",
            "tests",
            "coverage",
            "report",
            "changed-since",
            "json",
            "argv",
            "env",
            "function",
            "target",
            "summaries",
            "max-tests",
            "output",
            "resume",
            "jobs",
        ],
    ),
    ("eval", &["lang", "elf", "function", "range", "hex", "from", "at", "symbolic", "time", "json", "smt2"]),
    ("wlp", &["lang", "elf", "function", "range", "hex", "post", "at", "symbolic", "time", "json", "smt2"]),
    (
        "path",
        &["lang", "elf", "function", "range", "hex", "through", "at", "symbolic", "time", "json", "smt2"],
    ),
    (
        "heap",
        &[
            "method",
            "repok",
            "k",
            "engine",
            "merge",
            "count",
            "equivalent",
            "tests",
            "time",
            "classpath",
            "coverage",
            "report",
            "json",
        ],
    ),
    ("run", &["set", "steps", "layer", "engine", "calls", "lang", "hex", "elf", "function", "json"]),
];

/// The name of the option that shows every option.
pub const ALL: &str = "help-all";

/// A verb with an option `--help-all`. Unless that is asked for, rare options are hidden, and `--help` says how many there are.
fn common_first(verb: Command, all: bool) -> Command {
    let help = "Print help with every option";
    let Some((_, common)) = COMMON.iter().find(|(name, _)| *name == verb.get_name()) else { return verb };
    let verb = verb.arg(
        Arg::new(ALL).long(ALL).help(help).action(ArgAction::HelpLong).help_heading(None::<&'static str>),
    );
    if all {
        return verb;
    }
    let is_rare = |argument: &Arg| {
        !argument.is_positional()
            && argument
                .get_long()
                .is_none_or(|long| ![ALL, "help"].contains(&long) && !common.contains(&long))
    };
    let rare = verb.get_arguments().filter(|argument| is_rare(argument) && !argument.is_hide_set()).count();
    let after = verb.get_after_help().map(ToString::to_string).unwrap_or_default();
    let more = match rare {
        0 => String::new(),
        _ => format!("{rare} more options: parallax {} --{ALL}\n\n", verb.get_name()),
    };
    verb.mut_args(|argument| if is_rare(&argument) { argument.hide(true) } else { argument })
        .after_help(format!("{more}{after}"))
}

/// Whether the words of the command line ask for every option: what stands behind `--` is another program's.
pub fn wants_all(words: impl IntoIterator<Item = std::ffi::OsString>) -> bool {
    words.into_iter().take_while(|word| word != "--").any(|word| word == "--help-all")
}

/// The command, with its verbs listed by task, and what stands below the options in paragraphs that fit any width. `all`: no
/// option is hidden.
pub fn by_task(command: Command, all: bool) -> Command {
    let command = command.mut_subcommands(|verb| match verb.get_after_help().map(ToString::to_string) {
        Some(text) => common_first(verb.after_help(paragraphs(&text)), all),
        None => common_first(verb, all),
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
    use super::{COMMON, TASKS, by_task, paragraphs};
    use clap::{Arg, Command, CommandFactory};
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

    /// Every verb, and every part of one, with its name.
    fn verbs() -> Vec<(String, Command)> {
        let mut found = Vec::new();
        let mut open = vec![(String::from("parallax"), crate::Arguments::command())];
        while let Some((name, command)) = open.pop() {
            open.extend(
                command.get_subcommands().map(|part| (format!("{name} {}", part.get_name()), part.clone())),
            );
            found.push((name, command));
        }
        found
    }

    #[test]
    fn common_options_are_options_and_the_rest_is_counted() {
        for (name, common) in COMMON {
            let command = by_task(crate::Arguments::command(), false);
            let mut short = command.find_subcommand(name).expect("a verb").clone();
            let longs: Vec<&str> = short.get_arguments().filter_map(Arg::get_long).collect();
            for option in *common {
                assert!(longs.contains(option), "{name} has no --{option}");
            }
            let hidden = short.get_arguments().filter(|argument| argument.is_hide_set()).count();
            assert!(hidden > 0, "{name}: nothing is left for --help-all");
            let text = short.render_long_help().to_string();
            assert!(text.contains(&format!("{hidden} more options: parallax {name} --help-all")), "{text}");
            let mut long =
                by_task(crate::Arguments::command(), true).find_subcommand(name).expect("a verb").clone();
            assert!(long.get_arguments().all(|argument| !argument.is_hide_set()), "{name}");
            assert!(long.render_long_help().to_string().len() > text.len());
        }
        // A verb with more options than these is tiring to read whole.
        for verb in crate::Arguments::command().get_subcommands() {
            let is_listed = COMMON.iter().any(|(name, _)| *name == verb.get_name());
            let count = verb.get_arguments().filter(|argument| !argument.is_positional()).count();
            assert!(
                is_listed || count <= 20,
                "{}: {count} options, and none of them is rare",
                verb.get_name()
            );
        }
    }

    #[test]
    fn every_verb_shows_an_example() {
        for (name, verb) in verbs().into_iter().filter(|(name, _)| name.contains(' ')) {
            let about = verb.get_long_about().map(ToString::to_string).unwrap_or_default();
            let after = verb.get_after_help().map(ToString::to_string).unwrap_or_default();
            let example = format!("{name} ");
            assert!(about.contains(&example) || after.contains(&example), "{name}: {about}\n{after}");
        }
    }

    /// One name for one thing: what an option with one of these names means, and what its value is called.
    #[test]
    fn options_of_one_name_mean_one_thing() {
        let shared: &[(&str, Option<char>, &[&str])] = &[
            ("json", None, &[]),
            ("output", Some('o'), &["FOLDER", "OUT", "PAGE", "PAGE.html", "FILE"]),
            ("report", None, &["FILE"]),
            ("coverage", None, &["FILE"]),
            ("time", None, &["SECONDS"]),
            ("solver-time", None, &["SECONDS"]),
            ("steps", None, &["N"]),
            ("stream", None, &["NAME"]),
            ("baseline", None, &["FILE", "EARLIER"]),
            ("changed-since", None, &["REVISION"]),
        ];
        for (verb, command) in verbs() {
            for argument in command.get_arguments() {
                let (long, short) = (argument.get_long().unwrap_or_default(), argument.get_short());
                assert!(short != Some('o') || long == "output", "{verb}: -o is --{long}");
                let Some((name, letter, values)) = shared.iter().find(|(name, ..)| *name == long) else {
                    continue;
                };
                assert_eq!(short, *letter, "{verb} --{name}");
                let takes = argument.get_action().takes_values();
                assert_eq!(takes, !values.is_empty(), "{verb} --{name}");
                let value =
                    argument.get_value_names().and_then(|names| names.first()).map(|name| name.as_str());
                assert!(
                    !takes || value.is_some_and(|value| values.contains(&value)),
                    "{verb} --{name} {value:?}"
                );
                let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
                assert!(long != "json" || help.starts_with("Print"), "{verb} --json: {help}");
            }
            // Names that something else has already.
            for other in ["out", "timeout", "max-time", "solver-seconds", "seconds", "format", "verbose"] {
                assert!(
                    command.get_arguments().all(|argument| argument.get_long() != Some(other)),
                    "{verb} --{other}"
                );
            }
        }
    }
}
