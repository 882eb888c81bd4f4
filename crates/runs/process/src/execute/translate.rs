//! From the bytes of a block to the form that runs.

use super::encode::Unencodable;
use super::improve::Boundary;
use super::node::Flattener;
use super::pieces::Piece;
use super::probe::Probes;
use super::template::{ALWAYS, Template, leaving};
use super::{Block, Engine, Event, Exit, IMPROVED, Step, Stop, World};
use crate::memory::PAGE;
use parallax_ir::Flow;
use smallvec::{SmallVec, smallvec};
use std::rc::Rc;

/// An instruction of a block, and the flags that somebody may read behind it.
pub struct Found {
    piece: Piece,
    wanted: u64,
}

/// Why there is no block.
enum Failure {
    Event(Event),
    /// It has no room for more than so many instructions.
    Longer(usize),
}

/// What is known of a block besides its operations.
#[derive(Default)]
struct Outline {
    steps: Vec<Step>,
    /// Where its last instruction may lead, besides behind itself.
    after: SmallVec<[Option<u64>; 4]>,
    flow: Option<(Flow, Option<u64>)>,
    /// The templates that operations point into.
    kept: Vec<Rc<Template>>,
}

impl Engine {
    /// Translates at most `longest` instructions from `pc` on.
    pub(super) fn translate(
        &mut self,
        world: &mut World,
        pc: u64,
        mut longest: usize,
        improve: bool,
    ) -> Result<Box<Block>, Event> {
        let mut found = std::mem::take(&mut self.found);
        let block = loop {
            found.clear();
            let next = self.gather(world, pc, longest, &mut found);
            let made = next.map_err(Failure::Event);
            match made.and_then(|next| self.assemble(world, pc, next, &mut found, improve)) {
                Ok(block) => break Ok(block),
                Err(Failure::Event(event)) => break Err(event),
                Err(Failure::Longer(count)) => longest = count,
            }
        };
        found.clear();
        self.found = found;
        block
    }

    /// Collects the instructions of a block; the address behind them.
    fn gather(
        &mut self,
        world: &mut World,
        pc: u64,
        longest: usize,
        found: &mut Vec<Found>,
    ) -> Result<u64, Event> {
        self.pieces.restart();
        let (memory, flags) = (&mut world.memory, self.liveness.flags());
        let mut at = pc;
        while found.len() < longest {
            let piece = match self.pieces.get(memory, &world.registers, at, flags) {
                // What tells of itself is translated where it stands.
                Ok(piece) if is_probed(&self.probes, at, &piece) => self.pieces.single(memory, at),
                piece => piece,
            };
            let piece = match piece {
                Ok(piece) => piece,
                Err(event) if found.is_empty() => return Err(event),
                Err(_) => break,
            };
            let (next, ends) = (piece.next(), piece.ends());
            found.push(Found { piece, wanted: u64::MAX });
            at = next;
            if ends {
                break;
            }
        }
        self.lifted += found.len() as u64;
        Ok(at)
    }

