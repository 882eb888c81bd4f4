//! Which way control goes at instructions of x86-64, before they execute.

use crate::spots::Sight;
use iced_x86::{Code, ConditionCode, Decoder, DecoderOptions, FlowControl, Instruction, OpKind, Register};
use std::ops::Range;

/// The instructions of some code.
pub(crate) fn instructions(code: &[u8], start: u64) -> Vec<Instruction> {
    Decoder::with_ip(64, code, start, DecoderOptions::NONE).into_iter().collect()
}

/// Whether an address is in one of some ranges.
pub(crate) fn inside(ranges: &[Range<u64>], address: u64) -> bool {
    ranges.iter().any(|range| range.contains(&address))
}

/// Whether control goes on behind an instruction, sooner or later.
pub(crate) fn falls_through(instruction: &Instruction) -> bool {
    !matches!(
        instruction.flow_control(),
        FlowControl::Return
            | FlowControl::UnconditionalBranch
            | FlowControl::IndirectBranch
            | FlowControl::Exception
    )
}

/// Whether it is a call, behind which control goes on when that is done.
pub(crate) fn is_call(instruction: &Instruction) -> bool {
    matches!(instruction.flow_control(), FlowControl::Call | FlowControl::IndirectCall)
}

/// Where a direct jump goes.
pub(crate) fn target(instruction: &Instruction) -> Option<u64> {
    let is_near =
        matches!(instruction.op0_kind(), OpKind::NearBranch16 | OpKind::NearBranch32 | OpKind::NearBranch64);
    let jumps = matches!(
        instruction.flow_control(),
        FlowControl::UnconditionalBranch | FlowControl::ConditionalBranch
    );
    (is_near && jumps).then(|| instruction.near_branch_target())
}

/// Where control leaves code.
#[derive(Clone, Debug)]
pub(crate) enum Exit {
    /// Whenever the instruction executes.
    Always,
    /// Where a conditional jump is taken, or where it is not.
    If(Instruction, bool),
    /// Where a computed jump goes elsewhere.
    Beyond(Instruction, Vec<Range<u64>>),
}

/// Whether control leaves some code at one of its instructions.
pub(crate) fn exit(instruction: &Instruction, code: &[Range<u64>]) -> Option<Exit> {
    match instruction.flow_control() {
        FlowControl::Return => Some(Exit::Always),
        FlowControl::UnconditionalBranch => (!inside(code, target(instruction)?)).then_some(Exit::Always),
        FlowControl::ConditionalBranch => {
            (!inside(code, target(instruction)?)).then_some(Exit::If(*instruction, true))
        }
        FlowControl::IndirectBranch => Some(Exit::Beyond(*instruction, code.to_vec())),
        _ => None,
    }
}

impl Exit {
    /// Whether control leaves here now; none if that is not known.
    pub fn leaves(&self, sight: &dyn Sight) -> Option<bool> {
        match self {
            Exit::Always => Some(true),
            Exit::If(jump, taken) => Some(is_taken(jump, sight)? == *taken),
            Exit::Beyond(jump, code) => Some(!inside(code, destination(jump, sight)?)),
        }
    }
}

/// Where a computed jump goes.
fn destination(jump: &Instruction, sight: &dyn Sight) -> Option<u64> {
    match jump.op0_kind() {
        OpKind::Register => register(jump.op0_register(), sight),
        OpKind::Memory => {
            let address = jump.virtual_address(0, 0, |name, _, _| register(name, sight))?;
            sight.word(address)
        }
        _ => None,
    }
}

fn register(name: Register, sight: &dyn Sight) -> Option<u64> {
    match name {
        Register::None | Register::DS | Register::ES | Register::SS | Register::CS => Some(0),
        Register::FS => sight.register("FS_OFFSET"),
        Register::GS => sight.register("GS_OFFSET"),
        // Both name registers alike.
        _ => sight.register(&format!("{name:?}")),
    }
}

/// Whether a conditional jump is taken.
fn is_taken(jump: &Instruction, sight: &dyn Sight) -> Option<bool> {
    let flag = |name| Some(sight.register(name)? != 0);
    let count = || match jump.code() {
        Code::Jecxz_rel8_64 | Code::Loop_rel8_64_ECX | Code::Loope_rel8_64_ECX | Code::Loopne_rel8_64_ECX => {
            sight.register("ECX").map(|count| (count, u64::from(u32::MAX)))
        }
        _ => sight.register("RCX").map(|count| (count, u64::MAX)),
    };
    let left = || count().map(|(count, mask)| count.wrapping_sub(1) & mask != 0);
    Some(match jump.condition_code() {
        ConditionCode::None => match jump.code() {
            Code::Jecxz_rel8_64 | Code::Jrcxz_rel8_64 => count()?.0 == 0,
            Code::Loop_rel8_64_ECX | Code::Loop_rel8_64_RCX => left()?,
            _ => return None,
        },
        // LOOPE and LOOPNE have the conditions of JE and JNE.
        ConditionCode::e => flag("ZF")? && (!is_loop(jump) || left()?),
        ConditionCode::ne => !flag("ZF")? && (!is_loop(jump) || left()?),
        ConditionCode::o => flag("OF")?,
        ConditionCode::no => !flag("OF")?,
        ConditionCode::b => flag("CF")?,
        ConditionCode::ae => !flag("CF")?,
        ConditionCode::be => flag("CF")? || flag("ZF")?,
        ConditionCode::a => !flag("CF")? && !flag("ZF")?,
        ConditionCode::s => flag("SF")?,
        ConditionCode::ns => !flag("SF")?,
        ConditionCode::p => flag("PF")?,
        ConditionCode::np => !flag("PF")?,
        ConditionCode::l => flag("SF")? != flag("OF")?,
        ConditionCode::ge => flag("SF")? == flag("OF")?,
        ConditionCode::le => flag("ZF")? || flag("SF")? != flag("OF")?,
        ConditionCode::g => !flag("ZF")? && flag("SF")? == flag("OF")?,
    })
}

fn is_loop(jump: &Instruction) -> bool {
    jump.is_loopcc()
}
