//! Making a block cheaper without changing what it computes.
//!
//! Three passes. *Forwarding* reads a value where it came from instead of where it was copied to. *Gathering* joins an
//! operation with the one that uses its result: an address with its access, a comparison with its jump, a 32-bit
//! result with its extension. *Sweeping* drops what nobody will read: most flags, above all.
//!
//! Registers are exact wherever the program can stop, and at the end of the block. Flags are exact at the end of the
//! block (unless the caller knows that they are dead there), but not at a faulting access in its middle: there a flag
//! may hold an older value if the rest of the block would have overwritten it before anybody read it.

use super::node::{Address, Input, Kind, Node, Slot};
use super::sweep::Sweeper;
use parallax_op::{BinOp, RelOp};
use smallvec::smallvec;

/// What the passes remember between blocks, to save allocations.
pub struct Improver {
    /// For each byte of the file, which operation wrote it last.
    writer: Vec<Writer>,
    block: u32,
    sweeper: Sweeper,
}

#[derive(Clone, Copy, Default)]
struct Writer {
    block: u32,
    index: u32,
}

/// Where flags are and what is known about them at the end of a block.
pub struct Boundary<'a> {
    /// Flags that are allowed to be inexact at faults.
    pub flags: &'a [Slot],
    /// Flags that nobody reads after the block.
    pub dead: &'a [Slot],
    /// Where temporaries start.
    pub temporaries: usize,
    /// One past the last one in use.
    pub end: usize,
    /// Bytes in an address.
    pub address_size: u16,
}

impl Improver {
    /// For a file of so many bytes.
    pub fn new(size: usize) -> Self {
        Improver { writer: vec![Writer::default(); size], block: 0, sweeper: Sweeper::new(size) }
    }

    /// Improves a block.
    pub fn improve(&mut self, nodes: &mut Vec<Node>, labels: usize, boundary: &Boundary) {
        retarget(nodes, boundary.temporaries as u16);
        self.forward(nodes);
        self.gather(nodes, boundary.address_size);
        widen(nodes);
        self.sweeper.sweep(nodes, labels, boundary);
    }

    fn start(&mut self) {
        self.block += 1;
    }

    fn note(&mut self, slot: Slot, index: usize) {
        self.writer[slot.range()].fill(Writer { block: self.block, index: index as u32 });
    }

    /// Which operation of this block wrote any of these bytes last.
    fn last_write(&self, slot: Slot) -> Option<usize> {
        let in_block = self.writer[slot.range()].iter().filter(|writer| writer.block == self.block);
        in_block.map(|writer| writer.index as usize).max()
    }

    /// The operation that wrote exactly these bytes, if nothing wrote part of them since.
    fn definition(&self, nodes: &[Node], slot: Slot) -> Option<usize> {
        let index = self.last_write(slot)?;
        let whole =
            self.writer[slot.range()].iter().all(|w| w.block == self.block && w.index as usize == index);
        (whole && nodes[index].out == Some(slot)).then_some(index)
    }

    /// Whether what `index` read is still there.
    fn unchanged(&self, index: usize, input: Input) -> bool {
        input.slot().is_none_or(|slot| self.last_write(slot).is_none_or(|written| written < index))
    }

    /// Reads values where they came from.
    fn forward(&mut self, nodes: &mut [Node]) {
        self.start();
        for index in 0..nodes.len() {
            if matches!(nodes[index].kind, Kind::Label(_)) {
                self.start();
            }
            if !matches!(nodes[index].kind, Kind::General(_)) {
                for position in 0..nodes[index].inputs.len() {
                    let Input::Slot(slot) = nodes[index].inputs[position] else { continue };
                    if let Some(source) = self.source(nodes, slot) {
                        nodes[index].inputs[position] = source;
                    }
                }
                let (Kind::Load(address) | Kind::Store(address)) = &nodes[index].kind else {
                    self.fold(&mut nodes[index]);
                    if let Some(written) = nodes[index].written() {
                        self.note(written, index);
                    }
                    continue;
                };
                let mut address = *address;
                if let Some(base) = address.base {
                    match self.source(nodes, base) {
                        Some(Input::Slot(source)) => address.base = Some(source),
                        Some(Input::Constant(value, _)) => {
                            let displacement = address.displacement.wrapping_add(value);
                            address = Address { base: None, displacement, ..address };
                        }
                        None => {}
                    }
                }
                match &mut nodes[index].kind {
                    Kind::Load(old) | Kind::Store(old) => *old = address,
                    _ => unreachable!("just matched"),
                }
            }
            if let Some(written) = nodes[index].written() {
                self.note(written, index);
            }
        }
    }

