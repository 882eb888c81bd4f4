//! P-code to ir.
//!
//! The differences: memory is reached by load and store alone, so a varnode in memory becomes one; temporaries are
//! packed; branches inside the instruction name an operation of the result; every operation is checked for sizes that
//! fit together, because a specification may be anyone's.

use crate::pcode::{Area, Lifted, Pcode, Place};
use libsla::{BoolOp as PBool, FloatOp, IntOp, IntSign, OpCode, PseudoOp};
use parallax_ir::{Flow, Instruction, Intrinsic, Op, Varnode};
use parallax_op::{
    BinOp, BoolOp, FloatBinOp, FloatFormat, FloatRelOp, FloatUnOp, MAX_WIDTH, RelOp, Rounding, UnOp,
};

/// Why P-code has no place in ir.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConvertError {
    /// An address space that is neither memory nor registers.
    #[error("the instruction uses an address space other than memory and registers")]
    Space,
    /// Operands whose sizes do not fit the operation.
    #[error("operation {index} ({code}) has operands of sizes that do not fit")]
    Sizes {
        /// Which operation of the P-code.
        index: usize,
        /// Its name.
        code: String,
    },
    /// Something else that no specification of a processor should contain.
    #[error("operation {index} ({code}) is not supported")]
    Operation {
        /// Which operation of the P-code.
        index: usize,
        /// Its name.
        code: String,
    },
    /// No processor was asked about it.
    #[error("{0}")]
    Refused(&'static str),
    /// Too long to be an instruction.
    #[error("the instruction has {0} operations, more than this program takes")]
    Length(usize),
}

/// Converts one instruction of a processor with addresses of `address_bytes` bytes.
pub fn convert(lifted: &Lifted, address: u64, address_bytes: u16) -> Result<Instruction, ConvertError> {
    if lifted.ops.len() > 20_000 {
        return Err(ConvertError::Length(lifted.ops.len()));
    }
    let (temporaries, temporary_bytes) = pack_temporaries(lifted)?;
    let mut converter = Converter {
        ops: Vec::with_capacity(lifted.ops.len() + 2),
        temporaries,
        temporary_bytes,
        address_bytes,
        known: Vec::new(),
    };
    let joins = branch_targets(lifted);
    let mut starts = Vec::new();
    for (index, pcode) in lifted.ops.iter().enumerate() {
        if !joins.is_empty() {
            starts.push(converter.ops.len() as u16);
            if joins.contains(&(index as i64)) {
                converter.known.clear();
            }
        }
        let inputs = lifted.inputs(pcode);
        converter.operation(index, pcode, inputs)?;
        converter.learn(pcode, inputs);
    }
    starts.push(converter.ops.len() as u16);
    for op in &mut converter.ops {
        if let Op::Branch { to, .. } = op {
            *to = starts[usize::from(*to).min(lifted.ops.len())];
        }
    }
    Ok(Instruction {
        address,
        length: u8::try_from(lifted.length).unwrap_or(u8::MAX),
        ops: converter.ops.into(),
        temporary_bytes: converter.temporary_bytes,
        text: lifted.text.clone(),
    })
}

/// The operations that branches inside the instruction lead to.
fn branch_targets(lifted: &Lifted) -> Vec<i64> {
    let branches = lifted.ops.iter().enumerate().filter_map(|(index, op)| {
        let to = lifted.inputs(op).first()?;
        let inside =
            matches!(op.code, OpCode::Branch | OpCode::BranchConditional) && to.area == Area::Constant;
        inside.then(|| (index as i64).wrapping_add(to.offset as i64))
    });
    branches.collect()
}

/// Gives every connected stretch of temporaries a new, aligned place: old start, old end, new start, in order.
type Packing = Vec<(u64, u64, u64)>;

fn pack_temporaries(lifted: &Lifted) -> Result<(Packing, u16), ConvertError> {
    let mut packing: Packing = lifted
        .places()
        .filter(|place| place.area == Area::Unique)
        .map(|place| (place.offset, place.offset.saturating_add(u64::from(place.bytes)), 0))
        .collect();
    packing.sort_unstable();
    // What shares a byte becomes one.
    packing.dedup_by(|next, before| {
        let shares = next.0 < before.1;
        if shares {
            before.1 = before.1.max(next.1);
        }
        shares
    });
    let mut next = 0u64;
    for (start, end, packed) in &mut packing {
        *packed = next;
        next = next.saturating_add((*end - *start).next_multiple_of(16));
    }
    let bytes = u16::try_from(next).map_err(|_| ConvertError::Length(lifted.ops.len()))?;
    Ok((packing, bytes))
}

