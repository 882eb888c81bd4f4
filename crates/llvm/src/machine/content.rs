//! What an object holds: known bytes, and cells for everything that is not a known byte.
//!
//! Invariant: cells do not overlap, and a byte that a cell covers is not known. A byte that is neither has never been
//! written; what it then reads as is the object's [`Fill`].

use super::host::Host;
use super::value::Value;
use parallax_op::Bits;
use parallax_sem::Core;
use std::collections::BTreeMap;

/// What bytes read as that nothing has written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fill {
    /// Zero.
    Zero,
    /// Anything, and a mistake if it matters.
    Undefined,
    /// Input: anything, and fine. The number is the host's.
    Input(u32),
}

/// A value at a place.
pub struct Cell<C: Core> {
    /// How many bytes it covers.
    pub len: u64,
    /// Bits of eight times as many bits, or a pointer of eight bytes.
    pub value: Value<C>,
}

impl<C: Core> Clone for Cell<C> {
    fn clone(&self) -> Self {
        Cell { len: self.len, value: self.value.clone() }
    }
}

/// What an object holds.
pub struct Content<C: Core> {
    bytes: Vec<u8>,
    known: Vec<u64>,
    cells: BTreeMap<u64, Cell<C>>,
    /// What the rest reads as.
    pub fill: Fill,
}

impl<C: Core> Clone for Content<C> {
    fn clone(&self) -> Self {
        Content {
            bytes: self.bytes.clone(),
            known: self.known.clone(),
            cells: self.cells.clone(),
            fill: self.fill,
        }
    }
}

impl<C: Core> Content<C> {
    /// Nothing written yet.
    pub fn new(fill: Fill) -> Self {
        Content { bytes: Vec::new(), known: Vec::new(), cells: BTreeMap::new(), fill }
    }

    /// Cells in order of place.
    pub fn cells(&self) -> impl Iterator<Item = (u64, &Cell<C>)> {
        self.cells.iter().map(|(&at, cell)| (at, cell))
    }

    fn is_known(&self, at: u64) -> bool {
        self.known.get((at / 64) as usize).is_some_and(|word| word >> (at % 64) & 1 == 1)
    }

    fn all_known(&self, at: u64, len: u64) -> bool {
        let (first, last) = (at / 64, (at + len - 1) / 64);
        if first == last {
            let mask = if len == 64 { u64::MAX } else { ((1u64 << len) - 1) << (at % 64) };
            return self.known.get(first as usize).is_some_and(|word| word & mask == mask);
        }
        (at..at + len).all(|byte| self.is_known(byte))
    }

    fn set_known(&mut self, at: u64, len: u64, value: bool) {
        for byte in at..at + len {
            if let Some(word) = self.known.get_mut((byte / 64) as usize) {
                if value {
                    *word |= 1 << (byte % 64);
                } else {
                    *word &= !(1 << (byte % 64));
                }
            }
        }
    }

    /// The cell that covers a byte.
    fn cell_at(&self, at: u64) -> Option<(u64, &Cell<C>)> {
        let (&start, cell) = self.cells.range(..=at).next_back()?;
        (start + cell.len > at).then_some((start, cell))
    }

    fn overlaps(&self, at: u64, len: u64) -> bool {
        if self.cells.is_empty() {
            return false;
        }
        self.cells.range(..at + len).next_back().is_some_and(|(&start, cell)| start + cell.len > at)
    }

    /// The first byte in a range that nothing has written.
    pub fn first_missing(&self, at: u64, len: u64) -> Option<u64> {
        if self.fill == Fill::Zero || len == 0 {
            return None;
        }
        if !self.overlaps(at, len) {
            if self.all_known(at, len) {
                return None;
            }
            return (at..at + len).find(|&byte| !self.is_known(byte));
        }
        (at..at + len).find(|&byte| !self.is_known(byte) && self.cell_at(byte).is_none())
    }

    /// Known bytes of a range; `None` when a cell or an unwritten byte is among them.
    pub fn constant(&self, at: u64, len: u64) -> Option<Vec<u8>> {
        if self.overlaps(at, len) || self.first_missing(at, len).is_some() {
            return None;
        }
        Some((at..at + len).map(|byte| self.byte(byte)).collect())
    }

    fn byte(&self, at: u64) -> u8 {
        self.bytes.get(at as usize).copied().unwrap_or(0)
    }

    /// Bits or pointer of a range of at most 64 bytes, all of which are written or read as zero.
    pub fn read<H: Host<C>>(&self, host: &H, at: u64, len: u64) -> Value<C> {
        let core = host.core();
        if !self.overlaps(at, len) {
            return Value::Bits(core.constant(&self.known_bits(at, len)));
        }
        if let Some(cell) = self.cells.get(&at)
            && cell.len == len
        {
            return cell.value.clone();
        }
        // Little-endian: later bytes are higher. Runs within one cell are taken at once.
        let mut result: Option<(C::Val, u16)> = None;
        let mut byte = at;
        while byte < at + len {
            let (part, width) = match self.cell_at(byte) {
                Some((start, cell)) => {
                    let upto = (start + cell.len).min(at + len);
                    let bits = super::pointers::numeric(host, &cell.value);
                    let width = ((upto - byte) * 8) as u16;
                    let part = core.extract((cell.len * 8) as u16, ((byte - start) * 8) as u16, width, &bits);
                    byte = upto;
                    (part, width)
                }
                None => {
                    let next =
                        self.cells.range(byte..).next().map_or(at + len, |(&start, _)| start.min(at + len));
                    let bits = self.known_bits(byte, next - byte);
                    byte = next;
                    (core.constant(&bits), bits.width())
                }
            };
            result = Some(match result {
                None => (part, width),
                Some((low, low_width)) => (core.concat(width, low_width, &part, &low), width + low_width),
            });
        }
        Value::Bits(result.expect("at least one byte is read").0)
    }

