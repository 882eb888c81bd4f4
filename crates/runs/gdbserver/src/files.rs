//! Files that GDB asks for: programs and libraries out of the recording, and what `/proc` would say.

use crate::link_map;
use crate::session::{Session, part};
use gdbstub::common::Pid;
use gdbstub::target::TargetResult;
use gdbstub::target::ext::exec_file::ExecFile;
use gdbstub::target::ext::host_io::{
    FsKind, HostIo, HostIoClose, HostIoCloseOps, HostIoErrno, HostIoError, HostIoFstat, HostIoFstatOps,
    HostIoOpen, HostIoOpenFlags, HostIoOpenMode, HostIoOpenOps, HostIoPread, HostIoPreadOps, HostIoReadlink,
    HostIoReadlinkOps, HostIoResult, HostIoSetfs, HostIoSetfsOps, HostIoStat,
};
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;

impl Session<'_> {
    fn program(&self) -> &[u8] {
        self.state.program().as_os_str().as_bytes()
    }

    /// The contents of a file.
    fn contents(&self, path: &str) -> Option<Arc<[u8]>> {
        if let Some(of_process) = path.strip_prefix("/proc/") {
            let name = of_process.rsplit('/').next()?;
            return match name {
                "maps" => Some(self.maps().into_bytes().into()),
                "exe" => self.travel.log().file(std::str::from_utf8(self.program()).ok()?),
                "cmdline" => {
                    let program = self.travel.log().header.program();
                    Some(program.arguments.iter().flat_map(|one| [&one[..], &[0]].concat()).collect())
                }
                _ => None,
            };
        }
        let kept = link_map::file_of(&self.state, path).and_then(|file| self.travel.log().file(file));
        kept.or_else(|| self.travel.log().file(path))
    }

    /// What is mapped, as Linux shows it.
    fn maps(&self) -> String {
        let stack = self.state.register("RSP").unwrap_or(0);
        let line = |mapped: &parallax_travel::Mapped| {
            let name = match &mapped.file {
                Some(file) => file.as_str(),
                None if mapped.range.contains(&stack) => "[stack]",
                None => "",
            };
            let kind = if mapped.shared { 's' } else { 'p' };
            format!(
                "{:012x}-{:012x} {}{kind} {:08x} 00:00 0 {name}\n",
                mapped.range.start, mapped.range.end, mapped.permissions, mapped.offset
            )
        };
        self.state.mapped().iter().map(line).collect()
    }
}

impl ExecFile for Session<'_> {
    fn get_exec_file(
        &self,
        _: Option<Pid>,
        offset: u64,
        length: usize,
        into: &mut [u8],
    ) -> TargetResult<usize, Self> {
        Ok(part(self.program(), offset, length, into))
    }
}

impl HostIo for Session<'_> {
    fn support_open(&mut self) -> Option<HostIoOpenOps<'_, Self>> {
        Some(self)
    }

    fn support_close(&mut self) -> Option<HostIoCloseOps<'_, Self>> {
        Some(self)
    }

    fn support_pread(&mut self) -> Option<HostIoPreadOps<'_, Self>> {
        Some(self)
    }

    fn support_fstat(&mut self) -> Option<HostIoFstatOps<'_, Self>> {
        Some(self)
    }

    fn support_readlink(&mut self) -> Option<HostIoReadlinkOps<'_, Self>> {
        Some(self)
    }

    fn support_setfs(&mut self) -> Option<HostIoSetfsOps<'_, Self>> {
        Some(self)
    }
}

fn refused<T, E>(errno: HostIoErrno) -> Result<T, HostIoError<E>> {
    Err(HostIoError::Errno(errno))
}

impl HostIoOpen for Session<'_> {
    fn open(&mut self, path: &[u8], flags: HostIoOpenFlags, _: HostIoOpenMode) -> HostIoResult<u32, Self> {
        if flags.intersects(HostIoOpenFlags::O_WRONLY | HostIoOpenFlags::O_RDWR | HostIoOpenFlags::O_CREAT) {
            return refused(HostIoErrno::EROFS);
        }
        const MOST: usize = 256;
        if self.open.len() >= MOST {
            return refused(HostIoErrno::EMFILE);
        }
        let found = std::str::from_utf8(path).ok().and_then(|path| self.contents(path));
        let Some(contents) = found else { return refused(HostIoErrno::ENOENT) };
        let number = self.next_file;
        self.next_file += 1;
        self.open.insert(number, contents);
        Ok(number)
    }
}

impl HostIoClose for Session<'_> {
    fn close(&mut self, number: u32) -> HostIoResult<(), Self> {
        match self.open.remove(&number) {
            Some(_) => Ok(()),
            None => refused(HostIoErrno::EBADF),
        }
    }
}

impl HostIoPread for Session<'_> {
    fn pread(
        &mut self,
        number: u32,
        count: usize,
        offset: u64,
        into: &mut [u8],
    ) -> HostIoResult<usize, Self> {
        match self.open.get(&number) {
            Some(contents) => Ok(part(contents, offset, count, into)),
            None => refused(HostIoErrno::EBADF),
        }
    }
}

impl HostIoFstat for Session<'_> {
    fn fstat(&mut self, number: u32) -> HostIoResult<HostIoStat, Self> {
        let Some(contents) = self.open.get(&number) else { return refused(HostIoErrno::EBADF) };
        Ok(HostIoStat {
            st_dev: 0,
            st_ino: number,
            st_mode: HostIoOpenMode::S_IFREG | HostIoOpenMode::S_IRUSR,
            st_nlink: 1,
            st_uid: 0,
            st_gid: 0,
            st_rdev: 0,
            st_size: contents.len() as u64,
            st_blksize: 4096,
            st_blocks: (contents.len() as u64).div_ceil(512),
            st_atime: 0,
            st_mtime: 0,
            st_ctime: 0,
        })
    }
}

impl HostIoReadlink for Session<'_> {
    fn readlink(&mut self, path: &[u8], into: &mut [u8]) -> HostIoResult<usize, Self> {
        if path.starts_with(b"/proc/") && path.ends_with(b"/exe") {
            return Ok(part(self.program(), 0, into.len(), into));
        }
        refused(HostIoErrno::EINVAL)
    }
}

impl HostIoSetfs for Session<'_> {
    fn setfs(&mut self, _: FsKind) -> HostIoResult<(), Self> {
        Ok(())
    }
}
