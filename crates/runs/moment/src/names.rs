//! What a name of code means in all of a recording.
//!
//! A function may start at several places: in a library that was opened, closed and opened elsewhere, in copies that the
//! compiler made of it, and wherever it was inlined. Its symbol may name a function that chooses among several (an IFUNC), as
//! `strlen` does in C libraries: calls go to the one that was chosen, and which that was is what the chooser returned when the
//! recording ran it.
//!
//! A function ends where it returns, or jumps to code that is not its own. A copy that was inlined ends where control leaves its
//! code, if that has one way in; where it is mixed with its caller's, a note says that its ends are not known.

use crate::control::{self, Exit, inside, instructions};
use crate::over_time::{Group, OverTime};
use crate::spots::{Spot, Spots};
use crate::{Modules, place_of};
use iced_x86::{Instruction, Mnemonic};
use parallax_process::elf::Machine;
use parallax_record::Log;
use parallax_symbols::Inlined;
use parallax_trace::{Direction, Target, Watch};
use parallax_travel::{Filter, Ranges, Test, Travel, TravelError};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

/// A chooser is asked by each module that calls the function: so many askers are looked at.
const MOST: usize = 256;

/// Which instructions of a function are meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// Its first.
    Entry,
    /// The one behind its prologue, if every way leads there, and else its first: its parameters can be read there.
    Body,
    /// Those that end it: returns, and jumps elsewhere.
    End,
}

/// Instructions that a name means.
pub struct Code {
    log: Arc<Log>,
    spots: Vec<Spot>,
    /// Ways to an instruction by which nothing begins: loops that come back to where a function starts.
    turns: Vec<(u64, u64)>,
    /// What is left out.
    pub notes: Vec<String>,
}

impl Code {
    fn new(log: Arc<Log>) -> Code {
        Code { log, spots: Vec::new(), turns: Vec::new(), notes: Vec::new() }
    }

    /// Whether the name means nothing.
    pub fn is_empty(&self) -> bool {
        self.spots.is_empty()
    }

    /// The steps at which it is come to.
    pub fn filter(self) -> Filter {
        let at = self.spots.iter().map(|spot| spot.address..spot.address.saturating_add(1));
        let at = Filter::Execute(Ranges::new(at));
        if self.turns.is_empty() && self.spots.iter().all(|spot| spot.file.is_none() && spot.exit.is_none()) {
            return at;
        }
        Filter::When(Box::new(at), Test(Arc::new(Spots::new(self.spots, self.turns, self.log))))
    }

    fn add(&mut self, group: &Group, address: u64, exit: Option<Exit>) {
        let file = group.file_at(address).filter(|file| !file.is_lasting);
        let file = file.map(|file| file.placed.clone());
        let exit = exit.filter(|exit| !matches!(exit, Exit::Always));
        self.spots.push(Spot { address, file, exit });
    }
}

/// Names of code in a recording.
pub struct Names<'n> {
    /// The recording.
    pub travel: &'n Travel,
    /// The symbols of what was mapped.
    pub modules: &'n Modules,
    /// Who waits for answers.
    pub watch: &'n dyn Watch,
}

