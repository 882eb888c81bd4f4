//! Constants: operands and initialisers.

use super::functions::is_missing;
use super::{Reader, owned, text};
use llvm_sys::LLVMValueKind::*;
use llvm_sys::core::*;
use llvm_sys::prelude::*;
use num_bigint::BigUint;
use parallax_cmodule::{Assembly, BlockId, Constant, ConstantId, Operand, Operation, TypeKind};
use parallax_op::Bits;

impl Reader {
    pub(super) unsafe fn constant(&mut self, value: LLVMValueRef) -> ConstantId {
        if let Some(&id) = self.constants.get(&value) {
            return id;
        }
        // SAFETY: `value` is a live constant.
        let made = unsafe { self.make_constant(value) };
        let id = self.push_constant(made);
        self.constants.insert(value, id);
        id
    }

    pub(super) fn push_constant(&mut self, constant: Constant) -> ConstantId {
        let id = ConstantId(self.out.constants.len() as u32);
        self.out.constants.push(constant);
        id
    }

    unsafe fn make_constant(&mut self, value: LLVMValueRef) -> Constant {
        // SAFETY: accessors are guarded by the kind of the value.
        unsafe {
            let ty = self.ty(LLVMTypeOf(value));
            match LLVMGetValueKind(value) {
                LLVMConstantIntValueKind => match self.out.ty(ty).kind {
                    TypeKind::Int(width) if width <= 64 => {
                        Constant::Bits(Bits::new(width, u128::from(LLVMConstIntGetZExtValue(value))))
                    }
                    TypeKind::Int(width) => {
                        Constant::Bits(wide_integer(&owned(LLVMPrintValueToString(value)), width))
                    }
                    _ => self.unsupported(value),
                },
                LLVMConstantFPValueKind => match self.out.ty(ty).kind {
                    TypeKind::Float(format) => {
                        let printed = owned(LLVMPrintValueToString(value));
                        let mut lossy = 0;
                        let double = LLVMConstRealGetDouble(value, &mut lossy);
                        Constant::Bits(float_bits(&printed, format.width(), double))
                    }
                    _ => self.unsupported(value),
                },
                LLVMConstantPointerNullValueKind => Constant::Null,
                LLVMUndefValueValueKind | LLVMPoisonValueKind => Constant::Undefined(ty),
                LLVMConstantAggregateZeroValueKind => Constant::Zero(ty),
                LLVMGlobalVariableValueKind | LLVMFunctionValueKind if is_missing(value) => Constant::Null,
                LLVMGlobalVariableValueKind => match self.globals.get(&value) {
                    Some(&global) => Constant::Global(global, 0),
                    None => self.unsupported(value),
                },
                LLVMFunctionValueKind => match self.functions.get(&value) {
                    Some(&function) => Constant::Function(function),
                    None => self.unsupported(value),
                },
                LLVMGlobalAliasValueKind => {
                    let target = self.constant(LLVMAliasGetAliasee(value));
                    self.out.constant(target).clone()
                }
                LLVMConstantDataArrayValueKind if LLVMIsConstantString(value) != 0 => {
                    let mut len = 0;
                    let pointer = LLVMGetAsString(value, &mut len);
                    let bytes = std::slice::from_raw_parts(pointer.cast::<u8>(), len).to_vec();
                    Constant::Bytes(ty, bytes)
                }
                LLVMConstantDataArrayValueKind
                | LLVMConstantDataVectorValueKind
                | LLVMConstantArrayValueKind
                | LLVMConstantStructValueKind
                | LLVMConstantVectorValueKind => {
                    let count = match &self.out.ty(ty).kind {
                        TypeKind::Array { len, .. } | TypeKind::Vector { len, .. } => *len as u32,
                        TypeKind::Struct(fields) => fields.len() as u32,
                        _ => 0,
                    };
                    let elements = (0..count)
                        .map(|index| self.constant(LLVMGetAggregateElement(value, index)))
                        .collect();
                    Constant::Aggregate(ty, elements)
                }
                LLVMBlockAddressValueKind => {
                    let function = LLVMGetBlockAddressFunction(value);
                    let block = LLVMGetBlockAddressBasicBlock(value);
                    let mut index = 0;
                    let mut at = LLVMGetFirstBasicBlock(function);
                    while !at.is_null() && at != block {
                        index += 1;
                        at = LLVMGetNextBasicBlock(at);
                    }
                    match self.functions.get(&function) {
                        Some(&function) => Constant::Block(function, BlockId(index)),
                        None => self.unsupported(value),
                    }
                }
                LLVMConstantExprValueKind => self.constant_expression(value),
                _ => self.unsupported(value),
            }
        }
    }

