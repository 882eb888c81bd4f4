//! The files in which the kernel tells a process about itself, where they would tell about Parallax instead.
//!
//! The name of the program is simply taken over (see [`super::Origin`]). What maps memory and how the program was started
//! is written into a file without a name, which the program gets in place of the one it asked for.

use super::{Answer, Arguments, Errno, Reply};
use crate::elf::Machine;
use crate::memory::Backing;
use crate::outside::live::Live;
use crate::process::Process;
use std::fmt::Write;

/// What is left of a path, with a zero at its end, behind the folder of the process itself in `/proc`.
pub(super) fn own(process: u32, path: &[u8]) -> Option<&[u8]> {
    Some(own_of(process, path)?.1)
}

/// The same, with the thread that is meant, if one is.
fn own_of(process: u32, path: &[u8]) -> Option<(Option<u64>, &[u8])> {
    let rest = path.strip_suffix(&[0]).unwrap_or(path).strip_prefix(b"/proc/")?;
    let number = process.to_string();
    let inside = ["self", "thread-self", &number]
        .iter()
        .find_map(|folder| rest.strip_prefix(folder.as_bytes())?.strip_prefix(b"/"))?;
    // Its threads have the same.
    let Some(task) = inside.strip_prefix(b"task/") else { return Some((None, inside)) };
    let end = task.iter().position(|byte| *byte == b'/')?;
    let thread = std::str::from_utf8(&task[..end]).ok()?.parse().ok()?;
    Some((Some(thread), &task[end + 1..]))
}

/// The names of the files that are written here.
const WRITTEN: [&[u8]; 5] = [b"maps", b"cmdline", b"environ", b"auxv", b"comm"];

/// Those of them that the kernel lets a program write: here nobody may.
const WRITABLE: [&[u8]; 2] = [b"mem", b"comm"];

impl Process {
    /// Opens a file in which the kernel would tell about this process, however it is named; none if it is another.
    fn open_own(&mut self, live: &Live, directory: u64, path: &[u8], flags: i32) -> Option<Answer> {
        let name = path.strip_suffix(&[0]).unwrap_or(path);
        let last = name.rsplit(|byte| *byte == b'/').next().unwrap_or(name);
        let reads = flags & libc::O_ACCMODE == libc::O_RDONLY && flags & libc::O_PATH == 0;
        // The memory would be that of Parallax: nobody gets it, as where the kernel restricts it.
        let is_refused = WRITABLE.contains(&last) && (!reads || last == b"mem");
        if !is_refused && (!reads || !WRITTEN.contains(&last)) {
            return None;
        }
        let path = if name.starts_with(b"/") {
            name.to_vec()
        } else {
            let start = match directory as i32 {
                libc::AT_FDCWD => String::from("/proc/self/cwd"),
                descriptor => format!("/proc/self/fd/{descriptor}"),
            };
            let start = live.link_target(&start)?;
            [&start[..], b"/", name].concat()
        };
        if is_refused {
            return own(self.facts.process, &path)
                .filter(|file| *file == last)
                .map(|_| Err(Errno(libc::EACCES)));
        }
        let contents = self.own_file(live, &path)?;
        Some(live.unnamed_file(&contents, flags & libc::O_CLOEXEC != 0))
    }

    fn own_file(&mut self, live: &Live, path: &[u8]) -> Option<Vec<u8>> {
        let (thread, file) = own_of(self.facts.process, path)?;
        match file {
            b"maps" => Some(self.map_lines(live).into_bytes()),
            b"cmdline" => Some(self.origin.arguments.clone()),
            b"environ" => Some(self.origin.environment.clone()),
            b"auxv" => Some(self.origin.auxiliary.clone()),
            b"comm" => {
                let current =
                    || path.starts_with(b"/proc/thread-self/").then(|| self.threads.number().into());
                let thread = thread.or_else(current).unwrap_or(self.facts.process.into());
                let name = self.thread_name(self.threads.name_of(thread)?);
                let letters = name.iter().take_while(|letter| **letter != 0);
                Some(letters.chain(b"\n").copied().collect())
            }
            _ => None,
        }
    }