struct Converter {
    ops: Vec<Op>,
    temporaries: Packing,
    temporary_bytes: u16,
    address_bytes: u16,
    /// Temporaries whose value is a constant here, by place and size: the addresses of registers, mostly.
    known: Vec<(Place, u64)>,
}

impl Converter {
    /// Keeps track of temporaries that are constants.
    fn learn(&mut self, pcode: &Pcode, inputs: &[Place]) {
        let Some(out) = pcode.out.filter(|out| out.area == Area::Unique) else { return };
        let end = |place: &Place| place.offset.saturating_add(u64::from(place.bytes));
        let value = match (pcode.code, inputs) {
            (OpCode::Copy | OpCode::Int(IntOp::Extension(IntSign::Unsigned)), [a]) => self.constant(*a),
            (OpCode::Int(IntOp::Add), [a, b]) => {
                self.constant(*a).zip(self.constant(*b)).map(|(a, b)| a.wrapping_add(b))
            }
            (OpCode::Int(IntOp::Multiply), [a, b]) => {
                self.constant(*a).zip(self.constant(*b)).map(|(a, b)| a.wrapping_mul(b))
            }
            _ => None,
        };
        self.known.retain(|(known, _)| known.offset >= end(&out) || end(known) <= out.offset);
        self.known.extend(value.map(|value| (out, value)));
    }

    /// The value of a place, if it is known.
    fn constant(&self, place: Place) -> Option<u64> {
        match place.area {
            Area::Constant => Some(place.offset),
            Area::Unique => self.known.iter().find(|(known, _)| *known == place).map(|(_, value)| *value),
            _ => None,
        }
    }

    /// A register that is reached through its address: some specifications do so to look at parts of it.
    fn register_at(&self, address: Place, bytes: u32) -> Result<Varnode, ConvertError> {
        let offset = self.constant(address).ok_or(ConvertError::Space)?;
        self.place(Place { area: Area::Register, bytes, offset })
    }

    fn fresh(&mut self, bytes: u16) -> Varnode {
        let place = Varnode::temporary(u64::from(self.temporary_bytes), bytes);
        self.temporary_bytes = self.temporary_bytes.saturating_add(bytes.next_multiple_of(16));
        place
    }

    /// A place that is not in memory.
    fn place(&self, place: Place) -> Result<Varnode, ConvertError> {
        let bytes = u16::try_from(place.bytes)
            .ok()
            .filter(|&b| b > 0 && b <= MAX_WIDTH / 8)
            .ok_or(ConvertError::Space)?;
        Ok(match place.area {
            Area::Constant => Varnode::constant(place.offset, bytes),
            Area::Register => Varnode::register(place.offset, bytes),
            Area::Unique => {
                let index = self.temporaries.partition_point(|(start, ..)| *start <= place.offset);
                let (start, _, packed) = *index
                    .checked_sub(1)
                    .and_then(|index| self.temporaries.get(index))
                    .ok_or(ConvertError::Space)?;
                Varnode::temporary(packed + (place.offset - start), bytes)
            }
            Area::Memory | Area::Other => return Err(ConvertError::Space),
        })
    }

    fn input(&mut self, place: Place) -> Result<Varnode, ConvertError> {
        if place.area != Area::Memory {
            return self.place(place);
        }
        let bytes = u16::try_from(place.bytes)
            .ok()
            .filter(|&b| b > 0 && b <= MAX_WIDTH / 8)
            .ok_or(ConvertError::Space)?;
        let out = self.fresh(bytes);
        self.ops.push(Op::Load { out, address: Varnode::constant(place.offset, self.address_bytes) });
        Ok(out)
    }

