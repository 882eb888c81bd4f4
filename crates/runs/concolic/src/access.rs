//! Loads and stores of one instruction, to addresses that may depend on the input.

use crate::constraint::{Constraint, Decision};
use crate::core::{Concolic, Machine, Word};
use crate::reach::Reach;
use crate::shadow::{Part, Shadow};
use parallax_op::Bits;
use parallax_path::Bound;
use parallax_process::memory::{Access, Memory, Region};
use parallax_term::{Formula, Node, Store, Term};
use smallvec::SmallVec;
use std::cell::RefCell;

/// How many addresses one load or store is followed to.
const MOST_LOADED: u64 = 1024;
const MOST_STORED: u64 = 256;
/// How many where the solver cannot say that these are all.
const WINDOW: u64 = 32;
/// The widest access.
const WIDEST: usize = 64;

/// A byte that an instruction writes.
#[derive(Clone, Copy)]
struct Write {
    address: u64,
    /// The byte; nothing if it stays as it is on this run.
    byte: Option<u8>,
    part: Option<Part>,
}

/// What the loads and stores of one instruction come to, before it is made.
pub struct Accesses<'a, 's> {
    memory: &'a mut Memory,
    shadow: &'a Shadow,
    constraint: &'a mut Constraint<'s>,
    writes: SmallVec<[Write; 16]>,
    /// An access cannot be made.
    pub faults: bool,
    /// A byte that depends on the input was read.
    pub touches: bool,
}

/// The stores of an instruction, to be made.
pub struct Writes(SmallVec<[Write; 16]>);

impl Writes {
    /// The addresses of the bytes.
    pub fn addresses(&self) -> impl Iterator<Item = u64> + '_ {
        self.0.iter().map(|write| write.address)
    }

    /// Makes them; false if one cannot be made.
    pub fn make(self, memory: &mut Memory, shadow: &mut Shadow) -> bool {
        let mut rest = &self.0[..];
        while let Some(first) = rest.first() {
            // Bytes that lie one behind the other, as they do in a plain store, are written at once.
            let alike = |(index, write): &(usize, &Write)| {
                write.address == first.address.wrapping_add(*index as u64)
                    && write.byte.is_some() == first.byte.is_some()
            };
            let run = rest.iter().enumerate().take(WIDEST).take_while(alike).count();
            let (now, later) = rest.split_at(run);
            rest = later;
            if first.byte.is_some() {
                let mut bytes = [0; WIDEST];
                for (byte, write) in bytes.iter_mut().zip(now) {
                    *byte = write.byte.unwrap_or(0);
                }
                if memory.write(first.address, &bytes[..run]).is_err() {
                    return false;
                }
            }
            let parts: SmallVec<[Option<Part>; 16]> = now.iter().map(|write| write.part).collect();
            shadow.write(memory, first.address, &parts);
        }
        true
    }
}

impl<'a, 's> Accesses<'a, 's> {
    /// None so far.
    pub fn new(memory: &'a mut Memory, shadow: &'a Shadow, constraint: &'a mut Constraint<'s>) -> Self {
        let writes = SmallVec::new();
        Accesses { memory, shadow, constraint, writes, faults: false, touches: false }
    }

    /// The path constraint that goes with them, and what is to be written.
    pub fn finish(self) -> Writes {
        Writes(self.writes)
    }

    /// Notes what was met that is not known of other inputs.
    pub fn note(&mut self, bound: Bound) {
        self.constraint.ledger.note(bound);
    }

    fn note_approximated(&mut self) {
        self.note(Bound::Values(1, String::from("a value that --approximate takes as it is")));
    }

    /// The bytes from an address on as the instruction sees them now, and the terms they are parts of; whether there is any.
    fn read(&mut self, address: u64, bytes: &mut [u8], parts: &mut [Option<Part>]) -> bool {
        if self.memory.read(address, bytes).is_err() {
            self.faults = true;
        }
        let mut any = self.shadow.read(address, parts);
        for write in &self.writes {
            let at = write.address.wrapping_sub(address) as usize;
            if at < bytes.len() {
                bytes[at] = write.byte.unwrap_or(bytes[at]);
                parts[at] = write.part;
                any = true;
            }
        }
        any && parts.iter().any(Option::is_some)
    }

    /// The bytes at one address.
    fn load_at(&mut self, store: &Store, address: u64, bytes: u16) -> (Bits, Option<Term>) {
        let count = usize::from(bytes).min(WIDEST);
        let mut values = [0u8; WIDEST];
        let values = &mut values[..count];
        if self.writes.is_empty() && !self.shadow.may_touch(address, bytes.into()) {
            if self.memory.read(address, values).is_err() {
                self.faults = true;
            }
            return (Bits::from_le_bytes(values), None);
        }
        let mut parts = [None; WIDEST];
        let parts = &mut parts[..count];
        let any = self.read(address, values, parts);
        let bits = Bits::from_le_bytes(values);
        if !any {
            return (bits, None);
        }
        self.touches = true;
        (bits, Some(joined(store, values, parts)))
    }

