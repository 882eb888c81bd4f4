//! Which flags nobody will read: looking a little way ahead of a block's end.
//!
//! Almost every arithmetic instruction sets flags and almost no flag is read. Within a block that is plain to see; at
//! its end it takes a look at what follows, where that is known. A flag is dead if on every way it is written before it
//! is read. Where the way cannot be followed, flags are live.

use super::lift;
use super::node::Slot;
use crate::memory::{Memory, PAGE};
use crate::registers::Registers;
use parallax_ir::{Instruction, Op, Space, Varnode};
use parallax_sleigh::Lifter;
use rustc_hash::FxHashMap;

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
    /// For flags at these places; at most 64 of them.
    pub fn new(mut flags: Vec<Slot>) -> Self {
        flags.truncate(64);
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

    /// The flags that are dead whichever of the addresses comes next; an unknown address may be anywhere.
    pub fn dead_after(
        &mut self,
        lifter: &mut Lifter,
        memory: &mut Memory,
        registers: &Registers,
        next: &[Option<u64>],
    ) -> Vec<Slot> {
        self.seen.clear();
        let mut live = 0;
        for address in next {
            match address {
                Some(address) => live |= self.live_at(lifter, memory, registers, *address, DEEP),
                None => return Vec::new(),
            }
        }
        let dead = self.flags.iter().enumerate().filter(|(index, _)| live >> index & 1 == 0);
        dead.map(|(_, flag)| *flag).collect()
    }

    fn live_at(
        &mut self,
        lifter: &mut Lifter,
        memory: &mut Memory,
        registers: &Registers,
        start: u64,
        depth: usize,
    ) -> u64 {
        let all = if self.flags.len() == 64 { u64::MAX } else { (1 << self.flags.len()) - 1 };
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
            let Ok((instruction, _)) = lift(lifter, memory, at) else { break };
            self.seen.push(instruction.next().wrapping_sub(1) / PAGE);
            let (read, written) = self.summary(registers, &instruction);
            live |= open & read;
            open &= !(read | written);
            if open == 0 {
                break;
            }
            if instruction.ends_block() {
                let mut beyond = 0;
                let mut falls_through = true;
                let mut known = true;
                for op in instruction.ops.iter() {
                    match op {
                        Op::Jump { when, to, .. } => {
                            falls_through &= when.is_some();
                            match to.as_constant() {
                                Some(to) => {
                                    beyond |= self.live_at(lifter, memory, registers, to, depth - 1);
                                }
                                None => known = false,
                            }
                        }
                        Op::Trap { .. } => known = false,
                        _ => {}
                    }
                }
                if falls_through && known {
                    beyond |= self.live_at(lifter, memory, registers, instruction.next(), depth - 1);
                }
                let beyond = if known { beyond } else { all };
                live |= open & beyond;
                open = 0;
                break;
            }
            at = instruction.next();
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

    /// The flags an instruction reads before it writes them, and those it certainly writes.
    fn summary(&self, registers: &Registers, instruction: &Instruction) -> (u64, u64) {
        let (mut read, mut written) = (0, 0);
        let mut certain = true;
        for op in instruction.ops.iter() {
            op.inputs(|input| read |= self.touched(registers, input, false) & !written);
            match op {
                Op::Branch { .. } | Op::Jump { .. } => certain = false,
                _ => {}
            }
            if let Some(out) = op.out()
                && certain
            {
                written |= self.touched(registers, out, true);
            }
        }
        (read, written)
    }

    fn touched(&self, registers: &Registers, place: Varnode, whole: bool) -> u64 {
        if place.space != Space::Register {
            return 0;
        }
        let Some(at) = registers.offset(place) else { return if whole { 0 } else { u64::MAX } };
        let slot = Slot { at: at as u16, size: place.bytes };
        let hit = |flag: &Slot| {
            if whole { slot.at <= flag.at && flag.end() <= slot.end() } else { slot.overlaps(*flag) }
        };
        self.flags
            .iter()
            .enumerate()
            .filter(|(_, flag)| hit(flag))
            .fold(0, |bits, (index, _)| bits | 1 << index)
    }
}
