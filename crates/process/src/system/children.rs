//! System calls that make, replace and end processes.
//!
//! A child of the emulated program is a child of Parallax: `fork` forks Parallax itself, and the kernel copies the
//! emulated memory with the rest. Process numbers, pipes, waiting and signals between relatives are then simply real.

use super::{Arguments, Errno, Reply, host};
use crate::elf::{self, LoadError, Vectors};
use crate::memory::{Memory, PAGE};
use crate::process::{Ending, Process};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// A child that was made by `vfork` borrows its parent's memory until it runs another program or ends. It is a copy
/// here, so what it wrote is sent back to the parent, which waits for it.
pub(crate) struct Borrowed {
    original: Memory,
    pipe: i32,
}

/// Descriptors of ours are put out of the way of the program's.
const OWN_DESCRIPTORS: i32 = 1000;

pub(super) fn fork(process: &mut Process, _: &Arguments) -> Reply {
    split(process, 0, None, false)
}

pub(super) fn clone(process: &mut Process, arguments: &Arguments) -> Reply {
    let [flags, stack, parent_id, child_id_x86, ..] = *arguments;
    let child_id = match process.machine {
        elf::Machine::X86_64 => child_id_x86,
        elf::Machine::PowerPc => arguments[4],
    };
    let flag = |bit: i32| flags & bit as u64 != 0;
    if flag(libc::CLONE_THREAD) || (flag(libc::CLONE_VM) && !flag(libc::CLONE_VFORK)) {
        return process.unsupported(String::from("a second thread (clone with CLONE_VM)"));
    }
    let known = 0xff
        | libc::CLONE_VM
        | libc::CLONE_VFORK
        | libc::CLONE_CHILD_CLEARTID
        | libc::CLONE_CHILD_SETTID
        | libc::CLONE_PARENT_SETTID
        | libc::CLONE_SETTLS;
    if flags & !(known as u64) != 0 {
        return process.unsupported(format!("clone with flags {flags:#x}"));
    }
    let reply =
        split(process, stack, flag(libc::CLONE_CHILD_SETTID).then_some(child_id), flag(libc::CLONE_VM));
    if let Reply::Value(child) = reply
        && child != 0
        && flag(libc::CLONE_PARENT_SETTID)
        && let Err(errno) = process.put(parent_id, &(child as u32).to_le_bytes())
    {
        return Reply::Error(errno);
    }
    reply
}

fn split(process: &mut Process, stack: u64, child_id: Option<u64>, borrows: bool) -> Reply {
    let pipe = if borrows {
        match own_pipe() {
            Ok(pipe) => Some(pipe),
            Err(errno) => return Reply::Error(errno),
        }
    } else {
        None
    };
    // Nothing else runs in Parallax while a program does, so the child is whole.
    match unsafe { libc::fork() } {
        -1 => {
            let errno = std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EAGAIN);
            if let Some((read, write)) = pipe {
                close(read);
                close(write);
            }
            Reply::Error(Errno(errno))
        }
        0 => {
            process.borrowed = pipe.map(|(read, write)| {
                close(read);
                Borrowed { original: process.world.memory.snapshot(), pipe: write }
            });
            if stack != 0 {
                let name = if process.machine == elf::Machine::X86_64 { "RSP" } else { "r1" };
                process.world.registers.set(name, stack);
            }
            if let Some(address) = child_id {
                let id = unsafe { libc::getpid() } as u32;
                if let Err(errno) = process.put(address, &id.to_le_bytes()) {
                    return Reply::Error(errno);
                }
            }
            Reply::Value(0)
        }
        child => {
            if let Some((read, write)) = pipe {
                close(write);
                take_back(process, read);
                close(read);
            }
            Reply::Value(child as u64)
        }
    }
}

fn own_pipe() -> Result<(i32, i32), Errno> {
    let mut ends = [0i32; 2];
    host(libc::SYS_pipe2, [ends.as_mut_ptr() as usize, libc::O_CLOEXEC as usize, 0, 0, 0, 0])?;
    let moved = ends.map(|end| {
        let far = host(
            libc::SYS_fcntl,
            [end as usize, libc::F_DUPFD_CLOEXEC as usize, OWN_DESCRIPTORS as usize, 0, 0, 0],
        );
        close(end);
        far
    });
    match moved {
        [Ok(read), Ok(write)] => Ok((read as i32, write as i32)),
        [read, write] => {
            read.into_iter().chain(write).for_each(|end| close(end as i32));
            Err(Errno(libc::EMFILE))
        }
    }
}

fn close(descriptor: i32) {
    let _ = host(libc::SYS_close, [descriptor as usize, 0, 0, 0, 0, 0]);
}

/// Waits for a borrowing child and applies what it wrote.
fn take_back(process: &mut Process, pipe: i32) {
    let mut record = [0u8; 8 + PAGE as usize];
    loop {
        let mut filled = 0;
        while filled < record.len() {
            let room = &mut record[filled..];
            match host(libc::SYS_read, [pipe as usize, room.as_mut_ptr() as usize, room.len(), 0, 0, 0]) {
                Ok(0) => return,
                Ok(count) => filled += count as usize,
                Err(Errno(libc::EINTR)) => {}
                Err(_) => return,
            }
        }
        let number = u64::from_le_bytes(record[..8].try_into().expect("eight bytes"));
        // The child cannot have written where nothing is mapped, unless it mapped something of its own.
        let _ = process.world.memory.poke(number * PAGE, &record[8..]);
    }
}

