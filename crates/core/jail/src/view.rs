//! The file system as a run in name spaces sees it: the real one, copy-on-write.
//!
//! The kernel does not put an overlay over a folder with other mounts below it, for it would show what they hide. So such
//! folders (`/` is one) are made anew, with an overlay for each folder in them that has no mounts below. `/proc`, `/sys`
//! and `/dev` are not files: the first two are read-only, and the devices are those that hold nothing.

use crate::landlock::SYSTEM;
use crate::start::SHARED_MEMORY;
use crate::{Jail, Readable};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// A step of making the view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// An empty folder.
    Folder(PathBuf),
    /// A symbolic link to the second.
    Link(PathBuf, PathBuf),
    /// The real folder, copy-on-write.
    Overlay(PathBuf),
    /// The real file, read-only.
    File(PathBuf),
    /// A real folder, to be changed for good, seen at the place of the second.
    Writable(PathBuf, PathBuf),
}

impl Step {
    /// Where it shows something.
    pub fn path(&self) -> &Path {
        match self {
            Step::Folder(path)
            | Step::Link(path, _)
            | Step::Overlay(path)
            | Step::File(path)
            | Step::Writable(_, path) => path,
        }
    }

    /// Whether it shows a folder copy-on-write.
    pub fn is_overlay(&self) -> bool {
        matches!(self, Step::Overlay(_))
    }
}

/// Places that are made in a way of their own.
const SPECIAL: [&str; 3] = ["/proc", "/sys", "/dev"];

/// File systems of which an overlay would start a helper, or that take long to answer.
const LEFT_OUT: [&str; 2] = ["autofs", "fuse.portal"];

/// The steps, parents first.
pub fn plan(jail: &Jail) -> io::Result<Vec<Step>> {
    let table = std::fs::read("/proc/self/mountinfo")?;
    let mut plan = Plan { mounts: mounts(&table), made: BTreeSet::new(), steps: Vec::new() };
    match &jail.readable {
        Readable::Everything => plan.show(Path::new("/")),
        Readable::Only(paths) => {
            let system = SYSTEM.iter().map(PathBuf::from);
            let given = paths.iter().filter_map(|path| path.canonicalize().ok());
            let mut all: Vec<PathBuf> = system.chain(given).collect();
            all.sort();
            all.dedup();
            // What lies in a folder that is shown comes with it.
            let alone = all
                .iter()
                .filter(|path| !path.ancestors().skip(1).any(|above| all.iter().any(|other| other == above)));
            for path in alone {
                plan.parents(path);
                plan.show(path);
            }
        }
    }
    let in_place = jail.in_place.iter().map(|(folder, place)| (folder, place));
    for (folder, place) in jail.writable.iter().map(|folder| (folder, folder)).chain(in_place) {
        let (folder, place) = (folder.canonicalize()?, place.canonicalize()?);
        if matches!(jail.readable, Readable::Only(_)) {
            plan.parents(&place);
            plan.folder(&place);
        }
        plan.steps.push(Step::Writable(folder, place));
    }
    Ok(plan.steps)
}

/// The folders that are empty in a view, in the order of the steps, and that of shared memory.
pub fn empty_folders(steps: &[Step]) -> impl Iterator<Item = &Path> {
    let is_empty =
        |path: &Path| !steps.iter().any(|step| step.path() != path && step.path().starts_with(path));
    let folders = steps.iter().filter(|step| matches!(step, Step::Folder(_))).map(Step::path);
    // Others are made anew when the view is: something is mounted on them.
    let special = |path: &Path| SPECIAL.iter().any(|special| Path::new(special).starts_with(path));
    folders.filter(move |path| is_empty(path) && !special(path)).chain([Path::new(SHARED_MEMORY)])
}

struct Plan {
    /// Where something is mounted, and what kind of file system.
    mounts: Vec<(PathBuf, String)>,
    made: BTreeSet<PathBuf>,
    steps: Vec<Step>,
}

impl Plan {
    fn folder(&mut self, path: &Path) {
        if path != Path::new("/") && self.made.insert(path.to_path_buf()) {
            self.steps.push(Step::Folder(path.to_path_buf()));
        }
    }

    fn parents(&mut self, path: &Path) {
        let mut above: Vec<&Path> = path.ancestors().skip(1).collect();
        above.reverse();
        for folder in above {
            self.folder(folder);
        }
    }

