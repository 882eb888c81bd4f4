//! Operations that instructions and constant expressions share.

use super::Reader;
use llvm_sys::core::*;
use llvm_sys::prelude::*;
use llvm_sys::{LLVMAtomicRMWBinOp, LLVMIntPredicate, LLVMOpcode, LLVMRealPredicate, LLVMTypeKind};
use parallax_cmodule::*;
use parallax_op::{BinOp, RelOp};

/// How an operand is resolved: against a function's registers, or as a constant.
pub(super) type Resolve<'a> = dyn FnMut(&mut Reader, LLVMValueRef) -> Operand + 'a;

impl Reader {
    pub(super) unsafe fn operation_of(
        &mut self,
        at: LLVMValueRef,
        opcode: LLVMOpcode,
        resolve: &mut Resolve<'_>,
    ) -> Operation {
        // SAFETY: operands and flags are read as each opcode has them.
        unsafe {
            let value = |index| LLVMGetOperand(at, index);
            let binary = |op, wraps: bool| Binary { op, no_signed_wrap: wraps && LLVMGetNSW(at) != 0 };
            let arithmetic = match opcode {
                LLVMOpcode::LLVMAdd => Some(binary(BinOp::Add, true)),
                LLVMOpcode::LLVMSub => Some(binary(BinOp::Sub, true)),
                LLVMOpcode::LLVMMul => Some(binary(BinOp::Mul, true)),
                LLVMOpcode::LLVMShl => Some(binary(BinOp::Shl, true)),
                LLVMOpcode::LLVMUDiv => Some(binary(BinOp::Udiv, false)),
                LLVMOpcode::LLVMSDiv => Some(binary(BinOp::Sdiv, false)),
                LLVMOpcode::LLVMURem => Some(binary(BinOp::Urem, false)),
                LLVMOpcode::LLVMSRem => Some(binary(BinOp::Srem, false)),
                LLVMOpcode::LLVMAnd => Some(binary(BinOp::And, false)),
                LLVMOpcode::LLVMOr => Some(binary(BinOp::Or, false)),
                LLVMOpcode::LLVMXor => Some(binary(BinOp::Xor, false)),
                LLVMOpcode::LLVMLShr => Some(binary(BinOp::Lshr, false)),
                LLVMOpcode::LLVMAShr => Some(binary(BinOp::Ashr, false)),
                _ => None,
            };
            if let Some(op) = arithmetic {
                return Operation::Binary { op, a: resolve(self, value(0)), b: resolve(self, value(1)) };
            }
            let float = match opcode {
                LLVMOpcode::LLVMFAdd => Some(FloatBinary::Add),
                LLVMOpcode::LLVMFSub => Some(FloatBinary::Sub),
                LLVMOpcode::LLVMFMul => Some(FloatBinary::Mul),
                LLVMOpcode::LLVMFDiv => Some(FloatBinary::Div),
                LLVMOpcode::LLVMFRem => Some(FloatBinary::Rem),
                _ => None,
            };
            if let Some(op) = float {
                return Operation::FloatBinary { op, a: resolve(self, value(0)), b: resolve(self, value(1)) };
            }
            if let Some(op) = cast(opcode) {
                let from = self.ty(LLVMTypeOf(value(0)));
                return Operation::Cast { op, from, a: resolve(self, value(0)) };
            }
            match opcode {
                LLVMOpcode::LLVMFNeg => Operation::FloatNegate { a: resolve(self, value(0)) },
                LLVMOpcode::LLVMICmp => Operation::Compare {
                    op: relation(LLVMGetICmpPredicate(at)),
                    of: self.ty(LLVMTypeOf(value(0))),
                    a: resolve(self, value(0)),
                    b: resolve(self, value(1)),
                },
                LLVMOpcode::LLVMFCmp => Operation::FloatCompare {
                    op: float_relation(LLVMGetFCmpPredicate(at)),
                    of: self.ty(LLVMTypeOf(value(0))),
                    a: resolve(self, value(0)),
                    b: resolve(self, value(1)),
                },
                LLVMOpcode::LLVMSelect => Operation::Select {
                    vector: matches!(LLVMGetTypeKind(LLVMTypeOf(value(0))), LLVMTypeKind::LLVMVectorTypeKind),
                    condition: resolve(self, value(0)),
                    a: resolve(self, value(1)),
                    b: resolve(self, value(2)),
                },
                LLVMOpcode::LLVMGetElementPtr => self.address(at, resolve),
                LLVMOpcode::LLVMExtractValue => Operation::Extract {
                    of: self.ty(LLVMTypeOf(value(0))),
                    a: resolve(self, value(0)),
                    path: indices(at),
                },
                LLVMOpcode::LLVMInsertValue => Operation::Insert {
                    a: resolve(self, value(0)),
                    value: resolve(self, value(1)),
                    path: indices(at),
                },
                LLVMOpcode::LLVMExtractElement => Operation::ExtractElement {
                    of: self.ty(LLVMTypeOf(value(0))),
                    a: resolve(self, value(0)),
                    index: resolve(self, value(1)),
                    index_type: self.ty(LLVMTypeOf(value(1))),
                },
                LLVMOpcode::LLVMInsertElement => Operation::InsertElement {
                    a: resolve(self, value(0)),
                    value: resolve(self, value(1)),
                    index: resolve(self, value(2)),
                    index_type: self.ty(LLVMTypeOf(value(2))),
                },
                LLVMOpcode::LLVMShuffleVector => Operation::Shuffle {
                    of: self.ty(LLVMTypeOf(value(0))),
                    a: resolve(self, value(0)),
                    b: resolve(self, value(1)),
                    mask: (0..LLVMGetNumMaskElements(at))
                        .map(|index| u32::try_from(LLVMGetMaskValue(at, index)).ok())
                        .collect(),
                },
                LLVMOpcode::LLVMFreeze => Operation::Freeze { a: resolve(self, value(0)) },
                LLVMOpcode::LLVMAtomicRMW => match update(LLVMGetAtomicRMWBinOp(at)) {
                    Some(op) => Operation::AtomicUpdate {
                        op,
                        pointer: resolve(self, value(0)),
                        value: resolve(self, value(1)),
                    },
                    None => Operation::Unsupported("this atomicrmw operation".into()),
                },
                LLVMOpcode::LLVMAtomicCmpXchg => Operation::CompareExchange {
                    pointer: resolve(self, value(0)),
                    expected: resolve(self, value(1)),
                    new: resolve(self, value(2)),
                    of: self.ty(LLVMTypeOf(value(1))),
                },
                LLVMOpcode::LLVMFence => Operation::Nothing,
                LLVMOpcode::LLVMVAArg => Operation::VariadicArgument { list: resolve(self, value(0)) },
                _ => Operation::Unsupported(super::owned(LLVMPrintValueToString(at)).trim().to_string()),
            }
        }
    }

