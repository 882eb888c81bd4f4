//! Types with their layout.

use super::Reader;
use llvm_sys::LLVMTypeKind;
use llvm_sys::core::*;
use llvm_sys::prelude::*;
use llvm_sys::target::{LLVMABIAlignmentOfType, LLVMABISizeOfType, LLVMOffsetOfElement, LLVMStoreSizeOfType};
use parallax_cmodule::{Type, TypeId, TypeKind};
use parallax_op::{FloatFormat, MAX_WIDTH};

impl Reader {
    pub(super) unsafe fn ty(&mut self, ty: LLVMTypeRef) -> TypeId {
        if let Some(&id) = self.types.get(&ty) {
            return id;
        }
        // SAFETY: `ty` is a live type of this context.
        let made = unsafe { self.make_type(ty) };
        let id = TypeId(self.out.types.len() as u32);
        self.out.types.push(made);
        self.types.insert(ty, id);
        id
    }

    unsafe fn make_type(&mut self, ty: LLVMTypeRef) -> Type {
        // SAFETY: kinds are checked before the accessors that need them.
        unsafe {
            let kind = match LLVMGetTypeKind(ty) {
                LLVMTypeKind::LLVMVoidTypeKind => {
                    return Type { kind: TypeKind::Void, size: 0, store_size: 0, align: 1 };
                }
                LLVMTypeKind::LLVMIntegerTypeKind => match u16::try_from(LLVMGetIntTypeWidth(ty)) {
                    Ok(width) if width <= MAX_WIDTH => TypeKind::Int(width),
                    _ => TypeKind::Other(format!("an integer of {} bits", LLVMGetIntTypeWidth(ty))),
                },
                LLVMTypeKind::LLVMHalfTypeKind => TypeKind::Float(FloatFormat::F16),
                LLVMTypeKind::LLVMFloatTypeKind => TypeKind::Float(FloatFormat::F32),
                LLVMTypeKind::LLVMDoubleTypeKind => TypeKind::Float(FloatFormat::F64),
                LLVMTypeKind::LLVMX86_FP80TypeKind => TypeKind::Float(FloatFormat::X87),
                LLVMTypeKind::LLVMFP128TypeKind => TypeKind::Float(FloatFormat::F128),
                LLVMTypeKind::LLVMPointerTypeKind => TypeKind::Pointer,
                LLVMTypeKind::LLVMArrayTypeKind => {
                    TypeKind::Array { element: self.ty(LLVMGetElementType(ty)), len: LLVMGetArrayLength2(ty) }
                }
                LLVMTypeKind::LLVMVectorTypeKind => TypeKind::Vector {
                    element: self.ty(LLVMGetElementType(ty)),
                    len: u64::from(LLVMGetVectorSize(ty)),
                },
                LLVMTypeKind::LLVMStructTypeKind if LLVMIsOpaqueStruct(ty) == 0 => {
                    let count = LLVMCountStructElementTypes(ty);
                    let mut fields = Vec::with_capacity(count as usize);
                    for index in 0..count {
                        let field = self.ty(LLVMStructGetTypeAtIndex(ty, index));
                        fields.push((field, LLVMOffsetOfElement(self.layout, ty, index)));
                    }
                    TypeKind::Struct(fields)
                }
                _ => {
                    let name = super::owned(LLVMPrintTypeToString(ty));
                    return Type { kind: TypeKind::Other(name), size: 0, store_size: 0, align: 1 };
                }
            };
            if LLVMTypeIsSized(ty) == 0 {
                let name = super::owned(LLVMPrintTypeToString(ty));
                return Type { kind: TypeKind::Other(name), size: 0, store_size: 0, align: 1 };
            }
            Type {
                kind,
                size: LLVMABISizeOfType(self.layout, ty),
                store_size: LLVMStoreSizeOfType(self.layout, ty),
                align: LLVMABIAlignmentOfType(self.layout, ty),
            }
        }
    }

    /// What an address of `ty` steps by, and which type it steps into, for one constant or variable index.
    pub(super) unsafe fn element_of(&self, ty: LLVMTypeRef) -> Option<LLVMTypeRef> {
        // SAFETY: only sequential types are asked for their element.
        unsafe {
            match LLVMGetTypeKind(ty) {
                LLVMTypeKind::LLVMArrayTypeKind | LLVMTypeKind::LLVMVectorTypeKind => {
                    Some(LLVMGetElementType(ty))
                }
                _ => None,
            }
        }
    }
}
