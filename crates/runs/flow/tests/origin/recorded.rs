//! Programs compiled and recorded.

#[path = "../../../record/tests/corpus/recorder.rs"]
pub mod recorder;

use parallax_flow::{Asked, Bounds, Follow, Node, Origin, Piece, What, origin};
use parallax_trace::{Target, Unwatched};
use parallax_travel::{Settings, Travel};
use std::io::Write;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A folder that goes when the test is over.
pub struct Folder(pub PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A new folder.
pub fn folder(name: &str) -> Folder {
    let path = std::env::temp_dir().join(format!("parallax-flow-{}-{name}", std::process::id()));
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).expect("a temporary folder");
    Folder(path)
}

/// Runs the compiler.
pub fn compile(source: &Path, flags: &[&str], binary: &Path) -> Result<(), String> {
    let built = Command::new("gcc").args(flags).arg("-o").args([binary, source]).arg("-lm").output();
    match built {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
        Err(error) => Err(format!("gcc: {error} (scripts/setup names what the tests need)")),
    }
}

/// Records a program that is given some input.
pub fn record(recording: &Path, command: &[String], input: &[u8]) -> Result<(), String> {
    let mut child =
        recorder::recorder(recording, None, command).spawn().map_err(|error| error.to_string())?;
    let mut pipe = child.stdin.take().ok_or("no pipe")?;
    // A program may end without reading.
    let _ = pipe.write_all(input);
    drop(pipe);
    let output = child.wait_with_output().map_err(|error| error.to_string())?;
    match output.status.code() {
        Some(recorder::CANNOT) => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
        _ => Ok(()),
    }
}

/// A recorded program.
pub struct Recorded {
    pub travel: Travel,
    binary: PathBuf,
    _folder: Folder,
}

impl Recorded {
    /// Compiles a source, or takes one of `sources` by its name, and records it.
    pub fn new(
        name: &str,
        source: &Path,
        flags: &[&str],
        input: &[u8],
        interval: u64,
    ) -> Result<Recorded, String> {
        let place = folder(name);
        let binary = place.0.join(name);
        compile(source, flags, &binary)?;
        let recording = place.0.join("one.rec");
        record(&recording, &[binary.display().to_string()], input)?;
        let settings = Settings { workers: 1, interval, ..Settings::default() };
        let travel = Travel::open(&recording, "0", settings).map_err(|error| error.to_string())?;
        Ok(Recorded { travel, binary, _folder: place })
    }

    /// One of our own sources.
    pub fn of(name: &str, input: &[u8]) -> Result<Recorded, String> {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/origin/sources/{name}.c"));
        Recorded::new(name, &source, &["-O1", "-g", "-static", "-pthread"], input, 20_000)
    }

    /// The address and the size of a symbol.
    pub fn symbol(&self, name: &str) -> Result<Range<u64>, String> {
        let output =
            Command::new("nm").arg("-S").arg(&self.binary).output().map_err(|error| error.to_string())?;
        let text = String::from_utf8_lossy(&output.stdout);
        let line = text.lines().find(|line| line.split_whitespace().last() == Some(name));
        let mut words = line.ok_or(format!("no symbol {name}"))?.split_whitespace();
        let mut number = || u64::from_str_radix(words.next()?, 16).ok();
        let (start, size) = (number().ok_or("no address")?, number().ok_or("no size")?);
        Ok(start..start + size)
    }

    /// Where a variable of the program comes from, as it is at its end.
    pub fn variable(&self, name: &str, follow: Follow) -> Result<Origin, String> {
        self.memory(self.symbol(name)?, self.travel.span().end, follow)
    }

    pub fn memory(&self, range: Range<u64>, time: u64, follow: Follow) -> Result<Origin, String> {
        let bounds = Bounds { nodes: 100_000, ..Bounds::default() };
        let found = origin(&self.travel, time, &Asked::Memory(range), follow, bounds, &Unwatched);
        found.map_err(|error| error.to_string())
    }
}

/// The ends of an answer.
pub fn ends(found: &Origin) -> Vec<&Node> {
    found.nodes.iter().filter(|node| node.is_end()).collect()
}

/// The bytes of memory that system calls of a name brought into an answer.
pub fn brought(found: &Origin, by: &str) -> Vec<u64> {
    let calls =
        ends(found).into_iter().filter(|node| matches!(&node.what, What::Call { name, .. } if name == by));
    let pieces = calls.flat_map(|node| &node.made);
    let mut bytes: Vec<u64> = pieces
        .filter_map(|piece| match piece {
            Piece::Memory { address, bytes } => Some(*address..*address + bytes.len() as u64),
            Piece::Register { .. } => None,
        })
        .flatten()
        .collect();
    bytes.sort_unstable();
    bytes.dedup();
    bytes
}

/// A generator of numbers.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound.max(1)
    }

    pub fn pick<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.below(list.len() as u64) as usize]
    }
}
