//! Values: a type and a place, read when somebody asks.

use crate::error::{Error, Result};
use crate::symbols::Symbols;
use crate::types::{Field, Kind, Type};
use std::sync::Arc;

/// Registers and memory of a program at one moment.
pub trait State {
    /// Where the program is.
    fn pc(&self) -> u64;
    /// A register by its DWARF number; vector registers give their low 128 bits. None if there is no such register.
    fn register(&self, number: u16) -> Option<u128>;
    /// Fills the buffer from memory; false if any byte of it cannot be read.
    fn read(&self, address: u64, into: &mut [u8]) -> bool;
}

/// Where a value is.
#[derive(Clone, Debug, PartialEq)]
pub enum Place {
    /// In memory, at this address.
    Memory(u64),
    /// Not in memory: in registers, in pieces, computed. What of it was not kept is told byte by byte.
    Bytes {
        /// The bytes, in the program's order.
        bytes: Arc<[u8]>,
        /// Which of them are known; all, if there is nothing here.
        known: Option<Arc<[bool]>>,
    },
    /// Nowhere: the compiler did not keep it.
    OptimizedOut,
    /// A pointer that the compiler removed together with what it points to.
    Synthetic,
}

impl Place {
    /// Bytes that are all known.
    pub(crate) fn of(bytes: Vec<u8>) -> Place {
        Place::Bytes { bytes: bytes.into(), known: None }
    }
}

/// A value of the program.
#[derive(Clone, Debug, PartialEq)]
pub struct Value {
    /// Its type.
    pub ty: Type,
    /// Where it is.
    pub place: Place,
    /// Of a bit field: its first bit and their number, counted as the program's integers are.
    pub bits: Option<(u64, u64)>,
}

/// At most so many bytes of one value are read at once.
const MOST_BYTES: u64 = 1 << 26;

impl Value {
    pub(crate) fn at(ty: Type, address: u64) -> Value {
        Value { ty, place: Place::Memory(address), bits: None }
    }

    pub(crate) fn computed(ty: Type, bytes: Vec<u8>) -> Value {
        Value { ty, place: Place::of(bytes), bits: None }
    }
}

impl Symbols {
    /// The bytes of a value.
    pub fn bytes(&self, value: &Value, state: &dyn State) -> Result<Vec<u8>> {
        let size = self.size(&value.ty)?;
        if size > MOST_BYTES {
            return Err(Error::TooLarge { size });
        }
        let lost = || Error::OptimizedOut { what: "the value".to_owned() };
        match &value.place {
            Place::Memory(address) => {
                let mut bytes = vec![0; size as usize];
                if !state.read(*address, &mut bytes) {
                    return Err(Error::Unreadable { address: *address, size });
                }
                Ok(bytes)
            }
            Place::Bytes { bytes, known } => {
                if known.as_ref().is_some_and(|known| known.iter().take(size as usize).any(|known| !known)) {
                    return Err(lost());
                }
                let mut bytes = bytes.to_vec();
                bytes.resize(size as usize, 0);
                Ok(bytes)
            }
            Place::OptimizedOut | Place::Synthetic => Err(lost()),
        }
    }

    /// The bits of a value of at most 16 bytes as one number.
    pub(crate) fn raw(&self, value: &Value, state: &dyn State) -> Result<u128> {
        let bytes = match value.bits {
            // A bit field may end before the storage of its type does.
            Some((first, count)) => {
                let end = first.saturating_add(count).div_ceil(8);
                self.bytes(&Value { ty: Type::sized(end), place: value.place.clone(), bits: None }, state)?
            }
            None => self.bytes(value, state)?,
        };
        let mut word = [0u8; 16];
        let kept = bytes.len().min(16);
        if self.is_big_endian() {
            word[16 - kept..].copy_from_slice(&bytes[..kept]);
        } else {
            word[..kept].copy_from_slice(&bytes[..kept]);
        }
        let raw = if self.is_big_endian() { u128::from_be_bytes(word) } else { u128::from_le_bytes(word) };
        Ok(match value.bits {
            Some((first, count)) => (raw >> first.min(127)) & low_bits(count),
            None => raw,
        })
    }

