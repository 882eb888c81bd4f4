//! From the files a user names to a program.

use crate::project::{Member, split};
use parallax_cmodule::{Callee, FunctionId, Module, Operand, Operation};
use parallax_cread::build::{Built, Entry};
use parallax_cread::clang::{self, Options};
use parallax_cread::{Error, Input, Kept, MODELS, Symbols, annotations, foreign, read, symbols};
use parallax_jail::Wanted;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What to load.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    /// C files, LLVM bitcode (`.bc`) or assembly (`.ll`); or compilation databases (`.json`).
    pub files: Vec<PathBuf>,
    /// How to compile.
    pub options: Options,
    /// Where clang's work is kept from run to run, if anywhere.
    pub kept: Option<Arc<Kept>>,
    /// The name of one program, where the files are several.
    pub program: Option<String>,
    /// What the project's own build compiled: these files too.
    pub built: Option<Arc<Built>>,
}

/// A loaded program.
pub struct Program {
    /// The linked module, library models included.
    pub module: Module,
    /// The files it was loaded from, each with how it is compiled.
    pub units: Vec<(PathBuf, Options)>,
    /// Warnings of the compiler.
    pub warnings: String,
    /// Where clang's work is kept.
    pub kept: Option<Arc<Kept>>,
    /// What holds the program when it is run.
    pub jail: Wanted,
    /// The build that the files come from; they are there as long as this is.
    pub built: Option<Arc<Built>>,
}

impl Program {
    /// Reads what declarations promise and IR forgets, and attaches it to the module: an exploration from a function
    /// with unknown arguments asks for it. Modules that were not given as C say nothing more than their IR does.
    pub fn annotate(&mut self) -> Result<(), Error> {
        let sources: Vec<&(PathBuf, Options)> =
            self.units.iter().filter(|(file, _)| !is_module(file)).collect();
        let found = side_by_side(&sources, |(file, options)| match &self.kept {
            Some(kept) => kept.qualifiers(file, options),
            None => annotations::qualifiers(file, options),
        });
        let found: Result<Vec<_>, Error> = found.into_iter().collect();
        let mut found: Vec<_> = found?.into_iter().flatten().collect();
        for qualifier in &mut found {
            qualifier.unit = named(self.built.as_deref(), &qualifier.unit);
        }
        annotations::attach(&mut self.module, found);
        Ok(())
    }

    /// What a file is called: of a project that was built, by its name in the project and not in the copy.
    pub fn name_of(&self, file: &Path) -> PathBuf {
        self.built.as_ref().map_or_else(|| file.to_path_buf(), |built| built.name(file))
    }

    /// Whether the program seeds its random numbers with something that is not constant: then they can be any.
    pub fn seeds_unknown(&self) -> bool {
        let seeds = |id: &FunctionId| matches!(self.module.function(*id).name.as_str(), "srand" | "srandom");
        self.module
            .functions
            .iter()
            .filter(|f| !f.library)
            .flat_map(|f| &f.blocks)
            .flat_map(|b| &b.instructions)
            .any(|instruction| match &instruction.operation {
                Operation::Call { callee: Callee::Function(id), arguments } => {
                    seeds(id) && arguments.iter().any(|a| matches!(a.value, Operand::Register(_)))
                }
                _ => false,
            })
    }
}

/// The checks of clang's sanitizers for unsigned arithmetic that wraps around, conversions that change a value, and
/// floating-point divisions and conversions that go wrong. What they call is a finding of its kind.
pub fn instruments(unsigned: bool, conversions: bool, floats: bool) -> Vec<&'static str> {
    let mut checks = Vec::new();
    checks.extend(unsigned.then_some("unsigned-integer-overflow"));
    checks.extend(conversions.then_some("implicit-conversion"));
    checks.extend(floats.then_some("float-divide-by-zero,float-cast-overflow"));
    checks
}

/// Whether a file is LLVM's rather than C.
pub fn is_module(file: &Path) -> bool {
    file.extension().is_some_and(|e| e == "bc" || e == "ll")
}

/// The files of a project, compiled.
pub struct Project {
    /// Its programs, or the library that it is.
    pub members: Vec<Member>,
    /// Files that are in no program.
    pub rest: Vec<PathBuf>,
    /// Warnings of the compiler.
    pub warnings: String,
    units: Vec<(PathBuf, Options)>,
    /// The bitcode of each.
    parts: Vec<Vec<u8>>,
    kept: Option<Arc<Kept>>,
    jail: Wanted,
    built: Option<Arc<Built>>,
}

