//! What a program finds in memory before it starts: code, constants, initial data, and names.

use parallax_ir::meaning::Rom;
use parallax_op::Bits;
use parallax_sem::Table;
use std::ops::Range;
use std::rc::Rc;

/// Bytes at an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Where they lie.
    pub address: u64,
    /// They.
    pub bytes: Vec<u8>,
    /// Whether they are instructions.
    pub executable: bool,
    /// Whether the program may change them.
    pub writable: bool,
}

impl Segment {
    /// Code at an address.
    pub fn code(address: u64, bytes: Vec<u8>) -> Self {
        Segment { address, bytes, executable: true, writable: false }
    }

    /// Its addresses.
    pub fn range(&self) -> Range<u64> {
        self.address..self.address.saturating_add(self.bytes.len() as u64)
    }

    /// Its bytes from an address on.
    pub fn from(&self, address: u64) -> Option<&[u8]> {
        let skip = usize::try_from(address.checked_sub(self.address)?).ok()?;
        self.bytes.get(skip..).filter(|rest| !rest.is_empty())
    }
}

/// A file as it lies in memory.
#[derive(Clone, Debug, Default)]
pub struct Image {
    /// Code and data.
    pub segments: Vec<Segment>,
    /// Names of addresses, for messages and for `--through`.
    pub names: Vec<(u64, String)>,
    /// Functions that the file uses and does not contain, each with the address that stands for it.
    pub externals: Vec<(u64, String)>,
    /// Where the processor's second encoding is used (Thumb).
    pub alternate: Vec<Range<u64>>,
    /// Bytes without a file around them: nothing protects them, and memory does not hold them.
    pub bare: bool,
    /// What the calling convention promises registers to hold on entry.
    pub promised: Vec<(String, u64)>,
}

impl Image {
    /// Some code and nothing else.
    pub fn of_code(address: u64, bytes: Vec<u8>) -> Self {
        Image { segments: vec![Segment::code(address, bytes)], bare: true, ..Image::default() }
    }

    /// The bytes from an address on that are instructions.
    pub fn code_from(&self, address: u64) -> Option<&[u8]> {
        self.segments.iter().filter(|segment| segment.executable).find_map(|segment| segment.from(address))
    }

    /// The function outside the file that an address stands for.
    pub fn external(&self, address: u64) -> Option<&str> {
        self.externals.iter().find(|(at, _)| *at == address).map(|(_, name)| name.as_str())
    }

    /// Whether the second encoding is used at an address.
    pub fn is_alternate(&self, address: u64) -> bool {
        self.alternate.iter().any(|range| range.contains(&address))
    }

    /// What nobody can write.
    pub(crate) fn rom(&self) -> Rc<Rom> {
        let constant = self.segments.iter().filter(|segment| !segment.writable);
        Rc::new(Rom::new(constant.map(|segment| (segment.address, segment.bytes.clone()))))
    }

    /// Memory with the initial data in it, zero elsewhere; what never changes is in it only if `all` is wanted.
    pub(crate) fn memory(&self, key: u16, all: bool) -> Table {
        let mut memory = Table::new(Bits::zero(8));
        for segment in self.segments.iter().filter(|segment| all || segment.writable) {
            for (index, byte) in segment.bytes.iter().enumerate().filter(|(_, byte)| **byte != 0) {
                let at = segment.address.wrapping_add(index as u64);
                memory.set(Bits::new(key, u128::from(at)), Bits::new(8, u128::from(*byte)));
            }
        }
        memory
    }
}
