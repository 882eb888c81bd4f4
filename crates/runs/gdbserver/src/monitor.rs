//! `monitor`: what GDB's own commands do not ask about a recording.

use crate::session::Session;
use gdbstub::conn::Connection;
use gdbstub::outputln;
use gdbstub::target::ext::monitor_cmd::{ConsoleOutput, MonitorCmd};
use parallax_moment::{Names, Stop, place_of};
use parallax_symbols::Place;
use parallax_trace::{Direction, Target, Time, Watch};
use parallax_travel::{Filter, Numbers, TravelError};
use std::cell::{Cell, RefCell};
use std::net::TcpStream;
use std::ops::Range;
use std::time::{Duration, Instant};

const HELP: &str = "when | seek TIME | last-write PLACE | find CONDITION [from TIME | before TIME]
a PLACE is an address, or an expression such as list->next
a CONDITION is write PLACE, read PLACE, execute FUNCTION, end FUNCTION, execute FILE:LINE, execute ADDRESS, system-call NAME or signals";

/// So many steps are listed.
const MOST: usize = 100;

/// Tells GDB now and then that an answer is being worked on: it gives up on a server that says nothing.
struct Working {
    stream: RefCell<Option<TcpStream>>,
    said: Cell<Instant>,
}

impl Watch for Working {
    fn stop(&self) -> bool {
        const OFTEN: Duration = Duration::from_millis(500);
        if self.said.get().elapsed() >= OFTEN {
            self.said.set(Instant::now());
            if let Some(stream) = &mut *self.stream.borrow_mut() {
                // Output that is empty. A connection that is gone shows when the answer is written.
                let _ = Connection::write_all(stream, b"$O#4f");
            }
        }
        false
    }

    fn progress(&self, _: Time) {}
}

/// What a command comes to: lines, or what is wrong with it.
type Answer = Result<Vec<String>, String>;

fn told(error: TravelError) -> String {
    error.to_string()
}

