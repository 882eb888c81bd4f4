//! The path of a trace: which instructions it has, and what each of them is to the translation.
//!
//! Every step of the path is one instruction of the guest, so its position in the path is its time.

use crate::forms::{has_plain_operand, is_copied};
use crate::options::{Mistake, Options};
use crate::undefined;
use iced_x86::{Code, ConditionCode, Decoder, DecoderOptions, Instruction};

/// Guest code.
pub trait Source {
    /// Fetches the bytes from `at` on that may be executed: how many there are, at most as many as `into` holds.
    fn fetch(&mut self, at: u64, into: &mut [u8]) -> usize;
}

/// An instruction on the path.
#[derive(Clone, Copy)]
pub struct Step {
    pub instruction: Instruction,
    pub bytes: [u8; 15],
    /// Where in the bytes the distance to an operand is, if there is one.
    pub distance: Option<u8>,
    pub role: Role,
}

/// What a step is to the translation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It is copied.
    Copied,
    /// A direct call: the return address is pushed.
    Call,
    /// A direct jump: nothing is left of it.
    Jump,
    /// The path leaves for an address under a condition, the low four bits of the opcode.
    Branch { condition: u8, to: u64 },
    /// The same by the count register.
    Counted { to: u64 },
    /// A computed jump, call, or a return: the last step.
    Computed,
}

/// How a path ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// It goes on at an address.
    Jump(u64),
    /// The instruction there is left to others, or there is none.
    Left(u64),
    /// Its last step says where.
    Computed,
}

/// The path of a trace.
pub struct Path {
    pub steps: Vec<Step>,
    pub end: End,
    /// The numbers of the pages that its bytes are from.
    pub pages: Vec<u64>,
}

const PAGE: u64 = 4096;
/// Bodies of this many instructions and less are unrolled.
const UNROLLED: usize = 32;
/// A path that is longer joins a trace that is known.
const JOINS: usize = 8;

/// Follows the code at `head`. Where `is_known` says that there is a trace, no other one goes in.
pub fn gather(source: &mut dyn Source, head: u64, options: &Options, is_known: &dyn Fn(u64) -> bool) -> Path {
    let longest = options.longest.clamp(1, Options::LONGEST);
    let mut window = Window::new();
    let mut path = Path { steps: Vec::with_capacity(longest), end: End::Left(head), pages: Vec::new() };
    let mut at = head;
    path.end = loop {
        let count = path.steps.len();
        if count >= longest || count > JOINS && options.follows && is_known(at) {
            break End::Jump(at);
        }
        // Rows hold distances from the head.
        if i32::try_from(at.wrapping_sub(head) as i64).is_err() {
            break End::Jump(at);
        }
        let Some(mut step) = window.decode(source, at) else { break End::Left(at) };
        let Some(role) = role(&step.instruction) else { break End::Left(at) };
        let next = step.instruction.next_ip();
        let follows = |to: u64| options.follows && to != head && !is_known(to);
        step.role = role;
        let way = match role {
            Role::Copied | Role::Counted { .. } => Way::On(next),
            Role::Computed => Way::Ends(End::Computed),
            Role::Jump => {
                let to = step.instruction.near_branch_target();
                // Forward only: a path that turns back inside itself would go on for ever.
                if to > at && follows(to) { Way::On(to) } else { Way::Ends(End::Jump(to)) }
            }
            Role::Call => {
                let to = step.instruction.near_branch_target();
                if follows(to) && count < longest / 2 { Way::On(to) } else { Way::Ends(End::Jump(to)) }
            }
            Role::Branch { condition, to } if to == head && options.follows => {
                // A loop: it is left under the opposite condition.
                step.role = Role::Branch { condition: condition ^ 1, to: next };
                let body = count + 1;
                if 2 * body <= longest.min(UNROLLED) { Way::On(head) } else { Way::Ends(End::Jump(head)) }
            }
            Role::Branch { .. } => Way::On(next),
        };
        let branches = matches!(role, Role::Branch { .. } | Role::Counted { .. });
        path.note_pages(at, next);
        path.steps.push(step);
        match way {
            Way::Ends(end) => break end,
            Way::On(to) if branches && !options.follows => break End::Jump(to),
            Way::On(to) => at = to,
        }
    };
    if options.mistake != Some(Mistake::UndefinedFlags) {
        undefined::cut(&mut path, source);
    }
    path
}

