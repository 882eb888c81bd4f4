//! The names of user-defined operations, read from a compiled specification: the library keeps them to itself.
//!
//! A `.sla` file is four bytes (`sla`, version 4), then a zlib stream of records. Each record starts with a byte whose
//! top two bits say what it is (element start, element end, attribute) and whose rest is an identifier; an attribute is
//! followed by a type byte and its value. Only `userop_head` (name, id) and `userop` (id, index) matter here.

use std::collections::HashMap;
use std::io::Read;

/// Decompressed specifications are a few MiB; anything much larger is not one.
const MAX_BYTES: u64 = 256 << 20;

const ATTRIBUTE_ID: u32 = 3;
const ATTRIBUTE_INDEX: u32 = 9;
const ATTRIBUTE_NAME: u32 = 12;
const ELEMENT_USEROP: u32 = 25;
const ELEMENT_USEROP_HEAD: u32 = 26;

/// The names by index, or none at all when the file is not understood.
pub fn user_operations(sla: &[u8]) -> Vec<String> {
    let Some(stream) = sla.strip_prefix(b"sla\x04") else { return Vec::new() };
    let mut bytes = Vec::new();
    if flate2::read::ZlibDecoder::new(stream).take(MAX_BYTES).read_to_end(&mut bytes).is_err() {
        return Vec::new();
    }
    let mut names: HashMap<u64, String> = HashMap::new();
    let mut indices: Vec<(u64, u64)> = Vec::new();
    let mut records = Records { bytes: &bytes };
    let mut element = 0;
    let mut current = Attributes::default();
    while let Some(record) = records.next() {
        match record {
            Record::Start(id) => {
                element = id;
                current = Attributes::default();
            }
            Record::Attribute(id, value) => match (id, value) {
                (ATTRIBUTE_ID, Value::Number(id)) => current.id = Some(id),
                (ATTRIBUTE_INDEX, Value::Number(index)) => current.index = Some(index),
                (ATTRIBUTE_NAME, Value::Text(name)) => current.name = Some(name),
                _ => {}
            },
            Record::End(id) => match (id == element, id, std::mem::take(&mut current)) {
                (true, ELEMENT_USEROP_HEAD, Attributes { id: Some(id), name: Some(name), .. }) => {
                    names.insert(id, name);
                }
                (true, ELEMENT_USEROP, Attributes { id: Some(id), index: Some(index), .. }) => {
                    indices.push((index, id))
                }
                _ => {}
            },
        }
    }
    indices.sort_unstable();
    indices.iter().map(|(_, id)| names.get(id).cloned().unwrap_or_default()).collect()
}

#[derive(Default)]
struct Attributes {
    id: Option<u64>,
    index: Option<u64>,
    name: Option<String>,
}

enum Record {
    Start(u32),
    End(u32),
    Attribute(u32, Value),
}

enum Value {
    Number(u64),
    Text(String),
    Other,
}

struct Records<'a> {
    bytes: &'a [u8],
}

impl Records<'_> {
    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.bytes.split_first()?;
        self.bytes = rest;
        Some(*first)
    }

    /// A number of `count` groups of seven bits, the highest first.
    fn number(&mut self, count: u8) -> Option<u64> {
        (0..count).try_fold(0u64, |sum, _| Some(sum << 7 | u64::from(self.byte()? & 0x7f)))
    }

    fn next(&mut self) -> Option<Record> {
        let head = self.byte()?;
        let mut id = u32::from(head & 0x1f);
        if head & 0x20 != 0 {
            id = id << 7 | u32::from(self.byte()? & 0x7f);
        }
        match head & 0xc0 {
            0x40 => Some(Record::Start(id)),
            0x80 => Some(Record::End(id)),
            0xc0 => {
                let kind = self.byte()?;
                let length = kind & 0xf;
                let value = match kind >> 4 {
                    1 | 6 => Value::Other,
                    2..=5 => Value::Number(self.number(length)?),
                    7 => {
                        let length = usize::try_from(self.number(length)?).ok()?;
                        let (text, rest) = self.bytes.split_at_checked(length)?;
                        self.bytes = rest;
                        Value::Text(String::from_utf8_lossy(text).into_owned())
                    }
                    _ => return None,
                };
                Some(Record::Attribute(id, value))
            }
            _ => None,
        }
    }
}
