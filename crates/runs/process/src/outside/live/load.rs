//! Opening a program: its file, or the interpreter that a script names in its first line, and its dynamic linker.

use super::kernel;
use super::map::HostMap;
use crate::elf::{Image, LoadError};
use crate::outside::{Exec, Opened, Wanted};
use crate::system::Errno;
use std::ffi::OsStr;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Larger files are not read: nothing that large is a program someone runs.
const LARGEST_FILE: u64 = 1 << 31;

/// Opens what it takes to run a program.
pub fn load(path: PathBuf, mut list: Vec<Vec<u8>>) -> Result<Exec, LoadError> {
    const DEEPEST: usize = 5;
    let mut path = path;
    for _ in 0..DEEPEST {
        may_run(&path)?;
        let Some((interpreter, argument)) = script(&path) else { break };
        let mut longer = vec![interpreter.clone()];
        longer.extend(argument);
        longer.push(path.as_os_str().as_bytes().to_vec());
        longer.extend(list.into_iter().skip(1));
        list = longer;
        path = PathBuf::from(OsStr::from_bytes(&interpreter));
    }
    if script(&path).is_some() {
        // What Linux says of scripts whose interpreters are scripts without end.
        return Err(LoadError::Unreadable { path, error: io::Error::from_raw_os_error(libc::ELOOP) });
    }
    may_run(&path)?;
    let program = open(&path)?;
    let image =
        Image::parse(&program.bytes).map_err(|error| LoadError::Image { path: path.clone(), error })?;
    let interpreter = match &image.interpreter {
        Some(name) => Some(open(Path::new(OsStr::from_bytes(name)))?),
        None => None,
    };
    let mut random = [0u8; 16];
    let _ = kernel(libc::SYS_getrandom, [random.as_mut_ptr() as usize, 16, 0, 0, 0, 0]);
    let identity = [libc::SYS_getuid, libc::SYS_geteuid, libc::SYS_getgid, libc::SYS_getegid]
        .map(|call| kernel(call, [0; 6]).unwrap_or(0));
    let canonical = std::fs::canonicalize(&path).unwrap_or(path);
    Ok(Exec { program, interpreter, canonical, arguments: list, random, identity })
}

/// Whether the user may run a file: a program, a script, or the interpreter of one.
fn may_run(path: &Path) -> Result<(), LoadError> {
    let terminated = [path.as_os_str().as_bytes(), &[0]].concat();
    let asked = [terminated.as_ptr() as usize, libc::X_OK as usize, 0, 0, 0, 0];
    let refused = |Errno(number)| LoadError::Unreadable {
        path: path.to_owned(),
        error: io::Error::from_raw_os_error(number),
    };
    kernel(libc::SYS_access, asked).map(drop).map_err(refused)
}

fn open(path: &Path) -> Result<Opened, LoadError> {
    let unreadable = |error| LoadError::Unreadable { path: path.to_owned(), error };
    // A pipe without a writer must not keep us waiting.
    let file = std::fs::OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_NONBLOCK)
        .open(path)
        .map_err(unreadable)?;
    let status = file.metadata().map_err(unreadable)?;
    if !status.is_file() {
        return Err(unreadable(io::Error::from_raw_os_error(libc::EACCES)));
    }
    if status.len() > LARGEST_FILE {
        return Err(unreadable(io::Error::from_raw_os_error(libc::EFBIG)));
    }
    let mut bytes = Vec::new();
    io::Read::read_to_end(&mut io::Read::take(&file, LARGEST_FILE), &mut bytes).map_err(unreadable)?;
    let name = path.display().to_string();
    let wanted = Wanted { offset: 0, length: 0, shared: false, write: false, execute: false };
    let map = HostMap::file(file.as_raw_fd(), &wanted, name).map_err(unreadable)?;
    Ok(Opened { path: path.to_owned(), bytes: bytes.into(), map: Arc::new(map) })
}

/// The interpreter and its argument, from a first line `#! interpreter [argument]`.
fn script(path: &Path) -> Option<(Vec<u8>, Option<Vec<u8>>)> {
    let options = std::fs::OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).clone();
    let file = options.open(path).ok().filter(|file| file.metadata().is_ok_and(|status| status.is_file()))?;
    let mut head = Vec::new();
    io::Read::read_to_end(&mut io::Read::take(file, 256), &mut head).ok()?;
    let line = head.strip_prefix(b"#!")?;
    // The kernel knows two kinds of space; a carriage return is part of a name.
    let is_space = |byte: &u8| matches!(byte, b' ' | b'\t');
    let end = line.iter().position(|byte| matches!(byte, b'\n' | 0)).unwrap_or(line.len());
    let start = line[..end].iter().position(|byte| !is_space(byte)).unwrap_or(end);
    let stop = line[..end].iter().rposition(|byte| !is_space(byte)).map_or(start, |last| last + 1);
    let line = &line[start..stop];
    let split = line.iter().position(is_space).unwrap_or(line.len());
    let rest = &line[split..];
    let argument = &rest[rest.iter().position(|byte| !is_space(byte)).unwrap_or(rest.len())..];
    if split == 0 {
        return None;
    }
    Some((line[..split].to_vec(), (!argument.is_empty()).then(|| argument.to_vec())))
}

/// Closes the descriptors that are not to outlive the program that opened them.
pub fn close_on_exec() {
    let listed = std::fs::read_dir("/proc/self/fd").map(|entries| {
        let names = entries.flatten().map(|entry| entry.file_name());
        names.filter_map(|name| name.to_str()?.parse().ok()).collect::<Vec<i32>>()
    });
    // Without /proc, try the ones that a program is likely to have.
    let descriptors = listed.unwrap_or_else(|_| (0..4096).collect());
    for descriptor in descriptors {
        let flags = kernel(libc::SYS_fcntl, [descriptor as usize, libc::F_GETFD as usize, 0, 0, 0, 0]);
        if flags.is_ok_and(|flags| flags & libc::FD_CLOEXEC as u64 != 0) {
            let _ = kernel(libc::SYS_close, [descriptor as usize, 0, 0, 0, 0, 0]);
        }
    }
}
