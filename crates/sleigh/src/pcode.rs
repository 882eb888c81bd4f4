//! P-code as the library gives it, free of the library's types, and its form on the wire from the worker.

use libsla::{BoolOp, FloatOp, IntOp, IntSign, OpCode, PseudoOp};

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
    /// What.
    pub code: OpCode,
    /// Result.
    pub out: Option<Place>,
    /// Operands.
    pub inputs: Vec<Place>,
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
}

/// The operations a specification may emit; the position is the number on the wire.
const CODES: &[OpCode] = &[
    OpCode::Copy,
    OpCode::Load,
    OpCode::Store,
    OpCode::Branch,
    OpCode::BranchConditional,
    OpCode::BranchIndirect,
    OpCode::Call,
    OpCode::CallIndirect,
    OpCode::Return,
    OpCode::Piece,
    OpCode::Subpiece,
    OpCode::Popcount,
    OpCode::LzCount,
    OpCode::Bool(BoolOp::Negate),
    OpCode::Bool(BoolOp::And),
    OpCode::Bool(BoolOp::Or),
    OpCode::Bool(BoolOp::Xor),
    OpCode::Int(IntOp::Add),
    OpCode::Int(IntOp::Negate),
    OpCode::Int(IntOp::Subtract),
    OpCode::Int(IntOp::Multiply),
    OpCode::Int(IntOp::Divide(IntSign::Signed)),
    OpCode::Int(IntOp::Divide(IntSign::Unsigned)),
    OpCode::Int(IntOp::Remainder(IntSign::Signed)),
    OpCode::Int(IntOp::Remainder(IntSign::Unsigned)),
    OpCode::Int(IntOp::Equal),
    OpCode::Int(IntOp::NotEqual),
    OpCode::Int(IntOp::LessThan(IntSign::Signed)),
    OpCode::Int(IntOp::LessThan(IntSign::Unsigned)),
    OpCode::Int(IntOp::LessThanOrEqual(IntSign::Signed)),
    OpCode::Int(IntOp::LessThanOrEqual(IntSign::Unsigned)),
    OpCode::Int(IntOp::Extension(IntSign::Signed)),
    OpCode::Int(IntOp::Extension(IntSign::Unsigned)),
    OpCode::Int(IntOp::Carry(IntSign::Signed)),
    OpCode::Int(IntOp::Carry(IntSign::Unsigned)),
    OpCode::Int(IntOp::Borrow),
    OpCode::Int(IntOp::ShiftLeft),
    OpCode::Int(IntOp::ShiftRight(IntSign::Signed)),
    OpCode::Int(IntOp::ShiftRight(IntSign::Unsigned)),
    OpCode::Int(IntOp::Bitwise(BoolOp::Negate)),
    OpCode::Int(IntOp::Bitwise(BoolOp::And)),
    OpCode::Int(IntOp::Bitwise(BoolOp::Or)),
    OpCode::Int(IntOp::Bitwise(BoolOp::Xor)),
    OpCode::Float(FloatOp::Equal),
    OpCode::Float(FloatOp::NotEqual),
    OpCode::Float(FloatOp::LessThan),
    OpCode::Float(FloatOp::LessThanOrEqual),
    OpCode::Float(FloatOp::IsNaN),
    OpCode::Float(FloatOp::Add),
    OpCode::Float(FloatOp::Subtract),
    OpCode::Float(FloatOp::Multiply),
    OpCode::Float(FloatOp::Divide),
    OpCode::Float(FloatOp::Negate),
    OpCode::Float(FloatOp::AbsoluteValue),
    OpCode::Float(FloatOp::SquareRoot),
    OpCode::Float(FloatOp::IntToFloat),
    OpCode::Float(FloatOp::FloatToFloat),
    OpCode::Float(FloatOp::Truncate),
    OpCode::Float(FloatOp::Ceiling),
    OpCode::Float(FloatOp::Floor),
    OpCode::Float(FloatOp::Round),
    OpCode::Pseudo(PseudoOp::CallOther),
    OpCode::Pseudo(PseudoOp::ConstantPoolRef),
    OpCode::Pseudo(PseudoOp::New),
];

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

    fn place(&mut self, place: &Place) {
        self.0.push(place.area as u8);
        self.0.extend_from_slice(&place.bytes.to_le_bytes());
        self.number(place.offset);
    }

    /// An instruction.
    pub fn lifted(&mut self, lifted: &Lifted) {
        self.number(u64::from(lifted.length));
        self.bytes(lifted.text.as_bytes());
        self.number(lifted.ops.len() as u64);
        for op in &lifted.ops {
            let code = CODES.iter().position(|code| *code == op.code).unwrap_or(usize::from(u8::MAX));
            self.0.push(code as u8);
            self.0.push(u8::from(op.out.is_some()));
            self.0.push(op.inputs.len() as u8);
            op.out.iter().chain(&op.inputs).for_each(|place| self.place(place));
        }
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

    /// An instruction.
    pub fn lifted(&mut self) -> Option<Lifted> {
        let length = u32::try_from(self.number()?).ok()?;
        let text = self.text()?;
        let count = self.number()?;
        let mut ops = Vec::new();
        for _ in 0..count {
            let code = CODES.get(usize::from(self.byte()?)).copied().unwrap_or(OpCode::Unknown(0));
            let has_out = self.byte()? != 0;
            let inputs = self.byte()?;
            let out = if has_out { Some(self.place()?) } else { None };
            let inputs = (0..inputs).map(|_| self.place()).collect::<Option<Vec<_>>>()?;
            ops.push(Pcode { code, out, inputs });
        }
        Some(Lifted { length, text, ops })
    }
}
