//! Requests to devices (`ioctl`): the ones whose arguments are known.
//!
//! A request is a number, and what its argument means is known to the driver alone. Some are numbers, some structures
//! of a known size, some structures with a variable tail or with pointers inside. Only those listed here are passed on:
//! guessing a size lets the kernel write where it should not. All others are answered as by a device that does not know
//! them, which programs are prepared for.

use super::descriptors::slow;
use super::{Answer, Arguments, Errno, Reply};
use crate::elf::Machine;
use crate::outside::live::Live;
use crate::process::Process;

/// What the argument of a request is.
#[derive(Clone, Copy)]
enum Argument {
    /// A number, or nothing.
    Value,
    /// So many bytes from the device.
    Read(usize),
    /// So many bytes for the device.
    Write(usize),
    /// So many bytes for the device, which it changes.
    Both(usize),
}

const TERMIOS: usize = 36;
const TERMIOS2: usize = 44;
const INTERFACE: usize = 40;

fn argument(request: u64) -> Option<Argument> {
    use Argument::{Both, Read, Value, Write};
    Some(match request {
        libc::TCGETS => Read(TERMIOS),
        libc::TCSETS | libc::TCSETSW | libc::TCSETSF => Write(TERMIOS),
        // TCGETS2, TCSETS2, TCSETSW2, TCSETSF2
        0x802c_542a => Read(TERMIOS2),
        0x402c_542b..=0x402c_542d => Write(TERMIOS2),
        libc::TIOCGWINSZ => Read(8),
        libc::TIOCSWINSZ => Write(8),
        libc::TIOCGPGRP | libc::TIOCOUTQ | libc::TIOCGSID | libc::TIOCMGET | libc::FIONREAD => Read(4),
        libc::TIOCSPGRP | libc::TIOCMSET | libc::FIONBIO | libc::FIOASYNC => Write(4),
        libc::FIOCLEX
        | libc::FIONCLEX
        | libc::TIOCEXCL
        | libc::TIOCNXCL
        | libc::TIOCSCTTY
        | libc::TIOCNOTTY
        | libc::TCFLSH
        | libc::TCSBRK
        | libc::TCSBRKP
        | libc::TCXONC => Value,
        // TIOCGPTN, TIOCSPTLCK, TIOCGPTPEER, TIOCGDEV: pseudo-terminals.
        0x8004_5430 | 0x8004_5432 => Read(4),
        0x4004_5431 => Write(4),
        0x5441 => Value,
        // KDGKBTYPE: a console's keyboard.
        0x4b33 => Read(1),
        // FICLONE takes a descriptor, FICLONERANGE a structure.
        0x4004_9409 => Value,
        0x4020_940d => Write(32),
        // FS_IOC_GETFLAGS, FS_IOC_GETVERSION, FS_IOC_SETFLAGS: their numbers say `long`, but an `int` it is.
        0x8008_6601 | 0x8008_7601 => Read(4),
        0x4008_6602 => Write(4),
        // FS_IOC_FSGETXATTR, FIOQSIZE
        0x801c_581f => Read(28),
        0x5460 => Read(8),
        // BLKSSZGET, BLKGETSIZE, BLKGETSIZE64: block devices.
        0x1268 => Read(4),
        0x1260 | 0x8008_1272 => Read(8),
        // RNDGETENTCNT
        0x8004_5200 => Read(4),
        // SIOCATMARK, and questions about a network interface by name.
        0x8905 => Read(4),
        0x8910 | 0x8913 | 0x8915 | 0x8919 | 0x891b | 0x8921 | 0x8927 | 0x8933 => Both(INTERFACE),
        _ => return None,
    })
}

