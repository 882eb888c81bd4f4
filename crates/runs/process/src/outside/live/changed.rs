//! Calls that change files of which pages are mapped.
//!
//! Private pages that the program has only read show the file. The kernel changes them with it; here they are copies, so
//! they are dropped when the program itself changes the file. What other processes do to it is seen at the next first access.

use super::{Live, kernel};
use crate::memory::Object;
use crate::outside::{Call, FileChange};
use crate::process::Process;
use crate::system::Reply;

/// What an argument or the result says about the file that a call may have changed, and where its new length is, if it was cut.
enum Target {
    Descriptor(u64),
    Path(u64),
}

impl Live {
    /// Drops what the program has read of a file that a call has changed.
    pub(super) fn note_changed_file(&self, process: &mut Process, name: &str, call: &Call, reply: &Reply) {
        let Reply::Value(result) = *reply else { return };
        let [first, second, third, ..] = call.arguments;
        let made_empty = |flags: u64| flags as i32 & libc::O_TRUNC != 0;
        let (target, cuts) = match name {
            "write" | "writev" | "pwrite64" | "pwritev" | "pwritev2" | "sendfile" if result > 0 => {
                (Target::Descriptor(first), false)
            }
            "splice" | "copy_file_range" if result > 0 => (Target::Descriptor(third), false),
            "fallocate" => (Target::Descriptor(first), false),
            "ftruncate" => (Target::Descriptor(first), true),
            "truncate" => (Target::Path(first), true),
            "creat" => (Target::Descriptor(result), true),
            "open" if made_empty(second) => (Target::Descriptor(result), true),
            "openat" if made_empty(third) => (Target::Descriptor(result), true),
            _ => return,
        };
        // SAFETY: the structure is made of numbers, for which zero is a value.
        let mut status: libc::stat = unsafe { std::mem::zeroed() };
        let place = &raw mut status as usize;
        let known = match target {
            Target::Descriptor(descriptor) => {
                kernel(libc::SYS_fstat, [descriptor as usize, place, 0, 0, 0, 0]).is_ok()
            }
            Target::Path(path) => process.take_path(path).is_ok_and(|path| {
                kernel(libc::SYS_stat, [path.as_ptr() as usize, place, 0, 0, 0, 0]).is_ok()
            }),
        };
        let object = Object { device: status.st_dev, inode: status.st_ino };
        let is_file = known && status.st_mode & libc::S_IFMT == libc::S_IFREG;
        if is_file && process.world.memory.copies_of(object) {
            process.file_changed(FileChange { object, cut: cuts.then_some(status.st_size as u64) });
        }
    }
}
