//! What an ELF file says itself: its functions and data by name, its procedure linkage table, its sections.

use crate::error::{Error, Result};
use object::elf as consts;
use object::read::elf::{ElfFile, FileHeader};
use object::{
    Object, ObjectSection, ObjectSymbol, RelocationFlags, RelocationTarget, SymbolFlags, SymbolKind,
};
use parallax_names::{demangled, spellings, whole};
use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// The instruction set of a module, as far as unwinding needs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Machine {
    /// x86-64.
    X86_64,
    /// Any other; its registers have their DWARF numbers and nothing is guessed.
    Other,
}

/// A function or object with a name, at addresses of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// Its name as people write it, without parameters; `puts@plt` for an entry of the procedure linkage table.
    pub name: String,
    /// Its name as the linker writes it.
    pub linkage: String,
    /// Where it lies. Of unknown size: up to the next symbol.
    pub range: Range<u64>,
    /// Whether it is code.
    pub is_function: bool,
    /// Whether it is a function that chooses the one of its name among several (an IFUNC).
    pub is_chooser: bool,
}

/// What is kept of a file.
pub(crate) struct Elf {
    pub machine: Machine,
    pub is_64: bool,
    pub endian: gimli::RunTimeEndian,
    /// Where its segments lie.
    pub extent: Range<u64>,
    /// The segments that hold code.
    pub code: Vec<Range<u64>>,
    /// Where the bytes of the file are loaded, and where in the file they start.
    loads: Vec<(Range<u64>, u64)>,
    /// Size of its initial thread-local storage, rounded up to its alignment.
    pub tls_size: u64,
    symbols: Vec<Symbol>,
    sections: HashMap<String, (u64, Arc<[u8]>)>,
    by_name: OnceLock<HashMap<String, Vec<u64>>>,
}

/// Sections that are kept; a file's code and data are read from the program's memory.
const KEPT: &[&str] = &[
    ".debug_abbrev",
    ".debug_addr",
    ".debug_aranges",
    ".debug_frame",
    ".debug_info",
    ".debug_line",
    ".debug_line_str",
    ".debug_loc",
    ".debug_loclists",
    ".debug_ranges",
    ".debug_rnglists",
    ".debug_str",
    ".debug_str_offsets",
    ".debug_types",
    ".eh_frame",
    ".eh_frame_hdr",
    ".got",
    ".text",
];

/// At most so many bytes of one section, after decompression.
const MOST_SECTION: u64 = 1 << 31;

impl Elf {
    pub fn parse(module: &str, bytes: &[u8]) -> Result<Elf> {
        let wrong =
            |why: &dyn std::fmt::Display| Error::NotElf { module: module.to_owned(), why: why.to_string() };
        match object::FileKind::parse(bytes).map_err(|why| wrong(&why))? {
            object::FileKind::Elf64 => {
                let file = ElfFile::<consts::FileHeader64<object::Endianness>>::parse(bytes);
                Elf::read(&file.map_err(|why| wrong(&why))?, module)
            }
            object::FileKind::Elf32 => {
                let file = ElfFile::<consts::FileHeader32<object::Endianness>>::parse(bytes);
                Elf::read(&file.map_err(|why| wrong(&why))?, module)
            }
            _ => Err(wrong(&"it is a file of another kind")),
        }
    }

    fn read<H: FileHeader<Endian = object::Endianness>>(file: &ElfFile<'_, H>, module: &str) -> Result<Elf> {
        let endian =
            if file.is_little_endian() { gimli::RunTimeEndian::Little } else { gimli::RunTimeEndian::Big };
        let machine = match file.architecture() {
            object::Architecture::X86_64 => Machine::X86_64,
            _ => Machine::Other,
        };
        let (mut first, mut last, mut code, mut tls_size) = (u64::MAX, 0, Vec::new(), 0u64);
        let mut loads = Vec::new();
        let e = file.endian();
        use object::read::elf::ProgramHeader;
        for header in file.elf_program_headers() {
            let start: u64 = header.p_vaddr(e).into();
            let size: u64 = header.p_memsz(e).into();
            match header.p_type(e) {
                consts::PT_LOAD => {
                    let end = start.saturating_add(size);
                    (first, last) = (first.min(start), last.max(end));
                    let filled: u64 = header.p_filesz(e).into();
                    loads.push((start..start.saturating_add(filled), header.p_offset(e).into()));
                    if header.p_flags(e) & consts::PF_X != 0 {
                        code.push(start..end);
                    }
                }
                consts::PT_TLS => {
                    let align: u64 = Into::<u64>::into(header.p_align(e)).max(1);
                    tls_size = size.checked_next_multiple_of(align).unwrap_or(size);
                }
                _ => {}
            }
        }
        let mut sections = HashMap::new();
        for section in file.sections() {
            let Ok(name) = section.name() else { continue };
            if KEPT.contains(&name) {
                let data = contents(&section, module)?;
                sections.insert(name.to_owned(), (section.address(), data));
            }
        }
        let mut symbols = named(file);
        if machine == Machine::X86_64 {
            symbols.extend(linkage_table(file));
        }
        sort(&mut symbols);
        let extent = first.min(last)..last;
        let is_64 = file.is_64();
        Ok(Elf {
            machine,
            is_64,
            endian,
            extent,
            code,
            loads,
            tls_size,
            symbols,
            sections,
            by_name: OnceLock::new(),
        })
    }