fn number(text: &str) -> Option<u64> {
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

fn time_of(text: &str) -> Result<Time, String> {
    number(text).ok_or(format!("{text} is not a time"))
}

impl Session<'_> {
    fn working(&self) -> Working {
        let stream = self.beside.borrow().stream.as_ref().and_then(|stream| stream.try_clone().ok());
        Working { stream: RefCell::new(stream), said: Cell::new(Instant::now()) }
    }

    fn asked(&mut self, text: &str) -> Answer {
        let words: Vec<&str> = text.split_whitespace().collect();
        match *words.as_slice() {
            ["when"] => {
                let span = self.travel.span();
                Ok(vec![format!("{} of {} to {}", self.state.time(), span.start, span.end)])
            }
            ["seek", time] => {
                let time = time_of(time)?;
                self.look_until(time).map_err(told)?;
                self.go_to(time).map_err(told)?;
                Ok(vec![format!("at {time}; `maintenance flush register-cache` lets GDB look again")])
            }
            ["last-write", ref place @ ..] if !place.is_empty() => {
                let write = Filter::Write(self.extent(&place.join(" "))?.into());
                let within = self.travel.span().start..self.state.time();
                let found = self.found(&[write], within, Direction::Backward, 1)?;
                Ok(if found.is_empty() { vec![String::from("nothing has written it")] } else { found })
            }
            ["find", ref rest @ .., "from", time] => {
                let within = time_of(time)?..self.travel.span().end;
                self.find(rest, within, Direction::Forward)
            }
            ["find", ref rest @ .., "before", time] => {
                let within = self.travel.span().start..time_of(time)?;
                self.find(rest, within, Direction::Backward)
            }
            ["find", ref rest @ ..] => self.find(rest, self.travel.span(), Direction::Forward),
            _ => Err(String::from(HELP)),
        }
    }

    fn find(&self, words: &[&str], within: Range<Time>, direction: Direction) -> Answer {
        let (filter, notes) = self.condition(words)?;
        let mut found = self.found(&[filter], within, direction, MOST)?;
        match found.len() {
            0 => found.push(String::from("nothing of that kind happens there")),
            MOST => found.push(format!("{MOST} found; there may be more (`from TIME`)")),
            _ => {}
        }
        found.extend(notes.into_iter().map(|note| format!("note: {note}")));
        Ok(found)
    }

    /// A condition, and what was left out of it.
    fn condition(&self, words: &[&str]) -> Result<(Filter, Vec<String>), String> {
        let plain = match *words {
            ["signals"] => Filter::Signal(Numbers::All),
            ["system-call", name] => {
                let number = self.travel.system_call(name).map_err(told)?;
                Filter::SystemCall(number.ok_or(format!("there is no system call {name}"))?.into())
            }
            ["write", ref place @ ..] if !place.is_empty() => {
                Filter::Write(self.extent(&place.join(" "))?.into())
            }
            ["read", ref place @ ..] if !place.is_empty() => {
                Filter::Read(self.extent(&place.join(" "))?.into())
            }
            ["execute", ref place @ ..] if !place.is_empty() => {
                return self.code(&place.join(" "), Stop::Entry);
            }
            ["end", ref place @ ..] if !place.is_empty() => return self.code(&place.join(" "), Stop::End),
            _ => return Err(String::from(HELP)),
        };
        Ok((plain, Vec::new()))
    }

    /// Where a function or a line starts, or a function ends.
    fn code(&self, place: &str, stop: Stop) -> Result<(Filter, Vec<String>), String> {
        if let Some(address) = number(place) {
            return Ok((Filter::Execute(address.into()), Vec::new()));
        }
        let names = Names { travel: self.travel, modules: &self.modules, watch: &self.working() };
        let mut code = names.place(place, stop).map_err(told)?;
        let notes = std::mem::take(&mut code.notes);
        if code.is_empty() {
            let notes: String = notes.iter().map(|note| format!("\n{note}")).collect();
            let what = if stop == Stop::End { "no known end of a function" } else { "no code" };
            return Err(format!("there is {what} called {place}{notes}"));
        }
        Ok((code.filter(), notes))
    }

    /// The bytes that an address or an expression means, as the innermost frame of the thread that makes the next step sees it.
    fn extent(&self, text: &str) -> Result<Range<u64>, String> {
        let extent = |address: u64, size: u64| {
            let end = address.checked_add(size.max(1));
            end.map(|end| address..end).ok_or(format!("{text} is not an address"))
        };
        if let Some(address) = number(text) {
            return extent(address, 1);
        }
        let state = self.travel.state(self.state.time()).map_err(told)?;
        let moment = self.modules.moment(state, None);
        let symbols = &moment.symbols;
        let value = symbols.evaluate(text, &moment.frame(), &moment);
        let value = value.map_err(|error| error.to_string())?;
        let size = symbols.size(&value.ty).map_err(|error| error.to_string())?;
        match value.place {
            Place::Memory(address) => extent(address, size),
            _ => Err(format!("{text} does not lie in memory")),
        }
    }

    /// The steps at which a condition holds: time, thread and place.
    fn found(&self, filters: &[Filter], within: Range<Time>, direction: Direction, most: usize) -> Answer {
        let span = self.travel.span();
        let within = within.start.max(span.start)..within.end.min(span.end);
        if within.is_empty() {
            return Ok(Vec::new());
        }
        let found = self.travel.search(filters, within, direction, most, &self.working()).map_err(told)?;
        found.hits.iter().map(|hit| self.line(hit.time)).collect()
    }

    fn line(&self, time: Time) -> Result<String, String> {
        let state = self.travel.state(time).map_err(told)?;
        let (thread, pc) = (state.thread(), state.pc());
        let (function, line) = place_of(&self.modules.symbols(&state), pc);
        let function = function.map_or(String::new(), |function| format!("  {function}"));
        let line = line.map_or(String::new(), |line| format!(" ({}:{})", line.file, line.line));
        Ok(format!("{time}  thread {thread}  {pc:#x}{function}{line}"))
    }

    /// Looks at the recording up to a time, telling GDB meanwhile: states are quickly had then.
    fn look_until(&self, time: Time) -> Result<(), TravelError> {
        let span = self.travel.span();
        let within = span.start..time.min(span.end);
        if !within.is_empty() {
            // Code that no program has.
            let nowhere = [Filter::Execute(u64::MAX.saturating_sub(1).into())];
            self.travel.search(&nowhere, within, Direction::Forward, 1, &self.working())?;
        }
        Ok(())
    }
}

impl MonitorCmd for Session<'_> {
    fn handle_monitor_cmd(&mut self, command: &[u8], mut out: ConsoleOutput<'_>) -> Result<(), TravelError> {
        let (Ok(lines) | Err(lines)) =
            self.asked(&String::from_utf8_lossy(command)).map_err(|message| vec![message]);
        lines.iter().for_each(|line| outputln!(out, "{line}"));
        Ok(())
    }
}
