//! System calls about the process itself: names, limits, thread-local storage, locks.

use super::{Answer, Arguments, Errno, Reply};
use crate::elf::Machine;
use crate::memory::PAGE;
use crate::outside::live::Live;
use crate::process::Process;

/// The name of the host, except that the machine is the emulated one.
pub(super) fn uname(process: &mut Process, live: &Live, arguments: &Arguments) -> Reply {
    const FIELD: usize = 65;
    let mut names = vec![0u8; 6 * FIELD];
    let machine = process.machine.abi().platform.as_bytes();
    let answer = live.host(libc::SYS_uname, [names.as_mut_ptr() as usize, 0, 0, 0, 0, 0]).and_then(|_| {
        names[4 * FIELD..5 * FIELD].fill(0);
        names[4 * FIELD..][..machine.len()].copy_from_slice(machine);
        process.put(arguments[0], &names).map(|()| 0)
    });
    answer.into()
}

/// Memory and load of the host. A 32-bit machine counts memory in pages, so that it fits.
pub(super) fn sysinfo(process: &mut Process, live: &Live, arguments: &Arguments) -> Reply {
    // SAFETY: the structure is made of numbers and pointers, for which zero is a value.
    let mut info: libc::sysinfo = unsafe { std::mem::zeroed() };
    let answer = live.host(libc::SYS_sysinfo, [&raw mut info as usize, 0, 0, 0, 0, 0]).and_then(|_| {
        let unit = u64::from(info.mem_unit.max(1));
        let memory =
            [info.totalram, info.freeram, info.sharedram, info.bufferram, info.totalswap, info.freeswap];
        let mut bytes = Vec::new();
        match process.machine {
            Machine::X86_64 => {
                bytes.extend(info.uptime.to_le_bytes());
                let counts = info.loads.iter().chain(&memory).copied().chain([u64::from(info.procs), 0, 0]);
                counts.for_each(|value| bytes.extend(value.to_le_bytes()));
                bytes.extend(u64::from(info.mem_unit).to_le_bytes());
            }
            Machine::PowerPc => {
                let word = |value: u64| (value.min(u64::from(u32::MAX)) as u32).to_be_bytes();
                bytes.extend(word(info.uptime as u64));
                info.loads.iter().for_each(|load| bytes.extend(word(*load)));
                memory.iter().for_each(|amount| bytes.extend(word(amount * unit / PAGE)));
                bytes.extend(info.procs.to_be_bytes());
                bytes.extend([0; 2 + 8]);
                bytes.extend(word(PAGE));
                bytes.extend([0; 8]);
            }
        }
        process.put(arguments[0], &bytes).map(|()| 0)
    });
    answer.into()
}

pub(super) fn getgroups(process: &mut Process, live: &Live, arguments: &Arguments) -> Reply {
    let [count, list, ..] = *arguments;
    let mut groups = vec![0u8; 4 * count.min(65536) as usize];
    let answer = live.host(libc::SYS_getgroups, [count as usize, groups.as_mut_ptr() as usize, 0, 0, 0, 0]);
    let answer = answer.and_then(|found| {
        if count > 0 {
            process.put(list, &groups[..4 * found as usize])?;
        }
        Ok(found)
    });
    answer.into()
}

/// How precisely PowerPC reports enabled float exceptions, as two bits of its machine state: never, and three ways that
/// are one here.
const FLOAT_MODES: [u64; 4] = [0, 0x100, 0x800, 0x900];

const PR_GET_FPEXC: i32 = 11;
const PR_SET_FPEXC: i32 = 12;

/// Whether a request concerns registers of the processor or the name of a thread, and not the host.
pub(super) fn is_inside(process: &mut Process, arguments: &Arguments) -> bool {
    let option = arguments[0] as i32;
    process.machine == Machine::PowerPc && matches!(option, PR_GET_FPEXC | PR_SET_FPEXC)
        || matches!(option, libc::PR_SET_NAME | libc::PR_GET_NAME)
}

pub(super) fn own_prctl(process: &mut Process, arguments: &Arguments) -> Reply {
    match arguments[0] as i32 {
        libc::PR_SET_NAME => set_name(process, arguments[1]).into(),
        libc::PR_GET_NAME => {
            let name = process.thread_name(process.threads.name());
            process.put(arguments[1], &name).map(|()| 0).into()
        }
        _ => float_mode(process, arguments),
    }
}

