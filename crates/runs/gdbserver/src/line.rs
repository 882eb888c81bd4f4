//! The connection to GDB. What GDB asks that the library does not know is answered here, before the library sees it; what the
//! library does not say is added to its answers.

use crate::agent::{Expression, conditions};
use crate::local::variable_block;
use gdbstub::conn::{Connection, ConnectionExt};
use parallax_travel::State;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::io;
use std::net::TcpStream;
use std::rc::Rc;

/// What the session and the connection tell each other beside the library.
pub(crate) struct Beside {
    /// The state that GDB looks at.
    pub state: Rc<State>,
    /// The conditions of the breakpoint that GDB is setting.
    pub conditions: Vec<Expression>,
    /// The signals that GDB does not want to hear of, by its numbers.
    pub passed: Vec<u8>,
    /// The program that GDB is to be told of with the next stop: another than it knows.
    pub executed: Option<Vec<u8>>,
    /// The connection, for those who work long on an answer.
    pub stream: Option<TcpStream>,
}

pub(crate) type Shared = Rc<RefCell<Beside>>;

/// The question where a thread keeps a module's variables.
const LOCAL: &[u8] = b"qGetTLSAddr:";
/// The signals that are not worth a stop.
const PASS_SIGNALS: &[u8] = b"QPassSignals:";
/// How the library's answer to what it supports begins, and what is supported besides.
const SUPPORTED: &[u8] = b"$PacketSize=";
const ALSO_SUPPORTED: &str = ";ConditionalBreakpoints+;QPassSignals+;exec-events+";

/// A packet of GDB's is no longer than this library takes.
const LONGEST: usize = 1 << 16;

pub(crate) struct Line {
    stream: TcpStream,
    /// What was read of a packet that is not for here.
    read: VecDeque<u8>,
    /// Whether GDB still wants each packet confirmed.
    confirms: bool,
    /// A packet of the library's, up to where it has come.
    written: Vec<u8>,
    beside: Shared,
}

/// A packet with its checksum.
fn packet_of(body: &[u8]) -> Vec<u8> {
    let checksum = body.iter().fold(0u8, |sum, byte| sum.wrapping_add(*byte));
    [b"$", body, format!("#{checksum:02x}").as_bytes()].concat()
}

/// What is between `$` and `#`.
fn body_of(packet: &[u8]) -> &[u8] {
    packet.get(1..packet.len().saturating_sub(3)).unwrap_or_default()
}

impl Line {
    pub fn new(stream: TcpStream, beside: Shared) -> Line {
        Line { stream, read: VecDeque::new(), confirms: true, written: Vec::new(), beside }
    }

    /// Reads the rest of a packet: up to `#` and two digits of a checksum.
    fn packet(&mut self) -> io::Result<Vec<u8>> {
        let mut packet = vec![b'$'];
        let mut left = None;
        while left != Some(0) && packet.len() < LONGEST {
            let byte = ConnectionExt::read(&mut self.stream)?;
            packet.push(byte);
            left = match left {
                None => (byte == b'#').then_some(2),
                Some(more) => Some(more - 1),
            };
        }
        Ok(packet)
    }

    fn answer(&mut self, text: &str) -> io::Result<()> {
        let confirms: &[u8] = if self.confirms { b"+" } else { b"" };
        Connection::write_all(&mut self.stream, &[confirms, &packet_of(text.as_bytes())].concat())?;
        Connection::flush(&mut self.stream)
    }

    /// Where a thread keeps a module's variables.
    fn local(&self, question: &[u8]) -> String {
        let state = self.beside.borrow().state.clone();
        let found = parse(question).and_then(|(thread, offset, module)| {
            Some(variable_block(&state, thread, module)?.wrapping_add(offset))
        });
        found.map_or(String::from("E01"), |address| format!("{address:x}"))
    }

    /// A packet of GDB's as the library takes it; none if it is answered.
    fn taken(&mut self, packet: Vec<u8>) -> io::Result<Option<Vec<u8>>> {
        let body = body_of(&packet);
        if let Some(question) = body.strip_prefix(LOCAL) {
            let answer = self.local(question);
            self.answer(&answer)?;
            return Ok(None);
        }
        if let Some(list) = body.strip_prefix(PASS_SIGNALS) {
            let numbers = String::from_utf8_lossy(list);
            let numbers = numbers.split(';').filter_map(|number| u8::from_str_radix(number, 16).ok());
            self.beside.borrow_mut().passed = numbers.collect();
            self.answer("OK")?;
            return Ok(None);
        }
        self.confirms &= !body.starts_with(b"QStartNoAckMode");
        if body.starts_with(b"Z") {
            let at = body.iter().position(|byte| *byte == b';').unwrap_or(body.len());
            let list = std::str::from_utf8(body.get(at + 1..).unwrap_or_default()).ok().and_then(conditions);
            // One that cannot be read holds everywhere.
            self.beside.borrow_mut().conditions = list.unwrap_or_default();
            return Ok(Some(packet_of(&body[..at])));
        }
        Ok(Some(packet))
    }

    /// A packet of the library's as GDB gets it.
    fn amended(&mut self) -> Vec<u8> {
        let packet = std::mem::take(&mut self.written);
        if packet.starts_with(SUPPORTED) {
            return packet_of(&[body_of(&packet), ALSO_SUPPORTED.as_bytes()].concat());
        }
        if packet.starts_with(b"$T")
            && let Some(program) = self.beside.borrow_mut().executed.take()
        {
            let digits: String = program.iter().map(|byte| format!("{byte:02x}")).collect();
            return packet_of(&[body_of(&packet), format!("exec:{digits};").as_bytes()].concat());
        }
        packet
    }
}

/// `THREAD,OFFSET,MODULE`, where the thread may follow a process and the module is the address of its link map.
fn parse(question: &[u8]) -> Option<(u32, u64, u64)> {
    let text = std::str::from_utf8(question).ok()?;
    let mut parts = text.split(',');
    let thread = parts.next()?;
    let thread = u32::from_str_radix(thread.rsplit('.').next()?, 16).ok()?;
    let mut number = || u64::from_str_radix(parts.next()?, 16).ok();
    Some((thread, number()?, number()?))
}

impl Connection for Line {
    type Error = io::Error;

    fn write(&mut self, byte: u8) -> io::Result<()> {
        if self.written.is_empty() && byte != b'$' {
            // A confirmation, which must not wait for the answer.
            return Connection::write(&mut self.stream, byte);
        }
        self.written.push(byte);
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        let packet = self.amended();
        Connection::write_all(&mut self.stream, &packet)?;
        Connection::flush(&mut self.stream)
    }

    fn on_session_start(&mut self) -> io::Result<()> {
        self.stream.on_session_start()
    }
}

impl ConnectionExt for Line {
    fn read(&mut self) -> io::Result<u8> {
        loop {
            if let Some(byte) = self.read.pop_front() {
                return Ok(byte);
            }
            let byte = ConnectionExt::read(&mut self.stream)?;
            if byte != b'$' {
                return Ok(byte);
            }
            let packet = self.packet()?;
            let taken = self.taken(packet)?;
            self.read.extend(taken.into_iter().flatten());
        }
    }

    fn peek(&mut self) -> io::Result<Option<u8>> {
        match self.read.front() {
            Some(byte) => Ok(Some(*byte)),
            None => ConnectionExt::peek(&mut self.stream),
        }
    }
}
