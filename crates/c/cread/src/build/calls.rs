//! Calls of compilers as the stand-ins noted them.

use super::stand_ins;
use crate::Error;
use std::fs;
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The longest note or file of flags, how many notes there may be, and the bytes of all: the build could have written anything.
const LONGEST: u64 = 16 << 20;
const MOST: usize = 200_000;
const MOST_BYTES: u64 = 256 << 20;
/// How deep files of flags may name files of flags, and what opening one costs beside its bytes.
const DEEPEST: usize = 8;
const OPENING: u64 = 4096;

/// A call of a compiler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// Where it was made.
    pub folder: PathBuf,
    /// The compiler's name, and its arguments, files of flags opened up.
    pub words: Vec<String>,
}

/// What a call compiles.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Sources {
    pub of_c: Vec<PathBuf>,
    pub of_other_languages: usize,
}

/// All calls, in their order.
pub fn all(folder: &Path) -> Result<Vec<Call>, Error> {
    let wrong = |error| Error::Io(folder.display().to_string(), error);
    let mut notes: Vec<(SystemTime, PathBuf)> = Vec::new();
    let mut bytes = 0;
    for entry in fs::read_dir(folder).map_err(wrong)? {
        let path = entry.map_err(wrong)?.path();
        // PROCESS.NUMBER is a note, PROCESS.NUMBER.PLACE a file of flags of it.
        let is_note = path.file_name().is_some_and(|name| name.to_string_lossy().matches('.').count() == 1);
        let Ok(known) = fs::symlink_metadata(&path) else { continue };
        if is_note && known.is_file() {
            notes.push((known.modified().map_err(wrong)?, path));
        }
        bytes += known.len();
        if notes.len() > MOST || bytes > MOST_BYTES {
            let most = format!("{MOST} times, or with more than {} MiB of arguments", MOST_BYTES >> 20);
            return Err(Error::Usage(format!("the build called compilers more than {most}")));
        }
    }
    notes.sort();
    // Files of flags that the build left are opened for as many bytes, all calls together.
    let mut left = MOST_BYTES;
    Ok(notes.iter().filter_map(|(_, note)| Call::read(note, &mut left)).collect())
}

/// Whether a file is one with which `configure` tries something out.
pub fn is_trial(file: &Path) -> bool {
    file.file_name().is_some_and(|name| name.to_string_lossy().starts_with("conftest"))
}

/// The text of a file that is one, and no longer than it may be.
fn text(file: &Path) -> Option<String> {
    let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK;
    let opened = fs::OpenOptions::new().read(true).custom_flags(flags).open(file).ok()?;
    let known = opened.metadata().ok()?;
    let mut bytes = Vec::new();
    (known.is_file() && known.len() <= LONGEST)
        .then(|| opened.take(LONGEST).read_to_end(&mut bytes).ok())??;
    String::from_utf8(bytes).ok()
}

impl Call {
    fn read(note: &Path, left: &mut u64) -> Option<Call> {
        let text_of_note = text(note)?;
        let mut parts = text_of_note.strip_suffix('\0')?.split('\0').map(str::to_owned);
        let (name, folder) = (parts.next()?, PathBuf::from(parts.next()?));
        let mut words = vec![name];
        for (place, word) in parts.enumerate() {
            let flags = word.starts_with('@').then(|| {
                let mut copy = note.as_os_str().to_owned();
                copy.push(format!(".{place}"));
                text(Path::new(&copy))
            });
            match flags.flatten() {
                Some(flags) => words.extend(opened(&flags, &folder, DEEPEST, left)),
                None => words.push(word),
            }
        }
        Some(Call { folder, words })
    }

    /// What it compiles; nothing, where it only preprocesses or answers a question.
    pub fn sources(&self) -> Sources {
        // Options whose argument may be a word of its own, which is no source then.
        const WITH_ARGUMENT: [&str; 37] = [
            "-o",
            "-I",
            "-D",
            "-U",
            "-L",
            "-l",
            "-T",
            "-u",
            "-z",
            "-e",
            "-h",
            "-A",
            "-B",
            "-G",
            "-F",
            "-include",
            "-imacros",
            "-isystem",
            "-iquote",
            "-idirafter",
            "-iprefix",
            "-iwithprefix",
            "-isysroot",
            "--sysroot",
            "-MF",
            "-MT",
            "-MQ",
            "-Xclang",
            "-Xlinker",
            "-Xassembler",
            "-Xpreprocessor",
            "-arch",
            "-target",
            "--param",
            "-mllvm",
            "-aux-info",
            "-framework",
        ];
        let mut sources = Sources::default();
        let Some((name, words)) = self.words.split_first() else { return sources };
        let mut language: Option<String> = None;
        let mut words = words.iter();
        while let Some(word) = words.next() {
            match word.as_str() {
                "-E" | "-M" | "-MM" | "-fsyntax-only" | "-###" => return Sources::default(),
                "-x" => language = words.next().cloned().filter(|language| language != "none"),
                option if WITH_ARGUMENT.contains(&option) => {
                    words.next();
                }
                option if option.starts_with("-x") && option.len() > 2 => {
                    language = Some(option[2..].to_owned()).filter(|language| language != "none");
                }
                option if option.starts_with('-') || option.starts_with('@') => {}
                file => {
                    let ending =
                        Path::new(file).extension().map(|ending| ending.to_string_lossy().into_owned());
                    let by_ending = ending.as_deref().and_then(language_of);
                    match language.as_deref().or(by_ending) {
                        Some("c" | "cpp-output") if stand_ins::is_of_c(name) || language.is_some() => {
                            sources.of_c.push(PathBuf::from(file));
                        }
                        Some("assembler" | "assembler-with-cpp") | None => {}
                        Some(_) => sources.of_other_languages += 1,
                    }
                }
            }
        }
        sources
    }
}

