//! The files in which the kernel tells a process about itself, where they would tell about Parallax instead.
//!
//! The name of the program is simply taken over (see [`super::Origin`]). What maps memory and how the program was started
//! is written into a file without a name, which the program gets in place of the one it asked for.

use super::{Answer, Arguments, Errno, Reply, host};
use crate::elf::Machine;
use crate::memory::Backing;
use crate::process::Process;
use std::fmt::Write;
use std::os::unix::fs::MetadataExt;

/// What is left of a path, with a zero at its end, behind the folder of the process itself in `/proc`.
pub(super) fn own(path: &[u8]) -> Option<&[u8]> {
    let rest = path.strip_suffix(&[0]).unwrap_or(path).strip_prefix(b"/proc/")?;
    let number = std::process::id().to_string();
    ["self", "thread-self", &number]
        .iter()
        .find_map(|folder| rest.strip_prefix(folder.as_bytes())?.strip_prefix(b"/"))
}

impl Process {
    fn own_file(&mut self, path: &[u8]) -> Option<Vec<u8>> {
        match own(path)? {
            b"maps" => Some(self.map_lines().into_bytes()),
            b"cmdline" => Some(self.origin.arguments.clone()),
            b"environ" => Some(self.origin.environment.clone()),
            _ => None,
        }
    }

    /// The mapped regions, one a line, as the kernel writes them.
    fn map_lines(&self) -> String {
        let mut text = String::new();
        let top = self.machine.address_end() - crate::memory::PAGE;
        let stack = top - crate::elf::STACK_SIZE;
        let heap = self.heap.start;
        for (start, region) in self.world.memory.regions() {
            // The heap may have grown together with what lies before it.
            let cut = (start < heap && heap < region.end).then_some(heap);
            let parts = match cut {
                Some(cut) => vec![(start, cut), (cut, region.end)],
                None => vec![(start, region.end)],
            };
            for (from, to) in parts {
                let (name, offset) = match &region.backing {
                    Backing::Copied { map, offset } | Backing::Shared { map, offset } => {
                        (map.name(), offset + (from - start))
                    }
                    Backing::Zero if from == heap && self.heap.end > heap => ("[heap]", 0),
                    Backing::Zero if (stack..top).contains(&from) => ("[stack]", 0),
                    Backing::Zero => ("", 0),
                };
                let file = std::fs::metadata(name).ok().filter(|_| name.starts_with('/'));
                let (device, number) = file.map_or((0, 0), |status| (status.dev(), status.ino()));
                let may = |allowed: bool, letter: char| if allowed { letter } else { '-' };
                let access = region.permissions;
                let shared = matches!(region.backing, Backing::Shared { .. });
                let mut line = format!(
                    "{from:08x}-{to:08x} {}{}{}{} {offset:08x} {:02x}:{:02x} {number} ",
                    may(access.read, 'r'),
                    may(access.write, 'w'),
                    may(access.execute, 'x'),
                    if shared { 's' } else { 'p' },
                    libc::major(device),
                    libc::minor(device),
                );
                if !name.is_empty() {
                    let column = line.len().max(73);
                    let _ = write!(line, "{:1$}{name}", "", column - line.len());
                }
                text.push_str(&line);
                text.push('\n');
            }
        }
        text
    }
}

pub(super) fn open(process: &mut Process, arguments: &Arguments) -> Reply {
    let [path, flags, mode, ..] = *arguments;
    open_at(process, libc::AT_FDCWD as u64, path, flags, mode)
}

pub(super) fn openat(process: &mut Process, arguments: &Arguments) -> Reply {
    let [directory, path, flags, mode, ..] = *arguments;
    open_at(process, directory, path, flags, mode)
}

fn open_at(process: &mut Process, directory: u64, path: u64, flags: u64, mode: u64) -> Reply {
    let flags = host_flags(process.machine, flags);
    let mut open = || -> Answer {
        let path = process.take_path(path)?;
        match process.own_file(&path) {
            Some(contents) if flags as i32 & libc::O_ACCMODE == libc::O_RDONLY => unnamed(&contents, flags),
            _ => {
                let directory = i64::from(directory as i32) as usize;
                host(libc::SYS_openat, [directory, path.as_ptr() as usize, flags, mode as usize, 0, 0])
            }
        }
    };
    super::descriptors::slow(open())
}

/// A descriptor of a file that holds this and has no name.
fn unnamed(contents: &[u8], flags: usize) -> Answer {
    let close = if flags as i32 & libc::O_CLOEXEC != 0 { libc::MFD_CLOEXEC } else { 0 };
    let name = c"proc";
    let descriptor = host(libc::SYS_memfd_create, [name.as_ptr() as usize, close as usize, 0, 0, 0, 0])?;
    let at = |done: usize| contents[done..].as_ptr() as usize;
    let mut done = 0;
    while done < contents.len() {
        match host(libc::SYS_pwrite64, [descriptor as usize, at(done), contents.len() - done, done, 0, 0]) {
            Ok(0) | Err(_) => {
                let _ = host(libc::SYS_close, [descriptor as usize, 0, 0, 0, 0, 0]);
                return Err(Errno(libc::EIO));
            }
            Ok(written) => done += written as usize,
        }
    }
    Ok(descriptor)
}

/// The flags of `open` as the host numbers them: four differ on PowerPC.
fn host_flags(machine: Machine, flags: u64) -> usize {
    if machine == Machine::X86_64 {
        return flags as usize;
    }
    const TURNED: [(u64, i32); 4] = [
        (0o40000, libc::O_DIRECTORY),
        (0o100_000, libc::O_NOFOLLOW),
        (0o200_000, libc::O_LARGEFILE),
        (0o400_000, libc::O_DIRECT),
    ];
    let same = flags & !0o740_000;
    TURNED.iter().filter(|(bit, _)| flags & bit != 0).fold(same as usize, |all, (_, bit)| all | *bit as usize)
}
