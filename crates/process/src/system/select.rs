//! `select` in its several forms: three sets of descriptors, a time, and perhaps a mask of signals.

use super::{Answer, Arguments, Errno, Reply, host};
use crate::elf::Machine;
use crate::process::Process;
use crate::signal;

/// How a program writes a time.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Time {
    /// Two words of its machine.
    Words,
    /// Two numbers of eight bytes.
    Wide,
}

impl Time {
    fn size(self, machine: Machine) -> usize {
        if self == Time::Wide { 8 } else { machine.word() }
    }

    fn read(self, process: &mut Process, at: u64) -> Result<[i64; 2], Errno> {
        let size = self.size(process.machine);
        let mut parts = [0; 2];
        for (index, part) in parts.iter_mut().enumerate() {
            let mut bytes = process.take(at + (index * size) as u64, size as u64)?;
            if process.machine == Machine::X86_64 {
                bytes.reverse();
            }
            let number = bytes.iter().fold(0u64, |number, byte| number << 8 | u64::from(*byte));
            *part = if size == 4 { i64::from(number as u32 as i32) } else { number as i64 };
        }
        Ok(parts)
    }

    fn write(self, process: &mut Process, at: u64, parts: [i64; 2]) -> Result<(), Errno> {
        let size = self.size(process.machine);
        let bytes: Vec<u8> = parts
            .iter()
            .flat_map(|part| match process.machine {
                Machine::X86_64 => part.to_le_bytes().to_vec(),
                Machine::PowerPc => part.to_be_bytes()[8 - size..].to_vec(),
            })
            .collect();
        process.put(at, &bytes)
    }
}

pub(super) fn select(process: &mut Process, arguments: &Arguments) -> Reply {
    timed(process, arguments, libc::SYS_select, Time::Words, 0)
}

pub(super) fn pselect(process: &mut Process, arguments: &Arguments) -> Reply {
    masked(process, arguments, Time::Words)
}

pub(super) fn pselect_wide(process: &mut Process, arguments: &Arguments) -> Reply {
    masked(process, arguments, Time::Wide)
}

fn masked(process: &mut Process, arguments: &Arguments, time: Time) -> Reply {
    let at = arguments[5];
    // The mask is a pair: its address and its size.
    let mut read = || -> Result<Option<u64>, Errno> {
        if at == 0 {
            return Ok(None);
        }
        let address = process.take_word(at)?;
        if address == 0 {
            return Ok(None);
        }
        let bytes = process.take(address, 8)?;
        Ok(Some(signal::mask_value(process.machine, &bytes)))
    };
    match read() {
        Ok(None) => timed(process, arguments, libc::SYS_pselect6, time, 0),
        Ok(Some(mask)) => {
            let pair = [&raw const mask as usize, 8];
            timed(process, arguments, libc::SYS_pselect6, time, pair.as_ptr() as usize)
        }
        Err(errno) => Reply::Error(errno),
    }
}

fn timed(process: &mut Process, arguments: &Arguments, call: i64, time: Time, mask: usize) -> Reply {
    let at = arguments[4];
    let mut wait = || {
        if at == 0 {
            return sets(process, arguments, call, [0, mask]);
        }
        let mut parts = time.read(process, at)?;
        let result = sets(process, arguments, call, [parts.as_mut_ptr() as usize, mask])?;
        time.write(process, at, parts)?;
        Ok(result)
    };
    wait().into()
}

/// `select` with the three sets copied in and out.
pub(super) fn sets(process: &mut Process, arguments: &Arguments, call: i64, rest: [usize; 2]) -> Answer {
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
    let result = host(call, [count as usize, pointers[0], pointers[1], pointers[2], rest[0], rest[1]])?;
    for (address, set) in arguments[1..4].iter().zip(&mut buffers) {
        if let Some(set) = set {
            process.turn(set, &words);
            process.put(*address, set)?;
        }
    }
    Ok(result)
}