    /// Where the value in a slot was copied from, if it is still there.
    fn source(&self, nodes: &[Node], slot: Slot) -> Option<Input> {
        let definition = self.definition(nodes, slot)?;
        let node = &nodes[definition];
        let input = *node.inputs.first()?;
        (node.kind == Kind::Copy && input.size() == slot.size && self.unchanged(definition, input))
            .then_some(input)
    }

    /// Turns operations that only move bytes into copies.
    fn fold(&self, node: &mut Node) {
        let Some(out) = node.out else { return };
        let commutes = match node.kind {
            Kind::Bin(op) => op.commutes(),
            Kind::Rel(RelOp::Eq | RelOp::Ne) => true,
            _ => false,
        };
        if commutes && matches!(node.inputs.as_slice(), [Input::Constant(..), Input::Slot(_)]) {
            node.inputs.swap(0, 1);
        }
        match (&node.kind, node.inputs.as_slice()) {
            // Lowest byte first: a part of a value is a part of its place.
            (Kind::Extract(low), [Input::Slot(slot)]) if low % 8 == 0 && low / 8 + out.size <= slot.size => {
                node.inputs[0] = Input::Slot(Slot { at: slot.at + low / 8, size: out.size });
                node.kind = Kind::Copy;
            }
            (Kind::Extract(low), [Input::Constant(value, _)]) if out.size <= 8 && *low < 64 => {
                node.inputs[0] = Input::Constant(cut(value >> low, out.size), out.size);
                node.kind = Kind::Copy;
            }
            (Kind::Zext, [Input::Constant(value, _)]) if out.size <= 8 => {
                node.inputs[0] = Input::Constant(*value, out.size);
                node.kind = Kind::Copy;
            }
            (Kind::Sext, [Input::Constant(value, size)]) if out.size <= 8 && *size <= 8 => {
                let shift = 64 - 8 * u32::from(*size);
                let extended = ((value << shift) as i64 >> shift) as u64;
                node.inputs[0] = Input::Constant(cut(extended, out.size), out.size);
                node.kind = Kind::Copy;
            }
            (Kind::Bin(op), [Input::Constant(a, size), Input::Constant(b, other)])
                if size == other && *size <= 8 =>
            {
                let value = op.apply_small(8 * size, u128::from(*a), u128::from(*b)) as u64;
                node.inputs = smallvec![Input::Constant(value, *size)];
                node.kind = Kind::Copy;
            }
            // `x - x` and `x ^ x` are zero whatever x is.
            (Kind::Bin(BinOp::Sub | BinOp::Xor), [a, b]) if a == b && out.size <= 8 => {
                node.inputs = smallvec![Input::Constant(0, out.size)];
                node.kind = Kind::Copy;
            }
            (Kind::Bin(BinOp::And | BinOp::Or), [a, b]) if a == b => {
                node.inputs.truncate(1);
                node.kind = Kind::Copy;
            }
            _ => {}
        }
    }

    /// Joins operations with the users of their results.
    fn gather(&mut self, nodes: &mut [Node], address_size: u16) {
        self.start();
        for index in 0..nodes.len() {
            if matches!(nodes[index].kind, Kind::Label(_)) {
                self.start();
            }
            match &nodes[index].kind {
                Kind::Load(address) => {
                    let gathered = self.address(nodes, *address, address_size);
                    nodes[index].kind = Kind::Load(gathered);
                }
                Kind::Store(address) => {
                    let gathered = self.address(nodes, *address, address_size);
                    nodes[index].kind = Kind::Store(gathered);
                }
                Kind::Jump if nodes[index].inputs.len() == 2 => {
                    // What is wider than any fast form of a jump is compared before it.
                    if let Some((op, a, b)) = self.condition(nodes, nodes[index].inputs[0], 0)
                        && a.size() <= 16
                    {
                        let target = nodes[index].inputs[1];
                        nodes[index].kind = Kind::JumpIf(op);
                        nodes[index].inputs = smallvec![a, b, target];
                    }
                }
                Kind::BoolNot | Kind::Bool(_) | Kind::Rel(RelOp::Eq | RelOp::Ne) => {
                    let out = nodes[index].out.expect("a result");
                    // A condition assembled from flags is a comparison of what the flags were made from.
                    if out.size == 1
                        && let Some((op, a, b)) = self.assembled(nodes, index, 0)
                    {
                        nodes[index].kind = Kind::Rel(op);
                        nodes[index].inputs = smallvec![a, b];
                    }
                }
                _ => {}
            }
            if let Some(written) = nodes[index].written() {
                self.note(written, index);
            }
        }
    }

