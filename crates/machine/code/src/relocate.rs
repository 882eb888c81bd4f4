//! Relocation: filling in the addresses that the linker, static or dynamic, would.
//!
//! Files that were not linked come straight from a compiler, so its usual relocations are applied here, for every
//! processor, after the ABI supplements' tables. One that is not known is an error, never a wrong address.

use crate::ElfError;
use crate::image::Segment;
use crate::layout::Layout;
use object::{
    Architecture, Object, ObjectSection, ObjectSymbol, ObjectSymbolTable, RelocationFlags, RelocationTarget,
    SymbolFlags,
};
use std::collections::HashMap;

/// Applies the relocations of every section, and those of the dynamic linker.
pub(crate) fn apply(file: &object::File, layout: &mut Layout) -> Result<(), ElfError> {
    let mut relocations = Relocations {
        file,
        layout,
        slots: HashMap::new(),
        high: HashMap::new(),
        carries: Vec::new(),
        waiting: Vec::new(),
    };
    if relocations.layout.relocatable {
        // Function descriptors of 64-bit PowerPC come first: calls are relocated to the code that they lead to.
        let mut sections: Vec<_> = file.sections().collect();
        sections.sort_by_key(|section| section.name() != Ok(DESCRIPTORS));
        for section in sections {
            let Some(base) = relocations.layout.section(section.index()) else { continue };
            // The halves of an address are patched in order, the upper one first.
            for (offset, relocation) in section.relocations() {
                let name = section.name().unwrap_or("?");
                let place = || format!("{name}+{offset:#x}");
                let (target, addend) = relocations.target(&relocation);
                let site = Site {
                    at: base.wrapping_add(offset),
                    target,
                    addend,
                    implicit: relocation.has_implicit_addend(),
                    local_entry: local_entry(file, &relocation),
                };
                let kind = number(relocation.flags());
                relocations.one(kind, site).ok_or_else(|| ElfError::Relocation { kind, place: place() })?;
            }
            relocations.carry_low_halves();
        }
    }
    for (at, relocation) in file.dynamic_relocations().into_iter().flatten() {
        relocations.dynamic(at, &relocation);
    }
    relocations.place_slots();
    Ok(())
}

/// The section of function descriptors of 64-bit PowerPC (ELF ABI version 1). Symbols of functions lie in it.
pub(crate) const DESCRIPTORS: &str = ".opd";

fn number(flags: RelocationFlags) -> u32 {
    match flags {
        RelocationFlags::Elf { r_type } => r_type,
        _ => u32::MAX,
    }
}

/// What to patch, and with what.
#[derive(Clone, Copy)]
struct Site {
    at: u64,
    target: u64,
    addend: i64,
    implicit: bool,
    /// 64-bit PowerPC: how far behind the target callers of the same module enter.
    local_entry: u64,
}

/// The distance of a function's local entry point, from three bits of its symbol.
fn local_entry(file: &object::File, relocation: &object::Relocation) -> u64 {
    let RelocationTarget::Symbol(index) = relocation.target() else { return 0 };
    match file.symbol_by_index(index).map(|symbol| symbol.flags()) {
        Ok(SymbolFlags::Elf { st_other, .. }) if file.architecture() == Architecture::PowerPc64 => {
            match st_other >> 5 {
                code @ 2..=6 => 1 << code,
                _ => 0,
            }
        }
        _ => 0,
    }
}

struct Relocations<'a, 'data> {
    file: &'a object::File<'data>,
    layout: &'a mut Layout,
    /// The slot of the global offset table that holds each address.
    slots: HashMap<u64, u64>,
    /// RISC-V: the address that the upper half at a place is part of.
    high: HashMap<u64, u64>,
    /// RISC-V: lower halves that name the place of their upper half, which may come later: place, named, is a store.
    carries: Vec<(u64, u64, bool)>,
    /// MIPS: upper halves whose lower half is to come: place, target, value so far.
    waiting: Vec<(u64, u64, u64)>,
}

/// `bits` bits of a number from `low` on.
fn field(value: u64, low: u32, bits: u32) -> u32 {
    (value >> low) as u32 & ((1u64 << bits) - 1) as u32
}

