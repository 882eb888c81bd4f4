//! What GDB sees: one time of the recording, and ways to others.

use crate::conditions::{Breakpoint, Held};
use crate::line::{Beside, Shared};
use crate::registers::{All, X86_64};
use crate::signals;
use gdbstub::common::{Signal, Tid};
use gdbstub::stub::MultiThreadStopReason;
use gdbstub::target::ext::auxv::{Auxv, AuxvOps};
use gdbstub::target::ext::base::BaseOps;
use gdbstub::target::ext::base::multithread::{
    MultiThreadBase, MultiThreadResume, MultiThreadResumeOps, MultiThreadSchedulerLocking,
    MultiThreadSchedulerLockingOps, MultiThreadSingleStep, MultiThreadSingleStepOps,
};
use gdbstub::target::ext::base::reverse_exec::{
    ReplayLogPosition, ReverseCont, ReverseContOps, ReverseStep, ReverseStepOps,
};
use gdbstub::target::ext::breakpoints::{
    Breakpoints, BreakpointsOps, HwBreakpoint, HwBreakpointOps, HwWatchpoint, HwWatchpointOps, SwBreakpoint,
    SwBreakpointOps, WatchKind,
};
use gdbstub::target::ext::catch_syscalls::{
    CatchSyscallPosition, CatchSyscalls, CatchSyscallsOps, SyscallNumbers,
};
use gdbstub::target::ext::exec_file::ExecFileOps;
use gdbstub::target::ext::host_io::HostIoOps;
use gdbstub::target::ext::monitor_cmd::MonitorCmdOps;
use gdbstub::target::{Target, TargetError, TargetResult};
use parallax_moment::Modules;
use parallax_record::Record;
use parallax_trace::{Direction, Target as _, Time, Unwatched, Watch};
use parallax_travel::{Filter, Numbers, Ranges, State, Travel, TravelError};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;

/// What GDB wants done next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Going {
    Continue,
    Step(u32),
    ReverseContinue,
    ReverseStep(u32),
}

/// A debugging session.
pub(crate) struct Session<'a> {
    pub travel: &'a Travel,
    /// The symbols of what is mapped.
    pub modules: Modules,
    pub state: Rc<State>,
    /// What the connection knows too.
    pub beside: Shared,
    going: Going,
    breakpoints: Held,
    watchpoints: Vec<(Range<u64>, WatchKind)>,
    /// System calls that stop a run.
    caught: Option<Numbers>,
    /// The call before which GDB was stopped last.
    entered: Option<Time>,
    /// The delivery of a signal before which it was.
    signalled: Option<Time>,
    /// Whether it was told last that a signal ended the program.
    died: bool,
    /// The program that GDB knows.
    known: PathBuf,
    /// Whether the recorded process replaced its program by another.
    executes: bool,
    /// Files that GDB has open.
    pub open: BTreeMap<u32, Arc<[u8]>>,
    pub next_file: u32,
}

impl<'a> Session<'a> {
    /// Starts at the first state.
    pub fn new(travel: &'a Travel) -> Result<Self, TravelError> {
        let state = Rc::new(travel.state(travel.span().start)?);
        let beside = Beside {
            state: state.clone(),
            conditions: Vec::new(),
            passed: Vec::new(),
            executed: None,
            stream: None,
        };
        let is_program = |record: &&Record| matches!(record, Record::Exec(Ok(_)));
        Ok(Session {
            travel,
            modules: Modules::new(travel.log().clone()),
            beside: Rc::new(RefCell::new(beside)),
            known: state.program().to_owned(),
            executes: travel.log().records.iter().filter(is_program).count() > 1,
            state,
            going: Going::Continue,
            breakpoints: Held::default(),
            watchpoints: Vec::new(),
            caught: None,
            entered: None,
            signalled: None,
            died: false,
            open: BTreeMap::new(),
            next_file: 3,
        })
    }