/// Sends what a borrowing child wrote, and lets the parent go on.
pub(crate) fn give_back(process: &mut Process) {
    let Some(Borrowed { original, pipe }) = process.borrowed.take() else { return };
    for number in process.world.memory.pages_changed_since(&original) {
        let mut record = number.to_le_bytes().to_vec();
        record.resize(8 + PAGE as usize, 0);
        if process.world.memory.read(number * PAGE, &mut record[8..]).is_err() {
            continue;
        }
        let mut rest = &record[..];
        while !rest.is_empty() {
            match host(libc::SYS_write, [pipe as usize, rest.as_ptr() as usize, rest.len(), 0, 0, 0]) {
                Ok(count) => rest = &rest[count as usize..],
                Err(Errno(libc::EINTR)) => {}
                Err(_) => return close(pipe),
            }
        }
    }
    close(pipe);
}

pub(super) fn exit(_: &mut Process, arguments: &Arguments) -> Reply {
    Reply::End(Ending::Exited(arguments[0] as u8))
}

pub(super) fn execve(process: &mut Process, arguments: &Arguments) -> Reply {
    match replace(process, arguments) {
        Ok(()) => Reply::Done,
        Err(errno) => Reply::Error(errno),
    }
}

fn replace(process: &mut Process, arguments: &Arguments) -> Result<(), Errno> {
    let [path, list, environment, ..] = *arguments;
    let mut path = process.take_path(path)?;
    let list = strings(process, list)?;
    let environment = strings(process, environment)?;
    host(libc::SYS_access, [path.as_ptr() as usize, libc::X_OK as usize, 0, 0, 0, 0])?;
    path.pop();
    let bound = process.byte_bound;
    let started = start(PathBuf::from(OsStr::from_bytes(&path)), list, environment, bound);
    let started = started.map_err(|error| match error {
        LoadError::Unreadable { error, .. } => Errno(error.raw_os_error().unwrap_or(libc::EACCES)),
        _ => Errno(libc::ENOEXEC),
    })?;
    give_back(process);
    process.replace(started).map_err(|_| Errno(libc::ENOEXEC))
}

fn strings(process: &mut Process, mut list: u64) -> Result<Vec<Vec<u8>>, Errno> {
    const LARGEST: usize = 2 << 20;
    let mut found = Vec::new();
    let mut size = 0;
    if list == 0 {
        return Ok(found);
    }
    loop {
        let pointer = process.take_word(list)?;
        if pointer == 0 {
            return Ok(found);
        }
        let text = process.world.memory.read_string(pointer, 128 << 10)?.ok_or(Errno(libc::E2BIG))?;
        size += text.len() + 9;
        if size > LARGEST {
            return Err(Errno(libc::E2BIG));
        }
        found.push(text);
        list += process.machine.word() as u64;
    }
}

/// A program ready to run: its memory, where it starts and its stack.
pub(crate) struct Started {
    pub memory: Memory,
    pub loaded: elf::Loaded,
    pub stack: u64,
    pub path: PathBuf,
}

/// Loads a program, or the interpreter that a script names in its first line, and builds its stack.
pub(crate) fn start(
    path: PathBuf,
    mut list: Vec<Vec<u8>>,
    environment: Vec<Vec<u8>>,
    byte_bound: u64,
) -> Result<Started, LoadError> {
    const DEEPEST: usize = 5;
    let mut path = path;
    for _ in 0..DEEPEST {
        let Some((interpreter, argument)) = script(&path) else { break };
        let mut longer = vec![interpreter.clone()];
        longer.extend(argument);
        longer.push(path.as_os_str().as_bytes().to_vec());
        longer.extend(list.into_iter().skip(1));
        list = longer;
        path = PathBuf::from(OsStr::from_bytes(&interpreter));
    }
    let (mut memory, loaded) = elf::load(&path, byte_bound)?;
    let mut random = [0u8; 16];
    let _ = host(libc::SYS_getrandom, [random.as_mut_ptr() as usize, 16, 0, 0, 0, 0]);
    let identity = [libc::SYS_getuid, libc::SYS_geteuid, libc::SYS_getgid, libc::SYS_getegid]
        .map(|call| host(call, [0; 6]).unwrap_or(0));
    let vectors = Vectors {
        arguments: list,
        environment,
        path: path.as_os_str().as_bytes().to_vec(),
        random,
        identity,
    };
    let no_room = || LoadError::NoRoom { path: path.clone(), size: elf::STACK_SIZE };
    let stack = elf::build_stack(&mut memory, &loaded, &vectors).ok().flatten().ok_or_else(no_room)?;
    let path = std::path::absolute(&path).unwrap_or(path);
    Ok(Started { memory, loaded, stack, path })
}

/// The interpreter and its argument, from a first line `#! interpreter [argument]`.
fn script(path: &Path) -> Option<(Vec<u8>, Option<Vec<u8>>)> {
    let file =
        std::fs::File::open(path).ok().filter(|file| file.metadata().is_ok_and(|status| status.is_file()))?;
    let mut head = Vec::new();
    std::io::Read::read_to_end(&mut std::io::Read::take(file, 256), &mut head).ok()?;
    let line = head.strip_prefix(b"#!")?;
    let end = line.iter().position(|byte| *byte == b'\n').unwrap_or(line.len());
    let line = line[..end].trim_ascii();
    let split = line.iter().position(|byte| byte.is_ascii_whitespace()).unwrap_or(line.len());
    let argument = line[split..].trim_ascii();
    if split == 0 {
        return None;
    }
    Some((line[..split].to_vec(), (!argument.is_empty()).then(|| argument.to_vec())))
}