pub(super) fn ioctl(process: &mut Process, live: &Live, arguments: &Arguments) -> Reply {
    let [descriptor, request, value, ..] = *arguments;
    // The kernel takes the request as 32 bits; C programs hand over numbers with the top bit set sign-extended.
    let request = request & 0xffff_ffff;
    if process.machine == Machine::PowerPc {
        return powerpc(process, live, descriptor, request, value).into();
    }
    let call = |argument: usize| {
        live.host(libc::SYS_ioctl, [descriptor as usize, request as usize, argument, 0, 0, 0])
    };
    let mut make = || match argument(request) {
        None if request == SIOCGIFCONF => interfaces(process, live, descriptor, value),
        None => {
            // A bad descriptor comes before an unknown request.
            live.host(libc::SYS_fcntl, [descriptor as usize, libc::F_GETFD as usize, 0, 0, 0, 0])?;
            Err(Errno(libc::ENOTTY))
        }
        Some(Argument::Value) => call(value as usize),
        Some(Argument::Write(size)) => {
            let bytes = process.take(value, size as u64)?;
            call(bytes.as_ptr() as usize)
        }
        Some(Argument::Read(size)) => {
            process.world.memory.check_writable(value, size as u64)?;
            let mut bytes = vec![0u8; size];
            let result = call(bytes.as_mut_ptr() as usize)?;
            process.put(value, &bytes)?;
            Ok(result)
        }
        Some(Argument::Both(size)) => {
            let mut bytes = process.take(value, size as u64)?;
            let result = call(bytes.as_mut_ptr() as usize)?;
            process.put(value, &bytes)?;
            Ok(result)
        }
    };
    slow(make())
}

/// A list of network interfaces.
const SIOCGIFCONF: u64 = 0x8912;

/// The list lies at an address that the structure names, with its length.
fn interfaces(process: &mut Process, live: &Live, descriptor: u64, value: u64) -> Answer {
    const LARGEST: i32 = 1 << 20;
    let given = process.take(value, 16)?;
    let length = i32::from_le_bytes(given[..4].try_into().expect("four bytes"));
    let list = u64::from_le_bytes(given[8..].try_into().expect("eight bytes"));
    let mut bytes = vec![0u8; if list == 0 { 0 } else { length.clamp(0, LARGEST) as usize }];
    if list != 0 {
        process.world.memory.check_writable(list, bytes.len() as u64)?;
    }
    let mut own = [0u8; 16];
    own[..4].copy_from_slice(&length.min(LARGEST).to_le_bytes());
    let target = if list == 0 { 0 } else { bytes.as_mut_ptr() as u64 };
    own[8..].copy_from_slice(&target.to_le_bytes());
    let call = [descriptor as usize, SIOCGIFCONF as usize, own.as_mut_ptr() as usize, 0, 0, 0];
    let result = live.host(libc::SYS_ioctl, call)?;
    let found = i32::from_le_bytes(own[..4].try_into().expect("four bytes"));
    if list != 0 {
        process.put(list, &bytes[..bytes.len().min(found.max(0) as usize)])?;
    }
    process.put(value, &own[..4])?;
    Ok(result)
}

/// On PowerPC requests have other numbers. Programs mostly ask whether a descriptor is a terminal, and how wide.
fn powerpc(process: &mut Process, live: &Live, descriptor: u64, request: u64, value: u64) -> Answer {
    const GET_SETTINGS: u64 = 0x402c_7413;
    const GET_SIZE: u64 = 0x4008_7468;
    let mut bytes = [0u8; 64];
    let target = bytes.as_mut_ptr() as usize;
    match request {
        GET_SETTINGS => {
            live.host(libc::SYS_ioctl, [descriptor as usize, libc::TCGETS as usize, target, 0, 0, 0])?;
            let mut flags = bytes[..16].to_vec();
            process.turn(&mut flags, &[4, 4, 4, 4]);
            flags.resize(44, 0);
            process.put(value, &flags).map(|()| 0)
        }
        GET_SIZE => {
            live.host(libc::SYS_ioctl, [descriptor as usize, libc::TIOCGWINSZ as usize, target, 0, 0, 0])?;
            let mut size = bytes[..8].to_vec();
            process.turn(&mut size, &[2, 2, 2, 2]);
            process.put(value, &size).map(|()| 0)
        }
        _ => Err(Errno(libc::ENOTTY)),
    }
}
