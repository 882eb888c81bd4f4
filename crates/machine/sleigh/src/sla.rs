//! What can be read from a compiled specification without the library: the names of user-defined operations, which the
//! library keeps to itself, and the registers, so that the library need not be started just to be asked for them.
//!
//! A `.sla` file is four bytes (`sla`, version 4), then a zlib stream of records. Each record starts with a byte whose
//! top two bits say what it is (element start, element end, attribute) and whose rest is an identifier; an attribute is
//! followed by a type byte and its value. Only `userop_head` (name, id) and `userop` (id, index) matter here, the same
//! for `varnode`, and the address spaces.

use crate::library::Facts;
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io::Read;

/// Decompressed specifications are a few MiB; anything much larger is not one.
const MAX_BYTES: u64 = 256 << 20;

const ATTRIBUTE_ID: u32 = 3;
const ATTRIBUTE_SPACE: u32 = 4;
const ATTRIBUTE_OFFSET: u32 = 6;
const ATTRIBUTE_INDEX: u32 = 9;
const ATTRIBUTE_NAME: u32 = 12;
const ATTRIBUTE_SCOPE: u32 = 13;
const ATTRIBUTE_SIZE: u32 = 15;
const ATTRIBUTE_BIG_ENDIAN: u32 = 35;
const ATTRIBUTE_DEFAULT_SPACE: u32 = 41;
const ATTRIBUTE_WORD_SIZE: u32 = 43;
const ELEMENT_VARNODE: u32 = 23;
const ELEMENT_VARNODE_HEAD: u32 = 24;
const ELEMENT_USEROP: u32 = 25;
const ELEMENT_USEROP_HEAD: u32 = 26;
const ELEMENT_SPACES: u32 = 34;
const ELEMENT_SPACE: u32 = 37;

/// What a compiled specification holds, as far as it is understood.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Contents {
    /// Names of user-defined operations, by their index.
    pub user_operations: Vec<String>,
    /// What the library would say about the processor.
    pub facts: Option<Facts>,
}

/// An element's attributes that matter here.
#[derive(Default)]
struct Attributes {
    numbers: Vec<(u32, u64)>,
    name: Option<String>,
    default_space: Option<String>,
}

impl Attributes {
    fn number(&self, wanted: u32) -> Option<u64> {
        self.numbers.iter().find(|(id, _)| *id == wanted).map(|(_, value)| *value)
    }
}

fn is_wanted(element: u32) -> bool {
    matches!(element, ELEMENT_VARNODE..=ELEMENT_USEROP_HEAD | ELEMENT_SPACES | ELEMENT_SPACE)
}

/// Reads a compiled specification; what is not understood is left out.
pub fn read(sla: &[u8]) -> Contents {
    let Some(stream) = sla.strip_prefix(b"sla\x04") else { return Contents::default() };
    let mut bytes = Vec::new();
    if flate2::read::ZlibDecoder::new(stream).take(MAX_BYTES).read_to_end(&mut bytes).is_err() {
        return Contents::default();
    }
    let mut names: FxHashMap<u64, (String, u64)> = FxHashMap::default();
    let mut operations: Vec<(u64, u64)> = Vec::new();
    let mut places: Vec<(u64, Attributes)> = Vec::new();
    let mut spaces: Vec<Attributes> = Vec::new();
    let mut default_space = None;
    let mut records = Records { bytes: &bytes };
    let mut open: Option<(u32, Attributes)> = None;
    // Most of the file is of no interest here.
    while let Some(record) =
        if open.is_some() { records.next() } else { records.next_start(is_wanted).map(Record::Start) }
    {
        match record {
            Record::Start(id) => {
                // The name of the default space is on the element around the spaces.
                if let Some((ELEMENT_SPACES, around)) = open.take() {
                    default_space = default_space.or(around.default_space);
                }
                open = is_wanted(id).then(|| (id, Attributes::default()));
            }
            Record::Attribute(id, value) => {
                if let Some((_, attributes)) = &mut open {
                    match (id, value) {
                        (id, Value::Number(number)) => attributes.numbers.push((id, number)),
                        (ATTRIBUTE_NAME, Value::Text(name)) => attributes.name = Some(name.to_owned()),
                        (ATTRIBUTE_DEFAULT_SPACE, Value::Text(name)) => {
                            attributes.default_space = Some(name.to_owned());
                        }
                        _ => {}
                    }
                }
            }
            Record::End(id) => {
                let Some((element, attributes)) = open.take().filter(|(element, _)| *element == id) else {
                    continue;
                };
                let number = |wanted: u32| attributes.number(wanted);
                match (element, number(ATTRIBUTE_ID)) {
                    (ELEMENT_SPACE, _) => spaces.push(attributes),
                    (ELEMENT_VARNODE, Some(id)) => places.push((id, attributes)),
                    (ELEMENT_USEROP, Some(id)) => {
                        operations.extend(number(ATTRIBUTE_INDEX).map(|at| (at, id)))
                    }
                    (ELEMENT_VARNODE_HEAD | ELEMENT_USEROP_HEAD, Some(id)) => {
                        let scope = number(ATTRIBUTE_SCOPE).unwrap_or(0);
                        names.insert(id, (attributes.name.unwrap_or_default(), scope));
                    }
                    _ => {}
                }
            }
        }
    }
    operations.sort_unstable();
    let name = |id: &u64| names.get(id).map(|(name, _)| name.clone()).unwrap_or_default();
    let user_operations = operations.iter().map(|(_, id)| name(id)).collect();
    let facts = default_space.and_then(|default| facts(&spaces, &default, &places, &names));
    Contents { user_operations, facts }
}

