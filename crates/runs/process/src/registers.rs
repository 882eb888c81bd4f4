//! The register file of a running program: flat bytes, each value lowest byte first whatever the processor's order.
//!
//! A specification spreads its registers over a wide range of offsets; here the gaps are left out. On a big-endian
//! processor the whole file is kept mirrored: the place of `n` bytes at `o` in a file of `size` bytes is
//! `size - o - n`. Registers overlap exactly as before, and the host reads each as an ordinary number.

use parallax_ir::{Processor, Space, Varnode};
use parallax_sem::ByteOrder;
use std::rc::Rc;

/// Room for the temporaries of one block of instructions, behind the registers.
pub const TEMPORARIES: usize = 32 * 1024;

/// Registers at lower offsets than this are found in one step; those of the bundled processors are.
const DIRECT: u64 = 1 << 16;

/// A register file and its description.
#[derive(Clone)]
pub struct Registers {
    processor: Rc<Processor>,
    /// Runs of offsets without gaps, in order: first, one past the last, and where the run starts in the file.
    runs: Rc<[(u64, u64, usize)]>,
    /// For each offset: where it is in the file, and how many bytes from there on belong to the same run.
    direct: Rc<[(u16, u16)]>,
    size: usize,
    bytes: Box<[u8]>,
}

impl Registers {
    /// All zero.
    pub fn new(processor: Rc<Processor>) -> Self {
        let mut runs: Vec<(u64, u64, usize)> = Vec::new();
        let mut size = 0usize;
        for cell in &processor.cells {
            match runs.last_mut() {
                Some((_, end, _)) if *end == cell.place.offset => *end = cell.place.end(),
                _ => {
                    size = size.next_multiple_of(16) + (cell.place.offset % 16) as usize;
                    runs.push((cell.place.offset, cell.place.end(), size));
                }
            }
            size += usize::from(cell.place.bytes);
        }
        let size = size.next_multiple_of(64);
        // Places are numbers of 16 bits in translated code. No known processor comes near; a user's own might.
        assert!(size + TEMPORARIES + 64 <= 1 << 16, "{} has too many registers", processor.name);
        let last = runs.last().map_or(0, |(_, end, _)| *end);
        let mut direct = vec![(0, 0); last.min(DIRECT) as usize];
        for (start, end, base) in &runs {
            for offset in *start..(*end).min(DIRECT) {
                let at = base + (offset - start) as usize;
                direct[offset as usize] = (at as u16, (end - offset).min(u64::from(u16::MAX)) as u16);
            }
        }
        let bytes = vec![0; size + TEMPORARIES + 64].into();
        Registers { processor, runs: runs.into(), direct: direct.into(), size, bytes }
    }

    /// The processor whose registers these are.
    pub fn processor(&self) -> &Rc<Processor> {
        &self.processor
    }

    /// Where a register of the description is in [`Registers::bytes`]; none if it is not one.
    pub fn offset(&self, place: Varnode) -> Option<usize> {
        debug_assert!(place.space == Space::Register);
        let at = match self.direct.get(place.offset as usize) {
            Some((_, left)) if place.bytes > *left => return None,
            Some((at, _)) => usize::from(*at),
            None => self.distant(place)?,
        };
        Some(match self.processor.order {
            ByteOrder::Little => at,
            ByteOrder::Big => self.size - at - usize::from(place.bytes),
        })
    }

    /// The same for an offset beyond the table.
    fn distant(&self, place: Varnode) -> Option<usize> {
        let after = self.runs.partition_point(|(start, _, _)| *start <= place.offset);
        let (start, end, base) = *self.runs.get(after.checked_sub(1)?)?;
        (place.end() <= end).then(|| base + (place.offset - start) as usize)
    }

    /// Where the temporaries start.
    pub fn temporaries(&self) -> usize {
        self.size
    }

    /// The registers, then the temporaries.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The registers, then the temporaries.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.bytes
    }

    /// The registers alone: what a snapshot has to keep.
    pub fn contents(&self) -> &[u8] {
        &self.bytes[..self.size]
    }

    /// Puts back what [`Registers::contents`] gave.
    pub fn restore(&mut self, contents: &[u8]) {
        self.bytes[..self.size].copy_from_slice(contents);
    }

    /// The low 64 bits of a register.
    ///
    /// # Panics
    /// If the processor has no register of that name: names come from this crate, never from a user.
    pub fn get(&self, name: &str) -> u64 {
        let mut low = [0; 8];
        let found = self.get_bytes(name);
        let kept = found.len().min(8);
        low[..kept].copy_from_slice(&found[..kept]);
        u64::from_le_bytes(low)
    }

    /// Sets a register to a number, cut or zero-extended to fit.
    pub fn set(&mut self, name: &str, value: u64) {
        let place = self.place(name);
        let target = &mut self.bytes[place];
        target.fill(0);
        let kept = target.len().min(8);
        target[..kept].copy_from_slice(&value.to_le_bytes()[..kept]);
    }

    /// The bytes of a register, lowest first.
    pub fn get_bytes(&self, name: &str) -> &[u8] {
        &self.bytes[self.place(name)]
    }

    /// Sets the bytes of a register, lowest first.
    pub fn set_bytes(&mut self, name: &str, bytes: &[u8]) {
        let place = self.place(name);
        self.bytes[place].copy_from_slice(bytes);
    }

    /// Whether the processor has a register of that name.
    pub fn has(&self, name: &str) -> bool {
        self.processor.register(name).is_some()
    }

    fn place(&self, name: &str) -> std::ops::Range<usize> {
        let Some(register) = self.processor.register(name) else {
            panic!("{} has no register {name}", self.processor.name)
        };
        let start = self.offset(register.place).expect("a register of the description");
        start..start + usize::from(register.place.bytes)
    }
}