    /// An integer, character, boolean, enumeration or pointer as a number.
    pub fn integer(&self, value: &Value, state: &dyn State) -> Result<i128> {
        let (size, signed) = match &*self.kind(&value.ty)? {
            Kind::Integer { size, signed }
            | Kind::Character { size, signed }
            | Kind::Enum { size, signed, .. } => (*size, *signed),
            Kind::Boolean { size } | Kind::Pointer { size, .. } => (*size, false),
            Kind::Reference { .. } => return self.integer(&self.referred(value, state)?, state),
            Kind::Float { .. } => return Ok(self.float(value, state)? as i128),
            Kind::Array { .. } | Kind::Function { .. } => {
                return match value.place {
                    Place::Memory(address) => Ok(address.into()),
                    _ => Err(self.complaint(&value.ty, "is no number")),
                };
            }
            _ => return Err(self.complaint(&value.ty, "is no number")),
        };
        let raw = self.raw(value, state)?;
        let bits = value.bits.map_or(size * 8, |(_, count)| count);
        Ok(extended(raw, bits, signed))
    }

    /// A floating-point number, or an integer as one.
    pub fn float(&self, value: &Value, state: &dyn State) -> Result<f64> {
        match &*self.kind(&value.ty)? {
            Kind::Float { size } => {
                let raw = self.raw(value, state)?;
                match size {
                    4 => Ok(f32::from_bits(raw as u32).into()),
                    8 => Ok(f64::from_bits(raw as u64)),
                    10 | 16 => Ok(extended_float(raw)),
                    _ => Err(Error::Unsupported { what: format!("floating point of {size} bytes") }),
                }
            }
            Kind::Reference { .. } => self.float(&self.referred(value, state)?, state),
            _ => Ok(self.integer(value, state)? as f64),
        }
    }

    /// What a reference refers to; other values are themselves.
    pub fn referred(&self, value: &Value, state: &dyn State) -> Result<Value> {
        match &*self.kind(&value.ty)? {
            Kind::Reference { to, .. } => {
                let address = self.raw(value, state)? as u64;
                Ok(Value::at(to.clone(), address))
            }
            _ => Ok(value.clone()),
        }
    }

    /// What a pointer points to.
    pub fn deref(&self, value: &Value, state: &dyn State) -> Result<Value> {
        let value = self.referred(value, state)?;
        match &*self.kind(&value.ty)? {
            Kind::Pointer { to, .. } if matches!(&*self.kind(to)?, Kind::Void) => {
                Err(self.complaint(&value.ty, "points to something of unknown type"))
            }
            Kind::Pointer { to, .. } => {
                if value.place == Place::Synthetic {
                    return Err(Error::OptimizedOut { what: "what the pointer points to".to_owned() });
                }
                Ok(Value::at(to.clone(), self.raw(&value, state)? as u64))
            }
            Kind::Array { .. } => self.element(&value, state, 0),
            Kind::Function { .. } => Ok(value),
            _ => Err(self.complaint(&value.ty, "is no pointer")),
        }
    }

    /// Where a value is, as a pointer.
    pub fn address_of(&self, value: &Value) -> Result<Value> {
        match (&value.place, value.bits) {
            (Place::Memory(address), None) => Ok(self.pointer(*address, value.ty.clone())),
            (_, Some(_)) => Err(self.complaint(&value.ty, "is a bit field and has no address")),
            _ => Err(self.complaint(&value.ty, "is not in memory and has no address")),
        }
    }

    /// A pointer with this value.
    pub(crate) fn pointer(&self, address: u64, to: Type) -> Value {
        let bytes = self.number(address.into(), self.address_size());
        Value::computed(Type::pointer(to), bytes)
    }

    /// A number as the program writes it.
    pub(crate) fn number(&self, number: i128, size: u64) -> Vec<u8> {
        let size = size.min(16) as usize;
        if self.is_big_endian() {
            number.to_be_bytes()[16 - size..].to_vec()
        } else {
            number.to_le_bytes()[..size].to_vec()
        }
    }

