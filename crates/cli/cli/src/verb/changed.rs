//! `--changed-since REVISION`: the functions whose code, or the code of what they call, is another one than in that revision of git.
//!
//! What git calls changed are lines; a function is changed if one of them is its own. A changed line outside all functions may be a
//! type, a macro or a declaration: in a source file all functions of the file count as changed then, in a header all functions
//! of the program. Blank lines and comments that end with their line change nothing.

use anyhow::{Context, Result, bail};
use parallax_cexplore::Program;
use parallax_cmodule::{Callee, FunctionId, LocationId, Module, Operation};
use parallax_cread::source_text;
use parallax_jail::{Command, End, Jail, Limits, NotRun, Wanted};
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Lines of files that are other ones than in a revision.
#[derive(Debug, Default)]
pub struct Lines {
    /// The revision, as the user named it.
    revision: String,
    /// By file: what is changed in it.
    files: BTreeMap<PathBuf, FileLines>,
    /// Files of the program in the same work trees that git does not track: nothing is known of their changes.
    untracked: BTreeSet<String>,
}

/// What is changed in a file.
#[derive(Debug, PartialEq, Eq)]
enum FileLines {
    /// It is new, or gone.
    All,
    /// These lines, and places behind these lines where code is gone.
    Some { there: BTreeSet<u32>, gone_behind: BTreeSet<u32> },
}

impl FileLines {
    /// Whether one of the lines from `first` to `last` is another one, or lines between them are gone.
    fn touches(&self, first: u32, last: u32) -> bool {
        match self {
            FileLines::All => true,
            FileLines::Some { there, gone_behind } => {
                there.range(first..=last).next().is_some()
                    || (first < last && gone_behind.range(first..last).next().is_some())
            }
        }
    }
}

/// A function of the user's own: where it stands.
#[derive(Clone, Copy)]
struct Extent {
    id: FunctionId,
    /// Index into [`Module::files`].
    file: u32,
    first: u32,
    last: u32,
}

/// The functions that are worth another look, with how many calls lead from each to changed code.
pub struct Functions {
    /// The revision, as the user named it.
    pub revision: String,
    /// What is taken for granted, in words.
    pub assumption: Option<String>,
    distance: HashMap<FunctionId, u32>,
    extents: Vec<Extent>,
    /// What is changed in each of [`Module::files`].
    places: Vec<Option<PathBuf>>,
    lines: BTreeMap<PathBuf, FileLines>,
}

/// The bounds of a question to git.
const LIMITS: Limits = Limits {
    time: Duration::from_secs(120),
    memory: 4 << 30,
    file: 1 << 20,
    space: 1 << 20,
    files: 20_000,
    processes: 64,
    output: 1 << 30,
};

/// What git prints, asked in a folder. A repository can name programs that git starts (filters, hooks, transports), and a stranger's
/// names what it likes: so git is run in the jail.
fn git(jail: Wanted, folder: &Path, words: &[&str]) -> Result<Vec<u8>> {
    // Settings of the user must not change what is printed, nor start programs.
    let fixed = ["-c", "core.quotePath=false", "-c", "core.fsmonitor=false"];
    let mut command = Command::new("git");
    command.arg("-C").arg(folder).args(fixed).args(words);
    let wanted = if jail == Wanted::Best { Wanted::Light } else { jail };
    let jail = Jail { wanted, limits: LIMITS, ..Jail::default() };
    let ended = match jail.run(&command) {
        Err(NotRun::Program { error, .. }) => {
            return Err(error).context("--changed-since asks git, which cannot be started");
        }
        other => other.context("--changed-since: git was not run (--run-unjailed runs it all the same)")?,
    };
    if !ended.success() || ended.truncated {
        let said = String::from_utf8_lossy(&ended.stderr).into_owned();
        let said = match ended.end {
            End::Exited(_) if !ended.truncated => said.trim().trim_start_matches("fatal: ").to_owned(),
            end => format!("it was ended: {end:?}, {} bytes printed", ended.stdout.len()),
        };
        bail!("--changed-since: git: {said}");
    }
    Ok(ended.stdout)
}

