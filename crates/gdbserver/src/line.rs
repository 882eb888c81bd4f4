//! The connection to GDB. What GDB asks that the library does not know is answered here, before the library sees it.

use crate::local::variable_block;
use gdbstub::conn::{Connection, ConnectionExt};
use parallax_travel::State;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::io;
use std::net::TcpStream;
use std::rc::Rc;

/// The state that GDB looks at.
pub(crate) type Shown = Rc<RefCell<Rc<State>>>;

/// The question where a thread keeps a module's variables.
const LOCAL: &[u8] = b"qGetTLSAddr:";

/// A packet of GDB's is no longer than this library takes.
const LONGEST: usize = 1 << 16;

pub(crate) struct Line {
    stream: TcpStream,
    /// What was read of a packet that is not for here.
    read: VecDeque<u8>,
    /// Whether GDB still wants each packet confirmed.
    confirms: bool,
    shown: Shown,
}

impl Line {
    pub fn new(stream: TcpStream, shown: Shown) -> Line {
        Line { stream, read: VecDeque::new(), confirms: true, shown }
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
        let checksum = text.bytes().fold(0u8, |sum, byte| sum.wrapping_add(byte));
        let confirms = if self.confirms { "+" } else { "" };
        self.stream.write_all(format!("{confirms}${text}#{checksum:02x}").as_bytes())?;
        Connection::flush(&mut self.stream)
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
        Connection::write(&mut self.stream, byte)
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        Connection::write_all(&mut self.stream, bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
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
            let body = &packet[1..packet.len().saturating_sub(3).max(1)];
            match body.strip_prefix(LOCAL) {
                Some(question) => {
                    let state = self.shown.borrow().clone();
                    let found = parse(question).and_then(|(thread, offset, module)| {
                        Some(variable_block(&state, thread, module)?.wrapping_add(offset))
                    });
                    self.answer(&found.map_or(String::from("E01"), |address| format!("{address:x}")))?;
                }
                None => {
                    self.confirms &= !body.starts_with(b"QStartNoAckMode");
                    self.read.extend(packet);
                }
            }
        }
    }

    fn peek(&mut self) -> io::Result<Option<u8>> {
        match self.read.front() {
            Some(byte) => Ok(Some(*byte)),
            None => ConnectionExt::peek(&mut self.stream),
        }
    }
}