    unsafe fn address(&mut self, at: LLVMValueRef, resolve: &mut Resolve<'_>) -> Operation {
        // SAFETY: `at` is a getelementptr, as instruction or constant.
        unsafe {
            let base = resolve(self, LLVMGetOperand(at, 0));
            let mut ty = LLVMGetGEPSourceElementType(at);
            let mut offset: i64 = 0;
            let mut scaled = Vec::new();
            for number in 1..LLVMGetNumOperands(at) as u32 {
                let index = LLVMGetOperand(at, number);
                let constant =
                    (!LLVMIsAConstantInt(index).is_null()).then(|| LLVMConstIntGetSExtValue(index));
                if number > 1 && matches!(LLVMGetTypeKind(ty), LLVMTypeKind::LLVMStructTypeKind) {
                    let field = constant.unwrap_or(0) as u32;
                    offset = offset
                        .wrapping_add(llvm_sys::target::LLVMOffsetOfElement(self.layout, ty, field) as i64);
                    ty = LLVMStructGetTypeAtIndex(ty, field);
                    continue;
                }
                if number > 1 {
                    ty = self.element_of(ty).unwrap_or(ty);
                }
                let id = self.ty(ty);
                let step = self.out.ty(id).size as i64;
                match constant {
                    Some(index) => offset = offset.wrapping_add(index.wrapping_mul(step)),
                    None => scaled.push((resolve(self, index), self.ty(LLVMTypeOf(index)), step)),
                }
            }
            Operation::Address { base, offset, indices: scaled, inbounds: LLVMIsInBounds(at) != 0 }
        }
    }
}