impl Project {
    /// Compiles the files, or takes what was kept, and tells the programs among them apart.
    pub fn compile(sources: &Sources) -> Result<Project, Error> {
        let mut units = Vec::new();
        for file in &sources.files {
            if is_database(file) {
                units.extend(units_of(database(file)?, &sources.options, Path::to_path_buf));
            } else {
                units.push((file.clone(), sources.options.clone()));
            }
        }
        if let Some(built) = &sources.built {
            let mut options = sources.options.clone();
            options.flags.extend(built.flags());
            units.extend(units_of(built.entries.clone(), &options, |path| built.place(path)));
        }
        let compiled = side_by_side(&units, |(file, options)| {
            // Asked for here, so that a missing file is our message and not clang's.
            std::fs::metadata(file).map_err(|e| Error::Io(file.display().to_string(), e))?;
            if is_module(file) {
                return foreign::module(file, options.jail)
                    .map(|bitcode| clang::Compiled { bitcode, messages: String::new() });
            }
            match &sources.kept {
                Some(kept) => kept.compile(file, options),
                None => clang::compile(file, options),
            }
        });
        let compiled: Vec<clang::Compiled> = compiled.into_iter().collect::<Result<_, Error>>()?;
        let warnings = compiled.iter().map(|one| one.messages.as_str()).collect();
        let parts: Vec<Vec<u8>> = compiled.into_iter().map(|one| one.bitcode).collect();
        let files: Vec<PathBuf> = units.iter().map(|(file, _)| file.clone()).collect();
        let known: Result<Vec<Symbols>, Error> = match parts.len() {
            0 | 1 => Ok(vec![Symbols::default(); parts.len()]),
            _ => files.iter().zip(&parts).map(|(file, bytes)| symbols(&input(file, bytes))).collect(),
        };
        let (mut members, rest) = split(&files, &known?);
        if let Some(name) = &sources.program {
            let names: Vec<String> = members.iter().map(|member| member.name.clone()).collect();
            members.retain(|member| member.name == *name);
            if members.is_empty() {
                let all = names.join(", ");
                return Err(Error::Usage(format!("there is no program {name} in it: there is {all}")));
            }
        }
        let shown = |unit: usize| match &sources.built {
            Some(built) => built.name(&files[unit]),
            None => files[unit].clone(),
        };
        let rest = rest.into_iter().map(shown).collect();
        let (kept, jail, built) = (sources.kept.clone(), sources.options.jail, sources.built.clone());
        Ok(Project { members, rest, warnings, units, parts, kept, jail, built })
    }

    /// Links one of its programs.
    pub fn load(&self, member: &Member) -> Result<Program, Error> {
        let built = self.built.as_deref();
        let name = |unit: usize| named(built, &self.units[unit].0.display().to_string());
        let inputs = member.units.iter().map(|&unit| Input { name: name(unit), bytes: &self.parts[unit] });
        let mut module = read(&inputs.collect::<Vec<_>>(), MODELS)?;
        for file in &mut module.files {
            *file = named(built, file);
        }
        let jail = self.jail;
        let mut assemble = |text: &str| clang::assemble(text, jail).map_err(|error| error.to_string());
        parallax_casm::lower(&mut module, &mut assemble);
        let units = member.units.iter().map(|&unit| self.units[unit].clone()).collect();
        let (warnings, kept, built) = (self.warnings.clone(), self.kept.clone(), self.built.clone());
        Ok(Program { module, units, warnings, kept, jail, built })
    }

    /// The only program.
    pub fn only(&self) -> Result<Program, Error> {
        match &self.members[..] {
            [only] => self.load(only),
            all => {
                let names: Vec<&str> = all.iter().map(|member| member.name.as_str()).collect();
                Err(Error::Usage(format!(
                    "these files are {} programs: {}\n  = --program NAME takes one of them",
                    names.len(),
                    names.join(", ")
                )))
            }
        }
    }
}

fn input<'a>(file: &Path, bytes: &'a [u8]) -> Input<'a> {
    Input { name: file.display().to_string(), bytes }
}

