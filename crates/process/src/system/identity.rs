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

/// Limits on memory are kept from the host: they are meant for the emulated process, not for Parallax around it.
fn concerns_memory(resource: u64) -> bool {
    matches!(
        resource as u32,
        libc::RLIMIT_AS | libc::RLIMIT_DATA | libc::RLIMIT_STACK | libc::RLIMIT_RSS | libc::RLIMIT_MEMLOCK
    )
}

pub(super) fn prlimit(process: &mut Process, live: &Live, arguments: &Arguments) -> Reply {
    let [pid, resource, new, old, ..] = *arguments;
    limit(process, live, pid, resource, new, old, &[8, 8]).into()
}

pub(super) fn getrlimit(process: &mut Process, live: &Live, arguments: &Arguments) -> Reply {
    let [resource, old, ..] = *arguments;
    let fields: &[u8] = if process.machine.abi().word == 8 { &[8, 8] } else { &[4, 4] };
    limit(process, live, 0, resource, 0, old, fields).into()
}

pub(super) fn setrlimit(process: &mut Process, live: &Live, arguments: &Arguments) -> Reply {
    let [resource, new, ..] = *arguments;
    limit(process, live, 0, resource, new, 0, &[8, 8]).into()
}

fn limit(
    process: &mut Process,
    live: &Live,
    pid: u64,
    resource: u64,
    new: u64,
    old: u64,
    fields: &[u8],
) -> Answer {
    let mut wanted = Vec::new();
    if new != 0 {
        wanted = process.take(new, 16)?;
        process.turn(&mut wanted, fields);
    }
    let word =
        |index: usize| u64::from_le_bytes(wanted[8 * index..8 * index + 8].try_into().expect("eight bytes"));
    let own_file_size =
        resource == u64::from(libc::RLIMIT_FSIZE) && (pid == 0 || pid == process.facts.process.into());
    let mut lower = None;
    if own_file_size && new != 0 {
        // What is written on the program's behalf, such as its own files of /proc, is not its own writing: the highest
        // limit stays with us, so that the host's can be lifted meanwhile.
        let (soft, hard) = (word(0), word(1));
        if soft > hard {
            return Err(Errno(libc::EINVAL));
        }
        if process.file_size_limit.is_some_and(|limit| hard > limit) && process.facts.user != 0 {
            return Err(Errno(libc::EPERM));
        }
        lower = Some(hard);
        let mut host = [0u64; 2];
        live.host(libc::SYS_prlimit64, [0, resource as usize, 0, host.as_mut_ptr() as usize, 0, 0])?;
        wanted[8..].copy_from_slice(&host[1].max(hard).to_le_bytes());
    }
    let mut current = [0u64; 2];
    let wanted_pointer = if new == 0 || concerns_memory(resource) { 0 } else { wanted.as_ptr() as usize };
    live.host(
        libc::SYS_prlimit64,
        [pid as usize, resource as usize, wanted_pointer, current.as_mut_ptr() as usize, 0, 0],
    )?;
    if own_file_size {
        current[1] = process.file_size_limit.unwrap_or(current[1]);
        process.file_size_limit = lower.or(process.file_size_limit);
    }
    if old != 0 {
        let mut bytes: Vec<u8> = current.iter().flat_map(|value| value.to_le_bytes()).collect();
        if fields == [4, 4] {
            bytes = current
                .iter()
                .flat_map(|value| (*value).min(0xffff_ffff).to_le_bytes()[..4].to_vec())
                .collect();
        }
        process.turn(&mut bytes, fields);
        process.put(old, &bytes)?;
    }
    Ok(0)
}

/// How precisely PowerPC reports enabled float exceptions, as two bits of its machine state: never, and three ways that
/// are one here.
const FLOAT_MODES: [u64; 4] = [0, 0x100, 0x800, 0x900];

const PR_GET_FPEXC: i32 = 11;
const PR_SET_FPEXC: i32 = 12;

/// Whether a request concerns registers of the processor, and not the host.
pub(super) fn concerns_registers(process: &mut Process, arguments: &Arguments) -> bool {
    process.machine == Machine::PowerPc && matches!(arguments[0] as i32, PR_GET_FPEXC | PR_SET_FPEXC)
}

/// How float exceptions are reported.
pub(super) fn float_mode(process: &mut Process, arguments: &Arguments) -> Reply {
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
        libc::PR_SET_NAME => match process.world.memory.read_string(value, 4096) {
            Ok(name) => {
                let mut name = name.unwrap_or_default();
                name.truncate(15);
                name.push(0);
                live.host(libc::SYS_prctl, [option as usize, name.as_ptr() as usize, 0, 0, 0, 0]).into()
            }
            Err(fault) => Reply::Error(fault.into()),
        },
        libc::PR_GET_NAME => {
            let mut name = [0u8; 16];
            let answer =
                live.host(libc::SYS_prctl, [option as usize, name.as_mut_ptr() as usize, 0, 0, 0, 0]);
            answer.and_then(|_| process.put(value, &name).map(|()| 0)).into()
        }
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
        libc::PR_GET_PDEATHSIG => Reply::Error(Errno(libc::EINVAL)),
        // Names for mappings, speculation control, tagged addresses and the like: hints that a kernel may lack.
        _ => Reply::Error(Errno(libc::EINVAL)),
    }
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
