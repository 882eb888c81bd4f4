//! Instructions translated once for all the places they stand at.
//!
//! Programs repeat themselves: of the instructions that a program touches while it starts nine in ten were met before,
//! at another address and with other addresses in them. A template is an instruction in every form that translation
//! wants of it, with a list of where its addresses go. What depends on an address is not written down for each
//! instruction but found: the instruction is lifted at two places that have nothing in common, and where the two results
//! differ, the difference must be the distance of the two addresses behind it, or of the two that it names. If it is
//! not, there is no template, and the instruction is lifted wherever it stands.

use super::encode::{Encoded, Encoder};
use super::general::General;
use super::improve::{Boundary, Improver};
use super::liveness::Glance;
use super::micro::Micro;
use super::node::{Flattener, Input, Kind, Node, Slot};
use super::probe::Probes;
use crate::registers::Registers;
use parallax_ir::{Flow, Instruction, Intrinsic};
use parallax_sleigh::x86::Sample;
use smallvec::SmallVec;

/// The addresses of an instruction.
#[derive(Clone, Copy, Debug)]
pub struct Addresses {
    /// The one behind it.
    pub next: u64,
    /// The one that it names by its distance, if it names one.
    pub target: Option<u64>,
}

/// A number of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Number {
    /// The same everywhere.
    Fixed(u64),
    /// So far from the address behind the instruction.
    Next(u64),
    /// So far from the address that it names.
    Target(u64),
}

impl Number {
    /// What it is at some place.
    pub fn at(self, addresses: Addresses) -> u64 {
        match self {
            Number::Fixed(value) => value,
            Number::Next(distance) => addresses.next.wrapping_add(distance),
            Number::Target(distance) => addresses.target.unwrap_or(0).wrapping_add(distance),
        }
    }

    /// What is one number in the first sample and another in the second; none if no address explains it.
    pub fn of(first: u64, second: u64, at: &[Addresses; 2]) -> Option<Number> {
        if first == second {
            return Some(Number::Fixed(first));
        }
        let far = |from: [u64; 2]| {
            let distance = first.wrapping_sub(from[0]);
            (second.wrapping_sub(from[1]) == distance).then_some(distance)
        };
        let target = || Some([at[0].target?, at[1].target?]);
        far(at.map(|at| at.next)).map(Number::Next).or_else(|| target().and_then(far).map(Number::Target))
    }
}

/// The bit of what is needed whether or not flags are read.
pub const ALWAYS: u64 = 1 << 63;

/// Where a number of a node stands.
#[derive(Clone, Copy)]
enum Spot {
    Input(u8),
    Displacement,
}

/// The operations of an instruction, ready to run at any place of any block.
pub struct Code {
    /// The operations; what leads on to the next instruction is not among them.
    pub operations: Box<[Micro]>,
    /// What each is needed for, as [`Template::needed`].
    needed: Box<[u64]>,
    /// The operations whose constants are addresses.
    numbers: Box<[(u16, Number)]>,
    /// What the operations point to.
    #[allow(clippy::vec_box, reason = "operations hold their addresses")]
    pub general: Vec<Box<General>>,
    /// The ways out.
    pub exits: SmallVec<[Number; 2]>,
}

impl Code {
    /// Appends the operations to others, as far as the flags are wanted.
    pub fn append(&self, block: &mut Encoded, addresses: Addresses, wanted: u64) {
        let mut numbers = self.numbers.iter().peekable();
        for (index, (operation, needed)) in self.operations.iter().zip(&self.needed).enumerate() {
            let number = numbers.next_if(|(at, _)| usize::from(*at) == index);
            if needed & wanted != 0 {
                let constant = number.map_or(operation.constant, |(_, number)| number.at(addresses));
                block.code.push(Micro { constant, ..*operation });
            }
        }
        block.exits.extend(self.exits.iter().map(|exit| exit.at(addresses)));
    }
}