impl Names<'_> {
    /// A function, or a line as `FILE:LINE`.
    pub fn place(&self, text: &str, stop: Stop) -> Result<Code, TravelError> {
        match text.rsplit_once(':').and_then(|(file, line)| Some((file, line.parse().ok()?))) {
            Some((file, line)) if !file.ends_with(':') => self.line(file, line),
            _ => self.function(text, stop),
        }
    }

    /// The starts of a line's code; a line without code means the next one that has some.
    pub fn line(&self, file: &str, line: u64) -> Result<Code, TravelError> {
        let all = self.modules.over_time(self.travel, self.watch)?;
        let mut code = Code::new(self.travel.log().clone());
        let Some(line) = all.symbols().filter_map(|symbols| symbols.line_with_code(file, line)).min() else {
            return Ok(code);
        };
        for group in &all.groups {
            for address in group.symbols.starts_of_line(file, line) {
                code.add(group, address, None);
            }
        }
        Ok(code)
    }

    /// The functions of a name.
    pub fn function(&self, name: &str, stop: Stop) -> Result<Code, TravelError> {
        let all = self.modules.over_time(self.travel, self.watch)?;
        let mut code = Code::new(self.travel.log().clone());
        let mut mixed = Vec::new();
        for group in &all.groups {
            for start in group.symbols.functions_named(name) {
                if group.symbols.is_chooser(start) {
                    for chosen in self.chosen(start)? {
                        self.own(&mut code, group_of(&all, group, chosen), chosen, stop);
                    }
                } else {
                    self.own(&mut code, group, start, stop);
                }
            }
            let copies = group.symbols.inlined_named(name);
            let mut known: BTreeMap<u64, usize> = BTreeMap::new();
            copies.iter().for_each(|copy| *known.entry(copy.entry).or_default() += 1);
            for (entry, count) in known.into_iter().filter(|(_, count)| *count > 1) {
                code.notes.push(format!(
                    "{count} inlined copies of {name} start at one instruction, {}: each time it executes counts once",
                    told(group, entry)
                ));
            }
            for copy in &copies {
                if !self.copy(&mut code, group, copy, stop) {
                    mixed.push(told(group, copy.entry));
                }
            }
        }
        if !mixed.is_empty() {
            const SHOWN: usize = 3;
            let count = mixed.len();
            let more = if count > SHOWN { format!(" and {} more", count - SHOWN) } else { String::new() };
            mixed.truncate(SHOWN);
            let what = match stop {
                Stop::End => "and its code mixed with theirs: its ends there are not known",
                _ => "where its code was moved or made several times: entries there may be missing",
            };
            code.notes
                .push(format!("{name} is inlined into other functions, {what} ({}{more})", mixed.join(", ")));
        }
        code.spots.sort_by_key(|spot| spot.address);
        code.turns.sort_unstable();
        code.turns.dedup();
        Ok(code)
    }

    fn decodes(&self) -> bool {
        self.travel.machine().is_ok_and(|machine| machine == Machine::X86_64)
    }

    /// A function that has code of its own.
    fn own(&self, code: &mut Code, group: &Group, start: u64, stop: Stop) {
        let ranges = group.symbols.code_of(start);
        let body = if self.decodes() { decoded(group, &ranges) } else { Vec::new() };
        if stop == Stop::End {
            for instruction in &body {
                if let Some(exit) = control::exit(instruction, &ranges) {
                    code.add(group, instruction.ip(), Some(exit));
                }
            }
            return;
        }
        let behind = if stop == Stop::Body { group.symbols.after_prologue(start) } else { start };
        // Debug information of optimised code may have the prologue end behind a branch: then it is not on every way.
        let leaves = |instruction: &Instruction| match control::target(instruction) {
            Some(to) => !(start..=behind).contains(&to),
            None => !control::falls_through(instruction),
        };
        let mut prologue = body.iter().filter(|instruction| (start..behind).contains(&instruction.ip()));
        let at = if prologue.any(leaves) { start } else { behind };
        code.add(group, at, None);
        // A jump inside the prologue to its end comes from the entry: a variadic function has one over what keeps floats.
        let inner = body.iter().filter(|instruction| !(start..at).contains(&instruction.ip()));
        let back = inner.filter(|instruction| control::target(instruction) == Some(at));
        code.turns.extend(back.map(|instruction| (instruction.ip(), at)));
    }

    /// A copy inside another function; false if it is not known where else it begins, or where it ends.
    fn copy(&self, code: &mut Code, group: &Group, copy: &Inlined, stop: Stop) -> bool {
        let (entry, own) = (copy.entry, &copy.code);
        let around = if self.decodes() { decoded(group, &group.symbols.code_of(entry)) } else { Vec::new() };
        let leads = |instruction: &Instruction, to: u64| {
            control::target(instruction) == Some(to)
                || control::falls_through(instruction) && instruction.next_ip() == to
        };
        if stop != Stop::End {
            code.add(group, entry, None);
            let inner = around.iter().filter(|instruction| inside(own, instruction.ip()));
            let back = inner.filter(|instruction| leads(instruction, entry));
            code.turns.extend(back.map(|instruction| (instruction.ip(), entry)));
            return !begins_elsewhere(&around, entry, own) && !group.symbols.is_repeated(copy);
        }
        let Some(exits) = exits(&around, entry, own) else { return false };
        for (address, exit) in exits {
            code.add(group, address, Some(exit));
        }
        true
    }

    /// What a chooser returned, whenever it ran.
    fn chosen(&self, chooser: u64) -> Result<Vec<u64>, TravelError> {
        let (travel, watch) = (self.travel, self.watch);
        let span = travel.span();
        let entered = travel.search(
            &[Filter::Execute(chooser.into())],
            span.clone(),
            Direction::Forward,
            MOST,
            watch,
        )?;
        let mut found = Vec::new();
        for hit in entered.hits {
            let state = travel.state(hit.time)?;
            let (thread, stack) = (state.thread(), state.register("RSP").unwrap_or(0));
            let mut word = [0; 8];
            if state.read(stack, &mut word).is_err() {
                continue;
            }
            let back = [Filter::Execute(u64::from_le_bytes(word).into())];
            let mut from = hit.time + 1;
            // Another thread, or a call of the chooser inside of its own, may come to the same place first.
            while from < span.end {
                let next = travel.search(&back, from..span.end, Direction::Forward, 1, watch)?;
                let Some(next) = next.hits.first() else { break };
                let state = travel.state(next.time)?;
                if state.thread() == thread && state.register("RSP").is_some_and(|now| now > stack) {
                    found.extend(state.register("RAX"));
                    break;
                }
                from = next.time + 1;
            }
        }
        found.sort_unstable();
        found.dedup();
        Ok(found)
    }
}

