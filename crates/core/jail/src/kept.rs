//! What was changed in a view, written to a folder outside.
//!
//! The layers of a view lie in memory, and programs that nobody trusts wrote them. So nothing of them is followed: links are
//! made again as links, devices, pipes and sockets are named and left out, and set-user-ID bits are dropped. Layers are read when the
//! processes that wrote them have ended: nothing changes below the reader.

use crate::SharedView;
use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// What was changed in a view.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kept {
    /// Files, links and folders that were written, by their absolute paths.
    pub written: Vec<PathBuf>,
    /// What was removed. A path that was written as well was replaced.
    pub removed: Vec<PathBuf>,
    /// What was written and is not in the folder, with the reason.
    pub left_out: BTreeMap<PathBuf, String>,
    /// Bytes of the files.
    pub bytes: u64,
}

/// A part of the view whose changes lie in one folder in memory.
struct Layer<'v> {
    /// The folder.
    folder: &'v OwnedFd,
    /// Where the view shows it.
    at: PathBuf,
    /// Whether it holds changes alone; else it holds copies of what is outside as well.
    changes_alone: bool,
}

impl SharedView {
    /// Writes what was changed below `to`, a folder that is made, each file at its absolute path there. Files that go beyond `most`
    /// bytes in all are left out.
    pub fn keep(&self, to: &Path, most: u64) -> io::Result<Kept> {
        if self.seen.is_empty() {
            return Err(io::Error::other("the view has more parts than can be looked at"));
        }
        fs::create_dir_all(to)?;
        let mut kept = Kept::default();
        for layer in self.layers() {
            kept.layer(&layer, to, most)?;
        }
        for path in &self.shown {
            let is_there = self.seen.get(1).is_some_and(|root| {
                fs::symlink_metadata(below(root, path.strip_prefix("/").unwrap_or(path))).is_ok()
            });
            if !is_there {
                kept.removed.push(path.clone());
            }
        }
        Ok(kept)
    }

    /// The descriptors that tell whether the view is fresh, and what they show: the root, devices, then overlays.
    fn layers(&self) -> impl Iterator<Item = Layer<'_>> {
        let places = [Some((PathBuf::from("/"), false)), None].into_iter();
        let overlays = self.overlays.iter().map(|path| Some((path.clone(), true)));
        let seen = self.seen.get(1..).unwrap_or_default();
        let layers = seen.iter().zip(places.chain(overlays)).filter_map(|(folder, place)| {
            let (at, changes_alone) = place?;
            Some(Layer { folder, at, changes_alone })
        });
        // Of the devices only shared memory can be written.
        let shm =
            self.seen.get(2).map(|folder| Layer { folder, at: PathBuf::from("/dev"), changes_alone: true });
        layers.chain(shm)
    }
}

/// A path in a folder that is open.
fn below(folder: &OwnedFd, path: &Path) -> PathBuf {
    let folder = PathBuf::from(format!("/proc/self/fd/{}", folder.as_raw_fd()));
    folder.join(path)
}

impl Kept {
    fn layer(&mut self, layer: &Layer<'_>, to: &Path, most: u64) -> io::Result<()> {
        let is_devices = layer.at == Path::new("/dev");
        let device = fs::metadata(below(layer.folder, Path::new("")))?.dev();
        let mut waiting = vec![if is_devices { PathBuf::from("shm") } else { PathBuf::new() }];
        while let Some(folder) = waiting.pop() {
            let entries = match fs::read_dir(below(layer.folder, &folder)) {
                Ok(entries) => entries,
                Err(error) => {
                    self.left_out.insert(layer.at.join(&folder), error.to_string());
                    continue;
                }
            };
            for entry in entries {
                let path = folder.join(entry?.file_name());
                let (from, outside) = (below(layer.folder, &path), layer.at.join(&path));
                let known = match fs::symlink_metadata(&from) {
                    Ok(known) => known,
                    Err(error) => {
                        self.left_out.insert(outside, error.to_string());
                        continue;
                    }
                };
                // Something else is shown there.
                if known.dev() != device {
                    continue;
                }
                if known.is_dir() {
                    waiting.push(path);
                }
                if !layer.changes_alone && is_as_outside(&from, &known, &outside) {
                    continue;
                }
                if let Err(error) = self.entry(&from, &known, &outside, to, most) {
                    self.left_out.insert(outside, error.to_string());
                }
            }
        }
        Ok(())
    }

