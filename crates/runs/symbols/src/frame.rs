//! The frames of the stack, with those that inlining took away.

use crate::debug::Die;
use crate::error::Result;
use crate::lines::Line;
use crate::symbols::Symbols;
use crate::unwind::{Registers, Unwound};
use crate::value::State;
use std::ops::Range;
use std::sync::Arc;

/// A function that has been called and has not returned yet.
#[derive(Clone, Debug)]
pub struct Frame {
    /// 0 is the innermost.
    pub level: usize,
    /// Where it is: the next instruction of the innermost frame, the return address of others.
    pub pc: u64,
    /// Its name, without parameters.
    pub function: Option<String>,
    /// Whether the function was inlined into the next frame.
    pub is_inlined: bool,
    /// Its place in the source.
    pub line: Option<Line>,
    /// The canonical frame address: the stack pointer before the call.
    pub cfa: Option<u64>,
    /// Where its return address is stored.
    pub return_slot: Option<u64>,
    /// The address that it returns to.
    pub return_address: Option<u64>,
    pub(crate) registers: Registers,
    /// An address inside the instruction that it is at.
    pub(crate) look: u64,
    /// The module and the entry of the function that the code belongs to, which inlined ones share.
    pub(crate) function_die: Option<(usize, Die)>,
    /// Which of the blocks around the place are this frame's.
    pub(crate) own: Range<usize>,
}

/// At most so many frames are unwound.
const MOST_FRAMES: usize = 1 << 16;

impl Symbols {
    /// The frames of the stack, innermost first, at most `most` of them. Ends where unwinding does not get further.
    pub fn frames(&self, state: &dyn State, most: usize) -> Vec<Frame> {
        let most = most.min(MOST_FRAMES);
        let mut frames: Vec<Frame> = Vec::new();
        let (mut pc, mut registers, mut is_exact) = (state.pc(), Registers::default(), true);
        let mut last_cfa = None;
        while frames.len() < most {
            let look = if is_exact { pc } else { pc.wrapping_sub(1) };
            let unwound = self.unwind(pc, look, &registers, state).ok();
            self.push(&mut frames, pc, look, &registers, unwound.as_ref());
            let Some(Unwound { cfa, caller: Some(caller), .. }) = unwound else { break };
            // A stack that does not grow towards its callers is none, save where a signal changed stacks.
            if !caller.was_interrupted && last_cfa.is_some_and(|last| cfa <= last) {
                break;
            }
            last_cfa = (!caller.was_interrupted).then_some(cfa);
            (pc, registers, is_exact) = (caller.pc, caller.registers, caller.was_interrupted);
        }
        frames.truncate(most);
        frames
    }

    /// The innermost frame, and those inlined around it.
    pub fn innermost(&self, state: &dyn State) -> Frame {
        let registers = Registers::default();
        let unwound = self.unwind(state.pc(), state.pc(), &registers, state).ok();
        let mut frames = Vec::new();
        self.push(&mut frames, state.pc(), state.pc(), &registers, unwound.as_ref());
        frames.swap_remove(0)
    }

    /// The innermost frame of a program that is at an address, as far as the address alone tells: without what is on the
    /// stack.
    pub fn frame_at(&self, pc: u64) -> Frame {
        let mut frames = Vec::new();
        self.push(&mut frames, pc, pc, &Registers::default(), None);
        frames.swap_remove(0)
    }

    /// The frame that a frame's function was called from; inlined frames share their caller.
    pub(crate) fn caller(&self, frame: &Frame, state: &dyn State) -> Result<Option<Frame>> {
        let unwound = self.unwind(frame.pc, frame.look, &frame.registers, state)?;
        let Some(caller) = unwound.caller else { return Ok(None) };
        let look = if caller.was_interrupted { caller.pc } else { caller.pc.wrapping_sub(1) };
        let above = self.unwind(caller.pc, look, &caller.registers, state).ok();
        let mut frames = Vec::new();
        self.push(&mut frames, caller.pc, look, &caller.registers, above.as_ref());
        Ok(frames.into_iter().next())
    }

    /// Adds the frames of one call: the function's own, and before it those inlined there.
    fn push(
        &self,
        frames: &mut Vec<Frame>,
        pc: u64,
        look: u64,
        registers: &Registers,
        unwound: Option<&Unwound>,
    ) {
        let function_die = self.function_die(look);
        let blocks = match function_die {
            Some((module, die)) => self.blocks(module, die, look).unwrap_or_default(),
            None => Arc::default(),
        };
        let mut end = blocks.len();
        let mut line = self.line_at(look);
        loop {
            let inlined = blocks[..end].iter().rposition(|block| block.is_inlined);
            let name = match (inlined, function_die) {
                (Some(at), Some((module, _))) => self.name_of(module, blocks[at].die),
                (None, Some((module, die))) => self.name_of(module, die),
                _ => None,
            };
            let name = name.or_else(|| match inlined {
                None => self.symbol_at(look).map(|(symbol, _)| symbol.name.clone()),
                Some(_) => None,
            });
            frames.push(Frame {
                level: frames.len(),
                pc,
                function: name,
                is_inlined: inlined.is_some(),
                line: line.clone(),
                cfa: unwound.map(|unwound| unwound.cfa),
                return_slot: unwound.and_then(|unwound| unwound.return_slot),
                return_address: unwound.and_then(|unwound| unwound.caller.as_ref()).map(|caller| caller.pc),
                registers: registers.clone(),
                look,
                function_die,
                own: inlined.unwrap_or(0)..end,
            });
            let Some(at) = inlined else { break };
            line = function_die.and_then(|(module, _)| self.call_line(module, blocks[at].die));
            end = at;
        }
    }
}
