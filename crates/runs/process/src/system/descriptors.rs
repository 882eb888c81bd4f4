//! System calls on descriptors whose arguments a table cannot describe.

use super::pass::LARGEST_BUFFER;
use super::{Answer, Arguments, Errno, Reply};
use crate::outside::live::Live;
use crate::process::Process;

/// A reply that says whether the call may be made again after a signal.
pub(super) fn slow(answer: Answer) -> Reply {
    match answer {
        Err(Errno(libc::EINTR)) => Reply::Interrupted,
        answer => answer.into(),
    }
}

/// The buffers of a scattered read or write: address and length each. All together they are no longer than Linux reads and
/// writes at a time.
pub(super) fn vectors(process: &mut Process, list: u64, count: u64) -> Result<Vec<(u64, u64)>, Errno> {
    if count > 1024 {
        return Err(Errno(libc::EINVAL));
    }
    let word = process.machine.abi().word as u64;
    let read = |index: u64| {
        let base = process.take_word(list + 2 * index * word)?;
        let length = process.take_word(list + (2 * index + 1) * word)?;
        if process.machine.abi().argument(length) as isize >= 0 {
            Ok((base, length))
        } else {
            Err(Errno(libc::EINVAL))
        }
    };
    let mut vectors: Vec<(u64, u64)> = (0..count).map(read).collect::<Result<_, _>>()?;
    let mut room = LARGEST_BUFFER;
    for (_, length) in &mut vectors {
        *length = (*length).min(room);
        room -= *length;
    }
    Ok(vectors)
}

/// What a scattered call goes by besides descriptor and buffers.
struct Scattered {
    call: i64,
    place: u64,
    flags: u64,
}

/// How a call at a place of the file is made: one at a negative place cannot be.
fn at_place(arguments: &Arguments, call: i64) -> Result<Scattered, Errno> {
    let place = arguments[3];
    if place as i64 >= 0 { Ok(Scattered { call, place, flags: 0 }) } else { Err(Errno(libc::EINVAL)) }
}

/// The same with flags, where the place -1 is that of the descriptor.
fn with_flags(arguments: &Arguments, call: i64) -> Result<Scattered, Errno> {
    let (place, flags) = (arguments[3], arguments[5]);
    if place as i64 >= -1 { Ok(Scattered { call, place, flags }) } else { Err(Errno(libc::EINVAL)) }
}

pub(super) fn writev(process: &mut Process, live: &Live, arguments: &Arguments) -> Reply {
    let how = Scattered { call: libc::SYS_writev, place: 0, flags: 0 };
    gather(process, live, arguments, &how)
}

pub(super) fn pwritev(process: &mut Process, live: &Live, arguments: &Arguments) -> Reply {
    match at_place(arguments, libc::SYS_pwritev) {
        Ok(how) => gather(process, live, arguments, &how),
        Err(errno) => Reply::Error(errno),
    }
}

pub(super) fn pwritev2(process: &mut Process, live: &Live, arguments: &Arguments) -> Reply {
    match with_flags(arguments, libc::SYS_pwritev2) {
        Ok(how) => gather(process, live, arguments, &how),
        Err(errno) => Reply::Error(errno),
    }
}

fn gather(process: &mut Process, live: &Live, arguments: &Arguments, how: &Scattered) -> Reply {
    let [descriptor, list, count, ..] = *arguments;
    let mut gather = || {
        let bytes = gathered(process, list, count).map_err(|errno| sooner(live, descriptor, how, errno))?;
        let part = libc::iovec { iov_base: bytes.as_ptr() as *mut libc::c_void, iov_len: bytes.len() };
        scattered(live, descriptor, &part, how)
    };
    slow(gather())
}

/// A descriptor that is not open, or not for this, is found before anything else that is wrong: the host is asked without buffers.
fn sooner(live: &Live, descriptor: u64, how: &Scattered, errno: Errno) -> Errno {
    let asked = live.host(how.call, [descriptor as usize, 0, 0, how.place as usize, 0, how.flags as usize]);
    if asked == Err(Errno(libc::EBADF)) { Errno(libc::EBADF) } else { errno }
}