impl Lines {
    /// Asks git, in the work trees that the sources of a program lie in.
    pub fn since(revision: &str, program: &Program) -> Result<Lines> {
        let (module, jail) = (&program.module, program.jail);
        if revision.starts_with('-') || revision.is_empty() {
            bail!("--changed-since {revision}: not a revision of git, as HEAD~1 or origin/main");
        }
        let mut trees = BTreeSet::new();
        // By their names: of a project that was built, git knows those in the project, and the folders that the build made are not there.
        let sources = program.units.iter().map(|(file, _)| canonical(&program.name_of(file)));
        let folders: BTreeSet<PathBuf> = sources
            .filter_map(|file| file.parent().map(PathBuf::from))
            .filter(|folder| program.built.is_none() || folder.is_dir())
            .collect();
        for folder in folders {
            let top = git(jail, &folder, &["rev-parse", "--show-toplevel"])?;
            trees.insert(PathBuf::from(String::from_utf8_lossy(&top).trim_end_matches('\n').to_owned()));
        }
        let mut lines = Lines { revision: revision.into(), ..Lines::default() };
        for tree in trees {
            let commit = format!("{revision}^{{commit}}");
            if git(jail, &tree, &["rev-parse", "--verify", "--quiet", &commit]).is_err() {
                bail!("--changed-since {revision}: git knows no such revision in {}", tree.display());
            }
            let words = [
                "diff",
                "--unified=0",
                "--no-color",
                "--no-ext-diff",
                "--no-textconv",
                "--no-renames",
                "--src-prefix=a/",
                "--dst-prefix=b/",
                revision,
                "--",
            ];
            let diff = String::from_utf8_lossy(&git(jail, &tree, &words)?).into_owned();
            for (name, changed) in
                read_diff(&diff, &mut |name| source_text(&tree.join(name)).unwrap_or_default())
            {
                lines.files.insert(canonical(&tree.join(name)), changed);
            }
            let names = |words: &[&str]| -> Result<BTreeSet<PathBuf>> {
                let text = String::from_utf8_lossy(&git(jail, &tree, words)?).into_owned();
                Ok(text
                    .split('\0')
                    .filter(|name| !name.is_empty())
                    .map(|name| canonical(&tree.join(name)))
                    .collect())
            };
            let new = names(&["ls-files", "-z", "--others", "--exclude-standard"])?;
            let tracked = names(&["ls-files", "-z"])?;
            for file in &module.files {
                let path = canonical(Path::new(file));
                if path.starts_with(&tree) && !new.contains(&path) && !tracked.contains(&path) {
                    lines.untracked.insert(file.clone());
                }
            }
            lines.files.extend(new.into_iter().map(|path| (path, FileLines::All)));
        }
        Ok(lines)
    }
}

fn canonical(path: &Path) -> PathBuf {
    path.canonicalize().or_else(|_| std::path::absolute(path)).unwrap_or_else(|_| path.to_path_buf())
}

/// The changed lines of each file of a diff without context. `text_of` has the new text of a file.
fn read_diff(diff: &str, text_of: &mut dyn FnMut(&str) -> String) -> BTreeMap<String, FileLines> {
    let mut files = BTreeMap::new();
    // Of the file that is read: its name, the lines that end in a backslash, where the next new line stands.
    let mut name: Option<String> = None;
    let mut continued: BTreeSet<u32> = BTreeSet::new();
    let (mut next, mut left, mut old_name) = (0, (0_u32, 0_u32), None::<String>);
    let mut behind = 0;
    for line in diff.lines() {
        if left != (0, 0) {
            // Lines of a hunk, which may look like anything.
            let entry = name.as_ref().and_then(|name| files.get_mut(name));
            match (line.as_bytes().first(), entry) {
                (Some(b'-'), entry) => {
                    left.0 = left.0.saturating_sub(1);
                    let quiet = says_nothing(&line[1..]) && !continued.contains(&behind);
                    if let (Some(FileLines::Some { there, gone_behind }), false) = (entry, quiet) {
                        // What stands in its place now is changed; where nothing does, there is a gap.
                        match left.1 {
                            0 => _ = gone_behind.insert(behind),
                            count => there.extend(next..next + count),
                        }
                    }
                }
                (Some(b'+'), entry) => {
                    left.1 = left.1.saturating_sub(1);
                    let quiet = says_nothing(&line[1..]) && !continued.contains(&(next - 1));
                    if let (Some(FileLines::Some { there, .. }), false) = (entry, quiet) {
                        there.insert(next);
                    }
                    next += 1;
                }
                _ => {}
            }
        } else if line.starts_with("diff --git ") {
            (name, old_name) = (None, None);
        } else if let Some(old) = line.strip_prefix("--- ") {
            // Git puts a tab behind names with blanks.
            old_name = old.trim_end_matches('\t').strip_prefix("a/").map(str::to_owned);
        } else if let Some(new) = line.strip_prefix("+++ ") {
            let new = new.trim_end_matches('\t').strip_prefix("b/").map(str::to_owned);
            match (old_name.take(), new) {
                (Some(_), Some(new)) => {
                    let text = text_of(&new);
                    let lines = (1..).zip(text.lines());
                    continued =
                        lines.filter(|(_, line)| line.ends_with('\\')).map(|(number, _)| number).collect();
                    let none = FileLines::Some { there: BTreeSet::new(), gone_behind: BTreeSet::new() };
                    files.insert(new.clone(), none);
                    name = Some(new);
                }
                (None, Some(one)) | (Some(one), None) => {
                    files.insert(one.clone(), FileLines::All);
                    name = Some(one);
                }
                (None, None) => name = None,
            }
        } else if let Some(hunk) = line.strip_prefix("@@ -")
            && let Some((old, rest)) = hunk.split_once(" +")
        {
            let numbers = |text: &str| -> (u32, u32) {
                let (start, count) = text.split_once(',').unwrap_or((text, "1"));
                (start.parse().unwrap_or(0), count.parse().unwrap_or(0))
            };
            let (start, count) = numbers(rest.split(' ').next().unwrap_or_default());
            next = start.max(1);
            left = (numbers(old).1, count);
            // Without new lines the number is that of the line before the gap.
            behind = if count == 0 { start } else { start.saturating_sub(1) };
        }
    }
    files
}

