//! The views that runs enter: each run finds the world as every other run found it.
//!
//! A view is used for one run after the other. What a run wrote is removed before the next one enters.

use crate::descriptors::descriptors;
use crate::effects::{MOST_BYTES, World};
use crate::subject::Subject;
use parallax_jail::{Jail, SharedView};
use std::net::SocketAddr;
use std::os::fd::RawFd;
use std::path::PathBuf;

/// What of the world outside an exploration may reach.
#[derive(Clone, Debug, Default)]
pub struct Allowed {
    /// Everything, by a person's word.
    pub everything: bool,
    /// Addresses that runs may connect to.
    pub network: Vec<SocketAddr>,
    /// Folders that runs may change for good.
    pub writable: Vec<PathBuf>,
}

/// Views for runs.
pub struct Layers {
    allowed: Allowed,
    idle: Vec<SharedView>,
    /// Why there are no views here.
    none: Option<String>,
    /// Descriptors that were open before the program was.
    ours: Vec<RawFd>,
    /// Descriptors that the program has where runs begin.
    theirs: Vec<RawFd>,
}

impl Layers {
    /// Finds out whether there are views. Descriptors that are open now are ours.
    pub fn new(allowed: &Allowed) -> Layers {
        let mut layers = Layers {
            allowed: allowed.clone(),
            idle: Vec::new(),
            none: None,
            ours: Vec::new(),
            theirs: Vec::new(),
        };
        if !allowed.everything {
            match layers.make() {
                Ok(view) => layers.idle.push(view),
                Err(why) => layers.none = Some(why),
            }
        }
        layers.ours = descriptors();
        layers
    }

    /// The program has been loaded: what is open since then is its own.
    pub fn loaded(&mut self) {
        self.theirs = descriptors().into_iter().filter(|number| !self.ours.contains(number)).collect();
    }

    /// Why changes end a run here instead of going to a layer, if they do.
    pub fn missing(&self) -> Option<&str> {
        self.none.as_deref()
    }

    fn make(&self) -> Result<SharedView, String> {
        let jail = Jail { writable: self.allowed.writable.clone(), ..Jail::default() };
        SharedView::new(&jail, !self.allowed.network.is_empty()).map_err(|error| error.to_string())
    }

    /// A view that nothing was written to; none where there are none, or none are wanted.
    pub fn fresh(&mut self) -> std::io::Result<Option<SharedView>> {
        if self.allowed.everything || self.none.is_some() {
            return Ok(None);
        }
        match self.idle.pop() {
            Some(view) => Ok(Some(view)),
            None => self.make().map(Some).map_err(std::io::Error::other),
        }
    }

    /// Takes a view back after its run, which has ended.
    pub fn back(&mut self, view: Option<SharedView>) {
        self.idle.extend(view.and_then(SharedView::renewed));
    }

    /// Makes this process, which is a run and nothing else any more, enter its world: descriptors of ours are closed, and those
    /// that the program has lead to the same files in the view.
    pub fn enter(&self, view: Option<&SharedView>, subject: &Subject) -> std::io::Result<()> {
        if self.allowed.everything {
            return Ok(());
        }
        let world = match view {
            Some(view) => {
                view.enter()?;
                World::View(self.allowed.network.clone())
            }
            None => World::Outside,
        };
        // Files without a name lie in memory, and a view holds them no more than this.
        let most = libc::rlimit { rlim_cur: MOST_BYTES, rlim_max: MOST_BYTES };
        // SAFETY: the structure lives long enough.
        unsafe { libc::setrlimit(libc::RLIMIT_FSIZE, &raw const most) };
        for descriptor in &self.theirs {
            reopen_by_name(*descriptor);
        }
        close_all_but(&self.theirs);
        let mut shared = subject.shared.borrow_mut();
        shared.world = world;
        // From here on its calls are looked at one by one.
        shared.traces = view.map(SharedView::traces);
        Ok(())
    }
}

/// Closes all descriptors but the standard streams and these. Nothing in this process uses the others any more: a run talks to its
/// maker through memory.
fn close_all_but(kept: &[RawFd]) {
    let mut kept: Vec<u32> = kept.iter().filter_map(|number| u32::try_from(*number).ok()).collect();
    kept.sort_unstable();
    let mut first = 3;
    for number in kept.into_iter().chain([u32::MAX]) {
        // SAFETY: the call takes numbers.
        if first < number && unsafe { libc::syscall(libc::SYS_close_range, first, number - 1, 0) } != 0 {
            // Kernels before 5.9 do not know it.
            for open in descriptors().into_iter().filter(|open| (first..number).contains(&(*open as u32))) {
                // SAFETY: the call takes a number.
                unsafe { libc::close(open) };
            }
        }
        first = first.max(number.saturating_add(1));
    }
}

/// Opens what a descriptor leads to once more, by its name: in this process's view of the file system.
fn reopen_by_name(descriptor: RawFd) {
    use std::os::fd::AsRawFd;
    let Ok(path) = std::fs::read_link(format!("/proc/self/fd/{descriptor}")) else { return };
    if !path.is_absolute() {
        return;
    }
    let Ok(file) = std::fs::File::open(&path) else {
        // What has no name in the view is not there.
        // SAFETY: the program finds it closed.
        unsafe { libc::close(descriptor) };
        return;
    };
    // SAFETY: both are open; the place in the file and the flag of the old one go to the new one.
    unsafe {
        let place = libc::lseek(descriptor, 0, libc::SEEK_CUR);
        let flag = libc::fcntl(descriptor, libc::F_GETFD);
        let closes = if flag & libc::FD_CLOEXEC != 0 { libc::O_CLOEXEC } else { 0 };
        libc::dup3(file.as_raw_fd(), descriptor, closes);
        if place > 0 {
            libc::lseek(descriptor, place, libc::SEEK_SET);
        }
    }
}
