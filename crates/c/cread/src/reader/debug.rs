//! Debug information: places, scopes, variables, C types. Nodes may be missing or malformed; then so is the answer.

use super::{Reader, text};
use llvm_sys::core::*;
use llvm_sys::debuginfo::*;
use llvm_sys::prelude::*;
use parallax_cmodule::LIBRARY_PREFIX;
use parallax_cmodule::{
    DebugType, DebugTypeId, Field, Location, LocationId, Scope, ScopeId, Variable, VariableId,
};
use std::path::Path;

const DW_TAG_ARRAY: u16 = 0x01;
const DW_TAG_ENUMERATION: u16 = 0x04;
const DW_TAG_MEMBER: u16 = 0x0d;
const DW_TAG_POINTER: u16 = 0x0f;
const DW_TAG_STRUCTURE: u16 = 0x13;
const DW_TAG_TYPEDEF: u16 = 0x16;
const DW_TAG_UNION: u16 = 0x17;

/// Chains of scopes and inlined calls longer than this are cut: no real program has them, a corrupt one might.
const DEEPEST: usize = 1000;

impl Reader {
    pub(super) fn file(&mut self, name: &str) -> u32 {
        if let Some(&id) = self.files.get(name) {
            return id;
        }
        let id = self.out.files.len() as u32;
        self.out.files.push(name.to_string());
        self.files.insert(name.to_string(), id);
        id
    }

    /// Operands of a metadata node, null where absent.
    unsafe fn operands(&self, node: LLVMMetadataRef) -> Vec<LLVMMetadataRef> {
        // SAFETY: `node` is live; only nodes have operands.
        unsafe {
            if node.is_null() || !is_node(node) {
                return Vec::new();
            }
            let value = LLVMMetadataAsValue(self.context, node);
            let mut operands = vec![std::ptr::null_mut(); LLVMGetMDNodeNumOperands(value) as usize];
            LLVMGetMDNodeOperands(value, operands.as_mut_ptr());
            operands
                .into_iter()
                .map(
                    |operand| {
                        if operand.is_null() { std::ptr::null_mut() } else { LLVMValueAsMetadata(operand) }
                    },
                )
                .collect()
        }
    }

    unsafe fn string(&self, node: LLVMMetadataRef) -> String {
        // SAFETY: the kind is checked first.
        unsafe {
            if node.is_null()
                || !matches!(LLVMGetMetadataKind(node), LLVMMetadataKind::LLVMMDStringMetadataKind)
            {
                return String::new();
            }
            let mut len = 0;
            let pointer = LLVMGetMDString(LLVMMetadataAsValue(self.context, node), &mut len);
            text(pointer, len as usize)
        }
    }

    unsafe fn file_node(&mut self, node: LLVMMetadataRef) -> u32 {
        // SAFETY: the kind is checked first.
        unsafe {
            if node.is_null()
                || !matches!(LLVMGetMetadataKind(node), LLVMMetadataKind::LLVMDIFileMetadataKind)
            {
                return 0;
            }
            let operands = self.operands(node);
            let name = operands.first().map_or(String::new(), |&n| self.string(n));
            let directory = operands.get(1).map_or(String::new(), |&n| self.string(n));
            // What was compiled here stays as the user wrote it. Elsewhere is any other folder, and also the part that
            // the file's path and this folder have in common, which clang makes the folder of files outside it.
            let here = directory.is_empty() || self.folders.contains(&directory);
            match here || Path::new(&name).is_absolute() || name.starts_with(LIBRARY_PREFIX) {
                true => self.file(&name),
                false => self.file(&Path::new(&directory).join(&name).display().to_string()),
            }
        }
    }

