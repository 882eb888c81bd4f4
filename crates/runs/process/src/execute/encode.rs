//! From the operations of an improved block to the functions that run them.

use super::general::General;
use super::micro::{self, Big32, Little64, Micro, Run};
use super::node::{Address, Input, Kind, Node, Slot};
use super::probe::{self, Tells};
use parallax_ir::Processor;
use parallax_op::{BinOp, BoolOp, RelOp, UnOp};
use parallax_sem::ByteOrder;
use smallvec::SmallVec;
use std::rc::Rc;

/// A block in the form that runs.
#[derive(Default)]
pub struct Encoded {
    /// The operations.
    pub code: Vec<Micro>,
    /// Which instruction each belongs to.
    pub instructions: Vec<u16>,
    /// The addresses that the ways out lead to.
    pub exits: Vec<u64>,
    /// What [`micro::general`] points to.
    #[allow(clippy::vec_box, reason = "operations hold their addresses")]
    pub general: Vec<Box<General>>,
}

/// Turns blocks into running form for one processor.
pub struct Encoder {
    /// The processor.
    pub processor: Rc<Processor>,
    /// A place behind all temporaries for constants that an operation wants in the file.
    pub scratch: u16,
    /// Whether somebody watches memory accesses.
    pub watched: bool,
}

macro_rules! by_size {
    ($size:expr, $Type:ident => $body:expr) => {
        match $size {
            1 => {
                type $Type = u8;
                $body
            }
            2 => {
                type $Type = u16;
                $body
            }
            4 => {
                type $Type = u32;
                $body
            }
            8 => {
                type $Type = u64;
                $body
            }
            16 => {
                type $Type = u128;
                $body
            }
            _ => return None,
        }
    };
}

macro_rules! by_truth {
    ($value:expr, $Name:ident => $body:expr) => {
        if $value {
            const $Name: bool = true;
            $body
        } else {
            const $Name: bool = false;
            $body
        }
    };
}

macro_rules! by_operator {
    ($value:expr, $Enum:ident [$($name:ident)+], $Name:ident => $body:expr) => {
        match $value {
            $($Enum::$name => {
                const $Name: usize = $Enum::$name as usize;
                $body
            })+
        }
    };
}

/// By the type of a result, which is widened from four bytes to eight or not at all.
macro_rules! by_result {
    ($size:expr, $wide:expr, $Type:ident, $Wide:ident => $body:expr) => {
        match ($wide, $size) {
            (true, 4) => {
                type $Type = u32;
                const $Wide: bool = true;
                $body
            }
            (true, _) => return None,
            (false, size) => {
                const $Wide: bool = false;
                by_size!(size, $Type => $body)
            }
        }
    };
}

fn binary(op: BinOp, size: u16, constant: bool, wide: bool) -> Option<Run> {
    Some(by_operator!(op, BinOp [Add Sub Mul Udiv Urem Sdiv Srem And Or Xor Shl Lshr Ashr], OP => {
        by_truth!(constant, CONSTANT => {
            by_result!(size, wide, T, WIDE => micro::binary::<OP, T, CONSTANT, WIDE> as Run)
        })
    }))
}

fn shift(op: BinOp, size: u16, wide: bool) -> Option<Run> {
    macro_rules! one {
        ($OP:expr) => {
            by_result!(size, wide, T, WIDE => micro::shift::<{ $OP }, T, WIDE> as Run)
        };
    }
    Some(match op {
        BinOp::Shl => one!(BinOp::Shl as usize),
        BinOp::Lshr => one!(BinOp::Lshr as usize),
        BinOp::Ashr => one!(BinOp::Ashr as usize),
        _ => return None,
    })
}

fn unary(op: UnOp, size: u16, wide: bool) -> Option<Run> {
    Some(by_operator!(op, UnOp [Not Neg Popcount Clz Ctz], OP => {
        by_result!(size, wide, T, WIDE => micro::unary::<OP, T, WIDE> as Run)
    }))
}