    /// An element of an array, or what lies so many elements behind what a pointer points to.
    pub fn element(&self, value: &Value, state: &dyn State, index: i128) -> Result<Value> {
        let value = self.referred(value, state)?;
        match &*self.kind(&value.ty)? {
            Kind::Array { of, .. } => {
                let size = self.size(of)?;
                let offset = i128::from(size).wrapping_mul(index);
                match &value.place {
                    Place::Memory(address) => Ok(Value::at(of.clone(), address.wrapping_add(offset as u64))),
                    place => self.part(place, of.clone(), offset, size, &value.ty),
                }
            }
            Kind::Pointer { to, .. } => {
                let size = i128::from(self.size(to)?.max(1));
                let address = self.raw(&value, state)? as u64;
                Ok(Value::at(to.clone(), address.wrapping_add(size.wrapping_mul(index) as u64)))
            }
            _ => Err(self.complaint(&value.ty, "is no array and no pointer")),
        }
    }

    /// A part of something that is not in memory.
    fn part(&self, place: &Place, ty: Type, offset: i128, size: u64, of: &Type) -> Result<Value> {
        let place = match place {
            Place::Bytes { bytes, known } => {
                let range = usize::try_from(offset)
                    .ok()
                    .and_then(|from| Some(from..from.checked_add(size as usize)?));
                let Some(range) = range.filter(|range| range.end <= bytes.len()) else {
                    return Err(self.complaint(of, "ends before that element"));
                };
                let known = known.as_ref().map(|known| known[range.clone()].to_vec());
                if known.as_ref().is_some_and(|known| !known.is_empty() && known.iter().all(|known| !known)) {
                    Place::OptimizedOut
                } else {
                    let known = known.filter(|known| known.iter().any(|known| !known)).map(Arc::from);
                    Place::Bytes { bytes: Arc::from(&bytes[range]), known }
                }
            }
            other => other.clone(),
        };
        Ok(Value { ty, place, bits: None })
    }

    /// A field of a structure.
    pub fn field(&self, value: &Value, state: &dyn State, field: &Field) -> Result<Value> {
        let offset = match field.offset {
            Some(offset) => offset,
            None => {
                let Place::Memory(address) = value.place else {
                    return Err(Error::OptimizedOut { what: "a virtual base".to_owned() });
                };
                self.virtual_offset(field, address, state)?
            }
        };
        let ty = field.ty.clone();
        let mut found = match &value.place {
            Place::Memory(address) => Value::at(ty, address.wrapping_add(offset)),
            place => {
                let size = match field.bits {
                    Some((first, count)) => first.saturating_add(count).div_ceil(8),
                    None => self.size(&ty)?,
                };
                self.part(place, ty, offset.into(), size, &value.ty)?
            }
        };
        found.bits = field.bits;
        Ok(found)
    }

    /// The member of a structure by its name, also of its bases and of structures without a name in it.
    pub fn member(&self, value: &Value, state: &dyn State, name: &str) -> Result<Value> {
        let mut value = self.referred(value, state)?;
        // `p.x` of a pointer is taken as `p->x`, as GDB does.
        if matches!(&*self.kind(&value.ty)?, Kind::Pointer { .. }) {
            value = self.deref(&value, state)?;
        }
        match self.find_member(&value, state, name, 0)? {
            Some(found) => Ok(found),
            None => Err(self.complaint(&value.ty, &format!("has no member {name}"))),
        }
    }

