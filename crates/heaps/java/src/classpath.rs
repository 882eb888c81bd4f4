//! Where class files come from: folders, jars, single files, and the JDK's own.

use crate::image::Image;
use crate::jar::Jar;
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// A class file larger than this is not read.
const MOST: u64 = 1 << 24;

/// One entry of a class path.
enum Entry {
    Folder(PathBuf),
    Jar(Jar),
    /// A single file, whose class is found under whatever name it has.
    File(Box<str>, Vec<u8>),
}

/// A class path, and the library behind it.
pub struct ClassPath {
    entries: Vec<Entry>,
    library: Library,
}

/// Where the classes of `java.lang` and its kin come from.
enum Library {
    /// The image of a JDK.
    Jdk(Image),
    /// The models of what data structures use, which come along.
    Models(Jar),
}

/// Compiled from `library/` by `scripts/java-library`.
const MODELS: &[u8] = include_bytes!("../library/library.jar");

/// Why an entry of a class path cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{}: {why}", path.display())]
pub struct PathError {
    /// The entry.
    pub path: PathBuf,
    /// What is wrong with it.
    pub why: io::Error,
}

impl ClassPath {
    /// The class path of these entries, with the classes of `jdk` (a JDK's home) behind them; without one, models of the
    /// part of `java.lang` and `java.util` that data structures use.
    pub fn open(entries: &[PathBuf], jdk: Option<&Path>) -> Result<ClassPath, PathError> {
        let mut opened = Vec::new();
        for path in entries {
            let fail = |why| PathError { path: path.clone(), why };
            let entry = if path.is_dir() {
                Entry::Folder(path.clone())
            } else if path.extension().is_some_and(|ending| ending == "class") {
                let bytes = limited(File::open(path).map_err(fail)?).map_err(fail)?;
                let class = crate::read::read(&bytes)
                    .map_err(|error| fail(io::Error::new(io::ErrorKind::InvalidData, error)))?;
                Entry::File((*class.name).into(), bytes)
            } else {
                Entry::Jar(Jar::open(path).map_err(fail)?)
            };
            opened.push(entry);
        }
        let library = match jdk {
            None => {
                let broken = |why| PathError { path: "library.jar".into(), why };
                Library::Models(Jar::within(MODELS).map_err(broken)?)
            }
            Some(home) => {
                let path = home.join("lib/modules");
                Library::Jdk(Image::open(&path).map_err(|why| PathError { path, why })?)
            }
        };
        Ok(ClassPath { entries: opened, library })
    }

    /// Whether there is a JDK behind the class path.
    pub fn has_jdk(&self) -> bool {
        matches!(self.library, Library::Jdk(_))
    }

    /// The bytes of a class of the user's; the JDK is not looked at.
    pub fn own(&self, name: &str) -> io::Result<Option<Vec<u8>>> {
        let plain = !name.split('/').any(|part| part.is_empty() || part == "." || part == "..");
        for entry in &self.entries {
            match entry {
                Entry::Folder(folder) if plain => match File::open(folder.join(format!("{name}.class"))) {
                    Ok(file) => return limited(file).map(Some),
                    Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                    Err(error) => return Err(error),
                },
                Entry::Jar(jar) => {
                    if let Some(bytes) = jar.read(&format!("{name}.class"), MOST)? {
                        return Ok(Some(bytes));
                    }
                }
                Entry::File(known, bytes) if **known == *name => return Ok(Some(bytes.clone())),
                _ => {}
            }
        }
        Ok(None)
    }

    /// The bytes of a class of the library.
    pub fn library(&self, name: &str) -> io::Result<Option<Vec<u8>>> {
        match &self.library {
            Library::Jdk(image) => image.class(name),
            Library::Models(jar) => jar.read(&format!("{name}.class"), MOST),
        }
    }

    /// The internal name of every class of the user's, sorted.
    pub fn names(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in &self.entries {
            match entry {
                Entry::File(name, _) => names.push(name.to_string()),
                Entry::Jar(jar) => {
                    let classes = jar.names().filter_map(|name| name.strip_suffix(".class"));
                    names.extend(classes.filter(|name| !name.starts_with("META-INF/")).map(str::to_owned));
                }
                Entry::Folder(root) => {
                    let mut folders = vec![(root.clone(), String::new(), 0)];
                    while let Some((folder, prefix, depth)) = folders.pop() {
                        for found in std::fs::read_dir(&folder)? {
                            let found = found?;
                            let Ok(name) = found.file_name().into_string() else { continue };
                            if found.file_type()?.is_dir() {
                                if depth < 32 {
                                    folders.push((found.path(), format!("{prefix}{name}/"), depth + 1));
                                }
                            } else if let Some(class) = name.strip_suffix(".class") {
                                names.push(format!("{prefix}{class}"));
                            }
                        }
                    }
                }
            }
        }
        names.retain(|name| !name.ends_with("module-info") && !name.ends_with("package-info"));
        names.sort();
        names.dedup();
        Ok(names)
    }
}

fn limited(file: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(MOST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MOST {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "too large for a class file"));
    }
    Ok(bytes)
}

/// The home of the JDK that `JAVA_HOME` names or whose `java` is on the search path.
pub fn installed() -> Option<PathBuf> {
    let usable = |home: &Path| home.join("lib/modules").is_file();
    let named = std::env::var_os("JAVA_HOME").map(PathBuf::from).filter(|home| usable(home));
    named.or_else(|| {
        let path = std::env::var_os("PATH")?;
        let found =
            std::env::split_paths(&path).map(|folder| folder.join("java")).find(|java| java.is_file())?;
        let home = found.canonicalize().ok()?.parent()?.parent()?.to_owned();
        Some(home).filter(|home| usable(home))
    })
}

/// Every name by what it ends in, for people who leave out the package.
pub fn by_simple_name(names: &[String]) -> HashMap<&str, Vec<&str>> {
    let mut short: HashMap<&str, Vec<&str>> = HashMap::new();
    for name in names {
        short.entry(name.rsplit('/').next().unwrap_or(name)).or_default().push(name);
    }
    short
}
