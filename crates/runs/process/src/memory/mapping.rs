//! What a region can map: pages of a file, or memory shared with other processes. The door to the world outside makes
//! them, see [`crate::outside::Outside`].

use super::{Cause, PAGE};

/// Something that can be mapped.
pub trait Mapping: Send + Sync {
    /// What the user calls it: a path, usually.
    fn name(&self) -> &str;

    /// How many bytes there are.
    fn length(&self) -> u64;

    /// A copy of the page at `offset`, zero-filled after the end of the file; none if it starts after the end.
    ///
    /// A page is asked for when it is first touched, and again after the program has said that it does not need it, or after it
    /// was found to be missing: the generation counts how often.
    fn page(&self, offset: u64, generation: u32) -> Option<[u8; PAGE as usize]>;

    /// Whether the page at `offset` is known, be it that there is none: else a recording was cut before it says.
    fn is_known(&self, offset: u64, generation: u32) -> bool {
        let _ = (offset, generation);
        true
    }

    /// The host's address of the page at `offset`, where all who map it see the same bytes; none if it starts after
    /// the end, or if nothing is shared in truth.
    fn shared_page(&self, offset: u64) -> Option<*mut u8>;

    /// The number by which another replay of the same recording knows it.
    fn number(&self) -> Option<u32> {
        None
    }

    /// Whether loads are compared with what the program last saw there, since somebody records or replays.
    fn is_watched(&self) -> bool {
        false
    }

    /// Hears that the access of shared memory of that number found `bytes` at `offset` where the program had last seen
    /// others, or nothing, since the file was cut.
    fn note_foreign(&self, access: u64, offset: u64, bytes: Option<&[u8]>) {
        let _ = (access, offset, bytes);
    }

    /// What others had changed when the access of that number was made: offsets and bytes, or none where the file was cut.
    fn foreign(&self, access: u64) -> Vec<(u64, Option<Vec<u8>>)> {
        let _ = access;
        Vec::new()
    }

    /// Which file it is, whatever its state: two mappings of one file show the same pages.
    fn object(&self) -> Option<Object> {
        self.identity().map(|identity| Object { device: identity.device, inode: identity.inode })
    }

    /// Whether it is a segment of System V.
    fn is_segment(&self) -> bool {
        false
    }

    /// Whether what is shared may be made writable.
    fn may_write(&self) -> bool {
        true
    }

    /// Makes sure that it reaches up to this offset: the program maps more of it. There may be nothing yet.
    fn reach(&self, end: u64) {
        let _ = end;
    }

    /// Which file it is, and in which state: where this is the same, so are the contents, but for a change in the same tick of the
    /// kernel's clock.
    fn identity(&self) -> Option<Identity> {
        None
    }

    /// All of it; none if that is too much.
    fn contents(&self) -> Option<Vec<u8>> {
        let length = self.length();
        if length > LARGEST {
            return None;
        }
        let mut bytes = Vec::with_capacity(length as usize);
        while (bytes.len() as u64) < length {
            bytes.extend_from_slice(&self.page(bytes.len() as u64, 0)?);
        }
        bytes.truncate(length as usize);
        Some(bytes)
    }
}

impl dyn Mapping {
    /// The page at `offset`, or why there is none.
    pub(crate) fn filled(&self, offset: u64, generation: u32) -> Result<[u8; PAGE as usize], Cause> {
        self.page(offset, generation).ok_or_else(|| match self.is_known(offset, generation) {
            true => Cause::BeyondFile,
            false => Cause::Unrecorded,
        })
    }
}

/// Of longer files nobody wants all.
pub(crate) const LARGEST: u64 = 1 << 31;

/// A file of the system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct Object {
    /// The device that holds it.
    pub device: u64,
    /// Its number there.
    pub inode: u64,
}

/// A file in the state that it was mapped in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Identity {
    /// The device that holds it.
    pub device: u64,
    /// Its number there.
    pub inode: u64,
    /// How long it is.
    pub length: u64,
    /// When it was changed last, in seconds and nanoseconds. Unlike the time of modification nobody can set it back.
    pub changed: (i64, i64),
}