/// The upper half that goes with a signed lower half.
fn adjusted(value: u64, bits: u32) -> u64 {
    value.wrapping_add(1 << (bits - 1)) >> bits
}

fn signed(value: u32, bits: u32) -> u64 {
    (i64::from(value) << (64 - bits) >> (64 - bits)) as u64
}

impl Relocations<'_, '_> {
    fn target(&mut self, relocation: &object::Relocation) -> (u64, i64) {
        let target = match relocation.target() {
            RelocationTarget::Symbol(index) => self.file.symbol_by_index(index).ok().map(|symbol| {
                if symbol.is_undefined() {
                    match symbol.name() {
                        Ok(".TOC.") => self.layout.toc(self.file).unwrap_or(0),
                        Ok("_GLOBAL_OFFSET_TABLE_") => self.offset_table(),
                        Ok(name) if !symbol.is_weak() && !name.is_empty() => self.layout.external(name),
                        _ => 0,
                    }
                } else if symbol.is_common() {
                    0
                } else {
                    self.layout.address_of(&symbol)
                }
            }),
            RelocationTarget::Section(index) => self.layout.section(index),
            _ => Some(0),
        };
        (target.unwrap_or(0), relocation.addend())
    }

    /// What the offsets of `@GOTOFF` count from: any address will do, as long as it is one.
    fn offset_table(&mut self) -> u64 {
        self.slot(u64::MAX)
    }

    /// The address of a slot that holds an address.
    fn slot(&mut self, holds: u64) -> u64 {
        if let Some(slot) = self.slots.get(&holds) {
            return *slot;
        }
        let slot = self.layout.room(8);
        self.slots.insert(holds, slot);
        slot
    }

    fn place_slots(&mut self) {
        for (holds, slot) in std::mem::take(&mut self.slots) {
            let wide = self.file.is_64();
            let value = if wide { holds } else { u64::from(holds as u32) };
            let bytes = self.in_order(value, if wide { 8 } else { 4 });
            self.layout.image.segments.push(Segment {
                address: slot,
                bytes,
                executable: false,
                writable: false,
            });
        }
    }

    fn in_order(&self, value: u64, bytes: usize) -> Vec<u8> {
        if self.file.is_little_endian() {
            value.to_le_bytes()[..bytes].to_vec()
        } else {
            value.to_be_bytes()[8 - bytes..].to_vec()
        }
    }

    fn read(&mut self, at: u64, bytes: usize) -> Option<u64> {
        let little = self.file.is_little_endian();
        let found = self.layout.bytes_at(at)?.get(..bytes)?;
        let add = |sum: u64, byte: &u8| sum << 8 | u64::from(*byte);
        Some(if little { found.iter().rev().fold(0, add) } else { found.iter().fold(0, add) })
    }

    fn write(&mut self, at: u64, bytes: usize, value: u64) -> Option<()> {
        let new = self.in_order(value, bytes);
        self.layout.bytes_at(at)?.get_mut(..bytes)?.copy_from_slice(&new);
        Some(())
    }

    /// Replaces the bits under the mask of a word.
    fn patch(&mut self, at: u64, mask: u32, bits: u32) -> Option<()> {
        let word = self.read(at, 4)? as u32;
        self.write(at, 4, u64::from(word & !mask | bits & mask))
    }

    /// A whole number: `bytes` bytes of target plus addend, less the place if `relative`.
    fn whole(&mut self, site: Site, bytes: usize, relative: bool) -> Option<()> {
        let addend = if site.implicit { signed_read(self.read(site.at, bytes)?, bytes) } else { site.addend };
        let value = site.target.wrapping_add(addend as u64);
        self.write(site.at, bytes, if relative { value.wrapping_sub(site.at) } else { value })
    }

    fn one(&mut self, kind: u32, site: Site) -> Option<()> {
        match self.file.architecture() {
            Architecture::X86_64 => self.x86_64(kind, site),
            Architecture::I386 => self.i386(kind, site),
            Architecture::Aarch64 => self.aarch64(kind, site),
            Architecture::Arm => self.arm(kind, site),
            Architecture::Riscv64 => self.riscv(kind, site),
            Architecture::Mips => self.mips(kind, site),
            Architecture::PowerPc => self.powerpc(kind, site),
            Architecture::PowerPc64 => self.powerpc64(kind, site),
            _ => None,
        }
    }