/// Whether a line changes nothing: it is blank, or a comment alone that ends with the line.
fn says_nothing(line: &str) -> bool {
    let line = line.trim();
    line.is_empty() || (line.starts_with("//") && !line.ends_with('\\'))
}

/// Where the user's own functions stand.
fn extents(module: &Module) -> Vec<Extent> {
    let mut all = Vec::new();
    for (number, function) in module.functions.iter().enumerate() {
        let start = module.location(function.location);
        if start.line == 0 || !function.is_defined() || function.library {
            continue;
        }
        let places = function.blocks.iter().flat_map(|block| {
            block.instructions.iter().map(|instruction| instruction.location).chain([block.location])
        });
        let own = places.map(|at| module.location(outermost(module, at))).filter(|at| at.file == start.file);
        let last = own.map(|at| at.line).max().unwrap_or(0).max(start.line);
        all.push(Extent { id: FunctionId(number as u32), file: start.file, first: start.line, last });
    }
    all
}

/// The place in the function itself that an inlined place stands for.
fn outermost(module: &Module, mut at: LocationId) -> LocationId {
    while let Some(outer) = module.location(at).inlined_at {
        at = outer;
    }
    at
}

/// Who calls whom. A call through a pointer may lead to every function whose address the program takes.
fn callers(module: &Module) -> HashMap<FunctionId, BTreeSet<FunctionId>> {
    let taken = module.taken_functions();
    let mut callers: HashMap<FunctionId, BTreeSet<FunctionId>> = HashMap::new();
    let mut through_pointers = BTreeSet::new();
    let ids = (0..module.functions.len() as u32).map(FunctionId);
    for caller in ids.clone() {
        for instruction in module.function(caller).blocks.iter().flat_map(|block| &block.instructions) {
            match &instruction.operation {
                Operation::Call { callee: Callee::Function(callee), .. } => {
                    callers.entry(*callee).or_default().insert(caller);
                }
                Operation::Call { callee: Callee::Pointer(_), .. } => {
                    through_pointers.insert(caller);
                }
                _ => {}
            }
        }
    }
    for callee in ids.filter(|id| taken[id.0 as usize]) {
        callers.entry(callee).or_default().extend(&through_pointers);
    }
    callers
}