fn relation(op: RelOp, size: u16, constant: bool) -> Option<Run> {
    Some(by_operator!(op, RelOp [Eq Ne Ult Ule Ugt Uge Slt Sle Sgt Sge], OP => {
        by_truth!(constant, CONSTANT => by_size!(size, T => micro::relation::<OP, T, CONSTANT> as Run))
    }))
}

fn leave_related(op: RelOp, size: u16, constant: bool) -> Option<Run> {
    Some(by_operator!(op, RelOp [Eq Ne Ult Ule Ugt Uge Slt Sle Sgt Sge], OP => {
        by_truth!(constant, CONSTANT => by_size!(size, T => micro::leave_related::<OP, T, CONSTANT> as Run))
    }))
}

fn overflow(kind: &Kind, size: u16, constant: bool) -> Option<Run> {
    Some(by_truth!(constant, CONSTANT => match kind {
        Kind::Carry => by_size!(size, T => micro::overflow::<0, T, CONSTANT> as Run),
        Kind::SignedCarry => by_size!(size, T => micro::overflow::<1, T, CONSTANT> as Run),
        _ => by_size!(size, T => micro::overflow::<2, T, CONSTANT> as Run),
    }))
}

fn copy(size: u16, wide: bool) -> Option<Run> {
    Some(by_result!(size, wide, T, WIDE => micro::copy::<T, WIDE> as Run))
}

fn constant(size: u16, wide: bool) -> Option<Run> {
    Some(by_result!(size, wide, T, WIDE => micro::constant::<T, WIDE> as Run))
}

fn select(size: u16, wide: bool) -> Option<Run> {
    Some(by_result!(size, wide, T, WIDE => micro::select::<T, WIDE> as Run))
}

fn zero_extend(from: u16, to: u16) -> Option<Run> {
    Some(by_size!(from, F => by_size!(to, T => micro::zero_extend::<F, T> as Run)))
}

fn sign_extend(from: u16, to: u16) -> Option<Run> {
    Some(by_size!(from, F => by_size!(to, T => micro::sign_extend::<F, T> as Run)))
}

fn extract(from: u16, to: u16) -> Option<Run> {
    Some(by_size!(from, F => by_size!(to, T => micro::extract::<F, T> as Run)))
}

macro_rules! by_terms {
    ($terms:expr, $Name:ident => $body:expr) => {
        match $terms {
            0 => {
                const $Name: usize = 0;
                $body
            }
            1 => {
                const $Name: usize = 1;
                $body
            }
            _ => {
                const $Name: usize = 2;
                $body
            }
        }
    };
}

fn load(big: bool, size: u16, terms: usize, wide: bool, watched: bool) -> Option<Run> {
    Some(by_terms!(terms, TERMS => by_truth!(watched, WATCHED => {
        match (big, wide) {
            (false, false) => by_size!(size, T => micro::load::<Little64, T, TERMS, false, WATCHED> as Run),
            (false, true) => match size {
                1 => micro::load::<Little64, u8, TERMS, true, WATCHED> as Run,
                2 => micro::load::<Little64, u16, TERMS, true, WATCHED> as Run,
                4 => micro::load::<Little64, u32, TERMS, true, WATCHED> as Run,
                _ => return None,
            },
            (true, false) => by_size!(size, T => micro::load::<Big32, T, TERMS, false, WATCHED> as Run),
            _ => return None,
        }
    })))
}

fn store(big: bool, size: u16, terms: usize, watched: bool) -> Option<Run> {
    Some(by_terms!(terms, TERMS => by_truth!(watched, WATCHED => {
        if big {
            by_size!(size, T => micro::store::<Big32, T, TERMS, WATCHED> as Run)
        } else {
            by_size!(size, T => micro::store::<Little64, T, TERMS, WATCHED> as Run)
        }
    })))
}

