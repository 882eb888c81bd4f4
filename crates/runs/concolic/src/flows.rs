//! Input on its way through files and pipes: what is written somewhere keeps its terms, and has them when it is read back.
//!
//! The kernel keeps the bytes. Here stands which of them depend on the input, by the file that the kernel says a descriptor
//! leads to and the place in it. Where bytes go that cannot be followed (a socket, a child process, a copy that the kernel
//! makes), that is a bound.

use crate::descriptors::identity;
use crate::shadow::Part;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// What a descriptor leads to, as far as following bytes goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// Bytes lie where they are put.
    File,
    /// Bytes come out in the order in which they went in.
    Pipe,
    /// Nothing comes back.
    Nowhere,
    /// Bytes are not followed.
    Elsewhere,
}

/// The number of the device that swallows everything.
const NULL_DEVICE: u64 = 1 << 8 | 3;

/// Terms of one file, by place, or of one pipe, by the number of bytes that went in before.
#[derive(Default)]
struct Marks {
    parts: BTreeMap<u64, Part>,
    /// Of a pipe: how many bytes went in, and came out.
    written: u64,
    read: u64,
}

/// Which bytes outside of memory depend on the input.
#[derive(Default)]
pub(crate) struct Flows(FxHashMap<(u64, u64), Marks>);

/// What kind of file a descriptor leads to, and its size.
pub(crate) fn way(descriptor: i32) -> Option<(Way, u64)> {
    // SAFETY: the structure is made of numbers, for which zero is a value.
    let mut status: libc::stat = unsafe { std::mem::zeroed() };
    // SAFETY: the call writes only what it is handed, which lives long enough.
    if unsafe { libc::fstat(descriptor, &raw mut status) } != 0 {
        return None;
    }
    let way = match status.st_mode & libc::S_IFMT {
        libc::S_IFREG => Way::File,
        libc::S_IFIFO => Way::Pipe,
        libc::S_IFCHR if status.st_rdev == NULL_DEVICE => Way::Nowhere,
        _ => Way::Elsewhere,
    };
    Some((way, u64::try_from(status.st_size).unwrap_or(0)))
}

/// Bytes that wait in a pipe.
fn waiting(descriptor: i32) -> u64 {
    let mut count: libc::c_int = 0;
    // SAFETY: the call writes the number that it is handed.
    let failed = unsafe { libc::ioctl(descriptor, libc::FIONREAD, &raw mut count) } != 0;
    if failed { 0 } else { u64::try_from(count).unwrap_or(0) }
}

impl Flows {
    fn marks(&mut self, descriptor: i32, way: Way) -> Option<&mut Marks> {
        let identity = identity(descriptor)?;
        Some(self.0.entry(identity).or_insert_with(|| {
            let written = if way == Way::Pipe { waiting(descriptor) } else { 0 };
            Marks { written, ..Marks::default() }
        }))
    }

    /// Gets ready for a call on a descriptor: what waits in a pipe is counted before the call.
    pub fn meet(&mut self, descriptor: i32) {
        if let Some((way @ Way::Pipe, _)) = way(descriptor) {
            self.marks(descriptor, way);
        }
    }

    /// Whether any byte behind a descriptor depends on the input.
    pub fn has_marks(&self, descriptor: i32) -> bool {
        let known = identity(descriptor).and_then(|identity| self.0.get(&identity));
        known.is_some_and(|marks| !marks.parts.is_empty())
    }

    /// Whether any byte anywhere does.
    pub fn is_empty(&self) -> bool {
        self.0.values().all(|marks| marks.parts.is_empty())
    }

    /// Bytes were written; to a file, from this place on.
    pub fn write(&mut self, descriptor: i32, way: Way, place: u64, parts: &[Option<Part>]) {
        let Some(marks) = self.marks(descriptor, way) else { return };
        let from = if way == Way::Pipe { marks.written } else { place };
        for (at, part) in (from..).zip(parts) {
            match part {
                Some(part) => _ = marks.parts.insert(at, *part),
                None => _ = marks.parts.remove(&at),
            }
        }
        if way == Way::Pipe {
            marks.written += parts.len() as u64;
        }
    }

    /// So many bytes were read; of a file, from this place on. The terms they have.
    pub fn read(&mut self, descriptor: i32, way: Way, place: u64, count: u64) -> Vec<(u64, Part)> {
        let Some(marks) = self.marks(descriptor, way) else { return Vec::new() };
        let from = if way == Way::Pipe { marks.read } else { place };
        let found = marks.parts.range(from..from.saturating_add(count));
        let found = found.map(|(at, part)| (at - from, *part)).collect();
        if way == Way::Pipe {
            marks.read += count;
            let left = marks.parts.split_off(&marks.read);
            marks.parts = left;
        }
        found
    }

    /// A file has this size now: bytes behind it are gone.
    pub fn cut(&mut self, descriptor: i32, size: u64) {
        if let Some(identity) = identity(descriptor)
            && let Some(marks) = self.0.get_mut(&identity)
        {
            marks.parts.split_off(&size);
        }
    }
}