/// The language of a file by its ending; none of what is linked.
fn language_of(ending: &str) -> Option<&'static str> {
    match ending {
        "c" => Some("c"),
        "i" => Some("cpp-output"),
        "s" | "S" | "sx" => Some("assembler"),
        "cc" | "cp" | "cxx" | "cpp" | "c++" | "C" | "ii" => Some("c++"),
        "m" | "mm" | "f" | "f90" | "go" | "d" => Some("another"),
        _ => None,
    }
}

/// The words of a file of flags, with those of files that it names and that are still there.
fn opened(flags: &str, folder: &Path, depth: usize, left: &mut u64) -> Vec<String> {
    let mut words = Vec::new();
    for word in split(flags) {
        let file = word.strip_prefix('@').filter(|_| depth > 0 && *left > 0);
        match file.and_then(|file| text(&folder.join(file))) {
            Some(below) => {
                *left = left.saturating_sub(below.len() as u64 + OPENING);
                words.extend(opened(&below, folder, depth - 1, left));
            }
            None => words.push(word),
        }
    }
    words
}

/// Words between blanks; quotes of both kinds hold blanks, and a backslash takes what follows as it is.
fn split(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match (quote, character) {
            (_, '\\') => word.get_or_insert_default().extend(characters.next()),
            (Some(open), character) if character == open => quote = None,
            (None, '"' | '\'') => {
                quote = Some(character);
                word.get_or_insert_default();
            }
            (None, character) if character.is_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(character),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sources(words: &str) -> (Vec<String>, usize) {
        let call = Call { folder: "/x".into(), words: split(words) };
        let found = call.sources();
        let names = found.of_c.iter().map(|file| file.display().to_string()).collect();
        (names, found.of_other_languages)
    }

    #[test]
    fn what_a_call_compiles_is_what_the_compiler_would() {
        let c = |words: &str| sources(words).0;
        assert_eq!(c("cc -c a.c b.c -o x.c"), ["a.c", "b.c"]);
        assert_eq!(c("cc -O2 -Iinc -I inc.c -DX=y.c -D Y.c main.c util.o -lm -o prog"), ["main.c"]);
        assert_eq!(c("cc -x c generated -x none lib.a other.c"), ["generated", "other.c"]);
        assert_eq!(c("cc -xc - -c"), ["-"; 0]);
        assert_eq!(c("gcc -E a.c"), [""; 0]);
        assert_eq!(c("gcc -MM a.c"), [""; 0]);
        assert_eq!(c("gcc -MMD -MP -MF a.d -MT a.o -c a.c"), ["a.c"]);
        assert_eq!(c("gcc --version"), [""; 0]);
        assert_eq!(c("gcc a.o b.o -o prog"), [""; 0]);
        assert_eq!(c("gcc -c start.S a.i"), ["a.i"]);
        assert_eq!(sources("g++ -c a.cc b.c"), (vec![], 2));
        assert_eq!(sources("g++ -x c b.c"), (vec!["b.c".to_owned()], 0));
        assert_eq!(sources("gcc -c a.cpp b.c"), (vec!["b.c".to_owned()], 1));
    }

    #[test]
    fn files_of_flags_are_split_as_the_compiler_does() {
        assert_eq!(split("-Da=\"b c\"\n-I'x y' \\\"z\\  ''"), ["-Da=b c", "-Ix y", "\"z ", ""]);
        assert_eq!(split("  \n"), [""; 0]);
    }

    #[test]
    fn notes_are_read_in_their_order_and_bad_ones_left_out() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        let write = |name: &str, text: &str, second: u64| {
            fs::write(at(name), text).expect("a file");
            let time = SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(second);
            fs::File::open(at(name)).and_then(|file| file.set_modified(time)).expect("a time");
        };
        write("9.0", "cc\0/first\0-c\0a b.c\0", 1);
        write("3.0", "gcc\0/second\0@flags\0-c\0", 2);
        write("3.0.0", "-DX '@deep' c.c", 2);
        write("endless", "@endless @endless -DX\n", 2);
        write("8.0", &format!("cc\0{}\0@endless\0", folder.path().display()), 3);
        write("8.0.0", "@endless", 3);
        write("4.0", "not a note", 3);
        write("5.0", "\0", 4);
        std::os::unix::fs::symlink("/etc/passwd", at("6.0")).expect("a link");
        let mut calls = all(folder.path()).expect("they are read");
        let endless = calls.pop().expect("the last");
        assert_eq!(endless.words.iter().filter(|word| *word == "-DX").count(), (1 << DEEPEST) - 1);
        let shown: Vec<_> =
            calls.iter().map(|call| (call.folder.display().to_string(), call.words.join("|"))).collect();
        let expected = [("/first", "cc|-c|a b.c"), ("/second", "gcc|-DX|@deep|c.c|-c")];
        assert_eq!(shown, expected.map(|(folder, words)| (folder.to_owned(), words.to_owned())));
    }
}
