//! Memory that never changes: constants, jump tables, the code itself.
//!
//! A load from it gives the bytes in every reading, so that the symbolic one sees through constant pools and tables of
//! functions. What a program may write is no part of it.

use parallax_op::Bits;
use parallax_sem::{ByteOrder, Core};
use std::ops::Range;

/// Read-only bytes at their addresses.
#[derive(Clone, Debug, Default)]
pub struct Rom {
    /// Start and bytes, in order of address, not overlapping.
    stretches: Vec<(u64, Box<[u8]>)>,
}

/// A load that may be from more places than this is left to memory.
const MAX_PLACES: usize = 1024;

/// How far before a table the constant part of an address into it may be: the first case of a switch need not be zero.
const NEAR: u64 = 1 << 16;

impl Rom {
    /// The given stretches; where two overlap, the one that starts first counts.
    pub fn new(stretches: impl IntoIterator<Item = (u64, Vec<u8>)>) -> Self {
        let mut all: Vec<(u64, Box<[u8]>)> = stretches
            .into_iter()
            .filter(|(_, bytes)| !bytes.is_empty())
            .map(|(at, bytes)| (at, bytes.into()))
            .collect();
        all.sort_by_key(|(at, _)| *at);
        let mut end = 0;
        all.retain(|(at, bytes)| {
            let apart = *at >= end;
            end = end.max(at.saturating_add(bytes.len() as u64));
            apart
        });
        Rom { stretches: all }
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.stretches.is_empty()
    }

    /// The `count` bytes at `address`, if all of them never change.
    pub fn bytes(&self, address: u64, count: u16) -> Option<&[u8]> {
        let index = self.stretches.partition_point(|(at, _)| *at <= address).checked_sub(1)?;
        let (at, bytes) = &self.stretches[index];
        let from = usize::try_from(address - at).ok()?;
        bytes.get(from..)?.get(..usize::from(count))
    }

    /// The stretch around an address, or one that begins a little behind it.
    pub fn around(&self, address: u64) -> Option<Range<u64>> {
        let ranges = self.stretches.iter().map(|(at, bytes)| *at..at.saturating_add(bytes.len() as u64));
        ranges.into_iter().find(|range| address < range.end && range.start.saturating_sub(address) < NEAR)
    }

    /// The addresses at which nothing changes, in order; stretches that touch are one.
    pub fn ranges(&self) -> impl Iterator<Item = Range<u64>> {
        let mut rest =
            self.stretches.iter().map(|(at, bytes)| *at..at.saturating_add(bytes.len() as u64)).peekable();
        std::iter::from_fn(move || {
            let mut range = rest.next()?;
            while let Some(next) = rest.next_if(|next| next.start == range.end) {
                range.end = next.end;
            }
            Some(range)
        })
    }

    /// The value of a load from one of the places, each with its condition, or from the address `elsewhere`. What is not
    /// here comes from memory. Nothing where all of it does.
    pub(super) fn load<C: Core>(
        &self,
        core: &C,
        places: &[(C::Bool, Bits)],
        bytes: u16,
        order: ByteOrder,
        elsewhere: Option<&C::Val>,
        from_memory: impl Fn(&C::Val) -> C::Val,
    ) -> Option<C::Val> {
        let here = |place: &Bits| self.bytes(place.to_u64()?, bytes);
        if places.len() > MAX_PLACES || !places.iter().any(|(_, place)| here(place).is_some()) {
            return None;
        }
        let mut value = elsewhere.map(&from_memory);
        for (when, place) in places.iter().rev() {
            let found = match here(place) {
                Some(found) => core.constant(&number(found, order)),
                None => from_memory(&core.constant(place)),
            };
            value = Some(match value {
                None => found,
                Some(otherwise) => core.cond(bytes * 8, when, &found, &otherwise),
            });
        }
        value
    }
}

fn number(bytes: &[u8], order: ByteOrder) -> Bits {
    let byte = |byte: &u8| Bits::new(8, u128::from(*byte));
    let join = |high: Bits, low: Bits| high.concat(&low);
    let digits = bytes.iter().map(byte);
    match order {
        ByteOrder::Big => digits.reduce(join),
        ByteOrder::Little => digits.rev().reduce(join),
    }
    .expect("a load has bytes")
}

#[cfg(test)]
mod tests {
    use super::*;
    use parallax_sem::Concrete;

    #[test]
    fn loads_from_read_only_bytes() {
        let rom = Rom::new([(0x20, vec![5, 6]), (0x10, vec![1, 2, 3, 4])]);
        let load = |at: u128, bytes, order| {
            let memory = |_: &Bits| Bits::new(8 * bytes, 0);
            rom.load(&Concrete, &[(true, Bits::new(32, at))], bytes, order, None, memory)
                .and_then(|value| value.to_u64())
        };
        assert_eq!(load(0x10, 4, ByteOrder::Little), Some(0x0403_0201));
        assert_eq!(load(0x11, 2, ByteOrder::Big), Some(0x0203));
        assert_eq!(load(0x20, 2, ByteOrder::Little), Some(0x0605));
        assert_eq!(load(0x0f, 2, ByteOrder::Little), None, "starts before");
        assert_eq!(load(0x13, 2, ByteOrder::Little), None, "ends behind");
    }
}