    /// What stops a run.
    fn stops(&mut self) -> Stops {
        let mut filters = Vec::new();
        let mut bit = |filter: Option<Filter>| {
            let bit = u64::from(filter.is_some()) << filters.len();
            filters.extend(filter);
            bit
        };
        let breaks = bit(self.breakpoints.filter());
        let calls = bit(self.caught.clone().map(Filter::SystemCall));
        let heard = signals::heard(&self.beside.borrow().passed).collect();
        let signals = bit(Some(Filter::Signal(Numbers::Of(heard))));
        let executes = self.executes && self.caught != Some(Numbers::All);
        let execs = bit(executes.then(|| Filter::SystemCall(Numbers::Of(EXECVE.into()))));
        let others = filters.len();
        let mut watched = Vec::new();
        // A search takes up to 64 conditions; equal ones are one.
        for (range, kind) in &self.watchpoints {
            let ranges = Ranges::from(range.clone());
            let filter = match kind {
                WatchKind::Write => Filter::Write(ranges),
                WatchKind::Read => Filter::Read(ranges),
                WatchKind::ReadWrite => {
                    Filter::Any(vec![Filter::Read(ranges.clone()), Filter::Write(ranges)])
                }
            };
            if filters.len() < 64 && !filters.contains(&filter) {
                filters.push(filter);
                watched.push((range.clone(), *kind));
            }
        }
        Stops { filters, breaks, calls, signals, execs, others, watched }
    }

    pub fn go_to(&mut self, time: Time) -> Result<(), TravelError> {
        self.state = Rc::new(self.travel.state(time)?);
        self.beside.borrow_mut().state = self.state.clone();
        self.entered = None;
        self.signalled = None;
        self.died = false;
        Ok(())
    }

    /// Stops before the delivery of a signal.
    fn at_signal(&mut self, time: Time) -> Result<MultiThreadStopReason<u64>, TravelError> {
        // Its handler is called with its number.
        let (by, after) = (self.travel.state(time)?.thread(), self.travel.state(time + 1)?);
        let number = after.register_of(by, "RDI").and_then(|bytes| bytes.get(..4)?.try_into().ok());
        let signal = signals::of_linux(number.map_or(0, i32::from_le_bytes));
        self.go_to(time)?;
        self.signalled = Some(time);
        Ok(MultiThreadStopReason::SignalWithThread { tid: tid(by), signal })
    }

    /// Tells GDB that another program runs than it knows, without going anywhere: it asks for the same again.
    fn replaced(&mut self) -> MultiThreadStopReason<u64> {
        self.state.program().clone_into(&mut self.known);
        self.beside.borrow_mut().executed = Some(self.known.as_os_str().as_bytes().to_vec());
        self.stepped()
    }

    /// Whether the call at a time replaced the program: its thread is not behind the call then.
    fn is_replaced_at(&self, time: Time) -> Result<bool, TravelError> {
        let (made, after) = (self.travel.state(time)?, self.travel.state(time + 1)?);
        Ok(after.pc() != made.pc().wrapping_add(2))
    }

    /// Stops before or behind a system call.
    fn at_call(
        &mut self,
        made: Time,
        position: CatchSyscallPosition,
    ) -> Result<MultiThreadStopReason<u64>, TravelError> {
        let before = self.travel.state(made)?;
        let number = before.register("RAX").unwrap_or(0);
        let by = before.thread();
        self.go_to(if position == CatchSyscallPosition::Entry { made } else { made + 1 })?;
        self.entered = (position == CatchSyscallPosition::Entry).then_some(made);
        // The process may have replaced or ended that thread by its call.
        let by = if self.state.threads().any(|thread| thread == by) { by } else { self.state.thread() };
        Ok(MultiThreadStopReason::CatchSyscall { tid: Some(tid(by)), number, position })
    }

    /// The thread that makes the next step, as GDB numbers it.
    fn thread(&self) -> Tid {
        tid(self.state.thread())
    }

    pub fn interrupted(&self) -> MultiThreadStopReason<u64> {
        MultiThreadStopReason::SignalWithThread { tid: self.thread(), signal: Signal::SIGINT }
    }