fn set_name(process: &mut Process, at: u64) -> Answer {
    const LONGEST: usize = 15;
    let mut name = [0; LONGEST + 1];
    for (place, letter) in (at..).zip(&mut name[..LONGEST]) {
        *letter = process.take(place, 1)?[0];
        if *letter == 0 {
            break;
        }
    }
    process.threads.set_name(name);
    if process.threads.is_first() {
        process.outside().rename(&name);
    }
    Ok(0)
}

impl Process {
    /// The name that a thread has: its own, or that of the program.
    pub(super) fn thread_name(&self, own: Option<[u8; 16]>) -> [u8; 16] {
        own.unwrap_or_else(|| {
            let mut name = [0; 16];
            let length = self.origin.name.len().min(15);
            name[..length].copy_from_slice(&self.origin.name[..length]);
            name
        })
    }
}

/// How float exceptions are reported.
fn float_mode(process: &mut Process, arguments: &Arguments) -> Reply {
    let [option, value, ..] = *arguments;
    if option as i32 == PR_SET_FPEXC {
        let Some(mode) = FLOAT_MODES.get(value as usize) else {
            return Reply::Error(Errno(libc::EINVAL));
        };
        process.world.registers.set("MSR", *mode);
        return Reply::Value(0);
    }
    let state = process.world.registers.get("MSR");
    let mode = FLOAT_MODES.iter().position(|mode| *mode == state).unwrap_or(0) as u32;
    process.put(value, &mode.to_be_bytes()).map(|()| 0).into()
}

pub(super) fn prctl(process: &mut Process, live: &Live, arguments: &Arguments) -> Reply {
    let [option, value, ..] = *arguments;
    match option as i32 {
        libc::PR_SET_PDEATHSIG
        | libc::PR_GET_DUMPABLE
        | libc::PR_SET_DUMPABLE
        | libc::PR_CAPBSET_READ
        | libc::PR_SET_NO_NEW_PRIVS
        | libc::PR_GET_NO_NEW_PRIVS
        | libc::PR_SET_KEEPCAPS
        | libc::PR_GET_KEEPCAPS
        | libc::PR_SET_CHILD_SUBREAPER => {
            live.host(libc::SYS_prctl, [option as usize, value as usize, 0, 0, 0, 0]).into()
        }
        libc::PR_GET_PDEATHSIG => {
            let mut signal = [0u8; 4];
            let answer =
                live.host(libc::SYS_prctl, [option as usize, signal.as_mut_ptr() as usize, 0, 0, 0, 0]);
            answer.and_then(|_| process.put(value, &signal).map(|()| 0)).into()
        }
        // Names for mappings, speculation control, tagged addresses and the like: hints that a kernel may lack.
        _ => Reply::Error(Errno(libc::EINVAL)),
    }
}

const CAPABILITIES_1: u32 = 0x1998_0330;
const CAPABILITIES_2: u32 = 0x2007_1026;
const CAPABILITIES_3: u32 = 0x2008_0522;

/// The header of `capget` and `capset`, and how many bytes of data its version has.
fn capabilities(process: &mut Process, header: u64) -> Result<(Vec<u8>, u64), Errno> {
    let header = process.take(header, 8)?;
    let version = u32::from_le_bytes([header[0], header[1], header[2], header[3]]);
    let size = match version {
        CAPABILITIES_1 => 12,
        CAPABILITIES_2 | CAPABILITIES_3 => 24,
        _ => 0,
    };
    Ok((header, size))
}

pub(super) fn capget(process: &mut Process, live: &Live, arguments: &Arguments) -> Reply {
    let [at, data, ..] = *arguments;
    let mut get = || -> Answer {
        let (mut header, size) = capabilities(process, at)?;
        let mut found = vec![0u8; 24];
        if data != 0 {
            process.world.memory.check_writable(data, size)?;
        }
        let target = if data == 0 { 0 } else { found.as_mut_ptr() as usize };
        let answer = live.host(libc::SYS_capget, [header.as_mut_ptr() as usize, target, 0, 0, 0, 0]);
        if size == 0 {
            // The version that should have been asked for.
            process.put(at, &header[..4])?;
        } else if answer.is_ok() && data != 0 {
            process.put(data, &found[..size as usize])?;
        }
        answer
    };
    get().into()
}

pub(super) fn capset(process: &mut Process, live: &Live, arguments: &Arguments) -> Reply {
    let [at, data, ..] = *arguments;
    let mut set = || -> Answer {
        let (mut header, size) = capabilities(process, at)?;
        let mut wanted = process.take(data, size)?;
        wanted.resize(24, 0);
        let given = [header.as_mut_ptr() as usize, wanted.as_ptr() as usize, 0, 0, 0, 0];
        let answer = live.host(libc::SYS_capset, given);
        if size == 0 {
            process.put(at, &header[..4])?;
        }
        answer
    };
    set().into()
}

