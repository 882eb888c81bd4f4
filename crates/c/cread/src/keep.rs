//! clang's work, kept from run to run by content.
//!
//! What clang makes of a file depends on the compiler, on its flags, on the text after preprocessing, and, for columns, on
//! the bytes of every file that this text comes from. All of that goes into the key, so that what is found under a key is what
//! clang would make again: nothing is ever looked at for its age. Preprocessing is what is left to do for a file that
//! did not change; it takes a tenth of the time.

use crate::Error;
use crate::annotations;
use crate::clang::{self, Compiled, Options};
use parallax_cmodule::annotations::Qualifier;
use rustc_hash::{FxHashMap, FxHashSet};
use sha2::{Digest, Sha256};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, Once};
use std::time::SystemTime;

/// Bytes that are kept in all; what was used longest ago goes first.
const MOST: u64 = 2 << 30;

/// A digest of bytes.
pub type Sum = [u8; 32];

/// A folder in which clang's work is kept.
pub struct Kept {
    folder: PathBuf,
    headers: PathBuf,
    /// What makes results of another compiler or of another build of this program different.
    builder: Sum,
    /// Digests of files, each read once.
    files: Mutex<FxHashMap<String, Option<Sum>>>,
    keys: Mutex<FxHashMap<(PathBuf, Vec<String>), Sum>>,
    found: AtomicU64,
    made: AtomicU64,
    /// Whether there is room for what this run adds. Looking at all entries takes time, which runs that add nothing do not need.
    roomy: Once,
}

impl std::fmt::Debug for Kept {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Kept({})", self.folder.display())
    }
}

/// How often clang's work was found, and how often it had to be done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Found.
    pub found: u64,
    /// Done.
    pub made: u64,
}

impl Kept {
    /// Opens a folder, which is made if it is not there.
    pub fn at(folder: &Path) -> Result<Kept, Error> {
        let wrong = |error| Error::Io(folder.display().to_string(), error);
        let folder = std::path::absolute(folder).map_err(wrong)?;
        let headers = folder.join("headers");
        clang::write_headers(&headers).map_err(wrong)?;
        let mut builder = Sha256::new();
        // Asking the compiler for its version takes as long as compiling a small file.
        let compiler = found_in_path(clang::COMPILER).and_then(|file| identity(&file));
        let absent = || Error::NoCompiler(clang::COMPILER.into(), std::io::ErrorKind::NotFound.into());
        builder.update(compiler.ok_or_else(absent)?);
        // The compiler notes the folder that it works in: the same text elsewhere is another file.
        if let Ok(here) = std::env::current_dir() {
            builder.update(here.as_os_str().as_encoded_bytes());
        }
        builder.update(std::env::current_exe().ok().and_then(|own| identity(&own)).unwrap_or_default());
        Ok(Kept {
            folder,
            headers,
            builder: builder.finalize().into(),
            files: Mutex::default(),
            keys: Mutex::default(),
            found: AtomicU64::new(0),
            made: AtomicU64::new(0),
            roomy: Once::new(),
        })
    }

    /// How much was found, and how much had to be done.
    pub fn counts(&self) -> Counts {
        Counts { found: self.found.load(Ordering::Relaxed), made: self.made.load(Ordering::Relaxed) }
    }

    /// [`clang::compile`], or what it made before.
    pub fn compile(&self, file: &Path, options: &Options) -> Result<Compiled, Error> {
        let options = self.with_headers(options);
        let key = self.key(file, &options)?;
        self.once("compiled", key, || clang::compile(file, &options))
    }

    /// [`annotations::qualifiers`], or what it found before.
    pub fn qualifiers(&self, file: &Path, options: &Options) -> Result<Vec<Qualifier>, Error> {
        let options = self.with_headers(options);
        let key = self.key(file, &options)?;
        self.once("qualifiers", key, || annotations::qualifiers(file, &options))
    }

    /// [`clang::object`], or what it made before.
    pub fn object(&self, file: &Path, flags: &[&str], options: &Options, output: &Path) -> Result<(), Error> {
        let options = self.with_headers(options);
        let key = self.key_with(file, &options, clang::native_flags(flags, &options))?;
        let wrong = |error| Error::Io(output.display().to_string(), error);
        let made: Vec<u8> = self.once("object", key, || {
            clang::object(file, flags, &options, output)?;
            std::fs::read(output).map_err(wrong)
        })?;
        std::fs::write(output, made).map_err(wrong)
    }

