//! Core files as states, and GDB's word for what is in them.

use parallax_symbols::{Module, State, Symbols};
use std::collections::BTreeMap;
use std::path::Path;

/// A core file of x86-64.
pub struct Core {
    bytes: Vec<u8>,
    /// Address, offset in the core, length.
    segments: Vec<(u64, usize, usize)>,
    /// Start, end, offset in the file, its name.
    files: Vec<(u64, u64, u64, String)>,
    contents: BTreeMap<String, Vec<u8>>,
    registers: BTreeMap<u16, u128>,
    pc: u64,
}

fn word(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap())
}

fn half(bytes: &[u8], at: usize) -> usize {
    u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize
}

impl Core {
    pub fn open(path: &Path) -> Core {
        let bytes = std::fs::read(path).unwrap();
        let (table, count) = (word(&bytes, 32) as usize, u16::from_le_bytes([bytes[56], bytes[57]]) as usize);
        let mut core = Core {
            segments: Vec::new(),
            files: Vec::new(),
            contents: BTreeMap::new(),
            registers: BTreeMap::new(),
            pc: 0,
            bytes: Vec::new(),
        };
        for number in 0..count {
            let at = table + 56 * number;
            let (offset, address, size) =
                (word(&bytes, at + 8) as usize, word(&bytes, at + 16), word(&bytes, at + 32) as usize);
            match half(&bytes, at) {
                1 => core.segments.push((address, offset, size)),
                4 => core.notes(&bytes[offset..offset + size]),
                _ => {}
            }
        }
        for (.., name) in &core.files {
            if let Ok(contents) = std::fs::read(name) {
                core.contents.insert(name.clone(), contents);
            }
        }
        core.bytes = bytes;
        core
    }

    fn notes(&mut self, mut notes: &[u8]) {
        while notes.len() >= 12 {
            let (name, size, kind) = (half(notes, 0), half(notes, 4), half(notes, 8));
            let start = 12 + name.next_multiple_of(4);
            let note = &notes[start..start + size];
            match kind {
                // The first thread's.
                1 if self.registers.is_empty() => self.status(note),
                2 if !self.registers.contains_key(&17) => {
                    for number in 0..16 {
                        let at = 160 + 16 * number;
                        self.registers.insert(
                            17 + number as u16,
                            u128::from_le_bytes(note[at..at + 16].try_into().unwrap()),
                        );
                    }
                }
                0x4649_4c45 => {
                    let count = word(note, 0) as usize;
                    let mut names = note[16 + 24 * count..].split(|byte| *byte == 0);
                    for number in 0..count {
                        let at = 16 + 24 * number;
                        let name = String::from_utf8_lossy(names.next().unwrap()).into_owned();
                        let page = word(note, 8);
                        self.files.push((
                            word(note, at),
                            word(note, at + 8),
                            word(note, at + 16) * page,
                            name,
                        ));
                    }
                }
                _ => {}
            }
            notes = &notes[(start + size.next_multiple_of(4)).min(notes.len())..];
        }
    }

    fn status(&mut self, note: &[u8]) {
        // The DWARF numbers of the registers as the kernel orders them.
        let order = [15, 14, 13, 12, 6, 3, 11, 10, 9, 8, 0, 2, 1, 4, 5, 999, 16, 999, 999, 7, 999, 58, 59];
        for (index, number) in order.into_iter().enumerate() {
            let value = word(note, 112 + 8 * index);
            if number == 16 {
                self.pc = value;
            }
            self.registers.insert(number, value.into());
        }
        self.registers.remove(&999);
    }

    pub fn symbols(&self) -> Symbols {
        let mut modules = Vec::new();
        for (start, _, offset, name) in &self.files {
            if *offset == 0
                && let Some(bytes) = self.contents.get(name)
                && !modules.iter().any(|module: &Module| *module.name == **name)
            {
                let is_fixed = bytes[16] == 2;
                if let Ok(module) = Module::read(name, bytes, None, if is_fixed { 0 } else { *start }) {
                    modules.push(module);
                }
            }
        }
        Symbols::new(modules)
    }
}

impl State for Core {
    fn pc(&self) -> u64 {
        self.pc
    }

    fn register(&self, number: u16) -> Option<u128> {
        self.registers.get(&number).copied()
    }

    fn read(&self, address: u64, into: &mut [u8]) -> bool {
        for (index, byte) in into.iter_mut().enumerate() {
            let address = address.wrapping_add(index as u64);
            let segment = self
                .segments
                .iter()
                .find(|(start, _, size)| address >= *start && address - start < *size as u64);
            let file = self.files.iter().find(|(start, end, ..)| (*start..*end).contains(&address));
            *byte = match (segment, file) {
                (Some((start, offset, _)), _) => self.bytes[offset + (address - start) as usize],
                (None, Some((start, _, offset, name))) => {
                    match self
                        .contents
                        .get(name)
                        .and_then(|bytes| bytes.get((address - start + offset) as usize))
                    {
                        Some(byte) => *byte,
                        None => return false,
                    }
                }
                _ => return false,
            };
        }
        true
    }
}
