//! The readable form of operations: `RAX = RAX + RBX`, registers by name where they have one.

use crate::{Instruction, Intrinsic, Op, Processor, Space, Varnode};
use std::fmt::{self, Display, Formatter, Write};

impl Instruction {
    /// The operations, one a line, with the names of `processor`.
    pub fn display<'a>(&'a self, processor: &'a Processor) -> impl Display + 'a {
        Listing { instruction: self, processor }
    }
}

struct Listing<'a> {
    instruction: &'a Instruction,
    processor: &'a Processor,
}

impl Display for Listing<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (index, op) in self.instruction.ops.iter().enumerate() {
            if index > 0 {
                f.write_char('\n')?;
            }
            write!(f, "{index:3}  {}", op.display(self.processor))?;
        }
        Ok(())
    }
}

impl Op {
    /// The operation with the names of `processor`.
    pub fn display<'a>(&'a self, processor: &'a Processor) -> impl Display + 'a {
        Shown { op: self, processor }
    }
}

struct Shown<'a> {
    op: &'a Op,
    processor: &'a Processor,
}

impl Shown<'_> {
    fn place(&self, place: Varnode) -> String {
        let Varnode { offset, bytes, space } = place;
        match space {
            Space::Constant if offset < 10 => format!("{offset}:{bytes}"),
            Space::Constant => format!("{offset:#x}:{bytes}"),
            Space::Temporary => format!("t{offset}:{bytes}"),
            Space::Register => match self.processor.register_at(place) {
                Some(register) => register.name.clone(),
                None => match self.processor.cell_at(offset) {
                    Some(cell) => {
                        let cell = &self.processor.cells[cell];
                        format!(
                            "{}[{}..{}]",
                            cell.name,
                            offset - cell.place.offset,
                            place.end() - cell.place.offset
                        )
                    }
                    None => format!("r{offset:#x}:{bytes}"),
                },
            },
        }
    }
}

impl Display for Shown<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let p = |place: &Varnode| self.place(*place);
        if let Some(out) = self.op.out() {
            write!(f, "{} = ", self.place(out))?;
        }
        let condition =
            |when: &Option<Varnode>| when.as_ref().map_or(String::new(), |w| format!("if {} ", p(w)));
        match self.op {
            Op::Copy { a, .. } => write!(f, "{}", p(a)),
            Op::Un { op, a, .. } => write!(f, "{op:?} {}", p(a)),
            Op::Bin { op, a, b, .. } => write!(f, "{op:?} {}, {}", p(a), p(b)),
            Op::Rel { op, a, b, .. } => write!(f, "{op:?} {}, {}", p(a), p(b)),
            Op::Bool { op, a, b, .. } => write!(f, "Bool{op:?} {}, {}", p(a), p(b)),
            Op::BoolNot { a, .. } => write!(f, "BoolNot {}", p(a)),
            Op::Carry { a, b, .. } => write!(f, "Carry {}, {}", p(a), p(b)),
            Op::SignedCarry { a, b, .. } => write!(f, "SignedCarry {}, {}", p(a), p(b)),
            Op::SignedBorrow { a, b, .. } => write!(f, "SignedBorrow {}, {}", p(a), p(b)),
            Op::Zext { a, .. } => write!(f, "Zext {}", p(a)),
            Op::Sext { a, .. } => write!(f, "Sext {}", p(a)),
            Op::Extract { a, low, .. } => write!(f, "Extract {} from {low}", p(a)),
            Op::Concat { high, low, .. } => write!(f, "Concat {}, {}", p(high), p(low)),
            Op::Select { when, then, otherwise, .. } => {
                write!(f, "Select {} ? {} : {}", p(when), p(then), p(otherwise))
            }
            Op::FloatNeg { a, .. } => write!(f, "FloatNeg {}", p(a)),
            Op::FloatAbs { a, .. } => write!(f, "FloatAbs {}", p(a)),
            Op::FloatUn { op, rounding, a, .. } => write!(f, "Float{op:?} {} ({rounding:?})", p(a)),
            Op::FloatBin { op, a, b, .. } => write!(f, "Float{op:?} {}, {}", p(a), p(b)),
            Op::FloatRel { op, a, b, .. } => write!(f, "Float{op:?} {}, {}", p(a), p(b)),
            Op::FloatIsNan { a, .. } => write!(f, "FloatIsNan {}", p(a)),
            Op::FloatFromInt { a, .. } => write!(f, "FloatFromInt {}", p(a)),
            Op::FloatToInt { rounding, a, .. } => write!(f, "FloatToInt {} ({rounding:?})", p(a)),
            Op::FloatToFloat { a, .. } => write!(f, "FloatToFloat {}", p(a)),
            Op::Load { address, .. } => write!(f, "Load {}", p(address)),
            Op::Store { address, value } => write!(f, "Store {}, {}", p(address), p(value)),
            Op::Branch { when, to } => write!(f, "{}goto {to}", condition(when)),
            Op::Jump { when, to, flow } => write!(f, "{}{flow:?} {}", condition(when), p(to)),
            Op::Trap { when, trap } => write!(f, "{}trap {trap:?}", condition(when)),
            Op::Intrinsic { call, args, .. } => {
                match call {
                    Intrinsic::Other(index) => {
                        let name = self.processor.user_ops.get(usize::from(*index));
                        f.write_str(name.map_or("unknown", String::as_str))?;
                    }
                    known => write!(f, "{known:?}")?,
                }
                let args: Vec<String> = args.iter().map(p).collect();
                write!(f, "({})", args.join(", "))
            }
        }
    }
}
