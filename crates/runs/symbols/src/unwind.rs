//! From a frame to its caller: the call frame information of DWARF, and what is done without it.

use crate::debug::Bytes;
use crate::elf::{Elf, Machine};
use crate::error::{Error, Result};
use crate::location::Context;
use crate::symbols::Symbols;
use crate::value::State;
use gimli::{BaseAddresses, CfaRule, CieOrFde, DebugFrame, EhFrame, RegisterRule, UnwindSection};

/// The registers of a frame: those that its callees saved, and for the rest the program's.
#[derive(Clone, Debug, Default)]
pub(crate) struct Registers {
    restored: Vec<(u16, Option<u128>)>,
}

impl Registers {
    pub fn get(&self, state: &dyn State, number: u16) -> Option<u128> {
        match self.restored.iter().find(|(known, _)| *known == number) {
            Some((_, value)) => *value,
            None => state.register(number),
        }
    }

    fn set(&mut self, number: u16, value: Option<u128>) {
        match self.restored.iter_mut().find(|(known, _)| *known == number) {
            Some(entry) => entry.1 = value,
            None => self.restored.push((number, value)),
        }
    }
}

/// The frame of the caller.
pub(crate) struct Caller {
    pub pc: u64,
    pub registers: Registers,
    /// Whether the frame below was a signal's: then the pc is of the instruction that was interrupted.
    pub was_interrupted: bool,
}

/// What unwinding one frame gives.
pub(crate) struct Unwound {
    /// The canonical frame address of the frame itself.
    pub cfa: u64,
    /// Where its return address is stored.
    pub return_slot: Option<u64>,
    pub caller: Option<Caller>,
}

/// Where the rules for some code are.
#[derive(Clone, Copy)]
enum Rules {
    Eh(gimli::EhFrameOffset<usize>),
    Debug(gimli::DebugFrameOffset<usize>),
}

/// The call frame information of a module, by address.
pub(crate) struct CallFrames {
    eh: EhFrame<Bytes>,
    debug: DebugFrame<Bytes>,
    bases: BaseAddresses,
    /// Start, end and rules, sorted.
    entries: Vec<(u64, u64, Rules)>,
}

impl CallFrames {
    pub fn load(elf: &Elf) -> CallFrames {
        let bytes = |name| Bytes::new(elf.section(name), elf.endian);
        let mut bases = BaseAddresses::default();
        if let Some(address) = elf.section_address(".eh_frame") {
            bases = bases.set_eh_frame(address);
        }
        if let Some(address) = elf.section_address(".eh_frame_hdr") {
            bases = bases.set_eh_frame_hdr(address);
        }
        if let Some(address) = elf.section_address(".text") {
            bases = bases.set_text(address);
        }
        if let Some(address) = elf.section_address(".got") {
            bases = bases.set_got(address);
        }
        let (mut eh, mut debug) =
            (EhFrame::from(bytes(".eh_frame")), DebugFrame::from(bytes(".debug_frame")));
        let size = if elf.is_64 { 8 } else { 4 };
        eh.set_address_size(size);
        debug.set_address_size(size);
        let mut entries = Vec::new();
        collect(&eh, &bases, |start, end, offset| entries.push((start, end, Rules::Eh(offset))));
        collect(&debug, &bases, |start, end, offset| entries.push((start, end, Rules::Debug(offset))));
        entries.sort_by_key(|(start, end, _)| (*start, *end));
        CallFrames { eh, debug, bases, entries }
    }

    fn rules(&self, address: u64) -> Option<Rules> {
        let after = self.entries.partition_point(|(start, ..)| *start <= address);
        let (_, end, rules) = self.entries[..after].last()?;
        (address < *end).then_some(*rules)
    }
}