    /// What everything that is made of a file's code is known by.
    pub fn key(&self, file: &Path, options: &Options) -> Result<Sum, Error> {
        let options = self.with_headers(options);
        self.key_with(file, &options, clang::bitcode_flags(&options))
    }

    fn key_with(&self, file: &Path, options: &Options, flags: Vec<String>) -> Result<Sum, Error> {
        let name = (file.to_path_buf(), flags);
        if let Some(known) = self.keys.lock().ok().and_then(|keys| keys.get(&name).copied()) {
            return Ok(known);
        }
        let text = clang::preprocess(file, &name.1, options)?;
        let mut key = Sha256::new();
        key.update(self.builder);
        for word in &name.1 {
            key.update(word.as_bytes());
            key.update([0]);
        }
        key.update(&text);
        for path in named_files(&text) {
            key.update(path.as_bytes());
            key.update(self.digest(&path).unwrap_or_default());
        }
        let key: Sum = key.finalize().into();
        if let Ok(mut keys) = self.keys.lock() {
            keys.insert(name, key);
        }
        Ok(key)
    }

    fn with_headers(&self, options: &Options) -> Options {
        Options { headers: Some(self.headers.clone()), ..options.clone() }
    }

    fn digest(&self, path: &str) -> Option<Sum> {
        if let Some(known) = self.files.lock().ok().and_then(|files| files.get(path).copied()) {
            return known;
        }
        let sum = crate::source_bytes(Path::new(path)).map(|bytes| Sha256::digest(bytes).into());
        if let Ok(mut files) = self.files.lock() {
            files.insert(path.to_string(), sum);
        }
        sum
    }

    /// What is kept under a key, or what is made now.
    fn once<T: serde::Serialize + serde::de::DeserializeOwned>(
        &self,
        what: &str,
        key: Sum,
        make: impl FnOnce() -> Result<T, Error>,
    ) -> Result<T, Error> {
        if let Some(known) = self.get(what, &key) {
            self.found.fetch_add(1, Ordering::Relaxed);
            return Ok(known);
        }
        let made = make()?;
        self.made.fetch_add(1, Ordering::Relaxed);
        self.put(what, &key, &made);
        Ok(made)
    }

    /// What was put under a key; none where it is missing, or damaged.
    pub fn get<T: serde::de::DeserializeOwned>(&self, what: &str, key: &Sum) -> Option<T> {
        let file = self.file(what, key);
        let bytes = std::fs::read(&file).ok()?;
        let (sum, payload) = bytes.split_at_checked(32)?;
        if sum != Sha256::digest(payload).as_slice() {
            return None;
        }
        // Used now, so among the last to go; where the time cannot be set it goes earlier.
        let _ = std::fs::File::open(&file).and_then(|held| held.set_modified(SystemTime::now()));
        postcard::from_bytes(payload).ok()
    }

    /// Puts something under a key. What cannot be written is made again next time.
    pub fn put<T: serde::Serialize>(&self, what: &str, key: &Sum, value: &T) {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let Ok(payload) = postcard::to_stdvec(value) else { return };
        self.roomy.call_once(|| self.make_room(MOST));
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let part = self.folder.join(format!("part-{}-{number}", std::process::id()));
        let written = std::fs::File::create(&part).and_then(|mut out| {
            out.write_all(&Sha256::digest(&payload))?;
            out.write_all(&payload)
        });
        // Whole or not at all: others may read at the same time.
        if written.and_then(|()| std::fs::rename(&part, self.file(what, key))).is_err() {
            let _ = std::fs::remove_file(&part);
        }
    }

    fn file(&self, what: &str, key: &Sum) -> PathBuf {
        let hex: String = key.iter().map(|byte| format!("{byte:02x}")).collect();
        self.folder.join(format!("{hex}.{what}"))
    }

    /// Removes what was used longest ago, until the rest is small enough.
    fn make_room(&self, most: u64) {
        let entries = std::fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let files = entries.filter_map(|entry| {
            let held = entry.metadata().ok().filter(std::fs::Metadata::is_file)?;
            Some((held.modified().ok()?, held.len(), entry.path()))
        });
        let mut files: Vec<(SystemTime, u64, PathBuf)> = files.collect();
        files.sort();
        let mut all: u64 = files.iter().map(|(_, bytes, _)| bytes).sum();
        for (_, bytes, file) in files {
            if all <= most {
                break;
            }
            // What another run removed meanwhile is gone as well.
            let _ = std::fs::remove_file(file);
            all -= bytes;
        }
    }
}