    fn x86_64(&mut self, kind: u32, site: Site) -> Option<()> {
        match kind {
            0 => Some(()),
            1 => self.whole(site, 8, false),
            2 | 4 => self.whole(site, 4, true),
            10 | 11 => self.whole(site, 4, false),
            24 => self.whole(site, 8, true),
            9 | 41 | 42 => {
                let slot = self.slot(site.target);
                self.whole(Site { target: slot, ..site }, 4, true)
            }
            _ => None,
        }
    }

    fn i386(&mut self, kind: u32, site: Site) -> Option<()> {
        match kind {
            0 => Some(()),
            1 => self.whole(site, 4, false),
            2 | 4 | 10 => self.whole(site, 4, true),
            // Offsets of a slot, and of a place, from the table.
            3 | 43 => {
                let offset = self.slot(site.target).wrapping_sub(self.offset_table());
                self.whole(Site { target: offset, ..site }, 4, false)
            }
            9 => {
                let offset = site.target.wrapping_sub(self.offset_table());
                self.whole(Site { target: offset, ..site }, 4, false)
            }
            _ => None,
        }
    }

    fn aarch64(&mut self, kind: u32, site: Site) -> Option<()> {
        let value = site.target.wrapping_add(site.addend as u64);
        let distance = value.wrapping_sub(site.at);
        let page = |value: u64| value & !0xfff;
        let adr = |pages: u64| field(pages, 0, 2) << 29 | field(pages, 2, 19) << 5;
        let offset = |scale: u32| field(value, scale, 12 - scale) << 10;
        match kind {
            0 => Some(()),
            257 => self.whole(site, 8, false),
            258 => self.whole(site, 4, false),
            260 => self.whole(site, 8, true),
            261 => self.whole(site, 4, true),
            274 => self.patch(site.at, 0x60ff_ffe0, adr(distance)),
            275 | 276 => {
                let pages = page(value).wrapping_sub(page(site.at)) >> 12;
                self.patch(site.at, 0x60ff_ffe0, adr(pages))
            }
            277 | 278 => self.patch(site.at, 0x003f_fc00, offset(0)),
            284 => self.patch(site.at, 0x003f_fc00, offset(1)),
            285 => self.patch(site.at, 0x003f_fc00, offset(2)),
            286 => self.patch(site.at, 0x003f_fc00, offset(3)),
            299 => self.patch(site.at, 0x003f_fc00, offset(4)),
            279 => self.patch(site.at, 0x0007_ffe0, field(distance, 2, 14) << 5),
            280 => self.patch(site.at, 0x00ff_ffe0, field(distance, 2, 19) << 5),
            282 | 283 => self.patch(site.at, 0x03ff_ffff, field(distance, 2, 26)),
            311 => {
                let slot = self.slot(value);
                self.patch(site.at, 0x60ff_ffe0, adr(page(slot).wrapping_sub(page(site.at)) >> 12))
            }
            312 => {
                let slot = self.slot(value);
                self.patch(site.at, 0x003f_fc00, field(slot, 3, 9) << 10)
            }
            _ => None,
        }
    }

    fn arm(&mut self, kind: u32, site: Site) -> Option<()> {
        let word = self.read(site.at, 4)? as u32;
        // An addend stands in the instruction.
        let plus = |own: u64| site.target.wrapping_add(if site.implicit { own } else { site.addend as u64 });
        let distance = |own: u64| plus(own).wrapping_sub(site.at);
        let spread = |half: u32| (half & 0xf000) << 4 | half & 0xfff;
        let half = signed(word >> 4 & 0xf000 | word & 0xfff, 16);
        match kind {
            0 | 40 => Some(()),
            2 | 38 => self.whole(site, 4, false),
            3 => self.whole(site, 4, true),
            42 => {
                let value = distance(signed(word, 31));
                self.patch(site.at, 0x7fff_ffff, value as u32)
            }
            1 | 28 | 29 => {
                let value = distance(signed(word & 0xff_ffff, 24) << 2);
                self.patch(site.at, 0x00ff_ffff, field(value, 2, 24))
            }
            43 => self.patch(site.at, 0x000f_0fff, spread(field(plus(half), 0, 16))),
            44 => self.patch(site.at, 0x000f_0fff, spread(field(plus(half), 16, 16))),
            10 | 30 | 47 | 48 => self.thumb(kind, site),
            _ => None,
        }
    }

