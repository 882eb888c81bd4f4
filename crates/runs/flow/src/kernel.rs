//! Steps that the kernel made: what of the value they brought, and what they only moved.

use crate::error::FlowError;
use crate::node::What;
use crate::origin::{Before, Following};
use crate::wanted::Place;
use crate::window::Window;
use parallax_process::memory::Backing;
use parallax_process::outside::Tid;
use parallax_process::system::call_name;
use parallax_process::{HandlerFrame, Snapshot};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// System calls have numbers below this.
pub const MOST_CALLS: u64 = 1024;

/// Whether a system call may put other memory where some was.
pub fn replaces_memory(name: &str) -> bool {
    matches!(
        name,
        "mmap" | "mmap2" | "mremap" | "brk" | "madvise" | "munmap" | "shmat" | "execve" | "execveat"
    )
}

/// Where bytes come from that a step only moved: the place after, and the places before.
type Moves = BTreeMap<Place, Vec<Place>>;

/// A system call.
pub fn call(
    on: &mut Following<'_>,
    window: &Window,
    step: u64,
    thread: Tid,
    number: u64,
) -> Result<(), FlowError> {
    let before = on.before(step, thread)?;
    let machine = before.snapshot.machine();
    let name = call_name(machine, number).unwrap_or("system call");
    let abi = machine.abi();
    let arguments = abi.call_arguments.map(|register| before.registers.get(register));
    let pc = before.pc.wrapping_sub(if window.pc(step).is_some() { 0 } else { abi.call_length });
    let is_new_program = matches!(name, "execve" | "execveat") && replaced(on, &before.snapshot, step)?;
    if is_new_program {
        return start(on, step, Some(thread));
    }
    match name {
        "rt_sigreturn" => {
            let moves = restored(on, before, thread);
            return moved(on, step, thread, pc, What::HandlerReturn, &moves);
        }
        "clone" | "clone3" => {
            let moves = new_thread(on, &before, step, thread, name)?;
            moved(on, step, thread, pc, What::Thread, &moves)?;
        }
        _ => {}
    }
    let result = result(on, &before, step, thread)?;
    let file = None;
    let what = What::Call { name: name.to_owned(), arguments, result, file };
    let written = window.writes_of(step).iter();
    let written =
        written.flat_map(|write| on.wanted.memory(write.address..write.address.saturating_add(write.size)));
    let mut places: Vec<Place> = written.map(Place::Memory).collect();
    let results: &[&str] = if abi.result_is_number { &["RAX", "RCX", "R11"] } else { &["r3", "cr0"] };
    for register in results {
        places.extend(on.names.place(register).map(|at| Place::Register(thread, at)));
    }
    on.end_at(step, thread, pc, what, &places)?;
    if replaces_memory(name) {
        remapped(on, step, thread, pc, name, &arguments, result)?;
    }
    Ok(())
}

/// Whether a call replaced the program: nothing of the old one is there.
fn replaced(on: &mut Following<'_>, before: &Snapshot, step: u64) -> Result<bool, FlowError> {
    let after = on.replay.snapshot(step)?;
    let stack = |snapshot: &Snapshot| {
        let first = snapshot.threads().first().copied().unwrap_or(0);
        snapshot.thread(first)
    };
    let code = before.machine().abi().call_number;
    let thread = after.threads().first().copied().unwrap_or(0);
    let number = on.replay.registers_of(&after, thread).map_or(0, |(registers, _)| registers.get(code));
    // A call that failed leaves an error number; a new program starts with registers of zero.
    Ok(number == 0 && stack(before) != stack(&after))
}

fn result(on: &mut Following<'_>, before: &Before, step: u64, thread: Tid) -> Result<u64, FlowError> {
    let after = on.replay.snapshot(step)?;
    let abi = before.snapshot.machine().abi();
    let register = if abi.result_is_number { abi.call_number } else { abi.call_arguments[0] };
    Ok(on.replay.registers_of(&after, thread).map_or(0, |(registers, _)| registers.get(register)))
}

/// Wants, instead of bytes that a step moved, what they were before it.
fn moved(
    on: &mut Following<'_>,
    step: u64,
    thread: Tid,
    pc: u64,
    what: What,
    moves: &Moves,
) -> Result<(), FlowError> {
    let mut users = BTreeSet::new();
    let mut taken = Vec::new();
    for place in moves.keys() {
        if let Some(asking) = on.wanted.take(*place) {
            users.extend(asking);
            taken.push(*place);
        }
    }
    if taken.is_empty() {
        return Ok(());
    }
    let made = on.values_after(step, &taken)?;
    let node = on.add(step, thread, pc, what, &made, users);
    for place in taken.iter().flat_map(|place| &moves[place]) {
        on.wanted.add(*place, node);
    }
    Ok(())
}

