//! Modules that somebody else made, made safe to read.
//!
//! LLVM's reader trusts its input: of bitcode with a flipped bit or two, one file in twenty crashes it. So a module that
//! did not come from the compiler here goes through `opt` first, a process of its own that reads it, verifies it and
//! writes it anew; only what it wrote is read.

use crate::Error;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The tool that reads and verifies modules.
const VERIFIER: &str = "opt-19";
/// How long it may take; a module of a million instructions needs a few seconds.
const PATIENCE: Duration = Duration::from_secs(120);
/// How much memory it may ask for, in kilobytes.
const MEMORY: u64 = 8 << 20;

/// The module in a file, as bitcode that LLVM wrote itself.
pub fn module(file: &Path) -> Result<Vec<u8>, Error> {
    let name = file.display().to_string();
    let bytes = std::fs::metadata(file).map_err(|error| Error::Io(name.clone(), error))?;
    let bad = |message: String| Error::BadModule { file: name.clone(), message };
    if bytes.is_dir() {
        return Err(bad("it is a folder".into()));
    }
    let limited = format!("ulimit -v {MEMORY}; exec \"$0\" \"$@\"");
    let mut child = Command::new("sh")
        .args(["-c", &limited, VERIFIER, "-passes=verify", "-o", "-", "--"])
        .arg(file)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| Error::NoCompiler(VERIFIER.into(), error))?;
    let pipes: [Box<dyn Read + Send>; 2] = [
        Box::new(child.stdout.take().expect("asked for")),
        Box::new(child.stderr.take().expect("asked for")),
    ];
    let readers = pipes.map(|mut pipe| {
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            // A pipe that breaks is a process that died; its status says so.
            let _ = pipe.read_to_end(&mut bytes);
            bytes
        })
    });
    let started = Instant::now();
    let status = loop {
        match child.try_wait().map_err(|error| Error::Io(name.clone(), error))? {
            Some(status) => break status,
            None if started.elapsed() > PATIENCE => {
                // Both calls fail only if it ended meanwhile.
                let _ = child.kill();
                let _ = child.wait();
                return Err(bad(format!("LLVM did not finish within {} seconds", PATIENCE.as_secs())));
            }
            None => std::thread::sleep(Duration::from_millis(1)),
        }
    };
    let [bitcode, said] = readers.map(|reader| reader.join().unwrap_or_default());
    let said = String::from_utf8_lossy(&said);
    match status.code() {
        Some(0) if said.contains("ignoring invalid debug info") => {
            Err(bad(format!("its debug information is corrupt\n{}", words(&said, &name))))
        }
        Some(0) => Ok(bitcode),
        Some(127) => Err(Error::NoCompiler(VERIFIER.into(), std::io::ErrorKind::NotFound.into())),
        Some(1) => Err(bad(words(&said, &name))),
        _ => Err(bad(match said.lines().find(|line| line.starts_with("LLVM ERROR")) {
            Some(line) => line.to_string(),
            None => "it is corrupt: LLVM crashes while it reads it".into(),
        })),
    }
}

/// What the tool said, without its own name and the file's, and no more than a screenful.
fn words(said: &str, file: &str) -> String {
    let prefixes = [format!("{VERIFIER}: {file}: error: "), format!("{VERIFIER}: ")];
    let plain = |line| prefixes.iter().find_map(|prefix| str::strip_prefix(line, prefix)).unwrap_or(line);
    let lines = said.lines().map(plain);
    let kept: Vec<&str> = lines.filter(|line| !line.trim().is_empty()).take(20).collect();
    kept.join("\n")
}