    /// Follows an address through the sums it is made of.
    fn address(&self, nodes: &[Node], mut address: Address, size: u16) -> Address {
        for _ in 0..4 {
            let Some(base) = address.base.filter(|base| base.size == size) else { break };
            let Some(definition) = self.definition(nodes, base) else { break };
            let node = &nodes[definition];
            if node.inputs.iter().any(|input| !self.unchanged(definition, *input) || input.size() != size) {
                break;
            }
            match (&node.kind, node.inputs.as_slice()) {
                (Kind::Bin(BinOp::Add), [Input::Slot(left), Input::Constant(value, _)])
                | (Kind::Bin(BinOp::Add), [Input::Constant(value, _), Input::Slot(left)]) => {
                    address.base = Some(*left);
                    address.displacement = address.displacement.wrapping_add(*value);
                }
                (Kind::Bin(BinOp::Sub), [Input::Slot(left), Input::Constant(value, _)]) => {
                    address.base = Some(*left);
                    address.displacement = address.displacement.wrapping_sub(*value);
                }
                (Kind::Bin(BinOp::Add), [Input::Slot(left), Input::Slot(right)])
                    if address.index.is_none() =>
                {
                    address.base = Some(*left);
                    (address.index, address.shift) = (Some(*right), 0);
                }
                (Kind::Copy, [Input::Constant(value, _)]) => {
                    address.base = None;
                    address.displacement = address.displacement.wrapping_add(*value);
                }
                _ => break,
            }
        }
        // The scaled term may have ended up on either side.
        for swap in [false, true] {
            if swap {
                if address.shift != 0 || address.base.is_none() || address.index.is_none() {
                    break;
                }
                std::mem::swap(&mut address.base, &mut address.index);
            }
            if let Some(index) = address.index
                && address.shift == 0
                && let Some((slot, shift)) = self.scaled(nodes, index, size)
            {
                address.index = Some(slot);
                address.shift = shift;
            }
        }
        address
    }

    /// `slot` as another slot times a power of two.
    fn scaled(&self, nodes: &[Node], slot: Slot, size: u16) -> Option<(Slot, u8)> {
        let definition = self.definition(nodes, slot)?;
        let node = &nodes[definition];
        let [Input::Slot(source), Input::Constant(value, _)] = node.inputs.as_slice() else { return None };
        if source.size != size || !self.unchanged(definition, Input::Slot(*source)) {
            return None;
        }
        match node.kind {
            Kind::Bin(BinOp::Shl) if *value < 16 => Some((*source, *value as u8)),
            Kind::Bin(BinOp::Mul) if value.is_power_of_two() && *value < 1 << 16 => {
                Some((*source, value.trailing_zeros() as u8))
            }
            _ => None,
        }
    }

    /// A truth value as a relation between two values that can still be read.
    fn condition(&self, nodes: &[Node], input: Input, depth: usize) -> Option<(RelOp, Input, Input)> {
        let slot = input.slot().filter(|slot| slot.size == 1)?;
        let definition = self.definition(nodes, slot)?;
        self.assembled(nodes, definition, depth)
    }

