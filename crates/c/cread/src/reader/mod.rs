//! From LLVM's module to ours. Nothing outside this folder sees LLVM.
//!
//! The C API hands out raw pointers that live as long as their context; [`Session`] owns the context and everything
//! read from it is copied before it goes. Debug records are turned back into intrinsics first (see
//! `LLVMSetIsNewDbgInfoFormat`), or the variables would stay invisible.

mod constants;
mod debug;
mod functions;
mod operations;
mod symbols;
mod types;

use crate::Error;
use llvm_sys::bit_reader::LLVMGetBitcodeModuleInContext2;
use llvm_sys::core::*;
use llvm_sys::ir_reader::LLVMParseIRInContext;
use llvm_sys::linker::LLVMLinkModules2;
use llvm_sys::prelude::*;
use llvm_sys::target::LLVMGetModuleDataLayout;
use llvm_sys::{LLVMDiagnosticSeverity, LLVMLinkage};
use parallax_cmodule::{ConstantId, DebugTypeId, FunctionId, GlobalId, LocationId, Module, ScopeId, TypeId};
use rustc_hash::FxHashMap;
use std::ffi::{CStr, c_char, c_void};

pub use symbols::{Symbols, symbols};

/// A module in memory, as bitcode or as LLVM assembly, and what to call it.
pub struct Input<'a> {
    /// Name for messages.
    pub name: String,
    /// The bytes.
    pub bytes: &'a [u8],
}