    pub(super) unsafe fn location(&mut self, node: LLVMMetadataRef) -> LocationId {
        // Inlined code forms a chain: resolve it from the outside in, without recursion.
        let mut chain = Vec::new();
        let mut at = node;
        while !at.is_null() && !self.locations.contains_key(&at) && chain.len() < DEEPEST {
            // SAFETY: the kind is checked before the accessors.
            unsafe {
                if !matches!(LLVMGetMetadataKind(at), LLVMMetadataKind::LLVMDILocationMetadataKind) {
                    break;
                }
                chain.push(at);
                at = LLVMDILocationGetInlinedAt(at);
            }
        }
        for node in chain.into_iter().rev() {
            // SAFETY: every node of the chain is a location.
            unsafe {
                let scope_node = LLVMDILocationGetScope(node);
                let scope = self.scope(scope_node);
                let inlined = LLVMDILocationGetInlinedAt(node);
                let location = Location {
                    file: scope.map_or(0, |s| self.out.scopes[s.0 as usize].file),
                    line: LLVMDILocationGetLine(node),
                    column: LLVMDILocationGetColumn(node),
                    scope,
                    inlined_at: self.locations.get(&inlined).copied(),
                };
                let id = LocationId(self.out.locations.len() as u32);
                self.out.locations.push(location);
                self.locations.insert(node, id);
            }
        }
        self.locations.get(&node).copied().unwrap_or_default()
    }

    pub(super) unsafe fn scope(&mut self, node: LLVMMetadataRef) -> Option<ScopeId> {
        let mut chain = Vec::new();
        let mut at = node;
        // SAFETY: kinds are checked before operands are read by position.
        unsafe {
            while !at.is_null() && !self.scopes.contains_key(&at) && chain.len() < DEEPEST {
                match LLVMGetMetadataKind(at) {
                    LLVMMetadataKind::LLVMDISubprogramMetadataKind => {
                        chain.push(at);
                        break;
                    }
                    LLVMMetadataKind::LLVMDILexicalBlockMetadataKind
                    | LLVMMetadataKind::LLVMDILexicalBlockFileMetadataKind => {
                        chain.push(at);
                        at = self.operands(at).get(1).copied().unwrap_or(std::ptr::null_mut());
                    }
                    _ => break,
                }
            }
            let mut parent = self.scopes.get(&at).copied();
            for node in chain.into_iter().rev() {
                let operands = self.operands(node);
                let file_node = operands.first().copied().unwrap_or(std::ptr::null_mut());
                let file = self.file_node(file_node);
                let (function, line) = match LLVMGetMetadataKind(node) {
                    LLVMMetadataKind::LLVMDISubprogramMetadataKind => {
                        (operands.get(2).map(|&name| self.string(name)), LLVMDISubprogramGetLine(node))
                    }
                    _ => (None, 0),
                };
                let id = ScopeId(self.out.scopes.len() as u32);
                self.out.scopes.push(Scope { parent, function, file, line });
                self.scopes.insert(node, id);
                parent = Some(id);
            }
        }
        self.scopes.get(&node).copied()
    }

    /// A local variable or parameter from its node.
    pub(super) unsafe fn local_variable(&mut self, node: LLVMMetadataRef) -> Option<VariableId> {
        // SAFETY: the kind is checked first.
        unsafe {
            if node.is_null()
                || !matches!(LLVMGetMetadataKind(node), LLVMMetadataKind::LLVMDILocalVariableMetadataKind)
            {
                return None;
            }
            let operands = self.operands(node);
            let at = |index: usize| operands.get(index).copied().unwrap_or(std::ptr::null_mut());
            let variable = Variable {
                name: self.string(at(1)),
                ty: self.debug_type(at(3)),
                scope: self.scope(at(0)),
                file: self.file_node(at(2)),
                line: LLVMDIVariableGetLine(node),
                nonnull: false,
            };
            Some(self.push_variable(variable))
        }
    }

