//! What GDB sees: one time of the recording, and ways to others.

use crate::line::Shown;
use crate::registers::{All, X86_64};
use gdbstub::common::{Signal, Tid};
use gdbstub::outputln;
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
use gdbstub::target::ext::monitor_cmd::{ConsoleOutput, MonitorCmd, MonitorCmdOps};
use gdbstub::target::{Target, TargetError, TargetResult};
use parallax_trace::{Direction, Target as _, Time, Unwatched, Watch};
use parallax_travel::{Filter, Numbers, Ranges, State, Travel, TravelError};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::ops::Range;
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
    pub state: Rc<State>,
    /// The same, for the connection.
    pub shown: Shown,
    going: Going,
    /// Breakpoints, and how often each was set.
    breakpoints: BTreeMap<u64, u32>,
    watchpoints: Vec<(Range<u64>, WatchKind)>,
    /// System calls that stop a run.
    caught: Option<Numbers>,
    /// The call before which GDB was stopped last.
    entered: Option<Time>,
    /// Files that GDB has open.
    pub open: BTreeMap<u32, Arc<[u8]>>,
    pub next_file: u32,
}

impl<'a> Session<'a> {
    /// Starts at the first state.
    pub fn new(travel: &'a Travel) -> Result<Self, TravelError> {
        let state = Rc::new(travel.state(travel.span().start)?);
        Ok(Session {
            travel,
            shown: Rc::new(RefCell::new(state.clone())),
            state,
            going: Going::Continue,
            breakpoints: BTreeMap::new(),
            watchpoints: Vec::new(),
            caught: None,
            entered: None,
            open: BTreeMap::new(),
            next_file: 3,
        })
    }

    /// What stops a run.
    fn stops(&self) -> Stops {
        let mut filters = Vec::new();
        if !self.breakpoints.is_empty() {
            let places = self.breakpoints.keys().map(|address| *address..address + 1);
            filters.push(Filter::Execute(Ranges::new(places)));
        }
        let breaks = u64::from(!filters.is_empty());
        filters.extend(self.caught.clone().map(Filter::SystemCall));
        let calls = u64::from(self.caught.is_some()) << breaks;
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
        Stops { filters, breaks, calls, others, watched }
    }

    fn go_to(&mut self, time: Time) -> Result<(), TravelError> {
        self.state = Rc::new(self.travel.state(time)?);
        *self.shown.borrow_mut() = self.state.clone();
        self.entered = None;
        Ok(())
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
        self.go_to(time)?;
        Ok(Some(MultiThreadStopReason::ReplayLog { tid: Some(self.thread()), pos }))
    }

    /// Runs through a range of steps; `then` is where a single step ends.
    fn forward(
        &mut self,
        within: Range<Time>,
        then: Option<Time>,
        watch: &dyn Watch,
    ) -> Result<Option<MultiThreadStopReason<u64>>, TravelError> {
        let stops = self.stops();
        let entered = self.entered;
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
        if stops.filters.is_empty() || within.is_empty() {
            return self.at_end(within.start, ReplayLogPosition::Begin);
        }
        let found = self.travel.search(&stops.filters, within.clone(), Direction::Backward, 1, watch)?;
        let Some(hit) = found.hits.first() else {
            if found.decided.start > within.start {
                self.go_to(found.decided.start)?;
                return Ok(None);
            }
            return self.at_end(within.start, ReplayLogPosition::Begin);
        };
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
        const EXECVE: u64 = 59;
        let calls = [Filter::SystemCall(EXECVE.into())];
        let before = self.travel.span().start..self.state.time();
        let mut start = self.travel.state(before.start).ok()?;
        let mut end = before.end;
        // The latest that succeeded: its thread is not behind the call any more.
        while before.start < end {
            let found =
                self.travel.search(&calls, before.start..end, Direction::Backward, 1, &Unwatched).ok()?;
            let Some(hit) = found.hits.first() else { break };
            let (made, after) = (self.travel.state(hit.time).ok()?, self.travel.state(hit.time + 1).ok()?);
            if after.pc() != made.pc().wrapping_add(2) {
                start = after;
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

/// What stops a run: breakpoints, then system calls, then watchpoints.
struct Stops {
    filters: Vec<Filter>,
    /// The bit of the breakpoints, and that of the system calls.
    breaks: u64,
    calls: u64,
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
        *self.breakpoints.entry(address).or_default() += 1;
        Ok(true)
    }

    fn remove_sw_breakpoint(&mut self, address: u64, _: usize) -> TargetResult<bool, Self> {
        let Some(count) = self.breakpoints.get_mut(&address) else { return Ok(false) };
        *count -= 1;
        if *count == 0 {
            self.breakpoints.remove(&address);
        }
        Ok(true)
    }
}

impl HwBreakpoint for Session<'_> {
    fn add_hw_breakpoint(&mut self, address: u64, kind: usize) -> TargetResult<bool, Self> {
        self.add_sw_breakpoint(address, kind)
    }

    fn remove_hw_breakpoint(&mut self, address: u64, kind: usize) -> TargetResult<bool, Self> {
        self.remove_sw_breakpoint(address, kind)
    }
}

impl HwWatchpoint for Session<'_> {
    fn add_hw_watchpoint(&mut self, address: u64, length: u64, kind: WatchKind) -> TargetResult<bool, Self> {
        let end = address.checked_add(length).ok_or(TargetError::NonFatal)?;
        // One condition is for the breakpoints, and one for system calls.
        if self.watchpoints.len() >= 62 {
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

impl MonitorCmd for Session<'_> {
    fn handle_monitor_cmd(&mut self, command: &[u8], mut out: ConsoleOutput<'_>) -> Result<(), TravelError> {
        let text = String::from_utf8_lossy(command).into_owned();
        let number = |text: &str| match text.strip_prefix("0x") {
            Some(digits) => u64::from_str_radix(digits, 16).ok(),
            None => text.parse().ok(),
        };
        let words: Vec<&str> = text.split_whitespace().collect();
        match *words.as_slice() {
            ["when"] => {
                let span = self.travel.span();
                outputln!(out, "{} of {} to {}", self.state.time(), span.start, span.end);
            }
            ["seek", time] => match number(time) {
                Some(time) => match self.go_to(time) {
                    Ok(()) => {
                        outputln!(out, "at {time}; `maintenance flush register-cache` lets GDB look again")
                    }
                    Err(error) => outputln!(out, "{error}"),
                },
                None => outputln!(out, "{time} is not a time"),
            },
            ["last-write", address] => match number(address) {
                Some(address) => {
                    let within = self.travel.span().start..self.state.time();
                    let write = [Filter::Write(address.into())];
                    let found = (!within.is_empty())
                        .then(|| self.travel.search(&write, within, Direction::Backward, 1, &Unwatched))
                        .transpose()?;
                    match found.and_then(|found| found.hits.first().copied()) {
                        Some(hit) => outputln!(out, "{}", hit.time),
                        None => outputln!(out, "nothing has written it"),
                    }
                }
                None => outputln!(out, "{address} is not an address"),
            },
            _ => outputln!(out, "when | seek TIME | last-write ADDRESS"),
        }
        Ok(())
    }
}