    fn operation(&mut self, index: usize, pcode: &Pcode, operands: &[Place]) -> Result<(), ConvertError> {
        let name = || format!("{:?}", pcode.code);
        let sizes = || ConvertError::Sizes { index, code: name() };
        let unsupported = || ConvertError::Operation { index, code: name() };
        let check = |fits: bool| if fits { Ok(()) } else { Err(sizes()) };

        // Transfers first: their first operand is an address, not a value.
        match pcode.code {
            OpCode::Branch | OpCode::BranchConditional | OpCode::Call => {
                let target = *operands.first().ok_or_else(unsupported)?;
                let when = match pcode.code {
                    OpCode::BranchConditional => Some(self.input(*operands.get(1).ok_or_else(unsupported)?)?),
                    _ => None,
                };
                let flow = if pcode.code == OpCode::Call { Flow::Call } else { Flow::Jump };
                let op = match target.area {
                    // A distance in P-code operations; resolved by the caller.
                    Area::Constant => {
                        let to = (index as i64).wrapping_add(target.offset as i64);
                        Op::Branch { when, to: u16::try_from(to).map_err(|_| unsupported())? }
                    }
                    Area::Memory => {
                        Op::Jump { when, to: Varnode::constant(target.offset, self.address_bytes), flow }
                    }
                    _ => return Err(ConvertError::Space),
                };
                self.ops.push(op);
                return Ok(());
            }
            OpCode::BranchIndirect | OpCode::CallIndirect | OpCode::Return => {
                let to = self.input(*operands.first().ok_or_else(unsupported)?)?;
                check(to.bytes == self.address_bytes)?;
                let flow = match pcode.code {
                    OpCode::BranchIndirect => Flow::Jump,
                    OpCode::CallIndirect => Flow::Call,
                    _ => Flow::Return,
                };
                self.ops.push(Op::Jump { when: None, to, flow });
                return Ok(());
            }
            OpCode::Load | OpCode::Store => {
                let space = operands.first().ok_or_else(unsupported)?.offset;
                if space == Area::Register as u64 {
                    let address = *operands.get(1).ok_or_else(unsupported)?;
                    let (value, place) = match (operands.get(2), pcode.out) {
                        (Some(value), None) => (self.input(*value)?, self.register_at(address, value.bytes)?),
                        (None, Some(out)) => (self.register_at(address, out.bytes)?, self.place(out)?),
                        _ => return Err(unsupported()),
                    };
                    self.ops.push(Op::Copy { out: place, a: value });
                    return Ok(());
                }
                if space != Area::Memory as u64 {
                    return Err(ConvertError::Space);
                }
            }
            _ => {}
        }

        let skip = usize::from(matches!(pcode.code, OpCode::Load | OpCode::Store));
        let mut inputs = Vec::with_capacity(operands.len());
        for place in &operands[skip..] {
            inputs.push(self.input(*place)?);
        }
        let in_memory = pcode.out.filter(|out| out.area == Area::Memory);
        let out = match pcode.out {
            Some(Place { area: Area::Memory, bytes, .. }) => {
                let bytes =
                    u16::try_from(bytes).ok().filter(|&b| b > 0 && b <= MAX_WIDTH / 8).ok_or_else(sizes)?;
                Some(self.fresh(bytes))
            }
            Some(place) => Some(self.place(place)?),
            None => None,
        };
        let arity = |n: usize| if inputs.len() >= n { Ok(()) } else { Err(unsupported()) };

        if let OpCode::Store = pcode.code {
            arity(2)?;
            let address = self.address(inputs[0]);
            self.ops.push(Op::Store { address, value: inputs[1] });
            return Ok(());
        }
        if let OpCode::Pseudo(PseudoOp::CallOther) = pcode.code {
            arity(1)?;
            let number =
                inputs[0].as_constant().and_then(|n| u16::try_from(n).ok()).ok_or_else(unsupported)?;
            self.ops.push(Op::Intrinsic { call: Intrinsic::Other(number), out, args: inputs[1..].into() });
        } else {
            let out = out.ok_or_else(unsupported)?;
            arity(1)?;
            let a = inputs[0];
            let op = self.pure(pcode.code, out, a, inputs.get(1).copied(), &check, &unsupported)?;
            self.ops.push(op);
        }
        if let (Some(place), Some(value)) = (in_memory, out) {
            let address = Varnode::constant(place.offset, self.address_bytes);
            self.ops.push(Op::Store { address, value });
        }
        Ok(())
    }

    /// An address operand may be narrower than an address (32-bit pointers of a 64-bit processor).
    fn address(&mut self, a: Varnode) -> Varnode {
        if a.bytes == self.address_bytes {
            return a;
        }
        let out = self.fresh(self.address_bytes);
        self.ops.push(if a.bytes < out.bytes { Op::Zext { out, a } } else { Op::Extract { out, a, low: 0 } });
        out
    }