    /// Thumb instructions are two halves, the upper one first.
    fn thumb(&mut self, kind: u32, site: Site) -> Option<()> {
        let (first, second) = (self.read(site.at, 2)? as u32, self.read(site.at.wrapping_add(2), 2)? as u32);
        let (first, second) = if matches!(kind, 10 | 30) {
            let sign = first >> 10 & 1;
            let invert = |j: u32| (j ^ sign ^ 1) & 1;
            let own = sign << 24
                | invert(second >> 13) << 23
                | invert(second >> 11) << 22
                | (first & 0x3ff) << 12
                | (second & 0x7ff) << 1;
            let addend = if site.implicit { signed(own, 25) } else { site.addend as u64 };
            let value = site.target.wrapping_add(addend).wrapping_sub(site.at);
            let sign = field(value, 24, 1);
            let turned = |bit: u32| (field(value, bit, 1) ^ sign ^ 1) & 1;
            (
                first & !0x7ff | sign << 10 | field(value, 12, 10),
                second & !0x2fff | turned(23) << 13 | turned(22) << 11 | field(value, 1, 11),
            )
        } else {
            let own = (first & 0xf) << 12 | (first >> 10 & 1) << 11 | (second >> 12 & 7) << 8 | second & 0xff;
            let addend = if site.implicit { signed(own, 16) } else { site.addend as u64 };
            let value = site.target.wrapping_add(addend);
            let half = field(value, if kind == 47 { 0 } else { 16 }, 16);
            (
                first & !0x40f | half >> 12 | (half >> 11 & 1) << 10,
                second & !0x70ff | (half >> 8 & 7) << 12 | half & 0xff,
            )
        };
        self.write(site.at, 2, u64::from(first))?;
        self.write(site.at.wrapping_add(2), 2, u64::from(second))
    }

    fn riscv(&mut self, kind: u32, site: Site) -> Option<()> {
        let value = site.target.wrapping_add(site.addend as u64);
        let distance = value.wrapping_sub(site.at);
        let upper = |value: u64| (adjusted(value, 12) as u32) << 12;
        let (into_i, into_s) =
            (|v: u64| field(v, 0, 12) << 20, |v: u64| field(v, 5, 7) << 25 | field(v, 0, 5) << 7);
        match kind {
            // Nothing, alignment, permission to relax.
            0 | 43 | 51 => Some(()),
            1 => self.whole(site, 4, false),
            2 => self.whole(site, 8, false),
            57 => self.whole(site, 4, true),
            16 => {
                let bits = field(distance, 12, 1) << 31
                    | field(distance, 5, 6) << 25
                    | field(distance, 1, 4) << 8
                    | field(distance, 11, 1) << 7;
                self.patch(site.at, 0xfe00_0f80, bits)
            }
            17 => {
                let bits = field(distance, 20, 1) << 31
                    | field(distance, 1, 10) << 21
                    | field(distance, 11, 1) << 20
                    | field(distance, 12, 8) << 12;
                self.patch(site.at, 0xffff_f000, bits)
            }
            18 | 19 => {
                self.patch(site.at, 0xffff_f000, upper(distance))?;
                self.patch(site.at.wrapping_add(4), 0xfff0_0000, into_i(distance))
            }
            20 | 23 => {
                let value = if kind == 20 { self.slot(value) } else { value };
                let distance = value.wrapping_sub(site.at);
                self.high.insert(site.at, distance);
                self.patch(site.at, 0xffff_f000, upper(distance))
            }
            24 | 25 => {
                self.carries.push((site.at, site.target, kind == 25));
                Some(())
            }
            26 => self.patch(site.at, 0xffff_f000, upper(value)),
            27 => self.patch(site.at, 0xfff0_0000, into_i(value)),
            28 => self.patch(site.at, 0xfe00_0f80, into_s(value)),
            33..=40 => {
                let bytes = 1 << ((kind - 33) % 4);
                let old = self.read(site.at, bytes)?;
                let new = if kind < 37 { old.wrapping_add(value) } else { old.wrapping_sub(value) };
                self.write(site.at, bytes, new)
            }
            44 => {
                let bits = field(distance, 8, 1) << 12
                    | field(distance, 3, 2) << 10
                    | field(distance, 6, 2) << 5
                    | field(distance, 1, 2) << 3
                    | field(distance, 5, 1) << 2;
                let half = self.read(site.at, 2)?;
                self.write(site.at, 2, half & !0x1c7c | u64::from(bits))
            }
            45 => {
                let order = [
                    (11, 12),
                    (4, 11),
                    (9, 10),
                    (8, 9),
                    (10, 8),
                    (6, 7),
                    (7, 6),
                    (3, 5),
                    (2, 4),
                    (1, 3),
                    (5, 2),
                ];
                let bits = order.iter().fold(0, |all, (from, to)| all | field(distance, *from, 1) << to);
                let half = self.read(site.at, 2)?;
                self.write(site.at, 2, half & !0x1ffc | u64::from(bits))
            }
            _ => None,
        }
    }