    /// The mapped regions, one a line, as the kernel writes them.
    fn map_lines(&self, live: &Live) -> String {
        let mut text = String::new();
        let top = self.machine.abi().address_end - crate::memory::PAGE;
        let heap = self.heap.start;
        for (start, region) in self.world.memory.regions() {
            // The heap may have grown together with what lies before it.
            let cut = (start < heap && heap < region.end).then_some(heap);
            let parts = match cut {
                Some(cut) => vec![(start, cut), (cut, region.end)],
                None => vec![(start, region.end)],
            };
            for (from, to) in parts {
                let mut file = None;
                let (name, offset) = match &region.backing {
                    Backing::Copied { map, offset, .. } | Backing::Shared { map, offset, .. } => {
                        file = map.object();
                        (map.name(), offset + (from - start))
                    }
                    Backing::Zero if from == heap && self.heap.end > heap => ("[heap]", 0),
                    Backing::Zero if region.advice.grows_down && to == top => ("[stack]", 0),
                    Backing::Zero => ("", 0),
                };
                // Shared memory is on the first device, segments of System V with it.
                let device = file.map_or(0, |file| if file.device == u64::MAX { 1 } else { file.device });
                let (major, minor) = (libc::major(device), libc::minor(device));
                let number = file.map_or(0, |file| file.inode);
                let deleted = file.is_some_and(|file| !live.is_file_at(file, name));
                let may = |allowed: bool, letter: char| if allowed { letter } else { '-' };
                let access = region.permissions;
                let shared = matches!(region.backing, Backing::Shared { .. });
                let mut line = format!(
                    "{from:08x}-{to:08x} {}{}{}{} {offset:08x} {:02x}:{:02x} {number} ",
                    may(access.read, 'r'),
                    may(access.write, 'w'),
                    may(access.execute, 'x'),
                    if shared { 's' } else { 'p' },
                    major,
                    minor,
                );
                if !name.is_empty() {
                    let column = line.len().max(73);
                    let _ = write!(line, "{:1$}{name}", "", column - line.len());
                    line.push_str(if deleted { " (deleted)" } else { "" });
                }
                text.push_str(&line);
                text.push('\n');
            }
        }
        text
    }
}

pub(super) fn open(process: &mut Process, live: &Live, arguments: &Arguments) -> Reply {
    let [path, flags, mode, ..] = *arguments;
    open_at(process, live, libc::AT_FDCWD as u64, path, flags, mode)
}

pub(super) fn openat(process: &mut Process, live: &Live, arguments: &Arguments) -> Reply {
    let [directory, path, flags, mode, ..] = *arguments;
    open_at(process, live, directory, path, flags, mode)
}

/// `openat` with a structure.
pub(super) fn openat2(process: &mut Process, live: &Live, arguments: &Arguments) -> Reply {
    const SIZE: u64 = 24;
    const LARGEST: u64 = crate::memory::PAGE;
    let [directory, path, how, size, ..] = *arguments;
    let mut open = || -> Answer {
        if size < SIZE {
            return Err(Errno(libc::EINVAL));
        }
        if size > LARGEST {
            return Err(Errno(libc::E2BIG));
        }
        let how = process.take(how, size)?;
        let path = process.take_path(path)?;
        let flags = u64::from_le_bytes(how[..8].try_into().expect("eight bytes")) as i32;
        let plain = how[8..].iter().all(|byte| *byte == 0);
        if plain && let Some(file) = process.open_own(live, directory, &path, flags) {
            return file;
        }
        let given = [path.as_ptr() as usize, how.as_ptr() as usize, size as usize];
        live.host(libc::SYS_openat2, [directory as i32 as usize, given[0], given[1], given[2], 0, 0])
    };
    super::descriptors::slow(open())
}

fn open_at(process: &mut Process, live: &Live, directory: u64, path: u64, flags: u64, mode: u64) -> Reply {
    let flags = host_flags(process.machine, flags);
    let mut open = || -> Answer {
        let path = process.take_path(path)?;
        if let Some(file) = process.open_own(live, directory, &path, flags as i32) {
            return file;
        }
        let directory = i64::from(directory as i32) as usize;
        live.host(libc::SYS_openat, [directory, path.as_ptr() as usize, flags, mode as usize, 0, 0])
    };
    super::descriptors::slow(open())
}

/// The flags of `open` as the host numbers them.
fn host_flags(machine: Machine, flags: u64) -> usize {
    let turned = machine.abi().open_flags;
    let same = turned.iter().fold(flags, |all, (bit, _)| all & !bit);
    turned.iter().filter(|(bit, _)| flags & bit != 0).fold(same as usize, |all, (_, bit)| all | *bit as usize)
}