    /// Goes where GDB wants; none if it interrupted that.
    pub fn go(&mut self, watch: &dyn Watch) -> Result<Option<MultiThreadStopReason<u64>>, TravelError> {
        let (now, span) = (self.state.time(), self.travel.span());
        if self.state.program() != self.known {
            return Ok(Some(self.replaced()));
        }
        match self.going {
            Going::Continue => self.forward(now..span.end, None, watch),
            Going::Step(thread) => {
                let made = self.travel.step_of(thread, now, Direction::Forward)?;
                // Without a further step of that thread the others run to the end.
                let end = made.map_or(span.end, |made| made + 1);
                self.forward(now..end, made.map(|made| made + 1), watch)
            }
            Going::ReverseContinue => self.backward(watch),
            Going::ReverseStep(thread) => match self.travel.step_of(thread, now, Direction::Backward)? {
                Some(made) => self.back_to(made, watch).map(Some),
                None => self.at_end(span.start, ReplayLogPosition::Begin),
            },
        }
    }

    /// Goes back to the time of a step of which GDB wants to know what it wrote.
    fn back_to(&mut self, made: Time, watch: &dyn Watch) -> Result<MultiThreadStopReason<u64>, TravelError> {
        let stops = self.stops();
        self.go_to(made)?;
        if !stops.watched.is_empty() {
            let found = self.travel.search(&stops.filters, made..made + 1, Direction::Backward, 1, watch)?;
            let which = found.hits.first().map_or(0, |hit| hit.which);
            if let Some((range, kind)) = stops.watched_by(which) {
                return Ok(MultiThreadStopReason::Watch { tid: self.thread(), kind, addr: range.start });
            }
        }
        Ok(self.stepped())
    }

    fn stepped(&self) -> MultiThreadStopReason<u64> {
        MultiThreadStopReason::SignalWithThread { tid: self.thread(), signal: Signal::SIGTRAP }
    }

    fn at_end(
        &mut self,
        time: Time,
        pos: ReplayLogPosition,
    ) -> Result<Option<MultiThreadStopReason<u64>>, TravelError> {
        let death =
            signals::of_death(self.travel.log()).filter(|_| pos == ReplayLogPosition::End && !self.died);
        self.go_to(time)?;
        let tid = self.thread();
        if let Some(signal) = death {
            self.died = true;
            return Ok(Some(MultiThreadStopReason::SignalWithThread { tid, signal }));
        }
        Ok(Some(MultiThreadStopReason::ReplayLog { tid: Some(tid), pos }))
    }

    /// Runs through a range of steps; `then` is where a single step ends.
    fn forward(
        &mut self,
        within: Range<Time>,
        then: Option<Time>,
        watch: &dyn Watch,
    ) -> Result<Option<MultiThreadStopReason<u64>>, TravelError> {
        let stops = self.stops();
        let (entered, signalled) = (self.entered, self.signalled);
        // The instruction that a single step starts at may hold a breakpoint, which is not met again.
        let mut from = within.start;
        while from < within.end && !stops.filters.is_empty() {
            let found = self.travel.search(&stops.filters, from..within.end, Direction::Forward, 1, watch)?;
            let Some(hit) = found.hits.first() else {
                if found.decided.end < within.end {
                    // Interrupted: GDB finds itself where the search has come to.
                    self.go_to(found.decided.end)?;
                    return Ok(None);
                }
                break;
            };
            if hit.which & stops.signals != 0 && signalled != Some(hit.time) {
                return self.at_signal(hit.time).map(Some);
            }
            let stepping = then.is_some() && hit.time == within.start;
            if hit.which & stops.breaks != 0 && !stepping && entered != Some(hit.time) {
                self.go_to(hit.time)?;
                return Ok(Some(MultiThreadStopReason::SwBreak(self.thread())));
            }
            if hit.which & stops.calls != 0 {
                let position = if entered == Some(hit.time) || stepping {
                    CatchSyscallPosition::Return
                } else {
                    CatchSyscallPosition::Entry
                };
                return self.at_call(hit.time, position).map(Some);
            }
            if hit.which & stops.execs != 0 && self.is_replaced_at(hit.time)? {
                self.go_to(hit.time + 1)?;
                return Ok(Some(self.replaced()));
            }
            if let Some((range, kind)) = stops.watched_by(hit.which) {
                let by = tid(self.travel.state(hit.time)?.thread());
                self.go_to(hit.time + 1)?;
                return Ok(Some(MultiThreadStopReason::Watch { tid: by, kind, addr: range.start }));
            }
            from = hit.time + 1;
        }
        match then {
            Some(time) => {
                self.go_to(time)?;
                Ok(Some(self.stepped()))
            }
            None => self.at_end(self.travel.span().end, ReplayLogPosition::End),
        }
    }

