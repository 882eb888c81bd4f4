//! The one door to the file system: sources are read below the roots the user named, and nowhere else.
//!
//! A report is untrusted, and so is every file name in it. A name is only ever a hint: its folders are taken apart,
//! and what is opened is a regular file whose real place, links followed, lies below a root. Names from other
//! machines (absolute, Windows) are found by their longest ending that exists here.

use crate::visible::visible;
use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Larger files are not read.
pub const LARGEST_FILE: u64 = 16 << 20;
/// How many files of the roots are looked at when a name has to be searched for.
const LARGEST_INDEX: usize = 100_000;

/// Why a source is not there.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Missing {
    /// The user named no root.
    #[error("no source folder was given")]
    NoRoots,
    /// No file below the roots fits the name.
    #[error("not found below the source folders")]
    NotFound,
    /// Several do, equally well.
    #[error("several files below the source folders fit this name")]
    Ambiguous,
    /// It leads out of the roots.
    #[error("leads out of the source folders")]
    Outside,
    /// It is larger than [`LARGEST_FILE`].
    #[error("larger than {} MB", LARGEST_FILE >> 20)]
    TooLarge,
    /// It holds NUL bytes and is no UTF-16.
    #[error("a binary file")]
    Binary,
    /// The system would not read it.
    #[error("cannot be read: {0}")]
    Unreadable(String),
    /// The page is full.
    #[error("left out: the page would grow too large")]
    PageFull,
}

/// The folders that sources may come from.
#[derive(Debug, Default)]
pub struct Roots {
    /// Real places, links followed.
    folders: Vec<PathBuf>,
    /// Files by their last name, made when first needed.
    by_name: Option<HashMap<String, Vec<PathBuf>>>,
}

/// A file below a root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Its real place.
    pub path: PathBuf,
    /// What to call it: relative to its root.
    pub name: String,
}

impl Roots {
    /// The given folders; says which one cannot be used.
    pub fn new<P: AsRef<Path>>(folders: &[P]) -> Result<Roots, (PathBuf, std::io::Error)> {
        let mut real = Vec::new();
        for folder in folders {
            let folder = folder.as_ref();
            let place = folder.canonicalize().map_err(|error| (folder.to_owned(), error))?;
            if !place.is_dir() {
                let error = std::io::Error::new(std::io::ErrorKind::NotADirectory, "not a folder");
                return Err((folder.to_owned(), error));
            }
            real.push(place);
        }
        Ok(Roots { folders: real, by_name: None })
    }

    /// Whether no folder was given.
    pub fn is_empty(&self) -> bool {
        self.folders.is_empty()
    }

    /// The folders.
    pub fn folders(&self) -> &[PathBuf] {
        &self.folders
    }

    /// The file that a report means by `reported`.
    pub fn find(&mut self, reported: &str) -> Result<Found, Missing> {
        if self.folders.is_empty() {
            return Err(Missing::NoRoots);
        }
        let parts = parts(reported);
        if parts.is_empty() || parts.len() > 256 {
            return Err(Missing::NotFound);
        }
        let mut refused = Missing::NotFound;
        for from in 0..parts.len() {
            for folder in &self.folders {
                let candidate = parts[from..].iter().fold(folder.clone(), |path, part| path.join(part));
                match self.admit(&candidate) {
                    Ok(found) => return Ok(found),
                    Err(Missing::NotFound) => {}
                    Err(why) => refused = why,
                }
            }
        }
        if refused != Missing::NotFound {
            return Err(refused);
        }
        self.search(&parts)
    }

    /// A file deeper in the roots whose path ends like `parts` does, if one fits better than all others.
    fn search(&mut self, parts: &[String]) -> Result<Found, Missing> {
        let wanted = parts.last().ok_or(Missing::NotFound)?.clone();
        let candidates = self.index().get(&wanted).cloned().unwrap_or_default();
        let common = |path: &PathBuf| {
            let here = path.components().rev().map(|part| part.as_os_str().to_string_lossy().into_owned());
            here.zip(parts.iter().rev()).take_while(|(a, b)| a == *b).count()
        };
        let best = candidates.iter().map(common).max().ok_or(Missing::NotFound)?;
        let mut fitting = candidates.iter().filter(|path| common(path) == best);
        match (fitting.next(), fitting.next()) {
            (Some(path), None) => self.admit(path),
            _ => Err(Missing::Ambiguous),
        }
    }

