//! Which flags nobody will read: looking a little way ahead of a block's end.
//!
//! Almost every arithmetic instruction sets flags and almost no flag is read. Within a block that is plain to see; at
//! its end it takes a look at what follows, where that is known. A flag is dead if on every way it is written before it
//! is read. Where the way cannot be followed, flags are live.

use super::node::Slot;
use super::pieces::Pieces;
use super::template::{Addresses, Number};
use crate::memory::{Memory, PAGE};
use crate::registers::Registers;
use parallax_ir::{Instruction, Op, Space, Varnode};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Looks ahead, and remembers what it saw.
pub struct Liveness {
    flags: Vec<Slot>,
    /// Flags live at an address, one bit each, and the pages that say so.
    live: FxHashMap<u64, (u64, Vec<u64>)>,
    /// The pages that the latest look depended on.
    seen: Vec<u64>,
}

/// How many instructions one look takes.
const FAR: usize = 12;
/// How many jumps are followed.
const DEEP: usize = 3;

impl Liveness {
    /// For flags at these places; at most 63 of them.
    pub fn new(mut flags: Vec<Slot>) -> Self {
        flags.truncate(63);
        Liveness { flags, live: FxHashMap::default(), seen: Vec::new() }
    }

    /// The flags.
    pub fn flags(&self) -> &[Slot] {
        &self.flags
    }

    /// Forgets what was seen, when code changes.
    pub fn forget(&mut self) {
        self.live.clear();
    }

    /// Forgets what was seen on pages that have changed.
    pub fn forget_pages(&mut self, pages: &[u64]) {
        self.live.retain(|_, (_, seen)| !seen.iter().any(|page| pages.contains(page)));
    }

    /// The pages that the latest look depended on.
    pub fn seen(&self) -> &[u64] {
        &self.seen
    }

    /// The places of flags that are given by one bit each.
    pub fn places(&self, flags: u64) -> SmallVec<[Slot; 8]> {
        let chosen = self.flags.iter().enumerate().filter(|(index, _)| flags >> index & 1 != 0);
        chosen.map(|(_, flag)| *flag).collect()
    }

    /// The flags that are dead whichever of the addresses comes next, one bit each; an unknown address may be anywhere.
    pub fn dead_after(
        &mut self,
        pieces: &mut Pieces,
        memory: &mut Memory,
        registers: &Registers,
        next: &[Option<u64>],
    ) -> u64 {
        self.seen.clear();
        let mut live = 0;
        for address in next {
            match address {
                Some(address) => live |= self.live_at(pieces, memory, registers, *address, DEEP),
                None => return 0,
            }
        }
        self.all() & !live
    }

    /// Every flag.
    fn all(&self) -> u64 {
        (1 << self.flags.len()) - 1
    }

    fn live_at(
        &mut self,
        pieces: &mut Pieces,
        memory: &mut Memory,
        registers: &Registers,
        start: u64,
        depth: usize,
    ) -> u64 {
        let all = self.all();
        if depth == 0 {
            return all;
        }
        if let Some((live, pages)) = self.live.get(&start) {
            let live = *live;
            self.seen.extend_from_slice(pages);
            return live;
        }
        let before = self.seen.len();
        let mut open = all;
        let mut live = 0;
        let mut at = start;
        for _ in 0..FAR {
            // A page that cannot be read now may be there later.
            self.seen.push(at / PAGE);
            let Ok((glance, addresses)) = pieces.glance(memory, registers, at, &self.flags) else { break };
            let next = addresses.next;
            self.seen.push(next.wrapping_sub(1) / PAGE);
            live |= open & glance.read;
            open &= !(glance.read | glance.written);
            if open == 0 {
                break;
            }
            if glance.ends {
                let mut beyond = 0;
                let mut falls_through = true;
                let mut known = !glance.traps;
                for (conditional, to) in &glance.transfers {
                    falls_through &= conditional;
                    match to {
                        Some(to) => {
                            let to = to.at(addresses);
                            beyond |= self.live_at(pieces, memory, registers, to, depth - 1);
                        }
                        None => known = false,
                    }
                }
                if falls_through && known {
                    beyond |= self.live_at(pieces, memory, registers, next, depth - 1);
                }
                let beyond = if known { beyond } else { all };
                live |= open & beyond;
                open = 0;
                break;
            }
            at = next;
        }
        live |= open;
        if depth == DEEP {
            let mut pages = self.seen[before..].to_vec();
            pages.sort_unstable();
            pages.dedup();
            self.live.insert(start, (live, pages));
        }
        live
    }
}

/// What an instruction does to flags and to control.
#[derive(Clone)]
pub struct Glance {
    /// The flags that it reads before it writes them, one bit each.
    pub read: u64,
    /// Those that it certainly writes.
    pub written: u64,
    /// Whether control may go anywhere but to the next instruction.
    pub ends: bool,
    /// Whether it may trap.
    pub traps: bool,
    /// Its jumps: whether there is a condition, and where to, if that is known.
    pub transfers: SmallVec<[(bool, Option<Number>); 2]>,
}

impl Glance {
    /// At an instruction where it stands.
    pub fn new(instruction: &Instruction, registers: &Registers, flags: &[Slot]) -> Self {
        let (mut read, mut written) = (0, 0);
        let mut certain = true;
        for op in instruction.ops.iter() {
            op.inputs(|input| read |= touched(flags, registers, input, false) & !written);
            match op {
                Op::Branch { .. } | Op::Jump { .. } => certain = false,
                _ => {}
            }
            if let Some(out) = op.out()
                && certain
            {
                written |= touched(flags, registers, out, true);
            }
        }
        let transfers = instruction.transfers();
        Glance {
            read,
            written,
            ends: instruction.ends_block(),
            traps: instruction.ops.iter().any(|op| matches!(op, Op::Trap { .. })),
            transfers: transfers
                .map(|(when, to, _)| (when.is_some(), to.as_constant().map(Number::Fixed)))
                .collect(),
        }
    }

    /// At the same instruction wherever it stands, of which this and the other are samples.
    pub fn generalised(mut self, other: &Glance, at: &[Addresses; 2]) -> Option<Glance> {
        let flags = |glance: &Glance| (glance.read, glance.written, glance.ends, glance.traps);
        if flags(&self) != flags(other) || self.transfers.len() != other.transfers.len() {
            return None;
        }
        for ((conditional, to), (also, there)) in self.transfers.iter_mut().zip(&other.transfers) {
            *to = match (*to, *there) {
                (Some(Number::Fixed(to)), Some(Number::Fixed(there))) => Some(Number::of(to, there, at)?),
                (None, None) => None,
                _ => return None,
            };
            if conditional != also {
                return None;
            }
        }
        Some(self)
    }
}

fn touched(flags: &[Slot], registers: &Registers, place: Varnode, whole: bool) -> u64 {
    if place.space != Space::Register {
        return 0;
    }
    let Some(at) = registers.offset(place) else { return if whole { 0 } else { u64::MAX >> 1 } };
    let slot = Slot { at: at as u16, size: place.bytes };
    let hit = |flag: &Slot| {
        if whole { slot.at <= flag.at && flag.end() <= slot.end() } else { slot.overlaps(*flag) }
    };
    let hits = flags.iter().enumerate().filter(|(_, flag)| hit(flag));
    hits.fold(0, |bits, (index, _)| bits | 1 << index)
}