    /// A section's bytes; none if the file does not have it.
    pub fn section(&self, name: &str) -> Arc<[u8]> {
        self.sections.get(name).map_or_else(|| Arc::from([]), |(_, data)| data.clone())
    }

    /// Where a section lies.
    pub fn section_address(&self, name: &str) -> Option<u64> {
        self.sections.get(name).map(|(address, _)| *address)
    }

    /// Where in the file the byte of an address is.
    pub fn offset_of(&self, address: u64) -> Option<u64> {
        let (range, offset) = self.loads.iter().find(|(range, _)| range.contains(&address))?;
        offset.checked_add(address - range.start)
    }

    /// The parts of a function that compilers moved away from it, told by the names of their symbols.
    pub fn parts_of<'a>(&'a self, linkage: &'a str) -> impl Iterator<Item = Range<u64>> + 'a {
        let is_part = move |symbol: &&Symbol| {
            let rest = symbol.linkage.strip_prefix(linkage);
            rest.is_some_and(|rest| rest == ".cold" || rest.starts_with(".cold."))
        };
        self.symbols.iter().filter(is_part).map(|symbol| symbol.range.clone())
    }

    /// Whether a part of a function starts at an address, and no function.
    pub fn is_part(&self, address: u64) -> bool {
        let from = self.symbols.partition_point(|symbol| symbol.range.start < address);
        let mut here = self.symbols[from..].iter().take_while(|symbol| symbol.range.start == address);
        here.any(|symbol| symbol.is_function && whole(&symbol.linkage).is_none())
    }

    /// The symbol that an address of the file belongs to.
    pub fn symbol_at(&self, address: u64) -> Option<&Symbol> {
        let after = self.symbols.partition_point(|symbol| symbol.range.start <= address);
        // Of symbols at one address the first is the best; a zero-sized or local one may stand between.
        let start = self.symbols[..after].last()?.range.start;
        let first = self.symbols[..after].partition_point(|symbol| symbol.range.start < start);
        self.symbols[first..after].iter().find(|symbol| symbol.range.contains(&address))
    }

    /// The symbols, in the order of their addresses.
    pub fn symbols(&self) -> &[Symbol] {
        &self.symbols
    }

    /// Where functions of a name start: as the linker writes it, as people do with or without parameters and template
    /// arguments, or the end of a qualified name. Copies that a compiler made of a function have its name.
    pub fn functions_named(&self, name: &str) -> Vec<u64> {
        let by_name = self.by_name.get_or_init(|| {
            let mut all: HashMap<String, Vec<u64>> = HashMap::new();
            let mut add = |name: &str, address: u64| {
                let known = all.entry(name.to_owned()).or_default();
                if !known.contains(&address) {
                    known.push(address);
                }
            };
            for symbol in self.symbols.iter().filter(|symbol| symbol.is_function) {
                add(&symbol.linkage, symbol.range.start);
                let Some(linkage) = whole(&symbol.linkage) else { continue };
                let (full, short) = demangled(linkage);
                add(&full, symbol.range.start);
                if linkage == short {
                    continue;
                }
                spellings(&short).iter().for_each(|spelling| add(spelling, symbol.range.start));
            }
            all
        });
        by_name.get(name).cloned().unwrap_or_default()
    }
}

/// A section's bytes, decompressed.
fn contents<'data>(section: &impl ObjectSection<'data>, module: &str) -> Result<Arc<[u8]>> {
    let wrong = |why: String| Error::NotElf { module: module.to_owned(), why };
    let data = section.compressed_data().map_err(|why| wrong(why.to_string()))?;
    match data.format {
        object::CompressionFormat::None => Ok(Arc::from(data.data)),
        object::CompressionFormat::Zlib => {
            if data.uncompressed_size > MOST_SECTION {
                return Err(wrong(format!("a section of {} bytes", data.uncompressed_size)));
            }
            let mut bytes = Vec::new();
            let reader = flate2::read::ZlibDecoder::new(data.data);
            std::io::Read::read_to_end(&mut std::io::Read::take(reader, data.uncompressed_size), &mut bytes)
                .map_err(|why| wrong(format!("a compressed section: {why}")))?;
            Ok(Arc::from(bytes))
        }
        _ => Err(Error::Unsupported { what: "sections that are not compressed by zlib".to_owned() }),
    }
}

