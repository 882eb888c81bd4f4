//! Names for addresses: which symbol of which mapped file an address belongs to.

use crate::memory::{Backing, Memory};
use object::read::elf::{FileHeader, ProgramHeader, Sym};
use object::{BigEndian, LittleEndian, elf};
use std::collections::HashMap;

/// The symbols of one file, sorted by address.
struct Table {
    /// File offset, first address, size of the loadable segments.
    segments: Vec<(u64, u64, u64)>,
    symbols: Vec<(u64, u64, String)>,
}

/// Finds names for addresses; reads each file once, when first asked.
#[derive(Default)]
pub struct Symbols {
    tables: HashMap<String, Option<Table>>,
}

impl Symbols {
    /// `symbol+distance in file`, or as much of that as is known.
    pub fn describe(&mut self, memory: &Memory, address: u64) -> String {
        let Some((start, region)) = memory.region_at(address) else {
            return format!("{address:#x} (nothing is mapped there)");
        };
        let (Backing::Copied { map, offset, .. } | Backing::Shared { map, offset, .. }) = &region.backing
        else {
            return format!("{address:#x}");
        };
        let file = map.name();
        let table = self.tables.entry(String::from(file)).or_insert_with(|| {
            let bytes = map.contents()?;
            read::<elf::FileHeader64<LittleEndian>>(&bytes, LittleEndian)
                .or_else(|| read::<elf::FileHeader32<BigEndian>>(&bytes, BigEndian))
        });
        let found = table.as_ref().and_then(|table| table.find(offset + (address - start)));
        match found {
            Some((name, 0)) => format!("{address:#x} <{name}> in {file}"),
            Some((name, distance)) => format!("{address:#x} <{name}+{distance:#x}> in {file}"),
            None => format!("{address:#x} in {file}"),
        }
    }
}

impl Table {
    fn find(&self, file_offset: u64) -> Option<(&str, u64)> {
        let (offset, address, _) =
            self.segments.iter().find(|(offset, _, size)| (*offset..offset + size).contains(&file_offset))?;
        let address = file_offset - offset + address;
        let before = self.symbols.partition_point(|(at, _, _)| *at <= address);
        let (at, size, name) = self.symbols.get(before.checked_sub(1)?)?;
        // Hand-written assembly leaves sizes out: such a symbol reaches to the next.
        (*size == 0 || address < at + size).then_some((name, address - at))
    }
}

fn read<H: FileHeader>(bytes: &[u8], order: H::Endian) -> Option<Table>
where
    H::Word: Into<u64>,
{
    let header = H::parse(bytes).ok()?;
    let mut table = Table { segments: Vec::new(), symbols: Vec::new() };
    for entry in header.program_headers(order, bytes).ok()? {
        if entry.p_type(order) == elf::PT_LOAD {
            let (offset, size): (u64, u64) = (entry.p_offset(order).into(), entry.p_filesz(order).into());
            offset.checked_add(size)?;
            table.segments.push((offset, entry.p_vaddr(order).into(), size));
        }
    }
    let sections = header.sections(order, bytes).ok()?;
    for kind in [elf::SHT_SYMTAB, elf::SHT_DYNSYM] {
        let Ok(symbols) = sections.symbols(order, bytes, kind) else { continue };
        for symbol in symbols.iter() {
            let named = matches!(symbol.st_type(), elf::STT_FUNC | elf::STT_OBJECT | elf::STT_NOTYPE);
            if !named || symbol.st_shndx(order) == elf::SHN_UNDEF {
                continue;
            }
            let (at, size): (u64, u64) = (symbol.st_value(order).into(), symbol.st_size(order).into());
            if at.checked_add(size).is_none() {
                continue;
            }
            if let Ok(name) = symbol.name(order, symbols.strings()) {
                table.symbols.push((at, size, String::from_utf8_lossy(name).into_owned()));
            }
        }
    }
    table.symbols.sort();
    Some(table)
}
