//! The run-time image of a JDK (`lib/modules`): an index of resources, then their contents.
//!
//! Header, redirect table (not needed: the whole index is read once), offsets of locations, attributes of locations,
//! strings. An attribute is a byte (kind above, length below) and a number, highest byte first.

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

const MAGIC: u32 = 0xCAFE_DADA;
const HEADER: usize = 28;
/// An image has less than this many bytes of index, or it is none.
const MOST: usize = 1 << 28;

/// An open image.
pub struct Image {
    file: File,
    /// Where the class of an internal name is, and its size.
    classes: HashMap<Box<str>, (u64, usize)>,
}

fn corrupt(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("not a run-time image: {what}"))
}

impl Image {
    /// Reads the index of the image in this file.
    pub fn open(path: &Path) -> io::Result<Image> {
        let file = File::open(path)?;
        let mut header = [0; HEADER];
        file.read_exact_at(&mut header, 0)?;
        // The numbers are in the order of the machine the image was made on, which the magic number tells.
        let little = u32::from_le_bytes([header[0], header[1], header[2], header[3]]) == MAGIC;
        let number = |at: usize, from: &[u8]| -> io::Result<usize> {
            let bytes: [u8; 4] =
                from.get(at..at + 4).and_then(|four| four.try_into().ok()).ok_or_else(|| corrupt("short"))?;
            Ok(if little { u32::from_le_bytes(bytes) } else { u32::from_be_bytes(bytes) } as usize)
        };
        if number(0, &header)? != MAGIC as usize {
            return Err(corrupt("wrong magic number"));
        }
        let (table, locations, strings) = (number(16, &header)?, number(20, &header)?, number(24, &header)?);
        let size = table.saturating_mul(8).saturating_add(locations).saturating_add(strings);
        if size > MOST {
            return Err(corrupt("an index that large"));
        }
        let mut index = vec![0; size];
        file.read_exact_at(&mut index, HEADER as u64)?;
        let data = (HEADER + size) as u64;
        let attributes = &index[table * 8..table * 8 + locations];
        let strings = &index[table * 8 + locations..];
        let text = |at: u64| -> &str {
            let bytes = strings.get(at as usize..).unwrap_or_default();
            let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(0);
            std::str::from_utf8(&bytes[..end]).unwrap_or_default()
        };
        let mut classes = HashMap::new();
        for entry in 0..table {
            let mut at = number(table * 4 + entry * 4, &index)?;
            // Module, parent, base, extension, offset, compressed size, size.
            let mut values = [0u64; 8];
            while let Some(&byte) = attributes.get(at) {
                let (kind, length) = (usize::from(byte >> 3), usize::from(byte & 7) + 1);
                if kind == 0 || kind > 7 {
                    break;
                }
                let bytes = attributes.get(at + 1..at + 1 + length).ok_or_else(|| corrupt("short"))?;
                values[kind] = bytes.iter().fold(0, |value, byte| value << 8 | u64::from(*byte));
                at += 1 + length;
            }
            let [_, module, parent, base, extension, offset, compressed, size] = values;
            if text(extension) != "class" || compressed != 0 || text(module).is_empty() {
                continue;
            }
            let name = match text(parent) {
                "" => text(base).to_owned(),
                parent => format!("{parent}/{}", text(base)),
            };
            classes.insert(name.into_boxed_str(), (data + offset, size as usize));
        }
        Ok(Image { file, classes })
    }

    /// The class file of this internal name.
    pub fn class(&self, name: &str) -> io::Result<Option<Vec<u8>>> {
        let Some(&(offset, size)) = self.classes.get(name) else { return Ok(None) };
        if size > MOST {
            return Err(corrupt("a class that large"));
        }
        let mut bytes = vec![0; size];
        self.file.read_exact_at(&mut bytes, offset)?;
        Ok(Some(bytes))
    }
}
