//! Places: where an operation reads and writes.

/// Which bytes a [`Varnode`] names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Space {
    /// No place at all: the offset is the value, zero-extended to the size.
    Constant,
    /// The register file, one flat sequence of bytes.
    Register,
    /// The temporaries of one instruction, another flat sequence; nothing in it outlives the instruction.
    Temporary,
}

/// A sequence of bytes in a space, or a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Varnode {
    /// First byte, or the value of a constant.
    pub offset: u64,
    /// How many bytes.
    pub bytes: u16,
    /// The space that the place lies in.
    pub space: Space,
}

impl Varnode {
    /// A constant of `bytes` bytes; bits of `value` above the size are dropped.
    pub fn constant(value: u64, bytes: u16) -> Self {
        let kept = if bytes >= 8 { value } else { value & ((1 << (8 * bytes)) - 1) };
        Varnode { space: Space::Constant, offset: kept, bytes }
    }

    /// A part of the register file.
    pub fn register(offset: u64, bytes: u16) -> Self {
        Varnode { space: Space::Register, offset, bytes }
    }

    /// A temporary.
    pub fn temporary(offset: u64, bytes: u16) -> Self {
        Varnode { space: Space::Temporary, offset, bytes }
    }

    /// Its width in bits.
    pub fn width(self) -> u16 {
        self.bytes * 8
    }

    /// The constant it stands for.
    pub fn as_constant(self) -> Option<u64> {
        (self.space == Space::Constant).then_some(self.offset)
    }

    /// One past its last byte.
    pub fn end(self) -> u64 {
        self.offset + u64::from(self.bytes)
    }

    /// Whether the two have a byte in common.
    pub fn overlaps(self, other: Varnode) -> bool {
        self.space == other.space
            && self.space != Space::Constant
            && self.offset < other.end()
            && other.offset < self.end()
    }

    /// The `bytes` bytes at memory distance `from` inside it: of a little-endian register file, the lowest come first.
    pub fn slice(self, from: u16, bytes: u16) -> Varnode {
        debug_assert!(from + bytes <= self.bytes && self.space != Space::Constant);
        Varnode { offset: self.offset + u64::from(from), bytes, ..self }
    }
}
