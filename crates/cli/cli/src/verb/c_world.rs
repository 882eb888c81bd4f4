//! The files, streams and environment of this process, as a C program that is run here sees them.

use parallax_cexplore::run::World;
use parallax_cmachine::{FileKind, FileName, FileStatus, Request, error_number, open_flag};
use std::ffi::OsStr;
use std::fs::{DirBuilder, File, FileTimes, Metadata, OpenOptions, Permissions};
use std::io::{IsTerminal, Read, Seek, SeekFrom, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;
use std::rc::Rc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// What a file number stands for.
#[derive(Clone)]
enum Open {
    Input,
    Output,
    Error,
    File(Rc<File>, i32),
}

/// Files, streams and environment of this process.
pub struct Process {
    numbers: Vec<Option<Open>>,
}

impl Default for Process {
    fn default() -> Self {
        Process { numbers: vec![Some(Open::Input), Some(Open::Output), Some(Open::Error)] }
    }
}

fn failed(error: std::io::Error) -> i32 {
    error.raw_os_error().unwrap_or(error_number::EINVAL)
}

fn path_of(bytes: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(bytes))
}

fn described(metadata: &Metadata, terminal: bool) -> FileStatus {
    let kind = metadata.file_type();
    FileStatus {
        kind: if kind.is_dir() {
            FileKind::Folder
        } else if kind.is_fifo() || kind.is_socket() {
            FileKind::Pipe
        } else if kind.is_char_device() || kind.is_block_device() {
            FileKind::Device
        } else {
            FileKind::Regular
        },
        mode: metadata.mode() & 0o7777,
        size: metadata.size(),
        modified: metadata.mtime(),
        inode: metadata.ino(),
        terminal,
    }
}

impl Process {
    fn at(&self, number: i32) -> Result<&Open, i32> {
        let found = usize::try_from(number).ok().and_then(|number| self.numbers.get(number));
        found.and_then(Option::as_ref).ok_or(error_number::EBADF)
    }

    fn file(&self, number: i32) -> Result<(&File, i32), i32> {
        match self.at(number)? {
            Open::File(file, flags) => Ok((file, *flags)),
            _ => Err(error_number::EINVAL),
        }
    }

    /// The lowest free number, as the system gives it.
    fn number(&mut self, open: Open, least: usize) -> i64 {
        let free = (least..self.numbers.len()).find(|&number| self.numbers[number].is_none());
        let number = free.unwrap_or(self.numbers.len().max(least));
        self.numbers.resize(self.numbers.len().max(number + 1), None);
        self.numbers[number] = Some(open);
        number as i64
    }

    fn open(&mut self, path: &[u8], flags: i32, mode: u32) -> Result<i64, i32> {
        let access = flags & open_flag::ACCESS;
        let mut options = OpenOptions::new();
        options.read(access != open_flag::WRITE_ONLY).write(access != 0);
        if access == 0 && flags & open_flag::CREATE != 0 {
            // The system makes files that are only read; this interface does not, so it is made first.
            match std::fs::metadata(path_of(path)) {
                Ok(_) if flags & open_flag::EXCLUSIVE != 0 => return Err(error_number::EEXIST),
                Ok(metadata) if metadata.is_dir() => return Err(error_number::EISDIR),
                _ => {}
            }
            let made = OpenOptions::new().write(true).create_new(true).mode(mode).open(path_of(path));
            if let Err(error) = made
                && error.kind() != std::io::ErrorKind::AlreadyExists
            {
                return Err(failed(error));
            }
        } else {
            let exclusive = flags & open_flag::EXCLUSIVE != 0;
            options
                .create(flags & open_flag::CREATE != 0)
                .create_new(exclusive && flags & open_flag::CREATE != 0);
            options.mode(mode);
        }
        // Linux empties also what is opened to be read.
        options.custom_flags(flags & (open_flag::APPEND | open_flag::DIRECTORY | open_flag::TRUNCATE));
        let file = options.open(path_of(path)).map_err(failed)?;
        Ok(self.number(Open::File(Rc::new(file), flags), 0))
    }
}

impl World for Process {
    fn read(&mut self, file: i32, count: u64) -> Option<Vec<u8>> {
        let mut bytes = Vec::new();
        let done = match self.at(file).ok()? {
            Open::Input => std::io::stdin().lock().take(count).read_to_end(&mut bytes),
            Open::File(file, _) => (&**file).take(count).read_to_end(&mut bytes),
            Open::Output | Open::Error => return None,
        };
        done.ok().map(|_| bytes)
    }

    fn write(&mut self, file: i32, bytes: &[u8]) -> bool {
        match self.at(file) {
            Ok(Open::Output) => std::io::stdout().lock().write_all(bytes).is_ok(),
            Ok(Open::Error) => std::io::stderr().lock().write_all(bytes).is_ok(),
            Ok(Open::File(file, _)) => (&**file).write_all(bytes).is_ok(),
            Ok(Open::Input) | Err(_) => false,
        }
    }

