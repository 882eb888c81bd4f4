//! From a path to a trace: the guest's instructions one after the other in the hot part, ways out in the cold part.

use crate::code::{Code, RCX};
use crate::count::{self, READ_BYTES};
use crate::far;
use crate::gather::{End, Path, Role, Step};
use crate::indirect::{self, Goal};
use crate::layout::cell;
use crate::options::{Mistake, Options};
use crate::trace::{Exit, Place, Row, Trace};
use iced_x86::Register;

/// Where a trace is to lie, and what it refers to.
#[derive(Clone, Copy, Debug)]
pub struct Spot {
    /// The address of its hot code.
    pub hot: u64,
    /// The address of its cold code.
    pub cold: u64,
    /// The page of cells.
    pub cells: u64,
    /// The number of its first way out.
    pub first_exit: u32,
    /// Which counter it uses.
    pub counter: u32,
    /// The code that leaves the cache.
    pub leave: u64,
    /// The code for computed jumps whose goal is not the trace they came to.
    pub miss: u64,
}

/// Translates a path that starts at `pc`; none if its first instruction is left to others.
pub fn translate(path: &Path, pc: u64, spot: &Spot, options: &Options) -> Option<Trace> {
    let mut writer = Writer {
        pc,
        spot,
        options,
        hot: Code::new(spot.hot, spot.cells),
        cold: Code::new(spot.cold, spot.cells),
        trace: Trace { pc, entry: spot.hot, pages: path.pages.clone(), ..Trace::default() },
        made: 0,
        paid: 0,
    };
    indirect::entry(&mut writer.hot, pc, spot.miss, options);
    writer.trace.body = writer.hot.here();
    let place = count::place(path, options);
    let total = path.steps.len() as u8;
    let mut end = path.end;
    for (position, step) in path.steps.iter().enumerate() {
        if place == Some(position) {
            writer.pay_ahead(step, total);
        }
        if !writer.step(step) {
            // It cannot be written here after all.
            if writer.made == 0 {
                return None;
            }
            if writer.paid > 0 {
                // What was paid ahead was for more: a shorter path pays for itself.
                let shorter = Path {
                    steps: path.steps[..position].to_vec(),
                    end: End::Left(step.instruction.ip()),
                    pages: path.pages.clone(),
                };
                return translate(&shorter, pc, spot, options);
            }
            end = End::Left(step.instruction.ip());
            break;
        }
        writer.made += 1;
    }
    match end {
        End::Jump(to) => writer.jump_away(to),
        End::Left(at) if writer.made > 0 => writer.leave_before(at),
        End::Left(_) => return None,
        End::Computed => {}
    }
    let mut trace = writer.trace;
    trace.hot = writer.hot.bytes;
    trace.cold = writer.cold.bytes;
    trace.steps = usize::from(writer.made);
    Some(trace)
}

struct Writer<'a> {
    pc: u64,
    spot: &'a Spot,
    options: &'a Options,
    hot: Code,
    cold: Code,
    trace: Trace,
    /// Instructions made so far.
    made: u8,
    /// Instructions paid for so far.
    paid: u8,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Hot,
    Cold,
}

