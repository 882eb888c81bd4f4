//! Files of a closed world: what they hold, which folders there are, and which are open where.
//!
//! The same for bytes and for terms, so that a program under exploration and its replay see one file system. States
//! share contents until one of them writes. Names are paths without `.` and `..`; those that do not start with a slash
//! are in the folder that the program starts in. Whoever runs the program may do everything: permissions are
//! remembered, not enforced.

use std::sync::Arc;

/// Error numbers of Linux that file systems answer with.
pub mod error_number {
    #![allow(missing_docs, reason = "their names in errno.h")]
    pub const ENOENT: i32 = 2;
    pub const EBADF: i32 = 9;
    pub const EBUSY: i32 = 16;
    pub const EEXIST: i32 = 17;
    pub const ENOTDIR: i32 = 20;
    pub const EISDIR: i32 = 21;
    pub const EINVAL: i32 = 22;
    pub const ESPIPE: i32 = 29;
    pub const ENOSYS: i32 = 38;
    pub const ENOTEMPTY: i32 = 39;
}
use error_number::*;

/// Flags of `open` on Linux.
pub mod open_flag {
    #![allow(missing_docs, reason = "their names in fcntl.h")]
    pub const ACCESS: i32 = 3;
    pub const WRITE_ONLY: i32 = 1;
    pub const CREATE: i32 = 0o100;
    pub const EXCLUSIVE: i32 = 0o200;
    pub const TRUNCATE: i32 = 0o1000;
    pub const APPEND: i32 = 0o2000;
    pub const DIRECTORY: i32 = 0o200_000;
}
use open_flag::*;