    /// Runs back to what stops it.
    fn backward(&mut self, watch: &dyn Watch) -> Result<Option<MultiThreadStopReason<u64>>, TravelError> {
        let within = self.travel.span().start..self.state.time();
        let stops = self.stops();
        let mut before = within.clone();
        let hit = loop {
            if before.is_empty() {
                return self.at_end(within.start, ReplayLogPosition::Begin);
            }
            let found = self.travel.search(&stops.filters, before.clone(), Direction::Backward, 1, watch)?;
            match found.hits.first() {
                // A call that replaced no program.
                Some(hit) if hit.which == stops.execs && !self.is_replaced_at(hit.time)? => {
                    before.end = hit.time
                }
                Some(hit) => break *hit,
                None if found.decided.start > within.start => {
                    self.go_to(found.decided.start)?;
                    return Ok(None);
                }
                None => return self.at_end(within.start, ReplayLogPosition::Begin),
            }
        };
        if hit.which & stops.signals != 0 {
            return self.at_signal(hit.time).map(Some);
        }
        if hit.which & stops.calls != 0 {
            // Backwards, the way leads through its end to its start.
            let position = if hit.time + 1 < within.end {
                CatchSyscallPosition::Return
            } else {
                CatchSyscallPosition::Entry
            };
            return self.at_call(hit.time, position).map(Some);
        }
        self.go_to(hit.time)?;
        if hit.which & stops.execs != 0 && self.state.program() != self.known {
            return Ok(Some(self.replaced()));
        }
        let tid = self.thread();
        Ok(Some(match stops.watched_by(hit.which) {
            Some((range, kind)) if hit.which & stops.breaks == 0 => {
                MultiThreadStopReason::Watch { tid, kind, addr: range.start }
            }
            _ => MultiThreadStopReason::SwBreak(tid),
        }))
    }

    /// The auxiliary vector that the running program was started with.
    fn auxiliary_vector(&self) -> Option<Vec<u8>> {
        let calls = [Filter::SystemCall(Numbers::Of(EXECVE.into()))];
        let before = self.travel.span().start..self.state.time();
        let mut start = self.travel.state(before.start).ok()?;
        let mut end = before.end;
        // The latest that succeeded: its thread is not behind the call any more.
        while before.start < end {
            let found =
                self.travel.search(&calls, before.start..end, Direction::Backward, 1, &Unwatched).ok()?;
            let Some(hit) = found.hits.first() else { break };
            if self.is_replaced_at(hit.time).ok()? {
                start = self.travel.state(hit.time + 1).ok()?;
                break;
            }
            end = hit.time;
        }
        let word = |at: u64| {
            let mut bytes = [0; 8];
            start.read(at, &mut bytes).ok().map(|()| u64::from_le_bytes(bytes))
        };
        let stack = start.register("RSP")?;
        // The count of arguments, the arguments, a zero, the environment, a zero.
        let mut at = stack + 8 * (word(stack)?.min(1 << 20) + 2);
        while word(at)? != 0 {
            at += 8;
        }
        at += 8;
        let mut vector = Vec::new();
        while vector.len() < 1 << 12 {
            let (kind, value) = (word(at)?, word(at + 8)?);
            vector.extend([kind.to_le_bytes(), value.to_le_bytes()].concat());
            if kind == 0 {
                break;
            }
            at += 16;
        }
        Some(vector)
    }
}

fn tid(thread: u32) -> Tid {
    NonZeroUsize::new(thread as usize).unwrap_or(NonZeroUsize::MIN)
}

fn number(tid: Tid) -> u32 {
    tid.get() as u32
}

/// The calls that replace a program: `execve` and `execveat`.
const EXECVE: [u64; 2] = [59, 322];

/// What stops a run: breakpoints, system calls, signals, another program, then watchpoints.
struct Stops {
    filters: Vec<Filter>,
    /// The bits of the first four.
    breaks: u64,
    calls: u64,
    signals: u64,
    execs: u64,
    /// How many conditions come before the watchpoints.
    others: usize,
    watched: Vec<(Range<u64>, WatchKind)>,
}

