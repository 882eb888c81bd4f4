//! What lies where in memory, by the C types of debug information: the scalars an object is made of.

use parallax_cmachine::{size_of, strip};
use parallax_cmodule::{DebugType, DebugTypeId, Module};

/// A scalar in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leaf {
    /// Where it starts, in bytes.
    pub at: u64,
    /// How many bytes it takes.
    pub len: u64,
    /// Whether it is a pointer, and to what.
    pub pointer: Option<Option<DebugTypeId>>,
}

/// Scalars of one object that are looked at; an object of more is not understood as a whole.
const MOST: usize = 4096;

/// The scalars of so many bytes of elements of a type; `None` when there are too many. Unions, bit-fields and memory
/// without a type are words, and may hold pointers.
pub fn leaves(module: &Module, ty: Option<DebugTypeId>, bytes: u64) -> Option<Vec<Leaf>> {
    let mut found = Vec::new();
    let element = size_of(module, ty);
    if element == 0 {
        return words(0, bytes);
    }
    let mut waiting: Vec<(Option<DebugTypeId>, u64, u32)> = Vec::new();
    let count = bytes / element;
    if count as usize > MOST {
        return None;
    }
    waiting.extend((0..count).map(|number| (ty, number * element, 0)));
    while let Some((ty, at, depth)) = waiting.pop() {
        if found.len() + waiting.len() > MOST {
            return None;
        }
        let ty = strip(module, ty);
        let Some(description) = ty.map(|t| &module.debug_types[t.0 as usize]) else { continue };
        match description {
            DebugType::Pointer(pointee) => found.push(Leaf { at, len: 8, pointer: Some(*pointee) }),
            DebugType::Base { bits, .. } | DebugType::Enum { bits, .. } => {
                found.push(Leaf { at, len: bits.div_ceil(8).max(1), pointer: None });
            }
            DebugType::Array { element, len } if depth < 16 => {
                let step = size_of(module, *element);
                if *len as usize > MOST {
                    return None;
                }
                waiting.extend((0..*len).map(|number| (*element, at + number * step, depth + 1)));
            }
            DebugType::Struct { fields, .. } if depth < 16 => {
                for field in fields {
                    if field.offset_bits % 8 != 0 || size_of(module, field.ty) * 8 != field.bits {
                        let (from, to) =
                            (field.offset_bits / 8, (field.offset_bits + field.bits).div_ceil(8));
                        found.extend((from..to).map(|byte| Leaf { at: at + byte, len: 1, pointer: None }));
                    } else {
                        waiting.push((field.ty, at + field.offset_bits / 8, depth + 1));
                    }
                }
            }
            DebugType::Union { size, .. } => found.extend(words(at, *size)?),
            _ => {}
        }
    }
    found.sort_by_key(|leaf| (leaf.at, leaf.len));
    found.dedup();
    // Bit-fields share bytes.
    found.dedup_by(|next, before| next.at < before.at + before.len);
    Some(found)
}

fn words(from: u64, bytes: u64) -> Option<Vec<Leaf>> {
    if bytes as usize / 8 > MOST {
        return None;
    }
    let whole = (0..bytes / 8).map(|n| Leaf { at: from + n * 8, len: 8, pointer: Some(None) });
    let rest = (bytes / 8 * 8..bytes).map(|n| Leaf { at: from + n, len: 1, pointer: None });
    Some(whole.chain(rest).collect())
}
