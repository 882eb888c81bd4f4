//! Code from an ELF file: a function by name, or a range of addresses.

use crate::layout::Layout;
use crate::relocate;
use crate::{Program, ProgramError, SharedLifter};
use object::{Architecture, Object, ObjectSection, ObjectSymbol, SectionKind, SymbolKind};
use parallax_names::Meant;
use std::ops::Range;

/// What of a file to take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selection {
    /// A function, by its name in the symbol table or demangled, and whatever of the file it calls.
    Function(String),
    /// The code from the first address up to the second.
    Range(Range<u64>),
}

/// Why a file gives no program.
#[derive(Debug, Clone, thiserror::Error)]
pub enum ElfError {
    /// It is not an object file, or broken.
    #[error("not an ELF file that can be read: {0}")]
    Malformed(String),
    /// It is for a processor that we have no specification of.
    #[error("no specification for its processor ({0})")]
    Processor(String),
    /// It has no such function.
    #[error("no function `{name}`; {hint}")]
    Function {
        /// The name asked for.
        name: String,
        /// What there is.
        hint: String,
    },
    /// The symbol has no size, or its section no bytes.
    #[error("function `{0}` has no code in this file")]
    NoCode(String),
    /// An object file that must be linked first.
    #[error("relocation type {kind} at {place} is not supported: link the file first")]
    Relocation {
        /// Its number in the processor's list.
        kind: u32,
        /// Section and offset.
        place: String,
    },
    /// Taking the code as a program.
    #[error(transparent)]
    Program(#[from] ProgramError),
}

/// The name of the processor a file is for.
pub fn language_of(bytes: &[u8]) -> Result<&'static str, ElfError> {
    let file = parse(bytes)?;
    let little = file.is_little_endian();
    Ok(match (file.architecture(), little) {
        (Architecture::X86_64, _) => "x86-64",
        (Architecture::I386, _) => "x86",
        (Architecture::PowerPc, false) => "powerpc",
        (Architecture::PowerPc64, false) => "powerpc64",
        (Architecture::PowerPc64, true) => "powerpc64le",
        (Architecture::Aarch64, true) => "aarch64",
        (Architecture::Arm, true) => "arm",
        (Architecture::Riscv64, true) => "riscv64",
        (Architecture::Mips, false) => "mips",
        (Architecture::Mips, true) => "mipsel",
        (other, little) => {
            let order = if little { "little" } else { "big" };
            return Err(ElfError::Processor(format!("{other:?}, {order}-endian")));
        }
    })
}

fn parse(bytes: &[u8]) -> Result<object::File<'_>, ElfError> {
    object::File::parse(bytes).map_err(|error| ElfError::Malformed(error.to_string()))
}

/// The selected code as a program. Addresses are those of the file; the sections of one that was not linked are laid out
/// one behind the other, and relocated.
pub fn load(bytes: &[u8], selection: &Selection, lifter: &SharedLifter) -> Result<Program, ElfError> {
    let file = parse(bytes)?;
    let mut layout = Layout::new(&file)?;
    relocate::apply(&file, &mut layout)?;
    let functions = functions(&file, &layout);
    let (range, whole_file) = match selection {
        Selection::Range(range) => (range.clone(), false),
        Selection::Function(name) => {
            let function = named(&functions, name)?;
            let (start, promised) = entry(&file, &layout, function);
            layout.image.promised = promised;
            let end = match function.size {
                // Written in assembly: up to the next function.
                0 => {
                    let next = functions.iter().map(|f| f.address & !1).filter(|at| *at > start).min();
                    let end = layout.image.code_from(start).map_or(start, |rest| start + rest.len() as u64);
                    next.unwrap_or(end).min(end)
                }
                size => start.checked_add(size).ok_or_else(|| ElfError::NoCode(name.clone()))?,
            };
            if start == end {
                return Err(ElfError::NoCode(name.clone()));
            }
            (start..end, true)
        }
    };
    let entry = range.start;
    let mut image = layout.image;
    image.names.extend(functions.into_iter().map(|function| (function.code & !1, function.name)));
    image.names.extend(image.externals.iter().cloned());
    image.names.sort();
    Ok(Program::new(lifter, image, entry, range, whole_file)?)
}