/// Where a path goes behind a step.
enum Way {
    On(u64),
    Ends(End),
}

impl Path {
    /// Notes where the bytes of an instruction are from.
    pub fn note_pages(&mut self, at: u64, next: u64) {
        for page in [at / PAGE, next.wrapping_sub(1) / PAGE] {
            if !self.pages.contains(&page) {
                self.pages.push(page);
            }
        }
    }
}

/// What an instruction is to the translation; none if it is left.
pub fn role(instruction: &Instruction) -> Option<Role> {
    if is_copied(instruction) {
        return Some(Role::Copied);
    }
    Some(match instruction.code() {
        Code::Jmp_rel8_64 | Code::Jmp_rel32_64 => Role::Jump,
        Code::Call_rel32_64 => Role::Call,
        Code::Retnq | Code::Retnq_imm16 => Role::Computed,
        Code::Jmp_rm64 | Code::Call_rm64 if has_plain_operand(instruction) => Role::Computed,
        Code::Jrcxz_rel8_64
        | Code::Jecxz_rel8_64
        | Code::Loop_rel8_64_RCX
        | Code::Loope_rel8_64_RCX
        | Code::Loopne_rel8_64_RCX
        | Code::Loop_rel8_64_ECX
        | Code::Loope_rel8_64_ECX
        | Code::Loopne_rel8_64_ECX => Role::Counted { to: instruction.near_branch_target() },
        code if code.is_jcc_short_or_near() && is_64(instruction) => Role::Branch {
            condition: condition(instruction.condition_code())?,
            to: instruction.near_branch_target(),
        },
        _ => return None,
    })
}

/// Whether the goal of a branch is not cut to 16 bits.
fn is_64(instruction: &Instruction) -> bool {
    instruction.op0_kind() == iced_x86::OpKind::NearBranch64
}

/// A condition as opcodes have it.
fn condition(code: ConditionCode) -> Option<u8> {
    Some(match code {
        ConditionCode::None => return None,
        ConditionCode::o => 0,
        ConditionCode::no => 1,
        ConditionCode::b => 2,
        ConditionCode::ae => 3,
        ConditionCode::e => 4,
        ConditionCode::ne => 5,
        ConditionCode::be => 6,
        ConditionCode::a => 7,
        ConditionCode::s => 8,
        ConditionCode::ns => 9,
        ConditionCode::p => 10,
        ConditionCode::np => 11,
        ConditionCode::l => 12,
        ConditionCode::ge => 13,
        ConditionCode::le => 14,
        ConditionCode::g => 15,
    })
}

const WINDOW: usize = 256;

/// Bytes fetched ahead: a fetch for each instruction would cost more than decoding it.
pub struct Window {
    bytes: [u8; WINDOW],
    start: u64,
    filled: usize,
}

impl Window {
    pub fn new() -> Window {
        Window { bytes: [0; WINDOW], start: 0, filled: 0 }
    }

    /// The instruction at an address, as a step that is copied.
    pub fn decode(&mut self, source: &mut dyn Source, at: u64) -> Option<Step> {
        const LONGEST: usize = 15;
        let mut from = at.wrapping_sub(self.start);
        if from >= self.filled as u64 || self.filled - (from as usize) < LONGEST {
            self.filled = source.fetch(at, &mut self.bytes).min(WINDOW);
            self.start = at;
            from = 0;
        }
        let bytes = &self.bytes[from as usize..self.filled];
        let mut decoder = Decoder::with_ip(64, bytes, at, DecoderOptions::NONE);
        let instruction = decoder.decode();
        if instruction.is_invalid() {
            return None;
        }
        let distance = instruction
            .is_ip_rel_memory_operand()
            .then(|| decoder.get_constant_offsets(&instruction).displacement_offset() as u8);
        let mut kept = [0; 15];
        let length = instruction.len();
        kept[..length].copy_from_slice(&bytes[..length]);
        Some(Step { instruction, bytes: kept, distance, role: Role::Copied })
    }
}