    fn entry(
        &mut self,
        from: &Path,
        known: &fs::Metadata,
        outside: &Path,
        to: &Path,
        most: u64,
    ) -> io::Result<()> {
        let kind = known.file_type();
        // The overlay's mark of what is gone.
        if kind.is_char_device() && known.rdev() == 0 {
            self.removed.push(outside.to_path_buf());
            return Ok(());
        }
        let target = to.join(outside.strip_prefix("/").unwrap_or(outside));
        if kind.is_dir() {
            if replaces(from) {
                self.removed.push(outside.to_path_buf());
            }
            // What is in it decides whether it is told: folders above what was written are in the layer too.
            if !outside.is_dir() || replaces(from) {
                make_folders(to, outside)?;
                self.written.push(outside.to_path_buf());
            }
            return Ok(());
        }
        make_folders(to, outside.parent().unwrap_or(outside))?;
        if kind.is_symlink() {
            std::os::unix::fs::symlink(fs::read_link(from)?, &target)?;
        } else if kind.is_file() {
            if known.len() > most.saturating_sub(self.bytes) {
                let why = format!("{} bytes, with others more than {most} in all", known.len());
                self.left_out.insert(outside.to_path_buf(), why);
                return Ok(());
            }
            let mut source =
                OpenOptions::new().read(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK).open(from)?;
            let mut file = OpenOptions::new()
                .write(true)
                .create_new(true)
                .custom_flags(libc::O_NOFOLLOW)
                .open(&target)?;
            self.bytes += io::copy(&mut Read::by_ref(&mut source).take(known.len()), &mut file)?;
            file.set_permissions(fs::Permissions::from_mode(known.mode() & 0o777))?;
            file.set_modified(known.modified()?)?;
        } else {
            self.left_out.insert(outside.to_path_buf(), String::from("a device, pipe or socket"));
            return Ok(());
        }
        self.written.push(outside.to_path_buf());
        Ok(())
    }
}

/// Makes a folder below `to`, and those above it. A program can rename folders and put links in their places, so a link that was
/// kept is never gone through.
fn make_folders(to: &Path, outside: &Path) -> io::Result<()> {
    let mut path = to.to_path_buf();
    for part in outside.strip_prefix("/").unwrap_or(outside) {
        path.push(part);
        match fs::create_dir(&path) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
        if !fs::symlink_metadata(&path)?.is_dir() {
            return Err(io::Error::other(format!("{} is no folder", path.display())));
        }
    }
    Ok(())
}

/// Whether an entry of a folder that was made anew is the copy that it was at first.
fn is_as_outside(from: &Path, known: &fs::Metadata, outside: &Path) -> bool {
    let Ok(real) = fs::symlink_metadata(outside) else { return false };
    if known.is_dir() || real.is_dir() {
        return known.is_dir() && real.is_dir();
    }
    if known.is_symlink() || real.is_symlink() {
        return fs::read_link(from).is_ok_and(|target| fs::read_link(outside).is_ok_and(|now| now == target));
    }
    let bytes = |path: &Path| -> io::Result<Vec<u8>> {
        let mut all = Vec::new();
        File::open(path)?.take(known.len()).read_to_end(&mut all)?;
        Ok(all)
    };
    real.is_file()
        && known.is_file()
        && real.len() == known.len()
        && real.mode() & 0o777 == known.mode() & 0o777
        && bytes(from).is_ok_and(|now| bytes(outside).is_ok_and(|before| now == before))
}

/// Whether a folder of an overlay hides what was there before it.
fn replaces(folder: &Path) -> bool {
    let Ok(path) = crate::sys::c_path(folder) else { return false };
    [c"user.overlay.opaque", c"trusted.overlay.opaque"].into_iter().any(|name| {
        let mut value = [0u8; 1];
        // SAFETY: both names end with a NUL, and there is room for the length that is named.
        let length =
            unsafe { libc::lgetxattr(path.as_ptr(), name.as_ptr(), value.as_mut_ptr().cast(), value.len()) };
        length == 1 && value == *b"y"
    })
}
