//! Reading and writing the memory of a process by its number. A process can be its own; the memory of others is in another Parallax.

use super::descriptors::vectors;
use super::{Answer, Arguments, Errno, Reply};
use crate::outside::live::Live;
use crate::process::Process;

pub(super) fn is_own(process: &mut Process, arguments: &Arguments) -> bool {
    let own = arguments[0] == u64::from(process.facts.process) || process.threads.has(arguments[0]);
    own || arguments[5] != 0
}

pub(super) fn read(process: &mut Process, arguments: &Arguments) -> Reply {
    copy(process, arguments, false).into()
}

pub(super) fn write(process: &mut Process, arguments: &Arguments) -> Reply {
    copy(process, arguments, true).into()
}

/// As a kernel says that keeps processes apart.
pub(super) fn refuse(_: &mut Process, live: &Live, arguments: &Arguments) -> Reply {
    let known = live.host(libc::SYS_kill, [arguments[0] as usize, 0, 0, 0, 0, 0]);
    let gone = known == Err(Errno(libc::ESRCH));
    Reply::Error(Errno(if gone { libc::ESRCH } else { libc::EPERM }))
}

/// Copies between two lists of buffers, as far as both reach and can be accessed.
fn copy(process: &mut Process, arguments: &Arguments, writes: bool) -> Answer {
    let [_, own, own_count, other, other_count, flags] = *arguments;
    if flags != 0 {
        return Err(Errno(libc::EINVAL));
    }
    let mut own = vectors(process, own, own_count)?;
    let mut other = vectors(process, other, other_count)?;
    let mut copied = 0;
    loop {
        own.retain(|(_, length)| *length > 0);
        other.retain(|(_, length)| *length > 0);
        let (Some((here, left)), Some((there, more))) = (own.first_mut(), other.first_mut()) else { break };
        let (from, to) = if writes { (*here, *there) } else { (*there, *here) };
        let page = |at: u64| crate::memory::PAGE - at % crate::memory::PAGE;
        let run = (*left).min(*more).min(page(from)).min(page(to));
        let done = process.take(from, run).and_then(|bytes| process.put(to, &bytes));
        match done {
            Ok(()) => {}
            Err(errno) if copied == 0 => return Err(errno),
            Err(_) => break,
        }
        for (at, length) in [(here, left), (there, more)] {
            *at += run;
            *length -= run;
        }
        copied += run;
    }
    Ok(copied)
}