    /// Shows what is at a path. Mounts nest no deeper than the kernel's longest path.
    fn show(&mut self, path: &Path) {
        if SPECIAL.iter().any(|special| path == Path::new(special)) {
            return;
        }
        let Ok(kind) = std::fs::symlink_metadata(path) else { return };
        if kind.is_symlink() {
            if let Ok(target) = std::fs::read_link(path) {
                self.steps.push(Step::Link(path.to_path_buf(), target));
            }
            return;
        }
        if !kind.is_dir() {
            // Sockets and pipes have someone at their other end.
            if kind.is_file() {
                self.steps.push(Step::File(path.to_path_buf()));
            }
            return;
        }
        let here = self.mounts.iter().rev().find(|(at, _)| at == path);
        if here.is_some_and(|(_, system)| LEFT_OUT.contains(&system.as_str())) {
            return;
        }
        if !self.mounts.iter().any(|(at, _)| at != path && at.starts_with(path)) {
            // An overlay costs more than a folder, and there is nothing to copy from an empty one.
            match std::fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none()) {
                true => self.folder(path),
                false => self.steps.push(Step::Overlay(path.to_path_buf())),
            }
            return;
        }
        self.folder(path);
        let Ok(entries) = std::fs::read_dir(path) else { return };
        let mut entries: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        entries.sort();
        for entry in entries {
            self.show(&entry);
        }
    }
}

/// The places of a table of mounts, with the kinds of their file systems.
fn mounts(table: &[u8]) -> Vec<(PathBuf, String)> {
    let lines = table.split(|byte| *byte == b'\n');
    lines
        .filter_map(|line| {
            let mut words = line.split(|byte| *byte == b' ');
            let place = unescaped(words.nth(4)?);
            let system = words.skip_while(|word| *word != b"-").nth(1)?;
            Some((PathBuf::from(OsString::from_vec(place)), String::from_utf8_lossy(system).into_owned()))
        })
        .collect()
}

/// Blanks and their like are written as three octal digits.
fn unescaped(word: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = word;
    while let Some((&first, tail)) = rest.split_first() {
        let code = (first == b'\\').then(|| tail.get(..3)).flatten();
        let value = code.and_then(|code| u8::from_str_radix(std::str::from_utf8(code).ok()?, 8).ok());
        bytes.push(value.unwrap_or(first));
        rest = if value.is_some() { &tail[3..] } else { tail };
    }
    bytes
}

/// A path in the options of an overlay.
pub fn escaped(path: &Path) -> Vec<u8> {
    let special = |byte: &u8| matches!(byte, b':' | b',' | b'\\');
    let bytes = path.as_os_str().as_bytes().iter();
    bytes.flat_map(|byte| special(byte).then_some(b'\\').into_iter().chain([*byte])).collect()
}

/// The mode of a folder.
pub fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).map_or(0o755, |known| known.permissions().mode() & 0o7777)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_of_mounts_are_read() {
        let table = b"22 27 0:21 / /proc rw,relatime - proc proc rw\n27 1 254:0 / /a\\040b\\134 rw shared:1 master:2 - ext4 /dev/x rw\n";
        let expected =
            [(PathBuf::from("/proc"), "proc".to_owned()), (PathBuf::from("/a b\\"), "ext4".to_owned())];
        assert_eq!(mounts(table), expected);
        assert_eq!(mounts(b"\n1 2\n"), []);
        assert_eq!(unescaped(b"a\\9\\04"), b"a\\9\\04");
    }

    #[test]
    fn folders_with_mounts_below_are_made_anew() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().canonicalize().expect("it is there");
        for name in ["with/mount/x", "with/beside/y", "without/z", "empty"] {
            std::fs::create_dir_all(root.join(name)).expect("a folder");
        }
        std::fs::write(root.join("with/file"), "").expect("a file");
        std::os::unix::fs::symlink("file", root.join("with/link")).expect("a link");
        let mounts = vec![(root.join("with/mount"), "ext4".to_owned())];
        let mut plan = Plan { mounts, made: BTreeSet::new(), steps: Vec::new() };
        plan.show(&root);
        let at = |name: &str| root.join(name);
        let expected = [
            Step::Folder(root.clone()),
            Step::Folder(at("empty")),
            Step::Folder(at("with")),
            Step::Overlay(at("with/beside")),
            Step::File(at("with/file")),
            Step::Link(at("with/link"), "file".into()),
            Step::Overlay(at("with/mount")),
            Step::Overlay(at("without")),
        ];
        assert_eq!(plan.steps, expected);
    }
}
