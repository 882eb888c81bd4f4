//! Code from an ELF file: a function by name, or a range of addresses.

use crate::{Program, ProgramError, Segment};
use object::{Architecture, Object, ObjectSection, ObjectSymbol, SectionKind, SymbolKind};
use parallax_sleigh::Lifter;
use std::ops::Range;

/// What of a file to take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selection {
    /// A function, by its name in the symbol table.
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
        (other, _) => return Err(ElfError::Processor(format!("{other:?}"))),
    })
}

fn parse(bytes: &[u8]) -> Result<object::File<'_>, ElfError> {
    object::File::parse(bytes).map_err(|error| ElfError::Malformed(error.to_string()))
}

/// The selected code as a program. Addresses are those of the file; of a relocatable one, those of its sections, each
/// from zero, so the function's own section is all the code there is.
pub fn load(bytes: &[u8], selection: &Selection, lifter: Lifter) -> Result<Program, ElfError> {
    let file = parse(bytes)?;
    let functions = || {
        file.symbols()
            .chain(file.dynamic_symbols())
            .filter(|symbol| symbol.kind() == SymbolKind::Text && symbol.is_definition())
            .filter_map(|symbol| Some((symbol.name().ok()?.to_owned(), symbol)))
    };
    let (range, only_section) = match selection {
        Selection::Range(range) => (range.clone(), None),
        Selection::Function(name) => {
            let Some((_, symbol)) = functions().find(|(known, _)| known == name) else {
                let known: Vec<String> = functions().map(|(name, _)| name).take(8).collect();
                let hint = if known.is_empty() {
                    "the file has no function symbols (is it stripped?): give --range".to_owned()
                } else {
                    format!("there are {} and others", known.join(", "))
                };
                return Err(ElfError::Function { name: name.clone(), hint });
            };
            // The lowest bit of an ARM function's address marks Thumb code, which this specification starts without.
            let start = if file.architecture() == Architecture::Arm {
                symbol.address() & !1
            } else {
                symbol.address()
            };
            let end = start.checked_add(symbol.size()).ok_or_else(|| ElfError::NoCode(name.clone()))?;
            if start == end {
                return Err(ElfError::NoCode(name.clone()));
            }
            (start..end, symbol.section_index())
        }
    };
    let mut segments = Vec::new();
    for section in file.sections() {
        let wanted = only_section.is_none_or(|index| section.index() == index);
        if section.kind() != SectionKind::Text || !wanted {
            continue;
        }
        let data = section.data().map_err(|error| ElfError::Malformed(error.to_string()))?;
        segments.push(Segment { address: section.address(), bytes: data.to_vec() });
    }
    let names = functions()
        .filter(|(_, symbol)| only_section.is_none() || symbol.section_index() == only_section)
        .map(|(name, symbol)| (symbol.address(), name))
        .collect();
    let entry = range.start;
    Ok(Program::new(lifter, segments, entry, range, names)?)
}