fn leave_for(size: u16, conditional: bool) -> Option<Run> {
    Some(match (size, conditional) {
        (4, false) => micro::leave_for::<u32> as Run,
        (8, false) => micro::leave_for::<u64> as Run,
        (4, true) => micro::leave_for_when::<u32> as Run,
        (8, true) => micro::leave_for_when::<u64> as Run,
        _ => return None,
    })
}

/// An operation of a shape that no function here takes; a fault of the lifter's.
#[derive(Debug)]
pub struct Unencodable(pub String);

impl Encoder {
    /// Encodes operations behind those of a block. Their labels are their own.
    pub fn append(&self, block: &mut Encoded, nodes: &[Node], labels: usize) -> Result<(), Unencodable> {
        let mut places = vec![0usize; labels];
        let mut branches = Vec::new();
        for node in nodes {
            match &node.kind {
                Kind::Label(label) => places[*label] = block.code.len(),
                Kind::Branch(label) => {
                    let when = node.inputs.first().map(|when| self.in_file(block, node, *when, 0));
                    branches.push((block.code.len(), *label));
                    let run = if when.is_some() { micro::skip_when as Run } else { micro::skip as Run };
                    block.push(node, Micro { a: when.unwrap_or(0), ..blank(run) });
                }
                _ => self.one(block, node)?,
            }
        }
        for (at, label) in branches {
            block.code[at].constant = (places[label] as i64 - at as i64) as u64;
        }
        Ok(())
    }

    /// The place of an input, after putting it into the file if it is a constant.
    fn in_file(&self, block: &mut Encoded, node: &Node, input: Input, number: u16) -> u16 {
        match input {
            Input::Slot(slot) => slot.at,
            Input::Constant(value, size) => {
                let at = self.scratch + 16 * number;
                // A constant wider than a word has zeros above.
                let (run, value) = match constant(size, false) {
                    Some(run) => (run, value),
                    None => (micro::constant::<u128, false> as Run, value),
                };
                block.push(node, Micro { out: at, constant: value, ..blank(run) });
                at
            }
        }
    }

    fn one(&self, block: &mut Encoded, node: &Node) -> Result<(), Unencodable> {
        if let Some(micro) = self.fast(block, node) {
            if let Some(micro) = micro {
                block.push(node, micro);
            }
            return Ok(());
        }
        let refuse = || Unencodable(format!("{:?}", node.kind));
        let op = match &node.kind {
            Kind::General(op) => (**op).clone(),
            _ => super::original::rebuild(node).ok_or_else(refuse)?,
        };
        let general = Box::new(General::new(
            op,
            self.processor.clone(),
            &node.inputs,
            node.out,
            node.instruction.into(),
        ));
        let own = std::ptr::from_ref(&*general) as u64;
        let micro = match (host(node), node.out) {
            (Some(run), Some(out)) => {
                let mut place = [0; 3];
                for (number, input) in node.inputs.iter().take(3).enumerate() {
                    place[number] = self.in_file(block, node, *input, number as u16);
                }
                let [a, b, c] = place;
                Micro { out: out.at, a, b, c, constant: own, ..blank(run) }
            }
            _ if self.watched => Micro { constant: own, ..blank(micro::general::<true>) },
            _ => Micro { constant: own, ..blank(micro::general::<false>) },
        };
        block.general.push(general);
        block.push(node, micro);
        if node.widened {
            let out = node.out.expect("a widened result");
            let widen = Micro { out: out.at, a: out.at, ..blank(micro::zero_extend::<u32, u64>) };
            block.push(node, widen);
        }
        Ok(())
    }