fn facts(
    spaces: &[Attributes],
    default: &str,
    places: &[(u64, Attributes)],
    names: &FxHashMap<u64, (String, u64)>,
) -> Option<Facts> {
    let space = |wanted: &str| spaces.iter().find(|space| space.name.as_deref() == Some(wanted));
    let code = space(default)?;
    let register = space("register")?.number(ATTRIBUTE_INDEX)?;
    // In the library's order, the largest first; of several names of one place it keeps the first in the alphabet, and
    // only those of the global scope.
    let mut registers: BTreeMap<(u64, Reverse<u64>), &str> = BTreeMap::new();
    for (id, place) in places {
        let (name, scope) = names.get(id)?;
        if place.number(ATTRIBUTE_SPACE)? != register || *scope != 0 {
            continue;
        }
        let key = (place.number(ATTRIBUTE_OFFSET)?, Reverse(place.number(ATTRIBUTE_SIZE)?));
        let kept = registers.entry(key).or_insert(name);
        *kept = (*kept).min(name.as_str());
    }
    Some(Facts {
        big_endian: code.number(ATTRIBUTE_BIG_ENDIAN)? != 0,
        address_bytes: code.number(ATTRIBUTE_SIZE)?,
        word_bytes: code.number(ATTRIBUTE_WORD_SIZE).unwrap_or(1),
        registers: registers
            .into_iter()
            .map(|((at, Reverse(size)), name)| (name.to_owned(), at, size))
            .collect(),
    })
}

enum Record<'a> {
    Start(u32),
    End(u32),
    Attribute(u32, Value<'a>),
}

/// Truth values are numbers too.
enum Value<'a> {
    Number(u64),
    Text(&'a str),
    Other,
}

struct Records<'a> {
    bytes: &'a [u8],
}

impl<'a> Records<'a> {
    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.bytes.split_first()?;
        self.bytes = rest;
        Some(*first)
    }

    /// A number of `count` groups of seven bits, the highest first.
    fn number(&mut self, count: u8) -> Option<u64> {
        (0..count).try_fold(0u64, |sum, _| Some(sum << 7 | u64::from(self.byte()? & 0x7f)))
    }

    /// The identifier of the next element that is wanted; everything before it is passed over.
    fn next_start(&mut self, is_wanted: impl Fn(u32) -> bool) -> Option<u32> {
        let bytes = self.bytes;
        let mut at = 0;
        loop {
            let head = *bytes.get(at)?;
            at += 1;
            let mut id = u32::from(head & 0x1f);
            if head & 0x20 != 0 {
                id = id << 7 | u32::from(bytes.get(at)? & 0x7f);
                at += 1;
            }
            match head & 0xc0 {
                0x40 if is_wanted(id) => {
                    self.bytes = &bytes[at..];
                    return Some(id);
                }
                0x40 | 0x80 => {}
                0xc0 => {
                    let kind = *bytes.get(at)?;
                    let length = usize::from(kind & 0xf);
                    at += 1;
                    match kind >> 4 {
                        1 | 6 => {}
                        2..=5 => at += length,
                        7 => {
                            let digits = bytes.get(at..at + length)?;
                            let text =
                                digits.iter().fold(0u64, |sum, byte| sum << 7 | u64::from(byte & 0x7f));
                            at = at.checked_add(length)?.checked_add(usize::try_from(text).ok()?)?;
                        }
                        _ => return None,
                    }
                }
                _ => return None,
            }
        }
    }

    fn next(&mut self) -> Option<Record<'a>> {
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
                    1 => Value::Number(length.into()),
                    6 => Value::Other,
                    2..=5 => Value::Number(self.number(length)?),
                    7 => {
                        let length = usize::try_from(self.number(length)?).ok()?;
                        let (text, rest) = self.bytes.split_at_checked(length)?;
                        self.bytes = rest;
                        std::str::from_utf8(text).map_or(Value::Other, Value::Text)
                    }
                    _ => return None,
                };
                Some(Record::Attribute(id, value))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::LANGUAGES;
    use crate::worker::Worker;

    /// Read from the file or asked of the library, the facts are the same.
    #[test]
    fn facts_are_those_of_the_library() {
        for language in LANGUAGES {
            let specification = language.specification();
            let ours = super::read(&specification.sla).facts.expect("understood");
            let theirs = Worker::new(specification).facts().expect("it answers");
            assert_eq!(ours, theirs, "{}", language.name);
        }
    }
}