/// Reads modules, links them into one, adds the library models that are needed, and converts the result.
pub fn read(inputs: &[Input<'_>], models: &[u8]) -> Result<Module, Error> {
    let session = Session::new();
    let mut whole: Option<LLVMModuleRef> = None;
    for input in inputs {
        let module = session.parse(input)?;
        match whole {
            None => whole = Some(module),
            // SAFETY: both modules belong to the session's context; the source is consumed.
            Some(target) => session.link(target, module, &input.name)?,
        }
    }
    let Some(whole) = whole else { return Err(Error::Usage("no input files".into())) };
    if !models.is_empty() {
        let library = session.open(&Input { name: "library models".into(), bytes: models })?;
        // SAFETY: `library` is a live module; only linkage changes.
        unsafe { make_optional(library) };
        session.link(whole, library, "library models")?;
    }
    // Debug records become intrinsics once, when it is known which functions there are.
    // SAFETY: `whole` is a live module.
    unsafe { LLVMSetIsNewDbgInfoFormat(whole, 0) };
    let name = inputs.first().map_or(String::new(), |input| input.name.clone());
    // SAFETY: `whole` is a live module of the session's context, which outlives the conversion.
    let mut module = unsafe { convert(session.context, whole, name)? };
    module.warnings = session.messages.take();
    Ok(module)
}

/// Definitions that are dropped unless something refers to them, and that give way to the program's own.
unsafe fn make_optional(library: LLVMModuleRef) {
    // SAFETY: the caller's module is alive; every value below is one of its own.
    unsafe {
        let lower = |value: LLVMValueRef| {
            if LLVMIsDeclaration(value) == 0
                && matches!(LLVMGetLinkage(value), LLVMLinkage::LLVMExternalLinkage)
            {
                LLVMSetLinkage(value, LLVMLinkage::LLVMLinkOnceAnyLinkage);
            }
        };
        let mut function = LLVMGetFirstFunction(library);
        while !function.is_null() {
            lower(function);
            function = LLVMGetNextFunction(function);
        }
        let mut global = LLVMGetFirstGlobal(library);
        while !global.is_null() {
            lower(global);
            global = LLVMGetNextGlobal(global);
        }
    }
}

/// Owns the LLVM context and collects what LLVM says while it works.
struct Session {
    context: LLVMContextRef,
    messages: Box<std::cell::RefCell<Vec<String>>>,
}

extern "C" fn collect(info: LLVMDiagnosticInfoRef, sink: *mut c_void) {
    // SAFETY: `sink` is the boxed list of the session that installed the handler, alive as long as the context.
    unsafe {
        let messages = &*(sink as *const std::cell::RefCell<Vec<String>>);
        let description = LLVMGetDiagInfoDescription(info);
        let words = owned(description);
        let severity = match LLVMGetDiagInfoSeverity(info) {
            LLVMDiagnosticSeverity::LLVMDSError => "error: ",
            LLVMDiagnosticSeverity::LLVMDSWarning => "warning: ",
            _ => "",
        };
        messages.borrow_mut().push(format!("{severity}{words}"));
    }
}

/// Copies and releases a message of LLVM's.
unsafe fn owned(message: *mut c_char) -> String {
    if message.is_null() {
        return String::new();
    }
    // SAFETY: LLVM hands out NUL-terminated strings that the caller releases.
    unsafe {
        let words = CStr::from_ptr(message).to_string_lossy().into_owned();
        LLVMDisposeMessage(message);
        words
    }
}

impl Session {
    fn new() -> Self {
        let messages = Box::new(std::cell::RefCell::new(Vec::new()));
        // SAFETY: a fresh context; the handler's sink is boxed and lives in the session.
        let context = unsafe {
            let context = LLVMContextCreate();
            let sink = &*messages as *const std::cell::RefCell<Vec<String>> as *mut c_void;
            LLVMContextSetDiagnosticHandler(context, Some(collect), sink);
            context
        };
        Session { context, messages }
    }

    fn parse(&self, input: &Input<'_>) -> Result<LLVMModuleRef, Error> {
        // SAFETY: the buffer is copied; the parser takes it over; a module is only used when the call succeeds.
        unsafe {
            let buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy(
                input.bytes.as_ptr().cast(),
                input.bytes.len(),
                c"module".as_ptr(),
            );
            let before = self.messages.borrow().len();
            let mut module = std::ptr::null_mut();
            let mut message = std::ptr::null_mut();
            if LLVMParseIRInContext(self.context, buffer, &mut module, &mut message) != 0 {
                let said = owned(message);
                return Err(Error::BadModule { file: input.name.clone(), message: said.trim().to_string() });
            }
            // LLVM would go on without it; then nothing that is found has a place.
            if self.messages.borrow()[before..].iter().any(|words| words.contains("invalid debug info")) {
                let message = "its debug information is corrupt".into();
                return Err(Error::BadModule { file: input.name.clone(), message });
            }
            Ok(module)
        }
    }

    /// Bitcode whose functions are read when something links to them: of the library models a program uses a few of hundreds.
    fn open(&self, input: &Input<'_>) -> Result<LLVMModuleRef, Error> {
        // SAFETY: the buffer is copied and then the module's; a module is only used when the call succeeds.
        unsafe {
            let (start, len) = (input.bytes.as_ptr().cast(), input.bytes.len());
            let buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy(start, len, c"module".as_ptr());
            let mut module = std::ptr::null_mut();
            if LLVMGetBitcodeModuleInContext2(self.context, buffer, &mut module) != 0 {
                let message = self.messages.borrow().join("\n");
                return Err(Error::BadModule { file: input.name.clone(), message });
            }
            Ok(module)
        }
    }

    fn link(&self, target: LLVMModuleRef, source: LLVMModuleRef, name: &str) -> Result<(), Error> {
        let before = self.messages.borrow().len();
        // SAFETY: both belong to this context; `source` is not used afterwards.
        if unsafe { LLVMLinkModules2(target, source) } != 0 {
            let message = self.messages.borrow()[before..].join("\n");
            return Err(Error::Link { file: name.to_string(), message });
        }
        Ok(())
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // SAFETY: created by `new`; modules of the context go with it, and nothing converted refers to them.
        unsafe { LLVMContextDispose(self.context) }
    }
}

/// Everything the conversion remembers.
struct Reader {
    context: LLVMContextRef,
    layout: llvm_sys::target::LLVMTargetDataRef,
    out: Module,
    types: FxHashMap<LLVMTypeRef, TypeId>,
    constants: FxHashMap<LLVMValueRef, ConstantId>,
    functions: FxHashMap<LLVMValueRef, FunctionId>,
    globals: FxHashMap<LLVMValueRef, GlobalId>,
    blocks: FxHashMap<LLVMBasicBlockRef, u32>,
    files: FxHashMap<String, u32>,
    locations: FxHashMap<LLVMMetadataRef, LocationId>,
    scopes: FxHashMap<LLVMMetadataRef, ScopeId>,
    debug_types: FxHashMap<LLVMMetadataRef, DebugTypeId>,
    kinds: Kinds,
    /// The working folder, by its names.
    folders: Vec<String>,
}

/// Attribute kinds that matter.
struct Kinds {
    by_value: u32,
    struct_return: u32,
    nonnull: u32,
    alloc_size: u32,
}

unsafe fn convert(context: LLVMContextRef, whole: LLVMModuleRef, name: String) -> Result<Module, Error> {
    // SAFETY: the caller's module and context are alive; every handle below is one of theirs.
    unsafe {
        let kind = |name: &str| LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len());
        let mut reader = Reader {
            context,
            layout: LLVMGetModuleDataLayout(whole),
            out: Module { name, ..Module::default() },
            types: FxHashMap::default(),
            constants: FxHashMap::default(),
            functions: FxHashMap::default(),
            globals: FxHashMap::default(),
            blocks: FxHashMap::default(),
            files: FxHashMap::default(),
            locations: FxHashMap::default(),
            scopes: FxHashMap::default(),
            debug_types: FxHashMap::default(),
            folders: here(),
            kinds: Kinds {
                by_value: kind("byval"),
                struct_return: kind("sret"),
                nonnull: kind("nonnull"),
                alloc_size: kind("allocsize"),
            },
        };
        if llvm_sys::target::LLVMPointerSize(reader.layout) != 8
            || matches!(
                llvm_sys::target::LLVMByteOrder(reader.layout),
                llvm_sys::target::LLVMByteOrdering::LLVMBigEndian
            )
        {
            return Err(Error::Unsupported(
                "only little-endian targets with 64-bit pointers are supported".into(),
            ));
        }
        reader.file("");
        reader.out.locations.push(Default::default());
        reader.declare(whole);
        reader.define(whole);
        reader.out.complete_types();
        Ok(reader.out)
    }
}

/// The working folder, as the system names it and as a shell may.
fn here() -> Vec<String> {
    let Ok(system) = std::env::current_dir() else { return Vec::new() };
    // A shell's own name for it may go through links, and may be out of date.
    let shell =
        std::env::var("PWD").ok().filter(|name| std::fs::canonicalize(name).is_ok_and(|f| f == system));
    std::iter::once(system.display().to_string()).chain(shell).collect()
}

/// A string that LLVM owns, copied.
unsafe fn text(pointer: *const c_char, len: usize) -> String {
    if pointer.is_null() {
        return String::new();
    }
    // SAFETY: LLVM promises `len` readable bytes.
    String::from_utf8_lossy(unsafe { std::slice::from_raw_parts(pointer.cast(), len) }).into_owned()
}

/// The name of a value, possibly empty.
unsafe fn value_name(value: LLVMValueRef) -> String {
    let mut len = 0;
    // SAFETY: `value` is live.
    unsafe {
        let pointer = LLVMGetValueName2(value, &mut len);
        text(pointer, len)
    }
}