impl Writer<'_> {
    fn has(&self, mistake: Mistake) -> bool {
        self.options.mistake == Some(mistake)
    }

    fn code(&mut self, part: Part) -> &mut Code {
        match part {
            Part::Hot => &mut self.hot,
            Part::Cold => &mut self.cold,
        }
    }

    fn counter(&self) -> u32 {
        cell::COUNTERS + 8 * self.spot.counter
    }

    /// What follows in a part stands for the instruction at `pc`.
    fn row(&mut self, part: Part, at: u64, pc: u64, paid: u8, place: Place) {
        let (rows, start) = match part {
            Part::Hot => (&mut self.trace.hot_rows, self.spot.hot),
            Part::Cold => (&mut self.trace.cold_rows, self.spot.cold),
        };
        let row = Row {
            start: (at - start) as u32,
            pc: pc.wrapping_sub(self.pc) as i32,
            made: self.made,
            paid,
            place,
        };
        match rows.last_mut() {
            Some(last) if last.start == row.start => *last = row,
            _ => rows.push(row),
        }
    }

    /// The number of the next way out.
    fn next_exit(&self) -> u32 {
        self.spot.first_exit + self.trace.exits.len() as u32
    }

    /// Writes the code that leaves the cache with a number into the cold part; where it is.
    fn leave_with(&mut self, number: u32) -> u64 {
        let at = self.cold.here();
        self.cold.note_exit(number);
        self.cold.jmp(self.spot.leave);
        at
    }

    /// Pays for the whole trace before a step that replaces the flags.
    fn pay_ahead(&mut self, step: &Step, total: u8) {
        let number = self.next_exit();
        let at = step.instruction.ip();
        let spent = self.leave_with(number);
        let unmade = if self.has(Mistake::PaidAhead) { 0 } else { total - self.made };
        self.trace.exits.push(Exit::Spent { at, unmade, flags_are_void: true });
        let counter = self.counter();
        count::pay_with_flags(&mut self.hot, counter, total, spent);
        self.paid = total;
    }

    /// Pays in a part without touching the flags. RCX is in its cell behind it. If `checks`, the site of the jump that is
    /// taken if the counter is negative.
    fn pay(&mut self, part: Part, amount: u8, pc: u64, checks: bool) -> Option<u64> {
        let (counter, leave) = (self.counter(), self.spot.leave);
        let paid = count::pay(self.code(part), counter, amount, checks.then_some(leave));
        if !self.has(Mistake::TornCounter) {
            self.row(part, paid.read, pc, self.paid, Place::Counting(READ_BYTES));
        }
        self.row(part, paid.written, pc, self.paid + amount, Place::Quiet);
        paid.spent
    }

    /// The way out for a counter that is used up, RCX being in its cell. The guest is at `at`, and `unmade` instructions are
    /// given back.
    fn spent(&mut self, part: Part, site: Option<u64>, at: u64, unmade: u8) {
        let Some(site) = site else { return };
        let out = self.cold.here();
        self.code(part).aim(site, out);
        self.cold.mov_reg_cell(RCX, cell::RCX);
        let number = self.next_exit();
        self.leave_with(number);
        self.trace.exits.push(Exit::Spent { at, unmade, flags_are_void: false });
    }

    /// A way out for a direct jump, whose distance lies at `site` of a part. The trace is paid for.
    fn on_to(&mut self, to: u64, part: Part, site: u64) {
        let number = self.next_exit();
        let stub = self.leave_with(number);
        self.trace.exits.push(Exit::Jump { to, site, stub });
        self.code(part).aim(site, stub);
    }

    /// Pays for `amount` instructions and goes on to an address.
    fn pay_and_jump(&mut self, part: Part, amount: u8, pc: u64, to: u64) {
        let mut spent = None;
        if self.has(Mistake::FlagsAtEdge) {
            let counter = self.counter();
            self.code(part).sub_cell(counter, amount);
        } else {
            spent = self.pay(part, amount, pc, true);
            self.code(part).mov_reg_cell(RCX, cell::RCX);
        }
        let leave = self.spot.leave;
        let site = self.code(part).jmp(leave);
        self.spent(part, spent, to, 0);
        self.on_to(to, part, site);
    }

    /// The end of a trace that goes on elsewhere.
    fn jump_away(&mut self, to: u64) {
        if self.paid == 0 {
            return self.pay_and_jump(Part::Hot, self.made, to, to);
        }
        let leave = self.spot.leave;
        let site = self.hot.jmp(leave);
        self.on_to(to, Part::Hot, site);
    }

    /// The end of a trace before an instruction that is left to others.
    fn leave_before(&mut self, at: u64) {
        if self.paid == 0 {
            self.pay(Part::Hot, self.made, at, false);
            self.hot.mov_reg_cell(RCX, cell::RCX);
        }
        let number = self.next_exit();
        let stub = self.leave_with(number);
        self.trace.exits.push(Exit::Left { at });
        self.hot.jmp(stub);
    }

    /// Writes a step; false if that cannot be done, and nothing is written then.
    fn step(&mut self, step: &Step) -> bool {
        let (pc, here) = (step.instruction.ip(), self.hot.here());
        self.row(Part::Hot, here, pc, self.paid, Place::Guest);
        match step.role {
            Role::Copied => return self.copy(step),
            Role::Jump => {}
            Role::Call => self.push_return(step),
            Role::Branch { condition, to } => self.branch(pc, condition, to),
            Role::Counted { to } => self.counted(step, to),
            Role::Computed => return self.computed(step),
        }
        true
    }

    fn copy(&mut self, step: &Step) -> bool {
        let at = self.hot.here();
        if step.distance.is_none() || self.has(Mistake::OperandNotMoved) {
            self.hot.raw(&step.bytes[..step.instruction.len()]);
            return true;
        }
        if far::is_near(at, step.instruction.ip_rel_memory_address()) {
            let bytes = far::moved(step, at);
            self.hot.raw(&bytes);
            return true;
        }
        let Some((bytes, register)) = far::through_register(&step.instruction) else { return false };
        let pc = step.instruction.ip();
        self.hot.mov_cell_reg(cell::SCRATCH, register);
        self.hot.mov_reg_constant(register, step.instruction.ip_rel_memory_address());
        let here = self.hot.here();
        self.row(Part::Hot, here, pc, self.paid, Place::ScratchSaved(register));
        self.hot.raw(&bytes);
        let here = self.hot.here();
        self.row(Part::Hot, here, pc, self.paid, Place::Quiet);
        if !self.has(Mistake::ScratchLost) {
            self.hot.mov_reg_cell(register, cell::SCRATCH);
        }
        true
    }

    /// Pushes the address behind a call.
    fn push_return(&mut self, step: &Step) {
        let mut back = step.instruction.next_ip();
        if self.has(Mistake::HostReturnAddress) {
            back = self.hot.here();
        }
        match i32::try_from(back as i64) {
            Ok(back) => self.hot.push_constant(back),
            Err(_) => {
                let constant = self.cold.here();
                self.cold.raw(&back.to_le_bytes());
                self.hot.push_from(constant);
            }
        }
    }

    /// A conditional jump. If the trace is paid for, this is its last step, and both ways have as many instructions.
    fn branch(&mut self, pc: u64, condition: u8, to: u64) {
        let leave = self.spot.leave;
        let site = self.hot.jcc(condition, leave);
        if self.paid > 0 {
            return self.on_to(to, Part::Hot, site);
        }
        let out = self.cold.here();
        self.hot.aim(site, out);
        let amount = self.made + 1 - u8::from(self.has(Mistake::SideExitCount));
        self.pay_and_jump(Part::Cold, amount, pc, to);
    }

    /// `jrcxz` and `loop`, which reach no further than a byte.
    fn counted(&mut self, step: &Step, to: u64) {
        const JMP_SHORT: u8 = 2;
        const JMP: u8 = 5;
        let length = step.instruction.len();
        // All but the distance.
        self.hot.raw(&step.bytes[..length - 1]);
        self.hot.raw(&[JMP_SHORT]);
        self.hot.jmp_short(JMP);
        let leave = self.spot.leave;
        let site = self.hot.jmp(leave);
        if self.paid > 0 {
            return self.on_to(to, Part::Hot, site);
        }
        let out = self.cold.here();
        self.hot.aim(site, out);
        let amount = self.made + 1 + u8::from(self.has(Mistake::CountedTwice));
        self.pay_and_jump(Part::Cold, amount, step.instruction.ip(), to);
    }

    /// A computed jump, call or return; false if its operand cannot be reached.
    fn computed(&mut self, step: &Step) -> bool {
        let instruction = &step.instruction;
        let pc = instruction.ip();
        let goal = indirect::goal(instruction);
        let distant =
            step.distance.is_some() && !far::is_near(self.hot.here(), instruction.ip_rel_memory_address());
        if distant && instruction.segment_prefix() != Register::None {
            return false;
        }
        if self.has(Mistake::RedZone) {
            // mov [rsp - 8], rcx
            self.hot.raw(&[0x48, 0x89, 0x4c, 0x24, 0xf8]);
        }
        if self.paid == 0 {
            let total = self.made + 1;
            let checks = !self.has(Mistake::NoCheckBeforeIndirect);
            let spent = self.pay(Part::Hot, total, pc, checks);
            self.spent(Part::Hot, spent, pc, 1);
            self.paid = total;
            if !matches!(goal, Goal::Stack(_)) {
                self.hot.mov_reg_cell(RCX, cell::RCX);
            }
        } else {
            self.hot.mov_cell_reg(cell::RCX, RCX);
        }
        let place = if self.has(Mistake::SavedTooLate) { Place::Guest } else { Place::RcxSaved };
        let here = self.hot.here();
        self.row(Part::Hot, here, pc, self.paid, place);
        match goal {
            Goal::Stack(_) => self.hot.pop_rcx(),
            Goal::Register(RCX) => {}
            Goal::Register(register) => self.hot.mov_rcx_reg(register),
            Goal::Memory if distant => {
                self.hot.mov_reg_constant(RCX, instruction.ip_rel_memory_address());
                self.hot.mov_rcx_at_rcx();
            }
            Goal::Memory => {
                let here = self.hot.here();
                let load = indirect::load(instruction, here);
                self.hot.raw(&load);
            }
        }
        if indirect::calls(instruction) {
            let here = self.hot.here();
            self.row(Part::Hot, here, pc, self.paid, place);
            self.push_return(step);
        }
        if let Goal::Stack(more @ 1..) = goal {
            self.hot.lea_rsp_more(more);
        }
        self.hot.mov_cell_reg(cell::TARGET, RCX);
        self.hot.mov_ecx_low(RCX);
        // Where there is no slot the jump was made all the same: the goal says where to.
        let here = self.hot.here();
        self.made += 1;
        self.row(Part::Hot, here, pc, self.paid, Place::Lookup);
        self.made -= 1;
        self.hot.jmp_slot();
        true
    }
}