fn named(built: Option<&Built>, file: &str) -> String {
    built.map_or_else(|| file.to_owned(), |built| built.name(Path::new(file)).display().to_string())
}

/// Loads a program.
pub fn load(sources: &Sources) -> Result<Program, Error> {
    Project::compile(sources)?.only()
}

/// Whether a file is a compilation database, by its name.
pub fn is_database(file: &Path) -> bool {
    file.extension().is_some_and(|ending| ending == "json")
}

/// Does the same with each of several things, as many at a time as there are processors; the answers are in their order.
pub(crate) fn side_by_side<T: Sync, R: Send>(things: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let workers = std::thread::available_parallelism().map_or(1, usize::from).min(things.len());
    if workers <= 1 {
        return things.iter().map(work).collect();
    }
    let next = AtomicUsize::new(0);
    let mut answers: Vec<(usize, R)> = std::thread::scope(|scope| {
        let worker = || {
            let mut own = Vec::new();
            while let Some((number, thing)) = {
                let number = next.fetch_add(1, Ordering::Relaxed);
                things.get(number).map(|thing| (number, thing))
            } {
                own.push((number, work(thing)));
            }
            own
        };
        let handles: Vec<_> = (0..workers).map(|_| scope.spawn(worker)).collect();
        let joined = handles.into_iter().map(|handle| match handle.join() {
            Ok(own) => own,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        joined.flatten().collect()
    });
    answers.sort_by_key(|(number, _)| *number);
    answers.into_iter().map(|(_, answer)| answer).collect()
}

/// The entries of a compilation database.
fn database(file: &Path) -> Result<Vec<Entry>, Error> {
    let name = file.display().to_string();
    let bytes = std::fs::read(file).map_err(|e| Error::Io(name.clone(), e))?;
    let entries: Vec<serde_json::Value> =
        serde_json::from_slice(&bytes).map_err(|e| Error::Usage(format!("{name}: {e}")))?;
    let mut result = Vec::new();
    for entry in entries {
        let text = |key: &str| entry.get(key).and_then(|v| v.as_str());
        let Some(source) = text("file") else {
            return Err(Error::Usage(format!("{name}: an entry without a file")));
        };
        // A relative folder is one beside the database, whoever reads it.
        let beside = file.parent().unwrap_or(Path::new("."));
        let directory = beside.join(text("directory").unwrap_or("."));
        let words: Vec<String> = match entry.get("arguments").and_then(|v| v.as_array()) {
            Some(list) => list.iter().filter_map(|v| v.as_str()).map(str::to_string).collect(),
            None => split_words(text("command").unwrap_or("")),
        };
        if words.is_empty() {
            return Err(Error::Usage(format!(
                "{name}: {source} has neither a command nor a list of arguments"
            )));
        }
        // Other languages are not ours.
        if Path::new(source).extension().is_some_and(|e| e == "c" || e == "i") {
            result.push(Entry { directory, file: source.into(), arguments: words });
        }
    }
    if result.is_empty() {
        return Err(Error::Usage(format!("{name}: no C file in it")));
    }
    Ok(result)
}

/// Sources, each with its own flags. `place` says where what has a path there lies here. A file that is compiled twice is still one file.
fn units_of(
    entries: Vec<Entry>,
    options: &Options,
    place: impl Fn(&Path) -> PathBuf,
) -> Vec<(PathBuf, Options)> {
    let mut seen = rustc_hash::FxHashSet::default();
    let unit = |entry: Entry| {
        let under = |path: &str| place(&entry.directory.join(path)).display().to_string();
        let source = place(&entry.directory.join(&entry.file));
        seen.insert(source.clone()).then(|| (source, with_flags(options.clone(), under, &entry.arguments)))
    };
    entries.into_iter().filter_map(unit).collect()
}

/// Flags of a compiler that change the meaning of a source: paths, definitions, dialect.
fn with_flags(mut options: Options, under: impl Fn(&str) -> String, words: &[String]) -> Options {
    const PATHS: [&str; 6] = ["-include", "-imacros", "-isystem", "-iquote", "-idirafter", "-I"];
    const DIALECT: [&str; 13] = [
        "-std=",
        "-ansi",
        "-fsigned-char",
        "-funsigned-char",
        "-fwrapv",
        "-fshort-enums",
        "-fshort-wchar",
        "-fms-extensions",
        "-fgnu89-inline",
        "-fpack-struct",
        "-ffreestanding",
        "-m32",
        "-m64",
    ];
    // Flags may be wrapped for the preprocessor.
    let words = words.iter().skip(1).flat_map(|word| match word.strip_prefix("-Wp,") {
        Some(wrapped) => wrapped.split(',').map(str::to_owned).collect(),
        None => vec![word.clone()],
    });
    let mut words = words.collect::<Vec<_>>().into_iter();
    while let Some(word) = words.next() {
        if let Some(flag) = PATHS.into_iter().find(|flag| word.starts_with(flag)) {
            let joined = word[flag.len()..].to_string();
            let path = if joined.is_empty() { words.next().unwrap_or_default() } else { joined };
            options.flags.extend([flag.to_string(), under(&path)]);
        } else if word == "-D" || word == "-U" {
            options.flags.extend([word, words.next().unwrap_or_default()]);
        } else if matches!(word.as_str(), "-o" | "-MF" | "-MT" | "-MQ" | "-x" | "-Xclang" | "-arch") {
            words.next();
        } else if word.starts_with("-D")
            || word.starts_with("-U")
            || DIALECT.iter().any(|d| word.starts_with(d))
        {
            options.flags.push(word);
        }
    }
    options
}

/// Words of a command as a shell would split them: blanks, quotes and backslashes.
fn split_words(command: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut open = false;
    let mut quote = None;
    let mut characters = command.chars();
    while let Some(c) = characters.next() {
        match (quote, c) {
            (Some(q), c) if c == q => quote = None,
            (Some('\''), c) => word.push(c),
            (_, '\\') => {
                open = true;
                word.extend(characters.next());
            }
            (Some(_), c) => word.push(c),
            (None, '"' | '\'') => {
                open = true;
                quote = Some(c);
            }
            (None, c) if c.is_whitespace() => {
                if open {
                    words.push(std::mem::take(&mut word));
                    open = false;
                }
            }
            (None, c) => {
                open = true;
                word.push(c);
            }
        }
    }
    if open {
        words.push(word);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn databases_are_read_whatever_their_style() {
        let folder = std::env::temp_dir().join(format!("parallax-database-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("sub")).expect("a folder");
        let file = folder.join("compile_commands.json");
        let text = r#"[
          {"directory": "sub", "file": "a.c", "arguments": ["cc", "-Iinc", "-isystem", "/sys", "-O2", "-DX=1", "-o", "a.o", "a.c"]},
          {"directory": "sub", "file": "a.c", "command": "cc -DTWICE a.c"},
          {"directory": "/elsewhere", "file": "b.c", "command": "gcc -D 'Y=a b' -fconserve-stack -std=c99 b.c"},
          {"directory": "sub", "file": "c.S", "command": "as c.S"}
        ]"#;
        std::fs::write(&file, text).expect("a database");
        let read = |file: &Path| {
            database(file).map(|entries| units_of(entries, &Options::default(), Path::to_path_buf))
        };
        let found = read(&file).expect("it is read");
        let sub = folder.join("sub");
        let shown: Vec<_> =
            found.iter().map(|(file, options)| (file.clone(), options.flags.clone())).collect();
        let include = sub.join("inc").display().to_string();
        let first = ["-I", &include, "-isystem", "/sys", "-DX=1"].map(String::from).to_vec();
        let second = ["-D", "Y=a b", "-std=c99"].map(String::from).to_vec();
        assert_eq!(shown, [(sub.join("a.c"), first), (PathBuf::from("/elsewhere/b.c"), second)]);
        for bad in ["[]", "{}", "[1]", r#"[{"file": "a.c"}]"#, r#"[{"directory": "."}]"#, "["] {
            std::fs::write(&file, bad).expect("a database");
            assert!(read(&file).is_err(), "{bad}");
        }
        std::fs::remove_dir_all(&folder).expect("the folder goes");
    }

    #[test]
    fn commands_are_split_as_a_shell_does() {
        assert_eq!(split_words(r#"cc -DX="a b" -c 'f g.c'  \"q"#), ["cc", "-DX=a b", "-c", "f g.c", "\"q"]);
        assert_eq!(split_words("a '' b"), ["a", "", "b"]);
    }
}
