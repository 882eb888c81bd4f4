//! Limits on what a process may use. Those on memory are kept by the process itself: they are meant for the emulated program, not
//! for Parallax around it. The others are the host's.

use super::{Answer, Arguments, Errno, Reply};
use crate::outside::live::Live;
use crate::outside::{Limit, Limits};
use crate::process::Process;

/// The limit of a resource that is memory.
fn of(limits: &mut Limits, resource: u64) -> Option<&mut Limit> {
    Some(match resource as u32 {
        libc::RLIMIT_AS => &mut limits.address_space,
        libc::RLIMIT_DATA => &mut limits.data,
        libc::RLIMIT_STACK => &mut limits.stack,
        libc::RLIMIT_RSS => &mut limits.resident,
        libc::RLIMIT_MEMLOCK => &mut limits.locked,
        _ => return None,
    })
}

fn is_own(process: &mut Process, pid: u64, resource: u64) -> bool {
    let own = pid as u32 == 0 || pid as u32 == process.facts.process;
    own && of(&mut process.limits, resource).is_some()
}

pub(super) fn is_own_prlimit(process: &mut Process, arguments: &Arguments) -> bool {
    is_own(process, arguments[0], arguments[1])
}

pub(super) fn is_own_limit(process: &mut Process, arguments: &Arguments) -> bool {
    is_own(process, 0, arguments[0])
}

/// How limits lie in memory: two numbers of eight bytes, or two words of the machine.
fn fields(process: &Process, wide: bool) -> &'static [u8] {
    if wide || process.machine.abi().word == 8 { &[8, 8] } else { &[4, 4] }
}

pub(super) fn prlimit_inside(process: &mut Process, arguments: &Arguments) -> Reply {
    let [_, resource, new, old, ..] = *arguments;
    own(process, resource, new, old, true).into()
}

pub(super) fn getrlimit_inside(process: &mut Process, arguments: &Arguments) -> Reply {
    own(process, arguments[0], 0, arguments[1], false).into()
}

pub(super) fn setrlimit_inside(process: &mut Process, arguments: &Arguments) -> Reply {
    own(process, arguments[0], arguments[1], 0, false).into()
}

fn own(process: &mut Process, resource: u64, new: u64, old: u64, wide: bool) -> Answer {
    let wanted = if new == 0 { None } else { Some(read(process, new, wide)?) };
    let may_raise = process.facts.may_raise_limits();
    let mut limits = process.limits;
    let limit = of(&mut limits, resource).ok_or(Errno(libc::EINVAL))?;
    let current = *limit;
    if let Some(wanted) = wanted {
        if wanted.soft > wanted.hard {
            return Err(Errno(libc::EINVAL));
        }
        if wanted.hard > current.hard && !may_raise {
            return Err(Errno(libc::EPERM));
        }
        *limit = wanted;
        process.limits = limits;
        process.world.memory.set_stack_limit(limits.stack.soft);
    }
    if old != 0 {
        write(process, old, current, wide)?;
    }
    Ok(0)
}

fn read(process: &mut Process, at: u64, wide: bool) -> Result<Limit, Errno> {
    let fields = fields(process, wide);
    let size = u64::from(fields[0]);
    let abi = process.machine.abi();
    let mut numbers = [0; 2];
    for (index, number) in numbers.iter_mut().enumerate() {
        let bytes = process.take(at + index as u64 * size, size)?;
        *number = abi.number(&bytes);
        if size == 4 && *number == 0xffff_ffff {
            *number = libc::RLIM_INFINITY;
        }
    }
    Ok(Limit { soft: numbers[0], hard: numbers[1] })
}

fn write(process: &mut Process, at: u64, limit: Limit, wide: bool) -> Result<(), Errno> {
    let fields = fields(process, wide);
    let size = usize::from(fields[0]);
    let abi = process.machine.abi();
    let cut = |value: u64| if size == 4 { value.min(0xffff_ffff) } else { value };
    let bytes = [limit.soft, limit.hard].map(|value| abi.number_bytes(cut(value), size)).concat();
    process.put(at, &bytes)
}

pub(super) fn prlimit(process: &mut Process, live: &Live, arguments: &Arguments) -> Reply {
    let [pid, resource, new, old, ..] = *arguments;
    host(process, live, pid, resource, [new, old], true).into()
}

pub(super) fn getrlimit(process: &mut Process, live: &Live, arguments: &Arguments) -> Reply {
    host(process, live, 0, arguments[0], [0, arguments[1]], false).into()
}

pub(super) fn setrlimit(process: &mut Process, live: &Live, arguments: &Arguments) -> Reply {
    host(process, live, 0, arguments[0], [arguments[1], 0], false).into()
}

fn host(
    process: &mut Process,
    live: &Live,
    pid: u64,
    resource: u64,
    [new, old]: [u64; 2],
    wide: bool,
) -> Answer {
    let mut wanted = if new == 0 { None } else { Some(read(process, new, wide)?) };
    let own_file_size =
        resource as u32 == libc::RLIMIT_FSIZE && (pid as u32 == 0 || pid as u32 == process.facts.process);
    let mut lower = None;
    if own_file_size && let Some(wanted) = &mut wanted {
        // What is written on the program's behalf, such as its own files of /proc, is not its own writing: the highest
        // limit stays with us, so that the host's can be lifted meanwhile.
        if wanted.soft > wanted.hard {
            return Err(Errno(libc::EINVAL));
        }
        if process.file_size_limit.is_some_and(|limit| wanted.hard > limit)
            && !process.facts.may_raise_limits()
        {
            return Err(Errno(libc::EPERM));
        }
        lower = Some(wanted.hard);
        let mut host = [0u64; 2];
        live.host(libc::SYS_prlimit64, [0, resource as usize, 0, host.as_mut_ptr() as usize, 0, 0])?;
        wanted.hard = wanted.hard.max(host[1]);
    }
    let numbers = wanted.map(|wanted| [wanted.soft, wanted.hard]);
    let pointer = numbers.as_ref().map_or(0, |numbers| numbers.as_ptr() as usize);
    let mut current = [0u64; 2];
    live.host(
        libc::SYS_prlimit64,
        [pid as usize, resource as usize, pointer, current.as_mut_ptr() as usize, 0, 0],
    )?;
    if own_file_size {
        current[1] = process.file_size_limit.unwrap_or(current[1]);
        process.file_size_limit = lower.or(process.file_size_limit);
    }
    if old != 0 {
        write(process, old, Limit { soft: current[0], hard: current[1] }, wide)?;
    }
    Ok(0)
}