unsafe fn indices(at: LLVMValueRef) -> Vec<u32> {
    // SAFETY: `at` is an extractvalue or insertvalue.
    unsafe {
        let count = LLVMGetNumIndices(at) as usize;
        std::slice::from_raw_parts(LLVMGetIndices(at), count).to_vec()
    }
}

fn cast(opcode: LLVMOpcode) -> Option<Cast> {
    Some(match opcode {
        LLVMOpcode::LLVMTrunc => Cast::Trunc,
        LLVMOpcode::LLVMZExt => Cast::ZExt,
        LLVMOpcode::LLVMSExt => Cast::SExt,
        LLVMOpcode::LLVMFPTrunc => Cast::FpTrunc,
        LLVMOpcode::LLVMFPExt => Cast::FpExt,
        LLVMOpcode::LLVMFPToUI => Cast::FpToUi,
        LLVMOpcode::LLVMFPToSI => Cast::FpToSi,
        LLVMOpcode::LLVMUIToFP => Cast::UiToFp,
        LLVMOpcode::LLVMSIToFP => Cast::SiToFp,
        LLVMOpcode::LLVMPtrToInt => Cast::PtrToInt,
        LLVMOpcode::LLVMIntToPtr => Cast::IntToPtr,
        LLVMOpcode::LLVMBitCast | LLVMOpcode::LLVMAddrSpaceCast => Cast::Bitcast,
        _ => return None,
    })
}

fn relation(predicate: LLVMIntPredicate) -> RelOp {
    match predicate {
        LLVMIntPredicate::LLVMIntEQ => RelOp::Eq,
        LLVMIntPredicate::LLVMIntNE => RelOp::Ne,
        LLVMIntPredicate::LLVMIntUGT => RelOp::Ugt,
        LLVMIntPredicate::LLVMIntUGE => RelOp::Uge,
        LLVMIntPredicate::LLVMIntULT => RelOp::Ult,
        LLVMIntPredicate::LLVMIntULE => RelOp::Ule,
        LLVMIntPredicate::LLVMIntSGT => RelOp::Sgt,
        LLVMIntPredicate::LLVMIntSGE => RelOp::Sge,
        LLVMIntPredicate::LLVMIntSLT => RelOp::Slt,
        LLVMIntPredicate::LLVMIntSLE => RelOp::Sle,
    }
}

/// LLVM numbers its sixteen predicates so that the bits are: equal, greater, less, unordered.
fn float_relation(predicate: LLVMRealPredicate) -> FloatCompare {
    let bits = predicate as u32;
    FloatCompare {
        equal: bits & 1 != 0,
        greater: bits & 2 != 0,
        less: bits & 4 != 0,
        unordered: bits & 8 != 0,
    }
}

fn update(op: LLVMAtomicRMWBinOp) -> Option<Rmw> {
    use LLVMAtomicRMWBinOp::*;
    Some(match op {
        LLVMAtomicRMWBinOpXchg => Rmw::Xchg,
        LLVMAtomicRMWBinOpAdd => Rmw::Binary(BinOp::Add),
        LLVMAtomicRMWBinOpSub => Rmw::Binary(BinOp::Sub),
        LLVMAtomicRMWBinOpAnd => Rmw::Binary(BinOp::And),
        LLVMAtomicRMWBinOpOr => Rmw::Binary(BinOp::Or),
        LLVMAtomicRMWBinOpXor => Rmw::Binary(BinOp::Xor),
        LLVMAtomicRMWBinOpNand => Rmw::Nand,
        LLVMAtomicRMWBinOpMax => Rmw::Choose(RelOp::Sgt),
        LLVMAtomicRMWBinOpMin => Rmw::Choose(RelOp::Slt),
        LLVMAtomicRMWBinOpUMax => Rmw::Choose(RelOp::Ugt),
        LLVMAtomicRMWBinOpUMin => Rmw::Choose(RelOp::Ult),
        LLVMAtomicRMWBinOpFAdd => Rmw::Float(FloatBinary::Add),
        LLVMAtomicRMWBinOpFSub => Rmw::Float(FloatBinary::Sub),
        _ => return None,
    })
}