/// Makes a scattered call with one buffer.
fn scattered(live: &Live, descriptor: u64, part: &libc::iovec, how: &Scattered) -> Answer {
    let part = std::ptr::from_ref(part) as usize;
    live.host(how.call, [descriptor as usize, part, 1, how.place as usize, 0, how.flags as usize])
}

/// The bytes of a scattered write.
pub(crate) fn gathered(process: &mut Process, list: u64, count: u64) -> Result<Vec<u8>, Errno> {
    let mut bytes = Vec::new();
    for (base, length) in vectors(process, list, count)? {
        bytes.extend(process.take(base, length)?);
    }
    Ok(bytes)
}

pub(super) fn readv(process: &mut Process, live: &Live, arguments: &Arguments) -> Reply {
    let how = Scattered { call: libc::SYS_readv, place: 0, flags: 0 };
    scatter(process, live, arguments, &how)
}

pub(super) fn preadv(process: &mut Process, live: &Live, arguments: &Arguments) -> Reply {
    match at_place(arguments, libc::SYS_preadv) {
        Ok(how) => scatter(process, live, arguments, &how),
        Err(errno) => Reply::Error(errno),
    }
}

pub(super) fn preadv2(process: &mut Process, live: &Live, arguments: &Arguments) -> Reply {
    match with_flags(arguments, libc::SYS_preadv2) {
        Ok(how) => scatter(process, live, arguments, &how),
        Err(errno) => Reply::Error(errno),
    }
}

fn scatter(process: &mut Process, live: &Live, arguments: &Arguments, how: &Scattered) -> Reply {
    let [descriptor, list, count, ..] = *arguments;
    let mut scatter = || {
        let buffers = vectors(process, list, count).map_err(|errno| sooner(live, descriptor, how, errno))?;
        for (base, length) in &buffers {
            process.world.memory.check_writable(*base, *length)?;
        }
        let total: u64 = buffers.iter().map(|(_, length)| *length).sum();
        let mut bytes = vec![0u8; total as usize];
        let part = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() };
        let result = scattered(live, descriptor, &part, how)?;
        put_parts(process, &buffers, &bytes[..result as usize])?;
        Ok(result)
    };
    slow(scatter())
}

/// Puts bytes into buffers, one after the other.
fn put_parts(process: &mut Process, buffers: &[(u64, u64)], bytes: &[u8]) -> Result<(), Errno> {
    let mut rest = bytes;
    for (base, length) in buffers {
        let (here, after) = rest.split_at(rest.len().min(*length as usize));
        process.put(*base, here)?;
        rest = after;
    }
    Ok(())
}

/// Copies between memory and a pipe: whether the kernel copies or lends pages makes no difference but for those who change them
/// meanwhile.
pub(super) fn vmsplice(process: &mut Process, live: &Live, arguments: &Arguments) -> Reply {
    let [descriptor, _, _, flags, ..] = *arguments;
    const KNOWN: u64 = 15;
    const SPLICE_F_NONBLOCK: u64 = 2;
    const RWF_NOWAIT: u64 = 8;
    if flags & !KNOWN != 0 {
        return Reply::Error(Errno(libc::EINVAL));
    }
    // SAFETY: the structure is made of numbers, for which zero is a value.
    let mut status: libc::stat = unsafe { std::mem::zeroed() };
    let known = live.host(libc::SYS_fstat, [descriptor as usize, &raw mut status as usize, 0, 0, 0, 0]);
    let mode = live.host(libc::SYS_fcntl, [descriptor as usize, libc::F_GETFL as usize, 0, 0, 0, 0]);
    let mode = match (known, mode) {
        (Ok(_), Ok(mode)) if status.st_mode & libc::S_IFMT == libc::S_IFIFO => mode as i32,
        _ => return Reply::Error(Errno(libc::EBADF)),
    };
    let reads = mode & libc::O_ACCMODE == libc::O_RDONLY;
    let mut move_with = |flags: u64| match reads {
        true => {
            scatter(process, live, arguments, &Scattered { call: libc::SYS_preadv2, place: u64::MAX, flags })
        }
        false => {
            gather(process, live, arguments, &Scattered { call: libc::SYS_pwritev2, place: u64::MAX, flags })
        }
    };
    if flags & SPLICE_F_NONBLOCK == 0 {
        return move_with(0);
    }
    match move_with(RWF_NOWAIT) {
        // Not every kernel has the flag for pipes. One that is ready gives, or takes, something at once.
        Reply::Error(Errno(libc::EOPNOTSUPP)) => {
            let events = if reads { libc::POLLIN } else { libc::POLLOUT };
            let mut pipe = libc::pollfd { fd: descriptor as i32, events, revents: 0 };
            match live.host(libc::SYS_poll, [&raw mut pipe as usize, 1, 0, 0, 0, 0]) {
                Ok(ready) if ready > 0 => move_with(0),
                Ok(_) => Reply::Error(Errno(libc::EAGAIN)),
                Err(errno) => Reply::Error(errno),
            }
        }
        moved => moved,
    }
}