/// The group that an address lies in: that of who chose it, if it does.
fn group_of<'g>(all: &'g OverTime, near: &'g Group, address: u64) -> &'g Group {
    let has = |group: &&Group| group.file_at(address).is_some();
    if has(&near) { near } else { all.groups.iter().find(has).unwrap_or(near) }
}

fn decoded(group: &Group, ranges: &[Range<u64>]) -> Vec<Instruction> {
    let code = ranges.iter().filter_map(|range| Some((range.start, group.code(range)?)));
    code.flat_map(|(start, bytes)| instructions(bytes, start)).collect()
}

/// A place as people know it.
fn told(group: &Group, address: u64) -> String {
    let function = group.symbols.function_at(address).map(|(name, _)| name);
    match (function, place_of(&group.symbols, address).1) {
        (Some(function), Some(line)) => {
            let file = line.file.rsplit('/').next().unwrap_or_default();
            format!("in {function} at {file}:{}", line.line)
        }
        (Some(function), None) => format!("in {function} at {address:#x}"),
        _ => format!("at {address:#x}"),
    }
}

/// Where control goes from an instruction, as far as it says so itself.
fn ways(instruction: &Instruction) -> impl Iterator<Item = u64> {
    let next = control::falls_through(instruction).then(|| instruction.next_ip());
    control::target(instruction).into_iter().chain(next)
}

/// Whether control comes into part of a function's code again and again without passing its entry: what was entered there once was
/// moved out of a loop.
fn begins_elsewhere(function: &[Instruction], entry: u64, own: &[Range<u64>]) -> bool {
    let by_address: BTreeMap<u64, &Instruction> =
        function.iter().map(|instruction| (instruction.ip(), instruction)).collect();
    let outside = function.iter().filter(|instruction| !inside(own, instruction.ip()));
    let ways_in = outside.flat_map(|from| ways(from).map(move |to| (from.ip(), to)));
    let mut ways_in = ways_in.filter(|(_, to)| inside(own, *to) && *to != entry);
    ways_in.any(|(from, to)| {
        let (mut seen, mut open) = (BTreeSet::from([entry, to]), vec![to]);
        while let Some(at) = open.pop() {
            let next = by_address.get(&at).into_iter().flat_map(|instruction| ways(instruction));
            open.extend(next.filter(|next| seen.insert(*next)));
        }
        seen.contains(&from)
    })
}

/// Where control leaves part of a function's code that is entered at one instruction; none if it may be entered elsewhere too,
/// or goes on outside with what a call returns.
fn exits(function: &[Instruction], entry: u64, own: &[Range<u64>]) -> Option<Vec<(u64, Exit)>> {
    let (mut found, mut reached, mut starts) = (Vec::new(), BTreeSet::from([entry]), BTreeSet::new());
    for instruction in function {
        let (target, next) = (control::target(instruction), instruction.next_ip());
        let next = control::falls_through(instruction).then_some(next);
        let leads_in = |to: &Option<u64>| to.is_some_and(|to| inside(own, to));
        if !inside(own, instruction.ip()) {
            if [target, next].iter().any(|to| leads_in(to) && *to != Some(entry)) {
                return None;
            }
            continue;
        }
        // What stands between pieces of code to align them leads nowhere, unless it is come to.
        if instruction.mnemonic() != Mnemonic::Nop {
            starts.insert(instruction.ip());
            reached.extend([target, next].iter().flatten());
        } else if reached.contains(&instruction.ip()) {
            reached.insert(instruction.next_ip());
        }
        let exit = match (target, next) {
            (Some(_), Some(_)) => match (leads_in(&target), leads_in(&next)) {
                (true, true) => None,
                (false, false) => Some(Exit::Always),
                (stays, _) => Some(Exit::If(*instruction, !stays)),
            },
            (_, Some(_)) if leads_in(&next) => None,
            (_, Some(_)) if control::is_call(instruction) => return None,
            (_, Some(_)) => Some(Exit::Always),
            _ => control::exit(instruction, own),
        };
        found.extend(exit.map(|exit| (instruction.ip(), exit)));
    }
    // What nothing leads to is entered through a table, from wherever.
    (!starts.is_empty() && starts.is_subset(&reached)).then_some(found)
}