    fn pure(
        &mut self,
        code: OpCode,
        out: Varnode,
        a: Varnode,
        b: Option<Varnode>,
        check: &dyn Fn(bool) -> Result<(), ConvertError>,
        unsupported: &dyn Fn() -> ConvertError,
    ) -> Result<Op, ConvertError> {
        let b = || b.ok_or_else(unsupported);
        let float = |place: Varnode| check(FloatFormat::of_width(place.width()).is_some());
        // Sizes of `a`, `b` and `out` all the same.
        let alike = |b: Varnode| check(a.bytes == b.bytes && a.bytes == out.bytes);
        // A truth value from two operands of one size.
        let relation = |b: Varnode| check(a.bytes == b.bytes && out.bytes == 1);
        let truths = |b: Varnode| check(a.bytes == 1 && b.bytes == 1 && out.bytes == 1);
        Ok(match code {
            OpCode::Copy => {
                check(a.bytes == out.bytes)?;
                Op::Copy { out, a }
            }
            OpCode::Load => Op::Load { out, address: self.address(a) },
            OpCode::Piece => {
                let low = b()?;
                check(a.bytes + low.bytes == out.bytes)?;
                Op::Concat { out, high: a, low }
            }
            OpCode::Subpiece => {
                let from = b()?.as_constant().ok_or_else(unsupported)?;
                let low = u16::try_from(from).ok().and_then(|n| n.checked_mul(8)).ok_or_else(unsupported)?;
                Op::Extract { out, a, low }
            }
            OpCode::Popcount | OpCode::LzCount => {
                let op = if code == OpCode::Popcount { UnOp::Popcount } else { UnOp::Clz };
                if a.bytes == out.bytes {
                    Op::Un { op, out, a }
                } else {
                    let count = self.fresh(a.bytes);
                    self.ops.push(Op::Un { op, out: count, a });
                    if a.bytes > out.bytes {
                        Op::Extract { out, a: count, low: 0 }
                    } else {
                        Op::Zext { out, a: count }
                    }
                }
            }
            OpCode::Bool(PBool::Negate) => {
                check(a.bytes == 1 && out.bytes == 1)?;
                Op::BoolNot { out, a }
            }
            OpCode::Bool(op) => {
                truths(b()?)?;
                let op = match op {
                    PBool::And => BoolOp::And,
                    PBool::Or => BoolOp::Or,
                    _ => BoolOp::Xor,
                };
                Op::Bool { op, out, a, b: b()? }
            }
            OpCode::Int(op) => {
                use IntSign::{Signed, Unsigned};
                let binary = match op {
                    IntOp::Add => Some(BinOp::Add),
                    IntOp::Subtract => Some(BinOp::Sub),
                    IntOp::Multiply => Some(BinOp::Mul),
                    IntOp::Divide(Signed) => Some(BinOp::Sdiv),
                    IntOp::Divide(Unsigned) => Some(BinOp::Udiv),
                    IntOp::Remainder(Signed) => Some(BinOp::Srem),
                    IntOp::Remainder(Unsigned) => Some(BinOp::Urem),
                    IntOp::Bitwise(PBool::And) => Some(BinOp::And),
                    IntOp::Bitwise(PBool::Or) => Some(BinOp::Or),
                    IntOp::Bitwise(PBool::Xor) => Some(BinOp::Xor),
                    _ => None,
                };
                if let Some(op) = binary {
                    alike(b()?)?;
                    return Ok(Op::Bin { op, out, a, b: b()? });
                }
                let compare = match op {
                    IntOp::Equal => Some(RelOp::Eq),
                    IntOp::NotEqual => Some(RelOp::Ne),
                    IntOp::LessThan(Signed) => Some(RelOp::Slt),
                    IntOp::LessThan(Unsigned) => Some(RelOp::Ult),
                    IntOp::LessThanOrEqual(Signed) => Some(RelOp::Sle),
                    IntOp::LessThanOrEqual(Unsigned) => Some(RelOp::Ule),
                    _ => None,
                };
                if let Some(op) = compare {
                    relation(b()?)?;
                    return Ok(Op::Rel { op, out, a, b: b()? });
                }
                match op {
                    IntOp::ShiftLeft | IntOp::ShiftRight(_) => {
                        check(a.bytes == out.bytes)?;
                        let op = match op {
                            IntOp::ShiftLeft => BinOp::Shl,
                            IntOp::ShiftRight(Signed) => BinOp::Ashr,
                            _ => BinOp::Lshr,
                        };
                        Op::Bin { op, out, a, b: b()? }
                    }
                    IntOp::Negate | IntOp::Bitwise(PBool::Negate) => {
                        check(a.bytes == out.bytes)?;
                        Op::Un { op: if op == IntOp::Negate { UnOp::Neg } else { UnOp::Not }, out, a }
                    }
                    IntOp::Extension(sign) => {
                        check(a.bytes <= out.bytes)?;
                        match sign {
                            _ if a.bytes == out.bytes => Op::Copy { out, a },
                            Signed => Op::Sext { out, a },
                            Unsigned => Op::Zext { out, a },
                        }
                    }
                    IntOp::Carry(sign) => {
                        relation(b()?)?;
                        match sign {
                            Signed => Op::SignedCarry { out, a, b: b()? },
                            Unsigned => Op::Carry { out, a, b: b()? },
                        }
                    }
                    IntOp::Borrow => {
                        relation(b()?)?;
                        Op::SignedBorrow { out, a, b: b()? }
                    }
                    _ => return Err(unsupported()),
                }
            }
            OpCode::Float(op) => {
                let binary = match op {
                    FloatOp::Add => Some(FloatBinOp::Add),
                    FloatOp::Subtract => Some(FloatBinOp::Sub),
                    FloatOp::Multiply => Some(FloatBinOp::Mul),
                    FloatOp::Divide => Some(FloatBinOp::Div),
                    _ => None,
                };
                if let Some(op) = binary {
                    float(a)?;
                    alike(b()?)?;
                    return Ok(Op::FloatBin { op, out, a, b: b()? });
                }
                let compare = match op {
                    FloatOp::Equal | FloatOp::NotEqual => Some(FloatRelOp::Eq),
                    FloatOp::LessThan => Some(FloatRelOp::Lt),
                    FloatOp::LessThanOrEqual => Some(FloatRelOp::Le),
                    _ => None,
                };
                if let Some(relop) = compare {
                    float(a)?;
                    relation(b()?)?;
                    if op == FloatOp::NotEqual {
                        let equal = self.fresh(1);
                        self.ops.push(Op::FloatRel { op: relop, out: equal, a, b: b()? });
                        return Ok(Op::BoolNot { out, a: equal });
                    }
                    return Ok(Op::FloatRel { op: relop, out, a, b: b()? });
                }
                let rounded = |op, rounding| {
                    float(a)?;
                    check(a.bytes == out.bytes)?;
                    Ok(Op::FloatUn { op, rounding, out, a })
                };
                match op {
                    FloatOp::IsNaN => {
                        float(a)?;
                        check(out.bytes == 1)?;
                        Op::FloatIsNan { out, a }
                    }
                    FloatOp::Negate | FloatOp::AbsoluteValue => {
                        float(a)?;
                        check(a.bytes == out.bytes)?;
                        if op == FloatOp::Negate { Op::FloatNeg { out, a } } else { Op::FloatAbs { out, a } }
                    }
                    FloatOp::SquareRoot => rounded(FloatUnOp::Sqrt, Rounding::NearestEven)?,
                    FloatOp::Ceiling => rounded(FloatUnOp::Round, Rounding::Up)?,
                    FloatOp::Floor => rounded(FloatUnOp::Round, Rounding::Down)?,
                    FloatOp::Round => rounded(FloatUnOp::Round, Rounding::NearestAway)?,
                    FloatOp::IntToFloat => {
                        float(out)?;
                        check(a.bytes <= 16)?;
                        Op::FloatFromInt { out, a }
                    }
                    FloatOp::Truncate => {
                        float(a)?;
                        check(out.bytes <= 16)?;
                        Op::FloatToInt { rounding: Rounding::Zero, out, a }
                    }
                    FloatOp::FloatToFloat => {
                        float(a)?;
                        float(out)?;
                        Op::FloatToFloat { out, a }
                    }
                    _ => return Err(unsupported()),
                }
            }
            _ => return Err(unsupported()),
        })
    }
}