impl Functions {
    /// The functions of a program that are changed, and those that call them.
    pub fn of(module: &Module, changed: Lines) -> Functions {
        let Lines { revision, files: lines, untracked } = changed;
        let extents = extents(module);
        let places: Vec<Option<PathBuf>> = module
            .files
            .iter()
            .map(|file| Some(canonical(Path::new(file))).filter(|path| lines.contains_key(path)))
            .collect();
        let place_of = |extent: &Extent| places.get(extent.file as usize).and_then(Option::as_ref);
        let mut distance: HashMap<FunctionId, u32> = HashMap::new();
        for extent in &extents {
            let changes = place_of(extent).and_then(|path| lines.get(path));
            if changes.is_some_and(|changes| changes.touches(extent.first, extent.last)) {
                distance.insert(extent.id, 0);
            }
        }
        // Lines that are no function's.
        for (path, changes) in &lines {
            let here: Vec<&Extent> = extents.iter().filter(|extent| place_of(extent) == Some(path)).collect();
            let inside = |line: u32| here.iter().any(|extent| (extent.first..=extent.last).contains(&line));
            let inside_gap =
                |line: u32| here.iter().any(|extent| (extent.first..extent.last).contains(&line));
            let is_outside = match changes {
                // All functions of a new file are counted already.
                FileLines::All => here.is_empty() || !is_source(path),
                FileLines::Some { there, gone_behind } => {
                    !there.iter().all(|line| inside(*line))
                        || !gone_behind.iter().all(|line| inside_gap(*line))
                }
            };
            if is_outside && is_source(path) && !here.is_empty() {
                distance.extend(here.iter().map(|extent| (extent.id, 0)));
            } else if is_outside && (may_be_read(path) || places.contains(&Some(path.clone()))) {
                distance.extend(extents.iter().map(|extent| (extent.id, 0)));
            }
        }
        let callers = callers(module);
        let mut open: VecDeque<FunctionId> = distance.keys().copied().collect();
        while let Some(callee) = open.pop_front() {
            let next = distance[&callee] + 1;
            for caller in callers.get(&callee).into_iter().flatten() {
                if !distance.contains_key(caller) {
                    distance.insert(*caller, next);
                    open.push_back(*caller);
                }
            }
        }
        let assumption = untracked.first().map(|first| {
            let others = match untracked.len() {
                1 => String::new(),
                count => format!(" and {} more", count - 1),
            };
            format!("{first}{others}: as in {revision}, for git does not track it (--changed-since)")
        });
        Functions { revision, assumption, distance, extents, places, lines }
    }

    /// Whether a function, or what it calls, is changed.
    pub fn has(&self, function: FunctionId) -> bool {
        self.distance.contains_key(&function)
    }

    /// Whether a place stands on a changed line: of a function, or of a variable that starts as something else now.
    pub fn has_line(&self, module: &Module, at: LocationId) -> bool {
        let at = module.location(at);
        let path = self.places.get(at.file as usize).and_then(Option::as_ref);
        path.and_then(|path| self.lines.get(path)).is_some_and(|changes| changes.touches(at.line, at.line))
    }

    /// The user's own functions among them, those nearest to what is changed first: with the number of calls that lead there.
    pub fn nearest(&self) -> Vec<(FunctionId, u32)> {
        let own = self.extents.iter().filter_map(|extent| Some((extent.id, *self.distance.get(&extent.id)?)));
        let mut all: Vec<(FunctionId, u32)> = own.collect();
        all.sort_by_key(|(id, calls)| (*calls, *id));
        all
    }
}

/// A file that the compiler is given, and no other file includes.
fn is_source(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "c" || ending == "i")
}

/// Whether the compiler may have read a file, though nothing of it has a place: a header of macros alone, a source that is gone.
fn may_be_read(path: &Path) -> bool {
    match is_source(path) {
        true => !path.exists(),
        false => {
            path.extension().is_some_and(|ending| ["h", "inc", "def"].iter().any(|known| ending == *known))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{FileLines, read_diff};

    #[test]
    fn lines_of_a_diff_are_those_of_the_new_file() {
        let diff = "diff --git a/x y.c b/x y.c\nindex 1..2 100644\n--- a/x y.c\t\n+++ b/x y.c\t\n@@ -3 +3,2 @@ int f(void)\n-  old\n\
            +  new\n+\n@@ -9,2 +9,0 @@\n-+++ b/z.c\n-  // gone\n@@ -20 +19 @@\n-// a\n+// b\n\
            diff --git a/n.c b/n.c\nnew file mode 100644\n--- /dev/null\n+++ b/n.c\n@@ -0,0 +1 @@\n+int n;\n\
            diff --git a/d.c b/d.c\n--- a/d.c\n+++ /dev/null\n@@ -1 +0,0 @@\n-int d;\n";
        let files = read_diff(diff, &mut |_| "1\n2\n3\n4\n#define A \\\n".repeat(4));
        let expected = FileLines::Some { there: [3, 4].into(), gone_behind: [9].into() };
        assert_eq!(files.get("x y.c"), Some(&expected));
        for whole in ["n.c", "d.c"] {
            assert_eq!(files.get(whole), Some(&FileLines::All));
        }
        // Behind a backslash a comment is part of a macro.
        let macros = "diff --git a/x.c b/x.c\n--- a/x.c\n+++ b/x.c\n@@ -6 +6 @@\n-// a\n+// b\n@@ -8 +8 @@\n-// a\n+// b\n";
        let files = read_diff(macros, &mut |_| "1\n2\n3\n4\n#define A \\\n".repeat(4));
        let expected = FileLines::Some { there: [6].into(), gone_behind: [].into() };
        assert_eq!(files, [("x.c".to_owned(), expected)].into());
    }
}
