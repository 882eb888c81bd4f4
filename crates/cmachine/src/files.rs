//! Files of a closed world: what they hold, and which are open where.
//!
//! The same for bytes and for terms, so that a program under exploration and its replay see one file system. States
//! share contents until one of them writes.

use std::sync::Arc;

/// An open file.
#[derive(Clone, Copy, Debug)]
struct Open {
    /// Which file.
    file: usize,
    /// Where the next byte is read or written.
    position: u64,
    /// What may be done: the flags it was opened with.
    flags: i32,
}

/// A file: its name, and its bytes.
type File<V> = (Arc<[u8]>, Arc<Vec<V>>);

/// Files of a closed world. Numbers 0 to 2 are the standard streams; only the first of them can be read here.
#[derive(Clone, Debug)]
pub struct Files<V> {
    disk: Arc<Vec<File<V>>>,
    open: Arc<Vec<Option<Open>>>,
}

impl<V> Default for Files<V> {
    fn default() -> Self {
        Files { disk: Arc::new(Vec::new()), open: Arc::new(Vec::new()) }
    }
}

/// A file can be read, written, or both.
const READ: i32 = 0;
const WRITE: i32 = 1;
const APPEND: i32 = 2;
/// Files grow no further than this.
const LONGEST: u64 = 1 << 24;

impl<V: Clone> Files<V> {
    /// A world with this standard input and these files.
    pub fn new(stdin: Vec<V>, files: impl IntoIterator<Item = (Vec<u8>, Vec<V>)>) -> Self {
        // No path names standard input: a NUL cannot be in one.
        let stdin: File<V> = (Arc::from(&b"\0"[..]), Arc::new(stdin));
        let named = files.into_iter().map(|(name, bytes)| (Arc::from(name), Arc::new(bytes)));
        let disk: Vec<File<V>> = [stdin].into_iter().chain(named).collect();
        let stdin = Open { file: 0, position: 0, flags: READ };
        Files { disk: Arc::new(disk), open: Arc::new(vec![Some(stdin), None, None]) }
    }

    /// Whether nothing happened to the files since two states were one.
    pub(super) fn same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.disk, &other.disk) && Arc::ptr_eq(&self.open, &other.open)
    }

    /// Opens a file: flags 0 read, 1 write (made empty or new), 2 append, 3 read and write, 4 read and write, made
    /// empty or new.
    pub fn open(&mut self, path: &[u8], flags: i32) -> Option<i32> {
        let found = self.disk.iter().position(|(name, _)| **name == *path);
        let file = match (found, flags) {
            (None, READ | 3) => return None,
            (None, _) => {
                Arc::make_mut(&mut self.disk).push((Arc::from(path), Arc::new(Vec::new())));
                self.disk.len() - 1
            }
            (Some(file), WRITE | 4) => {
                Arc::make_mut(&mut self.disk)[file].1 = Arc::new(Vec::new());
                file
            }
            (Some(file), _) => file,
        };
        let opened = Some(Open { file, position: 0, flags });
        let open = Arc::make_mut(&mut self.open);
        // The lowest free number, as the system gives it; the standard streams stay taken.
        let free = (3..open.len()).find(|&number| open[number].is_none());
        let number = free.unwrap_or_else(|| {
            open.resize(open.len().max(3) + 1, None);
            open.len() - 1
        });
        open[number] = opened;
        i32::try_from(number).ok()
    }

    fn at(&self, number: i32) -> Option<Open> {
        *self.open.get(usize::try_from(number).ok()?)?
    }

    fn put_back(&mut self, number: i32, state: Option<Open>) {
        Arc::make_mut(&mut self.open)[number as usize] = state;
    }

    /// Up to `count` bytes; fewer at the end; `None` when the file is not open for reading.
    pub fn read(&mut self, number: i32, count: u64) -> Option<Vec<V>> {
        let mut open = self.at(number)?;
        if matches!(open.flags, WRITE | APPEND) {
            return None;
        }
        let bytes = self.disk[open.file].1.clone();
        let first = open.position.min(bytes.len() as u64);
        let last = (bytes.len() as u64).min(first.saturating_add(count));
        open.position = open.position.max(last);
        self.put_back(number, Some(open));
        Some(bytes[first as usize..last as usize].to_vec())
    }

    /// Writes bytes; false when the file is not open for writing. A gap reads as `zero`.
    pub fn write(&mut self, number: i32, bytes: &[V], zero: &V) -> bool {
        let Some(mut open) = self.at(number) else { return false };
        let disk = Arc::make_mut(&mut self.disk);
        let content = Arc::make_mut(&mut disk[open.file].1);
        if open.flags == APPEND {
            open.position = content.len() as u64;
        }
        let end = open.position.saturating_add(bytes.len() as u64);
        if open.flags == READ || end > LONGEST {
            return false;
        }
        if (content.len() as u64) < end {
            content.resize(end as usize, zero.clone());
        }
        content[open.position as usize..end as usize].clone_from_slice(bytes);
        open.position = end;
        self.put_back(number, Some(open));
        true
    }

    /// Moves in a file, from its start (0), from here (1) or from its end (2); the new position.
    pub fn seek(&mut self, number: i32, offset: i64, whence: i32) -> Option<i64> {
        let mut open = self.at(number)?;
        let from = match whence {
            0 => 0,
            1 => i64::try_from(open.position).ok()?,
            2 => self.disk[open.file].1.len() as i64,
            _ => return None,
        };
        let to = from.checked_add(offset).filter(|&to| to >= 0)?;
        open.position = to as u64;
        self.put_back(number, Some(open));
        Some(to)
    }

    /// Closes a file; false when it is not open.
    pub fn close(&mut self, number: i32) -> bool {
        if (0..3).contains(&number) {
            return true;
        }
        let known = self.at(number).is_some();
        if known {
            self.put_back(number, None);
        }
        known
    }

    /// Removes a file; false when there is none of this name.
    pub fn remove(&mut self, path: &[u8]) -> bool {
        let Some(file) = self.disk.iter().position(|(name, _)| **name == *path) else { return false };
        // Who has it open goes on using it: only the name goes.
        Arc::make_mut(&mut self.disk)[file].0 = Arc::from(&b"\0"[..]);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_read_written_and_removed() {
        let mut files = Files::new(b"in".to_vec(), [(b"a".to_vec(), b"hello".to_vec())]);
        assert_eq!(files.read(0, 10), Some(b"in".to_vec()));
        assert_eq!(files.open(b"b", 0), None);
        let a = files.open(b"a", 0).expect("it exists");
        assert_eq!((a, files.read(a, 2)), (3, Some(b"he".to_vec())));
        assert_eq!((files.seek(a, -1, 2), files.read(a, 9)), (Some(4), Some(b"o".to_vec())));
        assert!(!files.write(a, b"x", &0), "not open for writing");
        let copy = files.clone();
        let b = files.open(b"b", 4).expect("it is made");
        assert_eq!(files.seek(b, 2, 0), Some(2));
        assert!(files.write(b, b"yz", &0));
        assert_eq!((files.seek(b, 0, 0), files.read(b, 9)), (Some(0), Some(b"\0\0yz".to_vec())));
        assert_eq!(copy.clone().open(b"b", 0), None, "a copy does not see what is written later");
        assert!(files.close(a) && !files.close(a));
        assert_eq!(files.open(b"a", 2), Some(3), "the lowest number is used again");
        assert!(files.remove(b"b") && files.open(b"b", 0).is_none());
        assert_eq!((files.seek(b, 0, 0), files.read(b, 3)), (Some(0), Some(b"\0\0y".to_vec())));
    }
}
