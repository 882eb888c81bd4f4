//! What is mapped where: a run of pages with one set of permissions and one origin.

use super::{Access, Mapping};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Which accesses a region permits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Permissions {
    /// Data may be read.
    pub read: bool,
    /// Data may be written.
    pub write: bool,
    /// Instructions may be fetched.
    pub execute: bool,
}

impl Permissions {
    /// Read and write: stacks and heaps.
    pub const DATA: Permissions = Permissions { read: true, write: true, execute: false };

    /// Whether an access is permitted. As on x86, what may be written or executed may also be read.
    pub fn allow(self, access: Access) -> bool {
        match access {
            Access::Read => self.read || self.write || self.execute,
            Access::Write => self.write,
            Access::Execute => self.execute,
        }
    }
}

impl std::fmt::Display for Permissions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let letter = |allowed, letter| if allowed { letter } else { '-' };
        write!(f, "{}{}{}", letter(self.read, 'r'), letter(self.write, 'w'), letter(self.execute, 'x'))
    }
}

/// Where the bytes of an untouched page come from.
#[derive(Clone)]
pub enum Backing {
    /// They are zero.
    Zero,
    /// They are copied from a file, at first touch, and belong to the process from then on.
    Copied {
        /// The file.
        map: Arc<dyn Mapping>,
        /// Where in it the region starts.
        offset: u64,
        /// How often the program has said that it does not need them.
        generation: u32,
    },
    /// They are shared with whoever else maps the same object: a file, or memory that a child process inherits.
    Shared {
        /// The object.
        map: Arc<dyn Mapping>,
        /// Where in it the region starts.
        offset: u64,
        /// How often they were found to be behind the end of a file.
        generation: u32,
    },
}

/// What a program has said about pages besides their permissions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Advice {
    /// A child finds them empty.
    pub wiped_in_children: bool,
    /// A child does not have them.
    pub kept_from_children: bool,
    /// They may not be dropped.
    pub locked: bool,
    /// An access below them lets them grow downwards, as a stack does.
    pub grows_down: bool,
}

/// A run of pages.
#[derive(Clone)]
pub struct Region {
    /// One past its last address.
    pub end: u64,
    /// What may be done with it.
    pub permissions: Permissions,
    /// Where its bytes come from.
    pub backing: Backing,
    /// What else holds for it.
    pub advice: Advice,
}

impl Region {
    /// The part of the region from `distance` bytes after its start.
    pub(crate) fn tail(&self, distance: u64) -> Region {
        let mut tail = self.clone();
        if let Backing::Copied { offset, .. } | Backing::Shared { offset, .. } = &mut tail.backing {
            *offset += distance;
        }
        tail
    }

    /// Whether another region that starts where this one ends continues it, as one request would have made both.
    pub(super) fn continues(&self, start: u64, other: &Region) -> bool {
        let backing = match (&self.backing, &other.backing) {
            (Backing::Zero, Backing::Zero) => true,
            (Backing::Copied { map, offset, .. }, Backing::Copied { map: next, offset: at, .. })
            | (Backing::Shared { map, offset, .. }, Backing::Shared { map: next, offset: at, .. }) => {
                let same = Arc::ptr_eq(map, next) || map.object().is_some() && map.object() == next.object();
                same && offset + (self.end - start) == *at
            }
            _ => false,
        };
        backing && self.permissions == other.permissions && self.advice == other.advice
    }
}
