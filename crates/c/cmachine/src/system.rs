//! System calls: what the models of the C library ask the outside world for.

use super::call::Passed;
use super::files::{FileKind, FileName, Request};
use super::host::Host;
use super::value::Value;
use super::{Machine, Result, State, Stop};
use parallax_cmodule::Instruction;
use parallax_op::RelOp;
use parallax_sem::Core;

/// A builtin of the models that asks the outside world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Call {
    Open,
    Close,
    Seek,
    Remove,
    MakeFolder,
    RemoveFolder,
    Rename,
    Duplicate,
    DuplicateTo,
    Flags,
    Truncate,
    ChangeMode,
    SetTime,
    ChangeFolder,
    Stream,
    Status,
    Entry,
    Name,
    KnownText,
    Fails,
    Failed,
    Unset,
}

impl Call {
    pub(super) fn named(name: &str) -> Option<Call> {
        Some(match name.strip_prefix("__parallax_")? {
            "open" => Call::Open,
            "close" => Call::Close,
            "seek" => Call::Seek,
            "remove" => Call::Remove,
            "make_folder" => Call::MakeFolder,
            "remove_folder" => Call::RemoveFolder,
            "rename" => Call::Rename,
            "duplicate" => Call::Duplicate,
            "duplicate_to" => Call::DuplicateTo,
            "flags" => Call::Flags,
            "truncate" => Call::Truncate,
            "change_mode" => Call::ChangeMode,
            "set_time" => Call::SetTime,
            "change_folder" => Call::ChangeFolder,
            "stream" => Call::Stream,
            "status" => Call::Status,
            "entry" => Call::Entry,
            "name" => Call::Name,
            "known_text" => Call::KnownText,
            "fails" => Call::Fails,
            "failed" => Call::Failed,
            "unset" => Call::Unset,
            _ => return None,
        })
    }

    /// How many arguments it takes.
    pub(super) fn arguments(self) -> usize {
        match self {
            Call::Fails | Call::Failed => 0,
            Call::Close
            | Call::Remove
            | Call::RemoveFolder
            | Call::Flags
            | Call::ChangeFolder
            | Call::Stream
            | Call::KnownText
            | Call::Unset => 1,
            Call::MakeFolder
            | Call::Rename
            | Call::Duplicate
            | Call::DuplicateTo
            | Call::Truncate
            | Call::ChangeMode
            | Call::SetTime
            | Call::Name => 2,
            Call::Open | Call::Seek | Call::Status | Call::Entry => 3,
        }
    }

    /// Whether its first argument is a file number.
    pub(super) fn on_number(self) -> bool {
        matches!(
            self,
            Call::Close
                | Call::Seek
                | Call::Duplicate
                | Call::DuplicateTo
                | Call::Flags
                | Call::Truncate
                | Call::Stream
        )
    }
}

impl<'m, C: Core, H: Host<C>> Machine<'m, C, H> {
    pub(super) fn system_call(
        &mut self,
        state: &mut State<C>,
        at: &'m Instruction,
        call: Call,
        passed: &[Passed<C>],
    ) -> Result<(), C> {
        let answer = match call {
            Call::Status => self.status_call(state, passed)?,
            Call::Entry => {
                let path = self.constant_string(state, &passed[0].value)?;
                let number = self.number(state, passed, 1)?;
                match self.host.entries(state, &path) {
                    Ok(names) => self.nth_name(state, &names, number, &passed[2].value)?,
                    Err(error) => -i64::from(error),
                }
            }
            Call::Name => {
                let number = self.number(state, passed, 0)?;
                let names = self.host.names(state);
                self.nth_name(state, &names, number, &passed[1].value)?
            }
            Call::KnownText => i64::from(self.is_known_text(state, &passed[0].value)?),
            Call::Fails => {
                if state.failures >= self.host.failing_calls() {
                    0
                } else {
                    let fails = self.host.input(state, 1, "call_fails");
                    let fails = self.host.core().zext(1, 32, &fails);
                    Self::set(state, at.result, Value::Bits(fails));
                    return Ok(());
                }
            }
            Call::Failed => {
                state.failures += 1;
                return Ok(());
            }
            Call::Unset => {
                let name = self.constant_string(state, &passed[0].value)?;
                self.host.unset(&name);
                return Ok(());
            }
            _ => self.request(state, call, passed)?,
        };
        let width = self.module.ty(at.ty).bits().unwrap_or(64);
        let answer = self.small(width, answer);
        Self::set(state, at.result, answer);
        Ok(())
    }