    fn index(&mut self) -> &HashMap<String, Vec<PathBuf>> {
        if self.by_name.is_none() {
            let mut index: HashMap<String, Vec<PathBuf>> = HashMap::new();
            for path in self.files(LARGEST_INDEX) {
                if let Some(name) = path.file_name() {
                    index.entry(name.to_string_lossy().into_owned()).or_default().push(path);
                }
            }
            self.by_name = Some(index);
        }
        self.by_name.as_ref().expect("just made")
    }

    /// Up to `most` files below the roots, breadth first; hidden folders and links are not followed.
    pub fn files(&self, most: usize) -> Vec<PathBuf> {
        let mut files = Vec::new();
        let mut pending: std::collections::VecDeque<PathBuf> = self.folders.iter().cloned().collect();
        while let Some(folder) = pending.pop_front() {
            let Ok(entries) = std::fs::read_dir(&folder) else { continue };
            let mut entries: Vec<_> = entries.flatten().collect();
            entries.sort_by_key(std::fs::DirEntry::file_name);
            for entry in entries {
                let name = entry.file_name();
                let Ok(kind) = entry.file_type() else { continue };
                let skipped = ["node_modules", "target", "__pycache__"].iter().any(|skip| name == *skip);
                if kind.is_dir() && !skipped && !name.to_string_lossy().starts_with('.') {
                    pending.push_back(entry.path());
                } else if kind.is_file() {
                    files.push(entry.path());
                    if files.len() >= most {
                        return files;
                    }
                }
            }
        }
        files
    }

    /// Lets a path pass if, links followed, it is a regular file below a root.
    pub fn admit(&self, path: &Path) -> Result<Found, Missing> {
        let Ok(real) = path.canonicalize() else { return Err(Missing::NotFound) };
        let Some(folder) = self.folders.iter().find(|folder| real.starts_with(folder)) else {
            return Err(Missing::Outside);
        };
        if !real.is_file() {
            return Err(Missing::NotFound);
        }
        let name = real.strip_prefix(folder).unwrap_or(&real).to_string_lossy().replace('\\', "/");
        Ok(Found { path: real, name })
    }

    /// The text of an admitted file.
    pub fn read(&self, found: &Found) -> Result<String, Missing> {
        let unreadable = |error: std::io::Error| Missing::Unreadable(error.kind().to_string());
        let file = File::open(&found.path).map_err(unreadable)?;
        // The file may have been swapped since it was admitted.
        self.admit(&found.path)?;
        let mut bytes = Vec::new();
        file.take(LARGEST_FILE + 1).read_to_end(&mut bytes).map_err(unreadable)?;
        if bytes.len() as u64 > LARGEST_FILE {
            return Err(Missing::TooLarge);
        }
        decode(&bytes).ok_or(Missing::Binary)
    }
}

/// The folders and file of a reported name, without drive, host, `.`; what stands before a `..` is dropped with it.
fn parts(reported: &str) -> Vec<String> {
    let plain = reported.strip_prefix("file://").unwrap_or(reported).replace('\\', "/");
    let mut parts: Vec<String> = Vec::new();
    for part in plain.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part if part.contains('\0') => return Vec::new(),
            part if part.len() == 2 && part.ends_with(':') => {}
            part => parts.push(part.to_owned()),
        }
    }
    parts
}