/// The symbols of both tables.
fn named<H: FileHeader<Endian = object::Endianness>>(file: &ElfFile<'_, H>) -> Vec<Symbol> {
    let mut symbols = Vec::new();
    for symbol in file.symbols().chain(file.dynamic_symbols()) {
        let is_function = symbol.kind() == SymbolKind::Text;
        if symbol.is_undefined() || !(is_function || symbol.kind() == SymbolKind::Data) {
            continue;
        }
        let Ok(linkage) = symbol.name() else { continue };
        if linkage.is_empty() {
            continue;
        }
        // Dynamic names of old versions look like memcpy@GLIBC_2.2.5 in some tables.
        let plain = linkage.split('@').next().unwrap_or(linkage);
        let range = symbol.address()..symbol.address().saturating_add(symbol.size());
        let name = demangled(plain).1;
        let kind = match symbol.flags() {
            SymbolFlags::Elf { st_info, .. } => st_info & 0xf,
            _ => 0,
        };
        let is_chooser = kind == consts::STT_GNU_IFUNC;
        symbols.push(Symbol { name, linkage: plain.to_owned(), range, is_function, is_chooser });
    }
    symbols
}

/// Entries of the procedure linkage table: each jumps through a word that a relocation names.
fn linkage_table<H: FileHeader<Endian = object::Endianness>>(file: &ElfFile<'_, H>) -> Vec<Symbol> {
    let mut words: HashMap<u64, String> = HashMap::new();
    for (address, relocation) in file.dynamic_relocations().into_iter().flatten() {
        let RelocationFlags::Elf { r_type } = relocation.flags() else { continue };
        if r_type != consts::R_X86_64_JUMP_SLOT && r_type != consts::R_X86_64_GLOB_DAT {
            continue;
        }
        let RelocationTarget::Symbol(index) = relocation.target() else { continue };
        let Some(table) = file.dynamic_symbol_table() else { continue };
        use object::ObjectSymbolTable;
        if let Ok(symbol) = table.symbol_by_index(index)
            && let Ok(name) = symbol.name()
        {
            words.insert(address, name.split('@').next().unwrap_or(name).to_owned());
        }
    }
    let mut entries = Vec::new();
    for section in file.sections() {
        let step = match section.name() {
            Ok(".plt" | ".plt.sec") => 16,
            Ok(".plt.got") => 8,
            _ => continue,
        };
        let Ok(data) = section.data() else { continue };
        for (index, entry) in data.chunks(step).enumerate() {
            let start = section.address() + (index * step) as u64;
            if let Some(word) = jumps_through(entry, start)
                && let Some(name) = words.get(&word)
            {
                let name = format!("{name}@plt");
                let range = start..start + entry.len() as u64;
                let linkage = name.clone();
                entries.push(Symbol { name, linkage, range, is_function: true, is_chooser: false });
            }
        }
    }
    entries
}

/// The address of the word that an entry's `jmp *x(%rip)` reads, after `endbr64` and a prefix.
fn jumps_through(entry: &[u8], start: u64) -> Option<u64> {
    let mut at = 0;
    if entry.starts_with(&[0xf3, 0x0f, 0x1e, 0xfa]) {
        at += 4;
    }
    if entry.get(at) == Some(&0xf2) {
        at += 1;
    }
    let rest = entry.get(at..at + 6)?;
    if rest[..2] != [0xff, 0x25] {
        return None;
    }
    let offset = i32::from_le_bytes(rest[2..6].try_into().ok()?);
    Some((start + at as u64 + 6).wrapping_add_signed(offset.into()))
}

/// Sorts by address, the best name of an address first, drops doubles, and gives symbols of unknown size the room up to the
/// next one.
fn sort(symbols: &mut Vec<Symbol>) {
    symbols.sort_by(|a, b| {
        let rank = |s: &Symbol| (s.range.start, s.range.is_empty(), s.linkage.starts_with('_'));
        rank(a).cmp(&rank(b)).then_with(|| a.linkage.cmp(&b.linkage))
    });
    symbols.dedup();
    let starts: Vec<u64> = symbols.iter().map(|symbol| symbol.range.start).collect();
    for symbol in symbols.iter_mut().filter(|symbol| symbol.range.is_empty()) {
        let next = starts.partition_point(|&start| start <= symbol.range.start);
        let end = starts.get(next).copied().unwrap_or(symbol.range.start + 1);
        symbol.range.end = end;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_elf_is_an_error() {
        for bytes in [&b""[..], b"hello", b"\x7fELF", &[0x7f, b'E', b'L', b'F', 2, 1, 1, 0, 0]] {
            assert!(matches!(Elf::parse("x", bytes), Err(Error::NotElf { .. })));
        }
    }

    #[test]
    fn entries_of_the_linkage_table_are_told() {
        let plain = [0xff, 0x25, 0x10, 0, 0, 0, 0x68, 0, 0, 0, 0];
        assert_eq!(jumps_through(&plain, 0x1000), Some(0x1016));
        let marked = [0xf3, 0x0f, 0x1e, 0xfa, 0xf2, 0xff, 0x25, 1, 0, 0, 0];
        assert_eq!(jumps_through(&marked, 0x1000), Some(0x100c));
        assert_eq!(jumps_through(&plain[..5], 0), None);
    }
}
