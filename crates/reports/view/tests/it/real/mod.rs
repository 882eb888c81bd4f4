//! Verdicts on the reports of real tools, which run before and after random edits of real programs.
//!
//! What becomes of each finding is known from the edit: a line keeps a number of its own wherever it goes, and a finding is the
//! same where its tool says the same of the same lines. A copied line is another line, a line that something else stands in
//! the place of is gone, and a function that was renamed is still the same one. For tools that watch a run, the lines are those
//! of all stacks; for the others, the line where it goes wrong, so two of their reports with the same words there are one.
//!
//! With $PARALLAX_EDITS, a folder that scripts/edit-projects has made, the programs are ten libraries with a driver each, and
//! $PARALLAX_EDITS_COUNT says how many edits are made, $PARALLAX_EDITS_FIRST which round is the first: two runs side by side make
//! other edits. Otherwise they are small programs of the corpus.
//!
//! What the edits do not make: edits of headers other than new names; a line that is split or joined; a function whose body is
//! spread over others; two edits that put a finding's like in the place of the finding itself; languages other than C.

mod edits;
mod tools;

use crate::tree::{Dice, Tree, replaced};
use crate::verdicts::{Fate, Judged, Tally};
use edits::Edited;
use parallax_report::{Document, Location, PathKind, Report};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use tools::{Tool, Tools};

/// The tools of a round, which rounds take in turn.
const TURNS: [&[Tool]; 3] = [
    &[Tool::Gcc, Tool::Clang],
    &[Tool::Gcc, Tool::Cppcheck, Tool::Valgrind],
    &[Tool::Gcc, Tool::Thread, Tool::Address],
];

/// A program as it is before any edit.
struct Program {
    name: String,
    tree: Tree,
    tools: Tools,
    folder: tempfile::TempDir,
    /// What each tool says.
    said: BTreeMap<Tool, Option<Document>>,
}

impl Program {
    fn new(name: &str, source: &Path, files: &[String], flags: &str) -> Program {
        let mut tree = Tree::default();
        for file in files {
            assert!(tree.load(source, file), "{name}: {file} is no text");
        }
        let folder = tempfile::tempdir().expect("a folder is made");
        tree.write(folder.path());
        Program { name: name.to_owned(), tree, tools: Tools::new(flags), folder, said: BTreeMap::new() }
    }

    /// What some of the tools say of it, together.
    fn said(&mut self, tools: &[Tool]) -> Document {
        for &tool in tools {
            if !self.said.contains_key(&tool) {
                let said = self.tools.reports(tool, &self.tree, self.folder.path());
                self.said.insert(tool, said);
            }
        }
        together(
            tools.iter().map(|tool| self.said[tool].clone().expect("the program links, and every tool ends")),
        )
    }
}

fn together(documents: impl Iterator<Item = Document>) -> Document {
    let mut all = Document::default();
    for document in documents {
        all.reports.extend(document.reports);
        all.excerpts.extend(document.excerpts);
    }
    all
}

/// What each finding truly is: its tool and rule, the words with the names of before, and the numbers of its lines.
fn truths(document: &Document, tree: &Tree, folder: &Path, renamed: &[(String, String)]) -> Vec<String> {
    let folder = folder.to_string_lossy();
    let before =
        |text: &str| renamed.iter().rev().fold(text.to_owned(), |text, (new, old)| replaced(&text, new, old));
    let line = |place: &Location, function: &str| {
        let name = place.file.strip_prefix(&*folder).unwrap_or(&place.file).trim_start_matches(['.', '/']);
        let line = tree.files.get(name).and_then(|lines| lines.get((place.line? as usize).checked_sub(1)?));
        line.map_or_else(|| format!("{}:{}", place.file, before(function)), |line| line.id.to_string())
    };
    let homes: Vec<String> = document.reports.iter().map(|report| home(report, &line)).collect();
    let words: Vec<String> = document
        .reports
        .iter()
        .zip(&homes)
        .map(|(report, home)| {
            let title = before(&report.title);
            let title: String =
                title.split(|letter: char| letter.is_ascii_digit()).filter(|part| !part.is_empty()).collect();
            format!("{}: {} {title} at {home}", report.tool.name, report.rule)
        })
        .collect();
    // Of several on one line that say the same, the order of their columns.
    let mut columns: BTreeMap<&String, BTreeSet<Option<u32>>> = BTreeMap::new();
    let column = |report: &Report| report.location.as_ref().and_then(|place| place.column);
    for (report, words) in document.reports.iter().zip(&words) {
        columns.entry(words).or_default().insert(column(report));
    }
    let ranks = document.reports.iter().zip(&words).map(|(report, words)| {
        let rank = columns[words].iter().position(|&other| other == column(report)).expect("just put there");
        format!("{words}, {rank}")
    });
    ranks.collect()
}

/// The lines that make a report the one it is.
fn home(report: &Report, line: &dyn Fn(&Location, &str) -> String) -> String {
    let stacks = report.paths.iter().filter(|path| path.kind == PathKind::Stack);
    let mut stacks: Vec<String> = stacks
        .map(|path| {
            let places = path.steps.iter().map(|step| {
                let function = path.frames.get(step.frame).map_or("", |frame| frame.function.as_str());
                step.location.as_ref().map_or_else(|| function.to_owned(), |place| line(place, function))
            });
            places.collect::<Vec<_>>().join(" > ")
        })
        .collect();
    // The threads of a race come in any order.
    stacks.sort();
    if !stacks.is_empty() {
        return stacks.join(", ");
    }
    let failing = report.paths.first().and_then(|path| path.steps[path.failing_step()?].location.as_ref());
    failing.or(report.location.as_ref()).map_or(String::new(), |place| line(place, ""))
}