pub(super) fn fcntl(process: &mut Process, live: &Live, arguments: &Arguments) -> Reply {
    let [descriptor, command, value, ..] = *arguments;
    let own = process.machine.abi().lock_commands.iter().find(|(own, _)| *own == command as i32);
    let command = own.map_or(command as i32, |(_, host)| *host);
    const GET_HINT: i32 = 1035;
    const SET_FILE_HINT: i32 = 1038;
    const GET_OWNER_AND_KIND: i32 = 16;
    const SET_OWNER_AND_KIND: i32 = 15;
    let fields: &[u8] = match command {
        libc::F_GETLK
        | libc::F_SETLK
        | libc::F_SETLKW
        | libc::F_OFD_GETLK
        | libc::F_OFD_SETLK
        | libc::F_OFD_SETLKW => &[2, 2, 4, 8, 8, 4, 4],
        GET_HINT..=SET_FILE_HINT => &[8],
        GET_OWNER_AND_KIND | SET_OWNER_AND_KIND => &[4, 4],
        _ => {
            let value = value as u32 as i32 as usize;
            return slow(live.host(libc::SYS_fcntl, [descriptor as usize, command as usize, value, 0, 0, 0]));
        }
    };
    let mut exchange = || {
        let size = fields.iter().map(|size| u64::from(*size)).sum();
        let mut structure = process.take(value, size)?;
        process.turn(&mut structure, fields);
        let target = structure.as_mut_ptr() as usize;
        let result = live.host(libc::SYS_fcntl, [descriptor as usize, command as usize, target, 0, 0, 0])?;
        process.turn(&mut structure, fields);
        process.put(value, &structure)?;
        Ok(result)
    };
    slow(exchange())
}

pub(super) fn readlink(process: &mut Process, live: &Live, arguments: &Arguments) -> Reply {
    let [path, buffer, size, ..] = *arguments;
    link(process, live, libc::AT_FDCWD as u64, path, buffer, size).into()
}

pub(super) fn readlinkat(process: &mut Process, live: &Live, arguments: &Arguments) -> Reply {
    let [directory, path, buffer, size, ..] = *arguments;
    link(process, live, directory as i32 as u64, path, buffer, size).into()
}

/// Reads a symbolic link; a program that asks for its own file is not told about Parallax.
fn link(process: &mut Process, live: &Live, directory: u64, path: u64, buffer: u64, size: u64) -> Answer {
    let path = process.take_given_path(path)?;
    let mut found = vec![0u8; size.min(4096) as usize];
    let length = if super::proc_files::own(process.facts.process, &path) == Some(b"exe") {
        let program = std::os::unix::ffi::OsStrExt::as_bytes(process.program.as_os_str()).to_vec();
        let length = program.len().min(found.len());
        found[..length].copy_from_slice(&program[..length]);
        length as u64
    } else {
        let target = found.as_mut_ptr() as usize;
        live.host(
            libc::SYS_readlinkat,
            [directory as usize, path.as_ptr() as usize, target, found.len(), 0, 0],
        )?
    };
    process.put(buffer, &found[..length as usize])?;
    Ok(length)
}