/// Registers of a thread, and the bytes of the frame at `stack` that keep them.
fn kept(
    on: &Following<'_>,
    frame: &HandlerFrame,
    stack: u64,
    float: u64,
    thread: Tid,
) -> Vec<(Place, Place)> {
    let mut pairs = Vec::new();
    let mut pair = |name: &str, start: u64, bytes: u64| {
        let registers = on.names.place(name);
        for (at, low) in registers.zip(0..bytes) {
            pairs.push((Place::Register(thread, at), Place::Memory(start.wrapping_add(low))));
        }
    };
    for (name, distance) in &frame.general {
        pair(name, stack.wrapping_add(*distance), 8);
    }
    for (name, bit) in frame.flag_bits {
        pair(name, stack.wrapping_add(frame.flags + u64::from(bit / 8)), 1);
    }
    if float != 0 {
        for (name, distance, bytes) in &frame.float {
            pair(name, float.wrapping_add(*distance), *bytes);
        }
    }
    pairs
}

fn word(memory: &mut parallax_process::memory::Memory, at: u64) -> u64 {
    let mut bytes = [0; 8];
    let _ = memory.read(at, &mut bytes);
    u64::from_le_bytes(bytes)
}

/// What a handler's return restores: each register from its place in the frame.
fn restored(on: &Following<'_>, mut before: Before, thread: Tid) -> Moves {
    let Some(frame) = before.snapshot.machine().handler_frame() else { return Moves::new() };
    let stack = before.registers.get("RSP").wrapping_sub(8);
    let float = word(&mut before.memory, stack.wrapping_add(frame.float_pointer));
    let pairs = kept(on, &frame, stack, float, thread);
    pairs.into_iter().map(|(register, memory)| (register, vec![memory])).collect()
}

/// A delivery: the frame keeps registers, and the handler is given some.
pub fn delivery(
    on: &mut Following<'_>,
    window: &Window,
    step: u64,
    thread: Tid,
    signal: i32,
) -> Result<(), FlowError> {
    let before = on.before(step, thread)?;
    let after = on.replay.snapshot(step)?;
    let pc = before.pc;
    let mut given: Vec<Place> = Vec::new();
    if let Some(frame) = before.snapshot.machine().handler_frame() {
        let stack = on.replay.registers_of(&after, thread).map_or(0, |(registers, _)| registers.get("RSP"));
        let float = word(&mut after.memory(), stack.wrapping_add(frame.float_pointer));
        let mut moves = Moves::new();
        for (register, memory) in kept(on, &frame, stack, float, thread) {
            moves.entry(memory).or_default().push(register);
        }
        moved(on, step, thread, pc, What::Delivery { signal }, &moves)?;
        for name in frame.given {
            given.extend(on.names.place(name).map(|at| Place::Register(thread, at)));
        }
    } else {
        given.extend(on.wanted.registers(thread).into_iter().map(|at| Place::Register(thread, at)));
    }
    for write in window.writes_of(step) {
        let wanted = on.wanted.memory(write.address..write.address.saturating_add(write.size));
        given.extend(wanted.into_iter().map(Place::Memory));
    }
    on.end_at(step, thread, pc, What::Delivery { signal }, &given)
}

/// The registers of a thread that a call made: those of its maker, but for what it asked for.
fn new_thread(
    on: &mut Following<'_>,
    before: &Before,
    step: u64,
    maker: Tid,
    name: &str,
) -> Result<Moves, FlowError> {
    let mut moves = Moves::new();
    let old = before.snapshot.threads();
    let new: Vec<Tid> = on.wanted.threads().into_iter().filter(|thread| !old.contains(thread)).collect();
    let alive = on.replay.snapshot(step)?.threads();
    let abi = before.snapshot.machine().abi();
    // In the structure that `clone3` is given: the stack, its size, the thread pointer.
    const STACK: Range<u64> = 40..56;
    const POINTER: Range<u64> = 56..64;
    let structure = before.registers.get(abi.call_arguments[0]);
    let memory = |range: Range<u64>| range.map(|at| Place::Memory(structure + at)).collect::<Vec<_>>();
    let stack = on.names.place(abi.stack_pointer);
    let pointer = on.names.place(abi.thread_pointer);
    let code = on.names.place(abi.call_number);
    let argument = |index: usize, low: u32| {
        let place = on.names.place(abi.call_arguments[index]);
        vec![Place::Register(maker, place.start + low)]
    };
    for thread in new.into_iter().filter(|thread| alive.contains(thread)) {
        for at in on.wanted.registers(thread) {
            let from = if stack.contains(&at) && name == "clone3" {
                memory(STACK)
            } else if stack.contains(&at) && before.registers.get(abi.call_arguments[1]) != 0 {
                argument(1, at - stack.start)
            } else if pointer.contains(&at) && name == "clone3" {
                memory(
                    POINTER.start + u64::from(at - pointer.start)
                        ..POINTER.start + u64::from(at - pointer.start) + 1,
                )
            } else if pointer.contains(&at) {
                argument(abi.clone_arguments.1, at - pointer.start)
            } else if code.contains(&at) {
                // Zero, by which it knows that it is the new one.
                Vec::new()
            } else {
                vec![Place::Register(maker, at)]
            };
            moves.insert(Place::Register(thread, at), from);
        }
    }
    Ok(moves)
}

