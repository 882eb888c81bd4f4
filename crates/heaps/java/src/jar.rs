//! Jars: as much of the ZIP format as they use. The directory at the end of the file says where each entry is; entries
//! are stored as they are or deflated.

use flate2::read::DeflateDecoder;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::path::Path;

/// An open jar.
pub struct Jar {
    source: Source,
    entries: BTreeMap<String, Entry>,
}

/// Where its bytes are.
enum Source {
    File(File),
    Memory(&'static [u8]),
}

impl Source {
    fn read_exact_at(&self, buffer: &mut [u8], at: u64) -> io::Result<()> {
        match self {
            Source::File(file) => file.read_exact_at(buffer, at),
            Source::Memory(bytes) => {
                let rest = usize::try_from(at).ok().and_then(|at| bytes.get(at..));
                let part = rest.and_then(|rest| rest.get(..buffer.len()));
                buffer.copy_from_slice(part.ok_or_else(|| corrupt("it ends too soon"))?);
                Ok(())
            }
        }
    }
}

struct Entry {
    method: u16,
    packed: u64,
    header: u64,
}

const END: [u8; 4] = *b"PK\x05\x06";
const DIRECTORY: [u8; 4] = *b"PK\x01\x02";
const LOCAL: [u8; 4] = *b"PK\x03\x04";
/// The end record and the longest comment that may follow it.
const TAIL: u64 = 22 + 0xFFFF;

fn corrupt(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("not a jar: {what}"))
}

fn short(bytes: &[u8], at: usize) -> io::Result<u16> {
    let two = bytes.get(at..at + 2).and_then(|two| two.try_into().ok());
    two.map(u16::from_le_bytes).ok_or_else(|| corrupt("it ends too soon"))
}

fn long(bytes: &[u8], at: usize) -> io::Result<u32> {
    Ok(u32::from(short(bytes, at)?) | u32::from(short(bytes, at + 2)?) << 16)
}

impl Jar {
    /// Reads the directory of a jar.
    pub fn open(path: &Path) -> io::Result<Jar> {
        let file = File::open(path)?;
        let size = file.metadata()?.len();
        Jar::of(Source::File(file), size)
    }

    /// Reads the directory of a jar that is in memory.
    pub fn within(bytes: &'static [u8]) -> io::Result<Jar> {
        Jar::of(Source::Memory(bytes), bytes.len() as u64)
    }

    fn of(source: Source, size: u64) -> io::Result<Jar> {
        let from = size.saturating_sub(TAIL);
        let mut tail = vec![0; (size - from) as usize];
        source.read_exact_at(&mut tail, from)?;
        let end = tail.windows(4).rposition(|four| four == END);
        let end = end.ok_or_else(|| corrupt("it has no directory"))?;
        let (length, start) = (long(&tail, end + 12)?, long(&tail, end + 16)?);
        if u64::from(start) + u64::from(length) > size {
            return Err(corrupt("its directory lies outside"));
        }
        let mut directory = vec![0; length as usize];
        source.read_exact_at(&mut directory, start.into())?;
        let mut entries = BTreeMap::new();
        let mut at = 0;
        while directory.get(at..at + 4) == Some(&DIRECTORY) {
            let name = usize::from(short(&directory, at + 28)?);
            let rest = usize::from(short(&directory, at + 30)?) + usize::from(short(&directory, at + 32)?);
            let text = directory.get(at + 46..at + 46 + name).ok_or_else(|| corrupt("a name is cut off"))?;
            let entry = Entry {
                method: short(&directory, at + 10)?,
                packed: long(&directory, at + 20)?.into(),
                header: long(&directory, at + 42)?.into(),
            };
            if let Ok(text) = std::str::from_utf8(text) {
                entries.insert(text.to_owned(), entry);
            }
            at += 46 + name + rest;
        }
        Ok(Jar { source, entries })
    }

    /// The names of its entries.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.keys().map(String::as_str)
    }

    /// The content of an entry, of `most` bytes.
    pub fn read(&self, name: &str, most: u64) -> io::Result<Option<Vec<u8>>> {
        let Some(entry) = self.entries.get(name) else { return Ok(None) };
        let mut header = [0; 30];
        self.source.read_exact_at(&mut header, entry.header)?;
        if header[..4] != LOCAL {
            return Err(corrupt("an entry is not where the directory says"));
        }
        let skip = u64::from(short(&header, 26)?) + u64::from(short(&header, 28)?);
        if entry.packed > most {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "too large for a class file"));
        }
        let mut packed = vec![0; entry.packed as usize];
        self.source.read_exact_at(&mut packed, entry.header + 30 + skip)?;
        let mut content = Vec::new();
        match entry.method {
            0 => content = packed,
            8 => {
                DeflateDecoder::new(&packed[..]).take(most + 1).read_to_end(&mut content)?;
            }
            _ => return Err(corrupt("an entry is packed in an unknown way")),
        }
        if content.len() as u64 > most {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "too large for a class file"));
        }
        Ok(Some(content))
    }
}