/// Every function's rules. What is malformed is left out; whoever asks for it gets the error.
fn collect<S: UnwindSection<Bytes>>(
    section: &S,
    bases: &BaseAddresses,
    mut found: impl FnMut(u64, u64, S::Offset),
) {
    let mut entries = section.entries(bases);
    while let Ok(Some(entry)) = entries.next() {
        if let CieOrFde::Fde(partial) = entry
            && let Ok(fde) = partial.parse(S::cie_from_offset)
            && fde.len() != 0
            && let Some(end) = fde.initial_address().checked_add(fde.len())
        {
            found(fde.initial_address(), end, fde.offset().into());
        }
    }
}

fn simple_rule<S: UnwindSection<Bytes>>(
    section: &S,
    offset: S::Offset,
    bases: &BaseAddresses,
    address: u64,
) -> Option<(u16, i64)> {
    let fde = section.fde_from_offset(bases, offset, S::cie_from_offset).ok()?;
    let mut space = gimli::UnwindContext::new();
    match fde.unwind_info_for_address(section, bases, &mut space, address).ok()?.cfa() {
        CfaRule::RegisterAndOffset { register, offset } => Some((register.0, *offset)),
        CfaRule::Expression(_) => None,
    }
}

impl Symbols {
    /// The register and the offset that make the canonical frame address at a place in the code, if it is as simple.
    pub(crate) fn cfa_rule(&self, look: u64) -> Option<(u16, i64)> {
        let module = self.module_at(look)?;
        let frames = self.call_frames(module);
        let address = look.wrapping_sub(self.bias(module));
        match frames.rules(address)? {
            Rules::Eh(offset) => simple_rule(&frames.eh, offset, &frames.bases, address),
            Rules::Debug(offset) => simple_rule(&frames.debug, offset, &frames.bases, address),
        }
    }

    /// Unwinds one frame. `look` is an address inside the instruction that the frame is at.
    pub(crate) fn unwind(
        &self,
        pc: u64,
        look: u64,
        registers: &Registers,
        state: &dyn State,
    ) -> Result<Unwound> {
        let Some(module) = self.module_at(look) else { return self.guess(pc, registers, state) };
        let frames = self.call_frames(module);
        let address = look.wrapping_sub(self.bias(module));
        match frames.rules(address) {
            Some(Rules::Eh(offset)) => self.by_rules(&frames.eh, offset, module, address, registers, state),
            Some(Rules::Debug(offset)) => {
                self.by_rules(&frames.debug, offset, module, address, registers, state)
            }
            None => self.guess(pc, registers, state),
        }
    }