pub(super) fn epoll_wait(process: &mut Process, live: &Live, arguments: &Arguments) -> Reply {
    let timeout = arguments[3] as i32 as usize;
    wait_for_events(process, live, arguments, libc::SYS_epoll_pwait, timeout, (0, 0))
}

pub(super) fn epoll_pwait(process: &mut Process, live: &Live, arguments: &Arguments) -> Reply {
    let timeout = arguments[3] as i32 as usize;
    wait_for_events(process, live, arguments, libc::SYS_epoll_pwait, timeout, (arguments[4], arguments[5]))
}

pub(super) fn epoll_pwait2(process: &mut Process, live: &Live, arguments: &Arguments) -> Reply {
    let time = match arguments[3] {
        0 => Ok(Vec::new()),
        at => process.take(at, 16),
    };
    match time {
        Ok(time) => {
            let timeout = if time.is_empty() { 0 } else { time.as_ptr() as usize };
            let mask = (arguments[4], arguments[5]);
            wait_for_events(process, live, arguments, libc::SYS_epoll_pwait2, timeout, mask)
        }
        Err(errno) => Reply::Error(errno),
    }
}

fn wait_for_events(
    process: &mut Process,
    live: &Live,
    arguments: &Arguments,
    call: i64,
    timeout: usize,
    (mask, mask_size): (u64, u64),
) -> Reply {
    const EVENT: u64 = 12;
    let [descriptor, events, count, ..] = *arguments;
    let mut wait = || {
        if count as i32 <= 0 || count as i32 > i32::MAX / EVENT as i32 {
            return Err(Errno(libc::EINVAL));
        }
        // No program has as many events at once.
        let count = u64::from(count as u32).min(65536);
        let signals = if mask == 0 { Vec::new() } else { process.take(mask, 8)? };
        let mask = if signals.is_empty() { 0 } else { signals.as_ptr() as usize };
        process.world.memory.check_writable(events, count * EVENT)?;
        let mut found = vec![0u8; (count * EVENT) as usize];
        let target = found.as_mut_ptr() as usize;
        let given = [descriptor as usize, target, count as usize, timeout, mask, mask_size as usize];
        let result = live.host(call, given)?;
        process.put(events, &found[..(result * EVENT) as usize])?;
        Ok(result)
    };
    wait().into()
}

/// A call that fills a buffer whose size is in memory, and is changed there.
fn sized(
    process: &mut Process,
    buffer: u64,
    length: u64,
    mut call: impl FnMut(usize, usize) -> Answer,
) -> Answer {
    if buffer == 0 || length == 0 {
        return call(0, 0);
    }
    const LARGEST: u32 = 65536;
    let mut size = [0u8; 4];
    process.world.memory.read(length, &mut size)?;
    // The kernel believes the size it is given, so it must be that of our buffer.
    size = u32::from_le_bytes(size).min(LARGEST).to_le_bytes();
    let mut bytes = vec![0u8; u32::from_le_bytes(size) as usize];
    let result = call(bytes.as_mut_ptr() as usize, size.as_mut_ptr() as usize)?;
    let filled = bytes.len().min(u32::from_le_bytes(size) as usize);
    process.put(buffer, &bytes[..filled])?;
    process.put(length, &size)?;
    Ok(result)
}

/// It has no flags: what the fourth register holds is left from elsewhere.
pub(super) fn accept(process: &mut Process, live: &Live, arguments: &Arguments) -> Reply {
    let [socket, name, length, ..] = *arguments;
    accept4(process, live, &[socket, name, length, 0, 0, 0])
}

pub(super) fn accept4(process: &mut Process, live: &Live, arguments: &Arguments) -> Reply {
    let [socket, name, length, flags, ..] = *arguments;
    slow(sized(process, name, length, |buffer, size| {
        live.host(libc::SYS_accept4, [socket as usize, buffer, size, flags as usize, 0, 0])
    }))
}