    /// The calls that are one [`Request`]: its answer, or its error number, negated.
    fn request(&mut self, state: &mut State<C>, call: Call, passed: &[Passed<C>]) -> Result<i64, C> {
        let numbered = call.on_number();
        let mut numbers = [0i64; 3];
        for (index, number) in numbers.iter_mut().enumerate().take(passed.len()) {
            let is_text = !numbered && (index == 0 || index == 1 && call == Call::Rename);
            if !is_text {
                *number = self.number(state, passed, index)?;
            }
        }
        let path = if numbered { Vec::new() } else { self.constant_string(state, &passed[0].value)? };
        let to =
            if call == Call::Rename { self.constant_string(state, &passed[1].value)? } else { Vec::new() };
        let (path, to) = (&path[..], &to[..]);
        let (file, second, mode) = (numbers[0] as i32, numbers[1] as i32, numbers[1] as u32);
        let request = match call {
            Call::Open => Request::Open { path, flags: second, mode: numbers[2] as u32 },
            Call::Close => Request::Close { file },
            Call::Seek => Request::Seek { file, offset: numbers[1], whence: numbers[2] as i32 },
            Call::Remove => Request::Remove { path },
            Call::MakeFolder => Request::MakeFolder { path, mode },
            Call::RemoveFolder => Request::RemoveFolder { path },
            Call::Rename => Request::Rename { from: path, to },
            Call::Duplicate => Request::Duplicate { file, least: second },
            Call::DuplicateTo => Request::DuplicateTo { file, to: second },
            Call::Flags => Request::Flags { file },
            Call::Truncate => Request::Truncate { file, length: numbers[1] },
            Call::ChangeMode => Request::ChangeMode { path, mode },
            Call::SetTime => Request::SetTime { path, modified: numbers[1] },
            Call::ChangeFolder => Request::ChangeFolder { path },
            Call::Stream => Request::Stream { file },
            Call::Status
            | Call::Entry
            | Call::Name
            | Call::KnownText
            | Call::Fails
            | Call::Failed
            | Call::Unset => {
                return Err(Stop::Unsupported("a call that is no request".into()));
            }
        };
        Ok(self.host.request(state, &request).unwrap_or_else(|error| -i64::from(error)))
    }

    fn status_call(&mut self, state: &mut State<C>, passed: &[Passed<C>]) -> Result<i64, C> {
        let is_null = self.is_null(state, &passed[0].value)?;
        let status = if self.host.truth(&is_null) == Some(true) {
            let number = self.number(state, passed, 1)? as i32;
            self.host.status(state, FileName::Number(number))
        } else {
            let path = self.constant_string(state, &passed[0].value)?;
            self.host.status(state, FileName::Path(&path))
        };
        let status = match status {
            Ok(status) => status,
            Err(error) => return Ok(-i64::from(error)),
        };
        let kind = match status.kind {
            FileKind::Regular => 0,
            FileKind::Folder => 1,
            FileKind::Pipe => 2,
            FileKind::Device => 3,
        };
        let told = [
            kind,
            status.mode.into(),
            status.size as i64,
            status.modified,
            status.inode as i64,
            status.terminal.into(),
        ];
        let hits = self.access(state, &passed[2].value, 48, true)?;
        for (index, number) in (0..).zip(told) {
            let number = self.small(64, number);
            self.write_hits(state, &hits, index * 8, 8, &number)?;
        }
        Ok(0)
    }

    /// Writes one of some names to memory; its length, or 0 where there are no more.
    fn nth_name(
        &mut self,
        state: &mut State<C>,
        names: &[Vec<u8>],
        number: i64,
        to: &Value<C>,
    ) -> Result<i64, C> {
        let Some(name) = usize::try_from(number).ok().and_then(|number| names.get(number)) else {
            return Ok(0);
        };
        let len = name.len().min(255);
        let hits = self.access(state, to, len as u64 + 1, true)?;
        for (at, byte) in name[..len].iter().chain([&0]).enumerate() {
            let byte = self.small(8, (*byte).into());
            self.write_hits(state, &hits, at as u64, 1, &byte)?;
        }
        Ok(len as i64)
    }

    /// Whether every character of a text is constant, up to its end.
    fn is_known_text(&mut self, state: &mut State<C>, text: &Value<C>) -> Result<bool, C> {
        for at in 0.. {
            let place = self.shifted(state, text, at)?;
            let hits = self.access(state, &place, 1, false)?;
            let byte = self.read_hits(state, &hits, 0, 1)?;
            let byte = self.exposed(state, &byte)?;
            match self.host.value(8, &byte) {
                None => return Ok(false),
                Some(byte) if byte.is_zero() => return Ok(true),
                Some(_) => {}
            }
        }
        Ok(true)
    }

    /// Of `room` bytes the first `count` become unknown; the others stay what they are.
    pub(super) fn forget_range(
        &mut self,
        state: &mut State<C>,
        pointer: &Value<C>,
        room: u64,
        count: &C::Val,
    ) -> Result<(), C> {
        if room == 0 {
            return Ok(());
        }
        let hits = self.access(state, pointer, room, true)?;
        for at in 0..room {
            let within = self.host.core().relop(RelOp::Ult, 64, &super::word(&self.host, at), count);
            if self.host.truth(&within) == Some(false) {
                break;
            }
            let unknown = self.host.unknown(state, 8, "the outside world").map_err(Stop::Unsupported)?;
            let old = self.read_hits(state, &hits, at, 1)?;
            let value = self.joined(state, &within, &Value::Bits(unknown), &old, 8)?;
            self.write_hits(state, &hits, at, 1, &value)?;
        }
        Ok(())
    }
}