/// What tells a program from another version of it: which file it is, how long, and since when.
fn identity(program: &Path) -> Option<String> {
    let file = program.canonicalize().ok()?;
    let held = file.metadata().ok()?;
    let changed = held.modified().ok()?.duration_since(SystemTime::UNIX_EPOCH).ok()?;
    Some(format!("{} {} {changed:?}", file.display(), held.len()))
}

fn found_in_path(program: &str) -> Option<PathBuf> {
    let folders = std::env::var_os("PATH")?;
    std::env::split_paths(&folders).map(|folder| folder.join(program)).find(|file| file.is_file())
}

/// Files that preprocessed text comes from: `# LINE "FILE" ...`.
fn named_files(text: &[u8]) -> Vec<String> {
    let mut seen = FxHashSet::default();
    let mut files = Vec::new();
    for line in text.split(|byte| *byte == b'\n').filter(|line| line.starts_with(b"# ")) {
        let mut quotes = line.split(|byte| *byte == b'"').skip(1);
        if let Some(name) = quotes.next().and_then(|name| std::str::from_utf8(name).ok())
            && seen.insert(name)
        {
            files.push(name.to_string());
        }
    }
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("parallax-kept-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        folder
    }

    #[test]
    fn only_what_changed_is_made_again() {
        let at = folder("changes");
        let write = |name: &str, text: &str| std::fs::write(at.join(name), text).expect("a file");
        write("common.h", "int *common(int *);\n");
        write("a.c", "#include \"common.h\"\nint *a(int *p) { return common(p); }\n");
        write("b.c", "int b(void) { return 1; }\n");
        let made = |flags: &[&str]| {
            let kept = Kept::at(&at.join("kept")).expect("a folder");
            let flags = flags.iter().map(ToString::to_string).collect();
            let options = Options { flags, ..Options::default() };
            for name in ["a.c", "b.c"] {
                kept.compile(&at.join(name), &options).expect("it compiles");
                kept.qualifiers(&at.join(name), &options).expect("it is read");
                kept.object(&at.join(name), &["-O0"], &options, &at.join("made.o")).expect("it compiles");
                assert!(std::fs::read(at.join("made.o")).is_ok_and(|bytes| bytes.starts_with(b"\x7fELF")));
            }
            kept.counts().made
        };
        assert_eq!(made(&[]), 6, "everything");
        assert_eq!(made(&[]), 0, "nothing changed");
        write("b.c", "int b(void) { return 2; }\n");
        assert_eq!(made(&[]), 3, "one file");
        write("common.h", "int *common(int * _Nonnull);\n");
        assert_eq!(made(&[]), 3, "the file that includes it");
        write("common.h", "int *common(int *  _Nonnull);\n");
        assert_eq!(made(&[]), 3, "columns are part of what is made");
        assert_eq!(made(&["-DX"]), 6, "flags");
        assert_eq!(made(&[]), 0, "what was made with other flags is still there");
        // Damaged entries are made again.
        for entry in std::fs::read_dir(at.join("kept")).expect("a folder").flatten() {
            if entry.path().is_file() {
                let mut bytes = std::fs::read(entry.path()).expect("bytes");
                *bytes.last_mut().expect("bytes") ^= 1;
                std::fs::write(entry.path(), bytes).expect("a file");
            }
        }
        assert_eq!(made(&[]), 6, "what is damaged");
        std::fs::remove_dir_all(&at).expect("the folder goes");
    }

    #[test]
    fn what_was_used_longest_ago_makes_room() {
        let at = folder("room");
        let kept = Kept::at(&at.join("kept")).expect("a folder");
        let keys = [[1; 32], [2; 32], [3; 32]];
        for (age, key) in keys.iter().enumerate() {
            kept.put("number", key, &vec![0u8; 1000]);
            let held = std::fs::File::open(kept.file("number", key)).expect("an entry");
            let time = SystemTime::now() - std::time::Duration::from_secs(100 - age as u64);
            held.set_modified(time).expect("a time");
        }
        assert!(kept.get::<Vec<u8>>("number", &keys[0]).is_some(), "used now");
        kept.make_room(2500);
        let there = keys.map(|key| kept.get::<Vec<u8>>("number", &key).is_some());
        assert_eq!(there, [true, false, true]);
        std::fs::remove_dir_all(&at).expect("the folder goes");
    }
}