pub(super) fn getsockname(process: &mut Process, live: &Live, arguments: &Arguments) -> Reply {
    let [socket, name, length, ..] = *arguments;
    sized(process, name, length, |buffer, size| {
        live.host(libc::SYS_getsockname, [socket as usize, buffer, size, 0, 0, 0])
    })
    .into()
}

pub(super) fn getpeername(process: &mut Process, live: &Live, arguments: &Arguments) -> Reply {
    let [socket, name, length, ..] = *arguments;
    sized(process, name, length, |buffer, size| {
        live.host(libc::SYS_getpeername, [socket as usize, buffer, size, 0, 0, 0])
    })
    .into()
}

pub(super) fn getsockopt(process: &mut Process, live: &Live, arguments: &Arguments) -> Reply {
    let [socket, level, name, value, length, _] = *arguments;
    sized(process, value, length, |buffer, size| {
        live.host(libc::SYS_getsockopt, [socket as usize, level as usize, name as usize, buffer, size, 0])
    })
    .into()
}

pub(super) fn recvfrom(process: &mut Process, live: &Live, arguments: &Arguments) -> Reply {
    let [socket, buffer, count, flags, name, length] = *arguments;
    let mut receive = || {
        let count = count.min(LARGEST_BUFFER);
        process.world.memory.check_writable(buffer, count)?;
        let mut bytes = vec![0u8; count as usize];
        let target = bytes.as_mut_ptr() as usize;
        let result = sized(process, name, length, |address, size| {
            live.host(
                libc::SYS_recvfrom,
                [socket as usize, target, count as usize, flags as usize, address, size],
            )
        })?;
        process.put(buffer, &bytes[..bytes.len().min(result as usize)])?;
        Ok(result)
    };
    slow(receive())
}

pub(super) fn long_seek(process: &mut Process, live: &Live, arguments: &Arguments) -> Reply {
    let [descriptor, high, low, result, whence, _] = *arguments;
    let answer = live.host(libc::SYS_lseek, [descriptor as usize, pair(high, low), whence as usize, 0, 0, 0]);
    answer.and_then(|place| process.put(result, &place.to_be_bytes()).map(|()| 0)).into()
}

pub(super) fn stat64(process: &mut Process, live: &Live, arguments: &Arguments) -> Reply {
    let [path, buffer, ..] = *arguments;
    let directory = libc::AT_FDCWD as u64;
    narrow_stat(process, live, directory, Some(path), buffer, 0).into()
}

pub(super) fn lstat64(process: &mut Process, live: &Live, arguments: &Arguments) -> Reply {
    let [path, buffer, ..] = *arguments;
    let (directory, flags) = (libc::AT_FDCWD as u64, libc::AT_SYMLINK_NOFOLLOW as u64);
    narrow_stat(process, live, directory, Some(path), buffer, flags).into()
}

pub(super) fn fstat64(process: &mut Process, live: &Live, arguments: &Arguments) -> Reply {
    let [descriptor, buffer, ..] = *arguments;
    narrow_stat(process, live, descriptor, None, buffer, libc::AT_EMPTY_PATH as u64).into()
}

pub(super) fn fstatat64(process: &mut Process, live: &Live, arguments: &Arguments) -> Reply {
    let [directory, path, buffer, flags, ..] = *arguments;
    narrow_stat(process, live, directory as i32 as u64, Some(path), buffer, flags).into()
}