    /// The function for an operation: `None` if there is none, `Some(None)` if nothing needs to be done.
    fn fast(&self, block: &mut Encoded, node: &Node) -> Option<Option<Micro>> {
        let out = node.out.map_or(0, |slot| slot.at);
        let size = node.out.map_or(0, |slot| slot.size);
        let wide = node.widened;
        let big = self.processor.order == ByteOrder::Big;
        // Two operands, the second of which may be a constant.
        let two = |block: &mut Encoded| {
            let a = self.in_file(block, node, node.inputs[0], 0);
            match node.inputs[1] {
                Input::Slot(slot) => (a, slot.at, 0, false),
                Input::Constant(value, _) => (a, 0, value, true),
            }
        };
        let micro = match &node.kind {
            Kind::Copy => match node.inputs[0] {
                Input::Slot(slot) if slot.at == out && !wide => return Some(None),
                Input::Slot(slot) => Micro { out, a: slot.at, ..blank(copy(size, wide)?) },
                Input::Constant(value, _) => Micro { out, constant: value, ..blank(constant(size, wide)?) },
            },
            Kind::Un(op) => {
                let run = unary(*op, size, wide)?;
                Micro { out, a: self.in_file(block, node, node.inputs[0], 0), ..blank(run) }
            }
            Kind::Bin(op) => {
                if let Input::Slot(distance) = node.inputs[1]
                    && distance.size != size
                {
                    let mask = match distance.size {
                        1 => 0xff,
                        2 => 0xffff,
                        4 => 0xffff_ffff,
                        8 => u64::MAX,
                        _ => return None,
                    };
                    let run = shift(*op, size, wide)?;
                    let a = self.in_file(block, node, node.inputs[0], 0);
                    return Some(Some(Micro { out, a, b: distance.at, constant: mask, ..blank(run) }));
                }
                if let Input::Constant(value, other) = node.inputs[1]
                    && other != size
                {
                    // A constant distance that the width of the operand could not hold shifts everything out.
                    let limit = if size >= 8 { u64::MAX } else { (1 << (8 * size)) - 1 };
                    let clamped = value.min(limit);
                    let run = binary(*op, size, true, wide)?;
                    let a = self.in_file(block, node, node.inputs[0], 0);
                    return Some(Some(Micro { out, a, constant: clamped, ..blank(run) }));
                }
                let constant = matches!(node.inputs[1], Input::Constant(..));
                let run = binary(*op, size, constant, wide)?;
                let (a, b, constant, _) = two(block);
                Micro { out, a, b, constant, ..blank(run) }
            }
            Kind::Rel(op) => {
                let run =
                    relation(*op, node.inputs[0].size(), matches!(node.inputs[1], Input::Constant(..)))?;
                let (a, b, constant, _) = two(block);
                if size != 1 {
                    return None;
                }
                Micro { out, a, b, constant, ..blank(run) }
            }
            kind @ (Kind::Carry | Kind::SignedCarry | Kind::SignedBorrow) => {
                let constant = matches!(node.inputs[1], Input::Constant(..));
                let run = overflow(kind, node.inputs[0].size(), constant)?;
                let (a, b, constant, _) = two(block);
                Micro { out, a, b, constant, ..blank(run) }
            }
            Kind::Bool(op) => {
                if size != 1 || node.inputs.iter().any(|input| input.size() != 1) {
                    return None;
                }
                let run = match op {
                    BoolOp::And => micro::boolean::<0> as Run,
                    BoolOp::Or => micro::boolean::<1> as Run,
                    BoolOp::Xor => micro::boolean::<2> as Run,
                    _ => return None,
                };
                let a = self.in_file(block, node, node.inputs[0], 0);
                Micro { out, a, b: self.in_file(block, node, node.inputs[1], 1), ..blank(run) }
            }
            Kind::BoolNot => {
                if size != 1 || node.inputs[0].size() != 1 {
                    return None;
                }
                let a = self.in_file(block, node, node.inputs[0], 0);
                Micro { out, a, ..blank(micro::boolean_not) }
            }
            Kind::Zext => {
                let run = zero_extend(node.inputs[0].size(), size)?;
                Micro { out, a: self.in_file(block, node, node.inputs[0], 0), ..blank(run) }
            }
            Kind::Sext => {
                let run = sign_extend(node.inputs[0].size(), size)?;
                Micro { out, a: self.in_file(block, node, node.inputs[0], 0), ..blank(run) }
            }
            Kind::Extract(low) => {
                let run = extract(node.inputs[0].size(), size)?;
                let a = self.in_file(block, node, node.inputs[0], 0);
                Micro { out, a, constant: u64::from(*low), ..blank(run) }
            }
            Kind::Concat => {
                let run = match (node.inputs[0].size(), node.inputs[1].size()) {
                    (1, 1) => micro::concatenate::<u8, u16> as Run,
                    (2, 2) => micro::concatenate::<u16, u32> as Run,
                    (4, 4) => micro::concatenate::<u32, u64> as Run,
                    (8, 8) => micro::concatenate::<u64, u128> as Run,
                    _ => return None,
                };
                let a = self.in_file(block, node, node.inputs[0], 0);
                Micro { out, a, b: self.in_file(block, node, node.inputs[1], 1), ..blank(run) }
            }
            Kind::Select => {
                let run = select(size, wide)?;
                if node.inputs[0].size() != 1 {
                    return None;
                }
                let when = self.in_file(block, node, node.inputs[0], 0);
                let a = self.in_file(block, node, node.inputs[1], 1);
                let b = self.in_file(block, node, node.inputs[2], 2);
                Micro { out, a, b, c: when, ..blank(run) }
            }
            Kind::Load(address) => {
                let (terms, address) = terms(*address);
                let run = load(big, size, terms, wide, self.watched)?;
                Micro { out, ..with_address(run, address, node) }
            }
            Kind::Store(address) => {
                let (terms, address) = terms(*address);
                let run = store(big, node.inputs[0].size(), terms, self.watched)?;
                let value = self.in_file(block, node, node.inputs[0], 0);
                Micro { out: value, ..with_address(run, address, node) }
            }
            Kind::Jump => match *node.inputs.as_slice() {
                [Input::Constant(target, _)] => Micro { c: block.way(target), ..blank(micro::leave) },
                [Input::Slot(target)] => Micro { a: target.at, ..blank(leave_for(target.size, false)?) },
                [when, Input::Constant(target, _)] if when.size() == 1 => {
                    let a = self.in_file(block, node, when, 0);
                    Micro { a, c: block.way(target), ..blank(micro::leave_when) }
                }
                [when, Input::Slot(target)] if when.size() == 1 => {
                    let run = leave_for(target.size, true)?;
                    Micro { a: target.at, b: self.in_file(block, node, when, 0), ..blank(run) }
                }
                _ => return None,
            },
            Kind::JumpIf(op) => {
                let constant = matches!(node.inputs[1], Input::Constant(..));
                match node.inputs[2] {
                    Input::Constant(target, _) => {
                        let run = leave_related(*op, node.inputs[0].size(), constant)?;
                        let (a, b, constant, _) = two(block);
                        Micro { a, b, constant, c: block.way(target), ..blank(run) }
                    }
                    Input::Slot(target) => {
                        let test = relation(*op, node.inputs[0].size(), constant)?;
                        let run = leave_for(target.size, true)?;
                        let (a, b, constant, _) = two(block);
                        let truth = self.scratch + 16 * 3;
                        block.push(node, Micro { out: truth, a, b, constant, ..blank(test) });
                        Micro { a: target.at, b: truth, ..blank(run) }
                    }
                }
            }
            Kind::Trap(trap) => {
                let constant = micro::TRAPS.iter().position(|known| known == trap)? as u64;
                match node.inputs.first() {
                    None => Micro { constant, ..blank(micro::trap) },
                    Some(Input::Constant(0, _)) => return Some(None),
                    Some(when) if when.size() == 1 => {
                        Micro { a: self.in_file(block, node, *when, 0), constant, ..blank(micro::trap_when) }
                    }
                    Some(_) => return None,
                }
            }
            Kind::Lock => blank(micro::lock),
            Kind::Unlock => blank(micro::unlock),
            Kind::Probe(tells) => self.probe(block, node, *tells)?,
            Kind::General(_) | Kind::Label(_) | Kind::Branch(_) => return None,
        };
        Some(Some(micro))
    }
}