/// Judges a program's reports, edits it, runs the tools again and looks where the verdicts are. None where it does not link.
fn round(
    program: &mut Program,
    tools: &[Tool],
    dice: &mut Dice,
    edits: &mut Vec<&'static str>,
) -> Option<Vec<(String, Fate)>> {
    let mut before = program.said(tools);
    let known = truths(&before, &program.tree, program.folder.path(), &[]);
    let judged = Judged::new(&mut before, program.folder.path(), &known, dice);
    let ids: BTreeMap<&str, Vec<u64>> = program
        .tree
        .files
        .iter()
        .map(|(name, lines)| (name.as_str(), lines.iter().map(|line| line.id).collect()))
        .collect();
    let homes = before.reports.iter().filter_map(|report| {
        let place = report.location.as_ref()?;
        let file = place.file.trim_start_matches(['.', '/']);
        ids.get(file)?.get((place.line? as usize).checked_sub(1)?).copied()
    });
    let folder = tempfile::tempdir().expect("a folder is made");
    let mut edited = Edited::new(program.tree.clone(), &program.tools, folder.path(), homes.collect());
    for _ in 0..1 + dice.below(12) {
        edits.extend(edited.edit(dice));
    }
    let Edited { tree, renamed, .. } = edited;
    let mut after = Vec::new();
    for &tool in tools {
        after.push(program.tools.reports(tool, &tree, folder.path())?);
    }
    let mut after = together(after.into_iter());
    let now = truths(&after, &tree, folder.path(), &renamed);
    Some(judged.after(&mut after, folder.path(), &now))
}

fn corpus() -> Vec<Program> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../corpus/report");
    let program = |name: &str, source: &Path, files: &[&str]| {
        Program::new(name, source, &files.iter().map(|file| (*file).to_owned()).collect::<Vec<_>>(), "")
    };
    vec![program("guests", &folder, &["guests.c"]), program("tally", &folder, &["tally.c"])]
}

/// The programs of a folder: `NAME/src` with the sources and `NAME/flags`.
fn programs(folder: &Path) -> Vec<Program> {
    let names = |folder: &Path| -> BTreeSet<String> {
        let entries = std::fs::read_dir(folder).expect("a folder").flatten();
        entries
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .filter(|name| !name.starts_with('.'))
            .collect()
    };
    let project = |name: &String| {
        let source = folder.join(name).join("src");
        let mut files: Vec<String> = Vec::new();
        for entry in names(&source) {
            if source.join(&entry).is_dir() {
                files.extend(names(&source.join(&entry)).iter().map(|file| format!("{entry}/{file}")));
            } else {
                files.push(entry);
            }
        }
        Program::new(
            name,
            &source,
            &files,
            &std::fs::read_to_string(folder.join(name).join("flags")).expect("flags"),
        )
    };
    names(folder).iter().map(project).collect()
}

#[test]
fn verdicts_on_what_real_tools_say_follow_through_real_edits() {
    let folder = std::env::var_os("PARALLAX_EDITS").map(PathBuf::from);
    let count: usize = match std::env::var("PARALLAX_EDITS_COUNT") {
        Ok(count) => count.parse().expect("a number of edits"),
        Err(_) => 80,
    };
    let mut programs = folder.as_deref().map_or_else(corpus, programs);
    let mut by_tool: BTreeMap<String, Tally> = BTreeMap::new();
    let mut by_program: BTreeMap<String, Tally> = BTreeMap::new();
    let mut made: BTreeMap<&'static str, usize> = BTreeMap::new();
    let (mut all, mut wrong, mut unlinked) = (Tally::default(), Vec::new(), 0);
    let first = std::env::var("PARALLAX_EDITS_FIRST")
        .map_or(0, |first| first.parse().expect("the number of a round"));
    let mut at = first;
    while made.values().sum::<usize>() < count {
        let which = at % programs.len();
        let tools = TURNS[at / programs.len() % TURNS.len()];
        let program = &mut programs[which];
        let mut edits = Vec::new();
        let fates = round(program, tools, &mut Dice(at as u64), &mut edits);
        at += 1;
        let Some(fates) = fates else {
            unlinked += 1;
            assert!(
                unlinked * 4 <= at - first + 8,
                "{}: {unlinked} of {} rounds do not link",
                program.name,
                at - first
            );
            continue;
        };
        for edit in &edits {
            *made.entry(edit).or_default() += 1;
        }
        let mut tally = Tally::default();
        for (truth, fate) in fates {
            if fate == Fate::Wrong {
                wrong.push(format!("round {at}, {}: {truth} after {edits:?}", program.name));
                println!("wrong: {}", wrong[wrong.len() - 1]);
            }
            tally.count(fate);
            by_tool.entry(truth.split(':').next().unwrap_or_default().to_owned()).or_default().count(fate);
        }
        all += tally;
        *by_program.entry(program.name.clone()).or_default() += tally;
        println!(
            "{at} {} {tools:?} {} edits of {count}: {tally:?}",
            program.name,
            made.values().sum::<usize>()
        );
    }
    println!("rounds {}, of which {unlinked} do not link; edits {made:?}", at - first);
    for (name, tally) in by_program.iter().chain(&by_tool).chain([(&"all".to_owned(), &all)]) {
        let Tally { judged, carried, asked, said, lost, mended, wrong } = tally;
        println!("| {name} | {judged} | {mended} | {carried} | {asked} | {said} | {lost} | {wrong} |");
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert_eq!(all.lost, 0, "a verdict is gone without a word");
    assert!(all.carried > 0 && all.asked + all.mended > 0, "the edits do too little: {all:?}");
}
