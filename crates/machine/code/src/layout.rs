//! The sections of an ELF file at their addresses.

use crate::ElfError;
use crate::image::{Image, Segment};
use object::{
    Architecture, Object, ObjectKind, ObjectSection, ObjectSegment, ObjectSymbol, SectionFlags, SectionIndex,
    SegmentFlags, elf,
};
use std::collections::HashMap;
use std::ops::Range;

/// Zeros that a file asks for without containing them are laid out up to here.
const MAX_ZEROS: u64 = 16 << 20;

/// Where the sections of a file that was not linked go: not at zero, which is where a function that was called by nobody
/// returns to.
const FIRST_ADDRESS: u64 = 0x1_0000;

/// A file in memory, and where its sections went.
pub(crate) struct Layout {
    pub image: Image,
    /// Of a file that was not linked: where each section is.
    placed: HashMap<SectionIndex, u64>,
    /// Whether symbols count from their sections.
    pub relocatable: bool,
    /// One past the last address in use.
    end: u64,
}

impl Layout {
    /// Lays a file out.
    pub fn new(file: &object::File) -> Result<Self, ElfError> {
        let relocatable = file.kind() == ObjectKind::Relocatable;
        let mut layout =
            Layout { image: Image::default(), placed: HashMap::new(), relocatable, end: FIRST_ADDRESS };
        for section in file.sections() {
            let SectionFlags::Elf { sh_flags } = section.flags() else { continue };
            if sh_flags & u64::from(elf::SHF_ALLOC) == 0 || sh_flags & u64::from(elf::SHF_TLS) != 0 {
                continue;
            }
            let name = section.name().unwrap_or_default();
            let mut bytes = section.data().map_err(|error| ElfError::Malformed(error.to_string()))?.to_vec();
            if bytes.is_empty() && section.size() <= MAX_ZEROS {
                bytes = vec![0; section.size() as usize];
            }
            let address = if relocatable {
                layout.end.next_multiple_of(section.align().clamp(16, 1 << 16))
            } else {
                section.address()
            };
            layout.placed.insert(section.index(), address);
            layout.end = layout.end.max(address.saturating_add(bytes.len() as u64));
            layout.image.segments.push(Segment {
                address,
                bytes,
                executable: sh_flags & u64::from(elf::SHF_EXECINSTR) != 0,
                writable: sh_flags & u64::from(elf::SHF_WRITE) != 0 && !is_constant_after_start(name),
            });
        }
        if layout.image.segments.is_empty() {
            layout.take_segments(file)?;
        }
        if file.architecture() == Architecture::Arm {
            layout.image.alternate = thumb(file, &layout);
        }
        Ok(layout)
    }

    /// A file without a section table still says what to load.
    fn take_segments(&mut self, file: &object::File) -> Result<(), ElfError> {
        for segment in file.segments() {
            let bytes = segment.data().map_err(|error| ElfError::Malformed(error.to_string()))?.to_vec();
            let SegmentFlags::Elf { p_flags } = segment.flags() else { continue };
            self.end = self.end.max(segment.address().saturating_add(bytes.len() as u64));
            self.image.segments.push(Segment {
                address: segment.address(),
                bytes,
                executable: p_flags & elf::PF_X != 0,
                writable: p_flags & elf::PF_W != 0,
            });
        }
        Ok(())
    }

    /// The address of a symbol.
    pub fn address_of<'data>(&self, symbol: &impl ObjectSymbol<'data>) -> u64 {
        match symbol.section_index().and_then(|index| self.placed.get(&index)) {
            Some(base) if self.relocatable => base.wrapping_add(symbol.address()),
            _ => symbol.address(),
        }
    }

    /// Where a section is.
    pub fn section(&self, index: SectionIndex) -> Option<u64> {
        self.placed.get(&index).copied()
    }

    /// The base of the table of contents of 64-bit PowerPC.
    pub fn toc(&self, file: &object::File) -> Option<u64> {
        let section = file.section_by_name(".got").or_else(|| file.section_by_name(".toc"));
        let base = match section {
            Some(section) => self.section(section.index())?,
            // Not linked, and without a table: any base will do, as long as it is one.
            None if self.relocatable => FIRST_ADDRESS,
            None => return None,
        };
        Some(base.wrapping_add(0x8000))
    }

    /// The global pointer of MIPS: in the middle of what 16 bits reach from the first section of small data.
    pub fn small_data(&self, file: &object::File) -> Option<u64> {
        let small = [".sdata", ".sbss", ".lit8", ".lit4", ".srdata"];
        let places = small.iter().filter_map(|name| self.section(file.section_by_name(name)?.index()));
        Some(places.min()?.wrapping_add(0x7ff0))
    }

    /// A doubleword of the image.
    pub fn word_at(&self, file: &object::File, address: u64) -> Option<u64> {
        let segment = self.image.segments.iter().find(|segment| segment.range().contains(&address))?;
        let bytes: [u8; 8] = segment.from(address)?.get(..8)?.try_into().ok()?;
        Some(if file.is_little_endian() { u64::from_le_bytes(bytes) } else { u64::from_be_bytes(bytes) })
    }

    /// The bytes of the image from an address on, to be changed.
    pub fn bytes_at(&mut self, address: u64) -> Option<&mut [u8]> {
        let segment = self.image.segments.iter_mut().find(|segment| segment.range().contains(&address))?;
        let skip = (address - segment.address) as usize;
        Some(&mut segment.bytes[skip..])
    }

    /// The address that stands for a function the file does not contain.
    pub fn external(&mut self, name: &str) -> u64 {
        if let Some((address, _)) = self.image.externals.iter().find(|(_, known)| known == name) {
            return *address;
        }
        let address = self.room(16);
        self.image.externals.push((address, name.to_owned()));
        address
    }

    /// Fresh addresses behind everything else.
    pub fn room(&mut self, bytes: u64) -> u64 {
        let address = self.end.next_multiple_of(16);
        self.end = address + bytes;
        address
    }
}

/// Sections that only the dynamic linker writes.
fn is_constant_after_start(name: &str) -> bool {
    [".data.rel.ro", ".got", ".toc", ".opd", ".init_array", ".fini_array", ".branch_lt"]
        .iter()
        .any(|prefix| name.starts_with(prefix))
}

/// Thumb code, as the mapping symbols `$t`, `$a` and `$d` tell, or else the functions with odd addresses.
fn thumb(file: &object::File, layout: &Layout) -> Vec<Range<u64>> {
    let mut marks: Vec<(u64, char)> = file
        .symbols()
        .filter_map(|symbol| {
            let kind = symbol.name().ok()?.strip_prefix('$')?.chars().next()?;
            matches!(kind, 'a' | 't' | 'd').then(|| (layout.address_of(&symbol), kind))
        })
        .collect();
    marks.sort_unstable();
    if marks.is_empty() {
        return file
            .symbols()
            .chain(file.dynamic_symbols())
            .filter(|symbol| symbol.kind() == object::SymbolKind::Text && symbol.address() & 1 == 1)
            .map(|symbol| {
                let start = layout.address_of(&symbol) & !1;
                start..start.saturating_add(symbol.size().max(2))
            })
            .collect();
    }
    let ends = marks.iter().skip(1).map(|(at, _)| *at).chain([u64::MAX]);
    marks.iter().zip(ends).filter(|((_, kind), _)| *kind == 't').map(|((at, _), end)| *at..end).collect()
}