/// An instruction, wherever it stands.
pub struct Template {
    /// Its operations, for blocks that are improved, as the first instruction of a block has them.
    pub nodes: Box<[Node]>,
    spots: Box<[(u16, Spot, Number)]>,
    /// The flags that each is needed for, one bit each; [`ALWAYS`] if for more than flags.
    needed: Box<[u64]>,
    /// How many labels they have.
    pub labels: usize,
    /// How many bytes of temporaries they use.
    pub room: usize,
    /// The same, ready to run; none if that depends on more than addresses.
    pub code: Option<Code>,
    /// What it does to flags and to control.
    pub glance: Glance,
    /// How it leaves, if it is a call or a return, and where to, if that is known.
    pub flow: Option<(Flow, Option<Number>)>,
}

/// What makes templates.
pub struct Maker<'a> {
    /// The register file that they are for.
    pub registers: &'a Registers,
    /// What encodes them; it may be set to watch accesses, which no template does.
    pub encoder: &'a Encoder,
    /// What improves them.
    pub improver: &'a mut Improver,
    /// The flags, of which a template knows what it does to them.
    pub flags: &'a [Slot],
}

impl Maker<'_> {
    /// The template of an instruction; none if something of it depends on its address in another way than by a
    /// distance.
    pub fn make(&mut self, samples: &[Sample; 2], locked: bool) -> Option<Template> {
        let at = samples.each_ref().map(|sample| Addresses { next: sample.next, target: sample.target });
        let [first, second] = samples.each_ref().map(|sample| &sample.instruction);
        if first.length != second.length || first.temporary_bytes != second.temporary_bytes {
            return None;
        }
        let (nodes, labels, end) = self.flatten(first, locked)?;
        let mut spots = Vec::new();
        let mut other = None;
        let mut ready = nodes.clone();
        if first.ops == second.ops {
            // Made cheaper within the instruction.
            let boundary = self.boundary(end);
            self.improver.improve(&mut ready, labels, &boundary);
        } else {
            // What is computed from an address may be the same at both places by chance, so nothing is computed ahead.
            let (others, _, _) = self.flatten(second, locked)?;
            spots = find_spots(&nodes, &others, &at)?;
            other = Some(others);
        }
        let glance = Glance::new(first, self.registers, self.flags);
        let glance = match other {
            Some(_) => glance.generalised(&Glance::new(second, self.registers, self.flags), &at)?,
            None => glance,
        };
        let flow = match (leaving(first), leaving(second)) {
            (None, None) => None,
            (Some((flow, None)), Some((other, None))) if flow == other => Some((flow, None)),
            (Some((flow, Some(to))), Some((other, Some(there)))) if flow == other => {
                Some((flow, Some(Number::of(to, there, &at)?)))
            }
            _ => return None,
        };
        let needed = self.needed(&nodes, labels);
        let code = self.code(ready, other, labels, &at);
        let (nodes, spots) = (nodes.into(), spots.into());
        let room = usize::from(first.temporary_bytes);
        Some(Template { nodes, spots, needed, labels, room, code, glance, flow })
    }

    /// Where every register and every flag is exact, in the end and wherever the instruction stops.
    fn boundary(&self, end: usize) -> Boundary<'static> {
        Boundary {
            flags: &[],
            dead: &[],
            temporaries: self.registers.temporaries(),
            end,
            address_size: self.encoder.processor.address_bytes,
        }
    }

    /// The nodes of an instruction, their labels, and one past their last temporary.
    fn flatten(&self, instruction: &Instruction, locked: bool) -> Option<(Vec<Node>, usize, usize)> {
        let probes = Probes::default();
        let mut flattener =
            Flattener::new(self.registers, &probes, Vec::with_capacity(instruction.ops.len() + 2));
        flattener.push(0, instruction, locked).ok()?;
        let (labels, end) = (flattener.labels(), flattener.end());
        Some((flattener.nodes, labels, end))
    }

    /// The operations of nodes; where these are not the same everywhere, `other` are those of the second sample.
    fn code(
        &self,
        mut nodes: Vec<Node>,
        other: Option<Vec<Node>>,
        labels: usize,
        at: &[Addresses; 2],
    ) -> Option<Code> {
        // So that it can be told which operation comes from which node.
        nodes.iter_mut().enumerate().for_each(|(index, node)| node.instruction = index as u16);
        let encode = |nodes: &[Node]| {
            let mut encoded = Encoded::default();
            self.encoder.append(&mut encoded, nodes, labels).ok()?;
            Some(encoded)
        };
        let first = encode(&nodes)?;
        let needed = self.needed(&nodes, labels);
        // Its answer depends on where in a block it stands.
        if first.general.iter().any(|general| general.intrinsic() == Some(Intrinsic::TimeStamp)) {
            return None;
        }
        let (numbers, exits) = match other {
            None => (Vec::new(), first.exits.iter().map(|exit| Number::Fixed(*exit)).collect()),
            Some(mut other) => {
                other.iter_mut().enumerate().for_each(|(index, node)| node.instruction = index as u16);
                compare(&first, &encode(&other)?, at)?
            }
        };
        let needed = first.instructions.iter().map(|node| needed[usize::from(*node)]).collect();
        let (operations, general) = (first.code.into(), first.general);
        Some(Code { operations, needed, numbers: numbers.into(), general, exits })
    }

    /// What each node is needed for. One that computes nothing but flags is needed for these, and for what those that
    /// read its result are needed for; whether something else is written in between does not matter, since to need too
    /// much is no fault.
    fn needed(&self, nodes: &[Node], labels: usize) -> Box<[u64]> {
        let mut needed = vec![ALWAYS; nodes.len()];
        // Branches within an instruction count operations.
        if labels > 0 {
            return needed.into();
        }
        let temporaries = self.registers.temporaries() as u16;
        for index in (0..nodes.len()).rev() {
            let Some(written) = nodes[index].written().filter(|_| !nodes[index].has_effect()) else {
                continue;
            };
            let whole = |flag: &Slot| flag.at <= written.at && written.end() <= flag.end();
            let mut needs = match self.flags.iter().position(whole) {
                Some(flag) => 1 << flag,
                None if written.at >= temporaries => 0,
                None => ALWAYS,
            };
            for (later, reader) in nodes.iter().enumerate().skip(index + 1) {
                reader.reads(|slot| needs |= if slot.overlaps(written) { needed[later] } else { 0 });
            }
            needed[index] = needs;
        }
        needed.into()
    }
}