/// Memory that a call mapped anew, or moved.
fn remapped(
    on: &mut Following<'_>,
    step: u64,
    thread: Tid,
    pc: u64,
    name: &str,
    arguments: &[u64; 6],
    result: u64,
) -> Result<(), FlowError> {
    let failed = result > u64::MAX - 4096;
    let [first, second, third, ..] = *arguments;
    let span = |start: u64, length: u64| start..start.saturating_add(length.next_multiple_of(4096));
    let fresh = match name {
        _ if failed => return Ok(()),
        "mmap" | "mmap2" => span(result, second),
        // What is dropped is as it was mapped; of other advice nothing is seen.
        "madvise" if third == libc::MADV_DONTNEED as u64 => span(first, second),
        "mremap" => {
            let moves: Moves = if result == first {
                Moves::new()
            } else {
                let same = on.wanted.memory(span(result, second.min(third)));
                same.into_iter()
                    .map(|at| (Place::Memory(at), vec![Place::Memory(at - result + first)]))
                    .collect()
            };
            moved(on, step, thread, pc, What::Moved, &moves)?;
            if third <= second {
                return Ok(());
            }
            span(result.saturating_add(second.next_multiple_of(4096)), third - second)
        }
        "brk" => {
            let before = on.replay.snapshot(step - 1)?.memory();
            let wanted = on.wanted.all_memory();
            let new = wanted.into_iter().filter(|at| before.region_at(*at).is_none());
            let new: Vec<Place> = new.map(Place::Memory).collect();
            return on.end_at(step, thread, pc, What::Mapped { file: None }, &new);
        }
        "shmat" => {
            let memory = on.replay.snapshot(step)?.memory();
            memory.region_at(result).map_or(0..0, |(start, region)| start..region.end)
        }
        _ => return Ok(()),
    };
    let wanted = on.wanted.memory(fresh);
    let after = on.replay.snapshot(step)?;
    for (file, places) in by_file(&after, &wanted) {
        on.end_at(step, thread, pc, What::Mapped { file }, &places)?;
    }
    Ok(())
}

/// A file, and an offset in it or an address it is mapped at.
type InFile = Option<(String, u64)>;

/// Bytes of memory by the file they are mapped from, with the offset of the first.
fn by_file(state: &Snapshot, wanted: &[u64]) -> Vec<(InFile, Vec<Place>)> {
    let memory = state.memory();
    let mut groups: BTreeMap<InFile, (u64, Vec<Place>)> = BTreeMap::new();
    for at in wanted {
        let region = memory.region_at(*at);
        let (key, offset) = match region.map(|(start, region)| (start, &region.backing)) {
            Some((start, Backing::Copied { map, offset, .. } | Backing::Shared { map, offset, .. })) => {
                (Some((map.name().to_owned(), start)), offset + (at - start))
            }
            _ => (None, 0),
        };
        groups.entry(key).or_insert((offset, Vec::new())).1.push(Place::Memory(*at));
    }
    groups.into_iter().map(|(key, (offset, places))| (key.map(|(name, _)| (name, offset)), places)).collect()
}

/// What a program starts with: pages of its file, and what the kernel made.
pub fn start(on: &mut Following<'_>, step: u64, thread: Option<Tid>) -> Result<(), FlowError> {
    let state = on.replay.snapshot(step)?;
    let program = state.program().display().to_string();
    let owner = thread.unwrap_or(state.process());
    let wanted = on.wanted.all_memory();
    let memory = state.memory();
    let first = state.threads().first().copied().unwrap_or(0);
    let stack = on.replay.registers_of(&state, first).map(|(registers, _)| {
        let pointer = registers.get(state.machine().abi().stack_pointer);
        memory.region_at(pointer).map_or(0..0, |(start, region)| start..region.end)
    });
    let stack = stack.unwrap_or(0..0);
    let on_stack: Vec<Place> =
        wanted.iter().filter(|at| stack.contains(at)).map(|at| Place::Memory(*at)).collect();
    let rest: Vec<u64> = wanted.iter().copied().filter(|at| !stack.contains(at)).collect();
    for (file, places) in by_file(&state, &rest) {
        on.end_at(step, owner, 0, What::Mapped { file }, &places)?;
    }
    let registers = on.wanted.threads().into_iter().flat_map(|thread| {
        on.wanted.registers(thread).into_iter().map(move |at| Place::Register(thread, at)).collect::<Vec<_>>()
    });
    let all: Vec<Place> = registers.chain(on_stack).collect();
    on.end_at(step, owner, 0, What::Start { program }, &all)
}