impl Encoder {
    fn probe(&self, block: &mut Encoded, node: &Node, tells: Tells) -> Option<Micro> {
        let c = node.instruction << micro::SHIFT_BITS;
        if let Tells::Execute(address) = tells {
            return Some(Micro { c, constant: address, ..blank(probe::execute) });
        }
        let (when, to) = match *node.inputs.as_slice() {
            [to] => (None, to),
            [when, to] => (Some(when), to),
            _ => return None,
        };
        let conditional = when.is_some();
        let b = when.map_or(0, |when| self.in_file(block, node, when, 0));
        let (a, constant) = match to {
            Input::Slot(slot) => (slot.at, 0),
            // Nothing is at address 0, and what would be told of it is read from the file.
            Input::Constant(0, _) => (self.in_file(block, node, to, 1), 0),
            Input::Constant(target, _) => (0, target),
        };
        let run = by_truth!(tells == Tells::Return, RETURNS => by_truth!(conditional, CONDITIONAL => {
            match to.size() {
                4 => probe::transfer::<u32, RETURNS, CONDITIONAL> as Run,
                8 => probe::transfer::<u64, RETURNS, CONDITIONAL> as Run,
                _ => return None,
            }
        }));
        Some(Micro { a, b, c, constant, ..blank(run) })
    }
}