/// Text of any encoding we can tell, with `\n` line ends and nothing invisible that reorders what is seen.
pub fn decode(bytes: &[u8]) -> Option<String> {
    let text = match encoding_rs::Encoding::for_bom(bytes) {
        Some((encoding, length)) => encoding.decode_without_bom_handling(&bytes[length..]).0,
        None if bytes.contains(&0) => return None,
        None => match std::str::from_utf8(bytes) {
            Ok(text) => text.into(),
            // Not UTF-8: the superset of Latin-1 that browsers assume, in which every byte is a character.
            Err(_) => encoding_rs::WINDOWS_1252.decode_without_bom_handling(bytes).0,
        },
    };
    let unix = text.replace("\r\n", "\n").replace('\r', "\n");
    Some(visible(&unix).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn tree() -> (tempfile::TempDir, Roots) {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("project/src/deep")).unwrap();
        fs::create_dir_all(folder.path().join("project/other")).unwrap();
        fs::write(folder.path().join("secret.c"), "secret").unwrap();
        fs::write(folder.path().join("project/src/a.c"), "a").unwrap();
        fs::write(folder.path().join("project/src/deep/b.c"), "b").unwrap();
        fs::write(folder.path().join("project/other/same.c"), "1").unwrap();
        fs::write(folder.path().join("project/src/same.c"), "2").unwrap();
        let roots = Roots::new(&[folder.path().join("project")]).unwrap();
        (folder, roots)
    }

    #[test]
    fn names_from_other_machines_are_found_by_their_ending() {
        let (_keep, mut roots) = tree();
        for reported in [
            "src/a.c",
            "./src/a.c",
            "/home/build/project/src/a.c",
            "C:\\build\\src\\a.c",
            "file:///x/src/a.c",
            "a.c",
            "x/../src/a.c",
        ] {
            assert_eq!(roots.find(reported).unwrap().name, "src/a.c", "{reported}");
        }
        assert_eq!(roots.find("b.c").unwrap().name, "src/deep/b.c");
        assert_eq!(roots.find("same.c"), Err(Missing::Ambiguous));
        assert_eq!(roots.find("/y/other/same.c").unwrap().name, "other/same.c");
        assert_eq!(roots.find("none.c"), Err(Missing::NotFound));
    }

    #[test]
    fn nothing_outside_the_roots_is_read() {
        let (keep, mut roots) = tree();
        let secret = keep.path().join("secret.c");
        for reported in
            ["../secret.c", "src/../../secret.c", secret.to_str().unwrap(), "/etc/passwd", "..", "/", ""]
        {
            assert!(roots.find(reported).is_err(), "{reported}");
        }
        assert_eq!(roots.admit(&secret), Err(Missing::Outside));
        assert_eq!(Roots::default().find("src/a.c"), Err(Missing::NoRoots));
    }

    #[cfg(unix)]
    #[test]
    fn links_out_and_things_that_are_no_files_are_refused() {
        let (keep, mut roots) = tree();
        let project = keep.path().join("project");
        std::os::unix::fs::symlink(keep.path().join("secret.c"), project.join("link.c")).unwrap();
        std::os::unix::fs::symlink(keep.path(), project.join("up")).unwrap();
        std::os::unix::fs::symlink(project.join("src/a.c"), project.join("inner.c")).unwrap();
        assert_eq!(roots.find("link.c"), Err(Missing::Outside));
        assert_eq!(roots.find("up/secret.c"), Err(Missing::Outside));
        assert_eq!(roots.find("inner.c").unwrap().name, "src/a.c");
        assert_eq!(roots.find("src"), Err(Missing::NotFound));
    }

    #[test]
    fn encodings_and_line_ends() {
        assert_eq!(decode(b"a\r\nb\rc").unwrap(), "a\nb\nc");
        assert_eq!(decode(b"\xef\xbb\xbfx").unwrap(), "x");
        assert_eq!(decode(b"\xff\xfea\0b\0").unwrap(), "ab");
        assert_eq!(decode(b"caf\xe9 \x93q\x94").unwrap(), "café “q”");
        assert_eq!(decode(b"\x7fELF\0\0"), None);
        assert_eq!(decode("a\u{202e}b\u{1b}".as_bytes()).unwrap(), "a⟪U+202E⟫b␛");
    }

    #[test]
    fn large_and_binary_files_say_why() {
        let (keep, roots) = tree();
        let path = keep.path().join("project/big.c");
        fs::write(&path, vec![b'x'; LARGEST_FILE as usize + 1]).unwrap();
        assert_eq!(roots.read(&roots.admit(&path).unwrap()), Err(Missing::TooLarge));
        fs::write(&path, b"a\0b").unwrap();
        assert_eq!(roots.read(&roots.admit(&path).unwrap()), Err(Missing::Binary));
    }
}
