//! A project's folder, copied for its build.

use crate::Error;
use std::fs;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

/// Bounds of what is copied.
const MOST_FILES: usize = 200_000;
const MOST_BYTES: u64 = 8 << 30;

/// Copies a folder with modes and times, by which `make` goes. Pipes, sockets and devices are not copied.
pub fn tree(from: &Path, to: &Path) -> Result<(), Error> {
    let wrong = |path: &Path, error| Error::Io(path.display().to_string(), error);
    let (mut files, mut bytes) = (0, 0);
    let mut open = vec![PathBuf::new()];
    while let Some(below) = open.pop() {
        let (source, target) = (from.join(&below), to.join(&below));
        fs::DirBuilder::new().mode(0o700).create(&target).map_err(|error| wrong(&target, error))?;
        for entry in fs::read_dir(&source).map_err(|error| wrong(&source, error))? {
            let entry = entry.map_err(|error| wrong(&source, error))?;
            let (path, copy) = (entry.path(), target.join(entry.file_name()));
            let known = entry.metadata().map_err(|error| wrong(&path, error))?;
            files += 1;
            if known.is_dir() {
                open.push(below.join(entry.file_name()));
            } else if known.is_symlink() {
                link(from, &path, &copy).map_err(|error| wrong(&path, error))?;
            } else if known.is_file() {
                bytes += known.len();
                let copied = fs::copy(&path, &copy).and_then(|_| {
                    let changed = known.modified()?;
                    fs::File::open(&copy)?.set_modified(changed)
                });
                copied.map_err(|error| wrong(&path, error))?;
            }
            if files > MOST_FILES || bytes > MOST_BYTES {
                return Err(Error::Usage(format!(
                    "{}: too large to be copied for a build (more than {MOST_FILES} files, or {} gigabytes)",
                    from.display(),
                    MOST_BYTES >> 30
                )));
            }
        }
    }
    Ok(())
}

/// A link that leads out of the folder by a relative path leads to the same place from the copy.
fn link(from: &Path, path: &Path, copy: &Path) -> std::io::Result<()> {
    let target = fs::read_link(path)?;
    let leads_to = path.parent().unwrap_or(from).join(&target).canonicalize();
    match leads_to {
        Ok(outside) if target.is_relative() && !outside.starts_with(from) => symlink(outside, copy),
        _ => symlink(target, copy),
    }
}

/// Leaves files, folders and links alone, and removes what would keep a reader waiting. All folders can be read and removed then.
pub fn keep_files(folder: &Path) {
    let mut open = vec![folder.to_path_buf()];
    while let Some(folder) = open.pop() {
        // What this process may not change stays as it is: the readers say so.
        let _ = fs::set_permissions(&folder, fs::Permissions::from_mode(0o700));
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let Ok(kind) = entry.file_type() else { continue };
            if kind.is_dir() {
                open.push(entry.path());
            } else if !kind.is_file() && !kind.is_symlink() {
                let _ = fs::remove_file(entry.path());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_has_what_the_folder_has() {
        let folder = tempfile::tempdir().expect("a folder");
        let top = folder.path().canonicalize().expect("it is there");
        let (from, to) = (top.join("from"), top.join("to"));
        fs::create_dir_all(from.join("a/b")).expect("a folder");
        fs::write(top.join("beside"), "beside").expect("a file");
        fs::write(from.join("a/b/script"), "#!/bin/sh\n").expect("a file");
        fs::set_permissions(from.join("a/b/script"), fs::Permissions::from_mode(0o755)).expect("a mode");
        let old = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000);
        fs::File::open(from.join("a/b/script")).and_then(|file| file.set_modified(old)).expect("a time");
        for (name, target) in [("in", "a/b/script"), ("out", "../beside"), ("nowhere", "x"), ("round", "a")] {
            symlink(target, from.join(name)).expect("a link");
        }
        let _socket = std::os::unix::net::UnixListener::bind(from.join("socket")).expect("a socket");
        tree(&from, &to).expect("it is copied");
        let known = fs::metadata(to.join("a/b/script")).expect("a file");
        assert_eq!(known.permissions().mode() & 0o777, 0o755);
        assert_eq!(known.modified().expect("a time"), old);
        assert_eq!(fs::read_to_string(to.join("in")).expect("a file"), "#!/bin/sh\n");
        assert_eq!(fs::read_link(to.join("in")).expect("a link"), Path::new("a/b/script"));
        assert_eq!(fs::read_link(to.join("out")).expect("a link"), top.join("beside"));
        assert_eq!(fs::read_link(to.join("nowhere")).expect("a link"), Path::new("x"));
        assert!(!to.join("socket").exists());
        // What a build may leave behind.
        let _socket = std::os::unix::net::UnixListener::bind(to.join("a/socket")).expect("a socket");
        fs::set_permissions(to.join("a/b"), fs::Permissions::from_mode(0o000)).expect("a mode");
        keep_files(&to);
        assert!(!to.join("a/socket").exists() && to.join("a/b/script").exists() && to.join("in").exists());
    }
}