/// Where the addresses of an instruction stand in its operations: which constants they are, and which ways out.
#[allow(clippy::type_complexity, reason = "two lists")]
fn compare(
    first: &Encoded,
    second: &Encoded,
    at: &[Addresses; 2],
) -> Option<(Vec<(u16, Number)>, SmallVec<[Number; 2]>)> {
    let alike = first.code.len() == second.code.len()
        && first.general.len() == second.general.len()
        && first.exits.len() == second.exits.len()
        && first.general.iter().zip(&second.general).all(|(one, other)| one.is_like(other));
    if !alike {
        return None;
    }
    let mut numbers = Vec::new();
    let mut general =
        first.general.iter().zip(&second.general).map(|pair| (address(pair.0), address(pair.1)));
    let mut pointers = general.next();
    for (index, (one, other)) in first.code.iter().zip(&second.code).enumerate() {
        let places = |micro: &Micro| (micro.run as usize, micro.out, micro.a, micro.b, micro.c);
        if places(one) != places(other) {
            return None;
        }
        // Each points to its own.
        if pointers == Some((one.constant, other.constant)) {
            pointers = general.next();
            continue;
        }
        match Number::of(one.constant, other.constant, at)? {
            Number::Fixed(_) => {}
            number => numbers.push((u16::try_from(index).ok()?, number)),
        }
    }
    let exits = first.exits.iter().zip(&second.exits).map(|(one, other)| Number::of(*one, *other, at));
    Some((numbers, exits.collect::<Option<_>>()?))
}

fn address(general: &General) -> u64 {
    std::ptr::from_ref(general) as u64
}