    fn carry_low_halves(&mut self) {
        for (at, upper, is_store) in std::mem::take(&mut self.carries) {
            let Some(distance) = self.high.get(&upper).copied() else { continue };
            let low = field(distance, 0, 12);
            let _ = if is_store {
                self.patch(at, 0xfe00_0f80, low >> 5 << 25 | (low & 31) << 7)
            } else {
                self.patch(at, 0xfff0_0000, low << 20)
            };
        }
        self.high.clear();
    }

    fn mips(&mut self, kind: u32, site: Site) -> Option<()> {
        let word = self.read(site.at, 4)? as u32;
        let own = if site.implicit { signed(word & 0xffff, 16) } else { site.addend as u64 };
        match kind {
            0 | 37 => Some(()),
            2 => self.whole(site, 4, false),
            4 => {
                let own = if site.implicit { u64::from(word & 0x3ff_ffff) << 2 } else { site.addend as u64 };
                self.patch(site.at, 0x03ff_ffff, field(site.target.wrapping_add(own), 2, 26))
            }
            // The upper half is completed by the lower half behind it: most often the next relocation.
            5 => {
                let own = if site.implicit { u64::from(word & 0xffff) << 16 } else { site.addend as u64 };
                let value = site.target.wrapping_add(own);
                self.waiting.push((site.at, site.target, value));
                self.patch(site.at, 0xffff, adjusted(value, 16) as u32)
            }
            6 => {
                let waiting = std::mem::take(&mut self.waiting);
                for (at, target, value) in waiting {
                    if target == site.target {
                        let low = if site.implicit { own } else { 0 };
                        self.patch(at, 0xffff, adjusted(value.wrapping_add(low), 16) as u32)?;
                    } else {
                        self.waiting.push((at, target, value));
                    }
                }
                self.patch(site.at, 0xffff, field(site.target.wrapping_add(own), 0, 16))
            }
            // Distances from the global pointer.
            7 => {
                let gp = self.layout.small_data(self.file)?;
                self.patch(site.at, 0xffff, site.target.wrapping_add(own).wrapping_sub(gp) as u32)
            }
            12 => {
                let gp = self.layout.small_data(self.file)?;
                self.whole(Site { target: site.target.wrapping_sub(gp), ..site }, 4, false)
            }
            10 => {
                let own = if site.implicit { own << 2 } else { own };
                let distance = site.target.wrapping_add(own).wrapping_sub(site.at);
                self.patch(site.at, 0xffff, field(distance, 2, 16))
            }
            _ => None,
        }
    }

