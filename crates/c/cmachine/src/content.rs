//! What an object holds: known bytes, and cells for everything that is not a known byte.
//!
//! Invariant: cells do not overlap, and a byte that a cell covers is not known. A byte that is neither has never been
//! written; what it then reads as is what the object's [`Log`] says, where there is one, and else its [`Fill`].

use super::host::Oracle;
use super::log::Log;
use super::value::Value;
use parallax_op::Bits;
use parallax_sem::Core;
use std::collections::BTreeMap;
use std::sync::Arc;

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
#[derive(Clone)]
pub struct Cell<C: Core> {
    /// How many bytes it covers.
    pub len: u64,
    /// Bits of eight times as many bits, or a pointer of eight bytes.
    pub value: Value<C>,
}

impl<C: Core> Cell<C> {
    /// One byte of it.
    fn byte<H: Oracle<C>>(&self, host: &H, index: u64) -> Value<C> {
        match &self.value {
            Value::Bits(bits) => {
                Value::Bits(host.core().extract((self.len * 8) as u16, (index * 8) as u16, 8, bits))
            }
            Value::Pointer(pointer) => Value::Part(Arc::new(pointer.clone()), index as u8),
            whole => whole.clone(),
        }
    }
}

/// What a read finds: one value, or parts of several that are yet to be put together.
pub enum Raw<C: Core> {
    /// One value.
    Value(Value<C>),
    /// The lowest bytes first.
    Parts(Vec<Fragment<C>>),
}

/// Some bits of a value.
pub struct Fragment<C: Core> {
    /// The value.
    pub value: Value<C>,
    /// How many bits it has.
    pub whole: u16,
    /// The lowest bit that is meant.
    pub low: u16,
    /// How many bits are meant.
    pub width: u16,
}

/// What an object holds.
#[derive(Clone)]
pub struct Content<C: Core> {
    bytes: Vec<u8>,
    known: Vec<u64>,
    cells: BTreeMap<u64, Cell<C>>,
    /// What the rest reads as, unless there is a log.
    pub fill: Fill,
    /// Writes at places that are not constant, older than everything above.
    pub log: Option<Log<C>>,
    /// What unwritten bytes hold, by offset, once they are read at a place that is not constant.
    pub hidden: Option<C::Map>,
}

/// What a range of bytes holds, where that is the same for all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Run {
    /// Nothing is written.
    Missing,
    /// One known byte.
    Same(u8),
    /// Anything else.
    Mixed,
}

