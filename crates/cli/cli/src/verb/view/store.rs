//! The triage file under `parallax view`: read again before each write, under a lock that other servers respect.

use anyhow::{Context, Result};
use parallax_view::serve::Store;
use parallax_view::triage::Triage;
use std::fs::File;
use std::io::{ErrorKind, Write};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

/// Reads a triage file.
pub fn read(file: &Path, must_exist: bool) -> Result<Triage> {
    match std::fs::read(file) {
        Ok(bytes) => Triage::read(&bytes).with_context(|| format!("cannot read {}", file.display())),
        Err(error) if error.kind() == ErrorKind::NotFound && !must_exist => Ok(Triage::default()),
        Err(error) => Err(error).with_context(|| format!("cannot read {}", file.display())),
    }
}

/// A triage file that answers go to as they are given.
pub struct TriageFile(pub PathBuf);

impl Store for TriageFile {
    fn read(&mut self) -> Result<Triage, String> {
        read(&self.0, false).map_err(|error| format!("{error:#}"))
    }

    fn merge(&mut self, answers: Triage) -> Result<Triage, String> {
        self.merged(answers).map_err(|error| format!("cannot save to {}: {error:#}", self.0.display()))
    }
}

impl TriageFile {
    fn merged(&self, answers: Triage) -> Result<Triage> {
        let _lock = Lock::of(&self.0)?;
        let mut all = read(&self.0, false)?;
        all.merge(answers);
        all.prune();
        save(&self.0, &all.write())?;
        Ok(all)
    }
}

/// The right to write a file, until it is dropped or the process ends, however it ends.
struct Lock {
    _file: File,
}

impl Lock {
    fn of(file: &Path) -> Result<Lock> {
        let lock = File::options().create(true).append(true).open(beside(file, ".lock"))?;
        // SAFETY: the descriptor is open as long as `lock` lives.
        while unsafe { libc::flock(lock.as_raw_fd(), libc::LOCK_EX) } != 0 {
            let error = std::io::Error::last_os_error();
            if error.kind() != ErrorKind::Interrupted {
                return Err(error.into());
            }
        }
        Ok(Lock { _file: lock })
    }
}

/// Writes beside the file and renames, so that the answers of a day never half exist.
fn save(file: &Path, text: &str) -> Result<()> {
    let fresh = beside(file, ".new");
    let mut out = File::create(&fresh)?;
    out.write_all(text.as_bytes())?;
    // What is told to be saved outlives the machine.
    out.sync_all()?;
    std::fs::rename(&fresh, file)?;
    Ok(())
}

fn beside(file: &Path, ending: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}