    /// The addresses that an access may go to, all of them mapped; that they are all is part of the path from now on.
    fn resolve(&mut self, term: Term, address: u64, bytes: u16, access: Access) -> Option<Reach> {
        let most = if access == Access::Write { MOST_STORED } else { MOST_LOADED };
        let (found, all) = self.constraint.reach(term, address, most, WINDOW);
        let (low, high) = self.mapped(address, bytes, access)?;
        let inside = found.within(low, high)?;
        if !all || inside != found {
            let formula = self.constraint.between(term, inside.first, inside.last());
            self.constraint.push(formula, Decision::Window(term, inside.first, inside.last()));
            self.constraint.learn(term, address, inside);
        }
        Some(inside)
    }

    /// Takes note that an access cannot be made, nor at any address between what can be accessed below it and above it.
    /// Elsewhere it may be possible: that is for other inputs to find out.
    fn fail(&mut self, term: Term, address: u64, bytes: u16, access: Access) {
        let (mut first, mut last) = (0, u64::MAX);
        for (start, region) in self.memory.regions().filter(|(_, region)| allows(region, access)) {
            if region.end <= address {
                // Accesses that begin here may still reach into what comes behind.
                first = first.max((region.end + 1).saturating_sub(u64::from(bytes)));
            } else if start > address {
                last = last.min(start - 1);
            } else {
                // What is mapped and allowed fails for another reason, or at its end.
                first = first.max(address);
            }
        }
        let formula = self.constraint.between(term, first, last);
        self.constraint.push(formula, Decision::Window(term, first, last));
    }

    /// The lowest and the highest address around one at which so many bytes can be accessed.
    fn mapped(&self, address: u64, bytes: u16, access: Access) -> Option<(u64, u64)> {
        let allows = |at: u64| {
            let (start, region) = self.memory.region_at(at)?;
            allows(region, access).then_some((start, region.end))
        };
        let (mut low, mut high) = allows(address)?;
        while let Some((start, _)) = low.checked_sub(1).and_then(allows) {
            low = start;
        }
        while let Some((_, end)) = allows(high) {
            high = end;
        }
        let last = high.checked_sub(u64::from(bytes))?;
        (low <= address && address <= last).then_some((low, last))
    }

    /// What a load from one of several addresses gives.
    fn load_from(&mut self, store: &Store, term: Term, reach: Reach, bytes: u16) -> Term {
        let leaves: Vec<Term> = (0..reach.count)
            .map(|index| {
                let (bits, term) = self.load_at(store, reach.first + (index << reach.shift), bytes);
                term.unwrap_or_else(|| store.constant(&bits))
            })
            .collect();
        select(store, term, reach, leaves)
    }

    /// A store to one of several addresses: each of their bytes may be the new one.
    fn store_to(&mut self, store: &Store, term: Term, at: u64, reach: Reach, value: &[(u8, Term)]) {
        let is: Vec<Formula> = (0..reach.count)
            .map(|index| {
                let address = reach.first + (index << reach.shift);
                store.eq(term, store.number(64, address.into()))
            })
            .collect();
        let bytes = value.len() as u64;
        let mut written: SmallVec<[Write; 16]> = SmallVec::new();
        for place in reach.first..=reach.last().saturating_add(bytes - 1) {
            let (mut old, mut part) = ([0], [None]);
            self.read(place, &mut old, &mut part);
            let mut new = None;
            for (offset, (_, byte)) in value.iter().enumerate() {
                let Some(above) = place.checked_sub(offset as u64).and_then(|a| a.checked_sub(reach.first))
                else {
                    continue;
                };
                let index = above >> reach.shift;
                if above % (1 << reach.shift) == 0 && index < reach.count {
                    let before = new.unwrap_or_else(|| joined(store, &old, &part));
                    new = Some(store.ite(is[index as usize], *byte, before));
                }
            }
            let part = match new {
                Some(term) if store.as_constant(term).is_some() => None,
                Some(term) => Some(Part { of: term, byte: 0 }),
                None => part[0],
            };
            let byte = value.get(place.wrapping_sub(at) as usize).map(|(byte, _)| *byte);
            written.push(Write { address: place, byte, part });
        }
        self.writes.extend(written);
    }
}

fn allows(region: &Region, access: Access) -> bool {
    match access {
        Access::Write => region.permissions.write,
        _ => region.permissions.read,
    }
}

