//! System calls that make, replace and end processes.
//!
//! A child of the emulated program is a child of Parallax: `fork` forks Parallax itself, and the kernel copies the
//! emulated memory with the rest. Process numbers, pipes, waiting and signals between relatives are then simply real.

use super::borrowed::{Borrowed, Loan};
use super::{Arguments, Errno, Reply, host};
use crate::elf::{self, LoadError, Vectors};
use crate::memory::Memory;
use crate::process::{Ending, Process};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

pub(super) fn fork(process: &mut Process, _: &Arguments) -> Reply {
    split(process, 0, None, false)
}

pub(super) fn vfork(process: &mut Process, _: &Arguments) -> Reply {
    split(process, 0, None, true)
}

pub(super) fn clone(process: &mut Process, arguments: &Arguments) -> Reply {
    let [flags, stack, parent_id, child_id_x86, ..] = *arguments;
    let (child_id, local_storage) = match process.machine {
        elf::Machine::X86_64 => (child_id_x86, ("FS_OFFSET", arguments[4])),
        elf::Machine::PowerPc => (arguments[4], ("r2", arguments[3])),
    };
    let flag = |bit: i32| flags & bit as u64 != 0;
    if flag(libc::CLONE_THREAD) {
        return thread(process, flags, arguments);
    }
    if flag(libc::CLONE_VM) && !flag(libc::CLONE_VFORK) {
        return process.unsupported(String::from("a process that shares memory (clone with CLONE_VM)"));
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
    match reply {
        Reply::Value(0) if flag(libc::CLONE_SETTLS) => {
            process.world.registers.set(local_storage.0, local_storage.1);
            reply
        }
        Reply::Value(child) if child != 0 && flag(libc::CLONE_PARENT_SETTID) => {
            let id = process.machine.int_bytes(child as u32);
            process.put(parent_id, &id).map_or_else(Reply::Error, |()| reply)
        }
        _ => reply,
    }
}

/// A second thread, as the C library asks for it.
fn thread(process: &mut Process, flags: u64, arguments: &Arguments) -> Reply {
    let [_, stack, parent_id, child_id, storage, _] = *arguments;
    if process.machine != elf::Machine::X86_64 {
        return Reply::End(process.no_thread("of a PowerPC program"));
    }
    let shared =
        libc::CLONE_VM | libc::CLONE_FS | libc::CLONE_FILES | libc::CLONE_SIGHAND | libc::CLONE_THREAD;
    let optional = libc::CLONE_SYSVSEM
        | libc::CLONE_SETTLS
        | libc::CLONE_PARENT_SETTID
        | libc::CLONE_CHILD_SETTID
        | libc::CLONE_CHILD_CLEARTID
        | libc::CLONE_DETACHED;
    let flag = |bit: i32| flags & bit as u64 != 0;
    if flags & shared as u64 != shared as u64 || flags & !((shared | optional) as u64) != 0 || stack == 0 {
        return Reply::End(process.no_thread(&format!("made with flags {flags:#x}")));
    }
    let cleared = if flag(libc::CLONE_CHILD_CLEARTID) { child_id } else { 0 };
    let answer = process.new_thread(stack, flag(libc::CLONE_SETTLS).then_some(storage), cleared);
    let answer = answer.and_then(|number| {
        let bytes = (number as u32).to_le_bytes();
        for (wanted, place) in [(libc::CLONE_PARENT_SETTID, parent_id), (libc::CLONE_CHILD_SETTID, child_id)]
        {
            if flag(wanted) {
                process.put(place, &bytes)?;
            }
        }
        Ok(number)
    });
    answer.into()
}

fn split(process: &mut Process, stack: u64, child_id: Option<u64>, borrows: bool) -> Reply {
    let loan = match borrows.then(Loan::new).transpose() {
        Ok(loan) => loan,
        Err(errno) => return Reply::Error(errno),
    };
    // Nothing else runs in Parallax while a program does, so the child is whole.
    match unsafe { libc::fork() } {
        -1 => {
            let errno = std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EAGAIN);
            Reply::Error(Errno(errno))
        }
        0 => {
            process.signals.forget_arrivals();
            process.threads.keep_current();
            process.borrowed = loan.map(|loan| Borrowed { original: process.world.memory.snapshot(), loan });
            if stack != 0 {
                let name = if process.machine == elf::Machine::X86_64 { "RSP" } else { "r1" };
                process.world.registers.set(name, stack);
            }
            if let Some(address) = child_id {
                let id = unsafe { libc::getpid() } as u32;
                let id = process.machine.int_bytes(id);
                if let Err(errno) = process.put(address, &id) {
                    return Reply::Error(errno);
                }
            }
            Reply::Value(0)
        }
        child => {
            if let Some(loan) = loan
                && loan.take_back(&mut process.world.memory, child).is_err()
            {
                return process.unsupported(String::from("a child of vfork that writes so much memory"));
            }
            Reply::Value(child as u64)
        }
    }
}

/// Gives back what a borrowing child wrote, and lets the parent go on.
pub(crate) fn give_back(process: &mut Process) {
    if let Some(Borrowed { original, loan }) = process.borrowed.take() {
        loan.give_back(&mut process.world.memory, &original);
    }
}

pub(super) fn exit_group(_: &mut Process, arguments: &Arguments) -> Reply {
    Reply::End(Ending::Exited(arguments[0] as u8))
}

/// The end of a thread; that of the last is the end of the process.
pub(super) fn exit(process: &mut Process, arguments: &Arguments) -> Reply {
    if process.end_thread() { Reply::Done } else { exit_group(process, arguments) }
}