    /// The C variable of a global, from the metadata attached to it.
    pub(super) unsafe fn global_variable(&mut self, global: LLVMValueRef) -> Option<VariableId> {
        // SAFETY: entries are released after use; kinds are checked.
        unsafe {
            let mut count = 0;
            let entries = LLVMGlobalCopyAllMetadata(global, &mut count);
            let mut found = None;
            for index in 0..count as u32 {
                let node = LLVMValueMetadataEntriesGetMetadata(entries, index);
                if !matches!(
                    LLVMGetMetadataKind(node),
                    LLVMMetadataKind::LLVMDIGlobalVariableExpressionMetadataKind
                ) {
                    continue;
                }
                let variable = self.operands(node).first().copied().unwrap_or(std::ptr::null_mut());
                if variable.is_null()
                    || !matches!(
                        LLVMGetMetadataKind(variable),
                        LLVMMetadataKind::LLVMDIGlobalVariableMetadataKind
                    )
                {
                    continue;
                }
                let operands = self.operands(variable);
                let at = |index: usize| operands.get(index).copied().unwrap_or(std::ptr::null_mut());
                let made = Variable {
                    name: self.string(at(1)),
                    ty: self.debug_type(at(3)),
                    scope: self.scope(at(0)),
                    file: self.file_node(at(2)),
                    line: LLVMDIVariableGetLine(variable),
                    nonnull: false,
                };
                found = Some(self.push_variable(made));
                break;
            }
            LLVMDisposeValueMetadataEntries(entries);
            found
        }
    }

    fn push_variable(&mut self, variable: Variable) -> VariableId {
        let id = VariableId(self.out.variables.len() as u32);
        self.out.variables.push(variable);
        id
    }

    /// Result and parameter types of a subprogram.
    pub(super) unsafe fn signature(&mut self, subprogram: LLVMMetadataRef) -> Vec<Option<DebugTypeId>> {
        // SAFETY: operands are read by position only from a subprogram.
        unsafe {
            if subprogram.is_null() {
                return Vec::new();
            }
            let routine = self.operands(subprogram).get(4).copied().unwrap_or(std::ptr::null_mut());
            self.routine_types(routine)
        }
    }

    unsafe fn routine_types(&mut self, routine: LLVMMetadataRef) -> Vec<Option<DebugTypeId>> {
        // SAFETY: as above.
        unsafe {
            let list = self.operands(routine).get(3).copied().unwrap_or(std::ptr::null_mut());
            self.operands(list).into_iter().map(|ty| self.debug_type(ty)).collect()
        }
    }

    pub(super) unsafe fn debug_type(&mut self, node: LLVMMetadataRef) -> Option<DebugTypeId> {
        if node.is_null() {
            return None;
        }
        if let Some(&id) = self.debug_types.get(&node) {
            return Some(id);
        }
        // Types refer to themselves through pointers: reserve the place first, then fill from a work list, so that
        // long chains do not use the stack.
        let mut waiting = Vec::new();
        let id = self.reserve(node, &mut waiting);
        while let Some((node, id)) = waiting.pop() {
            // SAFETY: every node on the list is a live metadata node.
            let made = unsafe { self.make_debug_type(node, &mut waiting) };
            self.out.debug_types[id.0 as usize] = made;
        }
        Some(id)
    }

    fn reserve(
        &mut self,
        node: LLVMMetadataRef,
        waiting: &mut Vec<(LLVMMetadataRef, DebugTypeId)>,
    ) -> DebugTypeId {
        if let Some(&id) = self.debug_types.get(&node) {
            return id;
        }
        let id = DebugTypeId(self.out.debug_types.len() as u32);
        self.out.debug_types.push(DebugType::Unknown);
        self.debug_types.insert(node, id);
        waiting.push((node, id));
        id
    }