    unsafe fn constant_expression(&mut self, value: LLVMValueRef) -> Constant {
        // SAFETY: a constant expression has the operands of its opcode.
        unsafe {
            let ty = self.ty(LLVMTypeOf(value));
            let operation = self.operation_of(value, LLVMGetConstOpcode(value), &mut |reader, operand| {
                Operand::Constant(reader.constant(operand))
            });
            // Addresses inside globals are by far the most common case: fold them at once.
            if let Operation::Address { base: Operand::Constant(base), offset, indices, .. } = &operation
                && indices.is_empty()
                && let Constant::Global(global, at) = self.out.constant(*base)
            {
                return Constant::Global(*global, at.wrapping_add(*offset));
            }
            Constant::Expression(ty, Box::new(operation))
        }
    }

    unsafe fn unsupported(&mut self, value: LLVMValueRef) -> Constant {
        // SAFETY: any live value can be printed and has a type.
        unsafe {
            let ty = self.ty(LLVMTypeOf(value));
            let mut printed = owned(LLVMPrintValueToString(value));
            if printed.len() > 120 {
                let cut = (0..=120).rev().find(|&at| printed.is_char_boundary(at)).unwrap_or(0);
                printed.truncate(cut);
            }
            Constant::Expression(
                ty,
                Box::new(Operation::Unsupported(format!("the constant {}", printed.trim()))),
            )
        }
    }

    pub(super) unsafe fn assembly(&self, value: LLVMValueRef) -> Assembly {
        let (mut len, mut constraints_len) = (0, 0);
        // SAFETY: `value` is inline assembly.
        unsafe {
            let template = LLVMGetInlineAsmAsmString(value, &mut len);
            let constraints = LLVMGetInlineAsmConstraintString(value, &mut constraints_len);
            Assembly {
                text: text(template, len),
                constraints: text(constraints, constraints_len),
                intel: matches!(
                    LLVMGetInlineAsmDialect(value),
                    llvm_sys::LLVMInlineAsmDialect::LLVMInlineAsmDialectIntel
                ),
            }
        }
    }
}

/// `i128 -5` as LLVM prints it: the C API has no way to read more than 64 bits.
fn wide_integer(printed: &str, width: u16) -> Bits {
    let number = printed.rsplit(' ').next().unwrap_or("0");
    let (negative, digits) = match number.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, number),
    };
    let value = match digits {
        "true" => BigUint::from(1u32),
        _ => digits.parse::<BigUint>().unwrap_or_default(),
    };
    let modulus = BigUint::from(1u32) << width;
    let value = value % &modulus;
    let value = if negative { (&modulus - value) % &modulus } else { value };
    Bits::from_big(width, value)
}

/// Bits of a floating-point constant. LLVM prints odd formats and odd values in hexadecimal, the rest fits a double.
fn float_bits(printed: &str, width: u16, double: f64) -> Bits {
    let number = printed.rsplit(' ').next().unwrap_or("");
    if let Some(hex) = number.strip_prefix("0x") {
        let (tag, digits) = match hex.as_bytes().first() {
            Some(b'K' | b'L' | b'M' | b'H' | b'R') => hex.split_at(1),
            _ => ("", hex),
        };
        let value = u128::from_str_radix(digits, 16).unwrap_or(0);
        return match tag {
            "K" => Bits::new(80, value),
            // The two halves of a quad are printed low half first.
            "L" => Bits::new(128, value.rotate_left(64)),
            "H" => Bits::new(16, value),
            _ if width == 32 => Bits::new(32, u128::from(narrow(value as u64))),
            _ => Bits::new(width, value),
        };
    }
    match width {
        32 => Bits::new(32, u128::from((double as f32).to_bits())),
        64 => Bits::new(64, u128::from(double.to_bits())),
        // Formats other than these are always printed in hexadecimal.
        _ => Bits::new(width, 0),
    }
}

/// Floats are printed as the double of the same value; NaN payloads are shifted.
fn narrow(double: u64) -> u32 {
    let value = f64::from_bits(double);
    if value.is_nan() {
        let sign = (double >> 63) as u32;
        let payload = ((double >> 29) & 0x7f_ffff) as u32;
        return (sign << 31) | 0x7f80_0000 | payload;
    }
    (value as f32).to_bits()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printed_constants_are_read_back() {
        assert_eq!(wide_integer("i128 -1", 128), Bits::ones(128));
        assert_eq!(wide_integer("i128 18446744073709551616", 128), Bits::new(128, 1 << 64));
        assert_eq!(float_bits("float 0x7FF8000000000000", 32, f64::NAN).to_u64(), Some(0x7fc0_0000));
        assert_eq!(float_bits("float 1.5e+00", 32, 1.5).to_u64(), Some(0x3fc0_0000));
        assert_eq!(
            float_bits("x86_fp80 0xK3FFF8000000000000000", 80, 1.0).to_u128(),
            Some(0x3fff_8000_0000_0000_0000)
        );
        assert_eq!(
            float_bits("fp128 0xL00000000000000003FFF000000000000", 128, 1.0).to_u128(),
            Some(0x3fff_0000_0000_0000 << 64)
        );
    }
}
