//! Messages on sockets, whose parts lie all over memory (`sendmsg` and its relatives), on x86-64.
//!
//! What comes along with a message, such as descriptors, passes unchanged: descriptors are the host's own.

use super::descriptors::{slow, vectors};
use super::{Answer, Arguments, Errno, Reply};
use crate::outside::live::Live;
use crate::process::Process;

/// `struct msghdr`, and that of an element of `sendmmsg`.
const HEADER: u64 = 56;
const ELEMENT: u64 = 64;
const LARGEST_CONTROL: u64 = 1 << 16;
const LARGEST_NAME: u64 = 4096;

/// A header as the program wrote it.
struct Header {
    name: u64,
    name_length: u64,
    parts: Vec<(u64, u64)>,
    control: u64,
    control_length: u64,
}

fn header(process: &mut Process, at: u64) -> Result<Header, Errno> {
    let bytes = process.take(at, HEADER)?;
    let word = |index: usize| {
        u64::from_le_bytes(bytes[8 * index..8 * index + 8].try_into().expect("eight bytes of fifty-six"))
    };
    Ok(Header {
        name: word(0),
        name_length: if word(0) == 0 { 0 } else { (word(1) & 0xffff_ffff).min(LARGEST_NAME) },
        parts: vectors(process, word(2), word(3))?,
        control: word(4),
        control_length: if word(4) == 0 { 0 } else { word(5).min(LARGEST_CONTROL) },
    })
}

/// The header for the host, over buffers of ours.
fn for_host(name: &mut [u8], data: &mut libc::iovec, control: &mut [u8]) -> libc::msghdr {
    // SAFETY: a structure of numbers and pointers, for which zero is a value.
    let mut header: libc::msghdr = unsafe { std::mem::zeroed() };
    if !name.is_empty() {
        header.msg_name = name.as_mut_ptr().cast();
        header.msg_namelen = name.len() as u32;
    }
    header.msg_iov = data;
    header.msg_iovlen = 1;
    if !control.is_empty() {
        header.msg_control = control.as_mut_ptr().cast();
        header.msg_controllen = control.len();
    }
    header
}

fn send(process: &mut Process, live: &Live, socket: u64, at: u64, flags: u64) -> Answer {
    let given = header(process, at)?;
    let mut data = Vec::new();
    for (base, length) in &given.parts {
        data.extend(process.take(*base, *length)?);
    }
    let mut name = process.take(given.name, given.name_length)?;
    let mut control = process.take(given.control, given.control_length)?;
    let mut part = libc::iovec { iov_base: data.as_mut_ptr().cast(), iov_len: data.len() };
    let header = for_host(&mut name, &mut part, &mut control);
    live.host(libc::SYS_sendmsg, [socket as usize, &raw const header as usize, flags as usize, 0, 0, 0])
}

fn receive(process: &mut Process, live: &Live, socket: u64, at: u64, flags: u64) -> Answer {
    let given = header(process, at)?;
    let total: u64 = given.parts.iter().map(|(_, length)| *length).sum();
    for (base, length) in &given.parts {
        process.world.memory.check_writable(*base, *length)?;
    }
    let mut data = vec![0u8; total as usize];
    let mut name = vec![0u8; given.name_length as usize];
    let mut control = vec![0u8; given.control_length as usize];
    let mut part = libc::iovec { iov_base: data.as_mut_ptr().cast(), iov_len: data.len() };
    let mut header = for_host(&mut name, &mut part, &mut control);
    let call = [socket as usize, &raw mut header as usize, flags as usize, 0, 0, 0];
    let result = live.host(libc::SYS_recvmsg, call)?;
    let (name_length, control_length) = (header.msg_namelen, header.msg_controllen);
    let mut rest = &data[..data.len().min(result as usize)];
    for (base, length) in given.parts {
        let (here, after) = rest.split_at(rest.len().min(length as usize));
        process.put(base, here)?;
        rest = after;
    }
    process.put(given.name, &name[..name.len().min(name_length as usize)])?;
    process.put(given.control, &control[..control.len().min(control_length)])?;
    if given.name != 0 {
        process.put(at + 8, &name_length.to_le_bytes())?;
    }
    process.put(at + 40, &(control_length as u64).to_le_bytes())?;
    process.put(at + 48, &header.msg_flags.to_le_bytes())?;
    Ok(result)
}

pub(super) fn sendmsg(process: &mut Process, live: &Live, arguments: &Arguments) -> Reply {
    let [socket, at, flags, ..] = *arguments;
    slow(send(process, live, socket, at, flags))
}

pub(super) fn recvmsg(process: &mut Process, live: &Live, arguments: &Arguments) -> Reply {
    let [socket, at, flags, ..] = *arguments;
    slow(receive(process, live, socket, at, flags))
}

/// One message after the other, until one fails; a failure counts only if it is the first.
fn several(
    process: &mut Process,
    live: &Live,
    arguments: &Arguments,
    one: fn(&mut Process, &Live, u64, u64, u64) -> Answer,
    only_first_waits: bool,
) -> Reply {
    const MOST: u64 = 1024;
    let [socket, list, count, mut flags, ..] = *arguments;
    let mut done = 0;
    while done < count.min(MOST) {
        let at = list + done * ELEMENT;
        let answer = one(process, live, socket, at, flags)
            .and_then(|length| process.put(at + HEADER, &(length as u32).to_le_bytes()));
        match answer {
            Ok(()) => done += 1,
            Err(errno) if done == 0 => return slow(Err(errno)),
            Err(_) => break,
        }
        if only_first_waits {
            flags |= libc::MSG_DONTWAIT as u64;
        }
    }
    Reply::Value(done)
}

pub(super) fn sendmmsg(process: &mut Process, live: &Live, arguments: &Arguments) -> Reply {
    several(process, live, arguments, send, false)
}

pub(super) fn recvmmsg(process: &mut Process, live: &Live, arguments: &Arguments) -> Reply {
    const WAIT_FOR_ONE: u64 = 0x10000;
    let [socket, list, count, flags, timeout, last] = *arguments;
    let arguments = [socket, list, count, flags & !WAIT_FOR_ONE, timeout, last];
    several(process, live, &arguments, receive, flags & WAIT_FOR_ONE != 0)
}