impl Stops {
    /// The first watchpoint among those that a hit names.
    fn watched_by(&self, which: u64) -> Option<(Range<u64>, WatchKind)> {
        let which = which >> self.others;
        (which != 0).then(|| self.watched.get(which.trailing_zeros() as usize).cloned()).flatten()
    }
}

/// A part of some bytes, as GDB asks for them.
pub(crate) fn part(bytes: &[u8], offset: u64, length: usize, into: &mut [u8]) -> usize {
    let rest = bytes.get(offset as usize..).unwrap_or_default();
    let count = rest.len().min(length).min(into.len());
    into[..count].copy_from_slice(&rest[..count]);
    count
}

impl Target for Session<'_> {
    type Arch = X86_64;
    type Error = TravelError;

    fn base_ops(&mut self) -> BaseOps<'_, X86_64, TravelError> {
        BaseOps::MultiThread(self)
    }

    fn support_breakpoints(&mut self) -> Option<BreakpointsOps<'_, Self>> {
        Some(self)
    }

    fn support_monitor_cmd(&mut self) -> Option<MonitorCmdOps<'_, Self>> {
        Some(self)
    }

    fn support_host_io(&mut self) -> Option<HostIoOps<'_, Self>> {
        Some(self)
    }

    fn support_exec_file(&mut self) -> Option<ExecFileOps<'_, Self>> {
        Some(self)
    }

    fn support_catch_syscalls(&mut self) -> Option<CatchSyscallsOps<'_, Self>> {
        Some(self)
    }

    fn support_auxv(&mut self) -> Option<AuxvOps<'_, Self>> {
        Some(self)
    }
}

impl MultiThreadBase for Session<'_> {
    fn read_registers(&mut self, registers: &mut All, thread: Tid) -> TargetResult<(), Self> {
        *registers = All::of(&self.state, number(thread)).ok_or(TargetError::NonFatal)?;
        Ok(())
    }

    fn write_registers(&mut self, _: &All, _: Tid) -> TargetResult<(), Self> {
        // The past stays.
        Err(TargetError::NonFatal)
    }

    fn read_addrs(&mut self, start: u64, data: &mut [u8], _: Tid) -> TargetResult<usize, Self> {
        let bytes = self.state.read_some(start, data.len());
        if bytes.is_empty() && !data.is_empty() {
            return Err(TargetError::NonFatal);
        }
        data[..bytes.len()].copy_from_slice(&bytes);
        Ok(bytes.len())
    }

    fn write_addrs(&mut self, _: u64, _: &[u8], _: Tid) -> TargetResult<(), Self> {
        Err(TargetError::NonFatal)
    }

    fn list_active_threads(&mut self, active: &mut dyn FnMut(Tid)) -> Result<(), TravelError> {
        let current = self.state.thread();
        active(tid(current));
        self.state.threads().filter(|thread| *thread != current).for_each(|thread| active(tid(thread)));
        Ok(())
    }

    fn support_resume(&mut self) -> Option<MultiThreadResumeOps<'_, Self>> {
        Some(self)
    }
}

impl MultiThreadResume for Session<'_> {
    fn resume(&mut self) -> Result<(), TravelError> {
        // The event loop goes.
        Ok(())
    }

    fn clear_resume_actions(&mut self) -> Result<(), TravelError> {
        self.going = Going::Continue;
        Ok(())
    }

    fn set_resume_action_continue(&mut self, _: Tid, _: Option<Signal>) -> Result<(), TravelError> {
        Ok(())
    }

    fn support_single_step(&mut self) -> Option<MultiThreadSingleStepOps<'_, Self>> {
        Some(self)
    }

    fn support_reverse_step(&mut self) -> Option<ReverseStepOps<'_, Tid, Self>> {
        Some(self)
    }

    fn support_reverse_cont(&mut self) -> Option<ReverseContOps<'_, Tid, Self>> {
        Some(self)
    }

    fn support_scheduler_locking(&mut self) -> Option<MultiThreadSchedulerLockingOps<'_, Self>> {
        Some(self)
    }
}

