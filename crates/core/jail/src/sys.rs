//! A few system calls with their errors as values.

use crate::child::MOST_SEEN;
use std::ffi::CString;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// The result of a call, or the error that it left.
pub fn check(result: libc::c_long) -> io::Result<libc::c_long> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

/// A path as the kernel takes it.
pub fn c_path(path: &Path) -> io::Result<CString> {
    c_bytes(path.as_os_str().as_bytes())
}

/// A text as the kernel takes it.
pub fn c_bytes(bytes: &[u8]) -> io::Result<CString> {
    CString::new(bytes).map_err(|_| io::Error::new(io::ErrorKind::InvalidInput, "a NUL byte in a name"))
}

/// A descriptor that names a file without opening it.
pub fn open_path(path: &Path) -> io::Result<OwnedFd> {
    let path = c_path(path)?;
    // SAFETY: the path ends with a NUL.
    let opened = check(unsafe { libc::open(path.as_ptr(), libc::O_PATH | libc::O_CLOEXEC) }.into())?;
    // SAFETY: the descriptor is new, and nothing else owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(opened as RawFd) })
}

/// Two ends of a connection that keeps the bounds of messages.
pub fn socket_pair() -> io::Result<(OwnedFd, OwnedFd)> {
    let mut ends = [0; 2];
    let kind = libc::SOCK_SEQPACKET | libc::SOCK_CLOEXEC;
    // SAFETY: there is room for two descriptors.
    check(unsafe { libc::socketpair(libc::AF_UNIX, kind, 0, ends.as_mut_ptr()) }.into())?;
    // SAFETY: both are new.
    Ok(unsafe { (OwnedFd::from_raw_fd(ends[0]), OwnedFd::from_raw_fd(ends[1])) })
}

/// A pipe: the end to read, which does not block, and the end to write.
pub fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let mut ends = [0; 2];
    // SAFETY: there is room for two descriptors.
    check(unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) }.into())?;
    // SAFETY: both are new.
    let (read, write) = unsafe { (OwnedFd::from_raw_fd(ends[0]), OwnedFd::from_raw_fd(ends[1])) };
    // SAFETY: a flag of a descriptor that is open.
    check(unsafe { libc::fcntl(read.as_raw_fd(), libc::F_SETFL, libc::O_NONBLOCK) }.into())?;
    Ok((read, write))
}

/// A file of these bytes that has no name and cannot be written.
pub fn file_of(bytes: &[u8]) -> io::Result<OwnedFd> {
    use std::io::Write;
    // SAFETY: the name ends with a NUL.
    let made = check(
        unsafe { libc::memfd_create(c"stdin".as_ptr(), libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING) }.into(),
    )?;
    // SAFETY: the descriptor is new.
    let mut file = std::fs::File::from(unsafe { OwnedFd::from_raw_fd(made as RawFd) });
    file.write_all(bytes)?;
    let seals = libc::F_SEAL_WRITE | libc::F_SEAL_GROW | libc::F_SEAL_SHRINK | libc::F_SEAL_SEAL;
    // SAFETY: seals of a file of ours.
    check(unsafe { libc::fcntl(file.as_raw_fd(), libc::F_ADD_SEALS, seals) }.into())?;
    // Opened once more, so that the descriptor reads only and stands at the start.
    std::fs::File::open(format!("/proc/self/fd/{}", file.as_raw_fd())).map(OwnedFd::from)
}

/// A message with its descriptors; none if the other end is gone.
pub fn received(socket: RawFd) -> Option<([i32; 3], Vec<OwnedFd>)> {
    #[repr(C, align(8))]
    struct Control([u8; 64 + 4 * MOST_SEEN]);
    let mut message = [0i32; 3];
    let mut control = Control([0; 64 + 4 * MOST_SEEN]);
    let mut part = libc::iovec { iov_base: message.as_mut_ptr().cast(), iov_len: 12 };
    // SAFETY: all zero is an empty header.
    let mut header: libc::msghdr = unsafe { std::mem::zeroed() };
    header.msg_iov = &raw mut part;
    header.msg_iovlen = 1;
    header.msg_control = control.0.as_mut_ptr().cast();
    header.msg_controllen = control.0.len();
    // SAFETY: the header points to live data of these lengths.
    let length = unsafe { libc::recvmsg(socket, &raw mut header, libc::MSG_CMSG_CLOEXEC) };
    if length <= 0 {
        return None;
    }
    let mut descriptors = Vec::new();
    // SAFETY: the kernel filled the header in; its first control message, if there is one, lies in our buffer, with as many
    // new descriptors as its length says.
    unsafe {
        let first = libc::CMSG_FIRSTHDR(&raw const header);
        if !first.is_null() && (*first).cmsg_type == libc::SCM_RIGHTS {
            let bytes = (*first).cmsg_len - libc::CMSG_LEN(0) as usize;
            let data = libc::CMSG_DATA(first).cast::<RawFd>();
            for index in 0..bytes / 4 {
                descriptors.push(OwnedFd::from_raw_fd(data.add(index).read_unaligned()));
            }
        }
    }
    Some((message, descriptors))
}
