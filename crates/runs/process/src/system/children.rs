//! System calls that make, replace and end processes.
//!
//! A child of the emulated program is a child of Parallax: the live door forks Parallax itself, and the kernel copies
//! the emulated memory with the rest. Process numbers, pipes, waiting and signals between relatives are then simply real.

use super::{Arguments, Errno, Reply};
use crate::elf::{self, LoadError, Vectors};
use crate::memory::{Memory, PAGE};
use crate::outside::{Birth, Exec, Side};
use crate::process::{Ending, Process};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

pub(super) fn fork(process: &mut Process, _: &Arguments) -> Reply {
    split(process, 0, None, Birth { borrows: false, signal: libc::SIGCHLD, descriptor: false })
}

pub(super) fn vfork(process: &mut Process, _: &Arguments) -> Reply {
    split(process, 0, None, Birth { borrows: true, signal: libc::SIGCHLD, descriptor: false })
}

pub(super) fn clone(process: &mut Process, arguments: &Arguments) -> Reply {
    let [flags, stack, parent_id, ..] = *arguments;
    let abi = process.machine.abi();
    let (child_id, storage) = (arguments[abi.clone_arguments.0], arguments[abi.clone_arguments.1]);
    let flag = |bit: i32| flags & bit as u64 != 0;
    let senseless = flag(libc::CLONE_THREAD) && !flag(libc::CLONE_SIGHAND)
        || flag(libc::CLONE_SIGHAND) && !flag(libc::CLONE_VM)
        || flag(libc::CLONE_PIDFD) && flag(libc::CLONE_PARENT_SETTID);
    if senseless {
        return Reply::Error(Errno(libc::EINVAL));
    }
    if flag(libc::CLONE_THREAD) {
        return thread(process, flags, arguments);
    }
    if flags & NAME_SPACES != 0 {
        return Reply::Error(refused_name_space(flags));
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
        | libc::CLONE_PIDFD
        | libc::CLONE_SETTLS
        | libc::CLONE_DETACHED
        | libc::CLONE_UNTRACED
        | libc::CLONE_IO;
    if flags & !(known as u64) != 0 {
        return process.unsupported(format!("clone with flags {flags:#x}"));
    }
    let birth = Birth {
        borrows: flag(libc::CLONE_VM),
        signal: (flags & 0xff) as i32,
        descriptor: flag(libc::CLONE_PIDFD),
    };
    let reply = split(process, stack, flag(libc::CLONE_CHILD_SETTID).then_some(child_id), birth);
    let reply = match (reply, process.born.take()) {
        (Reply::Value(child), Some(descriptor)) if child != 0 => {
            let bytes = abi.int_bytes(descriptor as u32);
            process.put(parent_id, &bytes).map_or_else(Reply::Error, |()| Reply::Value(child))
        }
        (reply, _) => reply,
    };
    match reply {
        // A child of its own may want to be told by whom it waits for it that it is gone.
        Reply::Value(0) if flag(libc::CLONE_CHILD_CLEARTID) => {
            process.threads.set_cleared(child_id);
            if flag(libc::CLONE_SETTLS) {
                process.world.registers.set(abi.thread_pointer, storage);
            }
            reply
        }
        Reply::Value(0) if flag(libc::CLONE_SETTLS) => {
            process.world.registers.set(abi.thread_pointer, storage);
            reply
        }
        Reply::Value(child) if child != 0 && flag(libc::CLONE_PARENT_SETTID) => {
            let id = abi.int_bytes(child as u32);
            process.put(parent_id, &id).map_or_else(Reply::Error, |()| reply)
        }
        _ => reply,
    }
}

/// Every name space that a process can have of its own.
const NAME_SPACES: u64 = (libc::CLONE_NEWNS
    | libc::CLONE_NEWCGROUP
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUSER
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWNET) as u64;
/// This one has the bit of a signal's number in `clone`.
const NEW_TIME: u64 = 0x80;

/// What a kernel says that lets nobody have name spaces of its own.
fn refused_name_space(flags: u64) -> Errno {
    let both = |other: i32| flags & libc::CLONE_FS as u64 != 0 && flags & other as u64 != 0;
    let senseless = both(libc::CLONE_NEWNS) || both(libc::CLONE_NEWUSER);
    Errno(if senseless { libc::EINVAL } else { libc::EPERM })
}

/// Parts that processes share are the process' own here, but for what threads share.
pub(super) fn unshare(process: &mut Process, arguments: &Arguments) -> Reply {
    let flags = arguments[0];
    let threads = (libc::CLONE_THREAD | libc::CLONE_SIGHAND | libc::CLONE_VM) as u64;
    let parts = (libc::CLONE_FS | libc::CLONE_FILES | libc::CLONE_SYSVSEM) as u64;
    if flags & !(threads | parts | NAME_SPACES | NEW_TIME) != 0 {
        return Reply::Error(Errno(libc::EINVAL));
    }
    if flags & (NAME_SPACES | NEW_TIME) != 0 {
        return Reply::Error(Errno(libc::EPERM));
    }
    match process.threads.is_alone() {
        true => Reply::Value(0),
        false if flags & threads != 0 => Reply::Error(Errno(libc::EINVAL)),
        false if flags == 0 => Reply::Value(0),
        false => process.unsupported(format!("unshare with flags {flags:#x} in one of several threads")),
    }
}

/// A second thread, as the C library asks for it.
fn thread(process: &mut Process, flags: u64, arguments: &Arguments) -> Reply {
    let [_, stack, parent_id, child_id, storage, _] = *arguments;
    let abi = process.machine.abi();
    if !abi.has_threads {
        return Reply::End(process.no_thread(&format!("of a program for {}", abi.name)));
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

fn split(process: &mut Process, stack: u64, child_id: Option<u64>, birth: Birth) -> Reply {
    let borrows = birth.borrows;
    let time = process.time();
    let side = process.with_outside(|outside, process| outside.split(time, &mut process.world.memory, birth));
    match side {
        Err(Errno(libc::ENOSYS)) => {
            process.unsupported(String::from("a second process inside another program"))
        }
        Err(Errno(libc::ENOMEM)) if borrows => {
            process.unsupported(String::from("a child of vfork that writes so much memory"))
        }
        Err(errno) => Reply::Error(errno),
        Ok(Side::Child(facts)) => {
            let abi = process.machine.abi();
            process.signals.forget_arrivals();
            process.threads.keep_current(facts.process);
            process.facts = facts;
            if !borrows {
                process.world.memory.become_childs();
            }
            if stack != 0 {
                process.world.registers.set(abi.stack_pointer, stack);
            }
            if let Some(address) = child_id {
                let id = abi.int_bytes(process.facts.process);
                if let Err(errno) = process.put(address, &id) {
                    return Reply::Error(errno);
                }
            }
            Reply::Value(0)
        }
        Ok(Side::Parent { child, descriptor, loan }) => {
            process.born = descriptor;
            for (number, bytes) in loan {
                // The child cannot have written where nothing is mapped, unless it mapped something of its own.
                let _ = process.world.memory.poke(number * PAGE, &bytes);
            }
            Reply::Value(child.into())
        }
    }
}

/// Gives back what a borrowing child wrote, and lets the parent go on.
pub(crate) fn give_back(process: &mut Process) {
    process.with_outside(|outside, process| outside.give_back(&mut process.world.memory));
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
    path.pop();
    let path = PathBuf::from(OsStr::from_bytes(&path));
    let exec = process.outside().load(path, list).map_err(errno)?;
    let started = start(exec, environment, process.byte_bound, process.limits.stack.soft).map_err(errno)?;
    process.leave_all_locks();
    give_back(process);
    process.replace(started, Origin::short_name(&name[..name.len() - 1])).map_err(|_| Errno(libc::ENOEXEC))
}

fn errno(error: LoadError) -> Errno {
    match error {
        LoadError::Unreadable { error, .. } => Errno(error.raw_os_error().unwrap_or(libc::EACCES)),
        _ => Errno(libc::ENOEXEC),
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
        list += process.machine.abi().word as u64;
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
#[derive(Clone, Default, serde::Serialize, serde::Deserialize)]
pub(crate) struct Origin {
    /// The last part of the path it was started by, as short as the kernel keeps it.
    pub name: Vec<u8>,
    /// Its arguments, each with a zero behind it.
    pub arguments: Vec<u8>,
    /// Its environment, likewise.
    pub environment: Vec<u8>,
    /// Its auxiliary vector.
    pub auxiliary: Vec<u8>,
}

impl Origin {
    /// The name that the kernel gives a program of this path.
    pub fn short_name(path: &[u8]) -> Vec<u8> {
        const LONGEST: usize = 15;
        let last = path.rsplit(|byte| *byte == b'/').next().unwrap_or(path);
        last[..last.len().min(LONGEST)].to_vec()
    }
}

/// Puts an opened program into memory and builds its stack.
pub(crate) fn start(
    exec: Exec,
    environment: Vec<Vec<u8>>,
    byte_bound: u64,
    stack_limit: u64,
) -> Result<Started, LoadError> {
    let (mut memory, loaded) = elf::load(&exec, byte_bound, stack_limit)?;
    let terminated = |texts: &[Vec<u8>]| texts.iter().flat_map(|text| [&text[..], &[0]].concat()).collect();
    let mut origin = Origin {
        name: Vec::new(),
        arguments: terminated(&exec.arguments),
        environment: terminated(&environment),
        auxiliary: Vec::new(),
    };
    let path = exec.program.path;
    let vectors = Vectors {
        arguments: exec.arguments,
        environment,
        path: path.as_os_str().as_bytes().to_vec(),
        random: exec.random,
        identity: exec.identity,
    };
    let no_room = || LoadError::NoRoom { path: path.clone(), size: elf::STACK_SIZE };
    let stack = elf::build_stack(&mut memory, &loaded, &vectors).ok().flatten().ok_or_else(no_room)?;
    origin.auxiliary = stack.auxiliary;
    Ok(Started { memory, loaded, stack: stack.pointer, path: exec.canonical, origin })
}