    /// The block of the instructions that were found.
    fn assemble(
        &mut self,
        world: &mut World,
        pc: u64,
        next: u64,
        found: &mut [Found],
        improve: bool,
    ) -> Result<Box<Block>, Failure> {
        let mut outline = Outline { steps: Vec::with_capacity(found.len()), ..Outline::default() };
        if let Some(last) = found.last() {
            outline.note_end(&last.piece);
        }
        let mut pages: SmallVec<[u64; 2]> = smallvec![pc / PAGE];
        let mut note = |page: u64| {
            if !pages.contains(&page) {
                pages.push(page);
            }
        };
        note(next.wrapping_sub(1) / PAGE);
        let mut dead = 0;
        if improve {
            outline.after.push(if self.exact_flags { None } else { Some(next) });
            let (memory, registers) = (&mut world.memory, &world.registers);
            dead = self.liveness.dead_after(&mut self.pieces, memory, registers, &outline.after);
            self.liveness.seen().iter().for_each(|page| note(*page));
        }
        if !self.exact_flags {
            note_wanted(found, dead);
        }
        let mut flattener = Flattener::new(&world.registers, &self.probes, std::mem::take(&mut self.nodes));
        let mut encoded = std::mem::take(&mut self.encoded);
        encoded.clear();
        let mut at = pc;
        for (number, Found { piece, wanted }) in found.iter().enumerate() {
            let next = piece.next();
            let (offset, length) = (at.wrapping_sub(pc) as u16, next.wrapping_sub(at) as u8);
            outline.steps.push(Step { first: encoded.code.len() as u32, offset, length });
            at = next;
            let pushed = match piece {
                Piece::Known(template, addresses) => match &template.code {
                    Some(code) if !improve && !self.encoder.watched => {
                        code.append(&mut encoded, *addresses, *wanted);
                        if !code.general.is_empty() {
                            outline.kept.push(template.clone());
                        }
                        continue;
                    }
                    _ => flattener.push_known(number as u16, template, *addresses, *wanted),
                },
                Piece::Single(instruction, locked) => flattener.push(number as u16, instruction, *locked),
            };
            match pushed {
                Ok(()) => {}
                Err(_) if number > 0 => return Err(Failure::Longer(number)),
                Err(why) => {
                    let what = format!("an instruction of {length} bytes that cannot be translated: {why:?}");
                    return Err(Failure::Event(Event::Stop(Stop::Meaningless(what))));
                }
            }
            if !improve {
                let labels = flattener.labels();
                self.encoder.append(&mut encoded, &flattener.nodes, labels).map_err(unexpected)?;
                flattener.nodes.clear();
            }
        }
        let (labels, end) = (flattener.labels(), flattener.end());
        let mut nodes = flattener.nodes;
        if improve {
            let dead = self.liveness.places(dead);
            let boundary = Boundary {
                flags: if self.exact_flags { &[] } else { self.liveness.flags() },
                dead: &dead,
                temporaries: world.registers.temporaries(),
                end,
                address_size: self.encoder.processor.address_bytes,
            };
            self.improver.improve(&mut nodes, labels, &boundary);
            let made = self.encoder.append(&mut encoded, &nodes, labels);
            nodes.clear();
            made.map_err(unexpected)?;
            outline.number(&encoded.instructions);
        }
        self.nodes = nodes;
        encoded.finish(next);
        let exits = encoded.exits.iter().map(|to| Exit { to: *to, block: std::ptr::null_mut() }).collect();
        let block = Box::new(Block {
            count: outline.steps.len() as u64,
            start: pc,
            code: encoded.code.as_slice().into(),
            runs: if improve { IMPROVED } else { 0 },
            exits,
            steps: outline.steps.into(),
            flow: outline.flow,
            pages,
            _general: std::mem::take(&mut encoded.general),
            _kept: outline.kept,
        });
        self.encoded = encoded;
        Ok(block)
    }
}

/// Notes of each instruction the flags that may be read behind it: not those that a later one of the block writes first,
/// nor, behind the last one, those that are dead there.
fn note_wanted(found: &mut [Found], dead: u64) {
    let mut live = !dead;
    for Found { piece, wanted } in found.iter_mut().rev() {
        *wanted = live | ALWAYS;
        live = match piece {
            Piece::Known(template, _) => (live & !template.glance.written) | template.glance.read,
            Piece::Single(..) => u64::MAX,
        };
    }
}

/// Whether a probe stands at the instruction at an address.
fn is_probed(probes: &Probes, at: u64, piece: &Piece) -> bool {
    let Piece::Known(template, addresses) = piece else { return false };
    if probes.is_empty() {
        return false;
    }
    let leaves = match template.flow {
        Some((Flow::Call, to)) => probes.of_call(to.map(|to| to.at(*addresses))),
        Some((Flow::Return, _)) => probes.returns,
        _ => false,
    };
    leaves || probes.at(at)
}

fn unexpected(error: Unencodable) -> Failure {
    Failure::Event(Event::Stop(Stop::Meaningless(format!("an operation of unexpected shape: {}", error.0))))
}

impl Outline {
    /// Notes what the last instruction of a block leads to, if it does not just lead on.
    fn note_end(&mut self, piece: &Piece) {
        match piece {
            Piece::Known(template, addresses) if template.glance.ends => {
                let to = template.glance.transfers.iter().map(|(_, to)| to.map(|to| to.at(*addresses)));
                self.after = to.collect();
                self.flow = template.flow.map(|(flow, to)| (flow, to.map(|to| to.at(*addresses))));
            }
            Piece::Single(instruction, _) if instruction.ends_block() => {
                self.after = instruction.transfers().map(|(_, to, _)| to.as_constant()).collect();
                self.flow = leaving(instruction);
            }
            _ => {}
        }
    }

    /// Notes which operations of an improved block belong to which instruction.
    fn number(&mut self, instructions: &[u16]) {
        let mut number = 0;
        for (index, instruction) in instructions.iter().enumerate() {
            while number <= usize::from(*instruction) {
                self.steps[number].first = index as u32;
                number += 1;
            }
        }
        for step in &mut self.steps[number..] {
            step.first = instructions.len() as u32;
        }
    }
}