    /// The same for the operation that computes it.
    fn assembled(&self, nodes: &[Node], index: usize, depth: usize) -> Option<(RelOp, Input, Input)> {
        const DEEPEST: usize = 4;
        if depth > DEEPEST {
            return None;
        }
        let node = &nodes[index];
        let zero = |input: Input| matches!(input, Input::Constant(0, _));
        let readable = |a: Input, b: Input| self.unchanged(index, a) && self.unchanged(index, b);
        match (&node.kind, node.inputs.as_slice()) {
            (Kind::BoolNot, [a]) => {
                let (op, a, b) = self.condition(nodes, *a, depth + 1)?;
                Some((op.negation(), a, b))
            }
            // A truth value compared with zero.
            (Kind::Rel(op @ (RelOp::Eq | RelOp::Ne)), [a, b])
                if zero(*b) && a.size() == 1 && self.condition(nodes, *a, depth + 1).is_some() =>
            {
                let (inner, a, b) = self.condition(nodes, *a, depth + 1)?;
                Some((if *op == RelOp::Eq { inner.negation() } else { inner }, a, b))
            }
            // Sign against overflow: `SF == OF` and `SF != OF`.
            (Kind::Rel(op @ (RelOp::Eq | RelOp::Ne)), [a, b]) if a.size() == 1 => {
                let found =
                    self.sign_and_overflow(nodes, *a, *b).or_else(|| self.sign_and_overflow(nodes, *b, *a));
                match found {
                    Some((left, right)) => {
                        Some((if *op == RelOp::Ne { RelOp::Slt } else { RelOp::Sge }, left, right))
                    }
                    None => readable(*a, *b).then_some((*op, *a, *b)),
                }
            }
            (Kind::Bool(parallax_op::BoolOp::Xor), [a, b]) => {
                let found =
                    self.sign_and_overflow(nodes, *a, *b).or_else(|| self.sign_and_overflow(nodes, *b, *a));
                found.map(|(left, right)| (RelOp::Slt, left, right))
            }
            // `CF || ZF`, `ZF || SF != OF`, and their opposites.
            (Kind::Bool(op), [a, b]) => {
                let (first, a1, b1) = self.condition(nodes, *a, depth + 1)?;
                let (second, a2, b2) = self.condition(nodes, *b, depth + 1)?;
                if (a1, b1) != (a2, b2) {
                    return None;
                }
                joined(*op, first, second).or_else(|| joined(*op, second, first)).map(|op| (op, a1, b1))
            }
            // A difference is zero when its operands are equal.
            (Kind::Rel(op @ (RelOp::Eq | RelOp::Ne)), [a, b]) if zero(*b) => {
                let difference = a.slot().and_then(|slot| self.definition(nodes, slot)).filter(|found| {
                    let inputs = &nodes[*found].inputs;
                    nodes[*found].kind == Kind::Bin(BinOp::Sub)
                        && inputs.iter().all(|input| self.unchanged(*found, *input))
                });
                match difference {
                    Some(found) => Some((*op, nodes[found].inputs[0], nodes[found].inputs[1])),
                    None => readable(*a, *b).then_some((*op, *a, *b)),
                }
            }
            (Kind::Rel(op), [a, b]) => readable(*a, *b).then_some((*op, *a, *b)),
            _ => None,
        }
    }

    /// The operands of a subtraction, from its sign and its overflow.
    fn sign_and_overflow(&self, nodes: &[Node], sign: Input, overflow: Input) -> Option<(Input, Input)> {
        let overflow = self.definition(nodes, overflow.slot()?)?;
        let sign = self.definition(nodes, sign.slot()?)?;
        let (Kind::SignedBorrow, [a, b]) = (&nodes[overflow].kind, nodes[overflow].inputs.as_slice()) else {
            return None;
        };
        let (Kind::Rel(RelOp::Slt), [value, Input::Constant(0, _)]) =
            (&nodes[sign].kind, nodes[sign].inputs.as_slice())
        else {
            return None;
        };
        let difference = self.definition(nodes, value.slot()?)?;
        let node = &nodes[difference];
        let same = node.kind == Kind::Bin(BinOp::Sub) && node.inputs.as_slice() == [*a, *b];
        let still = |input: Input| self.unchanged(difference, input) && self.unchanged(overflow, input);
        (same && still(*a) && still(*b)).then_some((*a, *b))
    }
}

/// Lets an operation write its result where it will end up, instead of into a temporary that is copied there.
///
/// The copy is turned round, so that later readers of the temporary find it; forwarding and sweeping remove it where
/// there are none. Going backwards, a chain of copies and extensions collapses onto its first link.
fn retarget(nodes: &mut [Node], temporaries: u16) {
    for index in (0..nodes.len()).rev() {
        let (Some(out), [Input::Slot(from)]) = (nodes[index].out, nodes[index].inputs.as_slice()) else {
            continue;
        };
        let (from, extends) = (*from, nodes[index].kind == Kind::Zext);
        let moves = (nodes[index].kind == Kind::Copy && from.size == out.size) || (extends && out.size == 8);
        if !moves || nodes[index].widened || from.at < temporaries || from.overlaps(out) {
            continue;
        }
        let Some(maker) = maker(nodes, index, from, out) else { continue };
        let narrow = Slot { at: out.at, size: from.size };
        let (target, widened) = match (&nodes[maker].kind, extends) {
            (_, false) if !nodes[maker].widened => (out, false),
            (Kind::Copy | Kind::Bin(_) | Kind::Un(_) | Kind::Select, true) if from.size == 4 => {
                (narrow, true)
            }
            (Kind::Load(_), true) if from.size <= 4 => (narrow, true),
            (Kind::Zext, true) => (out, false),
            _ => continue,
        };
        nodes[maker].out = Some(target);
        nodes[maker].widened = widened;
        for node in &mut nodes[maker + 1..index] {
            node.rename(from, narrow);
        }
        nodes[index].kind = Kind::Copy;
        nodes[index].out = Some(from);
        nodes[index].inputs = smallvec![Input::Slot(narrow)];
    }
}