/// Bytes as one term, the lowest first: what was stored whole is found whole.
fn joined(store: &Store, values: &[u8], parts: &[Option<Part>]) -> Term {
    let mut whole: Option<Term> = None;
    let mut at = 0;
    while at < parts.len() {
        let (run, part) = match parts[at] {
            // Bytes that are constant become one constant.
            None => {
                let run = parts[at..].iter().take_while(|part| part.is_none()).count();
                (run, store.constant(&Bits::from_le_bytes(&values[at..at + run])))
            }
            Some(first) => {
                let follows = |(index, part): &(usize, &Option<Part>)| {
                    part.is_some_and(|part| {
                        part.of == first.of && usize::from(part.byte) == usize::from(first.byte) + index
                    })
                };
                let run = parts[at..].iter().enumerate().take_while(follows).count();
                (run, store.extract(first.of, 8 * u16::from(first.byte), 8 * run as u16))
            }
        };
        whole = Some(whole.map_or(part, |low| store.concat(part, low)));
        at += run;
    }
    whole.expect("an access has a byte")
}

/// The bytes of a term that are the same for every input, as far as its outermost operator tells: below the first number
/// and from the second on.
fn constant_ends(store: &Store, term: Term) -> (usize, usize) {
    let all = usize::from(store.width(term) / 8);
    match store.node(term) {
        Node::Zext(inner) => (0, usize::from(store.width(inner).div_ceil(8))),
        Node::Concat(high, low) => {
            let below = usize::from(store.width(low));
            if store.as_constant(high).is_some() {
                (0, below.div_ceil(8))
            } else if store.as_constant(low).is_some() {
                (below / 8, all)
            } else {
                (0, all)
            }
        }
        _ => (0, all),
    }
}

/// The leaf that an address leads to: by the bits of its distance from the first.
fn select(store: &Store, term: Term, reach: Reach, mut leaves: Vec<Term>) -> Term {
    let distance = store.sub(term, store.number(64, reach.first.into()));
    let mut bit = reach.shift;
    while leaves.len() > 1 {
        let odd = store.eq(store.extract(distance, bit, 1), store.number(1, 1));
        leaves = leaves
            .chunks(2)
            .map(|pair| if let [even, other] = pair { store.ite(odd, *other, *even) } else { pair[0] })
            .collect();
        bit += 1;
    }
    leaves[0]
}

impl Machine for RefCell<Accesses<'_, '_>> {
    fn load(&self, reading: &Concolic<'_>, address: &Word, bytes: u16) -> Word {
        let mut accesses = self.borrow_mut();
        let at = address.bits.to_u64().unwrap_or(0);
        let faulted = accesses.faults;
        let (bits, plain) = accesses.load_at(reading.store, at, bytes);
        if reading.approximate && address.term.is_some() {
            accesses.note_approximated();
        }
        let term = match address.term {
            Some(term) if !reading.approximate && !accesses.faults => {
                match accesses.resolve(term, at, bytes, Access::Read) {
                    Some(reach) => Some(accesses.load_from(reading.store, term, reach, bytes)),
                    None => {
                        accesses.constraint.pin(term, &address.bits, "an address that is read");
                        plain
                    }
                }
            }
            Some(term) if !reading.approximate && !faulted => {
                accesses.fail(term, at, bytes, Access::Read);
                plain
            }
            _ => plain,
        };
        match term {
            Some(term) => reading.word(bits, term),
            None => Word { bits, term: None },
        }
    }

    fn store(&self, reading: &Concolic<'_>, address: &Word, bytes: u16, value: &Word) {
        let mut accesses = self.borrow_mut();
        let at = address.bits.to_u64().unwrap_or(0);
        if accesses.memory.check_writable(at, bytes.into()).is_err() {
            if let Some(term) = address.term.filter(|_| !reading.approximate && !accesses.faults) {
                accesses.fail(term, at, bytes, Access::Write);
            }
            accesses.faults = true;
            return;
        }
        if reading.approximate && address.term.is_some() {
            accesses.note_approximated();
        }
        let store = reading.store;
        let mut buffer = [0u8; WIDEST];
        let values = &mut buffer[..usize::from(bytes).min(WIDEST)];
        value.bits.write_le_bytes(values);
        if let Some(term) = address.term.filter(|_| !reading.approximate) {
            match accesses.resolve(term, at, bytes, Access::Write) {
                Some(Reach { count: 1, .. }) => {}
                Some(reach) => {
                    let whole = reading.term(value);
                    let parts: Vec<(u8, Term)> = values
                        .iter()
                        .enumerate()
                        .map(|(index, byte)| (*byte, store.extract(whole, 8 * index as u16, 8)))
                        .collect();
                    accesses.store_to(store, term, at, reach, &parts);
                    return;
                }
                None => accesses.constraint.pin(term, &address.bits, "an address that is written"),
            }
        }
        let (first, end) = value.term.map_or((0, 0), |term| constant_ends(store, term));
        for (index, byte) in values.iter().enumerate() {
            let part =
                value.term.filter(|_| (first..end).contains(&index)).map(|of| Part { of, byte: index as u8 });
            let address = at.wrapping_add(index as u64);
            accesses.writes.push(Write { address, byte: Some(*byte), part });
        }
    }

    fn approximated(&self) {
        self.borrow_mut().note_approximated();
    }

    fn decided(&self, taken: Formula) {
        self.borrow_mut().constraint.push(taken, Decision::Branch(None));
    }
}