impl Encoded {
    fn push(&mut self, node: &Node, micro: Micro) {
        self.code.push(micro);
        self.instructions.push(node.instruction);
    }

    /// Leaves room for another.
    pub fn clear(&mut self) {
        self.code.clear();
        self.instructions.clear();
        self.exits.clear();
        self.general.clear();
    }

    /// Goes on at `next` when nothing leaves it before.
    pub fn finish(&mut self, next: u64) {
        let way = self.way(next);
        self.code.push(Micro { c: way, ..blank(micro::leave) });
        self.instructions.push(self.instructions.last().copied().unwrap_or(0));
    }

    /// The number of the way out to an address.
    fn way(&mut self, target: u64) -> u16 {
        let known = self.exits.iter().position(|exit| *exit == target);
        let index = known.unwrap_or_else(|| {
            self.exits.push(target);
            self.exits.len() - 1
        });
        index as u16
    }
}

/// The host's own instruction for an operation, if there is one.
fn host(node: &Node) -> Option<Run> {
    let Kind::General(op) = &node.kind else { return None };
    let parallax_ir::Op::Intrinsic { call, args, .. } = &**op else { return None };
    #[cfg(target_arch = "x86_64")]
    {
        let operands: SmallVec<[u16; 4]> = args.iter().map(|operand| operand.bytes).collect();
        let float = super::native::find(*call, *operands.first()?);
        let found = float.or_else(|| super::lanes::find(*call, &operands, node.out?.size));
        if found.is_some() {
            return found;
        }
    }
    let _ = args;
    super::power::find(*call)
}

fn blank(run: Run) -> Micro {
    Micro { run, out: 0, a: 0, b: 0, c: 0, constant: 0 }
}

/// How many terms an address has besides its constant, a lone scaled term being the second of two.
fn terms(address: Address) -> (usize, Address) {
    match (address.base, address.index) {
        (None, None) => (0, address),
        (Some(_), None) => (1, address),
        (None, Some(index)) if address.shift == 0 => {
            (1, Address { base: Some(index), index: None, ..address })
        }
        _ => (2, address),
    }
}

fn with_address(run: Run, address: Address, node: &Node) -> Micro {
    let at = |slot: Option<Slot>| slot.map_or(0, |slot| slot.at);
    Micro {
        a: at(address.base),
        b: at(address.index),
        c: u16::from(address.shift) | node.instruction << micro::SHIFT_BITS,
        constant: address.displacement,
        ..blank(run)
    }
}
