//! The outside world of a program under exploration: files in memory, no time, the environment that was asked for.

use super::host::Explorer;
use parallax_cmachine::{
    Destination, FileName, FileStatus, Form, Output, Request, State, System, error_number,
};
use parallax_path::Premise;
use parallax_sem::Symbolic;
use parallax_term::Term;

impl Explorer<'_> {
    /// Notes that a file is not there.
    fn missing(&mut self, path: &[u8]) {
        if !path.is_empty() {
            self.ledger.assume(Premise::new(format!("there is no file {}", String::from_utf8_lossy(path))));
        }
    }
}

impl<'s> System<Symbolic<'s>> for Explorer<'s> {
    fn read(&mut self, state: &mut State<Symbolic<'s>>, file: i32, count: u64) -> Option<Vec<Term>> {
        if file == 0 {
            self.ledger.assume(Premise::new(match self.stdin.len() {
                0 => "standard input is empty".into(),
                1 => "standard input has exactly 1 byte".into(),
                count => format!("standard input has exactly {count} bytes"),
            }));
        }
        state.files.read(file, count)
    }
    fn write(&mut self, state: &mut State<Symbolic<'s>>, file: i32, bytes: &[Term]) -> bool {
        match state.files.write(file, bytes, &self.store.number(8, 0)) {
            Destination::File => true,
            Destination::Nowhere => false,
            Destination::Stream(stream) => {
                bytes.iter().for_each(|&byte| state.output.push((stream, Output::Byte(byte))));
                true
            }
        }
    }
    fn write_number(&mut self, state: &mut State<Symbolic<'s>>, file: i32, value: &Term, form: Form) {
        if let Ok(stream) = state.files.request(&Request::Stream { file }) {
            state.output.push((stream as i32, Output::Number(*value, form)));
        }
    }
    fn request(&mut self, state: &mut State<Symbolic<'s>>, request: &Request<'_>) -> Result<i64, i32> {
        let answer = state.files.request(request);
        if let (Request::Open { path, .. }, Err(error_number::ENOENT)) = (request, &answer) {
            self.missing(path);
        }
        answer
    }
    fn status(&mut self, state: &mut State<Symbolic<'s>>, of: FileName<'_>) -> Result<FileStatus, i32> {
        let status = state.files.status(of);
        if let (FileName::Path(path), Err(_)) = (of, &status) {
            self.missing(path);
        }
        status
    }
    fn entries(&mut self, state: &mut State<Symbolic<'s>>, path: &[u8]) -> Result<Vec<Vec<u8>>, i32> {
        state.files.entries(path)
    }
    fn names(&mut self, state: &mut State<Symbolic<'s>>) -> Vec<Vec<u8>> {
        let words = "a path that is unknown is written as that of a file that exists, or names none";
        self.ledger.assume(Premise::new(words));
        state.files.names()
    }
    fn failing_calls(&self) -> u32 {
        self.settings.failing_calls
    }
    fn time(&mut self, _state: &mut State<Symbolic<'s>>) -> Term {
        self.ledger.assume(Premise::new("the time is 0 seconds after 1970 began"));
        self.store.number(64, 0)
    }
    fn unset(&mut self, name: &[u8]) {
        let words = format!("the environment variable {} is not set", String::from_utf8_lossy(name));
        self.ledger.assume(Premise::new(words));
    }
}