    fn powerpc(&mut self, kind: u32, site: Site) -> Option<()> {
        let value = site.target.wrapping_add(site.addend as u64);
        let distance = value.wrapping_sub(site.at);
        match kind {
            0 => Some(()),
            1 => self.whole(site, 4, false),
            26 => self.whole(site, 4, true),
            3 | 4 => self.write(site.at, 2, value & 0xffff),
            5 => self.write(site.at, 2, value >> 16 & 0xffff),
            6 => self.write(site.at, 2, adjusted(value, 16) & 0xffff),
            250 => self.write(site.at, 2, distance & 0xffff),
            251 => self.write(site.at, 2, distance >> 16 & 0xffff),
            252 => self.write(site.at, 2, adjusted(distance, 16) & 0xffff),
            10 | 23 => self.patch(site.at, 0x03ff_fffc, distance as u32),
            // The addend tells the linker which table of addresses is in use, which a direct call does not need.
            18 => self.patch(site.at, 0x03ff_fffc, site.target.wrapping_sub(site.at) as u32),
            11 => self.patch(site.at, 0xfffc, distance as u32),
            _ => None,
        }
    }

    fn powerpc64(&mut self, kind: u32, site: Site) -> Option<()> {
        let value = site.target.wrapping_add(site.addend as u64);
        let toc = self.layout.toc(self.file);
        // The two lowest bits of a displacement of doublewords belong to the opcode.
        let mut aligned = |value: u64| {
            let old = self.read(site.at, 2)?;
            self.write(site.at, 2, old & 3 | value & 0xfffc)
        };
        match kind {
            38 => self.whole(site, 8, false),
            44 => self.whole(site, 8, true),
            47 | 48 => self.write(site.at, 2, value.wrapping_sub(toc?) & 0xffff),
            49 => self.write(site.at, 2, value.wrapping_sub(toc?) >> 16 & 0xffff),
            50 => self.write(site.at, 2, adjusted(value.wrapping_sub(toc?), 16) & 0xffff),
            51 => self.write(site.at, 8, toc?),
            56 | 57 => aligned(value),
            63 | 64 => aligned(value.wrapping_sub(toc?)),
            10 | 11 => {
                let code = self.described(value).unwrap_or(value);
                let target = code.wrapping_add(site.local_entry);
                self.powerpc(kind, Site { target, addend: 0, ..site })
            }
            18 | 23 => None,
            _ => self.powerpc(kind, site),
        }
    }

    /// Where the code of the function lies whose descriptor is at an address; nothing where there is no descriptor.
    fn described(&self, address: u64) -> Option<u64> {
        let section = self.file.section_by_name(DESCRIPTORS)?;
        let start = self.layout.section(section.index())?;
        let is_there = (start..start.saturating_add(section.size())).contains(&address);
        if is_there { self.layout.word_at(self.file, address) } else { None }
    }

    /// What the dynamic linker would do to a file that lies where it says: functions of other files get addresses that
    /// stand for them. What else it might do concerns data that the program could change.
    fn dynamic(&mut self, at: u64, relocation: &object::Relocation) {
        let kind = number(relocation.flags());
        let bytes = if self.file.is_64() { 8 } else { 4 };
        let (relative, whole): (u32, &[u32]) = match self.file.architecture() {
            Architecture::X86_64 => (8, &[1, 6, 7]),
            Architecture::I386 => (8, &[1, 6, 7]),
            Architecture::Aarch64 => (1027, &[257, 1025, 1026]),
            Architecture::Arm => (23, &[2, 21, 22]),
            Architecture::Riscv64 => (3, &[2, 5]),
            Architecture::PowerPc | Architecture::PowerPc64 => (22, &[1, 38, 20, 21]),
            _ => return,
        };
        let addend = if relocation.has_implicit_addend() { 0 } else { relocation.addend() as u64 };
        if kind == relative && !relocation.has_implicit_addend() {
            let _ = self.write(at, bytes, addend);
        } else if whole.contains(&kind)
            && let RelocationTarget::Symbol(index) = relocation.target()
            && let Some(symbol) =
                self.file.dynamic_symbol_table().and_then(|table| table.symbol_by_index(index).ok())
        {
            let target = match symbol.name() {
                Ok(name) if symbol.is_undefined() && !name.is_empty() => self.layout.external(name),
                _ => symbol.address(),
            };
            let _ = self.write(at, bytes, target.wrapping_add(addend));
        }
    }
}

fn signed_read(value: u64, bytes: usize) -> i64 {
    let shift = 64 - 8 * bytes as u32;
    (value << shift) as i64 >> shift
}