pub(super) fn execve(process: &mut Process, arguments: &Arguments) -> Reply {
    match replace(process, arguments) {
        Ok(()) => Reply::Done,
        Err(errno) => Reply::Error(errno),
    }
}

fn replace(process: &mut Process, arguments: &Arguments) -> Result<(), Errno> {
    let [path, list, environment, ..] = *arguments;
    let name = process.take_given_path(path)?;
    let mut path = process.take_path(path)?;
    let list = strings(process, list)?;
    let environment = strings(process, environment)?;
    host(libc::SYS_access, [path.as_ptr() as usize, libc::X_OK as usize, 0, 0, 0, 0])?;
    path.pop();
    let bound = process.byte_bound;
    let started = start(PathBuf::from(OsStr::from_bytes(&path)), list, environment, bound);
    let mut started = started.map_err(|error| match error {
        LoadError::Unreadable { error, .. } => Errno(error.raw_os_error().unwrap_or(libc::EACCES)),
        _ => Errno(libc::ENOEXEC),
    })?;
    started.origin.name = Origin::short_name(&name[..name.len() - 1]);
    give_back(process);
    close_on_exec();
    process.replace(started).map_err(|_| Errno(libc::ENOEXEC))
}

/// Closes the descriptors that are not to outlive the program that opened them.
fn close_on_exec() {
    let listed = std::fs::read_dir("/proc/self/fd").map(|entries| {
        let names = entries.flatten().map(|entry| entry.file_name());
        names.filter_map(|name| name.to_str()?.parse().ok()).collect::<Vec<i32>>()
    });
    // Without /proc, try the ones that a program is likely to have.
    let descriptors = listed.unwrap_or_else(|_| (0..4096).collect());
    for descriptor in descriptors {
        let flags = host(libc::SYS_fcntl, [descriptor as usize, libc::F_GETFD as usize, 0, 0, 0, 0]);
        if flags.is_ok_and(|flags| flags & libc::FD_CLOEXEC as u64 != 0) {
            let _ = host(libc::SYS_close, [descriptor as usize, 0, 0, 0, 0, 0]);
        }
    }
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
    pub origin: Origin,
}

/// What a program was started as, which `/proc` tells about it.
#[derive(Clone, Default)]
pub(crate) struct Origin {
    /// The last part of the path it was started by, as short as the kernel keeps it.
    pub name: Vec<u8>,
    /// Its arguments, each with a zero behind it.
    pub arguments: Vec<u8>,
    /// Its environment, likewise.
    pub environment: Vec<u8>,
}

impl Origin {
    fn short_name(path: &[u8]) -> Vec<u8> {
        const LONGEST: usize = 15;
        let last = path.rsplit(|byte| *byte == b'/').next().unwrap_or(path);
        last[..last.len().min(LONGEST)].to_vec()
    }

    /// Gives the process of the host the name that the program has.
    pub fn take_name(&self) {
        let name = [&self.name[..], &[0]].concat();
        let _ = host(libc::SYS_prctl, [libc::PR_SET_NAME as usize, name.as_ptr() as usize, 0, 0, 0, 0]);
    }
}

/// Loads a program, or the interpreter that a script names in its first line, and builds its stack.
pub(crate) fn start(
    path: PathBuf,
    mut list: Vec<Vec<u8>>,
    environment: Vec<Vec<u8>>,
    byte_bound: u64,
) -> Result<Started, LoadError> {
    const DEEPEST: usize = 5;
    let name = Origin::short_name(path.as_os_str().as_bytes());
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
    if script(&path).is_some() {
        // What Linux says of scripts whose interpreters are scripts without end.
        return Err(LoadError::Unreadable { path, error: std::io::Error::from_raw_os_error(libc::ELOOP) });
    }
    let (mut memory, loaded) = elf::load(&path, byte_bound)?;
    let mut random = [0u8; 16];
    let _ = host(libc::SYS_getrandom, [random.as_mut_ptr() as usize, 16, 0, 0, 0, 0]);
    let identity = [libc::SYS_getuid, libc::SYS_geteuid, libc::SYS_getgid, libc::SYS_getegid]
        .map(|call| host(call, [0; 6]).unwrap_or(0));
    let terminated = |texts: &[Vec<u8>]| texts.iter().flat_map(|text| [&text[..], &[0]].concat()).collect();
    let origin = Origin { name, arguments: terminated(&list), environment: terminated(&environment) };
    let vectors = Vectors {
        arguments: list,
        environment,
        path: path.as_os_str().as_bytes().to_vec(),
        random,
        identity,
    };
    let no_room = || LoadError::NoRoom { path: path.clone(), size: elf::STACK_SIZE };
    let stack = elf::build_stack(&mut memory, &loaded, &vectors).ok().flatten().ok_or_else(no_room)?;
    let path = std::fs::canonicalize(&path).unwrap_or(path);
    Ok(Started { memory, loaded, stack, path, origin })
}

/// The interpreter and its argument, from a first line `#! interpreter [argument]`.
fn script(path: &Path) -> Option<(Vec<u8>, Option<Vec<u8>>)> {
    let options = std::fs::OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).clone();
    let file = options.open(path).ok().filter(|file| file.metadata().is_ok_and(|status| status.is_file()))?;
    let mut head = Vec::new();
    std::io::Read::read_to_end(&mut std::io::Read::take(file, 256), &mut head).ok()?;
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