    fn request(&mut self, request: &Request<'_>) -> Result<i64, i32> {
        let done = |result: std::io::Result<()>| result.map(|()| 0).map_err(failed);
        match *request {
            Request::Open { path, flags, mode } => self.open(path, flags, mode),
            Request::Close { file } => {
                self.at(file)?;
                self.numbers[file as usize] = None;
                Ok(0)
            }
            Request::Seek { file, offset, whence } => {
                let to = match whence {
                    0 => SeekFrom::Start(u64::try_from(offset).map_err(|_| error_number::EINVAL)?),
                    1 => SeekFrom::Current(offset),
                    2 => SeekFrom::End(offset),
                    _ => return Err(error_number::EINVAL),
                };
                match self.at(file)? {
                    Open::File(file, _) => (&**file).seek(to).map(|at| at as i64).map_err(failed),
                    Open::Input | Open::Output | Open::Error => Err(error_number::ESPIPE),
                }
            }
            Request::Remove { path } => done(std::fs::remove_file(path_of(path))),
            Request::MakeFolder { path, mode } => done(DirBuilder::new().mode(mode).create(path_of(path))),
            Request::RemoveFolder { path } => done(std::fs::remove_dir(path_of(path))),
            Request::Rename { from, to } => done(std::fs::rename(path_of(from), path_of(to))),
            Request::Duplicate { file, least } => {
                let open = self.at(file)?.clone();
                let least = usize::try_from(least).ok().filter(|&n| n < 1024).ok_or(error_number::EINVAL)?;
                Ok(self.number(open, least))
            }
            Request::DuplicateTo { file, to } => {
                let open = self.at(file)?.clone();
                let place = usize::try_from(to).ok().filter(|&n| n < 1024).ok_or(error_number::EBADF)?;
                self.numbers.resize(self.numbers.len().max(place + 1), None);
                self.numbers[place] = Some(open);
                Ok(to.into())
            }
            Request::Flags { file } => Ok(match self.at(file)? {
                Open::File(_, flags) => {
                    i64::from(flags & (open_flag::ACCESS | open_flag::APPEND | open_flag::DIRECTORY))
                }
                Open::Input => 0,
                Open::Output | Open::Error => i64::from(open_flag::WRITE_ONLY),
            }),
            Request::Truncate { file, length } => {
                let length = u64::try_from(length).map_err(|_| error_number::EINVAL)?;
                done(self.file(file)?.0.set_len(length))
            }
            Request::ChangeMode { path, mode } => {
                done(std::fs::set_permissions(path_of(path), Permissions::from_mode(mode)))
            }
            Request::SetTime { path, modified } => {
                let since = Duration::from_secs(u64::try_from(modified).map_err(|_| error_number::EINVAL)?);
                let times = FileTimes::new().set_modified(UNIX_EPOCH + since);
                done(File::open(path_of(path)).and_then(|file| file.set_times(times)))
            }
            Request::ChangeFolder { path } => done(std::env::set_current_dir(path_of(path))),
            Request::Stream { file } => Ok(match self.at(file) {
                Ok(Open::Output) => 1,
                Ok(Open::Error) => 2,
                _ => 0,
            }),
        }
    }

    fn status(&mut self, of: FileName<'_>) -> Result<FileStatus, i32> {
        let stream = |number: i32, terminal: bool| {
            let metadata = std::fs::metadata(format!("/proc/self/fd/{number}")).map_err(failed)?;
            Ok(described(&metadata, terminal))
        };
        match of {
            FileName::Path(path) => Ok(described(&std::fs::metadata(path_of(path)).map_err(failed)?, false)),
            FileName::Number(number) => match self.at(number)? {
                Open::Input => stream(0, std::io::stdin().is_terminal()),
                Open::Output => stream(1, std::io::stdout().is_terminal()),
                Open::Error => stream(2, std::io::stderr().is_terminal()),
                Open::File(file, _) => Ok(described(&file.metadata().map_err(failed)?, file.is_terminal())),
            },
        }
    }

    fn entries(&mut self, path: &[u8]) -> Result<Vec<Vec<u8>>, i32> {
        let listed = std::fs::read_dir(path_of(path)).map_err(failed)?;
        let mut names: Vec<Vec<u8>> =
            listed.filter_map(|entry| Some(entry.ok()?.file_name().into_vec())).collect();
        names.sort();
        Ok(names)
    }

    fn time(&mut self) -> i64 {
        SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs() as i64)
    }

    fn environment(&self) -> Vec<Vec<u8>> {
        let joined = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
            [name.as_bytes(), b"=", value.as_bytes()].concat()
        };
        std::env::vars_os().map(joined).collect()
    }
}
