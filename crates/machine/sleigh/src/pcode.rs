//! P-code as the library gives it, free of the library's types, and its form on the wire from the worker.

use libsla::OpCode;
use libsla_sys::sys;
use std::ops::Range;

/// Where a [`Place`] lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Area {
    /// A constant.
    Constant,
    /// The register file.
    Register,
    /// Temporaries.
    Unique,
    /// Memory.
    Memory,
    /// Any other space.
    Other,
}

/// A varnode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Space.
    pub area: Area,
    /// Bytes.
    pub bytes: u32,
    /// Offset, or value.
    pub offset: u64,
}

/// One operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pcode {
    /// The operation.
    pub code: OpCode,
    /// Result.
    pub out: Option<Place>,
    /// Where its operands are in [`Lifted::inputs`].
    inputs: Range<u32>,
}

/// One instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lifted {
    /// Its length.
    pub length: u32,
    /// Its assembly text.
    pub text: String,
    /// Its operations.
    pub ops: Vec<Pcode>,
    /// The operands of all of them, one behind the other: a vector for each would cost more than the rest.
    inputs: Vec<Place>,
}

impl Lifted {
    /// The operands of an operation.
    pub fn inputs(&self, op: &Pcode) -> &[Place] {
        &self.inputs[op.inputs.start as usize..op.inputs.end as usize]
    }

    /// All places that are named, results included.
    pub fn places(&self) -> impl Iterator<Item = &Place> {
        self.ops.iter().filter_map(|op| op.out.as_ref()).chain(&self.inputs)
    }
}

/// Writes to the wire.
#[derive(Default)]
pub struct Writer(pub Vec<u8>);

impl Writer {
    /// A number.
    pub fn number(&mut self, value: u64) {
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    /// A sequence of bytes.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    /// An operand.
    pub fn place(&mut self, place: &Place) {
        self.0.push(place.area as u8);
        self.0.extend_from_slice(&place.bytes.to_le_bytes());
        self.number(place.offset);
    }

    /// The start of an operation, by the library's number; its result and operands follow.
    pub fn operation(&mut self, code: u8, has_out: bool, inputs: u8) {
        self.0.extend_from_slice(&[code, u8::from(has_out), inputs]);
    }

    /// Room for the length of an instruction and the count of its operations, which are known when these are written.
    pub fn head(&mut self) -> usize {
        self.number(0);
        self.0.len() - 8
    }

    /// Fills that room.
    pub fn fill_head(&mut self, head: usize, length: u32, count: u32) {
        self.0[head..head + 4].copy_from_slice(&length.to_le_bytes());
        self.0[head + 4..head + 8].copy_from_slice(&count.to_le_bytes());
    }
}

/// Reads from the wire; `None` when the bytes end too early, which means that the worker is not what it should be.
pub struct Reader<'a>(pub &'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (head, tail) = self.0.split_at_checked(count)?;
        self.0 = tail;
        Some(head)
    }

    /// One byte.
    pub fn byte(&mut self) -> Option<u8> {
        self.take(1).map(|b| b[0])
    }

    /// A number.
    pub fn number(&mut self) -> Option<u64> {
        self.take(8).map(|b| u64::from_le_bytes(b.try_into().expect("eight bytes")))
    }

    /// A sequence of bytes.
    pub fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = usize::try_from(self.number()?).ok()?;
        self.take(length)
    }

    /// A sequence of characters.
    pub fn text(&mut self) -> Option<String> {
        self.bytes().map(|b| String::from_utf8_lossy(b).into_owned())
    }

    fn place(&mut self) -> Option<Place> {
        let area = match self.byte()? {
            0 => Area::Constant,
            1 => Area::Register,
            2 => Area::Unique,
            3 => Area::Memory,
            _ => Area::Other,
        };
        let bytes = u32::from_le_bytes(self.take(4)?.try_into().ok()?);
        Some(Place { area, bytes, offset: self.number()? })
    }

    /// An instruction: its text, its length, its operations.
    pub fn lifted(&mut self) -> Option<Lifted> {
        let text = self.text()?;
        let length = u32::from_le_bytes(self.take(4)?.try_into().ok()?);
        let count = u32::from_le_bytes(self.take(4)?.try_into().ok()?);
        // The count is the worker's word: each operation has three bytes at least.
        let mut ops = Vec::with_capacity((count as usize).min(self.0.len() / 3));
        let mut operands = Vec::with_capacity(2 * ops.capacity());
        for _ in 0..count {
            let code = sys::OpCode { repr: self.byte()?.into() }.into();
            let has_out = self.byte()? != 0;
            let inputs = self.byte()?;
            let out = if has_out { Some(self.place()?) } else { None };
            let start = operands.len() as u32;
            for _ in 0..inputs {
                operands.push(self.place()?);
            }
            ops.push(Pcode { code, out, inputs: start..operands.len() as u32 });
        }
        Some(Lifted { length, text, ops, inputs: operands })
    }
}
