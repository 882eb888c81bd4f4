//! Mappings while they are recorded, and when they are replayed.

use crate::format::Writer;
use crate::log::Log;
use crate::record::{Record, SavedMap};
use parallax_process::memory::{Identity, Mapping, Object, PAGE};
use serde_bytes::ByteBuf;
use std::sync::{Arc, Mutex, PoisonError};

type Page = [u8; PAGE as usize];

/// A mapping whose pages are written down as they are touched, unless they are those of a file that was kept whole.
pub struct RecordedMap {
    pub inner: Arc<dyn Mapping>,
    pub number: u32,
    pub kept: Option<Arc<Vec<u8>>>,
    pub shared: bool,
    pub writer: Arc<Mutex<Writer>>,
}

impl RecordedMap {
    fn note(&self, record: &Record) {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner).append(record);
    }
}

/// A page of contents, zero-filled behind their end; none if it starts there.
fn page_of(contents: &[u8], offset: u64) -> Option<Page> {
    let rest = contents.get(usize::try_from(offset).ok()?..).filter(|rest| !rest.is_empty())?;
    let mut page = [0; PAGE as usize];
    let length = rest.len().min(page.len());
    page[..length].copy_from_slice(&rest[..length]);
    Some(page)
}

impl Mapping for RecordedMap {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn length(&self) -> u64 {
        self.inner.length()
    }

    fn page(&self, offset: u64, generation: u32) -> Option<Page> {
        let page = self.inner.page(offset, generation);
        let kept = self.kept.as_ref().and_then(|kept| page_of(kept, offset));
        // What the replay finds by itself need not be written down.
        if kept.is_none() || kept != page {
            let bytes = page.map(|page| ByteBuf::from(page.to_vec()));
            self.note(&Record::Fill { map: self.number, offset, generation, bytes });
        }
        page
    }

    fn shared_page(&self, offset: u64) -> Option<*mut u8> {
        self.inner.shared_page(offset)
    }

    fn note_foreign(&self, access: u64, offset: u64, bytes: Option<&[u8]>) {
        let bytes = bytes.map(|bytes| ByteBuf::from(bytes.to_vec()));
        self.note(&Record::Foreign { map: self.number, access, offset, bytes });
    }

    fn is_watched(&self) -> bool {
        self.shared
    }

    fn identity(&self) -> Option<Identity> {
        self.inner.identity()
    }

    fn object(&self) -> Option<Object> {
        self.inner.object()
    }

    fn may_write(&self) -> bool {
        self.inner.may_write()
    }

    fn is_segment(&self) -> bool {
        self.inner.is_segment()
    }

    fn reach(&self, end: u64) {
        self.inner.reach(end);
    }

    fn contents(&self) -> Option<Vec<u8>> {
        match &self.kept {
            Some(kept) => Some(kept.to_vec()),
            None => self.inner.contents(),
        }
    }
}

/// A mapping that is answered from a log.
pub struct ReplayedMap {
    pub saved: SavedMap,
    pub log: Arc<Log>,
}

impl Mapping for ReplayedMap {
    fn name(&self) -> &str {
        &self.saved.name
    }

    fn length(&self) -> u64 {
        self.saved.length
    }

    fn page(&self, offset: u64, generation: u32) -> Option<Page> {
        match self.log.fills.get(&(self.saved.number, offset, generation)) {
            Some(Some(bytes)) => bytes[..].try_into().ok(),
            Some(None) => None,
            None => {
                let kept = self.saved.file.as_ref().and_then(|name| self.log.files.get(name))?;
                page_of(kept, offset)
            }
        }
    }

    /// A page that was touched is that of the file that was kept, or was written down.
    fn is_known(&self, offset: u64, generation: u32) -> bool {
        self.log.fills.contains_key(&(self.saved.number, offset, generation))
    }

    fn shared_page(&self, _: u64) -> Option<*mut u8> {
        None
    }

    fn is_watched(&self) -> bool {
        self.saved.shared
    }

    fn number(&self) -> Option<u32> {
        Some(self.saved.number)
    }

    fn object(&self) -> Option<Object> {
        self.saved.object.map(|(device, inode)| Object { device, inode })
    }

    fn may_write(&self) -> bool {
        self.saved.may_write
    }

    fn is_segment(&self) -> bool {
        self.saved.segment
    }

    fn foreign(&self, access: u64) -> Vec<(u64, Option<Vec<u8>>)> {
        let changes = self.log.foreign.get(&(self.saved.number, access));
        let changes = changes.into_iter().flatten();
        changes.map(|(offset, bytes)| (*offset, bytes.as_ref().map(|bytes| bytes.to_vec()))).collect()
    }

    fn contents(&self) -> Option<Vec<u8>> {
        let name = self.saved.file.as_ref()?;
        self.log.files.get(name).map(|contents| contents.to_vec())
    }
}