/// What a program asks the file system for, besides bytes.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs, reason = "fields carry the names of the system call's arguments")]
pub enum Request<'a> {
    /// A file number for a path, with the flags of `open`.
    Open { path: &'a [u8], flags: i32, mode: u32 },
    /// The end of a file number.
    Close { file: i32 },
    /// Another place in a file, from its start (0), from here (1) or from its end (2); the place from its start.
    Seek { file: i32, offset: i64, whence: i32 },
    /// The end of a name.
    Remove { path: &'a [u8] },
    /// A new folder.
    MakeFolder { path: &'a [u8], mode: u32 },
    /// The end of an empty folder.
    RemoveFolder { path: &'a [u8] },
    /// Another name.
    Rename { from: &'a [u8], to: &'a [u8] },
    /// The lowest free number that is at least so much, for what a number stands for.
    Duplicate { file: i32, least: i32 },
    /// A number for what another stands for.
    DuplicateTo { file: i32, to: i32 },
    /// The flags that a number was opened with.
    Flags { file: i32 },
    /// Another length.
    Truncate { file: i32, length: i64 },
    /// Other permissions.
    ChangeMode { path: &'a [u8], mode: u32 },
    /// Another time of the last change, in seconds since 1970.
    SetTime { path: &'a [u8], modified: i64 },
    /// The folder that names are looked up in.
    ChangeFolder { path: &'a [u8] },
    /// Which standard stream a number writes to: 1 or 2, or 0 for none.
    Stream { file: i32 },
}

/// A file by its name or its number.
#[derive(Clone, Copy, Debug)]
pub enum FileName<'a> {
    /// Its path.
    Path(&'a [u8]),
    /// Its number.
    Number(i32),
}

/// What kind of file it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// One with bytes.
    Regular,
    /// A folder.
    Folder,
    /// A pipe: what standard streams are here.
    Pipe,
    /// A device for characters, a terminal for one.
    Device,
}

/// What `stat` tells of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileStatus {
    /// What kind it is.
    pub kind: FileKind,
    /// Permissions: the low twelve bits of `st_mode`.
    pub mode: u32,
    /// Bytes.
    pub size: u64,
    /// The last change, in seconds since 1970.
    pub modified: i64,
    /// A number that only this file has.
    pub inode: u64,
    /// Whether it is a terminal.
    pub terminal: bool,
}

/// What became of bytes that were written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Destination {
    /// They are in a file.
    File,
    /// They go to this standard stream.
    Stream(i32),
    /// The number is not open for writing.
    Nowhere,
}

#[derive(Clone, Debug)]
enum Body<V> {
    Regular(Arc<Vec<V>>),
    Folder,
}

#[derive(Clone, Debug)]
struct Node<V> {
    /// Nothing once it is removed: who has it open goes on using it.
    name: Option<Arc<[u8]>>,
    body: Body<V>,
    mode: u32,
    modified: i64,
}

/// What a number stands for. Numbers that were duplicated share one of these, its position included.
#[derive(Clone, Copy, Debug)]
enum Opened {
    Node {
        node: usize,
        position: u64,
        flags: i32,
    },
    /// Standard input.
    Input,
    /// A standard stream to write to.
    Stream(i32),
}

/// Files of a closed world, the standard streams among them.
#[derive(Clone, Debug)]
pub struct Files<V> {
    stdin: Arc<Vec<V>>,
    /// How much of standard input was read: here, and not with what is opened, because states that read it byte by byte
    /// differ in nothing else.
    consumed: u64,
    disk: Arc<Vec<Node<V>>>,
    opened: Arc<Vec<Opened>>,
    seen: Arc<Seen>,
}

/// How the program names files. It seldom changes.
#[derive(Clone, Debug)]
struct Seen {
    /// What each number stands for.
    numbers: Vec<Option<usize>>,
    /// The folder that names are looked up in.
    folder: Vec<u8>,
}

/// Files grow no further than this.
const LONGEST: u64 = 1 << 24;

impl<V: Clone> Default for Files<V> {
    fn default() -> Self {
        Files::new(Vec::new(), [])
    }
}

/// What stands last in a path, slashes behind it aside; nothing in that of the root.
fn last_part(path: &[u8]) -> &[u8] {
    path.split(|&byte| byte == b'/').rfind(|part| !part.is_empty()).unwrap_or_default()
}

impl<V: Clone> Files<V> {
    /// A world with this standard input and these files, in folders that exist.
    pub fn new(stdin: Vec<V>, files: impl IntoIterator<Item = (Vec<u8>, Vec<V>)>) -> Self {
        let mut world = Files {
            stdin: Arc::new(stdin),
            consumed: 0,
            disk: Arc::default(),
            opened: Arc::new(vec![Opened::Input, Opened::Stream(1), Opened::Stream(2)]),
            seen: Arc::new(Seen { numbers: vec![Some(0), Some(1), Some(2)], folder: Vec::new() }),
        };
        for folder in [&b""[..], b"/", b"/tmp"] {
            world.add(folder, Body::Folder, 0o755);
        }
        for (name, bytes) in files {
            let name = world.path(&name);
            let ends = name.iter().enumerate().filter(|(at, byte)| **byte == b'/' && *at > 0);
            for end in ends.map(|(at, _)| at).collect::<Vec<_>>() {
                if world.find(&name[..end]).is_none() {
                    world.add(&name[..end], Body::Folder, 0o755);
                }
            }
            world.add(&name, Body::Regular(Arc::new(bytes)), 0o644);
        }
        world
    }

    /// Whether nothing happened to the files since two states were one.
    pub(super) fn same(&self, other: &Self) -> bool {
        self.consumed == other.consumed
            && Arc::ptr_eq(&self.disk, &other.disk)
            && Arc::ptr_eq(&self.opened, &other.opened)
            && Arc::ptr_eq(&self.seen, &other.seen)
    }

    fn add(&mut self, name: &[u8], body: Body<V>, mode: u32) -> usize {
        let node = Node { name: Some(Arc::from(name)), body, mode, modified: 0 };
        Arc::make_mut(&mut self.disk).push(node);
        self.disk.len() - 1
    }

    /// A path without `.`, `..` and doubled slashes, from where the program started or from the root.
    fn path(&self, given: &[u8]) -> Vec<u8> {
        let absolute = given.first() == Some(&b'/');
        let from: &[u8] = if absolute { b"/" } else { &self.seen.folder };
        let rooted = from.first() == Some(&b'/');
        let mut parts: Vec<&[u8]> = from.split(|&b| b == b'/').filter(|part| !part.is_empty()).collect();
        for part in given.split(|&b| b == b'/') {
            match part {
                b"" | b"." => {}
                // Above the folder that the program starts in there is nothing that a name here could mean.
                b".." if parts.last().is_none_or(|last| *last == b"..") && !rooted => parts.push(part),
                b".." => {
                    parts.pop();
                }
                _ => parts.push(part),
            }
        }
        let joined = parts.join(&b'/');
        if rooted { [&b"/"[..], &joined].concat() } else { joined }
    }

    fn find(&self, name: &[u8]) -> Option<usize> {
        self.disk.iter().position(|node| node.name.as_deref() == Some(name))
    }

    fn is_folder(&self, node: usize) -> bool {
        matches!(self.disk[node].body, Body::Folder)
    }

    /// Whether something can be made under a name: the folder for it is there.
    fn can_hold(&self, name: &[u8]) -> Result<(), i32> {
        let folder = match name.iter().rposition(|&b| b == b'/') {
            Some(0) => &name[..1],
            Some(end) => &name[..end],
            None => b"",
        };
        match self.find(folder) {
            Some(node) if self.is_folder(node) => Ok(()),
            Some(_) => Err(ENOTDIR),
            None => Err(ENOENT),
        }
    }

    /// Whether what a path leads through is there, and is folders: also where it comes back out of them.
    fn way_to(&self, path: &[u8]) -> Result<(), i32> {
        for end in path.iter().enumerate().filter(|(at, byte)| **byte == b'/' && *at > 0).map(|(at, _)| at) {
            match self.find(&self.path(&path[..end])) {
                Some(node) if self.is_folder(node) => {}
                // What ends in slashes may be made.
                _ if path[end..].iter().all(|&byte| byte == b'/') => {}
                Some(_) => return Err(ENOTDIR),
                None => return Err(ENOENT),
            }
        }
        Ok(())
    }

    /// The node of a path, or why there is none.
    fn node(&self, path: &[u8]) -> Result<usize, i32> {
        if path.is_empty() {
            return Err(ENOENT);
        }
        self.way_to(path)?;
        let name = self.path(path);
        let Some(node) = self.find(&name) else {
            return Err(self.can_hold(&name).err().unwrap_or(ENOENT));
        };
        match path.last() {
            Some(b'/') if !self.is_folder(node) => Err(ENOTDIR),
            _ => Ok(node),
        }
    }

    /// What a number stands for, by its place among what is open.
    fn at(&self, number: i32) -> Option<usize> {
        *self.seen.numbers.get(usize::try_from(number).ok()?)?
    }

    /// Does what a program asks for; the answer, or an error number.
    pub fn request(&mut self, request: &Request<'_>) -> Result<i64, i32> {
        match *request {
            Request::Open { path, flags, mode } => self.open(path, flags, mode).map(i64::from),
            Request::Close { file } => self.close(file).map(|()| 0),
            Request::Seek { file, offset, whence } => self.seek(file, offset, whence),
            Request::Remove { path } => {
                let node = self.node(path)?;
                if self.is_folder(node) {
                    return Err(EISDIR);
                }
                Arc::make_mut(&mut self.disk)[node].name = None;
                Ok(0)
            }
            Request::MakeFolder { path, mode } => {
                if path.is_empty() {
                    return Err(ENOENT);
                }
                self.way_to(path)?;
                let name = self.path(path);
                if self.find(&name).is_some() {
                    return Err(EEXIST);
                }
                self.can_hold(&name)?;
                self.add(&name, Body::Folder, mode & 0o7777);
                Ok(0)
            }
            Request::RemoveFolder { path } => {
                let node = self.node(path)?;
                if !self.is_folder(node) {
                    return Err(ENOTDIR);
                }
                if !self.entries(path)?.is_empty() {
                    return Err(ENOTEMPTY);
                }
                Arc::make_mut(&mut self.disk)[node].name = None;
                Ok(0)
            }
            Request::Rename { from, to } => self.rename(from, to),
            Request::Duplicate { file, least } => {
                let opened = self.at(file).ok_or(EBADF)?;
                let least = usize::try_from(least).map_err(|_| EINVAL)?;
                Ok(self.number(opened, least)?.into())
            }
            Request::DuplicateTo { file, to } => {
                let opened = self.at(file).ok_or(EBADF)?;
                let place = usize::try_from(to).ok().filter(|&to| to < 1024).ok_or(EBADF)?;
                let numbers = &mut Arc::make_mut(&mut self.seen).numbers;
                if numbers.len() <= place {
                    numbers.resize(place + 1, None);
                }
                numbers[place] = Some(opened);
                Ok(to.into())
            }
            Request::Flags { file } => Ok(match self.opened[self.at(file).ok_or(EBADF)?] {
                Opened::Node { flags, .. } => i64::from(flags & (ACCESS | APPEND | DIRECTORY)),
                Opened::Input => 0,
                Opened::Stream(_) => i64::from(WRITE_ONLY),
            }),
            Request::Truncate { file, length } => {
                let opened = self.opened[self.at(file).ok_or(EBADF)?];
                let Opened::Node { node, flags, .. } = opened else { return Err(EINVAL) };
                let length = u64::try_from(length).ok().filter(|&n| n <= LONGEST).ok_or(EINVAL)?;
                let Body::Regular(bytes) = &mut Arc::make_mut(&mut self.disk)[node].body else {
                    return Err(EINVAL);
                };
                // A gap would have to read as zeros, which only `write` is given.
                if flags & ACCESS == 0 || length > bytes.len() as u64 {
                    return Err(EINVAL);
                }
                Arc::make_mut(bytes).truncate(length as usize);
                Ok(0)
            }
            Request::ChangeMode { path, mode } => {
                let node = self.node(path)?;
                Arc::make_mut(&mut self.disk)[node].mode = mode & 0o7777;
                Ok(0)
            }
            Request::SetTime { path, modified } => {
                let node = self.node(path)?;
                Arc::make_mut(&mut self.disk)[node].modified = modified;
                Ok(0)
            }
            Request::ChangeFolder { path } => {
                let node = self.node(path)?;
                if !self.is_folder(node) {
                    return Err(ENOTDIR);
                }
                let folder = self.path(path);
                Arc::make_mut(&mut self.seen).folder = folder;
                Ok(0)
            }
            Request::Stream { file } => Ok(match self.at(file).map(|at| self.opened[at]) {
                Some(Opened::Stream(number)) => number.into(),
                _ => 0,
            }),
        }
    }

    fn open(&mut self, path: &[u8], flags: i32, mode: u32) -> Result<i32, i32> {
        let name = self.path(path);
        let writes = flags & (ACCESS | TRUNCATE) != 0;
        if flags & CREATE != 0 && path.ends_with(b"/") && !last_part(path).is_empty() {
            self.way_to(path)?;
            return Err(EISDIR);
        }
        let node = match self.node(path) {
            Ok(_) if flags & (CREATE | EXCLUSIVE) == CREATE | EXCLUSIVE => return Err(EEXIST),
            Ok(node) if self.is_folder(node) && (writes || flags & CREATE != 0) => return Err(EISDIR),
            Ok(node) if !self.is_folder(node) && flags & DIRECTORY != 0 => return Err(ENOTDIR),
            Ok(node) => {
                // Linux empties also what is opened to be read.
                if flags & TRUNCATE != 0 && !self.is_folder(node) {
                    Arc::make_mut(&mut self.disk)[node].body = Body::Regular(Arc::default());
                }
                node
            }
            Err(ENOENT) if flags & CREATE != 0 && !path.is_empty() => {
                self.way_to(path)?;
                self.can_hold(&name)?;
                self.add(&name, Body::Regular(Arc::default()), mode & 0o7777)
            }
            Err(error) => return Err(error),
        };
        let opened = Arc::make_mut(&mut self.opened);
        opened.push(Opened::Node { node, position: 0, flags });
        let opened = opened.len() - 1;
        self.number(opened, 0)
    }

    /// The lowest free number, as the system gives it.
    fn number(&mut self, opened: usize, least: usize) -> Result<i32, i32> {
        let numbers = &mut Arc::make_mut(&mut self.seen).numbers;
        let free = (least..numbers.len()).find(|&number| numbers[number].is_none());
        let number = free.unwrap_or(numbers.len().max(least));
        if number >= 1024 {
            return Err(EINVAL);
        }
        if number >= numbers.len() {
            numbers.resize(number + 1, None);
        }
        numbers[number] = Some(opened);
        i32::try_from(number).map_err(|_| EINVAL)
    }

    fn close(&mut self, number: i32) -> Result<(), i32> {
        self.at(number).ok_or(EBADF)?;
        Arc::make_mut(&mut self.seen).numbers[number as usize] = None;
        Ok(())
    }

    fn rename(&mut self, from: &[u8], to: &[u8]) -> Result<i64, i32> {
        // In the order in which Linux looks at them.
        for path in [from, to] {
            if path.is_empty() {
                return Err(ENOENT);
            }
            self.way_to(path)?;
        }
        if [from, to].into_iter().any(|path| matches!(last_part(path), b"" | b"." | b"..")) {
            return Err(EBUSY);
        }
        let (old, new) = (self.path(from), self.path(to));
        self.can_hold(&new)?;
        let node = self.find(&old).ok_or_else(|| self.can_hold(&old).err().unwrap_or(ENOENT))?;
        if !self.is_folder(node) && [from, to].into_iter().any(|path| path.ends_with(b"/")) {
            return Err(ENOTDIR);
        }
        if old == new {
            return Ok(0);
        }
        let within = |inner: &[u8], outer: &[u8]| inner.starts_with(&[outer, b"/"].concat());
        if within(&new, &old) {
            return Err(EINVAL);
        }
        if within(&old, &new) {
            return Err(ENOTEMPTY);
        }
        if let Some(there) = self.find(&new) {
            match (self.is_folder(node), self.is_folder(there)) {
                (true, false) => return Err(ENOTDIR),
                (false, true) => return Err(EISDIR),
                (true, true) if !self.entries(to)?.is_empty() => return Err(ENOTEMPTY),
                _ => {}
            }
            Arc::make_mut(&mut self.disk)[there].name = None;
        }
        let prefix = [&old[..], b"/"].concat();
        for node in Arc::make_mut(&mut self.disk) {
            let Some(name) = &node.name else { continue };
            if **name == *old {
                node.name = Some(Arc::from(&new[..]));
            } else if let Some(rest) = name.strip_prefix(&prefix[..]) {
                node.name = Some(Arc::from([&new[..], b"/", rest].concat()));
            }
        }
        Ok(0)
    }

    /// What is known of a file.
    pub fn status(&self, of: FileName<'_>) -> Result<FileStatus, i32> {
        let node = match of {
            FileName::Path(path) => self.node(path)?,
            FileName::Number(number) => match self.opened[self.at(number).ok_or(EBADF)?] {
                Opened::Node { node, .. } => node,
                Opened::Input | Opened::Stream(_) => {
                    return Ok(FileStatus {
                        kind: FileKind::Pipe,
                        mode: 0o600,
                        size: 0,
                        modified: 0,
                        inode: 1,
                        terminal: false,
                    });
                }
            },
        };
        let Node { body, mode, modified, .. } = &self.disk[node];
        let (kind, size) = match body {
            Body::Regular(bytes) => (FileKind::Regular, bytes.len() as u64),
            Body::Folder => (FileKind::Folder, 4096),
        };
        let inode = node as u64 + 2;
        Ok(FileStatus { kind, mode: *mode, size, modified: *modified, inode, terminal: false })
    }

    /// Names in a folder, in order, without `.` and `..`.
    pub fn entries(&self, path: &[u8]) -> Result<Vec<Vec<u8>>, i32> {
        let node = self.node(path)?;
        if !self.is_folder(node) {
            return Err(ENOTDIR);
        }
        let folder = self.path(path);
        let prefix = match &folder[..] {
            b"" | b"/" => folder.clone(),
            _ => [&folder[..], b"/"].concat(),
        };
        let mut names: Vec<Vec<u8>> = self
            .disk
            .iter()
            .filter_map(|node| node.name.as_deref()?.strip_prefix(&prefix[..]))
            .filter(|rest| !rest.is_empty() && !rest.contains(&b'/'))
            .map(<[u8]>::to_vec)
            .collect();
        names.sort();
        Ok(names)
    }

    /// Paths of everything there is, as a program in the first folder would write them.
    pub fn names(&self) -> Vec<Vec<u8>> {
        let named = self.disk.iter().filter_map(|node| node.name.as_deref());
        named.map(|name| if name.is_empty() { b".".to_vec() } else { name.to_vec() }).collect()
    }

    /// Up to `count` bytes; fewer at the end; `None` when the file is not open for reading.
    pub fn read(&mut self, number: i32, count: u64) -> Option<Vec<V>> {
        let at = self.at(number)?;
        let (bytes, position) = match self.opened[at] {
            Opened::Node { flags, .. } if flags & ACCESS == WRITE_ONLY => return None,
            Opened::Node { node, position, .. } => match &self.disk[node].body {
                Body::Regular(bytes) => (bytes.clone(), position),
                Body::Folder => return None,
            },
            Opened::Input => (self.stdin.clone(), self.consumed),
            Opened::Stream(_) => return None,
        };
        let first = position.min(bytes.len() as u64);
        let last = (bytes.len() as u64).min(first.saturating_add(count));
        match self.opened[at] {
            Opened::Input => self.consumed = self.consumed.max(last),
            _ => {
                if let Opened::Node { position, .. } = &mut Arc::make_mut(&mut self.opened)[at] {
                    *position = (*position).max(last);
                }
            }
        }
        Some(bytes[first as usize..last as usize].to_vec())
    }

    /// Writes bytes to a file; those for a standard stream are left to who calls. A gap reads as `zero`.
    pub fn write(&mut self, number: i32, bytes: &[V], zero: &V) -> Destination {
        let Some(at) = self.at(number) else { return Destination::Nowhere };
        let (node, position, flags) = match self.opened[at] {
            Opened::Node { node, position, flags } => (node, position, flags),
            Opened::Stream(number) => return Destination::Stream(number),
            Opened::Input => return Destination::Nowhere,
        };
        let Body::Regular(content) = &mut Arc::make_mut(&mut self.disk)[node].body else {
            return Destination::Nowhere;
        };
        let content = Arc::make_mut(content);
        let position = if flags & APPEND != 0 { content.len() as u64 } else { position };
        let end = position.saturating_add(bytes.len() as u64);
        if flags & ACCESS == 0 || end > LONGEST {
            return Destination::Nowhere;
        }
        if (content.len() as u64) < end {
            content.resize(end as usize, zero.clone());
        }
        content[position as usize..end as usize].clone_from_slice(bytes);
        Arc::make_mut(&mut self.opened)[at] = Opened::Node { node, position: end, flags };
        Destination::File
    }

    fn seek(&mut self, number: i32, offset: i64, whence: i32) -> Result<i64, i32> {
        let at = self.at(number).ok_or(EBADF)?;
        let Opened::Node { node, position, flags } = self.opened[at] else { return Err(ESPIPE) };
        let length = match &self.disk[node].body {
            Body::Regular(bytes) => bytes.len() as i64,
            Body::Folder => 0,
        };
        let from = match whence {
            0 => 0,
            1 => i64::try_from(position).map_err(|_| EINVAL)?,
            2 => length,
            _ => return Err(EINVAL),
        };
        let to = from.checked_add(offset).filter(|&to| to >= 0).ok_or(EINVAL)?;
        Arc::make_mut(&mut self.opened)[at] = Opened::Node { node, position: to as u64, flags };
        Ok(to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const READ_WRITE: i32 = 2;

    fn open(files: &mut Files<u8>, path: &[u8], flags: i32) -> Result<i32, i32> {
        files.request(&Request::Open { path, flags, mode: 0o644 }).map(|n| n as i32)
    }

    #[test]
    fn files_are_read_written_and_removed() {
        let mut files = Files::new(b"in".to_vec(), [(b"a".to_vec(), b"hello".to_vec())]);
        let seek = |files: &mut Files<u8>, file, offset, whence| {
            files.request(&Request::Seek { file, offset, whence })
        };
        assert_eq!(files.read(0, 10), Some(b"in".to_vec()));
        assert_eq!(open(&mut files, b"b", 0), Err(ENOENT));
        let a = open(&mut files, b"a", 0).expect("it exists");
        assert_eq!((a, files.read(a, 2)), (3, Some(b"he".to_vec())));
        assert_eq!((seek(&mut files, a, -1, 2), files.read(a, 9)), (Ok(4), Some(b"o".to_vec())));
        assert_eq!(files.write(a, b"x", &0), Destination::Nowhere, "not open for writing");
        let copy = files.clone();
        let b = open(&mut files, b"./b", READ_WRITE | CREATE | TRUNCATE).expect("it is made");
        assert_eq!(seek(&mut files, b, 2, 0), Ok(2));
        assert_eq!(files.write(b, b"yz", &0), Destination::File);
        assert_eq!((seek(&mut files, b, 0, 0), files.read(b, 9)), (Ok(0), Some(b"\0\0yz".to_vec())));
        assert_eq!(
            open(&mut copy.clone(), b"b", 0),
            Err(ENOENT),
            "a copy does not see what is written later"
        );
        assert_eq!((files.close(a), files.close(a)), (Ok(()), Err(EBADF)));
        assert_eq!(open(&mut files, b"a", WRITE_ONLY | APPEND), Ok(3), "the lowest number is used again");
        assert_eq!(files.request(&Request::Remove { path: b"b" }), Ok(0));
        assert_eq!(open(&mut files, b"b", 0), Err(ENOENT));
        assert_eq!((seek(&mut files, b, 0, 0), files.read(b, 3)), (Ok(0), Some(b"\0\0y".to_vec())));
    }

    #[test]
    fn folders_hold_names_and_numbers_are_shared_when_duplicated() {
        let mut files = Files::new(Vec::new(), [(b"sub/x".to_vec(), b"abc".to_vec())]);
        assert_eq!(open(&mut files, b"no/x", CREATE | WRITE_ONLY), Err(ENOENT));
        assert_eq!(open(&mut files, b"sub/x/y", 0), Err(ENOTDIR));
        assert_eq!(files.request(&Request::RemoveFolder { path: b"sub" }), Err(ENOTEMPTY));
        assert_eq!(files.request(&Request::MakeFolder { path: b"sub/", mode: 0o777 }), Err(EEXIST));
        assert_eq!(files.request(&Request::Rename { from: b"sub", to: b"top" }), Ok(0));
        assert_eq!(files.entries(b"top"), Ok(vec![b"x".to_vec()]));
        assert_eq!(files.entries(b"."), Ok(vec![b"top".to_vec()]));
        let x = open(&mut files, b"top/../top/x", 0).expect("it moved along");
        let again = files.request(&Request::Duplicate { file: x, least: 10 }).expect("it is open") as i32;
        assert_eq!((again, files.read(again, 2)), (10, Some(b"ab".to_vec())));
        assert_eq!(files.read(x, 9), Some(b"c".to_vec()), "the position is shared");
        assert_eq!(files.request(&Request::DuplicateTo { file: 1, to: x }), Ok(3));
        assert_eq!(files.write(x, b"!", &0), Destination::Stream(1));
        assert_eq!((files.close(1), files.write(1, b"!", &0)), (Ok(()), Destination::Nowhere));
    }
}