    fn known_bits(&self, at: u64, len: u64) -> Bits {
        let width = (len * 8) as u16;
        if len <= 16 {
            let mut value = 0u128;
            for index in 0..len {
                value |= u128::from(self.byte(at + index)) << (8 * index);
            }
            return Bits::new(width, value);
        }
        let bytes: Vec<u8> = (at..at + len).map(|byte| self.byte(byte)).collect();
        Bits::from_big(width, num_bigint::BigUint::from_bytes_le(&bytes))
    }

    /// Writes bits or a pointer over `len` bytes.
    pub fn write<H: Host<C>>(&mut self, host: &H, at: u64, len: u64, value: Value<C>) {
        self.make_room(host, at, len);
        match &value {
            Value::Bits(bits) => {
                if let Some(constant) = host.value((len * 8) as u16, bits) {
                    let bytes = match constant.small() {
                        Some(small) => small.to_le_bytes()[..len.min(16) as usize].to_vec(),
                        None => {
                            let mut bytes = constant.to_big().to_bytes_le();
                            bytes.resize(len as usize, 0);
                            bytes
                        }
                    };
                    self.write_known(at, &bytes);
                    return;
                }
            }
            Value::Pointer(_) => debug_assert_eq!(len, 8),
            Value::Many(_) => unreachable!("aggregates are written element by element"),
        }
        self.set_known(at, len, false);
        self.cells.insert(at, Cell { len, value });
    }

    /// Writes known bytes.
    pub fn write_bytes<H: Host<C>>(&mut self, host: &H, at: u64, bytes: &[u8]) {
        if !bytes.is_empty() {
            self.make_room(host, at, bytes.len() as u64);
            self.write_known(at, bytes);
        }
    }

    fn write_known(&mut self, at: u64, bytes: &[u8]) {
        let end = at as usize + bytes.len();
        if self.bytes.len() < end {
            self.bytes.resize(end, 0);
            self.known.resize(end.div_ceil(64), 0);
        }
        self.bytes[at as usize..end].copy_from_slice(bytes);
        self.set_known(at, bytes.len() as u64, true);
    }

    /// Removes cells in a range; what they hold outside it stays, byte by byte.
    fn make_room<H: Host<C>>(&mut self, host: &H, at: u64, len: u64) {
        while self.overlaps(at, len) {
            let (&start, _) = self.cells.range(..at + len).next_back().expect("an overlapping cell");
            let cell = self.cells.remove(&start).expect("the cell just seen");
            if start >= at && start + cell.len <= at + len {
                continue;
            }
            let core = host.core();
            let bits = super::pointers::numeric(host, &cell.value);
            for index in 0..cell.len {
                let byte = start + index;
                if byte < at || byte >= at + len {
                    let part = core.extract((cell.len * 8) as u16, (index * 8) as u16, 8, &bits);
                    if let Some(constant) = host.value(8, &part).and_then(|bits| bits.to_u64()) {
                        self.write_known(byte, &[constant as u8]);
                    } else {
                        self.set_known(byte, 1, false);
                        self.cells.insert(byte, Cell { len: 1, value: Value::Bits(part) });
                    }
                }
            }
        }
    }

    /// The pieces of a range, each a run of known bytes, a cell within it, or unwritten: what a copy moves.
    pub fn pieces(&self, at: u64, len: u64) -> Vec<(u64, Piece<C>)> {
        let mut pieces = Vec::new();
        let mut byte = at;
        let end = at + len;
        while byte < end {
            if let Some((start, cell)) = self.cell_at(byte) {
                if start == byte && start + cell.len <= end {
                    pieces.push((byte - at, Piece::Cell(cell.clone())));
                    byte += cell.len;
                } else {
                    let upto = (start + cell.len).min(end);
                    pieces.push((byte - at, Piece::Part { start, cell: cell.clone(), from: byte, upto }));
                    byte = upto;
                }
                continue;
            }
            let stop = self.cells.range(byte..).next().map_or(end, |(&start, _)| start.min(end));
            let known = self.is_known(byte) || self.fill == Fill::Zero;
            let mut run = byte + 1;
            while run < stop && (self.is_known(run) || self.fill == Fill::Zero) == known {
                run += 1;
            }
            let piece = if known {
                Piece::Known((byte..run).map(|b| self.byte(b)).collect())
            } else {
                Piece::Missing(run - byte)
            };
            pieces.push((byte - at, piece));
            byte = run;
        }
        pieces
    }

    /// Forgets what a range holds.
    pub fn forget<H: Host<C>>(&mut self, host: &H, at: u64, len: u64) {
        self.make_room(host, at, len);
        self.set_known(at, len, false);
        if self.fill == Fill::Zero {
            // Unwritten bytes of such an object read as zero: nothing can be forgotten, only zeroed.
            let end = (at + len) as usize;
            let upto = end.min(self.bytes.len());
            if (at as usize) < upto {
                self.bytes[at as usize..upto].fill(0);
            }
        }
    }
}

/// A part of what an object holds.
pub enum Piece<C: Core> {
    /// Known bytes.
    Known(Vec<u8>),
    /// A whole cell.
    Cell(Cell<C>),
    /// Part of a cell that starts at `start`: the bytes `from` to `upto` of the object.
    Part {
        /// Where the cell starts.
        start: u64,
        /// The cell.
        cell: Cell<C>,
        /// First byte.
        from: u64,
        /// One past the last byte.
        upto: u64,
    },
    /// Bytes nothing has written.
    Missing(u64),
}