impl<C: Core> Content<C> {
    /// Nothing written yet.
    pub fn new(fill: Fill) -> Self {
        Content {
            bytes: Vec::new(),
            known: Vec::new(),
            cells: BTreeMap::new(),
            fill,
            log: None,
            hidden: None,
        }
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

    /// Whether unwritten bytes are zero.
    fn zeroed(&self) -> bool {
        self.fill == Fill::Zero && self.log.is_none()
    }

    /// What a range holds, where that is the same throughout.
    pub(super) fn run(&self, at: u64, len: u64) -> Run {
        if self.overlaps(at, len) {
            return Run::Mixed;
        }
        let state = |byte: u64| (self.is_known(byte) || self.zeroed()).then(|| self.byte(byte));
        let first = state(at);
        // Beyond the last known byte they are all alike.
        let end = (at + len).min((self.bytes.len() as u64).max(at) + 1);
        if state(end - 1) != first || !(at..end).all(|byte| state(byte) == first) {
            return Run::Mixed;
        }
        first.map_or(Run::Missing, Run::Same)
    }

    /// Whether nothing is written here: everything is as the log says.
    pub(super) fn is_blank(&self) -> bool {
        self.cells.is_empty() && self.known.iter().all(|&word| word == 0)
    }

    /// The first byte in a range that nothing has written.
    pub fn first_missing(&self, at: u64, len: u64) -> Option<u64> {
        if self.zeroed() || len == 0 {
            return None;
        }
        if !self.overlaps(at, len) {
            if self.all_known(at, len) {
                return None;
            }
            return (at..at + len).find(|&byte| !self.is_known(byte));
        }
        let (mut byte, end) = (at, at + len);
        while byte < end {
            if self.is_known(byte) {
                byte += 1;
                continue;
            }
            match self.cell_at(byte) {
                Some((start, cell)) => byte = start + cell.len,
                None => return Some(byte),
            }
        }
        None
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

    /// A range of at most 64 bytes, all of which are written or read as zero.
    pub fn read<H: Oracle<C>>(&self, host: &H, at: u64, len: u64) -> Raw<C> {
        let core = host.core();
        if !self.overlaps(at, len) {
            return Raw::Value(Value::Bits(core.constant(&self.known_bits(at, len))));
        }
        if let Some(cell) = self.cells.get(&at)
            && cell.len == len
        {
            return Raw::Value(cell.value.clone());
        }
        if let Some(pointer) = self.reassembled(host, at, len) {
            return Raw::Value(pointer);
        }
        // Little-endian: later bytes are higher. Runs within one cell are taken at once.
        let mut parts = Vec::new();
        let mut byte = at;
        while byte < at + len {
            match self.cell_at(byte) {
                Some((start, cell)) => {
                    let upto = (start + cell.len).min(at + len);
                    if let (Value::Pointer(pointer), 1) = (&cell.value, len) {
                        return Raw::Value(Value::Part(Arc::new(pointer.clone()), (byte - start) as u8));
                    }
                    parts.push(Fragment {
                        value: cell.value.clone(),
                        whole: (cell.len * 8) as u16,
                        low: ((byte - start) * 8) as u16,
                        width: ((upto - byte) * 8) as u16,
                    });
                    byte = upto;
                }
                None => {
                    let next =
                        self.cells.range(byte..).next().map_or(at + len, |(&start, _)| start.min(at + len));
                    let bits = self.known_bits(byte, next - byte);
                    let (value, whole) = (Value::Bits(core.constant(&bits)), bits.width());
                    parts.push(Fragment { value, whole, low: 0, width: whole });
                    byte = next;
                }
            }
        }
        Raw::Parts(parts)
    }

    /// The pointer that eight bytes are, when they are its bytes 0 to 7.
    fn reassembled<H: Oracle<C>>(&self, host: &H, at: u64, len: u64) -> Option<Value<C>> {
        if len != 8 {
            return None;
        }
        let mut found: Option<&Arc<super::Pointer<C>>> = None;
        for byte in 0..8u8 {
            let Value::Part(pointer, number) = &self.cells.get(&(at + u64::from(byte)))?.value else {
                return None;
            };
            if *number != byte {
                return None;
            }
            match found {
                None => found = Some(pointer),
                Some(first) => {
                    if !Arc::ptr_eq(first, pointer) && !super::pointers::same(host, first, pointer) {
                        return None;
                    }
                }
            }
        }
        found.map(|pointer| Value::Pointer((**pointer).clone()))
    }

    fn known_bits(&self, at: u64, len: u64) -> Bits {
        let bytes: smallvec::SmallVec<[u8; 16]> = (at..at + len).map(|byte| self.byte(byte)).collect();
        Bits::from_le_bytes(&bytes)
    }

    /// Whether a range holds a pointer, or a part of one, that nobody has followed yet.
    pub(super) fn holds_token(&self, at: u64, len: u64) -> bool {
        let is_token = |pointer: &super::Pointer<C>| {
            pointer.entries.iter().any(|entry| matches!(entry.target, super::Target::Token(_)))
        };
        let mut cells =
            self.cells.range(..at + len).rev().take_while(|(start, cell)| **start + cell.len > at);
        cells.any(|(_, cell)| match &cell.value {
            Value::Pointer(pointer) => is_token(pointer),
            Value::Part(pointer, _) => is_token(pointer),
            Value::Bits(_) | Value::Many(_) => false,
        })
    }

    /// What the one cell holds that covers these bytes and no others.
    pub(super) fn cell(&self, at: u64, len: u64) -> Option<&Value<C>> {
        self.cells.get(&at).filter(|cell| cell.len == len).map(|cell| &cell.value)
    }

    /// Places, as (start, length), where two contents may differ.
    pub fn differences(&self, other: &Self) -> Vec<(u64, u64)> {
        let mut cells: Vec<(u64, u64)> =
            self.cells().chain(other.cells()).map(|(at, cell)| (at, at + cell.len)).collect();
        cells.sort_unstable();
        let mut places: Vec<(u64, u64)> = Vec::new();
        for (start, end) in cells {
            match places.last_mut() {
                Some(last) if start < last.1 => last.1 = last.1.max(end),
                _ => places.push((start, end)),
            }
        }
        let byte =
            |content: &Self, at: u64| (content.is_known(at) || content.zeroed()).then(|| content.byte(at));
        let len = self.bytes.len().max(other.bytes.len()) as u64;
        let covered = places.len();
        let (mut at, mut next) = (0, 0);
        while at < len {
            while next < covered && places[next].1 <= at {
                next += 1;
            }
            if next < covered && places[next].0 <= at {
                at = places[next].1;
                continue;
            }
            if byte(self, at) == byte(other, at) {
                at += 1;
                continue;
            }
            // Four bytes together where nothing is in the way: most numbers are such.
            let word = at.is_multiple_of(4)
                && at + 4 <= len
                && (next == covered || at + 4 <= places[next].0)
                && (at..at + 4).all(|b| byte(self, b).is_some() && byte(other, b).is_some());
            let end = if word { at + 4 } else { at + 1 };
            places.push((at, end));
            at = end;
        }
        places.into_iter().map(|(start, end)| (start, end - start)).collect()
    }

    /// Writes bits or a pointer over `len` bytes.
    pub fn write<H: Oracle<C>>(&mut self, host: &H, at: u64, len: u64, value: Value<C>) {
        self.make_room(host, at, len);
        match &value {
            Value::Bits(bits) => {
                if let Some(constant) = host.value((len * 8) as u16, bits) {
                    let mut bytes = vec![0; len as usize];
                    constant.write_le_bytes(&mut bytes);
                    self.write_known(host, at, &bytes);
                    return;
                }
            }
            Value::Pointer(_) => debug_assert_eq!(len, 8),
            Value::Part(..) => debug_assert_eq!(len, 1),
            Value::Many(_) => unreachable!("aggregates are written element by element"),
        }
        self.set_known(at, len, false);
        self.cells.insert(at, Cell { len, value });
    }

    /// Writes known bytes.
    pub fn write_bytes<H: Oracle<C>>(&mut self, host: &H, at: u64, bytes: &[u8]) {
        if !bytes.is_empty() {
            self.make_room(host, at, bytes.len() as u64);
            self.write_known(host, at, bytes);
        }
    }

    fn write_known<H: Oracle<C>>(&mut self, host: &H, at: u64, bytes: &[u8]) {
        if at + bytes.len() as u64 > super::DENSE.max(self.bytes.len() as u64) {
            // Far out, few bytes are ever written: cells hold them.
            for (place, part) in (at..).step_by(8).zip(bytes.chunks(8)) {
                let number = part.iter().rev().fold(0u128, |all, &byte| all << 8 | u128::from(byte));
                let constant = host.core().constant(&Bits::new(part.len() as u16 * 8, number));
                self.cells.insert(place, Cell { len: part.len() as u64, value: Value::Bits(constant) });
            }
            return;
        }
        let end = at as usize + bytes.len();
        if self.bytes.len() < end {
            self.bytes.resize(end, 0);
            self.known.resize(end.div_ceil(64), 0);
        }
        self.bytes[at as usize..end].copy_from_slice(bytes);
        self.set_known(at, bytes.len() as u64, true);
    }

    /// Removes cells in a range; what they hold outside it stays, byte by byte.
    fn make_room<H: Oracle<C>>(&mut self, host: &H, at: u64, len: u64) {
        while self.overlaps(at, len) {
            let (&start, _) = self.cells.range(..at + len).next_back().expect("an overlapping cell");
            let cell = self.cells.remove(&start).expect("the cell just seen");
            if start >= at && start + cell.len <= at + len {
                continue;
            }
            for index in 0..cell.len {
                let byte = start + index;
                if byte < at || byte >= at + len {
                    self.write(host, byte, 1, cell.byte(host, index));
                }
            }
        }
    }

    /// The pieces of a range, each a run of known bytes, a cell within it, or unwritten: what a copy moves.
    pub fn pieces<H: Oracle<C>>(&self, host: &H, at: u64, len: u64) -> Vec<(u64, Piece<C>)> {
        let mut pieces = Vec::new();
        let mut byte = at;
        let end = at + len;
        while byte < end {
            if let Some((start, cell)) = self.cell_at(byte) {
                if start == byte && start + cell.len <= end {
                    pieces.push((byte - at, Piece::Cell(cell.clone())));
                    byte += cell.len;
                } else {
                    // A cell that is cut moves byte by byte.
                    pieces.push((
                        byte - at,
                        Piece::Cell(Cell { len: 1, value: cell.byte(host, byte - start) }),
                    ));
                    byte += 1;
                }
                continue;
            }
            let stop = self.cells.range(byte..).next().map_or(end, |(&start, _)| start.min(end));
            let known = self.is_known(byte) || self.zeroed();
            let mut run = byte + 1;
            while run < stop && (self.is_known(run) || self.zeroed()) == known {
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
    pub fn forget<H: Oracle<C>>(&mut self, host: &H, at: u64, len: u64) {
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
    /// Bytes nothing has written.
    Missing(u64),
}