    fn by_rules<S: UnwindSection<Bytes>>(
        &self,
        section: &S,
        offset: S::Offset,
        module: usize,
        address: u64,
        registers: &Registers,
        state: &dyn State,
    ) -> Result<Unwound> {
        let failed = |why| self.malformed(module, why);
        let bases = &self.call_frames(module).bases;
        let fde = section.fde_from_offset(bases, offset, S::cie_from_offset).map_err(failed)?;
        let mut space = gimli::UnwindContext::new();
        let row = fde.unwind_info_for_address(section, bases, &mut space, address).map_err(failed)?;
        let encoding = fde.cie().encoding();
        let context = Context {
            symbols: self,
            state,
            registers,
            module,
            unit: None,
            cfa: None,
            frame: None,
            climbed: 0,
        };
        let cfa = match row.cfa() {
            CfaRule::RegisterAndOffset { register, offset } => {
                let base =
                    registers.get(state, register.0).ok_or(Error::NoRegister { register: register.0 })?;
                (base as u64).wrapping_add_signed(*offset)
            }
            CfaRule::Expression(expression) => {
                context.address(expression.get(section).map_err(failed)?, encoding, None)?
            }
        };
        let word = |address: u64| -> Option<u128> {
            let mut bytes = [0; 8];
            let size = self.address_size() as usize;
            state.read(address, &mut bytes[..size]).then(|| {
                if self.is_big_endian() {
                    bytes[..size].reverse();
                }
                u64::from_le_bytes(bytes).into()
            })
        };
        let return_register = fde.cie().return_address_register();
        let (mut above, mut return_slot) = (registers.clone(), None);
        // A return address without a rule marks the outermost frame: that of the program's start, or of a thread's.
        let is_outermost = matches!(row.register(return_register), RegisterRule::Undefined);
        for (register, rule) in row.registers() {
            let value = match rule {
                RegisterRule::Undefined => None,
                RegisterRule::SameValue => registers.get(state, register.0),
                RegisterRule::Offset(offset) => {
                    let slot = cfa.wrapping_add_signed(*offset);
                    if *register == return_register {
                        return_slot = Some(slot);
                    }
                    word(slot)
                }
                RegisterRule::ValOffset(offset) => Some(cfa.wrapping_add_signed(*offset).into()),
                RegisterRule::Register(other) => registers.get(state, other.0),
                RegisterRule::Expression(expression) => {
                    let slot =
                        context.address(expression.get(section).map_err(failed)?, encoding, Some(cfa))?;
                    if *register == return_register {
                        return_slot = Some(slot);
                    }
                    word(slot)
                }
                RegisterRule::ValExpression(expression) => {
                    let value =
                        context.address(expression.get(section).map_err(failed)?, encoding, Some(cfa))?;
                    Some(value.into())
                }
                RegisterRule::Constant(value) => Some((*value).into()),
                _ => None,
            };
            above.set(register.0, value);
        }
        // By convention the caller's stack pointer is the canonical frame address, where no rule says otherwise.
        if let Some(stack) = self.stack_register(module)
            && !row.registers().any(|(register, _)| register.0 == stack)
        {
            above.set(stack, Some(cfa.into()));
        }
        let was_interrupted = fde.is_signal_trampoline();
        let pc = if is_outermost { None } else { above.get(state, return_register.0) };
        let caller = pc.map(|pc| Caller { pc: pc as u64, registers: above, was_interrupted });
        Ok(Unwound { cfa, return_slot, caller: caller.filter(|caller| caller.pc != 0) })
    }

    /// Code without rules: at its first instruction the return address is on top of the stack, later `rbp` is
    /// taken for a frame pointer if that leads into code.
    fn guess(&self, pc: u64, registers: &Registers, state: &dyn State) -> Result<Unwound> {
        const RBP: u16 = 6;
        const RSP: u16 = 7;
        const RIP: u16 = 16;
        let none = Error::Unsupported { what: format!("code at {pc:#x} without unwind information") };
        if self.machine() != Machine::X86_64 {
            return Err(none);
        }
        let is_entry =
            self.module_at(pc).is_none() || self.symbol_at(pc).is_some_and(|(_, range)| range.start == pc);
        let read = |address: u64| {
            let mut word = [0; 8];
            state.read(address, &mut word).then(|| u64::from_le_bytes(word))
        };
        let (rsp, rbp) = (registers.get(state, RSP), registers.get(state, RBP));
        let by_stack = rsp.map(|rsp| (rsp as u64, rsp as u64, None));
        let by_frame = rbp.map(|rbp| ((rbp as u64).wrapping_add(8), rbp as u64, read(rbp as u64)));
        let ways = if is_entry { [by_stack, by_frame] } else { [by_frame, by_stack] };
        for (slot, _, saved) in ways.into_iter().flatten() {
            let Some(pc) = read(slot) else { continue };
            if !self.is_code(pc.wrapping_sub(1)) {
                continue;
            }
            let cfa = slot.wrapping_add(8);
            let mut above = registers.clone();
            above.set(RSP, Some(cfa.into()));
            above.set(RIP, Some(pc.into()));
            if let Some(saved) = saved {
                above.set(RBP, Some(saved.into()));
            }
            let caller = Caller { pc, registers: above, was_interrupted: false };
            return Ok(Unwound { cfa, return_slot: Some(slot), caller: Some(caller) });
        }
        Err(none)
    }
}
