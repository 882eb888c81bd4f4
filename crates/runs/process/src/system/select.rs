//! `select` in its several forms: three sets of descriptors, a time, and perhaps a mask of signals.

use super::{Answer, Arguments, Errno, Reply};
use crate::outside::live::Live;
use crate::process::Process;

/// How a program writes a time.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Time {
    /// Two words of its machine.
    Words,
    /// Two numbers of eight bytes.
    Wide,
}

impl Time {
    fn size(self, process: &Process) -> usize {
        if self == Time::Wide { 8 } else { process.machine.abi().word }
    }

    fn read(self, process: &mut Process, at: u64) -> Result<[i64; 2], Errno> {
        let size = self.size(process);
        let mut parts = [0; 2];
        for (index, part) in parts.iter_mut().enumerate() {
            let bytes = process.take(at + (index * size) as u64, size as u64)?;
            let number = process.machine.abi().number(&bytes);
            *part = if size == 4 { i64::from(number as u32 as i32) } else { number as i64 };
        }
        Ok(parts)
    }

    fn write(self, process: &mut Process, at: u64, parts: [i64; 2]) -> Result<(), Errno> {
        let size = self.size(process);
        let abi = process.machine.abi();
        let bytes = parts.map(|part| abi.number_bytes(part as u64, size)).concat();
        process.put(at, &bytes)
    }
}

pub(super) fn select(process: &mut Process, live: &Live, arguments: &Arguments) -> Reply {
    timed(process, live, arguments, libc::SYS_select, Time::Words, 0)
}

pub(super) fn pselect(process: &mut Process, live: &Live, arguments: &Arguments) -> Reply {
    masked(process, live, arguments, Time::Words)
}

pub(super) fn pselect_wide(process: &mut Process, live: &Live, arguments: &Arguments) -> Reply {
    masked(process, live, arguments, Time::Wide)
}

fn masked(process: &mut Process, live: &Live, arguments: &Arguments, time: Time) -> Reply {
    match super::mask_pair(process, arguments[5]) {
        Ok(None) => timed(process, live, arguments, libc::SYS_pselect6, time, 0),
        Ok(Some(mask)) => {
            let pair = [&raw const mask as usize, 8];
            timed(process, live, arguments, libc::SYS_pselect6, time, pair.as_ptr() as usize)
        }
        Err(errno) => Reply::Error(errno),
    }
}

fn timed(
    process: &mut Process,
    live: &Live,
    arguments: &Arguments,
    call: i64,
    time: Time,
    mask: usize,
) -> Reply {
    let at = arguments[4];
    let mut wait = || {
        if at == 0 {
            return sets(process, live, arguments, call, [0, mask]);
        }
        let mut parts = time.read(process, at)?;
        let result = sets(process, live, arguments, call, [parts.as_mut_ptr() as usize, mask]);
        // What is left of the time is told also when a signal came.
        if matches!(result, Ok(_) | Err(Errno(libc::EINTR))) {
            time.write(process, at, parts)?;
        }
        result
    };
    wait().into()
}

/// `select` with the three sets copied in and out.
pub(crate) fn sets(
    process: &mut Process,
    live: &Live,
    arguments: &Arguments,
    call: i64,
    rest: [usize; 2],
) -> Answer {
    let count = arguments[0];
    if count > 65536 {
        return Err(Errno(libc::EINVAL));
    }
    // Sets are made of words, the lower descriptors first, whatever the order of bytes in a word.
    let size = (count as usize).div_ceil(64) * 8;
    let words = vec![4; size / 4];
    let mut buffers = Vec::new();
    for address in &arguments[1..4] {
        buffers.push(if *address == 0 {
            None
        } else {
            let mut set = process.take(*address, size as u64)?;
            process.turn(&mut set, &words);
            Some(set)
        });
    }
    let pointers: Vec<usize> =
        buffers.iter_mut().map(|set| set.as_mut().map_or(0, |set| set.as_mut_ptr() as usize)).collect();
    let result =
        live.host(call, [count as usize, pointers[0], pointers[1], pointers[2], rest[0], rest[1]])?;
    for (address, set) in arguments[1..4].iter().zip(&mut buffers) {
        if let Some(set) = set {
            process.turn(set, &words);
            process.put(*address, set)?;
        }
    }
    Ok(result)
}