    fn find_member(
        &self,
        value: &Value,
        state: &dyn State,
        name: &str,
        depth: usize,
    ) -> Result<Option<Value>> {
        const MOST_BASES: usize = 32;
        let kind = self.kind(&value.ty)?;
        let Kind::Struct { fields, .. } = &*kind else {
            return Err(self.complaint(&value.ty, "has no members"));
        };
        if depth > MOST_BASES {
            return Ok(None);
        }
        if let Some(field) = fields.iter().find(|field| field.name.as_deref() == Some(name) && !field.is_base)
        {
            return self.field(value, state, field).map(Some);
        }
        for field in fields.iter().filter(|field| field.is_base || field.name.is_none()) {
            let inner = self.field(value, state, field)?;
            if !matches!(&*self.kind(&inner.ty)?, Kind::Struct { .. }) {
                continue;
            }
            if let Some(found) = self.find_member(&inner, state, name, depth + 1)? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// The text that a pointer to characters or an array of them holds, up to its end or `most` characters.
    pub fn text(&self, value: &Value, state: &dyn State, most: usize) -> Result<Vec<u8>> {
        let value = self.referred(value, state)?;
        let (address, most) = match &*self.kind(&value.ty)? {
            Kind::Pointer { .. } => (self.raw(&value, state)? as u64, most),
            Kind::Array { length, .. } => {
                let most = length.map_or(most, |length| most.min(length as usize));
                match value.place {
                    Place::Memory(address) => (address, most),
                    _ => {
                        let bytes = self.bytes(&value, state)?;
                        return Ok(bytes.into_iter().take(most).take_while(|byte| *byte != 0).collect());
                    }
                }
            }
            _ => return Err(self.complaint(&value.ty, "is no text")),
        };
        Ok(text_at(address, state, most)?.0)
    }

    /// A complaint about a type.
    pub(crate) fn complaint(&self, ty: &Type, complaint: &str) -> Error {
        Error::Type { ty: self.type_name(ty), complaint: complaint.to_owned() }
    }
}

/// The bytes at an address up to a zero, and whether there was one.
pub(crate) fn text_at(address: u64, state: &dyn State, most: usize) -> Result<(Vec<u8>, bool)> {
    const PIECE: u64 = 64;
    let mut text = Vec::new();
    let mut at = address;
    while text.len() < most {
        // Pieces end at multiples of their size, so that no piece reaches into a page the text does not.
        let size = (PIECE - at % PIECE).min((most - text.len()) as u64);
        let mut piece = vec![0; size as usize];
        if !state.read(at, &mut piece) {
            return Err(Error::Unreadable { address: at, size });
        }
        if let Some(end) = piece.iter().position(|byte| *byte == 0) {
            text.extend_from_slice(&piece[..end]);
            return Ok((text, true));
        }
        text.extend_from_slice(&piece);
        at = at.wrapping_add(size);
    }
    Ok((text, false))
}

pub(crate) fn low_bits(count: u64) -> u128 {
    if count >= 128 { u128::MAX } else { (1 << count) - 1 }
}

/// A number of so many bits, extended by its sign if it has one.
pub(crate) fn extended(raw: u128, bits: u64, signed: bool) -> i128 {
    let raw = raw & low_bits(bits);
    if signed && (1..128).contains(&bits) && raw >> (bits - 1) & 1 == 1 {
        (raw | !low_bits(bits)) as i128
    } else {
        raw as i128
    }
}

/// The x87 format of 80 bits, rounded to a double.
fn extended_float(raw: u128) -> f64 {
    let mantissa = raw as u64;
    let exponent = (raw >> 64) as u16 & 0x7fff;
    let sign = if raw >> 79 & 1 == 1 { -1.0 } else { 1.0 };
    match (exponent, mantissa) {
        (0x7fff, m) if m << 1 == 0 => sign * f64::INFINITY,
        (0x7fff, _) => f64::NAN,
        (e, m) => sign * (m as f64) * 2f64.powi(i32::from(e) - 16383 - 63),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_extended() {
        assert_eq!(extended(0xff, 8, true), -1);
        assert_eq!(extended(0xff, 8, false), 255);
        assert_eq!(extended(0b101, 3, true), -3);
        assert_eq!(extended(5, 0, true), 0);
    }

    #[test]
    fn long_doubles_are_read() {
        // 1.5 and -2 as the x87 writes them.
        assert_eq!(extended_float(0x3fff_c000_0000_0000_0000), 1.5);
        assert_eq!(extended_float(0xc000_8000_0000_0000_0000), -2.0);
    }
}