impl MultiThreadSchedulerLocking for Session<'_> {
    fn set_resume_action_scheduler_lock(&mut self) -> Result<(), TravelError> {
        // The other threads do what they did.
        Ok(())
    }
}

impl MultiThreadSingleStep for Session<'_> {
    fn set_resume_action_step(&mut self, thread: Tid, _: Option<Signal>) -> Result<(), TravelError> {
        self.going = Going::Step(number(thread));
        Ok(())
    }
}

impl ReverseStep<Tid> for Session<'_> {
    fn reverse_step(&mut self, thread: Tid) -> Result<(), TravelError> {
        self.going = Going::ReverseStep(number(thread));
        Ok(())
    }
}

impl ReverseCont<Tid> for Session<'_> {
    fn reverse_cont(&mut self) -> Result<(), TravelError> {
        self.going = Going::ReverseContinue;
        Ok(())
    }
}

impl Breakpoints for Session<'_> {
    fn support_sw_breakpoint(&mut self) -> Option<SwBreakpointOps<'_, Self>> {
        Some(self)
    }

    fn support_hw_breakpoint(&mut self) -> Option<HwBreakpointOps<'_, Self>> {
        Some(self)
    }

    fn support_hw_watchpoint(&mut self) -> Option<HwWatchpointOps<'_, Self>> {
        Some(self)
    }
}

impl SwBreakpoint for Session<'_> {
    fn add_sw_breakpoint(&mut self, address: u64, _: usize) -> TargetResult<bool, Self> {
        let conditions = std::mem::take(&mut self.beside.borrow_mut().conditions);
        self.breakpoints.set(Breakpoint { address, in_hardware: false }, conditions);
        Ok(true)
    }

    fn remove_sw_breakpoint(&mut self, address: u64, _: usize) -> TargetResult<bool, Self> {
        Ok(self.breakpoints.remove(Breakpoint { address, in_hardware: false }))
    }
}

impl HwBreakpoint for Session<'_> {
    fn add_hw_breakpoint(&mut self, address: u64, _: usize) -> TargetResult<bool, Self> {
        let conditions = std::mem::take(&mut self.beside.borrow_mut().conditions);
        self.breakpoints.set(Breakpoint { address, in_hardware: true }, conditions);
        Ok(true)
    }

    fn remove_hw_breakpoint(&mut self, address: u64, _: usize) -> TargetResult<bool, Self> {
        Ok(self.breakpoints.remove(Breakpoint { address, in_hardware: true }))
    }
}

impl HwWatchpoint for Session<'_> {
    fn add_hw_watchpoint(&mut self, address: u64, length: u64, kind: WatchKind) -> TargetResult<bool, Self> {
        let end = address.checked_add(length).ok_or(TargetError::NonFatal)?;
        // The others are for breakpoints, system calls, signals, and programs that replace each other.
        if self.watchpoints.len() >= 60 {
            return Ok(false);
        }
        self.watchpoints.push((address..end, kind));
        Ok(true)
    }

    fn remove_hw_watchpoint(
        &mut self,
        address: u64,
        length: u64,
        kind: WatchKind,
    ) -> TargetResult<bool, Self> {
        let wanted = (address..address.saturating_add(length), kind);
        let at = self.watchpoints.iter().position(|known| *known == wanted);
        at.map(|at| self.watchpoints.remove(at));
        Ok(at.is_some())
    }
}

impl CatchSyscalls for Session<'_> {
    fn enable_catch_syscalls(&mut self, filter: Option<SyscallNumbers<'_, u64>>) -> TargetResult<(), Self> {
        self.caught = Some(match filter {
            Some(numbers) => Numbers::Of(numbers.collect()),
            None => Numbers::All,
        });
        Ok(())
    }

    fn disable_catch_syscalls(&mut self) -> TargetResult<(), Self> {
        self.caught = None;
        Ok(())
    }
}

impl Auxv for Session<'_> {
    fn get_auxv(&self, offset: u64, length: usize, into: &mut [u8]) -> TargetResult<usize, Self> {
        let vector = self.auxiliary_vector().ok_or(TargetError::NonFatal)?;
        Ok(part(&vector, offset, length, into))
    }
}