pub(super) fn arch_prctl(process: &mut Process, arguments: &Arguments) -> Reply {
    const SET_GS: u64 = 0x1001;
    const SET_FS: u64 = 0x1002;
    const GET_FS: u64 = 0x1003;
    const GET_GS: u64 = 0x1004;
    let [code, value, ..] = *arguments;
    let answer = match code {
        SET_FS | SET_GS if !process.world.memory.is_range(value, 0) => Err(Errno(libc::EPERM)),
        SET_FS => {
            process.world.registers.set("FS_OFFSET", value);
            Ok(0)
        }
        SET_GS => {
            process.world.registers.set("GS_OFFSET", value);
            Ok(0)
        }
        GET_FS | GET_GS => {
            let base = process.world.registers.get(if code == GET_FS { "FS_OFFSET" } else { "GS_OFFSET" });
            process.put(value, &base.to_le_bytes()).map(|()| 0)
        }
        _ => Err(Errno(libc::EINVAL)),
    };
    answer.into()
}

pub(super) fn set_tid_address(process: &mut Process, arguments: &Arguments) -> Reply {
    process.threads.set_cleared(arguments[0]);
    Reply::Value(process.threads.number().into())
}

pub(super) fn gettid(process: &mut Process, _: &Arguments) -> Reply {
    Reply::Value(process.threads.number().into())
}

pub(super) fn sched_yield(process: &mut Process, _: &Arguments) -> Reply {
    process.set_result(Ok(0));
    if !process.threads.is_alone() {
        process.switch();
    }
    Reply::Done
}

/// Whether a signal is for one of our own threads.
pub(super) fn is_for_thread(process: &mut Process, arguments: &Arguments) -> bool {
    !process.threads.is_alone() && process.concerns_thread(arguments[0], arguments[1])
}

pub(super) fn is_for_thread_of_group(process: &mut Process, arguments: &Arguments) -> bool {
    !process.threads.is_alone() && process.concerns_thread(arguments[1], arguments[2])
}

pub(super) fn tkill(process: &mut Process, arguments: &Arguments) -> Reply {
    process.signal_thread(arguments[0], arguments[1])
}

pub(super) fn tgkill(process: &mut Process, arguments: &Arguments) -> Reply {
    process.signal_thread(arguments[1], arguments[2])
}

/// A signal with what its sender says about it, from thread to thread.
pub(super) fn queue_for_thread(process: &mut Process, arguments: &Arguments) -> Reply {
    let [_, thread, signal, at, ..] = *arguments;
    if signal == 0 {
        return Reply::Value(0);
    }
    if signal > 64 {
        return Reply::Error(Errno(libc::EINVAL));
    }
    match process.take(at, 128) {
        Ok(bytes) => {
            let mut information = [0; 128];
            information.copy_from_slice(&bytes);
            information[..4].copy_from_slice(&(signal as i32).to_le_bytes());
            process.arrive_at(thread as u32, signal as i32, information);
            Reply::Value(0)
        }
        Err(errno) => Reply::Error(errno),
    }
}

pub(super) fn queue_outside(process: &mut Process, live: &Live, arguments: &Arguments) -> Reply {
    let target = known_to_host(process, arguments[1]);
    let answer = process.take(arguments[3], 128).and_then(|information| {
        let given = [arguments[0] as usize, target, arguments[2] as usize, information.as_ptr() as usize];
        live.host(libc::SYS_rt_tgsigqueueinfo, [given[0], given[1], given[2], given[3], 0, 0])
    });
    answer.into()
}

/// A signal for a thread of another process, or for the whole of this one.
pub(super) fn tkill_outside(process: &mut Process, live: &Live, arguments: &Arguments) -> Reply {
    let target = known_to_host(process, arguments[0]);
    live.host(libc::SYS_tkill, [target, arguments[1] as usize, 0, 0, 0, 0]).into()
}

pub(super) fn tgkill_outside(process: &mut Process, live: &Live, arguments: &Arguments) -> Reply {
    let target = known_to_host(process, arguments[1]);
    live.host(libc::SYS_tgkill, [arguments[0] as usize, target, arguments[2] as usize, 0, 0, 0]).into()
}

/// The number of a thread that only we know stands for the whole process.
fn known_to_host(process: &Process, number: u64) -> usize {
    if process.threads.has(number) { process.facts.process as usize } else { number as usize }
}