/// The operation before `index` that makes `from`, if it could as well have written `out` at once.
fn maker(nodes: &[Node], index: usize, from: Slot, out: Slot) -> Option<usize> {
    const FAR: usize = 24;
    for back in (index.saturating_sub(FAR)..index).rev() {
        let node = &nodes[back];
        if node.out == Some(from) {
            return (node.instruction == nodes[index].instruction).then_some(back);
        }
        let mut hinders = node.may_stop()
            || matches!(node.kind, Kind::Label(_) | Kind::Branch(_) | Kind::Jump | Kind::JumpIf(_))
            || node.written().is_some_and(|slot| slot.overlaps(out) || slot.overlaps(from));
        node.reads(|slot| hinders |= slot.overlaps(out) || (slot.overlaps(from) && slot != from));
        if hinders {
            return None;
        }
    }
    None
}

/// Lets a 32-bit result be written with its zero extension, where the extension follows.
fn widen(nodes: &mut [Node]) {
    for index in 0..nodes.len() {
        let (Kind::Zext, Some(out), [Input::Slot(narrow)]) =
            (&nodes[index].kind, nodes[index].out, nodes[index].inputs.as_slice())
        else {
            continue;
        };
        let narrow = *narrow;
        if out.size != 8 || narrow.size != 4 {
            continue;
        }
        if narrow.at != out.at {
            continue;
        }
        let upper = Slot { at: out.at + 4, size: 4 };
        // Look back for the operation that made the value; nothing between may look at the bytes we write early.
        let mut found = None;
        for back in (index.saturating_sub(24)..index).rev() {
            let node = &nodes[back];
            if node.out == Some(narrow) {
                found = Some(back);
                break;
            }
            let mut touches = node.may_stop()
                || matches!(node.kind, Kind::Label(_) | Kind::Branch(_) | Kind::Jump | Kind::JumpIf(_))
                || node.written().is_some_and(|slot| slot.overlaps(upper) || slot.overlaps(narrow));
            node.reads(|slot| touches |= slot.overlaps(upper));
            if touches {
                break;
            }
        }
        let Some(back) = found else { continue };
        let node = &nodes[back];
        let can = matches!(node.kind, Kind::Copy | Kind::Bin(_) | Kind::Load(_) | Kind::Un(_) | Kind::Select)
            && !node.widened;
        if !can {
            continue;
        }
        nodes[back].widened = true;
        // What is left is a copy of the place onto itself, which encodes as nothing.
        nodes[index].kind = Kind::Copy;
        nodes[index].out = Some(narrow);
        nodes[index].inputs = smallvec![Input::Slot(narrow)];
    }
}

fn cut(value: u64, size: u16) -> u64 {
    if size >= 8 { value } else { value & ((1 << (8 * size)) - 1) }
}

/// `first op second`, both about the same two values, as one relation.
fn joined(op: parallax_op::BoolOp, first: RelOp, second: RelOp) -> Option<RelOp> {
    use parallax_op::BoolOp::{And, Or};
    Some(match (op, first, second) {
        (Or, RelOp::Ult, RelOp::Eq) => RelOp::Ule,
        (Or, RelOp::Slt, RelOp::Eq) => RelOp::Sle,
        (And, RelOp::Uge, RelOp::Ne) => RelOp::Ugt,
        (And, RelOp::Sge, RelOp::Ne) => RelOp::Sgt,
        (And, RelOp::Ule, RelOp::Ne) => RelOp::Ult,
        (And, RelOp::Sle, RelOp::Ne) => RelOp::Slt,
        _ => return None,
    })
}
