//! `run` on C: the program as it would run natively, with the files and streams of this process.

use super::c_sources::CSources;
use crate::exit::{Failure, Status};
use anyhow::Result;
use parallax_cexplore::confirm::user_place;
use parallax_cexplore::run::{Outcome, Settings, World, run};
use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

/// Files and streams of this process.
#[derive(Default)]
struct Process {
    files: Vec<Option<File>>,
}

impl Process {
    fn file(&mut self, number: i32) -> Option<&mut File> {
        self.files.get_mut(usize::try_from(number.checked_sub(3)?).ok()?)?.as_mut()
    }
}

impl World for Process {
    fn read(&mut self, file: i32, count: u64) -> Option<Vec<u8>> {
        let mut bytes = Vec::new();
        let done = match file {
            0 => std::io::stdin().lock().take(count).read_to_end(&mut bytes),
            _ => self.file(file)?.take(count).read_to_end(&mut bytes),
        };
        done.ok().map(|_| bytes)
    }
    fn write(&mut self, file: i32, bytes: &[u8]) -> bool {
        match file {
            1 => std::io::stdout().lock().write_all(bytes).is_ok(),
            2 => std::io::stderr().lock().write_all(bytes).is_ok(),
            _ => self.file(file).is_some_and(|file| file.write_all(bytes).is_ok()),
        }
    }
    fn open(&mut self, path: &[u8], flags: i32) -> Option<i32> {
        let path = Path::new(std::ffi::OsStr::from_bytes(path));
        let file = match flags {
            0 => File::open(path),
            1 => File::create(path),
            2 => OpenOptions::new().append(true).create(true).open(path),
            4 => OpenOptions::new().read(true).write(true).create(true).truncate(true).open(path),
            _ => OpenOptions::new().read(true).write(true).open(path),
        };
        let file = Some(file.ok()?);
        // The lowest free number, as the system gives it.
        let number = self.files.iter().position(Option::is_none).unwrap_or(self.files.len());
        match self.files.get_mut(number) {
            Some(place) => *place = file,
            None => self.files.push(file),
        }
        i32::try_from(number + 3).ok()
    }
    fn seek(&mut self, file: i32, offset: i64, whence: i32) -> Option<i64> {
        let to = match whence {
            0 => SeekFrom::Start(u64::try_from(offset).ok()?),
            1 => SeekFrom::Current(offset),
            _ => SeekFrom::End(offset),
        };
        i64::try_from(self.file(file)?.seek(to).ok()?).ok()
    }
    fn close(&mut self, file: i32) -> bool {
        if (0..3).contains(&file) {
            return true;
        }
        let place =
            file.checked_sub(3).and_then(|n| usize::try_from(n).ok()).and_then(|n| self.files.get_mut(n));
        place.is_some_and(|file| file.take().is_some())
    }
    fn remove(&mut self, path: &[u8]) -> bool {
        std::fs::remove_file(Path::new(std::ffi::OsStr::from_bytes(path))).is_ok()
    }
    fn time(&mut self) -> i64 {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        since.map_or(0, |d| d.as_secs() as i64)
    }
    fn environment(&mut self, name: &[u8]) -> Option<Vec<u8>> {
        std::env::var_os(std::ffi::OsStr::from_bytes(name)).map(OsStringExt::into_vec)
    }
}

/// Runs a C program. A program that ends normally decides the exit status itself, as it would natively.
pub fn run_program(sources: &CSources, arguments: &[OsString], steps: Option<u64>) -> Result<Status> {
    let program = sources.load()?;
    let module = &program.module;
    let mut words = vec![sources.files[0].as_os_str().as_bytes().to_vec()];
    words.extend(arguments.iter().map(|a| a.as_bytes().to_vec()));
    let settings = Settings { steps, ..Settings::default() };
    let finished = run(module, &words, &mut Process::default(), &settings, &mut |_| {});
    let _ = std::io::stdout().flush();
    let place = |stack: &[_]| {
        let (function, at) = user_place(module, stack);
        let location = module.location(at);
        let function = module.functions.get(function.0 as usize).map_or("", |f| f.name.as_str());
        match location.line {
            0 => String::new(),
            line => format!("\n --> {}:{line} in {function}", module.file_of(at)),
        }
    };
    match finished.outcome {
        Outcome::Exit(status) => std::process::exit(status.into()),
        Outcome::Mistake(mistake) => {
            eprintln!("{}: {}{}", mistake.problem.name(), mistake.detail, place(&mistake.stack));
            Ok(Status::Findings)
        }
        Outcome::Assumption => {
            eprintln!("an assumption of the harness does not hold");
            Ok(Status::Clean)
        }
        Outcome::Unsupported(words, stack) => {
            let status = if stack.is_empty() { Status::BadInput } else { Status::Unsupported };
            Err(Failure { status, message: format!("{words}{}", place(&stack)) }.into())
        }
        Outcome::StepLimit => {
            eprintln!("gave up: the program did not end within {} instructions", finished.steps);
            Ok(Status::GaveUp)
        }
    }
}