/// The function that a person means.
fn named<'f>(functions: &'f [Function], name: &str) -> Result<&'f Function, ElfError> {
    let symbols = functions.iter().map(|function| (function.name.as_str(), function.address));
    let hint = match parallax_names::meant(symbols, name) {
        Meant::One(address) => {
            let mut at = functions.iter().filter(|function| function.address == address);
            let first = at.clone().next();
            if let Some(function) = at.find(|function| function.name == name).or(first) {
                return Ok(function);
            }
            String::new()
        }
        Meant::Several(names) => format!("there are several: {}", names.join(", ")),
        Meant::Nothing if functions.is_empty() => {
            "the file has no function symbols (is it stripped?): give --range".to_owned()
        }
        Meant::Nothing => {
            let known: Vec<&str> = functions.iter().map(|f| f.name.as_str()).take(8).collect();
            format!("there are {} and others", known.join(", "))
        }
    };
    Err(ElfError::Function { name: name.to_owned(), hint })
}

/// A function of the symbol table.
struct Function {
    name: String,
    /// As the symbol table has it: on some processors that of a descriptor, or odd.
    address: u64,
    /// Where its code is.
    code: u64,
    size: u64,
}

fn functions(file: &object::File, layout: &Layout) -> Vec<Function> {
    let descriptors = file.section_by_name(relocate::DESCRIPTORS).map(|section| section.index());
    let mut all: Vec<Function> = file
        .symbols()
        .chain(file.dynamic_symbols())
        .filter(|symbol| symbol.is_definition())
        .filter(|symbol| match symbol.kind() {
            SymbolKind::Text => true,
            // A label of assembly code has no type.
            SymbolKind::Unknown | SymbolKind::Label => symbol
                .section_index()
                .and_then(|index| file.section_by_index(index).ok())
                .is_some_and(|section| section.kind() == SectionKind::Text),
            _ => false,
        })
        .filter_map(|symbol| {
            let address = layout.address_of(&symbol);
            let code = match symbol.section_index() {
                Some(index) if Some(index) == descriptors => layout.word_at(file, address).unwrap_or(address),
                _ => address,
            };
            Some(Function { name: symbol.name().ok()?.to_owned(), address, code, size: symbol.size() })
        })
        .filter(|function| !function.name.is_empty() && !function.name.starts_with('$'))
        .collect();
    all.sort_by(|a, b| (a.address, &a.name).cmp(&(b.address, &b.name)));
    all.dedup_by(|a, b| a.name == b.name && a.address == b.address);
    all
}

/// Where a function's first instruction is, and what its calling convention promises.
fn entry(file: &object::File, layout: &Layout, function: &Function) -> (u64, Vec<(String, u64)>) {
    let symbol = |name: &str| {
        file.symbols()
            .chain(file.dynamic_symbols())
            .find(|symbol| symbol.name() == Ok(name) && symbol.is_definition())
            .map(|symbol| layout.address_of(&symbol))
    };
    let code = function.code;
    let mut promised = Vec::new();
    let mut promise = |name: &str, value: u64| promised.push((name.to_owned(), value));
    match file.architecture() {
        // The lowest bit of an ARM function's address marks Thumb code.
        Architecture::Arm => return (code & !1, promised),
        // Position-independent code finds its own address in T9.
        Architecture::Mips => {
            promise("T9", code);
            if let Some(gp) = symbol("_gp").or_else(|| layout.small_data(file)) {
                promise("GP", gp);
            }
        }
        Architecture::Riscv64 => {
            if let Some(gp) = symbol("__global_pointer$") {
                promise("GP", gp);
            }
        }
        Architecture::PowerPc64 => {
            promise("R12", code);
            if let Some(toc) = symbol(".TOC.").or_else(|| layout.toc(file)) {
                promise("R2", toc);
            }
        }
        _ => {}
    }
    (code, promised)
}