/// `struct stat64` of 32-bit PowerPC.
fn narrow_stat(
    process: &mut Process,
    live: &Live,
    directory: u64,
    path: Option<u64>,
    buffer: u64,
    flags: u64,
) -> Answer {
    let path = match path {
        Some(path) => process.take_path(path)?,
        None => vec![0],
    };
    // SAFETY: the structure is made of numbers and pointers, for which zero is a value.
    let mut status: libc::stat = unsafe { std::mem::zeroed() };
    let target = &raw mut status as usize;
    live.host(
        libc::SYS_newfstatat,
        [directory as i32 as usize, path.as_ptr() as usize, target, flags as usize, 0, 0],
    )?;
    let mut bytes = Vec::with_capacity(104);
    let word = |value: i64| (value as u32).to_be_bytes();
    bytes.extend(status.st_dev.to_be_bytes());
    bytes.extend(status.st_ino.to_be_bytes());
    for value in [status.st_mode, status.st_nlink as u32, status.st_uid, status.st_gid] {
        bytes.extend(value.to_be_bytes());
    }
    bytes.extend(status.st_rdev.to_be_bytes());
    bytes.extend([0; 8]);
    bytes.extend(status.st_size.to_be_bytes());
    bytes.extend(word(status.st_blksize));
    bytes.extend([0; 4]);
    bytes.extend(status.st_blocks.to_be_bytes());
    for value in [
        status.st_atime,
        status.st_atime_nsec,
        status.st_mtime,
        status.st_mtime_nsec,
        status.st_ctime,
        status.st_ctime_nsec,
    ] {
        bytes.extend(word(value));
    }
    bytes.extend([0; 8]);
    process.put(buffer, &bytes)?;
    Ok(0)
}

/// `getdents64` for a machine of the other byte order: each entry's numbers are turned.
pub(super) fn directory_entries(process: &mut Process, live: &Live, arguments: &Arguments) -> Reply {
    let [descriptor, buffer, size, ..] = *arguments;
    let mut list = || {
        let size = size.min(LARGEST_BUFFER);
        process.world.memory.check_writable(buffer, size)?;
        let mut bytes = vec![0u8; size as usize];
        let target = bytes.as_mut_ptr() as usize;
        let result = live.host(libc::SYS_getdents64, [descriptor as usize, target, bytes.len(), 0, 0, 0])?;
        bytes.truncate(result as usize);
        const FIELDS: &[u8] = &[8, 8, 2];
        let mut rest = &mut bytes[..];
        while rest.len() > 18 {
            let length = usize::from(u16::from_le_bytes([rest[16], rest[17]])).clamp(18, rest.len());
            let (entry, after) = rest.split_at_mut(length);
            process.turn(entry, FIELDS);
            rest = after;
        }
        process.put(buffer, &bytes)?;
        Ok(result)
    };
    list().into()
}

/// A file offset in a pair of registers, the upper half first.
fn pair(high: u64, low: u64) -> usize {
    (high << 32 | (low & 0xffff_ffff)) as usize
}

/// `pread64` of a 32-bit machine: the offset is in the last two registers.
pub(super) fn read_at(process: &mut Process, live: &Live, arguments: &Arguments) -> Reply {
    let [descriptor, buffer, size, _, high, low] = *arguments;
    let mut read = || {
        let size = size.min(LARGEST_BUFFER);
        process.world.memory.check_writable(buffer, size)?;
        let mut bytes = vec![0u8; size as usize];
        let target = bytes.as_mut_ptr() as usize;
        let place = pair(high, low);
        let result = live.host(libc::SYS_pread64, [descriptor as usize, target, bytes.len(), place, 0, 0])?;
        process.put(buffer, &bytes[..result as usize])?;
        Ok(result)
    };
    slow(read())
}

/// `pwrite64` of a 32-bit machine.
pub(super) fn write_at(process: &mut Process, live: &Live, arguments: &Arguments) -> Reply {
    let [descriptor, buffer, size, _, high, low] = *arguments;
    let mut write = || {
        let bytes = process.take(buffer, size.min(LARGEST_BUFFER))?;
        let place = pair(high, low);
        live.host(
            libc::SYS_pwrite64,
            [descriptor as usize, bytes.as_ptr() as usize, bytes.len(), place, 0, 0],
        )
    };
    slow(write())
}

/// `ftruncate64` of a 32-bit machine.
pub(super) fn ftruncate64(_: &mut Process, live: &Live, arguments: &Arguments) -> Reply {
    let [descriptor, _, high, low, ..] = *arguments;
    live.host(libc::SYS_ftruncate, [descriptor as usize, pair(high, low), 0, 0, 0, 0]).into()
}