    unsafe fn make_debug_type(
        &mut self,
        node: LLVMMetadataRef,
        waiting: &mut Vec<(LLVMMetadataRef, DebugTypeId)>,
    ) -> DebugType {
        // SAFETY: kinds are checked before positions are trusted.
        unsafe {
            let operands = self.operands(node);
            let at = |index: usize| operands.get(index).copied().unwrap_or(std::ptr::null_mut());
            match LLVMGetMetadataKind(node) {
                LLVMMetadataKind::LLVMDIBasicTypeMetadataKind => {
                    let name = self.string(at(2));
                    DebugType::Base {
                        bits: LLVMDITypeGetSizeInBits(node),
                        float: ["float", "double", "_Float16", "__float128"]
                            .iter()
                            .any(|f| name.ends_with(f)),
                        signed: !name.contains("unsigned") && name != "_Bool",
                        name,
                    }
                }
                LLVMMetadataKind::LLVMDIDerivedTypeMetadataKind => {
                    let of = (!at(3).is_null()).then(|| self.reserve(at(3), waiting));
                    match LLVMGetDINodeTag(node) {
                        DW_TAG_POINTER => DebugType::Pointer(of),
                        DW_TAG_TYPEDEF => DebugType::Alias { name: self.string(at(2)), of },
                        _ => DebugType::Alias { name: String::new(), of },
                    }
                }
                LLVMMetadataKind::LLVMDICompositeTypeMetadataKind => {
                    let bits = LLVMDITypeGetSizeInBits(node);
                    let name = self.string(at(2));
                    match LLVMGetDINodeTag(node) {
                        DW_TAG_ARRAY => {
                            let element = (!at(3).is_null()).then(|| self.reserve(at(3), waiting));
                            DebugType::Array { element, len: self.array_length(at(4)) }
                        }
                        DW_TAG_ENUMERATION => DebugType::Enum { name, bits },
                        tag @ (DW_TAG_STRUCTURE | DW_TAG_UNION) => {
                            let mut fields = Vec::new();
                            for member in self.operands(at(4)) {
                                if member.is_null()
                                    || !matches!(
                                        LLVMGetMetadataKind(member),
                                        LLVMMetadataKind::LLVMDIDerivedTypeMetadataKind
                                    )
                                    || LLVMGetDINodeTag(member) != DW_TAG_MEMBER
                                {
                                    continue;
                                }
                                let parts = self.operands(member);
                                let part =
                                    |index: usize| parts.get(index).copied().unwrap_or(std::ptr::null_mut());
                                fields.push(Field {
                                    name: self.string(part(2)),
                                    ty: (!part(3).is_null()).then(|| self.reserve(part(3), waiting)),
                                    offset_bits: LLVMDITypeGetOffsetInBits(member),
                                    bits: LLVMDITypeGetSizeInBits(member),
                                    nonnull: false,
                                    counted_by: None,
                                });
                            }
                            let size = bits / 8;
                            if tag == DW_TAG_UNION {
                                DebugType::Union { name, size, fields }
                            } else {
                                DebugType::Struct { name, size, fields }
                            }
                        }
                        _ => DebugType::Unknown,
                    }
                }
                LLVMMetadataKind::LLVMDISubroutineTypeMetadataKind => {
                    let list = at(3);
                    let types = self
                        .operands(list)
                        .into_iter()
                        .map(|ty| (!ty.is_null()).then(|| self.reserve(ty, waiting)))
                        .collect();
                    DebugType::Function(types)
                }
                _ => DebugType::Unknown,
            }
        }
    }

    unsafe fn array_length(&self, ranges: LLVMMetadataRef) -> u64 {
        // SAFETY: counts are read only from constants.
        unsafe {
            let mut product: u64 = 1;
            for range in self.operands(ranges) {
                let count = self.operands(range).first().copied().unwrap_or(std::ptr::null_mut());
                if count.is_null()
                    || !matches!(
                        LLVMGetMetadataKind(count),
                        LLVMMetadataKind::LLVMConstantAsMetadataMetadataKind
                    )
                {
                    return 0;
                }
                let value = LLVMMetadataAsValue(self.context, count);
                let mut constant = std::ptr::null_mut();
                LLVMGetMDNodeOperands(value, &mut constant);
                if constant.is_null() || LLVMIsAConstantInt(constant).is_null() {
                    return 0;
                }
                let len = LLVMConstIntGetSExtValue(constant);
                if len < 0 {
                    return 0;
                }
                product = product.saturating_mul(len as u64);
            }
            product
        }
    }
}

unsafe fn is_node(node: LLVMMetadataRef) -> bool {
    use LLVMMetadataKind::*;
    // SAFETY: `node` is live.
    !matches!(
        unsafe { LLVMGetMetadataKind(node) },
        LLVMMDStringMetadataKind
            | LLVMConstantAsMetadataMetadataKind
            | LLVMLocalAsMetadataMetadataKind
            | LLVMDIArgListMetadataKind
    )
}
