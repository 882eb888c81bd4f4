//! The files in which the kernel tells a process about itself, where they would tell about Parallax instead.
//!
//! The name of the program is simply taken over (see [`super::Origin`]). What maps memory and how the program was started
//! is written into a file without a name, which the program gets in place of the one it asked for.

use super::{Answer, Arguments, Reply};
use crate::elf::Machine;
use crate::memory::Backing;
use crate::outside::live::Live;
use crate::process::Process;
use std::fmt::Write;

/// What is left of a path, with a zero at its end, behind the folder of the process itself in `/proc`.
pub(super) fn own(process: u32, path: &[u8]) -> Option<&[u8]> {
    let rest = path.strip_suffix(&[0]).unwrap_or(path).strip_prefix(b"/proc/")?;
    let number = process.to_string();
    ["self", "thread-self", &number]
        .iter()
        .find_map(|folder| rest.strip_prefix(folder.as_bytes())?.strip_prefix(b"/"))
}

impl Process {
    fn own_file(&mut self, live: &Live, path: &[u8]) -> Option<Vec<u8>> {
        match own(self.facts.process, path)? {
            b"maps" => Some(self.map_lines(live).into_bytes()),
            b"cmdline" => Some(self.origin.arguments.clone()),
            b"environ" => Some(self.origin.environment.clone()),
            _ => None,
        }
    }

    /// The mapped regions, one a line, as the kernel writes them.
    fn map_lines(&self, live: &Live) -> String {
        let mut text = String::new();
        let top = self.machine.abi().address_end - crate::memory::PAGE;
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
                    Backing::Copied { map, offset, .. } | Backing::Shared { map, offset } => {
                        (map.name(), offset + (from - start))
                    }
                    Backing::Zero if from == heap && self.heap.end > heap => ("[heap]", 0),
                    Backing::Zero if (stack..top).contains(&from) => ("[stack]", 0),
                    Backing::Zero => ("", 0),
                };
                let (major, minor, number) = live.file_number(name).unwrap_or_default();
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

fn open_at(process: &mut Process, live: &Live, directory: u64, path: u64, flags: u64, mode: u64) -> Reply {
    let flags = host_flags(process.machine, flags);
    let mut open = || -> Answer {
        let path = process.take_path(path)?;
        match process.own_file(live, &path) {
            Some(contents) if flags as i32 & libc::O_ACCMODE == libc::O_RDONLY => {
                live.unnamed_file(&contents, flags as i32 & libc::O_CLOEXEC != 0)
            }
            _ => {
                let directory = i64::from(directory as i32) as usize;
                live.host(libc::SYS_openat, [directory, path.as_ptr() as usize, flags, mode as usize, 0, 0])
            }
        }
    };
    super::descriptors::slow(open())
}

/// The flags of `open` as the host numbers them.
fn host_flags(machine: Machine, flags: u64) -> usize {
    let turned = machine.abi().open_flags;
    let same = turned.iter().fold(flags, |all, (bit, _)| all & !bit);
    turned.iter().filter(|(bit, _)| flags & bit != 0).fold(same as usize, |all, (_, bit)| all | *bit as usize)
}