impl Template {
    /// The nodes at some place, as those of the instruction of that number, with temporaries and labels behind those of
    /// earlier ones; as far as the flags are wanted.
    pub fn place(&self, into: &mut Vec<Node>, addresses: Addresses, shift: &Shift, wanted: u64) {
        let mut spots = self.spots.iter().peekable();
        for (index, (node, needed)) in self.nodes.iter().zip(&self.needed).enumerate() {
            let mut placed = (needed & wanted != 0).then(|| shift.apply(node));
            while let Some((_, spot, number)) = spots.next_if(|(at, _, _)| usize::from(*at) == index) {
                let Some(node) = &mut placed else { continue };
                let value = number.at(addresses);
                match (*spot, &mut node.kind) {
                    (Spot::Input(position), _) => {
                        if let Input::Constant(old, _) = &mut node.inputs[usize::from(position)] {
                            *old = value;
                        }
                    }
                    (Spot::Displacement, Kind::Load(address) | Kind::Store(address)) => {
                        address.displacement = value;
                    }
                    (Spot::Displacement, _) => unreachable!("only an access has a displacement"),
                }
            }
            into.extend(placed);
        }
    }
}

/// Where in a block the operations of an instruction stand.
pub struct Shift {
    /// The number of the instruction.
    pub instruction: u16,
    /// How far its labels are behind.
    pub labels: usize,
    /// Where temporaries start, and how far its own are behind.
    pub temporaries: (u16, u16),
}

impl Shift {
    fn apply(&self, node: &Node) -> Node {
        let mut node = node.clone();
        node.instruction = self.instruction;
        let (first, behind) = self.temporaries;
        let moved = |slot: &mut Slot| {
            if slot.at >= first {
                slot.at += behind;
            }
        };
        node.out.iter_mut().for_each(moved);
        for input in &mut node.inputs {
            if let Input::Slot(slot) = input {
                moved(slot);
            }
        }
        match &mut node.kind {
            Kind::Load(address) | Kind::Store(address) => {
                address.base.iter_mut().chain(&mut address.index).for_each(moved);
            }
            Kind::Branch(label) | Kind::Label(label) => *label += self.labels,
            _ => {}
        }
        node
    }
}

/// How an instruction leaves, if it is a call or a return, and where to, if that is known.
pub fn leaving(instruction: &Instruction) -> Option<(Flow, Option<u64>)> {
    let leaving = instruction.transfers().find(|(_, _, flow)| *flow != Flow::Jump);
    leaving.map(|(_, to, flow)| (flow, to.as_constant()))
}

/// Where the addresses of an instruction stand in its nodes.
fn find_spots(nodes: &[Node], others: &[Node], at: &[Addresses; 2]) -> Option<Vec<(u16, Spot, Number)>> {
    if nodes.len() != others.len() {
        return None;
    }
    let mut spots = Vec::new();
    for (index, (node, other)) in nodes.iter().zip(others).enumerate() {
        let index = u16::try_from(index).ok()?;
        let mut note = |spot: Spot, one: u64, another: u64| {
            match Number::of(one, another, at)? {
                Number::Fixed(_) => {}
                number => spots.push((index, spot, number)),
            }
            Some(())
        };
        let mut kind = other.kind.clone();
        if let (Kind::Load(one) | Kind::Store(one), Kind::Load(another) | Kind::Store(another)) =
            (&node.kind, &mut kind)
        {
            note(Spot::Displacement, one.displacement, another.displacement)?;
            another.displacement = one.displacement;
        }
        if node.kind != kind || node.out != other.out || node.inputs.len() != other.inputs.len() {
            return None;
        }
        for (position, pair) in node.inputs.iter().zip(&other.inputs).enumerate() {
            match pair {
                (Input::Constant(one, size), Input::Constant(another, other)) if size == other => {
                    note(Spot::Input(position as u8), *one, *another)?;
                }
                (one, another) if one == another => {}
                _ => return None,
            }
        }
    }
    Some(spots)
}

#[cfg(test)]
mod tests;
